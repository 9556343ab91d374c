"""`secateur saved`: what pruning took out, by session of an agent."""

import os

from secateur import CommandCall, CommandParser

LIMIT = 20


def arguments(parser: CommandParser) -> None:
    """Adds the flags of the command."""
    parser.add_argument(
        "--limit",
        type=parser.whole_number("--limit", 1),
        default=LIMIT,
        metavar="N",
        help=f"most sessions to list (default {LIMIT})",
    )
    parser.common_arguments()


def run(options: CommandCall) -> int:
    """Prints the sessions, the latest first, and their total."""
    from datetime import UTC, datetime

    from secateur import Column, Page, Section, dumps, visible

    from secateur_agents.savings import SessionTotals, summarize
    from secateur_agents.store import user_store

    saved = summarize(user_store(os.environ).savings.read(), options.limit)
    if options.format == "json":
        options.emit(dumps(saved))
        return 0
    if not saved.sessions:
        options.emit("nothing was pruned with your store yet\n")
        return 0

    def row(name: str, shape: SessionTotals) -> tuple[str, ...]:
        counts = shape.requests, shape.cuts, shape.outputs, shape.whole, shape.taken_out
        paid = "" if shape.paid_share is None else f"{shape.paid_share:.0%}"
        last = datetime.fromtimestamp(shape.last, UTC).isoformat(sep=" ", timespec="minutes")[:16]
        return last, *(f"{count:,}" for count in counts), paid, f"{shape.recalls:,}", name

    titles = "last, UTC", "requests", "cuts", "outputs", "tokens", "taken out", "paid", "recalls", "session"
    rows = [row(visible(shape.session) or "not known", shape) for shape in saved.sessions]
    cells = [titles, *rows, row(f"all {saved.found:,}", saved.total)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)][:-1]
    columns = [Column(width, gap=2 if index else 0, right=index > 0) for index, width in enumerate(widths)]
    columns.append(Column())
    foot = [
        "taken out: not what an agent saved, because agents cut long outputs themselves",
        "paid: price of the requests with a prompt cache, as a share of those without pruning",
    ]
    options.emit(Page([], [Section(cells, apart=False, columns=columns), Section(foot)]).text())
    return 0
