"""Texts of queries: what they ask, and that nothing enters them unchecked. Oxigraph parses and answers them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from SPARQLWrapper import SELECT, SPARQLWrapper

from crmrag_assets.sources.endpoint import queries
from crmrag_assets.sources.endpoint.queries import Graphs, Part, Scope
from tests.support.endpoints import EX, node, quad
from tests.support.sparql_answers import sorted_rows

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
ODD = st.text(st.sampled_from("ab:/#?%\\<>\"'{}|^`. \t\n\r\0éα𐍈\u00a0\u200b\ufffe"), max_size=8)
IRIS = st.builds(
    "{}{}".format, st.sampled_from(["", "a:", "http://e/", "urn:x:", "<", "http://e/>"]), TEXTS | ODD
)
EVERY_SCOPE: list[Graphs] = ["default", "named", "all", (EX + "g1",), (EX + "g1", EX + "g2")]
STORE = ox.Store()
STORE.extend(
    [
        quad("a", TYPE, "C"),
        quad("a", "p", "b"),
        quad("a", "p", ox.Literal("1"), "g1"),
        quad("b", TYPE, "C", "g1"),
        quad("b", "q", "a", "g2"),
        quad("b", "p", "a", "g2"),
        quad("c", "p", ox.Literal("2"), "g2"),
        ox.Quad(node("a"), node("p"), ox.BlankNode(), ox.DefaultGraph()),
        ox.Quad(ox.BlankNode(), node("p"), node("a"), ox.DefaultGraph()),
    ]
)


def rows(query: str, store: ox.Store = STORE) -> list[tuple[Any, ...]]:
    found = store.query(query)
    assert isinstance(found, ox.QuerySolutions)
    return [tuple(row) for row in found]


def quads_of(graphs: Graphs) -> list[ox.Quad]:
    """The quads of the store that are read, by hand: each once for every graph that holds it."""
    default = [one for one in STORE if isinstance(one.graph_name, ox.DefaultGraph)]
    named = [one for one in STORE if isinstance(one.graph_name, ox.NamedNode)]
    if isinstance(graphs, tuple):
        return [one for one in named if one.graph_name.value in graphs]
    return {"default": default, "named": named, "all": default + named}[graphs]


def as_rows(quads: Sequence[ox.Quad], scope: Scope) -> Counter[tuple[Any, ...]]:
    graph = (lambda one: (None if one == ox.DefaultGraph() else one,)) if scope.graph else (lambda one: ())
    return Counter((one.subject, one.predicate, one.object, *graph(one.graph_name)) for one in quads)


# What enters a query.


@given(IRIS)
@example("http://e/a> <http://e/p> ?o } ; DROP ALL #")
@example("http://e/\\u003E")
def test_a_text_is_refused_or_is_the_one_iri_of_the_query(text: str) -> None:
    try:
        listed = queries.values("?x", [text])
    except ValueError as error:
        assert repr(text) in str(error)
        return
    try:
        expected = ox.NamedNode(text)
    except (
        ValueError
    ):  # stricter than the grammar of SPARQL, as for `http://[`: the endpoint refuses such a query
        with pytest.raises(SyntaxError):
            STORE.query(f"SELECT ?x WHERE {{ {listed} }}")
        return
    assert rows(f"SELECT ?x WHERE {{ {listed} }}") == [(expected,)]


@given(TEXTS | ODD)
def test_every_string_survives(text: str) -> None:
    assert rows(f"SELECT ?x WHERE {{ VALUES ?x {{ {queries.string(text)} }} }}") == [(ox.Literal(text),)]


@given(TEXTS)
def test_relative_texts_are_no_iris(text: str) -> None:
    scheme, colon, _ = text.partition(":")
    if not (colon and scheme.isascii() and scheme[:1].isalpha()):
        assert not queries.is_iri(text)


def every_query(text: str, scope: Scope) -> list[str]:
    """Each query of the package, with a text wherever it takes one."""
    part = Part((text,), (text,), "0f", unnamed=True)
    typed, untyped = queries.typed(scope, [text]), queries.untyped(scope)
    lists = [queries.subject_page(scope, text, 7, only) for only in ("", typed, untyped)]
    lists += [queries.all_subjects(scope, only) for only in ("", typed, untyped)]
    counts = [queries.count_subjects(scope, only) for only in ("", typed, untyped)]
    odd = [
        scope.select(queries.odd([text], scope), "(STR(?e) AS ?s)"),
        queries.count(queries.odd([text], scope)),
    ]
    parts = [make(part, scope) for make in (queries.rows_of, queries.properties_of)]
    parts.append(queries.count(part.pattern(scope)))
    whole = [make(scope) for make in (queries.count_triples, queries.class_list, queries.property_list)]
    constants = [queries.PROBE, queries.ALIVE]
    return [*lists, *counts, *odd, *parts, *whole, queries.pointing_at(scope, [text, text], 5), *constants]


@pytest.mark.parametrize("graphs", EVERY_SCOPE)
@pytest.mark.parametrize("iri", [EX + "a", "urn:x:é𐍈#(&'*+,;=)~", "http://e/?q=a&b=%20"])
def test_every_query_is_a_valid_select(graphs: Graphs, iri: str) -> None:
    for query in every_query(iri, Scope(graphs)):
        rows(query)
        wrapper = SPARQLWrapper(EX)
        wrapper.setQuery(query)
        assert wrapper.queryType == SELECT
        assert None not in sorted_rows(query)  # nothing is sorted without a limit
        assert "OFFSET" not in query.upper()


@given(ODD)
def test_subjects_that_are_no_iris_enter_only_as_strings(text: str) -> None:
    """Pages begin after, and odd subjects are found by, whatever the endpoint gave before."""
    scope = Scope()
    for query in (
        queries.subject_page(scope, text, 1),
        scope.select(queries.odd([text], scope), "(STR(?e) AS ?s)"),
        queries.count(queries.odd([text], scope)),
        queries.digest_filter("?s", text).join(["SELECT ?s WHERE { ?s ?p ?o ", " }"]),
    ):
        rows(query)


# What the queries ask.


@pytest.mark.parametrize("graphs", EVERY_SCOPE)
def test_each_scope_reads_its_graphs(graphs: Graphs) -> None:
    scope, own = Scope(graphs), quads_of(graphs)
    everything = scope.select(scope.triples("?s", "?p", "?o"), "?s", "?p", "?o")
    assert Counter(rows(everything)) == as_rows(own, scope)
    assert rows(queries.count_triples(scope)) == [(ox.Literal(len(own)),)]
    subjects = {one.subject for one in own if isinstance(one.subject, ox.NamedNode)}
    assert rows(queries.count_subjects(scope)) == [(ox.Literal(len(subjects)),)]
    assert {row[0].value for row in rows(queries.all_subjects(scope))} == {one.value for one in subjects}
    assert {row[0].value for row in rows(queries.property_list(scope))} == {
        one.predicate.value for one in own
    }


@pytest.mark.parametrize("graphs", EVERY_SCOPE)
@pytest.mark.parametrize("unnamed", [False, True])
def test_a_part_is_of_its_subjects_properties_and_digests(graphs: Graphs, unnamed: bool) -> None:
    scope = Scope(graphs)
    own = [one for one in quads_of(graphs) if not (unnamed and isinstance(one.object, ox.BlankNode))]

    def check(part: Part, expected: list[ox.Quad]) -> None:
        assert Counter(rows(queries.rows_of(part, scope))) == as_rows(expected, scope)
        assert rows(queries.count(part.pattern(scope))) == [(ox.Literal(len(expected)),)]
        listed = {p.value: int(n.value) for p, n in rows(queries.properties_of(part, scope)) if p}
        assert listed == Counter(one.predicate.value for one in expected)

    subjects = (EX + "a", EX + "b")
    of_both = [one for one in own if one.subject in map(node, "ab")]
    check(Part(subjects, unnamed=unnamed), of_both)
    of_p = [one for one in of_both if one.predicate == node("p")]
    check(Part(subjects, (EX + "p",), unnamed=unnamed), of_p)
    digested = [
        rows(queries.rows_of(Part(subjects, digest=digit, unnamed=True), scope))
        for digit in "0123456789abcdef"
    ]
    named = [one for one in of_both if not isinstance(one.object, ox.BlankNode)]
    assert Counter(row for part in digested for row in part) == as_rows(named, scope)


@pytest.mark.parametrize("graphs", EVERY_SCOPE)
def test_pages_are_in_order_after_the_last_subject(graphs: Graphs) -> None:
    scope = Scope(graphs)
    whole = [row[0].value for row in rows(queries.subject_page(scope, "", 100))]
    assert whole == sorted(set(whole)) == sorted(row[0].value for row in rows(queries.all_subjects(scope)))
    for at, iri in enumerate(whole):
        assert [row[0].value for row in rows(queries.subject_page(scope, iri, 1))] == whole[at + 1 : at + 2]


@pytest.mark.parametrize("graphs", EVERY_SCOPE)
def test_subjects_are_typed_or_untyped(graphs: Graphs) -> None:
    scope = Scope(graphs)
    every, typed, untyped = (
        {row[0].value for row in rows(queries.all_subjects(scope, only))}
        for only in ("", queries.typed(scope, [EX + "C", EX + "D"]), queries.untyped(scope))
    )
    own = quads_of(graphs)
    assert typed == {one.subject.value for one in own if one.predicate.value == TYPE}  # type: ignore[union-attr]
    assert untyped == every - typed
    assert {row[0].value for row in rows(queries.class_list(scope))} == ({EX + "C"} if typed else set())


def test_what_points_at_an_entity_is_counted_for_each_target_alone() -> None:
    store = ox.Store()
    store.extend(quad(f"s{n}", "p", target) for n in range(9) for target in ("a", "b"))
    store.extend([quad("a", "p", "a"), quad("s0", TYPE, "a"), quad("t", TYPE, "a")])
    found = rows(queries.pointing_at(Scope(), [EX + "a", EX + "b", EX + "none"], 3), store)
    assert sorted((one.value, target.value) for one, target in found) == sorted(
        (f"{EX}s{n}", EX + target) for n in range(3) for target in ("a", "b")
    )


def test_lists_of_one_kind_are_never_taken_for_another() -> None:
    """An answer to another query shows in its variable."""
    names = {
        queries.listed_as(""),
        queries.listed_as(queries.untyped(Scope())),
        "class",
        "property",
        "n",
        "s",
    }
    assert len(names) == 6


def test_the_probe_brings_back_what_formats_get_wrong() -> None:
    ((text, greek, typed, iri, number),) = rows(queries.PROBE)
    assert number.value == queries.PRECISE
    assert (text, iri) == (ox.Literal(queries.PROBED[0]), ox.NamedNode(queries.PROBED[2]))
    assert (greek, typed.value) == (ox.Literal(queries.PROBED[1], language="el"), "x")
    assert {"\t", "\n", "\r", '"', "\\"} <= set(text.value) and any(
        ord(letter) > 0xFFFF for letter in greek.value
    )
