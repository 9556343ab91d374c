"""Rust: implementation blocks wherever they stand, paths, patterns, traits, and what options, results and pointers
hold."""

from __future__ import annotations

from secateur.index.graph.resolve.edges import TRUSTED, EdgeKind
from sources import repository

FILES = {
    "crates/shop/src/lib.rs": (
        """
        mod cart;
        pub mod rate;
        pub use cart::{Cart, Line};
        use rate::Rate;

        #[macro_export]
        macro_rules! checked {
            ($x:expr) => { $x };
        }
        """
    ),
    "crates/shop/src/cart.rs": (
        """
        use std::{collections::HashMap, sync::Arc};
        use crate::Rate;

        pub struct Cart {
            pub lines: Vec<Line>,
            pub named: HashMap<String, Arc<Line>>,
            pub rate: Option<Box<dyn Priced>>,
        }

        pub struct Line(Money);

        pub struct Money;

        pub enum Event {
            Sold(Line),
            Gone { cart: Cart },
        }

        pub trait Priced {
            fn price(&self) -> Money;
            fn twice(&self) -> Money {
                self.price()
            }
        }

        impl Cart {
            pub fn new() -> Self {
                Self { lines: vec![], named: HashMap::new(), rate: None }
            }
            pub fn first(&self) -> Option<&Line> {
                self.lines.first()
            }
            pub fn lines(self, n: usize) -> Self {
                self
            }
        }

        impl Line {
            pub fn weigh(&self) -> Result<Money, ()> {
                Ok(Money)
            }
        }

        impl Money {
            pub fn round(self) {}
        }
        """
    ),
    "crates/shop/src/rate.rs": (
        """
        use super::cart::{Cart, Line, Priced};

        pub struct Rate;

        impl Cart {
            pub fn rated(&self) {}
        }

        impl Priced for Line {
            fn price(&self) -> Money {
                todo!()
            }
        }
        """
    ),
}


def calls(body: str, *, outside: str = "") -> dict[str, str]:
    imports = "use acme_shop::{Cart, Line};\nuse acme_shop::cart::{Event::{self, *}, Priced};\n"
    text = f"{imports}{outside}\nfn run(cart: &mut Cart, event: Event) {{\n{body}\n}}\n"
    repo = repository({**FILES, "crates/app/src/main.rs": text})
    return {
        b.rpartition("::")[2]: rule
        for (a, b), (rule, confidence) in repo.found().items()
        if a == "crates/app/src/main.rs::run" and confidence >= TRUSTED
    }


def test_fields_options_and_containers_lead_to_what_they_hold() -> None:
    assert calls("cart.lines[0].weigh()?.round();") == {"Line.weigh": "annotation", "Money.round": "annotation"}
    assert calls('cart.named.get("a").unwrap().weigh();') == {"Line.weigh": "annotation"}
    assert calls("cart.lines.iter().map(|line| line.weigh());") == {"Line.weigh": "annotation"}
    assert calls("for (at, line) in cart.lines.iter().enumerate() { line.weigh(); }") == {"Line.weigh": "annotation"}
    assert calls("let line = Some(cart.first().cloned());\nline.weigh();") == {
        "Cart.first": "annotation",
        "Line.weigh": "annotation",
    }
    assert calls("Cart::new().lines(1).lines(2).rated();") == {
        "Cart.new": "import",
        "Cart.lines": "annotation",
        "Cart.rated": "annotation",
    }


def test_patterns_bind_what_they_take_apart() -> None:
    assert calls("if let Some(line) = cart.first() { line.weigh(); }") == {
        "Cart.first": "annotation",
        "Line.weigh": "annotation",
    }
    assert calls("match event { Event::Sold(line) => line.weigh(), Event::Gone { cart: left } => left.rated(), }") == {
        "Line.weigh": "annotation",
        "Cart.rated": "annotation",
    }
    assert calls("let Cart { lines, .. } = cart;\nlines[0].weigh();") == {"Line.weigh": "annotation"}
    assert calls("let Line(money) = cart.first();\nmoney.round();") == {
        "Cart.first": "annotation",
        "Money.round": "annotation",
    }


