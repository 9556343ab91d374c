from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import pytest
import secateur.languages
from secateur.languages import language_of, traits_of
from secateur.languages.plain import UNPARSED


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.py", "python"),
        ("a/b.PYI", "python"),
        ("web/app.mjs", "javascript"),
        ("web/app.jsx", "javascript"),
        ("web/app.mts", "typescript"),
        ("web/app.tsx", "tsx"),
        ("include/a.hpp", "cpp"),
        ("include/a.h", "c"),
        ("Gemfile", "ruby"),
        ("deploy/Dockerfile.prod", "dockerfile"),
        ("GNUmakefile", "makefile"),
        ("CMakeLists.txt", "cmake"),
        ("pyproject.toml", "toml"),
        ("uv.lock", "toml"),
        (".gitmodules", "ini"),
        (".env.local", "properties"),
        ("docs/a.rst", "restructuredtext"),
        ("a.kt", "kotlin"),
        ("README", "text"),
        ("notes", "text"),
        (".py", "text"),
        ("a.unheard-of", "text"),
        ("", "text"),
    ],
)
def test_language_by_name(path: str, language: str) -> None:
    assert language_of(path) == language


@pytest.mark.parametrize(
    ("head", "language"),
    [
        (b"#!/usr/bin/env python3\nprint()", "python"),
        (b"#!/usr/bin/env -S node --harmony\n", "javascript"),
        (b"#! /bin/bash -e\n", "shell"),
        (b"#!/usr/local/bin/ruby2.7\n", "ruby"),
        (b"#!/opt/strange\n", "text"),
        (b"print()\n#!/usr/bin/python", "text"),
        (b"\xff\xfe#!", "text"),
    ],
)
def test_language_of_scripts_without_extension(head: bytes, language: str) -> None:
    assert language_of("bin/run", head) == language
    assert language_of("bin/run.go", head) == "go"


@pytest.mark.parametrize(
    ("head", "language"),
    [
        (b"#pragma once\nnamespace a {\n", "cpp"),
        (b"  class Cart : public Base {\n", "cpp"),
        (b"#include <string>\n", "cpp"),
        (b"#include <string.h>\nstruct cart { int class_of; };\n", "c"),
        (b"/* the namespace of names */\n", "c"),
    ],
)
def test_language_of_headers_is_read_from_them(head: bytes, language: str) -> None:
    assert language_of("a.h", head) == language


def test_a_language_has_one_record_and_one_with_a_grammar_is_not_unparsed() -> None:
    package = secateur.languages
    modules = [import_module(f"{package.__name__}.{module.name}") for module in iter_modules(package.__path__)]
    names = [traits.name for module in modules for traits in getattr(module, "LANGUAGES", ())]
    assert sorted(names) == sorted(set(names))
    assert {"perl", "ada", "template"} <= UNPARSED <= set(names)
    assert not [name for name in UNPARSED if traits_of(name).grammar]
