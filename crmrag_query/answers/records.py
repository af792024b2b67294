"""The answer as a record: what is said, from which sources, by which triples; the lineage of a triple; events of a stream.

The same record in Python, over HTTP, in the service's store and on screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from crmrag_query.notes import Note
from crmrag_query.sets.records import AnswerSet, Chip, Facets
from crmrag_query.shown import Coordinates, Dates, Named, Shown, SourceTriple, TableRow
from crmrag_query.text import amount, printable, shorten


def plan_text(made: AnswerSet) -> str:
    """The plan in words, to be shown while its answer is written; "" for one that is not all that was asked."""
    return printable(f"Plan: {made.title}\n") if made.exhaustive else ""


WIDEST = 48  # characters of a column beyond which rows are not aligned any more


def set_text(made: AnswerSet, why: bool = False) -> str:
    """A page of a set: the plan in words, the size, members or rows, what is left out; ``why``: each member's triples."""
    members = made.kind in ("list", "count", "ask", "rank")
    parts = [_head(made), list(_members(made, why)) if members else _rows(made), list(_after(made))]
    return "\n\n".join("\n".join(part) for part in parts if part)


def set_lines(made: AnswerSet, said: str) -> Iterator[str]:
    """An answer's set in a line or two: the plan in words where the text ``said`` has not told it, size, what is left out."""
    if not made.exhaustive:
        yield f"Nearest plan, not all that was asked: {made.title} ({size_of(made)})"
        if made.unknown:
            yield f"  not understood: {', '.join(f'“{word}”' for word in made.unknown)}"
        if made.mentioned:
            yield f"  found in texts or names only: {', '.join(f'“{word}”' for word in made.mentioned)}"
        return
    if made.title.casefold() not in said.casefold():
        yield f"Plan: {made.title}"
    left = ", ".join(f"{one.count} {one.reason}" for one in made.excluded)
    yield f"Exact set: {size_of(made)}{f'; left out: {left}' if left else ''}"


def size_of(made: AnswerSet) -> str:
    """How large a set is, in words."""
    members = amount(made.size, "member")
    match made.kind:
        case "ask":
            return f"yes, {members}" if made.value else "no, none is known"
        case "count":
            return f"count {made.size}"
        case "group":
            return f"{amount(made.total, 'group')} of {members}"
        case "table" | "pairs":
            return f"{amount(made.total, 'row')} of {members}"
        case "rank":
            return f"{made.size} of {amount(made.identity.entities, 'member')}"
        case "compare":
            return f"{amount(made.total, 'set')}, in common {made.common or 0}"
        case _:
            return members


def facets_text(found: Facets) -> str:
    """Facets, each value with how many members have it."""
    if not found.complete:
        return f"{amount(found.size, 'member')}: too many for facets."
    blocks = [[f"{amount(found.size, 'member')}"]]
    for facet in found.facets:
        shown = f", the first {len(facet.values)}" if len(facet.values) < facet.total else ""
        head = f"{facet.label} [{facet.key}]: {amount(facet.total, 'value')}{shown}"
        width = max(len(str(one.count)) for one in facet.values)
        lines = [
            f"  {one.count:>{width}}  {one.label}{f'  <{one.iri}>' if one.iri else ''}"
            for one in facet.values
        ]
        blocks.append([head, *lines])
    return "\n\n".join("\n".join(block) for block in blocks)


def _head(made: AnswerSet) -> list[str]:
    lines = [made.title, size_of(made)]
    identity = made.identity
    if identity.distinct is not None and identity.distinct != identity.entities:
        rule = "by IRI" if identity.rule == "iri" else "by stated identity"
        lines.append(
            f"counted {rule}: {identity.entities} by IRI, {identity.distinct} distinct by stated identity"
        )
    return lines


def _members(made: AnswerSet, why: bool) -> Iterator[str]:
    conditions = {chip.path: chip.label for chip in made.chips}
    for at, member in enumerate(made.members, made.offset + 1):
        texts = [member.label, *(text for text in (member.shown, member.date) if text)]
        yield f"{at:>4}  {'  ·  '.join(texts)}  <{member.iri}>"
        for reason in member.path if why else ():
            condition = ".".join(reason.constraint.split(".")[:2])
            yield f"        {reason.constraint}  {conditions.get(condition, '')}"
            yield from (f"          {triple}" for triple in reason.triples)
            if reason.text:
                yield f"          “{reason.text}”"


