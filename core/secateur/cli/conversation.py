"""`secateur conversation FILE`: a transcript pruned to a safe zone of tokens, headless."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from secateur.cli.common import ProgressBar, common_arguments, here, input_bytes, load_settings, model_line, say
from secateur.cli.filing import write_output
from secateur.cli.output import emit
from secateur.cli.parsing import integer
from secateur.terminal import clip, visible

if TYPE_CHECKING:
    from secateur.kinds.conversation.pruned import Cache, Item, Pruned
    from secateur.settings import ConversationPrune

SUMMARIZING = ("summarize", "hybrid")
"""Strategies a language model has words for, where one is set (`[llm]`)."""

NAME_CELLS = 16
"""Least width of the names of messages."""

SHOWN_MESSAGES = 40
"""Changed messages the text lists without --verbose."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Flags of the command."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a transcript: OpenAI or Anthropic messages, a Claude Code session, <tool_result …> text; - reads stdin",
    )
    parser.add_argument("--strategy", metavar="S", help="summarize, truncate, hybrid or tool-results (default)")
    parser.add_argument(
        "--safe-zone", type=integer, metavar="N", help="tokens the conversation may hold (default 50000)"
    )
    parser.add_argument(
        "--group-size",
        type=integer,
        metavar="G",
        help="messages that are dropped or summarised together, at least (default 4)",
    )
    parser.add_argument(
        "--keep-last",
        type=integer,
        metavar="N",
        help="tool results at the end that stay (default 0; what is not answered yet stays anyway)",
    )
    parser.add_argument("--keep-tools", metavar="A,B", help="tools whose results stay")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write the pruned transcript here, in the shape it came in"
    )
    common_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Exit 0 also where the safe zone is not met: a warning says by how much."""
    from secateur.kinds.conversation.pruning import prune
    from secateur.kinds.conversation.transcripts import read_transcript
    from secateur.llm import open_model
    from secateur.render import dumps

    loaded = load_settings(options, here(), flags(options))
    model = (
        open_model(loaded.settings.llm, os.environ)
        if loaded.settings.conversation_prune.strategy in SUMMARIZING
        else None
    )
    transcript = read_transcript(
        input_bytes(options.file, "transcript"), "standard input" if options.file == "-" else options.file
    )
    progress = ProgressBar(options, unit="parts")
    try:
        pruned = prune(transcript, loaded.settings, progress=progress, llm=model)
    finally:
        progress.close()
    pruned = replace(pruned, warnings=(*loaded.notices, *pruned.warnings))
    if options.out is not None:
        write_output(options.out, pruned.write())
        say(options, f"written: {options.out}")
    rules = loaded.settings.conversation_prune
    emit(dumps(as_json(pruned, rules)) if options.format == "json" else as_text(pruned, rules, options.verbose))
    return 0


def flags(options: argparse.Namespace) -> dict[str, Any]:
    """The command's flags as settings."""
    names = {
        "strategy": "strategy",
        "safe_zone": "safe_zone_tokens",
        "group_size": "group_size",
        "keep_last": "keep_last",
    }
    values = {
        f"conversation_prune.{key}": getattr(options, name)
        for name, key in names.items()
        if getattr(options, name) is not None
    }
    if options.keep_tools is not None:
        values["conversation_prune.keep_tools"] = [
            name.strip() for name in options.keep_tools.split(",") if name.strip()
        ]
    return values


def as_json(pruned: Pruned, rules: ConversationPrune) -> dict[str, Any]:
    """The JSON of the contract."""
    return {
        "messages": pruned.messages,
        "format": pruned.transcript.format,
        "statistics": pruned.statistics,
        "cache": (
            pruned.cache.to_dict()
            | {"pays_after_requests": pruned.cache.pays_after(rules.cache_read_price, rules.cache_write_price)}
        ),
        "report": pruned.report.to_dict(),
        "warnings": [notice.to_dict() for notice in pruned.warnings],
    }


def as_text(pruned: Pruned, rules: ConversationPrune, verbose: bool) -> str:
    """Figures, and a line for each message that is not as it was; with `verbose` for every message."""
    figures, cache, report = pruned.statistics, pruned.cache, pruned.report
    shares = (
        f"{report.before:,} -> {report.after:,} tokens",
        f"{figures['tokens_saved']:,} saved",
        f"safe zone {report.budget:,}",
    )
    prefix = "unchanged: nothing is read again"
    if cache.first_changed is not None:
        stays = f"{cache.prefix_tokens:,} tokens before it stay cached (=), {cache.reread_tokens:,} are read again"
        prefix = f"messages[{cache.first_changed}] is the first that changed: {stays}{_pays(cache, rules)}"
    lines = [
        (
            f"{'format':<9} {pruned.transcript.format}, {figures['total_messages']:,} messages{_unsent(pruned)};"
            f" strategy {rules.strategy}"
        ),
        f"{'tokens':<9} {', '.join(shares)}",
        f"{'results':<9} {figures['tool_results_cleaned']:,} tool results gone",
        f"{'cache':<9} {prefix}",
    ]
    lines += model_line(report.calls)
    lines += [f"! {visible(notice.message)}" for notice in pruned.warnings]
    listed = [item for item in pruned.items if verbose or item.action != "keep"]
    window = max(report.budget, 1)
    shown = listed if verbose else listed[:SHOWN_MESSAGES]
    wide = max(NAME_CELLS, *(len(_name(item)) for item in shown)) if shown else NAME_CELLS
    for item in shown:
        message = pruned.transcript.messages[item.number] if item.number >= 0 else None
        tools = ",".join(dict.fromkeys(part.tool for part in message.parts if part.tool)) if message else ""
        cached = " " if cache.first_changed is not None and not 0 <= item.number < cache.first_changed else "="
        name = _name(item)
        said = f"{message.role if message else 'summary'} {tools}".strip()
        figures_of = f"{item.before:>9,} -> {item.after:>7,}  {item.before / window:>6.1%}"
        lines.append(
            f"{cached} {name:<{wide}} {clip(visible(said), 32):<32} {figures_of}  {item.action}: {item.reason}"
        )
    if len(shown) < len(listed):
        lines.append(f"  ... and {len(listed) - len(shown):,} more (--verbose lists all)")
    return "\n".join(lines) + "\n"


def _name(item: Item) -> str:
    return item.section or f"messages[{item.number}]"


def _pays(cache: Cache, rules: ConversationPrune) -> str:
    """When the prune has paid for what is read again, told only where it saves something."""
    requests = cache.pays_after(rules.cache_read_price, rules.cache_write_price)
    if not requests:
        return ""
    return f"; with a warm cache it pays after {requests:,} request{'s' if requests > 1 else ''}"


def _unsent(pruned: Pruned) -> str:
    number = sum(message.role == "aside" for message in pruned.transcript.messages)
    return f" ({number:,} of them reach{'' if number > 1 else 'es'} no model)" if number else ""
