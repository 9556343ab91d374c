"""`secateur config [PATH]`: the settings in force, each with where it comes from; `--schema` prints the JSON schema,
`--save-profile` and `--adopt` write a configuration file."""

import json
import os
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, structs

from secateur import directories
from secateur.cli import completers
from secateur.cli.command_parser import CommandParser
from secateur.cli.common import CommandCall, sample_or_path
from secateur.cli.output import emit
from secateur.cli.parsing import completed_by, one_of
from secateur.errors import UsageError, unreadable_folder
from secateur.ledger import Reason, ReasonCode
from secateur.profile_files import adopt_profile, own_file, repository_file, write_profile
from secateur.render.page import SENTENCES, count_noun
from secateur.settings import Settings, installed_keys, lookup, schema
from secateur.shape import Shape, dumps
from secateur.terminal import visible

PROFILE_TARGETS = ("yours", "repository")


class ReasonShape(Shape, frozen=True):
    """A reason code and its sentence, in which figures of the entry stand in braces."""

    reason: ReasonCode
    sentence: str


class ProfileOutput(Shape, frozen=True):
    """The output of `secateur config --save-profile` or `--adopt` with `--format json`."""

    profile: str | None
    file: str
    values: dict[str, Any]
    refused: Annotated[dict[str, str], Meta(description="Key -> why it is not part of the profile.")]
    adopted: str | None


class SettingShape(Shape, frozen=True):
    """A setting in force and where it comes from."""

    value: Any
    origin: str


def arguments(parser: CommandParser) -> None:
    """Adds the flags of the command."""
    parser.add_argument(
        "path", metavar="PATH", nargs="?", default=".", help="the repository whose file is read (default: here)"
    )
    parser.add_argument("--schema", action="store_true", help="print the JSON schema of secateur.toml")
    parser.add_argument(
        "--reasons", action="store_true", help="print every reason code of the ledger with its sentence"
    )
    parser.add_argument(
        "--save-profile",
        metavar="NAME",
        help="save the settings of this call, --set included, as [profiles.NAME]; keeps the file's comments and order",
    )
    parser.add_argument(
        "--to",
        type=one_of("--to", PROFILE_TARGETS),
        metavar="|".join(PROFILE_TARGETS),
        help="where --save-profile writes: yours (default), or repository (only keys that a repository may set)",
    )
    adopt = parser.add_argument(
        "--adopt", metavar="NAME", help="make a profile the default of your own configuration, in every repository"
    )
    completed_by(adopt, completers.profiles)
    parser.common_arguments()


def run(options: CommandCall) -> int:
    """Prints every key, its value and its origin, or writes a file."""
    if options.to is not None and options.save_profile is None:
        raise UsageError("--to needs --save-profile", hint="--adopt always writes your own configuration")
    if options.schema:
        emit(json.dumps(schema(), indent=2, ensure_ascii=False) + "\n")
        return 0
    if options.reasons:
        if options.format == "json":
            emit(dumps([ReasonShape(reason.label, SENTENCES[reason]) for reason in Reason]))
        else:
            emit("".join(f"{reason.label:<20} {SENTENCES[reason]}\n" for reason in Reason))
        return 0
    root = sample_or_path(options.path)
    if not root.is_dir():
        raise unreadable_folder(root)
    loaded = options.load_settings(root)
    if options.save_profile is not None or options.adopt is not None:
        emit(_write_profiles(options, root, loaded.settings))
        return 0
    rows = [
        (key, lookup(loaded.settings, key.name), loaded.origins.get(key.name, "default"))
        for key in installed_keys().values()
        if key.scope != "run"
    ]
    if options.format == "json":
        emit(dumps({key.name: SettingShape(_plain(value), origin) for key, value, origin in rows}))
        return 0
    for key, value, origin in rows:
        text = json.dumps(_plain(value), ensure_ascii=False)
        emit(f"{key.name:<46} {visible(text):<18} {visible(origin)}\n")
        if options.verbose:
            emit(f"    {key.doc} {key.allowed()[0].upper()}{key.allowed()[1:]}.\n")
    emit(f"\nyour configuration folder: {visible(str(directories.config_dir(os.environ)))}\n")
    return 0


def _write_profiles(options: CommandCall, root: Path, settings: Settings) -> str:
    own = directories.config_dir(os.environ)
    output, lines = ProfileOutput(None, "", {}, {}, None), list[str]()
    if options.save_profile is not None:
        file = repository_file(root) if options.to == "repository" else own_file(own)
        written = write_profile(file, options.save_profile, settings)
        values, refused = dict(written.values), dict(written.refused)
        output = ProfileOutput(written.name, str(written.path), values, refused, None)
        others = count_noun(len(values), "other setting")
        lines.append(f"{written.path}: [profiles.{written.name}] holds {written.base} and {others}")
        lines += [f"  left out {key}: {why}" for key, why in written.refused.items()]
    if options.adopt is not None:
        changed = adopt_profile(own, options.adopt)
        output = structs.replace(output, adopted=options.adopt, file=output.file or str(changed))
        lines.append(f"{changed}: {options.adopt} is your default from now on")
    return dumps(output) if options.format == "json" else "".join(f"{visible(line)}\n" for line in lines)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if hasattr(value, "keys") else value
