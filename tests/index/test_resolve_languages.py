"""The other languages: modules as each of them knows them."""

from __future__ import annotations

import pytest
from secateur.index.graph.resolve.edges import TRUSTED, CallCounts, EdgeKind
from secateur.model import Annotation, Base, Call, FileFacts, Fragment, FragmentKind, Import
from sources import from_facts, repository


def test_typescript_barrels_defaults_and_interfaces() -> None:
    repo = repository(
        {
            "src/model/index.ts": """
                export * from './card.js';
                export { rank as place } from './rank';
                """,
            "src/model/card.ts": """
                export class Card {
                  constructor(title: string) {
                  }
                  move() {
                    return this.title();
                  }
                  title() {
                    return 1;
                  }
                }
                """,
            "src/model/rank.ts": """
                export function rank() {
                  return 1;
                }
                """,
            "src/store.ts": """
                export default class Store {
                  save() {
                    return 1;
                  }
                }
                """,
            "src/app.ts": """
                import Shop from './store';
                import * as model from './model';
                import { Card, place } from '@/model';
                export function run(card: Card) {
                  place();
                  model.rank();
                  new Card('x');
                  card.move();
                  const shop = new Shop();
                  shop.save();
                  JSON.parse('x');
                }
                """,
        }
    )
    assert repo.calls("src/app.ts::run") == {
        "src/model/rank.ts::rank": "import",
        "src/model/card.ts::Card": "constructor",
        "src/model/card.ts::Card.constructor": "constructor",
        "src/model/card.ts::Card.move": "annotation",
        "src/store.ts::Store": "constructor",
        "src/store.ts::Store.save": "annotation",
    }
    assert repo.calls("src/model/card.ts::Card.move") == {"src/model/card.ts::Card.title": "same_scope"}
    assert repo.counts.external == 1


def test_commonjs_modules_and_their_default() -> None:
    repo = repository(
        {
            "lib/queue.js": """
                class Queue {
                  push() {
                    return 1
                  }
                }
                module.exports = Queue
                """,
            "lib/util.js": """
                function pad() {
                  return 1
                }
                module.exports = { pad }
                """,
            "index.js": """
                const Queue = require('./lib/queue')
                const util = require('./lib/util')
                function run() {
                  new Queue()
                  util.pad()
                }
                """,
        }
    )
    assert set(repo.calls("index.js::run")) == {"lib/queue.js::Queue", "lib/util.js::pad"}


def test_go_packages_are_directories_and_the_module_path_is_inferred() -> None:
    repo = repository(
        {
            "internal/route/route.go": """
                package route

                type Route struct {
                    name string
                }

                func New() *Route {
                    return helper()
                }
                """,
            "internal/route/methods.go": """
                package route

                func (r *Route) Plan() {
                    r.step()
                }

                func (r *Route) step() {
                }

                func helper() *Route {
                    return nil
                }
                """,
            "cmd/main.go": """
                package main

                import (
                    "fmt"
                    "example.com/courier/internal/route"
                )

                func run(r *route.Route) {
                    route.New()
                    r.Plan()
                    fmt.Println()
                }
                """,
        }
    )
    assert repo.calls("cmd/main.go::run") == {
        "internal/route/route.go::New": "import",
        "internal/route/methods.go::Route.Plan": "annotation",
    }
    assert "internal/route/methods.go::helper" in repo.calls("internal/route/route.go::New")
    assert repo.calls("internal/route/methods.go::Route.Plan") == {
        "internal/route/methods.go::Route.step": "annotation"
    }
    assert repo.counts.external == 1


def test_java_packages_interfaces_and_fields() -> None:
    repo = repository(
        {
            "src/com/acme/Gateway.java": """
                package com.acme;

                public interface Gateway {
                  void charge(int cents);
                }
                """,
            "src/com/acme/card/Card.java": """
                package com.acme.card;

                import com.acme.Gateway;

                public class Card implements Gateway {
                  public void charge(int cents) {
                    log();
                  }
                  private void log() {
                    return;
                  }
                }
                """,
            "src/com/acme/Shop.java": """
                package com.acme;

                public class Shop {
                  private Gateway gateway;

                  void pay() {
                    gateway.charge(1);
                    Till.open();
                    System.exit(1);
                  }
                }
                """,
            "src/com/acme/Till.java": """
                package com.acme;

                class Till {
                  static void open() {
                    return;
                  }
                }
                """,
        }
    )
    pay = repo.found()
    assert pay["src/com/acme/Shop.java::Shop.pay", "src/com/acme/card/Card.java::Card.charge"][0] == "implementation"
    assert pay["src/com/acme/Shop.java::Shop.pay", "src/com/acme/Till.java::Till.open"][0] == "package"
    assert repo.calls("src/com/acme/card/Card.java::Card.charge") == {
        "src/com/acme/card/Card.java::Card.log": "same_scope"
    }
    assert ("src/com/acme/card/Card.java::Card", "src/com/acme/Gateway.java::Gateway") in repo.found(EdgeKind.INHERITS)


