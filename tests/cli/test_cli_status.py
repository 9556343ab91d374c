"""`secateur status` and `secateur index`: what is indexed, how fresh it is, what was left out and why."""

from __future__ import annotations

from pathlib import Path

from secateur.retrieval.cache import SPEC_FOLDER
from support.cli import secateur
from support.repos import SHOP, committed, write


def test_status_counts_what_is_there_and_how_fresh_it_is(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", SHOP)
    first = secateur("status", root, "--format", "json").json
    assert (first["files"], first["languages"]) == (4, {"python": 3, "markdown": 1})
    assert (first["read"], first["reused"], first["fresh"]) == (4, 0, False)
    assert first["source"] == f"shop @ {first['commit'][:7]}"
    assert first["fragments"] == sum(first["components"])
    assert first["edges"] > 0
    second = secateur("status", root, "--format", "json").json
    assert (second["read"], second["reused"], second["fresh"]) == (0, 4, True)
    assert second["snapshot"] == first["snapshot"]
    (root / "shop/new.py").write_text("def new(): ...\n")
    third = secateur("status", root, "--format", "json").json
    assert (third["read"], third["reused"], third["fresh"]) == (1, 4, False)
    assert secateur("status", root, "--rev", "HEAD", "--format", "json").json["files"] == 4


def test_text_says_the_same(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", SHOP)
    out = secateur("status", root).out
    assert "4 files" in out
    assert "python 3, markdown 1" in out
    assert "4 files; 0 known" in out
    assert "o200k_base" in out


def test_what_was_skipped_is_listed_with_its_reason(tmp_path: Path) -> None:
    root = write(
        tmp_path / "shop",
        SHOP | {"logo.png": b"\x89PNG\r\n\x1a\n\0\0", "uv.lock": "version = 1\n", "big.py": "x = 1\n" * 200_000},
    )
    (root / "link.py").symlink_to("big.py")
    status = secateur("status", root, "--format", "json", "--set", 'index.ignore=["shop/api.py"]').json
    assert dict(status["skipped_paths"]) == {
        "logo.png": "binary",
        "uv.lock": "lockfile",
        "big.py": "too_large",
        "link.py": "symbolic_link",
        "shop/api.py": "ignored_by_setting",
    }
    assert status["skipped"] == dict.fromkeys(sorted(dict(status["skipped_paths"]).values()), 1)
    out = secateur("status", root).out
    for path in ("logo.png", "uv.lock", "big.py", "link.py"):
        assert path in out


def test_long_lists_are_cut_unless_asked_for(tmp_path: Path) -> None:
    root = write(tmp_path / "repo", {f"{number:02}.png": b"\0\1\2" for number in range(30)})
    out = secateur("status", root).out
    assert "29.png" not in out
    assert "10 more (--verbose lists all)" in out
    assert "29.png" in secateur("status", root, "--verbose").out


def test_problems_of_files_are_counted(tmp_path: Path) -> None:
    root = write(tmp_path / "repo", {"broken.py": "def f(:\n    return ((\n", "bytes.py": b"# r\xffsum\nx = 1\n"})
    assert secateur("status", root, "--format", "json").json["problems"] == {"invalid_utf8": 1, "syntax_errors": 1}


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    for command in ("status", "index"):
        ran = secateur(command, tmp_path / "nowhere", "--format", "json")
        assert ran.code == 1
        assert ran.json["error"]["code"] == "NO_SUCH_FOLDER"


def test_index_builds_what_status_then_knows(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", SHOP)
    assert secateur("index", root, "--format", "json", "--workers", 1).json["read"] == 4
    assert secateur("status", root, "--format", "json").json["fresh"]
    assert secateur("index", root, "--workers", -1).code == 2


def test_the_cache_of_answers_is_no_part_of_the_repository(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", SHOP)
    before = secateur("status", root, "--format", "json").json["snapshot"]
    secateur("search", "refund", root, "--set", f"graph_rag.cache_dir={SPEC_FOLDER}")
    assert (root / SPEC_FOLDER).is_dir()
    assert secateur("status", root, "--format", "json").json["snapshot"] == before


def test_without_git_neither(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", SHOP)
    before = secateur("status", root, "--format", "json").json["snapshot"]
    secateur("search", "refund", root)
    assert secateur("status", root, "--format", "json").json["snapshot"] == before


def test_an_empty_folder_has_no_languages(tmp_path: Path) -> None:
    lines = secateur("status", tmp_path).out.splitlines()
    assert [line.split() for line in lines if line.startswith("languages")] == [["languages", "none"]]
