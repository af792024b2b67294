"""A language model that works with a data set by tools: it searches, looks around entities and themes, asks for exact
sets, and runs read-only SPARQL, within bounds of steps, tokens and seconds. Every call is kept as evidence.

And one that chooses, at each step of a walk, which neighbours to go on from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field, ValidationError

from crmrag_query.answers.understand import Understood
from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import Bounds, ContextConfig, Mode
from crmrag_query.config.service import SparqlConfig
from crmrag_query.context.context import (
    Budget,
    Context,
    ContextLine,
    ContextSource,
    Finding,
    Kind,
    frame,
    measured,
    pay,
    row,
    source_of,
    tool,
)
from crmrag_query.documents.documents import Documents
from crmrag_query.errors import CrmRagError, ModelError, QuestionError
from crmrag_query.graph.graph import Graph
from crmrag_query.llm.model import AnyMessage, Model, Schema, Talk, WholeModel, bare
from crmrag_query.notes import Note
from crmrag_query.plans.records import Plan
from crmrag_query.plans.world import World
from crmrag_query.retrieval.channels import lacking, modes_of
from crmrag_query.retrieval.walker import Walker
from crmrag_query.sets.records import AnswerSet, Cell
from crmrag_query.shown import SourceTriple
from crmrag_query.sparql.evaluate import SparqlResult
from crmrag_query.sparql.written import Run, Vocabulary, WrittenQuery
from crmrag_query.stores.tools import TOOLS, Query, StoreTools, Tool, run_tool
from crmrag_query.text import amount, as_data, plain, shorten


@dataclass(frozen=True)
class Gathered:
    """``findings`` in the order of their numbers, from 1. ``query``: the SPARQL that gave them; ``heads``: what is known of
    all of them together; ``text``: the answer where it is written already, citing them; ``notes``: for the reader."""

    findings: tuple[Finding, ...] = ()
    query: str = ""
    heads: tuple[str, ...] = ()
    text: str = ""
    notes: tuple[str, ...] = ()


NOTHING = Gathered()


def rows_of(release: Release, written: WrittenQuery, language: str) -> Gathered:
    """The rows of a query that a model wrote, entities by their labels."""
    result = written.result
    if result is None:
        return Gathered(notes=written.notes)
    if result.form == "ask":
        said = "yes" if result.truth else "no"
        heads = (f"The query asks whether something is so, and the data says: {said}",)
        findings = [row(release, ["so"], [("", said)], written.query, language)]
    else:
        heads = (f"Rows that the query gives: {len(result.rows)}{', the first of more' * result.truncated}",)
        cells = (
            [(cell.iri, cell.label) if cell is not None else None for cell in one] for one in result.rows
        )
        findings = [row(release, result.variables, one, written.query, language) for one in cells]
    return Gathered(tuple(dict.fromkeys(findings)), written.query, heads, notes=written.notes)


def context_of(gathered: Gathered, config: ContextConfig) -> Context:
    """What was gathered as a context, numbered in its order: all of it where an answer is written already, else as much as
    the budget holds."""
    budget = Budget(config.characters, config.tokens)
    sources: list[ContextSource] = []
    for n, one in enumerate(gathered.findings, 1):
        texts = [one.label, *one.texts]
        if not gathered.text and not pay(texts, [budget], frame=frame(one.kind, n)):
            break
        sources.append(source_of(n, one, texts))
    counts = tuple(ContextLine(head, Kind.COUNT) for head in gathered.heads)
    return measured(Context(tuple(sources), counts=counts))


RESULT = 6_000  # characters of a tool's result that the model is told, and that are kept as evidence
ARGUMENTS = 200  # … of a call's arguments, in its name
AT_ONCE = 8  # calls of one reply that are run; what is more is told to be too much
SETS_MEMBERS = 25  # of an exact set that are told
REPLY_TOKENS = 2_000
LAST_SHARE = 0.25  # of the seconds, that are kept for the answer itself
CELL = 200  # characters of a cell
LAST: Final = "You may call no more tools. Answer now, from the results that you have."

SparqlText = Annotated[
    str,
    Field(
        max_length=10_000, description="SPARQL 1.1, SELECT or ASK, with PREFIX declarations or whole IRIs."
    ),
]
Rows = Annotated[int, Field(ge=1, le=100, description="Rows at most.")]


@dataclass(frozen=True, slots=True)
class FindSet:
    """Answer a question about all of the data exactly: which, how many, the earliest, counts by group. The question is
    read as a plan and executed over everything; what of it was not understood is told. Prefer it for lists and numbers."""

    question: Query


@dataclass(frozen=True, slots=True)
class RunSparql:
    """Run a read-only SPARQL query, for what no other tool tells. Nothing is inferred; properties and classes that the data
    does not state are refused, with what is near. Take IRIs from other results, do not guess them."""

    query: SparqlText
    limit: Rows = 25


@dataclass(frozen=True)
class AgentTools(StoreTools):
    """The tools over a release: those over a store of it, its exact sets, which ``find_set`` finds for a question, and SPARQL
    that ``run`` runs."""

    release: Release = field(kw_only=True)
    find_set: Callable[[str], AnswerSet] = field(kw_only=True)
    run: Run = field(kw_only=True)
    config: SparqlConfig = field(kw_only=True)

    def sparql(self, query: str, limit: int) -> SparqlResult:
        if faults := self.release[Vocabulary].faults(query, self.config):
            raise QuestionError(f"The query was not run: {'; '.join(faults)}.", "Correct it.")
        return self.run(query, limit)


def set_lines(made: AnswerSet) -> Iterator[str]:
    """An exact set, as lines."""
    yield f"{made.title}: {_size(made)}"
    if not made.exhaustive:
        lost = f" Words that were not understood: {', '.join(made.unknown)}." if made.unknown else ""
        yield f"This is the nearest reading, which may not be all that was asked.{lost}"
    rows = made.value if isinstance(made.value, tuple) else ()
    if rows:
        yield " | ".join(made.columns)
        yield from (" | ".join(map(_cell, row)) for row in rows[:SETS_MEMBERS])
    else:
        for member in made.members[:SETS_MEMBERS]:
            told = [member.label, *(text for text in (member.shown, member.date) if text)]
            yield f"- {' · '.join(dict.fromkeys(told))} <{member.iri}>"
    left = made.total - min(made.total, SETS_MEMBERS)
    if left:
        yield f"and {left} more"


def _size(made: AnswerSet) -> str:
    if made.kind == "ask":
        return f"{'yes' if made.value else 'no, none is known'} ({amount(made.size, 'member')})"
    return f"{amount(made.size, 'member')}, exactly"


def rows_lines(found: SparqlResult) -> Iterator[str]:
    """Rows of a query, as lines."""
    if found.form == "ask":
        yield "yes" if found.truth else "no"
        return
    yield amount(len(found.rows), "row") + (", and there are more" if found.truncated else "")
    yield " | ".join(found.variables)
    yield from (" | ".join(map(_cell, row)) for row in found.rows)


def _cell(cell: Cell | None) -> str:
    """A cell on one line: an entity's IRI in brackets, after its label where that is another."""
    if cell is None:
        return "–"
    text = shorten(plain(cell.label), CELL)
    if not cell.iri:
        return text
    return f"<{cell.iri}>" if cell.label == cell.iri else f"{text} <{cell.iri}>"


