"""The words of one data set in one language: by which its kinds of things, and the steps and relations between them, are
asked for.

Words come from the labels of the data and of the ontology and, where a language has no label, from a table of general words
for classes, properties and relations (`config/words`), which no data set has a part in. All are compared by stems. What the
nouns of every language rest on, the types of a data set and of what categories their entities are, is made once.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import yaml
from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import Relation
from crmrag_query.config.reading import default_folder
from crmrag_query.graph.arrays import Bytes, Ints, Longs, spread
from crmrag_query.language import LANGUAGES, Language, language
from crmrag_query.linking import latin, rough
from crmrag_query.ontology.load import Category, normalise_property
from crmrag_query.plans.kinds import Schema
from crmrag_query.plans.records import Anchor, CategoryName, Plan, Related, Target, Way
from crmrag_query.plans.world import (
    OF_TYPE,
    YEAR,
    World,
    leading_to,
    numbers,
    role_steps,
    target_classes,
    targeted,
)
from crmrag_query.text import fold, tokenize

_CODE = re.compile(r"^[A-Z]{1,3}\d+[a-z]?[_ ]")
_QUALIFIER = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*$")
_PREFIX = re.compile(r"^(\w[^:]{2,39}?) (?:of|von|der|de|du|des|di|del|του|της)\b")
ANY = 1 << 6  # beside the bits of categories
LEAST_ALIKE = 20  # entities of a class whose names may tell what they are


def local_words(iri: str) -> str:
    """The local name of an IRI, split into words: `hasCreator` is "has Creator"."""
    last = _CODE.sub("", re.split("[/#]", iri.rstrip("/#"))[-1])
    return re.sub(r"[_\-.]+", " ", re.sub(r"(?<=[a-zà-ÿ])(?=[A-Z])", " ", last))


def unqualified(name: str) -> str:
    """A folded name without what qualifies it: "Gold (metal)" is "gold"."""
    return fold(_QUALIFIER.sub("", name))


@dataclass(frozen=True)
class Types:
    """The types of a data set (what P2 leads to, and the broader ones): their nodes by folded name, with and without what
    qualifies it, and by the last part of their IRI; ``languages``: of such a name, without what qualifies it, its own,
    ``tags``, all that it has on some type, and ``main``, those of at least half as many names as the commonest, "" for no
    tag.

    ``categories`` uint8 [n]: those of the entities that have a type or a narrower one, and ``ANY`` where there are some.
    """

    by_text: Mapping[str, frozenset[int]]
    languages: Mapping[str, str]
    tags: Mapping[str, frozenset[str]]
    main: frozenset[str]
    by_id: Mapping[str, int]
    categories: Bytes


def types_of(world: World) -> Types:
    """The types of a world; see `World.kept`."""
    nodes = np.flatnonzero(world.kept(_categories)).astype(np.int32)
    iris = world.graph.iris.take(nodes).to_pylist()
    ptr, names = world.names
    index, row = spread(ptr, nodes)
    tags = world.graph.label_rows[0].column("lang").take(row).to_pylist()
    texts: list[dict[str, str]] = [{} for _ in iris]
    for at, text, lang in zip(index.tolist(), names.take(row).to_pylist(), tags, strict=True):
        texts[at][text] = lang
    by_text: dict[str, set[int]] = {}
    languages: dict[str, str] = {}
    tagged: dict[str, set[str]] = {}
    for node, iri, own in zip(nodes.tolist(), iris, texts, strict=True):
        for text, lang in (own or {local_words(iri): ""}).items():
            bare = unqualified(text)
            languages.setdefault(bare, lang[:2])
            for variant in (fold(text), bare):
                by_text.setdefault(variant, set()).add(node)
                tagged.setdefault(variant, set()).add(lang[:2])
    spoken = Counter(languages.values())
    return Types(
        {text: frozenset(found) for text, found in by_text.items()},
        languages,
        {text: frozenset(found) for text, found in tagged.items()},
        frozenset(code for code, count in spoken.items() if 2 * count >= max(spoken.values())),
        {iri.rsplit("/", 1)[-1]: node for node, iri in zip(nodes.tolist(), iris, strict=True)},
        world.kept(_categories),
    )


def _categories(world: World) -> Bytes:
    found, upward = np.zeros(world.size, np.uint8), OF_TYPE.model_copy(update={"inverse": True})
    if "P2" not in world.adjacency.by_code:
        return found
    own = world.adjacency.categories
    for combined in np.flatnonzero(world.kept(_of_categories)).tolist():
        entities = np.flatnonzero(world.entities & (own == combined)).astype(np.int32)
        found[leading_to(world, upward, entities)] |= combined | ANY
    return found


def entities_of(world: World, target: Target) -> Ints:
    """The entities of a target, ascending."""
    return np.flatnonzero(targeted(world, target)).astype(np.int32)


def occurs(world: World, target: Target) -> bool:
    """Whether a target of classes, of categories or of types has entities, without looking for all of them."""
    if target.classes:
        return bool(world.kept(_of_classes)[target_classes(world, target)].any())
    return categories_of(world, target) != 0


def categories_of(world: World, target: Target) -> int:
    """The categories of the entities of a target, and ``ANY`` where there are some.

    Of types and of categories without looking for all of these.
    """
    if target.classes:
        found = world.adjacency.categories[entities_of(world, target)]
    elif target.types:
        found = world.kept(types_of).categories[world.nodes_of(target.types)]
    else:
        wanted = sum(int(Category[name]) for name in set(target.categories))
        found = np.flatnonzero(world.kept(_of_categories)).astype(np.uint8)
        found = found[(found & wanted) != 0] if wanted else found
    return int(np.bitwise_or.reduce(found, initial=0)) | (ANY if len(found) and not target.types else 0)


def without(world: World, target: Target, less: Target) -> Ints:
    """The entities of a target that are none of another, ascending."""
    return np.flatnonzero(targeted(world, target) & ~targeted(world, less)).astype(np.int32)


def overlap(world: World, target: Target, other: Target) -> bool:
    """Whether two targets have an entity in common."""
    return bool((targeted(world, target) & targeted(world, other)).any())


def _of_classes(world: World) -> Longs:
    """How many entities each class has, int64 [classes]; those of sub-classes do not count."""
    ptr, classes = world.graph.type_rows
    return np.bincount(
        classes[np.repeat(world.entities, np.diff(ptr))], minlength=len(world.graph.class_codes)
    )


def _of_categories(world: World) -> Longs:
    """How many entities have each combination of categories, int64 [256]."""
    return np.bincount(world.adjacency.categories[world.entities], minlength=1 << 8)


def prefixes_of(world: World) -> list[tuple[str, Target]]:
    """What the names of nearly all entities of a class begin with, "Digital copy of …", with the narrowest such class."""
    graph, found = world.graph, dict[str, tuple[int, Target]]()
    for number in range(len(graph.class_codes)):
        code, iri = graph.class_name(number), graph.class_iri(number)
        target = Target(classes=(code if code in world.ontology.classes else iri,))
        counts = world.kept(_of_classes)
        if counts[target_classes(world, target)].sum() < LEAST_ALIKE:  # who has several is counted by each
            continue
        nodes = entities_of(world, target)
        if len(nodes) < LEAST_ALIKE:
            continue
        sample = nodes[:: max(1, len(nodes) // 50)].tolist()
        begun = Counter(
            match[1]
            for node in sample
            for label in graph.labels(node)
            if (match := _PREFIX.match(label.text))
        )
        for prefix, times in begun.most_common(2):
            if times > len(sample) * 0.7 and len(nodes) < found.get(prefix, (world.size + 1, target))[0]:
                found[prefix] = len(nodes), target
    return [(prefix, target) for prefix, (_, target) in found.items()]


Stems = frozenset[str]
Phrase = tuple[str, ...]
"""Stems in order."""
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


@lru_cache(maxsize=16)
def words_table(name: str) -> Mapping[str, Any]:
    text = (default_folder() / "words" / f"{name}.yaml").read_text(encoding="utf-8")
    table: Mapping[str, Any] = yaml.load(text, Loader=_LOADER)
    return table


@dataclass(frozen=True)
class RelationWords:
    """By which a relation is asked for: ``says`` in either direction, ``ends`` by a noun for its range, ``starts`` by one for
    its domain; ``forward`` and ``backward``: phrases between domain and range, and between range and domain, each word as its
    forms share it (`Language.form`).

    Of several words, in their order: ``phrases`` and ``noun_phrases``, as stems; ``leading``: of ``says`` what only some of
    those do who take part.
    """

    says: Stems
    ends: Stems
    starts: Stems
    forward: tuple[Phrase, ...] = ()
    backward: tuple[Phrase, ...] = ()
    phrases: tuple[Phrase, ...] = ()
    noun_phrases: tuple[Phrase, ...] = ()
    leading: Stems = frozenset()


@dataclass(frozen=True)
class Vocabulary:
    """General words of one language: of relations by id, of classes by code (what happens, and what it is called), and of
    properties by step."""

    relations: Mapping[str, RelationWords]
    classes: Mapping[str, Stems]
    properties: Mapping[tuple[str, bool], Stems]


def with_forms(texts: Iterable[str], table: Mapping[str, Any]) -> list[str]:
    """The texts, each verb with its further forms (``forms`` of a table of words), which stems do not tell."""
    return [form for text in texts for form in (text, *table.get("forms", {}).get(text, ()))]


@lru_cache(maxsize=len(LANGUAGES))
def vocabulary(code: str) -> Vocabulary:
    """The general words of a language."""
    code = code if code in LANGUAGES else "en"
    own, table = language(code), words_table(code)

    def single(texts: Iterable[str]) -> Stems:
        return frozenset(own.stem(words[0]) for text in texts if len(words := tokenize(text)) == 1)

    def verbs_of(entry: Mapping[str, Any], role: str) -> list[str]:
        return with_forms(entry.get(role, ()), table)

    def several(texts: Iterable[str]) -> tuple[Phrase, ...]:
        return tuple(tuple(map(own.stem, words)) for text in texts if len(words := tokenize(text)) > 1)

    relations = {
        id: RelationWords(
            says=single(verbs_of(entry, "says")),
            ends=single(entry.get("ends", ())),
            starts=single(entry.get("starts", ())),
            forward=tuple(tuple(map(own.form, tokenize(text))) for text in entry.get("forward", ())),
            backward=tuple(tuple(map(own.form, tokenize(text))) for text in entry.get("backward", ())),
            phrases=several(entry.get("says", ())),
            noun_phrases=several(entry.get("ends", ())),
            leading=own.all_stems(entry.get("leading", ())),
        )
        for id, entry in table["relations"].items()
    }
    classes = {
        name: own.all_stems([*entry.get("nouns", ()), *verbs_of(entry, "verbs"), *entry.get("agents", ())])
        for name, entry in table["classes"].items()
    }
    properties = {
        (name, ahead): own.all_stems(verbs_of(entry, "forward" if ahead else "inverse"))
        for name, entry in table["properties"].items()
        for ahead in (True, False)
    }
    return Vocabulary(relations, classes, properties)


@lru_cache(maxsize=len(LANGUAGES))
def translations(code: str) -> Mapping[str, Stems]:
    """By a stem of English the stems that stand for it in a language: those of the list that says the least besides."""
    ours, theirs = words_table("en"), words_table(code)
    english, own, found = language("en"), language(code), dict[str, tuple[int, Stems]]()
    for section in ("relations", "classes", "properties"):
        for name, entry in ours[section].items():
            for role, texts in entry.items():
                said = own.all_stems(with_forms(theirs[section].get(name, {}).get(role, ()), theirs))
                if not said or (section == "relations" and role in ("forward", "backward")):
                    continue
                known = english.all_stems(with_forms(texts, ours))
                for stem in known:
                    fewest, stems = found.get(stem, (len(known), frozenset()))
                    if len(known) <= fewest:
                        found[stem] = len(known), said | stems if len(known) == fewest else said
    return {stem: stems for stem, (_, stems) in found.items()}


def translated(texts: Iterable[str], code: str) -> Stems:
    """By which English words are asked for in another language, as far as the tables have both."""
    known = translations(code) if code in LANGUAGES and code != "en" else {}
    return frozenset[str]().union(*(known.get(stem, ()) for stem in language("en").all_stems(texts)))


@lru_cache(maxsize=len(LANGUAGES))
def verbs(code: str) -> frozenset[str]:
    """The stems by which a relation is said and by which none of its ends is named: verbs, as far as the words tell."""
    every = vocabulary(code).relations.values()
    nouns = frozenset().union(*(one.ends | one.starts for one in every))
    return frozenset().union(*(one.says for one in every)) - nouns


DATED = (
    "created_on", "born_on", "died_on", "active_on", "founded_on", "dissolved_on", "modified_on", "acquired_on", "found_on",
    "exhibited_on", "destroyed_on",
)  # fmt: skip
"""Relations to the date of an event, each said by the verbs of its kind of event."""


@lru_cache(maxsize=len(LANGUAGES))
def acts(code: str) -> Mapping[str, Stems]:
    """The kinds of events that have verbs of their own, and the stems of these and of their nouns in a language."""
    own = language(code)
    return {
        name: own.all_stems([*entry["words"].get(code, ()), *entry["verbs"].get(code, ())])
        for name, entry in words_table("kinds")["kinds"].items()
        if "verbs" in entry
    }


@lru_cache(maxsize=len(LANGUAGES))
def event_verbs(code: str) -> tuple[tuple[Stems, Stems], ...]:
    """The verbs of each kind of event, as stems: of each kind those of no other, and all. No word of a phrase for any event,
    such as "took place", says of which kind one is."""
    code = code if code in LANGUAGES else "en"
    known, classes = vocabulary(code).relations, words_table(code)["classes"]
    texts = (text for entry in classes.values() for some in entry.values() for text in some)
    loose = language(code).all_stems(text for text in texts if len(tokenize(text)) > 1)
    kinds = [known[id].says for id in DATED if id in known]
    times = Counter(stem for says in kinds for stem in says)
    return tuple((frozenset(stem for stem in says - loose if times[stem] == 1), says) for says in kinds)


def verbs_of_events(acts: Collection[str], code: str) -> Stems:
    """All verbs of the kinds of events of which some stems speak: a "find" is what was discovered, too."""
    return frozenset().union(*(said for own, said in event_verbs(code) if not own.isdisjoint(acts)))


@dataclass(frozen=True, slots=True)
class PhraseSpan:
    """The words ``first`` to before ``last`` say one of ``relations`` (in the order of the catalogue) in a role: ``ends`` for
    a noun of the far end, ``forward`` else, ``loose`` where a small word may say it."""

    first: int
    last: int
    role: Literal["forward", "backward", "ends", "loose"]
    relations: tuple[str, ...]

    def __len__(self) -> int:
        return self.last - self.first


def relation_spans(code: str, words: Sequence[str]) -> tuple[PhraseSpan, ...]:
    """Every word and phrase of relations among folded words, by position, the longest first; they may overlap.

    A word may be "" where none is to be read, as of names.
    """
    own, (table, between) = language(code), _said(code)
    stems = [own.stem(word) if word else "" for word in words]
    forms = [own.form(word) for word in words]
    found = []
    for first in range(len(words)):
        for last in range(min(len(words), first + LONGEST_PHRASE), first, -1):
            small = last - first == 1 and words[first] in own.stop
            if small or not all(words[first:last]):
                continue
            said = table.get(tuple(stems[first:last]), {}), between.get(tuple(forms[first:last]), {})
            for role in dict.fromkeys(role for roles in said for role in roles):
                ids = dict.fromkeys(id for roles in said for id in roles.get(role, ()))
                found.append(PhraseSpan(first, last, role, tuple(ids)))
    return tuple(found)


def said_of(id: str, code: str) -> tuple[str, ...]:
    """The words by which a relation is asked for in a language, as the table has them."""
    entry = words_table(code)["relations"].get(id, {})
    return tuple(word for role in ("says", "ends", "starts") for word in entry.get(role, ()))


LONGEST_PHRASE = 5  # words


Roles = dict[Literal["forward", "backward", "ends"], list[str]]
"""Ids of relations by the role in which words say them."""


@lru_cache(maxsize=len(LANGUAGES))
def _said(code: str) -> tuple[Mapping[Phrase, Roles], Mapping[Phrase, Roles]]:
    """Relations by the stems that say them, and by the forms of phrases between their ends."""
    code = code if code in LANGUAGES else "en"
    by_stems, by_forms = dict[Phrase, Roles](), dict[Phrase, Roles]()
    for id, words in vocabulary(code).relations.items():
        parts: tuple[
            tuple[dict[Phrase, Roles], Literal["forward", "backward", "ends"], Iterable[Phrase]], ...
        ] = (
            (by_stems, "forward", (*((stem,) for stem in sorted(words.says)), *words.phrases)),
            (by_forms, "forward", words.forward),
            (by_forms, "backward", words.backward),
            (by_stems, "ends", (*((stem,) for stem in sorted(words.ends)), *words.noun_phrases)),
        )
        for table, role, phrases in parts:
            for phrase in phrases:
                ids = table.setdefault(phrase, {}).setdefault(role, [])
                if id not in ids:
                    ids.append(id)
    return by_stems, by_forms


@dataclass(frozen=True)
class Kind:
    """What a noun may stand for: a target and its entities (ascending), which are looked for when they are first asked for.

    ``cost``: how unlikely it is to be meant; ``generic``: all of a category; ``only``: what else holds of them, such
    as that a painter made something; ``concepts``: the nodes of its types; ``less``: classes of which none is meant.
    """

    target: Target
    members: Callable[[], Ints] = field(repr=False, compare=False)
    cost: float
    generic: bool = False
    only: Related | None = None
    concepts: tuple[int, ...] = ()
    less: tuple[str, ...] = ()

    @property
    def nodes(self) -> Ints:
        return self.members()


HOLDING = frozenset({"P49", "P50", "P51", "P52"})
"""Properties to who keeps or owns something."""
GROUPS = frozenset({"E74", "E40", "F11"})
"""Classes of groups, which have members, and are founded where people are born."""


# Which small words lead to the end of a property, by their roles in the language files.
PREPOSITIONS: Mapping[str, frozenset[str]] = {
    code: frozenset(roles.split())
    for roles, codes in (
        ("agent of from", "P14 P23 P28 P02 P15"),
        ("agent of with", "P11"),
        ("agent to", "P22 P29"),
        ("of from place", "P52 P51 P49 P50 P105"),
        (
            "of from place time",
            "P7 P55 P53 P54 P74 P89 P8 P46i P106i P148i P128i P59i P9i P117 P10 P16i P12i O21",
        ),
        ("of from place time", "P11i P110i P31i P107i"),
        ("of from material", "P45 P126"),
        ("agent place with material", "P32"),
        ("agent with material", "P33"),
        ("of with material", "P2"),
        ("of with about", "P62 P138 P129 P67 P65 K34"),
        ("of with place", "P44"),
        ("of with", "P46 P106 P148 P128 P59 P9 P56 P43 P107 P1 P102 P16 K14 K17"),
        ("place material", "P72"),
        ("from place time", "P4"),
        ("to", "P20 P101 P103 P17 P26"),
        ("from", "P27"),
        ("of from", "P96 P97 P152 P130"),
    )
    for code in codes.split()
}
WHEREABOUTS = frozenset(["P7i", "P8i", "P26i", "P27i", "P53i", "P54i", "P55i", "P74i", "P89i"])
"""Steps from a thing to where it is: what stands behind "in" is no thing of which this is asked."""


ACTIVE = frozenset({"depicts", "about", "refers_to", "symbolizes"})
"""Relations whose verbs have a thing for their subject, so that what *shows* X is asked in the words of what X shows."""


def ends_of(relation: Relation, world: World, inverse: bool) -> tuple[str, str]:
    """The property by which a relation is led back to its near end, and that which leads to its far one; as steps."""
    steps = (
        [step.rstrip("*!") for step in relation.paths[0] if not step.endswith("*")] if relation.paths else []
    )
    first, last = (steps[0], steps[-1]) if steps else ("", "")
    turned = world.ontology.inverse(first)
    back = turned or (first[1:] if first.startswith("^") else f"^{first}")
    return (last, back) if inverse else (back, last)


@dataclass(frozen=True, slots=True)
class Kin:
    """A relation that a property is called like; ``inverse``: the property leads from its range to its domain."""

    relation: str
    inverse: bool


def _alike(world: World, code: str, text: str, near: int, far: int) -> Iterator[tuple[Kin, float]]:
    """The relations between two masks of categories that share words with a property's name, and how much of it they say.

    A noun says what a property leads to, "finder", or before a preposition what it leads from: "pupil of".
    """
    own, words = language(code), tokenize(text)
    stems = {own.stem(word) for word in words if word not in own.stop}
    forms = tuple(map(own.form, words))
    behind = own.preposition_roles(words[-1]) if words and words[-1] in own.stop else None
    for id, said in vocabulary(code).relations.items():
        relation = world.relations.get(id)
        if relation is None or relation.value != "entity":
            continue
        domain, range = (
            sum(int(Category[one]) for one in ends) for ends in (relation.domain, relation.range)
        )
        for inverse in (False, True):
            low, high = (range, domain) if inverse else (domain, range)
            if not far or far & high != far:
                continue
            phrases = said.backward if inverse else said.forward
            spoken = any(
                phrase == forms or (len(phrase) > 1 and phrase == forms[-len(phrase) :]) for phrase in phrases
            )
            leads = PREPOSITIONS.get(ends_of(relation, world, inverse)[1], ())
            if behind is not None and not spoken and behind.isdisjoint(leads):
                continue
            turned = behind is not None and not behind.isdisjoint(("of", "to"))
            nouns = stems & (said.starts if inverse != turned else said.ends)
            gained = len(nouns) + 0.6 * len(stems & said.says - nouns) + spoken
            if near & low != near:
                gained *= FOREIGN * bool(nouns and not turned)
            if gained:
                yield Kin(id, inverse), gained + 0.1 * (behind is not None)


FOREIGN = 0.5
"""What a noun for what a property leads to counts where it leads from things of another category than the relation: the
proprietor of a workshop."""


def longest_phrase(words: Sequence[str], phrases: Sequence[tuple[str, ...]]) -> int:
    """The length of the longest of some phrases that stand in words; 0 for none."""
    text = f" {' '.join(words)} "
    return max((len(phrase) for phrase in phrases if f" {' '.join(phrase)} " in text), default=0)


@lru_cache(maxsize=len(LANGUAGES))
def date_stems(code: str) -> Stems:
    """The stems of a language's nouns for dates: "date", "year"."""
    return language(code).all_stems(words_table("kinds")["kinds"]["date"]["words"].get(code, ()))


