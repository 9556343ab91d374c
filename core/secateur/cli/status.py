"""`secateur status [PATH]`: what is indexed, how fresh, what was skipped and why, how the call graph hangs together."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import UNSET
from msgspec.structs import asdict, replace

from secateur.cli.command_parser import CommandParser
from secateur.cli.common import CommandCall
from secateur.cli.output import emit
from secateur.render.page import Column, Page, Section, count_noun, not_shown
from secateur.sources.named import FORMS
from secateur.terminal import visible

if TYPE_CHECKING:
    from secateur.example_queries import ExampleQuery
    from secateur.index.update.refresh import Changes, IndexStatus

SHOWN_PATHS = 20
EXAMPLES = 4
LABEL_CELLS = 11

_COLUMNS = Column(9), Column(gap=1), Column()  # a label, a path, and what is said of it


def arguments(parser: CommandParser) -> None:
    """Adds the flags of the command."""
    parser.add_argument("path", metavar="PATH", nargs="?", default=".", help=f"{FORMS} (default: here)")
    parser.add_argument("--rev", metavar="COMMIT", help="read this commit instead of the working tree")
    parser.add_argument(
        "--check",
        action="store_true",
        help="only say whether the index is up to date (exit code 4 if not), and index nothing",
    )
    parser.add_argument(
        "--examples",
        action="store_true",
        help="also suggest questions on the repository; each was tried, and its answer does not fit its budget",
    )
    parser.workspace_argument()
    parser.source_arguments()
    parser.common_arguments()


def run(options: CommandCall) -> int:
    """Refreshes the index first, unless only asked whether it is fresh: figures of yesterday's files would be no
    status."""
    from secateur.engine import Engine
    from secateur.example_queries import example_queries
    from secateur.redaction import not_scanned

    options.path = options.workspace_or_path()
    path = options.named_folder(options.path)
    loaded = options.repository_settings(path)
    if options.check:
        with Engine.open(path, loaded.settings, rev=options.rev) as engine:
            changes = engine.unread()
        emit(_verdict(changes, options.format, options.verbose))
        return 4 if changes is None or changes else 0
    progress = options.progress_bar()
    with Engine.open(path, loaded.settings, rev=options.rev) as engine:
        try:
            status = engine.refresh(progress)
        finally:
            progress.close()
        components = engine.components()
        examples = example_queries(engine, loaded.settings, EXAMPLES) if getattr(options, "examples", False) else None
    status = replace(status, notices=(*status.notices, *(notice.message for notice in not_scanned(loaded.settings))))
    only, size = loaded.settings.graph_rag.only, engine.index_bytes
    emit(render(status, options.format, components, options.verbose, size, examples, options.path, only))
    return 0


def render(
    status: IndexStatus,
    format: str,
    components: Sequence[int],
    verbose: bool,
    on_disk: int,
    examples: Sequence[ExampleQuery] | None = None,
    path: str = ".",
    only: Sequence[str] = (),
) -> str:
    """Returns the status as text or JSON, newline at the end. `on_disk`: bytes of the index; `path`: as typed;
    `only`: the part that answers are drawn from."""
    if format == "json":
        from secateur.cli.status_output import StatusOutput

        output = StatusOutput(
            **asdict(status),
            fresh=status.fresh,
            components=components,
            bytes_on_disk=on_disk,
            only=only or UNSET,
            examples=UNSET if examples is None else examples,
        )
        return json.dumps(output.to_dict(), ensure_ascii=True, indent=2) + "\n"
    indexed = {"file": status.files, "line": status.lines, "fragment": status.fragments}
    unresolved = status.call_sites - status.calls_resolved - status.calls_external
    rows = [
        ("source", status.source),
        ("indexed", ", ".join(count_noun(count, noun) for noun, count in indexed.items())),
        ("languages", ", ".join(f"{name} {count:,}" for name, count in status.languages.items()) or "none"),
        ("read now", f"{count_noun(status.read, 'file')}; {status.reused:,} known"),
        ("call graph", f"{status.edges:,} edges"),
        (
            "call sites",
            (
                f"{status.call_sites:,}: {status.calls_resolved:,} resolved, {status.calls_external:,} outside,"
                f" {unresolved:,} open"
            ),
        ),
        ("counter", status.counter),
        ("embedding", status.embedding),
        ("on disk", size_text(on_disk)),
        ("skipped", ", ".join(f"{reason} {count:,}" for reason, count in status.skipped.items()) or "nothing"),
        ("problems", ", ".join(f"{problem} {count:,}" for problem, count in status.problems.items()) or "none"),
    ]
    if only:
        rows.insert(1, ("only", f"{', '.join(only)}: search and inspect answer from there"))
    if components:
        linked = [size for size in components if size > 1]
        alone = len(components) - len(linked)
        rows.insert(
            6 + bool(only),
            (
                "components",
                f"{len(linked):,} of linked fragments, largest {max(components):,}; {alone:,} fragments alone",
            ),
        )
    notices = Section([f"! {visible(notice)}" for notice in status.notices], apart=False)
    skipped = _paths("skipped", [(path, f"({reason})") for path, reason in status.skipped_paths], verbose)
    head = [(label, visible(text)) for label, text in rows]
    sections = [notices, skipped, *([_examples(examples, path)] if examples is not None else [])]
    return Page(head, sections, label_cells=LABEL_CELLS).text()


def _examples(examples: Sequence[ExampleQuery], path: str) -> Section:
    if not examples:
        return Section(["no question was found that this repository answers and a budget cuts"])
    lines = []
    for example in examples:
        words = ["secateur", "search", example.query, *([path] if path != "." else []), "--budget", str(example.budget)]
        lines.append(visible(shlex.join(words)))
        lines.append(f"    from {example.drawn_from}: {example.kept:,} kept, {example.dropped:,} dropped")
    return Section(lines)


def _verdict(changes: Changes | None, format: str, verbose: bool) -> str:
    files = changes.files if changes else ()
    if format == "json":
        from secateur.cli.status_output import CheckOutput

        there = changes is not None
        output = CheckOutput(there, there and not changes, files, bool(changes and changes.commit))
        return json.dumps(output.to_dict(), ensure_ascii=True, indent=2) + "\n"
    if changes is None:
        return "not indexed yet: secateur index does that, and so does the first search\n"
    head = f"stale: {changes}" if changes else "fresh"
    return Page([("", head)], [_paths("changed", [(path,) for path in files], verbose)]).text()


def _paths(label: str, rows: Sequence[tuple[str, ...]], verbose: bool) -> Section:
    shown = rows if verbose else rows[:SHOWN_PATHS]
    cells = [(label, *map(visible, row)) for row in shown]
    return Section(cells, more=not_shown(len(rows) - len(shown)), apart=False, columns=_COLUMNS)


def size_text(size: int) -> str:
    """Writes bytes for people: "812 kB", "12.3 MB"."""
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:,.0f} kB"
