"""Ways walked from their ends, and from members, are what the relationship engine finds for every entity."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crmrag_query.plans.records import Way
from crmrag_query.plans.ways import leading_to, pairs
from crmrag_query.relationships.engine import walk
from tests.support.planworlds import generated


@pytest.mark.parametrize("seed", range(12))
def test_every_relationship_equals_the_engine(seed: int, tmp_path: Path) -> None:
    world = generated(100 + seed, tmp_path, suspects=5 * (seed % 3)).world
    everyone = np.arange(world.size, dtype=np.int32)
    matches = walk(world.adjacency, world.ontology, world.catalogue, everyone)
    assert len(matches)
    anchors = everyone[seed % 3 :: 3]
    for number in np.unique(matches.relationship).tolist():
        way = Way(relationships=(world.catalogue[number].id,))
        found = matches.part(matches.relationship == number)
        told = pairs(world, way, everyone)
        assert set(zip(told.index.tolist(), told.cell.tolist(), strict=True)) == set(
            zip(found.source.tolist(), found.target.tolist(), strict=True)
        )
        assert np.flatnonzero(leading_to(world, way, None)).tolist() == np.unique(found.source).tolist()
        to_some = np.unique(found.source[np.isin(found.target, anchors)])
        assert np.flatnonzero(leading_to(world, way, anchors)).tolist() == to_some.tolist()


def test_an_entity_is_no_target_of_its_own_but_another_anchor_is_one(tmp_path: Path) -> None:
    world = generated(3, tmp_path).world
    everyone = np.arange(world.size, dtype=np.int32)
    matches = walk(world.adjacency, world.ontology, world.catalogue, everyone)
    for source, number, target in list(
        zip(matches.source, matches.relationship, matches.target, strict=True)
    )[:40]:
        way = Way(relationships=(world.catalogue[int(number)].id,))
        both = np.unique(np.array([source, target], np.int32))
        assert leading_to(world, way, both)[source]
        alone = np.array([source], np.int32)
        assert not leading_to(world, way, alone)[source]
