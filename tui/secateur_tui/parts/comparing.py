"""Compares the present decision with another one: another profile or budget, or the ghost.

The other decision is made anew whenever the present one changes, on the engine's thread, and only while its page is
in sight.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Any

from secateur.errors import SecateurError, UsageError, shown
from secateur.kinds.base import Kind, Outcome
from secateur.kinds.knobs import profiles_of
from secateur.kinds.side_by_side import Pair, Placed, SideBySide, side_by_side
from secateur.ledger import Ledger
from secateur.settings import Settings, with_profile
from secateur.suggestions import suggestion
from secateur.terminal import clip, visible

from secateur_tui.background import Cancelled
from secateur_tui.frame import Tab
from secateur_tui.jobs import IndexProgress, Report
from secateur_tui.screen import Bench, ScreenPart
from secateur_tui.short_names import fit_path, shorten_label, shorten_path
from secateur_tui.styled_text import (
    Line,
    Span,
    clip_line,
    describe_error,
    fit_text,
    format_places,
    format_signed,
    line,
    width,
    wrap_words,
)
from secateur_tui.widgets.dialogue import AskPage
from secateur_tui.widgets.item_pages import LONGEST_LIST, draw_group, draw_progress, draw_rest

_TWO_COLUMNS = 76  # cells from which the sides stand beside each other
_GAP = 2  # cells between the sides, and between a name and its path
_REGION = re.compile("L([0-9]+)")  # matches the name in the id of a region of a file: its first line


def draw_side_by_side(sides: SideBySide, labels: tuple[str, str], cells: int) -> list[Line]:
    """Draws the page. `labels` are those of the left and the right side."""
    two_columns = cells >= _TWO_COLUMNS
    column = max(1, (cells - _GAP) // 2) if two_columns else cells

    def join(left: Sequence[Line], right: Sequence[Line], *between: Line) -> list[Line]:
        if not two_columns:
            return [*left, *between, *right]
        rows = (
            (clip_line(one, column), clip_line(other, column)) for one, other in zip_longest(left, right, fillvalue=())
        )
        return [(*one, Span(fit_text("", column - width(one) + _GAP)), *other) for one, other in rows]

    heads = _draw_head(labels[0], sides.left, None, column), _draw_head(labels[1], sides.right, sides.left, column)
    lines = join(*heads)
    if sides.equal:
        return [*lines, (), line(Span("the same is sent on both sides, at the same ranks", "faint"))]
    only_left = _draw_list("only left", "down", sides.only_left, [pair.left for pair in sides.only_left], column)
    only_right = _draw_list("only right", "up", sides.only_right, [pair.right for pair in sides.only_right], column)
    lines += [(), *join(only_left, only_right, ())]
    counts = [f"{len(sides.otherwise):,} cut otherwise"] if sides.otherwise else []
    counts += [f"{len(sides.moved):,} at another rank"] if sides.moved else []
    differences = ", ".join(counts) or "all as they are on the other side"
    lines += [(), line(Span(f"both ({len(sides.both):,})", "bold"), Span(f"  {differences}", "faint"))]
    lines += [_draw_pair(pair, False, cells) for pair in sides.otherwise[:LONGEST_LIST]]
    lines += draw_rest(len(sides.otherwise))
    lines += draw_group("other ranks", "faint", sides.moved, lambda pair: _draw_pair(pair, True, cells))
    return [clip_line(drawn, cells) for drawn in lines]


def _draw_head(label: str, ledger: Ledger, other: Ledger | None, cells: int) -> list[Line]:
    difference = f" ({format_signed(ledger.after - other.after)})" if other is not None else ""
    figures = f"{ledger.after:,}{difference} of {ledger.budget:,} tokens"
    return [*wrap_words(visible(label), cells, "bold accent"), line(Span(clip(figures, cells), ""))]


def _draw_list(title: str, role: str, pairs: Sequence[Pair], placed: Sequence[Placed | None], cells: int) -> list[Line]:
    tokens = sum(half.entry.after for half in placed if half is not None)
    heading = f"{title} ({len(pairs):,}, {tokens:,} tokens)" if pairs else f"{title}: nothing"
    lines = [line(Span(clip(heading, cells), f"bold {role}" if pairs else "faint"))]
    for pair, half in zip(pairs[:LONGEST_LIST], placed, strict=False):
        assert half is not None  # it goes out on this side
        state = half.entry.state
        head = f"{state.glyph} {half.entry.after:>6,} "
        lines.append(line(Span(head, state.label), *draw_id(pair.id, max(1, cells - len(head)))))
    return [*lines, *draw_rest(len(pairs))]


def _draw_pair(pair: Pair, ranks: bool, cells: int) -> Line:
    assert pair.left is not None
    assert pair.right is not None
    if ranks:
        mark = Span(format_places(pair.moved).rjust(6), "up" if pair.moved > 0 else "down")
        head = line(mark, f" {pair.left.rank:>6,} → {pair.right.rank:<6,} ")
    else:
        left, right = pair.left.entry, pair.right.entry
        states = Span(left.state.glyph, left.state.label), Span("→"), Span(right.state.glyph, right.state.label)
        head = line(*states, f" {left.after:>6,} → {right.after:<6,} ")
    return (*head, *draw_id(pair.id, max(1, cells - width(head))))


def draw_id(id_: str, cells: int) -> Line:
    """Draws the name in an id, and its path behind it where there is room."""
    path, is_symbol, name = id_.rpartition("::")
    if is_symbol and (region := _REGION.fullmatch(name)):  # it has no name: it is called as its file
        name = f"{path.rpartition('/')[2]}:{region[1]}"
    shown = shorten_label(visible(name), cells) if is_symbol else shorten_path(visible(name), cells)
    room = cells - width(line(shown)) - _GAP
    where = fit_path(visible(path), room) if is_symbol and room > _GAP else ""
    return line(shown, Span(" " * _GAP + where if where else "", "faint"))


PAGE = "compare"

GHOST = "ghost"  # the word for the baseline, which the present answer is compared with already
_DIGITS = 19  # digits from which a number is not a budget, because it would overflow a 64-bit integer


@dataclass(frozen=True, slots=True)
class Alternative:
    """Settings that differ from the present ones in one thing; `ghost`: the baseline, decided already."""

    label: str
    settings: Settings
    ghost: bool = False


def propose_words(settings: Settings, in_force: int, *, ghost: bool) -> Sequence[str]:
    """Returns words worth typing, the likeliest first: other profiles, half and double the budget, the ghost."""
    words = [name for name in profiles_of(settings) if name != settings.profile]
    words += [f"{budget:,}" for budget in (in_force // 2, in_force * 2) if budget > 0]
    return [*words, *([GHOST] if ghost else [])]


def parse_alternative(text: str, kind: Kind[Any, Any], settings: Settings, *, ghost: bool) -> Alternative:
    """Returns what a word stands for: a profile, a budget ("8,000"), or "ghost".

    Raises:
        UsageError: it stands for nothing to compare with.
    """
    word = text.strip()
    if word == GHOST and ghost:
        return Alternative(GHOST, settings, ghost=True)
    if word in profiles_of(settings):
        return Alternative(f"profile {word}", with_profile(settings, word))
    if (digits := word.replace(",", "").replace("_", "")).isascii() and digits.isdigit() and len(digits) < _DIGITS:
        return Alternative(f"budget {int(digits):,}", kind.budget.put(settings, int(digits)))
    near = suggestion(word, propose_words(settings, 0, ghost=ghost))
    takes = "type a profile, a budget" + (", ghost" * ghost)
    raise UsageError(
        f"there is no profile {shown(word)}" if word else "nothing is typed yet",
        hint=f"did you mean {near}?" if near else takes,
    )


@dataclass(eq=False)
class ComparisonReading:
    """The reading for the other side. A job that reports its progress ends once the reading is unwanted."""

    question: object
    unwanted: bool = False
    label: str = ""
    progress: IndexProgress | None = None


def draw_reading(reading: ComparisonReading, key: str, cells: int) -> list[Line]:
    """Draws how far the other side is; `key` cancels it."""
    progress = reading.progress
    if reading.unwanted or progress is None:
        return [line(Span("deciding the other side …", "faint"))]
    percent = Span(f"{progress.percent}  " if progress.percent else "", "bold")
    return [
        *draw_progress(reading.label, progress, cells),
        line(percent, Span(f"{key} cancels" if key else "", "faint")),
    ]


class Comparing(ScreenPart):
    """See the module docstring. The present decision stands on the left, the other on the right."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self._typed = ""  # what the other side is, as it was typed; "" for nothing yet
        self._compared: tuple[object, str] | None = None  # the answer and the word that `_sides` is of, or will be
        self._reading = ComparisonReading(None, unwanted=True)
        self._shown_question: object = None  # the question that the result below belongs to
        self._other: Alternative | None = None
        self._sides: SideBySide | None = None
        self._wrong: SecateurError | None = None
        self._cancelled = False

    @property
    def tabs(self) -> Sequence[Tab]:
        return (Tab(PAGE, "Compare", self._draw, self._paint),)

    def no_adopt(self) -> str:
        if self._other is None or not self._is_current or self.state.page != PAGE:
            return "nothing is compared" + (f"; {key} does" if (key := self.key("compare")) else "")
        return "the settings are the same on both sides" if self._other.settings == self.state.settings else ""

    def state_taken(self) -> None:
        self._compared = self._shown_question = None
        self._reading.unwanted = True

    def refreshing(self) -> None:
        self._compared = None
        self._reading.unwanted = True

    def cancel(self) -> bool:
        if self._reading.unwanted or self.state.page != PAGE:
            return False
        self._reading.unwanted = self._cancelled = True
        self.jobs.cancel(PAGE)
        self.bench.paint_page()
        return True

    # --- choosing the other side ---

    @property
    def _ghost(self) -> bool:
        return self.state.comparison is not None

    def _propose_words(self) -> Sequence[str]:
        state = self.state
        return propose_words(state.settings, state.budget, ghost=self._ghost)

    def do_compare(self) -> None:
        words = self._propose_words()
        word = self._typed if self._typed in words else words[0]
        page = AskPage("Compare with", self._draw_question, word, replaced=True, proposals=words, check=self._parse)
        self.bench.ask(page, self._choose)

    def _draw_question(self, cells: int, typed: str) -> Sequence[Line]:
        lines, pin = list[Line](), self.key("ghost")
        ghost = f"  the answer before your changes{f', or when {pin} was pressed' if pin else ''}"
        for word in self._propose_words():
            mark, role = ("▸", "accent") if word == typed else (" ", "")
            lines.append(line(Span(f"{mark} {visible(word)}", role), Span(ghost if word == GHOST else "", "faint")))
        lines += [(), *wrap_words("or another budget, or a profile of yours", cells, "faint"), ()]
        try:
            other = self._parse(typed)
        except SecateurError as error:
            return [*lines, *wrap_words(visible(describe_error(error)), cells, "warning")]
        return [*lines, line(Span("right side: ", "faint"), Span(visible(other.label), "bold"))]

    def _parse(self, word: str) -> Alternative:
        return parse_alternative(word, self.kind, self.state.settings, ghost=self._ghost)

    def _choose(self, word: str) -> None:
        self._typed = word
        self._compared, self._cancelled = None, False
        self.bench.show_page(PAGE)
        self.bench.paint_page()

    def do_adopt(self) -> None:
        if (other := self._other) is not None:
            self._typed = GHOST  # what was on the left
            self.bench.change(other.settings)

    # --- comparing ---

    @property
    def _question(self) -> object:
        return self.state.wanted.inputs, self._typed

    @property
    def _is_current(self) -> bool:
        return self._sides is not None and self._shown_question == self._question and not self._cancelled

    def _paint(self) -> None:
        """Called while the page is in sight: compares unless that is done, or cancelled, for this answer."""
        outcome, question, compared = self.state.outcome, self._question, (self.state.answer, self._typed)
        if self._reading.question != question:
            self._reading.unwanted = True
        if not self._typed or outcome is None or self._cancelled or self._compared == compared:
            return
        self._compared = compared
        if self._reading.unwanted:  # else it serves this answer too
            self._reading = ComparisonReading(question)
        reading = self._reading

        def take(other: Alternative | None, sides: SideBySide | None, wrong: SecateurError | None = None) -> None:
            reading.unwanted, self._shown_question = True, question
            self._other, self._sides, self._wrong = other, sides, wrong
            self.bench.paint_page()
            self.bench.repaint_frame()

        make = partial(self._decide, reading, outcome, self._typed)
        self.jobs.work_out(PAGE, make, lambda made: take(*made), partial(take, None, None))

    def _decide(self, reading: ComparisonReading, outcome: Outcome[Any], word: str) -> tuple[Alternative, SideBySide]:
        state, page = self.state, self.kind_page

        def reach(progress: IndexProgress) -> None:
            if reading is self._reading:
                reading.progress = progress
                self.bench.paint_page()

        def report(phase: str, done: int, total: int) -> None:
            self.bench.post_message(Report(partial(reach, IndexProgress(phase, done, total)), PAGE))
            self.jobs.give_way()
            if reading.unwanted:
                raise Cancelled

        if reading.unwanted:
            raise Cancelled
        other = self._parse(word)
        reading.label = other.label
        if other.ghost and state.baseline is not None:
            return other, side_by_side(outcome, state.baseline.outcome)
        inputs, known = dict(state.inputs), state.reading
        if known is not None and page.serves(known.key, page.reading_key(inputs, other.settings)):
            material = known.material
        else:
            material = page.read(inputs, other.settings, report)
        return other, side_by_side(outcome, page.decide(material, inputs, other.settings, report).outcome)

    # --- drawing ---

    def _draw(self, cells: int) -> Sequence[Line]:
        compare, adopt, state = self.key("compare"), self.key("adopt"), self.state
        if not self._typed or self._cancelled:
            words = f"{compare} compares this decision with another profile or budget" if compare else "nothing"
            return wrap_words(f"cancelled; {words}" if self._cancelled else words, cells, "faint")
        if self._wrong is not None and self._shown_question == self._question:
            return wrap_words(visible(describe_error(self._wrong)), cells, "error")
        if self._sides is None or self._other is None or not self._is_current:
            return draw_reading(self._reading, self.key("back"), cells)
        labels = (f"now: {state.settings.profile}{'*' if state.changed else ''}", self._other.label)
        can = f"{adopt} adopts the right side" if adopt and not self.no_adopt() else ""
        keys = ", ".join(filter(None, (f"{compare} chooses another" if compare else "", can)))
        return [*draw_side_by_side(self._sides, labels, cells), (), *wrap_words(keys, cells, "faint")]
