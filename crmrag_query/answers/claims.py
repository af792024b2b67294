"""What a sentence claims that can be looked up: names, numbers, dates and addresses."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from crmrag_query.dates import Interval, parse_date, words, year_interval
from crmrag_query.dates.calendar import civil
from crmrag_query.retrieval.tokenizer import fold, tokenize

# Repetitions are bounded, so that no text makes the search quadratic; longer addresses are found by their last parts.
ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]{0,30}://[^\s\])>]+|www\.[^\s\])>]+|[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+|"
    r"\b[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.(?:com|org|net|edu|gov|io|info|eu|de|fr|gr|cy|uk|ru|cn|xyz|app|dev|co)\b(?:/[^\s\])>]*)?",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*\.?")
_NUMBER = re.compile(
    r"(?<![\w.,])[-−]?(?:\d{1,3}(?:[.,\u00a0\u202f'’ ]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?)(?!\d)"
)
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,\u00a0\u202f'’ ]\d{3})+")
_BREAK = re.compile(r"[,;:|()\[\]/\n–—\"“”«»„]")
_NEAR = 6  # words that a date has at most
_MONTHS = frozenset(words.MONTH)
_CENTURY = re.compile(words.CENTURY)
_COUNT = re.compile(r"\d|^[ivx]+(?:e|eme|er)?$")
# Before a date these words tell where something comes from; "from 1105" is not "since 1105".
_FROM = frozenset(("from", "by", "de", "du", "von", "vom", "ab", "aus", "απο"))


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of one sentence.

    ``names``: each a name as it stands there; ``numbers``: (as it stands there, normalised); ``dates``: (as it stands there,
    interval); ``addresses``: of pages and mailboxes.
    """

    names: tuple[str, ...] = ()
    numbers: tuple[tuple[str, str], ...] = ()
    dates: tuple[tuple[str, Interval], ...] = ()
    addresses: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.names or self.numbers or self.dates or self.addresses)


@dataclass(frozen=True)
class Known:
    """What decides whether a capitalised word is a name.

    ``common``: folded words that begin sentences and name nothing; ``joints``: small words within a name; ``names``: folded
    words that stand with a capital within the lines of the sources; ``numbers``: words that are numbers;
    ``noun_capitals``: in the answer's language every noun has a capital, so that a single word is a name only where the
    sources have it.
    """

    common: frozenset[str] = frozenset()
    joints: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    numbers: dict[str, int] = field(default_factory=dict)
    noun_capitals: bool = False


def claims_of(sentence: str, known: Known) -> Claims:
    """The claims of a sentence or list item without its citations; what one claim takes is not taken by another."""
    rest = sentence
    addresses = tuple(found[0].rstrip(".,;:!?)") for found in ADDRESS.finditer(rest))
    rest = ADDRESS.sub(lambda found: " " * len(found[0]), rest)
    dates = tuple(_dates(rest))
    for start, end, _, _ in dates:
        rest = rest[:start] + "|" * (end - start) + rest[end:]
    numbers = [(found[0].strip(), number_of(found[0])) for found in _NUMBER.finditer(rest)]
    said = ((word[0], known.numbers.get(fold(word[0]))) for word in _WORD.finditer(rest))
    numbers += [(text, str(value)) for text, value in said if value is not None]
    return Claims(
        tuple(dict.fromkeys(_names(rest, known))),
        tuple(dict.fromkeys(numbers)),
        tuple((text, interval) for _, _, text, interval in dates),
        addresses,
    )


def number_of(text: str) -> str:
    """A number in one spelling: ``1,234``, ``1.234`` and ``1 234`` are ``1234``; ``3,50`` is ``3.5``."""
    text = text.strip().replace("−", "-")
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    whole = _THOUSANDS.match(digits)
    if whole and (whole.end() == len(digits) or digits[whole.end()] in ".,"):
        tail = digits[whole.end() :]
        digits = re.sub(r"\D", "", whole[0]) + tail
    digits = digits.replace(",", ".")
    if "." in digits:
        left, right = digits.split(".", 1)
        digits = f"{left}.{right.rstrip('0')}".rstrip(".")
    return sign + (digits.lstrip("0") or "0" if digits.isdigit() else digits)


def numbers_in(text: str) -> set[str]:
    """All numbers of a line, normalised; of ``1105/06``, ``1986.12.3`` and ``21.5cm`` the parts too."""
    found = {number_of(one[0]) for one in _NUMBER.finditer(text)}
    return found | {part.lstrip("0") or "0" for part in re.findall(r"\d+", text)}


