"""Python: scopes, self and the method resolution order, imports and re-exports, declared types."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from secateur.index.graph.resolve.edges import TRUSTED, CallCounts, EdgeKind
from secateur.index.graph.resolve.expressions import Expressions
from secateur.index.graph.resolve.names import Names, symbols_of
from secateur.languages.syntax.fragments import parse_file
from sources import parsed, repository

SHOP = {
    "shop/__init__.py": "from .cart import Cart as Basket\nfrom .prices import *\n",
    "shop/base.py": (
        """
        class Store:
            def load(self, key):
                return self.open(key)

            def open(self, key):
                raise NotImplementedError
        """
    ),
    "shop/prices.py": (
        """
        def total(lines):
            return sum(lines)
        """
    ),
    "shop/cart.py": (
        """
        from . import prices
        from .base import Store

        class Cart(Store):
            def __init__(self, gateway: "Gateway"):
                self.gateway = gateway
                self.mirror = Mirror()

            def open(self, key):
                return super().load(key)

            def pay(self):
                self.load("x")
                self.gateway.charge(prices.total([1]))
                self.mirror.reflect()
                helper()
                print("done")

            @property
            def bank(self) -> "Gateway":
                return self.gateway

        class Mirror:
            def reflect(self):
                pass

        class Gateway:
            def charge(self, amount):
                pass

        def helper():
            pass
        """
    ),
    "app.py": (
        """
        import shop
        import shop.prices
        import requests
        from shop import Basket, total

        def main(cart: Basket):
            shop.prices.total([])
            total([])
            made = Basket(None)
            made.pay()
            cart.bank.charge(1)
            shop.Basket(None)
            requests.get("x").json()
        """
    ),
}


def test_every_receiver_that_can_be_known_is_followed() -> None:
    repo = repository(SHOP)
    pay = repo.calls("shop/cart.py::Cart.pay")
    assert pay == {
        "shop/base.py::Store.load": "self_mro",
        "shop/cart.py::Gateway.charge": "annotation",
        "shop/prices.py::total": "import",
        "shop/cart.py::Mirror.reflect": "annotation",
        "shop/cart.py::helper": "same_scope",
    }
    assert repo.calls("shop/cart.py::Cart.open") == {"shop/base.py::Store.load": "super"}
    assert repo.calls("shop/cart.py::Cart.__init__") == {"shop/cart.py::Mirror": "constructor"}


def test_aliases_reexports_and_star_imports_lead_to_the_definition() -> None:
    main = repository(SHOP).calls("app.py::main")
    assert main == {
        "shop/prices.py::total": "import",
        "shop/cart.py::Cart": "constructor",
        "shop/cart.py::Cart.__init__": "constructor",
        "shop/cart.py::Cart.pay": "annotation",
        "shop/cart.py::Gateway.charge": "annotation",
    }


def test_an_override_below_the_called_method_is_kept_but_not_trusted() -> None:
    found = repository(SHOP).found()
    assert found["shop/base.py::Store.load", "shop/base.py::Store.open"] == ("same_scope", 980)
    rule, confidence = found["shop/base.py::Store.load", "shop/cart.py::Cart.open"]
    assert rule == "override"
    assert confidence < TRUSTED


def test_inheritance_and_imports_are_edges_of_their_own() -> None:
    repo = repository(SHOP)
    assert repo.found(EdgeKind.INHERITS) == {("shop/cart.py::Cart", "shop/base.py::Store"): ("import", 960)}
    imports = {target for (source, target) in repo.found(EdgeKind.IMPORTS) if source.startswith("app.py")}
    assert {"shop/cart.py::Cart", "shop/prices.py::total"} <= imports


def test_counts_tell_external_from_unresolved_and_guessed() -> None:
    repo = repository(
        {
            "a.py": (
                """
                import os
                class Box:
                    def frobnicate(self): pass
                    def update(self): pass
                def f(x, cb):
                    os.getcwd()      # external: imported from outside
                    len(x)           # external: builtin
                    cb()             # unresolved: a parameter
                    x.frobnicate()   # guessed: the only definition of that name
                    x.update()       # unresolved: any dict has it
                    f(x, cb)         # resolved: itself, and no edge
                """
            )
        }
    )
    assert repo.counts == CallCounts(sites=6, resolved=1, guessed=1, external=2)
    rule, confidence = repo.found()["a.py::f", "a.py::Box.frobnicate"]
    assert (rule, confidence < TRUSTED) == ("unique_name", True)


def test_a_module_of_the_same_name_elsewhere_does_not_shadow_the_standard_library() -> None:
    repo = repository(
        {"examples/json.py": "def dumps(x):\n    pass\n", "src/app.py": "import json\ndef f():\n    json.dumps(1)\n"}
    )
    assert repo.calls("src/app.py::f") == {}
    assert repo.counts.external == 1


def test_tests_beside_a_src_layout_find_the_package() -> None:
    repo = repository(
        {
            "src/orders/money.py": "def cents(x):\n    pass\n",
            "tests/test_money.py": "from orders.money import cents\ndef test_it():\n    cents(1)\n",
        }
    )
    assert repo.calls("tests/test_money.py::test_it") == {"src/orders/money.py::cents": "import"}


def test_diamonds_follow_the_linearisation() -> None:
    repo = repository(
        {
            "d.py": (
                """
                class A:
                    def who(self): pass
                class B(A): pass
                class C(A):
                    def who(self): pass
                class D(B, C):
                    def ask(self):
                        self.who()
                """
            )
        }
    )
    assert repo.calls("d.py::D.ask") == {"d.py::C.who": "self_mro"}


def test_cycles_of_imports_and_bases_end() -> None:
    repo = repository(
        {
            "a.py": (
                "from b import x\nfrom b import *\nclass P(Q): pass\nclass Q(P):\n    def m(self):\n       "
                " self.n()\ndef f():\n    x()\n    y()\n"
            ),
            "b.py": "from a import x\nfrom a import *\n",
        }
    )
    assert len(repo.found()) == 0
    assert repo.counts.sites == 3


def test_call_sites_of_one_edge_are_counted_up_to_the_cap() -> None:
    body = "".join(f"    g({n})\n" for n in range(300))
    edges = repository({"a.py": f"def g(x):\n    pass\n\ndef f():\n{body}"}).edges
    assert edges.count.tolist() == [255]


TYPES = {
    "shop/cart.py": (
        """
        from __future__ import annotations

        from collections.abc import Callable, Iterator
        from contextlib import contextmanager
        from typing import Self, TypeVar

        C = TypeVar("C", bound="Cart")

        class Line:
            def price(self): pass

        class Cart:
            lines: list[Line]
            by_name: dict[str, Line]
            line_class = Line
            rounding: Callable[[int], Line]

            def add(self) -> Self:
                return self

            def tagged(self):
                self.tag = 1
                return self

            def first(self):
                return self.lines[0]

            @property
            def last(self) -> Line | None:
                return None

            def __iter__(self) -> Iterator[Line]:
                return iter(self.lines)

            def __call__(self): pass

            def copy(self: C) -> C: pass

        class Basket(Cart):
            def empty(self): pass

        Alias = Cart

        def make(big: bool):
            cart = Cart()
            cart.add()
            return cart

        def find() -> "Basket | None": pass

        @contextmanager
        def opened() -> Iterator[Cart]:
            yield Cart()
        """
    )
}


def test_an_iterator_that_gives_itself_ends_the_search() -> None:
    source = """
        class Walk:
            def __iter__(self):
                return self

            def step(self): pass

        def make():
            return Walk()

        def f():
            for walk in make():
                walk.step()
            make()[0].step()
            make().step()
        """
    assert repository({"walk.py": source}).calls("walk.py::f")["walk.py::Walk.step"]


def calls_in(body: str) -> dict[str, str]:
    """Calls of a function with that body, of the repository TYPES."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    repo = repository(
        {**TYPES, "app.py": "from shop import cart as c\nfrom shop.cart import *\ndef f(p, q):\n" + lines}
    )
    return {target.removeprefix("shop/cart.py::"): rule for target, rule in repo.calls("app.py::f").items()}


