"""What is told of one entity, in sentences: its portrait, and the one fact that a question asks for.

A fact is what a relation of the catalogue leads to from the entity, or of what leads to it, with the triples that say so.
Dates are told as the data means them, spans as spans; measures with their units; texts quoted, cut at the end of a sentence.
What the catalogue has no relation for is told by the data's own properties.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Literal

import numpy as np

from crmrag_query.answers.sources import SourceList
from crmrag_query.answers.statements import Statement, roles_of
from crmrag_query.answers.support import split_sentences
from crmrag_query.artifacts.release import Release
from crmrag_query.config.relations import Relation
from crmrag_query.config.sentences import PortraitOrder, SentenceForms, sentences
from crmrag_query.dates import Interval, civil, describe, parse_date, year_interval
from crmrag_query.documents.documents import Documents
from crmrag_query.entities.details import Details
from crmrag_query.entities.named import SourceTriple, category_name, type_nodes
from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import FLAG_LABELLED
from crmrag_query.graph.graph import OPEN_BEGIN, OPEN_END, Graph, TriplesIndex
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.records import Among, Anchor, Plan, Related, Way
from crmrag_query.plans.ways import literal, pairs
from crmrag_query.plans.world import World
from crmrag_query.retrieval.release_channels import LITTLE
from crmrag_query.sets.build import Reader, reasons_of
from crmrag_query.text import fold, plain, shorten

NAMED = 5  # values that one fact names
PROVED = 3  # … and whose triples are given
LOOKED_AT = 200  # triples of an entity that are looked at for what the catalogue has no relation for
OWN = 4  # facts by the data's own properties
QUOTED = 400  # characters of a text that are quoted
DESCRIBING = 60  # characters from which a literal is a text about the entity, and not a value
PORTRAITS = 3  # entities of one name that are told of
MIRRORED = 4  # characters of a name from which a longer name that holds it only repeats it
TYPES = 3  # types named beside an entity
IDENTIFYING = frozenset({"P1", "P2", "P41i", "P47", "P48", "P48i", "P102", "P131", "P149", "P139"})
"""Properties that lead to names, identifiers and types, which are told otherwise or say nothing to a reader."""
UNTOLD = LITTLE | {"E42", "E35", "E36", "E38", "E17", "E52", "E51", "E15", "E73", "D1"}
"""Classes of nodes that carry a name, a picture, a date or a classification, and are nothing to tell by themselves."""
COORDINATES = "coordinates"
"""Of a shape the middle is told, and not its outline."""
DIMENSION = "dimension"
"""Any dimension: each is told with what it is, "Height 31.6 cm"."""
AROUND = frozenset({"located_in", "falls_within"})
"""Relations to places of which what lies around them is told too: a village, and its country."""
GENERAL = frozenset({"participant", "has_part", "event_part", "during"})
"""Relations that also lead to what more telling ones lead to."""
SAME = "same_as"
"""Other records of the entity are told by their address."""
_SCHEME = re.compile(r"^[a-z]+://(www\.)?")
RAW_DATES = frozenset({"created_on"})
"""Relations whose clause takes a date as it is ("dates from 1825–1870"), without a preposition of its own."""
BORN = frozenset({"born_on", "born_in", "died_on", "died_in"})
FOUNDED = frozenset({"founded_on", "founded_in", "dissolved_on"})
GROUPS = frozenset({"E74", "E40", "F11"})
"""Classes of groups, which are founded; any other actor is born."""


@dataclass(frozen=True)
class Fact:
    """What one relation leads to. ``values``: texts, the first few; ``total``: how many there are; ``days``: the dates that
    the values are, where they are dates; ``nodes``: what was reached."""

    label: str
    values: tuple[str, ...]
    total: int
    nodes: tuple[int, ...] = ()
    triples: tuple[SourceTriple, ...] = ()
    days: tuple[Interval, ...] = ()
    quoted: bool = False
    relation: str = ""
    inverse: bool = False


@dataclass(frozen=True)
class Facts:
    """The facts of entities of a release, told in ``language``."""

    release: Release
    language: str
    _reader: Reader = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_reader", Reader(self.release, self.language))

    @cached_property
    def forms(self) -> SentenceForms:
        return sentences().forms(self.language)

    def name(self, node: int) -> str:
        return self._reader.named(node).label

    def of(self, node: int, id: str, inverse: bool = False) -> Fact | None:
        """What a relation leads to from a node, or from its far end; None where it is not known or leads nowhere."""
        relation = self.release.method.relations.get(id)
        if relation is None or not (relation.paths or relation.relationships):
            return None
        if id == COORDINATES:
            return self._point(relation.label(self.language, inverse), node)
        world = self.release[World]
        way = Way(relations=(id,), inverse=inverse, direct=True)
        around = Way(relations=(id,)) if id in AROUND and not inverse else way
        start = np.array([node], np.int32)
        try:
            cells = pairs(world, way, start).cell.tolist()
            if around is not way:
                cells = list(dict.fromkeys([*cells, *pairs(world, around, start).cell.tolist()]))
        except QuestionError:  # more than are walked at once
            return None
        way = around
        nodes = tuple(one for one in cells if one < world.size and one != node)
        texts = tuple(literal(world, one - world.size).text for one in cells if one >= world.size)
        label = relation.label(self.language, inverse)
        if inverse:
            domain = sum(int(Category[name]) for name in relation.domain)
            categories = world.adjacency.categories
            nodes = tuple(one for one in nodes if int(categories[one]) & domain and not self.is_untold(one))
        if inverse or (relation.value == "entity" and not relation.literals.value):
            return self._named(label, id, node, way, self._best(nodes))
        if relation.value == "date":
            return self._dated(label, id, node, way, nodes, texts)
        return self._stated(label, id, relation, node, way, nodes, texts)

    def reached(self, node: int) -> set[int]:
        """All that the relations of its portrait lead to from an entity, near and far."""
        order, world = order_of(self.release, node), self.release[World]
        relations = [id for id in (*order.head, *order.rest) if id in self.release.method.relations]
        found = set[int]()
        for id in relations:
            with suppress(QuestionError):
                cells = pairs(world, Way(relations=(id,)), np.array([node], np.int32)).cell
                found.update(int(one) for one in cells if one < world.size)
        return found - {node}

    def label(self, id: str) -> str:
        """What a relation is called, from its domain."""
        return self.release.method.relations[id].label(self.language) or id

    def lacking(self, node: int, what: str) -> str:
        """That something is not recorded of an entity."""
        return self.forms.not_recorded.replace("{x}", self.name(node)).replace("{what}", what)

    def _point(self, label: str, node: int) -> Fact | None:
        point = Details(self.release, self.language).coordinates(node)
        if point is None:
            return None
        return Fact(label, (f"{point.lat:.4f}, {point.lon:.4f}",), 1, relation=COORDINATES)

    def _best(self, nodes: Sequence[int]) -> tuple[int, ...]:
        """The nodes that have a name, where any has."""
        flags, documents = self.release[Graph].flags, self.release[Documents]
        named = [node for node in nodes if flags[node] & FLAG_LABELLED]
        return (
            tuple(one for one in named if documents.document_of(one) is not None)
            or tuple(named)
            or tuple(nodes)
        )

    def _named(self, label: str, id: str, node: int, way: Way, nodes: Sequence[int]) -> Fact | None:
        names = dict[str, int]()
        for one in nodes[: 10 * NAMED]:
            iri = self.release[Graph].iri(one)
            names.setdefault(_SCHEME.sub("", iri) if id == SAME else self._reader.cell(one).label, one)
        if not names:
            return None
        shown = tuple(names)[:NAMED]
        distinct = len(names) if len(nodes) <= 10 * NAMED else len(nodes)
        triples = tuple(self._proof(node, way, [names[one] for one in shown]))
        return Fact(label, shown, distinct, tuple(nodes), triples, relation=id, inverse=way.inverse)

    def _dated(
        self, label: str, id: str, node: int, way: Way, nodes: Sequence[int], texts: Sequence[str]
    ) -> Fact | None:
        """Spans of the time-spans that are reached; what names one says beside its numbers ("ca.") stays."""
        told, undated = self._when(nodes, texts)
        if not told and not undated:
            return None
        shown, days = (tuple(told), tuple(told.values())) if told else (tuple(undated), ())
        triples = tuple(self._proof(node, way, list(nodes)[:PROVED]))
        return Fact(label, shown[:NAMED], len(shown), tuple(nodes), triples, days[:NAMED], relation=id)

    def _when(
        self, nodes: Sequence[int], texts: Sequence[str]
    ) -> tuple[dict[str, Interval], dict[str, None]]:
        """The dates of time-spans and texts, in words, and the names of those that have none."""
        world, told = self.release[World], dict[str, Interval]()
        undated = dict[str, None]()
        for one in nodes:
            if not world.dated[one]:
                undated.update(
                    dict.fromkeys(plain(label.text) for label in self.release[Graph].labels(one)[:1])
                )
                continue
            begin, end = (int(side[one]) for side in world.extents)
            known = in_years(
                Interval(None if begin == OPEN_BEGIN else begin, None if end == OPEN_END else end)
            )
            told.setdefault(self._as_written(one, describe(known, self.language)), known)
        for text in texts:
            if (read := parse_date(text)) is not None:
                known = in_years(read)
                told.setdefault(describe(known, self.language), known)
        return told, undated

    def _as_written(self, node: int, dates: str) -> str:
        """A date, and how the data writes it where that says more: "ca. 1840 (1828–1852)"."""
        for one in self.release[Graph].labels(node):
            written = plain(one.text)
            known = parse_date(written)
            if known is not None and known.approximate:
                return f"{written} ({dates})" if dates not in written else written
        return dates

    def _stated(
        self,
        label: str,
        id: str,
        relation: Relation,
        node: int,
        way: Way,
        nodes: Sequence[int],
        texts: Sequence[str],
    ) -> Fact | None:
        """Numbers with their units, and texts."""
        measured = id == DIMENSION or relation.value == "number"
        found = dict.fromkeys(plain(text) for text in texts)
        for one in nodes[: 4 * NAMED]:
            value = next(self._ends(one, relation.literal_tails("value")), "")
            if not value:
                value = self._reader.named(one).label
            elif measured:
                unit = next(self._ends(one, relation.literal_tails("unit")), "")
                kinds = type_nodes(self.release[Graph], one) if id == DIMENSION else ()
                kind = next(map(self.name, kinds), "")
                value = " ".join(filter(None, (kind, value, unit)))
            found.setdefault(plain(value))
        values = tuple(filter(None, found))
        if not values:
            return None
        quoted = relation.value == "text" and len(values[0]) >= DESCRIBING
        shown = tuple(self._cut(one) for one in values[: 1 if quoted else NAMED])
        triples = tuple(self._proof(node, way, list(nodes)[:PROVED]))
        total = 1 if quoted else len(values)
        return Fact(label, shown, total, tuple(nodes), triples, quoted=quoted, relation=id)

    def _cut(self, text: str) -> str:
        abbreviations = frozenset(map(fold, self.release.method.sets.answers.abbreviations))
        return sentence_cut(text, QUOTED, abbreviations)

    def _ends(self, node: int, tails: Sequence[Sequence[str]]) -> Iterator[str]:
        """Literals and names that tails of a relation end in, the preferred tail first."""
        world = self.release[World]
        for tail in tails:
            way = Way(paths=(tuple(tail),))
            with suppress(QuestionError):
                for cell in pairs(world, way, np.array([node], np.int32)).cell.tolist():
                    yield self.name(cell) if cell < world.size else literal(world, cell - world.size).text

    def _proof(self, node: int, way: Way, ends: Sequence[int]) -> Iterator[SourceTriple]:
        graph = self.release[Graph]
        for end in ends[:NAMED]:
            condition = Related(way=way, to=Anchor(iris=(graph.iri(end),)))
            plan = Plan(where=(Among(iris=(graph.iri(node),)), condition))
            with suppress(QuestionError):
                for reason in reasons_of(self.release, plan, [node], self._reader)[0]:
                    yield from reason.triples

    def of_statements(self, node: int, found: Sequence[Statement]) -> Fact | None:
        """What statements of one kind state of a node; None for none."""
        values = dict.fromkeys(filter(None, (self._stated_value(node, one) for one in found)))
        if not values:
            return None
        triples = tuple(triple for one in found[:PROVED] for triple in self._steps(node, one))
        quoted = len(values) == 1 and found[0].end < 0 and len(next(iter(values))) >= DESCRIBING
        shown = tuple(self._cut(one) if quoted else one for one in values)[:NAMED]
        ends = tuple(one.end for one in found if one.end >= 0)
        return Fact(self._way_label(found), shown, len(values), ends, triples, quoted=quoted)

    def _stated_value(self, node: int, one: Statement) -> str:
        """What a statement ends in, in words: a date, a measure with its unit, the name of a thing and its types where it has
        no name but that of what it belongs to."""
        graph, world = self.release[Graph], self.release[World]
        if one.end < 0:
            return plain(one.value)
        if world.dated[one.end] and graph.category(one.end) in (0, int(Category.Time)):
            return next(iter(self._when((one.end,), ())[0]), "")
        relation = self.release.method.relations.get(DIMENSION)
        if relation is not None and self._has_class(one.end, "E54"):
            value = next(self._ends(one.end, relation.literal_tails("value")), "")
            unit = next(self._ends(one.end, relation.literal_tails("unit")), "")
            return plain(" ".join(filter(None, (value, unit)))) or self.name(one.end)
        name = self._reader.named(one.end).label
        notes = [plain(each.value) for each in graph.literals(one.end) if fold(each.value) != fold(name)]
        if not graph.flags[one.end] & FLAG_LABELLED or fold(self.name(node)) in fold(name):
            own = [self.name(kind) for kind in type_nodes(graph, one.end)]
            told = [*own, *(self._cut(note) for note in notes if len(note) > 1)]
            return "; ".join(dict.fromkeys(told)) or name
        return name

    def _has_class(self, node: int, base: str) -> bool:
        graph, ontology = self.release[Graph], self.release[World].ontology
        codes = (graph.class_code(int(number)) for number in graph.types(node))
        return any(code in ontology.classes and ontology.is_a(code, base) for code in codes)

    def _way_label(self, found: Sequence[Statement]) -> str:
        """What statements of one kind tell, by the events and roles that all lead through and their last property."""
        graph, one = self.release[Graph], found[0]
        told = list[str]()
        for place, mid in enumerate(one.through):
            every = [
                (*roles_of(graph, at), *type_nodes(graph, at))
                for at in {each.through[place] for each in found}
            ]
            kinds = [*roles_of(graph, mid), *type_nodes(graph, mid)]
            if shared := [kind for kind in kinds if all(kind in some for some in every)]:
                told.append(self.name(shared[0]))
            elif graph.category(mid) == Category.Event and len(graph.types(mid)):
                told.append(graph.class_label(int(graph.types(mid)[0]), self.language))
        if one.end >= 0 and self._has_class(one.end, "E54"):
            told += [self.name(kind) for kind in type_nodes(graph, one.end)][:1]
        if not told or not any(roles_of(graph, mid) for mid in one.through):
            prop, ahead = one.steps[-1]
            told.append(graph.property_label(prop, not ahead, self.language))
        return ", ".join(dict.fromkeys(filter(None, told)))

    def _steps(self, node: int, one: Statement) -> Iterator[SourceTriple]:
        """The triples of a statement."""
        graph = self.release[Graph]
        nodes = (node, *one.through, one.end)
        for (prop, ahead), here, there in zip(one.steps, nodes, nodes[1:], strict=False):
            label, iri = graph.property_label(prop, lang=self.language), graph.property_iri(prop)
            if there < 0:
                yield SourceTriple(graph.iri(here), iri, one.value, self.name(here), label, one.value)
                continue
            s, o = (here, there) if ahead else (there, here)
            yield SourceTriple(graph.iri(s), iri, graph.iri(o), self.name(s), label, self.name(o))

    # what only the data's own properties say

    def own(self, node: int, told: Iterable[int]) -> Iterator[Fact]:
        """Facts by the data's own properties: of what nothing was told yet, the first few; then texts about the entity."""
        graph, name = self.release[Graph], fold(self.name(node))
        known, by_property = {node, *told}, dict[int, list[int]]()
        for triple in self.release[TriplesIndex].of(node, LOOKED_AT):
            if triple.s == node and triple.o not in known and self._is_told(triple.p, triple.o, name):
                by_property.setdefault(triple.p, []).append(triple.o)
        for prop, ends in list(by_property.items())[:OWN]:
            names = dict.fromkeys(self.name(end) for end in ends)
            label = graph.property_label(prop, lang=self.language)
            way = Way(paths=((graph.property_iri(prop),),))
            yield Fact(
                label,
                tuple(names)[:NAMED],
                len(names),
                tuple(ends),
                tuple(self._proof(node, way, ends[:PROVED])),
            )
        yield from self._own_texts(node)

    def _is_told(self, prop: int, end: int, name: str) -> bool:
        """Whether a triple says something: of a named thing that is no name, picture, date or mirror of the entity itself."""
        graph = self.release[Graph]
        if graph.property_code(prop) in IDENTIFYING or not graph.flags[end] & FLAG_LABELLED:
            return False
        if not len(graph.types(end)) or self.is_untold(end) or graph.category(end) == Category.Time:
            return False
        return name not in fold(graph.label(end, (self.language,)))

    def is_untold(self, node: int) -> bool:
        """Whether a node is but a name, a text, a picture, a date or a classification of something."""
        graph = self.release[Graph]
        return not UNTOLD.isdisjoint(graph.class_code(int(number)) for number in graph.types(node))

    def _own_texts(self, node: int) -> Iterator[Fact]:
        graph = self.release[Graph]
        names = {fold(label.text) for label in graph.labels(node)}
        texts = [one for one in graph.literals(node) if fold(one.value) not in names]
        longest = max(
            (one for one in texts if len(one.value) >= DESCRIBING),
            key=lambda one: len(one.value),
            default=None,
        )
        if longest is None or "://" in longest.value[:10]:
            return
        label = graph.property_label(longest.property, lang=self.language)
        iri, name = graph.iri(node), self.name(node)
        triple = SourceTriple(
            iri,
            graph.property_iri(longest.property),
            longest.value,
            name,
            label,
            longest.value,
            longest.graphs,
        )
        yield Fact(label, (self._cut(plain(longest.value)),), 1, (), (triple,), quoted=True)

    # in words

    def kinds(self, node: int) -> list[str]:
        """Names of the types of an entity, else of its classes."""
        graph = self.release[Graph]
        kinds = [self.name(kind) for kind in type_nodes(graph, node) if graph.flags[kind] & FLAG_LABELLED]
        if not kinds:
            kinds = [graph.class_label(int(number), self.language) for number in graph.types(node)]
        return list(dict.fromkeys(filter(None, kinds)))

    def typed(self, node: int) -> str:
        """The entity with what it is: "Pater Familias (drawings, watercolors)"."""
        shown = ", ".join(self.kinds(node)[:TYPES])
        return (
            self.forms.typed.replace("{x}", self.name(node)).replace("{v}", shown)
            if shown
            else self.name(node)
        )

    def values(self, fact: Fact) -> str:
        """The values of a fact in one line."""
        if fact.quoted:
            return self.forms.quoted.replace("{v}", fact.values[0])
        text = "; ".join(fact.values)
        left = fact.total - len(fact.values)
        return self.forms.several.replace("{v}", text).replace("{n}", str(left)) if left > 0 else text

    def clause(self, fact: Fact) -> str:
        """A fact as it goes on from the name of the entity; "" where the language has no clause for its relation."""
        open_ended = any(day.begin is None or day.end is None for day in fact.days)
        if fact.inverse or fact.quoted or (open_ended and fact.relation in RAW_DATES):
            return ""
        form = self.forms.clauses.get(fact.relation, "")
        return form.replace("{v}", self._phrase(fact)) if form else ""

    def clauses(self, facts: Sequence[Fact]) -> list[str]:
        """The clauses of several facts; those that differ in nothing but a preposition are one: "was born in 1830 in Ulm"."""
        found: list[tuple[tuple[list[str], list[str]], str]] = []
        for fact in facts:
            if not (clause := self.clause(fact)):
                continue
            before, _, after = (part.split() for part in self.forms.clauses[fact.relation].partition("{v}"))
            if found and (own := _same_verb(found[-1][0], (before, after))) is not None:
                text = found[-1][1].removesuffix(" ".join(after)).rstrip()
                value = " ".join([*own, self._phrase(fact), *after])
                found[-1] = found[-1][0], f"{text} {value}"
            else:
                found.append(((before, after), clause))
        return [clause for _, clause in found]

    def _phrase(self, fact: Fact) -> str:
        value = self.values(fact)
        return (
            self._dated_phrase(value, fact.days[0])
            if len(fact.days) == 1 and fact.relation not in RAW_DATES
            else value
        )

    def _dated_phrase(self, text: str, known: Interval) -> str:
        when = self.forms.when
        if known.begin is None or known.end is None or "(" in text:
            return when.span.replace("{v}", text)
        if known.begin == known.end:
            return when.day.replace("{v}", text)
        first, last = civil(known.begin), civil(known.end)
        whole = first[0] == last[0] and first[1:] == (1, 1) and last[1:] == (12, 31)
        return (when.year if whole else when.span).replace("{v}", text)

    def sentence(self, node: int, fact: Fact) -> str:
        """One fact of an entity as a sentence."""
        if clause := self.clause(fact):
            return f"{self.name(node)} {clause}."
        text = self.forms.labelled.replace("{x}", self.name(node)).replace("{what}", fact.label)
        return f"{text.replace('{v}', self.values(fact))}."

    def entry(self, fact: Fact) -> str:
        """A fact after the name of the entity was told: "Made of: paper; wash."."""
        if fact.quoted and fact.relation in ("description", ""):
            return self.values(fact)
        if fact.inverse and (form := self.forms.inverse.get(fact.relation)):
            return form.replace("{v}", self.values(fact)).replace("{n}", str(fact.total))
        return f"{fact.label[:1].upper()}{fact.label[1:]}: {self.values(fact)}."


