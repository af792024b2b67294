"""Is an answer supported? Every name, number and date of a sentence must stand in the lines that it cites. How good is it?

A text is split into sentences and list items, each with its citations; what a sentence claims (names, numbers, dates,
addresses) is looked up in the lines of the sources that it stands on.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import pairwise, takewhile
from typing import Any

from crmrag_query import dates
from crmrag_query.answers.records import Citation, Quality, Unsupported
from crmrag_query.config.loading import AnswerWords
from crmrag_query.dates import CENTURY, MONTH, Interval, civil, parse_date, year_interval
from crmrag_query.language import LANGUAGES, Language, language
from crmrag_query.questions.form import Form, Reading
from crmrag_query.reading.lexicon import LINKS, SHORTEST_PART, words_table
from crmrag_query.text import SHORTEST_STEM, fold, same_stem, tokenize

CALLED = ("materials", "motifs")
"""What of the table of names are things and no names."""
FEWEST = 4  # letters before an ending that makes a noun
MOST = 50_000  # words that are kept as found
LONGEST = 60  # letters of a word that is looked at for its parts


@dataclass(frozen=True)
class Ordinary:
    """Whether a word is an ordinary one of a language: it is known, or made of such in one of the ways of the language.

    ``known``: stems; ``endings``: folded, of nouns that are made of other words; ``small``: of diminutives.
    """

    own: Language
    known: frozenset[str]
    endings: tuple[str, ...]
    small: tuple[str, ...]
    _found: dict[str, bool] = field(default_factory=dict, repr=False, compare=False)

    def has(self, word: str, at_hand: Ground | None = None) -> bool:
        """``word``: folded; ``at_hand``: what has other words, which may be parts of a compound too."""

        def is_word(part: str) -> bool:
            return self._is_known(part) or (at_hand is not None and at_hand.has_word(part))

        if is_word(word) or self.own.raw.get("compounds") != "true" or len(word) > LONGEST:
            return is_word(word)
        starts = {0}  # where a part may begin: behind another, and behind what joins them
        for end in range(SHORTEST_PART, len(word) - SHORTEST_PART + 1):
            if any(end - start >= SHORTEST_PART and is_word(word[start:end]) for start in starts):
                starts.update(end + len(link) for link in ("", *LINKS) if word.startswith(link, end))
        return any(len(word) - start >= SHORTEST_PART and is_word(word[start:]) for start in starts)

    def _is_known(self, word: str) -> bool:
        if word not in self._found:
            if len(self._found) > MOST:
                self._found.clear()
            forms = {self.own.stem(word), *self.own.other_stems(word)}
            forms |= {self.own.stem(word.removesuffix(one)) for one in self.small if word.endswith(one)}
            made = any(word.endswith(one) and len(word) - len(one) >= FEWEST for one in self.endings)
            self._found[word] = made or not self.known.isdisjoint(forms)
        return self._found[word]


@lru_cache(maxsize=len(LANGUAGES))
def ordinary(code: str) -> Ordinary | None:
    """The ordinary words of a language in which whole questions are read; None for another."""
    if code not in LANGUAGES:
        return None
    own, names, table = language(code), words_table("names"), words_table("nouns")
    at = names["languages"].index(code)
    texts = _texts(
        [
            table["nouns"].get(code, []),
            own.raw,
            words_table(code),
            [kind["words"].get(code, []) for kind in words_table("kinds")["kinds"].values()],
            [
                row.split("|")[at]
                for section in CALLED
                for row in names[section].values()
                if row.count("|") >= at
            ],
        ]
    )
    return Ordinary(
        own,
        own.all_stems(texts),
        tuple(map(fold, table["endings"].get(code, ()))),
        tuple(map(fold, table["diminutives"].get(code, ()))),
    )


def _texts(value: Any) -> Iterator[str]:
    """All texts of a table; not the names of its parts."""
    if isinstance(value, str):
        yield value
    else:
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


_CITABLE = r"(?:\d{1,3}|set)(?:\s*[,;–-]\s*(?:\d{1,3}|set))*"
CITATION = re.compile(rf"\[\s*(?:sources?\s*)?({_CITABLE})\s*\]", re.IGNORECASE)
SET = "[set]"  # how the set is cited that an answer is about
LONGEST_WORD = 60  # characters before a full stop that tell what it ends
RANGE = 20  # numbers that "[1–20]" may stand for at most
_CITED = rf"(?:[ \t]*\[\s*(?:[Ss]ources?\s*)?{_CITABLE}\s*\])*"
# What may end a sentence: the signs, what closes with it, its citations, and then a blank or the end.
_END = re.compile(
    rf"(?P<sign>[.!?…;\u037e·]+|[。！？]+)(?P<close>[\"'”»’)\]]*){_CITED}(?=\s|$|(?<=[。！？]))"
)
_ITEM = re.compile(r"\s*(?:[-*•–+]|\d{1,3}[.)])\s+(?=\S)")
_WORD_BEFORE = re.compile(r"[^\s(\[\"'“«„]+$")
_WORD_AFTER = re.compile(r"\s*[\"'“«„(]*([^\s]+)")


# A word before a point and a number, as in "Drag. 33": what the data's own lines write so ends no sentence.
_SHORT = re.compile(r"(?<!\w)([^\W\d_]{1,6})\. (?=\d)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence or a list item of a text: ``text[start:end]``, blanks after it included; ``first`` is where its words
    begin, ``last`` before which they end. ``item``: it is an item of a list, or a further sentence of one."""

    start: int
    end: int
    first: int
    last: int
    item: bool = False