def _names(text: str, known: Known) -> Iterator[str]:
    """Names: runs of capitalised words, joined by small words, and words that only names are spelt like."""
    run: list[str] = []
    joints: list[str] = []
    unsure, end = False, 0
    for n, found in enumerate(_WORD.finditer(text)):
        word = found[0].rstrip(".'’-")
        if _BREAK.search(text, end, found.start()):
            yield from _name(run, unsure, known)
            run, joints = [], []
        end = found.end()
        if _is_capital(word) and not (n == 0 and fold(word) in known.common):
            unsure = n == 0 or (unsure and bool(run))
            run, joints = [*run, *joints, word], []
        elif run and word in known.joints and len(joints) < 2:
            joints.append(word)
        else:
            yield from _name(run, unsure, known)
            run, joints = [], []
            if _is_caseless(word) and fold(word) in known.names:
                yield word
    yield from _name(run, unsure, known)


def _name(run: list[str], unsure: bool, known: Known) -> Iterator[str]:
    """The name that a run of words makes, if it makes one; ``unsure``: the sentence begins with it."""
    capital = [word for word in run if _is_capital(word)]
    certain = [word for word in capital if _certain(word, known)]
    if len(capital) < 2:
        single = [word for word in capital if len(word) > 1 and fold(word) not in known.numbers]
        yield from certain or ([] if unsure or known.noun_capitals else single)
    elif known.noun_capitals and certain:
        yield " ".join(certain)
    else:
        yield " ".join(run)


def _certain(word: str, known: Known) -> bool:
    """Whether a capitalised word is a name wherever it stands: the sources have it, or it is spelt as no other word is."""
    folded = fold(word)
    if folded in known.common or folded in known.numbers:
        return False
    odd = (
        len(word) > 1
        and word != word.capitalize()
        and word.lower() != word
        and "'" not in word
        and "’" not in word
    )
    return odd or bool(known.names.intersection(tokenize(word)))


def _is_capital(word: str) -> bool:
    return word[:1].isupper() or word[:1].istitle()


def _is_caseless(word: str) -> bool:
    return unicodedata.category(word[0]) == "Lo"


def capitalised(line: str) -> Iterator[str]:
    """Folded words of a line that may be parts of names: with a capital, or of a script that has none."""
    for found in _WORD.finditer(line):
        if _is_capital(found[0]) or _is_caseless(found[0]):
            yield from tokenize(found[0])


def _dates(text: str) -> Iterator[tuple[int, int, str, Interval]]:
    """Dates of a text: (start, end, as it stands there, interval), the longest that can be read, none overlapping."""
    spans = [(found.start(), found.end()) for found in re.finditer(r"[^\s;|()\[\]]+", text)]
    at = 0
    while at < len(spans):
        found = _date_from(text, spans, at)
        if found is None:
            at += 1
            continue
        at, date = found
        yield date


def _date_from(
    text: str, spans: list[tuple[int, int]], at: int
) -> tuple[int, tuple[int, int, str, Interval]] | None:
    """The longest date that begins with word ``at``: (the word after it, date); None when none does."""
    for to in range(min(len(spans), at + _NEAR), at, -1):
        start, end = spans[at][0], spans[to - 1][1]
        said = text[start:end].rstrip(",.:!?").rstrip()
        if "|" in said or not _may_be_date(said):
            continue
        interval = as_date(said)
        if interval is not None and not (_is_open(interval) and words.fold(said).split()[0] in _FROM):
            return to, (start, start + len(said), said, interval)
    return None


def _is_open(interval: Interval) -> bool:
    return interval.begin is None or interval.end is None


def _may_be_date(text: str) -> bool:
    """Cheap: a number of three or four digits, or a number beside a month or a century."""
    if re.search(r"(?<!\d)\d{3,4}(?!\d)", text):
        return True
    folded = words.fold(text).replace("-", " ").split()
    dated = any(word.strip(".,") in _MONTHS or _CENTURY.fullmatch(word) for word in folded)
    return dated and any(_COUNT.search(word) for word in folded)


@lru_cache(maxsize=16384)
def as_date(text: str) -> Interval | None:
    """The interval of a date in words, exact ends only; a bare number of fewer than three digits is no date.

    Whole centuries are one whether they are counted from 00 or from 01: 1100–1199 is 1101–1200.
    """
    if re.fullmatch(r"\W*\d{1,2}\W*", text):
        return None
    found = parse_date(text)
    if found is None:
        return None
    if found.begin is not None and found.end is not None:
        (first, *begins), (last, *ends) = civil(found.begin), civil(found.end)
        if [*begins, *ends] == [1, 1, 12, 31] and first % 100 == 0 and last == first + 99:
            return year_interval(first + 1, last + 1)
    return Interval(found.begin, found.end)


def dates_in(line: str) -> set[Interval]:
    """All dates of a line."""
    return {interval for _, _, _, interval in _dates(line)}


def content_words(text: str, stop: Collection[str]) -> list[str]:
    """Folded words of a text that are no stop words, each once, in order; a number counts as one word."""
    return list(
        dict.fromkeys(
            word for word in tokenize(text) if word not in stop and (len(word) > 1 or word.isdigit())
        )
    )
