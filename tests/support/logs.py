"""Logs as tools print them, and how tests run the kind `log` on them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from secateur.kinds.base import Environment, Outcome
from secateur.kinds.log.kind import LogKind
from secateur.settings import Settings
from secateur.settings.keys import replace_values

PYTEST = """\
============================= test session starts ==============================
platform linux -- Python 3.11.8, pytest-8.1.1, pluggy-1.4.0
collecting ... collected 4 items

tests/test_cart.py::test_empty PASSED                                    [ 25%]
tests/test_cart.py::test_refund FAILED                                   [ 50%]
tests/test_cart.py::test_error_message PASSED                            [ 75%]
tests/test_orders.py::test_place FAILED                                  [100%]

=================================== FAILURES ===================================
_________________________________ test_refund __________________________________

cart = <shop.cart.Cart object at 0x7f2a4c0d5e50>

    def test_refund(cart):
        cart.add("tea", 3, 1.10)
>       assert cart.refund("tea") == 3.30
E       assert 3.3000000000000003 == 3.3
E        +  where 3.3000000000000003 = refund('tea')

tests/test_cart.py:31: AssertionError
----------------------------- Captured stdout call -----------------------------
adding tea
__________________________________ test_place __________________________________

    def test_place():
>       place(Order(lines=[]))

src/shop/orders.py:55:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

E           shop.orders.EmptyOrder: an order has one line at least

src/shop/orders.py:55: EmptyOrder
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_refund - assert 3.3000000000000003 == 3.3
FAILED tests/test_orders.py::test_place - shop.orders.EmptyOrder: an order has...
========================= 2 failed, 2 passed in 0.21s ==========================
"""

JEST = """\
> shop@1.0.0 test
> jest --ci

PASS src/a.test.js
FAIL src/cart.test.js
  ● Cart › refund › rounds half up

    expect(received).toBe(expected) // Object.is equality

    Expected: 3.3
    Received: 3.3000000000000003

      12 |   cart.add('tea', 3)
    > 13 |   expect(cart.refund()).toBe(3.3)
         |                         ^

      at Object.toBe (src/cart.test.js:13:25)

Test Suites: 1 failed, 1 passed, 2 total
Tests:       1 failed, 30 passed, 31 total
Time:        2.31 s
"""

CARGO = """\
   Compiling serde v1.0.197
   Compiling shop v0.1.0 (/src/shop)
warning: unused variable: `rest`
 --> src/lib.rs:4:9
error[E0308]: mismatched types
  --> src/cart.rs:31:5
   |
30 | fn total(&self) -> f64 {
   |                    --- expected `f64` because of return type
31 |     self.lines.len()
   |     ^^^^^^^^^^^^^^^^ expected `f64`, found `usize`

For more information about this error, try `rustc --explain E0308`.
error: could not compile `shop` (lib) due to 1 previous error; 1 warning emitted
"""

MAKE = """\
gcc -O2 -c -o util.o util.c
gcc -O2 -c -o cart.o cart.c
cart.c: In function 'total':
cart.c:40:12: error: 'struct cart' has no member named 'lines'
   40 |     return c->lines;
      |            ^~
cart.c:44:9: error: too few arguments to function 'round_half_up'
   44 |     x = round_half_up(1);
      |         ^~~~~~~~~~~~~
cart.h:9:5: note: declared here
make[1]: *** [Makefile:14: cart.o] Error 1
make[1]: Leaving directory '/src/cart'
make: *** [Makefile:3: all] Error 2
"""

MAVEN = """\
[INFO] Scanning for projects...
[INFO] Running com.acme.CartTest
[ERROR] Tests run: 3, Failures: 0, Errors: 1, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! -- in com.acme.CartTest
[ERROR] com.acme.CartTest.refund -- Time elapsed: 0.004 s <<< ERROR!
java.lang.IllegalStateException: no order 17
\tat com.acme.Cart.refund(Cart.java:31)
\tat com.acme.CartTest.refund(CartTest.java:12)
Caused by: java.io.IOException: connection reset
\t... 3 more
[INFO] Tests run: 3, Failures: 0, Errors: 1, Skipped: 0
[INFO] BUILD FAILURE
[INFO] Total time:  2.101 s
"""

GO = """\
=== RUN   TestAdd
--- PASS: TestAdd (0.00s)
=== RUN   TestRefund
    cart_test.go:31: refund() = 3, want 4
--- FAIL: TestRefund (0.01s)
panic: runtime error: index out of range [3] with length 2

goroutine 7 [running]:
shop/cart.(*Cart).At(...)
\t/src/cart/cart.go:12
exit status 2
FAIL\tshop/cart\t0.312s
ok  \tshop/orders\t0.100s
FAIL
"""

NPM = """\
npm WARN deprecated glob@7.2.0: Glob versions prior to v9 are no longer supported
npm ERR! code ERESOLVE
npm ERR! ERESOLVE unable to resolve dependency tree
npm ERR! Found: react@17.0.2
npm ERR! A complete log of this run can be found in: /home/ci/.npm/_logs/x.log
"""

ACTIONS = "".join(
    f"2026-05-01T12:00:{number:02}.1234567Z {line}\n"
    for number, line in enumerate(
        [
            "##[group]Run ./deploy",
            "Uploading 1 of 3",
            "Uploading 2 of 3",
            "Uploading 3 of 3",
            "##[error]The bucket shop-eu cannot be written: access denied",
            "Traceback (most recent call last):",
            '  File "deploy.py", line 12, in <module>',
            "    upload(bucket)",
            "PermissionError: access denied",
            "##[error]Process completed with exit code 1.",
            "Post job cleanup.",
        ]
    )
)

LOGS = {
    "pytest": PYTEST,
    "jest": JEST,
    "cargo": CARGO,
    "make": MAKE,
    "maven": MAVEN,
    "go": GO,
    "npm": NPM,
    "actions": ACTIONS,
}


class Tallying:
    """A counter of four tokens a line that remembers what it was asked to count, and takes a token more for each line
    that stands below another."""

    name = "tallying"
    exact = True

    def __init__(self) -> None:
        self.lengths: list[int] = []

    def count(self, text: str) -> int:
        self.lengths.append(len(text))
        return max(0, 5 * text.count("\n") - 1)

    def count_many(self, texts: Iterable[str]) -> list[int]:
        return [self.count(text) for text in texts]


def among(log: str, before: int = 400, after: int = 200) -> str:
    """A log between many routine lines that all differ."""
    words = ("started", "loaded", "sent", "read", "stored", "closed", "opened")
    told = [f"{words[number % 7]} item {words[number % 5]}-{number:x}" for number in range(before + after)]
    return "".join(line + "\n" for line in [*told[:before], *log.rstrip("\n").split("\n"), *told[before:]])


def pruned(folder: Path, log: str | bytes, budget: int, query: str = "") -> Outcome[Any]:
    """The outcome of the kind on a log."""
    path = folder / "some.log"
    path.write_bytes(log if isinstance(log, bytes) else log.encode("utf-8", "surrogatepass"))
    settings = replace_values(Settings(), {"log": {"max_tokens": budget}})
    kind, inputs = LogKind(), {"path": str(path), "query": query}
    return kind.decide(kind.read(inputs, settings, Environment()), inputs, settings)


def verbatim(outcome: Outcome[Any]) -> list[str]:
    """The lines that go out and are lines of the log."""
    mark = outcome.payload.log.mark + " "
    return [line for line in outcome.payload.text.split("\n")[:-1] if not line.startswith(mark)]
