"""Text from outside on the benches over a ledger: no markup is obeyed, no control sequence reaches the terminal,
columns stay where they are."""

import json
from pathlib import Path

import pytest
from inspector_kit import press, settle
from ledger_kit import ledger_bench, opened
from secateur.settings import Settings, with_values
from support.envelopes import envelope
from test_hostile_screens import HOSTILE, assert_harmless

SIZES = [(120, 40), (80, 24)]
PAGES = ("i", "v", "d", "w", "y", "slash")
STRATEGIES = 4


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


async def looked_at(
    bench: str, size: tuple[int, int], path: str, settings: Settings, turns: int, **options: str
) -> list[str]:
    """All pages on several items, under several settings; the last screen."""
    app = opened(bench, settings, path=path, **options)
    async with app.run_test(size=size, notifications=True):
        assert_harmless(await settle(app), size[0])
        for _ in range(turns):
            await press(app, "s" if bench == "conversation" else "B", "down", "down")
            for page in PAGES:
                assert_harmless(await settle(app, page), size[0])
                await press(app, "escape")
        assert ledger_bench(app).state.answer is not None
        return await settle(app)


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_a_hostile_transcript_is_text(size: tuple[int, int]) -> None:
    messages = []
    for number, text in enumerate(HOSTILE):
        call = {"type": "tool_use", "id": f"c{number}", "name": text, "input": {"path": text, text: number}}
        messages += [
            {"role": "user", "content": f"{text} {number}"},
            {"role": "assistant", "content": [{"type": "text", "text": text}, call]},
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": f"c{number}",
                        "content": (text + "\n") * 40,
                        "is_error": number % 2 == 0,
                    }
                ],
            },
            {"role": "assistant", "content": f"Done {text}"},
        ]
    name = "[b]a[$x]\u202e\\.json"
    Path(name).write_text(json.dumps({"system": HOSTILE[0], "messages": messages}))
    zone = with_values(
        Settings(), {"conversation_prune.safe_zone_tokens": 1500, "conversation_prune.keep_tools": (HOSTILE[5],)}
    )
    lines = await looked_at("conversation", size, name, zone, STRATEGIES)
    assert "[b]a[$x]<U+202E>" in lines[0]


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_a_hostile_envelope_is_text(size: tuple[int, int]) -> None:
    digest = {text.encode("utf-8", "replace").decode(): [text] * 30 for text in HOSTILE}
    Path("envelope.json").write_text(
        json.dumps(envelope(digest=digest, target={"path": HOSTILE[1], "content": "\n".join(HOSTILE)}))
    )
    await looked_at(
        "envelope",
        size,
        "envelope.json",
        with_values(Settings(), {"context_budget.tokens": 3000}),
        3,
        model=HOSTILE[0],
    )


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_hostile_files_are_text(size: tuple[int, int]) -> None:
    Path("shop").mkdir()
    for number, text in enumerate(HOSTILE):
        name = text.replace("/", "").encode("utf-8", "surrogateescape")[:100].decode("utf-8", "ignore")
        body = f"def refund_{number}():\n    return {text!r}\n# {text}\n" * 20
        (Path("shop") / f"{name}.py").write_bytes(body.encode("utf-8", "surrogateescape"))
    tight = with_values(Settings(), {"context_prune.max_tokens": 1500, "context_prune.strategy": "extract"})
    await looked_at("files", size, "shop", tight, 2, query=f"refund {HOSTILE[5]} {HOSTILE[0]}")


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_hostile_errors_are_text(size: tuple[int, int]) -> None:
    for bench, name in (
        ("conversation", "[b]\x1b]0;x\x07.json"),
        ("envelope", "\u202e[$x].json"),
        ("files", "a[b]\x1b[2J.py"),
    ):
        Path(name).write_text('{"messages": [{"role": "[/b]\\u001b[2J\\u202e"}]}')
        app = opened(bench, path=name, model=HOSTILE[4])
        async with app.run_test(size=size):
            assert_harmless(await settle(app), size[0])
        app = opened(bench, path=name + "nowhere")
        async with app.run_test(size=size):
            lines = await settle(app)
            assert_harmless(lines, size[0])
            assert not any("Traceback" in line for line in lines)
