"""The frozen constructors of the pruner spec: code written against it runs, with only its imports changed."""

from __future__ import annotations

import inspect
import io
import logging
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import secateur
from secateur import (
    AgenticConversationPruner,
    AutoCoderArgs,
    ConversationPruner,
    PruneContext,
    Settings,
    chunk_diff,
    count_string_tokens,
    count_tokens,
    get_llm,
    trim_context_with_budget,
)
from secateur.errors import ConfigError, SecateurError, UsageError
from secateur.kinds.files.model_questions import LineRange, Snippets
from secateur.llm.interface import Question
from secateur.settings import with_values
from support.answering import Table
from support.conversations import Said, conversation
from support.envelopes import dependencies, envelope
from support.pruner_example import CONVERSATION, FILES, MATH

EXAMPLE = Path(__file__).parents[1] / "support" / "pruner_spec_example.txt"
PRUNERS = (PruneContext, ConversationPruner, AgenticConversationPruner)


def arguments(**fields: Any) -> AutoCoderArgs:
    return AutoCoderArgs(
        source_dir=".",
        context_prune=True,
        context_prune_strategy="extract",
        context_prune_sliding_window_size=10,
        context_prune_sliding_window_overlap=2,
        **fields,
    )


@pytest.fixture
def quiet_logging() -> Any:
    """The logger as it was before, for those after."""
    logger = logging.getLogger("secateur")
    handlers, level = list(logger.handlers), logger.level
    yield logger
    logger.handlers[:], logger.level = handlers, level


# --- the example, and the constructors --------------------------------------------------------------------------------


