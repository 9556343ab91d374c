"""A figure that was not proven, because the runs were used up, is named as not known and not printed as the nearest
value."""

from __future__ import annotations

import numpy as np
import pytest
from secateur.ledger import State
from secateur.progress import Progress, unreported
from secateur.what_if.explanation import explain
from secateur.what_if.trials import BUDGET, Trials, Tried

LEAST, ENOUGH = 413, 9_200


class Steps(Trials):
    """Items that leave from a budget of their own on; below LEAST there is no answer. `enough` is said too small."""

    def __init__(self, most: int) -> None:
        self.needs = np.array([420, 3_001, 5_777, 9_100, ENOUGH])
        self.ids = [f"needs {need}" for need in self.needs]
        self.budget, self.low, self.enough, self.most = 2_000, 0, 9_190, most
        self.knobs, self.fixed = (), np.zeros(len(self.needs), dtype=np.bool_)
        self.now = self._decided(self.budget)

    def decide(self, name: str, value: float | str, progress: Progress = unreported) -> Tried | None:  # noqa: ARG002
        return self._decided(float(value)) if name == BUDGET and float(value) >= LEAST else None

    def _decided(self, budget: float) -> Tried:
        out = self.needs <= budget
        return Tried(np.where(out, State.KEPT, State.DROPPED).astype(np.int8), int(self.needs[out].sum()))


@pytest.mark.parametrize("most", [*range(1, 60, 3), 200, 400])
def test_what_is_said_is_exact_however_many_runs_there_are(most: int) -> None:
    trials = Steps(most)
    told = explain(trials, range(len(trials.ids)))
    for item, need in enumerate(trials.needs.tolist()):
        levers = told.levers[item]
        if not levers:
            assert item in told.unknown
        else:
            assert levers[0].value == (need if need > trials.budget else need - 1)
    known = {"least": LEAST, "enough": ENOUGH}
    for name, right in known.items():
        assert getattr(told.curve, name) == (None if name in told.curve.unknown else right)
    shape = told.shape().to_dict()
    assert shape.get("not_known", {}).get("curve", []) == [*told.curve.unknown]
    assert most < 200 or not told.reached
