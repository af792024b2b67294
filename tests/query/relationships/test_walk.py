"""What walking promises beside SPARQL's answer: hops, suspects, hubs, cycles, and the same result in any blocks."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_query.errors import CrmRagError
from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.ontology.load import Category, Ontology
from crmrag_query.relationships import engine as frontier
from crmrag_query.relationships.engine import (
    Catalogue,
    Matches,
    Path,
    Relationship,
    advance,
    legs_of,
    make_plan,
    read_step,
    walk,
    walk_blocks,
)
from tests.support.frgraphs import Net, catalogue_of, chained
from tests.support.froracle import Alphabet, plain_walk

THING, ACTOR, PLACE, EVENT = (
    int(c) for c in (Category.Thing, Category.Actor, Category.Place, Category.Event)
)
PATHS = (
    "P46*", "P46* P62", "P108i P14", "P67", "P130* P46* P53 P89*", "P9i* P7 P89*", "P122 P122", "^P108 P14!",
    "P12i! ^P89!*",
)  # fmt: skip
CODES = [
    "P46", "P46i", "P62", "P65", "P108", "P108i", "P14", "P11", "P12", "P67", "P130", "P53", "P55", "P89",
    "P7", "P122",
]  # fmt: skip
nets = st.integers(2, 9).flatmap(
    lambda n: st.builds(
        Net,
        st.lists(
            st.tuples(st.integers(0, n - 1), st.sampled_from(CODES), st.integers(0, n - 1)), min_size=1
        ).map(tuple),
        st.lists(st.sampled_from([0, THING, ACTOR, PLACE, EVENT, THING | ACTOR]), min_size=n, max_size=n).map(
            tuple
        ),
        st.frozensets(st.integers(0, n - 1), max_size=2),
    )
)


def path_of(text: str) -> Path:
    return Path(text, tuple(map(read_step, text.split())))


def catalogue_with(domain: Category, range: Category, *paths: str) -> Catalogue:
    return Catalogue("test", (Relationship("r", "r", domain, range, "", tuple(map(path_of, paths))),))


def everyone(net: Net) -> Ints:
    return np.arange(len(net.masks), dtype=np.int32)


def rows(matches: Matches) -> list[tuple[int, ...]]:
    return [tuple(int(getattr(matches, name)[n]) for name in Matches.__slots__) for n in range(len(matches))]


@settings(max_examples=150, deadline=None)
@given(net=nets, text=st.sampled_from(PATHS))
def test_pairs_and_hops_equal_a_search_over_plain_sets(
    net: Net, text: str, ontology: Ontology, alphabet: Alphabet
) -> None:
    path = path_of(text)
    expected = {source: plain_walk(net, path, alphabet, source) for source in range(len(net.masks))}
    category, masks = net.adjacency.category, net.adjacency.categories
    for domain, range_ in itertools.product(Category, (Category.Place, Category.Thing | Category.Actor)):
        matches = walk(net.adjacency, ontology, catalogue_with(domain, range_, text), everyone(net))
        assert [(source, target, depth) for source, _, target, _, depth in rows(matches)] == sorted(
            (source, target, depth)
            for source, reached in expected.items()
            for target, depth in reached.items()
            if category[source] == domain and (masks[target] == 0 or masks[target] & range_)
        )


@pytest.mark.parametrize("limit", [7, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 60))])
def test_blocks_and_limits_do_not_change_matches(limit: int, ontology: Ontology, alphabet: Alphabet) -> None:
    catalogue = catalogue_of("fr76")
    net = chained(catalogue, alphabet, seed=5)
    whole = walk(net.adjacency, ontology, catalogue, everyone(net))
    shuffled = np.random.default_rng(limit).permutation(np.repeat(everyone(net), 2))
    plan = make_plan(net.adjacency, ontology, catalogue)
    blocks = list(walk_blocks(net.adjacency, ontology, catalogue, shuffled, limit=limit, plan=plan))
    assert len(blocks) > 1
    assert rows(Matches.joined(blocks)) == rows(whole)


def test_walking_some_sources_gives_their_part(ontology: Ontology, alphabet: Alphabet) -> None:
    catalogue = catalogue_of("fr109")
    net = chained(catalogue, alphabet, seed=6)
    whole = walk(net.adjacency, ontology, catalogue, everyone(net))
    some = everyone(net)[::7]
    part = walk(net.adjacency, ontology, catalogue, some)
    assert rows(part) == [row for row in rows(whole) if row[0] in set(some.tolist())]
    assert [row for source in some.tolist() for row in rows(whole.of(source))] == rows(part)


def test_target_of_unknown_category_stays_and_of_another_goes(ontology: Ontology) -> None:
    edges = tuple((0, "P67", target) for target in (1, 2, 3, 4))
    net = Net(edges, (THING, 0, PLACE, ACTOR, ACTOR | PLACE))
    matches = walk(
        net.adjacency, ontology, catalogue_with(Category.Thing, Category.Place, "P67"), everyone(net)
    )
    assert matches.target.tolist() == [1, 2, 4]


def test_lowest_path_names_the_match(ontology: Ontology) -> None:
    net = Net(((0, "P62", 1), (0, "P46", 2), (2, "P62", 1), (2, "P62", 3)), (THING, PLACE, THING, PLACE))
    catalogue = catalogue_with(Category.Thing, Category.Place, "P46 P62", "P62")
    assert rows(walk(net.adjacency, ontology, catalogue, everyone(net))) == [
        (0, 0, 1, 0, 2),
        (0, 0, 3, 0, 2),
        (2, 0, 1, 1, 1),
        (2, 0, 3, 1, 1),
    ]


def test_no_path_runs_through_a_suspect(ontology: Ontology) -> None:
    net = Net(((0, "P46", 1), (1, "P46", 2), (1, "P62", 2)), (THING, THING, THING), frozenset({1}))
    for text, expected in {
        "P46*": [(0, 1), (1, 2)],
        "P46* P62": [],
        "P62": [(1, 2)],
        "P46 P46": [],
    }.items():
        matches = walk(
            net.adjacency, ontology, catalogue_with(Category.Thing, Category.Thing, text), everyone(net)
        )
        assert [(row[0], row[2]) for row in rows(matches)] == expected, text


def test_hubs_are_gathered_in_parts(ontology: Ontology, monkeypatch: pytest.MonkeyPatch) -> None:
    """2,000 objects of the same two types: 200 of them reach 800,000 triples, of which few are held at once."""
    objects, limit = 2_000, 5_000
    edges = tuple((n, "P2", objects + kind) for n in range(objects) for kind in (0, 1))
    net = Net(edges, (THING,) * objects + (int(Category.Concept),) * 2)
    distinct, held = frontier.distinct, [0]

    def watched(parts: Sequence[Longs]) -> Longs:
        held.append(sum(map(len, parts)))
        return distinct(parts)

    monkeypatch.setattr(frontier, "distinct", watched)
    pieces = [frontier.start(np.arange(200), everyone(net)[:200])]
    for leg in legs_of(net.adjacency, ontology, path_of("P2 P2i").steps) or ():
        pieces = [after for piece in pieces for after in advance(net.adjacency, leg, piece, limit)]
    assert sum(map(len, pieces)) == 200 * objects
    assert 0 < max(held) <= 2 * limit + objects


def test_long_chains_and_cycles_end(ontology: Ontology) -> None:
    length = 700
    ring = tuple((n, "P46", (n + 1) % length) for n in range(length))
    net = Net(ring, (THING,) * length)
    matches = walk(
        net.adjacency, ontology, catalogue_with(Category.Thing, Category.Thing, "P46*"), everyone(net)
    )
    assert len(matches) == length * (length - 1)
    first = matches.of(0)
    assert first.target.tolist() == list(range(1, length))
    assert first.depth.tolist() == [min(n, 255) for n in range(1, length)]


def test_shorter_ways_found_later_count(ontology: Ontology) -> None:
    """Node 4 is four hops away by way of 3, found first, and two hops by way of 5; 6 lies behind it."""
    edges = (
        *((n, "P130", n + 1) for n in range(3)),
        *((s, "P46", o) for s, o in ((3, 4), (0, 5), (5, 4), (4, 6))),
    )
    net = Net(edges, (THING,) * 7)
    catalogue = catalogue_with(Category.Thing, Category.Thing, "P130* P46*")
    matches = walk(net.adjacency, ontology, catalogue, everyone(net)[:1])
    assert dict(zip(matches.target.tolist(), matches.depth.tolist(), strict=True)) == {
        1: 1,
        2: 2,
        3: 3,
        4: 2,
        5: 1,
        6: 3,
    }


def test_absent_properties_stop_a_path_unless_recursive(ontology: Ontology) -> None:
    net = Net(((0, "P62", 1),), (THING, PLACE))
    for text, expected in {"P46* P62 P89*": 1, "P46 P62": 0, "P46*": 0}.items():
        matches = walk(
            net.adjacency, ontology, catalogue_with(Category.Thing, Category.Place, text), everyone(net)
        )
        assert len(matches) == expected, text


def test_no_sources_give_no_matches(ontology: Ontology) -> None:
    net = Net(((0, "P62", 1),), (THING, PLACE))
    assert rows(walk(net.adjacency, ontology, catalogue_of("fr76"), everyone(net)[:0])) == []


def test_too_many_paths_are_refused_by_name(ontology: Ontology) -> None:
    net = Net(((0, "P62", 1),), (THING, PLACE))
    catalogue = catalogue_with(Category.Thing, Category.Place, *["P62"] * 257)
    with pytest.raises(CrmRagError, match=r"Relationship r of test has 257 paths.*split"):
        make_plan(net.adjacency, ontology, catalogue)