@pytest.mark.parametrize(
    ("body", "method"),
    [
        ("make(True).add()", "Cart.add"),  # what a function is seen to return
        ("x = c.make(1)\nx.add()", "Cart.add"),
        ("find().empty()", "Basket.empty"),  # what it is declared to return
        ("find().add().empty()", "Basket.empty"),  # Self is the class it is called on
        ("find().tagged().empty()", "Basket.empty"),
        ("find().copy().empty()", "Basket.empty"),
        ("Cart().first().price()", "Line.price"),
        ("Cart().last.price()", "Line.price"),
        ("for line in make(1).lines:\n    line.price()", "Line.price"),
        ("for i, line in enumerate(Cart()):\n    line.price()", "Line.price"),
        ("for name, line in Cart().by_name.items():\n    line.price()", "Line.price"),
        ("[line.price() for line in sorted(Cart().lines) if line]", "Line.price"),
        ("Cart().by_name['x'].price()", "Line.price"),
        ("with opened() as cart:\n    cart.add()", "Cart.add"),
        ("if isinstance(p, Cart) and q:\n    p.add()", "Cart.add"),
        ("return isinstance(p, Cart) and p.add()", "Cart.add"),
        ("if not isinstance(p, c.Cart):\n    return\np.add()", "Cart.add"),
        ("assert isinstance(p, Cart)\np.add()", "Cart.add"),
        ("if (cart := find()):\n    cart.empty()", "Basket.empty"),
        ("Cart().line_class().price()", "Line.price"),
        ("Cart().rounding(1).price()", "Line.price"),
        ("Alias().add()", "Cart.add"),
        ("kind = Cart\nkind().add()", "Cart.add"),
        ("cart = Cart()\ncart()", "Cart.__call__"),
        ("p = p or Cart()\np.add()", "Cart.add"),
        ("x: Cart = p\nx = q\nx.add()", "Cart.add"),
        ("x = Cart()\nx = q\nx.add()", ""),
        ("x = y = Cart()\nx, y = y, 1\nx.add()", "Cart.add"),
        ("g = lambda p: p.add()\nCart()", ""),
    ],
)
def test_values_are_followed_through_what_they_come_from(body: str, method: str) -> None:
    found = {target for target, rule in calls_in(body).items() if rule not in ("unique_name", "ambiguous")}
    assert (method in found) if method else not found & {"Cart.add", "Cart.__call__"}


