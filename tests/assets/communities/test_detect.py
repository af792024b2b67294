"""Communities against igraph's own functions: nesting, connectedness, modularity; and what stays when something changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import igraph
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_assets.communities.detect import Net, detect, leiden, modularity
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.config import load_method
from crmrag_query.documents.documents import Documents
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.graph.graph import Graph
from crmrag_query.retrieval.communities import NONE, Communities
from tests.support.builds import build_all, make_project

HEAD = """@prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> . @prefix ex: <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""


def workshop(name: str, works: int) -> str:
    """A person who made some works, each by a production of its own, with notes long enough for documents of their own."""
    note = (
        "A note on how it was made, which workshop it is of, and what is known of it from other sources. " * 5
    )
    lines = [f'ex:{name} a crm:E21_Person ; rdfs:label "{name.title()}" ; crm:P3_has_note "{note}" .']
    for n in range(works):
        lines += [
            f'ex:{name}_w{n} a crm:E22_Human-Made_Object ; rdfs:label "Work {n} of {name}" ; crm:P3_has_note "{note}{n}" .',
            f'ex:{name}_p{n} a crm:E12_Production ; rdfs:label "Making {n} by {name}" ; crm:P3_has_note "{note}{n}" ;',
            f"  crm:P108_has_produced ex:{name}_w{n} ; crm:P14_carried_out_by ex:{name} .",
        ]
    return "\n".join(lines)


NAMES = ("ada", "bea", "cleo", "dora", "ena", "fay")
TURTLE = (
    HEAD
    + "\n".join(workshop(name, 4 + n) for n, name in enumerate(NAMES))
    + "\n"
    + "\n".join(
        f"ex:{a} crm:P107i_is_current_or_former_member_of ex:{b} ."
        for a, b in [("ada", "bea"), ("cleo", "dora"), ("bea", "cleo")]
    )
)


def build(root: Path, turtle: str = TURTLE, **dataset: Any) -> Release:
    project = make_project(root, turtle, **dataset)
    build_all(project.context())
    return open_release(project.dataset, project.data)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return build(tmp_path_factory.mktemp("communities"))


def modularity_by_igraph(net: igraph.Graph, communities: Communities, level: int) -> float:
    """Among the documents that are in any community: each in that of the level or, where it is in none, of those below."""
    found: dict[int, int] = {}
    for upto in range(level + 1):
        for one in communities.of_level(upto).tolist():
            found |= dict.fromkeys(communities.members(one).tolist(), one)
    chosen = sorted(found)
    numbers = {one: n for n, one in enumerate(dict.fromkeys(found[document] for document in chosen))}
    within = net.induced_subgraph(chosen)
    if not within.ecount():
        return 0.0
    return float(within.modularity([numbers[found[one]] for one in chosen], weights="weight"))


def as_igraph(graph: EntityGraph) -> igraph.Graph:
    low, high, weight = graph.pairs()
    made = igraph.Graph(n=graph.documents, edges=np.stack([low, high], axis=1))
    made.es["weight"] = weight.astype(float)
    return made


def test_modularity_is_what_igraph_computes(release: Release) -> None:
    net, found = as_igraph(release[EntityGraph]), release[Communities]
    assert found.levels
    for told in found.levels:
        assert told["modularity"] == pytest.approx(modularity_by_igraph(net, found, told["level"]), abs=1e-6)


def test_the_finest_level_is_as_good_as_what_igraph_finds_by_itself(release: Release) -> None:
    net = as_igraph(release[EntityGraph])
    theirs = net.community_leiden("modularity", weights="weight", n_iterations=10)
    ours = leiden(Net.of(release[EntityGraph]), 1.0)
    reached = net.modularity(ours.tolist(), weights="weight")
    assert reached >= net.modularity(theirs, weights="weight") - 0.01 > 0.5


def test_every_community_of_the_finest_level_is_connected(release: Release) -> None:
    net, found = as_igraph(release[EntityGraph]), release[Communities]
    for one in found.of_level(0).tolist():
        assert net.induced_subgraph(found.members(one).tolist()).is_connected()


def test_a_community_is_made_of_whole_ones_of_the_level_below(release: Release) -> None:
    found = release[Communities]
    assert len(found.levels) >= 2
    for one in range(len(found)):
        members = found.members(one).tolist()
        assert len(members) == len(set(members)) == found.size(one)
        if found.level[one]:
            parts = found.parts(one).tolist()
            assert len(parts) >= 2 and {int(found.level[part]) for part in parts} == {
                int(found.level[one]) - 1
            }
            assert sorted(members) == sorted(
                member for part in parts for member in found.members(part).tolist()
            )


def test_every_document_is_in_one_community_of_a_level_or_counted_as_gathered(release: Release) -> None:
    found, documents = release[Communities], release[Documents].count
    for told in found.levels:
        members = [
            one for number in found.of_level(told["level"]).tolist() for one in found.members(number).tolist()
        ]
        assert (
            len(members) == len(set(members)) == told["documents"] == documents - told["gathered_documents"]
        )
    outermost = {one for number in found.outermost.tolist() for one in found.members(number).tolist()}
    assert len(outermost) == found.levels[0]["documents"], "what is in any is in an outermost one"


