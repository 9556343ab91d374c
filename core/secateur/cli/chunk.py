"""`secateur chunk [PATH]`: a pull request in chunks, headless."""

from __future__ import annotations

import argparse
import errno
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from secateur.cli.common import (
    ProgressBar,
    common_arguments,
    input_bytes,
    load_settings,
    sample_or_path,
    say,
    trusts_git_dir,
)
from secateur.cli.output import emit, on_terminal
from secateur.cli.parsing import integer, not_allowed, whole_number
from secateur.config import IGNORED, with_values
from secateur.errors import SecateurError, UsageError, shown, unwritable
from secateur.suggestions import suggestion
from secateur.terminal import visible

if TYPE_CHECKING:
    from secateur.config import Committed
    from secateur.kinds.diff.changes import Diff
    from secateur.kinds.diff.chunks import Chunk, Chunks
    from secateur.kinds.diff.comparing import Found
    from secateur.kinds.diff.enriching import Hint
    from secateur.kinds.diff.planning import Coverage
    from secateur.kinds.diff.weighing import Weighed
    from secateur.model import Notice
    from secateur.settings import Settings

SHOWN_FILES = 40
"""Files the text lists per heading without --verbose."""

NAMED = 5
"""Files that one message names."""

SKIPPED = 4
"""Exit code of --fail-on-skip."""

_CHUNK_FILE = re.compile(r"chunk-\d{3,}\.md")
_CHUNK_START = b"# Context Chunk "


def arguments(parser: argparse.ArgumentParser) -> None:
    """Flags of the command."""
    parser.add_argument(
        "path", metavar="PATH", nargs="?", default=".", help="a folder of a repository, or sample:NAME (default: here)"
    )
    parser.add_argument(
        "--base",
        metavar="REV",
        help="compare with the merge base of this revision and the head (default: that of the main branch)",
    )
    parser.add_argument("--head", metavar="REV", help="the changed revision (default: HEAD)")
    parser.add_argument("--staged", action="store_true", help="the changed state is the index: what would be committed")
    parser.add_argument("--worktree", action="store_true", help="the changed state is the files as they are on disk")
    parser.add_argument(
        "--untracked",
        action="store_true",
        help="with the files on disk: also those that git does not track and does not ignore",
    )
    parser.add_argument("--diff", metavar="FILE", help="read a unified diff instead of a repository; - reads stdin")
    parser.add_argument(
        "--max-tokens",
        type=integer,
        metavar="N",
        help="tokens a chunk may hold, all that is injected included (default 32000)",
    )
    parser.add_argument("--skill", metavar="FILE", help="instructions that go into every chunk")
    parser.add_argument(
        "--rules",
        metavar="FILE",
        help="project rules that go into every chunk (default: CLAUDE.md and AGENTS.md as they were at the base)",
    )
    parser.add_argument("--no-rules", action="store_true", help="no project rules")
    parser.add_argument(
        "--linter",
        action="append",
        default=[],
        metavar="FILE",
        help=(
            "findings beside the files they speak of, where there is room: SARIF, JSON of ruff or ESLint,"
            " path:line:col: message; repeatable"
        ),
    )
    parser.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="GLOB",
        help=(
            "leave out files that match, beside those of chunking.ignore, in gitignore syntax; !GLOB takes them in;"
            " repeatable"
        ),
    )
    parser.add_argument(
        "--signatures",
        action="store_true",
        help="where there is room: declarations of what the changes call and who calls them, from the index",
    )
    parser.add_argument("--context", type=integer, metavar="N", help="unchanged lines around a change (default 3)")
    parser.add_argument(
        "--only", type=whole_number("--only", 1), metavar="K", help="with markdown: print chunk K alone"
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="write one file per chunk, chunk-001.md and so on, and coverage.json"
    )
    parser.add_argument(
        "--fail-on-skip", action="store_true", help="exit 4 if a changed file, or a part of one, is in no chunk"
    )
    parser.add_argument(
        "--allow-skip", metavar="RULE,...", help="rules that --fail-on-skip does not count, e.g. lockfile,binary"
    )
    common_arguments(parser, formats=("text", "json", "markdown"))


