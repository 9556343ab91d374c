"""Lists the files of a snapshot that were read only in part, so that a search says where it may miss something."""

from secateur.index.facts.extract import NOT_WHOLLY_SCANNED, WORDS_LEFT_OUT
from secateur.index.facts.snapshot import Snapshot
from secateur.languages import language_of, traits_of
from secateur.languages.plain import UNPARSED
from secateur.languages.syntax.file_flags import BINARY, UNREADABLE_TEXT
from secateur.languages.syntax.text import DAMAGED_TEXT
from secateur.model import Notice
from secateur.render.page import listed

# Problems for which a file is indexed as blocks of text although its language has a grammar.
_AS_TEXT = ("reader_failed", "parser_crashed", "parse_timeout", "too_large", "grammar_missing")


def warn_of_partly_read(snapshot: Snapshot) -> tuple[Notice, ...]:
    """Makes a notice for each way in which files of a snapshot were read only in part."""
    pairs = [
        (path, problem)
        for path, problems in zip(snapshot.paths, snapshot.problems, strict=True)
        for problem in problems.split()
    ]
    as_text = [(path, problem) for path, problem in pairs if problem.startswith(_AS_TEXT)]
    as_text += [(path, f"no grammar for {kind}") for path in snapshot.paths if (kind := language_of(path)) in UNPARSED]
    left_out = [  # their names say that they hold code
        f"{path} ({reason})"
        for path, reason in snapshot.unindexed
        if reason == UNREADABLE_TEXT or (reason == BINARY and traits_of(language_of(path)).grammar is not None)
    ]
    notices = []
    if as_text:
        files = listed([f"{path} ({reason})" for path, reason in sorted(as_text)])
        notices.append(Notice("read_as_text", f"Indexed as plain text, without definitions and calls: {files}."))
    if left_out:
        message = f"Not indexed, although it should be code: {listed(left_out)}."
        notices.append(Notice("code_not_indexed", message))
    if unscanned := [path for path, problem in pairs if problem == NOT_WHOLLY_SCANNED]:
        message = "Credentials: the full scanner stopped at some files, where the built-in rules looked alone"
        notices.append(Notice("scanner_failed", f"{message}: {listed(unscanned)}."))
    if cut := [path for path, problem in pairs if problem == WORDS_LEFT_OUT]:
        message = "More different words than prose has: the meaning of the longest is not looked at in"
        notices.append(Notice(WORDS_LEFT_OUT, f"{message} {listed(cut)}."))
    if damaged := [path for path, problem in pairs if problem == DAMAGED_TEXT]:
        message = "Bytes that are neither UTF-8 nor of an encoding that can be told are read as U+FFFD in"
        notices.append(Notice(DAMAGED_TEXT, f"{message} {listed(damaged)}."))
    return tuple(notices)
