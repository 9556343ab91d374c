"""Tables of the services behind answers: `[index]`, `[embedding]`, `[tokens]`, `[redaction]`, `[llm]`,
`[ui]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, field

from secateur.settings.tables import Table, about


class Index(Table, frozen=True):
    """`[index]`: which files of a repository are read."""

    ignore: Annotated[tuple[str, ...], about("More ignore patterns, in gitignore syntax.", scope="any")] = ()
    max_file_kb: Annotated[
        int,
        Meta(ge=1, le=1_048_576),
        about("Files above this size are skipped and counted.", scope="any", lowered_only=True),
    ] = 1024
    workers: Annotated[int, Meta(ge=0, le=256), about("Parser processes; 0 = one per core.", flag="--workers")] = 0
    trust_git_dir: Annotated[
        bool,
        about(
            "Also read a git folder or objects that lie elsewhere and do not belong to the folder.",
            flag="--trust-git-dir",
        ),
    ] = False


class Embedding(Table, frozen=True):
    """`[embedding]`: where vectors come from. `static` needs no network and no model file."""

    model: Annotated[
        Literal["static", "bge", "openai", "ollama", "none"],
        about("`static`, `bge` (extra `semantic`), `openai` or `ollama` (a server), `none`."),
    ] = "static"
    base_url: Annotated[str, about("Base URL of the embedding server.")] = ""
    server_model: Annotated[str, about("Model name to send to the server.")] = ""
    api_key_env: Annotated[str, about("Name of the environment variable that holds the server's key.")] = ""


class Tokens(Table, frozen=True):
    """`[tokens]`."""

    counter: Annotated[
        Literal["o200k_base", "cl100k_base", "o200k_harmony", "estimate", "chars4"],
        about("Token counter of the run.", flag="--counter"),
    ] = "o200k_base"


class Redacting(Table, frozen=True):
    """`[redaction]`: credentials are removed from everything that is read. Only the user can change that."""

    enabled: Annotated[
        bool, about("Replace credentials with markers in everything that is read.", flag="--no-redact")
    ] = True
    scanner: Annotated[
        Literal["full", "rules"],
        about(
            "Scanner for credentials: the scanner of the extra `secrets` and the built-in rules, with a warning"
            " if the extra is not installed (`full`), or only the built-in rules (`rules`)."
        ),
    ] = "full"
    allow: Annotated[
        tuple[str, ...],
        about("Credentials that are known to be harmless and stay, as texts in which `*` matches any characters."),
    ] = ()
    allow_rules: Annotated[
        tuple[str, ...], about("Rules whose findings stay, by the names in the markers, for example `jwt`.")
    ] = ()
    allow_paths: Annotated[
        tuple[str, ...],
        about("Files that are not scanned, as paths in which `*` matches any characters, `/` included."),
    ] = ()


class Llm(Table, frozen=True):
    """`[llm]`: an OpenAI-compatible server; off by default."""

    enabled: Annotated[bool, about("Use the server.")] = False
    base_url: Annotated[str, about("Base URL of the server.")] = ""
    model: Annotated[str, about("Model name to send.")] = ""
    api_key_env: Annotated[str, about("Name of the environment variable that holds the key.")] = ""
    timeout: Annotated[int, Meta(ge=1, le=3600), about("Most seconds for a complete answer.")] = 60
    spend_cap: Annotated[
        int,
        Meta(ge=0, le=10**9),
        about("Most tokens that a run may spend on prompts and answers, by estimates made before sending."),
    ] = 200_000
    text_tokens: Annotated[
        int,
        Meta(ge=100, le=10**6),
        about("Most tokens of text in one question; longer text is cut. Less for models with small windows."),
    ] = 6000


class Ui(Table, frozen=True):
    """`[ui]`: the inspector."""

    theme: Annotated[str, about("Theme: a file of the themes folder, without `.toml`.")] = "secateur-dark"
    keys: Annotated[Mapping[str, str], about('Key by action id, for example `budget-up = "b"`.')] = field(
        default_factory=dict
    )
