"""Calls, imports and inheritance from one repository of a workspace into another, as far as manifests lead."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from secateur.engine import Engine
from secateur.settings import Settings, with_values
from support.engine_answers import report_text
from support.repos import write

Members = Mapping[str, Mapping[str, str]]

PLAIN = with_values(Settings(), {"embedding.model": "none"})

PYTHON_SRC = {
    "money": {
        "pyproject.toml": '[project]\nname = "Shop-Money"\n',
        "src/shop_money/__init__.py": "from shop_money.rounding import round_total\n",
        "src/shop_money/rounding.py": (
            "class Rounder:\n    def ends(self):\n        return 2\n\n\ndef round_total(x):\n    return x\n"
        ),
        "tests/helpers.py": "def helper():\n    return 1\n",
    },
    "till": {
        "setup.cfg": "[metadata]\nname = till\n[options]\ninstall_requires =\n    shop.money>=1\n",
        "till/drawer.py": (
            "from shop_money import round_total\nfrom shop_money.rounding import Rounder\n"
            "from tests.helpers import helper\n\n\nclass Coins(Rounder):\n    def count(self):\n"
            "        return self.ends()\n\n\n"
            "def pay(x):\n    helper()\n    return round_total(x)\n"
        ),
    },
}
PYTHON_CHAIN = {
    "base": {"setup.py": "setup(name='base')\n", "base.py": "class Base:\n    def run(self):\n        return 1\n"},
    "middle": {
        "pyproject.toml": '[tool.poetry]\nname = "middle"\n[tool.poetry.dependencies]\nbase = "*"\n',
        "middle/__init__.py": "from base import Base\n\n\nclass Middle(Base):\n    pass\n",
    },
    "top": {
        "pyproject.toml": '[project]\nname = "top"\ndependencies = ["middle"]\n',
        "top/__init__.py": "from middle import Middle\n\n\ndef start():\n    Middle().run()\n",
    },
}
NPM = {
    "ui": {
        "package.json": '{"name": "root", "private": true, "workspaces": ["packages/*"]}',
        "packages/kit/package.json": '{"name": "@shop/kit", "main": "dist/index.js"}',
        "packages/kit/src/index.ts": "export { button } from './button'\n",
        "packages/kit/src/button.ts": "export function button(label: string) {\n  return label\n}\n",
    },
    "web": {
        "package.json": '{"name": "web", "dependencies": {"@shop/kit": "^1"}}',
        "app.ts": "import { button } from '@shop/kit'\n\nexport function page() {\n  return button('pay')\n}\n",
    },
}
GO = {
    "flag": {
        "go.mod": "module example.com/shop/flag\n\ngo 1.21\n",
        "flag.go": (
            "package flag\n\ntype Set struct{}\n\nfunc NewSet() *Set {\n\treturn &Set{}\n}\n\n"
            "func (s *Set) Lookup(name string) int {\n\treturn 1\n}\n"
        ),
        "deep/deep.go": "package deep\n\nfunc Dive() int {\n\treturn 1\n}\n",
    },
    "cmd": {
        "go.mod": "module example.com/shop/cmd\n\nrequire example.com/shop/flag v1.0.0\n",
        "main.go": (
            'package main\n\nimport (\n\t"example.com/shop/flag"\n\t"example.com/shop/flag/deep"\n)\n\n'
            'func run() int {\n\ts := flag.NewSet()\n\treturn s.Lookup("a") + deep.Dive()\n}\n'
        ),
    },
}
POM = "<project><groupId>com.acme</groupId><artifactId>{}</artifactId><dependencies>{}</dependencies></project>"
MAVEN = {
    "core": {
        "pom.xml": POM.format("core", ""),
        "src/main/java/com/acme/core/Parser.java": (
            "package com.acme.core;\n\npublic class Parser {\n    public int parse(String text) {\n        return 1;\n"
            "    }\n}\n"
        ),
        "src/test/java/com/acme/core/LoudParser.java": (
            "package com.acme.core;\n\nclass LoudParser extends Parser {\n    public int parse(String text) {\n"
            "        return 2;\n    }\n}\n"
        ),
    },
    "bind": {
        "pom.xml": POM.format("bind", "<dependency><artifactId>core</artifactId></dependency>"),
        "src/main/java/com/acme/bind/Reader.java": (
            "package com.acme.bind;\n\nimport com.acme.core.Parser;\n\npublic class Reader extends Parser {\n"
            '    int read(Parser parser) {\n        return parser.parse("a");\n    }\n}\n'
        ),
    },
}
GRADLE = {
    "core": {
        "build.gradle": "plugins { id 'java' }\n",
        "src/main/java/com/acme/core/Money.java": (
            "package com.acme.core;\n\npublic class Money {\n    public static int of(int x) {\n        return x;\n"
            "    }\n}\n"
        ),
    },
    "shop": {
        "build.gradle.kts": 'dependencies { implementation("com.acme:core:1.0") }\n',
        "src/main/java/com/acme/shop/Cart.java": (
            "package com.acme.shop;\n\nimport com.acme.core.*;\n\nclass Cart {\n    int total() {\n"
            "        return Money.of(1);\n    }\n}\n"
        ),
    },
}
LAYOUTS: Mapping[str, tuple[Members, set[str]]] = {
    "python": (
        PYTHON_SRC,
        {
            "till/till/drawer.py::L1 imports money/src/shop_money/rounding.py::round_total",
            "till/till/drawer.py::L1 imports money/src/shop_money/rounding.py::Rounder",
            "till/till/drawer.py::Coins inherits money/src/shop_money/rounding.py::Rounder",
            "till/till/drawer.py::Coins.count calls money/src/shop_money/rounding.py::Rounder.ends",
            "till/till/drawer.py::pay calls money/src/shop_money/rounding.py::round_total",
        },
    ),
    "python, through another": (
        PYTHON_CHAIN,
        {
            "middle/middle/__init__.py::L1 imports base/base.py::Base",
            "middle/middle/__init__.py::Middle inherits base/base.py::Base",
            "top/top/__init__.py::L1 imports middle/middle/__init__.py::Middle",
            "top/top/__init__.py::start calls middle/middle/__init__.py::Middle",
            "top/top/__init__.py::start calls base/base.py::Base.run",
        },
    ),
    "npm": (
        NPM,
        {
            "web/app.ts::L1 imports ui/packages/kit/src/button.ts::button",
            "web/app.ts::page calls ui/packages/kit/src/button.ts::button",
        },
    ),
    "go": (
        GO,
        {
            "cmd/main.go::L1 imports flag/flag.go::L1",
            "cmd/main.go::L1 imports flag/deep/deep.go::L1",
            "cmd/main.go::run calls flag/flag.go::NewSet",
            "cmd/main.go::run calls flag/flag.go::Set.Lookup",
            "cmd/main.go::run calls flag/deep/deep.go::Dive",
        },
    ),
    "maven": (
        MAVEN,
        {
            "bind/src/main/java/com/acme/bind/Reader.java::L1 imports"
            " core/src/main/java/com/acme/core/Parser.java::Parser",
            "bind/src/main/java/com/acme/bind/Reader.java::Reader inherits"
            " core/src/main/java/com/acme/core/Parser.java::Parser",
            "bind/src/main/java/com/acme/bind/Reader.java::Reader.read calls"
            " core/src/main/java/com/acme/core/Parser.java::Parser.parse",
        },
    ),
    "gradle": (
        GRADLE,
        {
            "shop/src/main/java/com/acme/shop/Cart.java::L1 imports core/src/main/java/com/acme/core/Money.java::L1",
            "shop/src/main/java/com/acme/shop/Cart.java::Cart.total calls"
            " core/src/main/java/com/acme/core/Money.java::Money.of",
        },
    ),
}


def workspace(tmp_path: Path, members: Members) -> Path:
    for name, files in members.items():
        write(tmp_path / name, files)
    file = tmp_path / "workspace.toml"
    file.write_text(f"repositories = {json.dumps([*members])}\n")
    return file


def opened(file: Path) -> Engine:
    return Engine.open(file, PLAIN, cache_dir=file.parent / "cache")


def crossing(engine: Engine) -> set[str]:
    """The edges between repositories."""
    view = engine.graph()
    names = {node: view.nodes[node]["symbol_id"] for node in view.nodes}
    edges = ((names[one], kind, names[other]) for one, other, kind in view.edges(keys=True))
    return {f"{one} {kind} {other}" for one, kind, other in edges if one.partition("/")[0] != other.partition("/")[0]}


def led(tmp_path: Path, members: Members) -> set[str]:
    with opened(workspace(tmp_path, members)) as engine:
        return crossing(engine)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_manifests_lead_into_another_repository(tmp_path: Path, layout: str) -> None:
    members, expected = LAYOUTS[layout]
    assert led(tmp_path, members) == expected


def test_what_is_kept_is_what_is_worked_out(tmp_path: Path) -> None:
    file = workspace(tmp_path, PYTHON_CHAIN)
    with opened(file) as engine:
        first = crossing(engine)
    with opened(file) as engine:
        assert crossing(engine) == first
    (tmp_path / "base/base.py").write_text("class Base:\n    def walk(self):\n        return 1\n")
    with opened(file) as engine:
        engine.refresh()
        assert crossing(engine) == first - {"top/top/__init__.py::start calls base/base.py::Base.run"}


def test_a_name_of_two_repositories_means_the_one_that_is_required(tmp_path: Path) -> None:
    files = {"lib/yaml/__init__.py": "def load(x):\n    return x\n"}
    members = {
        "one": files | {"pyproject.toml": '[project]\nname = "PyYAML"\n'},
        "two": files | {"pyproject.toml": '[project]\nname = "other-yaml"\n'},
        "user": {
            "requirements.txt": "# all\npyyaml==6.0\n",
            "pyproject.toml": "[project]\nname = 'user'\n",
            "user/__init__.py": "import yaml\n\n\ndef read(x):\n    return yaml.load(x)\n",
        },
    }
    assert led(tmp_path / "a", members) == {
        "user/user/__init__.py::L1 imports one/lib/yaml/__init__.py::load",
        "user/user/__init__.py::read calls one/lib/yaml/__init__.py::load",
    }
    unclear = members | {"user": {path: text for path, text in members["user"].items() if path != "requirements.txt"}}
    assert led(tmp_path / "b", unclear) == set()


def test_a_name_that_two_repositories_define_is_each_one_s_own(tmp_path: Path) -> None:
    files = {"lib.c": "int helper(void) {\n  return 1;\n}\n", "main.c": "int run(void) {\n  return helper();\n}\n"}
    with opened(workspace(tmp_path, {"one": files, "two": files})) as engine:
        assert crossing(engine) == set()
        assert max(engine.components()) > 1  # and each calls its own


def test_a_package_of_its_own_is_meant_before_that_of_another(tmp_path: Path) -> None:
    own = {"shop_money/__init__.py": "def round_total(x):\n    return 0\n"}
    assert led(tmp_path, PYTHON_SRC | {"till": PYTHON_SRC["till"] | own}) == set()


HOSTILE = {
    "deep": '{"name": ' * 5000 + "1" + "}" * 5000,
    "wrong types": '{"name": ["x"], "dependencies": "kit"}',
    "odd text": '{"name": "\\ud800\\u202e", "dependencies": {"\\ud800": 1}}',
    "no object": "[1, 2]",
    "large": '{"name": "' + "x" * 600_000 + '"}',
}


@pytest.mark.parametrize("manifest", HOSTILE)
def test_a_hostile_manifest_costs_what_it_says(tmp_path: Path, manifest: str) -> None:
    members = NPM | {
        "bad": {"package.json": HOSTILE[manifest], "app.js": "import { button } from '@shop/kit'\nbutton()\n"}
    }
    file = workspace(tmp_path, members)
    with opened(file) as engine:
        assert crossing(engine) == LAYOUTS["npm"][1]
        warnings = engine.search("button", use_cache=False).pool.warnings
        said = [notice.message for notice in warnings if notice.code == "calls_not_followed"]
    unread = ["bad: package.json cannot be read as a manifest."]
    assert said == ([] if manifest in ("odd text", "wrong types") else unread)


def test_a_call_from_another_repository_brings_a_fragment_near(tmp_path: Path) -> None:
    """Found by words in one repository, its callee in another is one step away, and comes through it."""
    with opened(workspace(tmp_path, PYTHON_SRC)) as engine:
        pool = engine.search("pay", use_cache=False).pool
        row = pool.symbol_id.index("money/src/shop_money/rounding.py::round_total")
        through = int(pool.predecessor[row])
        assert pool.symbol_id[through] == "till/till/drawer.py::pay"
        assert pool.predecessor_edge[row] == "calls"
        assert pool.distance[row] == 2


@pytest.mark.parametrize("layout", ["python, through another", "npm", "go", "gradle"])
def test_the_answer_is_that_of_the_folder_above_them(tmp_path: Path, layout: str) -> None:
    """Where what imports lead to there is what manifests lead to: no repository there goes by the name of a package."""
    names = [f"all/{name}-1.0" for name in LAYOUTS[layout][0]]
    file = workspace(tmp_path, dict(zip(names, LAYOUTS[layout][0].values(), strict=True)))
    answers = []
    for place in (file, tmp_path / "all"):
        with Engine.open(place, PLAIN, cache_dir=tmp_path / "cache") as engine:
            found = [engine.search(query, use_cache=False) for query in ("run", "who calls `run`?", "pay button total")]
            answers.append([report_text(engine, one) for one in found])
    assert answers[0] == answers[1]
