import os
import re
from pathlib import Path

import pytest
from secateur import directories
from secateur_tui.themes import PALETTE, SIGNALS, STATES, load_themes

OWN = directories.data_dir("themes")
DARK = (OWN / "secateur-dark.toml").read_text(encoding="utf-8")


def test_the_themes_that_come_along_are_whole() -> None:
    themes, notices = load_themes([OWN])
    assert notices == ()
    assert {"secateur-dark", "secateur-light"} <= set(themes)
    assert themes["secateur-dark"].dark and not themes["secateur-light"].dark


def contrast(one: str, other: str) -> float:
    """Contrast ratio as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", ["secateur-dark", "secateur-light"])
def test_text_is_readable_on_its_background(name: str) -> None:
    theme = load_themes([OWN])[0][name]
    for key in (
        "foreground",
        "faint",
        "primary",
        "accent",
        "error",
        "success",
        *(f"state-{key}" for key in STATES),
        *(f"signal-{key}" for key in SIGNALS),
    ):
        assert contrast(theme.background or "", getattr(theme, key, None) or theme.variables[key]) >= 4.5, key


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
    assert not themes and notice.message == "theme odd.toml is left out: no regular file"


def test_the_palette_is_the_whole_of_a_theme() -> None:
    assert set(PALETTE) | set(STATES) | set(SIGNALS) == {
        line.split(" =")[0] for line in DARK.splitlines() if '= "#' in line
    }
