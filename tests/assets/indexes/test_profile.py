"""The profile of a data set: SPARQL aggregates by Oxigraph on the sample and on random graphs, and graphs counted by hand."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmrag_assets.indexes.aggregation import MatchArrays, time_relationships, write_dates
from crmrag_assets.indexes.profile import make_profile, write_profile
from crmrag_assets.profile import kinds
from crmrag_assets.profile import kinds as ground
from crmrag_assets.profile.kinds import CHARACTERS, TOP, class_sets
from crmrag_query.artifacts.manifest import entries
from crmrag_query.config import load_method
from crmrag_query.graph.arrays import FLAG_ENTITY
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.load import Category, load_ontology
from crmrag_query.plans.profile import PROFILE, READABLE, Content, Extent, Fact, Profile
from crmrag_query.relationships.engine import Catalogue, walk
from crmrag_query.retrieval.aggregation import DATED_BY, DateIndex
from tests.conftest import ROOT
from tests.support.froracle import Alphabet, property_path
from tests.support.graphs import graph_from_rows, graph_from_turtle, quad_rows, read_quads
from tests.support.random_graphs import random_rows, store_of

METHOD, ONTOLOGY = load_method(), load_ontology()
CATALOGUE = Catalogue.load(METHOD)
SAMPLE = ROOT / "data" / "sample" / "troodos.ttl"
CRM, EX = "http://www.cidoc-crm.org/cidoc-crm/", "http://example.org/"
TYPED = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
MADE = "thing_actor_d_created_by"


@cache
def times() -> Catalogue:
    return time_relationships(Catalogue.load(METHOD, DATED_BY))


def content_of(graph: Graph, folder: Path, parts: int = 1) -> Content:
    folder.mkdir(parents=True)
    write_dates(graph, ONTOLOGY, times(), folder)
    entities = np.flatnonzero(graph.flags & FLAG_ENTITY).astype(np.int32)
    found = [walk(graph.adjacency, ONTOLOGY, CATALOGUE, entities[part::parts]) for part in range(parts)]
    chunks = [MatchArrays(one.source, one.relationship, one.target, one.path) for one in found]
    return make_profile(graph, DateIndex.open(folder), ONTOLOGY, METHOD, CATALOGUE, chunks)


def profiled(turtle: str, tmp_path: Path) -> Profile:
    return Profile(content_of(graph_from_turtle(turtle, tmp_path), tmp_path / "dates"))


Sample = tuple[Profile, ox.Store, Graph]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    folder = tmp_path_factory.mktemp("sample")
    rows = quad_rows(read_quads(SAMPLE))
    graph = graph_from_rows(rows, folder, languages=("en", "el"))
    return Profile(content_of(graph, folder / "dates")), store_of(rows), graph


def test_entities_counted_in_parts_give_the_same(sample: Sample, tmp_path: Path) -> None:
    profile, _, graph = sample
    assert content_of(graph, tmp_path / "dates", parts=3) == profile.content


def rows_of(store: ox.Store, query: str) -> list[tuple[Any, ...]]:
    """Rows of a query as IRIs, texts and numbers."""
    found = store.query(query, prefixes={"crm": CRM})
    assert isinstance(found, ox.QuerySolutions)
    names = [variable.value for variable in found.variables]
    return [tuple(_plain(row[name]) for name in names) for row in found]


def _plain(term: Any) -> Any:
    number = isinstance(term, ox.Literal) and term.datatype.value.endswith(("integer", "decimal"))
    return float(term.value) if number else term.value


# the sample, by SPARQL


def test_every_property_has_the_triples_subjects_and_objects_that_sparql_counts(sample: Sample) -> None:
    profile, store, _ = sample
    expected = rows_of(
        store,
        f"""SELECT ?p (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?subjects) (COUNT(DISTINCT ?o) AS ?objects)
        WHERE {{ ?s ?p ?o FILTER(!isLiteral(?o) && ?p != {TYPED}) }} GROUP BY ?p""",
    )
    found = {(p.iri, p.triples, p.subjects, p.objects) for p in profile.properties.values() if p.triples}
    assert found == set(expected)


def test_every_literal_property_has_the_counts_that_sparql_gives(sample: Sample) -> None:
    profile, store, _ = sample
    expected = rows_of(
        store,
        """SELECT ?p (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?subjects) (SUM(STRLEN(STR(?o))) AS ?length)
        WHERE { ?s ?p ?o FILTER(isLiteral(?o)) } GROUP BY ?p""",
    )
    stated = [(p.iri, p.literals) for p in profile.properties.values() if p.literals]
    found = {(iri, one.count, one.subjects, one.length) for iri, one in stated}
    assert found == {(p, n, subjects, round(length / n, 1)) for p, n, subjects, length in expected}
    for p, *_ in expected:
        languages = rows_of(
            store, f"SELECT ?l (COUNT(*) AS ?n) WHERE {{ ?s <{p}> ?o BIND(LANG(?o) AS ?l) }} GROUP BY ?l"
        )
        literals = profile.properties[p].literals
        assert literals is not None and set(literals.languages) == set(languages)


def test_the_first_and_last_date_of_a_property_are_told(sample: Sample) -> None:
    profile, store, _ = sample
    for name in ("P82a_begin_of_the_begin", "P82b_end_of_the_end"):
        values = [text for (text,) in rows_of(store, f"SELECT (STR(?o) AS ?t) WHERE {{ ?s crm:{name} ?o }}")]
        # of four digits each, so that spelling and time agree
        assert all(re.fullmatch(r"\d{4}(-\d\d(-\d\d)?)?", value) for value in values)
        literals = profile.properties[CRM + name].literals
        assert literals and literals.dates == Extent(len(values), min(values), max(values))


def test_class_pairs_of_a_property_are_those_of_sparql(sample: Sample) -> None:
    profile, store, graph = sample
    name = {graph.class_iri(n): code or graph.class_iri(n) for n, code in enumerate(graph.class_codes)}
    for one in profile.properties.values():
        expected = rows_of(
            store,
            f"""SELECT ?a ?b (COUNT(*) AS ?n) WHERE {{ ?s <{one.iri}> ?o . ?s {TYPED} ?a . ?o {TYPED} ?b }}
            GROUP BY ?a ?b""",
        )
        pairs = sorted(((name[a], name[b], int(n)) for a, b, n in expected), key=lambda p: (-p[2], p[:2]))
        assert list(one.classes) == pairs[:TOP], one.iri


def test_classes_have_their_entities_and_with_sub_classes_their_instances(sample: Sample) -> None:
    profile, store, graph = sample
    stated = rows_of(store, f"SELECT ?c (COUNT(DISTINCT ?s) AS ?n) WHERE {{ ?s {TYPED} ?c }} GROUP BY ?c")
    assert {(one.iri, one.entities) for one in profile.classes.values()} == set(stated)
    for one in profile.classes.values():
        below = {
            graph.class_iri(n) for n, code in enumerate(graph.class_codes) if ONTOLOGY.is_a(code, one.code)
        }
        values = " ".join(f"<{iri}>" for iri in sorted(below))
        query = f"SELECT (COUNT(DISTINCT ?s) AS ?n) WHERE {{ VALUES ?c {{ {values} }} ?s {TYPED} ?c }}"
        assert [(one.instances,)] == rows_of(store, query), one.code
    assert profile.classes["E21"].categories == ("Actor",)
    assert profile.classes["E21"].mask == int(Category.Actor)


def test_types_have_the_entities_that_sparql_counts_by_class(sample: Sample) -> None:
    profile, store, _ = sample
    expected = dict(
        rows_of(store, "SELECT ?t (COUNT(DISTINCT ?s) AS ?n) WHERE { ?s crm:P2_has_type ?t } GROUP BY ?t")
    )
    assert {one.iri: one.entities for one in profile.types if one.entities} == expected
    unused = f"""SELECT DISTINCT ?t WHERE {{ ?t {TYPED} crm:E55_Type
        FILTER NOT EXISTS {{ ?s crm:P2_has_type ?t }} }}"""
    assert {(one.iri,) for one in profile.types if not one.entities} == set(rows_of(store, unused))
    counts = [one.entities for one in profile.types]
    assert counts == sorted(counts, reverse=True)
    one = profile.types[0]
    by_class = f"""SELECT ?c (COUNT(DISTINCT ?s) AS ?n) WHERE {{ ?s crm:P2_has_type <{one.iri}> ; {TYPED} ?c }}
        GROUP BY ?c"""
    classes = {profile.classes[c].code: n for c, n in rows_of(store, by_class)}
    assert dict(one.classes).items() <= classes.items() and one.classes[0][1] == max(classes.values())
    broader = "SELECT ?t ?b WHERE { ?t crm:P127_has_broader_term ?b }"
    assert {(t.iri, b) for t in profile.types for b in t.broader} == set(rows_of(store, broader))


def test_pairs_of_a_relationship_and_of_its_paths_are_those_of_property_paths(sample: Sample) -> None:
    profile, store, graph = sample
    alphabet, present = Alphabet(ONTOLOGY), defaultdict(list)
    for number, code in enumerate(graph.property_codes):
        present[code].append(graph.property_iri(number))
    compared = 0
    for relationship in CATALOGUE:
        found = profile.relationships[relationship.id]
        if not found.pairs:
            continue
        ways = {}
        for path in relationship.paths:
            steps = property_path(path, alphabet, present)
            pairs = set(rows_of(store, f"SELECT DISTINCT ?s ?o WHERE {{ ?s {steps} ?o }}"))
            ways[path.id] = {pair for pair in pairs if _counts(graph, pair, relationship)}
        every = Counter(pair for pairs in ways.values() for pair in pairs)
        assert found.pairs == len(every), relationship.id
        assert (found.sources, found.targets) == tuple(len(set(ends)) for ends in zip(*every, strict=True))
        assert sum(path.pairs for path in found.paths) == found.pairs
        told = {path.id: path.pairs for path in found.paths}
        for id, pairs in ways.items():
            alone = sum(every[pair] == 1 for pair in pairs)
            assert alone <= told.get(id, 0) <= len(pairs), (relationship.id, id)
        compared += 1
    assert compared >= 50


def _counts(graph: Graph, pair: tuple[Any, ...], relationship: Any) -> bool:
    source, target = (graph.node(iri) if isinstance(iri, str) else None for iri in pair)  # no literals
    if source is None or target is None or source == target:
        return False
    may = int(graph.adjacency.categories[target])
    return graph.category(source) == relationship.domain and (may == 0 or bool(may & relationship.range))


# random graphs


@given(random_rows)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
def test_any_graph_gives_the_counts_of_sparql(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any]
) -> None:
    folder = tmp_path_factory.mktemp("random")
    graph = graph_from_rows(rows, folder)
    profile = Profile(content_of(graph, folder / "dates"))
    store = ox.Store()
    store.extend(ox.Quad(q.subject, q.predicate, q.object) for q in store_of(rows))  # named graphs joined
    links = rows_of(
        store,
        f"""SELECT ?p (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?a) (COUNT(DISTINCT ?o) AS ?b)
        WHERE {{ ?s ?p ?o FILTER(isIRI(?o) && ?p != {TYPED}) }} GROUP BY ?p""",
    )
    found = {p.iri: (p.triples, p.subjects, p.objects) for p in profile.properties.values() if p.triples}
    assert found == {p: counts for p, *rest in links if (counts := tuple(rest))}
    types = rows_of(
        store,
        """SELECT ?t (COUNT(DISTINCT ?s) AS ?n)
        WHERE { ?s crm:P2_has_type ?t FILTER(isIRI(?t)) } GROUP BY ?t""",
    )
    assert {one.iri: one.entities for one in profile.types} == dict(types)
    pairs = rows_of(
        store,
        f"""SELECT ?p ?a ?b (COUNT(*) AS ?n) WHERE {{ ?s ?p ?o . ?s {TYPED} ?a . ?o {TYPED} ?b
        FILTER(isIRI(?a) && isIRI(?b) && ?p != {TYPED}) }} GROUP BY ?p ?a ?b""",
    )
    told = Counter({p.iri: sum(n for *_, n in p.classes) for p in profile.properties.values() if p.classes})
    whole: Counter[str] = Counter()
    for p, _, _, n in pairs:
        whole[p] += int(n)
    assert all(told[p] <= whole[p] for p in told) and set(told) == set(whole)


@given(st.lists(st.sets(st.integers(0, 4), max_size=4), min_size=1, max_size=30))
def test_nodes_share_a_set_of_classes_exactly_where_their_classes_are_equal(rows: list[set[int]]) -> None:
    ptr = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    val = np.array([number for row in rows for number in sorted(row)], np.int32)
    sets = class_sets(ptr, val)
    assert len(sets) == len({frozenset(row) for row in rows})
    for node, row in enumerate(rows):
        of = sets.of[node]
        assert sets.val[sets.ptr[of] : sets.ptr[of + 1]].tolist() == sorted(row)


# by hand

MUSEUM = """
:vase a crm:E22_Human-Made_Object ; rdfs:label "Vase"@en ; crm:P2_has_type :vases ; crm:P62_depicts :ship ;
  crm:P1_is_identified_by [ a crm:E42_Identifier ; crm:P190_has_symbolic_content "12.5" ] .
  :vase crm:P55_has_current_location :room .