def test_a_maker_is_the_centre_of_what_they_made(release: Release) -> None:
    found, documents = release[Communities], release[Documents]
    for name in ("ena", "fay"):
        node = release[Graph].node(f"http://example.org/{name}")
        assert node is not None
        home = int(documents.entity_document[node])
        members = [documents.label(int(one)) for one in found.members(found.of_document(home)[0])]
        assert members[0] == name.title() and {f"Making 0 by {name}", f"Making 1 by {name}"} <= {*members}


def names(release: Release) -> set[str]:
    return {release[Communities].name(one) for one in range(len(release[Communities]))}


def holding(release: Release, name: str) -> set[str]:
    """The ids of all communities that an entity is in."""
    node = release[Graph].node(f"http://example.org/{name}")
    if node is None:
        return set()
    home = int(release[Documents].entity_document[node])
    return {release[Communities].name(one) for one in release[Communities].of_document(home)}


def test_the_same_data_gives_the_same_bytes(release: Release, tmp_path: Path) -> None:
    again = build(tmp_path)
    for file in sorted((release.folder / "communities").iterdir()):
        assert file.read_bytes() == (again.folder / "communities" / file.name).read_bytes()


def test_a_change_elsewhere_keeps_all_ids(release: Release, tmp_path: Path) -> None:
    """Also where it numbers all that is there anew, as what comes first by its IRI does."""
    new = 'ex:a a crm:E21_Person ; rdfs:label "A" . ex:aa a crm:E74_Group ; crm:P107_has_current_or_former_member ex:a .'
    changed = build(tmp_path, TURTLE.replace("Work 0 of fay", "The first work") + "\n" + new)
    assert changed[EntityGraph].edges > release[EntityGraph].edges
    assert names(release) == names(changed), "two are too few for a community"


def test_an_entity_that_is_removed_leaves_and_others_keep_their_communities(
    release: Release, tmp_path: Path
) -> None:
    gone = [line for line in TURTLE.splitlines() if "ex:ena_w0" not in line]
    left = build(tmp_path, "\n".join(gone).replace("crm:P108_has_produced ex:ena_w0 ;", ""))
    assert holding(left, "ena_w0") == set() != holding(release, "ena_w0")
    assert not holding(release, "ena") & names(left), "who loses a member is another community"
    for name in ("ada", "bea", "cleo", "dora", "fay"):
        assert holding(left, name) == holding(release, name)


def test_a_data_set_may_do_without(tmp_path: Path) -> None:
    release = build(tmp_path, communities=False)
    assert not release.manifest.has("communities") and release.manifest.has("entity_graph")


def test_data_in_which_nothing_is_joined_has_no_communities(tmp_path: Path) -> None:
    release = build(
        tmp_path, HEAD + 'ex:a a crm:E21_Person ; rdfs:label "A" . ex:b a crm:E21_Person ; rdfs:label "B" .'
    )
    assert len(release[Communities]) == 0 and not release[Communities].levels


edges = st.lists(
    st.tuples(st.integers(0, 14), st.integers(0, 14)).filter(lambda pair: pair[0] != pair[1]), max_size=60
)


class Numbered:
    """Documents that are no more than their numbers, as what names communities reads them."""

    def __init__(self, count: int) -> None:
        import pyarrow as pa

        self.entities = np.arange(count, dtype=np.int32)
        self.graph = type("G", (), {"iris": pa.array([f"http://example.org/{n:03}" for n in range(count)])})


@settings(max_examples=150)
@given(pairs=edges, seed=st.integers(0, 3))
def test_whatever_the_graph_levels_nest_and_are_connected_and_count_all(
    pairs: list[tuple[int, int]], seed: int
) -> None:
    from crmrag_assets.indexes.entity_graph import joined

    ends = np.array(sorted({(min(p), max(p)) for p in pairs}), np.int32).reshape(-1, 2).T
    graph = joined([(ends[0], ends[1], np.full(ends.shape[1], 500, np.int32))], 15)
    method = load_method().communities.model_copy(update={"seed": seed})
    found = detect(graph, Numbered(15), method)  # type: ignore[arg-type]
    again = detect(graph, Numbered(15), method)  # type: ignore[arg-type]
    assert found.id.tolist() == again.id.tolist() and found.member.tolist() == again.member.tolist()
    net = as_igraph(graph)
    for told in found.levels:
        level = told["level"]
        numbers = found.of_level(level).tolist()
        assert found.rank[numbers].tolist() == list(range(1, len(numbers) + 1))
        assert sum(map(found.size, numbers)) == told["documents"] == 15 - told["gathered_documents"]
        assert told["modularity"] == pytest.approx(modularity_by_igraph(net, found, level), abs=1e-5)
        for one in numbers:
            assert found.size(one) >= 3
            if level == 0:
                assert net.induced_subgraph(found.members(one).tolist()).is_connected()
            parent = int(found.parent[one])
            if parent != NONE:
                assert {*found.members(one).tolist()} < {*found.members(parent).tolist()}
                assert int(found.level[parent]) == level + 1


def test_nobody_else_loses_the_generator_of_chance_by_it() -> None:
    import random

    random.seed(7)
    wanted = random.random()
    random.seed(7)
    leiden(Net.of(EntityGraph(np.array([0, 1, 2]), np.array([1, 0], np.int32), np.ones(2, np.float32))), 1.0)
    assert random.random() == wanted
    assert (
        modularity(
            Net.of(EntityGraph(np.zeros(3, np.int64), np.empty(0, np.int32), np.empty(0, np.float32))),
            np.array([0, 0], np.int32),
        )
        == 0.0
    )
