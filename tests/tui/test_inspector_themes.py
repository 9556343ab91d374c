import math
import os
import re
from itertools import combinations
from pathlib import Path

import pytest
from secateur import directories
from secateur.render.report.looks import PALETTE, SIGNALS, STATES
from secateur_tui.host import load_themes

OWN = directories.data_dir("themes")
THEMES = load_themes([OWN])[0]
DARK = (OWN / "secateur-dark.toml").read_text(encoding="utf-8")


def test_the_themes_that_come_along_are_whole() -> None:
    themes, notices = load_themes([OWN])
    assert notices == ()
    assert set(themes) == {
        "secateur-dark",
        "secateur-light",
        "secateur-contrast",
        "secateur-contrast-light",
        "secateur-colour-blind",
    }
    assert themes["secateur-dark"].dark and not themes["secateur-light"].dark


def contrast(one: str, other: str) -> float:
    """Contrast ratio as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


TEXTS = (
    *("foreground", "faint", "primary", "accent", "warning", "error", "success"),
    *(f"state-{key}" for key in STATES),
    *(f"signal-{key}" for key in SIGNALS),
)


@pytest.mark.parametrize("name", sorted(THEMES))
def test_text_is_readable_on_its_background(name: str) -> None:
    theme, least = THEMES[name], 7 if "contrast" in name else 4.5
    for key in TEXTS:
        colour = getattr(theme, key, None) or theme.variables[key]
        assert contrast(theme.background or "", colour) >= least, key


@pytest.mark.parametrize("name", sorted(THEMES))
def test_text_is_readable_under_the_cursor(name: str) -> None:
    """The cursor's row stands on `panel`, the row of a list that has not the focus on `surface`."""
    theme, least = THEMES[name], 7 if "contrast" in name else 4.5
    for ground in (theme.panel, theme.surface):
        assert contrast(ground or "", theme.foreground or "") >= least


def lab(red: float, green: float, blue: float) -> tuple[float, float, float]:
    """Linear RGB as CIE L*a*b* under D65."""
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


SEEN = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}
"""Linear RGB -> what is seen of it, after Machado, Oliveira and Fernandes (2009), at full severity."""


def difference(one: str, other: str, seen: tuple[tuple[float, ...], ...]) -> float:
    """Distance of two colours as they are seen (CIE76): 2 can just be told apart side by side."""

    def as_seen(colour: str) -> tuple[float, float, float]:
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        red, green, blue = (
            min(1.0, max(0.0, sum(part * c for part, c in zip(row, linear, strict=True)))) for row in seen
        )
        return lab(red, green, blue)

    return math.dist(as_seen(one), as_seen(other))


@pytest.mark.parametrize("sight", SEEN)
@pytest.mark.parametrize("table", ["state", "signal"])
def test_the_colour_blind_theme_is_told_apart_by_everyone(sight: str, table: str) -> None:
    theme = THEMES["secateur-colour-blind"]
    names = STATES if table == "state" else SIGNALS
    colours = {name: theme.variables[f"{table}-{name}"] for name in names}
    for one, other in combinations(colours, 2):
        assert difference(colours[one], colours[other], SEEN[sight]) >= 20, (one, other)


def test_the_dark_theme_needs_the_other_one() -> None:
    """What is measured above is something: red and green of the usual theme are nearly one colour to some."""
    states = {name: THEMES["secateur-dark"].variables[f"state-{name}"] for name in STATES}
    worst = min(
        difference(states[one], states[other], SEEN[sight]) for one, other in combinations(STATES, 2) for sight in SEEN
    )
    assert worst < 20


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("dark = ", "broken.toml"),
        (DARK.replace('accent = "#e5b567"', ""), "palette.accent is missing"),
        (DARK.replace("accent", "acent"), "unknown key palette.acent; did you mean palette.accent?"),
        (DARK.replace('"#e5b567"', '"red; }"'), "is not a colour"),
        (DARK.replace("dark = true", "dark = 3"), "dark is not true or false"),
        (DARK + "\n[evil]\nx = 1\n", "unknown key evil"),
        ("palette = 3", "palette is not a table"),
    ],
)
def test_a_broken_theme_is_left_out_and_named(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "broken.toml").write_text(text, encoding="utf-8")
    themes, notices = load_themes([OWN, tmp_path])
    assert "broken" not in themes and "secateur-dark" in themes
    assert len(notices) == 1 and told in notices[0].message


def test_a_users_theme_wins_over_one_of_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "secateur-dark.toml").write_text(DARK.replace("#14181b", "#000000"), encoding="utf-8")
    assert load_themes([OWN, tmp_path])[0]["secateur-dark"].background == "#000000"


def test_a_binary_file_is_no_theme(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_bytes(b"\xff\xfe\x00")
    assert len(load_themes([tmp_path, tmp_path / "missing"])[1]) == 1


@pytest.mark.parametrize(
    ("text", "told"), [("a = " + "[" * 20_000, "deep|nest|recurs"), ("a = " + "9" * 5000, "digits")]
)
def test_what_no_reader_bears_is_a_broken_theme(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "odd.toml").write_text(text)
    themes, (notice,) = load_themes([tmp_path])
    assert not themes and notice.code == "broken_theme" and re.search(told, notice.message, re.IGNORECASE)


def test_a_pipe_is_no_theme(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "odd.toml")
    themes, (notice,) = load_themes([tmp_path])
    assert not themes and notice.message == "theme odd.toml is left out: not a regular file"


def test_the_palette_is_the_whole_of_a_theme() -> None:
    assert set(PALETTE) | set(STATES) | set(SIGNALS) == {
        line.split(" =")[0] for line in DARK.splitlines() if '= "#' in line
    }
