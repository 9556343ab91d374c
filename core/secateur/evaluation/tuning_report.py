"""The report of `secateur tune`, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from secateur.evaluation.tuned_profile import HeldOutGain, Tuned, interval_text
from secateur.render import SCHEMA_VERSION, dumps
from secateur.settings import lookup
from secateur.terminal import visible


def tuning_json(tuned: Tuned, written: str | None) -> str:
    """All of it as JSON. `written`: the file, as it was named."""
    fit = tuned.fit
    body: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "profile": tuned.base,
        "name": tuned.name,
        "cases": {"training": tuned.training, "held_out": len(tuned.held_out), "left_out": tuned.left_out},
        "repositories": dict(sorted(Counter(tuned.repositories).items())),
        "dates": {part: list(days) if days else None for part, days in tuned.dates.items()},
        "seed": fit.seed,
        "tried": fit.tried,
        "price": fit.price,
        "turned": {
            key: {"was": msgspec.to_builtins(lookup(tuned.start, key)), "now": msgspec.to_builtins(value)}
            for key, value in fit.values.items()
        },
        "cross_validated": fit.cross_validated.to_dict(),
        "held_out_recall": [one.to_dict() for one in tuned.gains],
        "proven": tuned.proven,
        "verdict": tuned.verdict,
        "interrupted": tuned.interrupted,
        "written": written,
    }
    return dumps(body)


def tuning_text(tuned: Tuned, written: str | None) -> str:
    """Says what was turned, what it is worth on cases that no fit has seen, and the verdict."""
    fit = tuned.fit
    where = Counter(tuned.repositories)
    lines = [
        f"{tuned.training:,} training and {len(tuned.held_out):,} held-out cases of "
        + ", ".join(f"{visible(name)}" for name in sorted(where))
    ]
    for part, days in tuned.dates.items():
        if days:
            lines.append(f"  {part.replace('_', '-'):<9} asked at commits of {days[0]} to {days[1]}")
    if tuned.left_out:
        lines.append(f"  {tuned.left_out:,} cases could not be read (secateur evaluate names them)")
    lines += ["", f"turned, from {visible(tuned.base)} ({fit.tried:,} sets of weights tried, seed {fit.seed}):"]
    width = max((len(key) for key in fit.values), default=0)
    lines += [f"  {key:<{width}}  {lookup(tuned.start, key)} -> {value}" for key, value in fit.values.items()]
    lines += [] if fit.values else ["  nothing"]
    lines += ["", f"cross-validation inside training: {interval_text(fit.cross_validated, signed=True)}"]
    if tuned.gains:
        lines += ["", "recall of the held-out cases, mean [95 % interval]"]
        lines.append(f"  {'budget':>7}  {'before':<22}{'after':<22}{'gain':<24}".rstrip())
        lines += [_row(one) for one in tuned.gains]
    lines += ["", tuned.verdict]
    lines.append(f"written: {visible(written)}" if written else "nothing was written")
    if written is None and fit.found and not tuned.interrupted:
        lines[-1] += " (--anyway writes it)"
    return "\n".join(lines) + "\n"


def _row(one: HeldOutGain) -> str:
    at = "mean" if one.budget is None else f"{one.budget:,}"
    before, after = interval_text(one.before), interval_text(one.after)
    return f"  {at:>7}  {before:<22}{after:<22}{interval_text(one.gain, signed=True)}".rstrip()