def run(options: argparse.Namespace) -> int:
    """Exit 0, also for a diff without changes; 4 with --fail-on-skip where something is not seen."""
    from secateur.kinds.diff import chunk
    from secateur.kinds.diff.comparing import UNREAD
    from secateur.render import dumps

    allowed = _allowed(options)
    path = Path() if options.diff is not None and options.path == "." else sample_or_path(options.path)
    if options.only is not None and options.format != "markdown":
        raise UsageError(
            "--only prints the text of one chunk: it goes with --format markdown",
            hint="add --format markdown, or leave --only out",
        )
    settings, weighed = _weighed(options, path)
    chunks = chunk(weighed, settings)
    if options.only is not None and options.only > len(chunks):
        raise UsageError(
            f"there is no chunk {options.only}: the last is {len(chunks)}", hint="leave --only out to see them all"
        )
    for notice in chunks.warnings:
        if (
            options.format == "markdown" and notice.code != IGNORED
        ):  # the other formats print them; what is ignored was said
            say(options, f"warning: {notice.message}")
    if options.out is not None:
        write(options.out, chunks)
        say(options, f"written: {len(chunks)} chunks and coverage.json to {options.out}")
    if options.format == "json":
        emit(dumps(chunks.to_dict()))
    elif options.format == "markdown":
        emit(_markdown([piece for piece in chunks if options.only in (None, piece.index)]))
    else:
        emit(as_text(chunks, verbose=options.verbose))
    unseen = [entry for entry in chunks.plan.skipped if entry.verdict and entry.verdict.rule not in allowed]
    if options.fail_on_skip and unseen:
        say(options, f"not seen: {len(unseen):,} changed files: {_names(unseen)}")
    unread = options.fail_on_skip and any(notice.code == UNREAD for notice in chunks.warnings)
    return SKIPPED if unread or (options.fail_on_skip and unseen) else 0


def flags(options: argparse.Namespace) -> dict[str, Any]:
    """The command's flags as settings."""
    names = (("max_tokens", "max_chunk_tokens"), ("context", "context_lines"))
    values = {f"chunking.{key}": getattr(options, name) for name, key in names if getattr(options, name) is not None}
    if options.signatures:
        values["chunking.signatures"] = True
    return values


def _weighed(options: argparse.Namespace, path: Path) -> tuple[Settings, Weighed]:
    """The diff the call asks for, counted, and the settings that count for it: of a repository its own as they were at
    the base."""
    from secateur.kinds.diff import weigh
    from secateur.kinds.diff.comparing import Asked, Comparison
    from secateur.kinds.diff.composing import Injection
    from secateur.kinds.diff.linting import read_findings
    from secateur.kinds.diff.notes import SKILL_FILE, skill_seen
    from secateur.kinds.diff.weighing import Compared

    if options.rules is not None and options.no_rules:
        raise UsageError("--rules and --no-rules contradict each other", hint="leave one of them out")
    skill, said = _text(options.skill, "--skill")
    rules, of_rules = _text(options.rules, "--rules")
    outputs = [
        read_findings(input_bytes(name, "list of findings", flag="--linter"), f"--linter {shown(name)}")
        for name in options.linter
    ]
    findings = [finding for output in outputs for finding in output]
    notices = (*said, *of_rules, *(notice for output in outputs for notice in output.notices))
    asked = Asked(options.base, options.head, options.staged, options.worktree, options.untracked)
    unused = skill_seen(shown(path / SKILL_FILE))
    if options.diff is None:
        comparison = Comparison(path, asked, trust=trusts_git_dir(options))
        settings, ignored = _settings(options, path, comparison.settings)
        found = comparison.found(settings.chunking)
        if options.rules is None and not options.no_rules:
            rules = found.rules
        hints, failed = _hints(options, path, settings, found) if settings.chunking.signatures else ([], ())
        seen = (unused,) if found.has_skill and options.skill is None else ()
        everything = (*ignored, *notices, *found.notices, *failed, *seen)
        injection = Injection(rules, skill)
        weighed = weigh(
            found.diff,
            settings,
            injection,
            known=found.known,
            compared=found.compared,
            findings=findings,
            hints=hints,
            notices=everything,
        )
        return settings, weighed
    if asked != Asked():
        flag = next(name for name in ("base", "head", "staged", "worktree", "untracked") if getattr(options, name))
        raise UsageError(
            f"--{flag} does not go with --diff",
            hint="a diff from a file is what it is; name a repository to compare revisions",
        )
    if options.signatures:
        raise UsageError(
            "--signatures does not go with --diff",
            hint="the index knows a repository; name one and what to compare in it",
        )
    diff, name = _read_diff(options)
    settings, ignored = _settings(options, path, diff=diff)
    seen = (unused,) if options.skill is None and (path / SKILL_FILE).is_file() else ()
    return settings, weigh(
        diff,
        settings,
        Injection(rules, skill),
        compared=Compared(name),
        findings=findings,
        notices=(*ignored, *notices, *seen),
    )


