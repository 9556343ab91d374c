"""The report as Markdown for a pull request, and as plain lines for screen readers and pipes: words for states and no
drawing. Both give the figures, and kept and dropped items, each with its reason.
"""

import re
from collections.abc import Sequence

from secateur.ledger import State
from secateur.render.markdown import block, escape_line, heading, one_line
from secateur.render.report.content import STATE_ORDER, DecisionReport, ReportItem, state_words, summary_sentence
from secateur.render.sentences import fewer_together
from secateur.terminal import ELLIPSIS, clip, visible

LIMIT = 60_000  # most characters in total: a comment on GitHub holds 65,536
MOST_DROPPED = 20  # most dropped items that are listed
LONGEST_CELL = 200  # most characters of a name or a reason
_TITLE = 160
_MENTION = re.compile(r"@(?=\w)")


def markdown_report(report: DecisionReport) -> str:
    """Returns the whole text. Items without room are counted."""
    notices = [f"> **{_prose(notice.title)}** {_prose(notice.message)}\n>\n" for notice in report.notices]
    source = f" ({_prose(report.source)})" if report.source else ""
    head = f"{heading(2, f'{report.kind}: {_prose(report.title(_TITLE))}{source}')}\n"
    lines = [
        _prose(summary_sentence(report)),
        "",
        f"**{report.after:,} of {report.budget:,} tokens** go out; {report.before:,} came in{report.saved_words}.",
        f"{'; '.join(state_words(report)) or 'Nothing was decided'}.",
        "",
    ]
    lines += [f"- {_prose(label)}: {_prose(text)}" if label else f"- {_prose(text)}" for label, text in report.figures]
    if report.knobs:
        lines.append("- settings: " + ", ".join(_prose(f"{label} {value}") for label, value in report.knobs))
    parts = [head, "\n".join(lines) + "\n\n"]
    parts += ["".join(notices).removesuffix(">\n") + "\n"] if notices else []
    end = f"{heading(3, 'Get it again')}\n{''.join(block(report.command, 'sh'))}".rstrip() + "\n"
    room = LIMIT - sum(map(len, parts)) - len(end)
    for title, states, most in (("Goes out", STATE_ORDER[:3], None), ("Does not", STATE_ORDER[3:], MOST_DROPPED)):
        items = [item for item in report.items if item.state in states]
        if of := sum(report.counts[state].number for state in states):
            parts.append(_table(title, items[:most], of, report.scored, room))
            room -= len(parts[-1])
    return "".join((*parts, end))


def _table(title: str, items: Sequence[ReportItem], of: int, scored: bool, room: int) -> str:
    score, line = ("score | ", "---: | ") if scored else ("", "")
    text = f"| state | name | {score}tokens | reason |\n| --- | --- | {line}---: | --- |\n"
    room -= len(text) + 200
    rows = 0
    for item in items:
        place = f" {_code(item.place)}" if item.place else ""
        beside = f" {_prose(item.beside[:60])}" if item.beside else ""
        score = f"{item.score:.3f} | " if scored else ""
        name = f"{_code(item.name)}{place}{beside}"
        row = f"| {item.state.glyph} {item.state.label} | {name} | {score}{item.tokens} | {_prose(item.reason)} |\n"
        if len(row) > room:
            break
        text += row
        rows += 1
        room -= len(row)
    others = of - rows
    more = f"\n{others:,} more {'is' if others == 1 else 'are'} not listed here.\n" if others else ""
    opened = " open" if title == "Goes out" else ""
    return f"<details{opened}><summary>{title}: {of:,}</summary>\n\n{text if rows else ''}{more}\n</details>\n\n"


def _prose(text: str) -> str:
    return _MENTION.sub("@<!-- -->", escape_line(_cut(text)))


def _code(text: str) -> str:
    """Puts outside text between backticks, where it cannot form marks, mentions or links."""
    cut = _cut(text)
    return f"`{cut}`".replace("|", "\\|") if cut.strip() else ""


def _cut(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= LONGEST_CELL else line[: LONGEST_CELL - 1] + ELLIPSIS


BEGINNING = 120  # cells for the beginning of an item whose name does not identify it


def plain_lines(report: DecisionReport) -> str:
    """Describes everything that the screen shows of a decision, in its order, ending in a line break."""
    around = f"{report.wrapper:,} tokens around them" if report.wrapper >= 0 else fewer_together(report.wrapper)
    lines = [
        f"secateur, {report.kind}" + (f", {report.source}" if report.source else ""),
        *(f"asked: {line}" for line in report.question.split("\n")),
        f"budget: {report.after:,} of {report.budget:,} tokens go out, {report.before:,} came in{report.saved_words}",
        f"decided: {'; '.join(state_words(report)) or 'nothing'}; {around}, {report.free:,} free",
        *(f"{label}: {text}" if label else text for label, text in report.figures),
        *(f"knob {label}: {value}" for label, value in report.knobs),
        *(f"warning {notice.title}: {visible(notice.message)}" for notice in report.notices),
        f"{report.noun}: {sum(sums.number for sums in report.counts.values()):,}",
        *(_line(item, report.scored) for item in report.items),
    ]
    for state, sums in report.unlisted.items():
        if sums.number:
            figures = f"{sums.before:,} tokens came in, {sums.after:,} go out"
            lines.append(f"not listed: {sums.number:,} {state.label}, {figures}")
    return "\n".join((*lines, f"command: {report.command}")) + "\n"


def _line(item: ReportItem, scored: bool) -> str:
    parts = [f"{item.number:,} {item.state.label}: {item.name}" + (f", {item.place}" if item.place else "")]
    of = f", {'of' if item.after < item.before else 'before'} {item.before:,}" if item.after != item.before else ""
    parts.append(f"{item.after:,} tokens{of}")
    if scored:
        terms = ", ".join(f"{name} {value:.3f}" for name, value in item.terms.items())
        parts.append(f"score {item.score:.3f} ({terms})")
        if item.position and item.state is not State.DROPPED:
            parts.append(f"place {item.position:,} in what goes out")
    return "; ".join((*parts, item.reason, *([f"begins: {clip(item.beside, BEGINNING)}"] if item.beside else [])))
