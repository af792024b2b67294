"""`crmrag teach`."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crmrag_query.cli.options import data_option, trust_option
from crmrag_query.text import printable

if TYPE_CHECKING:
    from crmrag_query.artifacts.release import Release
    from crmrag_query.plans.records import Plan


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
    from crmrag_query.artifacts.release import Opener, open_release
    from crmrag_query.plans.records import read_plan
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
    from crmrag_query.errors import QuestionError
    from crmrag_query.plans.records import read_plan

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