# --- by hand: the rules of languages with few of their own ------------------------------------------------------------


def fragment(kind: FragmentKind, qualname: str, line: int, parent: int = -1) -> Fragment:
    return Fragment(kind, qualname.rpartition(".")[2], qualname, line, line + 3, line, line, parent)


REGION = fragment(FragmentKind.REGION, "", 1)


def test_rust_paths_from_the_crate_the_parent_and_another_crate() -> None:
    files = [
        (
            "crates/order-book/src/lib.rs",
            FileFacts("rust", (REGION,), imports=(Import("Order", "order", "Order", exported=True),)),
        ),
        (
            "crates/order-book/src/order.rs",
            FileFacts(
                "rust", (fragment(FragmentKind.CLASS, "Order", 1), fragment(FragmentKind.METHOD, "Order.new", 5, 0))
            ),
        ),
        (
            "crates/order-book/src/match/engine.rs",
            FileFacts(
                "rust",
                (REGION, fragment(FragmentKind.FUNCTION, "run", 5)),
                calls=(Call(1, "new", "Order", 6), Call(1, "help", "super::help", 7), Call(1, "new", "Vec", 8)),
                imports=(Import("Order", "crate::order", "Order"),),
            ),
        ),
        ("crates/order-book/src/match/help.rs", FileFacts("rust", (fragment(FragmentKind.FUNCTION, "help", 1),))),
        (
            "crates/cli/src/main.rs",
            FileFacts(
                "rust",
                (fragment(FragmentKind.FUNCTION, "main", 1),),
                calls=(Call(0, "new", "Order", 2),),
                imports=(Import("Order", "order_book", "Order"),),
            ),
        ),
    ]
    repo = from_facts(files)
    assert (
        repo.calls("crates/order-book/src/match/engine.rs::run")["crates/order-book/src/order.rs::Order.new"]
        == "import"
    )
    assert repo.calls("crates/cli/src/main.rs::main") == {"crates/order-book/src/order.rs::Order.new": "import"}
    assert repo.counts.external == 1


def test_c_links_by_name_and_prefers_the_own_folder() -> None:
    files = [
        (
            "a/main.c",
            FileFacts(
                "c",
                (fragment(FragmentKind.FUNCTION, "main", 1),),
                calls=(Call(0, "start", "", 2), Call(0, "only", "", 3), Call(0, "printf", "", 4)),
            ),
        ),
        ("a/start.c", FileFacts("c", (fragment(FragmentKind.FUNCTION, "start", 1),))),
        (
            "b/start.c",
            FileFacts("c", (fragment(FragmentKind.FUNCTION, "start", 1), fragment(FragmentKind.FUNCTION, "only", 9))),
        ),
    ]
    repo = from_facts(files)
    assert repo.calls("a/main.c::main") == {"a/start.c::start": "linkage", "b/start.c::only": "linkage"}
    assert repo.counts.external == 1


def test_cpp_namespaces_and_overloads_link() -> None:
    overloads = (
        fragment(FragmentKind.FUNCTION, "fmt.detail.put", 1),
        fragment(FragmentKind.FUNCTION, "fmt.detail.put", 5),
        fragment(FragmentKind.FUNCTION, "other.put", 9),
    )
    files = [
        ("include/fmt.h", FileFacts("cpp", overloads)),
        (
            "src/main.cc",
            FileFacts(
                "cpp",
                (fragment(FragmentKind.FUNCTION, "main", 1),),
                calls=(Call(0, "put", "detail", 2), Call(0, "put", "absent", 3)),
            ),
        ),
    ]
    repo = from_facts(files)
    assert repo.found() == {("src/main.cc::main", "include/fmt.h::fmt.detail.put"): ("linkage", 700)}
    assert (len(repo.edges), repo.counts) == (2, CallCounts(sites=2, resolved=1))


