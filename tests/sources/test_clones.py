"""Repositories elsewhere are cloned into the cache: whole or not at all, by git's own servers, and anew on request."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from secateur.errors import RepositoryError
from secateur.progress import Progress
from secateur.sources import clones
from secateur.sources.git_addresses import FetchOptions
from secateur.sources.named import folder_of
from secateur.sources.open import open_source
from secateur.sources.provenance import RECORD, clone_at
from support.git_server import SSHD, http_backend, silent_server, ssh_server, ssh_stand_in
from support.repos import SHOP, committed, git, write

MORE = {"shop/later.py": "def later():\n    return 2\n"}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return committed(tmp_path / "origin" / "shop", SHOP)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def commit(root: Path, files: dict[str, str | bytes], message: str = "More") -> str:
    write(root, files)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message, time=1_750_100_000)
    return git(root, "rev-parse", "HEAD")


def paths(folder: Path, rev: str | None = None) -> list[str]:
    return [entry.path for entry in open_source(folder, rev).entries()]


def left(cache: Path) -> list[str]:
    """The names in the folders of clones that are no clone."""
    return [place.name for place in cache.glob("clones/*/*") if clone_at(place) is None]


def refused(url: str, cache: Path, options: FetchOptions | None = None) -> RepositoryError:
    with pytest.raises(RepositoryError) as caught:
        folder_of(url, cache, options or FetchOptions())
    assert left(cache) == []
    return caught.value


def test_a_clone_reads_as_the_repository_does(shop: Path, cache: Path) -> None:
    second = commit(shop, MORE)
    git(shop, "tag", "v1", "HEAD~1")
    folder = folder_of(shop.as_uri(), cache, FetchOptions())
    cloned, there = open_source(folder), open_source(shop)
    assert cloned.commit == second
    assert [entry.path for entry in cloned.entries()] == [entry.path for entry in there.entries()]
    assert list(cloned.history()) == list(there.history())
    assert paths(folder, "v1") == sorted(SHOP)
    assert [notice.code for notice in cloned.notices()] == ["cloned"]
    assert shop.as_uri() in cloned.notices()[0].message
    assert cloned.describe() == f"shop @ {second[:7]}"


def test_what_was_fetched_is_read_until_it_is_refreshed(shop: Path, cache: Path) -> None:
    folder = folder_of(shop.as_uri(), cache, FetchOptions())
    git(shop, "branch", "old")
    commit(shop, MORE)
    assert folder_of(shop.as_uri(), cache, FetchOptions()) == folder
    assert "shop/later.py" not in paths(folder)
    once = FetchOptions(refresh=True)
    assert folder_of(shop.as_uri(), cache, once) == folder
    assert "shop/later.py" in paths(folder)
    git(shop, "checkout", "-q", "-b", "next")
    newest = commit(shop, {"next.py": "x = 1\n"})
    git(shop, "branch", "-q", "-D", "old")
    folder_of(shop.as_uri(), cache, once)  # one call fetches once, however often it asks
    assert "next.py" not in paths(folder)
    folder_of(shop.as_uri(), cache, FetchOptions(refresh=True))
    assert open_source(folder).commit == newest  # HEAD is another branch over there
    with pytest.raises(RepositoryError, match="no commit 'old'") as caught:
        open_source(folder, "old")
    assert "--refresh" in caught.value.hint


def test_nothing_is_fetched_where_that_is_not_allowed(shop: Path, cache: Path) -> None:
    with pytest.raises(RepositoryError) as caught:
        folder_of(shop.as_uri(), cache)
    assert caught.value.code == "NOT_FETCHED"
    assert not cache.exists()
    folder = folder_of(shop.as_uri(), cache, FetchOptions())
    shutil.rmtree(shop)
    assert folder_of(shop.as_uri(), cache) == folder
    assert "without --refresh the clone of" in refused(shop.as_uri(), cache, FetchOptions(refresh=True)).hint
    assert paths(folder) == sorted(SHOP)


def test_a_shallow_clone_has_no_history_and_says_so_until_it_is_whole(shop: Path, cache: Path) -> None:
    newest = commit(shop, MORE)
    folder = folder_of(shop.as_uri(), cache, FetchOptions(shallow=True))
    source = open_source(folder)
    assert (source.commit, list(source.history()), source.history_id) == (newest, [], "")
    assert [notice.code for notice in source.notices()] == ["cloned", "shallow_clone"]
    folder_of(shop.as_uri(), cache, FetchOptions(refresh=True, shallow=True))
    assert list(open_source(folder).history()) == []
    folder_of(shop.as_uri(), cache, FetchOptions(refresh=True))
    whole = open_source(folder)
    assert len(list(whole.history())) == 2
    assert [notice.code for notice in whole.notices()] == ["cloned"]


def test_gits_own_http_backend(shop: Path, cache: Path) -> None:
    with http_backend(shop.parent) as address:
        folder = folder_of(f"{address}/shop", cache, FetchOptions())
        assert paths(folder) == sorted(SHOP)
        commit(shop, MORE)
        folder_of(f"{address}/shop", cache, FetchOptions(refresh=True))
        assert "shop/later.py" in paths(folder)
        missing = refused(f"{address}/nothing", cache)
        assert missing.code == "FETCH_FAILED"
        assert "not found" in missing.message
        shallow = folder_of(f"{address}/shop/.git", cache, FetchOptions(shallow=True))
        assert clone_at(shallow) is not None


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl to make a certificate with")
def test_https_holds_to_certificates_that_the_user_trusts(shop: Path, cache: Path, tmp_path: Path) -> None:
    pem = tmp_path / "server.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", str(pem)]
    subprocess.run([*made, "-out", str(tmp_path / "cert"), *subject], check=True, capture_output=True)
    pem.write_bytes(pem.read_bytes() + (tmp_path / "cert").read_bytes())
    with http_backend(shop.parent, pem) as address:
        assert "GIT_SSL_CAINFO" in refused(f"{address}/shop", cache).hint
        trusting = FetchOptions(environ={**os.environ, "GIT_SSL_CAINFO": str(tmp_path / "cert")})
        assert paths(folder_of(f"{address}/shop", cache, trusting)) == sorted(SHOP)


@pytest.mark.parametrize("form", ["git@example.com:{}", "ssh://git@example.com:2222{}"])
def test_ssh_by_the_users_own_command(shop: Path, cache: Path, tmp_path: Path, form: str) -> None:
    own = FetchOptions(environ={**os.environ, "GIT_SSH_COMMAND": ssh_stand_in(tmp_path), "GIT_SSH_VARIANT": "ssh"})
    folder = folder_of(form.format(shop), cache, own)
    assert paths(folder) == sorted(SHOP)
    assert "git@example.com" in (tmp_path / "words").read_text()


@pytest.mark.skipif(SSHD is None, reason="no OpenSSH server is installed")
def test_an_ssh_server_is_asked_with_the_users_key(shop: Path, cache: Path, tmp_path: Path) -> None:
    with ssh_server(tmp_path / "ssh") as (host, command):
        address = f"ssh://{host}{shop}"
        own = FetchOptions(environ={**os.environ, "GIT_SSH_COMMAND": command})
        assert paths(folder_of(address, cache, own)) == sorted(SHOP)
        commit(shop, {"shop/new.py": "def new():\n    pass\n"})
        again = FetchOptions(refresh=True, environ=own.environ)
        assert paths(folder_of(address, cache, again)) == sorted([*SHOP, "shop/new.py"])

        (tmp_path / "ssh" / "known").write_text("")
        error = refused(address, cache / "other", own)
        assert "Host key verification failed" in error.message
        assert "accept the key of the host" in error.hint
        (tmp_path / "ssh" / "authorized").write_text("")
        unknown = FetchOptions(environ={**os.environ, "GIT_SSH_COMMAND": command.replace("=yes -i", "=no -i")})
        error = refused(address, cache / "third", unknown)
        assert "Permission denied" in error.message
        assert "a key in your agent" in error.hint


def test_ssh_asks_nobody(shop: Path, cache: Path, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "ssh").write_text(
        f'#!/bin/sh\necho "$@" > {tmp_path}/words\necho "Permission denied (publickey)." >&2\nexit 255\n'
    )
    (programs / "ssh").chmod(0o755)
    environ = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path), "SSH_ASKPASS": "/bin/x"}
    error = refused(f"git@example.com:{shop}", cache, FetchOptions(environ=environ))
    assert "Permission denied" in error.message
    assert "agent" in error.hint
    assert "BatchMode=yes" in (tmp_path / "words").read_text()


def test_a_server_that_never_answers_is_given_up(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clones, "IDLE_SECONDS", 1)
    with silent_server() as (address, _):  # where the machine is busy, git is given up before it comes there
        error = refused(address, cache)
    assert error.code == "FETCH_TIMEOUT"
    assert "name the folder" in error.hint
    assert "nothing arrived for 1 seconds" in error.message


def test_a_repository_above_the_limit_is_not_fetched(shop: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clones, "MOST_BYTES", 1_000_000)
    commit(shop, {"noise.bin": os.urandom(3_000_000)})
    error = refused(shop.as_uri(), cache)
    assert error.code == "FETCH_TOO_LARGE"


def test_many_at_once_fetch_once(shop: Path, cache: Path) -> None:
    def cloned(_: int) -> Path:
        return folder_of(shop.as_uri(), cache, FetchOptions())

    with ThreadPoolExecutor(4) as pool:
        folders = set(pool.map(cloned, range(4)))
    assert len(folders) == 1
    assert paths(folders.pop()) == sorted(SHOP)
    assert left(cache) == []


def test_what_ends_a_fetch_leaves_nothing(shop: Path, cache: Path) -> None:
    def ends(*_: object) -> None:
        raise KeyboardInterrupt

    from contextlib import AbstractContextManager, nullcontext

    def reporting() -> AbstractContextManager[Progress]:
        return nullcontext(ends)

    with pytest.raises(KeyboardInterrupt):
        folder_of(shop.as_uri(), cache, FetchOptions(reporting=reporting))
    assert left(cache) == []
    folder = folder_of(shop.as_uri(), cache, FetchOptions())
    with pytest.raises(KeyboardInterrupt):
        folder_of(shop.as_uri(), cache, FetchOptions(refresh=True, reporting=reporting))
    assert not list(folder.rglob("*.lock")) + list(folder.rglob("tmp_*"))
    assert paths(folder) == sorted(SHOP)


def test_what_a_killed_process_left_is_removed(shop: Path, cache: Path) -> None:
    folder = folder_of(shop.as_uri(), cache, FetchOptions())
    folder.rename(folder.with_name(".new"))  # as if it had been killed before the last step
    (folder.with_name(".new") / RECORD).unlink()
    assert paths(folder_of(shop.as_uri(), cache, FetchOptions())) == sorted(SHOP)
    assert left(cache) == []


@pytest.mark.parametrize("name", ["new", ".new", "lock", "a" * 60])
def test_any_name_of_a_repository_is_a_folder(cache: Path, tmp_path: Path, name: str) -> None:
    there = committed(tmp_path / "origin" / name, SHOP)
    assert paths(folder_of(there.as_uri(), cache, FetchOptions())) == sorted(SHOP)


def test_an_empty_repository_is_said_to_be(cache: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "-q", "--template=")
    assert "is empty" in refused(empty.as_uri(), cache).message


def test_a_repository_whose_head_names_no_branch_is_read_from_another(shop: Path, cache: Path) -> None:
    (shop / ".git" / "HEAD").write_text("ref: refs/heads/gone\n")
    assert paths(folder_of(shop.as_uri(), cache, FetchOptions())) == sorted(SHOP)


def test_nothing_of_the_repository_over_there_runs(shop: Path, cache: Path, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {canary}\nexec git pack-objects\n")
    program.chmod(0o755)
    write(shop, {".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = ext::sh -c touch\n'})
    commit(shop, {".gitattributes": "*.py filter=x\n"})
    git(shop, "config", "uploadpack.packObjectsHook", str(program))
    git(shop, "config", "core.fsmonitor", str(program))
    hooks = shop / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "reference-transaction", "post-update", "pre-receive"):
        shutil.copy(program, hooks / name)
    folder = folder_of(shop.as_uri(), cache, FetchOptions())
    assert "shop/refund.py" in paths(folder)
    assert not canary.exists()
    assert sorted(place.name for place in folder.iterdir()) == [
        "HEAD", "config", "info", "objects", "packed-refs", "refs", RECORD
    ]  # fmt: skip
    assert "remote" not in (folder / "config").read_text()


def test_a_record_that_somebody_else_wrote_makes_no_clone(tmp_path: Path) -> None:
    (tmp_path / RECORD).write_text(json.dumps({"url": "https://a:b@example.com/x", "fetched": 1, "shallow": False}))
    assert clone_at(tmp_path) is None
    (tmp_path / RECORD).write_text(json.dumps({"url": "https://example.com/x", "fetched": 10**30, "shallow": False}))
    assert clone_at(tmp_path) is None
    (tmp_path / RECORD).write_text("[1]")
    assert clone_at(tmp_path) is None
