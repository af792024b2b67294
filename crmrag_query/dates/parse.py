"""Reading dates: XSD types of every precision, and the plain phrases of catalogues.

Years below 1. XSD 1.0 and most who write "-0500" mean 500 BC and have no year 0; XSD 1.1 and ISO 8601 count 1 BC as
year 0000 and mean 501 BC. We read negative years as XSD 1.0 does, and 0000 (which only 1.1 has) as 1 BC; a single "0"
is a placeholder for "unknown" and no date. The 12th century is 1101–1200, the 5th century BC 500–401 BC.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Final

from crmrag_query.dates import words
from crmrag_query.dates.calendar import Interval, day_number, month_interval, month_length, year_interval

XSD: Final = "http://www.w3.org/2001/XMLSchema#"
_ISO = re.compile(
    r"(?P<year>-?\d{1,6})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d))?)?"
    r"(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?\s*(?:Z|[+-]\d\d:\d\d)?"
)
_PASTED = re.compile(r"(?P<text>.*\S)-(?:01-01|12-31|31-12|\d\d-)", re.DOTALL)
_ROMAN = re.compile(r"(?=[ivx])(?P<tens>x{0,3})(?P<ones>ix|iv|v?i{0,3})")
_LONGEST = 120  # characters; what is longer is a note, not a date


@lru_cache(maxsize=65536)
def parse_date(text: str, datatype: str = "") -> Interval | None:
    """The days that a date stands for, or None when any part of it is not understood; see the module on years BC."""
    text = text.strip().rstrip("-")
    if not text or len(text) > _LONGEST:
        return None
    found = _iso(text, datatype.startswith(XSD))
    if found is not None:
        return found
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1:
        return _together([parse_date(_unpasted(line)) for line in lines])
    return _phrase(words.fold(_unpasted(text)).strip(" []().,;"))


def _together(found: list[Interval | None]) -> Interval | None:
    known = [interval for interval in found if interval is not None]
    if not known or len(known) < len(found):
        return None
    joined = known[0]
    for interval in known[1:]:
        joined = joined.hull(interval)
    return joined


def _unpasted(text: str) -> str:
    """The words before a month and day that an export added to any text: ``ca. 1880-1885-01-01``."""
    pasted = _PASTED.fullmatch(text)
    return pasted["text"] if pasted and not re.fullmatch(r"-?\d+", pasted["text"]) else text


def _iso(text: str, typed: bool) -> Interval | None:
    found = _ISO.fullmatch(text)
    if found is None or found["year"] == "0" or (len(found["year"].lstrip("-")) > 4 and not typed):
        return None
    year, month, day = int(found["year"]), int(found["month"] or 0), int(found["day"] or 0)
    if not typed and found["day"] is None and month > abs(year) % 100 and len(found["year"]) == 4:
        return None  # 1885-90 and 1905-10 are ranges in a catalogue's text
    if month > 12 and 1 <= day <= 12:
        month, day = day, month  # 1921-31-12, as exports have it
    if month > 12 or day > 31:
        return None
    year += year < 0
    if month == 0:
        return year_interval(year)
    if day == 0 or day > month_length(year, month):
        return month_interval(year, month)
    number = day_number(year, month, day)
    return Interval(number, number)


def _phrase(text: str) -> Interval | None:
    """Any phrase; ``text`` is folded."""
    for rule in (_approximate, _range, _open, _single):
        found = rule(text)
        if found is not None:
            return found
    return None


def _approximate(text: str) -> Interval | None:
    found = re.fullmatch(rf"{words.CIRCA}\s*(.+)|(.+?)\s*(?:\(?\?\)?|\(?{words.CIRCA}\)?)", text)
    inner = _phrase(found[1] or found[2]) if found else None
    return replace(inner, approximate=True) if inner else None


def _open(text: str) -> Interval | None:
    readings: tuple[tuple[str, Callable[[Interval], Interval]], ...] = (
        (words.BEFORE, lambda at: Interval(None, None if at.begin is None else at.begin - 1, at.approximate)),
        (words.AFTER, lambda at: Interval(None if at.end is None else at.end + 1, None, at.approximate)),
        (words.UNTIL, lambda at: Interval(None, at.end, at.approximate)),
        (words.SINCE, lambda at: Interval(at.begin, None, at.approximate)),
    )
    for pattern, reading in readings:
        found = re.fullmatch(rf"{pattern}\s+(.+)", text)
        inner = _phrase(found[1]) if found else None
        if inner is not None and inner.begin is not None and inner.end is not None:
            return reading(inner)
    return None


def _range(text: str) -> Interval | None:
    for opening, middle in words.RANGE:
        found = re.fullmatch(rf"{opening}\s+(.+?)\s*{middle}\s+(.+)", text)
        if found and (joined := _join(found[1], found[2])):
            return joined
    short = re.fullmatch(rf"(\d{{3,4}})\s*[-/]\s*(\d{{1,2}})(\s*{words.AD})?", text)
    if short:
        last = short[1][: -len(short[2])] + short[2]
        return year_interval(int(short[1]), int(last)) if int(last) >= int(short[1]) else None
    for split in re.finditer(rf"{words.TO}|\s*/\s*", text):
        if joined := _join(text[: split.start()].strip(), text[split.end() :].strip()):
            return joined
    return None


def _join(left: str, right: str) -> Interval | None:
    """From one date to another; the first takes the era, the unit, the month and the year that only the second has."""
    end = _point(right)
    if not left or end is None:
        return None
    era = re.search(rf"\s*{words.BC}$", right)
    bare = re.sub(rf"\s*(?:{words.BC}|{words.AD})$", "", right)
    unit = re.search(rf"\b{words.CENTURY}$", bare)
    month = re.fullmatch(r"\d{1,2}\.? ([^\W\d]+\.?) (\d{3,4})", bare)
    tail = era[0] if era and not re.search(rf"{words.BC}|{words.AD}", left) else ""
    begin: Interval | None = None
    if unit and not re.search(rf"\b{words.CENTURY}(?!\w)", left):
        begin = _point(f"{left} {unit[0]}{tail}")
    elif month and re.fullmatch(r"\d{1,2}\.?|\d{1,2}\.? [^\W\d]+\.?", left):
        begin = _point(f"{left} {month[1]} {month[2]}{tail}") or _point(f"{left} {month[2]}{tail}")
    begin = begin or _point(left + tail) or _point(left)
    if begin is None or begin.begin is None or end.end is None or begin.begin > end.end:
        return None
    return Interval(begin.begin, end.end, begin.approximate or end.approximate)


def _point(text: str) -> Interval | None:
    """One end of a range: a single date, perhaps approximate."""
    found = re.fullmatch(rf"{words.CIRCA}\s*(.+)", text)
    inner = _single(found[1]) if found else None
    return replace(inner, approximate=True) if inner else _single(text)


def _single(text: str) -> Interval | None:
    for rule in (_century, _decade, _year, _day):
        found = rule(text)
        if found is not None:
            return found
    return None


def _century(text: str) -> Interval | None:
    number = rf"(?P<number>\d{{1,2}}|[ivx]+){words.ORDINAL}"
    tail = rf"{number}[\s-]*{words.CENTURY}(?:\s*(?:(?P<bc>{words.BC})|{words.AD}))?"
    for part, (start, stop) in (("", (0, 100)), *words.PARTS.items()):
        found = re.fullmatch(rf"(?:the )?(?:(?:{part})[\s-]+)?{tail}" if part else rf"(?:the )?{tail}", text)
        if found:
            which = _count(found["number"])
            if not 1 <= which <= 30:
                return None
            first = -100 * which + 1 if found["bc"] else 100 * (which - 1) + 1
            return year_interval(first + start, first + stop - 1)
    return None


def _count(number: str) -> int:
    """An Arabic or Roman number, 0 when it is neither."""
    if number.isdigit():
        return int(number)
    roman = _ROMAN.fullmatch(number)
    ones = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
    return 10 * len(roman["tens"]) + ones.index(roman["ones"]) if roman else 0


def _decade(text: str) -> Interval | None:
    found = re.fullmatch(rf"(?:the )?(\d{{2,3}}0){words.DECADE}|{words.DECADE_BEFORE} (\d{{2,3}}0)", text)
    if found is None:
        return None
    first = int(found[1] or found[2])
    return year_interval(first, first + (99 if first % 100 == 0 and found[1] else 9))


def _year(text: str) -> Interval | None:
    found = re.fullmatch(rf"(?:{words.AD}\s*)?(\d{{1,4}})(?:\s*(?:(?P<bc>{words.BC})|{words.AD}))?", text)
    if found is None or int(found[1]) == 0:
        return None
    return year_interval(1 - int(found[1]) if found["bc"] else int(found[1]))


def _day(text: str) -> Interval | None:
    """A day or a month with its name, or day.month.year."""
    era = re.search(rf"\s+{words.BC}$", text)
    text = text[: era.start()] if era else text
    patterns = (
        r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.)? (?:of )?(?P<month>[^\W\d]+)\.?,? (?P<year>\d{1,4})",
        r"(?P<month>[^\W\d]+)\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?,? (?P<year>\d{1,4})",
        r"(?P<month>[^\W\d]+)\.?,? (?P<year>\d{1,4})",
        r"(?P<day>\d{1,2})\. ?(?P<month>\d{1,2})\. ?(?P<year>\d{3,4})",
    )
    for pattern in patterns:
        found = re.fullmatch(pattern, text)
        if found:
            named = found.groupdict()
            month = int(named["month"]) if named["month"].isdigit() else words.MONTH.get(named["month"], 0)
            year = 1 - int(named["year"]) if era else int(named["year"])
            return _date(year, month, int(named.get("day") or 0))
    return None


def _date(year: int, month: int, day: int) -> Interval | None:
    if not 1 <= month <= 12 or day > month_length(year, month):
        return None
    if not day:
        return month_interval(year, month)
    number = day_number(year, month, day)
    return Interval(number, number)