def split_sentences(text: str, abbreviations: Collection[str] = ()) -> list[Piece]:
    """Sentences and list items in order; together they cover the text (unless it is blank), and none overlaps.

    ``abbreviations``: folded words that end with a point within a sentence, without that point. A Greek ``;`` ends a
    question; a point after a number before a month, a century or a small letter ends nothing.
    """
    pieces: list[Piece] = []
    start = after = 0  # of the next piece: blanks that stand before it at the text's beginning are part of it
    for line in text.splitlines(keepends=True):
        begun, after = after, after + len(line)
        marker = _ITEM.match(text, begun, after)
        ends = _ends(text, marker.end() if marker else begun, after, abbreviations)
        for first, last in pairwise([begun, *ends, after]):
            inner = text[first:last]
            if inner.strip():
                words_at = first + len(inner) - len(inner.lstrip())
                pieces.append(Piece(start, last, words_at, first + len(inner.rstrip()), marker is not None))
                start = last
            elif pieces:  # blanks belong to the piece before
                pieces[-1] = replace(pieces[-1], end=last)
                start = last
    return pieces


def _ends(text: str, start: int, end: int, abbreviations: Collection[str]) -> Iterator[int]:
    """Where sentences end within a line, after the blanks that follow them."""
    for found in _END.finditer(text, start, end):
        if _ends_here(text, found, start, end, abbreviations):
            after = end - len(text[found.end() : end].lstrip())
            if after < end:
                yield after


def _ends_here(text: str, found: re.Match[str], start: int, end: int, abbreviations: Collection[str]) -> bool:
    sign, at = found["sign"], found.start("sign")
    before = _WORD_BEFORE.search(text, max(start, at - LONGEST_WORD), at)
    follows = _WORD_AFTER.match(text, found.end(), end)
    word, after = before[0] if before else "", follows[1] if follows else ""
    if set(sign) <= {";", "\u037e", "·"}:
        is_greek = any("\u0370" <= letter <= "\u03ff" or "\u1f00" <= letter <= "\u1fff" for letter in word)
        return is_greek and sign != "·" and not after[:1].islower()
    if sign != ".":
        return not after[:1].islower()
    if after[:1].islower() and found.end() == found.end("close"):
        return False
    if _is_abbreviation(word, abbreviations) or (len(word) <= 2 and word.isalpha() and after[:1].isdigit()):
        return False  # "no. 12" too
    if not word.isdigit() or len(word) > 2:
        return True
    unit = fold(after).rstrip(".,;:)")
    return not (unit in MONTH or re.fullmatch(CENTURY, unit))  # "12. May", "12. Jahrhundert"


def _is_abbreviation(word: str, abbreviations: Collection[str]) -> bool:
    """An initial ("J."), or one of the abbreviations; a joined one ("d.Ä.") by its whole or its last part."""
    letters = word.lstrip("([\"'“«„-")
    if len(letters) == 1 and letters.isalpha() and letters.isupper():
        return True
    known = fold(letters)
    return known in abbreviations or known.rsplit(".", 1)[-1] in abbreviations if known else False


def cited_numbers(text: str) -> tuple[int, ...]:
    """The numbers that the citations in a text give, each once, in order: ``[2, 3]`` and ``[2–3]`` are both 2 and 3."""
    return tuple(dict.fromkeys(n for found in CITATION.finditer(text) for n in numbers_of(found[1])))


def numbers_of(inside: str) -> list[int]:
    """The numbers of one citation's inside; a range backwards or of more than ``RANGE`` numbers gives its ends. The set has
    none."""
    numbers: list[int] = []
    for part in re.split(r"\s*[,;]\s*", inside):
        ends = [int(end) for end in re.split(r"\s*[–-]\s*", part) if end.isdecimal()]
        if len(ends) == 2 and ends[0] < ends[1] < ends[0] + RANGE:
            numbers += range(ends[0], ends[1] + 1)
        else:
            numbers += ends
    return numbers


def without_citations(text: str) -> str:
    """The text with each citation as one blank."""
    return CITATION.sub(" ", text)


# What may yet become a citation when more comes, the blanks before it included (they go with one that leads nowhere).
_OPEN = re.compile(r"\s*(?:\[[\s\w,;–-]{0,60})?$")