AGENT_TOOLS: tuple[Tool, ...] = (
    *TOOLS,
    Tool("find_set", FindSet, set_lines),
    Tool("sparql", RunSparql, rows_lines),
)


def work(model: Model, asked: dict[str, Any], tools: AgentTools, bounds: Bounds) -> Gathered:
    """Let the model answer what is ``asked`` by calling tools, and at the end without: its calls as evidence, in their order,
    and its text, which cites them by number.

    Where it fails, or its server takes no tools, the calls until then, no text, and a note.
    """
    talk = Talk(model, bounds.seconds, most=REPLY_TOKENS)
    messages: list[AnyMessage] = [
        {"role": "system", "content": tools.release.method.prompts.agent},
        {"role": "user", "content": json.dumps(asked, ensure_ascii=False)},
    ]
    definitions = [one.schema() for one in AGENT_TOOLS]
    found: list[Finding] = []
    notes: list[str] = []
    for step in range(bounds.steps + 1):
        spent = talk.sent + talk.received
        last = step == bounds.steps or spent >= bounds.tokens or talk.left < bounds.seconds * LAST_SHARE
        if last:
            why = "steps" if step == bounds.steps else "tokens" if spent >= bounds.tokens else "seconds"
            stopped = f"The model was stopped after {len(found)} calls: it has no more {why}."
            notes.append(Note(stopped, "stopped", n=len(found)))
            messages.append({"role": "user", "content": LAST})
        try:
            reply = talk.call(messages, definitions, may_call=not last)
        except ModelError as error:
            notes.append(Note(f"{error} It must call tools in this mode.", "tools"))
            return Gathered(tuple(found), notes=tuple(notes))
        if not reply.calls or last:
            if reply.text and not found:
                nothing = "The model called no tools; what it wrote rests on nothing and was left out."
                notes.append(Note(nothing, "uncalled"))
            return Gathered(tuple(found), text=reply.text, notes=tuple(notes))
        messages.append({"role": "assistant", "content": reply.text, "tool_calls": reply.calls})
        for at, one in enumerate(reply.calls):
            content = f"Too many calls at once: at most {AT_ONCE}."
            if at < AT_ONCE:
                called = one["function"]
                finding, content = _run(tools, called["name"], called["arguments"], len(found) + 1)
                found.append(finding)
            messages.append({"role": "tool", "tool_call_id": one["id"], "content": content})
    raise AssertionError("the last step returns")


