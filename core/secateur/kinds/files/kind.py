"""Files as a kind of context: files and a query, pruned to a number of tokens."""

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
from msgspec import Struct

from secateur.errors import UsageError
from secateur.kind_places import place_of
from secateur.kinds.base import PIN, EntryDescription, Flag, Input, Kind, Outcome, Wording
from secateur.kinds.conversation.transcripts import read_transcript
from secateur.kinds.environment import ALONE, Deciding, Environment, Inputs, Load
from secateur.kinds.files.inputs import home_of, read_files, root_of
from secateur.kinds.files.measurements import measure_files, needs_scores, question_of
from secateur.kinds.files.model_questions import apply_replies, plan_questions
from secateur.kinds.files.sourcecode import MARKDOWN, FileDecisionShape, MeasuredFiles, PrunedFiles, describe_room
from secateur.kinds.files.strategies import missing_query_error, prune, try_in_order, whole_order
from secateur.kinds.kind_trials import KindTrials
from secateur.kinds.knobs import FilePlace, Knob, location_in
from secateur.ledger import LedgerShape, Reason
from secateur.llm.interface import Question
from secateur.model import Entry, Notice, State, TrimReport
from secateur.redaction import Redactor
from secateur.render.page import Column, Page, Section, change, count_noun, line_range, not_shown, sentence
from secateur.settings import Loaded, Settings, keys, lookup
from secateur.shape import SCHEMA_VERSION, Count, Shape, Version
from secateur.sources.named import is_named
from secateur.sources.open import parse_file_list
from secateur.terminal import clip, visible
from secateur.what_if import ProofFields
from secateur.what_if.trials import BudgetColumns, Swept, Trials

SHOWN_FILES = 40  # most dropped files that the text lists without --verbose
SHOWN_RANGES = 6  # most ranges of lines per file that the text lists without --verbose
_NAME_CELLS = 44
_TABLE = "context_prune."
# Prefixes of settings that change what is read or how it is scored.
_READ = (_TABLE + "sliding_window", "relevance.", "index.", "tokens.")


class ReadFiles(Struct, frozen=True):
    """Measured files, with notices about files that were not read."""

    measured: MeasuredFiles
    notices: tuple[Notice, ...] = ()
    asked: bool = True  # whether a query or conversation was given
    redactor: Redactor | None = None  # the redactor that read them


class FileShape(Shape, frozen=True):
    """A file that goes out, whole or in part."""

    module_name: str
    source_code: str
    tokens: Count


class FilesOutput(ProofFields, frozen=True):
    """The output of `secateur files --format json`."""

    schema_version: Version
    files: list[FileShape]
    decisions: list[FileDecisionShape]
    report: TrimReport
    warnings: list[Notice]
    ledger: LedgerShape


