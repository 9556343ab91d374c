"""Estimates tokens without a vocabulary. `exact` is False, so printed counts must be called estimated.

The text is cut into the same pieces that the o200k encoding looks up: words with the mark or blank before them, groups
of digits, runs of marks, line breaks, blanks. Most pieces are one token. The numbers below give the average tokens of
each kind, and the further tokens of a long piece. They are fitted on functions (least squares of the relative error,
with the same weight for each language) and then raised, so that the estimate is rather too high (SC-SP-008). For
functions of other repositories, the estimate is within 20 % of o200k for 96 to 100 % of each of the eleven languages,
and the mean is +2 to +5 % (docs/lab/measured.md). The time is linear in the text.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable

from secateur.errors import UsageError

# Tokens for each piece of text.
WORD = 1.0  # letters up to the next capital, with or without a blank before them
WORD_LETTERS = 9  # the most letters of one token
FURTHER_WORD_LETTER = 0.16
MARKED_WORD = 1.13  # letters with a mark before them: `.get`, `_total`, `(self`
MARKED_WORD_LETTERS = 6
FURTHER_MARKED_LETTER = 0.19
CAPITALS = 1.27  # at least two capitals and no lower-case letter
CAPITALS_LETTERS = 3
FURTHER_CAPITAL = 0.15
DIGITS = 1.0  # a group of at most three digits
MARKS = 1.05  # a run of marks, with the line breaks after it
MARKS_LENGTH = 3
FURTHER_MARK = 0.07
LINE_BREAK = 1.18  # a line break, with the blanks and further breaks before it
BLANKS = 1.0  # an indent or a gap, without the blank that belongs to the next word
RAISED = 1.03  # the factor on the sum, so that an estimated budget is rather not exceeded

# Tokens for each character beyond ASCII.
KANA = 0.75
HAN = 0.83
HANGUL = 0.78
OTHER_LOW = 0.37  # other characters below U+3000: accented Latin, Greek, Cyrillic, Arabic, ...
OTHER_HIGH = 0.99
LONGEST_TOKEN = 128  # the characters of the longest token: a text has at least its length divided by this as tokens
CHARACTERS_PER_TOKEN = 4.0  # REQ-SP-004

_PIECES = re.compile(
    r"[ -/:-@\[-`{-~\t]?(?:[A-Z]*[a-z]+|[A-Z]+)"  # a word
    r"|[0-9]{1,3}"
    r"| ?[!-/:-@\[-`{-~]+[\r\n/]*"  # marks
    r"|\s*[\r\n]+"
    r"|[^\S\r\n]+(?!\S)|[^\S\r\n]+"  # blanks, without the last one before a word
)
_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
_LOW = re.compile(r"[\u0080-\u2fff]")
_HIGH = re.compile(r"[\u3000-\U0010ffff]")


class EstimateCounter:
    """Estimates tokens: within 20 % of o200k for single functions of code, within 20 % on average for Chinese, Japanese
    and Korean text, and rather too high."""

    name = "estimate"
    exact = False

    def count(self, text: str) -> int:
        pieces = Counter(_PIECES.findall(text))
        tokens = RAISED * sum(count * _tokens_of_piece(piece) for piece, count in pieces.items())
        if not text.isascii():
            kana, han, hangul = _count(_KANA, text), _count(_HAN, text), _count(_HANGUL, text)
            high = _count(_HIGH, text) - kana - han - hangul
            tokens += KANA * kana + HAN * han + HANGUL * hangul + OTHER_LOW * _count(_LOW, text) + OTHER_HIGH * high
        return math.ceil(max(tokens, len(text) / LONGEST_TOKEN))

    def count_many(self, texts: Iterable[str]) -> list[int]:
        return [self.count(text) for text in texts]

    def load(self) -> None:
        """Nothing is loaded."""


class CharacterCounter:
    """Divides the characters by a ratio, and rounds up (REQ-SP-004). The ratio is an average for English code; single
    functions differ by up to a third in both directions. Raises UsageError: the ratio is not greater than 0."""

    name = "chars4"
    exact = False

    def __init__(self, ratio: float = CHARACTERS_PER_TOKEN) -> None:
        if not ratio > 0:
            raise UsageError(f"the token ratio is {ratio}", hint="characters per token must be greater than 0")
        self._ratio = ratio

    def count(self, text: str) -> int:
        return math.ceil(len(text) / self._ratio)

    def count_many(self, texts: Iterable[str]) -> list[int]:
        return [self.count(text) for text in texts]

    def load(self) -> None:
        """Nothing is loaded."""


def _tokens_of_piece(piece: str) -> float:
    last = piece[-1]
    if last.isalpha():
        alone = piece[0].isalpha()
        letters = len(piece) if alone else len(piece) - 1
        if letters > 1 and piece.isupper():
            return CAPITALS + FURTHER_CAPITAL * max(0, letters - CAPITALS_LETTERS)
        if alone or piece[0] == " ":
            return WORD + FURTHER_WORD_LETTER * max(0, letters - WORD_LETTERS)
        return MARKED_WORD + FURTHER_MARKED_LETTER * max(0, letters - MARKED_WORD_LETTERS)
    if last.isdigit():
        return DIGITS
    if piece.isspace():
        return LINE_BREAK if last in "\r\n" else BLANKS
    return MARKS + FURTHER_MARK * max(0, len(piece.strip()) - MARKS_LENGTH)


def _count(pattern: re.Pattern[str], text: str) -> int:
    return len(pattern.findall(text))