@dataclass
class Renumberer:
    """Takes a text piece by piece and gives it back with each citation as ``number`` has it, never half of one.

    ``number``: the number in the answer of a number that the model gave, None for no source; ``dropped`` counts these;
    ``has_set``: there is a set to be cited.
    Blanks before the text and after it are left out.
    """

    number: Callable[[int], int | None]
    has_set: bool = False
    dropped: int = 0
    _held: str = ""
    _begun: bool = False

    def feed(self, piece: str) -> Iterator[str]:
        """What can be given by now."""
        self._held += piece
        open_at = _OPEN.search(self._held)
        assert open_at is not None  # the expression matches an empty end
        ready, self._held = self._held[: open_at.start()], self._held[open_at.start() :]
        yield from self._give(ready)

    def end(self) -> Iterator[str]:
        """The rest."""
        yield from self._give(self._held.rstrip())

    def _give(self, ready: str) -> Iterator[str]:
        ready = ready if self._begun else ready.lstrip()
        self._begun = self._begun or bool(ready)
        if text := re.sub(rf"(\s*){CITATION.pattern}", self._renumbered, ready, flags=re.IGNORECASE):
            yield text

    def _renumbered(self, found: re.Match[str]) -> str:
        given = [self.number(n) for n in numbers_of(found[2])]
        kept = list(dict.fromkeys(n for n in given if n is not None))
        asks_set = "set" in found[2].lower()
        self.dropped += len(given) - sum(n is not None for n in given) + (asks_set and not self.has_set)
        of_set = SET if self.has_set and asks_set else ""
        return found[1] + of_set + "".join(f"[{n}]" for n in kept) if kept or of_set else ""


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
    """What decides whether a capitalised word is a name, in the language of the answer.

    ``common``: folded words that begin sentences and name nothing; ``joints``: small words within a name; ``names``: folded
    words that stand with a capital within the lines of the sources; ``numbers``: words that are numbers;
    ``noun_capitals``: in the answer's language every noun has a capital, so that a word is a name only where the sources
    have it or where it is no ``ordinary`` one; ``plain``: the words that the sources and the question have without a capital,
    which name nothing at the beginning of a sentence; ``ordinary``: whether a folded word is one that names nothing, by
    itself or also by what is at hand.
    """

    common: frozenset[str] = frozenset()
    joints: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    numbers: dict[str, int] = field(default_factory=dict)
    noun_capitals: bool = False
    plain: Ground | None = None
    ordinary: Callable[[str, bool], bool] | None = None


def claims_of(sentence: str, known: Known, item: bool = False) -> Claims:
    """The claims of a sentence or list item without its citations; what one claim takes is not taken by another.

    An ``item`` begins with a name, where its first word is no word of the sources.
    """
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
        tuple(dict.fromkeys(_names(rest, known, item))),
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


def _names(text: str, known: Known, item: bool = False) -> Iterator[str]:
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
        plain = (n == 0 or known.noun_capitals) and (
            fold(word) in known.common or fold(word) in known.numbers
        )
        if _is_capital(word) and not plain:
            begins = n == 0 and _may_be_plain(word, text[end : end + 1], known, not item)
            unsure = begins or (unsure and bool(run)) or (known.noun_capitals and known.ordinary is None)
            run, joints = [*run, *joints, word], []
        elif run and word in known.joints and len(joints) < 2:
            joints.append(word)
        else:
            yield from _name(run, unsure, known)
            run, joints = [], []
            if _is_caseless(word) and fold(word) in known.names:
                yield word
    yield from _name(run, unsure, known)


def _may_be_plain(word: str, after: str, known: Known, opens: bool) -> bool:
    """Whether the first word of a sentence (``opens``) or item may be no name: every such word has a capital.

    An adverb that opens a sentence has a comma after it. Where every noun has a capital, so have those that open a sentence.
    """
    if known.plain is None or len(word) < SHORTEST_STEM or (opens and (after == "," or known.noun_capitals)):
        return True
    elided = re.fullmatch(r"[^\W\d_]{1,2}['’](\w+)", word)  # of "L'église" the noun
    if elided and elided[1][:1].islower():
        return True
    return known.plain.has_word(fold(word)) or (
        known.ordinary is not None and known.ordinary(fold(word), False)
    )


def _name(run: list[str], unsure: bool, known: Known) -> Iterator[str]:
    """The name that a run of words makes, if it makes one; ``unsure``: its first word may be none where it stands."""
    capital = [word for word in run if _is_capital(word)]
    certain = [word for word in capital if _is_name(word, known)]
    if known.noun_capitals and known.ordinary is not None:
        opener = capital[:1] if unsure else []
        strange = {word: name for word in capital if word not in opener and (name := _strange(word, known))}
        found = [strange.get(word, word) for word in capital if word in strange or word in certain]
        if len(capital) > 1 and any(len(word) > 2 for word in found):
            yield " ".join(found)
        else:
            yield from (word for word in found if word in strange or not known.ordinary(fold(word), False))
    elif len(capital) < 2:
        single = [word for word in capital if len(word) > 1 and fold(word) not in known.numbers]
        if not (
            unsure and known.ordinary is not None and all(known.ordinary(fold(one), False) for one in capital)
        ):
            yield from certain or ([] if unsure else single)
    else:
        telling = any(len(word) > 2 for word in certain)  # "II" is a part of any king's name
        yield " ".join(certain if known.noun_capitals and telling else run)