class FilesKind(Kind[ReadFiles, PrunedFiles]):
    """See `Kind`; spec pruner."""

    name = "files"
    wording = Wording(
        "Files",
        place_of("files").about,
        "Files",
        "Files can be opened here: a file, a folder, a pattern such as src/**/*.py, or sample:NAME; and what they are"
        " for.",
    )
    inputs: ClassVar[Sequence[Input]] = (
        Input(
            "path",
            "files, folders, patterns such as 'src/**/*.py', sample:NAME[/PATH] or a git URL",
            metavar="PATH",
            folders=True,
            positional=True,
            required=True,
            repeatable=True,
            title="Files",
            placeholder="a file, a folder, or a pattern such as src/**/*.py",
        ),
        Input(
            "query",
            "what the files are for; - reads stdin",
            metavar="Q",
            title="Query",
            placeholder="what the files are for",
            lines=True,
        ),
        Input(
            "files_from",
            "read only the files of the folders that this list names, separated by newlines or NUL; - reads stdin",
            default=None,
        ),
        Input("conversation", "a transcript whose last questions say what the files are for; - reads stdin"),
    )
    flags: ClassVar[Sequence[Flag]] = (
        Flag(_TABLE + "max_tokens", "N", "most tokens of all files together (default 8000)"),
        Flag(
            _TABLE + "strategy",
            "S",
            "score (default): the best files; extract: the best files, and snippets of the rest; delete: files in the"
            " given order",
        ),
        Flag(_TABLE + "sliding_window_size", "W", "lines of each window of a large file (default 100)"),
        Flag(_TABLE + "sliding_window_overlap", "O", "lines that neighbouring windows share (default 20)"),
        PIN,
    )
    budget = Knob(_TABLE + "max_tokens", "budget", fine_step=10, rounded=True)
    knobs: ClassVar[Sequence[Knob]] = (
        Knob(_TABLE + "strategy", "strategy", asking=("score", "extract")),
        budget,
        Knob(_TABLE + "min_score", "min score", step=0.5, fine_step=0.1, mutable=True),
        Knob(_TABLE + "full_file_share", "whole", mutable=True),
        Knob(_TABLE + "snippet_share", "snippets", mutable=True),
    )
    formats = ("text", "json", "markdown")
    depends_on = ("relevance.", "index.", "embedding.")

    # --- reading and deciding -----------------------------------------------------------------------------------------

    def recognises(self, path: Path, head: str) -> bool:
        """Takes any file that no other kind recognises."""
        return True

    def load(self, inputs: Inputs, load: Load, environment: Environment) -> Loaded:
        """Loads the settings of the repository that holds the first path."""
        return load(root_of(inputs["path"], environment.base), None)

    def reading_of(self, inputs: Inputs, settings: Settings) -> Hashable:
        read = tuple(lookup(settings, key) for key in keys() if key.startswith(_READ))
        return tuple(inputs["path"]), inputs["query"], inputs["conversation"], inputs["files_from"], read

    def read(self, inputs: Inputs, settings: Settings, environment: Environment) -> ReadFiles:
        environment.progress("reading", 0, 0)
        query, source, listed = (inputs[name] or "" for name in ("query", "conversation", "files_from"))
        typed = {"--query": query, "--conversation": source, "--files-from": listed}
        flags_of_stdin = [flag for flag, name in typed.items() if name == "-"]
        if len(flags_of_stdin) > 1 and not environment.regular:
            raise UsageError(
                f"{flags_of_stdin[0]} and {flags_of_stdin[1]} cannot both be read from standard input",
                hint="write one of them to a file",
            )
        if query == "-" and not environment.regular:
            data_of_stdin = environment.bytes_of("-", "query", instead="give --query something else than -")
            query = data_of_stdin.decode("utf-8", "replace")
        asked = bool(query.strip() or source)
        if not environment.ahead:
            _check_asked(asked, settings)
        transcript = None
        if source:
            data = environment.bytes_of(source, "conversation", hint="check --conversation")
            transcript = read_transcript(data, "standard input" if source == "-" else source)
        question = question_of(query, transcript)
        for word in inputs["path"]:
            if not is_named(word):
                environment.place_of(word)
        files, notices = read_files(
            inputs["path"],
            settings,
            environment.cache,
            environment.folder,
            environment.redactor,
            environment.folder_of,
            parse_file_list(environment.bytes_of(listed, "list of files", flag="--files-from")) if listed else None,
        )
        progress, ahead = environment.progress, environment.ahead
        measured = measure_files(files, settings, question, form=MARKDOWN, ahead=ahead, progress=progress)
        return ReadFiles(measured, (*(transcript.notices if transcript else ()), *notices), asked, environment.redactor)

    def decide(
        self, material: ReadFiles, inputs: Inputs, settings: Settings, during: Deciding = ALONE
    ) -> Outcome[PrunedFiles]:
        _check_asked(material.asked, settings)
        measured = material.measured
        questions: tuple[Question, ...] = ()
        if settings.llm.enabled and measured.query and needs_scores(measured, settings.context_prune):
            asking = plan_questions(measured, settings)
            if during.replies or not asking.questions:
                measured = apply_replies(measured, asking, during.replies, settings)
            else:
                questions = asking.questions
        pruned = prune(measured, settings)
        notices = (*material.notices, *pruned.warnings)
        return Outcome(self.name, settings, pruned, lambda: pruned.ledger, notices, (), questions, measured.calls)

    def trials(self, material: ReadFiles, inputs: Inputs, settings: Settings, outcome: Outcome[PrunedFiles]) -> Trials:
        return _FileTrials(self, material, inputs, settings, outcome)

    # --- what goes out ------------------------------------------------------------------------------------------------

    def described(self, material: ReadFiles) -> str:
        measured = material.measured
        return f"{count_noun(len(measured.files), 'file')}, {count_noun(measured.total, 'token')}"

    def output(self, outcome: Outcome[PrunedFiles]) -> FilesOutput:
        pruned = outcome.payload
        return FilesOutput(
            SCHEMA_VERSION,
            [FileShape(file.module_name, file.source_code, file.tokens) for file in pruned.files],
            [decision.shape() for decision in pruned.decisions],
            pruned.report,
            list(outcome.warnings),
            outcome.ledger.shape(),
        )

    def leaving(self, outcome: Outcome[PrunedFiles], form: str = "") -> str:
        return outcome.payload.document()

    def page(self, outcome: Outcome[PrunedFiles], *, verbose: bool = False) -> Page:
        """One line per file; with `verbose` also every piece that was tried."""
        pruned, ledger = outcome.payload, outcome.ledger
        entries = ledger.entries[: len(pruned.decisions)]
        states = [entry.state for entry in entries]
        shown = State.KEPT, State.SHORTENED, State.DROPPED
        counts = ", ".join(f"{states.count(state):,} {state.label}" for state in shown)
        counter = outcome.settings.tokens.counter
        head = [
            ("files", f"{len(entries):,}: {counts}; strategy {pruned.strategy}"),
            ("tokens", f"{change(ledger.before, ledger.after)} ({counter}), budget {ledger.budget:,}"),
        ]
        dropped = [index for index, state in enumerate(states) if state is State.DROPPED]
        best_first = sorted(dropped, key=lambda index: -pruned.decisions[index].score)
        hidden = set() if verbose else set(best_first[SHOWN_FILES:])
        rows = [
            row
            for index, entry in enumerate(entries)
            if index not in hidden
            for row in self._rows(outcome, index, entry, verbose)
        ]
        # Names are never cut: people search the report for them.
        name = Column(max([_NAME_CELLS, *(len(row[2]) for row in rows if not isinstance(row, str))]))
        tokens = Column(8, right=True, gap=1), Column(2, gap=1), Column(6, right=True, gap=1)
        columns = Column(1, gap=0), Column(4, right=True, gap=1), name, *tokens, Column()
        section = Section(rows, more=not_shown(len(hidden), " that were dropped"), apart=False, columns=columns)
        return Page(head, [section], outcome.warnings, outcome.calls)

    def _rows(
        self, outcome: Outcome[PrunedFiles], index: int, entry: Entry, verbose: bool
    ) -> list[Sequence[str] | str]:
        decision = outcome.payload.decisions[index]
        score = f"{decision.score:.1f}" if decision.judge else "-"
        remark = entry.reason.label.replace("_", " ")
        if decision.ranges:
            shown = decision.ranges if verbose else decision.ranges[:SHOWN_RANGES]
            more = len(decision.ranges) - len(shown)
            remark += f" {', '.join(line_range(start, end) for start, end in shown)}"
            remark += f" and {more:,} more" if more else ""
        if entry.state is State.DROPPED:
            remark += f": {_explain_decision(outcome, index)}"
        if decision.said:
            remark += f" ({decision.judge}: {decision.said})"
        name = visible(decision.module_name)
        tokens = f"{entry.before:,}", "->", f"{entry.after:,}"
        rows: list[Sequence[str] | str] = [(entry.state.glyph, score, name, *tokens, visible(remark))]
        for piece in decision.tried if verbose else ():
            lines = f"{line_range(piece.start, piece.end)} {clip(visible(piece.name), _NAME_CELLS)}"
            rows.append(f"       {piece.score:4.1f}  {lines}  {piece.refused or 'kept'}")
        return rows

    def describe(self, outcome: Outcome[PrunedFiles], index: int) -> EntryDescription:
        return EntryDescription(outcome.ledger.entries[index].id, because=_explain_decision(outcome, index))

    def location(
        self, outcome: Outcome[PrunedFiles], index: int, inputs: Inputs, environment: Environment
    ) -> FilePlace | None:
        """The first piece of a file that goes out in pieces, else its first line."""
        pruned = outcome.payload
        if index >= len(pruned.decisions):  # the wrapper
            return None
        ranges = pruned.decisions[index].ranges
        folder = home_of(inputs["path"], environment.base) if environment.base else None
        return location_in(folder, pruned.measured.files[index].source.module_name, ranges[0][0] if ranges else 1)

    def texts(self, outcome: Outcome[PrunedFiles], index: int) -> tuple[str, str]:
        pruned = outcome.payload
        if index >= len(pruned.decisions):  # the wrapper
            return "", ""
        return pruned.measured.files[index].source.source_code, pruned.decisions[index].text or ""


