"""Texts by names and ways: from all texts back to who leads to them is the same as from each node to its texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crmrag_query.config import load_method
from crmrag_query.plans import execute as texts
from crmrag_query.plans.execute import holding, searched_literals
from crmrag_query.plans.records import Texted, Way
from crmrag_query.plans.world import World
from crmrag_query.relationships.engine import walk
from crmrag_query.text import fold
from tests.support.planworlds import few, generated

TEXTS = load_method().relations


def ways(world: World) -> list[Way | None]:
    """By name, by each relation that ends in texts, and by other relations and relationships that lead to such."""
    texted = [one.literal_paths("value") or one.paths for one in TEXTS.values() if one.value == "text"]
    labels = tuple((world.graph.property_iri(number),) for number in sorted(world.with_literals))
    last = Way(paths=(*(path for paths in texted for path in paths), *labels))
    everyone = np.arange(world.size, dtype=np.int32)
    found = walk(world.adjacency, world.ontology, world.catalogue, everyone).relationship
    kinds = [world.catalogue[number].id for number in np.unique(found).tolist()]
    through = [
        Way(relationships=(kind,), inverse=turned, then=last) for kind in kinds for turned in (False, True)
    ]
    related = [Way(relations=(name,), then=last) for name in world.relations]
    return [None, last, *(Way(paths=paths) for paths in texted), *related, *through]


def words(world: World) -> list[str]:
    """Some words of names and literals, frequent and rare."""
    column = world.graph.literal_table.column("value").to_pylist() + world.names[1].to_pylist()
    found = sorted({word for text in column for word in fold(text).split() if word.isalnum()})
    return [*found[:: max(1, len(found) // 5)], "nowhere"]


@pytest.mark.parametrize("seed", few(1, 4))
def test_texts_are_found_alike_from_either_end(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = generated(700 + seed, tmp_path, suspects=3 * (seed % 2)).world
    found = {"name": 0, "text": 0, "further": 0}
    for way in ways(world):
        for word in words(world):
            texted = Texted(texts=(word,), way=way, whole=bool(seed % 2))
            for among in (np.ones(world.size, bool), np.arange(world.size) % 3 == seed % 3):
                monkeypatch.setattr(texts, "_SHARE", world.size + 1)
                back = holding(world, texted, among)
                monkeypatch.setattr(texts, "_SHARE", 0)
                assert np.array_equal(back, holding(world, texted, among)), (way, word)
                kind = "name" if way is None else "further" if way.then else "text"
                found[kind] += int(back.sum())
    assert min(found.values()) > 5, found


def test_what_holds_a_text_is_found_again_from_memory(tmp_path: Path) -> None:
    world = generated(710, tmp_path).world
    searched = world.kept(searched_literals)
    for word in words(world):
        first = searched.holding((word,), True)
        assert np.array_equal(searched.holding((word,), True), first)
    assert searched._found.cache_info().hits >= len(words(world))  # type: ignore[attr-defined]
