"""Files that fit a number of tokens: the best ones whole, or of the best ones the lines that matter.

    pruned = prune_files(files, settings, "where is the refund total rounded?")
    pruned.files, pruned.entries, pruned.report, pruned.warnings

    weighed = weigh_files(files, settings, query) # slow: what answers the query; whatever the budget and the strategy
    prune(weighed, settings) # instant: what leaves under them

`score` keeps files by their score, 0 to 10; `extract` keeps relevant files whole up to a share of the tokens and takes
snippets of the rest; `delete` keeps files in their order. Scores and snippets come from the engine's own relevance, or
from a language model where one is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from secateur.errors import UsageError
from secateur.kinds.autocoder import model_of, settings_of
from secateur.kinds.conversation.messages import PartKind
from secateur.kinds.conversation.transcripts import Transcript, read_messages
from secateur.kinds.files.deciding import STRATEGIES, decide
from secateur.kinds.files.displaced import with_displaced
from secateur.kinds.files.extracts import FORMS, PLAIN, block, cost, header, newline_ended, touches
from secateur.kinds.files.judging import judged
from secateur.kinds.files.pieces import best, pieces_of, query_of
from secateur.kinds.files.sliding import check_windows
from secateur.kinds.files.sourcecode import (
    LOCAL,
    SCORES,
    Entry,
    Piece,
    PrunedFiles,
    SourceCode,
    WeighedFile,
    WeighedFiles,
    Why,
)
from secateur.languages.syntax.fragments import split_lines
from secateur.llm.interface import LanguageModel
from secateur.logs import log_report
from secateur.model import ModelCall, Notice, State, TrimAction, TrimReport
from secateur.progress import Progress
from secateur.settings import Settings
from secateur.suggestions import suggestion
from secateur.tokens import Counter, get_counter

__all__ = [
    "STRATEGIES",
    "PruneContext",
    "PrunedFiles",
    "SourceCode",
    "WeighedFiles",
    "document",
    "prune",
    "prune_files",
    "question_of",
    "weigh_files",
]

COUNTED_AT_ONCE = 200
"""Files between two steps of the progress bar."""

_VERBS = {State.KEPT: "keep", State.SHORTENED: "shorten", State.DROPPED: "drop"}


class PruneContext:
    """Prunes files to a number of tokens.

        pruner = PruneContext(max_tokens=10_000, query="how is a refund rounded?")
        files = pruner.handle_overflow([SourceCode("src/cart.py", text), ...], conversations, strategy="extract")
        pruner.report, pruner.result.entries, pruner.result.warnings

    `[context_prune]` sets windows and thresholds. The query and the last things the user said in `conversations` both
    count. With `llm` a model scores and extracts; without, the engine's own relevance does. Code written against the
    pruner spec gives `args`, any object with the spec's fields (`secateur.kinds.autocoder`), in place of settings
    and query; with `verbose` the report is logged where it is seen (`secateur.logs`).
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
        """None: `context_prune.max_tokens`, `args.query` or no query.

        Raises:
            UsageError: `max_tokens` is negative or no integer, `query` no text; `settings`, `args` or `llm` are none.
            ConfigError: a field of `args` has the wrong type or is out of range.
        """
        settings = settings_of(args, settings)
        if max_tokens is not None:
            if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 0:
                raise UsageError(
                    f"max_tokens {max_tokens!r} is not allowed", hint="max_tokens is an integer of at least 0"
                )
            settings = replace(settings, context_prune=replace(settings.context_prune, max_tokens=max_tokens))
        self.settings = settings
        query = getattr(args, "query", None) if query is None else query
        if not isinstance(query, str | None):
            raise UsageError(
                f"query is {type(query).__name__}, not a text", hint="give what the files are for in words"
            )
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
        """What of the files fits, in their order; by default by `context_prune.strategy`. Nothing that comes in is
        changed.

        Raises:
            UsageError: no such strategy; windows that overlap whole; nothing to score by; what is no file.
            SecateurError: `TRANSCRIPT`, with the JSON path: no message can be read. Where some can, `result.warnings`
            names the others.
        """
        files = list(file_sources)
        for number, file in enumerate(files):
            if not (
                isinstance(file, SourceCode) and isinstance(file.module_name, str) and isinstance(file.source_code, str)
            ):
                raise UsageError(
                    f"file_sources[{number}] is no SourceCode of two texts",
                    hint='for example SourceCode("src/cart.py", text)',
                )
        settings = self.settings
        if strategy is not None:
            chosen: Any = strategy  # whether there is such a strategy is checked with the other rules
            settings = replace(settings, context_prune=replace(settings.context_prune, strategy=chosen))
        transcript = read_messages(conversations) if conversations else None
        said = question_of(self.query, transcript, settings.context_prune.query_messages)
        pruned = prune_files(files, settings, said, llm=self.llm)
        self.result = (
            replace(pruned, warnings=(*transcript.notices, *pruned.warnings)) if transcript is not None else pruned
        )
        log_report("files", self.result.report, self.verbose)
        return list(self.result.files)


