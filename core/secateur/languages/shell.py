"""Shell scripts, resolved by names: any sourced file may define a function."""

from __future__ import annotations

from secateur.languages.syntax.endless import SHELL_SILENT
from secateur.languages.syntax.names import words
from secateur.languages.traits import TEST_FILE, Grammar, LanguageTraits, NameRules

LANGUAGES = (
    LanguageTraits(
        name="shell",
        extensions="sh bash zsh ksh fish bats",
        file_names=".bashrc .profile .zshrc .bash_profile",
        interpreters="sh bash dash zsh ksh fish",
        line_comment="#",
        block_comments=False,
        test_names_lower=(
            ("sh", TEST_FILE),
            ("bats", r".*"),
        ),
        grammar=Grammar("tree_sitter_bash", __name__),
        silent=SHELL_SILENT,
        lines_end_statements=True,
        rules=NameRules(
            family="shell",
            builtins=words(
                "alias awk basename bash break cat cd chmod chown command continue cp curl cut date declare dirname"
                " docker echo env eval exec exit export expr false find getopts git grep head kill let ln local ls make"
                " mkdir mktemp mv popd printf pushd pwd python read readonly return rm rmdir sed set sh shift sleep"
                " sort source sudo tail tar tee test touch tr trap true type ulimit umask uname uniq unset wait wc"
                " which xargs"
            ),
            links_by_name=True,
        ),
    ),
)