def test_the_complete_example_of_the_spec_runs_and_extracts_add_and_subtract(tmp_path: Path) -> None:
    """As the spec prints it; what it prints is what the spec expects. In a process of its own, without a user's
    configuration."""
    ran = subprocess.run(
        [sys.executable, "-X", "utf8", "-"],
        input=EXAMPLE.read_text("utf-8"),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={"HOME": str(tmp_path), "PATH": "", "XDG_CONFIG_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)},
    )
    assert ran.returncode == 0, ran.stderr
    assert "输出文件数: 1" in ran.stdout
    assert "src/utils/math_utils.py" in ran.stdout
    assert "已提取代码片段" in ran.stdout
    assert "src/main.py" not in ran.stdout
    assert "files: shorten src/utils/math_utils.py" in ran.stderr, "verbose=True shows the report"


def test_arguments_of_the_spec_do_what_settings_do() -> None:
    args = arguments(
        query="如何实现加法和减法运算？", conversation_prune_safe_zone_tokens=50_000, conversation_prune_group_size=4
    )
    by_args = PruneContext(max_tokens=60, args=args, llm=None, verbose=False)
    changed = {"sliding_window_size": 10, "sliding_window_overlap": 2, "strategy": "extract"}
    settings = with_values(Settings(), {f"context_prune.{key}": value for key, value in changed.items()})
    by_settings = PruneContext(60, settings, "如何实现加法和减法运算？")
    assert by_args.handle_overflow(FILES, CONVERSATION) == by_settings.handle_overflow(FILES, CONVERSATION)
    assert by_args.report == by_settings.report
    assert by_args.report is not None
    assert by_args.report.applied


def test_a_model_is_asked_as_before() -> None:
    def answer(question: Question) -> Snippets:
        return Snippets([LineRange(5, 7)] if "math_utils.py:1-10" in question.what else [])

    pruner = PruneContext(max_tokens=60, args=arguments(query="subtract"), llm=Table(answer))
    (file,) = pruner.handle_overflow(FILES, strategy="extract")
    assert file.source_code == "Snippets:\n# Lines 5-7\n" + "".join(MATH.splitlines(keepends=True)[4:7])


def test_context_prune_off_returns_the_files() -> None:
    pruner = PruneContext(max_tokens=1, args=AutoCoderArgs(context_prune=False, query="add"), llm=None)
    assert pruner.handle_overflow(FILES) == FILES


@pytest.mark.parametrize("pruner", [ConversationPruner, AgenticConversationPruner])
def test_conversations_are_pruned_to_the_safe_zone_of_the_arguments(pruner: type) -> None:
    messages = conversation(
        "anthropic", [Said(f"Question {n}", (("Read", "a.py", "line\n" * 400, True),), "An answer.") for n in range(12)]
    )
    args = SimpleNamespace(
        conversation_prune_safe_zone_tokens=2000, conversation_prune_group_size=2, something_else=object()
    )
    settings = with_values(
        Settings(), {"conversation_prune.safe_zone_tokens": 2000, "conversation_prune.group_size": 2}
    )
    by_args, by_settings = pruner(args=args, llm=None), pruner(settings)
    assert by_args.prune_conversations(messages) == by_settings.prune_conversations(messages) != messages
    assert by_args.report == by_settings.report


def test_arguments_win_over_settings_and_what_is_none_says_nothing() -> None:
    settings = with_values(Settings(), {"conversation_prune.safe_zone_tokens": 9, "conversation_prune.group_size": 7})
    args = AutoCoderArgs(conversation_prune_safe_zone_tokens=11, conversation_prune_group_size=None)
    rules = ConversationPruner(settings, args=args).settings.conversation_prune
    assert (rules.safe_zone_tokens, rules.group_size) == (11, 7)
    assert PruneContext(5, query="mine", args=AutoCoderArgs(query="theirs")).query == "mine"


def test_the_face_of_the_contract_keeps_its_order() -> None:
    assert list(inspect.signature(PruneContext).parameters)[:4] == ["max_tokens", "settings", "query", "llm"]
    assert list(inspect.signature(ConversationPruner).parameters)[:2] == ["settings", "llm"]
    assert next(iter(inspect.signature(AgenticConversationPruner).parameters)) == "settings"


@pytest.mark.parametrize("pruner", PRUNERS)
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"args": {"query": "x"}}, "args is a dict, not an object with attributes"),
        ({"args": "x"}, "args is a str"),
        (
            {"args": AutoCoderArgs(context_prune="yes")},
            "args.context_prune: context_prune.enabled = 'yes' is not allowed",
        ),
        (
            {"args": AutoCoderArgs(context_prune_strategy="extrakt")},
            "args.context_prune_strategy: .*'extrakt' is not allowed",
        ),
        (
            {"args": AutoCoderArgs(conversation_prune_safe_zone_tokens=-1)},
            "args.conversation_prune_safe_zone_tokens: .*-1 is not allowed",
        ),
        (
            {"args": AutoCoderArgs(conversation_prune_group_size=2.5)},
            "args.conversation_prune_group_size: .*2.5 is not allowed",
        ),
        ({"settings": AutoCoderArgs(query="x")}, "settings is a AutoCoderArgs, not Settings"),
        ({"llm": "v3_chat"}, "llm is a str, which has no method ask"),
    ],
)
def test_what_is_wrong_is_named(pruner: type, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises((UsageError, ConfigError), match=said) as error:
        pruner(**wrong)
    assert isinstance(error.value, SecateurError)
    assert error.value.hint


def test_windows_that_do_not_move_on_and_queries_that_are_none_are_errors() -> None:
    args = AutoCoderArgs(context_prune_sliding_window_size=5, context_prune_sliding_window_overlap=5, query="x")
    with pytest.raises(
        ConfigError, match=r"^args: context_prune.sliding_window_overlap = 5 is not less than the window of 5"
    ):
        PruneContext(60, args=args)
    with pytest.raises(UsageError, match="query is int"):
        PruneContext(60, args=AutoCoderArgs(query=5))


def test_helpers_of_the_spec(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert count_string_tokens("def hello(): pass") == count_tokens("def hello(): pass") > 0
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert get_llm("v3_chat", product_mode="lite") is None, "no model is configured"
    secateur.init_project_if_required(target_dir=str(tmp_path))
    assert list(tmp_path.iterdir()) == []


# --- reports are logged -----------------------------------------------------------------------------------------------


def test_every_pruner_logs_its_report(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="secateur")
    PruneContext(60, query="add numbers").handle_overflow(FILES)
    messages = conversation(
        "openai", [Said(f"Question {n}", (("Read", "a.py", "line\n" * 400, True),), "Yes.") for n in range(6)]
    )
    ConversationPruner(args=AutoCoderArgs(conversation_prune_safe_zone_tokens=900)).prune_conversations(messages)
    AgenticConversationPruner(args=AutoCoderArgs(conversation_prune_safe_zone_tokens=900)).prune_conversations(messages)
    report = trim_context_with_budget(
        envelope=envelope({"files": dependencies(40)}),
        model="gpt-4o",
        context_token_budget=3500,
        reserve_for_response=0,
    )["trimReport"]
    chunk_diff("diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\n")
    assert {record.name for record in caplog.records} == {
        "secateur.files",
        "secateur.conversation",
        "secateur.envelope",
        "secateur.chunk",
    }
    assert {record.levelno for record in caplog.records} == {logging.INFO}
    said = [record.getMessage() for record in caplog.records if record.name == "secateur.envelope"]
    assert said[0] == f"envelope: pruned, {report['estimateBefore']} -> {report['estimateAfter']} tokens, budget 3500"
    assert "summary_shortened" in said[1]
    assert said[-1] == "envelope: 20 more were changed"


def test_names_from_outside_cannot_forge_a_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="secateur")
    files = [secateur.SourceCode("a\nfiles: pruned\x1b[2J", "x = 1\n" * 200), secateur.SourceCode("b.py", "y = 2\n")]
    PruneContext(20, query="x").handle_overflow(files)
    assert not any(sign in record.getMessage() for record in caplog.records for sign in "\n\x1b")


def test_nothing_is_printed_unless_asked(capfd: pytest.CaptureFixture[str], quiet_logging: logging.Logger) -> None:
    quiet_logging.handlers[:] = [logging.NullHandler()]
    PruneContext(60, query="add numbers").handle_overflow(FILES)
    assert capfd.readouterr() == ("", "")


def test_verbose_leaves_the_handlers_of_a_program_alone(quiet_logging: logging.Logger) -> None:
    own: logging.StreamHandler[io.StringIO] = logging.StreamHandler(io.StringIO())
    quiet_logging.handlers[:] = [own]
    for _ in range(3):
        PruneContext(60, query="add numbers", verbose=True).handle_overflow(FILES)
    assert quiet_logging.handlers == [own]
    assert own.stream.getvalue().count("files: ") >= 3


def test_verbose_of_one_pruner_does_not_reach_the_next(
    quiet_logging: logging.Logger, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    level = quiet_logging.level
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # those of pytest
    quiet_logging.handlers[:] = [logging.NullHandler()]
    PruneContext(60, query="add numbers", verbose=True).handle_overflow(FILES)
    assert "files: pruned" in capsys.readouterr().err
    PruneContext(60, query="add numbers").handle_overflow(FILES)
    assert capsys.readouterr().err == ""
    assert (quiet_logging.level, len(quiet_logging.handlers)) == (level, 1)
