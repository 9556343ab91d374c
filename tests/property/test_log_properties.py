"""Laws of the kind `log`, for any log: verbatim lines in their order, every line once, sums exact, budget held."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from secateur.kinds.log.lines import read_lines
from secateur.model import State
from secateur.progress import unreported
from secateur.tokens import get_counter
from support.logs import LOGS, pruned, verbatim

PARTS = st.one_of(
    st.sampled_from([line for log in LOGS.values() for line in log.split("\n")]),
    st.text(max_size=40),
    st.integers(1, 99).map(lambda factor: "\n".join(f"{row},{row * row * factor % 97}" for row in range(9))),
    st.integers(0, 99).map(lambda number: f"12:00:{number:02} worker-{number} INFO stored item {number}"),
    st.sampled_from(
        ["… 3 lines …", "\r\r", "\x1b[2K", "", "\t", "ERROR " + "x" * 2500, "Traceback (most recent call last):"]
    ),
)
LINES = st.lists(st.tuples(PARTS, st.integers(1, 6)), max_size=60)


@given(LINES, st.integers(0, 700), st.sampled_from(["", "worker item", "refund"]))
def test_any_log(runs: list[tuple[str, int]], budget: int, query: str) -> None:
    log = "".join((line + "\n") * times for line, times in runs)
    with tempfile.TemporaryDirectory() as folder:
        outcome = pruned(Path(folder), log, budget, query)
        again = pruned(Path(folder), log, budget, query)
    ledger, text, read = outcome.ledger, outcome.payload.text, outcome.payload.log.lines
    counter = get_counter()

    assert (text, ledger.shape().to_dict()) == (again.payload.text, again.ledger.shape().to_dict())
    assert ledger.after == counter.count(text) <= budget

    whole = read_lines(log.encode("utf-8", "surrogatepass"), counter, 10**9, unreported)
    remaining = iter(whole.lines)
    for line in verbatim(outcome):  # each is a line of the log, or the beginning of a long one, in the log's order
        assert any(line == each or (len(line) == 2000 and each.startswith(line)) for each in remaining), line

    edges = [(one.start, one.end) for one in outcome.payload.stretches]
    assert [start for start, _ in edges] == [0, *(end for _, end in edges)][: len(edges)]
    assert (edges[-1][1] if edges else 0) == len(read)
    names = [f"{start + 1}-{end}" if end - start > 1 else f"{end}" for start, end in edges]
    assert [entry.id for entry in ledger.entries] == [*names, "wrapper"]

    assert ledger.before == sum(counter.count(line + "\n") for line in whole.lines)
    for side in ("before", "after"):
        assert sum(getattr(entry, side) for entry in ledger.entries) == getattr(ledger, side)
    shown = 0
    for one in outcome.payload.stretches:
        lines = sum(end - start for start, end in one.spans)
        shown += lines
        assert (one.state is State.DROPPED) == (lines == 0)
        assert one.state is not State.KEPT or lines == one.end - one.start
    assert shown == len(verbatim(outcome))
