"""What writing documents needs to know about the method and the graph, worked out once for a data set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from crmrag_assets.documents.drafts import coded
from crmrag_assets.documents.facts import Keys
from crmrag_assets.documents.nodenames import NameRules, NodeNames
from crmrag_assets.documents.portable import Numbering
from crmrag_assets.documents.satellites import Satellites, find_satellites
from crmrag_assets.documents.stated import Rules
from crmrag_assets.documents.ways import Ways, split_ways
from crmrag_assets.documents.waysplan import make_ways_plan
from crmrag_assets.documents.words import clean
from crmrag_query.config.models import Method
from crmrag_query.graph.arrays import Ints
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.tables import Ontology
from crmrag_query.relationships.catalogue import Catalogue, Path
from crmrag_query.relationships.plan import Plan
from crmrag_query.relationships.steps import resolve


@dataclass(frozen=True, slots=True)
class Pool:
    """Distinct texts, and for each node the numbers of its name, bare and with notes, int32 [n] each."""

    texts: pl.Series
    shown: Ints
    annotated: Ints


@dataclass(frozen=True)
class Setting:
    """The graph with everything about its properties that lines are sorted out by.

    ``single[r]``: the facts that relationship r states by themselves; ``above[r]``: the relationships that r specialises,
    nearest first; ``values``: numbers of the properties that give a name's text, the best first.
    """

    graph: Graph
    ontology: Ontology
    ways: Ways
    method: Method
    satellites: Satellites
    languages: tuple[str, ...]
    types: Keys
    attributes: Keys
    name_keys: Keys
    spans: Keys
    values: tuple[int, ...]
    single: tuple[Keys, ...]
    above: tuple[tuple[int, ...], ...]
    numbering: Numbering

    @property
    def catalogue(self) -> Catalogue:
        return self.ways.catalogue

    @cached_property
    def vague(self) -> frozenset[str]:
        """Labels of the relationships that others specialise: "has met", "by", "from"."""
        return frozenset(self.catalogue[number].label for uppers in self.above for number in uppers)

    @cached_property
    def plan(self) -> Plan:
        """How the ways are walked on this graph."""
        return make_ways_plan(self.graph.adjacency, self.ways)

    @cached_property
    def rules(self) -> Rules:
        """What relationship lines say of one another."""
        return Rules.of(self.ways, self.above, self.vague, self.single)

    @cached_property
    def names(self) -> NodeNames:
        """How documents call every node of the graph."""
        rules = NameRules(
            self.method, self.ontology, self.languages, self.types, self.attributes, self.spans, self.values,
            self.satellites.kind,
        )  # fmt: skip
        return NodeNames(self.graph, rules)

    @cached_property
    def pool(self) -> Pool:
        """The names of all nodes by number."""
        codes, texts = coded(pl.concat([self.names.shown, self.names.annotated]))
        return Pool(texts, codes[: self.graph.nodes], codes[self.graph.nodes :])

    @cached_property
    def identifying(self) -> npt.NDArray[np.bool_]:
        """bool [n]: nodes of a class of identifiers."""
        wanted = self.method.names.identifier_classes
        classes = [n for n, code in enumerate(self.graph.class_codes) if code in wanted]
        return self.graph.of_classes(classes)

    @cached_property
    def property_texts(self) -> tuple[str, ...]:
        """How properties read from either end, distinct and sorted."""
        return tuple(sorted({_read(self.graph, key) for key in range(2 * len(self.graph.property_codes))}))

    @cached_property
    def property_words(self) -> Ints:
        """int32 [2 * properties]: for each key of a fact the number of its text."""
        place = {text: number for number, text in enumerate(self.property_texts)}
        keys = range(2 * len(self.graph.property_codes))
        return np.array([place[_read(self.graph, key)] for key in keys], np.int32)

    def kind(self, name: str) -> int:
        """Number of a kind of satellite, 255 (which no node has) where satellites.yaml has none of this name."""
        kinds = list(self.method.satellites.kinds)
        return kinds.index(name) + 1 if name in kinds else 255


def make_setting(
    graph: Graph,
    catalogue: Catalogue,
    ontology: Ontology,
    method: Method,
    languages: Sequence[str] = ("en",),
    satellites: Satellites | None = None,
    numbering: Numbering | None = None,
) -> Setting:
    """A setting for a data set; satellites and numbering are made where they are not given."""
    names = method.names
    return Setting(
        graph,
        ontology,
        split_ways(catalogue, ontology, graph.property_codes),
        method,
        satellites or find_satellites(graph, ontology, method),
        tuple(languages),
        types=keys_of(graph, ontology, method.documents.type_properties),
        attributes=keys_of(graph, ontology, method.documents.attribute_properties),
        name_keys=keys_of(graph, ontology, (*names.name_properties, *names.title_properties)),
        spans=keys_of(graph, ontology, method.dates.time_span_properties),
        values=tuple(n for word in names.value_properties for n in numbers_of(graph, (word,))),
        single=tuple(_single(graph, ontology, relationship.paths) for relationship in catalogue),
        above=tuple(_above(catalogue, number) for number in range(len(catalogue))),
        numbering=numbering or Numbering.of(graph.iris),
    )


def numbers_of(graph: Graph, properties: Iterable[str]) -> list[int]:
    """Numbers of the properties with these codes or IRIs, ascending."""
    wanted = set(properties)
    codes = graph.property_codes
    return [n for n, code in enumerate(codes) if (code and code in wanted) or graph.property_iri(n) in wanted]


def keys_of(graph: Graph, ontology: Ontology, properties: Iterable[str]) -> Keys:
    """Keys of the facts that state these properties, from whichever end."""
    own = list(properties)
    inverses = [inverse for word in own if (inverse := ontology.inverse(word))]
    keys = [2 * n for n in numbers_of(graph, own)] + [2 * n + 1 for n in numbers_of(graph, inverses)]
    return Keys(tuple(sorted(keys)), len(graph.property_codes))


def _read(graph: Graph, key: int) -> str:
    """How the property of a fact reads from the entity."""
    prop, inverse = divmod(key, 2)
    return clean(graph.property_label(prop, bool(inverse))) or clean(graph.property_iri(prop))


def _single(graph: Graph, ontology: Ontology, paths: Iterable[Path]) -> Keys:
    """Facts that satisfy a path in one hop: its one step, the other steps being taken no time."""
    found: set[int] = set()
    by_code = graph.adjacency.by_code
    for path in paths:
        needed = [step for step in path.steps if not step.recursive]
        for step in needed if len(needed) == 1 else path.steps if not needed else ():
            for code, forward in resolve(step, ontology):
                found.update(2 * number + (not forward) for number in by_code.get(code, ()))
    return Keys(tuple(sorted(found)), len(graph.property_codes))


def _above(catalogue: Catalogue, number: int) -> tuple[int, ...]:
    found: list[int] = []
    at = catalogue[number].specialises
    while at and (upper := catalogue.number(at)) not in found:
        found.append(upper)
        at = catalogue[upper].specialises
    return tuple(found)
