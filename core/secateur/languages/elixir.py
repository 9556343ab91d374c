"""Elixir, resolved by modules and names. Its definitions are macro calls, which the query recognises by name."""

from __future__ import annotations

from secateur.languages.syntax.names import words
from secateur.languages.traits import TEST_FILE, Grammar, LanguageTraits, NameRules

LANGUAGES = (
    LanguageTraits(
        name="elixir",
        extensions="ex exs",
        interpreters="elixir",
        line_comment="#",
        block_comments=False,
        triple_quotes=True,
        test_names_lower=(("ex exs", TEST_FILE),),
        spec_files="ex exs",
        grammar=Grammar("tree_sitter_elixir", __name__),
        rules=NameRules(
            family="elixir",
            builtins=words(
                "Agent Application Atom Base Date DateTime Enum File GenServer IO Integer Kernel Keyword List Logger"
                " Map MapSet Module Node Path Process Regex Registry Stream String Supervisor System Task Time Tuple"
                " URI elem hd inspect is_atom is_binary is_list is_map is_nil length map_size put_elem raise send spawn"
                " tl to_string"
            ),
            self_words=words("__MODULE__"),
            implicit_self=True,
            links_by_name=True,
        ),
        keywords=words(
            "after alias and case catch cond def defdelegate defexception defimpl defmacro defmacrop defmodule defp"
            " defprotocol defstruct do else end false fn for if import in nil not or quote raise receive require rescue"
            " throw true try unless unquote use when with"
        ),
    ),
)
