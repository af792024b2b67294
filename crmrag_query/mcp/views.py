"""Results of the client in the bounds that a language model can take in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from crmrag_query.answers.records import Source, SourceTriple
from crmrag_query.cli.printable import printable
from crmrag_query.client.records import Answer, Dataset, Datasets, Entity, Found, Neighbours
from crmrag_query.client.sets import AnswerSet, Facets
from crmrag_query.config.service import McpConfig
from crmrag_query.mcp import bounds
from crmrag_query.mcp.records import (
    AnswerView,
    DatasetsView,
    DatasetView,
    EntityView,
    FacetsView,
    FacetView,
    FoundView,
    LeftOut,
    MemberView,
    Named,
    NeighboursView,
    RelationshipView,
    SearchView,
    SetFound,
    SetView,
    SourceView,
    SparqlView,
    TripleView,
    UnavailableView,
    ValueView,
)
from crmrag_query.sets import records as sets
from crmrag_query.sparql.records import SparqlResult


def line(text: str, most: int = bounds.LABEL) -> str:
    """A text of the data on one line: it cannot look like a line of ours."""
    return cut(" ".join(printable(text).split()), most)


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def datasets_view(found: Datasets) -> DatasetsView:
    broken = [UnavailableView(line(one.name), line(one.reason, bounds.SNIPPET)) for one in found.unavailable]
    return DatasetsView([dataset_view(one) for one in found], broken)


def dataset_view(one: Dataset) -> DatasetView:
    counts = one.counts
    return DatasetView(
        one.name, line(one.title), one.release, counts.get("entities", 0), counts.get("documents", 0),
        counts.get("triples", 0), list(one.languages), line(one.licence), line(one.attribution),
        [line(text) for text in one.examples[: bounds.EXAMPLES]],
    )  # fmt: skip


def answer_view(answer: Answer, config: McpConfig) -> AnswerView:
    cited = [source for source in answer.sources if source.cited]
    others = [source for source in answer.sources if not source.cited]
    shown = [*cited, *others][: max(config.sources, len(cited))]
    text = answer.text
    return AnswerView(
        cut(printable(text), config.answer_characters), answer.dataset, answer.release, answer.language, answer.refused,
        answer.exhaustive, [_source(source) for source in shown],
        [line(text[one.start : one.end], bounds.SNIPPET) for one in answer.unsupported],
        [line(note, bounds.SNIPPET) for note in answer.notes], _set_found(answer.set),
    )  # fmt: skip


def _source(source: Source) -> SourceView:
    return SourceView(
        source.n, source.iri, line(source.label), source.category, source.cited, line(source.snippet, bounds.SNIPPET),
        line(source.dates.text) if source.dates else "", _triples(source.triples),
    )  # fmt: skip


def _triples(triples: Iterable[SourceTriple]) -> list[str]:
    return [line(str(triple), bounds.STEP) for triple in list(triples)[: bounds.TRIPLES]]


def _set_found(found: sets.AnswerSet | None) -> SetFound | None:
    if found is None:
        return None
    return SetFound(line(found.title), found.kind, found.size, found.exhaustive, found.plan)


@dataclass(frozen=True, slots=True)
class Understood:
    """How much of a question its plan says."""

    exhaustive: bool = True
    unknown: tuple[str, ...] = ()


def set_view(found: AnswerSet, understood: Understood, sparql: bool = False) -> SetView:
    value, rows = found.value, found.value if isinstance(found.value, tuple) else ()
    return SetView(
        title=line(found.title, bounds.SNIPPET),
        kind=found.kind,
        size=found.size,
        value=None if isinstance(value, tuple) else value,
        members=[_member(one) for one in found.members],
        columns=[line(name) for name in found.columns],
        rows=[[line(cell.label) for cell in row] for row in rows],
        total=found.total,
        offset=found.offset,
        next=found.next,
        left_out=[LeftOut(one.reason, one.count, line(one.text, bounds.SNIPPET)) for one in found.excluded],
        exhaustive=understood.exhaustive,
        unknown=[line(word) for word in understood.unknown],
        plan=found.plan,
        sparql=cut(found.sparql, bounds.SPARQL) if sparql else "",
        dataset=found.dataset,
        release=found.release,
    )


def _member(one: sets.Member) -> MemberView:
    steps = [triple for reason in one.path for triple in reason.triples]
    return MemberView(one.iri, line(one.label), line(one.date), line(one.shown), _triples(steps))


def search_view(found: Found) -> SearchView:
    entities = [
        FoundView(
            one.iri, line(one.label), one.category, [line(name) for name in one.classes], line(one.name), round(one.score, 3)
        )
        for one in found.entities
    ]  # fmt: skip
    return SearchView(entities, found.dataset, found.release)


def entity_view(one: Entity, config: McpConfig) -> EntityView:
    names = [
        f"{lang or 'untagged'}: {line(text)}" for lang, texts in one.names.items() for text in texts if text
    ]
    relationships = [
        RelationshipView(
            line(group.label), group.category, group.total,
            [Named(target.iri, line(target.label)) for target in group.targets[: bounds.TARGETS]],
        )
        for group in one.relationships
    ]  # fmt: skip
    return EntityView(
        iri=one.iri,
        label=line(one.label),
        category=one.category,
        classes=[line(kind.label) for kind in one.classes],
        names=names[: bounds.NAMES],
        dates=line(one.dates.text) if one.dates else "",
        document=cut(printable(one.document), config.document_characters),
        relationships=relationships,
        images=list(one.images[: bounds.TARGETS]),
        links=[link.iri for link in one.links[: bounds.NAMES]],
        triples=one.degree,
        licence=line(one.licence),
        dataset=one.dataset,
        release=one.release,
    )


def neighbours_view(page: Neighbours) -> NeighboursView:
    triples = [
        TripleView(
            one.s, line(one.s_label), one.p, line(one.p_label), line(one.o, bounds.CELL), line(one.o_label, bounds.SNIPPET)
        )
        for one in page.triples
    ]  # fmt: skip
    return NeighboursView(
        page.iri, line(page.label), triples, page.total, page.offset, page.next, page.dataset, page.release
    )


def facets_view(found: Facets, asked: bool) -> FacetsView:
    """``asked``: all facets were asked for by key, and are given."""
    facets = [
        FacetView(
            one.key,
            line(one.label),
            one.total,
            [ValueView(line(value.label), value.iri, value.count) for value in one.values[: bounds.VALUES]],
        )
        for one in (found.facets if asked else found.facets[: bounds.FACETS])
    ]
    return FacetsView(found.size, found.complete, facets, found.plan, found.dataset, found.release)


def sparql_view(result: SparqlResult, config: McpConfig) -> SparqlView:
    rows = _rows(result, config.table_characters)
    graph = _whole_lines(result.text, config.table_characters)
    truncated = result.truncated or len(graph) < len(result.text) or len(rows) < len(result.rows)
    return SparqlView(result.form, list(result.variables), rows, result.truth, graph, truncated)


def _rows(result: SparqlResult, left: int) -> list[list[str | None]]:
    """The first rows, as many as fit into so many characters."""
    rows: list[list[str | None]] = []
    for row in result.rows:
        cells = [None if cell is None else cut(printable(cell.label), bounds.CELL) for cell in row]
        left -= sum(len(cell or "") for cell in cells)
        if left < 0:
            break
        rows.append(cells)
    return rows


def _whole_lines(text: str, most: int) -> str:
    """The first lines of a text, as many as fit into so many characters."""
    return text if len(text) <= most else text[: text.rfind("\n", 0, most) + 1]
