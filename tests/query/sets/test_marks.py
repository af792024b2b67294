"""Marks of a set: the same places and dates as each member's own page tells, for all of them at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crmrag_query.answers.details import Details
from crmrag_query.answers.whereabouts import NOWHERE, Whereabouts
from crmrag_query.artifacts.release import Release
from crmrag_query.dates.calendar import civil
from crmrag_query.graph.extents import OPEN_BEGIN, OPEN_END
from crmrag_query.plans.records import Compute, Measure, Plan
from crmrag_query.sets.marks import marks
from tests.support.set_world import ALL, SPAN, iri


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
    first = Compute(kind="rank", first=2, measure=Measure(kind="earliest", way=SPAN), ascending=True)
    assert marks(museum, ALL.model_copy(update={"compute": first})).iris == (iri("p1"), iri("p7"))


def test_a_large_set_is_cut_and_the_rest_is_told(museum: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    sets = museum.method.sets
    limits = sets.limits.model_copy(update={"marks": 3})
    method = museum.method.model_copy(update={"sets": sets.model_copy(update={"limits": limits})})
    small = replace(museum)
    small.__dict__["method"] = method
    found = marks(small, ALL)
    assert (len(found.iris), found.left, found.placed, found.dated) == (3, 2, 5, 5)
    assert found.iris == (iri("p1"), iri("p2"), iri("p5"))  # of all parts of p1, p2, p4, p5, p7


def test_they_are_what_each_entity_tells_of_itself(museum: Release, sample: Release) -> None:
    for one in (museum, sample):
        nodes = np.flatnonzero(one.world.entities).astype(np.int32)
        where, details = Whereabouts(one), Details(one, "en")
        places, (begin, end) = where.places(nodes), where.dates(nodes)
        for at, node in enumerate(nodes.tolist()):
            own = details.coordinates(node)
            assert (own is None) == (places[at] == NOWHERE), one.graph.iri(node)
            assert own is None or (own.lat, own.lon) == where.point(int(places[at]))
            dates = details.dates(node)
            told = (dates.begin, dates.end) if dates else (None, None)
            assert told == (_iso(int(begin[at]), OPEN_BEGIN), _iso(int(end[at]), OPEN_END)), one.graph.iri(
                node
            )


def _iso(day: int, unknown: int) -> str | None:
    if day == unknown:
        return None
    year = civil(day)[0]
    return f"-{-year:04d}" if year < 0 else f"{year:04d}"