def _same_verb(one: tuple[list[str], list[str]], other: tuple[list[str], list[str]]) -> list[str] | None:
    """What the second of two forms of a clause has before its value besides the words of the first, its preposition; None
    where they are not the same verb."""
    (before, after), (own, own_after) = one, other
    shared = next(
        (at for at, (a, b) in enumerate(zip(before, own, strict=False)) if a != b), min(len(before), len(own))
    )
    if after != own_after or shared < max(1, len(before) - 1, len(own) - 1):
        return None
    return own[shared:]


def in_years(known: Interval) -> Interval:
    """The span as it is, but a lone first of January as its year: data that knows a year alone writes that day for it."""
    begin, end = known.begin, known.end
    if end is not None and civil(end)[1:] == (1, 1) and begin in (None, end):
        last = year_interval(civil(end)[0])
        return replace(known, begin=None if begin is None else last.begin, end=last.end)
    return known


def sentence_cut(text: str, longest: int, abbreviations: Collection[str] = ()) -> str:
    """A text cut at the end of a sentence, or of a word where its first sentence is longer; ``abbreviations``: see
    `split_sentences`."""
    if len(text) <= longest:
        return text
    end = max((one.last for one in split_sentences(text, abbreviations) if one.last <= longest), default=0)
    return f"{text[:end].rstrip()} …" if text[:end].strip() else shorten(text, longest)


