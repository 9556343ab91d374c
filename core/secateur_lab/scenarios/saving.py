"""Writes a scenario from the decisions of a command, or from those on the screen.

    saved = save_scenario(kind, inputs, settings, Path("tests/refunds.scenario.toml"), session)

The decisions are made again in the same way as by `secateur check`: the scenario passes at once. It holds assertions
about the best of what was kept, which survive most changes of the code around; all decisions are recorded by choice.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec
from secateur import Kind, Reason, Settings, State, UsageError, redact, refuse_links, shown, write_output

from secateur_lab.scenarios.comparison import wanted_ids
from secateur_lab.scenarios.location import PlacedInputs, inputs_folder, root_of
from secateur_lab.scenarios.running import Decided, Session, settings_to_save
from secateur_lab.scenarios.scenario import (
    FORMAT,
    SUFFIX,
    Expect,
    RecallOf,
    Scenario,
    dump_scenario,
    parse_scenario,
    read_text,
    replace_scenario,
)
from secateur_lab.scenarios.toml_writing import nested

# Items that a saved scenario asserts to be kept: the best ones. Others are displaced by code that they have nothing to
# do with (`tests/benchmarks/scenario_drift.py`).
MOST_KEPT = 3

# Share of the tokens that are kept whole, from the best item on, in which the asserted items of a search stand: what
# comes in between is unlikely to displace them.
FIRM_SHARE = 0.5

# The first items of a search, and the share of them that stays kept whole: moderate changes of weights displace more of
# them, ordinary commits fewer.
FIRST_ITEMS, FIRST_SHARE = 10, 0.8

LEAST_USED = 0.25  # share of the saved output's tokens below which an output has lost something

# Ids that are places in the input, like `75-87` and `messages[3]`: they change if something is inserted.
_PLACE = re.compile(r"[\d-]+|.*\[\d+\].*", re.DOTALL)


@dataclass(frozen=True)
class Saved:
    """A scenario that was written, and its copies of inputs."""

    path: Path
    scenario: Scenario
    copies: tuple[Path, ...]  # of inputs from outside the repository, beside the scenario
    left_out: tuple[str, ...] = ()  # the notice about tests that ask the same question


def save_scenario(
    kind: Kind[Any, Any],
    inputs: Mapping[str, Any],
    settings: Settings,
    path: Path,
    session: Session,
    *,
    base: Path | None = None,
    stdin: bytes | None = None,
    expect: Expect | None = None,
    about: str = "",
    again: bool = False,
    exact: bool = False,
) -> Saved:
    """Writes the scenario of an input and its settings; all of it or nothing.

    Args:
        path: the scenario's file.
        expect: its assertions; None: those of `assertions_of`, or none if the decisions are recorded.
        again: the file already holds a scenario. Its input, settings and recorded decisions are replaced; its
            assertions, judgements and comments stay.
        exact: records every decision. A file that is written again keeps its record in any case.
        base: the start of relative inputs; None: the working folder.
        stdin: the content of standard input, if an input is `-`.

    Raises:
        UsageError: the name is not valid, the file exists, an input is a folder outside the repository.
        SecateurError: an input cannot be read, or the file cannot be written; like `Session.decide`.
    """
    if not path.name.endswith(SUFFIX) or path.name == SUFFIX:
        raise UsageError(f"{shown(path)} is not the name of a scenario", hint=f"its name ends in {SUFFIX}")
    refuse_links(path)
    held = read_text(path) if again else ""
    if path.exists() and not again:
        raise UsageError(
            f"{shown(path)} already exists", hint="choose another name; `secateur check --update` records it again"
        )
    root, base = root_of(path), (base or Path.cwd())
    placed = PlacedInputs(inputs_folder(path), root, base, stdin, again=again)
    given = placed.given(kind, inputs)
    if again:
        scenario = msgspec.structs.replace(parse_scenario(held, path), kind=kind.name, input=given)
    else:
        scenario = Scenario(FORMAT, kind.name, about, input=given)
    with placed.written():  # the decisions use the files as they will be
        needed = settings_to_save(kind, kind.blank_inputs() | given, settings, session.environment(root))
        scenario = msgspec.structs.replace(scenario, settings=nested(needed))
        decided = session.decide(scenario, root, wanted_ids(scenario))
        if exact or scenario.recorded is not None:
            scenario = msgspec.structs.replace(scenario, recorded=decided.recorded())
        if not again:
            expect = expect or (Expect() if exact else assertions_of(decided))
            scenario = msgspec.structs.replace(scenario, expect=expect)
        if not (scenario.expect.empty or scenario.recorded):
            scenario = msgspec.structs.replace(scenario, saved=decided.recorded(wanted_ids(scenario)))
        write_output(path, replace_scenario(held, scenario) if again else dump_scenario(scenario))
    return Saved(path, scenario, tuple(placed.copies), decided.left_out)


def assertions_of(decided: Decided) -> Expect:
    """Returns assertions that hold for these decisions: the best items are kept, the output's tokens are within bounds,
    and excluded items and credentials stay out of it."""
    kind, outcome, ledger = decided.kind, decided.outcome, decided.ledger
    leaving = kind.leaving(outcome)
    kept = [decided.by_id[id_] for id_, whole in ledger.ranked if whole and id_ in decided.by_id]
    first = [listed.id for listed in kept if "relevance" in listed.entry.terms][:FIRST_ITEMS]
    scores = {listed.id: float(listed.entry.figures["score"]) for listed in kept if "score" in listed.entry.figures}
    if scores:  # the scores of files; room alone kept those at 0, and beside whole relevant ones those that fit
        for_room = Reason.FITS if any(listed.entry.reason is Reason.WHOLE for listed in kept) else None
        kept = [listed for listed in kept if scores[listed.id] and listed.entry.reason is not for_room]
        kept.sort(key=lambda listed: -scores[listed.id])
    if scores or any("relevance" in listed.entry.terms for listed in kept):  # near the cut any commit changes sides
        room = sum(listed.entry.after for listed in kept) * FIRM_SHARE
        taken = accumulate(listed.entry.after for listed in kept)
        kept = kept[: max(1, sum(tokens <= room for tokens in taken))]
    # Other terms of a score change with every commit. Without scores, a large item is the one that may be lost.
    relevances = {listed.id: listed.entry.terms.get("relevance", 0) for listed in kept} | scores
    kept.sort(key=lambda listed: (-relevances[listed.id], -listed.entry.before))
    ids, texts = [], []
    for listed in kept[:MOST_KEPT]:
        text = ""
        if _PLACE.fullmatch(listed.id):  # the longest line of its text that is a line of the output
            lines = set(kind.texts(outcome, listed.number)[1].splitlines()) & set(leaving.splitlines())
            text = max(lines, key=lambda line: (len(line), line), default="").strip()
        texts.append(text) if text else ids.append(listed.id)
    leaves = {listed.id for listed in decided.listed if listed.entry.state is not State.DROPPED}
    excluded = [id_ for id_ in outcome.settings.excludes if kind.finds and id_ not in leaves]
    fits = 0 < ledger.after <= ledger.budget
    # what else went out may be gone with a later commit that touched none of the best
    best = sum(decided.by_id[id_].entry.after for id_ in ids) if ids else ledger.after
    return Expect(
        must_keep=ids,
        must_drop=excluded,
        recall_of=[RecallOf(first, FIRST_SHARE)] if len(first) == FIRST_ITEMS else [],
        budget_used_between=(min(best, int(ledger.after * LEAST_USED)), ledger.budget) if fits else None,
        contains=list(dict.fromkeys(texts)),
        lacks_credentials=not redact(leaving)[1],
    )
