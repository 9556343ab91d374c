"""The state of a bench without a screen, for every kind of context: what is typed, the history of settings, what was
read, the answer, the baseline, the item looked at, the open page.

Nothing derived is stored: what is stale follows from comparing what was asked with what is there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from secateur.errors import SecateurError
from secateur.kinds.base import Outcome
from secateur.output_files import write_output
from secateur.settings import Settings, with_profile, with_values

from secateur_tui.state.answer import ShownAnswer, compare
from secateur_tui.state.list_view import HIDDEN, WHOLE, ListChoice, ListedItems, ListView, find_nearest, make_view

Inputs = Mapping[str, str]  # the text of each field of the input


K = TypeVar("K", bound=Any)  # the page of a kind, which reads it: a `KindPage`
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that an action wrote, as it was before and after; None: there was no file."""

    path: Path
    before: str | None
    after: str | None

    @classmethod
    def by(cls, path: Path, action: Callable[[], T]) -> tuple[WrittenFile, T]:
        """Returns what an action made of a file, and what the action returned."""
        path = path.resolve()  # the user's own file may be a link
        before = _read(path)
        result = action()
        return cls(path, before, _read(path)), result

    def put(self, *, back: bool) -> bool:
        """Writes the text before the action, or after it again; returns False and writes nothing if the file changed
        since then.

        Raises:
            SecateurError: it cannot be written.
        """
        had, wanted = (self.after, self.before) if back else (self.before, self.after)
        if _read(self.path) != had:
            return False
        if wanted is None:
            self.path.unlink(missing_ok=True)
        else:
            write_output(self.path, wanted)
        return True


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return None


@dataclass(frozen=True, slots=True)
class SettingsHistory:
    """A list of settings with a place in it, for undo and redo."""

    entries: tuple[Settings, ...]
    place: int = 0
    files: Mapping[int, WrittenFile] = field(default_factory=dict)  # by the place that the step which wrote it led to

    @property
    def present(self) -> Settings:
        return self.entries[self.place]

    @property
    def can_undo(self) -> bool:
        return self.place > 0

    @property
    def can_redo(self) -> bool:
        return self.place + 1 < len(self.entries)

    def push(self, settings: Settings, file: WrittenFile | None = None) -> SettingsHistory:
        """Adds new present settings and forgets what was undone before."""
        place = self.place + 1
        files = {at: written for at, written in self.files.items() if at < place}
        return SettingsHistory((*self.entries[:place], settings), place, files | ({place: file} if file else {}))


_view = lru_cache(maxsize=2)(make_view)  # made once, and not at every key


@dataclass(frozen=True, eq=False)
class Reading:
    """Material that was read, and the key for which it was read."""

    key: Hashable
    material: Any


@dataclass(frozen=True, slots=True)
class Request:
    """The inputs and settings of an answer; with the material they determine it."""

    inputs: tuple[tuple[str, str], ...]
    settings: Settings

    @property
    def question(self) -> str:
        """The text of the first field."""
        return self.inputs[0][1]