def _strange(word: str, known: Known) -> str:
    """What of a word that nothing has is no ordinary noun: "Lorbach" of "Lorbach-Fund"."""
    assert known.ordinary is not None
    return "-".join(
        part
        for part in word.split("-")
        if len(part) > 1 and fold(part) not in known.numbers and not known.ordinary(fold(part), True)
    )


def _is_name(word: str, known: Known) -> bool:
    """Whether a capitalised word is a name wherever it stands: the sources have it, or it is spelt as no other word is."""
    folded = fold(word)
    if folded in known.common or folded in known.numbers:
        return False
    mixed = len(word) > 1 and word not in (word.capitalize(), word.lower()) and not {"'", "’"} & set(word)
    return mixed or not known.names.isdisjoint(tokenize(word))


def _is_capital(word: str) -> bool:
    return word[:1].isupper() or word[:1].istitle()


def _is_caseless(word: str) -> bool:
    return unicodedata.category(word[0]) == "Lo"


def _small(line: str) -> str:
    """A line without its words that have a capital."""
    return _WORD.sub(lambda found: " " if _is_capital(found[0]) else found[0], line)


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
        start, after = spans[at][0], at + 1
        for to in range(min(len(spans), at + _NEAR), at, -1):
            said = text[start : spans[to - 1][1]].rstrip(",.:!?) ")
            if "|" in said or not _may_be_date(said):
                continue
            interval = as_date(said)
            if interval is None:
                continue
            is_open = interval.begin is None or interval.end is None
            if not (is_open and dates.fold(said).split()[0] in _FROM):
                yield start, start + len(said), said, interval
                after = to
                break
        at = after


def _may_be_date(text: str) -> bool:
    """Cheap: a number of three or four digits, or a number beside a month or a century."""
    if re.search(r"(?<!\d)\d{3,4}(?!\d)", text):
        return True
    said = [_month_and_count(word) for word in text.split()]
    return any(month for month, _ in said) and any(count for _, count in said)


@lru_cache(maxsize=16384)
def _month_and_count(word: str) -> tuple[bool, bool]:
    """Whether a word has a month or a century, and whether it has a number."""
    parts = dates.fold(word).replace("-", " ").split()
    dated = any(part.strip(".,") in MONTH or re.fullmatch(CENTURY, part) for part in parts)
    return dated, any(_COUNT.search(part) for part in parts)


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


def content_words(text: str, stop: Collection[str]) -> list[str]:
    """Folded words of a text that are no stop words, each once, in order; a number counts as one word."""
    return list(
        dict.fromkeys(
            word for word in tokenize(text) if word not in stop and (len(word) > 1 or word.isdigit())
        )
    )


UNCITED, MISSING, UNRELATED, PLANTED = "uncited", "missing", "unrelated", "planted"
_MARKER = re.compile(r"\A\s*(?:[-*•–+]|\d{1,3}[.)])\s+")


@dataclass(frozen=True, slots=True)
class Attributed:
    """A sentence or list item, ``text[start:end]``, that does not cite the source which bears it out: ``n`` among those that
    were at hand."""

    start: int
    end: int
    n: int


@dataclass(frozen=True, slots=True)
class Support:
    """What the check of an answer found; see the records. ``attributed``: what stands in sources that it does not cite."""

    citations: tuple[Citation, ...]
    unsupported: tuple[Unsupported, ...]
    refused: bool
    quality: Quality
    attributed: tuple[Attributed, ...] = ()


SHORT_NAME = 6
"""Letters: with an ending of two or three more a short name is another, as Pellan is beside Pell."""


@dataclass(frozen=True)
class Ground:
    """The lines of one source, or of all, as what claims are looked up in; ``titles``: words that a name may have or lack."""

    lines: Sequence[str]
    titles: frozenset[str] = frozenset()

    @cached_property
    def text(self) -> str:
        return "\n".join(self.lines).casefold()

    @cached_property
    def words(self) -> dict[str, set[str]]:
        """Folded words by their first letters."""
        found: dict[str, set[str]] = {}
        for line in self.lines:
            for word in tokenize(line):
                found.setdefault(word[:SHORTEST_STEM], set()).add(word)
        return found

    @cached_property
    def numbers(self) -> set[str]:
        return {number for line in self.lines for number in numbers_in(line)}

    @cached_property
    def dates(self) -> set[Interval]:
        return {interval for line in self.lines for _, _, _, interval in _dates(line)}

    def has_word(self, word: str, ending: int = 3) -> bool:
        """Whether a folded word, or a form of it with an ``ending`` of so many letters more or less, stands here."""
        near = self.words.get(word[:SHORTEST_STEM], ())
        return word in near or any(
            same_stem(other, word) and abs(len(other) - len(word)) <= ending for other in near
        )

    def has_name(self, name: str) -> bool:
        parts = [part for part in tokenize(name) if part not in self.titles]
        long = [part for part in parts if len(part) > 2] or parts
        return all(self.has_word(part, 1 if len(part) <= SHORT_NAME else 3) for part in long)

    def has_date(self, said: str, date: Interval) -> bool:
        """The same interval, a century or decade that a date here lies in which is known better, or a date in figures alone
        each of which stands here."""
        figures = re.findall(r"\d+", said)
        in_figures = not any(word.strip(".,") in MONTH for word in dates.fold(said).split())
        years = bool(figures) and all(len(figure) > 2 for figure in figures)
        if (in_figures and years and self.numbers.issuperset(figures)) or date in self.dates:
            return True
        return _is_round(said, date) and any(_lies_in(one, date) for one in self.dates)


