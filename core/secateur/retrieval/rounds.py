"""A search of several shards as rounds of messages.

What one shard does is a generator. It yields a message wherever an answer depends on more than its own files, and gets
the reply that the messages of all shards together make; then all go on. A repository searched alone is one shard whose
messages are answered by themselves.

All shards yield messages of the same kind in the same order: what decides whether one is yielded is the query, the
settings and replies, never what a shard holds. Messages and replies are plain values and arrays. A shard's results
follow from its files, the query and the replies it got: whoever lost one asks it again with the same replies.

    def best_rows(score: FloatArray) -> Rounds[IntArray]:
        order = np.argsort(-score)
        chosen = yield BestRows([-score[order]], most=10)  # of all shards
        return order[: chosen.count]

    first, second = together([best_rows(one), best_rows(other)])
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from secateur.index.facts.names import likest, united_close_names
from secateur.model import FloatArray, IntArray
from secateur.retrieval.copies import copies_among

T = TypeVar("T")

Numbers = npt.NDArray[Any]

Rounds = Generator["ShardMessage", Any, T]
"""The work of one shard, until its result."""

Answering = Callable[[Sequence[Any]], list[Any]]
"""Makes the replies to a round: from the messages of all shards, one for each."""


class ShardMessage(Protocol):
    """Something that a shard says of its files in one round."""

    @staticmethod
    def answered(messages: Sequence[Any]) -> list[Any]:
        """The reply to each of the shards' messages."""


class UnitedMessage(ShardMessage, Protocol):
    """A message that shards next to each other can say as one: who answers then hears one for all of them, and gives
    one reply."""

    @staticmethod
    def united(messages: Sequence[Any]) -> Any:
        """The one message that stands for several."""

    @staticmethod
    def shared(messages: Sequence[Any], reply: Any) -> list[Any]:
        """The reply to each of several shards, out of the reply to the one message that stood for theirs: those that
        `answered` would give them."""


class SummedFigures(msgspec.Struct, frozen=True, eq=False):
    """Whole numbers by name, of equal shape in all shards; the reply holds their sums."""

    figures: dict[str, Numbers]

    @staticmethod
    def united(messages: Sequence[SummedFigures]) -> SummedFigures:
        found: SummedFigures = SummedFigures.answered(messages)[0]
        return found

    @staticmethod
    def shared(messages: Sequence[SummedFigures], reply: SummedFigures) -> list[SummedFigures]:
        return [reply] * len(messages)

    @staticmethod
    def answered(messages: Sequence[SummedFigures]) -> list[Any]:
        first = messages[0]
        if len(messages) == 1:
            return [first]
        sums = {name: np.sum([one.figures[name] for one in messages], axis=0) for name in first.figures}
        return [SummedFigures(sums)] * len(messages)


class LargestFigures(msgspec.Struct, frozen=True, eq=False):
    """Figures of equal shape in all shards; the reply holds the largest of each."""

    figures: FloatArray

    @staticmethod
    def united(messages: Sequence[LargestFigures]) -> LargestFigures:
        return LargestFigures(LargestFigures.answered(messages)[0])

    @staticmethod
    def shared(messages: Sequence[LargestFigures], reply: FloatArray) -> list[FloatArray]:
        return [reply] * len(messages)

    @staticmethod
    def answered(messages: Sequence[LargestFigures]) -> list[Any]:
        return [np.max([one.figures for one in messages], axis=0)] * len(messages)


class BestRows(msgspec.Struct, frozen=True, eq=False):
    """A shard's best rows, the best first, of which all shards together keep `most`.

    The smallest keys are best: the first of them decides, then the second, ...; then the order of the shards, and of
    the rows in each. The reply is `ChosenRows`.
    """

    keys: list[Numbers]
    most: int

    @staticmethod
    def answered(messages: Sequence[BestRows]) -> list[Any]:
        sizes = [len(one.keys[0]) for one in messages]
        tops = [float(one.keys[0][0]) for one, size in zip(messages, sizes, strict=True) if size]
        top = min(tops, default=0.0)
        if len(messages) == 1:
            count = min(sizes[0], messages[0].most)
            return [ChosenRows(count, count, top, np.arange(count))]
        _, owner = _best(messages)
        return [
            ChosenRows(len(places), len(owner), top, places)
            for places in (np.flatnonzero(owner == number) for number in range(len(messages)))
        ]

    @staticmethod
    def united(messages: Sequence[BestRows]) -> BestRows:
        return BestRows(_best(messages)[0], messages[0].most)

    @staticmethod
    def shared(messages: Sequence[BestRows], reply: ChosenRows) -> list[ChosenRows]:
        owner = _best(messages)[1][: reply.count]
        chosen = (reply.places[owner == number] for number in range(len(messages)))
        return [ChosenRows(len(places), reply.total, reply.top, places) for places in chosen]


