"""The changes of `docs/inside/changing.md`, made in a copy of the program: each diff applies and works."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "inside" / "changing.md"
DIFFS = re.findall(r"^```diff\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"^\+\+\+ b/core/(.+)$", re.MULTILINE)

USED = """
import json
from secateur.kinds.conversation.transcripts import read_transcript
from secateur.languages.syntax.fragments import parse_file
from secateur.ledger import Reason
from secateur.render.page import SENTENCES
from secateur.selection.select import select
from secateur.settings import Settings, with_values
from support.pools import Row, pool_of

source = b"function total(cart)\\n  return round(cart)\\nend\\n"
facts = parse_file("cart.luau", source)
pool = pool_of([Row("Near", relevance=0.5), Row("Far", relevance=0.6, distance=2)])
best = [
    select(pool, with_values(Settings(), {"budget": 100, "smart_pruning.distance_exponent": power})).kept_rows
    for power in (1.0, 0.0)
]
transcript = read_transcript(b'{"mynah": 1, "who": "user", "says": "How is a refund rounded?"}')
answers = {
    "language": [facts.language, [part.qualname for part in facts.fragments], [call.name for call in facts.calls]],
    "setting": [[pool.qualname[row] for row in rows] for rows in best],
    "reason": SENTENCES[Reason.EXCLUDED],
    "reader": [transcript.format, [message.role for message in transcript.messages]],
}
print(json.dumps(answers))
"""


def test_the_changes_of_the_page_work_in_a_copy(tmp_path: Path) -> None:
    changed = {Path(name) for diff in DIFFS for name in NAMED.findall(diff)}
    _link(ROOT / "core", tmp_path / "core", {folder for path in changed for folder in path.parents}, changed)
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input="".join(DIFFS), text=True, check=True)
    paths = os.pathsep.join(map(str, (tmp_path / "core", ROOT / "tests")))
    environment = os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    used = subprocess.run([sys.executable, "-c", USED], env=environment, capture_output=True, text=True, check=False)
    assert used.returncode == 0, used.stderr
    assert json.loads(used.stdout) == {
        "language": ["luau", ["total"], ["round"]],
        "setting": [["Near"], ["Far"]],
        "reason": "excluded by --exclude",
        "reader": ["mynah", ["user"]],
    }


def _link(source: Path, target: Path, opened: set[Path], changed: set[Path]) -> None:
    """Makes `target` a folder like `source`: what leads to a changed file is a copy, all else a link."""
    target.mkdir()
    for path in source.iterdir():
        inside = path.relative_to(ROOT / "core")
        if path.is_dir() and inside in opened:
            _link(path, target / path.name, opened, changed)
        elif inside in changed:
            (target / path.name).write_bytes(path.read_bytes())
        else:
            (target / path.name).symlink_to(path)