def test_a_name_of_a_function_hides_the_one_outside() -> None:
    source = """
        def send(): pass
        def wrap(send):
            send()
        def inner():
            def send(): pass
            send()
        def later():
            for send in []:
                send()
        def plain():
            send()
        """
    repo = repository({"a.py": source})
    assert [name for name in ("wrap", "inner", "later", "plain") if repo.calls(f"a.py::{name}")] == ["plain"]


def test_a_class_inside_a_function_is_not_the_class_around_it() -> None:
    source = """
        class Outer:
            def ask(self): pass
            def run(self):
                class Inner:
                    def go(self):
                        self.ask()
                self.ask
        """
    _, confidence = repository({"a.py": source}).found()["a.py::Outer.run", "a.py::Outer.ask"]
    assert confidence < TRUSTED


def test_values_made_of_themselves_stay_short() -> None:
    lines = "".join(f"    x = x()\n    y = y[0]\n    z = z.{'m' * 50}\n    x.g(); y.g(); z.g()\n" for _ in range(300))
    facts = parsed({"a.py": f"def f(x: A, y: list[A], z: A):\n{lines}"})[0][1]
    assert max(len(call.receiver) for call in facts.calls) < 250


def test_decorators_are_called() -> None:
    repo = repository({"a.py": "def traced(f): pass\ndef named(n): pass\n@traced\n@named('x')\ndef run(): pass\n"})
    assert repo.calls("a.py::run") == {"a.py::traced": "same_scope", "a.py::named": "same_scope"}


@pytest.mark.parametrize("seed", ["1", "2"])
def test_edges_do_not_depend_on_the_hash_seed(seed: str) -> None:
    program = (
        "from test_resolve_python import SHOP\nfrom sources import repository\ne = repository(SHOP).edges\n"
        "print([c.tolist() for c in (e.source, e.target, e.kind, e.confidence, e.how, e.count)])"
    )
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    ran = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent,
        env=environment,
    )
    edges = repository(SHOP).edges
    columns = (edges.source, edges.target, edges.kind, edges.confidence, edges.how, edges.count)
    assert ran.stdout.strip() == str([column.tolist() for column in columns])


def test_what_an_expression_is_does_not_depend_on_what_was_asked_before() -> None:
    chain = "".join(f"v{number} = v{number + 1}\n" for number in range(14))
    text = f"class Cart:\n    def weigh(self):\n        return 1\n\n\n{chain}v14 = Cart()\n"
    files = [("shop.py", parse_file("shop.py", text.encode()))]
    asked = [f"v{number}" for number in range(15)]
    orders = (asked, asked[::-1], asked[7:] + asked[:7])
    answers = []
    for order in orders:
        expressions = Expressions(Names(symbols_of(files)))
        found = {name: expressions.value(0, -1, name) for name in order}
        answers.append([found[name] for name in asked])
    assert answers[0] == answers[1] == answers[2]
    assert answers[0][14][0] is not None
    assert answers[0][0][0] is None


def test_modules_below_many_folders_take_room_for_each_folder_not_for_each_pair() -> None:
    deep = "/".join(["d"] * 500)
    files = [
        (path, parse_file(path, text.encode()))
        for path, text in (
            (f"{deep}/money.py", "def cents(x):\n    pass\n"),
            (f"{deep}/app.py", "from d.d.money import cents\n\n\ndef f():\n    return cents(1)\n"),
        )
    ]
    tracemalloc.start()
    names = Names(symbols_of(files))
    module = names.resolve_import(1, files[1][1].imports[0])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert module is not None
    assert most < 10_000_000  # each pair of a folder and one above it: 50 MB
