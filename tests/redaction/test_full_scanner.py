"""The scanner of the extra `secrets`: where it is installed, and where it fails."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from secateur.redaction import NOT_SCANNED, Redactor, Scanning, not_scanned, scanning
from secateur.redaction.scanning import OVERLAP_BYTES, SLICE_BYTES, FullScanner, find_version
from secateur.redaction.spans import CredentialSpan
from secateur.settings import Redacting, Settings
from support.credentials import MAKERS, drawn

AWS = MAKERS["aws-access-key"](Random(1))


class Stub(ModuleType):
    """A scanner that finds every `KEY`, or fails."""

    fails = False

    def Rules(self, **_: Any) -> None:  # noqa: N802 - the name in that package
        return None

    def Scanner(self, _: Any) -> Any:  # noqa: N802
        return SimpleNamespace(scan=self.scan)

    def scan(self, data: bytes, *, timeout: float) -> list[Any]:
        assert timeout > 0
        if self.fails:
            raise RuntimeError("native code\nfailed")
        found, place = [], data.find(b"'KEYKEY'")
        while place >= 0:
            span = {"start_offset": place, "end_offset": place + 8}
            found.append(SimpleNamespace(rule_id="betterleaks.Some_Key.1", visible=True, location=span))
            place = data.find(b"'KEYKEY'", place + 1)
        return found


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Stub:
    module = Stub("kingfisher_sdk")
    monkeypatch.setitem(sys.modules, "kingfisher_sdk", module)
    monkeypatch.setattr(scanning, "_scanners", {})
    return module


@pytest.mark.usefixtures("stub")
def test_what_it_finds_joins_what_our_rules_find(tmp_path: Path) -> None:
    redactor = Redactor(Scanning(rules_folder=str(tmp_path), version="1"))
    assert redactor.text(f"a = 'KEYKEY' {AWS}") == "a = '[redacted: some-key-1 #1]' [redacted: aws-access-key #1]"
    assert redactor.notices == ()


def test_where_it_fails_our_rules_look_alone_and_a_warning_says_so(stub: Stub, tmp_path: Path) -> None:
    stub.fails = True
    redactor = Redactor(Scanning(rules_folder=str(tmp_path), version="1"))
    assert redactor.text(f"a = 'KEYKEY' {AWS}") == "a = 'KEYKEY' [redacted: aws-access-key #1]"
    (notice,) = redactor.notices
    assert (notice.code, "RuntimeError: native code)" in notice.message) == ("scanner_failed", True)
    stub.fails = False
    assert "KEYKEY" in redactor.text("'KEYKEY'")  # it is not asked again in this process


@pytest.mark.usefixtures("stub")
def test_a_credential_at_the_border_of_two_slices_is_found_once(tmp_path: Path) -> None:
    scanner = FullScanner(tmp_path)
    for place in (SLICE_BYTES - 4, SLICE_BYTES - OVERLAP_BYTES + 3, SLICE_BYTES * 2 - OVERLAP_BYTES - 4):
        data = b"x" * place + b"'KEYKEY'" + b"y" * SLICE_BYTES
        assert set(scanner.find(data) or ()) == {CredentialSpan(place + 1, place + 7, "some-key-1")}


def test_it_is_asked_only_where_it_is_installed_and_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    missing, there = Scanning(version=""), Scanning(version="1.5.0")
    assert (missing.is_full, missing.lacks_scanner) == (False, True)
    assert (there.is_full, there.lacks_scanner) == (True, False)
    monkeypatch.setattr(scanning, "find_spec", lambda _: None)
    find_version.cache_clear()
    try:
        assert not_scanned(Settings()) == (NOT_SCANNED,)
        assert not_scanned(Settings(redaction=Redacting(scanner="rules"))) == ()
        assert not_scanned(Settings(redaction=Redacting(enabled=False))) == ()
    finally:
        find_version.cache_clear()


@pytest.mark.skipif(not find_version(), reason="the extra secrets is not installed")
def test_the_real_one_finds_what_our_rules_do_not_know(tmp_path: Path) -> None:
    token = f"SG.{drawn(Random(1), 22)}.{drawn(Random(2), 43)}"
    redactor = Redactor(Scanning(rules_folder=str(tmp_path)))
    assert redactor.text(f'é = "{token}"\n{AWS}') == ('é = "[redacted: sendgrid #1]"\n[redacted: aws-access-key #1]')
