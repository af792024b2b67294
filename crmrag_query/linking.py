"""Entity linking: the entities of the data that a question names, and names for what was typed so far (``search``).

Words are compared folded, in Latin letters, and by a rough sound that spellings share; a misspelt one by what is left of it
when letters are deleted (SymSpell; Garbe 2012). A name is held as its *bag*: the set of its words, whatever their order
("Catlin, George" is "George Catlin"). A bag's content is its words that are no stop words, or all of them where there are no
others. The cost is bounded by the constants below, not by the data: bags come from a look-up of whole names by hash, and from
the postings of words that few enough names share; common words are looked for within these bags only.

Score of an entity, in (0, 1]:

- A whole name (all its words but stop words, side by side in any order): the weight of its words in the question, each
  times its likeness, as a share of the weight of all its words. So 1 for a name as it stands, a little less without its
  article, the likeness of the words (``alternatives``) when spelt otherwise. A bare number of up to four digits counts
  ``SHORT_NUMBER``.
- A part of a name: that share, times the share of the stretch's words that are the name's, times 1 / (1 + ln n), n being
  how many names the same stretch is as large a part of, or a larger one. A common or plain word names nothing by itself
  as a part, but a common one that is as good as a name of few things (``COMMON_LEAST``); and a plain one that
  stands beside no other word of the name weighs as little as a stop word: "paintings of Asinou" are not rather the
  "Conservation of the paintings of Asinou" than what else is called Asinou.
- All times 1 - PRIOR + PRIOR * connectedness (``NameIndex.prior``), which orders equal names.

The weight of a word is ln(1 + names / names that have it), a stop word's times ``STOP_WEIGHT``. Stretches are chosen by score
times weight found, the best first, none over another; so a long name wins over a shorter one within it.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field

from crmrag_query.artifacts.files import ReleaseFiles
from crmrag_query.artifacts.manifest import open_arrays, open_ipc, open_meta
from crmrag_query.config.loading import QuestionLexicon
from crmrag_query.config.reading import Record
from crmrag_query.errors import ReleaseError
from crmrag_query.language import READ, language
from crmrag_query.text import fold, tokenize

# The sizes and shares below have no published value: benchmarks/results were measured with them.
CHARACTERS, TOKENS = 4000, 200  # of a question that are looked at
LONGEST_NAME = 16  # words of a name that are looked up at once; a longer one is found by its rarer words
# words between two of a name's that are none of it; how far they may lie apart, stop words counted
GAP, REACH = (1, 4)
VARIANT = 0.9  # likeness of two spellings of a word (Phorbiotissa, Forviotissa; diamond, diamonds)
LIKE_LETTERS = 0.5  # share of letters that words of one sound must share
SIMILAR_WORDS = 12  # words taken for a misspelt one, at most
WORD_POSTINGS = 4000  # names are looked for by words that at most so many share …
QUESTION_POSTINGS = 40_000  # … and so many in all, the rarest words first
CANDIDATES = 2000  # names compared with the question
SUGGESTED_POSTINGS = 200_000  # names looked at for a completion
BEGUN = 0.6  # a word that is only begun, as a share of its weight as a whole one
# A word in more than this share of all names, and in more than so many, names nothing by itself as a part, unless it scores
# the last: "Asinou" where many things are "(Asinou)" and one "Asinou church".
COMMON_SHARE, COMMON_NAMES, COMMON_LEAST = 0.05, 3, 0.4
SHORT_NUMBER, DIGITS = 0.3, 4  # a number of up to four digits is rather a year or a count than a name
PRIOR = 0.05  # part of a score that is for being well connected
LEAST = 0.1  # lower scores are no links
KEEP = 0.5  # entities that reach this share of a mention's best are named with it
ENTITIES = 10  # for one mention that are told
HOMONYMS = 300  # entities of one name that are looked at
ROWS = 4  # names looked at for each entity of a mention: several may be one entity's
NAME_WORDS = 40  # words of one name that the index holds
STOP_WEIGHT = 0.1  # of a stop word in a name, against any other word as rare


class Spelling(Record):
    """Letters from which a word may be spelt otherwise or have one slip, and from which two; letters of a word by which
    others near it are looked up. The slips are usual (Lucene's fuzzy queries), the prefix is SymSpell's."""

    shortest: Annotated[int, Field(ge=3)] = 4
    two_slips: Annotated[int, Field(ge=5)] = 8
    prefix: Annotated[int, Field(ge=5, le=12)] = 7


SPELLING = Spelling()
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
# Spellings of one sound, as they vary between transliterations and European languages, in this order.
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


Hashes = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int32]
_FACTOR = 0x100000001B3  # of FNV-1a
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def mixed(values: Hashes) -> Hashes:
    """The values with their bits spread over all places (SplitMix64; Steele, Lea & Flood 2014)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def slips_allowed(word: str, spelling: Spelling) -> int:
    """Edits (insert, delete, replace, swap neighbours) by which another word may differ from this one: 0, 1 or 2."""
    if not is_spelt(word, spelling.shortest):
        return 0
    return 2 if len(word) >= spelling.two_slips else 1


def deletions(words: Sequence[str], spelling: Spelling) -> tuple[Hashes, Numbers]:
    """(upper 32 bits of a remainder's hash, position in ``words``) of all remainders, some repeated."""
    groups: dict[tuple[int, int], list[int]] = {}
    for number, word in enumerate(words):
        if allowed := slips_allowed(word, spelling):
            groups.setdefault((min(len(word), spelling.prefix), allowed), []).append(number)
    hashes, owners = [np.empty(0, np.uint64)], [np.empty(0, np.int32)]
    for (length, allowed), numbers in sorted(groups.items()):
        prefixes = np.array([words[n][:length] for n in numbers], f"U{length}")
        letters = prefixes.view(np.uint32).reshape(len(numbers), length).astype(np.uint64)
        for left in range(length - allowed, length + 1):
            for kept in combinations(range(length), left):
                hashes.append(_hash(letters[:, kept]))
                owners.append(np.array(numbers, np.int32))
    return np.concatenate(hashes), np.concatenate(owners)


def _hash(letters: npt.NDArray[np.uint64]) -> Hashes:
    found = np.full(len(letters), letters.shape[1], np.uint64)
    for column in letters.T:
        found = found * np.uint64(_FACTOR) + column
    return mixed(found) >> _HALF


def near_array(words: Sequence[str], spelling: Spelling) -> Hashes:
    """uint64, ascending: a remainder's hash in the upper 32 bits, the number of a word that has it in the lower."""
    hashes, owners = deletions(words, spelling)
    found = np.sort((hashes << _HALF) | owners.astype(np.uint64))  # `numpy.unique` hashes, which is slower
    first = np.ones(len(found), bool)
    first[1:] = found[1:] != found[:-1]
    distinct: Hashes = found[first]
    return distinct


@dataclass(frozen=True)
class NearWords:
    """Lookup in what ``near_array`` made."""

    entries: Hashes
    spelling: Spelling

    def candidates(self, word: str) -> Numbers:
        """Numbers of the words that share a remainder with ``word``, ascending; none for a word without slips."""
        hashes, _ = deletions([word], self.spelling)
        if not len(hashes):
            return np.empty(0, np.int32)
        wanted = np.unique(hashes) << _HALF
        low = np.searchsorted(self.entries, wanted, "left")
        high = np.searchsorted(self.entries, wanted | _LOW, "right")
        parts = [self.entries[a:b] for a, b in zip(low.tolist(), high.tolist(), strict=True) if b > a]
        if not parts:
            return np.empty(0, np.int32)
        return np.unique(np.concatenate(parts) & _LOW).astype(np.int32)


How = Literal["label", "alternative", "identifier", "partial", "similar"]


@dataclass(frozen=True, slots=True)
class LinkedEntity:
    """An entity that a mention may mean: its node, a score (0..1], the name that matched and how it did.

    ``label``: its whole name; ``alternative``: another whole name of it; ``identifier``; ``partial``: a part of a name;
    ``similar``: a name spelt a little differently.
    """

    entity: int
    score: float
    name: str
    how: How


@dataclass(frozen=True, slots=True)
class Mention:
    """A stretch of a question that names something: its tokens ``first`` to before ``last``, and what it may mean.

    ``entities``: best first, ties by node; several for an ambiguous name, at most ``ENTITIES``; ``others``: all that it may
    mean besides, in that order.
    """

    first: int
    last: int
    text: str
    entities: tuple[LinkedEntity, ...]
    others: tuple[LinkedEntity, ...] = ()

    @property
    def homonyms(self) -> tuple[LinkedEntity, ...]:
        """All that it may mean, best first."""
        return self.entities + self.others


Longs = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
SCHEMA_VERSION: Final = 1
META: Final = "names.json"
TEXTS: Final = pa.schema([("text", pa.large_utf8())])
KINDS: Final[tuple[How, ...]] = ("label", "alternative", "identifier")  # how a whole name is its entity's
UNIT: Final = 1024  # weights are held as whole multiples of 1/UNIT: the same on every machine
# Every array of the artifact. W words in order of their UTF-8 bytes, B bags, E entries (a bag's names of entities, the
# best connected first), N distinct texts, P postings.
ARRAYS: Final = (
    "word_text",     # uint8: the words
    "word_ptr",      # int64 [W+1]
    "word_weight",   # int32 [W]: ln(1 + B / bags that have it) times UNIT, less for a stop word
    "sounds",        # uint64 [W] ascending: ``spelling.sound`` of the words
    "sound_word",    # int32 [W]: the words in that order
    "near",          # uint64: see ``near.near_array``
    "posting_ptr",   # int64 [W+1]
    "posting",       # int32 [P]: bags of each word, ascending
    "bag_weight",    # int32 [B]: sum of its words' weights
    "bag_size",      # int32 [B]: words of its content
    "bag_hashes",    # uint64 [B] ascending: ``bag_hash`` of the contents
    "bag_of_hash",   # int32 [B]
    "entry_ptr",     # int64 [B+1]
    "entry_entity",  # int32 [E]: node
    "entry_text",    # int32 [E]
    "entry_kind",    # uint8 [E]: position in KINDS
    "entry_degree",  # int32 [E]: triples that lead to the entity
)  # fmt: skip
_KINDS: Final = dict.fromkeys(ARRAYS, "int32") | {
    "word_text": "uint8", "word_ptr": "int64", "sounds": "uint64", "near": "uint64", "posting_ptr": "int64",
    "bag_hashes": "uint64", "entry_ptr": "int64", "entry_kind": "uint8",
}  # fmt: skip
_RANGES: Final = {"word_ptr": "word_text", "posting_ptr": "posting", "entry_ptr": "entry_entity"}
_ALIKE: Final = (
    ("word_weight", "sounds", "sound_word", "word_ptr", "posting_ptr"),
    ("bag_weight", "bag_size", "bag_hashes", "bag_of_hash", "entry_ptr"),
    ("entry_entity", "entry_text", "entry_kind", "entry_degree"),
)
"""Arrays of as many things: one value a word, a bag, an entry."""


def bag_hash(sounds: Sequence[int]) -> int:
    """The number that stands for a set of words' sounds, whatever their order."""
    distinct = np.array(sorted(set(sounds)), np.uint64)
    return int(mixed(distinct).sum(dtype=np.uint64))


@dataclass(frozen=True)
class NameIndex:
    """An open name index; arrays as ``ARRAYS`` says."""

    meta: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]
    texts: pa.LargeStringArray

    @classmethod
    def from_release(cls, release: ReleaseFiles) -> NameIndex:
        """ReleaseError for a release that was built before there were any."""
        return cls.open(release.folder / "names")

    @classmethod
    def open(cls, folder: Path) -> NameIndex:
        """Memory-map the index in ``folder``; raises ReleaseError when it is missing, damaged or of another version."""
        meta = open_meta(folder / META, "name index")
        arrays = open_arrays(folder, _KINDS, _RANGES, alike=_ALIKE)
        return cls(meta, arrays, open_ipc(folder / "texts.arrow", TEXTS).get_batch(0).column("text"))

    @property
    def bags(self) -> int:
        return len(self.bag_size)

    @cached_property
    def stop(self) -> frozenset[str]:
        """The stop words that the index was built with, in Latin letters."""
        return frozenset(self.meta["stop"])

    @cached_property
    def spelling(self) -> Spelling:
        return Spelling.model_validate(self.meta["spelling"])

    # words

    @cached_property
    def _word_bytes(self) -> tuple[memoryview, Longs]:
        text: Any = self.arrays["word_text"]
        return memoryview(text), self.arrays["word_ptr"]

    def word_bytes(self, number: int) -> bytes:
        text, ptr = self._word_bytes
        return bytes(text[ptr[number] : ptr[number + 1]])

    def word(self, number: int) -> str:
        return self.word_bytes(number).decode("utf-8", "replace")

    def spelt(self, numbers: Numbers) -> list[str]:
        """These words."""
        text, ptr = self._word_bytes
        low, high = ptr[numbers].tolist(), ptr[numbers + 1].tolist()
        return [str(text[a:b], "utf-8", "replace") for a, b in zip(low, high, strict=True)]

    def word_length(self, numbers: Numbers | Longs) -> Longs:
        """Bytes of each of these words."""
        ptr = self._word_bytes[1]
        return ptr[numbers + 1] - ptr[numbers]

    @property
    def words(self) -> int:
        return len(self._word_bytes[1]) - 1

    def position(self, word: bytes) -> int:
        """How many words come before ``word``; binary search."""
        return bisect_left(range(self.words), word, key=self.word_bytes)

    def number(self, word: str) -> int | None:
        """The number of a word, or None when no name has it."""
        wanted = word.encode("utf-8", "replace")
        found = self.position(wanted)
        return found if found < self.words and self.word_bytes(found) == wanted else None

    def sounding(self, sound: int) -> Numbers:
        """The words that are spellings of one another, ascending."""
        sounds = self.arrays["sounds"]
        low, high = (int(np.searchsorted(sounds, np.uint64(sound), side)) for side in ("left", "right"))
        return np.sort(self.arrays["sound_word"][low:high])

    @cached_property
    def near(self) -> NearWords:
        return NearWords(self.arrays["near"], self.spelling)

    @property
    def weight(self) -> Numbers:
        return self.arrays["word_weight"]

    @cached_property
    def posting_ptr(self) -> Longs:
        return self.arrays["posting_ptr"]

    def count(self, word: int) -> int:
        """How many bags have the word."""
        return int(self.posting_ptr[word + 1] - self.posting_ptr[word])

    def bags_of(self, word: int, end: int | None = None) -> Numbers:
        """Bags of a word, ascending; of all words before ``end``, in the order of words."""
        last = word + 1 if end is None else end
        return self.arrays["posting"][self.posting_ptr[word] : self.posting_ptr[last]]

    # bags

    @property
    def bag_weight(self) -> Numbers:
        return self.arrays["bag_weight"]

    @property
    def bag_size(self) -> Numbers:
        return self.arrays["bag_size"]

    def bags_with(self, hashes: Hashes) -> Numbers:
        """Bags whose content has one of these hashes, ascending."""
        known = self.arrays["bag_hashes"]
        wanted = np.unique(hashes)
        low, high = (np.searchsorted(known, wanted, side).tolist() for side in ("left", "right"))
        parts = [np.arange(a, b) for a, b in zip(low, high, strict=True) if b > a]
        if not parts:
            return np.empty(0, np.int32)
        return np.unique(self.arrays["bag_of_hash"][np.concatenate(parts)])

    # entries

    @property
    def entry_ptr(self) -> Longs:
        return self.arrays["entry_ptr"]

    def entries(self, bag: int, most: int) -> list[tuple[int, int, How, int]]:
        """(node, text, how, degree) of at most so many names of a bag, the best connected entities first."""
        low = int(self.entry_ptr[bag])
        part = slice(low, min(int(self.entry_ptr[bag + 1]), low + most))
        names = ("entity", "text", "kind", "degree")
        rows = zip(*(self.arrays[f"entry_{name}"][part].tolist() for name in names), strict=True)
        return [(entity, text, KINDS[kind], degree) for entity, text, kind, degree in rows]

    def text(self, number: int) -> str:
        return str(self.texts[number].as_py())

    def prior(self, degree: int) -> float:
        """How well connected an entity is, 0 to 1: ln(1 + triples) as a share of the highest."""
        return float(self.priors(np.array([degree]))[0])

    def priors(self, degrees: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
        """``prior`` of each."""
        most = np.log1p(self.meta["most_connected"])
        return np.log1p(degrees) / most if most else np.zeros(len(degrees))

    def best_degree(self, bags: Numbers) -> Numbers:
        """Triples of the best connected entity of each bag."""
        return self.arrays["entry_degree"][self.entry_ptr[bags]]


# Stretches of at most 300 characters, which bounds what an opening mark without its fellow costs; an apostrophe opens
# and closes only beside what is no letter.
_QUOTED = re.compile(
    r"""
    "[^"]{1,300}" | “[^”]{1,300}” | „[^“”]{1,300}[“”] | «[^»]{1,300}» | »[^«]{1,300}« | ‹[^›]{1,300}› | 「[^」]{1,300}」
    | (?<!\w)['‘‚]\S.{0,300}?['’‘](?!\w)
    """,
    re.VERBOSE,
)


NAMED_ELSEWHERE = ("it", "es")
"""Languages of which many a stop word is a name elsewhere: Hay, Han, "Dove"."""


def stop_words(questions: QuestionLexicon) -> frozenset[str]:
    """Stop words that name nothing in any language; of languages in ``NAMED_ELSEWHERE`` only those that say whose or where
    something is."""
    return _stop_words()


@lru_cache(maxsize=1)
def _stop_words() -> frozenset[str]:
    small = ("prepositions.of", "prepositions.place", "prepositions.from")
    found = {word for code in READ if code not in NAMED_ELSEWHERE for word in language(code).stop}
    found |= {word for code in NAMED_ELSEWHERE for role in small for word in language(code).roles[role]}
    return frozenset(found)


def plain_words(questions: QuestionLexicon) -> frozenset[str]:
    """Words of all languages that name nothing by themselves as a part of a name."""
    return frozenset(word for words in questions.plain.values() for word in words)


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a question: its tokens ``first`` to before ``last``; ``quote``: number of its quoted stretch, 0 for none."""

    first: int
    last: int
    word: str
    stop: bool
    quote: int


@dataclass(frozen=True)
class Question:
    """A question's tokens as ``tokenize`` gives them, and its words."""

    tokens: tuple[str, ...]
    terms: tuple[Term, ...]


def read_terms(question: str | Sequence[str], stop: frozenset[str]) -> Question:
    """The first words of a question; ``stop`` in Latin letters.

    Tokens that are given are those of ``tokenize`` and have no quoted stretches.
    """
    if isinstance(question, str):
        pieces = _pieces(question[:CHARACTERS])
    else:
        pieces = [(0, [str(token) for token in question[:TOKENS]])]
    tokens: list[str] = []
    terms: list[Term] = []
    for quote, piece in pieces:
        start = len(tokens)
        tokens += piece
        terms += [
            Term(start + first, start + last, word, word in stop, quote)
            for first, last, word in words_at(piece)
        ]
    kept = [term for term in terms if term.last <= TOKENS]
    if len({term.quote for term in kept}) == 1:  # one quoted stretch is the whole question
        kept = [Term(term.first, term.last, term.word, term.stop, 0) for term in kept]
    return Question(tuple(tokens), tuple(kept))


def _pieces(text: str) -> list[tuple[int, list[str]]]:
    """(number of the quoted stretch or 0, tokens) of the text's stretches in order."""
    found, at = [], 0
    for number, match in enumerate(_QUOTED.finditer(text), 1):
        found += [(0, tokenize(text[at : match.start()])), (number, tokenize(match.group()))]
        at = match.end()
    return [*found, (0, tokenize(text[at:]))]


class Alternative(NamedTuple):
    """A word of the index that a question's word may be; ``likeness`` 1 for itself."""

    word: int
    likeness: float


def alternatives(index: NameIndex, word: str) -> list[Alternative]:
    """The word itself, its other spellings, and for a word that no name has those within its slips; the likest first.

    Likeness of a slip: 1 - edits / letters of the longer word (normalised edit similarity); of a spelling: ``VARIANT``.
    """
    found: dict[int, float] = {}
    own = index.number(word)
    if is_spelt(word, index.spelling.shortest):
        found = _sounding(index, word)
        if own is None:
            for number, likeness in _misspelt(index, word):
                found[number] = max(likeness, found.get(number, 0.0))
    if own is not None:
        found[own] = 1.0
    ranked = sorted(found.items(), key=lambda one: (-one[1], -index.count(one[0]), one[0]))
    return [Alternative(number, likeness) for number, likeness in ranked[:SIMILAR_WORDS]]


def _sounding(index: NameIndex, word: str) -> dict[int, float]:
    """Words of a like sound with their likeness: those of which more letters are the same than not (Goethe is no "Gott")."""
    from rapidfuzz.distance import OSA

    numbers = index.sounding(sound(word, index.spelling.shortest))
    near = (OSA.normalized_similarity(word, other) > LIKE_LETTERS for other in index.spelt(numbers))
    return {int(number): VARIANT for number, like in zip(numbers, near, strict=True) if like}


def _misspelt(index: NameIndex, word: str) -> list[tuple[int, float]]:
    from rapidfuzz.distance import OSA  # optimal string alignment: no letter is edited twice
    from rapidfuzz.process import cdist

    allowed = slips_allowed(word, index.spelling)
    candidates = index.near.candidates(word)
    if word.isascii():  # as many bytes as letters in both: a word in another script is no slip of this one
        candidates = candidates[np.abs(index.word_length(candidates) - len(word)) <= allowed]
    others = index.spelt(candidates)
    if not others:
        return []
    edits = cdist([word], others, scorer=OSA.distance, score_cutoff=allowed, dtype=np.uint16)[0].tolist()
    return [
        (number, 1 - distance / max(len(word), len(other)))
        for number, other, distance in zip(candidates.tolist(), others, edits, strict=True)
        if distance <= allowed and distance <= slips_allowed(other, index.spelling)
    ]


Doubles = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Runs:
    """Stretches of the question that share words with a bag, a stretch a row; n of them.

    ``first``, ``last``: terms, both inclusive; ``mass``: weight of the words in common, each times its likeness; ``share``:
    ``mass`` of the bag's weight; ``density``: share of the stretch's words that are the bag's; ``whole``: all words of the
    bag's content and no others; ``exact``: every word is spelt as in the name; ``words``: words of the bag's content that
    are found; ``rarest``: names that have the rarest of them; ``score``: see the module; ``alone``: the same whatever else
    the stretch names.
    """

    bag: Longs
    first: Longs
    last: Longs
    mass: Doubles
    share: Doubles
    density: Doubles
    whole: Bools
    exact: Bools
    words: Longs
    rarest: Longs
    score: Doubles
    alone: Doubles

    def __len__(self) -> int:
        return len(self.bag)

    def take(self, rows: Longs | Bools) -> Runs:
        return Runs(**{part.name: getattr(self, part.name)[rows] for part in fields(self)})


@dataclass(frozen=True)
class _Hits:
    """A word of the question that is a word of a bag, a row each: bag, term, word of the index, likeness."""

    bag: Longs
    term: Longs
    word: Longs
    likeness: Doubles

    def take(self, rows: Longs | Bools) -> _Hits:
        return _Hits(self.bag[rows], self.term[rows], self.word[rows], self.likeness[rows])


def find_runs(index: NameIndex, question: Question, plain: frozenset[str]) -> Runs | None:
    """Every stretch that names a bag wholly or in part; None when there is none."""
    known = {word: alternatives(index, word) for word in dict.fromkeys(t.word for t in question.terms)}
    whole = index.bags_with(_run_hashes(index, question.terms, known))
    rows = [(term, one.word, one.likeness) for term, t in enumerate(question.terms) for one in known[t.word]]
    if not rows:
        return None
    hits, common = _rare(index, question.terms, rows)
    chosen = _chosen(index, hits, whole)
    if not len(chosen):
        return None
    parts = [hits.take(np.isin(hits.bag, chosen)), *(_within(index, row, chosen) for row in common)]
    hits = _joined(parts)
    runs = _runs(index, question.terms, hits, _idle(question.terms))
    return _with_parts(index, question.terms, hits, runs.take(runs.whole), plain)


def _with_parts(
    index: NameIndex, terms: tuple[Term, ...], hits: _Hits, whole: Runs, plain: frozenset[str]
) -> Runs:
    """The whole names, and what is a part of one: there a plain word counts as a stop word, and a short word of a name
    must be spelt as it is ("tall" is no part of "North wall").
    """
    long = index.word_length(hits.word) >= index.spelling.two_slips
    hits = hits.take(long | (hits.likeness >= VARIANT))
    if not len(hits.bag):
        return whole
    shortest = index.spelling.shortest
    roughs = _roughs(plain, shortest)
    plainly = np.array([rough(term.word, shortest) in roughs for term in terms])
    parts = _runs(index, terms, hits, _idle(terms) | plainly, plainly)
    parts = parts.take(~np.isin(parts.bag, whole.bag))
    joined = {p.name: np.concatenate([getattr(whole, p.name), getattr(parts, p.name)]) for p in fields(Runs)}
    joined["whole"][len(whole) :] = False
    return Runs(**joined)


@lru_cache(maxsize=16)
def _roughs(words: frozenset[str], shortest: int) -> frozenset[str]:
    return frozenset(rough(word, shortest) for word in latin_stop(words))


def _run_hashes(index: NameIndex, terms: tuple[Term, ...], known: dict[str, list[Alternative]]) -> Hashes:
    """Hashes of the words of every stretch that may be a whole name; a misspelt word counts as the likest known one."""
    shortest, parts = index.spelling.shortest, {}
    for word, others in known.items():
        near = word if not others or others[0].likeness == 1 else index.word(others[0].word)
        parts[word] = bag_hash([sound(near, shortest)])
    found: set[int] = set()
    content = [term for term in terms if not term.stop]
    for start, term in enumerate(content):
        stretch = [t for t in content[start : start + LONGEST_NAME] if t.quote == term.quote]
        found.update(_sums(parts[other.word] for other in stretch))
    for number in {term.quote for term in terms if term.quote}:  # whole, also one of stop words only
        quoted = [term for term in terms if term.quote == number]
        speaking = [term for term in quoted if not term.stop] or quoted
        found.update(_sums(parts[term.word] for term in speaking)[-1:])
    return np.array(sorted(found), np.uint64)


def _sums(parts: Iterable[int]) -> list[int]:
    """``bag_hash`` of the first word, of the first two, …, from the hash of each."""
    total, seen, found = 0, set(), []
    for part in parts:
        if part not in seen:
            seen.add(part)
            total = (total + part) % 2**64
        found.append(total)
    return found


Row = tuple[int, int, float]  # term, word of the index, likeness


def _rare(index: NameIndex, terms: tuple[Term, ...], rows: list[Row]) -> tuple[_Hits, list[Row]]:
    """Hits of the words that few names share, the rarest first while the budget lasts; and the rows of all others."""
    rows = sorted(rows, key=lambda row: (index.count(row[1]), row))
    left, taken, others = QUESTION_POSTINGS, [], []
    for row in rows:
        count = index.count(row[1])
        if count <= min(left, WORD_POSTINGS) and not terms[row[0]].stop:
            left -= count
            taken.append(_hits(index.bags_of(row[1]), row))
        else:
            others.append(row)
    return _joined(taken), others


def _hits(bags: Numbers | Longs, row: Row) -> _Hits:
    term, word, likeness = row
    n = len(bags)
    return _Hits(bags.astype(np.int64), np.full(n, term), np.full(n, word), np.full(n, likeness))


def _joined(parts: list[_Hits]) -> _Hits:
    parts = [_hits(np.empty(0, np.int64), (0, 0, 0.0)), *parts]
    return _Hits(*(np.concatenate([getattr(p, part.name) for p in parts]) for part in fields(_Hits)))


def _chosen(index: NameIndex, hits: _Hits, whole: Numbers) -> Longs:
    """Bags to look at closely, ascending: those found whole, and the best covered of the others."""
    bags, place = np.unique(hits.bag, return_inverse=True)
    if len(bags) > CANDIDATES:
        mass = np.bincount(place, index.weight[hits.word] * hits.likeness, len(bags))
        share = mass / index.bag_weight[bags]
        bags = bags[np.lexsort((bags, -share))[:CANDIDATES]]
    return np.union1d(bags, whole).astype(np.int64)


def _within(index: NameIndex, row: Row, chosen: Longs) -> _Hits:
    """Hits of one word in the chosen bags."""
    bags = index.bags_of(row[1])
    at = np.searchsorted(bags, chosen.astype(np.int32))
    at[at == len(bags)] = 0
    return _hits(chosen[bags[at] == chosen].astype(np.int32), row)


def _runs(
    index: NameIndex, terms: tuple[Term, ...], hits: _Hits, idle: Bools, plainly: Bools | None = None
) -> Runs:
    """Hits of each bag as stretches: a new one where too much lies between, or a quotation begins or ends.

    ``idle`` [terms]: words that make no stretch by themselves; ``plainly`` [terms]: those that weigh as little as stop words
    where they stand beside no word that does.
    """
    order = np.lexsort((hits.word, -hits.likeness, hits.term, hits.bag))
    hits = hits.take(order)
    hits = hits.take(_first_of(hits.bag, hits.term))  # one word of a bag for a word of the question
    quote = np.array([t.quote for t in terms])
    before: Longs = np.cumsum(~idle) - ~idle  # content words before each term
    here, last = hits.term[1:], hits.term[:-1]
    between: Longs = before[here] - before[last] - ~idle[last]
    new = np.ones(len(hits.bag), bool)
    new[1:] = (hits.bag[1:] != hits.bag[:-1]) | (quote[here] != quote[last])
    new[1:] |= (quote[here] == 0) & ((between > GAP) | (here - last > REACH))
    idle_quote = np.array([t.stop for t in terms]) & ~idle
    lent = np.ones(len(hits.bag))
    if plainly is not None:
        side_by_side = ~new[1:] & (here - last == 1)
        beside = np.zeros(len(hits.bag), bool)  # a word that names something by itself
        beside[1:] |= side_by_side & ~idle[last]
        beside[:-1] |= side_by_side & ~idle[here]
        lent[plainly[hits.term] & ~beside] = STOP_WEIGHT
    return _measured(index, hits, np.cumsum(new) - 1, idle, quote, idle_quote, lent)


def _idle(terms: tuple[Term, ...]) -> Bools:
    """Stop words, but not where a quotation holds nothing else: bool [terms]."""
    speaking = {term.quote for term in terms if not term.stop}
    return np.array([term.stop and not (term.quote and term.quote not in speaking) for term in terms], bool)


def _measured(
    index: NameIndex, hits: _Hits, run: Longs, stop: Bools, quote: Longs, idle_quote: Bools, lent: Doubles
) -> Runs:
    """The runs that hold a content word; ``run`` [hits] ascending from 0; ``stop``, ``quote``, ``idle_quote`` [terms];
    ``lent`` [hits]: shares of the words' weights that count."""
    order = np.lexsort((-hits.likeness, hits.word, run))
    best = _first_of(run[order], hits.word[order])
    likest = np.maximum.accumulate(np.where(best, np.arange(len(order)), 0))
    kept = np.ones(
        len(order), bool
    )  # "how *tall* is the town *hall*" has no slip: that word of the name stands there
    kept[order] = hits.likeness[order] == hits.likeness[order][likest]
    hits, run, lent = hits.take(kept), run[kept], lent[kept]
    speaking = np.flatnonzero(np.bincount(run, ~stop[hits.term]))  # runs
    kept = np.isin(run, speaking)
    hits, run, lent = hits.take(kept), np.searchsorted(speaking, run[kept]), lent[kept]
    count, idle = len(speaking), stop[hits.term]
    first, last = _ends(run[~idle], hits.term[~idle], count, quote)
    content = np.append(0, np.cumsum(~stop))
    density = np.bincount(run, ~idle, count) / np.maximum(content[last + 1] - content[first], 1)
    order = np.lexsort((-hits.likeness, hits.word, run))
    once = np.sort(order[_first_of(run[order], hits.word[order])])  # a word of the bag counts once
    run, hits, idle, lent = run[once], hits.take(once), idle[once], lent[once]
    bag = hits.bag[np.searchsorted(run, np.arange(count))]
    mass = np.bincount(run, index.weight[hits.word] * hits.likeness * lent, count).astype(np.float64)
    words = np.bincount(run, ~idle, count).astype(np.int64)
    named = index.posting_ptr[hits.word + 1] - index.posting_ptr[hits.word]
    rarest = np.full(count, index.bags)
    np.minimum.at(rarest, run[~idle], named[~idle])
    share = np.minimum(mass / index.bag_weight[bag], 1.0)
    exact = np.bincount(run, hits.likeness < 1, count) == 0
    whole = (words >= index.bag_size[bag]) & (density >= 1)
    whole &= ~idle_quote[first] | (share >= 1)  # of stop words only: all of them
    density = np.minimum(density, 1.0)
    score = share * density
    return Runs(bag, first, last, mass, share, density, whole, exact, words, rarest, score, score)


def _ends(run: Longs, term: Longs, count: int, quote: Longs) -> tuple[Longs, Longs]:
    """First and last content term of each run; in a quotation, those of all of it."""
    first, last = np.full(count, len(quote)), np.full(count, -1)
    np.minimum.at(first, run, term)
    np.maximum.at(last, run, term)
    begins, ends = np.arange(len(quote)), np.arange(len(quote))
    for number in np.unique(quote[quote > 0]).tolist():
        inside = np.flatnonzero(quote == number)
        begins[inside], ends[inside] = inside[0], inside[-1]
    return begins[first], ends[last]


def _first_of(left: Numbers | Longs, right: Numbers | Longs) -> Bools:
    """Rows, sorted by both, that are the first with their values."""
    first = np.ones(len(left), bool)
    first[1:] = (left[1:] != left[:-1]) | (right[1:] != right[:-1])
    return first


def link(
    index: NameIndex,
    question: str | Sequence[str],
    stop: frozenset[str],
    plain: frozenset[str],
) -> tuple[Mention, ...]:
    """The mentions of a question in its order, each with at most ``HOMONYMS`` entities, best first, ties by node.

    ``question``: its text, in which a quoted stretch counts as one name, or its tokens by ``tokenize``. ``stop``: words
    that name nothing by themselves, besides those of the index; ``plain``: words that name nothing by themselves as a part of
    a name. Takes any text; looks at its beginning only. Raises ReleaseError where an index that was damaged after it was
    built leads nowhere.
    """
    try:
        read = read_terms(question, index.stop | latin_stop(stop))
        runs = find_runs(index, read, plain) if read.terms else None
        if runs is None or not len(runs):
            return ()
        runs = _scored(index, runs, read.terms)
        winners = sorted(_winners(index, read, runs), key=lambda row: int(runs.first[row]))
        return tuple(_mention(index, read, runs, row) for row in winners)
    except IndexError as error:
        raise ReleaseError("The name index is damaged.", "Build the data set again.") from error


def _scored(index: NameIndex, runs: Runs, terms: tuple[Term, ...]) -> Runs:
    """Those of use, with their scores."""
    alone, part = runs.score.copy(), ~runs.whole
    score = alone.copy()
    score[part] /= 1 + np.log(_rivals(runs, score))[part]
    common = max(COMMON_NAMES, COMMON_SHARE * index.bags)
    score[part & (runs.words == 1) & (runs.rarest > common) & (score < COMMON_LEAST)] = 0
    number = np.array([t.word.isdigit() and len(t.word) <= DIGITS for t in terms])
    score[number[runs.first] & (runs.first == runs.last)] *= SHORT_NUMBER
    return replace(runs, score=score, alone=alone).take((score > 0) & (alone >= LEAST))


def _rivals(runs: Runs, score: Doubles) -> Longs:
    """For each run, how many names the same stretch names with the same score or a higher one, int64 [n]."""
    order = np.lexsort((-score, runs.last, runs.first))
    first, last, ranked = runs.first[order], runs.last[order], score[order]
    group = np.ones(len(order), bool)
    group[1:] = (first[1:] != first[:-1]) | (last[1:] != last[:-1])
    tie = group.copy()
    tie[1:] |= ranked[1:] != ranked[:-1]
    after = np.append(np.flatnonzero(tie)[1:], len(order))[np.cumsum(tie) - 1]
    found = np.empty(len(order), np.int64)
    found[order] = after - np.flatnonzero(group)[np.cumsum(group) - 1]
    return found


def _winners(index: NameIndex, question: Question, runs: Runs) -> list[int]:
    """The runs that become mentions: the worthiest first, none that shares a word with one before; a name that is spelt
    otherwise, however rare, behind one of the same words as they are."""
    worth = runs.score * runs.mass
    spelt = runs.whole & runs.exact
    stretch = runs.first.astype(np.int64) << STRETCH_BITS | runs.last
    worth[~spelt & np.isin(stretch, stretch[spelt])] *= NEARLY
    order = np.lexsort((runs.bag, runs.first - runs.last, runs.first, ~spelt, -worth))
    names = set(zip(runs.first[spelt].tolist(), runs.last[spelt].tolist(), strict=True))
    taken = np.zeros(int(runs.last.max(initial=0)) + 1, bool)
    found = []
    for row, first, last in zip(
        order.tolist(), runs.first[order].tolist(), runs.last[order].tolist(), strict=True
    ):
        if runs.score[row] < LEAST or taken[first : last + 1].any():
            continue
        apart = not spelt[row] and _is_of_two(question, first, last, names)
        if apart and not _begins_with(index, question, int(runs.bag[row]), first, last):
            continue
        taken[first : last + 1] = True
        found.append(row)
    return found


def _is_of_two(question: Question, first: int, last: int, names: Collection[tuple[int, int]]) -> bool:
    """Whether a stretch is two whole names with a small word between: "Rosmonda in The Blind Falconer"."""
    small = [term.stop for term in question.terms]
    ends = [at for at in range(first, last) if (first, at) in names]
    starts = [at for at in range(first + 1, last + 1) if (at, last) in names]
    return any(
        any(small[end + 1 : start + 1]) and all(small[end + 1 : start])
        for end in ends
        for start in starts
        if end < start
    )


def _begins_with(index: NameIndex, question: Question, bag: int, first: int, last: int) -> bool:
    """Whether a stretch of a question has the first word of a name: what a "crown for Rosmonda" is, and not for whom."""
    said = {question.terms[at].word for at in range(first, last + 1)}
    texts = (index.text(text) for _, text, _, _ in index.entries(bag, 1))
    return any(next((one for one in words_of(text) if one not in index.stop), "") in said for text in texts)


STRETCH_BITS = 32
NEARLY = (
    0.5  # of the worth of a name whose words are only nearly those of a question that are a name themselves
)


def _mention(index: NameIndex, question: Question, runs: Runs, winner: int) -> Mention:
    """The mention of a run, with the entities of all runs within its stretch that would do nearly as well alone.

    The score of one that names less of the stretch is lessened by as much.
    """
    first, last = int(runs.first[winner]), int(runs.last[winner])
    less = np.minimum(runs.mass / runs.mass[winner], 1)
    score = runs.score * less
    near = (runs.first >= first) & (runs.last <= last) & (runs.alone * less >= KEEP * runs.alone[winner])
    if runs.whole[winner] and runs.exact[winner]:
        near &= runs.exact
    rows = np.flatnonzero(near)
    rows = rows[np.lexsort((runs.bag[rows], -score[rows]))]
    terms = question.terms[first : last + 1]
    text = " ".join(question.tokens[term.first] for term in terms)
    ways: list[How | None] = []
    for row in rows.tolist():
        ways.append("partial" if not runs.whole[row] else None if runs.exact[row] else "similar")
    named = zip(runs.bag[rows].tolist(), score[rows].tolist(), ways, strict=True)
    found = _best(index, list(named)[: ROWS * HOMONYMS], HOMONYMS)
    return Mention(terms[0].first, terms[-1].last, text, found[:ENTITIES], found[ENTITIES:])


def _best(
    index: NameIndex, named: Sequence[tuple[int, float, How | None]], most: int
) -> tuple[LinkedEntity, ...]:
    """The best ``most`` entities of (bag, score, how it is named: None for as the name itself is)."""
    best: dict[int, LinkedEntity] = {}
    for bag, score, how in named:
        for entity, text, kind, degree in index.entries(bag, most):
            known = score * (1 - PRIOR + PRIOR * index.prior(degree))
            if entity not in best or best[entity].score < known:
                best[entity] = LinkedEntity(entity, known, index.text(text), how or kind)
    return tuple(sorted(best.values(), key=lambda one: (-one.score, one.entity))[:most])


def suggest(index: NameIndex, prefix: str, limit: int) -> tuple[LinkedEntity, ...]:
    """Entities with a name that holds the words of ``prefix``, the last one begun or whole; best first, ties by node.

    Stop words before the last need not be in the name.

    Score: the weight of the words given, as a share of the name's, at most 1, that of a word only begun times ``BEGUN``
    ("Moran" is rather Thomas Moran than Moranzoni); times 1 - PRIOR + PRIOR * connectedness. Of very many names those of
    the first words in alphabetical order are looked at.
    """
    words = words_of(prefix[:CHARACTERS])[:TOKENS]
    if not words or limit < 1:
        return ()
    begun = words[-1].encode("utf-8", "replace")
    low, high = index.position(begun), index.position(begun + b"\xff")
    bags = index.bags_of(low, high)[:SUGGESTED_POSTINGS] if high > low else np.empty(0, np.int32)
    whole = index.word_length(np.arange(low, high)) == len(begun)
    counted = np.where(whole, 1.0, BEGUN) * index.weight[low:high].astype(np.float64)
    weight: Doubles = np.repeat(counted, np.diff(index.posting_ptr[low : high + 1]))[: len(bags)]
    order = np.lexsort((-weight, bags))
    bags, mass = bags[order], weight[order]
    heaviest = _first_of(bags, bags)  # of the words of a bag that fit
    bags, mass = bags[heaviest], mass[heaviest]
    for word in (one for one in words[:-1] if one not in index.stop):
        number = index.number(word)
        if number is None:
            return ()
        kept = np.isin(bags, index.bags_of(number))
        bags, mass = bags[kept], mass[kept] + index.weight[number]
    share = np.minimum(mass / index.bag_weight[bags], 1.0)
    degree = index.best_degree(bags)
    score = share * (1 - PRIOR + PRIOR * index.priors(degree))
    rows = np.lexsort((bags, -score))[: 2 * limit]
    ways: list[How | None] = [None if whole else "partial" for whole in (share[rows] >= 1).tolist()]
    return _best(index, list(zip(bags[rows].tolist(), share[rows].tolist(), ways, strict=True)), limit)


MEANT = 5  # letters of the shortest word that is taken for another
SLIPS = 2  # letters changed, added, left out or exchanged
MEANT_WORDS = 5  # of the longest name that one word may stand for


def meant(index: NameIndex, word: str, most: int = 3) -> tuple[int, ...]:
    """Nodes that a word which no name has may mean: the best known ones with a word spelt most like it in their names."""
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import extract

    word = "".join(words_of(word)[:1])
    if len(word) < MEANT or index.number(word) is not None:
        return ()
    sizes = index.word_length(np.arange(index.words))
    size = len(word.encode())
    alike = np.flatnonzero(np.abs(sizes - size) <= 2 * SLIPS)  # in bytes, of which a letter may have two
    found = extract(
        word, index.spelt(alike.astype(np.int32)), scorer=OSA.distance, score_cutoff=SLIPS, limit=most
    )
    near = [other for other, slips, _ in found if slips == found[0][1] and other not in index.stop]
    named = (one for other in near for one in suggest(index, other, 1))
    short = (one.entity for one in named if len(words_of(one.name)) <= MEANT_WORDS)
    return tuple(dict.fromkeys(short))[:most]


def search(index: NameIndex, text: str, limit: int, plain: frozenset[str]) -> tuple[LinkedEntity, ...]:
    """Entities by name: completions of the text, then what it names as a question would; each once, best first."""
    found = {one.entity: one for one in suggest(index, text, limit)}
    if len(found) < limit:
        for mention in link(index, text, frozenset(), plain):
            for one in mention.entities:
                found.setdefault(one.entity, one)
    return tuple(sorted(found.values(), key=lambda one: (-one.score, one.entity))[: max(limit, 0)])
