"""Whether a text states another size than the set's: for prose that a language model wrote about a set."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from crmrag_query.config.models import Method
from crmrag_query.config.sets import Claims, SetsPart
from crmrag_query.sets.records import AnswerSet

# A number with its groups of three: 1,234 or 1.234 or 1 234; not a part of a word, a decimal number, or a citation's.
_DIGITS = re.compile(
    r"(?<![\w.,\[–-])\d{1,3}(?:[,.\u00a0\u202f ’']\d{3})+(?![\w,.]?\d)|(?<![\w.,])\d+(?!\w|[.,]\d)"
)
_WORD = re.compile(r"[^\W\d_]+")
_CITATION = re.compile(r"\[[\d\s,;–-]+\]")
_QUOTED = re.compile(r"“[^”\n]*”|«[^»\n]*»|„[^“\n]*“|\"[^\"\n]*\"")
_ADJECTIVES = r"(?:[^\W\d_]+[ \-]+){0,2}?"
_YEARS = range(1000, 2200)  # numbers that are years where a date may stand


@dataclass(frozen=True, slots=True)
class Misstated:
    """``text[start:end]`` claims ``number``, which is none of the set's."""

    start: int
    end: int
    number: int


def misstated(text: str, made: AnswerSet, method: Method) -> tuple[Misstated, ...]:
    """Where a text claims a size that is none of the set's, in order; empty for a text that may stand.

    Numbers within names of the set, quotations and citations claim nothing, nor do years, the numbers of the plan itself
    (the first 5) and parts of the set (three examples, 5 of the 462). Read as English and as the set's language.
    """
    flat = _masked(_flat(text), made)
    allowed = {int(number) for number in made.numbers if float(number).is_integer()} | _numbers_in(made.title)
    found: dict[int, Misstated] = {}
    for claims in _claims(method.sets, made.language):
        pattern = _compiled(claims, _nouns(made))
        for number, start, end in _spoken(flat, method.answers.numbers):
            if number not in allowed and _claims_size(flat, number, start, end, pattern):
                found.setdefault(start, Misstated(start, end, number))
        if made.size > 0:
            for match in pattern.none.finditer(flat):
                if 0 not in allowed:
                    found.setdefault(match.start(), Misstated(match.start(), match.end(), 0))
    return tuple(found[start] for start in sorted(found))


def corrected(text: str, made: AnswerSet, method: Method) -> str | None:
    """The text with the set's size in place of the one other number that it claims; None where it is not so simple."""
    wrong = misstated(text, made, method)
    if not wrong:
        return text
    if len({one.number for one in wrong}) > 1 or wrong[0].number == 0 or isinstance(made.value, tuple):
        return None
    for one in reversed(wrong):
        text = f"{text[: one.start]}{made.size}{text[one.end :]}"
    return text


@dataclass(frozen=True, slots=True)
class _Pattern:
    before: re.Pattern[str]
    after: re.Pattern[str]
    sample_before: re.Pattern[str]
    sample_after: re.Pattern[str]
    dates: re.Pattern[str]
    none: re.Pattern[str]


def _claims_size(flat: str, number: int, start: int, end: int, pattern: _Pattern) -> bool:
    before, after = flat[max(0, start - 60) : start], flat[end : end + 60]
    if pattern.sample_before.search(before) or pattern.sample_after.match(after):
        return False
    if number in _YEARS and (pattern.dates.search(before) or re.match(r"\s*[-–]\s*\d", after)):
        return False
    return bool(pattern.before.search(before) or pattern.after.match(after))


def _claims(sets: SetsPart, language: str) -> Iterator[Claims]:
    for name in dict.fromkeys((language, "en")):
        if name in sets.claims:
            yield sets.claims[name]


@lru_cache(maxsize=64)
def _compiled(claims: Claims, own: tuple[str, ...]) -> _Pattern:
    nouns = "|".join([*map(re.escape, own), *claims.nouns])
    none = "|".join(claims.none).replace("{nouns}", f"(?:{nouns})")
    return _Pattern(
        re.compile(rf"(?<!\w)(?:{'|'.join(claims.before)})\s*$"),
        re.compile(rf"[ \-]*(?:{_ADJECTIVES}(?:{nouns})(?!\w)|{'|'.join(claims.after)}(?!\w))"),
        re.compile(rf"(?<!\w)(?:{'|'.join(claims.sample_before)})\s*$"),
        re.compile(rf"\s*(?:{_ADJECTIVES}(?:{'|'.join(claims.sample_after)}))(?!\w)"),
        re.compile(rf"(?:(?<!\w)|(?=[-–]))(?:{'|'.join(claims.dates)})\s*$"),
        re.compile(rf"(?<!\w)(?:{none})(?!\w)"),
    )


def _nouns(made: AnswerSet) -> tuple[str, ...]:
    """Words of what is asked for: ``paintings`` and, read as a beginning, ``painting``."""
    labels = [chip.label for chip in made.chips if chip.kind == "target"]
    words = [word for label in labels for word in _WORD.findall(_flat(label)) if len(word) > 3]
    return tuple(dict.fromkeys(form for word in words for form in (word, word.removesuffix("s"), f"{word}s")))


def _spoken(flat: str, words: Mapping[str, int]) -> Iterator[tuple[int, int, int]]:
    """(number, start, end) of numbers in digits and in words."""
    for match in _DIGITS.finditer(flat):
        digits = re.sub(r"\D", "", match[0])
        if len(digits) < 16:
            yield int(digits), match.start(), match.end()
    for match in _WORD.finditer(flat):
        number = words.get(match[0])
        if number is not None:
            yield number, match.start(), match.end()


def _numbers_in(text: str) -> set[int]:
    return {int(digits) for digits in re.findall(r"\d{1,15}", text)}


def _masked(flat: str, made: AnswerSet) -> str:
    """The text with blanks for names of the set, citations and quotations; as long as before."""
    cells = [cell.label for row in made.value for cell in row] if isinstance(made.value, tuple) else []
    left_out = [one.label for excluded in made.excluded for one in excluded.members]
    names = {*(member.label for member in made.members), *cells, *left_out}
    for name in sorted(map(_flat, names), key=lambda name: (-len(name), name)):
        if len(name) > 2 and not name.isdigit():
            flat = flat.replace(name, " " * len(name))
    for pattern in (_CITATION, _QUOTED):
        flat = pattern.sub(lambda match: " " * len(match[0]), flat)
    return flat


def _flat(text: str) -> str:
    """Small letters without accents, character by character, so that places stay; every sigma as σ."""
    return "".join(map(_flat_letter, text))


@lru_cache(maxsize=4096)
def _flat_letter(letter: str) -> str:
    base = unicodedata.normalize("NFD", letter)[0].lower()
    return "σ" if base == "ς" else base if len(base) == 1 else letter
