"""Pull requests as a kind of context: the changes of a repository, or a diff, in chunks that fit a model."""

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import ClassVar

from msgspec import structs

from secateur.errors import UsageError, shown
from secateur.kind_places import place_of
from secateur.kinds.base import Delivery, EntryDescription, Kind, Outcome, OutputFolder, Wording
from secateur.kinds.command_line import CommandWords, toml
from secateur.kinds.diff.changes import line_numbers
from secateur.kinds.diff.chunk_text import SKILL_FILE, Injection, distrust_notice, skill_notice
from secateur.kinds.diff.chunks import ChunkOutput, Chunks, page_of, render_chunks
from secateur.kinds.diff.comparison import UNREAD, Comparison
from secateur.kinds.diff.measured_diff import Compared, MeasuredDiff, measure_diff
from secateur.kinds.diff.plan import LEFT_OUT, WHOLE, Plan, ledger_of, plan_chunks, tokens_of
from secateur.kinds.diff.repository import (
    FLAGS,
    INPUTS,
    changes_of,
    diff_of,
    findings_of,
    name_of,
    parse_allowed_rules,
    read_states,
    text_of_input,
)
from secateur.kinds.diff.skip_rules import pattern_of
from secateur.kinds.environment import ALONE, Deciding, Environment, Inputs, Load
from secateur.kinds.knobs import FilePlace, Knob, Steer, location_in
from secateur.model import Reason
from secateur.render.page import Page, count_noun, listed
from secateur.settings import Loaded, Settings, with_values
from secateur.shape import dumps
from secateur.terminal import visible

# Inputs that are flags and change what is read.
_NAMED = ("skill", "rules", "no_rules", "linter", "base", "head", "staged", "worktree", "untracked")


NAMED = 5  # files that one message lists by name
SKIPPED = 4  # exit code of --fail-on-skip
_TABLE = "chunking."
_IGNORE = _TABLE + "ignore"
# Settings that change what is read from a repository.
_READ_OF_REPOSITORIES = ("context_lines", "signatures")

_NOT_READ = ("ignore", "only", "out", "fail_on_skip", "allow_skip")  # inputs that do not change what is read
_DIFF = re.compile(r"diff --(git|cc|combined) |--- .*\n\+\+\+ |Index: |(From|commit) [0-9a-f]{40}\b")
_DIFF_NAMES = (".diff", ".patch")
_CHUNK_FILE = re.compile(r"chunk-\d{3,}\.md")
_CHUNK_START = b"# Context Chunk "
# Keys under which `load` keeps its results for `read`: the comparison or the diff, and a notice about ignored settings.
_PREPARED, _NOTICE = "diff", "settings_changed"


@dataclass(frozen=True, eq=False)
class Planned:
    """The plan of the chunks; their text is made at the first use."""

    plan: Plan

    @cached_property
    def tokens(self) -> tuple[int, ...]:
        """Tokens of every chunk's text."""
        return tokens_of(self.plan)

    @cached_property
    def chunks(self) -> Chunks:
        """The chunks with their text."""
        return render_chunks(self.plan)


