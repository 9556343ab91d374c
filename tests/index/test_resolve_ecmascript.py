"""JavaScript and TypeScript: modules and their defaults, classes and interfaces, declared types and what values come
from."""

from __future__ import annotations

import pytest
from secateur.index.graph.resolve.edges import TRUSTED
from sources import repository

SHOP = {
    "src/cart.ts": (
        """
        export interface Priced {
          price(): number;
          owner: Owner;
        }
        export class Line implements Priced {
          owner = new Owner();
          price() {
            return 1;
          }
        }
        export class Owner {
          greet() {
            return 1;
          }
        }
        export class Cart<T extends Line = Line> {
          lines: Line[] = [];
          byName = new Map<string, Line>();
          #last?: Line;
          constructor(private readonly buyer: Owner, title: string) {
            this.title = make(title);
          }
          add(): this {
            return this;
          }
          get last() {
            return this.#last;
          }
          named(): Map<string, Line> {
            return this.byName;
          }
          each(line: T) {
            line.price();
          }
          ask() {
            const self = this;
            [1].map(() => this.buyer.greet());
            [1].map(function () {
              return this.ask2();
            });
            self.ask2();
          }
          ask2() {
            return 1;
          }
        }
        export class Basket extends Cart {
          empty() {
            return 1;
          }
        }
        export type Alias = Basket;
        export function make(title: string) {
          const cart = new Basket(new Owner(), title);
          cart.add();
          return cart;
        }
        export async function load(): Promise<Basket | undefined> {
          return undefined;
        }
        export const rate = (cart: Cart): Owner => cart.buyer;
        export const shared = new Basket(new Owner(), "");
        """
    )
}


def calls_in(body: str) -> dict[str, str]:
    """Calls of a function with that body, of the repository SHOP."""
    lines = "".join(f"  {line}\n" for line in body.splitlines())
    header = (
        "import * as c from './cart';\nimport { Alias, Basket, Cart, Line, Owner, Priced, load, make, rate, shared }"
        " from './cart';\n"
    )
    repo = repository({**SHOP, "src/app.ts": header + "export function f(p: any, q: any) {\n" + lines + "}\n"})
    return {target.removeprefix("src/cart.ts::"): rule for target, rule in repo.calls("src/app.ts::f").items()}


@pytest.mark.parametrize(
    ("body", "method"),
    [
        ("make('x').empty();", "Basket.empty"),  # what a function is seen to return
        ("const cart = c.make('x');\ncart.empty();", "Basket.empty"),
        ("const cart = await load();\ncart?.empty();", "Basket.empty"),
        ("make('x').add().empty();", "Basket.empty"),  # `this` is the class it is called on
        ("rate(p).greet();", "Owner.greet"),
        ("new Cart(p, '').lines[0].price();", "Line.price"),
        ("new Cart(p, '').last.price();", "Line.price"),
        ("for (const line of make('x').lines) {\n  line.price();\n}", "Line.price"),
        ("make('x').lines.filter(Boolean).forEach((line) => line.price());", "Line.price"),
        ("make('x').named().get('a').price();", "Line.price"),
        ("const { owner } = new Line();\nowner.greet();", "Owner.greet"),
        ("const { owner: o = 1 } = p as Line;\no.greet();", "Owner.greet"),
        ("((line: Line) => line.price())(p);", "Line.price"),
        ("if (p instanceof Basket && q) {\n  p.empty();\n}", "Basket.empty"),
        ("return p instanceof Basket && p.empty();", "Basket.empty"),
        ("if (!(p instanceof Basket)) return;\np.empty();", "Basket.empty"),
        ("let cart: Basket | null = null;\ncart = q;\ncart.empty();", "Basket.empty"),
        ("let cart;\nconst set = () => { cart = new Basket(p, ''); };\ncart.empty();", "Basket.empty"),
        ("const cart: Alias = p;\ncart.empty();", "Basket.empty"),
        ("shared.empty();", "Basket.empty"),
        ("const kind = Basket;\nnew kind(p, '');", "Basket"),
        ("const run = make;\nrun('x');", "make"),
        ("let cart = new Basket(p, '');\ncart = q;\ncart.empty();", ""),
        ("function make() {}\nmake();", ""),
        ("const f = (make) => make();\n", ""),
    ],
)
def test_values_are_followed_through_what_they_come_from(body: str, method: str) -> None:
    found = {target for target, rule in calls_in(body).items() if rule not in ("unique_name", "ambiguous")}
    assert (method in found) if method else not found & {"Basket.empty", "make"}


