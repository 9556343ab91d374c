"""Cases from histories: which commits are cases, which functions they name, and how they are split."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from secateur.engine import Engine
from secateur.errors import RepositoryError
from secateur.history import RepositoryHistory
from secateur.settings import Settings
from secateur.sources import samples
from secateur_lab.evaluation.cases import MOST_FILES, Mined, NoCase, mine
from support.credentials import MAKERS
from support.repos import git, write

MONEY = "def round_total(amount):\n    return int(amount)\n\n\ndef spare(amount):\n    return amount\n"
CLASSES = "class Cart:\n    def total(self):\n        return 1\n\n    def total(self):\n        return 2\n"


class Commits:
    """A repository that is written commit by commit, an hour apart."""

    def __init__(self, root: Path) -> None:
        root.mkdir()
        self.root, self.time = root, 1_700_000_000
        git(root, "init", "-q", "-b", "main")

    def commit(self, message: str, files: dict[str, str | None]) -> str:
        """One more commit; a file of None goes."""
        for path, text in files.items():
            if text is None:
                (self.root / path).unlink()
            else:
                write(self.root, {path: text})
        git(self.root, "add", "-A")
        self.time += 3600
        git(self.root, "commit", "-q", "--allow-empty", "-m", message, time=self.time)
        return git(self.root, "rev-parse", "HEAD")

    def mined(self, most: int = 100) -> Mined:
        return mine(RepositoryHistory.open(self.root, Settings()), most)


def test_a_credential_in_a_message_is_in_no_case(repo: Commits) -> None:
    token = MAKERS["github-token"](Random(7))
    repo.commit("Begin", {"shop/money.py": MONEY})
    repo.commit(f"Round totals with the token {token}", {"shop/money.py": MONEY.replace("int(", "round(")})
    (case,) = repo.mined().cases
    assert case.query == "Round totals with the token [redacted: github-token #1]"
    assert token not in str(case.scenario("."))


@pytest.fixture
def repo(tmp_path: Path) -> Commits:
    return Commits(tmp_path / "shop")


def test_a_case_is_what_a_commit_says_and_the_functions_it_changed_at_its_parent(repo: Commits) -> None:
    before = repo.commit("Begin", {"shop/money.py": MONEY})
    after = repo.commit(
        "Refund totals round half up (#7)",
        {"shop/money.py": MONEY.replace("int(amount)", "int(amount + 0.5)") + "\n\ndef new(): ...\n"},
    )
    (case,) = repo.mined().cases
    assert (case.commit, case.parent) == (after, before)
    assert case.query == "Refund totals round half up"
    assert case.ids == ("shop/money.py::round_total",)
    scenario = case.scenario(".")
    assert scenario.input == {"query": case.query, "path": ".", "rev": before}
    assert scenario.judged == {"shop/money.py::round_total": 3}


def test_functions_are_named_as_they_were_and_new_ones_are_not(repo: Commits) -> None:
    repo.commit("Begin", {"shop/money.py": MONEY, "shop/cart.py": CLASSES})
    moved = MONEY.replace("return amount", "return -amount")
    repo.commit("Spare amounts turn negative", {"shop/money.py": None, "shop/amounts.py": moved})
    repo.commit("Second total wins carts", {"shop/cart.py": CLASSES.replace("return 2", "return 3")})
    repo.commit("Deleted carts vanish entirely", {"shop/cart.py": None})
    repo.commit("Coupons discount baskets", {"shop/coupons.py": "def coupon(): ...\n"})
    mined = repo.mined()
    assert [case.ids for case in mined.cases] == [
        ("shop/money.py::spare",),
        ("shop/cart.py::Cart.total#2",),
        ("shop/cart.py::Cart.total", "shop/cart.py::Cart.total#2"),
    ]
    assert mined.left_out[NoCase.NO_FUNCTION] == 1


def test_what_is_put_between_two_functions_changes_neither(repo: Commits) -> None:
    repo.commit("Begin", {"a.py": MONEY})
    repo.commit("Halves split evenly", {"a.py": MONEY.replace("\n\n\n", "\n\n\ndef half(x):\n    return x / 2\n\n\n")})
    repo.commit("Spare returns early", {"a.py": MONEY.replace("spare(amount):\n", "spare(amount):\n    amount += 0\n")})
    assert [case.ids for case in repo.mined().cases] == [("a.py::half", "a.py::spare")]  # half is gone again


def test_every_other_commit_is_counted_with_its_reason(repo: Commits) -> None:
    files = {f"shop/m{number}.py": MONEY for number in range(MOST_FILES + 1)}
    repo.commit("Begin", files | {"tests/test_money.py": "def test_it(): ...\n", "README.md": "# Shop\n"})
    other = MONEY.replace("int(amount)", "round(amount)")
    repo.commit("fix typo", {"shop/m0.py": other})
    repo.commit('Revert "Round totals down"', {"shop/m0.py": MONEY})
    repo.commit("Release 1.2", {"shop/m0.py": other})
    repo.commit("Totals are rounded everywhere", dict.fromkeys(files, MONEY.replace("int", "float")))
    repo.commit("Refunds are tested twice", {"tests/test_money.py": "def test_it():\n    assert 1\n"})
    repo.commit("Readme describes refunds rounding", {"README.md": "# Shop\n\nRefunds.\n"})
    repo.commit("Nothing changes within refunds", {})
    repo.commit("Rounding keeps halves apart", {"shop/m0.py": MONEY.replace("int", "abs")})
    repo.commit("rounding keeps  halves apart", {"shop/m0.py": MONEY})
    git(repo.root, "checkout", "-q", "-b", "topic", "HEAD~1")
    repo.commit("Topic rounds spare amounts", {"shop/m1.py": MONEY})
    git(
        repo.root, "merge", "-q", "--no-ff", "-m", "Bring the topic of rounding together", "main", time=repo.time + 3600
    )
    mined = repo.mined()
    assert dict(mined.left_out) == {
        NoCase.FIRST: 1,
        NoCase.SAYS_NOTHING: 1,
        NoCase.REVERT: 1,
        NoCase.RELEASE: 1,
        NoCase.MASS_EDIT: 1,
        NoCase.OTHER_FILES: 3,
        NoCase.SAID_BEFORE: 1,
        NoCase.MERGE: 1,
    }
    assert mined.looked_at == len(mined.found) + mined.left_out.total()


def test_the_older_cases_are_for_training_and_the_newest_are_drawn(repo: Commits) -> None:
    repo.commit("Begin", {"a.py": MONEY})
    for number in range(12):
        repo.commit(
            f"Rounding adds step{number} beforehand", {"a.py": MONEY.replace("int(amount)", f"int(amount + {number})")}
        )
    cases = repo.mined(most=10).cases
    assert [case.query.split()[2] for case in cases] == [f"step{number}" for number in range(2, 12)]
    assert [case.part for case in cases] == ["training"] * 6 + ["held_out"] * 4
    assert repo.mined(most=10).cases == cases


def test_a_file_that_an_index_would_not_hold_names_nothing(repo: Commits) -> None:
    long = "x" * 6_000
    repo.commit("Begin", {"a.js": f"function f() {{ return '{long}' }}\n", "b.py": MONEY})
    repo.commit("Minified answers differ now", {"a.js": f"function f() {{ return 1 + '{long}' }}\n"})
    assert repo.mined().left_out[NoCase.NO_FUNCTION] == 1


def test_ids_of_samples_are_those_of_the_index_at_the_parent(tmp_path: Path) -> None:
    root = samples.materialise("orders", tmp_path)
    mined = mine(RepositoryHistory.open(root, Settings()), 12)
    assert mined.cases
    for case in mined.cases[:4]:
        with Engine.open(root, rev=case.parent, cache_dir=tmp_path / "cache") as engine:
            snapshot, _ = engine.code()
            assert all(snapshot.row_of(id_) >= 0 for id_ in case.ids)


def test_a_folder_of_a_repository_has_the_cases_below_it(repo: Commits) -> None:
    repo.commit("Begin", {"shop/money.py": MONEY, "bank/money.py": MONEY})
    repo.commit("Shops round halves up", {"shop/money.py": MONEY.replace("int", "round")})
    repo.commit("Banks round halves down", {"bank/money.py": MONEY.replace("int", "floor")})
    mined = mine(RepositoryHistory.open(repo.root / "shop", Settings()))
    assert [case.ids for case in mined.cases] == [("money.py::round_total",)]


def test_a_folder_without_git_has_no_history(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match="has no history to mine cases from: ") as raised:
        RepositoryHistory.open(tmp_path, Settings())
    assert raised.value.hint == "name a folder of a git repository"