@dataclass
class Lexicon:
    """The words of one data set; those of a language are made when it is first asked in."""

    world: World
    schema: Schema
    _kinds: dict[str, KindWords] = field(default_factory=dict)
    _steps: dict[tuple[str, str], Stems] = field(default_factory=dict)
    _kin: dict[str, Kin | None] = field(default_factory=dict)
    _inverses: dict[str, str] = field(default_factory=dict)
    _leads: dict[str, frozenset[str]] = field(default_factory=dict)
    _typed: dict[str, dict[str, Ints]] = field(default_factory=dict)
    _dimensions: dict[str, dict[str, Ints]] = field(default_factory=dict)
    _units: dict[str, Stems] = field(default_factory=dict)
    _classes: dict[tuple[str, str], Stems] = field(default_factory=dict)
    _own_links: dict[str, Mapping[str, Stems]] = field(default_factory=dict)

    @classmethod
    def from_release(cls, release: Release) -> Lexicon:
        return cls(release[World], release[Schema])

    def kinds(self, code: str) -> KindWords:
        """The nouns of a language."""
        if code not in self._kinds:
            self._kinds[code] = KindWords(
                self.world,
                language(code),
                lambda id: bool(self.schema.table.ends(self.world, id)[0]),
                *self._said_of_ends(code),
            )
        return self._kinds[code]

    def _said_of_ends(self, code: str) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
        """The properties of the data's own by what they lead to: by the stem of a verb for what people did ("worn by"), and
        by a noun for what is of one category ("publisher", "ingredient")."""
        own, actor = language(code), int(Category.Actor)
        verbs, nouns = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
        for iri, number in self.world.property_numbers.items():
            category = self._categories(self._ends(iri)) if iri not in self.world.ontology.properties else 0
            for text in (
                {self.world.graph.property_label(number, False, code), local_words(iri)} if category else ()
            ):
                words = tokenize(fold(text))
                if len(words) == 1 and category.bit_count() == 1 and not own.is_participle(words[0]):
                    nouns[words[0]].add(iri)
                elif len(words) > 1 and category & actor and "agent" in own.preposition_roles(words[-1]):
                    verbs[own.stem(words[-2])].add(iri)
        return verbs, nouns

    def _ends(self, step: str) -> frozenset[int]:
        """The kinds of nodes that a step leads to."""
        return frozenset[int]().union(*(steps[step] for steps in self.schema.steps if step in steps))

    @cached_property
    def uses(self) -> int:
        """In events of how many classes things are used (P16)."""
        return len({code for kind in self._ends("P16i") for code in self.schema.codes[kind]})

    @cached_property
    def acquired_so(self) -> float:
        """Of which share of acquisitions it is told of which kind they were, by a type or a class of its own; 1 for none."""
        way = Way(relations=("acquisition",), inverse=True, direct=True)
        every = np.flatnonzero(leading_to(self.world, way, None))
        typed = leading_to(self.world, Way(paths=(("P2",),)), None)[every]
        plain = [kind for kind, codes in enumerate(self.schema.codes) if {"E8"} >= {*codes}]
        own = ~np.isin(self.schema.kind[every], plain)
        return float((typed | own).mean()) if len(every) else 1.0

    def speaks(self, code: str, declared: Container[str]) -> bool:
        """Whether the data name kinds in a language, so that a noun of it which they lack tells something; by the languages
        that are ``declared`` where names have no tag, or there are none."""
        main = self.world.kept(types_of).main
        return code in main or ((not main or "" in main) and code in declared)

    def step_stems(self, step: str, code: str) -> Stems:
        """By which a step of a path is asked for."""
        key = (code, step)
        if key not in self._steps:
            self._steps[key] = self._step_stems(step, code)
        return self._steps[key]

    def _step_stems(self, step: str, code: str) -> Stems:
        own, words = language(code), vocabulary(code)
        name, ahead = step.removeprefix("^"), not step.startswith("^")
        ontology, graph = self.world.ontology, self.world.graph
        term = ontology.properties.get(name)
        if term is not None:
            base, way = name, ahead
            if name.endswith("i") and ontology.inverse(name):
                base, way = ontology.inverse(name) or name, not ahead
            texts = [term.labels.get(code, "")] if ahead else []
            said = words.properties.get((base, way), frozenset()) | own.all_stems(texts)
            return said or translated([term.labels.get("en", "")], code)
        number = self.world.property_numbers.get(name)
        if number is None:
            return frozenset()
        texts = [graph.property_label(number, not ahead, code), local_words(name)]
        texts += filter(None, [graph.property_labels(number).get(code)])  # says it the other way round, too
        found = own.all_stems(texts) | translated(texts, code)
        nouns = (fold(text).rpartition(" ")[2] for text in texts)
        found = found.union(*map(own.verbs_of, nouns))  # "sent", of what is called "sender"
        if (kin := self.kin(step)) is not None:
            kindred = words.relations[kin.relation]
            found |= kindred.says | (kindred.starts if kin.inverse else kindred.ends)
        return found

    def far_stems(self, step: str, code: str) -> Stems:
        """The nouns in the name of a property of the data's own for what it leads to: what stands behind a small word,
        "lot in *auction*", or all, "*decoration* conferred"; none where it ends in one, "worn by"."""
        number = self.world.property_numbers.get(step)
        if number is None or step in self.world.ontology.properties:
            return frozenset()
        own = language(code)
        words = tokenize(fold(self.world.graph.property_label(number, False, code) or local_words(step)))
        small = [at for at, word in enumerate(words) if word in own.stop]
        return own.all_stems(words[small[-1] + 1 if small else 0 :])

    @cached_property
    def own_properties(self) -> Mapping[str, int]:
        """The properties of the data's own, by IRI."""
        known = self.world.property_numbers.items()
        return {iri: number for iri, number in known if normalise_property(iri) is None}

    @cached_property
    def own_literals(self) -> Mapping[str, int]:
        """Those that state literals."""
        stated = self.world.with_literals
        return {iri: number for iri, number in self.own_properties.items() if number in stated}

    def own_links(self, code: str) -> Mapping[str, Stems]:
        """The stems of what each of those is called that lead to other nodes."""
        if code not in self._own_links:
            own, graph = language(code), self.world.graph
            self._own_links[code] = {
                iri: own.all_stems([graph.property_labels(number).get(code) or graph.property_label(number)])
                for iri, number in self.own_properties.items()
                if iri not in self.own_literals
            }
        return self._own_links[code]

    def kin(self, step: str) -> Kin | None:
        """The relation that a property of the data's own is called like in any language, between things of its categories:
        "executed by", from a thing to a person, is asked for by all words for who created it. None for none, or several."""
        if step not in self._kin:
            self._kin[step] = self._called_like(step)
        return self._kin[step]

    def own_inverse(self, step: str) -> str:
        """The property of the data's own that says the same the other way round, as a step that leads the way of this one:
        what one record says by "learned from" another says by "taught". "" for none, or several."""
        if step not in self._inverses:
            kin, ahead = self.kin(step), step.startswith("^")
            others = (("" if ahead else "^") + name for name in self.world.property_numbers)
            found = [one for one in others if self.kin(one) == kin] if kin is not None else []
            self._inverses[step] = found[0] if len(found) == 1 else ""
        return self._inverses[step]

    def _called_like(self, step: str) -> Kin | None:
        name, inverse = step.removeprefix("^"), step.startswith("^")
        number = self.world.property_numbers.get(name)
        if number is None or name in self.world.ontology.properties:
            return None
        if inverse:
            other = self.kin(name)
            return None if other is None else Kin(other.relation, not other.inverse)
        starts = [kind for kind, steps in enumerate(self.schema.steps) if step in steps]
        near = self._categories(starts)
        far = self._categories(self._ends(step))
        points: dict[Kin, float] = defaultdict(float)
        labels, graph = self.world.graph.property_labels(number), self.world.graph
        for code in LANGUAGES:
            own = {local_words(name), graph.property_label(number)} if code == "en" else set[str]()
            for text in own | {labels[code]} if code in labels else own:
                for kin, gained in _alike(self.world, code, fold(text), near, far):
                    points[kin] += gained
        best = sorted(points.items(), key=lambda one: -one[1])[:2]
        return best[0][0] if best and (len(best) == 1 or best[0][1] > best[1][1]) else None

    def leads(self, step: str) -> frozenset[str]:
        """The roles of the small words before what a step leads to: those of its property, or, of one of the data's own, of
        the small word that its name ends or begins with, "addressed *to*", "*at* hospital"; none for none."""
        if step not in self._leads:
            self._leads[step] = PREPOSITIONS.get(step) or self._leads_by_name(step)
        return self._leads[step]

    def _leads_by_name(self, step: str) -> frozenset[str]:
        number = self.world.property_numbers.get(step)
        if number is None or step in self.world.ontology.properties:
            return frozenset()
        graph = self.world.graph
        named = [("en", local_words(step)), ("en", graph.property_label(number))]
        for code, text in (*named, *graph.property_labels(number).items()):
            if code in LANGUAGES and len(words := tokenize(fold(text))) > 1:
                own = language(code)
                if roles := own.preposition_roles(words[-1]) or own.preposition_roles(words[0]):
                    return roles
        return frozenset()

    def _categories(self, kinds: Iterable[int]) -> int:
        return int(np.bitwise_or.reduce([int(self.schema.category[kind]) for kind in kinds] or [0]))

    @cached_property
    def numbers(self) -> dict[str, str]:
        """The properties of the data's own that state numbers, by IRI: the relation of the catalogue that each is called like
        ("length in cm"), "" for none."""
        world, found = self.world, dict[str, str]()
        for iri, number in self.own_literals.items():
            rows = np.flatnonzero(world.literal_property == number)[:SAMPLED]
            if numbers(world, rows)[0].mean() >= MOSTLY:
                found[iri] = self._called_as(iri, number, "number")
        return found

    @cached_property
    def measures(self) -> dict[str, str]:
        """The properties of the data's own that lead to measures or sums of money, by IRI: the relation to a number that each
        is called like ("cost"), "" for none."""
        found, ontology = dict[str, str](), self.world.ontology
        for iri, number in self.own_properties.items():
            codes = {code for kind in self._ends(iri) for code in self.schema.codes[kind]}
            if any(ontology.is_a(code, "E54") for code in codes & ontology.classes.keys()):
                found[iri] = self._called_as(iri, number, "number")
        return found

    def _called_as(self, iri: str, number: int, value: Literal["number", "date"]) -> str:
        """The relation to a number or date that a property is called like in most languages, but for its being a year; "" for
        none."""
        graph, called = self.world.graph, Counter[str]()
        known = [id for id, one in self.world.relations.items() if one.value == value]
        for code, text in (graph.property_labels(number) | {"en": graph.property_label(number)}).items():
            if code in LANGUAGES:
                stems, said = language(code).all_stems([text, local_words(iri)]), vocabulary(code).relations
                stems -= date_stems(code)
                called.update(id for id in known if id in said and stems & (said[id].ends | said[id].says))
        return called.most_common(1)[0][0] if called else ""

    @cached_property
    def years(self) -> dict[str, str]:
        """The properties of the data's own that state years, by IRI: their datatype, or "" for numbers that are called years
        in any language."""
        world, table = self.world, self.world.graph.literal_table
        found = {
            iri: ""
            for iri in self.numbers
            for code in LANGUAGES
            if self.step_stems(iri, code) & date_stems(code)
        }
        for iri, number in self.own_literals.items():
            rows = np.flatnonzero(world.literal_property == number)[:SAMPLED]
            datatypes = [table.column("datatype")[int(row)].as_py() for row in rows]
            if datatypes.count(YEAR) >= MOSTLY * len(rows):
                found[iri] = YEAR
        return found

    @cached_property
    def years_of(self) -> dict[str, str]:
        """The properties that state years, by IRI: the relation to a date that each is called like ("birth year"), or ""."""
        numbers = self.world.property_numbers
        return {iri: self._called_as(iri, numbers[iri], "date") for iri in self.years}

    def dimension_types(self, code: str) -> dict[str, Ints]:
        """The types of dimensions by each stem of their names: "seats" for the seating capacity."""
        if code not in self._dimensions:
            own, found = language(code), defaultdict[str, set[int]](set)
            if "P2" in self.world.adjacency.by_code and self.schema.table.ends(self.world, "dimension")[0]:
                back = Way(paths=(("P2i",),), then=Way(relations=("dimension",), inverse=True))
                for node in np.flatnonzero(leading_to(self.world, back, None)).tolist():
                    for label in self.world.graph.labels(node):
                        for stem in own.stems(fold(label.text)):
                            found[stem].add(node)
            self._dimensions[code] = {stem: np.array(sorted(some), np.int32) for stem, some in found.items()}
        return self._dimensions[code]

    def unit_stems(self, code: str) -> Stems:
        """The stems of the names of all units in which the data gives numbers."""
        if code not in self._units:
            units = np.flatnonzero(leading_to(self.world, Way(paths=(("P91i",),)), None))
            labels = (label.text for unit in units.tolist() for label in self.world.graph.labels(unit))
            self._units[code] = language(code).all_stems(labels)
        return self._units[code]

    @cached_property
    def _typing(self) -> tuple[Ints, Longs, Ints]:
        """The types of events and the roles in participations: nodes, ascending, where the kinds of what has each begin, and
        these."""
        world, keys = self.world, [np.empty(0, np.int64)]
        rows, kind = world.adjacency.forward, self.schema.kind
        event = self.schema.category == int(Category.Event)
        for code in ("P2", *role_steps(world.adjacency)):
            for prop in world.adjacency.by_code.get(code, ()):
                low, high = rows.pairs(prop)
                typed = event[kind[low]] | (code != "P2")
                keys.append(np.unique(high[typed].astype(np.int64) << 32 | kind[low[typed]]))
        every = np.unique(np.concatenate(keys))
        nodes, first = np.unique(every >> 32, return_index=True)
        return nodes.astype(np.int32), np.append(first, len(every)), (every & 0xFFFFFFFF).astype(np.int32)

    def typing(self, node: int) -> frozenset[int]:
        """The kinds of events and participations that have a type or role."""
        nodes, first, kinds = self._typing
        at = int(np.searchsorted(nodes, node))
        return frozenset(kinds[first[at] : first[at + 1]].tolist())

    def typed(self, said: Stems, code: str) -> dict[str, Ints]:
        """By each of the stems that names them, the types of events and the roles that have it, or a noun that is made of it,
        as their head: "conductor", "buried" for a burial."""
        if code not in self._typed:
            own, found = language(code), defaultdict[str, set[int]](set)
            roles = frozenset(self.world.kept(every_role))
            for node in self._typing[0].tolist():
                for label in self.world.graph.labels(node):
                    head = head_of(fold(label.text), label.lang[:2] or code, own)
                    done = self._done_by(head, code) if node in roles else ()
                    for stem in {own.stem(head), *own.verbs_of(head), *done}:
                        found[stem].add(node)
            self._typed[code] = {stem: np.array(sorted(nodes), np.int32) for stem, nodes in found.items()}
        return {stem: self._typed[code][stem] for stem in sorted(said) if stem in self._typed[code]}

    def _done_by(self, noun: str, code: str) -> Stems:
        """The verbs of what those do who have a role, by the relation to them that names it: "*paid* for by" of patrons."""
        known = self.world.relations
        named = (
            words
            for id, words in vocabulary(code).relations.items()
            if id in known and tuple(known[id].range) == ("Actor",) and id not in MAKING
            if language(code).stem(noun) in words.ends
        )
        return frozenset(
            stem for one in named for stem in (*one.says, *(phrase[0] for phrase in one.phrases))
        )

    def happening(self, said: Stems, code: str) -> dict[str, tuple[str, ...]]:
        """By each of the stems that says what happens in them, the classes of events, by code or IRI: "performed"."""
        event = int(Category.Event)
        kinds = [kind for kind in range(len(self.schema.codes)) if self.schema.category[kind] == event]
        found = defaultdict[str, set[str]](set)
        for name in {name for kind in kinds for name in self.schema.codes[kind]}:
            for stem in said & self._stems_of_class(name, code):
                found[stem].add(name)
        return {stem: tuple(sorted(names)) for stem, names in sorted(found.items())}

    def own_class_stems(self, kinds: Collection[int], code: str) -> Stems:
        """By which nodes of some kinds are spoken of that all have a class of the data's own."""
        known = self.world.ontology.classes
        own = [{name for name in self.schema.codes[kind] if name not in known} for kind in kinds]
        names = frozenset[str]().union(*own) if all(own) else ()
        return frozenset().union(*(self._stems_of_class(name, code) for name in names))

    def class_stems(self, kinds: Iterable[int], code: str) -> Stems:
        """By which nodes of some kinds are spoken of: what happens in an event, what a thing is called."""
        names = (name for kind in kinds for name in self.schema.codes[kind])
        return frozenset().union(*(self._stems_of_class(name, code) for name in names))

    def _stems_of_class(self, name: str, code: str) -> Stems:
        key = (name, code)
        if key not in self._classes:
            self._classes[key] = self._words_of_class(name, code)
        return self._classes[key]

    def _words_of_class(self, name: str, code: str) -> Stems:
        words, own = vocabulary(code).classes, language(code)
        if name in words:
            return words[name]
        if name not in self.world.ontology.classes:
            called = local_words(name)
            verbs = own.verbs_of(fold(called).rpartition(" ")[2])  # "treated" of a treatment
            return frozenset((*verbs, *own.stems(called), *translated([called], code)))
        labels = self.world.ontology.classes[name].labels
        return frozenset(own.stems(labels.get(code, ""))) or translated([labels.get("en", "")], code)


