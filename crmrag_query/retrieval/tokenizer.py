"""Words of a text for sparse retrieval; the one tokenizer of build and query."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

SHORTEST_PLURAL = 4  # characters; only longer words are taken for plurals
SHORTEST_STEM = 4  # characters; shorter words are compared whole
LONGEST_IDENTIFIER = 64  # characters; a longer compound (an address, a path) is kept in parts only

# Accents, Greek tonos and breathings, Hebrew points, Arabic vowel signs. Vowel signs of Indic scripts are
# letters to a reader and stay.
_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u0652\u0670"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
)
# Letters that Unicode does not decompose, dashes and apostrophes of one kind, "_" as any other joint of an
# identifier.
_PLAIN = (
    {"ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d"}
    | dict.fromkeys("_‐‑‒–—―−", "-")
    | dict.fromkeys("’‘ʼ", "'")
)
_SPECIAL = re.compile(f"[{''.join(_PLAIN)}]")  # a search is ten times as fast as str.translate
_UNIT = "[\\w\u0900-\u0963\u0966-\u0dff\u0e00-\u0fff\u1000-\u109f\u1780-\u17dd]+"
_WORD = re.compile(f"{_UNIT}(?:[-./:']{_UNIT})*")
_ASCII_WORD = re.compile(r"\w+(?:[-./:']\w+)*", re.ASCII)  # the same for texts of ASCII alone, faster
_JOINT = re.compile("[-./:']")


def fold(text: str) -> str:
    """``text`` without case, accents, compatibility forms (Unicode TR-15, NFKD); a final sigma is a sigma."""
    if not text.isascii():
        bare = _MARKS.sub("", unicodedata.normalize("NFKD", text)).casefold()
        return _SPECIAL.sub(lambda found: _PLAIN[found[0]], unicodedata.normalize("NFC", bare))
    return text.casefold().replace("_", "-")


def tokenize(text: str) -> list[str]:
    """Folded words in order of the text; a joined one gives its parts, and itself too when it holds a digit.

    ``1986.12.3`` gives ``1986.12.3 1986 12 3``; ``Man-Made`` gives ``man made``.
    """
    return [token for word in words(text) for token in tokens_of(word)]


def words(text: str) -> list[str]:
    """Folded words in order of the text, joined ones whole."""
    folded = fold(text)
    return (_ASCII_WORD if folded.isascii() else _WORD).findall(folded)


def tokens_of(word: str) -> list[str]:
    """The tokens of one of ``words``."""
    parts = _JOINT.split(word)
    compound = len(parts) > 1 and len(word) <= LONGEST_IDENTIFIER and any(map(str.isdigit, word))
    return [word, *parts] if compound else parts


def with_singulars(words: Iterable[str]) -> frozenset[str]:
    """The words, and for each that looks like an English or French plural what it may be the plural of."""
    known = frozenset(words)
    cut = {word[:-1] for word in known if len(word) > SHORTEST_PLURAL and word.endswith("s")}
    cut |= {word[:-2] for word in known if len(word) > SHORTEST_PLURAL and word.endswith("es")}
    return known | cut


def same_stem(word: str, asked: str) -> bool:
    """Equal but for an ending, as a plural is: all but the last letter of the shorter word is shared."""
    shared = max(SHORTEST_STEM, min(len(word), len(asked)) - 1)
    return len(word) >= SHORTEST_STEM and word[:shared] == asked[:shared] and abs(len(word) - len(asked)) <= 3