def _read_diff(options: argparse.Namespace) -> tuple[Diff, str]:
    from secateur.kinds.diff import parse_diff

    name = "standard input" if options.diff == "-" else options.diff
    return parse_diff(input_bytes(options.diff, "diff", flag="--diff"), shown(name)), name


def _settings(
    options: argparse.Namespace, path: Path, committed: Committed | None = None, *, diff: Diff | None = None
) -> tuple[Settings, tuple[Notice, ...]]:
    """The settings of the call and what was ignored: never what the change itself wrote into the repository's file."""
    from secateur.kinds.diff.base_settings import distrusted

    loaded = load_settings(options, path, flags(options), committed=committed)
    ignored = loaded.notices
    if diff is not None and (notice := distrusted(diff, loaded.origins)):
        loaded = load_settings(options, None, flags(options))
        ignored = (*loaded.notices, notice)
    settings = loaded.settings
    if options.ignore:  # the last pattern that speaks of a path decides, so these outweigh the configured ones
        settings = with_values(settings, {"chunking.ignore": [*settings.chunking.ignore, *options.ignore]})
    return settings, ignored


def _hints(
    options: argparse.Namespace, path: Path, settings: Settings, found: Found
) -> tuple[list[Hint], tuple[Notice, ...]]:
    """Declarations around the changes, from the index of the changed state; a notice instead where it cannot be
    read."""
    from secateur.engine import Engine
    from secateur.kinds.diff.enriching import signatures
    from secateur.model import Notice

    progress = ProgressBar(options)
    try:
        with Engine.open(path, settings, rev=found.compared.head or None) as engine:
            engine.refresh(progress)
            changed = {change.path: change.changed_lines() for change in found.diff.changes}
            return signatures(*engine.code(), changed), ()
    except SecateurError as error:
        return [], (Notice("no_signatures", f"No signatures: {error.message}"),)
    finally:
        progress.close()


# --- what is printed --------------------------------------------------------------------------------------------------


def as_text(chunks: Chunks, *, verbose: bool) -> str:
    """Figures, the chunks with their files, and every file that is not seen whole."""
    from secateur.kinds.diff.weighing import LINTER, SIGNATURES

    plan, weighed = chunks.plan, chunks.plan.weighed
    about = "" if weighed.counter.exact else ", estimated"
    added, removed = (
        sum(getattr(entry.file.change, side) for entry in chunks.coverage) for side in ("added", "removed")
    )
    lines = [
        f"{'compared':<9} {visible(weighed.compared.what)}",
        (
            f"{'changed':<9} {len(chunks.coverage):,} files, +{added:,} -{removed:,},"
            f" {sum(entry.file.tokens for entry in chunks.coverage):,} tokens"
        ),
        (
            f"{'chunks':<9} {len(chunks):,} of at most {plan.limit:,} tokens ({weighed.counter.name}{about}); not"
            f" possible in fewer than {plan.fewest:,}"
        ),
        f"{'injected':<9} {plan.limit - plan.capacity:,} tokens in each: headings{_injected(weighed)}",
    ]
    around, findings = chunks.lines_under(SIGNATURES), chunks.lines_under(LINTER)
    if around["lines"]:
        lines.append(f"{'around':<9} {around['shown']:,} of {around['lines']:,} signatures of callers and callees")
    if findings["lines"] or weighed.elsewhere:
        lines.append(
            f"{'linter':<9} {findings['shown']:,} findings shown of {findings['lines']:,}; {weighed.elsewhere:,} are"
            " about other files"
        )
    lines += [f"! {visible(notice.message)}" for notice in chunks.warnings]
    for chunk in chunks:
        lines += ["", f"chunk {chunk.index}/{chunk.of}  {chunk.tokens:,} tokens  {chunk.tokens / plan.limit:.0%}"]
        rows = []
        for file in chunk.files:
            part = (
                f"  part {file.number}/{file.of}, lines {file.place.line_start}-{file.place.line_end}"
                if file.place
                else ""
            )
            rows.append(f"  {file.tokens:>8,}  {visible(file.path)}{part}")
        lines += _shown(rows, verbose)
    left = [entry for entry in chunks.coverage if entry.verdict]
    if left:
        lines += ["", f"not seen, or not whole: {len(left):,}"]
        lines += _shown(
            [f"  {entry.file.tokens:>8,}  {visible(entry.path)}  {visible(entry.reason)}" for entry in left], verbose
        )
    return "\n".join(lines) + "\n"