OUTNUMBERED = 10
"""How many times as many entities a noun's other classes have than its first where it means both; ours."""
CATEGORIES: tuple[CategoryName, ...] = ("Actor", "Thing", "Concept", "Event")
"""Of what properties of the data's own may lead to by a noun."""
APART = 0.1  # what the noun of one type costs more where it is that of a class as well
SAMPLED, MOSTLY = (
    200,
    0.9,
)  # literals of a property that are looked at, and how many state numbers where it does
MADE_SOMETHING = Related(way=Way(relations=("created_by",), inverse=True))
"""That something was made by those who are meant."""
NARROWER = ("P127", "P127*")
"""The path from a concept to all that are broader."""
ELSEWHERE = 0.6
"""The least cost of a type whose entities are of another category than a general noun of its name."""
SYNONYM = 0.65
"""The cost of the types that another word for the same kind names, where the data has a type of the very word."""
BELOW = 0.65
"""The cost of the kinds of a kind, "how many *bridges*", which are meant where things are told apart by them alone: more than
the margin within which readings are compared, so that no plain question is in doubt for them."""
COGNATE = 7
"""Letters of the shortest stem that may be spelt otherwise."""
VAGUE = 0.55
"""The cost of a noun for which the data has no type or class and that stands for all of its category: "city", for places."""
SHORTEST_PART = 3  # letters of either part of a compound
LINKS = ("s", "es", "n", "en")  # letters that join them
MOST_WORDS = 5  # words of a noun phrase that names a kind


