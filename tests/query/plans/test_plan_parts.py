"""Buckets of dates, identity, literals and folded texts, each against an independent oracle."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from crmrag_query.config import load_method
from crmrag_query.config.loading import PlansConfig
from crmrag_query.dates import civil, day_number
from crmrag_query.graph.arrays import FLAG_SUSPECT
from crmrag_query.plans.execute import Folded, bucket_of, folded
from crmrag_query.plans.records import (
    Anchor,
    Compute,
    Either,
    Measure,
    Member,
    Plan,
    Related,
    Target,
    Way,
    ways_of,
)
from crmrag_query.plans.world import how_many, literal, numbers, once, representatives, same_terms
from crmrag_query.text import fold
from tests.support.planworlds import SAME_AS, WIKIDATA, generated, sample_of


@given(st.lists(st.integers(-2_000_000, 2_000_000), max_size=20))
def test_years_are_those_of_the_calendar(days: list[int]) -> None:
    years = [civil(day)[0] for day in days]
    told = bucket_of(np.array(days, np.int64), "year").tolist()
    assert told == [year if year > 0 else year - 1 for year in years]
    assert bucket_of(np.array(days, np.int64), "decade").tolist() == [year // 10 * 10 for year in years]


@pytest.mark.parametrize(
    ("year", "century"),
    [(1, 1), (100, 1), (101, 2), (1800, 18), (1801, 19), (0, -1), (-99, -1), (-100, -2), (-499, -5)],
)
def test_centuries_end_with_their_hundredth_year(year: int, century: int) -> None:
    """Years are astronomical: 0 is 1 BC, -99 is 100 BC."""
    assert bucket_of(np.array([day_number(year)]), "century").tolist() == [century]


def test_the_ways_of_a_plan_are_found_at_every_depth() -> None:
    step = [Way(paths=(("P14i", f"P{number}"),)) for number in range(8)]
    onward = Way(paths=(("P12",),), types=("urn:t",), then=step[0])
    inner = Plan(target=Target(classes=("E21",)), where=(Related(way=step[1], to=Anchor(iris=("urn:a",))),))
    plan = Plan(
        target=Target(types=("urn:t",)),
        where=(
            Related(way=onward, to=Anchor(plan=inner)),
            Member(plan=Plan(where=(Related(way=step[2]),)), negated=True),
            Either(of=(Related(way=step[3]), Related(way=step[4]))),
        ),
        compute=Compute(kind="rank", measure=Measure(kind="count", way=step[5], to=Anchor(plan=inner))),
    )
    expected = [onward, step[0], step[1], step[1], *step[2:6]]
    assert sorted(map(str, ways_of(plan))) == sorted(map(str, expected))


@pytest.mark.parametrize("seed", range(6))
def test_identity_is_what_is_connected(seed: int, tmp_path: Path) -> None:
    sample = generated(400 + seed, tmp_path, suspects=4 * (seed % 2))
    graph = sample.world.graph
    suspects = {graph.iri(int(n)) for n in np.flatnonzero(graph.flags & FLAG_SUSPECT)}
    known = nx.Graph()
    known.add_nodes_from(graph.iri(node) for node in range(graph.nodes))
    for s, p, o, *_ in sample.rows:
        if p == SAME_AS and not {s, o} & suspects:
            known.add_edge(s, o)
    parts = [sorted(part) for part in nx.connected_components(known)]
    stands = sample.world.kept(representatives)
    for part in parts:
        nodes = [node for iri in part if (node := graph.node(iri)) is not None]
        entities = [node for node in nodes if sample.world.entities[node]]
        assert {int(stands[node]) for node in nodes} == {min(entities or nodes)}
    everyone = np.arange(graph.nodes, dtype=np.int32)
    kept, place = once(sample.world, everyone)
    assert len(kept) == how_many(sample.world, everyone) == len(parts)
    assert (np.diff(kept) > 0).all() and np.array_equal(stands[kept][place], stands)
    assert (kept[place] <= everyone).all()


def test_links_to_one_entry_of_an_authority_are_one_however_spelt(tmp_path: Path) -> None:
    sample = sample_of(
        f""":a a crm:E21_Person ; owl:sameAs <{WIKIDATA}> .
        :b a crm:E21_Person ; skos:closeMatch <https://www.wikidata.org/wiki/Q42> .
        :c a crm:E21_Person ; owl:sameAs <http://www.wikidata.org/entity/Q421> .
        :d a crm:E21_Person ; owl:sameAs <http://viaf.org/viaf/42> .""",
        tmp_path,
    )
    people = sample.world.of_classes(range(len(sample.world.class_numbers)))
    assert how_many(sample.world, np.flatnonzero(people).astype(np.int32)) == 3


