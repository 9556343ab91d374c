"""What is recognised once is in nothing that leaves: the last door, and what each command does with it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from string import ascii_letters

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur import recognised
from secateur.recognised import REDACTED, SHORTEST, begin_run, recognise, separate_run, without_recognised
from secateur.redaction import Redactor, Scanning, outgoing
from secateur.redaction.value_looks import MOST_JUDGED
from support.cli import secateur
from support.credentials import MAKERS, drawn
from support.repos import committed, git

TOKEN = MAKERS["github-token"](Random(1))
PASSWORD = drawn(Random(2), 18)
LETTERS = "hf_" + drawn(Random(3), 34, ascii_letters)
SIGNS = f"{drawn(Random(4), 9)}/{drawn(Random(5), 9)}+{drawn(Random(6), 9)}="
SHORT = f"C0rect&{drawn(Random(7), 5)}"


@pytest.fixture(autouse=True)
def fresh() -> None:
    begin_run()


def test_a_value_is_replaced_wherever_it_stands_and_however_it_is_written():
    recognise('a"b&c/d 9x<Z')
    for text in (
        'login with a"b&c/d 9x<Z failed',
        r'{"x": "a\"b&c/d 9x<Z"}',
        "a&quot;b&amp;c/d 9x&lt;Z",
        "a%22b%26c%2Fd%209x%3CZ",
    ):
        assert REDACTED in without_recognised(text) and "c/d" not in without_recognised(text)


@pytest.mark.parametrize("word", ["password", "production", "12345678", "aaaaaaaa", "a1b2c3"])
def test_words_numbers_and_short_values_stay(word: str):
    Redactor(Scanning(full=False)).text(f'password = "{word}"')
    assert without_recognised(f"the {word} is") == f"the {word} is"


def test_each_line_of_a_key_is_replaced_by_itself():
    key = MAKERS["private-key"](Random(3))
    recognise(key)
    assert key.split("\n")[4] not in without_recognised(f"see {key.split(chr(10))[4]}!")


def test_a_run_of_its_own_knows_nothing_of_another():
    recognise(TOKEN)
    with separate_run():
        assert without_recognised(TOKEN) == TOKEN
        recognise(PASSWORD)
    assert without_recognised(f"{TOKEN} {PASSWORD}") == f"{REDACTED} {PASSWORD}"


def test_the_number_of_values_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recognised, "MOST_VALUES", 3)
    values = [drawn(Random(number), 12) for number in range(5)]
    for value in values:
        recognise(value)
    assert [without_recognised(value) == value for value in values] == [True, True, False, False, False]


def test_values_that_overlap_leave_nothing_of_each_other():
    for value in ("Abcd1234efgh", "Abcd1234efghij99", "efghij99klmn77"):
        recognise(value)
    assert without_recognised("x Abcd1234efghij99 Abcd1234efghij99klmn77 y") == f"x {REDACTED} {REDACTED} y"


def test_a_form_stays_known_while_one_value_has_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recognised, "MOST_VALUES", 2)
    for value in ("a&b1234567", "a&amp;b1234567", PASSWORD):  # the first is forgotten
        recognise(value)
    assert without_recognised(f"a&amp;b1234567 a&b1234567 {PASSWORD}") == f"{REDACTED} a&b1234567 {REDACTED}"


def test_one_long_word_is_looked_through_once():
    for text in ("a" * 200_000, "a" * 200_000 + f" {TOKEN}"):
        assert outgoing(text) == text.replace(TOKEN, REDACTED)  # minutes where each letter reads on


def test_thousands_of_passwords_are_replaced_each_with_its_line():
    values = [drawn(Random(number), 18) for number in range(3_000)]
    redactor = Redactor(Scanning(full=False))
    out = redactor.text("".join(f'password = "{value}"\n' for value in values))
    found = redactor.within(out)
    assert [redaction.line for redaction in found] == list(range(1, len(values) + 1))
    assert without_recognised(" ".join(values)) == " ".join([REDACTED] * len(values))


def test_from_thousands_of_credentials_on_a_name_suffices():
    dump = "".join(f'password = "q7Rt{index}Xz9pLm4"\n' for index in range(MOST_JUDGED))
    redactor = Redactor()
    text = redactor.text(f'{dump}password = "sunshine road"\nauth_token=parse_it\nsay parse_it\n')
    first, second = (f"[redacted: password #{MOST_JUDGED + number}]" for number in (1, 2))
    assert text.endswith(f'"{first}"\nauth_token={second}\nsay {second}\n')
    assert "sunshine road" in Redactor().text('password = "sunshine road"')


def test_thousands_of_passwords_in_a_diff_have_their_lines(tmp_path: Path):
    lines = [f'+password = "{drawn(Random(number), 18)}"\n' for number in range(2_000)]
    head = "diff --git a/a.txt b/a.txt\nnew file mode 100644\n--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,2000 @@\n"
    (tmp_path / "a.diff").write_text(head + "".join(lines))
    ran = secateur("chunk", "--diff", tmp_path / "a.diff", "--format", "json")
    found = [item["line"] for entry in json.loads(ran.out)["ledger"]["entries"] for item in entry.get("redactions", ())]
    assert found == list(range(1, len(lines) + 1))


@given(st.text(min_size=1, max_size=40), st.text(max_size=30))
def test_nothing_of_a_value_is_left_in_text_or_json(value: str, around: str):
    with separate_run():
        recognise(value)
        for text in (around + value + around, json.dumps({around: value}), json.dumps([value], ensure_ascii=False)):
            out = without_recognised(text)
            assert out == text or REDACTED in out
            if len(value) >= SHORTEST and "\n" not in value:
                assert value not in out or value in REDACTED


def test_a_value_of_a_later_text_leaves_those_before_it():
    redactor = Redactor(Scanning(full=False))
    first = redactor.text(f"login with {PASSWORD} failed")
    assert PASSWORD in first
    redactor.text(f'password = "{PASSWORD}"')
    assert PASSWORD not in redactor.bare(first)
    assert PASSWORD not in redactor.text(f"again: {PASSWORD}")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of which one file holds a password, another the value alone, and a commit and a name a token."""
    files = {
        "shop/settings.py": f'PASSWORD = "{PASSWORD}"\n\n\ndef connect():\n    return login(PASSWORD)\n',
        "shop/errors.py": f'def login_failed():\n    """Login failed."""\n    return "login with {PASSWORD} failed"\n',
        f"keys/{TOKEN}.py": "def login_key():\n    return 1\n",
    }
    root = committed(tmp_path / "shop", files)
    (root / "shop" / "money.py").write_text("def login_total():\n    return 1\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", f"Login with the token {TOKEN} again")
    monkeypatch.chdir(root)
    return root


