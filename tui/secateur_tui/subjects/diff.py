"""A pull request: the chunks it is sent in with their files, what is left out and by which rule, and any chunk as it
will be sent."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import ClassVar

from secateur import config, directories
from secateur.config import keys as setting_keys
from secateur.engine import Engine
from secateur.errors import SecateurError, UsageError
from secateur.kinds.diff.comparing import Asked, Found, compare
from secateur.kinds.diff.composing import Injection, injected
from secateur.kinds.diff.enriching import Hint, signatures
from secateur.kinds.diff.linting import Findings, read_findings
from secateur.kinds.diff.notes import SKILL_FILE, skill_seen
from secateur.kinds.diff.parsing import parse_diff
from secateur.kinds.diff.planning import LEFT_OUT, Plan, plan_chunks
from secateur.kinds.diff.pruning import Rule
from secateur.kinds.diff.weighing import LINTER, SIGNATURES, Compared, Weighed, weigh
from secateur.kinds.knobs import Knob
from secateur.model import Notice
from secateur.progress import Progress, unreported
from secateur.settings import Settings
from secateur.sources import samples
from secateur.terminal import clip, visible

from secateur_tui.state.command_lines import CommandWords, toml
from secateur_tui.state.diff_rows import DiffAnswer, diff_answer, pattern_of
from secateur_tui.state.input_files import FileWatch, read_file, stamp
from secateur_tui.state.ledger_answer import LedgerAnswer
from secateur_tui.state.subject import Field, Inputs, Subject
from secateur_tui.styled_text import Line, line

LARGEST = 256 << 20
"""Bytes above which a diff is not read, as for `secateur chunk`."""

STATES = ("--staged", "--worktree", "--untracked")
"""What the field of the head takes beside a revision: the flags of `secateur chunk` for what is not committed. No
revision begins with a dash."""

_TABLE = "chunking."
_IGNORE = _TABLE + "ignore"
_READ = ("context_lines", "max_file_kb", "rules", "signatures")
"""Keys that change what is read of a repository."""

_PATH_CELLS = 100

_MOVED = (("HEAD",), ("index",), ("logs", "HEAD"))
"""Files of a repository of which one is written by every commit, checkout and staging."""


class DiffSubject(Subject[Weighed, Plan]):
    """See `Subject`. The project's rules come from the repository; a diff file has none."""

    name = "diff"
    noun = "Chunks"
    reads_folders = True
    fields: ClassVar[Sequence[Field]] = (
        Field("path", "Diff", "a diff file, a repository, or sample:NAME"),
        Field("base", "Base", "its start", optional=True),
        Field("head", "Head", "HEAD", optional=True),
        Field("ignore", "Leave out", "*.md !docs/", optional=True),
        Field("skill", "Instructions", "a file", optional=True),
        Field("linter", "Linter", "what it found", optional=True),
    )
    prompt = (
        "A diff can be opened here: the file of one, or a repository with a base and a head; "
        + ", ".join(STATES)
        + " are heads too."
    )
    budget = Knob(_TABLE + "max_chunk_tokens", "limit", fine_step=100, rounded=True)
    knobs: ClassVar[Sequence[Knob]] = (
        budget,
        Knob(_TABLE + "context_lines", "context", mutable=True),
        Knob(_TABLE + "keep_together", "together"),
        Knob(_TABLE + "signatures", "signatures"),
        Knob(_TABLE + "max_file_kb", "largest KB", fine_step=1, rounded=True),
    )

    # --- deciding ---

    def reading_key(self, inputs: Inputs, settings: Settings) -> Hashable:
        read = tuple(getattr(settings.chunking, name) for name in _READ) if is_repository(inputs["path"]) else ()
        typed = tuple(text for name, text in inputs.items() if name != "ignore")
        return *typed, settings.tokens.counter, settings.chunking.token_ratio, read

    def read(self, inputs: Inputs, settings: Settings, progress: Progress) -> Weighed:
        progress("reading", 0, 0)
        path, asked = str(samples.path_of(inputs["path"], directories.cache_dir(os.environ))), asked_of(inputs)
        skill, wrong = (
            injected(read_file(inputs["skill"], LARGEST), clip(visible(inputs["skill"]), _PATH_CELLS))
            if inputs["skill"]
            else ("", ())
        )
        said = clip(visible(inputs["linter"]), _PATH_CELLS)
        findings = read_findings(read_file(inputs["linter"], LARGEST), said) if inputs["linter"] else Findings()
        wrong = (*wrong, *findings.notices)
        if is_repository(inputs["path"]):
            found = compare(Path(path), asked, settings.chunking, trust=settings.index.trust_git_dir)
            hints, failed = _hints(path, settings, found, progress) if settings.chunking.signatures else ([], ())
            notices = (*wrong, *found.notices, *failed, *_unused(inputs, Path(path), found.has_skill))
            progress("counting", 0, 0)
            injection = Injection(found.rules, skill)
            return weigh(
                found.diff,
                settings,
                injection,
                known=found.known,
                compared=found.compared,
                findings=findings,
                hints=hints,
                notices=notices,
            )
        diff = parse_diff(read_file(path, LARGEST), clip(visible(path), _PATH_CELLS))
        if asked != Asked():
            raise UsageError(
                "a diff from a file is what it is: it has no base and no head",
                hint="empty both fields, or name a repository",
            )
        progress("counting", 0, 0)
        unused = _unused(inputs, Path(), Path(SKILL_FILE).is_file())
        return weigh(
            diff, settings, Injection("", skill), compared=Compared(path), findings=findings, notices=(*wrong, *unused)
        )

    def decide(
        self,
        material: Weighed,
        inputs: Inputs,
        settings: Settings,
        progress: Progress = unreported,  # noqa: ARG002
    ) -> DiffAnswer:
        under = config.with_values(settings, {_IGNORE: patterns_of(inputs, settings)})
        return diff_answer(settings, plan_chunks(material, under))

    def budget_in_force(self, settings: Settings, ledger: LedgerAnswer[Plan] | None) -> int:  # noqa: ARG002 - of one chunk, not of all
        return settings.chunking.max_chunk_tokens

    def hold(self, ledger: LedgerAnswer[Plan], item: int, settings: Settings) -> Settings | str:
        assert isinstance(ledger, DiffAnswer)
        entry = ledger.rows[item].entry
        if entry is None:
            return "only a file is left out or taken in"
        pattern = pattern_of(entry.path)
        present = settings.chunking.ignore
        others = tuple(one for one in present if one not in (pattern, f"!{pattern}"))
        if others != present:
            return config.with_values(settings, {_IGNORE: others})
        if entry.state == LEFT_OUT and entry.verdict is not None and entry.verdict.rule is Rule.NO_ROOM:
            return "no rule leaves it out: not even a line of it has room"
        if entry.verdict is not None and entry.verdict.rule is Rule.DAMAGED:
            return "no rule leaves it out: the diff is damaged there"
        return config.with_values(
            settings, {_IGNORE: (*present, f"!{pattern}" if entry.state == LEFT_OUT else pattern)}
        )

    # --- wording ---

    def described(self, material: Weighed) -> str:
        added, removed = (sum(getattr(file.change, side) for file in material.files) for side in ("added", "removed"))
        return (
            f"{len(material.files):,} files, +{added:,} −{removed:,}, {sum(file.tokens for file in material.files):,}"
            " tokens"
        )

    def notices(self, ledger: LedgerAnswer[Plan]) -> Sequence[tuple[str, str]]:
        weighed = ledger.result.weighed
        told = [(weighed.compared.what, "faint")] if weighed.compared.base or weighed.compared.head else []
        remarks = Counter(remark.title for remarks in weighed.remarks.values() for remark in remarks)
        if remarks[LINTER] or weighed.elsewhere:
            shown = ledger.result.shown(LINTER)[0]
            told.append(
                (
                    f"linter: {shown:,} of {remarks[LINTER]:,} findings shown, {weighed.elsewhere:,} about other files",
                    "faint",
                )
            )
        if remarks[SIGNATURES]:
            told.append(
                (f"signatures: {ledger.result.shown(SIGNATURES)[0]:,} of {remarks[SIGNATURES]:,} shown", "faint")
            )
        held = ledger.settings.chunking.ignore
        return [*told, *([(f"patterns: {' '.join(held)}", "faint")] if held else [])]

    def refused(self, material: Weighed, inputs: Inputs, settings: Settings, cells: int) -> list[Line]:  # noqa: ARG002 - what was read tells it all
        told = [("instructions", material.injection.skill), ("project rules", material.injection.rules)]
        lines = [line(f"{material.counter.count(text):>9,} {name}") for name, text in told if text.strip()]
        return [
            *lines,
            line(f"{sum(file.tokens for file in material.files):>9,} the diff"),
            line(f"{settings.chunking.max_chunk_tokens:>9,} the limit of a chunk"),
        ]

    def command(self, inputs: Inputs, settings: Settings, opened: Settings) -> str:
        spelled = CommandWords("chunk", settings, opened)
        spelled.flag("--max-tokens", str(settings.chunking.max_chunk_tokens), self.budget.key)
        if opened.chunking.ignore:  # the flag adds to what a file may hold
            spelled.set(_IGNORE, toml(()))
        for pattern in patterns_of(inputs, settings):
            spelled.words(f"--ignore={pattern}")
        spelled.differing((*(key for key in setting_keys() if key.startswith(_TABLE) and key != _IGNORE), "tokens."))
        for flag in ("skill", "linter"):
            spelled.words(*([f"--{flag}={inputs[flag]}"] if inputs[flag] else []))
        path = inputs["path"]
        if is_repository(path):
            asked = asked_of(inputs)
            spelled.words(
                *([f"--base={asked.base}"] if asked.base else []), *([f"--head={asked.head}"] if asked.head else [])
            )
            spelled.words(*(flag for flag in STATES if getattr(asked, flag.removeprefix("--"))))
        elif path.startswith("-"):
            spelled.words(f"--diff={path}")
            path = "."
        else:
            spelled.words("--diff")
        return spelled.line(path)


