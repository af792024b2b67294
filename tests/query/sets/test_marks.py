"""Marks of a set: the same places and dates as each member's own page tells, for all of them at once."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import numpy as np

from crmrag_query.artifacts.release import Release
from crmrag_query.dates import Interval
from crmrag_query.entities.details import NOWHERE, Details, Whereabouts
from crmrag_query.graph.graph import OPEN_BEGIN, OPEN_END, Graph
from crmrag_query.plans.records import Measure, Plan
from crmrag_query.plans.world import World
from crmrag_query.sets.facets import marks
from tests.support.set_world import ALL, SPAN, computed, iri, with_sets


def test_members_with_a_place_or_a_date_are_told_in_columns(museum: Release) -> None:
    found = marks(museum, ALL, name="museum")
    assert (found.size, found.placed, found.dated, found.left) == (7, 5, 5, 0)
    assert [one.rpartition("/")[2] for one in found.iris] == ["p1", "p2", "p4", "p5", "p7"]
    assert found.begin == found.end == (1840, 1860, 1901, 1902, 1850)
    assert [(one.label, one.lat, one.lon) for one in found.places] == [
        ("Lund", 55.70, 13.19),
        ("Ystad", 55.43, 13.82),
    ]
    assert found.place == (0, 0, 1, 1, 0)
    assert (found.release, found.dataset) == (museum.id, "museum")
    assert found.labels[-1] == "Calm sea"


def test_a_place_is_where_it_is_itself(museum: Release) -> None:
    found = marks(museum, Plan.model_validate({"target": {"categories": ["Place"]}}))
    assert found.iris == (iri("lund"), iri("ystad")) == tuple(one.iri for one in found.places)


def test_what_comes_first_in_a_ranking_is_marked_alone(museum: Release) -> None:
    first = computed(ALL, kind="rank", first=2, measure=Measure(kind="earliest", way=SPAN), ascending=True)
    assert marks(museum, first).iris == (iri("p1"), iri("p7"))


def test_a_large_set_is_cut_and_the_rest_is_told(museum: Release) -> None:
    found = marks(with_sets(museum, limits={"marks": 3}), ALL)
    assert (len(found.iris), found.left, found.placed, found.dated) == (3, 2, 5, 5)
    assert found.iris == (iri("p1"), iri("p2"), iri("p5"))  # of all parts of p1, p2, p4, p5, p7


def test_they_are_what_each_entity_says_read_one_by_one(museum: Release, sample: Release) -> None:
    for release in (museum, sample):
        nodes = np.flatnonzero(release[World].entities).astype(np.int32)
        where, details = release[Whereabouts], Details(release, "en")
        places, (begin, end) = where.places(nodes), where.dates(nodes)
        for at, node in enumerate(nodes.tolist()):
            span, place = dated(release, node), placed(release, node)
            days = (
                OPEN_BEGIN if span.begin is None else span.begin,
                OPEN_END if span.end is None else span.end,
            )
            assert (begin[at], end[at]) == days, release[Graph].iri(node)
            assert places[at] == (NOWHERE if place is None else place), release[Graph].iri(node)
            own, dates = details.coordinates(node), details.dates(node)
            assert (own is None) == (place is None) and (dates is None) == (span == Interval(None, None))
            assert own is None or place is None or where.point(place) == replace(own, of=None)


def beside(release: Release, node: int, *codes: str) -> list[int]:
    """What a node leads to by these properties, or is led to from by their inverses."""
    rows, found = release[Graph].adjacency, list[int]()
    for code in codes:
        back = code[:-1] if code.endswith("i") else f"{code}i"
        for prop in rows.by_code.get(code, ()):
            found += rows.forward.neighbours(prop, node).tolist()
        for prop in rows.by_code.get(back, ()):
            found += rows.backward.neighbours(prop, node).tolist()
    return found


def dated(release: Release, node: int) -> Interval:
    """The node's own dates, or those of its making, else of its beginning and end."""

    def own(of: int) -> list[Interval]:
        spans = (release[Graph].timespan(holder) for holder in (of, *beside(release, of, "P4")))
        return [span.interval for span in spans if span is not None and span.interval is not None][:1]

    for group in ((), *release.method.answers.dates.events):
        found = [span for of in (beside(release, node, *group) if group else [node]) for span in own(of)]
        if found:
            return reduce(Interval.hull, found)
    return Interval(None, None)


def placed(release: Release, node: int) -> int | None:
    """The node itself, or the first of its places, that states a point."""
    graph, names = release[Graph], release.method.answers.coordinates

    def states(of: int) -> bool:
        iris = [graph.property_iri(literal.property) for literal in graph.literals(of)]
        codes = [graph.property_code(literal.property) for literal in graph.literals(of)]
        return not {*iris, *codes}.isdisjoint((*names.point, *names.latitude))

    return next((of for of in (node, *beside(release, node, *names.place)) if states(of)), None)
