"""Lua, resolved by scopes and names."""

from __future__ import annotations

from secateur.languages.syntax.names import words
from secateur.languages.traits import TEST_FILE, Grammar, LanguageTraits, NameRules

LANGUAGES = (
    LanguageTraits(
        name="lua",
        extensions="lua",
        interpreters="lua luajit",
        line_comment="--",
        block_comments=False,
        test_names_lower=(("lua", TEST_FILE + r"|.*\.(test|tests|spec|specs|e2e|cy)|.*_spec"),),
        spec_files="lua",
        grammar=Grammar("tree_sitter_lua", __name__),
        rules=NameRules(
            family="lua",
            builtins=words(
                "assert coroutine debug error getmetatable io ipairs load loadfile loadstring math next os pairs pcall"
                " print rawequal rawget rawset require select setmetatable string table tonumber tostring type unpack"
                " utf8 xpcall"
            ),
            self_words=words("self"),
            links_by_name=True,
        ),
        keywords=words(
            "and break do else elseif end false for function goto if in local nil not or repeat return then true until"
            " while"
        ),
    ),
)
