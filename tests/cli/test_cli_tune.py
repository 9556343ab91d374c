"""`secateur tune`: what it prints and writes, what it refuses, and what an interruption keeps."""

from __future__ import annotations

from pathlib import Path

import pytest
from secateur_lab.evaluation import tuning_run
from secateur_lab.evaluation.tuned_profile import Fitter
from support.cli import secateur
from support.json_shapes import violations
from support.repos import SHOP, committed, git, write

TOPICS = ("rounding", "currency", "discount", "invoice", "shipping", "refund", "voucher", "basket", "customer", "stock")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of which ten commits each change the function that they speak of."""
    files = {f"shop/{topic}.py": f"def {topic}_total(parts):\n    return sum(parts)\n" for topic in TOPICS}
    root = committed(tmp_path_factory.mktemp("tune") / "shop", {**SHOP, **files})
    for number, topic in enumerate(TOPICS):
        write(root, {f"shop/{topic}.py": f"def {topic}_total(parts):\n    return sum(parts) + {number}\n"})
        git(root, "commit", "-qam", f"Totals for {topic} shift by step{number}", time=1_760_000_000 + 86_400 * number)
    return root


def test_a_history_is_mined_split_by_time_and_measured(shop: Path, tmp_path: Path) -> None:
    out = tmp_path / "ours.toml"
    ran = secateur("tune", shop, "--profile", "recommended", "--out", out, "--name", "ours", "--budget", 4000)
    assert (ran.code, ran.err) == (0, "")
    assert "6 training and 4 held-out cases of shop" in ran.out
    assert "no gain beyond noise" in ran.out
    assert "    4,000  1.000 [1.000, 1.000]  1.000 [1.000, 1.000]  +0.000 [+0.000, +0.000]" in ran.out
    assert "nothing was written" in ran.out
    assert not out.exists()
    assert git(shop, "status", "--porcelain") == "", "nothing is left in the repository"


def test_the_json_is_the_same_every_time(shop: Path) -> None:
    words = ("tune", shop, "--profile", "spec", "--budget", 300, "--format", "json")
    ran = secateur(*words)
    assert secateur(*words).out == ran.out
    answer = ran.json
    assert violations("tune", answer) == []
    assert answer["cases"] == {"training": 6, "held_out": 4, "left_out": 0}
    assert [one["budget"] for one in answer["held_out_recall"]] == [300]
    assert answer["written"] is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--profile", "recommendd"], "did you mean recommended?"),
        (["--name", "spec"], "--name spec is built in"),
        (["--name", "a.b"], "letters, digits, - and _"),
        (["--set", "relevance.lexicl=1"], "did you mean relevance.lexical?"),
        (["--out", "{here}/there.toml"], "already exists"),
        (["--anyway"], "--anyway writes nothing without --out"),
    ],
)
def test_wrong_calls_are_refused_before_anything_is_read(tmp_path: Path, words: list[str], said: str) -> None:
    write(tmp_path, {"there.toml": "", "a.py": ""})
    ran = secateur("tune", tmp_path, *(word.format(here=tmp_path) for word in words))
    assert ran.code == 2
    assert said in ran.err


def test_a_folder_without_cases_and_history_is_said(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "x = 1\n"})
    ran = secateur("tune", tmp_path)
    assert ran.code == 1
    assert "git" in ran.err
    committed(tmp_path / "young", SHOP)
    ran = secateur("tune", tmp_path / "young")
    assert ran.code == 1
    assert "there is no training case" in ran.err


def test_an_interruption_while_it_measures_prints_what_was_measured_and_writes_nothing(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tuning_run.measure_with

    def interrupted(*arguments: object) -> object:
        for number, one in enumerate(real(*arguments)):  # type: ignore[arg-type]
            if number == 2:
                raise KeyboardInterrupt
            yield one

    monkeypatch.setattr(tuning_run, "measure_with", interrupted)
    out = tmp_path / "ours.toml"
    ran = secateur("tune", shop, "--budget", 300, "--out", out, "--anyway")
    assert ran.code == 130
    assert "6 training and 2 held-out cases" in ran.out
    assert not out.exists()


def test_an_interruption_while_it_fits_says_the_best_until_then(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: Fitter) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Fitter, "fit", interrupted)
    ran = secateur("tune", shop)
    assert ran.code == 130
    assert "interrupted before anything was fitted" in ran.err
