"""The report of an evaluation as files: Markdown for people, JSON and TREC files for programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from crmrag_query.artifacts.files import write_text
from crmrag_query.config.query import EvaluationConfig
from crmrag_query.evaluation.markdown import markdown
from crmrag_query.evaluation.runs import qrels_text, run_text
from crmrag_query.evaluation.systems import tag

if TYPE_CHECKING:  # the pipeline is imported to evaluate, not to read what was found
    from crmrag_query.evaluation.evaluate import Outcome

REPORT_JSON, REPORT_MARKDOWN, RUNS, QRELS = "evaluation.json", "evaluation.md", "runs", "qrels.txt"
BEFORE_JSON = "evaluation_before.json"  # the last evaluation of another release


def evaluations_folder(data: Path, dataset: str) -> Path:
    """Where the evaluation of a data set is written unless another folder is named."""
    return data / "evaluations" / dataset


def write_report(outcome: Outcome, config: EvaluationConfig, command: str, out: Path) -> None:
    """Write ``evaluation.json``, ``evaluation.md``, ``qrels.txt`` and ``runs/SYSTEM.run`` into ``out``.

    Runs of an earlier evaluation are removed; what it measured is kept as ``evaluation_before.json`` where it was of another
    release.
    """
    _keep_other(out, outcome.evaluation.release)
    (out / RUNS).mkdir(parents=True, exist_ok=True)
    for earlier in (out / RUNS).glob("*.run"):
        earlier.unlink()
    told = {"command": command} | outcome.evaluation.as_dict()
    write_text(out / REPORT_JSON, json.dumps(told, ensure_ascii=False, indent=1) + "\n")
    write_text(out / REPORT_MARKDOWN, markdown([outcome.evaluation], config, command))
    write_text(out / QRELS, qrels_text(outcome.qrels))
    for system, run in outcome.runs.items():
        write_text(out / RUNS / f"{tag(system)}.run", run_text(run, tag(system)))


def _keep_other(out: Path, release: str) -> None:
    """Set aside the evaluation in ``out`` unless it is of this release too."""
    try:
        of = json.loads((out / REPORT_JSON).read_bytes())["release"]
    except (OSError, ValueError, KeyError, TypeError):
        return
    if of != release:
        (out / REPORT_JSON).replace(out / BEFORE_JSON)
