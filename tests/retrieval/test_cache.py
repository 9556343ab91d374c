import json
import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.retrieval import cache as cache_module
from secateur.retrieval.cache import KEY_FILE, SPEC_FOLDER, ResultCache, remove

RELATIVE = SPEC_FOLDER


class Clock:
    def __init__(self, now=1_000_000.0):
        self.now = now

    def __call__(self):
        return self.now


@pytest.fixture
def places(tmp_path):
    """A repository and a user's cache folder."""
    root = tmp_path / "repository"
    root.mkdir()
    return root, tmp_path / "user"


def opened(places, clock=None, relative=RELATIVE, ttl=300):
    root, user = places
    cache = ResultCache.open(root, relative, user, ttl=ttl, clock=clock or Clock())
    assert cache is not None
    return cache


def entry(cache):
    (path,) = cache.folder.glob("*.json")
    return path


def test_an_answer_comes_back(places):
    cache = opened(places)
    assert cache.get("key") is None
    assert cache.put("key", "ä\udcff\n answer") == "ä\udcff\n answer"
    assert cache.get("key") == "ä\udcff\n answer"
    assert cache.get("key ") is None
    assert opened(places).get("key") == "ä\udcff\n answer"


@pytest.mark.parametrize(("after", "there"), [(0, True), (299, True), (300, False), (100_000, False), (-1, False)])
def test_an_answer_lives_for_its_time_and_never_comes_from_the_future(places, after, there):
    clock = Clock()
    cache = opened(places, clock)
    cache.put("key", "answer")
    clock.now += after
    assert (cache.get("key") is not None) == there


def test_it_lies_in_the_users_folder_and_nothing_in_the_repository(places):
    root, user = places
    cache = opened(places, relative="")
    cache.put("key", "answer")
    assert cache.folder.is_relative_to(user)
    assert list(root.iterdir()) == []


def test_asked_for_it_lies_in_the_repository_in_a_folder_that_ignores_itself(places):
    root, user = places
    cache = opened(places)
    assert cache.folder == root / RELATIVE
    assert (cache.folder / ".gitignore").read_text() == "*\n"
    assert stat.S_IMODE((user / KEY_FILE).stat().st_mode) == 0o600
    assert len((user / KEY_FILE).read_bytes()) == 32


def test_an_existing_ignore_file_stays(places):
    root, _ = places
    (root / RELATIVE).mkdir(parents=True)
    (root / RELATIVE / ".gitignore").write_text("own\n")
    assert (opened(places).folder / ".gitignore").read_text() == "own\n"


def test_where_the_repository_cannot_be_written_the_users_folder_serves(places):
    root, user = places
    (root / ".devbooks").write_text("a file where the folder should be")
    cache = opened(places)
    assert cache.folder.is_relative_to(user)
    cache.put("key", "answer")
    assert cache.get("key") == "answer"


def test_files_in_memory_have_no_repository(places):
    _, user = places
    cache = ResultCache.open(None, RELATIVE, user, ttl=300, clock=Clock())
    assert cache is not None
    assert cache.folder.is_relative_to(user)


def test_where_nothing_can_be_written_there_is_no_cache(places):
    root, user = places
    user.write_text("a file where the folder should be")
    assert ResultCache.open(root, RELATIVE, user, ttl=300, clock=Clock()) is None


def test_an_absolute_folder_is_the_users_choice(places, tmp_path):
    assert opened(places, relative=str(tmp_path / "elsewhere")).folder == tmp_path / "elsewhere"


@pytest.mark.parametrize("relative", ["", RELATIVE])
def test_two_repositories_never_share_the_users_folder(tmp_path, relative):
    roots = [tmp_path / "one", tmp_path / "two"]
    for root in roots:
        root.mkdir()
        (root / ".devbooks").write_text("")
        opened((root, tmp_path / "user"), relative=relative).put("key", root.name)
    kept = [opened((root, tmp_path / "user"), relative=relative).get("key") for root in roots]
    assert kept == ["one", "two"]
    remove(roots[0], relative, tmp_path / "user")
    kept = [opened((root, tmp_path / "user"), relative=relative).get("key") for root in roots]
    assert kept == [None, "two"]