def _run(tools: AgentTools, name: str, arguments: str, n: int) -> tuple[Finding, str]:
    """A call of a tool as evidence, and as the model reads it: data between tags, with the number by which it is cited."""
    reply = run_tool(tools, name, arguments, AGENT_TOOLS)
    lines: list[str] = []
    room = RESULT
    for line in reply.text.split("\n"):
        room -= len(line) + 1
        if room < 0:
            lines.append("… (cut: ask for less)")
            break
        lines.append(line)
    call = f"{shorten(plain(name), 40)}({shorten(plain(arguments), ARGUMENTS)})"
    finding = tool(n, call, lines, *_stated(tools.release, reply.result))
    return finding, "\n".join([f'<result n="{n}">', *map(as_data, lines), "</result>"])


def _stated(release: Release, result: object) -> tuple[list[int], list[int]]:
    """The nodes that a result names, and the triples between two nodes that it states, by their numbers."""
    triples = list[SourceTriple](getattr(result, "relations", ()))
    iris = list[str]()
    for one in (*getattr(result, "entities", ()), *filter(None, [getattr(result, "entity", None)])):
        iris.append(one.iri)
        triples += one.relations
    iris += (member.iri for one in getattr(result, "communities", ()) for member in one.members)
    iris += (one.iri for one in getattr(result, "neighbours", ()))
    if isinstance(result, AnswerSet):
        members = result.members[:SETS_MEMBERS]
        iris += (member.iri for member in members)
        triples += (triple for member in members for reason in member.path for triple in reason.triples)
    if isinstance(result, SparqlResult):
        iris += (cell.iri for row in result.rows for cell in row if cell is not None and cell.iri)
    graph, properties = release[Graph], release[World].property_numbers
    nodes = (graph.node(iri) for iri in dict.fromkeys(iris))
    ends = ((graph.node(one.s), properties.get(one.p), graph.node(one.o)) for one in dict.fromkeys(triples))
    numbers = (
        graph.adjacency.forward.position(p, s, o)
        for s, p, o in ends
        if s is not None and p is not None and o is not None
    )
    return [node for node in nodes if node is not None], list(dict.fromkeys(numbers))


