"""`crmrag evaluate` and `crmrag teach`."""

from __future__ import annotations

import getpass
import shlex
import sys
from pathlib import Path

import click

from crmrag_query.artifacts.manifest import evaluations_folder
from crmrag_query.artifacts.release import Opener, Release, open_release
from crmrag_query.cli.ask import model_options, open_model
from crmrag_query.cli.options import data_option, mode_option, trust_option
from crmrag_query.config.loading import load_method
from crmrag_query.errors import QuestionError
from crmrag_query.plans.records import Plan, read_plan
from crmrag_query.text import printable


@click.command()
@click.argument("dataset")
@click.argument("questions", required=False, type=click.Path(dir_okay=False, path_type=Path))
@data_option
@trust_option
@click.option(
    "--stages",
    default="all",
    show_default=True,
    metavar="NAMES",
    help="Stages whose worth is measured: names with commas, all, or none (pipeline and baselines only).",
)
@mode_option
@click.option("--answers", is_flag=True, help="Answer each question too: with --model, else extractively.")
@model_options
@click.option(
    "--judge",
    metavar="MODEL",
    help="A model that says how relevant and faithful the answers are; with --answers.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for evaluation.md, evaluation.json, qrels.txt and runs/; default: DATA/evaluations/DATASET.",
)
def evaluate(
    dataset: str,
    questions: Path | None,
    data: Path,
    trust: tuple[str, ...],
    stages: str,
    mode: str,
    answers: bool,
    model: str | None,
    api_base: str | None,
    judge: str | None,
    out: Path | None,
) -> None:
    """Measure DATASET's release with QUESTIONS, a JSON or YAML file of questions with known answers.

    Without QUESTIONS, those that datasets.yaml declares for DATASET. Reported are what each stage of retrieval is worth,
    the pipeline against plain BM25, dense and RRF, what of the answers stands in the context, latency, and with --answers
    the answers themselves, which --judge has a language model judge. docs/evaluation.md says what the files hold and the
    figures mean.
    """
    from crmrag_query.evaluation.evaluate import Plan as Measured
    from crmrag_query.evaluation.evaluate import evaluate_file, parse_stages
    from crmrag_query.evaluation.questions import declared_questions
    from crmrag_query.evaluation.report import REPORT_MARKDOWN, write_report

    if judge and not answers:
        raise click.UsageError("--judge needs answers to judge: give --answers too.")
    plan = Measured(
        parse_stages(stages),
        answers,
        open_model(model, api_base) if answers else None,
        mode,
        open_model(judge, api_base) if judge else None,
    )
    release = open_release(dataset, data, Opener.here(trust))
    file = questions or declared_questions(release.manifest.dataset)
    outcome = evaluate_file(release, file, plan, _progress)
    folder = out or evaluations_folder(data, release.manifest.dataset)
    command = _command(dataset, questions, stages, mode, answers, model, judge)
    write_report(outcome, load_method().evaluation, command, folder)
    click.echo((folder / REPORT_MARKDOWN).read_text(encoding="utf-8"))
    click.echo(f"Written to {folder}.")
    _replay(release)


def _replay(release: Release) -> None:
    """Tell what of the taught questions no longer holds, if any were taught."""
    from crmrag_query.evaluation.evaluate import replay

    tried = list(replay(release))
    if tried:
        alone = sum(one.alone for one in tried)
        click.echo(f"Taught questions: {len(tried)}; {alone} are read so by themselves.")
    for one in tried:
        if one.mistake or one.size == 0:
            click.echo(printable(f"  {one.lesson.question}: {one.mistake or 'its set is empty now'}"))


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r{done} of {total} questions" + "\n" * (done == total), err=True, nl=False)


def _command(
    dataset: str,
    questions: Path | None,
    stages: str,
    mode: str,
    answers: bool,
    model: str | None,
    judge: str | None,
) -> str:
    """The command as it can be given elsewhere: files by their names alone."""
    words = ["crmrag", "evaluate", Path(dataset).name, *([questions.name] if questions else [])]
    words += ["--stages", stages, *(["--mode", mode] if mode else [])] + ["--answers"] * answers
    models = [*(["--model", model] if answers and model else []), *(["--judge", judge] if judge else [])]
    return shlex.join([*words, *models])


@click.command()
@click.argument("dataset")
@click.argument("question", required=False)
@data_option
@trust_option
@click.option("--accept", is_flag=True, help="The set that the question gives now is right.")
@click.option("--refuse", is_flag=True, help="The question gives no set: it is answered from the documents.")
@click.option(
    "--plan",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A plan as JSON: what it is to be read as.",
)
@click.option("--who", help="Who teaches it; default: the user's name.")
@click.option("--note", default="", help="Why, for those who read the file.")
@click.option("--forget", is_flag=True, help="Take back what was taught of the question.")
def teach(
    dataset: str,
    question: str | None,
    data: Path,
    trust: tuple[str, ...],
    accept: bool,
    refuse: bool,
    plan: Path | None,
    who: str | None,
    note: str,
    forget: bool,
) -> None:
    """Teach how QUESTION is to be read of DATASET; without a question, list what was taught.

    It stands in taught.yaml beside the data set's releases, where it can be edited by hand; later releases follow it, too,
    and `crmrag evaluate` tries it again.
    """
    from crmrag_query.answers import exact
    from crmrag_query.sets.describe import title_of

    release = open_release(dataset, data, Opener.here(trust))
    if question is None:
        for one in exact.lessons_of(release):
            click.echo(
                printable(
                    f"{one.verdict:<9}  {one.question}  ({one.who or 'unknown'}, {one.when or 'undated'})"
                )
            )
        return
    if [accept, refuse, plan is not None, forget].count(True) != 1:
        raise click.UsageError("Give one of --accept, --refuse, --plan and --forget.")
    if forget:
        known = exact.forget(release, question)
        click.echo("Forgotten." if known else "Nothing was taught of that question.")
        return
    who = _user() if who is None else who
    if refuse:
        exact.teach(release, question, "refused", None, who, note)
        click.echo("The question gives no set from now on.")
        return
    made = _offered(release, question) if plan is None else read_plan(plan.read_bytes())
    exact.teach(release, question, "accepted" if plan is None else "corrected", made, who, note)
    click.echo(printable(f"From now on read as: {title_of(release, made)}"))


def _offered(release: Release, question: str) -> Plan:
    """The plan that a question gives now, sure or not. Raises QuestionError where it gives none."""
    from crmrag_query.answers.ask import ask

    found = ask(release, question).set
    if found is None:
        raise QuestionError(
            "The question gives no set to accept.", "Write a plan and give it with --plan: docs/plans.md."
        )
    return read_plan(found.plan)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return ""
