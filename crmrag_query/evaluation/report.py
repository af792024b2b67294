"""The report of an evaluation as files: Markdown for people, JSON and TREC files for programs."""

from __future__ import annotations

import json
from pathlib import Path

from crmrag_query.artifacts.files import write_text
from crmrag_query.config.query import EvaluationConfig
from crmrag_query.evaluation.evaluate import Outcome
from crmrag_query.evaluation.markdown import markdown
from crmrag_query.evaluation.runs import qrels_text, run_text
from crmrag_query.evaluation.systems import tag

REPORT_JSON, REPORT_MARKDOWN, RUNS, QRELS = "evaluation.json", "evaluation.md", "runs", "qrels.txt"


def evaluations_folder(data: Path, dataset: str) -> Path:
    """Where the evaluation of a data set is written unless another folder is named."""
    return data / "evaluations" / dataset


def write_report(outcome: Outcome, config: EvaluationConfig, command: str, out: Path) -> None:
    """Write ``evaluation.json``, ``evaluation.md``, ``qrels.txt`` and ``runs/SYSTEM.run`` into ``out``.

    Runs of an earlier evaluation are removed.
    """
    (out / RUNS).mkdir(parents=True, exist_ok=True)
    for earlier in (out / RUNS).glob("*.run"):
        earlier.unlink()
    told = {"command": command} | outcome.evaluation.as_dict()
    write_text(out / REPORT_JSON, json.dumps(told, ensure_ascii=False, indent=1) + "\n")
    write_text(out / REPORT_MARKDOWN, markdown([outcome.evaluation], config, command))
    write_text(out / QRELS, qrels_text(outcome.qrels))
    for system, run in outcome.runs.items():
        write_text(out / RUNS / f"{tag(system)}.run", run_text(run, tag(system)))
