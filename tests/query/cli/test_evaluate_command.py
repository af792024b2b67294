"""`crmrag evaluate` as a researcher meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from crmrag_query.cli.datasets import datasets
from crmrag_query.cli.evaluate import evaluate
from crmrag_query.config import load_datasets
from crmrag_query.errors import ConfigError, CrmRagError, QuestionError, ReleaseNotFound
from tests.conftest import ROOT
from tests.support.builds import Project, make_project
from tests.support.gold import QUESTIONS, gold_project, write_questions

pytest.importorskip("ir_measures")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return gold_project(tmp_path_factory.mktemp("evaluated") / "project")


@pytest.fixture(autouse=True)
def here(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRMRAG_CONFIG", str(project.config))
    monkeypatch.delenv("CRMRAG_MODEL", raising=False)


def invoke(project: Project, *arguments: str) -> Result:
    command = [*arguments, "--data", str(project.data)]
    return CliRunner().invoke(evaluate, command, catch_exceptions=False)


def test_a_report_is_shown_and_written(project: Project, tmp_path: Path) -> None:
    shown = invoke(
        project,
        "churches",
        str(project.root / "gold.json"),
        "--stages",
        "none",
        "--answers",
        "--out",
        str(tmp_path),
    )
    assert shown.exit_code == 0
    assert shown.output.startswith("# Evaluation of churches")
    assert (
        "| plain RRF | 2 |" in shown.output and "without" not in shown.output.partition("## Query")[0][400:]
    )
    assert "Made by `crmrag evaluate churches gold.json --stages none --answers`." in shown.output
    assert str(project.root) not in (tmp_path / "evaluation.md").read_text()
    assert len(json.loads((tmp_path / "evaluation.json").read_text())["answers"]) == len(QUESTIONS)


def test_the_data_sets_own_questions_are_taken_by_themselves(project: Project) -> None:
    shown = invoke(project, "churches", "--stages", "typed")
    assert "Made by `crmrag evaluate churches --stages typed`." in shown.output
    folder = project.data / "evaluations" / "churches"
    assert shown.output.endswith(f"Written to {folder}.\n")
    assert (folder / "runs" / "without-typed.run").exists()


def test_a_release_in_a_folder_is_evaluated_as_the_data_set_is(project: Project, tmp_path: Path) -> None:
    release = next((project.data / "releases" / "churches").glob("?" * 16))
    shown = invoke(project, str(release), "--stages", "none", "--out", str(tmp_path))
    assert f"| churches | {release.name} |" in shown.output


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        (("churches", "gone.json"), QuestionError, r"gone\.json: No such file"),
        (("churches", "{bad}"), QuestionError, r"bad\.json.*docs/evaluation\.md"),
        (("churches", "--stages", "rerank"), QuestionError, "no stage 'rerank'.*typed"),
        (("nowhere",), ReleaseNotFound, "nowhere.*crmrag build"),
    ],
)
def test_a_mistake_is_told_with_its_remedy(
    project: Project, tmp_path: Path, arguments: tuple[str, ...], error: type[CrmRagError], told: str
) -> None:
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    given = [part.replace("{bad}", str(tmp_path / "bad.json")) for part in arguments]
    with pytest.raises(error, match=told):
        invoke(project, *given)


def test_a_data_set_without_questions_asks_for_a_file(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_project(tmp_path / "other")
    monkeypatch.setenv("CRMRAG_CONFIG", str(other.config))
    with pytest.raises(QuestionError, match="crmrag evaluate churches QUESTIONS"):
        invoke(project, "churches")


@pytest.mark.slow
def test_several_sets_are_pooled_by_the_benchmark(project: Project, tmp_path: Path) -> None:
    pair = f"churches:{project.root / 'gold.json'}"
    command = [
        sys.executable,
        "benchmarks/evaluate.py",
        f"one={pair}",
        f"two={pair}",
        "--data",
        str(project.data),
    ]
    for name in ("a", "b"):
        out = ["--stages", "none", "--answers", "--out", str(tmp_path / name / "pooled.md")]
        subprocess.run([*command, *out], cwd=ROOT, check=True, capture_output=True)
    texts = [(tmp_path / name / "pooled.md").read_text().partition("## Latency")[0] for name in "ab"]
    assert texts[0] == texts[1] and "| plain BM25 | 4 |" in texts[0] and "## Verdict" in texts[0]
    stored = [json.loads((tmp_path / name / "pooled.json").read_text()) for name in "ab"]
    assert [one.pop("latency").keys() for one in stored] == [{"one", "two"}] * 2
    assert stored[0] == stored[1] and len(stored[0]["questions"]) == 2 * len(QUESTIONS)
    assert str(tmp_path) not in texts[0] + json.dumps(stored)


def test_questions_are_declared_with_the_data_set(tmp_path: Path) -> None:
    made = make_project(tmp_path / "project")
    write_questions(made.root)
    file = made.config / "datasets.yaml"
    command = ["museum", "--rdf", "churches.ttl", "--file", str(file), "--questions"]
    with pytest.raises(ConfigError, match=r"datasets\.museum\.questions: no such file: 'gone\.json'"):
        CliRunner().invoke(datasets, ["add", *command, "gone.json"], catch_exceptions=False)
    assert CliRunner().invoke(datasets, ["add", *command, "gold.json"]).exit_code == 0
    assert load_datasets(file)["museum"].questions_file() == made.root / "gold.json"
    (made.root / "gold.json").unlink()
    checked = CliRunner().invoke(datasets, ["check", "museum", "--file", str(file)])
    assert checked.exit_code == 1 and "datasets.museum.questions: no such file" in checked.output