def test_equal_terms_have_one_number_and_numbers_are_read(tmp_path: Path) -> None:
    world = generated(7, tmp_path).world
    rows = np.arange(len(world.literal_property), dtype=np.int64)[::-1].copy()
    first: dict[object, int] = {}
    for row in sorted(rows.tolist()):
        first.setdefault(literal(world, row), row)
    assert same_terms(world, rows).tolist() == [first[literal(world, row)] for row in rows.tolist()]
    stated, value = numbers(world, rows)
    texts = [literal(world, row).text for row in rows[stated].tolist()]
    assert set(texts) == {"7", "-2.5", "12"} and value.tolist() == [float(text) for text in texts]


LETTERS = st.text(st.sampled_from("aAbB_- .άΑß1é"), max_size=8)


@given(
    st.lists(LETTERS, max_size=8), st.lists(LETTERS, min_size=1, max_size=4), st.integers(0, 3), st.booleans()
)
def test_texts_hold_what_their_folded_form_holds(
    texts: list[str], sought: list[str], first: int, whole: bool
) -> None:
    needles = tuple(needle for one in sought if (needle := fold(one)))
    if not needles:
        return
    column = folded(pa.array(["ab", *texts], pa.large_utf8())).slice(first)
    expected = [fold(text) for text in ["ab", *texts]][first:]
    assert column.to_pylist() == expected
    found = Folded.of(column).matching(needles, whole).tolist()
    assert found == [any(_holds(text, needle, whole) for needle in needles) for text in expected]


def test_hundreds_of_needles_are_looked_for() -> None:
    texts = Folded.of(pa.array([f"in the year {n}" for n in range(1500, 1900)], pa.large_utf8()))
    needles = tuple(f"r {n}" for n in range(1450, 1800))
    assert texts.matching(needles, whole=False).sum() == 300
    assert texts.matching((*needles, "year 1850"), whole=True).nonzero()[0].tolist() == [350]


def _holds(text: str, needle: str, whole: bool) -> bool:
    places = [at for at in range(len(text)) if text.startswith(needle, at)]
    if not whole:
        return bool(places)
    ends = [(text[at - 1 : at] if at else "", text[at + len(needle) : at + len(needle) + 1]) for at in places]
    return any(not before.isalnum() and not after.isalnum() for before, after in ends)


def test_the_file_holds_what_the_model_defaults_to() -> None:
    assert load_method().plans == PlansConfig()


def test_an_authority_without_an_id_is_a_mistake() -> None:
    with pytest.raises(ValidationError, match="id"):
        PlansConfig(same_iris=(r"https?://example\.org/\d+",))


def test_what_a_world_keeps_is_made_once_whichever_threads_ask(tmp_path: Path) -> None:
    world = generated(7, tmp_path).world
    made: list[object] = []

    def slowly(of: object) -> object:
        time.sleep(0.05)
        made.append(of)
        return object()

    with ThreadPoolExecutor(4) as pool:
        kept = list(pool.map(lambda _: world.kept(slowly), range(4)))
    assert len(made) == 1 and len({id(one) for one in kept}) == 1
