"""The command of any kind of context: its arguments from what the kind declares, one run for all."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from secateur.cli.common import ProgressBar, common_arguments, load_settings, say
from secateur.cli.output import emit
from secateur.cli.output_files import write_output
from secateur.cli.parsing import integer, whole_number
from secateur.config import Committed, Loaded
from secateur.kinds.base import Environment, Flag, Input, Kind
from secateur.settings import Settings


def arguments(kind: Kind[Any, Any], parser: argparse.ArgumentParser) -> None:
    """The arguments and flags of a kind's command."""
    for one in kind.inputs:
        _add_input(parser, one)
    for flag in kind.flags:
        if flag.switch:
            parser.add_argument(flag.name, action="store_true", default=None, help=flag.help)
        else:
            parser.add_argument(flag.name, metavar=flag.metavar, help=flag.help, type=_converted(flag))
    common_arguments(parser, formats=kind.formats, default=kind.default_format)


def run(kind: Kind[Any, Any], options: argparse.Namespace) -> int:
    """Reads, decides, and prints in the format asked for; exit code 0 also where nothing leaves."""
    inputs = {one.name: getattr(options, one.name) for one in kind.inputs}
    flags = {flag.key: value for flag in kind.flags if (value := _value(options, flag)) is not None}
    return run_with(kind, inputs, options, flags)


def run_with(
    kind: Kind[Any, Any], inputs: Mapping[str, Any], options: argparse.Namespace, flags: Mapping[str, Any]
) -> int:
    """The same for inputs and settings that are known.

    Raises:
        UsageError: the kind has no such format.
    """
    kind.check_format(options.format)

    def load(root: Path | None, committed: Committed | None = None) -> Loaded:
        return load_settings(options, root, dict(flags), committed=committed)

    loaded = kind.load(inputs, load)
    settings: Settings = loaded.settings
    progress = ProgressBar(options, unit=kind.unit)
    stdin = sys.stdin.buffer.read if sys.stdin is not None else None
    try:
        environment = Environment(stdin=stdin, form=options.format, progress=progress)
        material = kind.read(inputs, settings, environment)
        outcome = kind.answer(material, inputs, settings, kind.model(settings, os.environ), progress)
    finally:
        progress.close()
    outcome = replace(outcome, of_settings=loaded.notices)
    delivery = kind.deliver(outcome, inputs, options.format, verbose=options.verbose)
    for path, text in delivery.files:
        write_output(path, text)
    for message in delivery.said:
        say(options, message)
    emit(delivery.text)
    return delivery.exit_code


def _add_input(parser: argparse.ArgumentParser, one: Input) -> None:
    words: dict[str, Any] = {"help": one.help}
    if one.switch:
        words["action"] = "store_true"
    else:
        words["metavar"] = one.metavar
        if one.least is not None:
            words["type"] = whole_number("--" + one.name.replace("_", "-"), one.least)
    if one.positional:
        if one.repeatable:
            words["nargs"] = "+" if one.required else "*"
        elif not one.required:
            words |= {"nargs": "?", "default": one.default}
        parser.add_argument(one.name, **words)
        return
    if one.repeatable:
        words |= {"action": "append", "default": []}
    parser.add_argument("--" + one.name.replace("_", "-"), required=one.required, **words)


def _converted(flag: Flag) -> Callable[[str], Any]:
    if flag.least is not None:
        return whole_number(flag.name, flag.least)
    return integer if flag.number else str


def _value(options: argparse.Namespace, flag: Flag) -> Any:
    value = getattr(options, flag.name.removeprefix("--").replace("-", "_"))
    if value is not None and flag.names:
        return [name.strip() for name in value.split(",") if name.strip()]
    return value
