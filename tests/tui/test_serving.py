"""`secateur inspect --serve`: what it starts, and whom it answers."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import aiohttp
import pytest
from secateur.cli.main import main
from secateur.system.processes import isolated_python
from support.processes import environment


def test_a_missing_extra_names_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "textual_serve.server", None)
    assert main(["inspect", "sample:orders", "--serve"]) == 1
    assert "pip install '.[serve]'" in capsys.readouterr().err


async def test_only_our_own_page_opens_the_inspector_and_nothing_in_the_folder_runs(tmp_path: Path) -> None:
    (tmp_path / "msgspec.py").write_text("open('ran', 'w').close()")
    own = {name: str(tmp_path / name.lower()) for name in ("SECATEUR_CACHE_DIR", "SECATEUR_CONFIG_DIR")}
    (tmp_path / "ci.log").write_text("ERROR the pump is dry\n")
    command = isolated_python("from secateur.__main__ import run; sys.exit(run())", "inspect", "ci.log", "--serve")
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=environment() | own)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[4]
        origin = address.rsplit("/", 2)[0]
        async with aiohttp.ClientSession() as client:
            status = 0
            while not status:  # the address is printed before the server listens
                with suppress(aiohttp.ClientConnectorError):
                    async with client.get(address) as page:
                        status = page.status
            assert status == 200
            for foreign in ("http://evil.example", "null", origin.replace("127.0.0.1", "localhost"), origin + "0"):
                with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                    await client.ws_connect(f"{address}ws", origin=foreign)
                assert refused.value.status == 403
            async with client.ws_connect(f"{address}ws?width=120&height=40", origin=origin) as socket:
                shown = b""
                while b"the pump is dry" not in shown:
                    frame = await socket.receive()
                    assert frame.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT), shown
                    shown += frame.data if isinstance(frame.data, bytes) else b""
    finally:
        process.terminate()
        process.communicate()
    assert not (tmp_path / "ran").exists()
