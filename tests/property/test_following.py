"""Following a session in any cuts of its bytes gives what reading it at once; what becomes of its file is said."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.kinds.conversation.decisions import measure_for_model
from secateur.kinds.conversation.growing_transcript import CHANGED, COMPACTED, GONE, GrowingTranscript
from secateur.kinds.conversation.session_facts import session_facts
from secateur.kinds.conversation.transcripts import read_transcript
from secateur.kinds.conversation.window_contents import window_contents
from secateur.sources.growing_file import GrowingFile
from secateur.tokens import get_counter
from support import agent_sessions as agents
from support.agent_sessions import as_lines, compacted, said, tool, user

COUNTER = get_counter("chars4")
FORMS = {"claude-code": agents.claude_code, "codex": agents.codex, "gemini-cli": agents.gemini_cli}
WORDS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=30)
PATHS = st.sampled_from(("a.py", "b.py", "ä/c.py"))
STEPS = st.one_of(
    WORDS.map(user),
    WORDS.map(said),
    WORDS.map(compacted),
    st.builds(tool, st.sampled_from(("read", "edit", "write", "run")), PATHS, WORDS, st.booleans()),
)
SCRIPTS = st.lists(STEPS, min_size=1, max_size=12)
ODD = st.sampled_from((b"", b"\n", b"{", b'{"a": 1}\n', b"\xff\xfe\n", b"[]\n", b" \r\n", b'{"$rewindTo": "m1"}\n'))


def seen(measured):
    transcript = measured.transcript
    messages = [(one.location, one.role, one.raw, one.parts) for one in transcript.messages]
    return messages, measured.parts, measured.tokens, transcript.format, transcript.lines


def at_once(data):
    whole = data[: data.rfind(b"\n") + 1]
    return measure_for_model(read_transcript(whole), COUNTER)


@given(st.sampled_from(sorted(FORMS)), SCRIPTS, st.lists(st.integers(0, 20_000), max_size=8), ODD)
def test_any_cuts_of_the_bytes_give_what_reading_at_once_gives(tmp_path_factory, form, script, cuts, odd):
    head, *lines = as_lines(FORMS[form](script)).encode().split(b"\n")
    middle = len(lines) // 2
    data = head + b"\n" + b"\n".join(lines[:middle]) + b"\n" + odd + b"\n".join(lines[middle:])
    path = tmp_path_factory.mktemp("followed") / "session.jsonl"
    growing = GrowingTranscript(path, "session.jsonl")
    path.write_bytes(b"")
    measured = None
    for start, stop in zip([0, *sorted(cuts)], [*sorted(cuts), len(data)], strict=True):
        with path.open("ab") as file:
            file.write(data[start:stop])
        try:
            measured = growing.look(COUNTER)
        except Exception as error:
            assert getattr(error, "code", "") == "TRANSCRIPT"
    whole = at_once(data)
    assert measured is not None
    assert seen(measured) == seen(whole)
    assert session_facts(measured) == session_facts(whole)
    assert window_contents(measured) == window_contents(whole)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "session.jsonl"


SCRIPT = agents.SCRIPT


def test_only_what_was_added_is_read_and_counted(path):
    counted = []

    class Counting:
        name, exact = "counting", True

        def load(self): ...

        def count_many(self, texts):
            texts = list(texts)
            counted.extend(texts)
            return [len(text) for text in texts]

    lines = as_lines(agents.claude_code(SCRIPT)).splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))
    growing = GrowingTranscript(path, "x")
    before = growing.look(Counting())
    del counted[:]
    assert growing.look(Counting()) is before
    with path.open("a") as file:
        file.write(lines[-1])
    after = growing.look(Counting())
    assert counted == [SCRIPT[-1].text]
    assert after.transcript.messages[:-1] == before.transcript.messages
    assert all(now is then for now, then in zip(after.transcript.messages, before.transcript.messages, strict=False))


def test_a_last_line_without_an_end_is_read_where_it_is_whole(path):
    text = as_lines(agents.codex(SCRIPT))
    path.write_text(text[:-1])
    growing = GrowingTranscript(path, "x")
    measured = growing.look(COUNTER)
    assert seen(measured) == seen(measure_for_model(read_transcript(text[:-1].encode()), COUNTER))
    more = as_lines(agents.codex((*SCRIPT, user("More."))))
    path.write_text(more)
    assert seen(growing.look(COUNTER)) == seen(at_once(more.encode()))
    path.write_text(more[:-1])
    growing = GrowingTranscript(path, "x")
    growing.look(COUNTER)
    path.write_text(more[:-1] + " and then some\n")
    assert seen(growing.look(COUNTER)) == seen(at_once((more[:-1] + " and then some\n").encode()))


def test_a_half_line_waits_for_its_end(path):
    text = as_lines(agents.codex(SCRIPT))
    path.write_text(text[:-40])
    growing = GrowingTranscript(path, "x")
    half = growing.look(COUNTER)
    assert half.transcript.notices == ()
    path.write_text(text)  # the same file, written on
    assert len(growing.look(COUNTER).transcript.messages) == len(half.transcript.messages) + 1


def codes(measured):
    return [notice.code for notice in measured.transcript.notices]


def followed(path):
    path.write_text(as_lines(agents.claude_code(SCRIPT)))
    growing = GrowingTranscript(path, "the session")
    assert codes(growing.look(COUNTER)) == []
    return growing


def test_a_file_that_was_cut_off_is_read_anew_and_said(path):
    growing = followed(path)
    path.write_text(as_lines(agents.claude_code(SCRIPT[:3])))
    measured = growing.look(COUNTER)
    assert codes(measured) == [CHANGED]
    assert "the session was cut off, and was read anew" in measured.transcript.notices[0].message
    assert seen(measured) == seen(at_once(path.read_bytes()))


def test_a_file_that_was_written_anew_with_the_same_or_a_larger_size_is_noticed(path):
    growing = followed(path)
    text = path.read_text()
    other = text.replace("voucher", "receipt")
    assert len(other) == len(text)
    path.write_text(other)
    os.utime(path, ns=(5, 5))
    assert codes(growing.look(COUNTER)) == [CHANGED]
    path.write_text(as_lines(agents.claude_code((user("Another thing entirely."), *SCRIPT, *SCRIPT))))
    measured = growing.look(COUNTER)
    assert "was rewritten" in measured.transcript.notices[0].message
    assert seen(measured) == seen(at_once(path.read_bytes()))


def test_a_touch_changes_nothing(path):
    growing = followed(path)
    before = growing.look(COUNTER)
    os.utime(path, ns=(7, 7))
    assert growing.look(COUNTER) is before


def test_another_file_in_its_place_is_read_anew(path, tmp_path):
    growing = followed(path)
    other = tmp_path / "other"
    other.write_text(as_lines(agents.codex(SCRIPT)))
    other.replace(path)
    measured = growing.look(COUNTER)
    assert "was replaced by another file" in measured.transcript.notices[0].message
    assert measured.transcript.format == "codex"


def test_a_file_that_is_gone_leaves_what_was_last_seen_until_it_is_back(path):
    growing = followed(path)
    before = growing.look(COUNTER)
    text = path.read_text()
    path.unlink()
    gone = growing.look(COUNTER)
    assert codes(gone) == [GONE]
    assert seen(gone) == seen(before)
    assert codes(growing.look(COUNTER)) == [GONE]
    path.write_text(text)
    back = growing.look(COUNTER)
    assert seen(back) == seen(before)
    assert codes(back) == []


@pytest.mark.parametrize("form", FORMS)
def test_a_compaction_is_noticed(path, form):
    path.write_text(as_lines(FORMS[form](SCRIPT)))
    growing = GrowingTranscript(path, "x")
    before = growing.look(COUNTER)
    path.write_text(as_lines(FORMS[form]((*SCRIPT, compacted("All of it.")))))
    measured = growing.look(COUNTER)
    assert codes(measured) == [COMPACTED]
    assert measured.total < before.total


def test_another_counter_counts_anew_without_reading(path):
    growing = followed(path)
    other = growing.look(get_counter("estimate"))
    assert seen(other) == seen(measure_for_model(read_transcript(path.read_bytes()), get_counter("estimate")))


def test_what_is_no_session_a_line_a_record_is_not_followed(path):
    path.write_text('{"messages": [{"role": "user", "content": "hi"}]}\n')
    assert GrowingTranscript(path, "x").look(COUNTER) is None


def test_a_folder_a_pipe_and_a_missing_file_are_errors(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name, said_ in ((".", "it is a folder"), ("pipe", "it is not a file"), ("none", "No such file")):
        with pytest.raises(Exception, match=said_):
            GrowingFile(tmp_path / name, 1 << 20, "transcript").look()
    (tmp_path / "large").write_bytes(b"x" * 2_000)
    with pytest.raises(Exception, match="larger than 1,000 bytes"):
        GrowingFile(tmp_path / "large", 1_000, "transcript").look()