def test_a_block_belongs_to_its_type_in_another_file() -> None:
    repo = repository(FILES)
    assert calls("cart.rated();") == {"Cart.rated": "annotation"}
    assert ("crates/shop/src/cart.rs::Line", "crates/shop/src/cart.rs::Priced") in repo.found(EdgeKind.INHERITS)


def test_what_a_trait_only_declares_is_the_trait_and_its_only_implementation() -> None:
    assert calls("cart.rate.unwrap().price();") == {"Priced": "annotation", "Line.price": "implementation"}
    assert calls("cart.rate.as_ref().unwrap().twice();") == {"Priced.twice": "annotation"}
    assert calls("with(cart);", outside="fn with<T: Priced>(item: T) { item.twice(); }") == {"with": "same_scope"}
    repo = repository(
        {
            **FILES,
            "crates/app/src/main.rs": (
                "use acme_shop::cart::Priced;\n\nfn with<T>(item: &T) where T: Priced + Send {\n    item.twice();\n}\n"
            ),
        }
    )
    assert repo.calls("crates/app/src/main.rs::with") == {"crates/shop/src/cart.rs::Priced.twice": "annotation"}


def test_a_name_means_what_its_innermost_block_says() -> None:
    body = "let x = Cart::new();\n{ let x = cart.first(); x.weigh(); }\nx.rated();"
    assert calls(body) == {
        "Cart.new": "import",
        "Cart.first": "annotation",
        "Line.weigh": "annotation",
        "Cart.rated": "annotation",
    }
    assert calls("let with = |x| x;\nwith(1);", outside="fn with(n: u8) {}") == {}


def test_modules_inside_a_file_know_their_own_functions_and_those_around() -> None:
    text = """
        use acme_shop::Cart;
        fn outer() {}
        mod tests {
            use super::*;
            fn helper() -> Cart {}
            fn works() {
                helper().rated();
                outer();
            }
        }
        """
    repo = repository({**FILES, "crates/app/src/main.rs": text})
    assert repo.calls("crates/app/src/main.rs::tests.works") == {
        "crates/app/src/main.rs::tests.helper": "same_scope",
        "crates/app/src/main.rs::outer": "same_scope",
        "crates/shop/src/rate.rs::Cart.rated": "annotation",
    }


def test_macros_and_the_closures_among_their_tokens() -> None:
    assert calls("checked!(1); println!();") == {"checked": "linkage"}
    assert calls("checked!(|given: Line| { given.weigh(); });") == {"checked": "linkage", "Line.weigh": "annotation"}


def test_a_variant_that_is_called_is_its_enum() -> None:
    assert calls("Event::Sold(x);") == {"Event": "import"}
    assert calls("Sold(y);") == {"Event": "constructor"}


def test_a_parameter_of_a_struct_is_what_its_blocks_demand() -> None:
    text = """
        use acme_shop::cart::Priced;
        struct Till<P = ()> { of: P }
        impl<P> Till<P> where P: Priced {
            fn ring(&self) { self.of.twice(); }
        }
        """
    repo = repository({**FILES, "crates/app/src/main.rs": text})
    assert repo.calls("crates/app/src/main.rs::Till.ring") == {"crates/shop/src/cart.rs::Priced.twice": "annotation"}


def test_tests_beside_a_crate_import_it_by_a_name_no_folder_has() -> None:
    files = {path.removeprefix("crates/shop/"): text for path, text in FILES.items()}
    use = (
        "use acme_store::Cart;\nuse serde::de::Cart as Other;\nfn run() {\n    Cart::new().rated();\n   "
        " Other::new();\n}\n"
    )
    repo = repository({**files, "tests/buys.rs": use})
    assert repo.calls("tests/buys.rs::run") == {
        "src/cart.rs::Cart.new": "import",
        "src/rate.rs::Cart.rated": "annotation",
    }
