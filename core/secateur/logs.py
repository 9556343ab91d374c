"""Writes the reports of pruners to Python's `logging`: one logger per kind below `secateur`, at INFO, silent unless
enabled.

    logging.getLogger("secateur.files").setLevel(logging.INFO)     # with a handler of your own
    PruneContext(..., verbose=True)                                # or on standard error, if no handler is set

The first line of a report has its figures. A line follows for each changed input, up to a limit.
"""

from __future__ import annotations

import logging

from secateur.model import TrimReport
from secateur.terminal import clip, visible

ROOT = "secateur"
MOST_ACTIONS = 20
"""Most changed inputs that a report lists."""

_NAME_CELLS = 100

logging.getLogger(ROOT).addHandler(logging.NullHandler())


def log_report(kind: str, report: TrimReport, verbose: bool = False) -> None:
    """Logs a report to `secateur.KIND`. `verbose` also prints it, see `show`."""
    logger = logging.getLogger(f"{ROOT}.{kind}")
    if verbose:
        show()
    if not logger.isEnabledFor(logging.INFO):
        return
    done = "pruned" if report.applied else "unchanged"
    logger.info("%s: %s, %d -> %d tokens, budget %d", kind, done, report.before, report.after, report.budget)
    changed = [action for action in report.actions if action.action != "keep"]
    for action in changed[:MOST_ACTIONS]:
        name = clip(visible(action.section), _NAME_CELLS)
        done = f"{action.action} {name}, {action.before} -> {action.after} tokens: {action.reason}"
        logger.info("%s: %s", kind, done)
    if len(changed) > MOST_ACTIONS:
        logger.info("%s: %d more were changed", kind, len(changed) - MOST_ACTIONS)


def show() -> None:
    """Enables reports at INFO, and writes them to standard error if the program has no handler of its own."""
    logger = logging.getLogger(ROOT)
    if logger.getEffectiveLevel() > logging.INFO:
        logger.setLevel(logging.INFO)
    handlers = [*logger.handlers, *logging.getLogger().handlers]
    if all(isinstance(handler, logging.NullHandler) for handler in handlers):
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(message)s"))
        logger.addHandler(handler)
