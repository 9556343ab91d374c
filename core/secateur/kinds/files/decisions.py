"""Decides which parts of measured files go out under given settings: pure, instant.

    prune(measured, settings).decisions

`score` keeps files by their score, 0 to 10. `extract` keeps relevant files whole up to a share of the tokens, and
snippets of the others. `delete` keeps files in their order.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from msgspec import structs

from secateur.errors import UsageError
from secateur.kinds.files.line_ranges import check_windows
from secateur.kinds.files.measurements import needs_scores
from secateur.kinds.files.sourcecode import SCORES, FileDecision, MeasuredFiles, PrunedFiles, best
from secateur.kinds.files.strategies import STRATEGIES, decide
from secateur.kinds.steering import warn_unknown_pins
from secateur.model import Notice, Reason
from secateur.render.page import count_noun, line_range, listed
from secateur.settings import ContextPrune, Settings
from secateur.suggestions import suggestion
from secateur.tokens import Counter, get_counter


def add_displaced_lines(
    decisions: Sequence[FileDecision],
    measured: MeasuredFiles,
    rules: ContextPrune,
    counter: Counter,
    pins: Collection[str] = (),
) -> tuple[list[FileDecision], list[Notice]]:
    """Adds to the decisions the lines that would go out with `full_file_share = 0`, and a notice if the best match is
    one."""
    if rules.strategy != "extract" or all(decision.reason is not Reason.WHOLE for decision in decisions):
        return list(decisions), []
    decided_without = decide(measured, structs.replace(rules, full_file_share=0.0), counter, pins)
    with_lines = list(decisions)
    for index, (decision, again) in enumerate(zip(decisions, decided_without, strict=True)):
        refused = next((piece for piece in decision.tried if not piece.kept), None)
        if refused is not None and again.text is not None:
            lines = refused.start, refused.end
            if not again.ranges or any(start <= lines[0] and lines[1] <= end for start, end in again.ranges):
                with_lines[index] = replace(decision, displaced=lines)
    top = max(best(file.pieces) for file in measured.files)
    notices = []
    for decision in with_lines:
        pieces = measured.files[decision.number].pieces
        first, last = decision.displaced or (0, 0)
        if any(piece.start == first and piece.relevance == top for piece in pieces):
            where = f"lines {line_range(first, last)} of {listed([decision.module_name])}"
            message = f"Whole files went first; {where}, the best match, found no room."
            message += " With context_prune.full_file_share = 0 they go out."
            notices.append(Notice("whole_files_first", message))
    return with_lines, notices[:1]


def add_missing_room(
    decisions: Sequence[FileDecision],
    measured: MeasuredFiles,
    rules: ContextPrune,
    counter: Counter,
    pins: Collection[str] = (),
) -> list[FileDecision]:
    """Adds what a file that a threshold refused needs and what is left for it, if it does not go out with 0 for this
    threshold either: then the threshold alone did not decide."""
    added = list(decisions)
    for setting in sorted({entry.threshold.setting for entry in decisions if entry.threshold and entry.left is None}):
        without = structs.replace(rules, **{setting.rpartition(".")[2]: 0.0})
        for again in decide(measured, without, counter, pins):
            decision = added[again.number]
            refused = decision.threshold is not None and decision.threshold.setting == setting
            if refused and decision.left is None and again.text is None:
                added[again.number] = replace(decision, needed=again.needed, left=again.left)
    return added


def prune(measured: MeasuredFiles, settings: Settings) -> PrunedFiles:
    """Decides on every file. `max_tokens` limits the text that goes out, in the measured form. Raises UsageError: no
    such strategy; the strategy needs scores and there is no query."""
    rules, counter = settings.context_prune, get_counter(measured.counter)
    if rules.strategy not in STRATEGIES:
        near = suggestion(rules.strategy, STRATEGIES)
        hint = (f"did you mean {near}? " if near else "") + "strategies: " + ", ".join(STRATEGIES)
        raise UsageError(f"there is no strategy {rules.strategy!r}", hint=hint)
    check_windows(rules.sliding_window_size, rules.sliding_window_overlap)
    if needs_scores(measured, rules) and not measured.query:
        raise missing_query_error(rules.strategy)
    decisions = decide(measured, rules, counter, settings.pins)
    decisions = add_missing_room(decisions, measured, rules, counter, settings.pins)
    decisions, displaced = add_displaced_lines(decisions, measured, rules, counter, settings.pins)
    unknown = warn_unknown_pins(settings, measured.ids)
    notices = (*measured.notices, *unknown, *displaced, *_notices(measured, decisions, settings))
    return PrunedFiles(measured, tuple(decisions), rules.max_tokens, rules.strategy, notices)


def missing_query_error(strategy: str) -> UsageError:
    return UsageError(
        f"strategy {strategy} needs to know what the files are for",
        hint="say it with --query TEXT or --conversation FILE, or use --strategy delete",
    )


def _notices(measured: MeasuredFiles, decisions: Sequence[FileDecision], settings: Settings) -> list[Notice]:
    rules = settings.context_prune
    if not decisions:
        return [Notice("no_files", "There is no file to prune.")]
    if not rules.enabled:
        over = measured.total - rules.max_tokens
        excess = f" ({count_noun(over, 'token')} more than {rules.max_tokens:,})" if over > 0 else ""
        return [Notice("pruning_disabled", f"context_prune.enabled is false: all files are as they came{excess}.")]
    if any(decision.text is not None for decision in decisions):
        return []
    if rules.max_tokens == 0:
        return [Notice("zero_budget", "The budget is 0 tokens: nothing leaves.")]
    if all(decision.reason is Reason.NOT_RELEVANT for decision in decisions):
        scores = f"No file scores {rules.min_score:g} of {SCORES} or more"
        return [Notice("nothing_relevant", f"{scores}: nothing in them answers the query.")]
    least = min(decision.needed for decision in decisions if decision.reason is not Reason.NOT_RELEVANT)
    needed = min([least, *(piece.needed for decision in decisions for piece in decision.tried)])
    room = count_noun(rules.max_tokens, "token")
    message = f"Nothing that is relevant fits {room}: the smallest of it needs {needed:,}."
    if rules.strategy == "score":
        again = decide(measured, structs.replace(rules, strategy="extract"), get_counter(measured.counter))
        if any(decision.text is not None for decision in again):
            message += " With --strategy extract lines of it go out."
    return [Notice("budget_too_small", message)]