Kind = Literal["all", "where", "short"]
SHORT, FEW = (
    80,
    5,
)  # characters of a value that is no text; facts after the first sentence that are told in short


def order_of(release: Release, node: int) -> PortraitOrder:
    """What is told of entities of a category, in order; nothing of one that has none."""
    name = category_name(release[Graph], node)
    return next((one for key, one in sentences().portraits.items() if key == name), PortraitOrder())


def portrait(
    release: Release, nodes: Sequence[int], language: str, cited: SourceList, kind: Kind = "all"
) -> str:
    """What is told of the entities of one name, a short paragraph for each of the first few, which cites it; of ``where``
    they are alone, where that is known; ``short``: the first of its
    facts, without texts."""
    facts = Facts(release, language)
    texts = dict.fromkeys(_portrait(facts, node, cited, kind) for node in nodes[:PORTRAITS])
    if len(nodes) == 1:
        return next(iter(texts))
    head = facts.forms.alike.replace("{n}", str(len(nodes))).replace("{x}", facts.name(nodes[0]))
    return "\n".join([head, *(f"- {text}" for text in texts)])


def _portrait(facts: Facts, node: int, cited: SourceList, kind: Kind) -> str:
    order = order_of(facts.release, node)
    if kind == "where":
        found = [fact for id in order.where if (fact := facts.of(node, id)) is not None]
        if found:
            return told(
                facts, node, [*found[:2], *(one for one in found[2:] if one.relation == COORDINATES)], cited
            )
    head = list(_head(facts, node, order))
    rest = list(_distinct(facts, node, order, head))
    if kind == "short":
        plain = (fact for fact in rest if not fact.quoted and max(map(len, fact.values), default=0) <= SHORT)
        rest = list(islice(plain, FEW))
    number = cited.cite(
        node, [*cited.type_triples(node), *(one for fact in (*head, *rest) for one in fact.triples)]
    )
    opening = facts.typed(node)
    if clauses := facts.clauses(head):
        opening = f"{opening} {_joined(clauses, facts.forms.joint)}"
    parts = [f"{opening}. [{number}]"]
    entries = [facts.entry(fact) for fact in (*(one for one in head if not facts.clause(one)), *rest)]
    if entries:
        parts.append(f"{' '.join(entries)} [{number}]")
    return " ".join(parts)


