"""The report of `secateur tune`, as text and as JSON."""

from collections import Counter
from typing import Annotated

from msgspec import Meta
from secateur import SCHEMA_VERSION, Count, Shape, Version, dumps, lookup, visible

from secateur_lab.evaluation.metrics import Interval
from secateur_lab.evaluation.tuned_profile import HeldOutGain, Tuned, interval_text


class CaseCounts(Shape, frozen=True):
    """Cases by part."""

    training: Count
    held_out: Count
    left_out: Annotated[Count, Meta(description="Those that could not be read.")]


class TurnedSetting(Shape, frozen=True):
    """A setting that was changed."""

    was: float | str
    now: float | str


class TuningOutput(Shape, frozen=True):
    """The output of `secateur tune --format json`."""

    schema_version: Version
    profile: Annotated[str, Meta(description="The profile that it started from.")]
    name: str
    cases: CaseCounts
    repositories: Annotated[dict[str, Count], Meta(description="Cases by repository.")]
    dates: Annotated[
        dict[str, tuple[str, str] | None], Meta(description="First and last day of the commits of each part.")
    ]
    seed: Count
    tried: Annotated[Count, Meta(description="Sets of weights.")]
    price: Annotated[float, Meta(description="Recall that each changed weight must gain.")]
    turned: Annotated[dict[str, TurnedSetting], Meta(description="By key.")]
    cross_validated: Interval
    held_out_recall: list[HeldOutGain]
    proven: bool
    verdict: str
    interrupted: bool
    written: Annotated[str | None, Meta(description="The file as it was named.")]


def tuning_json(tuned: Tuned, written: str | None) -> str:
    """Formats everything as JSON. `written`: the file as it was named."""
    fit = tuned.fit
    return dumps(
        TuningOutput(
            schema_version=SCHEMA_VERSION,
            profile=tuned.base,
            name=tuned.name,
            cases=CaseCounts(tuned.training, len(tuned.held_out), tuned.left_out),
            repositories=dict(sorted(Counter(tuned.repositories).items())),
            dates=dict(tuned.dates),
            seed=fit.seed,
            tried=fit.tried,
            price=fit.price,
            turned={key: TurnedSetting(lookup(tuned.start, key), value) for key, value in fit.values.items()},
            cross_validated=fit.cross_validated.rounded(),
            held_out_recall=[item.rounded() for item in tuned.gains],
            proven=tuned.proven,
            verdict=tuned.verdict,
            interrupted=tuned.interrupted,
            written=written,
        )
    )


def tuning_text(tuned: Tuned, written: str | None) -> str:
    """Formats the changed settings, their effect on cases that no fit has seen, and the verdict."""
    fit = tuned.fit
    where = Counter(tuned.repositories)
    names = ", ".join(map(visible, sorted(where)))
    lines = [f"{tuned.training:,} training and {len(tuned.held_out):,} held-out cases of {names}"]
    for part, days in tuned.dates.items():
        if days:
            lines.append(f"  {part.replace('_', '-'):<9} asked at commits of {days[0]} to {days[1]}")
    if tuned.left_out:
        lines.append(f"  {tuned.left_out:,} cases could not be read (secateur evaluate lists them)")
    lines += ["", f"turned, from {visible(tuned.base)} ({fit.tried:,} sets of weights tried, seed {fit.seed}):"]
    width = max((len(key) for key in fit.values), default=0)
    lines += [f"  {key:<{width}}  {lookup(tuned.start, key)} -> {value}" for key, value in fit.values.items()]
    lines += [] if fit.values else ["  nothing"]
    lines += ["", f"cross-validation inside training: {interval_text(fit.cross_validated, signed=True)}"]
    if tuned.gains:
        lines += ["", "recall of the held-out cases, mean [95 % interval]"]
        lines.append(f"  {'budget':>7}  {'before':<22}{'after':<22}{'gain':<24}".rstrip())
    for item in tuned.gains:
        at = "mean" if item.budget is None else f"{item.budget:,}"
        before, after = interval_text(item.before), interval_text(item.after)
        lines.append(f"  {at:>7}  {before:<22}{after:<22}{interval_text(item.gain, signed=True)}".rstrip())
    lines += ["", tuned.verdict]
    lines.append(f"written: {visible(written)}" if written else "nothing was written")
    if written is None and fit.found and not tuned.interrupted:
        lines[-1] += " (--anyway writes it)"
    return "\n".join(lines) + "\n"
