"""How a data set states things, as facts with counts: names, kinds, makers, depiction, dates, places, authorities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_assets.documents.setting import numbers_of
from crmrag_assets.profile.ground import Bools, Ground, most, once
from crmrag_query.graph.arrays import Ints
from crmrag_query.graph.schema import open_table
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.profile import Coverage, Fact, RelationshipProfile
from crmrag_query.retrieval.date_index import DateIndex

ALL = "all"
LANGUAGES = 20  # in which names are told, at most
GETTY = r"vocab\.getty\.edu/(?:page/)?(?P<vocabulary>[a-z]+)/"
STATED = (
    "label",
    "preferred",
    "appellation",
    "title",
    "identifier",
    "alternative",
)  # names that the data states


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
            for code, count in most(classes, self.ground.class_names, self.ground.limits.top):
                yield Fact(name, code, count, _count(members))

    @cached_property
    def _valued(self) -> tuple[Ints, Ints]:
        """(subject, property) of all literals."""
        table = self.ground.graph.literal_table
        return table.column("subject").to_numpy(), table.column("property").to_numpy()

    def _with_literal(self, properties: Iterable[str]) -> Bools:
        subject, prop = self._valued
        return self.ground.mask(subject[np.isin(prop, numbers_of(self.ground.graph, properties))])

    def _names(self) -> Iterator[Fact]:
        """By which property, or property and property of the appellation, entities are named."""
        names = self.ground.method.names
        for one in dict.fromkeys((*names.label_properties, *names.alternative_properties)):
            yield self._fact(ALL, one, self._with_literal([one]))
        values = [(one, self._with_literal([one])) for one in names.value_properties]
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
        pairs = once(index[kept].astype(np.int64) * self.ground.graph.nodes + node[kept])
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
            if one.id in self.ground.limits.makers:
                for path in one.paths:
                    yield Fact(one.id, path.steps, path.pairs, one.pairs)

    def _depiction(self) -> Iterator[Fact]:
        """Things that say by each property, or its inverse, what they show or speak of."""
        for code in self.ground.limits.depiction_properties:
            source, _ = self.ground.edges([code])
            yield self._fact(Category.Thing.name or "", code, self.ground.mask(source))

    def _dated(self) -> Iterator[Fact]:
        """Of each category, who is dated by which relationship of the date index."""
        for number, relationship in enumerate(self.dates.relationships):
            low, high = (int(at) for at in self.dates.ptr[number : number + 2])
            holders = self.ground.mask(self.dates.entity[low:high])
            for name in self._members:
                yield self._fact(name, relationship, holders)

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
            yield Fact("dates", one, _count(own & self._with_literal([one])), whole)

    def _places(self) -> Iterator[Fact]:
        """Places that lie within another, that contain one, and that have coordinates."""
        place, limits = Category.Place.name or "", self.ground.limits
        for code in limits.containing_properties:
            inner, outer = self.ground.edges([code])
            yield self._fact(place, code, self.ground.mask(inner))
            yield self._fact(place, self.ground.ontology.inverse(code) or "", self.ground.mask(outer))
        for one in limits.coordinate_properties:
            yield self._fact(place, one, self._with_literal([one]))

    def _identifiers(self) -> Iterator[Fact]:
        """Entities with an identifier: by a property, or by an appellation of a class of identifiers."""
        names = self.ground.method.names
        for one in self.ground.limits.identifier_properties:
            source, _ = self.ground.edges([one])
            yield self._fact(ALL, one, self.ground.mask(source) | self._with_literal([one]))
        ptr, val = self.ground.graph.type_rows
        codes = self.ground.graph.class_codes
        wanted = [number for number, code in enumerate(codes) if code in names.identifier_classes]
        node = np.repeat(np.arange(self.ground.graph.nodes, dtype=np.int32), np.diff(ptr))
        identifier = self.ground.mask(node[np.isin(val, wanted)])
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
            holders = self.ground.mask(node[pc.equal(kind, name).to_numpy(zero_copy_only=False)])
            for category in self._members:
                yield self._fact(category, name, holders)


def _count(chosen: Bools) -> int:
    return int(np.count_nonzero(chosen))