def _is_round(said: str, date: Interval) -> bool:
    """Whether a date is a period that years are rounded to: a century in words, or a decade."""
    if date.begin is None or date.end is None:
        return False
    if any(re.fullmatch(CENTURY, word.strip(".,")) for word in dates.fold(said).replace("-", " ").split()):
        return True
    return civil(date.begin)[0] % 10 == 0 and civil(date.end)[0] - civil(date.begin)[0] == 9


def _lies_in(one: Interval, period: Interval) -> bool:
    """Whether a date that is known to less than half of a period lies within it."""
    if one.begin is None or one.end is None or period.begin is None or period.end is None:
        return False
    within = period.begin <= one.begin and one.end <= period.end
    return within and 2 * (one.end - one.begin + 1) < period.end - period.begin


# of a line: of its group, its rank, its first value
_LAST_NUMBER = re.compile(r"(?:: |– )(\d+(?:\.\d+)?)(?=$|;)")
MOSTLY = 0.5  # of the words of a name of three and more: "Institute for Archaeology" is that of a university
_OF_KIND = 3  # words after a number among which is what it counts


@dataclass(frozen=True)
class SetLines:
    """What may be said of a set without a source: ``whole``, lines about all of it; ``each``, (name, line) of each member,
    group, rank or row that is told; ``size``: of the set."""

    whole: Sequence[str]
    each: Sequence[tuple[str, str]]
    size: int = 0

    @cached_property
    def names(self) -> list[tuple[str, str, str]]:
        """(name in small letters, name, line), longest names first."""
        found = [(" ".join(tokenize(name)), name, line) for name, line in self.each]
        return sorted((one for one in found if one[0]), key=lambda one: -len(one[0]))

    def named(self, said: str) -> list[str]:
        """The lines of those that a text names, by their whole name or by `MOSTLY` of its words. What stands within
        a longer name of the set is not named by it."""
        spoken = tokenize(said)
        rest, words, found = f" {' '.join(spoken)} ", set(spoken), list[str]()
        taken: set[str] = set()
        for folded, _, line in self.names:
            if folded in taken or f" {folded} " in rest:
                rest = rest.replace(f" {folded} ", " | ") if folded not in taken else rest
                taken.add(folded)
                found.append(line)
            else:
                long = [word for word in folded.split() if len(word) > 2]
                held = sum(any(word == one or same_stem(word, one) for one in words) for word in long)
                if held and (held == len(long) or (len(long) > 2 and held >= MOSTLY * len(long))):
                    found.append(line)
        return found

    def counts(self, said: str, listed: Sequence[int]) -> set[str]:
        """Numbers that a text may tell of the set that stand in no line: how many it names, how many of the set a list of so
        many items leaves out, or has beyond it, and the sum of the numbers of those that are named."""
        lines = self.named(said)
        names = len({name for _, name, line in self.names if line in lines})
        found = {len(lines), names, *(abs(self.size - one) for one in (*listed, len(lines)))}
        last = [match[1] for match in map(_LAST_NUMBER.search, lines) if match]
        sums = {number_of(f"{sum(map(float, last)):.10g}")} if len(lines) == len(last) > 1 else set()
        return {str(one) for one in found if one > 1} | sums

    def of_kind(self, number: str, word: str) -> bool:
        """Whether so many lines have the word, or a form of it."""
        if not number.isdecimal() or not 1 < int(number) <= len(self.each):
            return False
        return sum(any(same_stem(word, one) for one in tokenize(line)) for _, line in self.each) == int(
            number
        )

    def ground(self, said: str, titles: frozenset[str], only_named: bool = False) -> Ground:
        """What a text that speaks of the set rests on: of members that it names their own lines, else those of all unless
        ``only_named``."""
        lines = self.named(said) or ([] if only_named else [line for _, line in self.each])
        return Ground([*self.whole, *lines], titles)

    def without(self, lines: Collection[str]) -> SetLines:
        return SetLines(
            [line for line in self.whole if line not in lines],
            [(name, line) for name, line in self.each if line not in lines],
            self.size,
        )

    @property
    def lines(self) -> list[str]:
        return [*self.whole, *(line for _, line in self.each)]


