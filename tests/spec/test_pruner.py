"""The pruner spec: conversations and tool results, its figures and the points that settle it."""

from __future__ import annotations

import copy

import pytest
from secateur import AgenticConversationPruner, ConversationPruner, TrimReport
from secateur.errors import UsageError
from secateur.kinds.conversation.decisions import SUMMARY_MARK
from secateur.kinds.conversation.messages import is_result_text, tool_name
from secateur.kinds.conversation.placeholders import MARK
from secateur.kinds.conversation.transcripts import read_messages
from secateur.settings import Settings, with_values
from support.conversations import FORMATS, Said, conversation, roles

LONG = "value = 1\n" * 200  # 500 tokens by chars4


def pruning(**values: object) -> Settings:
    names = {"safe_zone": "safe_zone_tokens"}
    keys = {f"conversation_prune.{names.get(key, key)}": value for key, value in values.items()}
    return with_values(Settings(), {"tokens.counter": "chars4", **keys})


def read(path: str, text: str = LONG, success: bool = True) -> tuple[str, str, str, bool]:
    return ("read_file", path, text, success)


# --- gold vector ------------------------------------------------------------------------------------------------------


def test_clean_up_statistics_2000_to_1200_tokens_1_cleaned_9_messages() -> None:
    said = [
        "s" * 400,
        "u" * 400,
        "a" * 400,
        "",
        "a" * 400,
        "u" * 400,
        "a" * 400,
        "u" * 400,
        "a" * 400,
    ]  # 100 tokens each
    result = "<tool_result tool_name='read_file' success='true'>{}</tool_result>"
    rows = ["system", "user", "assistant", "user", "assistant", "user", "assistant", "user", "assistant"]
    original = [{"role": role, "content": text} for role, text in zip(rows, said, strict=True)]
    pruned = copy.deepcopy(original)
    original[3]["content"] = result.format("x" * (4800 - len(result) + 2))
    pruned[3]["content"] = result.format("x" * (1600 - len(result) + 2))
    figures = AgenticConversationPruner(pruning()).get_cleanup_statistics(original, pruned)
    assert figures == {
        "original_tokens": 2000,
        "pruned_tokens": 1200,
        "tokens_saved": 800,
        "compression_ratio": 0.6,
        "tool_results_cleaned": 1,
        "total_messages": 9,
    }


# --- what a tool result is --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("<tool_result tool_name='ReadFileTool' success='true'>x</tool_result>", "ReadFileTool"),
        ('<tool_result tool_name="ReadFileTool" success="false">x</tool_result>', "ReadFileTool"),
        ("<tool_result success='true' tool_name='A'>", "A"),
        ("<tool_result tool_name=''>x</tool_result>", ""),
        ("<tool_result success='true'>x</tool_result>", "unknown"),
        ("\n <tool_result tool_name='A'>x", "A"),
    ],
)
def test_results_as_text_are_recognised_with_their_tool(text: str, tool: str) -> None:
    assert is_result_text(text)
    assert tool_name(text) == tool
    (message,) = read_messages([{"role": "user", "content": text}]).messages
    assert [part.tool for _, part in message.results] == [tool]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "plain",
        "the tag <tool_result tool_name='x'> opens one",
        "<tool_results tool_name='x'>",
        "<tool_result",
        None,
        7,
        ["<tool_result>"],
    ],
)
def test_prose_that_mentions_the_tag_and_what_is_no_text_is_no_result(content: object) -> None:
    assert not is_result_text(content)


def test_several_results_in_one_message_and_what_follows_them_are_told_apart() -> None:
    text = (
        "<tool_result tool_name='a'>1 </tool_result> in it</tool_result>\n<tool_result tool_name='b'"
        " success='false'>2</tool_result>\nGo on."
    )
    (message,) = read_messages([{"role": "user", "content": text}]).messages
    assert [(part.tool, part.success) for _, part in message.results] == [("a", None), ("b", False)]
    assert message.from_user


# --- tool results -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
def test_clean_up_goes_from_the_oldest_and_stops_when_it_fits(form: str) -> None:
    turns = [Said("Look.", tuple(read(f"{name}.py", LONG + name) for name in "abcd"), "Done.")]
    messages = conversation(form, turns, system="Be brief.", asks="And now?")
    pruner = AgenticConversationPruner(pruning(safe_zone=1300))
    after = pruner.prune_conversations(messages)
    cleared = [
        MARK in str(message) for message in after if "tool_result" in str(message) or message.get("role") == "tool"
    ]
    assert cleared == [True, True, False, False]
    assert pruner.report and pruner.report.after <= 1300
    assert roles(after) == roles(messages)


@pytest.mark.parametrize("form", FORMATS)
def test_superseded_reads_and_repeats_go_before_older_results(form: str) -> None:
    steps = (
        read("old.py", LONG + "1"),
        read("again.py", LONG + "2"),
        read("again.py", LONG + "3"),
        ("grep", "x", LONG + "4", True),
        ("grep", "y", LONG + "4", True),
    )
    messages = conversation(form, [Said("Look.", steps, "Done.")], asks="And now?")
    result = AgenticConversationPruner(pruning(safe_zone=1700))
    result.prune_conversations(messages)
    assert result.report
    assert sorted(action.reason for action in result.report.actions if action.action == "shorten") == [
        "repeated",
        "superseded",
    ]


