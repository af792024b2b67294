"""Which relationship lines are left out: what the arrays say is what one document's lines, looked at one by one, say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_assets.documents.setting import Setting
from crmrag_assets.documents.ways import Lines, gather_facts, informative, stating
from crmrag_query.graph.arrays import FLAG_ENTITY
from crmrag_query.relationships.engine import walk
from tests.assets.documents.made import setting_of

SAMPLE = Path(__file__).parents[3] / "data" / "sample" / "troodos.ttl"
CLASSES = ("E22_Human-Made_Object", "E21_Person", "E12_Production", "E7_Activity", "E53_Place", "E55_Type")
PROPERTIES = (
    "P108i_was_produced_by", "P108_has_produced", "P14_carried_out_by", "P14i_performed", "P7_took_place_at",
    "P12_occurred_in_the_presence_of", "P62_depicts", "P67_refers_to", "P129_is_about", "P46_is_composed_of",
    "P2_has_type", "P9_consists_of", "P89_falls_within", "P127_has_broader_term", "P11_had_participant",
)  # fmt: skip
NODES = tuple("abcdefgh")
worlds = st.builds(
    lambda kinds, links: [
        *((node, "a", f"crm:{kind}") for node, kind in zip(NODES, kinds, strict=True)),
        *((s, f"crm:{p}", o) for s, p, o in links),
    ],
    st.tuples(*(st.sampled_from(CLASSES) for _ in NODES)),
    st.sets(
        st.tuples(st.sampled_from(NODES), st.sampled_from(PROPERTIES), st.sampled_from(NODES)),
        min_size=10,
        max_size=40,
    ),
)


@dataclass
class Line:
    """A relationship's line: how each target is reached, by path and number of hops."""

    relationship: int
    ways: dict[int, tuple[int, int]]


def plainly_informative(setting: Setting, lines: Sequence[Line], told: dict[int, set[int]]) -> set[int]:
    """Relationships whose lines stay, by the words of the module; ``told``: targets stated above, by relationship."""
    catalogue, above = setting.catalogue, setting.above
    vague = {catalogue[number].label for uppers in above for number in uppers}

    def generality(line: Line) -> tuple[int, int, int, int]:
        number = line.relationship
        return -len(line.ways), len(above[number]), -len(catalogue[number].paths), -number

    def implied(line: Line, target: int, other: int) -> bool:
        path, depth = line.ways[target]
        bare = depth == setting.ways.required(line.relationship, path)
        return setting.ways.implies(line.relationship, path, bare, other)

    def states(other: Line, line: Line, target: int) -> bool:
        number, label = line.relationship, catalogue[line.relationship].label
        own = catalogue[other.relationship].label
        if own == label or (label in vague and own not in vague):
            return True
        if number in above[other.relationship]:
            return True
        if other.relationship in above[number] or not implied(other, target, number):
            return False
        mutual = number < other.relationship and len(line.ways) <= len(other.ways)
        return not (mutual and implied(line, target, other.relationship))

    kept = list(lines)
    for line in sorted(lines, key=generality):
        others = [other for other in kept if other is not line]
        if all(
            target in told.get(line.relationship, ())
            or any(target in other.ways and states(other, line, target) for other in others)
            for target in line.ways
        ):
            kept.remove(line)
    return {line.relationship for line in kept}


def compare(setting: Setting, seed: int) -> int:
    """The number of lines compared; a third of the facts are told above."""
    entities = np.flatnonzero(setting.graph.flags & FLAG_ENTITY).astype(np.int32)
    adjacency = setting.graph.adjacency
    matches = walk(adjacency, setting.ontology, setting.ways.walked, entities, plan=setting.plan)
    facts = gather_facts(adjacency, entities)
    lines = Lines.of(matches, entities)
    told = np.random.default_rng(seed).random(len(facts.key)) < 0.33
    fact, match = stating(lines, facts, setting.rules)
    above = np.zeros(len(matches), bool)
    above[match[told[fact]]] = True
    kept = informative(lines, setting.rules, above)
    for place, entity in enumerate(entities.tolist()):
        own, mine = matches.of(entity), facts.doc == place
        found: dict[int, Line] = {}
        for number, target, path, depth in zip(
            own.relationship, own.target, own.path, own.depth, strict=True
        ):
            line = found.setdefault(int(number), Line(int(number), {}))
            line.ways[int(target)] = int(path), int(depth)
        stated = {
            number: set(facts.target[mine & told & facts.where(setting.single[number])].tolist())
            for number in found
        }
        expected = plainly_informative(setting, list(found.values()), stated)
        assert set(lines.relationship[kept & (lines.doc == place)].tolist()) == expected
    return len(lines.doc)


@settings(max_examples=25, deadline=None)
@given(worlds, st.integers(0, 9))
def test_lines_are_left_out_as_if_looked_at_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, triples: list[tuple[str, str, str]], seed: int
) -> None:
    compare(setting_of(triples, tmp_path_factory.mktemp("stated")), seed)


def test_so_it_is_in_the_sample(tmp_path: Path) -> None:
    assert compare(setting_of(SAMPLE, tmp_path), 1) > 1000
