from hypothesis import given
from hypothesis import strategies as st
from secateur.errors import SecateurError
from secateur.terminal import cell_width, visible
from secateur_tui.styled_text import (
    ELLIPSIS,
    Span,
    clip_line,
    cut_cells,
    describe_error,
    fit_text,
    format_signed,
    line,
    mark_places,
    outside,
    plain,
    stack_bar,
    width,
    wrap_words,
)

texts = st.text(alphabet=st.sampled_from("ab c订é[/]$x\\\x1b\u202e"), max_size=20).map(visible)


@given(st.lists(texts, max_size=4), st.integers(1, 30))
def test_a_clipped_line_fits_and_says_that_it_was_cut(parts: list[str], cells: int) -> None:
    whole = line(*parts)
    clipped_line = clip_line(whole, cells)
    assert width(clipped_line) <= cells
    assert plain(clipped_line) == plain(whole) if width(whole) <= cells else ELLIPSIS in plain(clipped_line)


@given(texts, st.integers(1, 30))
def test_a_fitted_text_takes_exactly_its_cells(text: str, cells: int) -> None:
    assert cell_width(fit_text(text, cells)) == cells


@given(texts, st.integers(2, 30))
def test_wrapping_loses_no_character_and_keeps_the_width(text: str, cells: int) -> None:
    lines = wrap_words(text, cells)
    assert "".join("".join(map(plain, lines)).split()) == "".join(text.split())
    assert all(width(part) <= cells for part in lines)


@given(texts, st.integers(-1, 6))
def test_wrapping_ends_however_little_room_there_is(text: str, cells: int) -> None:
    assert "".join("".join(map(plain, wrap_words(text, cells, indent="    "))).split()) == "".join(text.split())


@given(st.lists(st.floats(0, 1), max_size=4), st.integers(1, 40))
def test_a_bar_is_as_long_as_its_total(amounts: list[float], cells: int) -> None:
    drawn = stack_bar([(amount, "█", "") for amount in amounts], 4.0, cells)
    assert width(drawn) == cells
    assert plain(drawn).count("█") == round(cells * sum(amounts) / 4.0)


def test_a_bar_without_a_whole_is_empty() -> None:
    assert plain(stack_bar([(0.0, "█", "")], 0.0, 3)) == "   "


def test_text_from_outside_becomes_visible() -> None:
    assert outside("a\x1b]52;c;x\x07\nb") == Span(visible("a\x1b]52;c;x\x07\nb"))
    assert "\x1b" not in outside("a\x1b[31m").text


def test_an_error_without_a_hint_ends_with_its_message() -> None:
    assert describe_error(SecateurError("x is missing", hint="name it")) == "x is missing; name it"
    assert describe_error(SecateurError("x is missing")) == "x is missing"


def test_differences_carry_their_sign() -> None:
    assert [format_signed(n) for n in (1234, -1234, 0)] == ["+1,234", "−1,234", "±0"]


@given(st.lists(texts, max_size=4), st.integers(0, 30), st.integers(1, 20))
def test_a_cut_is_so_many_cells_of_a_line(parts: list[str], start: int, cells: int) -> None:
    whole = line(*parts)
    shown = cut_cells(whole, start, cells)
    assert width(shown) == max(0, min(cells, width(whole) - start))
    windows = [plain(cut_cells(whole, at, cells)) for at in range(0, width(whole), cells)]
    assert "".join(windows) == plain(whole) or "\u8ba2" in plain(whole), "only a wide character may be halved"


@given(st.lists(texts, max_size=4), st.lists(st.integers(0, 40), max_size=6, unique=True))
def test_a_mark_changes_no_text(parts: list[str], edges: list[int]) -> None:
    whole, ordered = line(*parts), sorted(edges)
    places = list(zip(ordered[::2], ordered[1::2], strict=False))
    found = mark_places(whole, places)
    assert plain(found) == plain(whole)
    at, hit = 0, set()
    for span in found:
        hit |= set(range(at, at + len(span.text))) if "match" in span.role else set()
        at += len(span.text)
    assert hit == {index for first, last in places for index in range(first, min(last, at))}