def test_a_method_that_is_only_declared_is_the_interface_and_what_alone_implements_it() -> None:
    found = calls_in("const priced: Priced = p;\npriced.price();\npriced.owner.greet();")
    assert found == {"Priced": "annotation", "Line.price": "implementation", "Owner.greet": "annotation"}


def test_types_written_as_objects_declare_methods_too() -> None:
    source = "type Plugin = {\n  load(): void;\n  name: string;\n};\nfunction f(p: Plugin) {\n  p.load();\n}\n"
    assert repository({"a.ts": source}).calls("a.ts::f") == {"a.ts::Plugin": "annotation"}


MANIFESTS = {
    "package.json": (
        """
        {"name": "shop", "source": "src/index.js", "main": "dist/shop.js",
         "exports": {".": {"default": "./dist/shop.js"}, 
                     "./money": {"types": "./money/src/index.d.ts", "default": "./money/dist/index.js"},
                     "./tax/*": "./tax/*.js"},
         "imports": {"#rate": {"node": "./src/rate.js"}}}
        """
    ),
    "src/index.js": "export function sell() {\n  return 1;\n}\n",
    "src/rate.js": "export function rate() {\n  return 1;\n}\n",
    "money/src/index.js": "export function cents() {\n  return 1;\n}\n",
    "tax/vat.js": "export function vat() {\n  return 1;\n}\n",
    "apps/web/tsconfig.json": (
        """
        {
          // what the bundler knows as well
          "extends": "../base",
          "compilerOptions": { "baseUrl": "./code", },
        }
        """
    ),
    "apps/base.json": '{"compilerOptions": {"paths": {"nobody": ["x"]}}}',
    "apps/tsconfig.base.json": '{"compilerOptions": {"baseUrl": ".", "paths": {"~ui/*": ["web/code/ui/*"]}}}',
    "apps/web/code/ui/panel.ts": "export function panel() {\n  return 1;\n}\n",
    "packages/@acme-forms/package.json": '{"name": "@acme/forms"}',
    "packages/@acme-forms/src/index.ts": "export function field() {\n  return 1;\n}\n",
}


@pytest.mark.parametrize(
    ("module", "name", "target"),
    [
        ("shop", "sell", "src/index.js"),
        ("shop/money", "cents", "money/src/index.js"),
        ("shop/tax/vat", "vat", "tax/vat.js"),
        ("#rate", "rate", "src/rate.js"),
        ("ui/panel", "panel", "apps/web/code/ui/panel.ts"),
        ("~ui/panel", "panel", "apps/web/code/ui/panel.ts"),
        ("@acme/forms", "field", "packages/@acme-forms/src/index.ts"),
        ("shop/nothing", "sell", ""),
        ("nobody", "sell", ""),
    ],
)
def test_manifests_say_where_names_lead(module: str, name: str, target: str) -> None:
    extended = {
        **MANIFESTS,
        "apps/web/tsconfig.json": MANIFESTS["apps/web/tsconfig.json"].replace("../base", "../tsconfig.base"),
    }
    user = f"import {{ {name} }} from '{module}';\nexport function f() {{\n  {name}();\n}}\n"
    repo = repository({**extended, "apps/web/code/main.ts": user})
    assert list(repo.calls("apps/web/code/main.ts::f")) == ([f"{target}::{name}"] if target else [])


def test_of_packages_of_one_name_that_hold_a_file_the_nearest_is_meant() -> None:
    files = {f"{folder}main.js": "export function here() {\n  return 1;\n}\n" for folder in ("a/", "a/b/", "a/z/")}
    files |= {path.replace("main.js", "package.json"): '{"name": "kit", "main": "./main.js"}' for path in files}
    users = {
        f"a/{folder}/use.js": "import { here } from 'kit';\nexport function f() {\n  here();\n}\n"
        for folder in ("b", "z", "c")
    }
    repo = repository(dict(sorted({**files, **users}.items())))
    assert [list(repo.calls(f"{path}::f")) for path in sorted(users)] == [
        ["a/b/main.js::here"],
        ["a/main.js::here"],
        ["a/z/main.js::here"],
    ]