def require_tools(release: Release, mode: Mode, model: Model | None, within: Plan | None) -> None:
    """QuestionError that says what the mode needs, where there is no model, or one that is known to call no tools; and where
    a part of the data is asked of, which tools do not keep to."""
    usable = (one for one in modes_of(release).values() if not lacking(release, one))
    others = [one.name for one in usable if one.model != "tools"]
    elsewhere = f"Or ask in another mode: {', '.join(others)}." if others else ""
    if model is None:
        raise QuestionError(
            f"The mode {mode.name!r} needs a language model that calls tools, and none is named.",
            f"Name one (CRMRAG_MODEL, --model), such as openai/gpt-4o or ollama/qwen3. {elsewhere}".strip(),
        )
    itself = bare(model)
    if not isinstance(itself, WholeModel) or getattr(itself, "calls_tools", None) is False:
        raise QuestionError(
            f"The mode {mode.name!r} needs a language model that calls tools, which {model.name} does not.",
            f"Name another. {elsewhere}".strip(),
        )
    if within is not None:
        raise QuestionError(
            f"The mode {mode.name!r} cannot be asked within a part of the data.",
            "Ask it of all of the data, or within a part in another mode.",
        )


TOLD: Final = 20  # nearest neighbours among which it chooses
CHARACTERS: Final = 300  # of each
SECONDS: Final = 40.0  # for all steps of a question
NEAREST: Final = "The walk went on to what is nearest."
SCHEMA: Final[Schema] = {
    "type": "object",
    "properties": {"next": {"type": "array", "items": {"type": "integer"}}},
    "required": ["next"],
    "additionalProperties": False,
}


class _Next(BaseModel):
    next: Annotated[tuple[int, ...], Field(max_length=100)]


@dataclass(eq=False)
class Chooser:
    """Chooses for one question. What cannot be understood, and a model that fails, leave the walk to what is nearest;
    ``note`` says so."""

    release: Release
    question: str
    talk: Talk
    note: Note | None = field(default=None, init=False)

    def __call__(self, nearest: Sequence[int], most: int) -> Sequence[int]:
        """Those of the documents to go on from, at most so many; none where the model would stop."""
        told = list(nearest[:TOLD])
        if self.note or not told:
            return told[:most]
        documents = self.release[Documents]
        neighbours = [
            {"n": n, "text": shorten(plain(documents.text(one)), CHARACTERS)} for n, one in enumerate(told, 1)
        ]
        data = json.dumps(
            {"question": self.question, "most": most, "neighbours": neighbours}, ensure_ascii=False
        )
        instructions = self.release.method.prompts.walk
        try:
            reply = self.talk.ask(
                [{"role": "system", "content": instructions}, {"role": "user", "content": data}]
            )
            chosen = _Next.model_validate_json(reply[reply.find("{") : reply.rfind("}") + 1]).next
        except CrmRagError as error:
            self.note = Note(f"{error} {NEAREST}", "steps")
            return told[:most]
        except ValidationError:
            said = f"The model {self.talk.model.name} did not say which neighbours to go on from."
            self.note = Note(f"{said} {NEAREST}", "steps")
            return told[:most]
        return list(dict.fromkeys(told[n - 1] for n in chosen if 1 <= n <= len(told)))[:most]


def stepped(release: Release, understood: Understood, mode: Mode, model: Model) -> Understood:
    """The question with its walks gone, the model choosing the steps: what is searched and told later goes by these."""
    if understood.unmet:
        return understood
    chooser = Chooser(release, understood.question, Talk(model, SECONDS, SCHEMA))
    queries = tuple(replace(query, walk=mode.walk, chooser=chooser) for query in understood.queries)
    for query in queries:
        release[Walker].walk(query)
    notes = (*understood.notes, chooser.note) if chooser.note else understood.notes
    return replace(understood, queries=queries, notes=notes)
