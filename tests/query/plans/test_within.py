"""What a question is asked within: short forms of a plan, and the documents that are left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyoxigraph import NamedNode, RdfFormat, Store

from crmrag_query.answers.sources import lineage
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.documents.documents import Documents
from crmrag_query.errors import QuestionError
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.load import Category
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import Member, Plan, read_plan
from crmrag_query.plans.within import Scope, read_within
from crmrag_query.plans.world import World
from tests.support.builds import BASE, CRM, build_all, make_project, turtle
from tests.support.shared import TROODOS, sample_release

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
CHURCH = "https://example.org/troodos/type/church"
ASINOU = "https://example.org/troodos/church/asinou"
BEFORE = {"where": [{"kind": "dated", "end": 438_000}]}


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return sample_release(tmp_path_factory)


def members(release: Release, given: dict[str, Any]) -> set[str]:
    plan = read_within(given)
    assert plan is not None
    chosen = np.flatnonzero(Scope.of(release, plan).documents)
    return {release[Graph].iri(release[Documents].entity(int(one))) for one in chosen}


def test_each_short_form_leaves_the_documents_of_what_it_names(sample: Release) -> None:
    graph, documents = sample[Graph], sample[Documents]
    every = {graph.iri(documents.entity(one)): documents.entity(one) for one in range(documents.count)}
    assert members(sample, {"categories": ["Actor"]}) == {
        iri for iri, node in every.items() if graph.adjacency.categories[node] & int(Category.Actor)
    }
    store = Store()
    store.bulk_load(path=str(TROODOS), format=RdfFormat.TURTLE)
    typed = store.quads_for_pattern(None, NamedNode(f"{CRM}P2_has_type"), NamedNode(CHURCH), None)
    churches = members(sample, {"types": [CHURCH]})
    assert churches and churches == {str(quad.subject)[1:-1] for quad in typed} & every.keys()
    assert members(sample, {"iris": [ASINOU, "urn:none"]}) == {ASINOU}
    assert members(sample, {"types": [CHURCH], "iris": [ASINOU]}) == {ASINOU}
    assert members(sample, {"types": [CHURCH], "categories": ["Actor"]}) == set()
    assert members(sample, {"graphs": ["urn:none"]}) == set()


def test_a_plan_leaves_the_documents_of_its_members(sample: Release) -> None:
    plan = {"target": {"types": [CHURCH]}}
    assert members(sample, {"plan": plan}) == members(sample, {"types": [CHURCH]})
    ranked = plan | {
        "compute": {"kind": "rank", "first": 1, "measure": {"kind": "count", "way": {"paths": [["P2"]]}}}
    }
    first = execute(read_plan(ranked), sample[World])
    held = {sample[Documents].entity(int(one)) for one in range(sample[Documents].count)}
    expected = {sample[Graph].iri(int(node)) for node in first.members if int(node) in held}
    assert members(sample, {"plan": ranked}) == expected


def test_a_restricted_plan_has_the_members_that_are_in_both(sample: Release) -> None:
    scope = Scope.of(sample, read_plan({"target": {"types": [CHURCH]}}))
    dated = read_plan(BEFORE)
    both = scope.restrict(dated)
    assert both.where[-1] == Member(plan=scope.plan)
    inside = set(execute(scope.plan, sample[World]).members.tolist())
    assert set(execute(both, sample[World]).members.tolist()) == inside & set(
        execute(dated, sample[World]).members.tolist()
    )
    compared = read_plan({"compute": {"kind": "compare", "others": [BEFORE]}})
    assert all(Member(plan=scope.plan) in other.where for other in scope.restrict(compared).compute.others)


def test_nothing_said_is_all() -> None:
    assert read_within({}) is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"kinds": ["x"]}, "within.kinds.*docs/modes.md"),
        ({"types": []}, "it says nothing"),
        ({"types": "x"}, "within.types"),
        ({"categories": ["Church"]}, "within.categories"),
        ({"plan": {"where": [{"kind": "odd"}]}}, "within.plan.where.0"),
        ({"iris": ["x"] * 20_001}, "within.iris"),
    ],
)
def test_a_mistake_is_told_with_its_place(given: dict[str, Any], said: str) -> None:
    with pytest.raises(QuestionError, match=said):
        read_within(given)


def test_a_plan_too_deep_is_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(2000):
        deep = {"where": [{"kind": "member", "plan": deep}]}
    with pytest.raises(QuestionError):
        read_within({"plan": deep})


def test_what_cannot_be_executed_is_refused(sample: Release) -> None:
    with pytest.raises(QuestionError, match="nothere"):
        Scope.of(
            sample, Plan.model_validate({"where": [{"kind": "related", "way": {"relations": ["nothere"]}}]})
        )


def test_a_source_file_is_asked_alone_where_its_source_is_told_by_files(tmp_path: Path) -> None:
    more = f'<{BASE}bell> a <{CRM}E22_Human-Made_Object> ; <{LABEL}> "Old bell" .\n'
    project = make_project(
        tmp_path, turtle(3), sources=[{"rdf": ["churches.ttl", "loans/*.ttl"], "by_file": True}]
    )
    (project.root / "loans").mkdir()
    (project.root / "loans" / "bells 1.ttl").write_text(more, encoding="utf-8")
    build_all(project.context())
    release = open_release("churches", project.root / "data")
    bell = f"{BASE}bell"
    every = {release[Graph].iri(release[Documents].entity(one)) for one in range(release[Documents].count)}
    assert members(release, {"files": ["loans/bells 1.ttl"]}) == {bell}
    assert members(release, {"files": ["churches.ttl"]}) == every - {bell}
    assert members(release, {"files": ["churches.ttl", "loans/bells 1.ttl"]}) == every
    told = lineage(release, bell, LABEL, "Old bell").origin
    assert told is not None and told.files == ("loans/bells 1.ttl",)
    with pytest.raises(QuestionError, match=r"'loans.ttl'.*churches.ttl, loans/bells 1.ttl"):
        members(release, {"files": ["loans.ttl"]})


def test_a_file_of_a_source_that_is_not_told_by_files_is_refused_with_the_remedy(sample: Release) -> None:
    with pytest.raises(QuestionError, match="by_file"):
        members(sample, {"files": [TROODOS.name]})