# --- a repository that ships a cache ----------------------------------------------------------------------------------


@pytest.mark.parametrize("link", [".devbooks", ".devbooks/cache", ".devbooks/cache/graph-context"])
def test_a_folder_reached_through_a_link_is_not_used(places, tmp_path, link):
    root, user = places
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / link).parent.mkdir(parents=True, exist_ok=True)
    (root / link).symlink_to(outside)
    cache = opened(places)
    cache.put("key", "answer")
    assert cache.folder.is_relative_to(user)
    assert list(outside.iterdir()) == []


def test_a_folder_outside_the_repository_is_not_used(places):
    root, user = places
    cache = opened(places, relative="../outside")
    assert cache.folder.is_relative_to(user)
    assert not (root.parent / "outside").exists()


def test_a_link_in_place_of_the_ignore_file_is_not_followed(places, tmp_path):
    root, _ = places
    (root / RELATIVE).mkdir(parents=True)
    (root / RELATIVE / ".gitignore").symlink_to(tmp_path / "victim")
    opened(places)
    assert not (tmp_path / "victim").exists()


def test_an_entry_of_another_user_is_a_miss(places, tmp_path):
    root, _ = places
    opened(places).put("key", "answer")
    assert opened((root, tmp_path / "another user")).get("key") is None


def test_an_entry_under_another_key_is_a_miss(places):
    cache = opened(places)
    cache.put("key", "answer")
    entry(cache).rename(cache._path("other key"))
    assert cache.get("other key") is None


@pytest.mark.parametrize("field", ["text", "written", "signature"])
def test_a_changed_entry_is_a_miss(places, field):
    cache = opened(places)
    cache.put("key", "answer")
    content = json.loads(entry(cache).read_text())
    content[field] = content[field] + 1 if field == "written" else content[field] + "x"
    entry(cache).write_text(json.dumps(content))
    assert cache.get("key") is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"text": "x", "written": 1}',
        b'{"text": 1, "written": 1, "signature": "x"}',
        b'{"text": "x", "written": "1", "signature": "x"}',
        b'{"text": "x", "written": 1, "signature": null}',
        b'{"text": "x", "written": 1, "signature": "\\ud800"}',
        b'{"text": "x", "written": ' + b"9" * 4000 + b', "signature": "x"}',
        b'{"text": "x", "written": ' + b"9" * 5000 + b', "signature": "x"}',
        b"[" * 200_000,
        b'{"text": NaN, "written": Infinity, "signature": "x"}',
    ],
)
def test_anything_else_in_its_place_is_a_miss(places, content):
    cache = opened(places)
    cache._path("key").write_bytes(content)
    assert cache.get("key") is None
    assert cache.put("key", "answer") == "answer"
    assert cache.get("key") == "answer"


@given(content=st.binary(max_size=60))
def test_any_bytes_are_a_miss(tmp_path_factory, content):
    root = tmp_path_factory.mktemp("repository")
    cache = opened((root, root / "user"))
    cache._path("key").write_bytes(content)
    assert cache.get("key") is None


def test_special_files_are_not_opened(places, tmp_path):
    cache = opened(places)
    os.mkfifo(cache._path("pipe"))
    (tmp_path / "secret").write_text("{}")
    cache._path("link").symlink_to(tmp_path / "secret")
    cache._path("folder").mkdir()
    assert [cache.get(key) for key in ("pipe", "link", "folder")] == [None, None, None]
    assert cache.put("folder", "answer") == "answer"
    cache.put("link", "answer")
    assert (cache.get("link"), (tmp_path / "secret").read_text()) == ("answer", "{}")


def test_an_entry_that_is_too_large_is_not_read(places, monkeypatch):
    cache = opened(places)
    cache.put("key", "answer")
    monkeypatch.setattr(cache_module, "MAX_ENTRY_BYTES", 10)
    assert cache.get("key") is None


