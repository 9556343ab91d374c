"""Terraform and other HCL: every top-level block is a unit, named by its labels."""

from __future__ import annotations

from secateur.languages.traits import Grammar, LanguageTraits

LANGUAGES = (
    LanguageTraits(
        name="terraform",
        extensions="tf tfvars hcl tofu",
        line_comment="#",
        grammar=Grammar("tree_sitter_hcl", __name__),
    ),
)

QUERY = """
(config_file (body (block [(string_lit (template_literal) @name) (identifier) @name]) @class))
(comment) @note
(config_file (body (block (body) @body)))
"""
