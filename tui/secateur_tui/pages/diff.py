"""The page of a pull request: its rows, bar and pages, and the inputs that are typed there."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from secateur import directories
from secateur.errors import UsageError
from secateur.kinds.base import Kind, Outcome
from secateur.kinds.diff.inputs import is_repository
from secateur.kinds.diff.kind import Planned
from secateur.kinds.diff.measured_diff import LINTER, SIGNATURES, MeasuredDiff
from secateur.progress import Progress
from secateur.settings import Settings
from secateur.sources.named import folder_of
from secateur.terminal import clip, visible
from secateur_lab.scenarios.opened_scenario import OpenedScenario

from secateur_tui.pages.kind_page import KindPage
from secateur_tui.pages.scene import Scene
from secateur_tui.state.bench_state import BenchState
from secateur_tui.state.diff_rows import ChunkMoves, DiffAnswer, RowKind, compare_chunks, make_diff_answer
from secateur_tui.state.input_files import FileWatch, stamp_file
from secateur_tui.state.kind_reader import Inputs
from secateur_tui.state.ledger_answer import LedgerAnswer, LedgerComparison
from secateur_tui.state.pack_text import PackText
from secateur_tui.styled_text import Line, line, wrap_words
from secateur_tui.widgets import chunk_list, chunk_pages
from secateur_tui.widgets.budget_bar import BudgetPicture
from secateur_tui.widgets.ledger_list import LedgerListing
from secateur_tui.widgets.ledger_pages import draw_since
from secateur_tui.widgets.text_page import ItemText

STATES = ("--staged", "--worktree", "--untracked")
"""Words that the field of the head accepts beside a revision: the flags of `secateur chunk` for uncommitted changes. No
revision begins with a dash."""

_PATH_CELLS = 100

_MOVED = (("HEAD",), ("index",), ("logs", "HEAD"))
"""Files of a repository; every commit, checkout and staging writes one of them."""


class DiffPage(KindPage[MeasuredDiff, Planned]):
    """The look of the Diff bench: rows, bar and pages show chunks and their files. The project's rules come from the
    repository; a diff file has none."""

    listing_type: ClassVar[type[LedgerListing]] = chunk_list.ChunkListing

    def __init__(self, kind: Kind[MeasuredDiff, Planned], opened: OpenedScenario | None = None) -> None:
        super().__init__(kind, opened)
        self.watch = DiffWatch()

    def read(self, inputs: Inputs, settings: Settings, progress: Progress) -> MeasuredDiff:
        head = parse_head(inputs["head"]).get("head") or ""
        if any(word.startswith("-") for word in head.split()):
            raise UsageError(
                f"{clip(visible(head), _PATH_CELLS)} is no head", hint="a revision, or " + ", ".join(STATES)
            )
        return super().read(inputs, settings, progress)

    @property
    def action_labels(self) -> Mapping[str, str]:
        return {**super().action_labels, "pin": "Take in", "exclude": "Leave out"}

    def make_answer(self, settings: Settings, outcome: Outcome[Planned]) -> DiffAnswer:
        return make_diff_answer(settings, outcome)

    def pack(self, answer: LedgerAnswer[Planned]) -> PackText:
        """Returns the text of all chunks; what stands around the files of a chunk belongs to the chunk."""
        assert isinstance(answer, DiffAnswer)
        heads: dict[int, int] = {}
        pieces: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for item, row in enumerate(answer.rows):
            if row.kind is RowKind.CHUNK:
                heads[row.chunk] = item
            elif row.piece is not None:
                pieces[row.chunk].append((item, row.piece.text))
        return PackText.join(
            [PackText.of(answer.text(chunk), pieces[chunk], around=head) for chunk, head in heads.items()]
        )

    def notices(self, answer: LedgerAnswer[Planned]) -> Sequence[tuple[str, str]]:
        plan = answer.outcome.payload.plan
        measured = plan.measured
        notices = [(measured.compared.what, "faint")] if measured.compared.base or measured.compared.head else []
        findings, around = plan.lines_under(LINTER), plan.lines_under(SIGNATURES)
        if findings["lines"] or measured.elsewhere:
            words = f"linter: {findings['shown']:,} of {findings['lines']:,} findings shown"
            notices.append((f"{words}, {measured.elsewhere:,} about other files", "faint"))
        if around["lines"]:
            notices.append((f"signatures: {around['shown']:,} of {around['lines']:,} shown", "faint"))
        held = answer.settings.chunking.ignore
        return [*notices, *([(f"patterns: {' '.join(held)}", "faint")] if held else [])]

    def explain_refusal(self, material: MeasuredDiff, inputs: Inputs, settings: Settings, cells: int) -> list[Line]:
        injected = [("instructions", material.injection.skill), ("project rules", material.injection.rules)]
        lines = [line(f"{material.counter.count(text):>9,} {name}") for name, text in injected if text.strip()]
        return [
            *lines,
            line(f"{sum(file.tokens for file in material.files):>9,} the diff"),
            line(f"{settings.chunking.max_chunk_tokens:>9,} the limit of a chunk"),
        ]

    def parse_fields(self, inputs: Inputs) -> dict[str, Any]:
        typed = {
            "base": inputs["base"].strip() or None,
            "ignore": inputs["ignore"].split(),
            "skill": inputs["skill"] or None,
            "linter": [inputs["linter"]] if inputs["linter"] else [],
        }
        return self.kind.blank_inputs() | self.kind.opened_inputs(inputs["path"]) | typed | parse_head(inputs["head"])

    def texts_of(self, given: Mapping[str, Any]) -> dict[str, str]:
        states = " ".join(flag for flag in STATES if given[flag.removeprefix("--")])
        return {
            **super().texts_of(given),
            "path": given["diff"] or given["path"],
            "head": states or given["head"] or "",
        }

    # --- drawing ---

    def count_items(self, scene: Scene) -> tuple[int, str] | None:
        return (len(_chunks(scene).plan.coverage), "file") if scene.state.listed else None

    def knob_notes(self, state: BenchState[Any]) -> Mapping[str, str]:
        if not state.question or is_repository(state.question):
            return {}
        return {"chunking.context_lines": "  the diff has its own", "chunking.signatures": "  needs a repository"}

    def picture(self, answer: LedgerAnswer[Any]) -> BudgetPicture:
        return chunk_list.picture_of(answer) if isinstance(answer, DiffAnswer) else super().picture(answer)

    def draw_why(self, scene: Scene, cells: int) -> Sequence[Line]:
        if not scene.state.listed:
            return []
        return chunk_pages.draw_why(_chunks(scene), scene.state.cursor, cells, scene.keys.first_key("hold"))

    def text_of(self, scene: Scene) -> ItemText | None:
        return chunk_pages.text_of(_chunks(scene), scene.state.cursor) if scene.state.listed else None

    def draw_diff(self, scene: Scene, cells: int) -> Sequence[Line]:
        state = scene.state
        if not state.listed:
            return []
        now, moves, comparison = _chunks(scene), _moves(scene), state.comparison
        if comparison is not None and moves is None:  # recorded decisions name no chunks
            plain = LedgerAnswer(now.settings, now.ledger, now.outcome)
            return draw_since(LedgerComparison(comparison.then, plain), cells)
        return chunk_pages.draw_moves(now, moves, state.cursor, cells)

    def draw_empty(self, scene: Scene, cells: int) -> Sequence[Line]:
        if scene.state.answer is not None:
            return wrap_words("No file changed.", cells, "bold")
        return super().draw_empty(scene, cells)


def _chunks(scene: Scene) -> DiffAnswer:
    assert isinstance(scene.state.answer, DiffAnswer)
    return scene.state.answer


def _moves(scene: Scene) -> ChunkMoves | None:
    return compare_chunks(scene.state.comparison) if scene.state.comparison is not None else None


class DiffWatch(FileWatch):
    """Tells whether a diff file, or the commits and staged changes of a repository, changed since they were read."""

    def __init__(self) -> None:
        super().__init__()
        self._repository: dict[str, tuple[int, int] | None] = {}

    def read(self, path: str) -> None:
        git = str(folder_of(path, directories.cache_dir(os.environ))) if is_repository(path) else ""
        self._repository = (
            {file: stamp_file(file) for file in (str(Path(git, ".git", *part)) for part in _MOVED)} if git else {}
        )
        super().read("" if git else path)

    def changes(self) -> str:
        moved = any(stamp_file(path) != then for path, then in self._repository.items())
        return "the repository changed" if moved else super().changes()


def parse_head(text: str) -> dict[str, Any]:
    """Returns the head that its field asks for, as inputs of the kind: flags, or a revision."""
    words = text.split()
    if words and set(words) <= set(STATES):
        return {word.removeprefix("--"): True for word in words}
    return {"head": " ".join(words) or None}
