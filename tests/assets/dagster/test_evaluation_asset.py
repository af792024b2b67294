"""The asset `evaluation`: a release measured by its data set's questions, in Dagster."""

from __future__ import annotations

import json
from pathlib import Path

import dagster as dg
import pytest

from crmrag_assets.partitions import DATASET
from tests.support.builds import Project, make_project
from tests.support.gold import gold_project
from tests.support.runs import run_job

pytest.importorskip("ir_measures")


def evaluated(project: Project) -> dg.ExecuteInProcessResult:
    """The job `evaluate` as the UI launches it."""
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions(DATASET, ["churches"])
        ops = {"evaluation": {"config": {"stages": "typed"}}}
        return run_job(project, instance, "evaluate", ops, partition_key="churches", raise_on_error=True)


def materialisations(result: dg.ExecuteInProcessResult) -> list[dg.AssetMaterialization]:
    events = result.get_asset_materialization_events()
    return [event.step_materialization_data.materialization for event in events]


@pytest.mark.slow
def test_tables_plots_and_figures_are_in_the_catalogue_and_the_report_in_a_folder(tmp_path: Path) -> None:
    project = gold_project(tmp_path / "project")
    (first,), (again,) = (materialisations(evaluated(project)) for _ in range(2))
    shown = {name: value.value for name, value in first.metadata.items()}
    assert "| plain BM25 | 2 |" in str(shown["stages"]) and "| without typed |" in str(shown["stages"])
    assert "█" in str(shown["nDCG@20_by_system_percent"]) and "█" in str(shown["context_characters"])
    assert "| retrieval |" in str(shown["latency_ms"])
    assert str(shown["query_types_right"]).endswith(" of 6")
    figures = ("gold_entities_among_sources", "gold_facts_in_context", "answer_set_f1")
    assert {f"{name} (churches)" for name in figures} <= shown.keys()
    folder = project.data / "evaluations" / "churches"
    assert shown["report"] == str(folder / "evaluation.md")
    stored = json.loads((folder / "evaluation.json").read_text())
    assert stored["release"] == shown["release"] and len(stored["answers"]) == 7
    versions = [(one.tags or {})["dagster/data_version"] for one in (first, again)]
    assert versions[0] == versions[1], "time is no part of it"


def test_without_questions_nothing_is_made_and_the_log_says_what_to_do(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    project = make_project(tmp_path / "project")
    result = evaluated(project)
    assert result.success and materialisations(result) == []
    assert "declares no questions for 'churches'" in capfd.readouterr().err
