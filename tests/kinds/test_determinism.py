"""The same bytes whatever the hash seed, and however many threads prune at once in whatever order."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from random import Random

import pytest
from secateur.kinds.conversation.decisions import COUNTED_AT_ONCE, measure
from secateur.kinds.conversation.strategies import STRATEGIES, prune
from secateur.kinds.conversation.transcripts import read_messages
from secateur.kinds.envelope.envelope import trim_envelope
from secateur.settings import Settings, with_values
from secateur.tokens import get_counter
from support.conversations import FORMATS, conversation
from support.envelopes import asset_paths, envelope, files
from support.facts import SEEN, facts, planted

JOBS = tuple((form, strategy) for form in FORMATS for strategy in STRATEGIES)


def digest(form: str, strategy: str) -> str:
    """Of everything that leaves: the file, the ledger, cache and warnings."""
    random = Random(3)
    messages = conversation(form, list(planted(facts(SEEN, random)[:12], random, steps=2, lines=20)), asks="And now?")
    result = prune(
        read_messages(messages), with_values(Settings(), {"conversation_prune.safe_zone_tokens": 1500}), strategy
    )
    told = [
        result.write(),
        result.report.to_dict(),
        asdict(result.cache),
        [notice.to_dict() for notice in result.warnings],
    ]
    assert result.report.applied
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def envelope_digest() -> str:
    trimmed = trim_envelope(envelope({"assets": asset_paths(9000), "files": files(12, 900)}), "gpt-4o", 900)
    return hashlib.sha256(json.dumps(trimmed.output().to_dict()).encode()).hexdigest()


def everything() -> dict[str, str]:
    return {f"{form} {strategy}": digest(form, strategy) for form, strategy in JOBS} | {"envelope": envelope_digest()}


@pytest.fixture(scope="module")
def expected() -> dict[str, str]:
    return everything()


@pytest.mark.parametrize("seed", ["0", "4242"])
def test_the_same_bytes_under_every_hash_seed(seed: str, expected: dict[str, str]) -> None:
    code = "import json; from kinds.test_determinism import everything; print(json.dumps(everything()))"
    tests = Path(__file__).parents[1]
    environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(tests)}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert json.loads(ran.stdout) == expected


@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_bytes_from_many_threads_in_any_order(seed: int, expected: dict[str, str]) -> None:
    jobs = [*JOBS, *JOBS]
    Random(seed).shuffle(jobs)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda job: digest(*job), jobs))
    assert found == [expected[" ".join(job)] for job in jobs]


def test_counts_from_several_threads_are_those_of_one() -> None:
    texts = [f"line {number} of a log, {'x' * (number % 50)}" for number in range(3 * COUNTED_AT_ONCE + 7)]
    counter, seen = get_counter("o200k_base"), list[tuple[int, int]]()
    measured = measure(
        read_messages([{"role": "user", "content": text} for text in [*texts, *texts]]),
        counter,
        lambda _, done, total: seen.append((done, total)),
    )
    assert list(measured.tokens) == counter.count_many([*texts, *texts])
    assert seen == [(500, 1507), (1000, 1507), (1500, 1507), (1507, 1507)]
