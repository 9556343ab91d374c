"""Measures cases under settings: reads a case's input once, retrieves once per set of weights, decides per budget.

    with open_measurer(os.environ) as opened:
        settings = opened.settings(case, Choice("recommended"))
        figures = opened.measure(case, settings)

Cases of one repository share an index, which moves from commit to commit; cases in the order of their commits are
fastest. Retrievals are cached per case, so measure one case under all settings before the next. The user's cache is
used, and their configuration only as far as the call names it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import secateur
from msgspec import structs

from secateur_lab.evaluation.cases import NOT_A_CASE, JudgedCase
from secateur_lab.evaluation.metrics import Figures, figures_of
from secateur_lab.scenarios.running import Session

MOST_READINGS = 8  # retrievals of a case that are kept: one per profile, while weights of the priority change

# Tables of a case's own settings that apply: they define what can be found. The choice supplies all other settings.
READ_TABLES = ("index", "tokens")


@dataclass(frozen=True)
class Choice:
    """Settings to measure: a profile, and keys on top of it."""

    profile: str | None = None  # None: the profile of the files, or the default
    changes: Mapping[str, Any] = field(default_factory=dict)  # value by dotted key
    sources: secateur.SettingsSources = field(default_factory=secateur.SettingsSources)  # everything else

    def load(self, root: Path | None, own: Mapping[str, Any] = MappingProxyType({})) -> secateur.Loaded:
        """Returns the settings for a folder; `own` is the table of a case, which wins. Raises ConfigError."""
        return structs.replace(self.sources, profile=self.profile).over("[settings]", own).load(root)

    def carried(self) -> Choice:
        """Returns the choice for a process that may not have the user's files; see `SettingsSources.carried`."""
        return replace(self, sources=self.sources.carried())


@dataclass
class Measurer:
    """See the module docstring."""

    environ: Mapping[str, str]
    progress: secateur.Progress = secateur.unreported
    _session: Session | None = None
    _case: JudgedCase | None = None
    _readings: dict[Hashable, Any] = field(default_factory=dict)

    def settings(self, case: JudgedCase, choice: Choice) -> secateur.Settings:
        """Returns the settings of a choice for the repository of a case; raises SecateurError."""
        kind, inputs = case.asked
        own = {name: case.scenario.settings[name] for name in READ_TABLES if name in case.scenario.settings}

        def loading(root: Path | None, committed: object) -> secateur.Loaded:
            return choice.load(root if committed is None else None, own)

        settings = kind.load(inputs, loading, self._environment(case)).settings
        settings = secateur.with_values(settings, dict(choice.changes)) if choice.changes else settings
        return structs.replace(settings, llm=structs.replace(settings.llm, enabled=False))

    def read(self, case: JudgedCase, settings: secateur.Settings) -> Any:
        """Reads a case's input. The caller may decide on it repeatedly and must release it. Raises SecateurError: like
        `measure`."""
        kind, inputs = case.asked
        self._open(case)
        self._case = case
        material = kind.read(inputs, settings, self._environment(case).redacting(settings))
        try:
            _check_judged(case, kind, secateur.answer_of(kind, material, inputs, settings, progress=self.progress))
        except BaseException:
            secateur.Kind.release(material)
            raise
        return material

    def measure(self, case: JudgedCase, settings: secateur.Settings) -> Figures:
        """Measures a case. Raises SecateurError: its input cannot be read, or it judges an item that does not exist."""
        figures = figures_of(self.outcome(case, settings)[1], case.judged)
        assert figures is not None  # `read_case` returns no case without grades
        return figures

    def outcome(
        self, case: JudgedCase, settings: secateur.Settings
    ) -> tuple[secateur.Kind[Any, Any], secateur.Outcome[Any]]:
        """Returns the decision that `measure` uses, valid until the next call. Raises like `measure`."""
        kind, inputs = case.asked
        is_new = case is not self._case
        if is_new:
            self._forget()
            self._open(case)
        key = kind.reading_of(inputs, settings)
        if key not in self._readings:
            self._forget(keep=MOST_READINGS - 1)
            self._readings[key] = kind.read(inputs, settings, self._environment(case).redacting(settings))
        outcome = secateur.answer_of(kind, self._readings[key], inputs, settings, progress=self.progress)
        if is_new:
            _check_judged(case, kind, outcome)
            self._case = case
        return kind, outcome

    def close(self) -> None:
        """Closes everything that was opened."""
        self._forget()
        if self._session is not None:
            self._session.close()
            self._session = None

    def _environment(self, case: JudgedCase) -> secateur.Environment:
        if self._session is None:
            self._session = Session(self.environ, self.progress)
        return structs.replace(self._session.environment(case.root), moving=True, found={})

    def _open(self, case: JudgedCase) -> None:
        if self._case is not None and (self._case.root, self._case.repository) != (case.root, case.repository):
            self.close()
        self._case = None

    def _forget(self, keep: int = 0) -> None:
        while len(self._readings) > keep:
            secateur.Kind.release(self._readings.pop(next(iter(self._readings))))


def open_measurer(environ: Mapping[str, str], progress: secateur.Progress = secateur.unreported) -> closing[Measurer]:
    """Opens a measurer that is closed at the end."""
    return closing(Measurer(environ, progress))


def _check_judged(case: JudgedCase, kind: secateur.Kind[Any, Any], outcome: secateur.Outcome[Any]) -> None:
    if missing := kind.unknown(outcome, [id_ for id_, grade in case.judged.items() if grade > 0]):
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise secateur.SecateurError(
            f"no item is called {missing[0]}{more}",
            hint="correct the ids below [judged]; `secateur search --explain` shows those of every candidate",
            code=NOT_A_CASE,
        )
