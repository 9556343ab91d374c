"""Python: scopes, self and the method resolution order, imports and re-exports, declared types."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from secateur.index.resolve import TRUSTED, EdgeKind
from sources import repository

SHOP = {
    "shop/__init__.py": "from .cart import Cart as Basket\nfrom .prices import *\n",
    "shop/base.py": """
        class Store:
            def load(self, key):
                return self.open(key)

            def open(self, key):
                raise NotImplementedError
        """,
    "shop/prices.py": """
        def total(lines):
            return sum(lines)
        """,
    "shop/cart.py": """
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
        """,
    "app.py": """
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
        """,
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
            "a.py": """
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
        }
    )
    counts = repo.edges.calls["python"]
    assert (counts.sites, counts.resolved, counts.guessed, counts.external, counts.unresolved) == (6, 1, 1, 2, 2)
    rule, confidence = repo.found()["a.py::f", "a.py::Box.frobnicate"]
    assert (rule, confidence < TRUSTED) == ("unique_name", True)


def test_a_module_of_the_same_name_elsewhere_does_not_shadow_the_standard_library() -> None:
    repo = repository({"examples/json.py": "def dumps(x):\n    pass\n", "src/app.py": "import json\ndef f():\n    json.dumps(1)\n"})
    assert repo.calls("src/app.py::f") == {}
    assert repo.edges.external == 1


def test_tests_beside_a_src_layout_find_the_package() -> None:
    repo = repository(
        {"src/orders/money.py": "def cents(x):\n    pass\n", "tests/test_money.py": "from orders.money import cents\ndef test_it():\n    cents(1)\n"}
    )
    assert repo.calls("tests/test_money.py::test_it") == {"src/orders/money.py::cents": "import"}


def test_diamonds_follow_the_linearisation() -> None:
    repo = repository(
        {
            "d.py": """
                class A:
                    def who(self): pass
                class B(A): pass
                class C(A):
                    def who(self): pass
                class D(B, C):
                    def ask(self):
                        self.who()
                """
        }
    )
    assert repo.calls("d.py::D.ask") == {"d.py::C.who": "self_mro"}


def test_cycles_of_imports_and_bases_end() -> None:
    repo = repository(
        {
            "a.py": "from b import x\nfrom b import *\nclass P(Q): pass\nclass Q(P):\n    def m(self):\n        self.n()\ndef f():\n    x()\n    y()\n",
            "b.py": "from a import x\nfrom a import *\n",
        }
    )
    assert len(repo.found()) == 0
    assert repo.edges.call_sites == 3


def test_call_sites_of_one_edge_are_counted_up_to_the_cap() -> None:
    body = "".join(f"    g({n})\n" for n in range(300))
    edges = repository({"a.py": f"def g(x):\n    pass\n\ndef f():\n{body}"}).edges
    assert edges.count.tolist() == [255]


@pytest.mark.parametrize("seed", ["1", "2"])
def test_edges_do_not_depend_on_the_hash_seed(seed: str) -> None:
    program = (
        "from test_resolve_python import SHOP\nfrom sources import repository\ne = repository(SHOP).edges\n"
        "print([c.tolist() for c in (e.source, e.target, e.kind, e.confidence, e.how, e.count)])"
    )
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, cwd=Path(__file__).parent, env=environment)
    edges = repository(SHOP).edges
    columns = (edges.source, edges.target, edges.kind, edges.confidence, edges.how, edges.count)
    assert ran.stdout.strip() == str([column.tolist() for column in columns])
