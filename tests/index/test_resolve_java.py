"""Java: receivers through fields, results and elements, and which overload a call means."""

from __future__ import annotations

from secateur.index.graph.resolve.edges import TRUSTED, CallCounts, EdgeKind
from secateur.index.graph.resolve.linking import link_repository
from sources import parsed, repository

PRICES = """
    package shop;

    import java.util.*;

    public class Cart extends Base implements Priced {
      final List<Line> lines = new ArrayList<>();
      Map<String, Line> named;
      Priced priced;

      Cart() {}

      Cart(int size) {
        this.resize(size);
      }

      Cart add(Line line) { return this; }
      Cart add(String name, Object... more) { return this; }
      String put(int count) { return ""; }
      String put(Line line) { return ""; }
      String put(String name) { return ""; }
      String put(Object any) { return ""; }
      Line at(int index) { return null; }
      String at(String name, int index) { return ""; }

      static Cart of(String text) {
        return new Cart(1);
      }

      void text(String text) {}

      void resize(int size) {}
    }
    """
FILES = {
    "shop/Cart.java": PRICES,
    "shop/Base.java": (
        """
        package shop;

        abstract class Base {
          String text() { return null; }
          abstract Line first();
          static class Inner {
            void go() {}
          }
        }
        """
    ),
    "shop/Line.java": (
        "package shop;\n\nclass Line implements Priced {\n  public int price() { return 1; }\n  boolean gone() { return"
        " false; }\n}\n"
    ),
    "shop/Priced.java": "package shop;\n\npublic interface Priced {\n  int price();\n}\n",
    "shop/Kind.java": (
        """
        package shop;

        enum Kind {
          FIRST {
            @Override
            void run() { stop(); }
          },
          LAST;

          void run() {}
          void stop() {}
        }
        """
    ),
}


def calls(body: str) -> dict[str, str]:
    text = (
        "package shop;\n\nimport java.util.*;\n\nclass Use extends Base {\n  void use(Cart cart, Object any, Kind"
        f" kind) {{\n{body}\n  }}\n}}\n"
    )
    repo = repository({**FILES, "shop/Use.java": text})
    return {
        b.rpartition("::")[2]: rule
        for (a, b), (rule, confidence) in repo.found().items()
        if a == "shop/Use.java::Use.use" and confidence >= TRUSTED
    }


def overloads_called(body: str) -> list[str]:
    """The parameters of what is called for certain in Cart: overloads share a name."""
    text = f"package shop;\n\nclass Use {{\n  void use(Cart cart, Object any, Line line) {{\n{body}\n  }}\n}}\n"
    files = parsed({**FILES, "shop/Use.java": text})
    edges, _ = link_repository(files)
    fragments = [(path, fragment) for path, facts in files for fragment in facts.fragments]
    rows = zip(
        edges.source.tolist(), edges.target.tolist(), edges.confidence.tolist(), edges.kind.tolist(), strict=True
    )
    found = [
        fragments[b]
        for a, b, confidence, kind in rows
        if fragments[a][1].name == "use" and kind == EdgeKind.CALLS and confidence >= TRUSTED
    ]
    source = FILES["shop/Cart.java"].splitlines()
    return [
        source[fragment.sig_start - 1].strip().partition("(")[2].partition(")")[0]
        for path, fragment in found
        if path == "shop/Cart.java"
    ]


def test_fields_results_elements_and_casts_say_what_a_receiver_is() -> None:
    assert calls("cart.lines.get(0).gone();") == {"Line.gone": "annotation"}
    assert calls('cart.named.get("a").gone();') == {"Line.gone": "annotation"}
    assert calls("for (var line : cart.lines) line.gone();") == {"Line.gone": "annotation"}
    assert calls("cart.lines.forEach(line -> line.gone());") == {"Line.gone": "annotation"}
    assert calls("((Line) any).gone();") == {"Line.gone": "annotation"}
    assert calls("if (any instanceof Line line && line.gone()) {}") == {"Line.gone": "annotation"}
    assert calls("var line = cart.at(1); line.gone();") == {"Cart.at": "annotation", "Line.gone": "annotation"}
    assert calls('Cart.of("a").add(null).lines.iterator().next().gone();') == {
        "Cart.of": "package",
        "Cart.add": "annotation",
        "Line.gone": "annotation",
    }
    assert calls("cart.priced.price();") == {"Priced": "annotation", "Line.price": "implementation"}
    assert calls("new Inner().go(); first().gone();") == {
        "Base": "same_scope",
        "Base.Inner": "constructor",
        "Base.Inner.go": "annotation",
        "Line.gone": "annotation",
    }


def test_arguments_tell_overloads_apart() -> None:
    assert overloads_called("cart.put(1);") == ["int count"]
    assert overloads_called('cart.put("a" + 1);') == ["String name"]
    assert overloads_called("cart.put(line);") == ["Line line"]
    assert overloads_called("cart.put(any);") == ["Object any"]
    assert overloads_called('cart.add("a", 1, 2);') == ["String name, Object... more"]
    assert overloads_called("cart.add(line);") == ["Line line"]
    assert overloads_called("cart.put(somewhere());") == []  # four fit as well as each other: none is trusted
    assert overloads_called('cart.text("a");') == ["String text"]


def test_an_overload_of_a_base_class_is_found_behind_one_of_the_own() -> None:
    assert calls("cart.text();") == {"Base.text": "annotation"}
    assert calls('cart.text("a");') == {"Cart.text": "annotation"}


def test_a_call_in_a_class_without_a_name_means_what_that_class_extends() -> None:
    assert calls("new Cart() { void x() { resize(1); text(); } };") == {
        "Cart": "constructor",
        "Cart.Cart": "constructor",
        "Cart.resize": "self_mro",
        "Base.text": "self_mro",
    }


def test_methods_of_an_enum_constant_are_not_those_of_the_enum() -> None:
    repo = repository(FILES)
    assert repo.calls("shop/Kind.java::Kind.FIRST.run") == {"shop/Kind.java::Kind.stop": "same_scope"}
    assert calls("kind.run();") == {"Kind.run": "annotation"}


def test_the_name_of_the_own_class_is_its_constructor() -> None:
    repo = repository(FILES)
    assert repo.calls("shop/Cart.java::Cart.of") == {
        "shop/Cart.java::Cart": "constructor",
        "shop/Cart.java::Cart.Cart": "constructor",
    }


def test_a_name_no_scope_knows_may_come_from_a_static_import_of_a_library() -> None:
    repo = repository(
        {"A.java": "import static org.junit.Assert.*;\n\nclass A {\n  void a() {\n    assertTrue(true);\n  }\n}\n"}
    )
    assert repo.counts == CallCounts(sites=1, external=1)
