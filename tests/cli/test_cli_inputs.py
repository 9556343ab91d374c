"""What PATH may be beside a folder of this machine, as commands take it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.cli import Ran, secateur
from support.git_server import silent_server
from support.processes import DEADLINE, run_process
from support.repos import QUERY, SHOP, committed, git, write

pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return committed(tmp_path / "shop", SHOP)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SECATEUR_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def search(*words: object) -> Ran:
    return secateur("search", QUERY, *words, "--format", "json")


def candidates(ran: Ran) -> list[object]:
    assert ran.code == 0, ran.err
    return [ran.json["candidates"], ran.json["dropped"]]


# --- a git URL --------------------------------------------------------------------------------------------------------


def test_a_url_gives_the_answer_of_a_checkout_and_says_of_when_it_is(shop: Path) -> None:
    there, fetched = search(shop), search(shop.as_uri())
    assert candidates(fetched) == candidates(there)
    assert there.json["warnings"] == []
    (said,) = fetched.json["warnings"]
    assert said["code"] == "cloned"
    assert f"{shop.as_uri()} is read as it was fetched on " in said["message"]
    git(shop, "mv", "shop/refund.py", "shop/returns.py")
    git(shop, "commit", "-q", "-m", "Rename")
    assert search(shop.as_uri()).out == fetched.out
    refreshed = search(shop.as_uri(), "--refresh")
    assert "shop/returns.py" in refreshed.out
    assert candidates(search(shop.as_uri(), "--rev", "HEAD~1")) == candidates(there)


def test_a_shallow_clone_scores_no_hotspot_and_says_so(shop: Path) -> None:
    ran = search(shop.as_uri(), "--shallow")
    assert [warning["code"] for warning in ran.json["warnings"]] == ["cloned", "shallow_clone"]
    assert {one["hotspot_score"] for one in ran.json["candidates"] + ran.json["dropped"]} == {0.0}


def test_the_settings_of_a_clone_are_those_of_its_commit(shop: Path) -> None:
    write(shop, {"secateur.toml": "[graph_rag]\ntoken_budget = 4000\n[llm]\nenabled = true\n"})
    git(shop, "add", "-A")
    git(shop, "commit", "-q", "-m", "Budget")
    ran = search(shop.as_uri())
    assert ran.json["budget"] == 4000
    assert f"secateur.toml at {git(shop, 'rev-parse', 'HEAD')[:10]}: llm.enabled counts only from your own" in ran.err


def test_commands_that_take_a_folder_take_a_url(shop: Path, cache: Path) -> None:
    url = shop.as_uri()
    for words in (
        ("index", url),
        ("status", url),
        ("inspect", url, "--query", QUERY),
        ("files", url, "--query", QUERY),
        ("chunk", url, "--base", "HEAD"),
        ("prefer", "list", url),
    ):
        ran = secateur(*words)
        assert ran.code == 0, (words, ran.err)
    status = secateur("status", url)
    assert status.out.startswith("source      shop @ ")
    assert "is read as it was fetched on" in status.out
    assert len(list(cache.glob("clones/*/*"))) == 1


def test_cases_are_not_mined_from_a_url(shop: Path, tmp_path: Path) -> None:
    ran = secateur("mine", shop.as_uri(), "--out", tmp_path / "cases")
    assert ran.code == 2
    assert "tune URL" in ran.err


def test_a_scenario_names_no_url(shop: Path, tmp_path: Path) -> None:
    assert search(shop.as_uri()).code == 0  # it is in the cache, where a scenario could find it
    scenario = f'scenario = 1\nkind = "search"\n\n[input]\nquery = "x"\npath = "{shop.as_uri()}"\n'
    ran = secateur("check", write(tmp_path / "suite", {"a.scenario.toml": scenario}))
    assert ran.code == 1
    assert "is not a path below" in ran.out
    saved = search(shop.as_uri(), "--save", tmp_path / "b.scenario.toml")
    assert saved.code == 2
    assert not (tmp_path / "b.scenario.toml").exists()


def test_clearing_removes_the_clone_and_fetches_nothing(shop: Path, cache: Path) -> None:
    url = shop.as_uri()
    assert "there was nothing to remove" in secateur("index", url, "--clear").out
    assert secateur("index", url).code == 0
    assert secateur("index", url, "--clear").out.startswith("removed ")
    assert not list(cache.glob("clones/*/"))


@pytest.mark.parametrize(
    "words",
    [
        ("search", QUERY),
        ("status",),
        ("index",),
        ("chunk",),
        ("files", "--query", QUERY),
        ("inspect",),
        ("mine", "--out", "cases"),
        ("tune",),
        ("config",),
        ("prefer", "list"),
    ],
)
def test_a_credential_in_a_url_is_neither_used_nor_repeated_nor_kept(words: tuple[str, ...], tmp_path: Path) -> None:
    ran = secateur(*words, "https://mei:hunter2@127.0.0.1:9/shop", "--format", "json", "--verbose")
    assert ran.code == 2
    assert ran.json["error"]["code"] == "URL_REFUSED"
    assert "hunter2" not in ran.out + ran.err
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if b"hunter2" in path.read_bytes() or "hunter2" in str(path)]


@pytest.mark.usefixtures("default_signals")
def test_ctrl_c_ends_a_fetch_and_leaves_nothing(cache: Path) -> None:
    with silent_server() as (url, met):
        words = [sys.executable, "-m", "secateur", "search", QUERY, url]
        with run_process(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert met.wait(DEADLINE)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 130
    assert out == b""
    assert err.startswith(b"interrupted")
    assert not list(cache.glob("clones/*/*"))


def test_an_archive_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "shop.tar.gz").write_bytes(b"")
    ran = search(tmp_path / "shop.tar.gz")
    assert (ran.code, ran.json["error"]["code"]) == (1, "NOT_A_DIRECTORY")
    assert ran.json["error"]["hint"] == "Unpack it first (tar xf shop.tar.gz), and name the folder."
    ran = secateur("search", QUERY, "sample:orders", "--set", "inputs.archive_mb=3")
    assert ran.code == 2 and "archives are no longer read" in ran.err


# --- a part of a repository -------------------------------------------------------------------------------------------


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SECATEUR_CONFIG_DIR", str(tmp_path / "own"))
    write(tmp_path / "own", {"secateur.toml": '[redaction]\nscanner = "rules"\n'})
    return tmp_path / "own"


@pytest.mark.usefixtures("own")
def test_a_part_counts_for_the_call_that_names_it(shop: Path) -> None:
    before = search(shop).out
    named = search(shop, "--only", "shop/money.py")
    assert {one["file_path"] for one in named.json["candidates"]} == {"shop/money.py"}
    assert {one["decision"]["reason"] for one in named.json["dropped"]} == {"elsewhere"}
    (said,) = named.json["warnings"]
    assert (said["code"], "Answered only from shop/money.py (--only)." in said["message"]) == ("only", True)
    words = "--only", "shop/money.py", "--format", "json"
    inspected = secateur("inspect", shop, "--query", QUERY, *words).json
    assert [one["file_path"] for one in inspected["candidates"]] == ["shop/money.py"]
    assert search(shop).out == before


def test_a_part_in_the_users_configuration_counts_for_every_call(shop: Path, own: Path) -> None:
    write(own, {"secateur.toml": '[graph_rag]\nonly = ["shop/money.py"]\n[redaction]\nscanner = "rules"\n'})
    assert {one["file_path"] for one in search(shop).json["candidates"]} == {"shop/money.py"}
    assert secateur("status", shop, "--format", "json").json["only"] == ["shop/money.py"]
    assert "only        shop/money.py: search and inspect answer from there" in secateur("status", shop).out


@pytest.mark.usefixtures("own")
def test_a_part_is_kept_by_a_scenario(shop: Path) -> None:
    assert search(shop, "--only", "shop", "--save", shop / "a.scenario.toml").code == 0
    assert 'only = ["shop"]' in (shop / "a.scenario.toml").read_text()
    ran = secateur("check", shop)
    assert ran.code == 0, ran.out


@pytest.mark.usefixtures("own")
def test_wrong_parts_are_wrong_calls(shop: Path) -> None:
    for words in (("--only", "../x"), ("--only", "")):
        ran = search(shop, *words)
        assert (ran.code, ran.json["error"]["code"]) == (2, "USAGE")
    assert secateur("inspect", shop, "--bench", "diff", "--only", "shop").code == 2


# --- a list of files --------------------------------------------------------------------------------------------------


def test_a_list_of_files_is_read_from_standard_input_and_nothing_else(shop: Path, tmp_path: Path) -> None:
    words = ("search", QUERY, shop, "--files-from", "-", "--format", "json")
    ran = secateur(*words, stdin=b"shop/refund.py\0README.md\0")
    plain = write(tmp_path / "plain", {name: SHOP[name] for name in ("shop/refund.py", "README.md")})
    assert candidates_by_place(ran) == candidates_by_place(search(plain))
    assert ran.json["warnings"] == []
    for lines in (b"./shop/refund.py\r\nREADME.md\r\n", f"{shop}/shop/refund.py\n{shop}/README.md".encode()):
        assert secateur(*words, stdin=lines).out == ran.out
    whole = search(shop)
    assert secateur(*words, stdin=b"shop/refund.py\nREADME.md\n").out == ran.out
    assert search(shop).out == whole.out


def candidates_by_place(ran: Ran) -> list[tuple[str, str, float]]:
    found = ran.json["candidates"] + ran.json["dropped"]
    return sorted((one["symbol_id"], one["line_range"], one["relevance_score"]) for one in found)


def test_listed_files_that_are_not_read_are_counted(shop: Path) -> None:
    words = ("search", QUERY, shop, "--files-from", "-", "--format", "json")
    ran = secateur(*words, stdin=b"shop/refund.py\n../x\nno.py\n")
    (said,) = [one["message"] for one in ran.json["warnings"] if one["code"] == "listed_files"]
    assert said.startswith("2 of the 3 listed files are not read (the first is ../x)")
    empty = secateur(*words, stdin=b"")
    assert {"listed_files", "nothing_indexed"} <= {one["code"] for one in empty.json["warnings"]}
    assert empty.code == 0


def test_files_takes_a_list_for_its_folders(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("refund.py\nmoney.py\n")
    ran = secateur("files", shop / "shop", "--query", QUERY, "--files-from", tmp_path / "list.txt", "--format", "json")
    assert [one["module_name"].rpartition("/")[2] for one in ran.json["files"]] == ["money.py", "refund.py"]
    both = secateur("files", shop, "--query", "-", "--files-from", "-", stdin=b"x")
    assert (both.code, "cannot both be read from standard input" in both.err) == (2, True)
    both = secateur("search", "-", shop, "--files-from", "-", stdin=b"x")
    assert (both.code, "cannot both be read from standard input" in both.err) == (2, True)


def test_a_list_works_on_a_url_and_in_a_scenario(shop: Path) -> None:
    ran = secateur("search", QUERY, shop.as_uri(), "--files-from", "-", "--format", "json", stdin=b"shop/money.py\n")
    assert {one["file_path"] for one in ran.json["candidates"]} == {"shop/money.py"}
    scenario = shop / "a.scenario.toml"
    ran = secateur("search", QUERY, shop, "--files-from", "-", "--save", scenario, stdin=b"shop/money.py\n")
    assert ran.code == 0, ran.err
    assert secateur("check", scenario).code == 0
