from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_assets.documents.ways import Way, implies, split_ways
from crmrag_query.relationships.engine import Catalogue, resolve
from tests.assets.documents.made import method_and_ontology

LETTERS = "abc"
steps = st.tuples(st.frozensets(st.sampled_from(LETTERS), min_size=1), st.booleans())
ways = st.lists(steps, max_size=3).map(tuple)


def pattern(way: Way) -> re.Pattern[str]:
    return re.compile(
        "".join(f"[{''.join(sorted(map(str, own)))}]{'*' if many else ''}" for own, many in way) or "$^|"
    )


@given(ways, ways)
def test_an_implied_way_is_walked_by_every_walk_of_the_other(way: Way, wider: Way) -> None:
    if implies(way, wider):
        words = ("".join(word) for size in range(6) for word in itertools.product(LETTERS, repeat=size))
        assert all(pattern(wider).fullmatch(word) for word in words if pattern(way).fullmatch(word))


@pytest.mark.parametrize("name", ["fr76", "fr109"])
def test_split_ways_keep_every_path_and_the_narrowest_come_first(name: str) -> None:
    method, ontology = method_and_ontology()
    catalogue = Catalogue.load(method, name)
    split = split_ways(catalogue, ontology, ("P108i", "P14", "P7", "P4", ""))
    for relationship, walked, order in zip(catalogue, split.walked, split.order, strict=True):
        assert {path.steps for path in relationship.paths} <= {path.steps for path in walked.paths}
        assert len(walked.paths) == len(order) <= 256
        sizes = [sum(len(resolve(step, ontology)) for step in path.steps) for path in walked.paths]
        assert sizes == sorted(sizes)


def test_produced_by_implies_modified_by_and_not_the_reverse() -> None:
    method, ontology = method_and_ontology()
    catalogue = Catalogue.load(method, "fr109")
    split = split_ways(catalogue, ontology, ("P108i", "P31i", "P14"))
    created, modified = (
        catalogue.number("thing_actor_d_created_by"),
        catalogue.number("thing_actor_d_modified_by"),
    )
    assert split.implies(created, 0, True, modified)
    last = len(split.walked[modified].paths) - 1
    assert not split.implies(modified, last, True, created)
