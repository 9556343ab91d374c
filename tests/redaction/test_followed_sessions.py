"""Sessions that are followed while they grow hold no credential either."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from secateur.kinds.conversation.growing_transcript import GrowingTranscript
from secateur.redaction import Scanning
from secateur.tokens import get_counter
from support.credentials import MAKERS

AWS, OTHER = (MAKERS["aws-access-key"](Random(seed)) for seed in (1, 2))


def said(number: int, text: str) -> str:
    message = {"role": "user", "content": text}
    return json.dumps({"type": "user", "uuid": str(number), "sessionId": "s", "message": message}) + "\n"


def test_what_is_added_goes_on_with_the_numbers(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text(said(1, f"a\n{AWS}"))
    growing = GrowingTranscript(path, "session.jsonl", Scanning(full=False))
    counter = get_counter("chars4")
    first = growing.look(counter)
    assert first is not None
    assert [message.parts[0].text for message in first.transcript.messages] == ["a\n[redacted: aws-access-key #1]"]
    with path.open("a") as file:
        file.write(said(2, f"{OTHER} {AWS}"))
    later = growing.look(counter)
    assert later is not None
    text = later.transcript.messages[-1].parts[0].text
    assert text == "[redacted: aws-access-key #2] [redacted: aws-access-key #1]"
    assert later.redactor is not None
    assert len(later.redactor.within(text)) == 2
    assert not any(key in line for key in (AWS, OTHER) for line in later.transcript.lines or ())
