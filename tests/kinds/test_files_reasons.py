"""The reasons of files name every rule that keeps a file out: where a threshold is named alone, it decides alone."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from secateur import SourceCode, count_tokens
from secateur.kinds.files.measurements import measure_files
from secateur.kinds.files.prune_context import prune_files
from secateur.kinds.files.strategies import prune
from secateur.model import Reason, State
from secateur.settings import Settings, with_values
from support.answering import Table
from support.cli import secateur

QUERY = "refund total of an order"
UNRELATED = "def walk_{}(tree):\n    for leaf in tree:\n        yield leaf\n\n\n"


def pruning(**values: object) -> Settings:
    return with_values(Settings(), {f"context_prune.{key}": value for key, value in values.items()})


def files_of_a_shop() -> list[SourceCode]:
    """Files whose relevance falls from the first to the last, each longer than the one before."""
    words = ("refund total of an order", "refund total", "order", "total", "tree")
    return [
        SourceCode(
            f"src/{number}.py",
            f"def {text.replace(' ', '_')}(a):\n    return a  # {text}\n\n\n"
            + "".join(UNRELATED.format(step) for step in range(3 + 4 * number)),
        )
        for number, text in enumerate(words)
    ]


@pytest.mark.parametrize("strategy", ["score", "extract"])
@pytest.mark.parametrize("pinned", [(), ("src/1.py",)])
def test_a_threshold_that_is_named_alone_decides_alone(strategy: str, pinned: tuple[str, ...]) -> None:
    alone = beside_room = 0
    measured = measure_files(files_of_a_shop(), Settings(), QUERY)
    for budget, min_score, share in itertools.product((60, 150, 400), (0.0, 3.0, 9.0), (0.15, 0.9)):
        rules = pruning(max_tokens=budget, strategy=strategy, min_score=min_score, snippet_share=share)
        settings = with_values(rules, {"pins": list(pinned)})
        for decision in prune(measured, settings).decisions:
            assert decision.left is None or decision.text is not None or decision.needed > decision.left
            if decision.threshold is None:
                continue
            assert decision.threshold.score < decision.threshold.asked
            assert decision.module_name not in pinned, "no threshold is asked of what is pinned"
            without = prune(measured, with_values(settings, {decision.threshold.setting: 0.0}))
            goes_out = without.decisions[decision.number].text is not None
            alone += decision.left is None
            beside_room += decision.left is not None
            assert goes_out or decision.left is not None
    assert alone and beside_room


def test_a_file_below_the_share_of_snippets_says_that_it_has_no_room_as_a_whole_either(tmp_path: Path) -> None:
    for file in files_of_a_shop():
        (tmp_path / Path(file.module_name).name).write_text(file.source_code)
    words = [
        "--query",
        QUERY,
        "--strategy",
        "extract",
        "--max-tokens",
        "150",
        "--set",
        "context_prune.snippet_share=0.9",
    ]
    report = secateur("files", tmp_path, *words, "--format", "json").json
    refused = next(entry for entry in report["decisions"] if "threshold" in entry)
    assert refused["needed"] == refused["tokens_before"] > refused["left"]
    assert refused["left"] < 150, "what is left then, not the whole budget"
    (line,) = [row for row in secateur("files", tmp_path, *words).out.splitlines() if refused["module_name"] in row]
    assert f"; as a whole it needs {refused['needed']}" in line


def test_what_goes_out_because_there_is_room_is_not_called_relevant() -> None:
    tree = SourceCode("tree.py", UNRELATED.format(0) * 3)
    files = [*files_of_a_shop(), tree]
    budget = sum(count_tokens(file.source_code) for file in files) - 1
    decisions = prune_files(files, pruning(max_tokens=budget, strategy="extract"), QUERY).decisions
    assert decisions[0].reason is Reason.WHOLE
    assert (decisions[-1].score, decisions[-1].state, decisions[-1].reason) == (0.0, State.KEPT, Reason.FITS)


@pytest.mark.parametrize("asked", [False, True])
def test_a_shortened_file_names_the_share_that_whole_files_may_take(asked: bool) -> None:
    from secateur.kinds.files.model_questions import LineRange, Snippets

    model = Table(lambda _: Snippets([LineRange(1, 2)])) if asked else None
    settings = pruning(max_tokens=300, strategy="extract", full_file_share=0.1)
    result = prune_files(files_of_a_shop(), settings, QUERY, llm=model)
    shortened = [entry for entry in result.ledger.entries if entry.state is State.SHORTENED]
    assert shortened
    for entry in shortened:
        if entry.before <= 300:
            assert entry.figures["setting"] == "context_prune.full_file_share"
            assert entry.figures["left"] <= 30
        else:
            assert entry.figures["left"] == 300


def test_names_are_not_cut_so_that_a_search_finds_them(tmp_path: Path) -> None:
    name = "core/src/main/java/dev/shop/internal/a_rather_long_name_of_a_file.py"
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text("def refund(order):\n    return order\n")
    (tmp_path / "b.py").write_text("x = 1\n")
    rows = secateur("files", tmp_path, "--strategy", "delete").out.splitlines()
    assert [row.index("->") for row in rows if name in row] == [row.index("->") for row in rows if "b.py" in row]


def test_with_a_query_no_strategy_is_offered_that_ignores_it(tmp_path: Path) -> None:
    for file in files_of_a_shop():
        (tmp_path / Path(file.module_name).name).write_text(file.source_code)
    (tmp_path / "!first.py").write_text("".join(UNRELATED.format(step) for step in range(6)))
    told = secateur("files", tmp_path, "--query", QUERY, "--max-tokens", "150", "--explain").out
    assert "--strategy extract" in told
    assert "--strategy delete" not in told


def test_a_saved_scenario_asserts_no_file_that_only_room_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for file in files_of_a_shop():
        (tmp_path / Path(file.module_name).name).write_text(file.source_code)
    (tmp_path / "large.py").write_text("".join(UNRELATED.format(step) for step in range(40)))
    path = tmp_path / "refund.scenario.toml"
    saved = secateur("files", ".", "--query", QUERY, "--max-tokens", "5000", "--save", path.name)
    assert saved.code == 0, saved.err
    kept = path.read_text().partition("must_keep = ")[2].partition("\n")[0]
    assert "0.py" in kept
    assert "large.py" not in kept