class Labels:
    """Types by their labels, in any number or case; words of one stem that are no forms of one another, "photograph" and
    "photographer", are told apart."""

    def __init__(self, own: Language, by_text: Mapping[str, Iterable[int]]) -> None:
        self._own = own
        self._known: dict[Phrase, list[tuple[Phrase, frozenset[int]]]] = {}
        for text, nodes in by_text.items():
            words = own.label_words(text)
            self._known.setdefault(tuple(map(own.stem, words)), []).append((words, frozenset(nodes)))

    def called(self, text: str) -> set[int]:
        """The types of a name, by node; none for none."""
        said = self._own.label_words(text)
        known = self._known.get(tuple(map(self._own.stem, said)), ())
        return {
            node
            for words, nodes in known
            if len(words) == len(said) and all(map(self._own.is_form_of, said, words))
            for node in nodes
        }


NUMERAL = re.compile(r"\d+|[ivx]+|\w")
"""What tells things of one kind apart: a number, or a letter."""


def head_of(text: str, code: str, reader: Language) -> str:
    """The noun of a phrase in a language: its last word, or its first where adjectives follow it; without the small words of
    who reads it."""
    own, tokens = language(code), tokenize(text)
    of = next(
        (at for at, word in enumerate(tokens) if at and word in own.roles["prepositions.of"]), len(tokens)
    )
    words = [word for word in tokens[:of] if word not in reader.stop] or [""]
    words = [word for word in words if word not in reader.roles["verbs.empty"]] or words  # "breaking up"
    words = [word for word in words if not NUMERAL.fullmatch(word)] or words  # "Grade II"
    return words[-1] if own.head_last else words[0]