def _rows(made: AnswerSet) -> list[str]:
    if not isinstance(made.value, tuple) or not made.value:
        return []
    rows = [[" ".join(cell.label.split()) for cell in row] for row in made.value]
    widths = [min(max(map(len, column)), WIDEST) for column in zip(made.columns, *rows, strict=True)]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(texts, widths, strict=True)).rstrip()
        for texts in (made.columns, *rows)
    ]
    return [lines[0], "  ".join("─" * width for width in widths), *lines[1:]]


def _after(made: AnswerSet) -> Iterator[str]:
    for one in made.excluded:
        yield f"{one.reason}: {one.text} (--excluded {one.reason} lists them)"
    if made.stated_in:
        said = "; ".join(f"{one.label or 'default graph'} ({one.count})" for one in made.stated_in)
        yield f"Stated in: {said}"
    if made.next is not None:
        yield f"Shown: {made.offset + 1} to {made.next} of {made.total}. The next page: --offset {made.next}"


@dataclass(frozen=True, slots=True)
class SourceLink:
    """The same thing elsewhere; ``kind``: the authority, or "other"."""

    iri: str
    kind: str


ENTITY = "entity"
PREVIEW = 200  # characters of a source in the attribution of an answer. Source: the published record


@dataclass(frozen=True, slots=True)
class Source:
    """A numbered source: an entity of the graph and the triples that the answer rests on; or what was found otherwise.

    ``kind``: ``entity``; else ``community``, ``row``, ``path`` or ``tool``, with its own ``text``: its ``iri`` is then a URN,
    ``entities`` are those that it rests on, and ``origin`` is where else it comes from: the query of a row, what wrote of a
    community, the call of a tool. ``classes``: their names in the question's language; ``snippet``: the line
    of its document that bears most on what was said; ``entities``: those without a document of their own whose lines in its
    document were used; ``images``: addresses; ``licence``, ``attribution``: its own, else the data set's; ``cited``: the text
    cites it (what was retrieved besides and put before the writer is a source too, but not cited); ``score``: how well its
    document fits the question, as in a ranking, None where it was not retrieved (a member of an exact set).
    ``read``: a machine read it from a page, no curator wrote it; ``pages``: those that it is on, of documents of pages.
    """

    n: int
    iri: str
    label: str
    category: str
    triples: tuple[SourceTriple, ...]
    classes: tuple[str, ...] = ()
    snippet: str = ""
    entities: tuple[Named, ...] = ()
    images: tuple[str, ...] = ()
    links: tuple[SourceLink, ...] = ()
    licence: str = ""
    attribution: str = ""
    coordinates: Coordinates | None = None
    dates: Dates | None = None
    cited: bool = True
    score: float | None = None
    kind: str = ENTITY
    text: str = ""
    origin: str = ""
    read: bool = False
    pages: tuple[Named, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """A sentence or list item that cites: ``text[start:end]`` of the answer, citations included, and their numbers."""

    start: int
    end: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A sentence or list item, ``text[start:end]`` of the answer, that its sources do not support.

    ``reason``: ``uncited`` (it cites no source), ``missing`` (the lines that it cites do not hold what ``missing`` gives:
    names, numbers, dates, addresses), ``unrelated`` (they hold none of its words), or ``planted`` (what it says stands only
    in text of the data that speaks to a language model).
    """

    start: int
    end: int
    missing: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Quality:
    """How good an answer is, 0..1, and the parts that the score is made of; see ``support``."""

    score: float
    grounded: float
    coverage: float
    citations: float
    form: float


WARN_BELOW = 0.6  # quality of an answer below which the reader is told of it


@dataclass(frozen=True, slots=True)
class Choice:
    """A reading of the question that is not sure: its ``plan`` in words and as JSON, and how many members its set has."""

    title: str
    plan: dict[str, Any] = field(hash=False)
    size: int


@dataclass(frozen=True, slots=True)
class Remark:
    """What a `note` of an answer is of (``crmrag_query.notes``), and the `values` that it tells, so that a page can say it in
    its own language; ``passing``: the same question may be answered without it at another time."""

    note: str
    kind: str
    values: dict[str, str] = field(default_factory=dict, hash=False)
    passing: bool = False


def remarks_of(notes: Iterable[str]) -> tuple[Remark, ...]:
    """The remarks of those notes that say what they are of."""
    known = (note for note in notes if isinstance(note, Note))
    return tuple(Remark(str(note), note.kind, note.values, note.passing) for note in known)


@dataclass(frozen=True, slots=True, repr=False)
class Answer(Shown):
    """An answer: ``text`` cites ``sources`` as [n]; its table is that of its sources.

    ``mode``: the composition that retrieved; ``release``: the id of the release answered from; ``exhaustive``: the text
    states a whole set, not the best of a ranking; ``written_by``: the model, or "extractive"; ``notes``: what the reader
    should know, such as a model that failed; ``refused``: it says, honestly, that the data does not say; ``timings``:
    milliseconds by stage (answers that differ in them alone are equal); ``form``: the query type; ``set``: the exact set that
    a plan of the question gives, None where it has none; ``dataset``: its name; ``conversation``: the state after this
    answer, opaque; give the answer as ``history`` of the next question to go on. ``id``: under which a service keeps it, ""
    where none does (answers that differ in it alone are equal). ``asked``: the question as it was understood after what went
    before. ``choices``: readings that are not sure, best first, whose sets stand beside the answer, which tells at most that
    of the first, as what may be meant. ``query``: the SPARQL that a model wrote and that the answer rests on, "" for none.
    ``remarks``: what those of the ``notes`` are of that can be told in any language.
    """

    question: str
    text: str
    sources: tuple[Source, ...]
    mode: str
    release: str
    exhaustive: bool
    written_by: str
    notes: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()
    refused: bool = False
    quality: Quality | None = None
    timings: dict[str, float] = field(default_factory=dict, compare=False)
    language: str = ""
    form: str = ""
    set: AnswerSet | None = None
    dataset: str = ""
    conversation: dict[str, Any] = field(default_factory=dict, hash=False)
    id: str = field(default="", compare=False)
    asked: str = ""
    choices: tuple[Choice, ...] = ()
    query: str = ""
    remarks: tuple[Remark, ...] = ()

    COLUMNS: ClassVar[dict[str, type]] = {
        "n": int, "cited": bool, "label": str, "category": str, "iri": str, "classes": str, "dates": str, "snippet": str,
        "triples": int,
    }  # fmt: skip

    def attribution(self) -> dict[str, Any]:
        """Where the answer comes from, under the names of the published CRM-RAG: all of it was before the writer.

        ``chunk_details``: each source with its score (``similarity_score``, None where it was not retrieved) and the
        beginning of its text; ``entity_network``: the things that its sources rest on; ``community_context``: its themes.
        """
        scores = [one.score for one in self.sources if one.score is not None]
        network = (each.iri for one in self.sources for each in one.entities)
        return {
            "primary_sources": [one.iri for one in self.sources if one.cited],
            "chunk_details": [
                {
                    "index": one.n,
                    "source": one.iri,
                    "similarity_score": one.score,
                    "content_preview": shorten(one.text or one.snippet, PREVIEW),
                    "metadata": {"label": one.label, "kind": one.kind, "category": one.category},
                }
                for one in self.sources
            ],
            "entity_network": list(dict.fromkeys(network)),
            "community_context": [
                {"id": one.iri, "title": one.label} for one in self.sources if one.kind == "community"
            ],
            "retrieval_metadata": {
                "total_chunks": len(self.sources),
                "avg_similarity": sum(scores) / len(scores) if scores else None,
                "retrieval_mode": self.mode,
            },
        }

    def head(self) -> str:
        return "\n".join([marked_text(self), *(f"Note: {note}" for note in self.notes)])

    def rows(self) -> Sequence[TableRow]:
        return [
            (
                one.n, one.cited, one.label, one.category, one.iri, ", ".join(one.classes),
                one.dates.text if one.dates else "", one.snippet, len(one.triples),
            )
            for one in self.sources
        ]  # fmt: skip

    def __str__(self) -> str:
        return answer_text(self)


def is_lasting(answer: Answer) -> bool:
    """Whether nothing failed while an answer was made that may succeed at another time."""
    return not any(one.passing for one in answer.remarks)


@dataclass(frozen=True, slots=True)
class Step:
    """A triple on a way, in words; ``forward`` when the way leads from its subject to its object."""

    s: str
    p: str
    o: str
    s_label: str
    p_label: str
    o_label: str
    forward: bool


@dataclass(frozen=True, slots=True)
class LineageLine:
    """A line of a document that states the triple.

    ``document``: IRI of the entity whose document it is, ``entity``: of the one that the line is about; ``start``, ``end``:
    characters of the document's text; ``relationship``, ``path``: id of the Fundamental Relationship and of the path by which
    the triple came into the line, "" for a line that states it directly; ``way``: that path in this data.
    """

    document: str
    document_label: str
    entity: str
    kind: str
    text: str
    start: int
    end: int
    relationship: str = ""
    path: str = ""
    way: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a release's triples were read: ``places`` are files as given, or the endpoint's address.

    ``files``: those that were read, of several no triple tells which it stood in, unless the graphs are those
    of files; ``fetched``: when, "" where the provenance
    does not tell; ``built``: when the release was.
    """

    places: tuple[str, ...]
    files: tuple[str, ...]
    endpoint: bool
    fetched: str
    built: str
    fingerprint: str


@dataclass(frozen=True, slots=True, repr=False)
class Lineage(Shown):
    """Where a triple comes from and where it shows; its table is the lines that state it.

    ``stated``: the data states it; ``graphs``: the named graphs that do; ``chunk``: key of the chunk that harvested it, its
    subject's; ``origin``: None in a release whose provenance was left out; ``complete``: every line of the documents looked
    at was tried (else the number of ways to look at ended it); ``pages``: those that a machine read it from.
    """

    s: str
    p: str
    o: str
    stated: bool
    graphs: tuple[str, ...]
    chunk: str
    lines: tuple[LineageLine, ...]
    origin: Origin | None
    complete: bool = True
    pages: tuple[Named, ...] = ()

    COLUMNS: ClassVar[dict[str, type]] = {
        "document": str, "line": str, "kind": str, "relationship": str, "path": str, "way": str,
    }  # fmt: skip

    def head(self) -> str:
        said = "stated" if self.stated else "not stated in the data"
        lines = [f"{self.s} {self.p} {self.o}: {said}", f"chunk {self.chunk}", *map(str, self.graphs)]
        lines += [f"read by a machine from {page.label}" for page in self.pages]
        if self.origin is not None:
            lines.append(
                f"from {', '.join(self.origin.places)}, fetched {self.origin.fetched or 'at no known time'}"
            )
        return "\n".join(lines)

    def rows(self) -> Sequence[TableRow]:
        return [
            (
                one.document_label, one.text, one.kind, one.relationship, one.path,
                " → ".join(f"{step.s_label} {step.p_label} {step.o_label}" for step in one.way),
            )
            for one in self.lines
        ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Planned:
    """The question as a plan, before it is executed: ``title`` in words, ``chips`` part by part."""

    plan: dict[str, Any] = field(hash=False)
    title: str
    chips: tuple[Chip, ...]


@dataclass(frozen=True, slots=True)
class SetFound:
    """The exact set of the plan, its first page; the answer carries it too."""

    set: AnswerSet


@dataclass(frozen=True, slots=True)
class Evidence:
    """The sources that the answer is written from, before a word of it; their numbers are not yet those of the answer."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Token:
    """The next piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Restart:
    """The pieces so far are no answer, for this reason (a language model that failed): another one follows."""

    reason: str


@dataclass(frozen=True, slots=True)
class Cited(Citation):
    """A stretch of the answer's checked text that cites."""


@dataclass(frozen=True, slots=True)
class Used:
    """What the answer took of a language model: tokens, and US dollars where the price is known."""

    model: str
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """The end: the answer as ``ask`` would give it, whose text was checked and may differ from the tokens."""

    answer: Answer


Event = Planned | SetFound | Evidence | Token | Restart | Cited | Used | Done
BY_NAME: dict[str, type[Event]] = {
    "plan": Planned, "set": SetFound, "evidence": Evidence, "token": Token, "restart": Restart,
    "citation": Cited, "usage": Used, "done": Done,
}  # fmt: skip
NAMES: dict[type[Event], str] = {kind: name for name, kind in BY_NAME.items()}


@dataclass(frozen=True, slots=True)
class Tried:
    """What a mode gave: its answer, None where it could not be asked (``failed`` says why); how many ``milliseconds`` that
    took, and of how many ``tokens`` of a language model, None without one."""

    mode: str
    answer: Answer | None
    milliseconds: float = field(default=0.0, compare=False)
    tokens: int | None = None
    failed: str = ""


@dataclass(frozen=True, slots=True)
class SharedSource:
    """A source of some of the answers: in which ``modes`` it was found, and in which of these it is ``cited``."""

    iri: str
    label: str
    modes: tuple[str, ...]
    cited: tuple[str, ...] = ()


def answer_of(events: Iterable[Event]) -> Answer:
    """The answer with which a stream of events ends."""
    for event in events:
        if isinstance(event, Done):
            return event.answer
    raise AssertionError("a stream ends with Done")


SHOWN_TRIPLES = 3
SHOWN_SOURCES = 25
SHOWN_OTHERS = 5  # retrieved besides, by label only


def answer_text(answer: Answer, triples: int = SHOWN_TRIPLES, sources: int = SHOWN_SOURCES) -> str:
    """The answer, its set, its notes and its first ``sources`` cited sources with up to ``triples`` triples each."""
    return "\n".join([printable(marked_text(answer)), *_besides(answer, answer.text, triples, sources)])


def after_text(answer: Answer) -> str:
    """What follows an answer whose plan and text were shown as they came: what is not supported, its set, notes, sources."""
    doubtful = [
        printable(f"{answer.text[one.start : one.end].strip()} {_mark(one)}") for one in answer.unsupported
    ]
    title = answer.set.title if answer.set is not None else ""
    return "\n".join([*doubtful, *_besides(answer, title, SHOWN_TRIPLES, SHOWN_SOURCES)])


def _besides(answer: Answer, shown: str, triples: int, sources: int) -> Iterator[str]:
    """``shown``: text that the reader has before them."""
    if answer.set is not None:
        told = list(map(printable, set_lines(answer.set, shown)))
        yield from told[1:] if answer.choices else told
    if answer.choices:
        yield "Did you mean:"
    for number, one in enumerate(answer.choices, 1):
        yield printable(f"  {number}. {one.title} ({one.size:,})")
    if answer.query:
        yield f"SPARQL:\n{printable(answer.query)}"
    for note in answer.notes:
        yield f"Note: {printable(note)}"
    cited = [source for source in answer.sources if source.cited]
    others = [source for source in answer.sources if not source.cited]
    if cited:
        yield "\nSources"
    for source in cited[:sources]:
        yield printable(f"[{source.n}] {source.label} ({source.category})  <{source.iri}>")
        if source.read:
            on = ", ".join(page.label for page in source.pages)
            yield printable(f"      read by a machine from {on or 'a page'}")
        for triple in source.triples[:triples]:
            yield printable(f"      {triple}")
        if len(source.triples) > triples:
            yield f"      … {len(source.triples) - triples} more (--json shows all)"
    if len(cited) > sources:
        yield f"… {len(cited) - sources} more sources (--json shows all)"
    if others:
        named = "; ".join(f"{source.label} [{source.n}]" for source in others[:SHOWN_OTHERS])
        rest = f"; and {len(others) - SHOWN_OTHERS} more" if len(others) > SHOWN_OTHERS else ""
        yield printable(f"\nRetrieved besides, not cited: {named}{rest}")


MARKS = {
    "uncited": "cites no source",
    "missing": "not in what it cites",
    "unrelated": "nothing of it is in what it cites",
    "planted": "said by text in the data that speaks to a language model",
}


def marked_text(answer: Answer) -> str:
    """The answer's text with a mark after what is not supported, as "(unsupported: not in what it cites: 1250)"."""
    text = answer.text
    for one in sorted(answer.unsupported, key=lambda one: one.end, reverse=True):
        text = f"{text[: one.end]} {_mark(one)}{text[one.end :]}"
    return text


def _mark(one: Unsupported) -> str:
    missing = f": {', '.join(one.missing)}" if one.missing else ""
    return f"(unsupported: {MARKS.get(one.reason, one.reason)}{missing})"
