"""From words of a question to what the data calls it: its types, its classes, or a whole category."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar, get_args

from crmrag_query.artifacts.release import Release
from crmrag_query.config.questions import KindEntry, KindsPart
from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.kind_classes import DataClasses
from crmrag_query.parsing.kind_known import KnownKinds
from crmrag_query.parsing.kind_types import DataTypes, Spread
from crmrag_query.parsing.kind_words import MANY, ONE, Forms, Lexicon, lexicon_of, number_of
from crmrag_query.plans.world import World
from crmrag_query.questions.lexicon import Number
from crmrag_query.text import fold

How = Literal["type", "lexicon", "like", "head", "class", "category"]
RANK: dict[How, int] = {how: place for place, how in enumerate(get_args(How))}


@dataclass(frozen=True, slots=True)
class KindMatch:
    """What the words ``first`` to before ``last`` may name, as the data has it.

    ``how``: ``type``, a whole name of ``types`` (nodes); ``lexicon``, other words for them; ``like``, types of a kind near
    the one that is named, which the data lacks; ``head``, names that end in the word, where none is the word; ``class``;
    ``category``, for a generic kind whose classes the data lacks. ``classes``: codes or IRIs, sub-classes count.
    ``count``: entities that are so and of ``categories``, a mask; ``spread``: of all with such a type (types only).
    A kind of which the data has nothing: ``lexicon`` or ``class`` with count 0, ``categories`` as it would have.
    ``kind``: its id in the lexicon, "" for none; ``role`` maker: only who made something; ``makes``: types of what they made;
    ``also``: further types whose names end in a word for the kind: "stoneware jars" beside "jars"; ``female``: the word
    stands for women alone, who are of the types ``women``.
    """

    first: int
    last: int
    label: str
    how: How
    types: tuple[int, ...] = ()
    classes: tuple[str, ...] = ()
    categories: int = 0
    generic: bool = False
    number: Number = Number.EITHER
    role: Literal["", "maker"] = ""
    count: int = 0
    spread: Spread = ()
    kind: str = ""
    makes: tuple[int, ...] = ()
    also: tuple[int, ...] = ()
    female: bool = False
    women: tuple[int, ...] = ()


@dataclass
class _Span:
    """What a stretch of words names: types, kinds and classes, each with the numbers in which the words then stand."""

    types: dict[int, int] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)
    classes: dict[int, int] = field(default_factory=dict)


class Kinds:
    """The kinds of one data set."""

    def __init__(self, world: World, part: KindsPart, broader: Iterable[str] = ("P127",)) -> None:
        self._lexicon: Lexicon = lexicon_of(part)
        self._world = world
        self._types = DataTypes.of(world, self._lexicon, broader)
        self._known = KnownKinds(self._types, self._lexicon)
        self._classes = DataClasses.of(world, self._lexicon)

    @classmethod
    def from_release(cls, release: Release) -> Kinds:
        method = release.method
        return cls(release[World], method.kinds, method.profile.broader_properties)

    def at(self, words: Sequence[str], language: str) -> tuple[KindMatch, ...]:
        """All matches in a question's folded words, by where they begin, the longest first, then as in ``RANK``.

        A language that the lexicon does not have is read as any of those it has.
        """
        known = self._lexicon.languages
        found: dict[KindMatch, None] = {}
        for one in (language,) if language in known else known:
            found |= dict.fromkeys(self._of_women(match, words, one) for match in self._read(words, one))
        return tuple(
            sorted(found, key=lambda m: (m.first, -m.last, RANK[m.how], -m.count, m.kind, m.types, m.classes))
        )

    def types_of(self, kind: str) -> tuple[int, ...]:
        """Types of the data that are a kind of the lexicon, or that are meant by it; KeyError for no such kind."""
        return self._known.of(kind).types

    # reading

    def _read(self, words: Sequence[str], language: str) -> Iterator[KindMatch]:
        inflection = self._lexicon.inflections[language]
        alternatives = [inflection.forms(word) for word in words]
        for start in range(len(words)):
            spans = self._spans(words, alternatives, start, language)
            spans.setdefault(start + 1, _Span())
            for end, span in spans.items():
                matches = list(self._by_type(start, end, span, language))
                others = list(self._by_class(start, end, span, language))
                if end == start + 1 and not matches and not any(one.count for one in others):
                    matches = list(self._by_head(start, words[start], alternatives[start], language))
                yield from matches
                yield from others
                if not any(one.types for one in matches):
                    yield from self._absent(start, end, span, language)

    def _spans(
        self, words: Sequence[str], alternatives: Sequence[Forms], start: int, language: str
    ) -> dict[int, _Span]:
        """What stands at a position, by where it ends."""
        spans: dict[int, _Span] = {}
        names, classes = self._types.names, self._classes.names
        for end, phrase, bits in names.at(alternatives, start):
            asked = " ".join(words[start:end])
            for node, tag in names.phrases[phrase]:
                native = tag == language or (not tag and language in self._known.spoken)
                if native or asked in (phrase, phrase + "s"):  # a foreign word keeps its form, or takes an -s
                    _note(spans.setdefault(end, _Span()).types, node, bits)
        book = self._lexicon.books[language]
        for end, phrase, bits in book.at(alternatives, start):
            as_listed = phrase == " ".join(words[start:end])
            for kind, own in book.phrases[phrase]:
                _note(spans.setdefault(end, _Span()).kinds, kind, own if own and as_listed else bits)
        for end, phrase, bits in classes.at(alternatives, start):
            for number in classes.phrases[phrase]:
                _note(spans.setdefault(end, _Span()).classes, number, bits)
        return spans

    def _by_type(self, first: int, last: int, span: _Span, language: str) -> Iterator[KindMatch]:
        """Types by their own names, with those of the kinds that share one with them; then those of other kinds."""
        entries = self._lexicon.part.kinds
        known = {kind: self._known.of(kind) for kind in span.kinds if self._known.of(kind).types}
        strong = [kind for kind, one in known.items() if one.how == "lexicon"]
        joined = [kind for kind in strong if span.types.keys() & set(known[kind].types)]
        if (
            span.types
            and len(strong) == 1
            and not any(self._known.says(node, language) for node in span.types)
        ):
            joined = (
                strong  # a name without a language, in that of the question, where such names are of another
            )
        if span.types:
            types = {*span.types, *(node for kind in joined for node in known[kind].types)}
            bits = _common([*span.types.values(), *(span.kinds[kind] for kind in joined)])
            match = self._typed(
                first, last, "type", tuple(sorted(types)), bits, joined[0] if joined else "", language
            )
            if match.count:
                yield match
        for kind, one in known.items():
            if kind not in joined and (entries[kind].aat or not entries[kind].generic):
                match = self._typed(first, last, one.how, one.types, span.kinds[kind], kind, language)
                if match.count:
                    yield match

    def _by_class(self, first: int, last: int, span: _Span, language: str) -> Iterator[KindMatch]:
        """Generic kinds, and classes by their names where no generic kind says the same."""
        told: set[str] = set()
        for kind, bits in span.kinds.items():
            if self._lexicon.part.kinds[kind].generic:
                match = self._generic(first, last, kind, bits, language)
                told.update(match.classes)
                yield match
        numbers = tuple(sorted(span.classes))
        if numbers and not set(self._classes.told(numbers)) <= told:
            yield self._of_classes(first, last, numbers, _common(span.classes.values()), language)

    def _by_head(self, at: int, word: str, forms: Forms, language: str) -> Iterator[KindMatch]:
        """Types whose head a word is, where no type has just that name."""
        found = self._known.headed(word, forms, language)
        if found:
            types = tuple(sorted(found))
            match = self._typed(at, at + 1, "head", types, _common(found.values()), "", language)
            if match.count:
                yield match

    def _of_women(self, match: KindMatch, words: Sequence[str], language: str) -> KindMatch:
        """The match, of women alone where the word says so: "Malerinnen"."""
        told = self._lexicon.part.women
        endings = tuple(map(fold, told.endings.get(language, ())))
        named = match.how == "type"  # the data has a type of that very name
        if named or match.categories != int(Category.Actor) or not words[match.last - 1].endswith(endings):
            return match
        return replace(match, female=True, women=self.types_of(told.kind))

    # matches

    def _typed(
        self, first: int, last: int, how: How, types: tuple[int, ...], bits: int, kind: str, language: str
    ) -> KindMatch:
        entry = self._lexicon.part.kinds[kind] if kind else None
        _, spread = self._types.counted(types)
        implied = _mask(entry) if entry else 0
        fitting = tuple(one for one in spread if one[0] & implied) or spread
        best = max(types, key=lambda node: (self._types.counted((node,))[0], -node))
        whole = tuple(sorted(self._types.with_narrower(types, self._types.foreign)))
        return KindMatch(
            first,
            last,
            self._world.graph.label(best, (language,)),
            how,
            types=whole,
            categories=sum(bit for bit, _ in fitting),
            number=number_of(bits),
            role=entry.role if entry else "",
            count=sum(count for _, count in fitting),
            spread=spread,
            kind=kind,
            makes=self._makes(entry),
            also=self._headed_too(whole, kind, language) if how in ("type", "lexicon") else (),
        )

    def _headed_too(self, types: tuple[int, ...], kind: str, language: str) -> tuple[int, ...]:
        """Other types with a word for the kind, or with the name of one of the types, as the head of their names."""
        return tuple(node for node in self._known.headed_as(types, kind, language) if node not in types)

    def _makes(self, entry: KindEntry | None) -> tuple[int, ...]:
        return self._known.of(entry.makes).types if entry and entry.makes else ()

    def _generic(self, first: int, last: int, kind: str, bits: int, language: str) -> KindMatch:
        entry = self._lexicon.part.kinds[kind]
        numbers = self._classes.occurring(entry.classes, entry.less)
        mask = _mask(entry)
        whole = not numbers and entry.any
        return KindMatch(
            first,
            last,
            self._word(kind, language),
            "category" if whole else "class",
            classes=self._classes.told(numbers),
            categories=mask,
            generic=True,
            number=number_of(bits),
            role=entry.role,
            count=self._classes.of_category(mask) if whole else self._classes.count(numbers),
            kind=kind,
        )

    def _absent(self, first: int, last: int, span: _Span, language: str) -> Iterator[KindMatch]:
        """Kinds of which the data has no type."""
        for kind, bits in span.kinds.items():
            entry = self._lexicon.part.kinds[kind]
            if not entry.generic:
                yield KindMatch(
                    first,
                    last,
                    self._word(kind, language),
                    "lexicon",
                    categories=_mask(entry),
                    number=number_of(bits),
                    role=entry.role,
                    kind=kind,
                    makes=self._makes(entry),
                )

    def _of_classes(
        self, first: int, last: int, numbers: tuple[int, ...], bits: int, language: str
    ) -> KindMatch:
        return KindMatch(
            first,
            last,
            self._world.graph.class_label(numbers[0], language),
            "class",
            classes=self._classes.told(numbers),
            categories=self._classes.mask(numbers),
            number=number_of(bits),
            count=self._classes.count(numbers),
        )

    def _word(self, kind: str, language: str) -> str:
        words = self._lexicon.part.kinds[kind].words
        entries = words.get(language) or next(iter(words.values()))
        return entries[0].partition("/")[0].strip()


def categories_of(kinds: Iterable[KindMatch]) -> int:
    """The union of what kinds may be."""
    found = 0
    for kind in kinds:
        found |= kind.categories
    return found


def _mask(entry: KindEntry) -> int:
    return sum(int(Category[name]) for name in entry.implies)


Key = TypeVar("Key")


def _note(found: dict[Key, int], key: Key, bits: int) -> None:
    found[key] = found.get(key, 0) | bits


def _common(bits: Iterable[int]) -> int:
    """The number that all agree on, either where they do not."""
    found = ONE | MANY
    for one in bits:
        found &= one
    return found or ONE | MANY
