"""The stretch of a question that names a period, read as days: "before 1800", "in the 1920s", "im 18. Jahrhundert".

What is no date of its own is none: a year within quotes or a name (callers blank these, see ``without_names``), an
accession number, a count ("more than 1500"). The 12th century is 1101-1200 (see ``crmrag_query.dates``).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from crmrag_query import dates as words
from crmrag_query.dates import Interval, parse_date
from crmrag_query.questions import period_words as asking
from crmrag_query.questions.words import Asked
from crmrag_query.text import tokenize

BLANK = "¤"
_LONGEST = 4000  # characters of a question that are looked through; more are refused before (``question_characters``)


@dataclass(frozen=True, slots=True)
class Period:
    """Days that answers must lie in, and the folded tokens that say so."""

    interval: Interval
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Found:
    interval: Interval
    first: int
    last: int


def without_names(asked: Asked, names: Collection[int]) -> str:
    """The question with what stands in quotes or belongs to ``names`` (positions of tokens) as a blank."""
    return " ".join(
        BLANK if chunk.quoted or any(i in names for i in range(chunk.first, chunk.last)) else chunk.text
        for chunk in asked.chunks
    )


def find_period(text: str, nouns: Collection[str] = ()) -> Period | None:
    """The period that ``text`` names, None for none; open intervals have None at that end.

    ``nouns``: folded plurals; a bare number before one is a count. Two periods joined by "and" or "or" are one from the
    first to the last, an "after" and a "before" what lies between; of separate ones the first counts.
    """
    folded = words.fold(text[:_LONGEST])
    if not any(map(str.isdigit, folded)) and not _century().search(folded):
        return None
    found: list[_Found] = []
    for match in _pattern().finditer(folded):
        if _is_count(folded, match, nouns):
            continue
        interval = _interval(match)
        if interval is not None:
            found.append(_Found(interval, match.start(), match.end()))
    if not found:
        return None
    whole = found[0]
    for further in found[1:]:
        joined = _joined(whole, further, folded)
        if joined is None:
            break
        whole = joined
    stretch = folded[whole.first : whole.last]
    return Period(whole.interval, frozenset(tokenize(stretch)))


def _joined(first: _Found, second: _Found, text: str) -> _Found | None:
    if re.fullmatch(asking.JOINER, text[first.last : second.first]) is None:
        return None
    a, b = first.interval, second.interval
    begin, end = (a.begin, b.end) if a.end is None and b.begin is None else (b.begin, a.end)
    opposed = (a.end is None and b.begin is None) or (a.begin is None and b.end is None)
    if opposed and begin is not None and end is not None:
        if begin > end:
            return None
        return _Found(Interval(begin, end, a.approximate or b.approximate), first.first, second.last)
    return _Found(a.hull(b), first.first, second.last)


def _is_count(text: str, match: re.Match[str], nouns: Collection[str]) -> bool:
    """True for a bare number that counts or identifies: after "more than" or "no.", or before a plural."""
    if match["year"] is None:
        return False
    if re.search(rf"(?<!\w){asking.NO_YEAR_BEFORE}", text[: match.start()]):
        return True
    after = re.match(r"\s+([^\W\d]+)", text[match.end() :])
    return match["in"] is None and after is not None and after[1] in nouns


def _interval(match: re.Match[str]) -> Interval | None:
    for i in range(len(asking.RANGES) + 1):
        if match[f"left{i}"]:
            return _between(match[f"left{i}"], match[f"right{i}"])
    if match["plain"] or match["year"]:
        return _date(match["plain"] or match["year"])
    bound = next(name for name in ("before", "after", "until", "since", "later", "earlier") if match[name])
    at = _date(match[bound])
    if at is None or at.begin is None or at.end is None:
        return None
    return {
        "before": Interval(None, at.begin - 1, at.approximate),
        "after": Interval(at.end + 1, None, at.approximate),
        "until": Interval(None, at.end, at.approximate),
        "since": Interval(at.begin, None, at.approximate),
        "later": Interval(at.begin, None, at.approximate),
        "earlier": Interval(None, at.end, at.approximate),
    }[bound]


def _between(left: str, right: str) -> Interval | None:
    first, last = _plain(left), _plain(right)
    joined = parse_date(f"between {first} and {last}")
    if joined is not None:
        return joined
    begin, end = parse_date(first), parse_date(last)
    if begin is None or end is None or begin.begin is None or end.end is None or begin.begin > end.end:
        return None
    return begin.hull(end)


def _date(text: str) -> Interval | None:
    return parse_date(_plain(text))


def _plain(text: str) -> str:
    """The date as ``parse_date`` reads it: no articles, ordinals as numbers, one word for a century."""
    text = re.sub(rf"^{asking.GLUE}", "", text.strip())
    text = re.sub(r"\beeuw(?:en)?\b", "century", text)
    return _ordinals().sub(_as_number, text).replace("-century", " century")


def _as_number(match: re.Match[str]) -> str:
    return next(f"{n}." for pattern, n in asking.ORDINALS if re.fullmatch(pattern, match[1]))


@lru_cache(maxsize=1)
def _ordinals() -> re.Pattern[str]:
    """An ordinal that stands before a century, or alone at the end as the first of two."""
    return re.compile(rf"(?<!\w)({_ordinal_words()})(?=[\s-]+{asking.LONG_CENTURY}|$)")


def _ordinal_words() -> str:
    return "|".join(pattern for pattern, _ in asking.ORDINALS)


@lru_cache(maxsize=1)
def _century() -> re.Pattern[str]:
    return re.compile(asking.LONG_CENTURY)


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    """Every way to name a period; the alternatives are tried in order at each place. Groups hold the dates."""
    era = rf"(?:\s*(?:{words.BC}|{words.AD})(?!\w))"
    part = rf"(?:(?:the )?(?:{'|'.join(words.PARTS)})[\s-]+(?:the )?)?"
    century = (
        rf"{part}(?:\d{{1,2}}{words.ORDINAL}[\s-]*{asking.CENTURY}|"
        rf"(?:[ivx]{{1,5}}{words.ORDINAL}|{_ordinal_words()})[\s-]+{asking.LONG_CENTURY})(?!\w){era}?"
    )
    decade = (
        r"(?:\d{2,3}0(?:'?s|er(?: jahren?)?)(?!\w)|(?:annees|decennie|δεκαετια του|δεκαετια) \d{2,3}0(?!\w))"
    )
    day = (
        rf"(?:\d{{4}}-\d\d-\d\d|\d{{1,2}}\. ?\d{{1,2}}\. ?\d{{3,4}}|"
        rf"\d{{1,2}}(?:st|nd|rd|th|er|\.)? (?:of )?(?:{asking.MONTHS})\.?,? \d{{3,4}}|"
        rf"(?:{asking.MONTHS})\.? (?:\d{{1,2}}(?:st|nd|rd|th)?,? )?\d{{3,4}})(?!\w)"
    )
    short = rf"\d{{3,4}}\s?[-/]\s?\d{{1,4}}(?!\w){era}?"
    dated = rf"(?:{words.AD}\s?\d{{1,4}}|\d{{1,4}}{era})"
    year = r"(?:1\d{3}|20\d\d)"
    circa = rf"(?:{words.CIRCA}\s*)?"
    end = r"(?!\w|[./:]\d|-\d)"
    core = rf"{circa}(?:{day}|{century}|{decade}|{short}|{dated}|{year}){end}"
    point = rf"{circa}(?:{day}|{century}|{decade}|{dated}|\d{{3,4}}){end}"
    left = rf"(?:{point}|{circa}\d{{1,4}}{words.ORDINAL}|{_ordinal_words()}|[ivx]{{1,5}}e)"
    glue = asking.GLUE
    ranges = [
        rf"{opening}\s+(?P<left{i}>{glue}{left})\s*(?:{middle}\s+|-\s*)(?P<right{i}>{glue}{point})"
        for i, (opening, middle) in enumerate(asking.RANGES)
    ]
    ranges.append(
        rf"{glue}(?P<left{len(ranges)}>{left})\s*(?:(?:and|or|to|et|ou|und|oder|bis|και|η|en|of|tot)\s+|-\s*)"
        rf"(?P<right{len(ranges)}>{glue}{century}){end}"
    )
    bounds = [
        rf"{bound}\s*(?<![^\W\d]){glue}(?P<{name}>{point})"
        for name, bound in (
            ("before", asking.BEFORE), ("after", asking.AFTER), ("since", asking.SINCE), ("until", asking.UNTIL),
        )
    ]  # fmt: skip
    suffixed = [
        rf"(?:{asking.IN}\s+)?{glue}(?P<{name}>{point})\s+{suffix}(?!\w)"
        for name, suffix in (("later", asking.OR_LATER), ("earlier", asking.OR_EARLIER))
    ]
    plain = rf"(?:{asking.IN}\s+)?{glue}(?P<plain>(?!{year}{end}(?!{era}|\s?[-/]\s?\d)){core})"
    single = rf"(?:(?P<in>{asking.IN})\s+)?{glue}(?P<year>{year}|(?<=year )\d{{3}}|(?<=in )\d{{3}}){end}"
    return re.compile(rf"(?<![\w.#/:-])(?:{'|'.join([*suffixed, *ranges, *bounds, plain, single])})")
