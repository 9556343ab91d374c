"""Reading SCIP: the wire format, what names mean, and the call graph with an index laid over."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scip_files import chunk, document, implements, index, number, occurrence, place_of, varint
from secateur.config import with_values
from secateur.engine import Engine
from secateur.index.graph import scip
from secateur.index.graph.resolve import How
from secateur.index.graph.resolve.calls import IMPLEMENTATIONS
from secateur.index.graph.scip import ScipDamaged, ScipIndex, documents
from secateur.settings import Settings

SHOP = "class Cart:\n    def stow(self):\n        pass\n\n    def drop(self):\n        pass\n\ndef total():\n    pass\n"
APP = (
    "from shop import total\n\ndef run(cart, other):\n    cart.stow()\n    other.drop()\n    total()\n\ndef"
    " unknown(x):\n    x.launch()\n"
)
CART, ADD, DROP, TOTAL = (f"s p shop 1 `shop`/{name}" for name in ("Cart#", "Cart#stow().", "Cart#drop().", "total()."))


def shop() -> bytes:
    places = [("Cart", CART), ("stow", ADD), ("drop", DROP), ("total", TOTAL)]
    return document("shop.py", *(occurrence(place_of(SHOP, name), symbol, 1) for name, symbol in places))


def app(text: str = APP) -> bytes:
    return document(
        "app.py",
        occurrence(place_of(text, "run"), "s p shop 1 `app`/run().", 1),
        occurrence(place_of(text, "stow"), ADD),
        occurrence(place_of(text, "drop"), "s p elsewhere 1 `x`/drop()."),
    )


def read(*parts: bytes) -> ScipIndex:
    return ScipIndex(documents(index(*parts)))


# --- the wire format --------------------------------------------------------------------------------------------------


def test_documents_and_occurrences_are_read_and_the_rest_is_skipped() -> None:
    extra = chunk(9, b"later") + varint(10 << 3 | 1) + bytes(8) + varint(11 << 3 | 5) + bytes(4) + number(12, 1 << 63)
    (found,) = documents(
        index(chunk(2, chunk(1, b"a.py") + occurrence((3, 4, 3, 9), "s p n 1 x().", 9) + extra)) + extra
    )
    (one,) = found.occurrences
    assert (found.path, one.line, one.start, one.end, one.symbol, one.defines) == (
        "a.py",
        3,
        4,
        9,
        b"s p n 1 x().",
        True,
    )


@pytest.mark.parametrize("place", [(1,), (1, 2, 3, 4), (1, 5, 4), (1, 2, 3, 4, 5), (1 << 40, 0, 1), ()])
def test_an_occurrence_that_is_no_name_of_one_line_is_left_out(place: tuple[int, ...]) -> None:
    (found,) = documents(index(document("a.py", occurrence(place, "s p n 1 x()."))))
    assert found.occurrences == ()


@pytest.mark.parametrize(
    "data",
    [
        b"\x12",  # no length
        b"\x12\x05ab",  # a length behind the end
        b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",  # a number that does not end
        b"\x80",
        b"\x0b",  # a group
        b"\x09\x00",  # half a number
        chunk(2, chunk(2, b"\x0a\x7f")),  # damaged inside
        b"PK\x03\x04 this is a zip file",
    ],
)
def test_what_is_no_index_is_told(data: bytes) -> None:
    with pytest.raises(ScipDamaged):
        list(documents(data))


@given(st.binary(max_size=60), st.integers(0, 200))
def test_damage_anywhere_is_told_or_harmless(noise: bytes, at: int) -> None:
    whole = index(shop(), app())
    for data in (whole[:at] + noise + whole[at:], whole[: len(whole) - at], noise):
        try:
            found = ScipIndex(documents(data))
        except ScipDamaged:
            continue
        for path in found.documents:
            found.agrees(path, SHOP.split("\n"))
            found.references(path, SHOP.split("\n"))


# --- what names mean --------------------------------------------------------------------------------------------------


def test_a_document_agrees_only_with_the_text_it_was_made_from() -> None:
    found = read(shop())
    assert found.agrees("shop.py", SHOP.split("\n"))
    for other in (
        "\n" + SHOP,
        SHOP.replace("drop", "lose"),
        SHOP.replace("drop", "droplet"),
        SHOP.replace("    def stow", "  def stow"),
        "",
    ):
        assert not found.agrees("shop.py", other.split("\n"))


@pytest.mark.parametrize(
    ("encoding", "unit"), [(0, "utf-16-le"), (0, "utf-8"), (1, "utf-8"), (2, "utf-16-le"), (3, "utf-32-le")]
)
def test_columns_count_what_the_index_says_or_what_fits(encoding: int, unit: str) -> None:
    text = 'def f(): pass\nx = "订𝒞"; f()\n'
    width = {"utf-8": 1, "utf-16-le": 2, "utf-32-le": 4}[unit]
    start = len('x = "订𝒞"; '.encode(unit)) // width
    found = read(
        document(
            "a.py",
            occurrence((0, 4, 5), "s p n 1 f().", 1),
            occurrence((1, start, start + 1), "s p n 1 f()."),
            encoding=encoding,
        )
    )
    assert found.agrees("a.py", text.split("\n"))
    assert found.references("a.py", text.split("\n"))[2, "f"].places == (("a.py", 1),)


def test_members_that_only_name_a_definition_lead_to_it_and_circles_end() -> None:
    text = "const f = 1\nexport default { f }\nx.f()\n"
    found = read(
        document(
            "a.js",
            occurrence((0, 6, 7), "s p n 1 f.", 1),
            occurrence((1, 17, 18), "s p n 1 f0:", 1),
            occurrence((1, 17, 18), "s p n 1 f."),
            occurrence((0, 6, 7), "s p n 1 f0:"),
            occurrence((2, 2, 3), "s p n 1 f0:"),
        )
    )
    assert {place[1] for place in found.references("a.js", text.split("\n"))[3, "f"].places} <= {1, 2}


def test_members_that_all_name_one_another_are_followed_in_a_moment() -> None:
    symbols = [f"s p n 1 f{number}:" for number in range(200)]
    place = (0, 0, 1)
    found = read(
        document(
            "a.js",
            *(occurrence(place, symbol, roles) for roles in (1, 0) for symbol in symbols),
            occurrence((1, 0, 1), symbols[0]),
        )
    )
    assert found.references("a.js", ["f", "f"])[2, "f"].places == (("a.js", 1),)


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("s p n 1 `a`/Cart#stow().", "stow"),
        ("s p n 1 `a`/Cart#stow(+1).", ""),
        ("s p n 1 `a`/Cart#stow(a1).", "stow"),
        ("s p n 1 `a`/Cart#", "Cart"),
        ("s p n 1 `a`/$x_9.", "$x_9"),
        ("s p n 1 `a`/9x9.", "x9"),
        ("s p n 1 `a`/f().(x)", ""),
        ("local 3", ""),
        ("", ""),
    ],
)
def test_the_name_at_the_end_of_a_symbol(symbol: str, name: str) -> None:
    assert scip._plain_name(symbol.encode()) == name


def test_names_of_any_length_are_found_in_linear_time() -> None:
    symbols = (
        b"a" * 4_000_000,
        b"a(" * 2_000_000 + b").",
        b"(" * 4_000_000 + b").",
        b"a." * 2_000_000 + b"b",
        b"a" * 4_000_000 + b".",
    )
    assert [len(scip._plain_name(symbol)) for symbol in symbols] == [0, 1, 0, 0, 4_000_000]


def test_symbols_that_no_indexer_writes_are_passed_over() -> None:
    long = "s p n 1 " + "x" * scip.LONGEST_SYMBOL + "()."
    found = list(
        documents(
            index(
                document(
                    "a.py", occurrence((0, 0, 1), long, 1), occurrence((0, 2, 3), TOTAL, 1), implements(long, TOTAL)
                )
            )
        )
    )
    assert [(len(one.occurrences), one.implements) for one in found] == [(1, ())]


@pytest.mark.parametrize(
    "parts",
    [
        [document("a.py"), document("b.py"), document("c.py"), document("d.py")],
        [document("a.py", *(occurrence((line, 0, 1), TOTAL) for line in range(4)))],
        [
            document(
                "a.py", implements(ADD, DROP), implements(DROP, ADD), implements(ADD, TOTAL), implements(TOTAL, ADD)
            )
        ],
        [document("a.py", chunk(3, chunk(4, b"") * 4))],
    ],
)
def test_an_index_of_too_many_entries_is_told(monkeypatch: pytest.MonkeyPatch, parts: list[bytes]) -> None:
    monkeypatch.setattr(scip, "MOST_ENTRIES", 3)
    with pytest.raises(ScipDamaged, match="more than 3 documents, occurrences and relations"):
        read(*parts)


def test_places_of_one_symbol_and_what_implements_one_are_bounded() -> None:
    many = [
        document(f"{number}.py", occurrence((0, 0, 1), TOTAL, 1), implements(f"s p n 1 f{number}().", ADD))
        for number in range(200)
    ]
    found = read(
        *many, *(document(f"f{number}.py", occurrence((0, 0, 1), f"s p n 1 f{number}().", 1)) for number in range(200))
    )
    assert len(found.definitions("0.py", TOTAL.encode())) == 64
    assert len(found._meaning("0.py", (ADD.encode(),)).below) == 64


def test_names_on_endless_lines_are_not_looked_at() -> None:
    lines = ["total" + " " * scip.LONGEST_LINE, "total"]
    found = read(
        document("a.py", occurrence((0, 0, 5), TOTAL), occurrence((1, 0, 5), TOTAL, 1), occurrence((0, 0, 4), TOTAL, 1))
    )
    assert found.agrees("a.py", lines)
    assert found.references("a.py", lines) == {}


def test_what_the_indexer_could_not_resolve_says_nothing() -> None:
    text = "x.f()\ny.g()\nz.h()\nq()\n"
    found = read(
        shop(),
        document(
            "a.py",
            occurrence((0, 2, 3), "local 4"),
            occurrence((1, 2, 3), "s p shop 1 `missing`/g()."),
            occurrence((2, 2, 3), "s p other 1 `there`/h()."),
            occurrence((3, 0, 1), "scip-python p other 1 `there`/other()."),
        ),
    )
    meanings = found.references("a.py", text.split("\n"))
    assert {name: meaning.places for (_, name), meaning in meanings.items()} == {"h": ()}


# --- laid over the call graph -----------------------------------------------------------------------------------------


def folder(tmp_path: Path, scip: bytes | None) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "shop.py").write_text(SHOP)
    (root / "app.py").write_text(APP)
    if scip is not None:
        (root / "index.scip").write_bytes(scip)
    return root


def calls(engine: Engine) -> dict[tuple[str, str], How]:
    engine.refresh()
    snapshot = engine._current()
    graph = snapshot.graph
    rows = [row for row in range(graph.node_count) for _ in range(graph.indptr[row], graph.indptr[row + 1])]
    ends = zip(rows, graph.indices.tolist(), graph.kind.tolist(), graph.how.tolist(), strict=True)
    return {(snapshot.symbol_id(a), snapshot.symbol_id(b)): How(how) for a, b, kind, how in ends if kind == 0}


def opened(root: Path, tmp_path: Path, settings: Settings | None = None) -> Engine:
    return Engine.open(root, settings, cache_dir=tmp_path / "cache")


RUN, RESOLVED = "app.py::run", {("app.py::run", "shop.py::total"): How.IMPORT}
GUESSED = {(RUN, "shop.py::Cart.stow"): How.UNIQUE_NAME, (RUN, "shop.py::Cart.drop"): How.UNIQUE_NAME}


def test_an_index_decides_the_calls_it_knows_and_leaves_the_rest(tmp_path: Path) -> None:
    with opened(folder(tmp_path, index(shop(), app())), tmp_path) as engine:
        assert calls(engine) == {(RUN, "shop.py::Cart.stow"): How.SCIP, **RESOLVED}  # `drop` is known to be elsewhere
        assert engine.refresh().notices == ()
    with opened(tmp_path / "repo", tmp_path) as again:  # from what the first process kept
        assert calls(again) == {(RUN, "shop.py::Cart.stow"): How.SCIP, **RESOLVED}


def test_a_class_that_is_called_runs_its_constructor(tmp_path: Path) -> None:
    root = folder(tmp_path, None)
    source = "class A:\n    def __init__(self):\n        pass\n\ndef f(k):\n    k()\n"
    (root / "a.py").write_text(source)
    found = document(
        "a.py", occurrence(place_of(source, "A"), "s p n 1 A#", 1), occurrence(place_of(source, "k", 1), "s p n 1 A#")
    )
    (root / "index.scip").write_bytes(index(found))
    with opened(root, tmp_path) as engine:
        assert {pair for pair, how in calls(engine).items() if how is How.SCIP} == {
            ("a.py::f", "a.py::A"),
            ("a.py::f", "a.py::A.__init__"),
        }


def test_what_implements_a_method_is_followed_where_it_is_alone(tmp_path: Path) -> None:
    root = folder(tmp_path, None)
    source = (
        "interface Priced {\n  price(): number;\n}\nclass Line implements Priced {\n  price() {\n    return 1;\n "
        " }\n}\nfunction f(x: any) {\n  x.price();\n}\n"
    )
    (root / "a.ts").write_text(source)
    found = document(
        "a.ts",
        occurrence(place_of(source, "price"), "s p n 1 Priced#price().", 1),
        occurrence(place_of(source, "price", 1), "s p n 1 Line#price().", 1),
        occurrence(place_of(source, "price", 2), "s p n 1 Priced#price()."),
        implements("s p n 1 Line#price().", "s p n 1 Priced#price()."),
    )
    (root / "index.scip").write_bytes(index(found))
    with opened(root, tmp_path) as engine:
        assert {pair for pair, how in calls(engine).items() if how is How.SCIP} == {
            ("a.ts::f", "a.ts::Priced"),
            ("a.ts::f", "a.ts::Line.price"),
        }


def test_of_a_widely_implemented_method_some_are_followed(tmp_path: Path) -> None:
    root = folder(tmp_path, None)
    lines = "".join(
        f"class Line{number} implements Priced {{\n  price() {{\n    return {number};\n  }}\n}}\n"
        for number in range(40)
    )
    source = f"interface Priced {{\n  price(): number;\n}}\nfunction f(x: any) {{\n  x.price();\n}}\n{lines}"
    (root / "a.ts").write_text(source)
    parts = [
        occurrence(place_of(source, "price", number + 2), f"s p n 1 Line{number}#price().", 1) for number in range(40)
    ]
    parts += [implements(f"s p n 1 Line{number}#price().", "s p n 1 Priced#price().") for number in range(40)]
    declared = (
        occurrence(place_of(source, "price"), "s p n 1 Priced#price().", 1),
        occurrence(place_of(source, "price", 1), "s p n 1 Priced#price()."),
    )
    (root / "index.scip").write_bytes(index(document("a.ts", *declared, *parts)))
    with opened(root, tmp_path) as engine:
        found = {pair[1] for pair, how in calls(engine).items() if how is How.SCIP}
        assert found == {"a.ts::Priced", *(f"a.ts::Line{number}.price" for number in range(IMPLEMENTATIONS))}


def test_files_that_changed_are_left_as_they_are_and_counted(tmp_path: Path) -> None:
    root = folder(tmp_path, index(shop(), app()))
    with opened(root, tmp_path) as engine:
        before = engine.refresh().snapshot
        (root / "app.py").write_text("# moved\n" + APP)
        assert calls(engine) == {**RESOLVED, **GUESSED}
        status = engine.refresh()
        assert status.snapshot != before
        assert status.notices == (
            "index.scip: 1 of 2 files changed since it was made; their calls are resolved without it",
        )
        (root / "app.py").write_text(APP)
        (root / "shop.py").write_text("# moved\n" + SHOP)  # where `stow` is now, the index does not know
        assert calls(engine) == {(RUN, "shop.py::Cart.stow"): How.UNIQUE_NAME, **RESOLVED}


def test_the_index_is_part_of_what_a_snapshot_is_called(tmp_path: Path) -> None:
    root = folder(tmp_path, None)
    with opened(root, tmp_path) as engine:
        without = engine.refresh().snapshot
        (root / "index.scip").write_bytes(index(shop(), app()))
        laid = engine.refresh().snapshot
        (root / "index.scip").write_bytes(index(shop()))
        less = engine.refresh().snapshot
        assert calls(engine) == {**RESOLVED, **GUESSED}
        (root / "index.scip").unlink()
        assert len({without, laid, less}) == 3
        assert engine.refresh().snapshot == without


@pytest.mark.parametrize("data", [b"\x12\x05ab", b"PK\x03\x04 this is a zip file", b"\x0b" * 40])
def test_an_index_that_cannot_be_read_is_a_notice(tmp_path: Path, data: bytes) -> None:
    with opened(folder(tmp_path, data), tmp_path) as engine:
        assert calls(engine) == {**RESOLVED, **GUESSED}
        assert all("index.scip: not a SCIP index" in notice for notice in engine.refresh().notices)


def test_an_index_is_read_only_below_the_folder_and_never_through_a_link(tmp_path: Path) -> None:
    root = folder(tmp_path, None)
    (tmp_path / "outside.scip").write_bytes(index(shop(), app()))
    (root / "index.scip").symlink_to(tmp_path / "outside.scip")
    settings = Settings()
    with opened(root, tmp_path) as engine:
        assert calls(engine) == {**RESOLVED, **GUESSED}
        status = engine.refresh()
        assert "no regular file of the folder" in status.notices[0]
        (root / "index.scip").rename(root / "old.scip")
        (root / "index.scip").symlink_to(tmp_path)
        (root / "old.scip").unlink()
        assert engine.refresh().snapshot == status.snapshot  # the same folder to a reader
    with opened(root, tmp_path, with_values(settings, {"index.scip": "../outside.scip"})) as engine:
        assert calls(engine) == {**RESOLVED, **GUESSED}
    with opened(root, tmp_path, with_values(settings, {"index.scip": ""})) as engine:
        assert (calls(engine), engine.refresh().notices) == ({**RESOLVED, **GUESSED}, ())