def prune_files(
    files: Sequence[SourceCode],
    settings: Settings,
    query: str = "",
    *,
    form: str = PLAIN,
    llm: LanguageModel | None = None,
    progress: Progress | None = None,
) -> PrunedFiles:
    """Both phases; nothing is rated where nothing has to go.

    Raises:
        UsageError: no such strategy; windows that overlap whole; nothing to score by.
    """
    rules = settings.context_prune
    _check(settings)
    weighed = _counted(files, settings, form, progress)
    if rules.enabled and rules.strategy != "delete" and 0 < rules.max_tokens < weighed.total:
        weighed = _rated(weighed, settings, query, llm, progress)
    return prune(weighed, settings)


def weigh_files(
    files: Sequence[SourceCode],
    settings: Settings,
    query: str,
    *,
    form: str = PLAIN,
    llm: LanguageModel | None = None,
    progress: Progress | None = None,
) -> WeighedFiles:
    """The slow phase: count the files and judge them. What a model is asked depends on the strategy and the budget; its
    answers hold for any.

    Raises:
        UsageError: windows that overlap whole; an empty query.
    """
    _check(settings)
    return _rated(_counted(files, settings, form, progress), settings, query, llm, progress)


def prune(weighed: WeighedFiles, settings: Settings) -> PrunedFiles:
    """The instant phase; pure. `max_tokens` holds for what leaves in the form it was weighed for.

    Raises:
        UsageError: no such strategy; the strategy needs scores and nobody was asked.
    """
    rules, counter = settings.context_prune, get_counter(weighed.counter)
    _check(settings)
    if rules.enabled and rules.strategy != "delete" and 0 < rules.max_tokens < weighed.total and not weighed.query:
        raise _nothing_to_score_by(rules.strategy)
    entries, displaced = with_displaced(decide(weighed, rules, counter), weighed, rules, counter)
    out = []
    for entry in entries:
        source = weighed.files[entry.number].source
        if entry.state is State.SHORTENED and entry.text is not None:
            source = SourceCode(source.module_name, entry.text, counter.count(entry.text))
        if entry.text is not None:
            out.append(source)
    actions = tuple(
        TrimAction(entry.module_name, _VERBS[entry.state], str(entry.why), entry.before, entry.after)
        for entry in entries
    )
    report = TrimReport(
        applied=any(entry.state is not State.KEPT for entry in entries),
        before=weighed.total,
        after=sum(entry.after for entry in entries),
        budget=rules.max_tokens,
        actions=actions,
        calls=weighed.calls,
    )
    notices = (*weighed.notices, *displaced, *_notices(weighed, entries, settings))
    return PrunedFiles(tuple(out), tuple(entries), report, rules.strategy, weighed.form, notices)


def question_of(query: str, transcript: Transcript | None = None, turns: int = 3) -> str:
    """What is asked: the query, and the last `turns` messages in which a user says something, newest first: the first
    line counts most."""
    said = []
    for message in reversed(transcript.messages if transcript else ()):
        texts = [part.text for part in message.parts if part.kind is PartKind.TEXT]
        if message.role == "user" and any(text.strip() for text in texts):
            said.append("\n".join(texts).strip())
            if len(said) == turns:
                break
    return "\n".join(text for text in (query.strip(), *said) if text)


def document(pruned: PrunedFiles) -> str:
    """What leaves as one text, as it was counted."""
    spans = {entry.number: (entry.ranges[0][0], entry.ranges[-1][1]) for entry in pruned.entries if entry.ranges}
    going = (entry for entry in pruned.entries if entry.text is not None)
    return "".join(block(entry.module_name, entry.text or "", pruned.form, spans.get(entry.number)) for entry in going)


# --- the slow phase ---------------------------------------------------------------------------------------------------


def _counted(files: Sequence[SourceCode], settings: Settings, form: str, progress: Progress | None) -> WeighedFiles:
    if form not in FORMS:
        raise UsageError(f"there is no form {form!r}", hint="forms: " + ", ".join(FORMS))
    counter = get_counter(settings.tokens.counter)
    found: list[WeighedFile] = []
    for start in range(0, len(files), COUNTED_AT_ONCE):
        some = files[start : start + COUNTED_AT_ONCE]
        for file, tokens in zip(some, counter.count_many(file.source_code for file in some), strict=True):
            source = file if file.tokens == tokens else replace(file, tokens=tokens)
            price = tokens if form == PLAIN else cost(file.module_name, file.source_code, form, counter)
            found.append(WeighedFile(source, len(split_lines(file.source_code)), price))
        if progress is not None:
            progress("counting", len(found), len(files))
    return WeighedFiles(tuple(found), settings.tokens.counter, form, "")


