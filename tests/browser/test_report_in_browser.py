"""The exported page in a browser: it asks for nothing, shows the list, bars, terms and diffs, and sorts and filters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from browser.conftest import Watched, show
from secateur.render.report.html_page import html_page
from support.cli import secateur
from support.reports import report

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
CALLS = {
    "search": (
        *("search", "where is the refund total rounded?", "sample:orders"),
        *("--profile", "recommended", "--budget", "1500"),
    ),
    "conversation": ("conversation", EXAMPLES / "session.jsonl", "--safe-zone", "7000"),
    "diff": ("chunk", "sample:orders", "--base", "HEAD~6", "--max-tokens", "3000"),
    "envelope": ("envelope", EXAMPLES / "envelope.json", "--model", "gpt-4o", "--context-budget", "900"),
    "log": ("log", EXAMPLES / "ci.log", "--max-tokens", "700"),
}
HOSTILE = '</pre><script>document.title="hit"</script><img src=x onerror=alert(1)>\x1b]0;t\x07\u202e"\' onclick=x'
SCHEMES = [
    {"color_scheme": scheme, "contrast": contrast}
    for scheme in ("light", "dark")
    for contrast in ("no-preference", "more")
]


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, tuple[Path, dict[str, object]]]:
    """Per kind the page and the JSON of the same call."""
    made = {}
    for name, call in CALLS.items():
        file = tmp_path_factory.mktemp(name) / "page.html"
        ran = secateur(*call, "--format", "json", "--report", file)
        assert ran.code == 0, ran.err
        made[name] = file, json.loads(ran.out)
    return made


@pytest.mark.parametrize("kind", CALLS)
def test_the_page_shows_every_decision_and_asks_for_nothing(
    kind: str, exported: Mapping[str, tuple[Path, dict]], opened: Watched
) -> None:
    file, answer = exported[kind]
    page = show(opened, file)
    ledger = answer["ledger"]
    assert page.locator(".figure b").first.inner_text() == f"{ledger['after']:,}"
    rows = page.locator(".item")
    if kind != "search":
        assert rows.count() == len(ledger["entries"]) - 1
    leaving = [entry for entry in ledger["entries"] if entry["after"] > 0 and entry["id"] != "wrapper"]
    links = page.locator(".bar a").count()
    assert 0 < links <= len(leaving)
    boxes = [one.bounding_box() for one in page.locator(".bar svg svg").all()]
    assert all(box and box["width"] > 0 for box in boxes)
    widths = [float((one.get_attribute("width") or "").rstrip("%")) for one in page.locator(".bar svg svg").all()]
    assert abs(sum(widths) - 100) < 0.05
    assert page.locator("pre.command").inner_text().startswith("secateur ")
    assert opened.requests == [] and opened.said == []


def test_scores_texts_and_diffs_open_without_a_pointer(
    exported: Mapping[str, tuple[Path, dict]], opened: Watched
) -> None:
    page = show(opened, exported["search"][0])
    first = page.locator(".item").first
    assert not first.locator(".body").is_visible()
    first.locator("summary").focus()
    page.keyboard.press("Enter")
    terms = [float(cell) for cell in first.locator(".terms td.number").all_inner_texts()]
    assert abs(sum(terms[:-1]) - terms[-1]) < 0.002 and first.locator("pre").is_visible()
    shortened = page.locator(".item.shortened").first
    shortened.locator("summary").click()
    assert shortened.locator(".diff .gone").count() > 0
    assert first.locator(".score svg rect").count() >= 3


def test_the_list_is_sorted_and_filtered(exported: Mapping[str, tuple[Path, dict]], opened: Watched) -> None:
    page = show(opened, exported["search"][0])

    def shown(key: str) -> list[str]:
        script = "(all, key) => all.filter(one => !one.hidden).map(one => one.getAttribute(key))"
        return page.locator(".item").evaluate_all(script, f"data-{key}")

    assert shown("order") == sorted(shown("order"), key=int)
    page.select_option("#sort", "before")
    assert shown("before") == sorted(shown("before"), key=int, reverse=True)
    page.select_option("#sort", "name")
    assert shown("name") == sorted(shown("name"))
    page.select_option("#sort", "pack")
    assert shown("pack") == sorted(shown("pack"), key=int)
    page.fill("#find", "tax order")
    found = shown("order")
    assert 0 < len(found) < page.locator(".item").count()
    assert page.locator("#said").inner_text() == f"{len(found)} of {page.locator('.item').count()} listed"
    page.fill("#find", "")
    page.uncheck("input[value=dropped]")
    assert set(shown("state")) == {"kept", "shortened"}


def test_a_segment_of_the_bar_leads_to_its_item(exported: Mapping[str, tuple[Path, dict]], opened: Watched) -> None:
    page = show(opened, exported["search"][0])
    page.locator(".bar a").nth(4).click()
    item = page.locator(".item:target")
    assert item.locator(".body").is_visible()
    box, size = item.bounding_box(), page.viewport_size
    assert box and size and 0 <= box["y"] < size["height"]


@pytest.mark.parametrize("opened", [{"java_script_enabled": False}], indirect=True)
def test_without_its_script_everything_can_be_read(exported: Mapping[str, tuple[Path, dict]], opened: Watched) -> None:
    page = show(opened, exported["conversation"][0])
    assert not page.locator("#tools").is_visible()
    row = page.locator(".item.shortened").first
    row.locator("summary").click()
    assert row.locator("pre").first.is_visible()


@pytest.mark.parametrize("opened", SCHEMES, indirect=True)
def test_text_stands_out_whatever_the_reader_prefers(
    exported: Mapping[str, tuple[Path, dict]], opened: Watched
) -> None:
    page = show(opened, exported["search"][0])
    script = """() => ["body", ".faint", ".state", ".reason", ".place", ".figure.of b"].map(one => {
        const at = document.querySelector(one);
        return [getComputedStyle(at).color, getComputedStyle(document.body).backgroundColor];
    })"""
    least = 7 if opened.page.evaluate("matchMedia('(prefers-contrast: more)').matches") else 4.5
    for colour, ground in page.evaluate(script):
        assert _contrast(colour, ground) >= least


@pytest.mark.parametrize("opened", [{"viewport": {"width": 390, "height": 800}}], indirect=True)
def test_on_a_narrow_screen_nothing_runs_off(exported: Mapping[str, tuple[Path, dict]], opened: Watched) -> None:
    for kind in CALLS:
        page = opened.page
        page.goto(exported[kind][0].as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, kind


def test_hostile_texts_do_nothing(opened: Watched, tmp_path: Path) -> None:
    file = tmp_path / "hostile.html"
    file.write_text(html_page(report(HOSTILE)), "utf-8")
    page = show(opened, file)
    assert page.title() != "hit" and "document.title" in page.locator("h1").inner_text()
    assert page.locator("img").count() == 0 and opened.requests == [] and opened.said == []


def test_pictures_are_drawn(opened: Watched, tmp_path: Path) -> None:
    for kind, call in CALLS.items():
        file = tmp_path / f"{kind}.svg"
        assert secateur(*call, "--report", file).code == 0
        opened.page.goto(file.as_uri())
        assert opened.page.locator("parsererror").count() == 0
        over = """() => [...document.querySelectorAll("text")].filter(one => {
            const box = one.getBoundingClientRect(); return box.right > 1200 || box.left < 0; }).length"""
        assert opened.page.evaluate(over) == 0, kind
    assert opened.said == []


def _contrast(one: str, other: str) -> float:
    """Contrast ratio of two `rgb(…)` as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        channels = [int(part) / 255 for part in colour[4:-1].split(",")]
        red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
