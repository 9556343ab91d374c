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