def _head(facts: Facts, node: int, order: PortraitOrder) -> Iterator[Fact]:
    """The facts of the first sentence; the same paths may tell of a birth and of a foundation."""
    graph = facts.release[Graph]
    group = bool({graph.class_code(int(number)) for number in graph.types(node)} & GROUPS)
    for id in order.head:
        if id not in (BORN if group else FOUNDED) and (fact := facts.of(node, id)) is not None:
            yield fact


def _joined(clauses: Sequence[str], joint: str) -> str:
    return clauses[0] if len(clauses) == 1 else f"{', '.join(clauses[:-1])}{joint}{clauses[-1]}"


def _distinct(facts: Facts, node: int, order: PortraitOrder, head: Sequence[Fact]) -> Iterator[Fact]:
    """The facts after the first sentence, none that only says again what another said."""
    said = {value for fact in head for value in fact.values}
    said.update(facts.kinds(node))
    name = facts.name(node)
    told = {end for fact in head for end in fact.nodes}
    described = False
    of_relations = [facts.of(node, id) for id in order.rest] + [
        facts.of(node, id, True) for id in order.inverse
    ]
    last = [fact for id in order.last if (fact := facts.of(node, id)) is not None]
    told.update(end for fact in (*of_relations, *last) if fact is not None for end in fact.nodes)
    for fact in (*of_relations, *facts.own(node, told), *last):
        if fact is None or said.issuperset(fact.values) or (fact.quoted and described and not fact.relation):
            continue
        kept = _new(facts, fact, said, name)
        if kept is not None:
            said.update(kept.values)
            described |= kept.quoted
            yield kept


