"""The page of a pull request: its files under a heading for each chunk that says how full it is, the budget as a frame
for each chunk, and the inputs that are typed there."""

import os
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

from secateur import directories
from secateur.errors import UsageError
from secateur.kinds.base import Kind, Outcome
from secateur.kinds.diff.changes import Treatment
from secateur.kinds.diff.kind import Planned
from secateur.kinds.diff.measured_diff import LINTER, SIGNATURES, MeasuredDiff
from secateur.kinds.diff.plan import Coverage, FilePiece, text_of
from secateur.kinds.diff.repository import is_repository
from secateur.progress import Progress
from secateur.render.page import count_noun
from secateur.settings import Settings
from secateur.sources.named import folder_of
from secateur.terminal import clip, visible
from secateur_lab.scenarios.check import OpenedScenario

from secateur_tui.pages.kind_page import KindPage, Scene
from secateur_tui.short_names import ListColumn, measure_usual, sample_items, shorten_path, shorten_words
from secateur_tui.state.answer import ShownAnswer, ledger_answer
from secateur_tui.state.bench_state import BenchState, Inputs
from secateur_tui.state.input_files import FileWatch, stamp_file
from secateur_tui.styled_text import Line, Span, line, stack_bar, width, wrap_words
from secateur_tui.widgets.budget_bar import BudgetFrame, BudgetPicture
from secateur_tui.widgets.item_pages import draw_group, draw_since
from secateur_tui.widgets.listing import Between, ItemListing
from secateur_tui.widgets.pack_view import PackText
from secateur_tui.widgets.text_view import ItemText

_BESIDE = (8, 20, 40)
_SHORTEST_BAR, _LONGEST_BAR = 8, 40

# Git's letters for what a diff does to a file.
_LETTERS: Mapping[Treatment, str] = {
    Treatment.MODIFIED: "M",
    Treatment.ADDED: "A",
    Treatment.DELETED: "D",
    Treatment.RENAMED: "R",
    Treatment.COPIED: "C",
    Treatment.MODE: "m",
    Treatment.TYPE: "T",
}


class ChunkListing(ItemListing):
    """The changed files in the order of the chunks that hold them; those that are left out come last."""

    titles: ClassVar[tuple[str, str]] = ("file", "folder")
    ordered_by: ClassVar[str] = "chunk"

    @property
    def between(self) -> Sequence[Between]:
        return _headings(self.answer)

    def own_columns(self) -> Sequence[ListColumn]:
        beside, most = _measure_beside(self.answer)
        return (
            ListColumn.fixed("change", "", 1, 4),
            ListColumn.fixed("chunk", "chunk", 7, 5),
            ListColumn("lines", "lines", _BESIDE[0], beside, 6, right=True, most=most),
        )

    def cell(self, item: int, column: ListColumn, cells: int) -> Line:
        if column.id not in ("change", "chunk", "lines"):
            return super().cell(item, column, cells)
        planned = self.answer.outcome.payload
        if item >= len(planned.plan.coverage):
            return ()
        covered = planned.plan.coverage[item]
        if column.id == "change":
            return line(Span(_LETTERS[covered.file.change.treatment], "faint"))
        if column.id == "lines":
            return line(Span(shorten_words(_describe_lines(planned, covered), cells), "faint"))
        was = chunks_of(self.comparison.then).get(covered.path) if self.comparison is not None else None
        now = format_chunks(covered.chunks)
        moved = was is not None and sorted(was) != sorted(covered.chunks)
        words = f"{format_chunks(was)}→{now}" if moved and was is not None else now
        return line(Span(clip(words, cells), "accent" if moved else "faint"))


def chunks_of(answer: ShownAnswer[Planned]) -> Mapping[str, tuple[int, ...]]:
    """Returns the numbers of the chunks of each path; nothing for recorded decisions, which name no chunks."""
    planned = answer.outcome.payload
    return {covered.path: covered.chunks for covered in planned.plan.coverage} if planned is not None else {}


def format_chunks(chunks: Sequence[int]) -> str:
    """Formats numbers of chunks: "2", "1-3", "1,4"; "out" if there are none."""
    ordered = sorted(chunks)
    if len(ordered) > 1 and all(after - before == 1 for before, after in pairwise(ordered)):
        return f"{ordered[0]}-{ordered[-1]}"
    return ",".join(map(str, ordered)) or "out"


def pieces_of(planned: Planned, covered: Coverage) -> Sequence[tuple[int, FilePiece]]:
    """Returns (chunk, piece) of a file, in the order of the chunks."""
    chunks = sorted(covered.chunks)
    pieces = ((chunk, piece) for chunk in chunks for piece in planned.plan.chunks[chunk - 1])
    return [(chunk, piece) for chunk, piece in pieces if piece.file.number == covered.file.number]


