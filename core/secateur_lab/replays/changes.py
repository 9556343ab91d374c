"""The changes between two decisions of one kind, described as in a scenario: old and new state, the reason, and the
causes."""

from __future__ import annotations

from collections.abc import Mapping

from secateur import State

from secateur_lab.scenarios.causes import Moves
from secateur_lab.scenarios.comparison import Aspect, DecisionChange
from secateur_lab.scenarios.running import Decided, Listed, decided_of
from secateur_lab.scenarios.scenario import RecordedItem


def changes_between(then: Decided, now: Decided) -> tuple[DecisionChange, ...]:
    """Returns the entries with another state or reason, then those of which only the number of tokens changed."""
    ids: set[str] | None = None
    if now.kind.finds:  # only the best dropped entries are listed: the others are looked up
        ids = {
            listed.id for answer in (then, now) for listed in answer.listed if listed.entry.state is not State.DROPPED
        }
        then, now = (decided_of(answer.kind, answer.outcome, ids) for answer in (then, now))
    aspects: dict[str, Aspect] = {}
    for listed in now.listed:
        what = _aspect(then.by_id.get(listed.id), listed)
        if what is not None and (ids is None or listed.id in ids):
            aspects[listed.id] = what
    before = {id_: then.item(then.by_id[id_]) for id_ in aspects if id_ in then.by_id}
    after = {id_: now.item(now.by_id[id_]) for id_ in aspects}
    moves = Moves(
        [(item, after[id_]) for id_, item in before.items()],
        [item for id_, item in after.items() if id_ not in before and item.leaves],
    )
    changes = [_change(id_, what, before, after, moves, now) for id_, what in aspects.items()]
    changes += [
        DecisionChange(was.id, Aspect.GONE, then.item(was), None, "")
        for was in then.listed
        if was.id not in now.by_id and (ids is None or was.id in ids)
    ]
    return tuple(sorted(changes, key=lambda change: change.what is Aspect.TOKENS))


def _aspect(was: Listed | None, now: Listed) -> Aspect | None:
    if was is None:
        return Aspect.NEW
    if was.entry.state is not now.entry.state:
        return Aspect.STATE
    if was.entry.reason is not now.entry.reason:
        return Aspect.REASON
    return Aspect.TOKENS if was.entry.after != now.entry.after else None


def _change(
    id_: str,
    what: Aspect,
    before: Mapping[str, RecordedItem],
    after: Mapping[str, RecordedItem],
    moves: Moves,
    now: Decided,
) -> DecisionChange:
    was, item = before.get(id_), after[id_]
    because = now.kind.describe(now.outcome, now.by_id[id_].number).because
    if was is None:
        return DecisionChange(id_, what, None, item, because)
    return DecisionChange(id_, what, was, item, because, moves.causes(was, item), moves.instead(was, item))
