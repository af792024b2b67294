"""Worlds for plans: generated graphs with classes, names, dates and suspects, and stores that answer for them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyoxigraph as ox
import pytest
import rdflib

from crmrag_query.config.loading import Relation
from crmrag_query.graph.arrays import FLAG_SUSPECT
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.load import Ontology, load_categories, load_ontology, normalise_property
from crmrag_query.plans.execute import Outcome, cell, execute
from crmrag_query.plans.records import Plan
from crmrag_query.plans.sparql import to_sparql
from crmrag_query.plans.world import World
from crmrag_query.syntax import RDF_TYPE
from tests.support.frgraphs import catalogue_of, chained
from tests.support.froracle import Alphabet
from tests.support.graphs import Row, graph_from_rows, quad_rows, read_quads
from tests.support.random_graphs import CRM, RDFS_LABEL, store_of

XSD = "http://www.w3.org/2001/XMLSchema#"
BASE = "http://example.org/"
CLASSES = {
    1: "E22_Human-Made_Object",
    2: "E39_Actor",
    4: "E53_Place",
    8: "E12_Production",
    16: "E55_Type",
    32: "E52_Time-Span",
}
NAMES = ("Icon of Saint George", "Άγιος Γεώργιος", "mural_two", "Nicosia", "icon")
Rows = frozenset[tuple[str, ...]]


def few(first: int, of: int) -> list[Any]:
    """Seeds of worlds: the first ones for every change, the others for `make test-all`."""
    return [*range(first), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(first, of))]


@dataclass(frozen=True)
class Sample:
    """A world and its triples."""

    world: World
    rows: Sequence[Row]

    def by_oxigraph(self, query: str) -> Rows | bool:
        found = self.store.query(query, use_default_graph_as_union=True)
        if isinstance(found, ox.QueryBoolean):
            return bool(found)
        assert isinstance(found, ox.QuerySolutions)
        return frozenset(tuple(_text(term) for term in row) for row in found)

    @cached_property
    def store(self) -> ox.Store:
        return store_of(self.rows)

    def by_rdflib(self, query: str) -> Rows | bool:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # rdflib 7.6 calls what it gives up itself
            found = (self.named if "GRAPH" in query else self.graph).query(query)
            if found.type == "ASK":
                return bool(found.askAnswer)
            return frozenset(tuple(str(term) for term in row) for row in found)  # type: ignore[union-attr]

    @cached_property
    def graph(self) -> rdflib.Graph:
        """All triples, whatever graph they stand in."""
        text = ox.serialize((quad.triple for quad in self.store), format=ox.RdfFormat.N_TRIPLES)
        return rdflib.Graph().parse(data=text, format="nt")

    @cached_property
    def named(self) -> rdflib.Dataset:
        graph = rdflib.Dataset(default_union=True)
        graph.parse(data=ox.serialize(self.store, format=ox.RdfFormat.N_QUADS), format="nquads")
        return graph


def _text(term: object) -> str:
    assert isinstance(term, ox.NamedNode | ox.Literal)
    return term.value


@cache
def ontology() -> Ontology:
    return load_ontology()


def world_of(graph: Graph, relationships: str = "fr109") -> World:
    return World(graph, ontology(), catalogue_of(relationships), load_categories(), RELATIONS)


def _relation(paths: list[str], **more: object) -> Relation:
    names: dict[str, object] = {"labels": {"en": "x"}, "inverse": {"en": "x"}}
    return Relation.model_validate({"domain": ["Thing"], "paths": paths, **names, **more})


RELATIONS = {
    "made_by": _relation(["P108i P14", "P108i P9* P14"]),
    "made_in": _relation(["P108i P7 P89*", "P7 P89*"]),
    "made_by_person": _relation(["P14", "P108i P14"], classes=["E39"], not_classes=["E22"]),
    "kind": _relation(["P2", "P46 P2", RDFS_LABEL], classes=["E53"], types=["kind 0", f"{BASE}kind1"]),
    "shown": _relation([], relationships=["thing_actor_d_created_by"]),
    "known_in_words_only": _relation([]),
}
"""A few relations: alternatives, what lies around an end, and what they ask of one."""
SAME_AS = "http://www.w3.org/2002/07/owl#sameAs"
VALUE = f"{CRM}P90_has_value"
WIKIDATA = "http://www.wikidata.org/entity/Q42"
GRAPHS = ("", "", f"{BASE}g1", f"{BASE}g2")


def sample_of(source: str | Path, tmp_path: Path) -> Sample:
    """A world of Turtle text or of a file."""
    rows = quad_rows(read_quads(source))
    return Sample(world_of(graph_from_rows(rows, tmp_path)), rows)


def generated(seed: int, tmp_path: Path, suspects: int = 0) -> Sample:
    """Chains of a few relationships under noise, every node with a class or two, a name, some with dates."""
    random = Random(seed)
    catalogue = catalogue_of("fr109")
    every = [(r, p) for r in catalogue for p in r.paths]
    net = chained(catalogue, Alphabet(ontology()), seed, random.sample(every, k=6))
    iris = {code: iri for code in net.codes if (iri := _property_iri(code))}
    names = [f"{BASE}n{number}" for number in range(len(net.masks))]
    rows: list[Row] = [
        (names[s], iris[code], names[o], 0, "", "", "") for s, code, o in net.edges if code in iris
    ]
    for number, mask in enumerate(net.masks):
        for bit, name in CLASSES.items():
            if mask & bit:
                rows.append((names[number], RDF_TYPE, CRM + name, 0, "", "", ""))
        if random.random() < 0.6:
            rows.append((names[number], RDFS_LABEL, random.choice(NAMES), 1, "", "", ""))
        if mask & 32 or random.random() < 0.1:
            year = random.randint(1500, 1505)
            rows.append(
                (names[number], f"{CRM}P82a_begin_of_the_begin", f"{year}-01-01", 1, XSD + "date", "", "")
            )
            if random.random() < 0.7:
                end = f"{year + random.randint(0, 2)}-12-31"
                rows.append((names[number], f"{CRM}P82b_end_of_the_end", end, 1, XSD + "date", "", ""))
        if random.random() < 0.3:
            rows.append(
                (names[number], f"{CRM}P2_has_type", f"{BASE}kind{random.randint(0, 2)}", 0, "", "", "")
            )
    rows.append((f"{BASE}kind0", f"{CRM}P127_has_broader_term", f"{BASE}kind1", 0, "", "", ""))
    for name in names:
        if random.random() < 0.3:
            text, kind = random.choice(
                (("7", ""), ("-2.5", ""), ("12", "decimal"), ("1850", "gYear"), ("3 cm", ""))
            )
            rows.append((name, VALUE, text, 1, XSD + kind if kind else "", "", ""))
        if random.random() < 0.15:
            rows.append(
                (name, SAME_AS, random.choice([*names, WIKIDATA, "http://other.org/x"]), 0, "", "", "")
            )
    rows += [(f"{BASE}kind0", RDFS_LABEL, "Kind 0", 1, "", "", "")]
    rows = sorted({(*row[:6], random.choice(GRAPHS)) for row in sorted(set(rows))})
    graph = graph_from_rows(rows, tmp_path)
    if suspects:
        flags = np.load(graph.folder / "flags.npy")
        flags[random.sample(range(len(flags)), k=suspects)] |= FLAG_SUSPECT
        np.save(graph.folder / "flags.npy", flags)
        graph = Graph.open(graph.folder)
    return Sample(world_of(graph), rows)


@cache
def _property_iri(code: str) -> str:
    """An IRI of the property that data may use, "" where it would be read as another."""
    term = ontology().property_(code)
    iri = term.iri or CRM + term.name
    found = normalise_property(iri)
    return iri if found is not None and found.code == code else ""


def rows_of(world: World, plan: Plan, outcome: Outcome) -> Rows | bool:
    """An outcome as its query returns it: texts of each row."""
    iri = world.graph.iri
    match plan.compute.kind:
        case "compare":
            assert outcome.common is not None
            return frozenset({tuple(map(str, (*outcome.sizes, len(outcome.common))))})
        case "pairs":
            return frozenset(
                tuple(shown(world, one) for one in row) for part in outcome.blocks(3) for row in part.tolist()
            )
        case "ask":
            return bool(outcome.value)
        case "count":
            return frozenset({(str(outcome.value),)})
        case "rank":
            assert outcome.values is not None
            ranked = zip(outcome.members.tolist(), outcome.values.tolist(), strict=True)
            return frozenset((iri(member), str(value)) for member, value in ranked)
        case "group":
            told = str if plan.compute.by != "entity" else partial(shown, world)
            return frozenset((told(key), str(count)) for key, count in outcome.groups.tolist())
        case "table":
            return frozenset(tuple(shown(world, one) for one in row) for row in outcome.rows.tolist())
        case _:
            return frozenset((iri(member),) for member in outcome.members.tolist())


def shown(world: World, number: int) -> str:
    found = cell(world, number)
    return found if isinstance(found, str) else found.text


def check(sample: Sample, plan: Plan, by_rdflib: bool = True) -> None:
    """The plan's rows by the arrays are those of its query on Oxigraph and on rdflib."""
    outcome = execute(plan, sample.world)
    expected = _numbered(plan, rows_of(sample.world, plan, outcome))
    query = to_sparql(plan, sample.world, outcome)
    assert _numbered(plan, sample.by_oxigraph(query)) == expected, query
    if by_rdflib:
        assert _numbered(plan, sample.by_rdflib(query)) == expected, query


def _numbered(plan: Plan, rows: Rows | bool) -> Rows | bool:
    """Rows of a ranking by numbers with these in one spelling."""
    if isinstance(rows, bool) or plan.compute.measure is None or plan.compute.measure.kind != "value":
        return rows
    return frozenset((member, str(float(value))) for member, value in rows)
