"""Files and a query: what of each goes out under a number of tokens: whole, in snippets, or not at
all."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from secateur import config, directories
from secateur.config import keys as setting_keys
from secateur.errors import UsageError
from secateur.kinds.files.inputs import read_files
from secateur.kinds.files.pruning import prune, weigh_files
from secateur.kinds.files.sourcecode import SCORES, PrunedFiles, WeighedFiles, Why
from secateur.kinds.knobs import Knob
from secateur.model import Notice
from secateur.progress import Progress, unreported
from secateur.settings import Settings
from secateur.terminal import clip_left, visible

from secateur_tui.state.command_lines import CommandWords
from secateur_tui.state.ledger_answer import LedgerAnswer
from secateur_tui.state.subject import Field, Inputs, Subject
from secateur_tui.styled_text import Line, Span, bar, fit, line, wrapped

_TABLE = "context_prune."
_FLAGS = {
    "strategy": "--strategy",
    "max_tokens": "--max-tokens",
    "sliding_window_size": "--window",
    "sliding_window_overlap": "--overlap",
}
_READ = (_TABLE + "sliding_window", "relevance.", "index.", "tokens.")
"""Keys (prefixes) that change what is read and how it is scored."""

_SCORE_CELLS, _BAR_CELLS = 5, 10
_WITH_BAR = 40
"""Cells from which there is room for the score as a bar."""
_MOST_PIECES = 40
"""Pieces of a file that Why lists."""


@dataclass(frozen=True)
class ReadFiles:
    """The files, scored; and what was not read."""

    weighed: WeighedFiles
    notices: tuple[Notice, ...]


@dataclass(frozen=True)
class FilesResult:
    """What goes out, and the files it was taken from."""

    pruned: PrunedFiles
    weighed: WeighedFiles


class FilesSubject(Subject[ReadFiles, FilesResult]):
    """See `Subject`. No language model is asked: what is on screen was decided here."""

    name = "files"
    noun = "Files"
    reads_folders = True
    fields: ClassVar[Sequence[Field]] = (
        Field("path", "Files", "a file, a folder, or a pattern such as src/**/*.py"),
        Field("query", "Query", "what the files are for"),
    )
    prompt = (
        "Files can be opened here: a file, a folder, a pattern such as src/**/*.py, or sample:NAME; and what they are"
        " for."
    )
    budget = Knob(_TABLE + "max_tokens", "budget", fine_step=10, rounded=True)
    strategy = Knob(_TABLE + "strategy", "strategy")
    knobs: ClassVar[Sequence[Knob]] = (
        strategy,
        budget,
        Knob(_TABLE + "min_score", "min score", step=0.5, fine_step=0.1, mutable=True),
        Knob(_TABLE + "full_file_share", "whole", step=0.05, fine_step=0.01, mutable=True),
        Knob(_TABLE + "snippet_share", "snippets", step=0.05, fine_step=0.01, mutable=True),
    )
    reasons: ClassVar[Mapping[str, str]] = {
        Why.FITS: "there was room for it: it needs {needed:,}, {left:,} were left",
        Why.DISABLED: "pruning is switched off",
        Why.WHOLE: "it is relevant, and within the share for whole files",
        Why.NOT_SHORTER: "its snippets would take as many tokens as the whole",
        Why.SNIPPETS: "its relevant pieces go out: whole it needs {needed:,}, {left:,} were left",
        Why.NOT_RELEVANT: "it scores below what is asked for",
        Why.NO_ROOM: "no room: it needs {needed:,}, only {left:,} were left",
        Why.LARGER_THAN_BUDGET: "it is larger than the budget: it needs {needed:,}",
        Why.ZERO_BUDGET: "the budget is 0",
    }

    # --- deciding ---

    def reading_key(self, inputs: Inputs, settings: Settings) -> Hashable:
        return (
            inputs["path"],
            inputs["query"],
            tuple(config.lookup(settings, key) for key in setting_keys() if key.startswith(_READ)),
        )

    def read(self, inputs: Inputs, settings: Settings, progress: Progress) -> ReadFiles:
        progress("reading", 0, 0)
        files, notices = read_files([inputs["path"]], settings, directories.cache_dir(os.environ))
        if inputs["query"].strip():
            weighed = weigh_files(files, settings, inputs["query"], progress=progress)
        else:
            weighed = weigh_files(files, settings, "-", progress=progress)
            weighed = replace(
                weighed,
                query="",
                notices=(),
                files=tuple(replace(file, score=0.0, judge="", pieces=()) for file in weighed.files),
            )
        return ReadFiles(weighed, tuple(notices))

    def decide(
        self,
        material: ReadFiles,
        inputs: Inputs,
        settings: Settings,
        progress: Progress = unreported,  # noqa: ARG002
    ) -> LedgerAnswer[FilesResult]:
        rules = settings.context_prune
        if not inputs["query"].strip() and rules.strategy != "delete":
            raise UsageError(
                f"strategy {rules.strategy} needs to know what the files are for",
                hint="type a query beside the files, or turn to delete",
            )
        pruned = prune(material.weighed, settings)
        order = sorted(range(len(pruned.entries)), key=lambda number: -pruned.entries[number].score)
        return LedgerAnswer(
            settings, pruned.report, FilesResult(pruned, material.weighed), (*material.notices, *pruned.warnings), order
        )

    # --- wording ---

    def described(self, material: ReadFiles) -> str:
        number = len(material.weighed.files)
        return f"{number:,} file{'' if number == 1 else 's'}, {material.weighed.total:,} tokens"

    def tail_title(self, ledger: LedgerAnswer[FilesResult]) -> str:  # noqa: ARG002 - the same for all
        return "score file"

    def tail(self, ledger: LedgerAnswer[FilesResult], item: int, cells: int) -> Line:
        entry = ledger.result.pruned.entries[item]
        score = f"{entry.score:>{_SCORE_CELLS}.1f} " if entry.judge else f"{'–':>{_SCORE_CELLS}} "
        drawn = bar([(entry.score, "█", "relevance")], SCORES, _BAR_CELLS) if cells >= _WITH_BAR else ()
        room = cells - len(score) - (_BAR_CELLS + 1 if drawn else 0)
        name = fit(clip_left(visible(entry.module_name), room), room) if room > 0 else ""
        return (Span(score), *drawn, Span(" " if drawn else ""), Span(name))

    def because(self, ledger: LedgerAnswer[FilesResult], item: int) -> str:
        entry = ledger.result.pruned.entries[item]
        said = self.reasons[entry.why].format(needed=entry.needed, left=entry.left)
        if entry.threshold is not None:
            said = f"it scores {entry.score:.1f}, {entry.threshold}"
        return f"{said}; {entry.hint}" if entry.hint else said

    def facts(self, ledger: LedgerAnswer[FilesResult], item: int, cells: int) -> list[Line]:
        entry = ledger.result.pruned.entries[item]
        lines = wrapped(f"score {entry.score:.1f} of {SCORES}", cells) if entry.judge else []
        if entry.ranges:
            lines += wrapped(
                "lines " + ", ".join(f"{first}-{last}" for first, last in entry.ranges), cells, "shortened"
            )
        for piece in entry.tried[:_MOST_PIECES]:
            words = (
                "goes out"
                if piece.kept
                else f"{piece.why.replace('_', ' ')}: needs {piece.needed:,}, {piece.left:,} left"
            )
            mark = Span("● ", "kept") if piece.kept else Span("○ ", "dropped")
            lines.append(line(mark, f"{piece.score:>4.1f} {piece.start}-{piece.end} {words}"))
            lines += wrapped(visible(piece.name), cells, "faint", indent="    ")
        more = len(entry.tried) - _MOST_PIECES
        return [*lines, line(Span(f"and {more:,} more pieces", "faint"))] if more > 0 else lines

    def texts(self, ledger: LedgerAnswer[FilesResult], item: int) -> tuple[str, str]:
        entry = ledger.result.pruned.entries[item]
        return ledger.result.weighed.files[entry.number].source.source_code, entry.text or ""

    def command(self, inputs: Inputs, settings: Settings, opened: Settings) -> str:
        spelled = CommandWords("files", settings, opened)
        if inputs["query"].strip():
            spelled.words(f"--query={inputs['query']}")
        for key, flag in _FLAGS.items():
            spelled.flag(flag, str(getattr(settings.context_prune, key)), _TABLE + key)
        if settings.llm.enabled:
            spelled.set("llm.enabled", "false")  # what is on screen was decided here, without asking a model
        spelled.differing((_TABLE, "relevance.", "index.", "tokens."))
        return spelled.line(inputs["path"])
