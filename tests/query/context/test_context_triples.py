"""Enrichment by the four priorities of the method: hand-worked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.artifacts.release import Release
from crmrag_query.context.assemble import Enrichment, Fact, Facts, Names, read_document
from crmrag_query.context.context import Budget, ContextLine
from crmrag_query.graph.graph import Graph, TriplesIndex
from tests.query.context.conftest import built, candidates_of, fixed, node_of

SOURCE = """
:bell a crm:E22_Human-Made_Object ; rdfs:label "Bell" ; crm:P46i_forms_part_of :tower ;
    crm:P130_shows_features_of :tower , :other , :nameless ; crm:P55_has_current_location :nave ;
    rdfs:seeAlso :other ; owl:sameAs :other .
:casting a crm:E12_Production ; rdfs:label "Casting" ; crm:P108_has_produced :bell ; crm:P4_has_time-span :span ;
    crm:P14_carried_out_by :founder .
:span a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "1885-01-01"^^xsd:date ;
    crm:P82b_end_of_the_end "1887-12-31"^^xsd:date .
:tower a crm:E22_Human-Made_Object ; rdfs:label "Tower" .
:other a crm:E22_Human-Made_Object ; rdfs:label "Other bell" .
:nave a crm:E53_Place ; rdfs:label "Nave" .
:founder a crm:E21_Person ; rdfs:label "Founder" .
"""


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return built(tmp_path_factory.mktemp("triples"), SOURCE)


@pytest.fixture(scope="module")
def richer(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """Cast within a month; what produced the bell is stated both ways; and it shows features of three namesakes."""
    month = SOURCE.replace("1885-01-01", "1885-05-01").replace("1887-12-31", "1885-05-31")
    more = ":bell crm:P108i_was_produced_by :casting ." + "".join(
        f':n{n} a crm:E22_Human-Made_Object ; rdfs:label "Namesake" . :bell crm:P130_shows_features_of :n{n} .'
        for n in range(3)
    )
    return built(tmp_path_factory.mktemp("richer"), month + more)


def enrichment(release: Release, language: str = "en") -> Enrichment:
    return Enrichment(release, Facts(release), Names(release), language)


def chosen(release: Release, entity: str, retrieved: set[str], given: set[Fact] | None = None) -> list[str]:
    rows = enrichment(release).choose(
        node_of(release, entity), {node_of(release, name) for name in retrieved}, given or set()
    )
    graph = release[Graph]
    ends = {number: (o if s == node_of(release, entity) else s) for number, s, _, o in rows}
    return [
        f"{graph.property_code(p) or graph.property_iri(p).rpartition('/')[2]} {graph.iri(ends[number]).rpartition('/')[2]}"
        for number, _, p, _ in rows
    ]


def test_both_ends_retrieved_come_first_then_high_value_then_labelled_then_others(release: Release) -> None:
    assert chosen(release, "bell", {"bell", "tower"}) == [
        "P46i tower",  # 0: both ends retrieved; a high-value property first among these
        "P130 tower",
        "P108 casting",  # 1: high value, in the order of the list: P108 before P55
        "P55 nave",
        "P130 other",  # 2: labelled
        "owl#sameAs other",
        "P130 nameless",  # 3: the rest
    ]


def test_excluded_predicates_go_by_exact_iri(release: Release) -> None:
    found = chosen(release, "bell", {"bell"})
    assert not any("seeAlso" in row for row in found) and any("sameAs" in row for row in found)
    with fixed(EXCLUDED={"http://www.w3.org/2002/07/owl#same"}):
        assert any("sameAs" in row for row in chosen(release, "bell", {"bell"}))


def test_an_entity_has_at_most_so_many_triples_the_best_of_them(release: Release) -> None:
    whole = chosen(release, "bell", {"bell", "tower"})
    for most in range(1, 9):
        with fixed(PER_ENTITY=most):
            assert chosen(release, "bell", {"bell", "tower"}) == whole[:most]


def test_what_is_stated_is_not_said_again(release: Release) -> None:
    row = enrichment(release).choose(node_of(release, "bell"), set(), set())[0]
    assert row[0] not in {r[0] for r in enrichment(release).choose(node_of(release, "bell"), set(), {row[0]})}


def lines(
    release: Release,
    *names: str,
    language: str = "en",
    characters: int = 5000,
    given: set[Fact] | None = None,
) -> list[ContextLine]:
    reads = [read_document(release, n, c.document) for n, c in enumerate(candidates_of(release, *names), 1)]
    whole = Budget(100_000, 100_000)
    return enrichment(release, language).lines(
        reads, set() if given is None else given, Budget(characters, 100_000), [whole]
    )


def test_a_time_span_is_shown_by_its_dates_and_an_event_with_them(release: Release) -> None:
    texts = [line.text for line in lines(release, "casting")]
    assert "Casting (1885–1887) — has time-span — 1885–1887" in texts
    assert "Casting (1885–1887) — has produced — Bell" in texts


def test_words_of_dates_are_in_the_language_of_the_question(richer: Release) -> None:
    assert any("May 1885" in line.text for line in lines(richer, "casting"))
    assert any("mai 1885" in line.text for line in lines(richer, "casting", language="fr"))


def test_each_triple_is_given_once_and_counts_as_given(release: Release) -> None:
    known: set[Fact] = set()
    found = lines(release, "bell", "casting", given=known)
    numbers = [number for line in found for number in line.triples]
    assert len(numbers) == len(set(numbers)) and set(numbers) <= known
    assert len({line.text for line in found}) == len(found)
    assert lines(release, "bell", "casting", given=known) == []


def test_a_triple_and_its_stated_inverse_are_one(richer: Release) -> None:
    found = [line.text for line in lines(richer, "bell", "casting") if "produced" in line.text]
    assert len(found) == 1


def test_triples_that_read_the_same_are_one_line_with_their_number(richer: Release) -> None:
    found = [line for line in lines(richer, "bell") if "Namesake" in line.text]
    assert [line.text for line in found] == ["Bell — shows features of — Namesake ×3"]
    assert len(found[0].triples) == len(found[0].shown) == 3


def test_an_entity_takes_its_share_of_the_characters(release: Release) -> None:
    candidates = candidates_of(release, "bell", "tower")
    reads = [read_document(release, n, c.document) for n, c in enumerate(candidates, 1)]
    entities = sum(len(read.headers) for read in reads)
    share = max(60, 100 // entities)
    with fixed(TRIPLES_CHARACTERS=100, ENTITY_CHARACTERS=60):
        found = enrichment(release).lines(reads, set(), Budget(10_000, 10_000), [])
    spent: dict[int, int] = {}
    for line in found:
        spent[line.entities[0]] = spent.get(line.entities[0], 0) + len(line.text) + 1
    assert spent and max(spent.values()) <= share


@given(st.integers(0, 600))
def test_all_together_stay_within_the_budget(release: Release, characters: int) -> None:
    found = lines(release, "bell", "casting", characters=characters)
    assert sum(len(line.text) + 1 for line in found) <= characters


def test_a_hub_is_looked_at_only_so_far(release: Release) -> None:
    bell = node_of(release, "bell")
    assert len(Facts(release).triples_of(bell)) == release[TriplesIndex].degree(bell)
    with fixed(TRIPLES_LOOKED_AT=2):
        assert len(Facts(release).triples_of(bell)) <= 4
