"""The page of a pull request: its rows, bar and pages, and the inputs that are typed there."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from secateur import directories
from secateur.errors import UsageError
from secateur.kinds.base import Kind, Outcome
from secateur.kinds.diff.inputs import is_repository
from secateur.kinds.diff.kind import Planned
from secateur.kinds.diff.measured_diff import LINTER, SIGNATURES, MeasuredDiff
from secateur.kinds.diff.plan import text_of
from secateur.progress import Progress
from secateur.settings import Settings
from secateur.sources.named import folder_of
from secateur.terminal import clip, visible
from secateur_lab.scenarios.opened_scenario import OpenedScenario

from secateur_tui.pages.kind_page import KindPage
from secateur_tui.pages.scene import Scene
from secateur_tui.state.answer import Answer, ledger_answer
from secateur_tui.state.bench_state import BenchState
from secateur_tui.state.input_files import FileWatch, stamp_file
from secateur_tui.state.kind_reader import Inputs
from secateur_tui.styled_text import Line, line, wrap_words
from secateur_tui.widgets.budget_bar import BudgetPicture
from secateur_tui.widgets.chunk_list import ChunkListing, draw_moved, draw_pieces, picture_of
from secateur_tui.widgets.item_pages import draw_since
from secateur_tui.widgets.pack_view import PackText
from secateur_tui.widgets.text_page import ItemText

STATES = ("--staged", "--worktree", "--untracked")
"""Words that the field of the head accepts beside a revision: the flags of `secateur chunk` for uncommitted changes. No
revision begins with a dash."""

_PATH_CELLS = 100
_LINE_ROLES: Mapping[str, str] = {"+": "up", "-": "down", "@": "accent", "#": "bold"}
"""By how a line of a diff begins."""

_LEFT_OUT = 1 << 30  # stands for the chunk of what is in none

_MOVED = (("HEAD",), ("index",), ("logs", "HEAD"))
"""Files of a repository; every commit, checkout and staging writes one of them."""


class DiffPage(KindPage[MeasuredDiff, Planned]):
    """The look of the Diff bench: files by chunk. A repository brings the project's rules, a diff file none."""

    listing_type = ChunkListing

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

    def make_answer(self, settings: Settings, outcome: Outcome[Planned]) -> Answer[Planned]:
        """Returns the answer with the files in the order of their chunks."""
        first = [min(covered.chunks, default=_LEFT_OUT) for covered in outcome.payload.plan.coverage]
        order = sorted(range(len(first)), key=first.__getitem__)
        return ledger_answer(settings, outcome, order, paths=True, empty=not first)

    def pack(self, answer: Answer[Planned]) -> PackText:
        """Returns the text of all chunks; a file that is cut stands in several."""
        plan = answer.outcome.payload.plan
        item_of = {covered.file.number: item for item, covered in enumerate(plan.coverage)}
        parts = [[(item_of[piece.file.number], piece.text) for piece in chunk] for chunk in plan.chunks]
        return PackText.join([PackText.of(text_of(plan, at), part) for at, part in enumerate(parts, 1)])

    def picture(self, answer: Answer[Any]) -> BudgetPicture:
        if answer.outcome.payload is None:  # recorded decisions name no chunks
            return super().picture(answer)
        return picture_of(answer)

    def facts(self, answer: Answer[Planned], item: int, cells: int) -> list[Line]:
        """Returns what the kind tells of a file, then its chunks, and the lines of its parts."""
        told = self.kind.describe(answer.outcome, item).facts
        lines = [part for label, text in told for part in wrap_words(f"{label} {visible(text)}", cells)]
        return [*lines, *draw_pieces(answer.outcome.payload, item, cells)]

    def draw_diff(self, scene: Scene, cells: int) -> Sequence[Line]:
        """Draws what changed since the baseline, and the files that are in other chunks."""
        comparison = scene.state.comparison
        lines = draw_since(comparison, cells) if scene.state.listed else []
        if not scene.state.listed or comparison is None:
            return lines
        return [*lines, *draw_moved(comparison, cells)]

    def text_of(self, scene: Scene) -> ItemText | None:
        """Returns the text of a file, coloured as a diff."""
        if (text := super().text_of(scene)) is None:
            return None
        roles = (
            (drawn, drawn[0].role or _LINE_ROLES.get(drawn[0].text[:1], "") if drawn else "") for drawn in text.lines
        )
        return ItemText(text.head, [tuple(span._replace(role=role) for span in drawn) for drawn, role in roles])

    def notices(self, answer: Answer[Planned]) -> Sequence[tuple[str, str]]:
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
        answer = scene.state.answer
        return (len(answer.outcome.payload.plan.coverage), "file") if scene.state.listed and answer else None

    def knob_notes(self, state: BenchState[Any]) -> Mapping[str, str]:
        if not state.question or is_repository(state.question):
            return {}
        return {"chunking.context_lines": "  the diff has its own", "chunking.signatures": "  needs a repository"}

    def draw_empty(self, scene: Scene, cells: int) -> Sequence[Line]:
        if scene.state.answer is not None:
            return wrap_words("No file changed.", cells, "bold")
        return super().draw_empty(scene, cells)


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