SPECIFIC_SENTENCES = 4
"""A specific answer of more is not of the form that was asked for; so the prompt says too."""
WEIGHTS = Quality(1.0, grounded=0.4, coverage=0.3, citations=0.2, form=0.1)
"""Of the parts of an answer's quality, as published."""


def lists_of(text: str, pieces: Sequence[Piece]) -> dict[int, list[int]]:
    """The items of each list by its head, as indices of pieces."""
    found = {}
    for head, piece in enumerate(pieces):
        if not piece.item and without_citations(text[piece.first : piece.last]).rstrip().endswith(":"):
            items = list(takewhile(lambda i: pieces[i].item, range(head + 1, len(pieces))))
            if items:
                found[head] = items
    return found


def listed_in(text: str, pieces: Sequence[Piece]) -> dict[int, int]:
    """How many items each list has, by its head: further sentences of an item are none."""
    return {
        head: sum(bool(_MARKER.match(text[pieces[i].first : pieces[i].last])) for i in items)
        for head, items in lists_of(text, pieces).items()
    }


@dataclass(frozen=True)
class _Check:
    """One answer being checked: its pieces, what the numbers of each cite, the lines of each source; ``near``: of sources
    that were at hand and are not cited, what each tells of one thing."""

    text: str
    pieces: Sequence[Piece]
    grounds: Mapping[int, Ground]
    near: Mapping[int, Sequence[Ground]]
    known: Known
    reading: Reading
    refusals: tuple[re.Pattern[str], ...]
    talk: tuple[re.Pattern[str], ...]
    titles: frozenset[str]
    counts: SetLines
    planted: Ground
    of_set: SetLines | None

    def plain(self, piece: Piece) -> str:
        """The words of a piece without list mark and citations."""
        return without_citations(_MARKER.sub("", self.text[piece.first : piece.last]))

    def numbers(self, piece: Piece) -> tuple[int, ...]:
        return cited_numbers(self.text[piece.first : piece.last])

    def cites_set(self, piece: Piece) -> bool:
        return self.of_set is not None and SET in self.text[piece.first : piece.last]

    def refuses(self, piece: Piece) -> bool:
        """Whether a piece says honestly that the data does not say; it may name what the question names, and nothing else."""
        folded = fold(self.plain(piece))
        return any(pattern.search(folded) for pattern in self.refusals)

    def is_talk(self, plain: str, claims: Claims) -> bool:
        """Whether a text speaks to the reader and tells nothing: "Let me know if you need more"."""
        if claims.numbers or claims.dates or claims.addresses:
            return False
        found = [match[0] for pattern in self.talk if (match := pattern.search(fold(plain)))]
        return any(all(fold(name) in words for name in claims.names) for words in found)

    @cached_property
    def lists(self) -> Mapping[int, Sequence[int]]:
        return lists_of(self.text, self.pieces)

    def cited(self) -> list[tuple[int, ...]]:
        """What each piece stands on: its own citations, else those of its list's head or of its head's items."""
        stands = [tuple(n for n in self.numbers(piece) if n in self.grounds) for piece in self.pieces]
        for head, items in self.lists.items():
            of_items = tuple(dict.fromkeys(n for i in items for n in stands[i]))
            for i in items:
                stands[i] = stands[i] or stands[head]
            stands[head] = stands[head] or of_items
        return stands

    @cached_property
    def listed(self) -> Mapping[int, int]:
        return listed_in(self.text, self.pieces)

    def own_numbers(self, i: int, plain: str) -> set[str]:
        """Numbers that a piece may state of the answer itself: how many items its list has, or the lists above and below it,
        how many sources it cites; and of the set."""
        listed = (
            [self.listed[i]] if i in self.listed else [] if self.pieces[i].item else [*self.listed.values()]
        )
        cites = len(self.numbers(self.pieces[i]))
        found = {str(count) for count in (*listed, cites) if count > 1}
        if self.of_set is not None:
            said = " ".join([plain, *(self.plain(self.pieces[at]) for at in self.lists.get(i, ()))])
            found |= self.of_set.counts(said, listed)
            spoken = tokenize(plain)
            for at, word in enumerate(spoken):
                number = str(self.known.numbers.get(word, word))
                after = [one for one in spoken[at + 1 : at + 1 + _OF_KIND] if len(one) > 2]
                if any(self.of_set.of_kind(number, one) for one in after):
                    found.add(number)
        return found

    def free(self, plain: str) -> list[Ground]:
        """What a piece may rest on without a citation: what it names of the set, and of the counts of all there is."""
        of_counts = self.counts.ground(plain, self.titles, only_named=True)
        if self.of_set is None:
            return [of_counts]
        return [self.of_set.ground(plain, self.titles), of_counts, self.member_names]

    @cached_property
    def member_names(self) -> Ground:
        """Names of all members: beside one that a piece names it may name others in few words. No number of theirs counts."""
        names = [name for name, _ in self.of_set.each] if self.of_set is not None else []
        return Ground([re.sub(r"\d+", " ", name) for name in names], self.titles)


