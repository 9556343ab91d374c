"""`PruneContext` prunes files to a number of tokens, as the pruner spec defines it (an adapter of the kind)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from msgspec import structs

from secateur.errors import UsageError
from secateur.kinds.autocoder import merge_args, model_of
from secateur.kinds.conversation.transcripts import read_messages
from secateur.kinds.files.kind import FilesKind, ReadFiles
from secateur.kinds.files.measurements import measure_files, question_of
from secateur.kinds.files.sourcecode import PLAIN, PrunedFiles, SourceCode
from secateur.kinds.report_logs import log_report
from secateur.kinds.run import answer_of
from secateur.llm.interface import LanguageModel
from secateur.model import TrimReport
from secateur.settings import Settings, key_of


class PruneContext:
    """Prunes files to a number of tokens.

        pruner = PruneContext(max_tokens=10_000, query="how is a refund rounded?")
        files = pruner.handle_overflow([SourceCode("src/cart.py", text), ...], conversations, strategy="extract")
        pruner.report, pruner.result.decisions, pruner.result.warnings

    `[context_prune]` sets windows and thresholds. The query and the last things the user said in `conversations` both
    count. With `llm` a model scores and extracts, else the engine's own relevance. Code written against the
    pruner spec gives `args`, any object with the spec's fields (`secateur.kinds.autocoder`), in place of settings
    and query; with `verbose` the report is logged where it is seen (`secateur.kinds.report_logs`).
    """

    def __init__(
        self,
        max_tokens: int | None = None,
        settings: Settings | None = None,
        query: str | None = None,
        llm: LanguageModel | None = None,
        *,
        args: object = None,
        verbose: bool = False,
    ) -> None:
        """By default `max_tokens` is `context_prune.max_tokens`, and `query` is `args.query` or empty. Raises
        UsageError: `max_tokens` is negative or not an integer; `query`, `settings`, `args` or `llm` has the wrong type.
        ConfigError: a field of `args` has the wrong type or is out of range."""
        settings = merge_args(args, settings)
        if max_tokens is not None:
            if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 0:
                hint = "max_tokens is an integer of at least 0"
                raise UsageError(f"max_tokens {max_tokens!r} is not allowed", hint=hint)
            # no text is longer than the setting's maximum
            within = min(max_tokens, int(key_of("context_prune.max_tokens").high or max_tokens))
            rules = structs.replace(settings.context_prune, max_tokens=within)
            settings = structs.replace(settings, context_prune=rules)
        self.settings = settings
        query = getattr(args, "query", None) if query is None else query
        if not isinstance(query, str | None):
            hint = "give what the files are for in words"
            raise UsageError(f"query is {type(query).__name__}, not a text", hint=hint)
        self.query = query or ""
        self.llm: LanguageModel | None = model_of(llm)
        self.verbose = verbose
        self.result: PrunedFiles | None = None

    @property
    def report(self) -> TrimReport | None:
        """The ledger of the last call."""
        return self.result.report if self.result is not None else None

    def handle_overflow(
        self,
        file_sources: Iterable[SourceCode],
        conversations: Sequence[dict[str, Any]] = (),
        strategy: str | None = None,
    ) -> list[SourceCode]:
        """Returns the files, or parts of them, that fit, in their order. The default strategy is
        `context_prune.strategy`. The arguments are not changed.

        Raises:
            UsageError: no such strategy; windows overlap completely; no query to score by; not a file.
            SecateurError: `TRANSCRIPT`, with the JSON path: no message can be read. If only some cannot,
                `result.warnings` names them.
        """
        files = list(file_sources)
        for index, file in enumerate(files):
            texts = (file.module_name, file.source_code) if isinstance(file, SourceCode) else (None,)
            if not all(isinstance(text, str) for text in texts):
                hint = 'for example SourceCode("src/cart.py", text)'
                raise UsageError(f"file_sources[{index}] is not a SourceCode with two texts", hint=hint)
        settings = self.settings
        if strategy is not None:
            chosen: Any = strategy  # checked together with the other rules
            settings = structs.replace(settings, context_prune=structs.replace(settings.context_prune, strategy=chosen))
        transcript = read_messages(conversations) if conversations else None
        pruned = prune_files(files, settings, question_of(self.query, transcript), llm=self.llm)
        notices = transcript.notices if transcript is not None else ()
        self.result = replace(pruned, warnings=(*notices, *pruned.warnings))
        log_report("files", self.result.report, self.verbose)
        return list(self.result.files)


def prune_files(
    files: Sequence[SourceCode],
    settings: Settings,
    query: str = "",
    *,
    form: str = PLAIN,
    llm: LanguageModel | None = None,
) -> PrunedFiles:
    """Measures files and decides on them; scores only if not all files fit. Asks the model if one is given. Raises
    UsageError: no such strategy; windows overlap completely; no query to score by."""
    measured = measure_files(files, settings, query, form=form, ahead=False)
    pruned: PrunedFiles = answer_of(FilesKind(), ReadFiles(measured), {}, settings, llm).payload
    return pruned
