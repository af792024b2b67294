"""Evidence that a language model gathered itself, in place of documents that were retrieved: results of tools that it called,
rows of a query that it wrote, themes. And the answer that is written from it, checked like any other.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace

from crmrag_query.answers.generated import Written, notes_on, say
from crmrag_query.answers.records import Citation, Restart, Source, SourceKind, Token
from crmrag_query.answers.sources import SourceList
from crmrag_query.answers.support import Renumberer, SetLines, Support, check_support
from crmrag_query.artifacts.release import Release
from crmrag_query.entities.named import SourceTriple, category_name
from crmrag_query.errors import ModelError
from crmrag_query.graph.graph import Graph
from crmrag_query.llm.model import Message, Model
from crmrag_query.questions.form import Reading
from crmrag_query.sets.records import Cell
from crmrag_query.sparql.evaluate import SparqlResult
from crmrag_query.sparql.written import WrittenQuery
from crmrag_query.text import as_data, plain, shorten

SNIPPET = 300  # characters of what is shown of a source
ENTITIES = 25  # that are shown with one source
CELL = 300  # characters of a cell


@dataclass(frozen=True, slots=True)
class Item:
    """A piece of evidence of a kind: its ``label`` and the ``lines`` that an answer may rest on.

    ``triples``: those that it states; ``iris``: entities that it names, the first of which it is about, where ``of_entity``.
    ``told``: what the writer is told in place of the lines.
    """

    kind: SourceKind
    label: str
    lines: tuple[str, ...]
    triples: tuple[SourceTriple, ...] = ()
    iris: tuple[str, ...] = ()
    of_entity: bool = False
    told: tuple[str, ...] = ()


@dataclass(frozen=True)
class Gathered:
    """``items`` in the order of their numbers, from 1. ``query``: the SPARQL that gave them; ``heads``: what is known of all
    of them together; ``text``: the answer where it is written already, citing the items; ``notes``: for the reader."""

    items: tuple[Item, ...] = ()
    query: str = ""
    heads: tuple[str, ...] = ()
    text: str = ""
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.items)


NOTHING = Gathered()


def rows_of(release: Release, written: WrittenQuery, language: str) -> Gathered:
    """The rows of a query that a model wrote as evidence, entities by their labels."""
    result = written.result
    if result is None:
        return Gathered(notes=written.notes)
    heads: tuple[str, ...]
    if result.form == "ask":
        heads = (
            f"The query asks whether something is so, and the data says: {'yes' if result.truth else 'no'}",
        )
        items = [Item("row", "yes" if result.truth else "no", heads)]
    else:
        more = ", the first of more" if result.truncated else ""
        heads = (f"Rows that the query gives: {len(result.rows)}{more}",)
        items = [_row(release, result, row, language) for row in result.rows]
    return Gathered(tuple(items), written.query, heads, notes=written.notes)


def _row(release: Release, result: SparqlResult, row: Sequence[Cell | None], language: str) -> Item:
    graph = release[Graph]
    shown: list[str] = []
    iris: list[str] = []
    for name, cell in zip(result.variables, row, strict=True):
        if cell is None:
            continue
        node = graph.node(cell.iri) if cell.iri else None
        text = plain(cell.label if node is None else graph.label(node, (language,)) or cell.iri)
        shown.append(f"{name}: {shorten(text, CELL)}")
        iris += [cell.iri] if node is not None else []
    first = row[0] if row else None
    of_entity = first is not None and bool(iris) and first.iri == iris[0]
    label = shown[0].partition(": ")[2] if shown else "–"
    return Item(
        "row", label, ("; ".join(shown) or "–",), iris=tuple(dict.fromkeys(iris)), of_entity=of_entity
    )


def listed(gathered: Gathered, cited: Cited, partial: str) -> str:
    """The rows of a query as a list, each citing itself, and that a query may have been read otherwise."""
    lines = [f"- {item.lines[0]} [{cited.cite(n)}]" for n, item in enumerate(gathered.items, 1)]
    return "\n".join([*lines, partial])


@dataclass
class Cited:
    """Items by the number that they have in an answer, as they are first cited."""

    release: Release
    gathered: Gathered
    sources: SourceList
    numbers: dict[int, int] = field(default_factory=dict)

    def cite(self, given: int) -> int | None:
        """The number in the answer of an item by the number that the model has for it; None where there is none."""
        if not 0 < given <= len(self.gathered.items):
            return None
        item = self.gathered.items[given - 1]
        self.numbers[given] = self.sources.add(given, lambda: _source(self.release, item, self.sources))
        return self.numbers[given]

    def rest(self) -> None:
        """Add the items that nothing cites."""
        for given in range(1, len(self.gathered.items) + 1):
            self.cite(given)


def _source(release: Release, item: Item, sources: SourceList) -> Source:
    graph = release[Graph]
    nodes = [node for iri in item.iris[:ENTITIES] if (node := graph.node(iri)) is not None]
    of = nodes[0] if item.of_entity and nodes else None
    return Source(
        0,
        graph.iri(of) if of is not None else "",
        plain(item.label),
        category_name(graph, of) if of is not None else "",
        item.triples,
        sources.details.classes(of) if of is not None else (),
        shorten(" ".join(item.lines), SNIPPET),
        tuple(sources.details.named(node) for node in nodes if node != of),
        kind=item.kind,
    )


def write(
    model: Model,
    release: Release,
    reading: Reading,
    gathered: Gathered,
    history: Sequence[str],
    cited: Cited,
) -> Iterator[Token | Restart | Written]:
    """The answer from what was gathered: the text that the model wrote with it, else one that it writes now.

    Citations are renumbered in order of appearance; those of nothing that was gathered are dropped. Raises ModelError as
    ``stream_answer``.
    """
    renumberer = Renumberer(cited.cite)
    said = yield from _said(model, release, reading, gathered, history, renumberer)
    held = dict(enumerate(gathered.items, 1))
    lines = {n: [held[given].label, *held[given].lines] for given, n in cited.numbers.items()}
    far = len(gathered.items) + len(lines)  # numbers that no citation in the text has
    near = {
        far + given: [item.label, *item.lines] for given, item in held.items() if given not in cited.numbers
    }
    heads = SetLines(list(gathered.heads), ()) if gathered.heads else None
    words = release.method.sets.answers
    support = check_support(said, lines, reading, words, renumberer.dropped, heads, near=near)
    support = _with_attributed(support, cited, far)
    yield Written(said, support, (*gathered.notes, *notes_on(said, support, renumberer.dropped)))


def _said(
    model: Model,
    release: Release,
    reading: Reading,
    gathered: Gathered,
    history: Sequence[str],
    renumberer: Renumberer,
) -> Generator[Token, None, str]:
    if not gathered.text:
        return (yield from say(model, _messages(release, reading, gathered, history), renumberer, release))
    said = ""
    whole = gathered.text.encode("utf-8", "replace").decode("utf-8")
    for text in (*renumberer.feed(whole), *renumberer.end()):
        said += text
        yield Token(text)
    if not said.strip():
        raise ModelError(
            f"The model {model.name} gave an empty answer.", "Ask again, or choose another model."
        )
    return said


def _messages(
    release: Release, reading: Reading, gathered: Gathered, history: Sequence[str]
) -> list[Message]:
    """As ``messages_for``, with items in place of documents."""
    turns, prompts = release.method.context.history_turns, release.method.prompts
    blocks = [
        "\n".join([f'<source n="{n}">', *map(as_data, item.told or (item.label, *item.lines)), "</source>"])
        for n, item in enumerate(gathered.items, 1)
    ]
    if gathered.heads:
        blocks.append("\n".join(["<counts>", *map(as_data, gathered.heads), "</counts>"]))
    earlier = [f"Earlier question: {turn}" for turn in (history[-turns:] if turns else ())]
    asked = "\n".join([*earlier, f"Question: {reading.question}"])
    return [
        {"role": "system", "content": f"{prompts.answer}{getattr(prompts, reading.form.value)}"},
        {"role": "user", "content": "\n".join([*blocks, "", asked])},
    ]


def _with_attributed(support: Support, cited: Cited, far: int) -> Support:
    """What is borne out by an item that it does not cite, as if it cited it."""
    citations = {(one.start, one.end): one for one in support.citations}
    for one in support.attributed:
        n = cited.cite(one.n - far)
        assert n is not None  # the check gives numbers that it was given
        before = citations.get((one.start, one.end))
        citations[one.start, one.end] = Citation(one.start, one.end, (*(before.numbers if before else ()), n))
    return replace(support, citations=tuple(sorted(citations.values(), key=lambda one: one.start)))
