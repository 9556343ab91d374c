"""Pruned files: the decisions, with the ledger, the frozen report and the texts made from them."""

from __future__ import annotations

from collections import Counter as Multiset
from dataclasses import dataclass
from functools import cached_property

from secateur.kinds.files.snippet_text import block
from secateur.kinds.files.sourcecode import FileDecision, MeasuredFiles, SourceCode
from secateur.ledger import VERBS, WRAPPER, Figure
from secateur.model import Entry, Ledger, Notice, Reason, State, TrimAction, TrimReport
from secateur.tokens import get_counter


@dataclass(frozen=True)
class PrunedFiles:
    """The decisions on files, with the measured files."""

    measured: MeasuredFiles
    decisions: tuple[FileDecision, ...]  # one per input, in its order
    budget: int
    strategy: str
    warnings: tuple[Notice, ...] = ()

    @cached_property
    def files(self) -> tuple[SourceCode, ...]:
        """The files that go out, in the order of the input."""
        counter = get_counter(self.measured.counter)
        out = []
        for decision in self.decisions:
            source = self.measured.files[decision.number].source
            if decision.state is State.SHORTENED and decision.text is not None:
                source = SourceCode(source.module_name, decision.text, counter.count(decision.text))
            if decision.text is not None:
                out.append(source)
        return tuple(out)

    @cached_property
    def ledger(self) -> Ledger:
        """Each file once; a repeated name gets a number."""
        seen: Multiset[str] = Multiset()
        entries: list[Entry] = []
        position = 0
        for decision in self.decisions:
            name = decision.module_name
            seen[name] += 1
            position += decision.text is not None
            entries.append(
                Entry(
                    name if seen[name] == 1 else f"{name} #{seen[name]}",
                    decision.state,
                    decision.reason,
                    decision.before,
                    decision.after,
                    self._figures(decision),
                    position=position if decision.text is not None else None,
                )
            )
        return Ledger.closed("files", self.budget, entries, sum(decision.after for decision in self.decisions))

    @cached_property
    def report(self) -> TrimReport:
        """The ledger in the frozen shape: one action per file."""
        return self.ledger.report(self._action, calls=self.measured.calls)

    def document(self) -> str:
        """The files that go out as one text, in the counted form."""
        left = ((decision.module_name, decision.text) for decision in self.decisions if decision.text is not None)
        return "".join(block(name, text, self.measured.form) for name, text in left)

    def _figures(self, decision: FileDecision) -> dict[str, Figure]:
        score: dict[str, Figure] = {"score": decision.score} if decision.judge else {}
        if decision.threshold is not None:
            return score | decision.threshold.figures
        budget: dict[str, Figure] = {"budget": self.budget} if decision.reason is Reason.LARGER_THAN_BUDGET else {}
        return score | {"needed": decision.needed, "left": decision.left} | budget

    def _action(self, entry: Entry) -> TrimAction | None:
        if entry.id == WRAPPER:  # files have no wrapper
            return None
        name = self.decisions[self.ledger.number_of[entry.id]].module_name
        return TrimAction(name, VERBS[entry.state], entry.reason.label, entry.before, entry.after)
