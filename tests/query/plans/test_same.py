"""What the data says to be the same counts once, where a plan asks for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crmrag_query.graph.arrays import FLAG_SUSPECT
from crmrag_query.graph.graph import Graph
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import read_plan
from tests.support.graphs import node_of
from tests.support.plan_museum import names, run
from tests.support.planworlds import BASE, sample_of, world_of

SAME = """
:a a crm:E21_Person ; owl:sameAs :b ; crm:P14i_performed :p1 . :b a crm:E21_Person ; crm:P14i_performed :p1, :p2 .
:c a crm:E21_Person ; owl:sameAs <http://vocab.getty.edu/ulan/500115493> ; crm:P14i_performed :p2 .
:d a crm:E21_Person ; skos:exactMatch <http://vocab.getty.edu/page/ulan/500115493> . :e a crm:E21_Person .
:p1 a crm:E12_Production . :p2 a crm:E12_Production .
"""


def test_identity_counts_who_is_the_same_once(tmp_path: Path) -> None:
    sample = sample_of(SAME, tmp_path)
    people, did = {"classes": ["E21"]}, {"paths": [["P14i"]]}
    by_iri = run(sample, people, kind="count")
    assert (by_iri.value, by_iri.iris, by_iri.identities) == (5, 5, 3)
    by_same = run(sample, people, kind="count", identity="same_as")
    assert (by_same.value, by_same.iris, by_same.identities) == (3, 5, 3)
    assert names(sample, run(sample, people, kind="list", identity="same_as")) == ["a", "c", "e"]
    groups = run(sample, people, kind="group", way=did, identity="same_as").groups
    assert groups[:, 1].tolist() == [2, 1]
    ranked = run(sample, people, kind="rank", measure={"kind": "count", "way": did}, identity="same_as")
    assert ranked.values is not None
    assert list(zip(names(sample, ranked), ranked.values.tolist(), strict=True)) == [("a", 2), ("c", 1)]
    assert len(run(sample, people, kind="table", columns=[{"way": did}], identity="same_as").rows) == 3
    assert run(sample, people, kind="pairs", ways=[did], identity="same_as").size == 2
    b = {"kind": "among", "iris": [BASE + "b"]}
    plan = {"where": [b]}
    compared = run(sample, people, kind="compare", others=[plan], identity="same_as")
    assert (compared.sizes, compared.common is not None and len(compared.common)) == ((3, 1), 1)


def test_identity_leaves_out_suspected_merges(tmp_path: Path) -> None:
    sample = sample_of(SAME, tmp_path)
    graph = sample.world.graph
    flags = np.load(graph.folder / "flags.npy")
    flags[node_of(graph, "b")] |= FLAG_SUSPECT
    np.save(graph.folder / "flags.npy", flags)
    world = world_of(Graph.open(graph.folder))
    counted = execute(read_plan({"target": {"classes": ["E21"]}, "compute": {"kind": "count"}}), world)
    assert (counted.iris, counted.identities) == (5, 4)
