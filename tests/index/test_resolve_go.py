"""Go: what receivers are, told by declared types, results, block scopes and embedding."""

from __future__ import annotations

from sources import Repository, repository

SHOP = """
    package shop

    type Priced interface {
        Price() Money
    }

    type Money struct{ cents int }

    func (m Money) Round() Money { return m }

    type Cart struct {
        *Base
        lines []*Line
        byName map[string]Line
        pick func() *Line
        Named Priced
    }

    type Base struct{}

    func (b *Base) Lock() {}

    type Line struct{}

    func (l *Line) Price() Money { return Money{} }

    type Lines []Line

    type Basket = Cart

    func NewCart() (*Cart, error) { return nil, nil }

    func split() (int, *Line) { return 0, nil }

    func First[T any](of []T) *Line { return nil }

    var shared, _ = NewCart()
    """


def calls(body: str, *, other: str = "") -> dict[str, str]:
    repo: Repository = repository(
        {
            "shop/shop.go": SHOP,
            "shop/use.go": (
                f"package shop\n\n{other}\nfunc use(cart *Cart, xs Lines, p Priced, anything any) {{\n{body}\n}}\n"
            ),
        }
    )
    return {name.removeprefix("shop/shop.go::"): rule for name, rule in repo.calls("shop/use.go::use").items()}


def test_what_a_variable_was_made_from_says_what_it_is() -> None:
    assert calls("made, err := NewCart()\n_ = err.Error()\nmade.Lock()") == {
        "NewCart": "package",
        "Base.Lock": "annotation",
    }
    assert calls("n, line := split()\nn.Price()\nline.Price()") == {"split": "package", "Line.Price": "annotation"}
    assert calls("line := First[int](nil)\nline.Price()") == {"First": "package", "Line.Price": "annotation"}
    assert calls("line := new(Line)\nline.Price().Round()") == {"Line.Price": "annotation", "Money.Round": "annotation"}
    assert calls("shared.Lock()") == {"Base.Lock": "annotation"}


def test_elements_of_slices_maps_channels_and_named_containers() -> None:
    assert calls("for _, line := range cart.lines {\nline.Price()\n}") == {"Line.Price": "annotation"}
    assert calls('cart.byName["a"].Price()') == {"Line.Price": "annotation"}
    assert calls("for _, x := range xs {\nx.Price()\n}\nxs[0].Price()") == {"Line.Price": "annotation"}
    assert calls("queue := make(chan *Line)\nnext := <-queue\nnext.Price()") == {"Line.Price": "annotation"}
    assert calls("for _, t := range []struct{ of *Line }{} {\nt.of.Price()\n}") == {"Line.Price": "annotation"}
    assert calls("for i := range xs {\ni.Price()\n}") == {
        "Line.Price": "unique_name"
    }  # an index: a guess by name is all that is left


def test_a_name_means_what_its_innermost_block_says() -> None:
    body = """
    if cart := (Money{}); true {
        cart.Round()
    }
    cart.Lock()
    """
    assert calls(body) == {"Money": "constructor", "Money.Round": "annotation", "Base.Lock": "annotation"}
    body = """
    switch x := anything.(type) {
    case *Cart:
        x.Lock()
    case Money:
        x.Round()
    }
    anything.(*Line).Price()
    """
    assert calls(body) == {"Base.Lock": "annotation", "Money.Round": "annotation", "Line.Price": "annotation"}


def test_a_local_function_hides_the_one_of_the_package() -> None:
    assert calls("split := func() {}\nsplit()") == {}
    assert calls("cart.pick().Price()") == {"Line.Price": "annotation"}


def test_a_method_an_interface_declares_is_the_interface() -> None:
    assert calls("p.Price().Round()") == {"Priced": "annotation", "Money.Round": "annotation"}
    assert calls("cart.Named.Price()") == {"Priced": "annotation"}


def test_an_alias_is_what_it_stands_for() -> None:
    assert calls("var basket Basket\nbasket.Lock()\nbasket.Base.Lock()") == {"Base.Lock": "annotation"}
