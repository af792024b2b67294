"""The stretch of a question that names a period, read as days: "before 1800", "in the 1920s", "im 18. Jahrhundert".

What is no date of its own is none: a year within quotes or a name (callers blank these, see ``without_names``), an
accession number, a count ("more than 1500"). The 12th century is 1101-1200 (see ``crmrag_query.dates``, which reads dates
themselves). The words around them are those of all languages, from their files: `time`, `period` and numbers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from crmrag_query import dates
from crmrag_query.dates import Interval, civil, fold, parse_date
from crmrag_query.language import READ, Language, language
from crmrag_query.questions.lexicon import Asked
from crmrag_query.text import tokenize

BLANK = "¤"
_LONGEST = 4000  # characters of a question that are looked through; more are refused before (``question_characters``)
_LONG = 4  # letters of a word for a century that needs no number in digits


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
    folded, words = fold(text[:_LONGEST]), _words()
    if not any(map(str.isdigit, folded)) and not words.century.search(folded):
        return None
    whole: _Found | None = None
    for match in words.pattern.finditer(folded):
        interval = None if _is_count(folded, match, nouns, words) else _interval(match, words)
        if interval is None:
            continue
        found = _Found(interval, match.start(), match.end())
        joined = found if whole is None else _joined(whole, found, folded, words)
        if joined is None:
            break
        whole = joined
    if whole is None:
        return None
    return Period(whole.interval, frozenset(tokenize(folded[whole.first : whole.last])))


def _joined(first: _Found, second: _Found, text: str, words: _Words) -> _Found | None:
    if words.joiner.fullmatch(text[first.last : second.first]) is None:
        return None
    a, b = first.interval, second.interval
    begin, end = (a.begin, b.end) if a.end is None and b.begin is None else (b.begin, a.end)
    opposed = (a.end is None and b.begin is None) or (a.begin is None and b.end is None)
    if opposed and begin is not None and end is not None:
        if begin > end:
            return None
        return _Found(Interval(begin, end, a.approximate or b.approximate), first.first, second.last)
    return _Found(a.hull(b), first.first, second.last)


def _is_count(text: str, match: re.Match[str], nouns: Collection[str], words: _Words) -> bool:
    """True for a bare number that counts or identifies: after "more than" or "no.", or before a plural."""
    if match["year"] is None:
        return False
    if any(words.no_year_after.search(text[:at]) for at in (match.start(), match.start("year"))):
        return True
    after = re.match(r"\s+([^\W\d]+)", text[match.end() :])
    return match["in"] is None and after is not None and after[1] in nouns


def _interval(match: re.Match[str], words: _Words) -> Interval | None:
    for i in range(_SPANS):
        if match[f"left{i}"]:
            unit = " century" if i == _SPANS - 1 else ""
            return _between(words.plain(match[f"left{i}"]) + unit, words.plain(match[f"right{i}"]) + unit)
    if match["plain"] or match["year"]:
        return parse_date(words.plain(match["plain"] or match["year"]))
    bound = next(name for name in _BOUNDS if match[name])
    at = parse_date(words.plain(match[bound]))
    if at is None or at.begin is None or at.end is None:
        return None
    begin, end = {
        "before": (None, at.begin - 1),
        "after": (at.end + 1, None),
        "until": (None, at.end),
        "since": (at.begin, None),
        "later": (at.begin, None),
        "earlier": (None, at.end),
    }[bound]
    return Interval(begin, end, at.approximate)


_SPANS = 3  # ways to name a period by its first and last date, the last of them by numbers of centuries
_BOUNDS = ("before", "after", "until", "since", "later", "earlier")
_ROLES = (*_BOUNDS, "from", "within", "spans", "glue", "numbers")


def _between(first: str, last: str) -> Interval | None:
    joined = parse_date(f"between {first} and {last}")
    if joined is not None:
        return joined
    begin, end = parse_date(first), parse_date(last)
    if begin is None or end is None or begin.begin is None or end.end is None or begin.begin > end.end:
        return None
    return begin.hull(end)


class _Words:
    """The words of periods in all languages, as patterns over folded text."""

    def __init__(self) -> None:
        known = [language(code) for code in READ]
        told = {
            role: [fold(word) for one in known for word in one.raw.get("period", {}).get(role, ())]
            for role in _ROLES
        }
        centuries = {word for one in known for word in _role(one, "century")}
        for name in ("before", "after"):
            told[name] += (word for one in known for word in _role(one, name))
        no_bound = {*told["until"], *told["since"], *told["from"]}
        during = {*told["within"], *(word for one in known for word in _role(one, "during"))}
        hundreds = [item for one in known for item in one.raw.get("period", {}).get("hundreds", {}).items()]
        counting = ("more_than", "less_than", "at_least", "at_most", "exactly", "only")
        self._ordinals = sorted(_ordinals(known), key=lambda pair: (-len(pair[0]), pair))
        self._hundreds = {fold(word): int(number) for word, number in hundreds}
        named_so = [item for one in known for item in one.raw.get("period", {}).get("periods", {}).items()]
        self._periods: dict[str, str] = {fold(name): years for name, years in named_so}
        long = _any(word for word in centuries if len(word) >= _LONG and word != "cent")
        written = "|".join(pattern for pattern, _ in self._ordinals)
        named = _any(self._hundreds)
        self._glue = re.compile(glue := rf"(?:{_any(told['glue'])}(?:\s+|(?<=')|(?=\d))){{0,3}}")
        self._century = re.compile(rf"(?<!\w)({written})(?=[\s-]+{long}|$)")
        self._long = re.compile(rf"\b{_any(centuries - set(map(fold, _DATED)))}\b")
        tens = {
            fold(word): int(number)
            for one in known
            for word, number in one.numbers.items()
            if int(number) in range(20, 100, 10)
        }
        plurals = {f"{word[:-1]}ies": n for word, n in tens.items() if word.endswith("ty")}  # "the twenties"
        before_years = {
            f"{word}er": n for word, n in tens.items() if word.endswith("ig")
        }  # "die zwanziger Jahre"
        self._tens = tens | plurals | before_years
        spoken = (
            rf"(?:(?:{dates.DECADE_WORDS})\s+(?P<tens>{_any(tens)}|'?[2-9]0)(?!\w)|(?P<plural>{_any(plurals)})(?!\w)|"
            rf"(?P<er>{_any(before_years)}|[2-9]0er)\s+jahren?(?!\w))"
        )
        self.century = re.compile(rf"{long}|{named}|{_any(self._tens)}|{_any(self._periods)}")
        and_or = [word for one in known for role in ("and", "or") for word in one.roles[f"operators.{role}"]]
        joints = _any(word for word in and_or if " " not in word)
        self.joiner = re.compile(rf"[\s,;&]*(?:{joints}|to|of)?[\s,;&]*(?:also|auch|aussi|anche|tambien)?\s*")
        counted = {word for one in known for role in counting for word in one.roles[f"operators.{role}"]}
        self.no_year_after = re.compile(rf"(?<!\w){_any((*counted, *told['numbers']))}\.?\s*$")
        spans = [tuple(map(str.strip, span.split("/"))) for span in told["spans"]]
        openings = sorted({opening for opening, _ in spans}, key=lambda word: (-len(word), word))
        ranges = [
            (re.escape(one), _any(middle for opening, middle in spans if opening == one)) for one in openings
        ]
        within = rf"(?:{_any(during)}(?:\s+|(?<=')))"
        bounds = {name: _any(set(told[name]) - no_bound) for name in ("before", "after", "later", "earlier")}
        bounds |= {name: _any(told[name]) for name in ("since", "until")}
        century = _century_pattern(long, written, named)
        spoken += rf"(?:\s+(?:of(?: the)?|du|des|del?|του)?\s*(?P<century>{century}))?"
        self._spoken = re.compile(spoken)
        self.pattern = _pattern(
            ranges, bounds, within=within, glue=glue, written=written, joints=joints, century=century,
            spoken=re.sub(r"\?P<\w+>", "?:", spoken), period=_any(self._periods),
        )  # fmt: skip

    def plain(self, text: str) -> str:
        """The date as ``parse_date`` reads it: no articles, ordinals and decades as numbers, one word for a century."""
        text = self._glue.sub("", text.strip(), count=1)
        if text in self._periods:
            return self._periods[text]
        if spoken := self._spoken.fullmatch(text):
            return self._decade(spoken) or text
        text = re.sub(r"[^\W\d]+", lambda word: self._named(word[0]), text)
        text = self._long.sub("century", text)
        return self._century.sub(self._number, text).replace("-century", " century")

    def _decade(self, match: re.Match[str]) -> str:
        """ "Anni Venti del Novecento" as "1920s"; where no century is named, of the twentieth."""
        said = match["tens"] or match["plural"] or match["er"]
        tens = self._tens.get(said) or int(said.strip("'er"))
        century = parse_date(self.plain(match["century"])) if match["century"] else None
        first = civil(century.begin)[0] - 1 if century and century.begin is not None else 1900
        return f"{first + tens}s" if first >= 100 else ""

    def _named(self, word: str) -> str:
        return f"{self._hundreds[word]}. century" if word in self._hundreds else word

    def _number(self, match: re.Match[str]) -> str:
        return next(f"{n}." for pattern, n in self._ordinals if re.fullmatch(pattern, match[1]))


_DATED = ("secolo", "secoli", "siglo", "siglos")  # read before a number, too


def _role(one: Language, role: str) -> Iterator[str]:
    """The folded words of a role of `time`, one of a word and one with "?" in it."""
    yield from (fold(word.replace("?", "")) for word in one.raw.get("time", {}).get(role, ()))


def _any(words: Iterable[str]) -> str:
    """A pattern of any of the folded words, the longest first."""
    distinct = sorted(set(words), key=lambda word: (-len(word), word))
    return f"(?:{'|'.join(map(re.escape, distinct))})"


def _ordinals(known: Iterable[Language]) -> set[tuple[str, int]]:
    """Patterns of ordinals written out, with any ending, and their numbers."""
    return {
        (r"[\s-]".join(rf"{one.stem(part)}\w{{0,4}}" for part in re.split(r"[\s-]", fold(word))), number)
        for one in known
        for word, number in ((word, int(value)) for word, value in one.raw["ordinals"].items())
        if not word[0].isdigit()
    }


ROMAN = r"[ivx]{1,5}"
_ERA = rf"(?:\s*(?:{dates.BC}|{dates.AD})(?!\w))"


def _century_pattern(long: str, written: str, named: str) -> str:
    """A century or a part of it, by number or by a name of its own."""
    part = rf"(?:(?:the )?(?:{'|'.join(dates.PARTS)})[\s-]+(?:the )?)?"
    return (
        rf"{part}(?:\d{{1,2}}{dates.ORDINAL}[\s-]*(?:{dates.CENTURY}|{long})|(?:{ROMAN}{dates.ORDINAL}|{written})[\s-]+{long}|"
        rf"{dates.CENTURY_BEFORE}\s+(?:\d{{1,2}}|{ROMAN})|{named})(?!\w){_ERA}?"
    )


def _pattern(
    ranges: list[tuple[str, str]], bounds: dict[str, str], *,
    within: str, glue: str, written: str, joints: str, century: str, spoken: str, period: str,
) -> re.Pattern[str]:  # fmt: skip
    """Every way to name a period; the alternatives are tried in order at each place. Groups hold the dates."""
    roman, era = ROMAN, _ERA
    months = _any(dates.MONTH)
    decade = rf"(?:\d{{2,3}}0(?:'?s|er(?: jahren?)?)(?!\w)|(?:{dates.DECADE_WORDS}) \d{{2,3}}0(?!\w))"
    day = (
        rf"(?:\d{{4}}-\d\d-\d\d|\d{{1,2}}\. ?\d{{1,2}}\. ?\d{{3,4}}|"
        rf"\d{{1,2}}(?:st|nd|rd|th|er|\.|[°º])? (?:of |de )?{months}\.?,? (?:del? )?\d{{3,4}}|"
        rf"{months}\.? (?:\d{{1,2}}(?:st|nd|rd|th)?,? |del? )?\d{{3,4}})(?!\w)"
    )
    short = rf"\d{{3,4}}\s?[-/]\s?\d{{1,4}}(?!\w){era}?"
    dated = rf"(?:{dates.AD}\s?\d{{1,4}}|\d{{1,4}}{era})"
    year, circa = r"(?:1\d{3}|20\d\d)", rf"(?:{dates.CIRCA}\s*)?"
    end = r"(?!\w|[./:]\d|-\d)"
    core = rf"{circa}(?:{day}|{century}|{decade}|{spoken}|{period}|{short}|{dated}|{year}){end}"
    point = rf"{circa}(?:{day}|{century}|{decade}|{spoken}|{period}|{dated}|\d{{3,4}}){end}"
    left = rf"(?:{point}|{circa}\d{{1,4}}{dates.ORDINAL}|{written}|{roman}e)"
    # The dates stand once for all openings: a copy for each would take seconds to compile.
    openings = "|".join(rf"{opening}(?P<opening{i}>)" for i, (opening, _) in enumerate(ranges))
    middles = "|".join(rf"(?(opening{i}){middle}|(?!))" for i, (_, middle) in enumerate(ranges))
    spans = [
        rf"(?:{openings})(?:\s+|(?<='))(?P<left0>{glue}(?:{left}|{roman}))\s*(?:(?:{middles})(?:\s+|(?<='))|-\s*)"
        rf"(?P<right0>{glue}{point})",
        rf"{glue}(?P<left1>{left})\s*(?:(?:{joints}|to|bis|of|tot|al)\s+|-\s*)(?P<right1>{glue}{century}){end}",
        rf"(?:\w+\s+)?{glue}(?:siglos|secoli)\s+(?P<left2>{roman}|\d{{1,2}})\s*(?:{joints}|al?|-)\s*{glue}"
        rf"(?P<right2>{roman}|\d{{1,2}}){end}",  # "siglos XII y XIV"
    ]
    before = [
        rf"{bounds[name]}\s*(?<![^\W\d]){glue}(?P<{name}>{point})"
        for name in ("until", "since", "before", "after")
    ]
    suffixed = [
        rf"{within}?{glue}(?P<{name}>{point})\s+{bounds[name]}(?!\w)" for name in ("later", "earlier")
    ]
    plain = rf"{within}?{glue}(?P<plain>(?!{year}{end}(?!{era}|\s?[-/]\s?\d)){core})"
    single = rf"(?:(?P<in>{within}))?{glue}(?P<year>{year}|(?<=year )\d{{3}}|(?<=in )\d{{3}}){end}"
    return re.compile(rf"(?<![\w.#/:-])(?:{'|'.join([*suffixed, *spans, *before, plain, single])})")


@lru_cache(maxsize=1)
def _words() -> _Words:
    return _Words()
