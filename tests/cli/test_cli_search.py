"""`secateur search` as a shell, a script and a careless user meet it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from secateur.cli.main import COMMANDS
from support.cli import Ran, secateur
from support.repos import QUERY, SHOP, committed, write

REFUND, ROUND = "shop/refund.py::refund_total", "shop/money.py::round_total"
IN_A_SHELL = (sys.executable, "-m", "secateur.cli.main")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("cli") / "shop", SHOP)


def search(root: object, *words: object, query: str = QUERY, stdin: bytes = b"") -> Ran:
    return secateur("search", query, root, *words, stdin=stdin)


def failure(ran: Ran, code: int, *said: str) -> None:
    """Failed with this exit code and these words on stderr, nothing on stdout, no traceback."""
    assert ran.code == code, ran.err
    assert ran.out == ""
    assert "Traceback" not in ran.err
    assert "error: " in ran.err
    for word in said:
        assert word in ran.err


# --- streams ----------------------------------------------------------------------------------------------------------


def test_json_is_all_there_is_on_stdout(shop: Path) -> None:
    for words in ((), ("--verbose",), ("--quiet",), ("--explain",)):
        ran = search(shop, "--format", "json", *words)
        assert ran.json["query"] == QUERY
        assert ran.out.startswith("{\n")
        assert ran.out.endswith("}\n")
        assert ("fragments" in ran.err) == ("--verbose" in words)


def test_explain_adds_the_parts_of_every_score(shop: Path) -> None:
    plain, explained = search(shop, "--format", "json").json, search(shop, "--format", "json", "--explain").json
    assert all("parts" not in row for row in plain["candidates"])
    for row in explained["candidates"]:
        assert sum(row["parts"]["relevance"].values()) == pytest.approx(row["relevance_score"], abs=1e-5)
    text = search(shop, "--explain").out
    assert "lexical" in text
    assert "because" in text
    assert len(text) > len(search(shop).out)


def test_the_query_may_come_from_stdin(shop: Path) -> None:
    issue = "Refund total is off by one\n\nSee shop/refund.py, `refund_total`.\n"
    piped = search(shop, "--format", "json", query="-", stdin=issue.encode())
    assert piped.json["query"] == issue
    assert piped.out == search(shop, "--format", "json", query=issue).out
    assert piped.json["candidates"][0]["symbol_id"] == REFUND


def test_stdin_that_is_no_text_is_still_a_query(shop: Path) -> None:
    assert search(shop, query="-", stdin=b"\xff\xfe refund \x00").code == 0
    assert "! empty query: " in search(shop, query="-", stdin=b"").out


def test_quiet_says_nothing_on_stderr(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", SHOP | {"secateur.toml": "[llm]\nenabled = true\n"})
    assert "llm.enabled" in search(root).err
    ran = search(root, "--quiet")
    assert ran.err == ""
    assert ran.code == 0


@pytest.mark.parametrize("link", [False, True])
def test_what_was_ignored_of_the_repositorys_file_is_a_warning_of_the_answer(tmp_path: Path, link: bool) -> None:
    root = write(tmp_path / "shop", SHOP)
    assert search(root, "--format", "json").json["warnings"] == []
    write(tmp_path, {"own.toml": "[llm]\nenabled = true\n"})
    (
        (root / "secateur.toml").symlink_to(tmp_path / "own.toml")
        if link
        else (tmp_path / "own.toml").rename(root / "secateur.toml")
    )
    for _ in range(2):  # from the cache as well
        report = search(root, "--format", "json").json
        assert [warning["code"] for warning in report["warnings"]] == ["config_ignored"]
        message = report["warnings"][0]["message"]
        assert ("secateur.toml" if link else "llm.enabled") in message
    for form in ("text", "markdown", "xml"):
        ran = search(root, "--format", form)
        assert (message in ran.out) is (form == "text")  # a model reads the others
        assert ran.err.count(message) == 1


def test_settings_that_do_not_count_take_no_room_from_the_answer(tmp_path: Path) -> None:
    """Each is told on stderr; an answer names the first and counts the others, however many a repository tries."""
    tried = (
        "[tokens]\ncounter = 'chars4'\n[graph_rag]\nenabled = false\n[llm]\nenabled = true\nmodel = 'x'\ntimeout ="
        " 9\nspend_cap = 9\ntext_tokens = 999\n"
    )
    few, many = (
        write(tmp_path / name, SHOP | {"secateur.toml": text}) for name, text in (("few", tried[:28]), ("many", tried))
    )
    of_few, of_many = (search(root, "--budget", 4000, "--format", "json") for root in (few, many))
    assert (of_few.err.count("ignored"), of_many.err.count("ignored")) == (1, 7)
    said = [notice["message"] for notice in of_many.json["warnings"] if notice["code"] == "config_ignored"]
    assert "tokens.counter" in said[0]
    rest = "6 more settings are ignored in the same way; `secateur config` lists them, with the lines to write."
    assert said[1:] == [rest]
    files = {answer.json["candidates"][0]["file_path"] for answer in (of_few, of_many)}
    assert len(files) == 1
    assert of_many.json["token_count"] == of_few.json["token_count"]


def test_output_is_utf8_whatever_the_locale(shop: Path) -> None:
    env = os.environ | {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*IN_A_SHELL, "search", "订单 refund", str(shop)], env=env, check=True, capture_output=True)
    assert "订单" in done.stdout.decode("utf-8")


def test_a_closed_pipe_is_the_end_and_no_error(shop: Path) -> None:
    command = " ".join((*IN_A_SHELL, "search", "refund", str(shop), "--explain"))
    done = subprocess.run(["sh", "-c", f"{command} | head -n 1"], check=True, capture_output=True, text=True)
    assert done.stdout == "query   refund\n"
    assert done.stderr == ""


# --- decisions that a user makes --------------------------------------------------------------------------------------


def test_pins_exclusions_and_boosts_show_in_the_output(shop: Path) -> None:
    rows = {row["symbol_id"]: row for row in search(shop, "--format", "json").json["candidates"]}
    assert {REFUND, ROUND} <= set(rows)
    words = ("--pin", ROUND, "--exclude", REFUND, "--boost", "shop/api.py::post_refund=2", "--format", "json")
    report = search(shop, *words).json
    after = {row["symbol_id"]: row for row in report["candidates"]}
    assert after[ROUND]["decision"] == {"state": "kept", "reason": "pinned", "needed": 29, "left": 7988}
    assert REFUND not in after
    assert [row["decision"]["reason"] for row in report["dropped"]] == ["excluded"]
    boosted = after["shop/api.py::post_refund"]
    assert boosted["terms"]["boost"] > 0
    assert boosted["priority"] == pytest.approx(2 * rows["shop/api.py::post_refund"]["priority"], abs=2e-6)
    text = search(shop, *words[:-2], "--explain").out
    for word in ("pinned", "excluded", "boost"):
        assert word in text


def test_an_id_that_explain_shows_can_be_pinned(shop: Path) -> None:
    ids = [
        line.split(maxsplit=1)[1] for line in search(shop, "--explain").out.splitlines() if line.startswith("    id ")
    ]
    assert ROUND in ids
    assert "pinned" in search(shop, "--explain", "--pin", ids[-1]).out


def test_a_pin_is_kept_when_the_budget_is_not_enough_for_others(shop: Path) -> None:
    report = search(shop, "--pin", ROUND, "--budget", 50, "--format", "json").json
    assert [row["symbol_id"] for row in report["candidates"]] == [ROUND]


def test_weights_depth_and_strategy_reach_the_selection(shop: Path) -> None:
    report = search(shop, "--weights", "1,0,0", "--format", "json").json
    for row in report["candidates"]:
        assert row["terms"] == {"relevance": row["relevance_score"], "hotspot": 0.0, "distance": 0.0}
    assert "by relevance" in search(shop, "--strategy", "relevance").out
    assert "profile recommended" in search(shop, "--profile", "recommended").out
    assert search(shop, "--counter", "chars4", "--format", "json").json["counter"] == "chars4"
    assert "estimated" in search(shop, "--counter", "chars4").out


def test_fewer_dropped_candidates_can_be_listed(shop: Path) -> None:
    words = ("--exclude", REFUND, "--exclude", ROUND, "--format", "json")
    whole, cut = search(shop, *words).json, search(shop, *words, "--dropped", 1).json
    assert cut["dropped"] == whole["dropped"][:1]
    assert cut["candidates"] == whole["candidates"]
    assert [entry["figures"] for entry in cut["ledger"]["entries"] if entry["id"] == "not-listed"] == [{"items": 1}]
    assert search(shop, *words).json == whole  # another answer of the cache
    assert search(shop, *words, "--dropped", "all").json == whole
    text = search(shop, *words[:-2], "--dropped", 1).out
    assert text.count(" ○ ") == 1 + 1 and "… and 1 more dropped (--dropped all lists them" in text  # one, and the sum
    assert search(shop, *words[:-2], "--dropped", "all").out == search(shop, *words[:-2]).out
    failure(search(shop, "--dropped", -1), 2, "--dropped -1 is not allowed")


def test_a_commit_can_be_searched(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", SHOP)
    (root / "shop/refund.py").write_text("")
    assert REFUND in search(root, "--rev", "HEAD", "--format", "json").out
    assert REFUND not in search(root, "--format", "json").out
    failure(search(root, "--rev", "nope"), 1, "nope")
    failure(search(root, "--rev=--upload-pack=x"), 1, "--upload-pack=x")


# --- calls that cannot be meant ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--budgt", "5"), ("--budgt", "did you mean --budget?")),
        (("--budget", "-1"), ("--budget -1 is not allowed", "an integer of at least 0")),
        (("--budget", "1.5"), ("--budget 1.5 is not allowed", "an integer of at least 0")),
        (("--budget", ""), ("--budget",)),
        (("--top-k", "2"), ("--top-k 2 is not allowed", "--top-k takes an integer from 5 to 50")),
        (("--top-k", "ten"), ("--top-k ten is not allowed", "--top-k takes an integer from 5 to 50")),
        (("--depth", "9"), ("--depth 9 is not allowed", "from 1 to 4")),
        (("--strategy", "best"), ("--strategy best is not allowed", "priority, relevance, density")),
        (("--strategy", "prio"), ("--strategy prio is not allowed", "did you mean priority?")),
        (("--weights", "1,2"), ("--weights", "three numbers")),
        (("--weights", "nan,1,1"), ("--weights",)),
        (("--weights", "1,-1,1"), ("--weights: hotspot -1.0 is not allowed", "from 0 to 10")),
        (("--boost", "x"), ("--boost", "ID=FACTOR")),
        (("--boost", "x=-1"), ("--boost x=-1",)),
        (("--set", "graph_rag.max_dpth=3"), ("graph_rag.max_dpth", "did you mean graph_rag.max_depth?")),
        (("--set", "nonsense"), ("--set", "KEY=VALUE")),
        (("--profile", "nope"), ("--profile nope is not allowed", "spec, recommended")),
        (("--profile", "recomended"), ("--profile recomended is not allowed", "did you mean recommended?")),
        (("--counter", "gpt"), ("--counter gpt is not allowed", "--counter takes one of o200k_base")),
        (("--counter", "o200"), ("--counter o200 is not allowed", "did you mean o200k_base?")),
        (("--set", "graph_rag.top_k=2"), ("--set: graph_rag.top_k = 2", "from 5 to 50")),
        (("--config", "nope.toml"), ("nope.toml",)),
        (("--format", "yaml"), ("yaml", "markdown")),
    ],
)
def test_a_wrong_call_is_two_and_names_what_is_allowed(
    shop: Path, words: tuple[str, ...], said: tuple[str, ...]
) -> None:
    failure(search(shop, *words), 2, *said)
    if "--format" not in words:
        ran = search(shop, *words, "--format", "json")
        assert ran.code == 2
        assert set(ran.json["error"]) == {"code", "message", "hint"}
        assert ran.json["error"]["message"] in ran.err


def test_a_near_command_is_suggested() -> None:
    failure(secateur("serch", "x"), 2, "serch", "did you mean search?")
    failure(secateur("--nope"), 2, "--nope")
    failure(secateur("search"), 2, "QUERY")


def test_help_lists_every_command() -> None:
    text = secateur("--help").out
    for command, summary in COMMANDS.items():
        assert command in text
        assert summary.split()[0] in text
        ran = secateur(command, "--help")
        assert ran.code == 0
        for flag in ("--config", "--profile", "--set", "--counter", "--format", "--quiet", "--verbose"):
            assert flag in ran.out
    assert secateur().out == text
    assert secateur("--version").out.startswith("secateur ")


# --- folders and files as they are ------------------------------------------------------------------------------------


def test_a_missing_folder(tmp_path: Path) -> None:
    failure(search(tmp_path / "nowhere"), 1, "no such folder", "nowhere")
    error = search(tmp_path / "nowhere", "--format", "json").json["error"]
    assert error["code"] == "NO_SUCH_FOLDER"
    assert str(tmp_path / "nowhere") in error["message"]
    assert error["hint"]


def test_a_path_no_system_takes() -> None:
    failure(secateur("status", "x" * 5000), 1, "cannot read xxx", "too long")


def test_a_file_instead_of_a_folder(shop: Path) -> None:
    failure(search(shop / "README.md"), 1, "not a folder", str(shop))
    failure(search("sample:nope"), 1, "nope", "orders")
    failure(search("sample:orders/nope"), 1, "nope", "orders")


def test_a_folder_inside_a_sample() -> None:
    paths = {
        row["file_path"]
        for row in search("sample:orders/orders", "--format", "json", query="refund total").json["candidates"]
    }
    assert paths
    assert not any(path.startswith(("orders/", "tests/", "docs/")) for path in paths)


@pytest.mark.parametrize("form", ["text", "json", "markdown", "xml"])
@pytest.mark.parametrize(
    ("files", "query", "code"),
    [
        ({}, "refund", "nothing_indexed"),
        ({"logo.png": b"\x89PNG\r\n\x1a\n\0\0\0"}, "refund", "nothing_indexed"),
        ({"empty.py": ""}, "refund", "nothing_indexed"),
        (SHOP, "", "empty_query"),
        (SHOP, "!!! ???", "empty_query"),
        (SHOP, "xylophone", "no_match"),
    ],
)
def test_an_empty_answer_says_which_kind_of_empty(
    tmp_path: Path, form: str, files: dict[str, str | bytes], query: str, code: str
) -> None:
    root = write(tmp_path / "repo", files)
    root.mkdir(exist_ok=True)
    report = search(root, "--format", "json", query=query).json
    (warning,) = [warning for warning in report["warnings"] if warning["code"] == code]
    assert (report["candidates"], report["token_count"]) == ([], 0)
    ran = search(root, "--format", form, query=query)
    assert ran.code == 0
    assert warning["message"] in ran.out


def test_without_git_everything_but_history_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = committed(tmp_path / "shop", SHOP | {".gitignore": "secret.py\n"})
    write(root, {"secret.py": "def refund_secret(): ...\n"})
    with_git = search(root, "--format", "json").json
    monkeypatch.setenv("PATH", str(tmp_path))
    without = search(root, "--format", "json").json
    assert {row["symbol_id"] for row in without["candidates"]} == {row["symbol_id"] for row in with_git["candidates"]}
    assert max(row["hotspot_score"] for row in with_git["candidates"]) > 0
    assert {row["hotspot_score"] for row in without["candidates"]} == {0.0}
    assert any("git" in warning["message"] for warning in without["warnings"])
    assert "git" in secateur("status", root).out
    failure(search(root, "--rev", "HEAD"), 1, "git")


def test_a_huge_file_is_skipped_and_counted(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", SHOP | {"huge.py": "x = 'refund'\n" * 100_000})
    assert "huge.py" not in search(root).out
    status = secateur("status", root, "--format", "json").json
    assert status["skipped"] == {"too_large": 1}
    assert status["skipped_paths"] == [["huge.py", "too_large"]]


def test_an_unreadable_file_is_skipped_and_counted(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    root = write(tmp_path / "shop", SHOP | {"locked.py": "def refund_locked(): ...\n"})
    (root / "locked.py").chmod(0)
    assert search(root).code == 0
    assert secateur("status", root, "--format", "json").json["skipped"]


def test_special_files_are_not_opened(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", SHOP)
    os.mkfifo(root / "pipe.py")
    assert stat.S_ISFIFO((root / "pipe.py").lstat().st_mode)
    assert search(root).code == 0  # opening it would wait for ever


def test_odd_contents_are_read(tmp_path: Path) -> None:
    files = {
        "crlf.py": b"def refund_crlf():\r\n    return 1\r\n",
        "latin.py": b"# r\xe9sum\xe9\ndef refund_latin():\n    return 1\n",
        "nul.txt": b"refund \0 \0",
        "bom.py": b"\xef\xbb\xbfdef refund_bom():\n    return 1\n",
        "broken.py": b"def refund_broken(:\n    return ((\n",
        "one_line.py": b"refund = '" + b"x" * 90_000 + b"'\n",
        "deep.py": b"refund = " + b"(" * 3000 + b"1" + b")" * 3000 + b"\n",
        "utf16.py": "def refund_utf16(): ...\n".encode("utf-16"),
    }
    ran = search(write(tmp_path / "odd", files), "--format", "json", query="refund")
    assert ran.code == 0, ran.err
    assert {"crlf.py", "latin.py", "bom.py", "broken.py"} <= {row["file_path"] for row in ran.json["candidates"]}


def test_ctrl_c_is_130(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from secateur.engine import Engine

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Engine, "retrieve", interrupted)
    ran = search(shop, "--no-cache")
    assert (ran.code, ran.out) == (130, "")
    assert "kept" in ran.err


def test_what_nobody_thought_of_is_a_message_and_with_debug_a_traceback(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from secateur.engine import Engine

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("api_key=hunter2")

    monkeypatch.setattr(Engine, "retrieve", broken)
    ran = search(shop, "--format", "json", "--no-cache")
    assert ran.code == 1
    assert ran.json["error"]["code"] == "UNEXPECTED"
    assert "hunter2" not in ran.out + ran.err
    with pytest.raises(ZeroDivisionError):
        search(shop, "--debug", "--no-cache")


@pytest.mark.parametrize("place", [0, 1, 2])
def test_flags_may_stand_anywhere(shop: Path, place: int) -> None:
    words: list[object] = [QUERY, shop]
    words[place:place] = ["--budget", 600, "--format", "json"]
    ran = secateur("search", *words)
    assert (ran.code, ran.json["budget"], ran.json["query"]) == (0, 600, QUERY)
