"""Credentials leave no command, whatever it reads; and what says so: markers, ledger, report, warnings."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from secateur.redaction.scanning import find_version
from support.cli import secateur
from support.credentials import MAKERS, private_key
from support.json_shapes import violations
from support.repos import committed, git, write

AWS, GITHUB, KEY = (MAKERS[rule](Random(11)) for rule in ("aws-access-key", "github-token", "private-key"))
SECRETS = (AWS, GITHUB, KEY.split("\n")[5])
UPLOAD = f'''"""Uploads."""


def upload(path):
    """Uploads a file to the bucket."""
    key = "{AWS}"
    return send(path, key)
'''
FETCH = f'''KEY = """{KEY}"""


def send(path, key):
    """Sends the upload of {AWS} with a token."""
    return {{"Authorization": "Bearer {GITHUB}"}}
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    repository = tmp_path / "repository"
    repository.mkdir()
    committed(repository, {"a.py": "x = 1\n"})
    write(repository, {"a.py": UPLOAD, "b.py": FETCH, "README.md": f"# Upload {AWS}\n\nSend it with {GITHUB}.\n"})
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Upload")
    (tmp_path / "ci.log").write_text(f"start\nupload with {AWS}\nERROR: no upload: token={GITHUB}\n{KEY}\nend\n")
    talk = [
        {"role": "user", "content": f"upload with {AWS}"},
        {"role": "assistant", "content": f"I take\n{GITHUB}\nand\n{KEY}"},
        {"role": "user", "content": "go on"},
    ]
    (tmp_path / "talk.json").write_text(json.dumps(talk))
    return tmp_path


COMMANDS = {
    "search": ("search", f"how is an upload sent with {GITHUB}", "repository"),
    "files": ("files", "repository", "--query", f"upload {GITHUB}", "--max-tokens", 4000),
    "log": ("log", "ci.log"),
    "conversation": ("conversation", "talk.json"),
    "chunk": ("chunk", "repository", "--base", "HEAD~1"),
}
FORMATS = {
    "search": ("text", "json", "markdown", "xml"),
    "files": ("text", "json"),
    "log": ("text", "json", "plain"),
    "conversation": ("text", "json"),
    "chunk": ("text", "json", "markdown"),
}


def holds_none(folder: Path, *texts: str) -> bool:
    written = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return not any(secret in text for secret in SECRETS for text in texts) and not any(
        secret.encode() in data for secret in SECRETS for data in written
    )


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", COMMANDS)
def test_no_format_of_any_kind_holds_a_credential(
    name: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path_factory.mktemp("own")
    monkeypatch.setenv("SECATEUR_CACHE_DIR", str(own / "cache"))
    monkeypatch.setenv("SECATEUR_CONFIG_DIR", str(own / "config"))
    for form in FORMATS[name]:
        ran = secateur(*COMMANDS[name], "--format", form)
        assert ran.code == 0, ran.err
        assert holds_none(own, ran.out, ran.err), form
        if form not in ("text",):
            assert "[redacted: aws-access-key #1]" in ran.out, form


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", COMMANDS)
def test_the_ledger_counts_what_was_taken_out_and_where(name: str) -> None:
    ran = secateur(*COMMANDS[name], "--format", "json")
    assert not violations(name, ran.json)
    taken = {
        entry["id"]: [(one["rule"], one["line"]) for one in entry["redactions"]]
        for entry in ran.json["ledger"]["entries"]
        if "redactions" in entry
    }
    assert (
        taken
        == {
            "search": {
                "a.py::upload": [("aws-access-key", 6)],
                "b.py::L1": [("private-key", 1)],
                "b.py::send": [("aws-access-key", 18), ("github-token", 19)],
                "README.md::Upload [redacted: aws-access-key]": [("aws-access-key", 1), ("github-token", 3)],
            },
            "files": {
                "repository/README.md": [("aws-access-key", 1), ("github-token", 3)],
                "repository/a.py": [("aws-access-key", 6)],
                "repository/b.py": [("private-key", 1), ("aws-access-key", 18), ("github-token", 19)],
            },
            "log": {
                "1-2": [("aws-access-key", 2)],
                "3": [("github-token", 3)],
                "4-18": [("private-key", 4)],
            },
            "conversation": {
                "messages[0]": [("aws-access-key", 1)],
                "messages[1]": [("github-token", 2), ("private-key", 4)],
            },
            "chunk": {
                "README.md": [("aws-access-key", 1), ("github-token", 3)],
                "a.py": [("aws-access-key", 6)],
                "b.py": [("private-key", 1), ("aws-access-key", 18), ("github-token", 19)],
            },
        }[name]
    )
    said = secateur(*COMMANDS[name]).out
    assert "credentials taken out: " in said
    assert "aws-access-key in " in said


def test_an_envelope(folder: Path) -> None:
    text = (Path(__file__).parents[2] / "docs/examples/envelope.json").read_text()
    envelope = json.loads(text)
    envelope["session_meta"] = {"task": f"use {AWS}"}
    (folder / "envelope.json").write_text(json.dumps(envelope))
    ran = secateur("envelope", "envelope.json", "--model", "gpt-4o")
    assert AWS not in ran.out
    assert "[redacted: aws-access-key #1]" in ran.out


@pytest.mark.usefixtures("folder")
def test_the_user_may_leave_them_in() -> None:
    for name, words in COMMANDS.items():
        ran = secateur(*words, "--no-redact", "--format", "json")
        assert AWS in ran.out, name
        assert "redactions" not in ran.out, name
    assert AWS in secateur(*COMMANDS["log"], "--set", f"redaction.allow={AWS}", "--format", "plain").out


@pytest.mark.parametrize("said", ["enabled = false", 'allow = ["*"]', 'allow_rules = ["github-token"]'])
def test_a_repository_may_not(said: str, folder: Path) -> None:
    (folder / "repository/secateur.toml").write_text(f"[redaction]\n{said}\n")
    ran = secateur(*COMMANDS["search"], "--format", "markdown")
    assert holds_none(folder / "none", ran.out)
    assert "redaction" in ran.err


@pytest.mark.usefixtures("folder")
def test_the_budget_counts_what_goes_out() -> None:
    from secateur.tokens import count_tokens

    ran = secateur(*COMMANDS["search"], "--format", "json").json
    pack = secateur(*COMMANDS["search"], "--format", "markdown").out
    assert ran["token_count"] == count_tokens(pack) == ran["ledger"]["after"]
    for one in ran["candidates"]:
        assert one["token_count"] == count_tokens(one["content"].strip("\n") + "\n"), one["symbol_id"]


def test_a_scenario_holds_none_and_decides_the_same(folder: Path) -> None:
    for name in ("search", "conversation", "log"):
        words = COMMANDS[name]
        saved = folder / "repository" / f"{name}.scenario.toml"
        if name == "search":
            ran = secateur(*words, "--save", saved)
        else:
            data = (folder / str(words[1])).read_bytes()
            ran = secateur(words[0], "-", "--save", saved, stdin=data)
        assert ran.code == 0, ran.err
        written = [path.read_text() for path in (folder / "repository").rglob(f"{name}*") if path.is_file()]
        written += [path.read_text() for path in (folder / "repository").rglob(f"{name}*/*") if path.is_file()]
        assert not any(secret in text for secret in SECRETS for text in written), name
        assert secateur("check", saved).code == 0


def test_a_scenario_may_not_switch_it_off(folder: Path) -> None:
    saved = folder / "repository" / "a.scenario.toml"
    assert secateur(*COMMANDS["search"], "--save", saved, "--exact").code == 0
    text = saved.read_text()
    saved.write_text(text.replace("[recorded]", "[settings.redaction]\nenabled = false\n\n[recorded]", 1))
    assert "cannot be part of a scenario" in secateur("check", saved).out


NOT_SCANNED = "not scanned by the full scanner"


@pytest.mark.skipif(bool(find_version()), reason="the full scanner is installed")
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", COMMANDS)
def test_without_the_full_scanner_json_alone_says_so_in_every_answer(name: str) -> None:
    """It would hide what an answer itself has to say."""
    full = "--set", "redaction.scanner=full"
    for form in FORMATS[name]:
        ran = secateur(*COMMANDS[name], *full, "--format", form)
        kept = form == "json" and name != "envelope"  # its shape is frozen
        assert (ran.out.count(NOT_SCANNED), ran.err.count(NOT_SCANNED)) == (int(kept), 0), form
    for words in (("--set", "redaction.scanner=rules"), (*full, "--no-redact")):
        assert NOT_SCANNED not in secateur(*COMMANDS[name], *words, "--format", "json").out


@pytest.mark.skipif(bool(find_version()), reason="the full scanner is installed")
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["index", "status"])
def test_without_the_full_scanner_index_and_status_say_so(name: str) -> None:
    for form in ("text", "json"):
        assert NOT_SCANNED in secateur(name, "repository", "--set", "redaction.scanner=full", "--format", form).out
        assert NOT_SCANNED not in secateur(name, "repository", "--format", form).out


def test_one_credential_has_one_number_in_all_files_of_an_answer(folder: Path) -> None:
    for number in range(12):
        token = MAKERS["github-token"](Random(number))
        other = MAKERS["github-token"](Random(number + 1))
        (folder / f"repository/c{number:02}.py").write_text(
            f'def upload_{number}(token):\n    """Upload."""\n    return send("{token}", "{other}")\n'
        )
    pack = secateur("search", "upload a file", "repository", "--top-k", 20, "--format", "markdown").out
    by_file = {
        int(part.split(".py")[0]): [word.split("]")[0] for word in part.split("[redacted: github-token ")[1:3]]
        for part in pack.split("python c")[1:]
    }
    assert len(by_file) > 6
    for number, (_, other) in by_file.items():
        if number + 1 in by_file:
            assert by_file[number + 1][0] == other
    assert len({numbers[0] for numbers in by_file.values()}) == len(by_file)


def test_a_key_over_many_lines_keeps_the_lines_behind_it(folder: Path) -> None:
    (folder / "repository/d.py").write_text(
        f'KEY = """{private_key(Random(5), 30)}"""\n\n\ndef late():\n    """Late."""\n'
    )
    found = secateur("search", "late", "repository", "--format", "json").json["candidates"]
    (one,) = [one for one in found if one["symbol_id"] == "d.py::late"]
    assert (one["line_start"], one["content"].splitlines()[0]) == (35, "def late():")