def test_methods_written_outside_their_class_belong_to_it() -> None:
    files = [
        ("cart.h", FileFacts("cpp", (fragment(FragmentKind.CLASS, "Cart", 1),))),
        (
            "cart.cpp",
            FileFacts(
                "cpp",
                (fragment(FragmentKind.METHOD, "Cart.total", 1), fragment(FragmentKind.METHOD, "Cart.add", 9)),
                calls=(Call(0, "add", "this", 2), Call(0, "add", "", 3)),
            ),
        ),
    ]
    assert from_facts(files).calls("cart.cpp::Cart.total") == {"cart.cpp::Cart.add": "same_scope"}


def test_a_function_inside_the_calling_function_comes_before_one_of_the_file() -> None:
    fragments = (
        fragment(FragmentKind.FUNCTION, "outer", 1),
        fragment(FragmentKind.FUNCTION, "outer.helper", 5),
        fragment(FragmentKind.FUNCTION, "helper", 9),
        fragment(FragmentKind.FUNCTION, "other", 13),
    )
    repo = from_facts(
        [
            (
                "a.js",
                FileFacts(
                    "javascript",
                    fragments,
                    calls=(Call(0, "helper", "", 2), Call(1, "helper", "", 6), Call(3, "helper", "", 14)),
                ),
            )
        ]
    )
    assert repo.calls("a.js::outer") == {"a.js::outer.helper": "same_scope"}
    assert repo.calls("a.js::other") == {"a.js::helper": "same_scope"}


@pytest.mark.parametrize(
    ("language", "own", "package", "files"),
    [("rust", "self", "", 1), ("csharp", "this", "Acme", 2), ("ruby", "self", "", 2)],
)
def test_a_class_written_in_parts_is_one_class(language: str, own: str, package: str, files: int) -> None:
    first = (fragment(FragmentKind.CLASS, "Cart", 1), fragment(FragmentKind.METHOD, "Cart.total", 5, 0))
    second = (fragment(FragmentKind.CLASS, "Cart", 11), fragment(FragmentKind.METHOD, "Cart.add", 15, 0))
    if files == 1:
        moved = Fragment(**{name: getattr(second[1], name) for name in Fragment.__slots__} | {"parent": 2})
        repo = from_facts(
            [
                (
                    "a",
                    FileFacts(
                        language,
                        (*first, second[0], moved),
                        calls=(Call(1, "add", own, 6), Call(3, "total", own, 16)),
                    ),
                )
            ]
        )
        assert repo.calls("a::Cart.total") == {"a::Cart.add": "same_scope"}
        assert repo.calls("a::Cart.add") == {"a::Cart.total": "same_scope"}
    else:
        repo = from_facts(
            [
                ("a", FileFacts(language, first, calls=(Call(1, "add", own, 6),), package=package)),
                ("b", FileFacts(language, second, calls=(Call(1, "total", own, 16),), package=package)),
            ]
        )
        assert repo.calls("a::Cart.total") == {"b::Cart.add": "same_scope"}
        assert repo.calls("b::Cart.add") == {"a::Cart.total": "same_scope"}


def test_ruby_constants_instance_variables_and_new() -> None:
    files = [
        (
            "cart.rb",
            FileFacts(
                "ruby",
                (
                    fragment(FragmentKind.CLASS, "Cart", 1),
                    fragment(FragmentKind.METHOD, "Cart.initialize", 5, 0),
                    fragment(FragmentKind.METHOD, "Cart.tally", 9, 0),
                ),
            ),
        ),
        (
            "shop.rb",
            FileFacts(
                "ruby",
                (fragment(FragmentKind.CLASS, "Shop", 1), fragment(FragmentKind.METHOD, "Shop.run", 5, 0)),
                calls=(Call(1, "new", "Cart", 6), Call(1, "tally", "@cart", 7)),
                annotations=(Annotation(1, "@cart", "Cart"),),
            ),
        ),
    ]
    assert from_facts(files).calls("shop.rb::Shop.run") == {
        "cart.rb::Cart": "constructor",
        "cart.rb::Cart.initialize": "constructor",
        "cart.rb::Cart.tally": "annotation",
    }


def test_php_namespaces_this_and_parent() -> None:
    files = [
        (
            "Base.php",
            FileFacts(
                "php",
                (fragment(FragmentKind.CLASS, "Base", 1), fragment(FragmentKind.METHOD, "Base.boot", 5, 0)),
                package="Acme\\Core",
            ),
        ),
        (
            "Kernel.php",
            FileFacts(
                "php",
                (
                    fragment(FragmentKind.CLASS, "Kernel", 1),
                    fragment(FragmentKind.METHOD, "Kernel.boot", 5, 0),
                    fragment(FragmentKind.METHOD, "Kernel.run", 9, 0),
                ),
                calls=(Call(1, "boot", "parent", 6), Call(2, "boot", "$this", 10)),
                imports=(Import("Base", "Acme\\Core", "Base"),),
                bases=(Base(0, "Base"),),
                package="Acme",
            ),
        ),
    ]
    repo = from_facts(files)
    assert repo.calls("Kernel.php::Kernel.boot") == {"Base.php::Base.boot": "super"}
    assert repo.calls("Kernel.php::Kernel.run") == {"Kernel.php::Kernel.boot": "same_scope"}


