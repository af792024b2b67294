"""`crmrag ask` and `crmrag chat`."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crmrag_query.answers.records import (
    Answer,
    Done,
    Event,
    Restart,
    SetFound,
    Token,
    after_text,
    answer_text,
    plan_text,
    set_lines,
    set_text,
)
from crmrag_query.artifacts.release import Opener, Release, open_release
from crmrag_query.cli.options import (
    data_option,
    mode_option,
    read_within_options,
    trust_option,
    within_option,
)
from crmrag_query.errors import QuestionError
from crmrag_query.plans.records import read_plan
from crmrag_query.plans.world import World
from crmrag_query.sets.records import AnswerSet, Page
from crmrag_query.text import printable

if TYPE_CHECKING:  # imported when a question is asked, so that --help stays quick
    from crmrag_query.answers.ask import Ask

MODEL_HELP = "A litellm model such as openai/gpt-4o or ollama/llama3 (CRMRAG_MODEL); without one, answers are extractive."


def model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that choose a language model."""
    command = click.option("--model", envvar="CRMRAG_MODEL", help=MODEL_HELP)(command)
    return click.option(
        "--api-base", envvar="CRMRAG_API_BASE", help="Address of a model server of your own."
    )(command)


def wikidata_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Whether texts from Wikidata are asked for; not given: as the data set says."""
    return click.option(
        "--wikidata/--no-wikidata", default=None, help="Ask Wikidata too; else as the data set says."
    )(command)


def asking(command: Callable[..., Any]) -> Callable[..., Any]:
    """The argument and options that asking shares."""
    shared = trust_option(data_option(click.argument("dataset")(command)))
    return within_option(mode_option(model_options(wikidata_option(shared))))


def opened(
    dataset: str,
    data: Path,
    model: str | None,
    api_base: str | None,
    wikidata: bool | None,
    trust: tuple[str, ...],
    mode: str,
    within: tuple[str, ...],
) -> tuple[Release, Ask]:
    """What ``asking`` gives: the release, and how it is asked."""
    from crmrag_query.answers.ask import Ask
    from crmrag_query.retrieval.channels import find_mode

    release = open_release(dataset, data, Opener.here(trust))
    how = Ask(
        open_model(model, api_base), wikidata, find_mode(release, mode), within=read_within_options(within)
    )
    return release, how


@click.command()
@asking
@click.argument("question")
@click.option("--json", "as_json", is_flag=True, help="The whole answer as JSON, with its set.")
@click.option("--plan", is_flag=True, help="The plan of the question alone, as JSON for `crmrag set`.")
@click.option("--sparql", is_flag=True, help="The plan alone, as a SPARQL query.")
@click.option(
    "--choice", type=click.IntRange(min=1), help="The set of a reading that an answer offered, by its number."
)
def ask(question: str, as_json: bool, plan: bool, sparql: bool, choice: int | None, **asked: Any) -> None:
    """Answer QUESTION from DATASET (its name, or the folder of a release)."""
    from crmrag_query.answers.ask import Conversation

    if [as_json, plan, sparql, choice is not None].count(True) > 1:
        raise click.UsageError(
            "--json, --plan, --sparql and --choice print different things: give one of them."
        )
    release, how = opened(**asked)
    events = Conversation().stream(release, question, how)
    if plan or sparql:
        found = set_of(events)
        if not found.exhaustive:
            click.echo(printable("\n".join(set_lines(found, ""))), err=True)
        click.echo(sparql_of(release, found) if sparql else plan_of(found), nl=not sparql)
    elif choice is not None:
        click.echo(printable(chosen(release, tell(events, None), choice)))
    elif as_json:
        click.echo(json.dumps(tell(events, None).to_dict(), ensure_ascii=False, indent=2))
    elif tell(events, how.model is not None and sys.stdout.isatty()).choices:
        click.echo("\nAsk again with --choice NUMBER for what you meant.", err=True)


@click.command()
@asking
@click.option("--plan", is_flag=True, help="With the plan of each answer's set as JSON.")
@click.option("--sparql", is_flag=True, help="With the SPARQL query of each answer's set.")
def chat(plan: bool, sparql: bool, **asked: Any) -> None:
    """Ask DATASET one question after another; an empty line, or the end of the input, ends."""
    from crmrag_query.answers.ask import Conversation, state_after

    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # typed bytes that are no text are no reason to end
    release, how = opened(**asked)
    conversation = Conversation()
    click.echo(f"{printable(release.manifest.title)} (release {release.id}). An empty line ends.")
    for example in release.manifest.examples[:3]:
        click.echo(f"  for example: {printable(example)}")
    answer: Answer | None = None
    while question := _typed():
        try:
            if answer is not None and question.isdecimal() and 0 < int(question) <= len(answer.choices):
                click.echo(printable(chosen(release, answer, int(question))))
                continue
            events = conversation.stream(release, question, how)
            answer = tell(events, how.model is not None and sys.stdout.isatty())
            if answer.choices:
                click.echo("\nType the number of what you meant.")
            conversation = Conversation(state_after(answer))
            if (found := answer.set) is not None:
                for text in [plan_of(found)] * plan + [sparql_of(release, found)] * sparql:
                    click.echo(f"\n{printable(text)}")
        except QuestionError as error:
            click.echo(f"Error: {error}")


def tell(events: Iterator[Event], live: bool | None) -> Answer:
    """Show an answer: piece by piece as it comes (``live``), at its end (False), or not at all (None)."""
    for event in events:
        if live and isinstance(event, SetFound):
            click.echo(plan_text(event.set), nl=False)
        if isinstance(event, Done):
            if live is not None:
                click.echo(f"\n{after_text(event.answer)}" if live else answer_text(event.answer))
            return event.answer
        if live and isinstance(event, Token):
            click.echo(printable(event.text), nl=False)
        elif live and isinstance(event, Restart):
            click.echo("\n(This is no answer; another one follows.)")
    raise AssertionError("a stream ends with Done")


def chosen(release: Release, answer: Answer, number: int) -> str:
    """The set of one of the readings that an answer offers. Raises QuestionError where it offers none of that number."""
    from crmrag_query.sets.build import answer_set

    if number > len(answer.choices):
        offered = len(answer.choices)
        what = f"The answer offers {offered} readings." if offered else "The answer offers no other reading."
        raise QuestionError(what, "Ask without --choice to see them.")
    plan = read_plan(answer.choices[number - 1].plan)
    return set_text(answer_set(release, plan, Page(), answer.language))


def set_of(events: Iterator[Event]) -> AnswerSet:
    """The set of the question's plan, before anything is written. Raises QuestionError where it has none."""
    for event in events:
        if isinstance(event, SetFound):
            return event.set
    raise QuestionError(
        "The question became no plan.", "Ask without --plan and --sparql, or write a plan: docs/plans.md."
    )


def plan_of(found: AnswerSet) -> str:
    """The plan as JSON that `crmrag set` reads."""
    return json.dumps(found.plan, ensure_ascii=False, indent=2)


def sparql_of(release: Release, found: AnswerSet) -> str:
    """The query of a set; written now where the answer came without."""
    from crmrag_query.plans.sparql import to_sparql

    return found.sparql or to_sparql(read_plan(found.plan), release[World])


def _typed() -> str:
    """The next question, "" at the end."""
    try:
        return str(click.prompt("\n?", default="", show_default=False, prompt_suffix=" ")).strip()
    except click.Abort:  # the end of the input, or Ctrl-C
        click.echo()
        return ""


def open_model(name: str | None, api_base: str | None) -> Any:
    """The language model of that name, None without a name."""
    if not name:
        return None
    from crmrag_query.llm.model import LiteLLM

    return LiteLLM(name, api_base, float(os.environ.get("CRMRAG_MODEL_TIMEOUT", "60")))
