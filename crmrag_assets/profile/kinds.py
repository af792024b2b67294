"""What occurs in a data set, how often: classes, types and properties, and facts on how things are stated that all parts
of a profile count with."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_assets.documents.setting import numbers_of
from crmrag_query.config.loading import Method
from crmrag_query.graph.arrays import FLAG_ENTITY, FLAG_LABELLED, Ints, Longs, distinct, open_table
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.load import Category, CategoryMap, Ontology
from crmrag_query.plans.profile import (
    ClassProfile,
    Counted,
    Coverage,
    Example,
    ExamplePair,
    Extent,
    Fact,
    LiteralProfile,
    PropertyProfile,
    RelationshipProfile,
    TypeProfile,
)
from crmrag_query.retrieval.aggregation import DateIndex

Bools = npt.NDArray[np.bool_]
Number = TypeVar("Number", bound=np.generic)
# How much of each entry is shown, so that a profile stays below a megabyte whatever the data set holds.
EXAMPLES = 3  # entities, pairs or literals
TOP = 5  # classes, categories, datatypes, languages
CHARACTERS = 80  # of a label or literal


@dataclass(frozen=True)
class ClassSets:
    """Nodes by the set of their classes, of which there are few: ``of`` int32 [n]; ``ptr``, ``val``: the classes of a set."""

    of: Ints
    ptr: Longs
    val: Ints

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def spread(self, sets: Ints | Longs) -> tuple[Longs, Ints]:
        """(place in ``sets``, class) for every class of each set."""
        low = self.ptr[sets]
        count = self.ptr[sets.astype(np.int64) + 1] - low
        place = np.repeat(np.arange(len(sets)), count)
        at = np.arange(len(place)) - np.repeat(np.cumsum(count) - count, count) + low[place]
        return place, self.val[at]


def class_sets(ptr: Longs, val: Ints) -> ClassSets:
    """The distinct rows of ``type_rows``: told apart class by class, so equal rows and no others share a number."""
    size = np.diff(ptr)
    state, following = np.zeros(len(size), np.int64), 1
    for column in range(int(size.max(initial=0))):
        chosen = np.flatnonzero(size > column)
        key = state[chosen] * (int(val.max()) + 1) + val[ptr[chosen] + column]
        _, row = np.unique(key, return_inverse=True)
        state[chosen] = following + row
        following += int(row.max()) + 1
    _, first, of = np.unique(state, return_index=True, return_inverse=True)
    count = size[first]
    at = np.repeat(ptr[first], count) + np.arange(int(count.sum()))
    at -= np.repeat(np.cumsum(count) - count, count)
    return ClassSets(of.astype(np.int32), np.append(0, np.cumsum(count)).astype(np.int64), val[at])


@dataclass(frozen=True)
class Ground:
    """A graph with what is counted again and again."""

    graph: Graph
    ontology: Ontology
    method: Method

    @cached_property
    def entity(self) -> Bools:
        return np.asarray((self.graph.flags & FLAG_ENTITY) != 0)

    @cached_property
    def sets(self) -> ClassSets:
        ptr, val = self.graph.type_rows
        return class_sets(np.asarray(ptr), np.asarray(val))

    @cached_property
    def class_names(self) -> list[str]:
        """Code of each class, its IRI outside the CRM family."""
        codes = self.graph.class_codes
        return [code or self.graph.class_iri(number) for number, code in enumerate(codes)]

    def of_classes(self, codes: Collection[str]) -> Ints:
        """The nodes of which one of these classes is stated; its sub-classes do not count."""
        ptr, val = self.graph.type_rows
        wanted = [number for number, code in enumerate(self.graph.class_codes) if code in codes]
        return np.repeat(np.arange(self.graph.nodes, dtype=np.int32), np.diff(ptr))[np.isin(val, wanted)]

    @cached_property
    def degree(self) -> Longs:
        """Triples of each node with another node, both ways, int64 [n]."""
        adjacency, found = self.graph.adjacency, np.zeros(self.graph.nodes, np.int64)
        for rows in (adjacency.forward, adjacency.backward):
            np.add.at(found, rows.row, np.diff(rows.ptr))
        return found

    @cached_property
    def rank(self) -> Ints:
        """Place of each node as an example, int32 [n]: with a stated label first, then by degree, then by IRI."""
        unnamed = (self.graph.flags & FLAG_LABELLED) == 0
        order = np.lexsort((np.arange(self.graph.nodes), -self.degree, unnamed))
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        return rank

    def first(self, nodes: Ints | Longs) -> list[int]:
        """Places in ``nodes`` of those to show, the best first."""
        rank = self.rank[nodes]
        chosen = (
            np.argpartition(rank, EXAMPLES - 1)[:EXAMPLES] if len(rank) > EXAMPLES else np.arange(len(rank))
        )
        return [int(at) for at in chosen[np.argsort(rank[chosen])]]

    def example(self, node: int) -> Example:
        return Example(self.graph.iri(node), shortened(self.graph.label(node)))

    def classes_of(self, sets: Ints | Longs, counts: Longs) -> Longs:
        """How often each class occurs, int64 [classes], where each of ``sets`` occurs ``counts`` times."""
        place, number = self.sets.spread(sets)
        found = np.zeros(len(self.class_names), np.int64)
        np.add.at(found, number, counts[place])
        return found

    def triples(self, numbers: Iterable[int]) -> tuple[Ints, Ints]:
        """(subject, object) of all triples of these properties."""
        rows = self.graph.adjacency.forward
        parts = [(np.empty(0, np.int32), np.empty(0, np.int32))]
        for number in numbers:
            low, high = int(rows.prop[number]), int(rows.prop[number + 1])
            count = np.diff(rows.ptr[low : high + 1])
            parts.append((np.repeat(rows.row[low:high], count), rows.val[rows.ptr[low] : rows.ptr[high]]))
        return np.concatenate([s for s, _ in parts]), np.concatenate([o for _, o in parts])

    def edges(self, properties: Iterable[str]) -> tuple[Ints, Ints]:
        """(from, to) of all triples of these properties (codes or IRIs), and of their inverses turned round."""
        own = list(properties)
        inverses = [inverse for word in own if (inverse := self.ontology.inverse(word)) and inverse != word]
        source, target = self.triples(numbers_of(self.graph, own))
        to, back = self.triples(numbers_of(self.graph, inverses))
        return np.concatenate([source, back]), np.concatenate([target, to])

    def mask(self, nodes: Ints | Longs) -> Bools:
        """Which nodes are among ``nodes``, bool [n]."""
        found = np.zeros(self.graph.nodes, bool)
        found[nodes] = True
        return found


def grouped(values: npt.NDArray[Number], keys: Ints | Longs, count: int) -> list[npt.NDArray[Number]]:
    """The values of each key below ``count``, in their order."""
    order = np.argsort(keys, kind="stable")
    return np.split(values[order], np.searchsorted(keys[order], np.arange(1, count)))[:count]


def most(counts: Longs, names: Sequence[str], limit: int) -> tuple[Counted, ...]:
    """The ``limit`` most frequent by number, ties by name; none that do not occur."""
    found = np.flatnonzero(counts).tolist()
    found.sort(key=lambda number: (-int(counts[number]), names[number]))
    return tuple((names[number], int(counts[number])) for number in found[:limit])


def by_category(counts: Longs, limit: int) -> tuple[Counted, ...]:
    """How many of each primary category, most first, by counts of each bit; those without a known one are left out."""
    return most(counts[[int(one) for one in Category]], [str(one.name) for one in Category], limit)


def shortened(text: str) -> str:
    """The text on one line, cut with an ellipsis."""
    line = " ".join(text[: 4 * CHARACTERS].split())
    return line if len(line) <= CHARACTERS else line[: CHARACTERS - 1] + "…"


CLASSES, TYPES, PROPERTIES = 200, 1000, 200  # that are listed, so that a profile stays below a megabyte
TYPE_TOP = 3  # classes, categories, ways and broader types of a type
TYPE_LANGUAGES = 4  # in which a type's label is told
TYPE_CLASSES = ("E55",)  # types even where no P2 points at them; sub-classes are not


def profile_classes(
    ground: Ground, categories: CategoryMap, has: Mapping[str, Bools]
) -> tuple[ClassProfile, ...]:
    """The classes that entities state, those of most entities first, ties by IRI; ``has``: see ``Modelling``."""
    graph, (ptr, val) = ground.graph, ground.graph.type_rows
    node = np.repeat(np.arange(graph.nodes, dtype=np.int32), np.diff(ptr))
    stated = ground.entity[node]
    members = grouped(node[stated], np.asarray(val)[stated], len(graph.class_codes))
    used = [number for number, nodes in enumerate(members) if len(nodes)]
    used.sort(key=lambda number: (-len(members[number]), graph.class_iri(number)))
    return tuple(_class(ground, categories, number, members, has) for number in used[:CLASSES])


def _class(
    ground: Ground, categories: CategoryMap, number: int, members: list[Ints], has: Mapping[str, Bools]
) -> ClassProfile:
    graph, own = ground.graph, members[number]
    code = graph.class_code(number) if graph.class_name(number) != graph.class_iri(number) else ""
    below = {code, *ground.ontology.subclasses(code)} if code in ground.ontology.classes else set()
    also = [other for other, name in enumerate(graph.class_codes) if name in below and other != number]
    above = graph.class_code(number)
    mask = categories.all_of([above]) if above else Category(0)
    return ClassProfile(
        iri=graph.class_iri(number),
        code=code,
        label=graph.class_label(number),
        mask=int(mask),
        categories=tuple(str(one.name) for one in Category if one & mask),
        entities=len(own),
        instances=_count(ground.mask(np.concatenate([own, *(members[other] for other in also)]))),
        known={kind: _count(holders[own]) for kind, holders in has.items()},
        examples=tuple(ground.example(int(own[at])) for at in ground.first(own)),
    )


def typed(ground: Ground) -> tuple[Ints, Ints]:
    """(entity, type), each pair once."""
    source, target = ground.edges(ground.method.documents.type_properties)
    kept = ground.entity[source]
    pairs = distinct(source[kept].astype(np.int64) * ground.graph.nodes + target[kept])
    entity, kind = np.divmod(pairs, max(1, ground.graph.nodes))
    return entity.astype(np.int32), kind.astype(np.int32)


def type_nodes(ground: Ground, targets: Ints) -> Ints:
    """What is a type: all that P2 points at, and what is of one of TYPE_CLASSES."""
    return np.union1d(targets, ground.of_classes(TYPE_CLASSES)).astype(np.int32)


def profile_types(ground: Ground, entity: Ints, kind: Ints) -> tuple[TypeProfile, ...]:
    """The types of the pairs of ``typed``: first those of most entities, then of most triples, then by IRI."""
    graph, nodes = ground.graph, type_nodes(ground, kind)
    users = np.bincount(kind, minlength=graph.nodes)[nodes]
    order = np.lexsort((nodes, -ground.degree[nodes], -users))[:TYPES]
    chosen = np.sort(nodes[order])
    kept = np.isin(kind, chosen)
    having = grouped(entity[kept], np.searchsorted(chosen, kind[kept]), len(chosen))
    ways, broader = _ways(ground, chosen), _broader(ground, chosen)
    profiles = {}
    for at, node in enumerate(chosen.tolist()):
        sets, counts = np.unique(ground.sets.of[having[at]].astype(np.int64), return_counts=True)
        primary = np.bincount(graph.category_of_node[having[at]], minlength=2 * max(Category))
        profiles[node] = TypeProfile(
            iri=graph.iri(node),
            label=shortened(graph.label(node)),
            labels=_labels(ground, node),
            entities=len(having[at]),
            classes=most(ground.classes_of(sets, counts), ground.class_names, TYPE_TOP),
            categories=by_category(primary, TYPE_TOP),
            ways=ways[at],
            broader=broader[at],
        )
    return tuple(profiles[int(node)] for node in nodes[order])


def _labels(ground: Ground, node: int) -> dict[str, str]:
    """The best stated name in each language, in order of preference."""
    found: dict[str, str] = {}
    for label in ground.graph.labels(node):
        if label.kind not in ("iri", "role") and len(found) < TYPE_LANGUAGES:
            found.setdefault(label.lang, shortened(label.text))
    return found


def _ways(ground: Ground, chosen: Ints) -> list[tuple[Counted, ...]]:
    """Triples that lead to each node of ``chosen`` by property: its code, or its IRI outside the CRM family."""
    codes, rows = ground.graph.property_codes, ground.graph.adjacency.backward
    names = [code or ground.graph.property_iri(number) for number, code in enumerate(codes)]
    counts = np.zeros((len(names), len(chosen)), np.int64)
    for number in range(len(names)):
        low, high = int(rows.prop[number]), int(rows.prop[number + 1])
        _, into, of = np.intersect1d(rows.row[low:high], chosen, assume_unique=True, return_indices=True)
        counts[number, of] = (rows.ptr[low + 1 : high + 1] - rows.ptr[low:high])[into]
    return [most(counts[:, i], names, TYPE_TOP) for i in range(len(chosen))]


def _broader(ground: Ground, chosen: Ints) -> list[tuple[str, ...]]:
    """IRIs of the broader types of each node of ``chosen``, ascending."""
    source, target = ground.edges(ground.method.profile.broader_properties)
    kept = np.isin(source, chosen)
    above = grouped(target[kept], np.searchsorted(chosen, source[kept]), len(chosen))
    return [tuple(ground.graph.iri(int(node)) for node in np.unique(nodes)[:TYPE_TOP]) for nodes in above]


NUMBER = r"^-?\d{1,300}(\.\d+)?([eE][+-]?\d{1,2})?$"
DATE = r"^(?P<year>-?\d{4,9})(?P<rest>(?:-\d\d.*)?)$"  # xsd:gYear, gYearMonth, date and dateTime
YEAR_ALONE = r"^-?\d{4,9}$"  # a date only where the datatype says so
DATE_TYPES = ("date", "dateTime", "dateTimeStamp", "gYear", "gYearMonth")


def profile_properties(ground: Ground) -> tuple[PropertyProfile, ...]:
    """The properties in use, the most used first, ties by IRI."""
    graph, rows = ground.graph, ground.graph.adjacency.forward
    stated = graph.literal_table.column("property").to_numpy()
    literals = grouped(np.arange(len(stated)), stated, len(graph.property_codes))
    uses = rows.ptr[rows.prop[1:]] - rows.ptr[rows.prop[:-1]] + [len(own) for own in literals]
    used = [int(number) for number in np.flatnonzero(uses)]
    used.sort(key=lambda number: (-int(uses[number]), graph.property_iri(number)))
    return tuple(_property(ground, number, literals[number]) for number in used[:PROPERTIES])


def _property(ground: Ground, number: int, literals: Longs) -> PropertyProfile:
    graph, rows = ground.graph, ground.graph.adjacency.forward
    low, high = int(rows.prop[number]), int(rows.prop[number + 1])
    subjects = rows.row[low:high]
    examples = []
    for at in ground.first(subjects):
        objects = rows.val[rows.ptr[low + at] : rows.ptr[low + at + 1]]
        best = int(objects[np.argmin(ground.rank[objects])])
        examples.append(ExamplePair(ground.example(int(subjects[at])), ground.example(best)))
    return PropertyProfile(
        iri=graph.property_iri(number),
        code=graph.property_code(number),
        label=graph.property_label(number),
        triples=int(rows.ptr[high] - rows.ptr[low]),
        subjects=len(subjects),
        objects=int(np.diff(graph.adjacency.backward.prop[number : number + 2])[0]),
        classes=_class_pairs(ground, number),
        examples=tuple(examples),
        literals=_literals(ground, literals) if len(literals) else None,
    )


def _class_pairs(ground: Ground, number: int) -> tuple[tuple[str, str, int], ...]:
    """The most frequent (subject class, object class), ties by their names."""
    sets, names = ground.sets, ground.class_names
    subject, obj = ground.triples([number])
    pairs, counts = np.unique(
        sets.of[subject].astype(np.int64) * len(sets) + sets.of[obj], return_counts=True
    )
    left, right = np.divmod(pairs, max(1, len(sets)))
    place, of_subject = sets.spread(left)
    again, of_object = sets.spread(right[place])
    key, row = np.unique(of_subject[again].astype(np.int64) * len(names) + of_object, return_inverse=True)
    total = np.zeros(len(key), np.int64)
    np.add.at(total, row, counts[place][again])
    found = [
        (names[k // len(names)], names[k % len(names)], int(n))
        for k, n in zip(key.tolist(), total.tolist(), strict=True)
    ]
    return tuple(sorted(found, key=lambda pair: (-pair[2], pair[:2]))[:TOP])


def _literals(ground: Ground, rows: Longs) -> LiteralProfile:
    """The literals at these rows of the table, which are in order of their subjects."""
    table = ground.graph.literal_table
    subjects, first = np.unique(table.column("subject").to_numpy()[rows], return_index=True)
    values = table.column("value").take(pa.array(rows))
    datatype = table.column("datatype")
    is_date = [str(word).rsplit("#", 1)[-1] in DATE_TYPES for word in datatype.dictionary.to_pylist()]
    dated = np.array(is_date, bool)[datatype.indices.to_numpy()[rows]]
    characters = pc.sum(pc.utf8_length(values)).as_py()
    return LiteralProfile(
        count=len(rows),
        subjects=len(subjects),
        datatypes=_words(datatype, rows),
        languages=_words(table.column("lang"), rows),
        length=round(characters / len(rows), 1),
        numbers=_numbers(values),
        dates=_dates(values, dated),
        examples=tuple(shortened(values[int(first[at])].as_py()) for at in ground.first(subjects)),
    )


def _words(column: pa.DictionaryArray, rows: Longs) -> tuple[Counted, ...]:
    words: list[str] = column.dictionary.to_pylist()
    counts = np.bincount(column.indices.to_numpy()[rows], minlength=len(words))
    return most(counts.astype(np.int64), words, TOP)


def _numbers(values: pa.Array) -> Extent | None:
    """The values that are decimal numbers, whatever their datatype."""
    found = values.filter(pc.match_substring_regex(values, NUMBER))
    if not len(found):
        return None
    as_number = pc.cast(found, pa.float64()).to_numpy()
    ends = (found[int(at)].as_py() for at in (np.argmin(as_number), np.argmax(as_number)))
    return Extent(len(found), *map(shortened, ends))


def _dates(values: pa.Array, dated: Bools) -> Extent | None:
    """The values that are ISO dates: with a month at least, or of a datatype of dates."""
    is_date = pc.match_substring_regex(values, DATE).to_numpy(zero_copy_only=False)
    alone = pc.match_substring_regex(values, YEAR_ALONE).to_numpy(zero_copy_only=False)
    found = values.filter(pa.array(is_date & (~alone | dated)))
    if not len(found):
        return None
    parts = pc.extract_regex(found, DATE)
    year = pc.cast(parts.field("year"), pa.int64()).to_numpy()
    rest = parts.field("rest")
    ends = []
    for at, of_rest in ((int(year.min()), pc.min), (int(year.max()), pc.max)):
        within = pa.array(year == at)
        best = of_rest(rest.filter(within)).as_py()
        chosen = found.filter(within).filter(pc.equal(rest.filter(within), best))
        ends.append(shortened(chosen[0].as_py()))
    return Extent(len(found), *ends)


ALL = "all"
LANGUAGES = 20  # in which names are told, at most
GETTY = r"vocab\.getty\.edu/(?:page/)?(?P<vocabulary>[a-z]+)/"
# Kinds of names that the data states.
STATED = ("label", "preferred", "appellation", "title", "identifier", "alternative")
CONTAINING = "P89"  # falls within, of places


class Modelling:
    """Facts about a graph; ``has``: kinds of information by the names in ``Coverage``, bool [n] each."""

    def __init__(self, ground: Ground, dates: DateIndex, has: Mapping[str, Bools]) -> None:
        self.ground, self.dates, self.has = ground, dates, has

    def facts(self, relationships: Sequence[RelationshipProfile]) -> dict[str, tuple[Fact, ...]]:
        """Facts by topic; those that count nothing are left out."""
        topics = {
            "categories": self._categories(),
            "kinds": self._kinds(),
            "names": self._names(),
            "languages": self._languages(),
            "makers": self._makers(relationships),
            "depiction": self._depiction(),
            "dated": self._dated(),
            "date_statements": self._date_statements(),
            "places": self._places(),
            "identifiers": self._identifiers(),
            "authorities": self._authorities(),
        }
        return {topic: tuple(fact for fact in found if fact.count) for topic, found in topics.items()}

    def coverage(self) -> tuple[Coverage, ...]:
        """What is known of the entities of each category, and of all."""
        groups = {ALL: self.ground.entity, **self._members}
        return tuple(
            Coverage(
                category=name,
                entities=_count(members),
                **{kind: _count(members & holders) for kind, holders in self.has.items()},
            )
            for name, members in groups.items()
        )

    @cached_property
    def _members(self) -> dict[str, Bools]:
        """Entities by primary category."""
        category = self.ground.graph.category_of_node
        return {str(bit.name): self.ground.entity & (category == int(bit)) for bit in Category}

    def _fact(self, of: str, by: str, holders: Bools) -> Fact:
        members = self.ground.entity if of == ALL else self._members[of]
        return Fact(of, by, _count(members & holders), _count(members))

    def _by_category(self, by: str, holders: Bools) -> Iterator[Fact]:
        for category in self._members:
            yield self._fact(category, by, holders)

    def _categories(self) -> Iterator[Fact]:
        """Entities that may be asked for as each category, whatever their primary one."""
        every = self.ground.graph.adjacency.categories
        for bit in Category:
            yield self._fact(ALL, str(bit.name), (every & int(bit)) != 0)

    def _kinds(self) -> Iterator[Fact]:
        """Of each category, who has a type and who one of the commonest classes: by which of both kinds are told."""
        sets = self.ground.sets
        for name, members in self._members.items():
            yield self._fact(name, "type", self.has["type"])
            counts = np.bincount(sets.of[members], minlength=len(sets)).astype(np.int64)
            classes = self.ground.classes_of(np.arange(len(sets)), counts)
            for code, count in most(classes, self.ground.class_names, TOP):
                yield Fact(name, code, count, _count(members))

    def _with_literal(self, property: str) -> Bools:
        table = self.ground.graph.literal_table
        numbers = numbers_of(self.ground.graph, [property])
        chosen = np.isin(table.column("property").to_numpy(), numbers)
        return self.ground.mask(table.column("subject").to_numpy()[chosen])

    def _names(self) -> Iterator[Fact]:
        """By which property, or property and property of the appellation, entities are named."""
        names = self.ground.method.names
        for one in dict.fromkeys((*names.label_properties, *names.alternative_properties)):
            yield self._fact(ALL, one, self._with_literal(one))
        values = [(one, self._with_literal(one)) for one in names.value_properties]
        for lead in (*names.name_properties, *names.title_properties):
            source, target = self.ground.edges([lead])
            for value, holders in values:
                yield self._fact(ALL, f"{lead} | {value}", self.ground.mask(source[holders[target]]))

    def _languages(self) -> Iterator[Fact]:
        """In which languages entities are named; "" without a tag."""
        table = open_table(self.ground.graph.folder, "labels")
        node, lang = table.column("node").to_numpy(), table.column("lang")
        kind = table.column("kind")
        stated = np.isin(kind.dictionary.to_pylist(), STATED)[kind.indices.to_numpy()]
        words, index = lang.dictionary.to_pylist(), lang.indices.to_numpy()
        kept = stated & self.ground.entity[node]
        pairs = distinct(index[kept].astype(np.int64) * self.ground.graph.nodes + node[kept])
        counts = np.bincount(pairs // max(1, self.ground.graph.nodes), minlength=len(words)).astype(np.int64)
        for word, count in most(counts, words, LANGUAGES):
            yield Fact(ALL, word, count, _count(self.ground.entity))

    def _makers(self, relationships: Sequence[RelationshipProfile]) -> Iterator[Fact]:
        """By which properties things lead to makers, plainly or reified; by which paths the pairs of each relationship."""
        steps, thing = self.ground.method.aggregation, Category.Thing.name or ""
        carried = [(one, self.ground.edges([one])[0]) for one in steps.actor_properties]
        reified, domain = self.ground.edges(["P02"])[0], self.ground.edges(["P01"])
        carried.append(("P01i | P02", domain[1][self.ground.mask(reified)[domain[0]]]))
        for work in steps.work_properties:
            source, event = self.ground.edges([work])
            for name, events in carried:
                holders = self.ground.mask(source[self.ground.mask(events)[event]])
                yield self._fact(thing, f"{work} | {name}", holders)
        for one in relationships:
            if one.id in self.ground.method.profile.makers:
                for path in one.paths:
                    yield Fact(one.id, path.steps, path.pairs, one.pairs)

    def _depiction(self) -> Iterator[Fact]:
        """Things that say by each property, or its inverse, what they show or speak of."""
        for code in self.ground.method.profile.depiction_properties:
            source, _ = self.ground.edges([code])
            yield self._fact(Category.Thing.name or "", code, self.ground.mask(source))

    def _dated(self) -> Iterator[Fact]:
        """Of each category, who is dated by which relationship of the date index."""
        for number, relationship in enumerate(self.dates.relationships):
            low, high = (int(at) for at in self.dates.ptr[number : number + 2])
            yield from self._by_category(relationship, self.ground.mask(self.dates.entity[low:high]))

    def _date_statements(self) -> Iterator[Fact]:
        """By which properties dates are written, of all nodes that write one; and of those, whose dates were understood."""
        dates = self.ground.method.dates
        bounds = (*dates.outer_begin, *dates.outer_end, *dates.inner_begin, *dates.inner_end)
        properties = tuple(dict.fromkeys((*bounds, *dates.outer_whole, *dates.inner_whole)))
        table = self.ground.graph.timespan_table
        whole = len(table)
        understood = np.zeros(whole, bool)
        for name in ("outer_begin", "inner_begin", "inner_end", "outer_end"):
            understood |= table.column(name).is_valid().to_numpy(zero_copy_only=False)
        yield Fact("dates", "understood", _count(understood), whole)
        own = self.ground.mask(table.column("node").to_numpy())
        for one in properties:
            yield Fact("dates", one, _count(own & self._with_literal(one)), whole)

    def _places(self) -> Iterator[Fact]:
        """Places that lie within another, that contain one, and that have coordinates."""
        place = Category.Place.name or ""
        inner, outer = self.ground.edges([CONTAINING])
        yield self._fact(place, CONTAINING, self.ground.mask(inner))
        yield self._fact(place, self.ground.ontology.inverse(CONTAINING) or "", self.ground.mask(outer))
        for one in self.ground.method.profile.coordinate_properties:
            yield self._fact(place, one, self._with_literal(one))

    def _identifiers(self) -> Iterator[Fact]:
        """Entities with an identifier: by a property, or by an appellation of a class of identifiers."""
        names = self.ground.method.names
        for one in self.ground.method.profile.identifier_properties:
            source, _ = self.ground.edges([one])
            yield self._fact(ALL, one, self.ground.mask(source) | self._with_literal(one))
        identifier = self.ground.mask(self.ground.of_classes(names.identifier_classes))
        for lead in names.name_properties:
            source, target = self.ground.edges([lead])
            by = f"{lead} {' or '.join(names.identifier_classes)}"
            yield self._fact(ALL, by, self.ground.mask(source[identifier[target]]))

    def _authorities(self) -> Iterator[Fact]:
        """Of each category, who is linked to, or is itself of, which authority; Getty's vocabularies apart."""
        table = open_table(self.ground.graph.folder, "links")
        node, kind = table.column("node").to_numpy(), pc.cast(table.column("kind"), pa.utf8())
        getty = pc.extract_regex(table.column("iri"), GETTY)
        if pc.any(getty.is_valid()).as_py():
            kind = pc.if_else(pc.equal(kind, "getty"), pc.coalesce(getty.field("vocabulary"), kind), kind)
        for name in sorted(pc.unique(kind).to_pylist()):
            chosen = pc.equal(kind, name).to_numpy(zero_copy_only=False)
            yield from self._by_category(name, self.ground.mask(node[chosen]))


def _count(chosen: Bools) -> int:
    return int(np.count_nonzero(chosen))
