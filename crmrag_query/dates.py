"""Dates as intervals of day numbers: read from XSD types and from the plain phrases of catalogues, and written for people.

Day numbers are Python's proleptic Gregorian ordinals (0001-01-01 = 1), continued to zero and below for BC. Years here are
astronomical: 1 BC is year 0, 5 BC is -4. Formulas after Hinnant, "chrono-Compatible Low-Level Date Algorithms" (2014): years
start in March, so that the leap day is the last of its year.

Years below 1 as data writes them: XSD 1.0 and most who write "-0500" mean 500 BC and have no year 0; XSD 1.1 and ISO 8601
count 1 BC as year 0000 and mean 501 BC. We read negative years as XSD 1.0 does, and 0000 (which only 1.1 has) as 1 BC; a
single "0" is a placeholder for "unknown" and no date. The 12th century is 1101–1200, the 5th century BC 500–401 BC.

The words for dates (English, French, German, Greek, Italian, Spanish) stand as they are after ``fold``, which writes every
sigma as σ.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from typing import Final

__all__ = ["Interval", "civil", "day_number", "describe", "parse_date", "whole_years", "year_interval"]


_ERA_DAYS = 146_097  # days in 400 years
_SHIFT = 305  # from 0000-03-01 as day 0 to 0001-01-01 as day 1
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, slots=True)
class Interval:
    """Days ``begin`` to ``end``, both inclusive, None where it is open; ``approximate`` when stated so ("ca.")."""

    begin: int | None
    end: int | None
    approximate: bool = False

    def __post_init__(self) -> None:
        if self.begin is not None and self.end is not None and self.begin > self.end:
            raise ValueError(f"an interval cannot end ({self.end}) before it begins ({self.begin})")

    def hull(self, other: Interval) -> Interval:
        """The shortest interval that holds both."""
        begin = None if self.begin is None or other.begin is None else min(self.begin, other.begin)
        end = None if self.end is None or other.end is None else max(self.end, other.end)
        return Interval(begin, end, self.approximate or other.approximate)


def day_number(year: int, month: int = 1, day: int = 1) -> int:
    """Day number of a date that exists; see ``month_length``."""
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * _ERA_DAYS + of_era * 365 + of_era // 4 - of_era // 100 + of_year - _SHIFT


def civil(number: int) -> tuple[int, int, int]:
    """Year, month and day of a day number."""
    era, of_era = divmod(number + _SHIFT, _ERA_DAYS)
    year_of_era = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year_of_era + era * 400 + (month <= 2), month, of_year - (153 * shifted + 2) // 5 + 1


def month_length(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else _LENGTHS[month - 1]


def year_interval(first: int, last: int | None = None) -> Interval:
    """From the first day of a year to the last day of the same or a later one."""
    return Interval(day_number(first), day_number((first if last is None else last) + 1) - 1)


def month_interval(year: int, month: int) -> Interval:
    start = day_number(year, month)
    return Interval(start, start + month_length(year, month) - 1)


def whole_years(interval: Interval) -> tuple[int, int] | None:
    """First and last year when the interval is closed and made of whole years."""
    if interval.begin is None or interval.end is None:
        return None
    first, month, day = civil(interval.begin)
    last, *rest = civil(interval.end + 1)
    return (first, last - 1) if (month, day) == (1, 1) and rest == [1, 1] else None


MONTHS: Final[dict[str, tuple[str, ...]]] = {
    "en": (
        "January", "February", "March", "April", "May", "June",
        "July", "August", "September", "October", "November", "December",
    ),
    "fr": (
        "janvier", "février", "mars", "avril", "mai", "juin",
        "juillet", "août", "septembre", "octobre", "novembre", "décembre",
    ),
    "de": (
        "Januar", "Februar", "März", "April", "Mai", "Juni",
        "Juli", "August", "September", "Oktober", "November", "Dezember",
    ),
    "el": (
        "Ιανουαρίου", "Φεβρουαρίου", "Μαρτίου", "Απριλίου", "Μαΐου", "Ιουνίου",
        "Ιουλίου", "Αυγούστου", "Σεπτεμβρίου", "Οκτωβρίου", "Νοεμβρίου", "Δεκεμβρίου",
    ),
    "it": (
        "gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno",
        "luglio", "agosto", "settembre", "ottobre", "novembre", "dicembre",
    ),
    "es": (
        "enero", "febrero", "marzo", "abril", "mayo", "junio",
        "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre",
    ),
}  # fmt: skip
_MONTHS_MORE: Final = {
    1: "jan janv jän jänner ιανουάριος ιαν gen ene", 2: "feb févr fév φεβρουάριος φεβ", 3: "mar mär μάρτιος μαρ",
    4: "apr avr απρίλιος απρ abr", 5: "μάιος mag", 6: "jun ιούνιος ιουν giu", 7: "jul juil ιούλιος ιουλ lug",
    8: "aug αύγουστος αυγ ago", 9: "sep sept σεπτέμβριος σεπτ sett setiembre", 10: "oct okt οκτώβριος οκτ ott",
    11: "nov νοέμβριος νοε", 12: "dec déc dez δεκέμβριος δεκ dic",
}  # fmt: skip


def fold(text: str) -> str:
    """Lower case without accents, one kind of dash and of apostrophe, single blanks."""
    text = "".join(c for c in unicodedata.normalize("NFD", text.casefold()) if not unicodedata.combining(c))
    for dash in "‐‑‒–—−":
        text = text.replace(dash, "-")
    return " ".join(text.replace("’", "'").replace("΄", "'").replace("ʹ", "'").replace("´", "'").split())


MONTH: Final[dict[str, int]] = {
    fold(word): number
    for number, words in (
        *((n, names[n - 1].split()) for names in MONTHS.values() for n in range(1, 13)),
        *((n, words.split()) for n, words in _MONTHS_MORE.items()),
    )
    for word in words
}
CIRCA: Final = (
    r"(?:circa|ca\.?|c\.|about|around|approximately|approx\.?|probably|possibly|vers|environ|env\.|um|etwa|wohl|"
    r"περιπου|περ\.|γυρω στο|intorno al|verso(?: il)?|hacia|alrededor de|aprox\.|c(?=\s*\d))"
)
BEFORE: Final = r"(?:before|avant|vor|πριν απο το|πριν το|πριν|prima del|antes del?)"
AFTER: Final = r"(?:after|apres|nach|μετα το|μετα|dopo il|dopo|despues del?)"
UNTIL: Final = (
    r"(?:until|no later than|not after|up to|by|jusqu'en|jusqu'au|bis(?: zum)?|εωσ|μεχρι|ωσ|"
    r"fino al?|hasta(?: el)?)"
)
SINCE: Final = (
    r"(?:since|no earlier than|not before|from|a partir de|a partir du|depuis(?: le)?|ab|seit(?: dem)?|απο|"
    r"a partire dal|dal|a partir del|desde(?: el)?)"
)
RANGE: Final = (
    (r"(?:between|entre|zwischen|μεταξυ|tra|fra)", r"(?:and|et|und|και|e|y)"),
    (
        r"(?:from|de|du|von|vom|απο|dal|desde|del)",
        r"(?:to|until|till|through|-|al?|au|jusqu'en|jusqu'au|bis|εωσ|μεχρι|ωσ|hasta|fino al?)",
    ),
)
TO: Final = r"(?:\s*-\s*|\s+(?:to|until|till|through|bis|al?|au|εωσ|μεχρι|ωσ|or|ou|oder|η)\s+)"
BC: Final = (
    r"(?:b\.?\s?c\.?(?:\s?e\.?)?|av(?:ant|\.)?\s?j\.?\s?-?\s?c\.?|v\.?\s?chr\.?|v\.?\s?u\.?\s?z\.?|π\.?\s?χ\.?|"
    r"a\.\s?(?:de )?c\.?)"
)
AD: Final = (
    r"(?:a\.?\s?d\.?|c\.?\s?e\.?|ap(?:res|\.)?\s?j\.?\s?-?\s?c\.?|n\.?\s?chr\.?|n\.?\s?u\.?\s?z\.?|μ\.?\s?χ\.?|"
    r"d\.\s?(?:de )?c\.?)"
)
CENTURY: Final = (
    r"(?:centuries|century|cent\.?|c\.?|siecles?|jahrhunderts?|jhdt?s?\.?|jhs?\.?|"
    r"αιωνασ?|αιωνων|αιωνεσ|αι\.?|secol[oi]|siglos?)"
)
CENTURY_BEFORE: Final = r"(?:secol[oi]|sec\.|siglos?|s\.)"
"""Words for centuries that stand before their number."""
ORDINAL: Final = r"(?:st|nd|rd|th|e|eme|er|\.|οσ|ου|ων|ον|ο|[°º])?"
DECADE: Final = r"(?:'?s|er(?: jahren?)?)"
DECADE_WORDS: Final = r"annees|decennie|δεκαετιασ? του|δεκαετιασ?|anni|anos|decada de(?: los)?|decennio"
DECADE_BEFORE: Final = rf"(?:{DECADE_WORDS}|(?:the|die)(?= ))"
_OF = r"(?: of(?: the)?| du| des| der| του| τησ| del?| degli)?"
_HALF = rf" (?:half|moitie|halfte|μισο|meta|mitad){_OF}"
_QUARTER = rf" (?:quarter|quart|viertel|τεταρτο|quarto|cuarto){_OF}"
PARTS: Final[dict[str, tuple[int, int]]] = {
    rf"(?:early|beginning|start|debut|fruhe[sn]?|anfang|αρχεσ|inizio?|principios|inicios|comienzos){_OF}": (
        0,
        33,
    ),
    rf"(?:mid(?:dle)?|milieu|mitte|μεσα|meta|mediados){_OF}": (33, 67),
    rf"(?:late|end|fin|spate[sn]?|ende|τελη|fine|finales|fines){_OF}": (67, 100),
    rf"(?:first|1st|premiere|1ere|1re|erste|1\.|πρωτο|α'|prim(?:er)?a){_HALF}": (0, 50),
    rf"(?:second|last|2nd|deuxieme|seconde|2e|zweite|2\.|δευτερο|β'|se[cg]onda|segunda){_HALF}": (50, 100),
    rf"(?:first|1st|premier|1er|erstes|1\.|πρωτο|α'|primo|primer){_QUARTER}": (0, 25),
    rf"(?:second|2nd|deuxieme|2e|zweites|2\.|δευτερο|β'|se[cg]ondo|segundo){_QUARTER}": (25, 50),
    rf"(?:third|3rd|troisieme|3e|drittes|3\.|τριτο|γ'|terzo|tercer){_QUARTER}": (50, 75),
    rf"(?:fourth|last|4th|dernier|quatrieme|4e|letztes|viertes|4\.|τελευταιο|δ'|ultimo){_QUARTER}": (75, 100),
}
"""Parts of a century: from after the first to the second of its hundred years; early, mid and late are thirds."""
SEASON: Final = (
    r"(?:spring|summer|autumn|fall|winter|printemps|ete|automne|hiver|fruhjahr|fruhling|sommer|herbst|"
    r"ανοιξη|καλοκαιρι|φθινοπωρο|χειμωνασ?|primavera|estate|autunno|inverno|verano|otono|invierno)"
)
"""Seasons before a year, which is all that they are read as: which months they are, people do not agree on."""
ERA: Final[dict[str, str]] = {
    "en": "BC",
    "fr": "av. J.-C.",
    "de": "v. Chr.",
    "el": "π.Χ.",
    "it": "a.C.",
    "es": "a. C.",
}
ABOUT: Final[dict[str, str]] = {
    "en": "ca.",
    "fr": "vers",
    "de": "um",
    "el": "περ.",
    "it": "ca.",
    "es": "hacia",
}
ONLY_END: Final[dict[str, str]] = {
    "en": "until",
    "fr": "jusqu'en",
    "de": "bis",
    "el": "έως",
    "it": "fino al",
    "es": "hasta",
}
ONLY_BEGIN: Final[dict[str, str]] = {
    "en": "since",
    "fr": "depuis",
    "de": "seit",
    "el": "από",
    "it": "dal",
    "es": "desde",
}
BEFORE_DAYS: Final[dict[str, tuple[str, str]]] = {
    "fr": ("jusqu'au", "depuis le"),
    "de": ("bis zum", "seit dem"),
    "es": ("hasta el", "desde el"),
}
"""Until and since, where they are others before a day than before a month or a year."""

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
        several = [parse_date(_unpasted(line)) for line in lines]
        known = [interval for interval in several if interval is not None]
        return reduce(Interval.hull, known) if len(known) == len(several) else None
    return _phrase(fold(_unpasted(text)).strip(" []().,;"))


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
    return _day_or_month(year, month, day) if month else year_interval(year)


def _phrase(text: str) -> Interval | None:
    """Any phrase; ``text`` is folded."""
    return _first((_approximate, _range, _open, _single, _season), text)


def _season(text: str) -> Interval | None:
    """The year of a season or of a part of it, "Summer 1930", "early 1932"."""
    lead = "|".join((SEASON, *PARTS))
    years = r"(\d{3,4}(?:\s*[-/]\s*\d{2,4})?)"
    found = re.fullmatch(rf"(?:in )?(?:the |im )?(?:{lead})(?:,| of| de| del| του)?[\s-]+{years}", text)
    return _phrase(found[1]) if found else None


def _first(rules: Iterable[Callable[[str], Interval | None]], text: str) -> Interval | None:
    """What the first of the rules reads that reads anything."""
    return next((found for rule in rules if (found := rule(text)) is not None), None)


def _approximate(text: str) -> Interval | None:
    found = re.fullmatch(rf"{CIRCA}\s*(.+)|(.+?)\s*(?:\(?\?\)?|\(?{CIRCA}\)?)", text)
    inner = _phrase(found[1] or found[2]) if found else None
    return replace(inner, approximate=True) if inner else None


def _open(text: str) -> Interval | None:
    readings: tuple[tuple[str, Callable[[Interval], Interval]], ...] = (
        (BEFORE, lambda at: Interval(None, None if at.begin is None else at.begin - 1, at.approximate)),
        (AFTER, lambda at: Interval(None if at.end is None else at.end + 1, None, at.approximate)),
        (UNTIL, lambda at: Interval(None, at.end, at.approximate)),
        (SINCE, lambda at: Interval(at.begin, None, at.approximate)),
    )
    for pattern, reading in readings:
        found = re.fullmatch(rf"{pattern}\s+(.+)", text)
        inner = _phrase(found[1]) if found else None
        if inner is not None and inner.begin is not None and inner.end is not None:
            return reading(inner)
    return None


def _range(text: str) -> Interval | None:
    for opening, middle in RANGE:
        found = re.fullmatch(rf"{opening}\s+(.+?)\s*{middle}\s+(.+)", text)
        if found and (joined := _join(found[1], found[2])):
            return joined
    short = re.fullmatch(rf"(\d{{3,4}})\s*[-/]\s*(\d{{1,2}})(\s*{AD})?", text)
    if short:
        last = short[1][: -len(short[2])] + short[2]
        return year_interval(int(short[1]), int(last)) if int(last) >= int(short[1]) else None
    for split in re.finditer(rf"{TO}|\s*/\s*", text):
        if joined := _join(text[: split.start()].strip(), text[split.end() :].strip()):
            return joined
    return None


def _join(left: str, right: str) -> Interval | None:
    """From one date to another; the first takes the era, the unit, the month and the year that only the second has."""
    end = _point(right)
    if not left or end is None:
        return None
    era = re.search(rf"\s*{BC}$", right)
    bare = re.sub(rf"\s*(?:{BC}|{AD})$", "", right)
    unit = re.search(rf"\b{CENTURY}$", bare)
    month = re.fullmatch(r"\d{1,2}\.? ([^\W\d]+\.?) (\d{3,4})", bare)
    tail = era[0] if era and not re.search(rf"{BC}|{AD}", left) else ""
    begin: Interval | None = None
    if unit and not re.search(rf"\b{CENTURY}(?!\w)", left):
        begin = _point(f"{left} {unit[0]}{tail}")
    elif month and re.fullmatch(r"\d{1,2}\.?|\d{1,2}\.? [^\W\d]+\.?", left):
        begin = _point(f"{left} {month[1]} {month[2]}{tail}") or _point(f"{left} {month[2]}{tail}")
    begin = begin or _point(left + tail) or _point(left)
    if begin is None or begin.begin is None or end.end is None or begin.begin > end.end:
        return None
    return Interval(begin.begin, end.end, begin.approximate or end.approximate)


def _point(text: str) -> Interval | None:
    """One end of a range: a single date, perhaps approximate."""
    found = re.fullmatch(rf"{CIRCA}\s*(.+)", text)
    inner = _single(found[1]) if found else None
    return replace(inner, approximate=True) if inner else _single(text)


def _single(text: str) -> Interval | None:
    return _first((_century, _decade, _year, _day), text)


def _century(text: str) -> Interval | None:
    number = rf"(?P<number>\d{{1,2}}|[ivx]+){ORDINAL}"
    era = rf"(?:\s*(?:(?P<bc>{BC})|{AD}))?"
    turned = re.fullmatch(rf"(.*?)(?<!\w){CENTURY_BEFORE}\s+(\d{{1,2}}|[ivx]+)((?:\s.*)?)", text)
    text = f"{turned[1]}{turned[2]} century{turned[3]}" if turned else text
    tail = rf"{number}[\s-]*{CENTURY}{era}"
    for part, (start, stop) in (("", (0, 100)), *PARTS.items()):
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
    """Ten years, or of a part the years that may be of it: "early 1930s" until 1933."""
    found = re.fullmatch(rf"(.*?)(?:(?<!\w)(?:the )?(\d{{2,3}}0){DECADE}|{DECADE_BEFORE} (\d{{2,3}}0))", text)
    if found is None:
        return None
    lead, first = found[1].removeprefix("the ").rstrip(" -"), int(found[2] or found[3])
    part = next((share for words, share in PARTS.items() if re.fullmatch(words, lead)), None)
    if lead and part is None:
        return None
    start, stop = part or (0, 100)
    years = 100 if first % 100 == 0 and found[2] and part is None else 10
    return year_interval(first + start * years // 100, first + -(-stop * years // 100) - 1)


def _year(text: str) -> Interval | None:
    found = re.fullmatch(rf"(?:{AD}\s*)?(\d{{1,4}})(?:\s*(?:(?P<bc>{BC})|{AD}))?", text)
    if found is None or int(found[1]) == 0:
        return None
    return year_interval(1 - int(found[1]) if found["bc"] else int(found[1]))


def _day(text: str) -> Interval | None:
    """A day or a month with its name, or day.month.year."""
    era = re.search(rf"\s+{BC}$", text)
    text = text[: era.start()] if era else text
    patterns = (
        r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.|[°º])? (?:of |de )?(?P<month>[^\W\d]+)\.?,? (?:del? )?(?P<year>\d{1,4})",
        r"(?P<month>[^\W\d]+)\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?,? (?P<year>\d{1,4})",
        r"(?P<month>[^\W\d]+)\.?,? (?:del? )?(?P<year>\d{1,4})",
        r"(?P<day>\d{1,2})\. ?(?P<month>\d{1,2})\. ?(?P<year>\d{3,4})",
    )
    for pattern in patterns:
        found = re.fullmatch(pattern, text)
        if found:
            named = found.groupdict()
            month = int(named["month"]) if named["month"].isdigit() else MONTH.get(named["month"], 0)
            year = 1 - int(named["year"]) if era else int(named["year"])
            day = int(named.get("day") or 0)
            if not 1 <= month <= 12 or day > month_length(year, month):
                return None
            return _day_or_month(year, month, day)
    return None


def _day_or_month(year: int, month: int, day: int) -> Interval:
    """The day, or where it is 0 or the month has no such day the whole month."""
    if not 1 <= day <= month_length(year, month):
        return month_interval(year, month)
    number = day_number(year, month, day)
    return Interval(number, number)


DASH = "–"


def describe(interval: Interval, lang: str = "en") -> str:
    """``1105–1106``, ``500–401 BC``, ``12 May 1885``, ``ca. 1885``, ``until 1900``; English for unknown languages.

    What it writes is read back as the same interval by ``parse_date``; "" for an interval open at both ends.
    """
    lang = lang if lang in MONTHS else "en"
    text = _extent(interval.begin, interval.end, lang)
    return f"{ABOUT[lang]} {text}" if interval.approximate and text else text


def _extent(begin: int | None, end: int | None, lang: str) -> str:
    if begin is None and end is None:
        return ""
    if begin is None or end is None:
        known = end if begin is None else begin
        assert known is not None
        edge = _edge(known, begin is None, lang)
        word = (ONLY_END if begin is None else ONLY_BEGIN)[lang]
        if edge == _day_text(known, lang) and lang in BEFORE_DAYS:
            word = BEFORE_DAYS[lang][begin is not None]
        return f"{word} {edge}"
    (first, month, day), (last, last_month, last_day) = civil(begin), civil(end)
    if (month, day, last_month, last_day) == (1, 1, 12, 31):
        return _years(first, last, lang)
    if day == 1 and last_day == month_length(last, last_month):
        left, right = _month(first, month, lang), _month(last, last_month, lang)
    else:
        left, right = _day_text(begin, lang), _day_text(end, lang)
    return left if left == right else f"{left} {DASH} {right}"


def _edge(number: int, is_end: bool, lang: str) -> str:
    """The one known end: its year, or its month when it is an end of one, else the day."""
    year, month, day = civil(number)
    if (month, day) == ((12, 31) if is_end else (1, 1)):
        return _year_text(year, lang)
    if day == (month_length(year, month) if is_end else 1):
        return _month(year, month, lang)
    return _day_text(number, lang)


def _years(first: int, last: int, lang: str) -> str:
    if first == last:
        return _year_text(first, lang)
    if last < 1:
        return f"{1 - first}{DASH}{_year_text(last, lang)}"
    if first < 1:
        return f"{_year_text(first, lang)} {DASH} {_year_text(last, lang)}"
    return f"{first}{DASH}{last}"


def _year_text(year: int, lang: str) -> str:
    return str(year) if year > 0 else f"{1 - year} {ERA[lang]}"


def _month(year: int, month: int, lang: str) -> str:
    of = "de " if lang == "es" else ""
    return f"{MONTHS[lang][month - 1]} {of}{_year_text(year, lang)}"


def _day_text(number: int, lang: str) -> str:
    year, month, day = civil(number)
    after = {"de": ".", "es": " de"}.get(lang, "")
    return f"{day}{after} {_month(year, month, lang)}"
