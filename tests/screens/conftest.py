"""Textual reads the environment when it is imported: what would change the screens is taken away before."""

import os

import pytest

for _name in [name for name in os.environ if name.startswith("TEXTUAL") or name in ("NO_COLOR", "COLORTERM")]:
    del os.environ[_name]


@pytest.fixture(autouse=True)
def lasting_toasts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A toast stays for as long as a test looks: one that left after five seconds would be missed on a busy machine."""
    from inspector_kit import STALLED
    from secateur_tui.app import Inspector

    monkeypatch.setattr(Inspector, "NOTIFICATION_TIMEOUT", STALLED)
    monkeypatch.setattr(Inspector, "SURVIVES", False)  # an error ends a test
