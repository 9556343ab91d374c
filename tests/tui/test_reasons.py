"""Every reason of a kind of context is given by some input, and has words on its bench."""

import json
from pathlib import Path

import pytest
from secateur.kinds.conversation.model_summaries import plan_summaries
from secateur.kinds.conversation.strategies import STRATEGIES
from secateur.kinds.registry import get_kind
from secateur.model import State
from secateur.settings import Settings, with_values
from secateur_tui.pages.conversation import ConversationPage
from secateur_tui.pages.envelope import EnvelopePage
from secateur_tui.pages.files import FilesPage
from secateur_tui.pages.kind_page import KindPage
from secateur_tui.state.answer import ShownAnswer
from secateur_tui.styled_text import plain
from support.conversations import Said, conversation
from support.envelopes import asset_paths, dependencies, envelope

LONG = "\n".join(f"def rounded_{number}(amount):  # half to even" for number in range(60))
CONVERSATION = {
    *("system", "aside", "damaged", "unpaired", "last_user", "latest", "summary", "summary_by_model", "fits", "kept"),
    *("oldest_group", "oldest_result", "superseded", "outdated", "repeated"),
}
"""Reasons that the pruners of conversations give."""
ENVELOPE = {
    *("target", "fits", "wrapper", "long_list", "long_text", "reference_only", "summary_shortened", "summary_dropped"),
    *("hash_dropped", "entries_dropped"),
}
"""Reasons that the trimmer of envelopes gives."""
WITH_A_MODEL = {"summary_by_model"}
"""The inspector asks no model, but opens what one has pruned."""


def reason_of(answer: ShownAnswer, item: int) -> str:
    return get_kind(answer.outcome.kind).describe(answer.outcome, item).because


def reasons(page: KindPage, inputs: dict[str, str], settings: Settings) -> set[str]:
    material = page.read(inputs, settings, lambda *_: None)
    answer = page.decide(material, inputs, settings)
    return {answer.reason_of(item).label for item in range(len(answer))}


def session(folder: Path) -> str:
    """A session in which results are repeated, read anew, and changed later; with aside lines, a system message and
    steps without a result."""
    read = [("Read", "a.py", LONG + "1", True), ("Read", "b.py", LONG + "2", True), ("Read", "c.py", LONG, True)]
    again = [
        ("Bash", "ls", LONG + "3", True),
        ("Bash", "ls", LONG + "3", True),
        ("Read", "a.py", LONG + "4", True),
        ("Edit", "b.py", "done", True),
    ]
    turns = [
        Said(f"Question {number}", tuple(steps), "An answer. " * 50)
        for number, steps in enumerate([read, again, [], [("Bash", "make", LONG, True)]])
    ]
    messages = conversation("claude-code", [*turns, Said("And now?", (("Bash", "ls -l", "x", True),), "That.")])
    path = folder / "session.jsonl"
    path.write_text("\n".join(json.dumps(line).replace('"path"', '"file_path"') for line in messages))
    return str(path)


def damaged(folder: Path) -> str:
    """A session in which the line of a result is cut off."""
    path = Path(session(folder))
    lines = path.read_text().split("\n")
    cut = next(number for number, line in enumerate(lines) if '"tool_result"' in line)
    lines[cut] = lines[cut][:90]
    path = folder / "damaged.jsonl"
    path.write_text("\n".join(lines))
    return str(path)


def request(folder: Path) -> str:
    path = folder / "request.json"
    messages = conversation(
        "openai",
        [Said(f"Question {number}", (("Read", "a.py", LONG, True),), LONG) for number in range(4)],
        system="Be brief.",
    )
    path.write_text(json.dumps(messages))
    return str(path)


def test_every_reason_of_the_conversation_pruner_has_words(tmp_path: Path) -> None:
    given: set[str] = set()
    for path in (session(tmp_path), damaged(tmp_path), request(tmp_path)):
        for strategy in STRATEGIES:
            for zone in (0, 400, 2500, 1_000_000):
                settings = with_values(
                    Settings(), {"conversation_prune.strategy": strategy, "conversation_prune.safe_zone_tokens": zone}
                )
                given |= reasons(ConversationPage(get_kind("conversation")), {"path": path}, settings)
    assert given == CONVERSATION - WITH_A_MODEL
    source = Path(plan_summaries.__code__.co_filename).read_text()
    assert all(f"Reason.{reason.upper()}" in source for reason in WITH_A_MODEL)


def test_every_reason_of_the_envelope_trimmer_has_words(tmp_path: Path) -> None:
    path = tmp_path / "envelope.json"
    digest = {"references": {"asset_paths": asset_paths(3000)}, "files": dependencies(14, 3000)}
    path.write_text(
        json.dumps(envelope(digest=digest, tool_capabilities={"tools": ["read"], "x_examples": "An example. " * 200}))
    )
    given: set[str] = set()
    for budget in (100_000, 7000, 4000, 2000, 1500, 1000, 800, 500, 300):
        settings = with_values(Settings(), {"context_budget.tokens": budget, "context_budget.reserve": 0})
        given |= reasons(EnvelopePage(get_kind("envelope")), {"path": str(path), "model": ""}, settings)
    assert given == ENVELOPE


def test_why_of_a_file_names_the_threshold_that_decided(tmp_path: Path) -> None:
    answer = "def refund_total(order):\n" + "".join(f"    refund = order.refund_{n} + total\n" for n in range(12))
    (tmp_path / "large.py").write_text(
        answer + "".join(f"\n\ndef other_{n}(a):\n    return a + {n}\n" for n in range(80))
    )
    more = "def more(a):\n    return a\n\n\n"
    for number in range(2):
        (tmp_path / f"small_{number}.py").write_text(f"def refund_{number}(total):\n    return total\n\n\n{more * 6}")
    (tmp_path / "words.py").write_text("def total_words(text):\n    return text\n\n\n" + more * 40)
    changed = {"strategy": "extract", "max_tokens": 190, "snippet_share": 0.9}
    settings = with_values(Settings(), {f"context_prune.{key}": value for key, value in changed.items()})
    page, inputs = FilesPage(get_kind("files")), {"path": str(tmp_path), "query": "refund total of an order"}
    answer = page.decide(page.read(inputs, settings, lambda *_: None), inputs, settings)
    why = {
        Path(answer.entries[item].id).name: page.kind.describe(answer.outcome, item).because
        for item in range(len(answer))
    }
    assert "0.9 of the best" in why["words.py"]
    assert "context_prune.snippet_share" in why["words.py"]


@pytest.mark.parametrize("cells", [30, 58])
def test_a_summary_is_shown_line_by_line_and_says_when_there_is_more(tmp_path: Path, cells: int) -> None:
    settings = with_values(
        Settings(), {"conversation_prune.strategy": "summarize", "conversation_prune.safe_zone_tokens": 2500}
    )
    page = ConversationPage(get_kind("conversation"))
    answer = page.decide(page.read({"path": session(tmp_path)}, settings, lambda *_: None), {"path": ""}, settings)
    item = next(
        item
        for item in range(len(answer))
        if answer.entries[item].state is State.SUMMARISED and answer.entries[item].id.startswith("messages")
    )
    lines = [plain(line) for line in page.facts(answer, item, cells)]
    assert not any("␊" in line for line in lines)
    assert any(line.startswith("- user: Question 0") for line in lines) and lines[-1].endswith("…")