# --- the folder over time ---------------------------------------------------------------------------------------------


def test_only_so_many_entries_are_kept_the_oldest_go(places, monkeypatch):
    monkeypatch.setattr(cache_module, "MAX_ENTRIES", 3)
    cache = opened(places)
    dangling = cache.folder / f"{'0' * 64}.json"
    dangling.symlink_to("nowhere")
    os.utime(dangling, (0, 0), follow_symlinks=False)
    for number in range(5):
        cache.put(f"key {number}", "answer")
        os.utime(cache._path(f"key {number}"), (number + 1, number + 1))
    assert [cache.get(f"key {number}") is not None for number in range(5)] == [False, False, True, True, True]
    assert not list(cache.folder.glob("*.part"))
    assert len(list(cache.folder.glob("*.json"))) == 3


def test_a_folder_that_is_gone_only_means_that_nothing_is_stored(places):
    cache = opened(places)
    (cache.folder / ".gitignore").unlink()
    cache.folder.rmdir()
    assert cache.put("key", "answer") == "answer"
    assert cache.get("key") is None


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_a_broken_key_is_made_anew(places, content):
    _, user = places
    opened(places).put("key", "answer")
    (user / KEY_FILE).write_bytes(content)
    cache = opened(places)
    assert cache.get("key") is None
    assert len((user / KEY_FILE).read_bytes()) == 32
    assert [path.name for path in user.iterdir()] == [KEY_FILE]


def test_files_that_are_no_entries_are_never_removed(places, tmp_path, monkeypatch):
    monkeypatch.setattr(cache_module, "MAX_ENTRIES", 1)
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "package.json").write_text("{}")
    cache = opened(places, relative=str(folder))
    for key in "abc":
        cache.put(key, "text")
    assert (folder / "package.json").read_text() == "{}"
    assert len(list(folder.glob("*.json"))) == 2


def test_the_top_of_the_repository_never_ignores_itself(places):
    root, user = places
    assert user in opened(places, relative=".").folder.parents
    assert list(root.iterdir()) == []


def test_answers_can_be_removed_and_nothing_else_is(places):
    root, user = places
    cache = opened(places)
    cache.put("key", "answer")
    (cache.folder / f"{'0' * 64}.json.a1.part").write_text("half an entry")
    assert remove(root, RELATIVE, user) > 0
    assert list(root.iterdir()) == []
    assert root.is_dir()
    assert opened(places).get("key") is None
    (cache.folder / "notes.json").write_text("{}")
    (root / ".devbooks/own").write_text("")
    opened(places).put("key", "answer")
    remove(root, RELATIVE, user)
    assert sorted(path.name for path in cache.folder.iterdir()) == [".gitignore", "notes.json"]
    (cache.folder / "notes.json").unlink()
    remove(root, RELATIVE, user)
    assert [path.name for path in (root / ".devbooks").iterdir()] == ["own"]
    assert remove(root, RELATIVE, user) == 0


def test_a_folder_elsewhere_is_the_users_and_stays(places, tmp_path):
    root, user = places
    folder = tmp_path / "empty" / "mine"
    folder.mkdir(parents=True)
    opened(places, relative=str(folder)).put("key", "answer")
    assert remove(root, str(folder), user) > 0
    assert list(folder.iterdir()) == []


def test_answers_in_the_users_folder_are_removed_too(places):
    root, user = places
    (root / ".devbooks").write_text("a file where the folder should be")
    opened(places).put("key", "answer")
    assert remove(root, RELATIVE, user) > 0
    assert [path.name for path in user.iterdir()] == [KEY_FILE]


def test_what_killed_writers_left_goes_and_files_of_others_stay(places, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "download.part").write_text("of another program")
    (folder / f"{'a' * 64}.json.x1.part").write_text("half an entry")
    cache = opened(places, relative=str(folder))
    cache.put("key", "answer")
    assert [path.name for path in folder.glob("*.part")] == ["download.part"]