def _explain_decision(outcome: Outcome[PrunedFiles], index: int) -> str:
    decisions, reason = outcome.payload.decisions, sentence(outcome.ledger.entries[index])
    if index >= len(decisions):  # the wrapper
        return reason
    decision = decisions[index]
    if decision.threshold is not None and decision.left is not None:
        whole = decision.needed == decision.before
        room = describe_room(decision.needed, decision.left)
        reason += f"; as a whole it {room}" if whole else f"; its best lines {room.replace('needs', 'need', 1)}"
    elif decision.state is State.DROPPED and decision.tried:
        first, last = decision.tried[0].start, decision.tried[0].end
        lines = f"line, {first}," if first == last else f"lines, {line_range(first, last)},"
        reason = f"its best {lines} {reason if first == last else reason.replace('needs', 'need', 1)}"
    elif decision.judge and not decision.score and decision.reason in (Reason.NO_ROOM, Reason.LARGER_THAN_BUDGET):
        reason = f"nothing in it matches what the files are for; as a whole it {reason}"
    return reason


_MOST_BUDGETS = 1 << 15
_MOST_CELLS = 50_000_000  # most budgets decided at once, and the most files times budgets


class _FileTrials(KindTrials):
    """Trials that decide on whole files at every budget at once. With a query no strategy is tried that ignores it."""

    def __init__(
        self, kind: FilesKind, material: ReadFiles, inputs: Inputs, settings: Settings, outcome: Outcome[PrunedFiles]
    ) -> None:
        pruned, rules = outcome.payload, outcome.settings.context_prune
        scored = rules.enabled and pruned.strategy == "score" and pruned.decisions
        worth = np.array([decision.score for decision in pruned.decisions]) if scored else None
        super().__init__(kind, material, inputs, settings, outcome, worth=worth)
        if material.asked:
            self.choices = [(key, strategy) for key, strategy in self.choices if strategy != "delete"]

    def sweep(self) -> Swept | None:
        """Decides on every budget around the present one; None if snippets may go out."""
        pruned, rules = self._outcome.payload, self._settings.context_prune
        measured = pruned.measured
        if rules.strategy == "extract" or not (rules.enabled and measured.files):
            return None
        count = max(1, min(_MOST_BUDGETS, _MOST_CELLS // len(measured.files)))
        low = max(0, min(min(self.budget, self.enough) - count // 2, self.enough + 1 - count))
        budgets = np.arange(low, min(self.enough, low + count - 1) + 1, dtype=np.int64)
        kept = np.zeros((len(measured.files), len(budgets)), dtype=np.bool_)
        order = whole_order(measured, rules, self._settings.pins)
        costs = (measured.files[item].cost for item in order)
        for item, (_, fits) in zip(order, try_in_order(costs, budgets), strict=True):
            kept[item] = fits
        kept[:, budgets == 0] = False
        kept[:, budgets >= measured.total] = True
        cost = np.array([file.cost for file in measured.files], dtype=np.int64)
        worth = self._worth if self._worth is not None else np.zeros(len(cost))
        lost = np.zeros_like(budgets)
        lost[1:] = (kept[:, :-1] & ~kept[:, 1:]).sum(axis=0)
        around = self.now.tokens - int(cost[self.now.whole].sum())
        columns = BudgetColumns(budgets, cost @ kept + around, kept.sum(axis=0), worth @ kept, lost)
        dearer = (~kept[self.now.whole]).sum(axis=0)
        return Swept(int(budgets[0]), int(budgets[-1]), budgets, lambda item: kept[item], dearer, columns)


def _check_asked(asked: bool, settings: Settings) -> None:
    rules = settings.context_prune
    if rules.enabled and rules.strategy != "delete" and not asked:
        raise missing_query_error(rules.strategy)
