"""`crmrag evaluate`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from crmrag_query.cli.ask import model_options, open_model
from crmrag_query.cli.options import data_option


@click.command()
@click.argument("dataset")
@click.argument("questions", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@data_option
@click.option(
    "--stages",
    default="all",
    show_default=True,
    metavar="NAMES",
    help="Stages whose worth is measured: names with commas, all, or none (pipeline and baselines only).",
)
@click.option("--answers", is_flag=True, help="Answer each question too: with --model, else extractively.")
@model_options
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for evaluation.json, evaluation.md, qrels.txt and runs/; default: DATA/evaluations/DATASET.",
)
def evaluate(
    dataset: str,
    questions: Path,
    data: Path,
    stages: str,
    answers: bool,
    model: str | None,
    api_base: str | None,
    out: Path | None,
) -> None:
    """Measure DATASET's release with the QUESTIONS of a JSON file: what each stage of retrieval is worth, and the answers."""
    from crmrag_query.artifacts.release import open_release
    from crmrag_query.config import load_method
    from crmrag_query.evaluation.evaluate import evaluate as run_evaluation
    from crmrag_query.evaluation.questions import read_questions
    from crmrag_query.evaluation.report import REPORT_MARKDOWN, write_report
    from crmrag_query.evaluation.systems import parse_stages, systems

    asked, chosen = read_questions(questions), parse_stages(stages)
    release = open_release(dataset, data)

    def advance(done: int, total: int) -> None:
        if sys.stderr.isatty():
            click.echo(f"\r{done} of {total} questions", err=True, nl=False)

    compared = systems(release.method.retrieval.stages, chosen)
    outcome = run_evaluation(release, asked, compared, answers, open_model(model, api_base), advance)
    folder = out or data / "evaluations" / release.manifest.dataset
    command = f"crmrag evaluate {dataset} {questions.name} --stages {stages}" + (
        " --answers" if answers else ""
    )
    write_report(outcome, load_method().evaluation, command, folder)
    click.echo((folder / REPORT_MARKDOWN).read_text(encoding="utf-8"))
    click.echo(f"Written to {folder}.")
