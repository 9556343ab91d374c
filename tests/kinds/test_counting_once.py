"""What proofs of an envelope decide again and again is counted once."""

from pathlib import Path

from secateur.kinds import registry
from secateur.kinds.base import Environment
from secateur.settings import Settings, with_values

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