def _best(messages: Sequence[BestRows]) -> tuple[list[Numbers], Numbers]:
    """The keys of the best rows of several shards, in order, and the number of the shard of each."""
    owner = np.repeat(np.arange(len(messages)), [len(one.keys[0]) for one in messages])
    keys = [np.concatenate(columns) for columns in zip(*(one.keys for one in messages), strict=True)]
    order = np.lexsort((np.arange(len(owner)), *reversed(keys)))[: messages[0].most]
    return [column[order] for column in keys], owner[order]


class ChosenRows(msgspec.Struct, frozen=True, eq=False):
    """Tells which of a shard's best rows are among the best of all.

    Attributes:
        count: how many of them, the first ones, are among the best of all.
        total: how many the best of all are.
        top: the first key of the very best; 0 where there is none.
        places: of the `count`, among the best of all.
    """

    count: int
    total: int
    top: float
    places: Numbers


class BestCommits(msgspec.Struct, frozen=True, eq=False):
    """A shard's commits that are most like the query, the best first, of which all shards together keep `most`; equal
    ones in the order of the shards, and in their own. The reply holds those of the shard's repository: the part of a
    repository that knows what commits say tells the others.

    Attributes:
        repository: whose commits they are; the shards of one repository say the same.
        commits: their numbers in the repository.
        score: of each, how much its message is like the query.
    """

    repository: str
    commits: Numbers
    score: FloatArray
    most: int

    @staticmethod
    def answered(messages: Sequence[BestCommits]) -> list[Any]:
        number = {name: place for place, name in enumerate(dict.fromkeys(one.repository for one in messages))}
        owner = np.repeat([number[one.repository] for one in messages], [len(one.commits) for one in messages])
        commits = np.concatenate([one.commits for one in messages])
        score = np.concatenate([one.score for one in messages])
        best = np.lexsort((np.arange(len(score)), -score))[: messages[0].most]
        chosen = [best[owner[best] == place] for place in number.values()]
        return [
            msgspec.structs.replace(one, commits=commits[places], score=score[places])
            for one, places in ((one, chosen[number[one.repository]]) for one in messages)
        ]


class CloseNames(msgspec.Struct, frozen=True, eq=False):
    """By word the names of a shard that are compared with it, as `NameTable.close` gives them; the reply holds by word
    what `likest` finds in those of all."""

    names: dict[str, tuple[list[str], bool]]

    @staticmethod
    def answered(messages: Sequence[CloseNames]) -> list[Any]:
        found = {
            word: likest(word, united_close_names(word, [one.names[word] for one in messages]))
            for word in messages[0].names
        }
        return [found] * len(messages)


class AlikeRows(msgspec.Struct, frozen=True, eq=False):
    """A shard's best rows, the best first, among which copies are looked for; the reply tells of each whether it is one
    (`copies_among`)."""

    score: FloatArray
    depth: Numbers  # folders above the file
    tokens: FloatArray
    vectors: npt.NDArray[np.int8]
    least: float  # cosine from which two are copies

    @staticmethod
    def answered(messages: Sequence[AlikeRows]) -> list[Any]:
        columns = zip(*((one.score, one.depth, one.tokens, one.vectors) for one in messages), strict=True)
        found = copies_among(*(np.concatenate(column) for column in columns), least=messages[0].least)
        return np.split(found, np.cumsum([len(one.score) for one in messages])[:-1])


class DocumentTexts(msgspec.Struct, frozen=True, eq=False):
    """A shard's texts that a better model compares with the query; whoever has the model replies with the similarity of
    each."""

    documents: list[str]

    @staticmethod
    def answered(messages: Sequence[DocumentTexts]) -> list[Any]:
        raise NotImplementedError(f"nobody has a model for the texts of {len(messages)} shards")


def together(shards: Sequence[Rounds[T]], answering: Mapping[type, Answering] | None = None) -> list[T]:
    """Runs all shards to their results, one each. `answering`: of kinds of messages that the caller answers itself."""
    answering, replies = answering or {}, [None] * len(shards)
    while True:
        messages: list[ShardMessage] = []
        results: list[T] = []
        for shard, reply in zip(shards, replies, strict=True):
            try:
                messages.append(shard.send(reply))
            except StopIteration as end:
                results.append(end.value)
        if not messages:
            return results
        kind = type(messages[0])
        replies = answering.get(kind, kind.answered)(messages)


def best_rows(score: FloatArray, most: int) -> Rounds[IntArray]:
    """A shard's rows among the `most` best of all shards, the best first; equal ones in their order."""
    best = np.lexsort((np.arange(len(score)), -score))[:most]
    chosen: ChosenRows = yield BestRows([-score[best]], most)
    return best[: chosen.count]


def at_once(result: T) -> Rounds[T]:
    """A result that depends on no other shard."""
    return result
    yield  # makes it a generator


def alone(shard: Rounds[T]) -> T:
    """The result of a shard that nothing else is searched with."""
    return together([shard])[0]