def _describe_lines(planned: Planned, covered: Coverage) -> str:
    change = covered.file.change
    if not covered.chunks:
        pattern = covered.entry.figures.get("pattern")
        return visible(f"pattern {pattern}" if pattern is not None else covered.reason)
    places = [piece.part.place for _, piece in pieces_of(planned, covered) if piece.part is not None]
    if places:
        return ", ".join(f"{place.line_start:,}-{place.line_end:,}" for place in places)
    return f"+{change.added:,} −{change.removed:,}" if change.added or change.removed else ""


@lru_cache(maxsize=2)
def _measure_beside(answer: ShownAnswer[Planned]) -> tuple[int, int]:
    planned = answer.outcome.payload
    items = (item for item in sample_items(len(answer)) if item < len(planned.plan.coverage))
    return measure_usual((_describe_lines(planned, planned.plan.coverage[item]) for item in items), *_BESIDE)


@lru_cache(maxsize=2)
def _headings(answer: ShownAnswer[Planned]) -> Sequence[Between]:
    coverage, planned = answer.outcome.payload.plan.coverage, answer.outcome.payload
    firsts = sorted(min(covered.chunks) for covered in coverage if covered.chunks)
    headings = [
        Between(bisect_left(firsts, chunk), partial(draw_chunk, planned, chunk))
        for chunk in range(1, len(planned.tokens) + 1)
    ]
    left = [covered for covered in coverage if not covered.chunks]
    words = f"{count_noun(len(left), 'file')}, {sum(covered.entry.before for covered in left):,} tokens of the diff"
    if left:
        headings.append(Between(len(firsts), partial(_draw_heading, " left out", words)))
    if len(answer) > len(coverage) and coverage:
        headings.append(Between(len(coverage), partial(_draw_heading, " around the files", "in every chunk")))
    return headings


def _draw_heading(title: str, words: str, _: int) -> Line:
    return line(Span(title, "bold"), Span(f"  {words}", "faint"))


def draw_chunk(planned: Planned, chunk: int, cells: int) -> Line:
    """Draws how full a chunk is, with a bar as long as those of the other chunks."""
    plan, tokens, pieces = planned.plan, planned.tokens[chunk - 1], planned.plan.chunks[chunk - 1]
    limit, of, most = plan.limit, len(planned.tokens), max(map(len, plan.chunks))
    head = line(Span(f" chunk {chunk:>{len(f'{of}')}}/{of} ", "bold"))
    files = f"{count_noun(len(pieces), 'file'):<{len(f'{most:,} files')}}"
    tail = line(Span(f" {tokens:>{len(f'{limit:,}')},}", "bold"), Span(f" {tokens / limit:>4.0%}  {files}", "faint"))
    room = min(_LONGEST_BAR, max(_SHORTEST_BAR, cells - width(head) - width(tail) - 1))
    whole = sum(piece.cost for piece in pieces if piece.part is None or not piece.part.shortened)
    cut = sum(piece.cost for piece in pieces) - whole
    remarks = sum(piece.filled for piece in pieces)
    parts = (
        (max(0, tokens - whole - cut - remarks), "▒", "faint"),  # injected
        (whole, "█", "kept"),
        (cut, "▓", "shortened"),
        (remarks, "░", "accent"),
        (limit - tokens, "·", "faint"),
    )
    fill = stack_bar([(float(amount), texture, role) for amount, texture, role in parts], limit, room)
    return (*head, *fill, *tail)


@lru_cache(maxsize=4)
def chunks_picture(answer: ShownAnswer[Planned]) -> BudgetPicture:
    """Returns the picture of a diff's budget: a frame for each chunk with its parts of files. A file that is cut counts
    once."""
    plan = answer.outcome.payload.plan
    item_of = {covered.file.number: (item, covered.entry.state) for item, covered in enumerate(plan.coverage)}
    frames = []
    for chunk, tokens in zip(plan.chunks, answer.outcome.payload.tokens, strict=True):
        filled = [(item_of[piece.file.number][0], piece.cost, item_of[piece.file.number][1]) for piece in chunk]
        frames.append(BudgetFrame.of(plan.limit, filled, tokens - sum(piece.cost for piece in chunk)))
    return BudgetPicture(
        tuple(frames), answer.ledger.sums, further=(count_noun(len(frames), "chunk"), f"fewest {plan.fewest:,}")
    )


# Words that the field of the head accepts beside a revision: the flags of `secateur chunk` for uncommitted changes. No
# revision begins with a dash.
STATES = ("--staged", "--worktree", "--untracked")

