"""Ways, anchors and periods of a plan in the words of one language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from crmrag_query.artifacts.release import Release
from crmrag_query.config.sets import SetWords
from crmrag_query.context.text import plain, shorten
from crmrag_query.dates import Interval, describe
from crmrag_query.errors import QuestionError
from crmrag_query.plans.classes import class_numbers
from crmrag_query.plans.records import Anchor, Plan, Way
from crmrag_query.plans.steps import taken
from crmrag_query.plans.world import World

JOINT = " · "  # between the parts of a plan
STEP = " › "  # between the steps of a path
NAMED = 3  # alternatives of a way or an anchor that are named
_WORD = re.compile(r"\w+")


def _core(label: str) -> tuple[str, ...]:
    """What a label shares with others that say the same: "Moran, Thomas" with "Thomas Moran", "Prints" with "print"; () for
    one without a word."""
    words = (word.removesuffix("s") if len(word) > 3 else word for word in _WORD.findall(label.casefold()))
    return tuple(sorted(words))


@dataclass(frozen=True)
class Wording:
    """Words for the parts of plans over one release, in ``language`` where there are any, else English."""

    release: Release
    language: str

    @property
    def words(self) -> SetWords:
        return self.release.method.sets.words(self.language)

    @property
    def world(self) -> World:
        return self.release.world

    def way(self, way: Way) -> str:
        """The way's label: of its relations and relationships, else of its paths, then of what follows."""
        return STEP.join(self._link(link) for link in way.links)

    def _link(self, way: Way) -> str:
        named = [
            *(self._relation(id, way.inverse) for id in way.relations),
            *map(self._relationship, way.relationships),
        ]
        found = (
            [label for label in named if label]
            or self._shown(way)
            or [self._path(path) for path in way.paths]
        )
        return self.words.or_.join(list(dict.fromkeys(found))[:NAMED])

    def _shown(self, way: Way) -> list[str]:
        """The relation whose value these paths show, as a date is shown by the literals of a time-span; [] for none."""
        paths = [tuple(path) for path in way.paths]
        relations = self.release.method.relations
        shown = (id for id, one in relations.items() if paths and list(one.literal_paths("shown")) == paths)
        return [self._relation(id, inverse=False) for id in shown][:1]

    def _relation(self, id: str, inverse: bool) -> str:
        relation = self.release.method.relations.get(id)
        if relation is None:
            return id
        labels = relation.inverse if inverse else relation.labels
        return labels.get(self.language) or labels.get("en") or id

    def _relationship(self, id: str) -> str:
        catalogue = self.release.catalogue
        try:
            label = catalogue[catalogue.number(id)].label
        except KeyError:
            return id
        return self.release.method.translations.of(label, self.language)

    def _path(self, steps: Iterable[str]) -> str:
        return STEP.join(self._step(step) for step in steps)

    def _step(self, step: str) -> str:
        parts = taken(step)
        name, back = parts.name, not parts.ahead
        graph = self.release.graph
        number = self.world.property_numbers.get(name)
        codes = {code: at for at, code in enumerate(graph.property_codes) if code}
        if number is None and name in codes:
            number = codes[name]
        if number is None:  # the data may have it the other way round only
            turned = name.removesuffix("i") if name.endswith("i") else f"{name}i"
            number, back = codes.get(turned), not back
        if number is None:
            known = name in self.release.ontology.properties
            return self.release.ontology.label(name, self.language, "property") if known else self._end(name)
        return plain(graph.property_label(number, back, self.language))

    def node(self, iri: str) -> str:
        """The label of an entity or class; of an IRI that the data does not have, its end."""
        graph = self.release.graph
        node = graph.node(iri)
        if node is not None:
            return self.name(graph.label(node, (self.language,)))
        number = self.world.class_numbers.get(iri)
        if number is not None:
            return plain(graph.class_label(number, self.language))
        return self._end(iri)

    def _end(self, iri: str) -> str:
        return self.name(iri.rstrip("/#").replace("#", "/").rpartition("/")[2] or iri)

    def name(self, text: str) -> str:
        """A name of the data on one line, shortened."""
        return shorten(plain(text), self.release.method.sets.limits.name_characters)

    def class_(self, name: str) -> str:
        """The label of a class, by code or IRI."""
        try:
            numbers = class_numbers(self.world, name)
        except QuestionError:
            numbers = None
        graph = self.release.graph
        for number in sorted(numbers or ()):
            if name in (graph.class_code(number), graph.class_iri(number)):
                return plain(graph.class_label(number, self.language))
        known = name in self.release.ontology.classes
        return self.release.ontology.label(name, self.language, "class") if known else self.node(name)

    def any_of(self, labels: Iterable[str]) -> str:
        """Alternatives, the first few named."""
        every = self.distinct(labels)
        shown = every[:NAMED]
        left = len(every) - len(shown)
        more = [self.words.more.of(left).format(n=left)] if left else []
        return " ".join([self.words.or_.join(shown), *more])

    def distinct(self, labels: Iterable[str]) -> list[str]:
        """The labels; of those that differ as spellings of one name do, the first."""
        alike: dict[object, str] = {}
        for label in labels:
            alike.setdefault(_core(label) or label, label)
        return list(alike.values())

    def anchor(self, anchor: Anchor, title: str = "") -> str:
        """What a way leads to; ``title``: the words of its plan. "" for anything at all."""
        types = (f"{self.words.any_} {self.kind(iri)}" for iri in anchor.types)
        labels = [*map(self.node, anchor.iris), *types, *([f"({title})"] if anchor.plan else [])]
        return self.any_of(labels)

    def kind(self, name: str) -> str:
        """The label of a type, by IRI, or of a class."""
        return self.class_(name) if self.release.graph.node(name) is None else self.node(name)

    def period(self, begin: int | None, end: int | None) -> str:
        """Days as a period; "" for one without ends or one that ends before it begins."""
        if begin is not None and end is not None and begin > end:
            return ""
        return describe(Interval(begin, end), self.language)

    def target(self, plan: Plan) -> Iterator[tuple[str, str]]:
        """(path, label) of each part of what is asked for."""
        target = plan.target
        if target.types:
            yield "target.types", self.any_of(map(self.node, target.types))
        if target.classes:
            yield "target.classes", self.any_of(map(self.class_, target.classes))
        if target.categories and not (target.types or target.classes):
            categories = self.words.categories
            yield "target.categories", self.any_of(categories.get(name, name) for name in target.categories)