class DiffWatch(FileWatch):
    """Whether a diff file, or what a repository has committed and staged, is still what was read."""

    def __init__(self) -> None:
        super().__init__()
        self._repository: dict[str, tuple[int, int] | None] = {}

    def read(self, path: str) -> None:
        git = str(samples.path_of(path, directories.cache_dir(os.environ))) if is_repository(path) else ""
        self._repository = (
            {place: stamp(place) for place in (str(Path(git, ".git", *part)) for part in _MOVED)} if git else {}
        )
        super().read("" if git else path)

    def changes(self) -> str:
        moved = any(stamp(place) != then for place, then in self._repository.items())
        return "the repository changed" if moved else super().changes()


def _unused(inputs: Inputs, folder: Path, has_skill: bool) -> tuple[Notice, ...]:
    """Returns a notice on instructions that lie in a folder where none are typed."""
    return (
        (skill_seen(clip(visible(str(folder / SKILL_FILE)), _PATH_CELLS)),) if has_skill and not inputs["skill"] else ()
    )


def _hints(path: str, settings: Settings, found: Found, progress: Progress) -> tuple[list[Hint], tuple[Notice, ...]]:
    """Returns declarations around the changes, from the index of the changed state; a notice instead where it cannot be
    read."""
    try:
        with Engine.open(path, settings, rev=found.compared.head or None) as engine:
            engine.refresh(progress)
            return (
                signatures(*engine.code(), {change.path: change.changed_lines() for change in found.diff.changes}),
                (),
            )
    except SecateurError as error:
        return [], (Notice("no_signatures", f"No signatures: {error.message}"),)


def is_repository(path: str) -> bool:
    """Whether a folder is compared, not a file read."""
    try:
        return path.startswith("sample:") or Path(path).is_dir()
    except (OSError, ValueError):
        return False


def asked_of(inputs: Inputs) -> Asked:
    """What the fields ask to be compared.

    Raises:
        UsageError: words in the head's field that are neither a revision nor flags.
    """
    base, words = inputs["base"].strip(), inputs["head"].split()
    flags = {word for word in words if word.startswith("-")}
    if not flags:
        return Asked(base or None, " ".join(words) or None)
    if not flags.issubset(STATES) or len(flags) < len(set(words)):
        raise UsageError(
            f"{clip(visible(inputs['head']), _PATH_CELLS)} is no head", hint="a revision, or " + ", ".join(STATES)
        )
    return Asked(base or None, None, *(state in flags for state in STATES))


def patterns_of(inputs: Inputs, settings: Settings) -> tuple[str, ...]:
    """The patterns of the settings, then those that are typed, apart by blanks."""
    return (*settings.chunking.ignore, *inputs["ignore"].split())
