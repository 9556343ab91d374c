"""Scenarios that attack, or name what cannot be read: each is an error with file, line and key, and costs itself."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from secateur_lab.scenarios.scenario import read_scenario
from support.cli import secateur
from support.processes import environment
from support.repos import git

Save = Callable[..., Path]

HEAD = 'scenario = 1\nkind = "log"\n\n[input]\n'
LINE = 5

INPUTS = {
    "an absolute path": ('path = "/etc/passwd"', "input.path = /etc/passwd is not a path below the repository"),
    "a home": ('path = "~/.ssh/id_rsa"', "is not a path below the repository"),
    "above": ('path = "../outside.log"', "leads out of the repository"),
    "above by detours": ('path = "inputs/../../outside.log"', "leads out of the repository"),
    "a link out": ('path = "inputs/link.log"', "is a link that leads out of the repository"),
    "a folder that is a link out": ('path = "linked/outside.log"', "is a link that leads out of the repository"),
    "a link in a circle": ('path = "circle"', "cannot"),
    "the data of git": ('path = ".git/config"', "leads into the data of git"),
    "the data of git, written otherwise": ('path = "inputs/../.GIT/config"', "leads into the data of git"),
    "a device": ('path = "/dev/zero"', "is not a path below the repository"),
    "a pipe": ('path = "pipe"', "it is not a file"),
    "standard input": ('path = "-"', "is not a path below the repository"),
    "a folder": ('path = "inputs"', "it is a folder"),
    "100 MB": ('path = "large.log"', "is larger than 67,108,864 bytes"),
    "NUL": ('path = "ci\\u0000.log"', "input.path = ci␀.log is not a path below the repository"),
    "an escape sequence": ('path = "\\u001b[2J\\u202e"', "cannot read ␛[2J<U+202E>"),
    "a name of thousands of letters": (f'path = "{"a" * 5000}"', "cannot"),
    "a number": ("path = 3", "input.path = 3 is not allowed"),
    "a list": ('path = ["ci.log"]', "is not allowed"),
    "nothing": ('path = ""', "log needs input.path"),
    "an unknown input": ('file = "ci.log"', "log has no input file"),
    "what is not there": ('path = "inputs/c.log"', "input.path: cannot read inputs/c.log"),
}


@pytest.fixture
def hostile(shop: Path) -> Path:
    """A repository with links, pipes and large files."""
    (shop.parent / "outside.log").write_text("ERROR: secret\n")
    (shop / "inputs" / "link.log").symlink_to(shop.parent / "outside.log")
    (shop / "linked").symlink_to(shop.parent)
    (shop / "circle").symlink_to("circle")
    os.mkfifo(shop / "pipe")
    with (shop / "large.log").open("wb") as file:
        file.truncate(100 << 20)
    return shop


@pytest.mark.parametrize("name", INPUTS)
def test_an_input_that_cannot_be_meant_is_refused(hostile: Path, name: str) -> None:
    written, said = INPUTS[name]
    (hostile / "a.scenario.toml").write_text(f"{HEAD}{written}\n")
    ran = secateur("check", "a.scenario.toml")
    assert ran.code == 1
    line = 4 if "needs" in said else LINE
    assert f"error: a.scenario.toml:{line}: " in ran.out
    assert said in ran.out
    assert "secret" not in ran.out
    assert not set(ran.out) & set("\x1b\0\u202e")


SAMPLES = {
    "log": 'path = "{}"',
    "conversation": 'path = "{}"',
    "envelope": 'path = "{}"\nmodel = "gpt-4o"',
    "files": 'path = ["{}"]\nquery = "secret"',
    "search": 'path = "{}"\nquery = "secret"',
    "diff": 'path = "{}"',
    "diff ": 'diff = "{}"',
    "diff  ": 'path = "sample:orders"\nskill = "{}"',
    "diff   ": 'path = "sample:orders"\nrules = "{}"',
    "diff    ": 'path = "sample:orders"\nlinter = ["{}"]',
    "files ": 'path = ["sample:orders"]\nconversation = "{}"',
    "search ": 'path = "sample:orders"\nquery = "secret"\nfiles_from = "{}"',
}
"""By kind, with blanks to tell them apart: each input that names a file or a folder."""


@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.parametrize(
    "text",
    [
        "sample:x.log",
        "sample:out/outside.log",
        "sample:orders/{up}{outside}/outside.log",
        "sample:orders/{up}{outside}",
        "sample:orders/{up}{outside}/*.log",
        "sample:../../outside.log",
        "./sample:x.log",
    ],
)
def test_a_path_that_looks_like_a_sample_reads_nothing_outside(hostile: Path, kind: str, text: str) -> None:
    (hostile / "sample:x.log").symlink_to(hostile.parent / "outside.log")
    (hostile / "sample:out").symlink_to(hostile.parent)
    named = text.format(up="../" * 30, outside=str(hostile.parent).lstrip("/"))
    lines = f'scenario = 1\nkind = "{kind.strip()}"\n[input]\n{SAMPLES[kind].format(named)}\n'
    (hostile / "a.scenario.toml").write_text(f'{lines}[expect]\nlacks = ["secret"]\n')
    ran = secateur("check", "a.scenario.toml", "--format", "markdown")
    assert ran.code == 1, ran.out
    assert "1 cannot run" in ran.out and "outside.log (" not in ran.out


def test_a_recording_reads_nothing_outside(hostile: Path) -> None:
    (hostile / "sample:x.log").symlink_to(hostile.parent / "outside.log")
    up = "../" * 30 + str(hostile.parent).lstrip("/")
    for kind, given in (
        ("log", {"path": "sample:x.log"}),
        ("files", {"path": [f"sample:orders/{up}/outside.log"], "query": "secret"}),
    ):
        head = {"replay": 1}
        opening = {"at": 0, "do": "open", "kind": kind, "input": given}
        path = hostile / "a.replay.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in (head, opening)))
        for words in (["replay", path], ["replay", path, "--svg", "a.svg"]):
            ran = secateur(*words)
            assert ran.code in (1, 2), ran.out
            assert "a.replay.jsonl:2: " in ran.out + ran.err
            assert "secret" not in ran.out + ran.err and not (hostile / "a.svg").exists()


def test_a_session_of_a_database_is_not_read_through_a_link(hostile: Path) -> None:
    with closing(sqlite3.connect(hostile.parent / "private.db")) as database:
        database.execute("CREATE TABLE session (id, title)")
        database.execute("CREATE TABLE message (id, session_id, time_created, data)")
        database.execute("INSERT INTO session VALUES ('ses_1', 'secret')")
        said = json.dumps({"role": "user", "content": "a secret"})
        database.execute("INSERT INTO message VALUES ('m', 'ses_1', 1, ?)", (said,))
        database.commit()
    (hostile / "opencode.db").symlink_to(hostile.parent / "private.db")
    assert secateur("conversation", "opencode.db#ses_1").code == 0, "the user's own command reads it"
    head = 'scenario = 1\nkind = "conversation"\n[input]\npath = "opencode.db#ses_1"\n'
    (hostile / "a.scenario.toml").write_text(head + '[expect]\nlacks = ["secret"]\n')
    ran = secateur("check", "a.scenario.toml")
    assert ran.code == 1 and "cannot read opencode.db#ses_1" in ran.out


def test_a_pattern_reads_nothing_through_a_link(hostile: Path) -> None:
    text = 'scenario = 1\nkind = "files"\n[input]\npath = ["inputs/*.log"]\nquery = "error"\n'
    text += '[expect]\nlacks = ["secret"]\n'
    (hostile / "a.scenario.toml").write_text(text)
    assert secateur("check", "a.scenario.toml").out == "1 scenario: 1 passed\n"
    (hostile / "a.scenario.toml").write_text(text.replace('"inputs/*.log"', '"linked/*.log"'))
    ran = secateur("check", "a.scenario.toml")
    assert ran.code == 1
    assert "a.scenario.toml:4: input.path = linked/*.log is a link that leads out of the repository" in ran.out


SETTINGS = {
    "out of range": ("log.max_tokens = -3", "log.max_tokens = -3 is not allowed"),
    "unknown": ("log.max_token = 3", "max_token"),
    "of a wrong type": ('log.max_tokens = "many"', "log.max_tokens"),
    "a table that is none": ("log = 3", "log is a table"),
    "no profile": ('profile = "fast"', "unknown profile 'fast'"),
    "a server": ('embedding.base_url = "http://example.com/"', "settings.embedding.base_url cannot be part of"),
    "a key": ('embedding.api_key_env = "AWS_SECRET"', "settings.embedding.api_key_env cannot be part of"),
    "embeddings of a server": ('embedding.model = "openai"', "settings.embedding.model = openai cannot be part of"),
    "a language model": ("llm.enabled = true", "settings.llm.enabled cannot be part of"),
    "trust": ("index.trust_git_dir = true", "settings.index.trust_git_dir cannot be part of"),
    "a place to write": ('graph_rag.cache_dir = "src"', "settings.graph_rag.cache_dir cannot be part of"),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_that_is_wrong_or_not_the_scenario_s_is_refused(shop: Path, name: str) -> None:
    written, said = SETTINGS[name]
    (shop / "a.scenario.toml").write_text(f'{HEAD}path = "inputs/ci.log"\n[settings]\n# wrong:\n{written}\n')
    ran = secateur("check", "a.scenario.toml")
    assert ran.code == 1
    assert "error: a.scenario.toml:8: " in ran.out
    assert said in ran.out
    assert "hint: " in ran.out


FILES = {
    "100 MB": (b"#" * (5 << 20), "is larger than 4,194,304 bytes"),
    "not UTF-8": (HEAD.encode() + b'path = "\xff"\n', "a.scenario.toml:5: it is not UTF-8"),
    "NUL": (HEAD.encode() + b'path = "\0"\n', "a.scenario.toml:5: Illegal character"),
    "nesting": (HEAD.encode() + b"path = " + b"[" * 9999, "a.scenario.toml:5: "),
    "nothing": (b"", "a.scenario.toml:1: it does not name its format"),
    "an unknown kind": (
        b'scenario = 1\nkind = "serch"\n',
        "a.scenario.toml:2: there is no kind of context named serch",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_scenario_costs_itself(shop: Path, saved: Save, name: str) -> None:
    saved("log")
    content, said = FILES[name]
    (shop / "a.scenario.toml").write_bytes(content)
    ran = secateur("check")
    assert ran.code == 1
    assert said in ran.out
    assert ran.out.endswith("2 scenarios: 1 passed, 1 cannot run\n")


def test_pipes_and_links_that_are_called_scenarios(shop: Path, saved: Save) -> None:
    path = saved("log")
    os.mkfifo(shop / "pipe.scenario.toml")
    (shop / "gone.scenario.toml").symlink_to("nowhere")
    (shop / "circle.scenario.toml").symlink_to("circle.scenario.toml")
    (shop / "folder.scenario.toml").mkdir()
    assert secateur("check").out == "1 scenario: 1 passed\n", "in a folder they are passed over"
    ran = secateur("check", "pipe.scenario.toml", "gone.scenario.toml", "circle.scenario.toml", path)
    assert ran.code == 1
    assert "cannot read pipe.scenario.toml: it is not a regular file" in ran.out
    assert "cannot read gone.scenario.toml: there is no such file" in ran.out
    assert "cannot read circle.scenario.toml: " in ran.out
    assert ran.out.endswith("4 scenarios: 1 passed, 3 cannot run\n")


def test_a_scenario_in_the_data_of_git_is_refused(shop: Path, saved: Save) -> None:
    path = saved("log")
    (shop / ".git" / "a.scenario.toml").write_bytes(path.read_bytes())
    ran = secateur("check", ".git/a.scenario.toml")
    assert ran.code == 1
    assert ".git/a.scenario.toml lies in the data of git" in ran.out
    assert secateur("check").out == "1 scenario: 1 passed\n"


def test_a_repository_in_a_repository_is_its_own_root(shop: Path, saved: Save) -> None:
    path = saved("log")
    inner = shop / "vendor" / "inner"
    inner.mkdir(parents=True)
    git(inner, "init", "-q")
    (inner / "a.scenario.toml").write_bytes(path.read_bytes())
    assert "cannot read inputs/ci.log" in secateur("check", inner).out
    (inner / "inputs").mkdir()
    (inner / "inputs" / "ci.log").write_bytes((shop / "inputs" / "ci.log").read_bytes())
    assert secateur("check").out == "2 scenarios: 2 passed\n"


def test_without_a_repository_paths_count_from_the_folder_of_the_scenario(shop: Path, saved: Save) -> None:
    path = saved("log")
    folder = shop.parent / "plain"
    (folder / "inputs").mkdir(parents=True)
    (folder / "a.scenario.toml").write_bytes(path.read_bytes())
    (folder / "inputs" / "ci.log").write_bytes((shop / "inputs" / "ci.log").read_bytes())
    assert secateur("check", folder / "a.scenario.toml").out == "1 scenario: 1 passed\n"


def test_what_cannot_be_recorded_is_that_scenario_s_error_and_its_file_stays(shop: Path, saved: Save) -> None:
    paths = [saved("log"), saved("small", "log", "inputs/ci.log", "--max-tokens", "50")]
    (shop / "inputs" / "ci.log").write_text("ERROR: it broke\nERROR: it broke again\n")
    before = paths[0].read_bytes()

    def small_files() -> None:
        """Lets no file grow beyond what the small scenario needs: writing fails as on a full disk."""
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (450, 450))

    # -B: bytecode that is cut short would be what every later process imports
    words = [sys.executable, "-B", "-m", "secateur.cli.main", "check", "--update"]
    paths[0].write_text("# " + "a remark " * 100 + "\n" + before.decode())
    before = paths[0].read_bytes()
    ran = subprocess.run(words, env=environment(), capture_output=True, text=True, preexec_fn=small_files, check=False)
    assert ran.returncode == 1
    assert re.search(r"error: cannot write checks/log.scenario.toml: File too large", ran.stdout), ran.stdout
    assert "hint: check the permissions of the file and its folder" in ran.stdout
    assert paths[0].read_bytes() == before
    assert sorted(path.name for path in (shop / "checks").iterdir()) == ["log.scenario.toml", "small.scenario.toml"]
    assert read_scenario(paths[1]).recorded is not None


def test_saving_into_a_folder_that_is_not_there_says_so(shop: Path) -> None:
    ran = secateur("log", "inputs/ci.log", "--save", "nowhere/a.scenario.toml")
    assert ran.code == 1
    assert "cannot write nowhere/a.scenario.toml" in ran.err
    assert shop.is_dir()


def test_thousands_of_unknown_ids_are_each_named_and_few_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ci.log").write_text("".join(f"step {number} of it\n" for number in range(40)))
    listed = json.loads(secateur("log", "ci.log", "--format", "json").out)["ledger"]["entries"]
    near = listed[0]["id"] + "x"
    expected = f"[expect]\nmust_keep = {json.dumps([near] * 2_000)}\n"
    Path("a.scenario.toml").write_text(f'{HEAD}path = "ci.log"\n{expected}')
    ran = secateur("check", "a.scenario.toml", "--format", "json")
    said = [failure["said"] for failure in json.loads(ran.out)["scenarios"][0]["failures"]]
    assert len(said) == 2_000
    assert "did you mean" in said[0] and "did you mean" not in said[-1]