@pytest.mark.parametrize("form", FORMATS)
def test_the_placeholder_keeps_tool_success_size_digest_and_the_way_back(form: str) -> None:
    messages = conversation(form, [Said("Look.", (read("a.py", LONG, success=False),), "Done.")], asks="And now?")
    (text,) = [
        str(message)
        for message in AgenticConversationPruner(pruning(safe_zone=0)).prune_conversations(messages)
        if MARK in str(message)
    ]
    assert "read_file" in text
    assert "500 tokens" in text or form == "text"  # there the tags count too
    assert "sha256 " in text
    assert "call it again with" in text or form == "text"
    assert ("failed" in text) == (form != "openai")  # that format has no flag


def test_the_last_n_and_named_tools_are_kept() -> None:
    steps = (read("a.py", LONG + "1"), ("grep", "x", LONG + "2", True), read("b.py", LONG + "3"))
    messages = conversation("anthropic", [Said("Look.", steps, "Done.")], asks="And now?")

    def cleared(**values: object) -> list[int]:
        after = AgenticConversationPruner(pruning(safe_zone=0, **values)).prune_conversations(messages)
        return [number for number, message in enumerate(after) if MARK in str(message)]

    assert cleared() == [2, 4, 6]
    assert cleared(keep_last=2) == [2]
    assert cleared(keep_tools=["grep"]) == [2, 6]
    assert cleared(keep_last=9) == []


@pytest.mark.parametrize("form", FORMATS)
def test_results_that_were_not_answered_yet_stay_and_the_report_says_what_is_too_much(form: str) -> None:
    messages = conversation(form, [Said("Look.", (read("a.py"), read("b.py", LONG + "2")), "Done.")])[:-1]
    pruner = AgenticConversationPruner(pruning(safe_zone=10))
    after = pruner.prune_conversations(messages)
    assert after[-1] is messages[-1]
    assert pruner.result
    assert [notice.code for notice in pruner.result.warnings] == ["safe_zone_exceeded"]


# --- conversations ----------------------------------------------------------------------------------------------------

PAIRS = [
    Said(f"Question {number} about src/m{number}.py " + "filler " * 40, (), "Answer. " + "filler " * 40)
    for number in range(10)
]


def test_truncate_takes_out_the_oldest_groups_of_four() -> None:
    messages = conversation("openai", PAIRS, system="Be brief.", asks="And now?")
    pruner = ConversationPruner(pruning(safe_zone=1000))
    after = pruner.prune_conversations(messages, "truncate")
    assert after[0] is messages[0]
    assert after[1:] == messages[9:]  # two groups of four are gone, and no more than needed
    assert pruner.report and pruner.report.after <= 1000


@pytest.mark.parametrize("form", FORMATS)
def test_summarize_puts_a_pair_where_early_groups_were(form: str) -> None:
    messages = conversation(form, PAIRS, system="Be brief.", asks="And now?")
    pruner = ConversationPruner(pruning(safe_zone=1000))
    after = pruner.prune_conversations(messages, "summarize")
    texts = [str(message) for message in after]
    (place,) = [number for number, text in enumerate(texts) if SUMMARY_MARK in text]
    assert "src/m0.py" in texts[place]
    assert "[Noted.]" in texts[place + 1]
    assert (
        after[-1]["message" if form == "claude-code" else "content"]
        == messages[-1]["message" if form == "claude-code" else "content"]
    )
    assert pruner.report and pruner.report.after <= 1000


def test_hybrid_summarises_and_then_truncates_what_is_still_too_much() -> None:
    messages = conversation("openai", PAIRS, asks="And now?")
    summarized, hybrid = ConversationPruner(pruning(safe_zone=15)), ConversationPruner(pruning(safe_zone=15))
    assert SUMMARY_MARK in str(summarized.prune_conversations(messages, "summarize"))
    assert hybrid.prune_conversations(messages, "hybrid") == messages[-1:]
    assert isinstance(hybrid.report, TrimReport)


def test_planted_facts_survive_a_summary_at_half_the_tokens() -> None:
    noise = "Thanks, that looks fine to me and I have nothing to add here. " * 8
    facts = [
        *(f"We decided to store amounts in unit_{number}_cents." for number in range(10)),
        *(f"The build fails with Config{number}Error: missing key." for number in range(10)),
        *(f"See src/area{number}/handler_{number}.py for it." for number in range(10)),
        *(f"Open question: who owns queue_{number}?" for number in range(10)),
    ]
    turns = [
        Said(noise + fact, (read(f"f{number}.py", f"line of a log {number}\n" * 40),), noise)
        for number, fact in enumerate(facts)
    ]
    messages = conversation("anthropic", turns, asks="And now?")
    before = ConversationPruner(pruning(safe_zone=10**8))
    before.prune_conversations(messages)
    assert before.report
    after = str(
        ConversationPruner(pruning(safe_zone=before.report.before // 2)).prune_conversations(messages, "summarize")
    )
    assert sum(fact in after for fact in facts) >= 0.9 * len(facts)


def test_an_unknown_strategy_is_a_usage_error_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="sumarize") as error:
        ConversationPruner().prune_conversations([], "sumarize")
    assert "summarize" in error.value.hint
