"""Random conversations for properties; `conversations.py` gives them their format, and needs no Hypothesis, which
benchmarks do without."""

from __future__ import annotations

from hypothesis import strategies as st
from support.conversations import Said

WORDS = st.sampled_from(
    [
        "refund",
        "total",
        "rounds",
        "src/orders/money.py",
        "ValueError: no rate",
        "we must keep it?",
        "订单",
        "\ud800",
        "\x1b[31m",
        "a_b",
        "ok",
    ]
)
TEXT = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
RESULT = st.tuples(TEXT, st.integers(1, 60)).map(lambda row: "\n".join([row[0]] * row[1]))
STEP = st.tuples(
    st.sampled_from(["read_file", "run_tests", "grep"]), st.sampled_from(["a.py", "b.py"]), RESULT, st.booleans()
)
TURNS = st.lists(st.builds(Said, TEXT, st.lists(STEP, max_size=4).map(tuple), TEXT), min_size=1, max_size=5)
