"""What a question says of a number that things have: "more than 45 seats", "taller than 2 m", "between 20 and 30 cm wide"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from crmrag_query.language import Language, language
from crmrag_query.plans.execute import known_unit
from crmrag_query.questions.lexicon import Chunk
from crmrag_query.reading.items import Amount, Item
from crmrag_query.text import fold

_NUMBER = re.compile(r"[(\[]?(\d{1,3}(?:[.,'’]\d{3})+|\d{1,15})([.,]\d{1,9})?([^\W\d_]*)[.,;:?!)\]]*")


class Found(NamedTuple):
    """The words ``first`` to before ``last`` with what they say."""

    first: int
    last: int
    amount: Amount


NEAR = 3  # words between a bound and the word before it that says of what: "a print run *of well* over 500"


BOUNDS: Mapping[str, tuple[bool, bool, bool]] = {
    "operators.more_than": (True, False, False),
    "operators.at_least": (True, False, True),
    "operators.less_than": (False, True, False),
    "operators.at_most": (False, True, True),
    "operators.exactly": (True, True, True),
}
"""Whether a number behind a small word is the least, the most, and counts itself."""


def amounts(words: Sequence[str], chunks: Sequence[Chunk], own: Language) -> Iterator[Item]:
    """All amounts of a question, with each word that may say of what they are; they overlap."""
    numbers = {one.first: number for one in chunks if (number := _number(one, words, own)) is not None}
    for found in _bounded(words, numbers, own):
        units = [found]
        if not found.amount.unit and found.last < len(words) and words[found.last] not in own.stop:
            with_unit = replace(found.amount, unit=words[found.last])
            units.append(Found(found.first, found.last + 1, with_unit))
        for one in units:
            for first, last, amount in _of_something(one, words, own):
                yield Item(first, last, "amount", 1.2, " ".join(words[first:last]), value=amount)


def _number(chunk: Chunk, words: Sequence[str], own: Language) -> tuple[int, float, str] | None:
    """Where a number ends, its value, and the unit that is written without a blank behind it."""
    if chunk.last == chunk.first + 1 and (said := own.numbers.get(words[chunk.first])) is not None:
        return chunk.last, float(said), ""
    written = _NUMBER.fullmatch(chunk.text)
    if written is None or chunk.last == chunk.first:
        return None
    whole, part, unit = written[1], written[2] or "", fold(written[3])
    point = own.raw.get("decimal", ",")
    if not part and re.fullmatch(rf"\d+{re.escape(point)}\d+", whole):
        whole, part = whole.split(point)
    value = float(re.sub(r"\D", "", whole) + ("." + part.lstrip(".,") if part.lstrip(".,") else ""))
    if unit and known_unit(unit) is None:
        return None
    return chunk.last, value, unit


def _bounded(
    words: Sequence[str], numbers: Mapping[int, tuple[int, float, str]], own: Language
) -> Iterator[Found]:
    """Numbers with what bounds them and with a unit that is known by its name."""
    for at in range(len(words)):
        for length, roles in own.phrases.at(words, at):
            low = at + length
            if low not in numbers:
                continue
            last, value, unit = _with_unit(words, numbers[low], own)
            size = next((size for word in words[at:low] if (size := size_of(word, own))), "")
            for role in BOUNDS.keys() & roles:
                least, most, counts = BOUNDS[role]
                lower, upper = value if least else None, value if most else None
                yield Found(at, last, Amount(lower, upper, counts, counts, unit, size))
            both = "operators.between" in roles and last + 1 < len(words)
            if both and words[last] in own.roles["operators.and"] and last + 1 in numbers:
                until, high, other = _with_unit(words, numbers[last + 1], own)
                if high > value and (not unit or unit == other):
                    yield Found(at, until, Amount(value, high, unit=other))
        compared = _compared(words, at, own)
        if compared is not None and at + 2 in numbers:
            first, more = compared
            last, value, unit = _with_unit(words, numbers[at + 2], own)
            size = size_of(words[at], own)
            lower, upper = (value, None) if more else (None, value)
            yield Found(first, last, Amount(lower, upper, False, False, unit, size))
        if at in numbers:
            last, value, unit = _with_unit(words, numbers[at], own)
            # "45 *or more* seats", "45 seats *or more*"
            for behind in range(last, min(last + 2, len(words))):
                lengths = (n for n, roles in own.phrases.at(words, behind) if "operators.or_more" in roles)
                noun = last if behind > last else -1
                yield from (Found(at, behind + n, Amount(value, unit=unit, noun=noun)) for n in lengths)


def _with_unit(words: Sequence[str], number: tuple[int, float, str], own: Language) -> tuple[int, float, str]:
    """The number with a unit behind it, if that is known by its name."""
    last, value, unit = number
    behind = words[last] if not unit and last < len(words) else ""
    is_tie = last + 1 < len(words) and own.preposition_roles(behind)  # "in" is no inch
    if behind and not is_tie and known_unit(behind) is not None:
        return last + 1, value, behind
    return number


def _compared(words: Sequence[str], at: int, own: Language) -> tuple[int, bool] | None:
    """Where a comparative of size begins before "than", and whether it says more: "taller", "plus haut", "less expensive"."""
    said = own.raw.get("comparing", {})
    than, more, less = (set(map(fold, said.get(key, ()))) for key in ("than", "more", "less"))
    if at + 1 >= len(words) or words[at + 1] not in than or not size_of(words[at], own):
        return None
    before = words[at - 1] if at else ""
    if before in more | less:
        return at - 1, is_small(words[at], own) == (before in less)
    return None if more else (at, not is_small(words[at], own))


def _of_something(found: Found, words: Sequence[str], own: Language) -> Iterator[Found]:
    """An amount with each word beside it that may say of what it is: an adjective of size, or a noun or verb."""
    first, last, amount = found.first, found.last, found.amount
    if amount.size or amount.noun >= 0:
        yield found
        return
    of = own.roles["prepositions.of"]
    high = last + (last + 1 < len(words) and words[last] in own.stop and not size_of(words[last], own))
    if high < len(words):
        if (size := size_of(words[high], own)) and (high == last or words[last] in of):
            yield Found(first, high + 1, replace(amount, size=size))
            return
        if words[high] not in own.stop:
            yield Found(first, high + 1, replace(amount, noun=high))
    for low in range(first - 1, max(first - 1 - NEAR, -1), -1):
        if size := size_of(words[low], own):
            yield Found(low, last, replace(amount, size=size))
            return
        yield Found(low, last, replace(amount, noun=low))
        if words[low] not in own.stop:
            break
    if (known := known_unit(amount.unit)) is not None:
        yield found._replace(amount=replace(amount, size="weight" if known[0] == "weight" else "any"))


def size_of(word: str, own: Language) -> str:
    """The dimension that an adjective of size speaks of in any of its forms; "" for another word."""
    return _sizes(own.code)[0].get(_root(word, own), "")


def is_small(word: str, own: Language) -> bool:
    """Whether an adjective of size says that something has little of it: "lighter"."""
    return _root(word, own) in _sizes(own.code)[1]


def _root(word: str, own: Language) -> str:
    return own.stem(word)[:4]


@lru_cache
def _sizes(code: str) -> tuple[Mapping[str, str], frozenset[str]]:
    """The dimensions of adjectives by how they begin, and the beginnings of those that say little."""
    own = language(code)
    listed = own.raw.get("operators", {})
    less = {fold(word) for word in own.raw.get("comparing", {}).get("less", ())} | own.roles[
        "operators.fewest"
    ]
    sizes = {
        _root(fold(word), own): name
        for name, words in listed.get("measures", {}).items()
        for word in reversed(words)
    }
    small = (fold(phrase).replace("?", "").split() for phrase in listed.get("lowest", ()))
    return sizes, frozenset(_root(words[-1], own) for words in small if less.isdisjoint(words))
