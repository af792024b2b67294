"""Words of names as they are compared: folded, in Latin letters, and as a rough sound that spellings share."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache

from crmrag_query.retrieval.tokenizer import fold, tokenize

_JOINT = re.compile("[-./:']")

# Greek by ISO 843 type 2 (ELOT 743), pairs first, "αυ" and "ευ" always voiced; Cyrillic by BGN/PCGN;
# folding has taken the marks of "ё", "й" and "ї" away.
_GREEK_PAIRS = {
    "ου": "ou", "αυ": "av", "ευ": "ev", "ηυ": "iv", "γγ": "ng", "γξ": "nx", "γχ": "nch",
}  # fmt: skip
_LETTERS = (
    str.maketrans("αβγδεζηικλμνξοπρσςτυω", "avgdeziiklmnxoprsstyo")
    | str.maketrans({"θ": "th", "φ": "f", "χ": "ch", "ψ": "ps"})
    | str.maketrans("абвгдезиклмнопрстуфыэієґј", "abvgdeziklmnoprstufyeiegj")
    | str.maketrans(
        {"ж": "zh", "х": "kh", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "shch", "ю": "yu", "я": "ya"}
    )
    | str.maketrans({"ъ": "", "ь": "", "ђ": "dj", "љ": "lj", "њ": "nj", "ћ": "c", "џ": "dz"})
)
_PAIR = re.compile("|".join(_GREEK_PAIRS) + "|^μπ|^ντ|^γκ")
_INITIAL = {"μπ": "b", "ντ": "d", "γκ": "g"}

# Spellings of one sound, as they vary between transliterations and European languages (ours), in this order.
_SOUNDS = (
    ("sch", "sh"), ("ph", "f"), ("ch", "h"), ("kh", "h"), ("ck", "k"), ("th", "t"), ("dh", "d"), ("x", "ks"),
    ("c", "k"), ("q", "k"), ("w", "v"), ("au", "av"), ("eu", "ev"), ("ou", "u"), ("oo", "u"), ("ue", "u"), ("oe", "o"),
    ("ae", "a"), ("ei", "i"), ("y", "i"), ("j", "i"),
)  # fmt: skip
# The same, where words are long enough to be told apart without them: "vase" and "base" are not one.
_SOUNDS_OF_LONG = (("oi", "i"), ("ai", "e"), ("b", "v"))
LONG = 6
_DOUBLE = re.compile(r"(.)\1+")
_ENDING = re.compile(r"(?<=.{4})(?:es|s|e)$")  # English and French plurals, and the mute e


def latin(word: str) -> str:
    """A folded word in Latin letters where it is Greek or Cyrillic; other scripts stay."""
    if word.isascii():
        return word
    return _PAIR.sub(
        lambda found: _GREEK_PAIRS.get(found.group()) or _INITIAL[found.group()], word
    ).translate(_LETTERS)


def words_at(tokens: Sequence[str]) -> list[tuple[int, int, str]]:
    """(first token, token after the last, word) of the tokens of ``tokenize``: an identifier is one word, not its parts."""
    found, at = [], 0
    while at < len(tokens):
        parts = _JOINT.split(tokens[at])
        after = at + 1
        if len(parts) > 1 and list(tokens[after : after + len(parts)]) == parts:
            after += len(parts)
        if word := latin(tokens[at]):
            found.append((at, after, word))
        at = after
    return found


def words_of(text: str) -> list[str]:
    """The words of a text in order, as they are compared."""
    return [word for _, _, word in words_at(tokenize(text))]


@lru_cache(maxsize=16)
def latin_stop(stop: frozenset[str]) -> frozenset[str]:
    """Stop words as words are compared."""
    return frozenset(latin(fold(word)) for word in stop)


def is_spelt(word: str, shortest: int) -> bool:
    """Whether a word is looked for in other spellings: it is long enough and holds no digit."""
    return len(word) >= shortest and not any(map(str.isdigit, word))


def rough(word: str, shortest: int) -> str:
    """What spellings of one word share (Παναγία and Panayia do not, Phorbiotissa and Forviottisa do).

    Itself where ``is_spelt`` is false.
    """
    if not is_spelt(word, shortest):
        return word
    stem = _ENDING.sub("", word)  # first, so that singular and plural are of one length
    rules = _SOUNDS + _SOUNDS_OF_LONG if len(stem) >= LONG else _SOUNDS
    found = stem[1:] if len(stem) >= LONG and stem[0] == "h" else stem
    for spelt, sounds in rules:
        found = found.replace(spelt, sounds)
    return _DOUBLE.sub(r"\1", found)


def sound(word: str, shortest: int) -> int:
    """64 bits of BLAKE2b of ``rough``: words with equal ones are spellings of one another."""
    digest = hashlib.blake2b(rough(word, shortest).encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