def _injected(weighed: Weighed) -> str:
    said = [
        name
        for name, text in (("rules", weighed.injection.rules), ("instructions", weighed.injection.skill))
        if text.strip()
    ]
    return "".join(f", {name}" for name in said)


def _shown(rows: list[str], verbose: bool) -> list[str]:
    return (
        rows
        if verbose or len(rows) <= SHOWN_FILES
        else [*rows[:SHOWN_FILES], f"  ... and {len(rows) - SHOWN_FILES:,} more (--verbose lists all)"]
    )


def _markdown(chunks: list[Chunk]) -> str:
    """The chunks as they are; on a terminal with everything it would obey made visible."""
    text = "".join(chunk.text for chunk in chunks)
    return visible(text, keep_newlines=True, keep_tabs=True) if on_terminal(sys.stdout) else text


def _names(entries: list[Coverage]) -> str:
    shown = [visible(entry.path) for entry in entries[:NAMED]]
    return ", ".join(shown) + (f" and {len(entries) - len(shown):,} more" if len(entries) > len(shown) else "")


def _allowed(options: argparse.Namespace) -> frozenset[str]:
    """The rules --allow-skip names."""
    from secateur.kinds.diff.pruning import Rule

    known = [rule.value for rule in Rule]
    names = [name.strip() for name in (options.allow_skip or "").split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise not_allowed("--allow-skip", name, "some of " + ", ".join(known), suggestion(name, known))
    return frozenset(names)


# --- files ------------------------------------------------------------------------------------------------------------


def write(folder: Path, chunks: Chunks) -> None:
    """One file per chunk, and what became of every changed file; chunks of an earlier run go.

    All is written beside, then renamed: never half a file, never through a link, and what cannot be written leaves the
    folder as it was.

    Raises:
        SecateurError: `OUTPUT`: the folder cannot be written.
    """
    from secateur.render import dumps

    manifest = {key: value for key, value in chunks.to_dict().items() if key != "chunks"}
    manifest["chunks"] = [{key: value for key, value in chunk.to_dict().items() if key != "text"} for chunk in chunks]
    texts = {f"chunk-{chunk.index:03}.md": chunk.text for chunk in chunks} | {"coverage.json": dumps(manifest)}
    beside = {name: folder / f".{name}.new" for name in texts}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        in_the_way = next((folder / name for name in texts if (folder / name).is_dir()), None)
        if in_the_way is not None:
            raise IsADirectoryError(errno.EISDIR, f"{visible(in_the_way.name)} is a folder")
        try:
            for name, text in texts.items():
                beside[name].unlink(missing_ok=True)
                with beside[name].open("xb") as file:
                    file.write(text.encode("utf-8", "replace"))
            for name, place in beside.items():
                place.replace(folder / name)
        finally:
            for place in beside.values():
                with suppress(OSError):
                    place.unlink()
        for old in sorted(folder.iterdir()):
            if (
                old.name not in texts
                and _CHUNK_FILE.fullmatch(old.name)
                and old.is_file()
                and not old.is_symlink()
                and _starts(old)
            ):
                old.unlink()
    except OSError as error:
        raise unwritable(folder, error) from error


def _starts(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_CHUNK_START)) == _CHUNK_START


def _text(name: str | None, flag: str) -> tuple[str, tuple[Notice, ...]]:
    """The text that goes into every chunk, and what is wrong with it; "" without the flag."""
    from secateur.kinds.diff.composing import injected

    if name is None:
        return "", ()
    return injected(input_bytes(name, "text", flag=flag), f"{flag} {shown(name)}")
