import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.retrieval.query import CODE, LONGEST_LINE, PROSE, TITLE, weigh_lines

ISSUE = """Refund is rounded twice
<!-- Thanks for reporting! -->
### Describe the bug
The total is off by a cent when two lines are returned.

```python
shop.refund(order, lines=2)
```

Traceback (most recent call last):
  File "orders/services/refunds.py", line 30, in round_refund_total
    return Money(round_minor(total), currency)
ValueError: not a cent

### Environment
- Python 3.11
something about the machine
### More
Only with shipping.
- [x] I searched
numpy: 1.26.4
row 1 of 3
row 2 of 3
row 3 of 3
"""


def test_what_is_about_the_code_stays_and_what_every_issue_says_goes():
    assert weigh_lines(ISSUE) == [
        ("Refund is rounded twice", TITLE),
        ("The total is off by a cent when two lines are returned.", PROSE),
        ("shop.refund(order, lines=2)", CODE),
        ("ValueError: not a cent", PROSE),
        ("### More", PROSE),
        ("Only with shipping.", PROSE),
        ("row 1 of 3", PROSE),
        ("row 2 of 3", PROSE),
    ]


@pytest.mark.parametrize("line", ["Traceback", "example", "numpy: 1.26.4", "- [x] done", "-----"])
def test_a_single_line_counts_whatever_it_is(line):
    assert weigh_lines(line) == [(line, PROSE)]


@given(st.text(max_size=2000))
def test_lines_come_in_order_cut_and_with_a_weight(text):
    lines = weigh_lines(text)
    assert all(0 < weight <= TITLE and len(line) <= LONGEST_LINE and line.strip() for line, weight in lines)


@pytest.mark.parametrize(
    "unit", ["<!--", "what did you ", "**a ", 'File "', "a.b:", "x 1.2 ", " " * 399 + "\n", "steps to reproduce\n"]
)
def test_a_pattern_that_backtracks_would_not_end_here(unit):
    text = unit * (200_000 // len(unit))
    assert all(line in text for line, _ in weigh_lines(text))


@pytest.mark.parametrize("filler", [" ", "#", "@", "|", "=", "- ", "a ", ".", ">", "- (", "1.1 "])
def test_no_line_keeps_the_patterns_busy(filler):
    """Each line once took a quarter of a second, a pasted log of them minutes: the test would not end."""
    line = filler * (LONGEST_LINE // len(filler) - 1) + "x"
    assert weigh_lines("title\n" + f"{line}\n" * 2000)[0] == ("title", TITLE)
