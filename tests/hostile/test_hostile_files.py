"""Files, names and folders that are meant to break something, or to lead somewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from secateur import SourceCode, count_tokens
from secateur.errors import SecateurError
from secateur.kinds.files.inputs import NAMED_BYTES, read_files
from secateur.kinds.files.measurements import measure_files
from secateur.kinds.files.prune_context import prune_files
from secateur.kinds.files.strategies import prune
from secateur.settings import Settings, with_values
from support.cli import secateur
from support.repos import write

QUERY = "where is the refund total rounded?"


def pruning(**values: object) -> Settings:
    return with_values(Settings(), {f"context_prune.{key}": value for key, value in values.items()})


TEXTS = {
    "control characters": "def refund(total):\n    return '\x1b[2J\x9b\u202e'\n" * 9,
    "half characters": "refund \ud800 total\n" * 30,
    "a byte order mark": "\ufeffdef refund(total):\n    pass\n" * 9,
    "no line ends": "refund total " * 500,
    "only line ends": "\n" * 2000,
    "other line ends": "def refund(total):\r\n    pass\r\n" * 30 + "x\x0cy\u2028z\x85",
    "our own header": "Snippets:\n# Lines 1-9999\nrefund total\n" * 30,
    "special tokens": "<|endoftext|> refund <|im_start|>system\n" * 30,
    "fences": "```\nrefund total\n~~~~\n]]>\n" * 30,
    "broken syntax": "def refund(total:\n  ((((\n" * 60,
    "deep nesting": "(" * 3000 + "refund" + ")" * 3000 + "\n",
    "an endless word": "refund" * 3000,
    "blanks": " " * 20000 + "refund\n",
}


@pytest.mark.parametrize("strategy", ["score", "extract", "delete"])
@pytest.mark.parametrize("name", TEXTS)
def test_any_text_is_counted_and_accounted_for(name: str, strategy: str) -> None:
    files = [
        SourceCode("a.py", TEXTS[name]),
        SourceCode("b.md", TEXTS[name]),
        SourceCode("c.py", "def refund_total(total):\n    return round(total)\n"),
    ]
    for form in ("plain", "markdown"):
        measured = measure_files(files, Settings(), QUERY, form=form)
        for budget in (1, 40, 200):
            result = prune(measured, pruning(max_tokens=budget, strategy=strategy))
            assert len(result.decisions) == len(result.report.actions) == 3
            assert result.report.after == sum(action.after for action in result.report.actions) <= budget
            assert count_tokens(result.document()) <= budget
            assert result.report.after <= result.report.before


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "/",
        "//a//b.py",
        "a\0b",
        "\ud800.py",
        "\x1b[2J.py",
        "x" * 100_000,
        "a\nb.py",
        "2/a",
        "C:\\x.py",
        "::",
        " ",
    ],
)
def test_any_name_is_a_name(name: str) -> None:
    files = [
        SourceCode(name, "def refund_total(total):\n    return round(total)\n"),
        SourceCode(name, "def walk():\n    pass\n" * 30),
    ]
    result = prune_files(files, pruning(max_tokens=30, strategy="extract"), QUERY)
    assert [file.module_name for file in result.files] == [name]
    assert prune_files(files, Settings(), QUERY, form="markdown").document().count("\n```\n") == (
        2 if len(name) < 1000 else 0
    )


def test_nothing_of_a_file_reaches_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(
        tmp_path,
        {
            "\x1b[2Jrefund\u202e.py": TEXTS["control characters"] * 20,
            "b.py": "def refund(total):\n    return '\x1b]0;x\x07\x9b'\n",
        },
    )
    for form in ("text", "json", "markdown"):
        for strategy in ("extract", "score"):
            ran = secateur(
                "files",
                ".",
                "--query",
                "refund \x1b[2J total",
                "--max-tokens",
                60,
                "--strategy",
                strategy,
                "--verbose",
                "--format",
                form,
            )
            assert ran.code == 0
            assert not set(ran.out + ran.err) & {"\x1b", "\x07", "\x9b", "\u202e"}
    missing = secateur("files", "no\x1b[2J.py", "--query", "x")
    assert "\x1b" not in missing.err


def test_links_are_not_followed_out_of_the_folder(tmp_path: Path) -> None:
    write(tmp_path, {"secret/key.py": "SECRET = 1\n", "repo/a.py": "a = 1\n"})
    repo = tmp_path / "repo"
    (repo / "link.py").symlink_to(tmp_path / "secret/key.py")
    (repo / "folder").symlink_to(tmp_path / "secret")
    (repo / "own.py").symlink_to("a.py")
    (repo / "ring").symlink_to("ring")
    (repo / "gone.py").symlink_to("nowhere")

    def names(*words: str) -> list[str]:
        files, _ = read_files(words, Settings(), tmp_path / "cache", repo)
        assert "SECRET" not in "".join(file.source_code for file in files)
        return [file.module_name for file in files]

    assert names(".") == names("*.py") == names("**/*.py") == ["a.py"]
    assert names("own.py", "a.py") == ["own.py"]
    for word in ("link.py", "folder", "folder/key.py", "folder/*.py", str(repo / "link.py"), "../repo/link.py"):
        with pytest.raises(SecateurError) as error:
            names(word)
        assert error.value.code == "SYMBOLIC_LINK", word
    for word in ("ring", "gone.py"):
        with pytest.raises(SecateurError, match=r"cannot read|leads elsewhere"):
            names(word)


def test_what_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    for word in ("pipe.py", "/dev/zero"):
        with pytest.raises(SecateurError, match="not a regular file"):
            read_files([word], Settings(), tmp_path / "cache", tmp_path)
    write(tmp_path, {"a.py": "a = 1\n"})
    files, notices = read_files(["."], Settings(), tmp_path / "cache", tmp_path)
    assert [file.module_name for file in files] == ["a.py"]
    assert "special_file" in notices[0].message


def test_a_file_that_is_too_large_is_an_error_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "huge.py").open("wb") as file:
        file.truncate(NAMED_BYTES + 1)
    with pytest.raises(SecateurError, match="larger than") as error:
        read_files(["huge.py"], Settings(), tmp_path / "cache", tmp_path)
    assert error.value.code == "TOO_LARGE"


def test_a_configuration_in_the_folder_sets_no_server(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "secateur.toml": '[llm]\nenabled = true\nbase_url = "http://127.0.0.1:9"\nmodel = "m"\n',
            "a.py": "def refund():\n    pass\n" * 50,
        },
    )
    ran = secateur("files", tmp_path, "--query", "refund", "--max-tokens", 20, "--format", "json")
    assert ran.code == 0
    assert "modelCalls" not in ran.json["report"]
    assert "llm" in ran.err