_PATH_CELLS = 100
# By how a line of a diff begins.
_LINE_ROLES: Mapping[str, str] = {"+": "up", "-": "down", "@": "accent", "#": "bold"}

_LEFT_OUT = 1 << 30  # stands for the chunk of what is in none

# Files of a repository; every commit, checkout and staging writes one of them.
_MOVED = (("HEAD",), ("index",), ("logs", "HEAD"))


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
                f"{clip(visible(head), _PATH_CELLS)} is not a head", hint="a revision, or " + ", ".join(STATES)
            )
        return super().read(inputs, settings, progress)

    @property
    def action_labels(self) -> Mapping[str, str]:
        return {**super().action_labels, "pin": "Take in", "exclude": "Leave out"}

    def make_answer(self, settings: Settings, outcome: Outcome[Planned]) -> ShownAnswer[Planned]:
        """Returns the answer with the files in the order of their chunks."""
        first = [min(covered.chunks, default=_LEFT_OUT) for covered in outcome.payload.plan.coverage]
        return ledger_answer(
            settings, outcome, sorted(range(len(first)), key=first.__getitem__), paths=True, empty=not first
        )

    def pack(self, answer: ShownAnswer[Planned]) -> PackText:
        """Returns the text of all chunks; a file that is cut stands in several."""
        plan = answer.outcome.payload.plan
        item_of = {covered.file.number: item for item, covered in enumerate(plan.coverage)}
        parts = [[(item_of[piece.file.number], piece.text) for piece in chunk] for chunk in plan.chunks]
        return PackText.join([PackText.of(text_of(plan, at), part) for at, part in enumerate(parts, 1)])

    def picture(self, answer: ShownAnswer[Any]) -> BudgetPicture:
        # Recorded decisions name no chunks.
        return super().picture(answer) if answer.outcome.payload is None else chunks_picture(answer)

    def facts(self, answer: ShownAnswer[Planned], item: int, cells: int) -> list[Line]:
        """Returns what the kind tells of a file, then its chunks, and the lines of its parts."""
        lines, planned = super().facts(answer, item, cells), answer.outcome.payload
        for covered in planned.plan.coverage[item : item + 1]:
            for chunk, piece in pieces_of(planned, covered):
                lines += [(), draw_chunk(planned, chunk, cells)]
                if (part := piece.part) is not None:
                    place = part.place
                    side = "old lines" if place.old else "lines"
                    words = f"part {piece.number}/{piece.of}, {side} {place.line_start:,}-{place.line_end:,}"
                    inside = f", inside {place.inside}" if place.inside else ""
                    cut = f", {count_noun(len(part.shortened), 'line')} shortened" if part.shortened else ""
                    lines += wrap_words(visible(f"{words}{inside}: {piece.cost:,} tokens{cut}"), cells, indent=" ")
                if piece.filled:
                    behind = count_noun(sum(filling.lines for filling in piece.filling), "line")
                    lines += wrap_words(f"{behind} of remarks after it: {piece.filled:,} tokens", cells, indent=" ")
        return lines

    def draw_diff(self, scene: Scene, cells: int) -> Sequence[Line]:
        """Draws what changed since the baseline, and the files that are in other chunks."""
        comparison = scene.state.comparison
        lines = draw_since(comparison, cells) if scene.state.listed else []
        if not scene.state.listed or comparison is None:
            return lines
        then, now = chunks_of(comparison.then), chunks_of(comparison.now)
        moved = [path for path, chunks in now.items() if sorted(then.get(path, chunks)) != sorted(chunks)]

        def draw_move(path: str) -> Line:
            head = f"{format_chunks(then[path]):>5} → {format_chunks(now[path]):<5} "
            return line(Span(head, "faint"), shorten_path(visible(path), max(1, cells - len(head))))

        return [*lines, *draw_group("in other chunks", "accent", moved, draw_move)]

    def text_of(self, scene: Scene) -> ItemText | None:
        """Returns the text of a file, coloured as a diff."""
        if (text := super().text_of(scene)) is None:
            return None
        lines = (
            tuple(span._replace(role=drawn[0].role or _LINE_ROLES.get(drawn[0].text[:1], "")) for span in drawn)
            for drawn in text.lines
        )
        return ItemText(text.head, [*lines])

    def notices(self, answer: ShownAnswer[Planned]) -> Sequence[tuple[str, str]]:
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
        nothing = wrap_words("No file changed.", cells, "bold")
        return nothing if scene.state.answer is not None else super().draw_empty(scene, cells)


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
    if (words := text.split()) and set(words) <= set(STATES):
        return {word.removeprefix("--"): True for word in words}
    return {"head": " ".join(words) or None}
