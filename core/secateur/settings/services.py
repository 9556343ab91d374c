"""Tables of what answers rest on: `[index]`, `[inputs]`, `[embedding]`, `[tokens]`, `[redaction]`, `[llm]`, `[ui]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from msgspec import Meta

from secateur.settings.ranges import about


@dataclass(frozen=True, slots=True)
class Index:
    """`[index]`: what is read of a repository."""

    ignore: Annotated[tuple[str, ...], about("More ignore patterns, in gitignore syntax.", scope="any")] = ()
    max_file_kb: Annotated[
        int,
        Meta(ge=1, le=1_048_576),
        about("Files above this size are skipped and counted.", scope="any", lowered_only=True),
    ] = 1024
    workers: Annotated[int, Meta(ge=0, le=256), about("Parser processes; 0 = one per core.", flag="--workers")] = 0
    partial_kb: Annotated[
        int,
        Meta(ge=0, le=1_048_576),
        about("Text that a partial answer is made from, where more than that is not indexed yet; 0 = none is given."),
    ] = 750
    trust_git_dir: Annotated[
        bool,
        about(
            "Also read a git folder or objects that lie elsewhere and do not belong to the folder.",
            flag="--trust-git-dir",
        ),
    ] = False


@dataclass(frozen=True, slots=True)
class InputLimits:
    """`[inputs]`: limits of what is fetched or unpacked where PATH is no folder of this machine."""

    clone_mb: Annotated[int, Meta(ge=1, le=1_000_000), about("Megabytes above which a repository is not fetched.")] = (
        8000
    )
    clone_seconds: Annotated[
        int, Meta(ge=1, le=1_000_000), about("Seconds after which the fetch of a repository is given up.")
    ] = 3600
    idle_seconds: Annotated[
        int,
        Meta(ge=1, le=1_000_000),
        about("Seconds without a byte after which the fetch of a repository is given up."),
    ] = 120
    archive_mb: Annotated[
        int, Meta(ge=1, le=1_000_000), about("Megabytes that may come out of an archive; above that it is not read.")
    ] = 2000
    archive_entries: Annotated[
        int, Meta(ge=1, le=10_000_000), about("Entries that an archive may have; above that it is not read.")
    ] = 200_000


@dataclass(frozen=True, slots=True)
class Embedding:
    """`[embedding]`: where vectors come from. `static` needs no network and no model file."""

    model: Annotated[
        Literal["static", "bge", "openai", "ollama", "none"],
        about("`static`, `bge` (extra `semantic`), `openai` or `ollama` (a server), `none`."),
    ] = "static"
    base_url: Annotated[str, about("Base URL of the embedding server.")] = ""
    server_model: Annotated[str, about("Model name to send to the server.")] = ""
    api_key_env: Annotated[str, about("Name of the environment variable that holds the server's key.")] = ""


@dataclass(frozen=True, slots=True)
class Tokens:
    """`[tokens]`."""

    counter: Annotated[
        Literal["o200k_base", "cl100k_base", "o200k_harmony", "estimate", "chars4"],
        about("Token counter of the run.", flag="--counter"),
    ] = "o200k_base"


@dataclass(frozen=True, slots=True)
class Redacting:
    """`[redaction]`: credentials are taken out of everything that is read. Only the user says otherwise."""

    enabled: Annotated[
        bool, about("Replace credentials by markers in everything that is read.", flag="--no-redact")
    ] = True
    scanner: Annotated[
        Literal["full", "rules"],
        about(
            "What looks for credentials: the scanner of the extra `secrets` and the built-in rules, with a warning"
            " where the extra is not installed (`full`), or the built-in rules alone (`rules`)."
        ),
    ] = "full"
    allow: Annotated[
        tuple[str, ...],
        about("Credentials that are known to be harmless and stay, as texts in which `*` stands for any characters."),
    ] = ()
    allow_rules: Annotated[
        tuple[str, ...], about("Rules whose findings stay, by the names that markers show, for example `jwt`.")
    ] = ()
    allow_paths: Annotated[
        tuple[str, ...],
        about("Files that are not looked through, as paths in which `*` stands for any characters, `/` included."),
    ] = ()


@dataclass(frozen=True, slots=True)
class Llm:
    """`[llm]`: an OpenAI-compatible server; off by default."""

    enabled: Annotated[bool, about("Use the server.")] = False
    base_url: Annotated[str, about("Base URL of the server.")] = ""
    model: Annotated[str, about("Model name to send.")] = ""
    api_key_env: Annotated[str, about("Name of the environment variable that holds the key.")] = ""
    timeout: Annotated[int, Meta(ge=1, le=3600), about("Seconds an answer may take, to its last byte.")] = 60
    retries: Annotated[
        int, Meta(ge=0, le=10), about("Further attempts where a server does not listen, is busy or fails.")
    ] = 2
    concurrency: Annotated[int, Meta(ge=1, le=64), about("Questions under way at once.")] = 4
    spend_cap: Annotated[
        int,
        Meta(ge=0, le=10**9),
        about("Tokens a run may spend, prompts and answers, by estimates made before anything is sent."),
    ] = 200_000
    text_tokens: Annotated[
        int,
        Meta(ge=100, le=10**6),
        about("Tokens of text one question may carry; what is longer is cut. Less for models with small windows."),
    ] = 6000


@dataclass(frozen=True, slots=True)
class Ui:
    """`[ui]`: the inspector."""

    theme: Annotated[str, about("Theme: a file of the themes folder, without `.toml`.")] = "secateur-dark"
    watch: Annotated[
        Literal["off", "notice", "follow"],
        about(
            "Files that change while the inspector is open: `notice` says so, `follow` reads them and asks again, "
            "`off` does not look."
        ),
    ] = "notice"
    remember: Annotated[
        bool,
        about(
            "Remember recent queries and the last knobs of a repository, in your configuration folder; what a session"
            " that was cut off had tuned is offered again."
        ),
    ] = True
    compare_first: Annotated[
        bool,
        about(
            "At the first answer about a repository, say once what `recommended` would keep. It needs `ui.remember`."
        ),
    ] = True
    keys: Annotated[Mapping[str, str], about('Key per action id, for example `budget-up = "b"`.')] = field(
        default_factory=dict
    )