def _new(facts: Facts, fact: Fact, said: Collection[str], name: str) -> Fact | None:
    """The fact without what says nothing new: events and texts that but repeat a name ("Production of Mexican News" after
    "Mexican News"), and, of a relation that others specialise, what was said already; None where nothing is left."""
    if fact.quoted or not fact.nodes or fact.days:
        return fact
    categories = facts.release[Graph].category_of_node
    known = [fold(one) for one in (*said, name) if len(one) >= MIRRORED]
    mirroring = all(int(categories[node]) == Category.Event or facts.is_untold(node) for node in fact.nodes)
    general = fact.inverse or not fact.relation or fact.relation in GENERAL

    def is_new(value: str) -> bool:
        repeats = mirroring and any(one in fold(value) and one != fold(value) for one in known)
        return not repeats and not (general and value in said)

    kept = tuple(filter(is_new, fact.values))
    return replace(fact, values=kept, total=fact.total - len(fact.values) + len(kept)) if kept else None


def told(facts: Facts, node: int, found: Sequence[Fact], cited: SourceList) -> str:
    """Facts of an entity as sentences, each of which cites it."""
    number = cited.cite(node, [one for fact in found for one in fact.triples])
    return " ".join(f"{facts.sentence(node, fact)} [{number}]" for fact in found)


