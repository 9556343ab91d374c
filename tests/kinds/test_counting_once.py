"""What proofs decide again and again is counted once, and counted alike by several threads."""

from pathlib import Path

from secateur.kinds import registry
from secateur.kinds.base import Environment
from secateur.kinds.conversation.decisions import COUNTED_AT_ONCE, measure
from secateur.kinds.conversation.transcripts import read_messages
from secateur.kinds.files.inputs import read_files
from secateur.kinds.files.measurements import measure_files
from secateur.kinds.files.sourcecode import MARKDOWN
from secateur.kinds.files.strategies import prune
from secateur.settings import Settings, with_values
from secateur.tokens import get_counter

ENVELOPE = Path(__file__).parents[2] / "docs" / "examples" / "envelope.json"


def test_a_text_that_was_counted_is_not_counted_again() -> None:
    kind = registry.get_kind("envelope")
    inputs = {"path": str(ENVELOPE), "model": "gpt-4o"}
    settings = with_values(Settings(), {"context_budget.tokens": 2500})
    material = kind.read(inputs, settings, Environment())
    first = kind.decide(material, inputs, settings)
    known = dict(material.counted)
    again = kind.decide(material, inputs, settings)
    assert known and material.counted == known
    assert again.ledger.shape() == first.ledger.shape()
    other = with_values(settings, {"tokens.counter": "chars4"})
    assert kind.decide(material, inputs, other).ledger.before != first.ledger.before


def test_files_are_pruned_alike_whatever_was_counted_before(tmp_path: Path) -> None:
    files, _ = read_files(["sample:orders/orders/domain"], Settings(), tmp_path)
    question = "where is the refund total rounded?"
    kept = measure_files(files, Settings(), question, form=MARKDOWN)
    pin = kept.ids[0]
    for budget in (300, 900):
        for changed in ({}, {"snippet_share": 0.2}):
            for pins in ([], [pin]):
                values = {"strategy": "extract", "max_tokens": budget} | changed
                rules = {f"context_prune.{name}": value for name, value in values.items()}
                settings = with_values(Settings(), rules | {"pins": pins})
                again = measure_files(files, Settings(), question, form=MARKDOWN)
                assert prune(kept, settings).decisions == prune(again, settings).decisions
    counted = [dict(file.counted) for file in kept.files]
    assert any(counted)
    prune(kept, with_values(Settings(), {"context_prune.strategy": "extract", "context_prune.max_tokens": 900}))
    assert [file.counted for file in kept.files] == counted


def test_counts_from_several_threads_are_those_of_one() -> None:
    texts = [f"line {number} of a log, {'x' * (number % 50)}" for number in range(3 * COUNTED_AT_ONCE + 7)]
    counter, seen = get_counter("o200k_base"), list[tuple[int, int]]()
    measured = measure(
        read_messages([{"role": "user", "content": text} for text in [*texts, *texts]]),
        counter,
        lambda _, done, total: seen.append((done, total)),
    )
    assert list(measured.tokens) == counter.count_many([*texts, *texts])
    assert seen == [(500, 1507), (1000, 1507), (1500, 1507), (1507, 1507)]
