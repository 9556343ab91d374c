"""All that a search finds and decides, as text that is compared with what another engine finds and decides."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from msgspec import structs, to_builtins
from secateur import Engine, Settings
from secateur.kinds.environment import Environment, Inputs
from secateur.kinds.protocols import Delivery
from secateur.kinds.run import carry_out, render
from secateur.kinds.search.kind import ENGINE, Search, SearchAnswers
from secateur.model import Selection
from secateur.progress import Progress, unreported
from secateur.retrieval.cache import Answer
from secateur.settings import Loaded
from secateur.shape import dumps_report


def report_text(engine: Engine, selection: Selection) -> str:
    """The report with all that was dropped. What `explain` proves is left out: it follows from the pool, by deciding
    again hundreds of times."""
    return dumps_report(engine.report(selection, dropped=None))


def answer_text(engine: Engine, query: str, progress: Progress | None = None) -> str:
    """Every column of the pool, and the report."""
    selection = engine.search(query, use_cache=False, progress=progress)
    columns = json.dumps(structs.asdict(selection.pool), default=_plain, sort_keys=True)
    return f"{columns}\n{report_text(engine, selection)}"


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else to_builtins(value)


def answered(
    engine: Engine,
    query: str,
    form: str = "text",
    *,
    explain: bool = False,
    dropped: int | str | None = None,
    use_cache: bool = True,
    progress: Progress = unreported,
) -> Answer:
    """What the command prints, by an engine that stays open."""
    search, loaded = Search(), Loaded(engine.settings, {}, ())
    given = {"query": query, "explain": explain, "dropped": dropped, "no_cache": not use_cache}
    answers: list[Answer] = []

    class Opened(SearchAnswers):
        def _deliver(self, answer: Answer, *, verbose: bool, partial: bool = False) -> Delivery:
            answers.append(answer)
            return super()._deliver(answer, verbose=verbose, partial=partial)

        def close(self) -> None:
            pass

    class OpenedSearch(Search):
        def kept_answers(self, inputs: Inputs, loaded: Loaded, environment: Environment) -> SearchAnswers:
            return Opened(inputs, loaded, environment)

    environment = Environment(form=form, progress=progress, found={ENGINE: engine})
    carry_out(OpenedSearch(), search.blank_inputs() | given, loaded, environment)
    return answers[0]


def printed(engine: Engine, selection: Selection, form: str = "text", settings: Settings | None = None) -> str:
    """What the command prints of a selection, without proofs."""
    return render(Search(), Search().outcome_of(engine, selection, settings or engine.settings), form)