def test_this_is_that_of_the_method_in_arrows_and_of_nobody_in_functions() -> None:
    repo = repository(SHOP)
    assert repo.calls("src/cart.ts::Cart.ask") == {
        "src/cart.ts::Owner.greet": "annotation",
        "src/cart.ts::Cart.ask2": "same_scope",
    }
    without = {**SHOP, "src/cart.ts": SHOP["src/cart.ts"].replace("self.ask2();", "")}
    found = repository(without).found().get(("src/cart.ts::Cart.ask", "src/cart.ts::Cart.ask2"))
    assert found is None or found[1] < TRUSTED


def test_a_type_parameter_is_what_it_extends() -> None:
    assert repository(SHOP).calls("src/cart.ts::Cart.each") == {"src/cart.ts::Line.price": "annotation"}


def test_titles_of_tests_are_no_names() -> None:
    lines = "\n".join(f"    step({n});" for n in range(160))
    source = f"""
        import {{ render }} from './render';
        function helper() {{}}
        describe('render', () => {{
          it('render', () => {{
            render();
            helper();
          }});
          it('helper', () => {{
        {lines}
          }});
        }});
        """
    repo = repository({"src/render.js": "export function render() {\n  return 1;\n}\n", "src/render.test.js": source})
    trusted = {target for (_, target), (_, confidence) in repo.found().items() if confidence >= TRUSTED}
    assert trusted == {"src/render.js::render", "src/render.test.js::helper"}


def test_functions_of_an_exported_object_are_those_it_names() -> None:
    repo = repository(
        {
            "lib/utils.js": (
                "function isDate(x) {\n  return x;\n}\nconst trim = (x) => x;\nexport default { isDate, cut: trim };\n"
            ),
            "lib/app.js": (
                "import utils from './utils.js';\nconst { isDate } = utils;\n"
                "export function f(x) {\n  utils.isDate(x);\n}\nexport function g(x) {\n  isDate(x);\n}\n"
            ),
        }
    )
    assert list(repo.calls("lib/app.js::f")) == ["lib/utils.js::isDate"]
    assert list(repo.calls("lib/app.js::g")) == ["lib/utils.js::isDate"]


RENAMED = {
    "lib/round.ts": """
        export function applyTax(value: number): Cart {
          return value;
        }
        export class Cart {}
        function split(total: number) {
          return total;
        }
        export const divide = split;
        export const pricing = { tax: applyTax, split } as const;
        export const frozen = Object.freeze({ cut: split });
        """,
    "lib/api.ts": """
        import { divide } from "./round";
        function other() {
          return 1;
        }
        export default { share: divide };
        """,
    "lib/index.ts": 'export * from "./round";\n',
}


@pytest.mark.parametrize(
    ("imports", "body", "target"),
    [
        ('import { divide } from "./lib";', "divide(1);", "split"),
        ('import * as money from "./lib";', "money.divide(1);", "split"),
        ('import { pricing } from "./lib";', "pricing.split(1);", "split"),
        ('import { pricing } from "./lib";', "pricing.tax(1);", "applyTax"),
        ('import { pricing as p } from "./lib/round";', "const { tax } = p;\n  tax(1);", "applyTax"),
        ('import { frozen } from "./lib";', "frozen.cut(1);", "split"),
        ('import api from "./lib/api";', "api.share(1);", "split"),
        ("", 'const { divide } = await import("./lib");\n  divide(1);', "split"),
        ("", 'const money = await import("./lib");\n  money.divide(1);', "split"),
        ("", '(await import("./lib")).pricing.split(1);', "split"),
        ("", 'import("./lib").then((money) => money.divide(1));', "split"),
        ("", 'import("./lib").then(({ divide }) => divide(1));', "split"),
        ('const { divide } = await import("./lib");', "divide(1);", "split"),
    ],
)
def test_a_renamed_function_is_the_function(imports: str, body: str, target: str) -> None:
    app = f"{imports}\nexport async function f() {{\n  {body}\n}}\n"
    assert list(repository({**RENAMED, "app.ts": app}).calls("app.ts::f")) == [f"lib/round.ts::{target}"]


def test_components_are_called_by_their_elements() -> None:
    repo = repository(
        {
            "ui/panel.jsx": "export function Panel() {\n  return <p>x</p>;\n}\n",
            "ui/app.jsx": (
                "import { Panel } from './panel';\nimport * as ui from './panel';\n"
                "export function App({ Other }) {\n  return <div><Panel /><Other /><ui.Panel></ui.Panel></div>;\n}\n"
            ),
        }
    )
    assert repo.calls("ui/app.jsx::App") == {"ui/panel.jsx::Panel": "import"}
    assert repo.counts.resolved == 2
