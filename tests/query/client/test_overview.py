"""A data set as a whole: what its release tells, and nothing of where it lay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crmrag_query import Change, Client, Years
from crmrag_query.client.entities import list_evaluations
from crmrag_query.client.local import open_engine
from crmrag_query.errors import UnknownEntity


def test_the_numbers_are_those_of_the_release(local: Client) -> None:
    found = local.dataset()
    release = open_engine(str(local._target)).releases.release("sample")[1]  # type: ignore[attr-defined]
    assert (found.dataset.release, found.whole) == (release.id, True)
    assert found.built.startswith("20") and found.built.endswith("Z")
    assert sum(one.primary for one in found.categories) <= found.dataset.counts["entities"]
    assert found.classes[0].count == max(one.count for one in found.classes)
    assert {one.category for one in found.top} <= {one.name for one in found.categories}
    for one in found.coverage:
        assert 0 <= one.count <= one.of and one.share == pytest.approx(one.count / one.of)


def test_categories_and_classes_are_as_many_as_their_sets_have_members(local: Client) -> None:
    found = local.dataset()
    for category in found.categories:
        assert category.primary <= category.entities
        assert local.set({"target": {"categories": [category.name]}}, limit=0).size == category.entities
    for kind in found.classes[:10]:
        assert kind.own <= kind.count
        assert local.set({"target": {"classes": [kind.iri]}}, limit=0).size == kind.count


def test_files_are_named_without_their_folders(local: Client, data: Path) -> None:
    found = local.dataset()
    assert found.source == ("troodos.ttl",)
    assert "troodos.ttl" in found.report and "/data/sample" not in found.report


def test_it_is_the_same_over_http(local: Client, service: str) -> None:
    with Client(service) as far:
        assert far.dataset() == local.dataset()
        assert far.evaluations() == local.evaluations()


def test_evaluations_are_told_by_their_means_and_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    told = {
        "file": "/somewhere/questions.json", "asked": {"q1": "Who?", "q2": "When?"},
        "retrieval": {"BM25": {"nDCG@10": {"q1": 0.0, "q2": 0.0}}, "pipeline": {"nDCG@10": {"q1": 1.0, "q2": 0.5}}},
    }  # fmt: skip
    for name, text in (("good", json.dumps(told)), ("broken", "{"), ("other", "[]")):
        (tmp_path / "evaluations" / "sample" / name).mkdir(parents=True)
        (tmp_path / "evaluations" / "sample" / name / "evaluation.json").write_text(text)
    [found] = list_evaluations(tmp_path, "sample")
    assert (found.name, found.questions, found.measures) == ("questions.json", 2, {"nDCG@10": 0.75})
    assert list_evaluations(tmp_path, "another") == ()


def test_the_only_data_set_is_the_default(local: Client) -> None:
    assert local.datasets().default == "sample"


def test_a_question_becomes_a_plan_that_can_be_edited(local: Client) -> None:
    planned = local.plan("Which churches were built before 1200?")
    assert planned.exhaustive and planned.plan and planned.unknown == ()
    whole = local.set(planned)
    assert whole.size == 4 == local.ask("Which churches were built before 1200?").set.size  # type: ignore[union-attr]
    edited = local.edit_plan(planned, remove=planned.chips[-1].path)
    assert len(edited.chips) == len(planned.chips) - 1 and local.set(edited).size > whole.size
    assert local.edit_plan(planned).plan == planned.plan
    assert local.plan("Hello?").plan is None


def test_a_part_of_a_plan_is_set_to_one_of_its_choices(local: Client, service: str) -> None:
    planned = local.plan("Which churches were built before 1200?")
    with Client(service) as far:
        for client in (local, far):
            years = client.edit_plan(planned, change=Change("where.0", years=Years(1100, 1199)))
            assert years.changed == "where.0" and years.chips[1].edits.years == Years(1100, 1199)
            found = client.choices(years, "target.types", "kinds", limit=5)
            assert found.size >= found.choices[0].count  # type: ignore[operator]
            kind = found.choices[-1]
            edited = client.edit_plan(years, change=Change("target.types", kinds=(kind.value,)))
            assert client.set(edited, limit=0).size == kind.count
        assert far.choices(planned, "where", "relation") == local.choices(planned, "where", "relation")


def test_an_entity_that_the_data_does_not_have_is_no_part_of_a_plan(local: Client) -> None:
    change = Change(
        "where", relation="thing_place_c_located_in", entities=("https://example.org/troodos/asinou",)
    )
    with pytest.raises(UnknownEntity) as refused:
        local.edit_plan({"target": {}}, change=change)
    assert refused.value.suggestions


def test_marks_tell_where_and_when_a_set_was(local: Client, service: str) -> None:
    planned = local.plan("Which churches are in the Troodos mountains?")
    found = local.marks(planned)
    assert found.size == local.set(planned).size and 0 < found.dated < found.size
    assert len(found.rows()) == len(found.iris) == found.dated
    for label, begin, *_, iri in found.rows():
        entity = local.entity(iri)
        assert entity.label == label and entity.dates is not None
        assert entity.dates.begin == (None if begin is None else f"{begin:04d}")
    with Client(service) as far:
        assert far.marks(planned) == found