class KindWords:
    """Nouns of one language for the kinds of things that the data has: its types and classes by all their labels, and general
    nouns by `config/words/kinds.yaml`."""

    def __init__(
        self,
        world: World,
        own: Language,
        stated: Callable[[str], bool] = lambda relation: False,
        by_whom: Mapping[str, Collection[str]] = MappingProxyType({}),
        to_ends: Mapping[str, Collection[str]] = MappingProxyType({}),
    ) -> None:
        """``stated``: whether the data states a relation; the nouns for people at the ends of others stand for nobody.
        ``by_whom``: by the stem of a verb the properties of the data's own that say by whom it was done; ``to_ends``: by a
        noun those that lead to what it is for."""
        self.world, self.own, self._stated, self._by_whom, self._to_ends = (
            world,
            own,
            stated,
            by_whom,
            to_ends,
        )
        self._phrases: dict[Phrase, list[tuple[Phrase, Kind]]] = {}
        self._forms: dict[Phrase, set[Phrase]] = {}
        self._heads: dict[str, set[int]] = {}
        self._opening: set[str] = set()  # small words with which names begin
        self._generic: set[str] = set()
        self._alike: dict[Phrase, set[str]] = {}
        self._made: dict[tuple[Target, tuple[str, ...]], Ints] = {}
        self._limits: dict[tuple[Target, Related], Ints] = {}
        self._occurring_codes = frozenset(world.graph.class_codes)
        above = (
            world.ontology.superclasses(code)
            for code in self._occurring_codes
            if code in world.ontology.classes
        )
        self._codes = self._occurring_codes.union(*above)
        self._types = world.kept(types_of)
        by_label = self._add_types()
        self._add_classes()
        self._add_prefixes()
        self._add_general(by_label)
        self._add_heads()
        self._add_roles()
        self._add_ends()
        for entry in words_table("kinds")["kinds"].values():
            for word in entry["words"].get(own.code, ()):
                for form in word.split(" / "):
                    self._doubt_others(form, entry)

    def at(self, stems: Sequence[str], words: Sequence[str], start: int) -> list[tuple[int, list[Kind]]]:
        """(length, kinds) of every noun that begins at ``start``; small words within one do not count."""
        found, phrase, said = [], list[str](), list[str]()
        for last in range(start, min(len(stems), start + MOST_WORDS)):
            if words[last] in self.own.stop and (last > start or words[last] not in self._opening):
                if last == start or (self.own.head_last and words[last] in self.own.articles):
                    break  # "who lifted *the* panel" speaks of no lifted panel
                continue
            phrase.append(stems[last])
            said.append(words[last])
            kinds = self._called(tuple(phrase), said)
            if words[last].endswith(self._feminine):  # "Autorinnen" are not all who wrote
                kinds = [replace(one, cost=max(one.cost, VAGUE)) if one.generic else one for one in kinds]
            if kinds:
                found.append((last + 1 - start, kinds))
        if not found and words[start] not in self.own.stop:
            word = words[start]
            kinds = self._compound(word) or self._cognates(stems[start], word) or self._doing(word)
            if kinds:
                found.append((1, kinds))
        return found

    @cached_property
    def _feminine(self) -> tuple[str, ...]:
        return tuple(map(fold, self.own.raw.get("feminine", ())))

    def compounds(self, word: str) -> Iterator[tuple[str, str]]:
        """A word that names no kind itself in two parts of which the second does; the longest noun first."""
        if self._called((self.own.stem(word),), (word,)):
            return
        for at in range(SHORTEST_PART, len(word) - SHORTEST_PART + 1):
            if self._called((self.own.stem(word[at:]),), (word[at:],)):
                first = word[:at]
                yield from (
                    (first.removesuffix(link), word[at:])
                    for link in ("", *LINKS)
                    if first.endswith(link) and len(first) - len(link) >= SHORTEST_PART
                )

    def _called(self, phrase: Phrase, said: Sequence[str]) -> list[Kind]:
        """The kinds that a phrase names in any number or case: "publishers" is a publisher, "published" is not."""
        keys = (phrase, *sorted(self._forms.get(phrase, ())))
        known = sorted(
            (one for key in keys for one in self._phrases.get(key, ())), key=lambda one: one[1].cost
        )
        fitting = (kind for words, kind in known if all(map(self.own.is_form_of, said, words)))
        found = list({(one.target, one.only): one for one in fitting}.values())
        if any(not one.generic and one.cost < VAGUE for one in found):  # singers are not all persons
            found = [
                replace(one, cost=2 * VAGUE) if one.generic and one.cost == VAGUE else one for one in found
            ]
        return found

    def alike(self, text: str) -> frozenset[str]:
        """The words of all languages for the general noun that a text is, folded: "grave" and "tomb" for "Grab"."""
        return frozenset(self._alike.get(self.own.stems(text), ()))

    def general(self, word: str) -> list[Kind]:
        """The kinds of a general noun in English ("work"), whatever the language."""
        return self._general.get(word, [])

    def acts(self, said: Stems) -> list[Target]:
        """The kinds of events that verbs or nouns among some stems speak of, "*bequeathed*": the data's types that are called
        so, and the classes; none where nothing tells them apart."""
        named = [name for name, stems in acts(self.own.code).items() if not stems.isdisjoint(said)]
        nodes = {node for name in named for one in self._general[name] for node in one.concepts}
        events = (node for node in sorted(nodes) if self._types.categories[node] & int(Category.Event))
        entries = (words_table("kinds")["kinds"][name] for name in named)
        classes = {
            code
            for entry in entries
            for code in (*self._own_classes_of(entry), *entry.get("otherwise", ()))
            if occurs(self.world, Target(classes=(code,)))
        }
        both = Target(types=tuple(map(self.world.graph.iri, events))), Target(classes=tuple(sorted(classes)))
        return [one for one in both if one != Target()]

    # making

    def _add(self, text: str, kind: Kind, instead: bool = False) -> None:
        """A name of a kind, with its irregular plural or singular; ``instead`` of kinds of that name with fewer types."""
        for words in self.own.numbers_of(self.own.label_words(text)):
            phrase = tuple(map(self.own.stem, words))
            if words and words[0] in self.own.stop:
                self._opening.add(words[0])
            known = self._phrases.setdefault(phrase, [])
            at = -1 if self.own.head_last else 0
            for stem in self.own.other_stems(words[at]) if words else ():
                other = (*phrase[:-1], stem) if self.own.head_last else (stem, *phrase[1:])
                self._forms.setdefault(other, set()).add(phrase)
            if instead and kind.concepts and kind.only is None:
                known[:] = [
                    one
                    for one in known
                    if not one[1].concepts or not set(one[1].concepts) < set(kind.concepts)
                ]
            if all(
                kind.target != one.target or kind.only != one.only or said != words for said, one in known
            ):
                known.append((words, kind))
                known.sort(key=lambda one: one[1].cost)

    def _kind(self, target: Target, cost: float, less: tuple[str, ...] = ()) -> Kind:
        return Kind(target, partial(self._nodes, target, less), cost, less=less)

    def _nodes(self, target: Target, less: tuple[str, ...]) -> Ints:
        key = (target, less)
        if key not in self._made:
            found = (
                without(self.world, target, Target(classes=less)) if less else entities_of(self.world, target)
            )
            self._made[key] = found
        return self._made[key]

    def _typed(self, types: Sequence[int], cost: float) -> Kind | None:
        if not self._types.categories[np.array(types, np.int64)].any():
            return None
        target = Target(types=tuple(self.world.graph.iri(node) for node in sorted(types)))
        return replace(self._kind(target, cost), concepts=tuple(sorted(types)))

    def _add_types(self) -> Labels:
        """The types by all their labels."""
        by_text, languages = self._types.by_text, self._types.languages
        by_label = Labels(self.own, by_text)
        broader = set(self.world.kept(broader_ones).tolist())
        for text, nodes in by_text.items():
            if (
                0 < len(self.own.stems(text)) <= MOST_WORDS
                and (kind := self._typed(sorted(by_label.called(text)), self._likely(text))) is not None
            ):
                self._add(text, kind)
                self._heads.setdefault(head_of(text, languages.get(text, ""), self.own), set()).update(nodes)
                if any(node in broader for node in nodes):
                    self._add(text, self._narrower(nodes))
        return by_label

    def _likely(self, text: str) -> float:
        """What it costs that a noun means a type whose name a small word ends, "adhesive *only*": it means others as well."""
        last = tokenize(text)[-1]
        return VAGUE if last in self.own.stop and len(self.own.stems(text)) < len(tokenize(text)) else 0.0

    def _narrower(self, nodes: Iterable[int]) -> Kind:
        """The concepts below some, as those by which things are told apart: each *gauge*, the *techniques*."""
        to = Anchor(iris=tuple(map(self.world.graph.iri, sorted(nodes))))
        only = Related(way=Way(paths=(NARROWER,)), to=to)
        return self._limited(Target(categories=("Concept",)), only, BELOW)

    def _add_heads(self) -> None:
        """A noun alone stands for all types that it heads: "paintings" for mural paintings; less likely so where it tells
        types of something else apart as well, "theatre building", or heads one type alone."""
        categories, inside = self._types.categories, dict[str, int]()
        for text, called in self._types.by_text.items():
            mask = int(np.bitwise_or.reduce(categories[list(called)], initial=0)) & ~ANY
            for word in tokenize(text):
                if word != head_of(text, self._types.languages.get(text, ""), self.own):
                    stem = self.own.stem(word)
                    inside[stem] = inside.get(stem, 0) | mask
        broader = set(self.world.kept(broader_ones).tolist())
        for head, nodes in self._heads.items():
            stem = self.own.stem(
                head
            )  # a type of that very name is meant first, and so is told apart from these
            apart = inside.get(stem, 0) & int(np.bitwise_or.reduce(categories[list(nodes)], initial=0))
            exact = any(one.concepts and one.cost <= 0.05 for _, one in self._phrases.get((stem,), ()))
            if (
                head
                and stem not in self._generic
                and len(nodes) <= 200
                and (
                    kind := self._typed(
                        sorted(nodes), 0.65 if exact else VAGUE if apart or len(nodes) < 2 else 0.25
                    )
                )
                is not None
            ):
                self._add(head, kind)
                if below := nodes & broader:
                    self._add(head, replace(self._narrower(below), cost=kind.cost + 0.1))
        self._add_class_heads()

    def _add_class_heads(self) -> None:
        """A noun alone that nothing is called stands for the data's own classes that it heads: "drawings" for botanical
        drawings."""
        heads = dict[str, set[str]]()
        for iri, texts in self._classes.items():
            if iri not in self.world.ontology.classes and occurs(self.world, Target(classes=(iri,))):
                for text in texts:
                    if len(self.own.stems(text)) > 1:
                        heads.setdefault(head_of(fold(text), self.own.code, self.own), set()).add(iri)
        for head, iris in heads.items():
            stem = self.own.stem(head)
            others = self._called((stem,), [head])
            if head and stem not in self._general_nouns and all(one.cost >= VAGUE for one in others):
                # "packs" are of the class of packs rather than of the one type, "advertising pack"
                known = self._phrases.get((stem,), [])
                known[:] = [
                    (words, replace(one, cost=one.cost + APART) if one in others else one)
                    for words, one in known
                ]
                self._add(
                    head, self._kind(Target(classes=tuple(sorted(iris))), 0.25 if len(iris) > 1 else VAGUE)
                )

    def _add_roles(self) -> None:
        """Who took part in something in a role, by what the role is called, and who stands at an end of a relation between
        things and people, by the nouns for that end: donors are those by whom something was given."""
        everybody = Target(categories=("Actor",))
        if not occurs(self.world, everybody):
            return
        for node in self.world.kept(every_role):
            iri = self.world.graph.iri(node)
            only = Related(
                way=Way(paths=tuple(("P02i", code) for code in role_steps(self.world.adjacency))),
                to=Anchor(iris=(iri,)),
            )
            for label in self.world.graph.labels(node):
                self._add(fold(label.text), self._limited(everybody, only, 0.12))
        entries = words_table(self.own.code)["relations"] if self.own.code in LANGUAGES else {}
        for id, entry in entries.items():
            relation = self.world.relations.get(id)
            if relation is None or relation.value != "entity" or not self._stated(id):
                continue
            for role, ends, inverse in (("ends", relation.range, True), ("starts", relation.domain, False)):
                if tuple(ends) == ("Actor",) and id not in MAKING:
                    only = Related(way=Way(relations=(id,), inverse=inverse))
                    for text in entry.get(role, ()):
                        self._add(fold(text), self._limited(everybody, only, 0.3))

    def _add_ends(self) -> None:
        """What a property of the data's own leads to, by its name: ingredients, publishers; the latter beside what a general
        noun for people says."""
        for noun, steps in self._to_ends.items():
            known = self._called((self.own.stem(noun),), [noun])
            for category in CATEGORIES if not known else CATEGORIES[:1]:
                kind = self._at_the_end_of(steps, category)
                if len(kind.nodes):
                    self._add(noun, kind)

    def _at_the_end_of(self, steps: Collection[str], category: CategoryName = "Actor") -> Kind:
        """Those of a category to which any of some properties leads."""
        only = Related(way=Way(paths=tuple((f"^{step}",) for step in sorted(steps))))
        return self._limited(Target(categories=(category,)), only, 0.3)

    def _limited(self, target: Target, only: Related, cost: float) -> Kind:
        """The entities of a target of which a condition holds."""
        return replace(self._kind(target, cost), members=partial(self._held, target, only), only=only)

    def _held(self, target: Target, only: Related) -> Ints:
        key = (target, only)
        if key not in self._limits:
            iris = self.world.nodes_of(only.to.iris) if only.to.iris else None
            self._limits[key] = np.flatnonzero(
                targeted(self.world, target) & leading_to(self.world, only.way, iris)
            ).astype(np.int32)
        return self._limits[key]

    def _add_classes(self) -> None:
        for iri, texts in self._classes.items():  # codes, for those of the ontology
            target = Target(classes=(iri,))
            if occurs(self.world, target):
                for text in sorted(texts):
                    self._add(text, self._kind(target, 0.1))
                    if iri not in self.world.ontology.classes and (part := self._without_general(fold(text))):
                        self._add(part, self._kind(target, 0.3))

    def _without_general(self, text: str) -> str:
        """A name of several words without its noun, where that only says what its classes of the ontology are called: "wreck"
        for a "wreck event", or one of many of a kind, "fossil" for a "fossil specimen"; "" for others, and for what tells
        several classes apart: "mosaic inscription", "mosaic floor"."""
        rest, head = self._parted(text)
        alone = self._parting[rest] == 1 and self.own.stem(head) in self._general_nouns | self._ones_of_many
        return rest if rest and alone else ""

    def _parted(self, text: str) -> tuple[str, str]:
        """What a name says before its noun, and this."""
        words = [word for word in tokenize(text) if word not in self.own.stop] or [""]
        head, rest = (words[-1], words[:-1]) if self.own.head_last else (words[0], words[1:])
        return " ".join(rest), head

    @cached_property
    def _parting(self) -> Counter[str]:
        """Of how many classes of the data's own the names begin with the same words before their noun."""
        own = (texts for iri, texts in self._classes.items() if iri not in self.world.ontology.classes)
        return Counter(rest for texts in own for rest in {self._parted(fold(text))[0] for text in texts})

    @cached_property
    def _ones_of_many(self) -> Stems:
        """What is one of many of its kind is called: specimens, samples."""
        words = words_table("kinds")["kinds"]["specimen"]["words"].get(self.own.code, ())
        return frozenset(map(self.own.stem, words))

    @cached_property
    def _general_nouns(self) -> Stems:
        """The names of the ontology's classes that are one word, event, activity, object, and what events are called."""
        labels = [one.labels.get(self.own.code, "") for one in self.world.ontology.classes.values()]
        labels += words_table("kinds")["kinds"]["campaign"]["words"].get(self.own.code, ())
        return frozenset(stems[0] for label in labels if len(stems := self.own.stems(label)) == 1)

    def class_names(self, name: str) -> Stems:
        """The stems of all words in the names of a class, by its code or IRI."""
        return self.own.all_stems(self._classes.get(name, ()))

    @cached_property
    def _classes(self) -> dict[str, set[str]]:
        """The names of every class, by code or IRI: of the ontology's in this language, of the data's own in all; of these
        those too that others are declared to be below and that nothing is of directly."""
        graph, ontology = self.world.graph, self.world.ontology
        found = dict[str, set[str]]()
        for number in range(len(graph.class_codes)):
            name, iri = graph.class_name(number), graph.class_iri(number)
            known = name in ontology.classes
            texts = found.setdefault(name if known else iri, set())
            texts |= {graph.class_label(number, self.own.code), local_words(iri)}
            texts |= (
                {ontology.classes[name].labels.get(self.own.code, "")}
                if known
                else {*graph.class_labels(number)}
            )
        for iri in self.world.above_all:
            node = graph.node(iri)
            labels = () if node is None else graph.labels(node)
            found[iri] = {local_words(iri), *(label.text for label in labels)}
        return found

    def _add_prefixes(self) -> None:
        """What the names of nearly all entities of a class begin with: "Digital copy of …"."""
        for prefix, target in self.world.kept(prefixes_of):
            self._add(prefix, self._kind(target, 0.05))

    def _add_general(self, by_label: Labels) -> None:
        self._general: dict[str, list[Kind]] = {}
        by_id = self._types.by_id
        entries = words_table("kinds")["kinds"]
        types = {name: self._types_of(entry, by_id, by_label) for name, entry in entries.items()}
        for name, entry in entries.items():
            found = list(self._general_kinds(name, entry, entries, types))
            self._general[name] = found
            every = {
                fold(form) for some in entry["words"].values() for word in some for form in word.split(" / ")
            }
            for word in entry["words"].get(self.own.code, ()):
                for form in word.split(" / "):
                    self._alike.setdefault(self.own.stems(form), set()).update(every)
            if entry.get("generic") == "true":
                self._generic.update(
                    stems[0]
                    for word in entry["words"].get(self.own.code, ())
                    if len(stems := self.own.stems(word)) == 1
                )
            if not found:
                continue
            for word in entry["words"].get(self.own.code, ()):
                for form in word.split(" / "):
                    exact = self._exact(form, entry, by_id, by_label, types[name])
                    classed = self._class_called(form)
                    for kind in [exact, *found[1:]] if exact is not None else found:
                        # "wristwatch" is no watch of any kind
                        wider = classed and classed < set(kind.target.classes)
                        self._add(form, replace(kind, cost=SYNONYM) if wider else kind, instead=True)
                    if exact is not None:
                        self._add(form, replace(found[0], cost=SYNONYM))
                    if types[name]:
                        self._heads.setdefault(head_of(form, self.own.code, self.own), set()).update(
                            types[name]
                        )

    def _class_called(self, text: str) -> set[str]:
        """The classes of the data's own that have the very word as their name."""
        said = tuple(word for word in tokenize(text) if word not in self.own.stop)
        known = self._called(tuple(map(self.own.stem, said)), said)
        return {iri for one in known if len(one.target.classes) == 1 for iri in one.target.classes} - set(
            self.world.ontology.classes
        )

    def _exact(
        self,
        text: str,
        entry: Mapping[str, Any],
        by_id: Mapping[str, int],
        by_label: Labels,
        types: set[int],
    ) -> Kind | None:
        """The types that have the very word as label, with those by identifier; None where no label has it: then any synonym
        will do. The first words of an entry in each language are one name: "église" is what has the label "church"."""
        named = by_label.called(text) & types
        firsts = {code: entry["words"][code][0].split(" / ") for code in LANGUAGES}
        if not named and text in firsts[self.own.code]:
            others = (types & set().union(*map(by_label.called, forms)) for forms in firsts.values())
            named = next(filter(None, others), set())
        found = named | ({by_id[one] for one in entry.get("aat", ()) if one in by_id} & types)
        return self._typed(sorted(found), 0.05) if named and found != types else None

    def _doubt_others(self, text: str, entry: Mapping[str, Any]) -> None:
        """Types of the name of a general noun that are of something else (acts of *painting* are no paintings, pictures of
        saints are no saints), and classes of which it leaves some out."""
        said = tuple(word for word in tokenize(text) if word not in self.own.stop)
        phrase = tuple(map(self.own.stem, said))
        wanted = sum(int(Category[name]) for name in entry["implies"])
        persons = int(Category.Thing) if entry["implies"][0] == "Actor" else 0
        less, own = entry.get("less", ()), set(entry.get("classes", ()))
        known = self._phrases.get(phrase, [])
        known[:] = [
            (words, replace(kind, cost=max(kind.cost, ELSEWHERE)))
            if all(map(self.own.is_form_of, said, words))
            and (
                (kind.concepts and categories_of(self.world, kind.target) & wanted in (0, persons))
                or (
                    not kind.less
                    and not kind.generic
                    and set(kind.target.classes) & own
                    and self._holds(kind, less)
                )
            )
            else (words, kind)
            for words, kind in known
        ]

    def _holds(self, kind: Kind, codes: Sequence[str]) -> bool:
        """Whether some of a kind are of classes."""
        return any(
            overlap(self.world, kind.target, Target(classes=(code,))) for code in codes if code in self._codes
        )

    def _types_of(self, entry: Mapping[str, Any], by_id: Mapping[str, int], by_label: Labels) -> set[int]:
        """Types of the data that are a general kind: by their identifier, or by a label in any of the six languages; one of
        which the tag is another than the word's (an English "barque", of French ships) only where nothing else is."""
        found = {by_id[one] for one in entry.get("aat", ()) if one in by_id}
        wanted = sum(int(Category[name]) for name in entry["implies"])
        tagged, others = set[int](), set[int]()
        if entry.get("generic") != "true":
            for code, words in entry["words"].items():
                for form in (form for word in words for form in word.split(" / ")):
                    if called := by_label.called(form):
                        tags = self._types.tags.get(fold(form), frozenset())
                        elsewhere = tags and not tags & {"", code}
                        (others if elsewhere else tagged).update(called)
        found |= tagged or (others if others and not self._own_classes_of(entry) else set())
        return {node for node in found if self._types.categories[node] & wanted}

    @cached_property
    def _own_classes(self) -> tuple[list[str], Labels]:
        """IRIs of the classes that the ontology has no label for in this language, and their labels by place among them."""
        graph, ontology = self.world.graph, self.world.ontology
        labels = {
            graph.class_iri(number): {local_words(graph.class_iri(number)), *graph.class_labels(number)}
            for number in range(len(graph.class_codes))
            if (term := ontology.classes.get(graph.class_name(number))) is None
            or not term.labels.get(self.own.code)
        } | {iri: self._classes[iri] for iri in self.world.above_all}
        by_text = dict[str, list[int]]()
        for at, texts in enumerate(labels.values()):
            for text in texts:
                by_text.setdefault(fold(text), []).append(at)
        return list(labels), Labels(self.own, by_text)

    def _own_classes_of(self, entry: Mapping[str, Any]) -> list[str]:
        """Those of its categories that are a general kind by a label in any of the six languages; IRIs."""
        words = (form for some in entry["words"].values() for word in some for form in word.split(" / "))
        every, labels = self._own_classes
        found = {at for form in words for at in labels.called(form)}
        wanted = sum(int(Category[name]) for name in entry["implies"])
        iris = [every[at] for at in sorted(found)]
        return [iri for iri in iris if categories_of(self.world, Target(classes=(iri,))) & wanted]

    def _general_kinds(
        self,
        name: str,
        entry: Mapping[str, Any],
        entries: Mapping[str, Any],
        types: Mapping[str, set[int]],
    ) -> Iterable[Kind]:
        categories = tuple(one for one in entry.get("implies", ()))
        maker, generic = entry.get("role") == "maker", entry.get("generic") == "true"
        if types[name] and (kind := self._typed(sorted(types[name]), 0.05)) is not None:
            yield kind
        own = Target(classes=tuple(self._own_classes_of(entry)))
        if own.classes and not generic and occurs(self.world, own):
            yield self._kind(own, 0.06)
        named = [entry.get("classes", ()), entry.get("else", ())]
        if not types[name] and not own.classes:  # no type tells these apart
            named.append(entry.get("otherwise", ()))
        occurring = [some for one in named if (some := tuple(code for code in one if code in self._codes))]
        classes = occurring[0] if occurring else ()
        # One work of all whose texts the data has is not the only work.
        if len(occurring) > 1 and self._count(occurring[1]) >= OUTNUMBERED * self._count(classes):
            classes = (*classes, *occurring[1])
        less = tuple(code for code in entry.get("less", ()) if classes and code in self._codes)
        if less:
            classes = tuple(one for one in classes if self._adds(one, classes, less))
        target = Target(classes=classes)
        less = tuple(code for code in less if overlap(self.world, target, Target(classes=(code,))))
        named_so = self._kind(target, 0.08, less)
        if classes and (len(named_so.nodes) if less else occurs(self.world, target)):
            yield replace(
                named_so, generic=entry.get("any") == "true", only=MADE_SOMETHING if maker else None
            )
        if entry.get("any") == "true" and categories:
            target = Target(categories=categories[:1])
            if occurs(self.world, target):
                yield replace(
                    self._kind(target, 0.7 if classes else 0.1),
                    generic=True,
                    only=MADE_SOMETHING if maker else None,
                )
        if not types[name] and not generic:
            for like in entry.get("like", ()):
                if types.get(like) and (kind := self._typed(sorted(types[like]), VAGUE)) is not None:
                    yield kind
        vague = categories[:1]
        if vague != ("Thing",) and not generic and not maker and occurs(self.world, Target(categories=vague)):
            cost = 2 * VAGUE if types[name] else VAGUE
            yield replace(self._kind(Target(categories=vague), cost), generic=True)
        if maker and not generic:
            target = Target(categories=("Actor",))
            made = entries.get(str(entry.get("makes", "")), None)
            kind_types = types.get(str(entry.get("makes", "")), set()) if made else set()
            kind_classes = tuple(self._own_classes_of(made)) if made and not kind_types else ()
            to = Anchor(types=tuple(self.world.graph.iri(node) for node in sorted(kind_types)))
            if kind_classes:
                to = Anchor(plan=Plan(target=Target(classes=kind_classes)))
            # where nothing is woven, who made something is no weaver
            cost = 0.3 if to != Anchor() or not made else VAGUE
            yield replace(self._kind(target, cost), generic=True, only=Related(way=MADE_SOMETHING.way, to=to))

    def _count(self, classes: tuple[str, ...]) -> int:
        return len(entities_of(self.world, Target(classes=classes)))

    def _adds(self, code: str, classes: Sequence[str], less: Sequence[str]) -> bool:
        """Whether a class of several has none of ``less``, or others than these and than the other classes have."""
        own, out = (
            targeted(self.world, Target(classes=(code,))),
            targeted(self.world, Target(classes=tuple(less))),
        )
        others = tuple(one for one in classes if one != code)
        if not (own & out).any() or not others:
            return True
        return bool((own & ~out & ~targeted(self.world, Target(classes=others))).any())

    def _cognates(self, stem: str, word: str) -> list[Kind]:
        """The kinds of a long word that differs by its spelling alone, mostly of another language: "Inspektionen" for an
        "inspection"."""
        if len(stem) < COGNATE or stem in self._long.values():
            return []
        near = extract(
            rough(latin(stem), COGNATE), self._long.keys(), scorer=OSA.distance, score_cutoff=1, limit=3
        )
        # not the noun of the same verb: "verkauft", "Verkauf"
        alike = [self._long[one] for one, _, _ in near if one[0] == word[0]]
        alike = [one for one in alike if not stem.startswith(one)]
        kinds = [one[1] for other in alike for one in self._phrases[other,]]
        return [replace(one, cost=one.cost + VAGUE) for one in kinds[:2]]

    @cached_property
    def _long(self) -> dict[str, str]:
        """The stems of kinds' names of one long word, by the sound that spellings share."""
        stems = (phrase[0] for phrase in self._phrases if len(phrase) == 1 and len(phrase[0]) >= COGNATE)
        return {rough(latin(stem), COGNATE): stem for stem in sorted(stems)}

    def _doing(self, word: str) -> list[Kind]:
        """Those who did what the name of a property of the data's own says, by a noun made of its verb: "wearers",
        where something is "worn by" people."""
        verbs = frozenset().union(*(self.own.verbs_of(form) for form in self.own.forms(word)))
        steps = {step for stem in verbs for step in self._by_whom.get(stem, ())}
        return [self._at_the_end_of(steps)] if steps else []

    def _compound(self, word: str) -> list[Kind]:
        """A compound stands for its last part: "Wandgemälde" for paintings."""
        if self.own.raw.get("compounds") != "true":
            return []
        last = next((last for _, last in self.compounds(word)), None)
        kinds = self._called((self.own.stem(last),), (last,)) if last is not None else []
        return [replace(one, cost=one.cost + VAGUE) for one in kinds[:2]]


MAKING = ("created_by", "carried_out_by", "participant")
"""Relations whose nouns for people say what they do, and not of what: artists, performers."""


def every_role(world: World) -> list[int]:
    """The roles in which something took part in something (what P14.1 and its like lead to), ascending; see `World.kept`."""
    found = set[int]()
    for code in role_steps(world.adjacency):
        for prop in world.adjacency.by_code[code]:
            rows = world.adjacency.forward
            found.update(rows.val[rows.ptr[rows.prop[prop]] : rows.ptr[rows.prop[prop + 1]]].tolist())
    return sorted(found)


def broader_ones(world: World) -> Ints:
    """The concepts that others are below, ascending; see `World.kept`."""
    return np.flatnonzero(leading_to(world, Way(paths=(("P127i",),)), None)).astype(np.int32)


def category_nodes(world: World, name: str) -> Ints:
    """All entities of a category, ascending."""
    return world.kept(_category_nodes, name)


def _category_nodes(world: World, name: str) -> Ints:
    mask = (world.adjacency.categories & int(Category[name])) != 0
    return np.flatnonzero(mask & world.entities).astype(np.int32)