class PullRequest(Kind[MeasuredDiff, Planned]):
    """See `Kind`; spec smart-chunking."""

    name = "diff"
    wording = Wording(
        "Diff",
        place_of("diff").about,
        "Chunks",
        "A diff can be opened here: its file, or a repository with a base and a head; --staged, --worktree,"
        " --untracked are heads too.",
        entries="Files",
    )
    inputs = INPUTS
    flags = FLAGS
    depends_on = ("index.",)
    budget = Knob(_TABLE + "max_chunk_tokens", "limit", fine_step=100, rounded=True)
    knobs: ClassVar[Sequence[Knob]] = (
        budget,
        Knob(_TABLE + "context_lines", "context", mutable=True),
        Knob(_TABLE + "signatures", "signatures"),
    )
    formats = ("text", "json", "markdown")

    # --- reading and deciding -----------------------------------------------------------------------------------------

    def recognises(self, path: Path, head: str) -> bool:
        return _DIFF.match(head) is not None or path.suffix in _DIFF_NAMES

    def load(self, inputs: Inputs, load: Load, environment: Environment) -> Loaded:
        """Loads the settings, but never those that the change itself wrote: for a repository its settings at the base,
        for a diff the settings of the folder unless the diff changes them."""
        parse_allowed_rules(inputs)
        if inputs["only"] is not None and environment.form != "markdown":
            raise UsageError(
                "--only prints the text of one chunk: it goes with --format markdown",
                hint="add --format markdown, or leave --only out",
            )
        states, path = read_states(inputs), environment.folder_of(inputs["path"])
        if inputs["diff"] is None:
            comparison = Comparison(path, states, trust=environment.trusts_git_dir())
            environment.found[_PREPARED] = comparison
            return load(path, comparison.settings)
        loaded = load(path, None)
        if loaded.origins.get(_TABLE + "signatures") in ("flag", "--signatures"):
            raise UsageError(
                "--signatures does not go with --diff",
                hint="the index knows a repository; name one and what to compare in it",
            )
        environment = environment.redacting(loaded.settings)
        diff = diff_of(inputs, environment)
        environment.found[_PREPARED] = diff, environment.redactor
        if (settings_notice := distrust_notice(diff, loaded.origins)) is None:
            return loaded
        environment.found[_NOTICE] = settings_notice
        return load(None, None)

    def reading_of(self, inputs: Inputs, settings: Settings) -> Hashable:
        rules = settings.chunking
        read = () if inputs["diff"] is not None else tuple(getattr(rules, name) for name in _READ_OF_REPOSITORIES)
        given = tuple(
            tuple(value) if isinstance(value, list) else value
            for name, value in inputs.items()
            if name not in _NOT_READ
        )
        return *given, settings.tokens.counter, rules.token_ratio, read

    def read(self, inputs: Inputs, settings: Settings, environment: Environment) -> MeasuredDiff:
        states, path, progress = read_states(inputs), environment.folder_of(inputs["path"]), environment.progress
        progress("reading", 0, 0)
        prepared = environment.found.pop(_PREPARED, None)
        if isinstance(prepared, tuple):  # markers continue the numbers of those in the diff
            diff, redactor = prepared
            environment = structs.replace(environment, redactor=redactor)
        else:
            diff = None if inputs["diff"] is None else diff_of(inputs, environment)
        skill, notices = text_of_input(inputs, "skill", environment)
        rules, rules_notices = ("", ()) if inputs["no_rules"] else text_of_input(inputs, "rules", environment)
        findings, findings_notices = findings_of(inputs, environment)
        notices = (*notices, *rules_notices, *findings_notices)
        if diff is None:
            comparison = prepared or Comparison(path, states, trust=settings.index.trust_git_dir)
            return changes_of(
                path,
                comparison,
                settings,
                rules=rules,
                skill=skill,
                findings=findings,
                notices=notices,
                progress=progress,
                redactor=environment.redactor,
            )
        settings_notice = environment.found.pop(_NOTICE, None)
        seen = (skill_notice(shown(path / SKILL_FILE)),) if skill is None and (path / SKILL_FILE).is_file() else ()
        progress("counting", 0, 0)
        measured = measure_diff(
            diff,
            settings,
            Injection(rules or "", skill or ""),
            compared=Compared(name_of(inputs["diff"])),
            findings=findings,
            notices=(*([settings_notice] if settings_notice else []), *notices, *seen),
        )
        return replace(measured, redactor=environment.redactor)

    def decide(
        self, material: MeasuredDiff, inputs: Inputs, settings: Settings, during: Deciding = ALONE
    ) -> Outcome[Planned]:
        """Plans the chunks. The last matching pattern decides, so patterns of the inputs override those of the
        settings."""
        if inputs["ignore"]:
            settings = with_values(settings, {_IGNORE: [*settings.chunking.ignore, *inputs["ignore"]]})
        planned = Planned(plan_chunks(material, settings))
        return Outcome(
            self.name,
            settings,
            planned,
            lambda: ledger_of(planned.plan, planned.tokens),
            planned.plan.notices,
            measures=lambda: {"coverage": {covered.path: covered.state for covered in planned.plan.coverage}},
        )

    def leaving(self, outcome: Outcome[Planned], form: str = "") -> str:
        """The text of all chunks; a blank line separates them unless `form` names a format."""
        return ("" if form else "\n").join(chunk.text for chunk in outcome.payload.chunks)

    def hold(self, outcome: Outcome[Planned], index: int, settings: Settings) -> Settings | str:
        """Returns the settings with a pattern for the file added, or with its pattern removed."""
        coverage, how = outcome.payload.plan.coverage, self.overruled(outcome, index, settings)
        if how is None and index < len(coverage):
            covered = coverage[index]
            rule = covered.verdict.rule if covered.verdict is not None else None
            if covered.state == LEFT_OUT and rule is Reason.NO_ROOM:
                return "no rule leaves it out: not even a line of it has room"
            if rule is Reason.DAMAGED:
                return "no rule leaves it out: the diff cannot be made or read there"
            how = Steer.PIN if covered.state == LEFT_OUT else Steer.EXCLUDE
        return self.steer(outcome, index, settings, how or Steer.PIN)

    # --- what it is called --------------------------------------------------------------------------------------------

    def describe(self, outcome: Outcome[Planned], index: int) -> EntryDescription:
        description, coverage = super().describe(outcome, index), outcome.payload.plan.coverage
        if index >= len(coverage):
            return description
        covered, change = coverage[index], coverage[index].file.change
        chunks = ", ".join(map(str, covered.chunks)) or "none"
        facts = ("chunks", chunks), ("changed", f"+{change.added:,} -{change.removed:,} lines")
        because = description.because
        if covered.state == WHOLE:
            pieces = outcome.payload.plan.chunks[covered.chunks[0] - 1]
            largest = max(pieces, key=lambda piece: piece.cost)
            most = "it" if largest.file is covered.file else largest.file.change.path
            tokens = sum(piece.cost + piece.filled for piece in pieces)
            because += f" chunk {covered.chunks[0]:,}; {most} takes most of it, {largest.cost:,} of {tokens:,} tokens"
        return structs.replace(
            description, because=because, facts=facts, line=partial(_line_of, cache(partial(line_numbers, change)))
        )

    def command_line(
        self, inputs: Inputs, settings: Settings, opened: Settings, outcome: Outcome[Planned] | None = None
    ) -> str:
        if outcome is not None and inputs["diff"] is None:
            compared = outcome.payload.plan.measured.compared
            named = {"base": compared.base, "head": compared.head}
            inputs = {**inputs, **{name: commit for name, commit in named.items() if inputs[name] and commit}}
        words = CommandWords("chunk", settings, opened)
        words.flag("--max-tokens", str(settings.chunking.max_chunk_tokens), "chunking.max_chunk_tokens", always=True)
        if opened.chunking.ignore:  # the flag adds to what a file may hold
            words.set(_IGNORE, toml(()))
        for pattern in dict.fromkeys((*settings.chunking.ignore, *inputs["ignore"])):
            words.words(f"--ignore={pattern}")
        words.differing(key for key in self.deciding_keys if key != _IGNORE)
        for name in _NAMED:
            words.input(name, inputs[name])
        if (diff := inputs["diff"]) is None:
            return words.line(inputs["path"])
        words.words(*([f"--diff={diff}"] if diff.startswith("-") else ["--diff", diff]))
        return words.line(*([inputs["path"]] if inputs["path"] != "." or diff.startswith("-") else []))

    def steer(self, outcome: Outcome[Planned], index: int, settings: Settings, how: Steer) -> Settings | str:
        """Takes a file in or leaves it out by a pattern in the settings."""
        if how not in (Steer.PIN, Steer.EXCLUDE):
            return f"nothing in this list can be {how.value}"
        coverage = outcome.payload.plan.coverage
        if index >= len(coverage):
            return "only a file can be left out or taken in"
        pattern, present = pattern_of(coverage[index].path), settings.chunking.ignore
        wanted = f"!{pattern}" if how is Steer.PIN else pattern
        others = tuple(rule_pattern for rule_pattern in present if rule_pattern not in (pattern, f"!{pattern}"))
        return with_values(settings, {_IGNORE: others if wanted in present else (*others, wanted)})

    def overruled(self, outcome: Outcome[Planned], index: int, settings: Settings) -> Steer | None:
        coverage = outcome.payload.plan.coverage
        if not settings.chunking.ignore or index >= len(coverage):
            return None
        pattern = pattern_of(coverage[index].path)
        ways = {f"!{pattern}": Steer.PIN, pattern: Steer.EXCLUDE}
        return next((ways[rule_pattern] for rule_pattern in settings.chunking.ignore if rule_pattern in ways), None)

    def location(
        self, outcome: Outcome[Planned], index: int, inputs: Inputs, environment: Environment
    ) -> FilePlace | None:
        """The first changed line of a file, if the file exists."""
        coverage = outcome.payload.plan.coverage
        if index >= len(coverage):
            return None
        hunks = coverage[index].file.change.patches[-1].hunks
        return location_in(environment.folder_of(inputs["path"]), coverage[index].path, hunks[0].new[0] if hunks else 1)

    # --- what goes out ------------------------------------------------------------------------------------------------

    def described(self, material: MeasuredDiff) -> str:
        added, removed = (sum(getattr(file.change, side) for file in material.files) for side in ("added", "removed"))
        tokens = sum(file.tokens for file in material.files)
        return f"{count_noun(len(material.files), 'file')}, +{added:,} −{removed:,}, {count_noun(tokens, 'token')}"

    def output(self, outcome: Outcome[Planned]) -> ChunkOutput:
        output, ledger = outcome.payload.chunks.output(), outcome.ledger.shape()
        return structs.replace(output, ledger=ledger, warnings=list(outcome.warnings))

    def pieces(self, outcome: Outcome[Planned]) -> Sequence[str]:
        return [chunk.text for chunk in outcome.payload.chunks]

    def page(self, outcome: Outcome[Planned], *, verbose: bool = False) -> Page:
        """Figures, the chunks with their files, and every file that is left out or cut."""
        page = page_of(outcome.payload.chunks, outcome.warnings, verbose=verbose)
        compared = outcome.payload.plan.measured.compared
        return structs.replace(page, headline=(compared.what, compared.repository))

    def texts(self, outcome: Outcome[Planned], index: int) -> tuple[str, str]:
        plan = outcome.payload.plan
        if index >= len(plan.coverage):
            return "", ""
        file = plan.coverage[index].file
        pieces = (piece for chunk in plan.chunks for piece in chunk if piece.file.number == file.number)
        return file.change.text, "".join(piece.text for piece in pieces)

    def deliver(self, delivery: Delivery, outcome: Outcome[Planned], inputs: Inputs) -> Delivery:
        """Prints all chunks or one; writes them with --out; exits 4 with --fail-on-skip if a file is left out or
        cut."""
        chunks, only = outcome.payload.chunks, inputs["only"]
        if only is not None and only > len(chunks):
            raise UsageError(
                f"there is no chunk {only}: the last is {len(chunks)}", hint="leave --only out to see them all"
            )
        messages, folder = [*delivery.said], None
        if inputs["out"] is not None:
            body = self.output(outcome).to_dict()
            listings = [{key: value for key, value in chunk.items() if key != "text"} for chunk in body.pop("chunks")]
            del body["schema_version"]
            files = {f"chunk-{chunk.index:03}.md": chunk.text for chunk in chunks}
            files["coverage.json"] = dumps(body | {"chunks": listings})
            folder = OutputFolder(Path(inputs["out"]), files, _is_earlier_chunk)
            messages.append(f"written: {count_noun(len(chunks), 'chunk')} and coverage.json to {inputs['out']}")
        text = delivery.text if only is None else chunks[only - 1].text
        failed = False
        if inputs["fail_on_skip"]:
            allowed = parse_allowed_rules(inputs)
            left = [entry for entry in chunks.plan.skipped if entry.verdict and entry.verdict.rule.label not in allowed]
            if left:
                names = listed([visible(entry.path) for entry in left], NAMED)
                messages.append(f"not seen: {count_noun(len(left), 'changed file')}: {names}")
            failed = bool(left) or any(notice.code == UNREAD for notice in outcome.notices)
        return Delivery(text, folder=folder, said=tuple(messages), exit_code=SKIPPED if failed else 0)


def _line_of(line_numbers: Callable[[], list[int]], line: int) -> int:
    numbers = line_numbers()
    return numbers[line] if line < len(numbers) else 1


def _is_earlier_chunk(path: Path) -> bool:
    if not _CHUNK_FILE.fullmatch(path.name):
        return False
    with path.open("rb") as file:
        return file.read(len(_CHUNK_START)) == _CHUNK_START
