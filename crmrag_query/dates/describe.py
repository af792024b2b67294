"""Writing intervals for people: whole years as years, whole months as months, else days."""

from __future__ import annotations

from crmrag_query.dates import words
from crmrag_query.dates.calendar import Interval, civil, month_length

DASH = "–"


def describe(interval: Interval, lang: str = "en") -> str:
    """``1105–1106``, ``500–401 BC``, ``12 May 1885``, ``ca. 1885``, ``until 1900``; English for unknown languages.

    What it writes is read back as the same interval by ``parse_date``; "" for an interval open at both ends.
    """
    lang = lang if lang in words.MONTHS else "en"
    text = _extent(interval.begin, interval.end, lang)
    return f"{words.ABOUT[lang]} {text}" if interval.approximate and text else text


def _extent(begin: int | None, end: int | None, lang: str) -> str:
    if begin is None and end is None:
        return ""
    if begin is None or end is None:
        known = end if begin is None else begin
        assert known is not None
        word = (words.ONLY_END if begin is None else words.ONLY_BEGIN)[lang]
        return f"{word} {_edge(known, begin is None, lang)}"
    (first, month, day), (last, last_month, last_day) = civil(begin), civil(end)
    if (month, day, last_month, last_day) == (1, 1, 12, 31):
        return _years(first, last, lang)
    if day == 1 and last_day == month_length(last, last_month):
        left, right = _month(first, month, lang), _month(last, last_month, lang)
    else:
        left, right = _day(begin, lang), _day(end, lang)
    return left if left == right else f"{left} {DASH} {right}"


def _edge(number: int, is_end: bool, lang: str) -> str:
    """The one known end: its year, or its month when it is an end of one, else the day."""
    year, month, day = civil(number)
    if (month, day) == ((12, 31) if is_end else (1, 1)):
        return _year(year, lang)
    if day == (month_length(year, month) if is_end else 1):
        return _month(year, month, lang)
    return _day(number, lang)


def _years(first: int, last: int, lang: str) -> str:
    if first == last:
        return _year(first, lang)
    if last < 1:
        return f"{1 - first}{DASH}{_year(last, lang)}"
    if first < 1:
        return f"{_year(first, lang)} {DASH} {_year(last, lang)}"
    return f"{first}{DASH}{last}"


def _year(year: int, lang: str) -> str:
    return str(year) if year > 0 else f"{1 - year} {words.ERA[lang]}"


def _month(year: int, month: int, lang: str) -> str:
    return f"{words.MONTHS[lang][month - 1]} {_year(year, lang)}"


def _day(number: int, lang: str) -> str:
    year, month, day = civil(number)
    dot = "." if lang == "de" else ""
    return f"{day}{dot} {_month(year, month, lang)}"