def check_support(
    text: str,
    lines: Mapping[int, Sequence[str]],
    reading: Reading,
    words: AnswerWords,
    dropped: int = 0,
    counts: SetLines | None = None,
    of_set: SetLines | None = None,
    near: Mapping[int, Sequence[Sequence[str]]] | None = None,
) -> Support:
    """Check an answer's text against ``lines``: of each source, by its number in the text, those that were at hand.

    ``dropped``: citations that led to no source and were taken out; ``counts``: what may be said of all there is;
    ``of_set``: what may be said of the exact set; ``near``: of sources that were at hand and are not cited, by a number of
    their own, the lines about each thing that they tell of. A list's head that cites nothing stands on what its items cite,
    an item that cites nothing on its head, a sentence on those that the sentence before it cites; what names something and is
    told whole of one thing in another source is attributed to that. What stands only in a line that speaks to a language
    model (``planted``) supports nothing. Pure; cost grows with the text and the lines.
    """
    near, counts = near or {}, counts or SetLines((), ())
    in_sets = [*counts.lines, *(of_set.lines if of_set is not None else ())]
    beside = (held for told in near.values() for held in told)
    every = [line for held in (*lines.values(), *beside, in_sets) for line in held]
    abbreviations = {fold(word) for line in every for word in _SHORT.findall(line)}
    pieces = split_sentences(text, abbreviations.union(map(dates.fold, words.abbreviations)))
    titles = frozenset(map(fold, (*words.titles, *words.joints)))
    spoken = [re.compile(pattern) for pattern in words.planted]
    planted = {line for line in every if any(one.search(fold(line)) for one in spoken)}
    common = _common(reading, words)
    named = {word for line in every for word in capitalised(line)}

    def ground(held: Sequence[str]) -> Ground:
        return Ground([line for line in held if line not in planted], titles)

    check = _Check(
        text,
        pieces,
        {n: ground(held) for n, held in lines.items()},
        {n: [*map(ground, told)] for n, told in near.items()},
        Known(
            common,
            frozenset(words.joints),
            frozenset(named - common),
            {fold(word): value for word, value in words.numbers.items()},
            reading.language in words.noun_capitals,
            Ground(
                [
                    *(every if reading.language in words.noun_capitals else map(_small, every)),
                    reading.question,
                ]
            ),
            _ordinary(reading, common, every),
        ),
        reading,
        tuple(re.compile(pattern) for patterns in words.refusals.values() for pattern in patterns),
        tuple(re.compile(pattern) for patterns in words.talk.values() for pattern in patterns),
        titles,
        counts.without(planted),
        Ground(sorted(planted)),
        None if of_set is None else of_set.without(planted),
    )
    unsupported: list[Unsupported] = []
    attributed: list[Attributed] = []
    before: Sequence[Sequence[Ground]] = ()
    for i, (piece, cited) in enumerate(zip(pieces, check.cited(), strict=True)):
        found = _judged(check, i, piece, cited, before)
        if cited or piece.item:
            before = [[check.grounds[n] for n in cited]]
        if isinstance(found, Unsupported):
            unsupported.append(found)
        elif isinstance(found, Attributed):
            attributed.append(found)
            before = [[one] for one in check.near[found.n]]
    refused = bool(pieces) and check.refuses(pieces[0]) and not unsupported
    citations = tuple(
        Citation(piece.first, piece.last, numbers) for piece in pieces if (numbers := check.numbers(piece))
    )
    quality = _quality(check, refused, dropped)
    return Support(citations, tuple(unsupported), refused, quality, tuple(attributed))


def told_words(text: str, reading: Reading, words: AnswerWords) -> list[str]:
    """The folded content words of a text in the question's language."""
    return content_words(text, _common(reading, words))


def _common(reading: Reading, words: AnswerWords) -> frozenset[str]:
    return frozenset(fold(word) for word in words.common) | reading.stop


def _ordinary(
    reading: Reading, common: Collection[str], lines: Sequence[str]
) -> Callable[[str, bool], bool] | None:
    """Whether a folded word is an ordinary one of the answer's language, or one that the sources or the question have where
    these count; None for a language without such words."""
    nouns = ordinary(reading.language)
    if nouns is None:
        return None
    said = Ground([*lines, reading.question])
    return lambda word, at_hand: word in common or nouns.has(word, said if at_hand else None)