:bowl a crm:E22_Human-Made_Object ; rdfs:label "Bowl"@en, "Schale"@de ; crm:P2_has_type :vases ;
  owl:sameAs <http://www.wikidata.org/entity/Q1> .
:ship a crm:E22_Human-Made_Object ; rdfs:label "Ship" .
:making a crm:E12_Production ; crm:P108_has_produced :vase, :bowl ; crm:P14_carried_out_by :anna ;
  crm:P4_has_time-span [ a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "-0450-01-01"^^xsd:date ;
  crm:P82b_end_of_the_end "0010"^^xsd:gYear ] .
:anna a crm:E21_Person ; rdfs:label "Anna" ; owl:sameAs <http://vocab.getty.edu/ulan/500> .
:vases a crm:E55_Type ; rdfs:label "vases"@en, "vases (vessels)"@en, "Vasen"@de ; crm:P127_has_broader_term :vessels .
:vessels a crm:E55_Type ; rdfs:label "vessels"@en .
:room a crm:E53_Place ; rdfs:label "Room" ; crm:P89_falls_within :house .
:house a crm:E53_Place ; rdfs:label "House" .
"""


def test_a_type_is_told_with_labels_users_and_broader_type(tmp_path: Path) -> None:
    vases, vessels = profiled(MUSEUM, tmp_path).types
    assert (vases.iri, vases.label, vases.entities) == (EX + "vases", "vases", 2)
    assert dict(vases.labels) == {"en": "vases", "de": "Vasen"}
    assert (vases.classes, vases.categories, vases.ways) == ((("E22", 2),), (("Thing", 2),), (("P2", 2),))
    assert vases.broader == (EX + "vessels",)
    assert (vessels.entities, vessels.ways) == (0, (("P127", 1),))


def test_a_relationship_is_told_with_its_targets_and_examples(tmp_path: Path) -> None:
    made = profiled(MUSEUM, tmp_path).relationships[MADE]
    assert (made.pairs, made.sources, made.targets) == (2, 2, 1)
    assert (made.categories, made.classes) == ((("Actor", 2),), (("E21", 2),))
    assert [(one.source.label, one.target.label) for one in made.examples] == [
        ("Vase", "Anna"),
        ("Bowl", "Anna"),
    ]


def facts(profile: Profile, topic: str) -> set[tuple[str, str, int, int]]:
    return {(one.of, one.by, one.count, one.whole) for one in profile.modelling[topic]}


def test_facts_tell_how_the_data_is_modelled(tmp_path: Path) -> None:
    profile = profiled(MUSEUM, tmp_path)
    things = profile.coverage["Thing"].entities
    assert ("Thing", "P62", 1, things) in facts(profile, "depiction")
    assert facts(profile, "places") == {("Place", "P89", 1, 2), ("Place", "P89i", 1, 2)}
    assert {("Thing", "type", 2, things), ("Thing", "E22", 3, things)} <= facts(profile, "kinds")
    assert {("Thing", "wikidata", 1, things), ("Actor", "ulan", 1, 1)} <= facts(profile, "authorities")
    assert ("Thing", "thing_time_a_created", 2, things) in facts(profile, "dated")
    assert facts(profile, "date_statements") == {
        ("dates", "understood", 1, 1), ("dates", "P82a", 1, 1), ("dates", "P82b", 1, 1),
    }  # fmt: skip
    assert ("all", "P1 E42", 1, profile.totals["entities"]) in facts(profile, "identifiers")
    assert ("all", "P1 | P190", 1, profile.totals["entities"]) in facts(profile, "names")
    assert {one.of for one in profile.modelling["makers"]} == {"Thing", MADE}
    assert ("Thing", "P108i | P14", 2, things) in facts(profile, "makers")


def test_a_maker_in_a_role_is_a_fact_of_its_own(tmp_path: Path) -> None:
    role = "[] a crm:PC14_carried_out_by ; crm:P01_has_domain :making ; crm:P02_has_range :anna ."
    profile = profiled(MUSEUM.replace("; crm:P14_carried_out_by :anna", "") + role, tmp_path)
    told = {one.by: one.count for one in profile.modelling["makers"] if one.of == "Thing"}
    assert told == {"P108i | P01i | P02": 2}


def test_coverage_tells_of_whom_what_is_known(tmp_path: Path) -> None:
    profile = profiled(MUSEUM, tmp_path)
    known = profile.classes["E22"].known
    assert known == {"label": 3, "type": 2, "date": 2, "maker": 2, "place": 1, "image": 0}
    place = profile.coverage["Place"]
    assert (place.entities, place.label, place.place) == (2, 2, 1)
    every = profile.coverage["all"]
    assert every.entities == profile.totals["entities"]


def test_numbers_and_dates_are_told_by_value_and_not_by_spelling(tmp_path: Path) -> None:
    values = '"9"', '"10.5"', '"-3"', '"ten"', '"1e2"'
    profile = profiled(MUSEUM + f":vase crm:P3_has_note {', '.join(values)} .", tmp_path)
    notes = profile.properties["P3"].literals
    assert notes is not None and notes.numbers is not None and notes.dates is None
    assert notes.count == 5 and notes.numbers == Extent(4, "-3", "1e2")
    begin, end = (profile.properties[code].literals for code in ("P82a", "P82b"))
    assert begin and begin.dates and begin.dates.lowest == begin.dates.highest == "-0450-01-01"
    assert end and end.dates and end.dates.lowest == "0010"


def test_what_is_shown_is_cut_and_on_one_line(tmp_path: Path) -> None:
    text = ":vase crm:P3_has_note '''first\nsecond " + "long " * 100 + "''' ."
    notes = profiled(MUSEUM + text, tmp_path).properties["P3"].literals
    assert notes is not None and notes.examples[0].startswith("first second long")
    assert len(notes.examples[0]) == CHARACTERS and notes.length > 500


def test_lists_keep_to_their_limits_and_totals_tell_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name, limit in (
        (kinds, "CLASSES", 2),
        (kinds, "TYPES", 1),
        (kinds, "PROPERTIES", 3),
        (ground, "EXAMPLES", 1),
    ):
        monkeypatch.setattr(module, name, limit)
    few = profiled(MUSEUM, tmp_path)
    assert (len(few.classes), len(few.types), len(few.properties)) == (2, 1, 3)
    assert few.totals["types"] == 2 and few.totals["classes"] == 7 and few.totals["properties"] > 3
    assert all(len(one.examples) <= 1 for one in few.classes.values())


def test_an_empty_looking_graph_has_a_profile(tmp_path: Path) -> None:
    profile = profiled(":a :b :c .", tmp_path)
    assert profile.totals["entities"] == 1 and not profile.types and not profile.classes
    assert profile.properties[EX + "b"].classes == ()
    assert profile.modelling["categories"] == ()


# the files


def test_the_same_graph_gives_the_same_files_whatever_its_chunks(tmp_path: Path) -> None:
    folders: list[Path] = []
    for chunks in (1, 4, 4):
        root = tmp_path / str(len(folders))
        content = content_of(graph_from_turtle(SAMPLE, root, chunks=chunks), root / "dates")
        folders.append(root / "profile")
        folders[-1].mkdir()
        write_profile(content, "Sample", folders[-1])
    first, *others = (entries(folder) for folder in folders)
    assert [entry.path for entry in first] == [PROFILE, READABLE]
    assert all(other == first for other in others)


def test_the_json_is_read_back_as_it_was_made(sample: Sample, tmp_path: Path) -> None:
    profile = sample[0]
    counts = write_profile(profile.content, "Sample", tmp_path)
    assert Profile.open(tmp_path) == profile
    assert counts["types"] == profile.totals["types"]
    assert json.loads((tmp_path / PROFILE).read_bytes())["schema"] == 2
    assert (tmp_path / PROFILE).stat().st_size < 300_000


def test_the_page_shows_data_as_words_only(tmp_path: Path) -> None:
    hostile = (
        ":vase crm:P3_has_note '<script>alert(1)</script> | [x](http://evil)' ; rdfs:label '# *a* | <b>' ."
    )
    write_profile(profiled(MUSEUM + hostile, tmp_path).content, "<i>title</i>", tmp_path)
    page = (tmp_path / READABLE).read_text(encoding="utf-8")
    assert "<script>" not in page and "<b>" not in page and "<i>" not in page and "[x](" not in page
    assert "## How it is modelled" in page and "vases" in page


def test_a_share_of_nothing_is_nothing() -> None:
    assert Fact("Thing", "P62", 0, 0).share == 0
    assert Fact("Thing", "P62", 1, 4).share == 0.25