@dataclass(slots=True)
class BenchState(Generic[K]):
    """See the module docstring. Methods return whether something changed."""

    kind_page: K  # reads the kind, and draws this state
    opened: Settings  # as the inspector was started with; `r` goes back to these values
    inputs: dict[str, str]
    history: SettingsHistory = field(init=False)
    reading: Reading | None = None
    asked: Request | None = None  # what `answer` or `refusal` is for
    answer: ShownAnswer[Any] | None = None
    refusal: SecateurError | None = None  # in place of an answer: why there is none
    answered: Request | None = None  # what `answer` is for
    decided_on: Reading | None = None  # what `answer` was decided on
    baseline: ShownAnswer[Any] | None = None  # what the answer is compared with
    cursor: int = 0  # item looked at
    follows: bool = False  # what grows is read on: a cursor on the newest item goes to the next one
    page: str = "why"  # the open page beside the list
    saved: Settings | None = None  # as the profile that was saved last has them
    choice: ListChoice = WHOLE  # the part of the list that is shown, and its order
    _followed: tuple[str, str] | None = None  # the name that the user went to, and that which the cursor is on for it
    _key: tuple[Mapping[str, str], Settings, Hashable] | None = None  # what `key` was made of, and it
    hinted: tuple[str, Settings] | None = None  # the entry that a hint was applied for, and the settings that made

    def __post_init__(self) -> None:
        self.history = SettingsHistory((self.opened,))
        self.inputs = {field.name: self.inputs.get(field.name, "") for field in self.kind_page.fields}

    # --- what is asked ---

    @property
    def question(self) -> str:
        """The text of the first field: the path that is read, or the query; "" for none."""
        return self.inputs[self.kind_page.fields[0].name]

    @property
    def asks(self) -> bool:
        """Tells whether anything is asked or opened."""
        return bool(self.question.strip())

    @property
    def wanted(self) -> Request:
        """The present request, which may not be answered yet."""
        return Request(tuple(self.inputs.items()), self.settings)

    @property
    def key(self) -> Hashable:
        """The key of what should be read. It is asked for many times a frame, and made of every setting."""
        known = self._key
        if known is None or known[0] is not self.inputs or known[1] is not self.settings:
            self._key = known = self.inputs, self.settings, self.kind_page.reading_key(self.inputs, self.settings)
        return known[2]

    @property
    def needs_reading(self) -> bool:
        """Tells whether the material does not serve the present request."""
        reading, page = self.reading, self.kind_page
        serves = reading is not None and page.serves(reading.key, self.key)
        return self.asks and (not serves or (self.partial and page.prepared))

    @property
    def partial(self) -> bool:
        """Tells whether the material is only a part."""
        return self.reading is not None and self.kind_page.is_part(self.reading.material)

    @property
    def needs_answer(self) -> bool:
        """Tells whether the answer on screen belongs to another request."""
        return self.asks and (self.needs_reading or self.asked != self.wanted)

    @property
    def answer_in_force(self) -> ShownAnswer[Any] | None:
        """The answer, if it answers the present request."""
        return self.answer if self.asked == self.wanted else None

    @property
    def answer_to_inputs(self) -> ShownAnswer[Any] | None:
        """The answer, if it answers the present inputs under any settings."""
        answered = self.answered
        return self.answer if answered is not None and answered.inputs == self.wanted.inputs else None

    @property
    def listed(self) -> bool:
        """Tells whether there are items to show."""
        return self.answer is not None and len(self.answer) > 0 and self.refusal is None

    @property
    def comparison(self) -> Any:
        """Baseline against answer; None while nothing has changed since the baseline, or all of it was taken back."""
        answer, baseline = self.answer, self.baseline
        if baseline is None or answer is None or baseline is answer:
            return None
        comparison = compare(baseline, answer)
        return None if answer.settings == baseline.settings and comparison.same else comparison

    @property
    def outcome(self) -> Outcome[Any] | None:
        """The outcome on the screen; None if there is none or another one is awaited."""
        if self.answer is None or self.refusal or self.needs_answer:
            return None
        outcome: Outcome[Any] = self.answer.outcome
        return outcome

    @property
    def budget(self) -> int:
        """The budget in force."""
        answer = self.answer_in_force
        outcome = answer.outcome if answer is not None else None
        budget: int = self.kind_page.kind.budget_in_force(self.settings, outcome)
        return budget

    @property
    def entry_number(self) -> int | None:
        """The number of the ledger's entry at the cursor; None if no entry is there."""
        return self.answer.entry_number(self.cursor) if self.answer is not None and self.listed else None

    @property
    def entry(self) -> str:
        """The id of the ledger's entry at the cursor; "" if no entry is there."""
        return self.answer.ledger.ids[self.cursor] if self.answer is not None and self.entry_number is not None else ""

    # --- the list ---

    @property
    def columns(self) -> ShownAnswer[Any] | None:
        """The items by which they are found, filtered and sorted; None while there are none."""
        return self.answer if self.listed else None

    @property
    def view(self) -> ListView | None:
        """The list where it does not show all items in the answer's own order; None where it does."""
        columns = self.columns if not self.choice.plain else None
        return _view(columns, self.choice) if columns is not None else None

    @property
    def shown(self) -> ListedItems | None:
        """The items as the list shows them; None while there are none."""
        view = self.view
        return view if view is not None else self.answer if self.listed else None

    def choose(self, choice: ListChoice) -> None:
        """Shows another part of the list, or another order. The cursor stays on its item if the list shows it."""
        self.choice = choice
        self._keep_in_sight()

    def look_at(self, item: int) -> None:
        """Puts the cursor on an item. Filters that hide it are taken off."""
        self.cursor = item
        if (view := self.view) is not None and view.line_of(item) == HIDDEN:
            self.choice = replace(self.choice, filters=())

    def _keep_in_sight(self) -> None:
        columns, view = self.columns, self.view
        if columns is not None and view is not None:
            item = find_nearest(columns, view, self.cursor)
            self.cursor = self.cursor if item is None else item

    # --- what is asked for ---

    def type(self, name: str, text: str) -> bool:
        """Takes another text of a field. The baseline is dropped where another question is asked: the two answers have
        nothing in common."""
        if text == self.inputs[name]:
            return False
        self.inputs = {**self.inputs, name: text}
        if name != self.kind_page.fields[0].name:
            self.pin_first()
        elif self.asks:
            self.baseline = self.refusal = None
        else:
            self.forget()
        return True

    def forget(self) -> None:
        """Drops the material and the answer."""
        self.reading = self.asked = self.answer = self.refusal = self.baseline = self.decided_on = None
        self.cursor = 0
        self.choice = WHOLE

    def read(self, reading: Reading) -> None:
        """Takes the material, unless another request was made meanwhile."""
        if self.kind_page.serves(reading.key, self.key):
            self.reading, self.asked = reading, None

    def accept(self, asked: Request, answer: ShownAnswer[Any] | SecateurError) -> None:
        """Takes an answer, unless another one is wanted by now. The cursor stays on its item where that still exists,
        and on the first line where other material or another profile brings a better first item; of what is followed,
        from the first answer on, on the newest until it is moved away."""
        if asked != self.wanted:
            return
        self.asked = asked
        if isinstance(answer, SecateurError):
            self.refusal = answer
            return
        answered, instant = self.answered, self.kind_page.instant
        before = self.answer if answered is not None and answered.question == self.question else None
        name = before.ids[self.cursor] if before is not None and len(before) else ""
        top = before is not None and self.shown is not None and self.shown.line_of(self.cursor) == 0
        if self._followed is not None and self._followed[1] == name:
            name, top = self._followed[0], False
        profile = answered.settings.profile if answered is not None else asked.settings.profile
        on_top = top and (self.decided_on is not self.reading or profile != asked.settings.profile)
        first = min(self.cursor, max(0, len(answer) - 1))
        if len(answer) and (before is None or instant):
            first = self.kind_page.first_item(answer)
        self.answer, self.refusal, self.answered, self.decided_on = answer, None, asked, self.reading
        if before is None:
            self.choice = WHOLE
        if before is None or answer.ids is not before.ids:
            newest = self._newest(answer) if self.follows else None
            stays = before is not None and self.cursor != self._newest(before)
            self.cursor = answer.place_of.get(name, first) if newest is None or stays else newest
            top = top or newest is not None
            on_top = on_top and newest is None
        if on_top and (shown := self.shown) is not None:
            self.cursor = shown.item_at(0)
        self._followed = (name, answer.ids[self.cursor]) if name and len(answer) and not top else None
        self._keep_in_sight()

    def _newest(self, answer: Any) -> int | None:
        return answer.newest if self.kind_page.grows and len(answer) else None

    @property
    def hinted_entry(self) -> str:
        """The id of the entry for which a hint led to the present settings; "" for none."""
        return self.hinted[0] if self.hinted is not None and self.hinted[1] is self.settings else ""

    # --- settings ---

    @property
    def settings(self) -> Settings:
        return self.history.present

    @property
    def changed(self) -> bool:
        """Tells whether a setting differs from the start, or from the profile that was chosen or saved since
        then."""
        profile, start = self.settings.profile, self.opened
        if self.saved is not None and self.saved.profile == profile:
            start = self.saved
        elif profile != start.profile:
            start = with_profile(start, profile)
        return self.settings != start

    def change(self, settings: Settings, file: WrittenFile | None = None) -> bool:
        """Takes other settings; the first change makes the answer before it the baseline. `file`: what the action
        wrote, which undo puts back."""
        if settings == self.settings and file is None:
            return False
        self.pin_first()
        self.history = self.history.push(settings, file)
        return True

    def take_back(self) -> None:
        """Drops the last change, under which there is no answer; the answer before it stands."""
        entries = self.history.entries[: self.history.place]
        self.history = replace(self.history, entries=entries, place=self.history.place - 1)
        if self.answered == self.wanted:
            self.asked, self.refusal = self.answered, None

    def know_profiles(self, profiles: Mapping[str, Any]) -> None:
        """Takes the present profiles into every step, so that undo forgets none of them."""
        self.opened = with_values(self.opened, {"profiles": profiles})
        entries = tuple(with_values(settings, {"profiles": profiles}) for settings in self.history.entries)
        self.history = replace(self.history, entries=entries)

    def undo(self) -> bool:
        return self._step(-1, self.history.can_undo)

    def redo(self) -> bool:
        return self._step(1, self.history.can_redo)

    def _step(self, by: int, possible: bool) -> bool:
        if possible:
            self.pin_first()
            self.history = replace(self.history, place=self.history.place + by)
        return possible

    def pin_first(self) -> None:
        """Makes the present answer the baseline, unless there is a baseline or the answer is partial."""
        if self.baseline is None and not self.partial:
            self.baseline = self.answer

    def pin_baseline(self) -> None:
        """Makes the present answer the baseline."""
        self.baseline = self.answer