def _rated(
    weighed: WeighedFiles, settings: Settings, text: str, llm: LanguageModel | None, progress: Progress | None
) -> WeighedFiles:
    """The files with their pieces, scores, and a model's judgement."""
    if not text.strip():
        raise _nothing_to_score_by(settings.context_prune.strategy)
    query, english = query_of(text)
    counter = get_counter(weighed.counter)
    found, notices = pieces_of([file.source for file in weighed.files], query, settings, progress)
    if query.empty:
        notices.append(Notice("empty_query", "The query holds no word to look for."))
    elif query.foreign and not english and not any(map(best, found)):
        notices.append(
            Notice(
                "no_gloss",
                "No word of the query occurs here. For Chinese queries on English code install secateur[zh].",
            )
        )
    files = [
        replace(file, pieces=pieces, score=round(SCORES * best(pieces), 1), judge=LOCAL)
        for file, pieces in zip(weighed.files, found, strict=True)
    ]
    calls: tuple[ModelCall, ...] = ()
    if llm is not None:
        told = judged(files, text, llm, settings, progress)
        files, calls = told.files, told.calls
        notices += told.notices
    elif 0 < (top := max(map(best, found), default=0.0)) < settings.relevance.low_threshold and not query.foreign:
        notices.append(
            Notice(
                "low_relevance",
                f"The best match has a score of {SCORES * top:.1f} of {SCORES}: the query may not be about these"
                " files.",
            )
        )
    files = [replace(file, pieces=_counted_pieces(file, counter)) for file in files]
    return replace(weighed, files=tuple(files), query=text, calls=calls, notices=tuple(notices))


def _counted_pieces(file: WeighedFile, counter: Counter) -> tuple[Piece, ...]:
    """Its pieces with the tokens of those that something speaks for, and whether they go on where the one before
    ends."""
    pieces = file.pieces
    if not any(piece.relevance for piece in pieces):
        return pieces
    lines = split_lines(file.source.source_code)
    spoken = [piece for piece in pieces if piece.relevance]
    bodies = iter(counter.count_many(newline_ended(lines[piece.start - 1 : piece.end]) for piece in spoken))
    headers = iter(counter.count_many(header(piece.start, piece.end, piece.owner) for piece in spoken))
    joined = [False, *(touches(before.end, piece.start, lines) for before, piece in pairwise(pieces))]
    between = zip(pieces, pieces[1:], joined[1:], strict=False)
    gaps = iter(
        counter.count_many(
            newline_ended(lines[before.end : piece.start - 1]) for before, piece, joins in between if joins
        )
    )
    return tuple(
        replace(
            piece,
            tokens=next(bodies) if piece.relevance else 0,
            header=next(headers) if piece.relevance else 0,
            gap=next(gaps) if joins else -1,
        )
        for piece, joins in zip(pieces, joined, strict=True)
    )


# --- what is wrong, and what is empty ---------------------------------------------------------------------------------


def _check(settings: Settings) -> None:
    rules = settings.context_prune
    if rules.strategy not in STRATEGIES:
        near = suggestion(rules.strategy, STRATEGIES)
        hint = (f"did you mean {near}? " if near else "") + "strategies: " + ", ".join(STRATEGIES)
        raise UsageError(f"there is no strategy {rules.strategy!r}", hint=hint)
    check_windows(rules.sliding_window_size, rules.sliding_window_overlap)


def _nothing_to_score_by(strategy: str) -> UsageError:
    return UsageError(
        f"strategy {strategy} needs to know what the files are for",
        hint="give a query or a conversation, or use the strategy delete",
    )


def _notices(weighed: WeighedFiles, entries: Sequence[Entry], settings: Settings) -> list[Notice]:
    rules = settings.context_prune
    if not entries:
        return [Notice("no_files", "There is no file to prune.")]
    if not rules.enabled:
        over = weighed.total - rules.max_tokens
        more = f" ({over:,} tokens more than {rules.max_tokens:,})" if over > 0 else ""
        return [Notice("pruning_disabled", f"context_prune.enabled is false: all files are as they came{more}.")]
    if any(entry.text is not None for entry in entries):
        return []
    if rules.max_tokens == 0:
        return [Notice("zero_budget", "The budget is 0 tokens: nothing leaves.")]
    if all(entry.why is Why.NOT_RELEVANT for entry in entries):
        return [
            Notice(
                "nothing_relevant",
                f"No file scores {rules.min_score:g} of {SCORES} or more: nothing in them answers the query.",
            )
        ]
    least = min(entry.needed for entry in entries if entry.why is not Why.NOT_RELEVANT)
    needed = min([least, *(piece.needed for entry in entries for piece in entry.tried)])
    return [
        Notice(
            "budget_too_small",
            f"Nothing that is relevant fits {rules.max_tokens:,} tokens: the smallest of it needs {needed:,}.",
        )
    ]