@pytest.mark.parametrize(
    "words",
    [
        ["search", "login with a password failed"],
        ["search", "login with a password failed", "--format", "json", "--explain"],
        ["search", "login with a password failed", "--format", "markdown"],
        ["search", "login with a password failed", "--report", "r.html", "--save", "s.scenario.toml"],
        ["search", f"why does {TOKEN} fail"],
        ["search", "login", "--only", f"{TOKEN}/**"],
        ["search", "login", f"missing/{TOKEN}"],
        ["search", "login", f"--{TOKEN}"],
        ["files", "shop/errors.py", "shop/settings.py", f"keys/{TOKEN}.py", "--query", "login"],
        ["files", "shop/errors.py", "shop/settings.py", "--query", "login", "--format", "json"],
        ["status", "--examples"],
        ["status", "--format", "json"],
        ["chunk", "--base", "HEAD~1", "--format", "json"],
        [TOKEN],
        ["log", f"{LETTERS}.log"],
        ["search", "login", "--pin", f"password-{SIGNS}"],
        ["search", "login", "--pin", f"password-{SIGNS}", "--set", "graph_rag.top_k=5"],
        ["chunk", "--base", f"token={SHORT}"],
    ],
    ids=lambda words: re.sub("|".join(map(re.escape, (TOKEN, LETTERS, SIGNS, SHORT))), "TOKEN", " ".join(words)[:60]),
)
def test_nothing_that_was_recognised_is_printed_or_written(shop: Path, words: list[str]):
    before = {path for path in shop.rglob("*") if path.is_file()}
    ran = secateur(*words)
    assert ran.code in (0, 1, 2), ran.err
    written = "".join(path.read_text("utf-8") for path in shop.rglob("*") if path.is_file() and path not in before)
    for channel in (ran.out, ran.err, written):
        assert not any(secret in channel for secret in (TOKEN, PASSWORD, LETTERS, SIGNS, SHORT))


@pytest.mark.usefixtures("shop")
def test_what_the_user_allows_stays_in_what_they_typed():
    for allowed in (["--no-redact"], ["--set", f"redaction.allow={TOKEN[:4]}*"]):
        ran = secateur("search", f"why does {TOKEN} fail", "--format", "json", *allowed)
        assert TOKEN in json.loads(ran.out)["query"]


@pytest.mark.parametrize("value", ["hunter2Zq9xW3", "Falcon-Candle-Maple65", f"a {PASSWORD}", f"['{PASSWORD}']"])
def test_an_error_does_not_repeat_a_value_that_may_be_a_password(tmp_path: Path, value: str) -> None:
    text = secateur("search", "cart", str(tmp_path), "--set", f"budget={value}").err
    assert "--set: budget = a text of" in text
    assert value.strip("a ['];") not in text


@pytest.mark.parametrize("flag", ["--budget", "--format", "--top-k", "--depth"])
def test_an_error_does_not_repeat_a_flag_that_may_be_a_password(tmp_path: Path, flag: str) -> None:
    ran = secateur("search", "cart", str(tmp_path), flag, "k9Xq2LmP7v")
    assert f"{flag} a text of 10 characters is not allowed" in ran.err and ran.code == 2