@pytest.mark.parametrize(
    "language", ["python", "typescript", "go", "java", "rust", "c", "csharp", "php", "ruby", "text", "klingon"]
)
def test_facts_that_contradict_themselves_yield_no_edge_and_no_error(language: str) -> None:
    hostile = FileFacts(
        language,
        (fragment(FragmentKind.CLASS, "A", 1), fragment(FragmentKind.METHOD, "A.m", 5, 0)),
        calls=(
            Call(99, "x", "", 1),
            Call(-5, "x", "", 1),
            Call(1, "", "..", 1),
            Call(1, "m", "A" * 5000 + "()", 1),
            Call(1, "\x00", "\udc80.y", 1),
        ),
        imports=(
            Import("", "", ""),
            Import("a", "../../../..", "*"),
            Import("b", ".", "b"),
            Import("c", "::::", "super"),
            Import("A", "", "A", 90),
        ),
        bases=(Base(0, "A"), Base(0, "A.A"), Base(77, "B"), Base(0, "")),
        annotations=(
            Annotation(88, "x", "y"),
            Annotation(1, "", ""),
            Annotation(0, "self.", "A"),
            Annotation(1, "x", "x"),
        ),
        package="..",
    )
    repo = from_facts([("a/b", hostile), ("", hostile), ("a/b", hostile)])
    assert (repo.edges.confidence < TRUSTED).all() or len(repo.edges) < 10


def test_deep_hierarchies_and_long_chains_of_reexports_are_bounded() -> None:
    depth = 1500
    classes = tuple(fragment(FragmentKind.CLASS, f"C{n}", 4 * n + 1) for n in range(depth))
    chain = FileFacts(
        "python",
        (*classes, fragment(FragmentKind.METHOD, f"C{depth - 1}.m", 4 * depth, depth - 1)),
        bases=tuple(Base(n, f"C{n - 1}") for n in range(1, depth)),
    )
    chained = FileFacts("python", chain.fragments, calls=(Call(depth, "gone", "self", 1),), bases=chain.bases)
    crossed = tuple(Base(n, f"C{n + 1}.X") for n in range(depth - 1))
    types = tuple(Annotation(n, "f", f"C{n + 1}.f") for n in range(depth - 1))
    tangled = FileFacts(
        "python", chain.fragments, calls=(Call(depth, "gone", "C0.f.f", 1),), bases=crossed, annotations=types
    )
    assert len(from_facts([("tangled.py", tangled)]).found()) == 0
    links = [
        (f"m{n}.py", FileFacts("python", (REGION,), imports=(Import("x", f"m{n + 1}", "x"),))) for n in range(depth)
    ]
    repo = from_facts([("chain.py", chained), *links])
    assert len(repo.found(EdgeKind.INHERITS)) == depth - 1
    assert len(repo.found()) == 0


def test_scala_is_resolved_by_packages_imports_and_names() -> None:
    repo = repository(
        {
            "orders/Cart.scala": """
                package com.acme
                package orders

                import com.acme.money.{Money, round => rounded}

                class Cart(lines: List[Int]) extends Priced {
                  def total: Money = { check(); this.sum() }
                  def sum(): Money = rounded(lines.sum)
                  private def check(): Unit = println("checked")
                }

                object Cart {
                  def apply(n: Int): Cart = new Cart(List(n))
                }
                """,
            "orders/Priced.scala": """
                package com.acme.orders

                trait Priced:
                  def label(): String = Cart(1).toString
                """,
            "money/package.scala": """
                package com.acme.money

                class Money
                def round(n: Int): Money = new Money
                """,
        }
    )
    assert repo.calls("orders/Cart.scala::Cart.total") == {
        "orders/Cart.scala::Cart.check": "same_scope",
        "orders/Cart.scala::Cart.sum": "same_scope",
    }
    assert repo.calls("orders/Cart.scala::Cart.sum") == {"money/package.scala::round": "import"}
    assert repo.calls("orders/Cart.scala::Cart.check") == {}
    assert repo.calls("orders/Priced.scala::Priced.label").keys() >= {"orders/Cart.scala::Cart.apply"}
    assert repo.found(EdgeKind.INHERITS).keys() == {("orders/Cart.scala::Cart", "orders/Priced.scala::Priced")}