@dataclass(frozen=True, slots=True)
class Asked:
    """A fact that is asked for: the relations that may tell it, the likeliest first, or else what is stated of each thing;
    ``expects``: a mask of the categories that a question word asks for."""

    relations: tuple[str, ...] = ()
    statements: tuple[tuple[int, tuple[Statement, ...]], ...] = ()
    expects: int = 0

    def of(self, facts: Facts, node: int) -> Fact | None:
        """The fact of one thing; None where it is not known."""
        for thing, stated in self.statements:
            if thing == node:
                return facts.of_statements(node, stated)
        return next((fact for id in self.relations if (fact := facts.of(node, id)) is not None), None)


@dataclass(frozen=True)
class Told:
    """Facts in words: ``text`` that cites, "" where none is known; ``lacking``: that some are not recorded."""

    text: str
    lacking: str = ""


def told_facts(
    release: Release, nodes: Sequence[int], asked: Sequence[Asked], language: str, cited: SourceList
) -> Told:
    """The facts that are asked for of the entities of one name: of each the first relation that tells it; a line for each
    entity that has any. Where no entity has one of them, that is said."""
    facts = Facts(release, language)
    found = {node: list[Fact]() for node in nodes}
    lacking = []
    for one in asked:
        known = {node: fact for node in nodes if (fact := one.of(facts, node)) is not None}
        for node, fact in known.items():
            if fact not in found[node]:
                found[node].append(fact)
        if not known and one.relations:
            lacking.append(facts.label(one.relations[0]))
    having = {node: own for node, own in found.items() if own}
    missing = " ".join(facts.lacking(nodes[0], what) for what in dict.fromkeys(lacking))
    if not having:
        return Told("", missing)
    if len(having) == 1:
        [(node, own)] = having.items()
        return Told(told(facts, node, own, cited), missing)
    head = facts.forms.alike.replace("{n}", str(len(nodes))).replace("{x}", facts.name(nodes[0]))
    lines = [head]
    for node, own in having.items():
        number = cited.cite(node, [triple for fact in own for triple in fact.triples])
        lines.append(f"- {facts.typed(node)}: {' '.join(map(facts.entry, own))} [{number}]")
    return Told("\n".join(lines), missing)


def any_known(release: Release, nodes: Sequence[int], asked: Sequence[Asked]) -> bool:
    """Whether any of the facts that are asked for is known of any of the entities."""
    facts = Facts(release, "")
    return any(one.of(facts, node) is not None for node in nodes for one in asked)


def nowhere(release: Release, nodes: Sequence[int], language: str) -> str:
    """What to say of the entities of one name where the data does not tell where any of them is; "" where it does."""
    facts = Facts(release, language)
    asked = [Asked((id,)) for node in nodes for id in order_of(release, node).where]
    if not asked or any_known(release, nodes, asked):
        return ""
    return facts.lacking(nodes[0], facts.label(asked[0].relations[0]))


def recorded(release: Release, nodes: Sequence[int], language: str, cited: SourceList) -> str:
    """What is recorded of the entities of one name, after it was said what is not."""
    return f"{Facts(release, language).forms.recorded} {portrait(release, nodes, language, cited, 'short')}"
