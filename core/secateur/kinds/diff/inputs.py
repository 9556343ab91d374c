"""The inputs of `secateur chunk` and the Diff bench: inputs, flags, and how each input is read."""

from collections.abc import Sequence
from pathlib import Path

from secateur.errors import UsageError, not_allowed, shown
from secateur.kinds.base import Environment, Flag, Input, Inputs
from secateur.kinds.diff.changes import Diff
from secateur.kinds.diff.chunk_text import decode_injection
from secateur.kinds.diff.comparison import ComparedStates
from secateur.kinds.diff.diff_parser import parse_diff
from secateur.kinds.diff.linter_output import Findings, read_findings
from secateur.kinds.diff.skip_rules import RULES
from secateur.model import Notice
from secateur.sources.named import FORMS, is_named
from secateur.suggestions import suggestion

_TABLE = "chunking."


def is_repository(path: str) -> bool:
    """Tells whether `path` is a repository to compare, and not a diff to read."""
    try:
        return is_named(path) or Path(path).is_dir()
    except (OSError, ValueError):
        return False


INPUTS: Sequence[Input] = (
    Input(
        "path",
        f"of a repository: {FORMS} (default: here)",
        metavar="PATH",
        positional=True,
        default=".",
        title="Diff",
        placeholder="a diff file, a repository, or sample:NAME",
        folders=True,
        takes=is_repository,
    ),
    Input(
        "base",
        "compare with the merge base of this revision and the head (default: that of the main branch)",
        metavar="REV",
        default=None,
        title="Base",
        placeholder="its start",
        optional=True,
    ),
    Input(
        "head",
        "the changed revision (default: HEAD)",
        metavar="REV",
        default=None,
        title="Head",
        placeholder="HEAD",
        optional=True,
    ),
    Input("staged", "the changed state is the index: what would be committed", switch=True),
    Input("worktree", "the changed state is the files as they are on disk", switch=True),
    Input("untracked", "with the files on disk: also those that git does not track and does not ignore", switch=True),
    Input("diff", "read a unified diff instead of a repository; - reads stdin", default=None),
    Input(
        "ignore",
        "leave out files that match, beside those of chunking.ignore, in gitignore syntax; !GLOB takes them in;"
        " repeatable",
        metavar="GLOB",
        repeatable=True,
        title="Leave out",
        placeholder="*.md !docs/",
        optional=True,
    ),
    Input(
        "skill",
        "instructions that go into every chunk",
        default=None,
        title="Instructions",
        placeholder="a file",
        optional=True,
    ),
    Input(
        "rules",
        "project rules that go into every chunk (default: CLAUDE.md and AGENTS.md as they were at the base)",
        default=None,
    ),
    Input("no_rules", "no project rules", switch=True),
    Input(
        "linter",
        "findings beside the files they speak of, where there is room: SARIF, JSON of ruff or ESLint,"
        " path:line:col: message; repeatable",
        repeatable=True,
        title="Linter",
        placeholder="what it found",
        optional=True,
    ),
    Input("only", "with markdown: print chunk K alone", metavar="K", default=None, least=1, holds="output"),
    Input(
        "out",
        "write one file per chunk, chunk-001.md and so on, and coverage.json",
        metavar="DIR",
        default=None,
        holds="output",
    ),
    Input("fail_on_skip", "exit 4 if a changed file, or a part of one, is in no chunk", switch=True, holds="output"),
    Input(
        "allow_skip",
        "rules that --fail-on-skip does not count, e.g. lockfile,binary",
        metavar="RULE,...",
        default=None,
        holds="output",
    ),
)

FLAGS: Sequence[Flag] = (
    Flag(_TABLE + "max_chunk_tokens", "N", "tokens a chunk may hold, with all that is injected (default 32000)"),
    Flag(
        _TABLE + "signatures",
        "",
        "where there is room: declarations of what the changes call and who calls them, from the index",
    ),
    Flag(_TABLE + "context_lines", "N", "unchanged lines around a change (default 3)"),
)


def read_states(inputs: Inputs) -> ComparedStates:
    """Returns the states to compare. Raises UsageError: inputs contradict each other."""
    if inputs["rules"] is not None and inputs["no_rules"]:
        raise UsageError("--rules and --no-rules contradict each other", hint="leave one of them out")
    names = ("base", "head", "staged", "worktree", "untracked")
    states = ComparedStates(*(inputs[name] for name in names))
    if inputs["diff"] is not None and states != ComparedStates():
        flag = next(name for name in names if inputs[name])
        raise UsageError(
            f"--{flag} does not go with --diff",
            hint="a diff from a file is what it is; name a repository to compare revisions",
        )
    return states


def name_of(diff: str) -> str:
    """The name of a diff for people."""
    return "standard input" if diff == "-" else diff


def diff_of(inputs: Inputs, environment: Environment) -> Diff:
    """Reads and parses the diff that the inputs name."""
    name = inputs["diff"]
    return parse_diff(environment.bytes_of(name, "diff", flag="--diff"), shown(name_of(name)))


def text_of_input(inputs: Inputs, name: str, environment: Environment) -> tuple[str | None, tuple[Notice, ...]]:
    """Reads a text for every chunk, None if not given; notices report its faults."""
    path, flag = inputs[name], f"--{name}"
    if path is None:
        return None, ()
    return decode_injection(environment.bytes_of(path, "text", flag=flag), f"{flag} {shown(path)}")


def findings_of(inputs: Inputs, environment: Environment) -> tuple[Findings, tuple[Notice, ...]]:
    """Reads the linters' findings; notices count the entries that were skipped."""
    outputs = [
        read_findings(environment.bytes_of(name, "list of findings", flag="--linter"), f"--linter {shown(name)}")
        for name in inputs["linter"]
    ]
    findings = Findings(finding for output in outputs for finding in output)
    return findings, tuple(notice for output in outputs for notice in output.notices)


def parse_allowed_rules(inputs: Inputs) -> frozenset[str]:
    """Returns the rules that --allow-skip names. Raises UsageError: there is no such rule."""
    known = [rule.label for rule in RULES]
    names = [name.strip() for name in (inputs["allow_skip"] or "").split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise not_allowed("--allow-skip", name, "some of " + ", ".join(known), suggestion(name, known))
    return frozenset(names)