@pytest.mark.parametrize(
    ("extension", "caller", "callee"),
    [
        ("kt", "package a\nfun settle() {\n    charge(1)\n}\n", "package a\nfun charge(n: Int) {\n}\n"),
        ("swift", "func settle() {\n    charge(1)\n}\n", "func charge(_ n: Int) {\n}\n"),
        ("dart", "void settle() {\n  charge(1);\n}\n", "void charge(int n) {\n}\n"),
        ("lua", "function settle()\n  charge(1)\nend\n", "function charge(n)\nend\n"),
        ("sh", "settle() {\n  charge 1\n}\n", "charge() {\n  true\n}\n"),
    ],
)
def test_languages_known_by_names_call_across_files(extension: str, caller: str, callee: str) -> None:
    repo = repository({f"a.{extension}": caller, f"b.{extension}": callee})
    assert repo.calls(f"a.{extension}::settle").keys() == {f"b.{extension}::charge"}


def test_elixir_calls_the_function_of_a_module() -> None:
    repo = repository(
        {
            "a.ex": "defmodule Shop.Cart do\n  def settle(n) do\n    Money.charge(n)\n  end\nend\n",
            "b.ex": "defmodule Shop.Money do\n  def charge(n) do\n    n\n  end\nend\n",
        }
    )
    assert repo.calls("a.ex::Shop.Cart.settle").keys() == {"b.ex::Shop.Money.charge"}


def test_a_component_calls_what_its_script_and_its_imports_have() -> None:
    repo = repository(
        {
            "src/Cart.vue": (
                "<script setup>\nimport { format } from './money'\nfunction apply() {\n  format(1)\n}\n</script>\n"
                '<template>\n<p @click="apply">{{ format(2) }}</p>\n</template>\n'
            ),
            "src/money.ts": "export function format(n: number) {\n  return n\n}\n",
        }
    )
    assert repo.calls("src/Cart.vue::apply").keys() == {"src/money.ts::format"}
    assert repo.calls("src/Cart.vue::").keys() == {"src/money.ts::format", "src/Cart.vue::apply"}


def test_templates_call_the_language_they_are_made_for() -> None:
    repo = repository(
        {
            "Services/Basket.cs": """
                namespace Shop.Services;
                public class Basket
                {
                    public int Total()
                    {
                        return 1;
                    }
                }
                """,
            "Other/Order.cs": """
                namespace Shop.Other;
                public class Order
                {
                    public int Total()
                    {
                        return 1;
                    }
                }
                """,
            "Pages/_Imports.razor": """
                @using Shop.Services
                """,
            "Reports/GlobalUsings.cs": """
                global using Shop.Services;
                """,
            "Reports/Daily/Report.cs": """
                namespace Shop.Reports;
                public class Report
                {
                    public int Print(Basket basket)
                    {
                        return basket.Total();
                    }
                }
                """,
            "Pages/Cart.razor": """
                @inject Basket Basket
                <button @onclick="Save">@Basket.Total()</button>
                @code {
                    private void Save()
                    {
                        Basket.Total();
                    }
                }
                """,
            "app/helpers.php": """
                <?php
                function price($order)
                {
                    return 1;
                }
                """,
            "views/orders.blade.php": """
                <p>{{ price($order) }}</p>
                """,
            "app/helpers/cart_helper.rb": """
                module CartHelper
                  def badge(cart)
                    1
                  end
                end
                """,
            "app/views/cart.html.erb": """
                <p><%= badge(cart) %></p>
                """,
            "static/cart.js": """
                function toggleRow(id) {
                  return id;
                }
                """,
            "static/cart.html": """
                <a onclick="toggleRow(1)">Cart</a>
                """,
        }
    )
    total = {"Services/Basket.cs::Basket.Total": "annotation"}
    assert repo.calls("Reports/Daily/Report.cs::Report.Print") == total
    assert repo.calls("Pages/Cart.razor::Save") == total
    assert repo.calls("Pages/Cart.razor::") == {**total, "Pages/Cart.razor::Save": "same_scope"}
    assert repo.calls("views/orders.blade.php::") == {"app/helpers.php::price": "linkage"}
    assert set(repo.calls("app/views/cart.html.erb::")) == {"app/helpers/cart_helper.rb::CartHelper.badge"}
    assert set(repo.calls("static/cart.html::")) == {"static/cart.js::toggleRow"}