def _judged(
    check: _Check, i: int, piece: Piece, cited: tuple[int, ...], before: Sequence[Sequence[Ground]]
) -> Unsupported | Attributed | None:
    """What a piece says that nothing it stands on states, or which source states it; None when it is supported.

    ``before``: what the sentence before it stands on, one of several.
    """
    plain = check.plain(piece)
    claims = claims_of(plain, check.known, piece.item)
    grounds = [check.grounds[n] for n in cited]
    free = check.free(plain)
    if check.refuses(piece):
        missing = _missing(claims, [*grounds, *free, Ground([check.reading.question])], ())
        return Unsupported(piece.first, piece.last, missing, MISSING) if missing else None
    if not any(char.isalnum() for char in plain):
        return None
    own = check.own_numbers(i, plain)
    stands = bool(cited) or check.cites_set(piece)
    if claims and not _missing(claims, [*grounds, *free], own):
        return None
    if check.is_talk(plain, claims):
        return None
    if claims and not stands and any(not _missing(claims, [*one, *free], own) for one in before or [()]):
        return None
    told = [] if i in check.lists or claims else content_words(plain, check.known.common)
    if not claims and stands:
        if not told or any(ground.has_word(word) for ground in (*grounds, *free) for word in told):
            return None
        followed = any(map(check.planted.has_word, told))
        return Unsupported(piece.first, piece.last, (), PLANTED if followed else UNRELATED)
    if told and all(check.of_set is not None and free[0].has_word(word) for word in told):
        return None
    for n, grounds_of in check.near.items() if not stands else ():
        if any(
            (told and all(map(one.has_word, told))) or _states(one, claims, free, own) for one in grounds_of
        ):
            return Attributed(piece.first, piece.last, n)
    if not stands:
        return Unsupported(piece.first, piece.last, _missing(claims, (), ()), UNCITED)
    followed = not _missing(claims, [check.planted], ())
    return Unsupported(
        piece.first, piece.last, _missing(claims, [*grounds, *free], own), PLANTED if followed else MISSING
    )


def _states(ground: Ground, claims: Claims, free: Sequence[Ground], own: Collection[str]) -> bool:
    """Whether what a source tells of one thing states what is named and claimed without a citation: all figures on one
    line."""
    figures = Claims(numbers=claims.numbers, dates=claims.dates)
    if not claims.names or _missing(replace(claims, numbers=(), dates=()), [ground, *free], ()):
        return False
    return not figures or any(
        not _missing(figures, [Ground([line]), *free], own)
        for line in ground.lines
        if any(map(str.isdigit, line))
    )


def _missing(claims: Claims, grounds: Sequence[Ground], counts: Collection[str]) -> tuple[str, ...]:
    """The claims that stand in no one of the grounds, as the sentence has them."""
    stands: list[tuple[str, bool]] = [
        *((name, any(ground.has_name(name) for ground in grounds)) for name in claims.names),
        *((text, n in counts or any(n in one.numbers for one in grounds)) for text, n in claims.numbers),
        *(
            (text, number_of(text) in counts or any(ground.has_date(text, date) for ground in grounds))
            for text, date in claims.dates  # three digits may be a year or a sum
        ),
        *((page, any(page.casefold() in ground.text for ground in grounds)) for page in claims.addresses),
    ]
    return tuple(dict.fromkeys(text for text, found in stands if not found))


def _quality(check: _Check, refused: bool, dropped: int) -> Quality:
    """The score of an answer and its parts, each 0..1; an honest "the data does not say" invents nothing and answers nothing.

    ``grounded``: share of its names and content words that stand in the context; ``coverage``: of the question's content
    words that stand in the answer; ``citations``: of those that lead to a source; ``form``: it has the form asked for.
    """
    if refused:
        return Quality(round(WEIGHTS.grounded + WEIGHTS.citations, 6), 1.0, 0.0, 1.0, 0.0)
    plain = without_citations(check.text)
    of_set = check.of_set.lines if check.of_set is not None else []
    grounds = [line for ground in check.grounds.values() for line in ground.lines]
    context = Ground([*grounds, *check.counts.lines, *of_set])
    answer = Ground([plain])
    numbers = [n for piece in check.pieces for n in check.numbers(piece)]
    grounded = _share(
        [
            context.has_word(word) or (word[:1].isdigit() and number_of(word) in context.numbers)
            for word in content_words(plain, check.known.common)
        ]
    )
    coverage = _share([answer.has_word(word) for word in check.reading.content])
    valid = _share([*(n in check.grounds for n in numbers), *[False] * dropped])
    form = float(_has_form(check))
    score = (
        WEIGHTS.grounded * grounded
        + WEIGHTS.coverage * coverage
        + WEIGHTS.citations * valid
        + WEIGHTS.form * form
    )
    return Quality(score, grounded, coverage, valid, form)


def _share(found: Sequence[bool]) -> float:
    return sum(found) / len(found) if found else 0.0


def _has_form(check: _Check) -> bool:
    """A specific answer is short, an enumeration a list or one sentence, an aggregation has a number."""
    if not check.pieces:
        return False
    if check.reading.form is Form.SPECIFIC:
        return len(check.pieces) <= SPECIFIC_SENTENCES
    if check.reading.form is Form.ENUMERATION:
        sentences = [piece for piece in check.pieces if not piece.item]
        return len(sentences) < len(check.pieces) or len(sentences) == 1
    if re.search(r"\d", without_citations(check.text)):
        return True
    return any(claims_of(check.plain(piece), check.known).numbers for piece in check.pieces)


@dataclass(frozen=True, slots=True)
class Written:
    """The end of a streamed answer: its whole text, what its check found, and what the reader should know.

    The text is that of the tokens together.
    """

    text: str
    support: Support
    notes: tuple[str, ...] = ()
