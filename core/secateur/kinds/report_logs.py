"""Writes the reports of pruners to Python's `logging`: one logger per kind below `secateur`, at INFO, silent unless
enabled.

    logging.getLogger("secateur.files").setLevel(logging.INFO)     # with a handler of your own
    PruneContext(..., verbose=True)      # its own, whatever the level; on standard error, if no handler is set

The first line of a report has its figures. A line follows for each changed input, up to a limit.
"""

import logging

from secateur.model import TrimReport
from secateur.terminal import clip, visible

ROOT = "secateur"
MOST_ACTIONS = 20  # most changed inputs that a report lists

_NAME_CELLS = 100

logging.getLogger(ROOT).addHandler(logging.NullHandler())


def log_report(kind: str, report: TrimReport, verbose: bool = False) -> None:
    """Logs a report to `secateur.KIND`. `verbose` shows this report even if the level is higher, and changes no logger:
    the next report is as it would have been."""
    logger = logging.getLogger(f"{ROOT}.{kind}")
    if not (verbose or logger.isEnabledFor(logging.INFO)):
        return
    handlers = [*logger.handlers, *logging.getLogger(ROOT).handlers, *logging.getLogger().handlers]
    handled = any(not isinstance(handler, logging.NullHandler) for handler in handlers)

    def log(text: str, *figures: object) -> None:
        record = logger.makeRecord(logger.name, logging.INFO, __file__, 0, text, figures, None)
        logger.handle(record)
        if verbose and not handled:
            logging.StreamHandler().handle(record)

    done = "pruned" if report.applied else "unchanged"
    log("%s: %s, %d -> %d tokens, budget %d", kind, done, report.before, report.after, report.budget)
    changed = [action for action in report.actions if action.action != "keep"]
    for action in changed[:MOST_ACTIONS]:
        name = clip(visible(action.section), _NAME_CELLS)
        done = f"{action.action} {name}, {action.before} -> {action.after} tokens: {action.reason}"
        log("%s: %s", kind, done)
    if len(changed) > MOST_ACTIONS:
        log("%s: %d more were changed", kind, len(changed) - MOST_ACTIONS)
