"""The tools: what a language model may ask a client of data sets, read-only.

The docstring of a tool is what a model reads of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from mcp.types import CallToolResult, TextContent
from pydantic import Field

from crmrag_query.client.asynchronous import AsyncClient
from crmrag_query.client.codec import to_plain
from crmrag_query.config.service import McpConfig
from crmrag_query.errors import QuestionError
from crmrag_query.mcp import bounds, texts, views
from crmrag_query.mcp.records import (
    AnswerView,
    DatasetsView,
    EntityView,
    FacetsView,
    Narrow,
    NeighboursView,
    SearchView,
    SetView,
    SparqlView,
)
from crmrag_query.sets.records import Sort

Dataset = Annotated[str, Field(description="Name of the data set; may be left out where there is only one.")]
Iri = Annotated[str, Field(description="IRI of an entity, from another result.")]
Question = Annotated[str, Field(description="A question in plain words, in any language of the data set.")]
Plan = Annotated[
    dict[str, Any] | None,
    Field(description="A plan from another result, in place of the question; as it is, or changed."),
]
Language = Annotated[str, Field(description="Language tag for labels, such as en; may be left out.")]
View = TypeVar("View")


def result(view: object, text: str) -> CallToolResult:
    """A view with its text."""
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=to_plain(view))


@dataclass(frozen=True)
class Tools:
    """The tools over one client, their results bounded as configured."""

    client: AsyncClient
    config: McpConfig

    async def list_datasets(self) -> Annotated[CallToolResult, DatasetsView]:
        """List the data sets that can be asked: cultural-heritage knowledge graphs (CIDOC-CRM), with their size, languages,
        licence and example questions. Begin here where you do not know what there is."""
        view = views.datasets_view(await self.client.datasets())
        return result(view, texts.datasets_text(view))

    async def ask(
        self,
        question: Question,
        dataset: Dataset = "",
        earlier: Annotated[
            list[str],
            Field(
                description="Earlier questions of the conversation, oldest first, for one that refers to them."
            ),
        ] = [],  # noqa: B006 - the schema shows it; it is never changed
    ) -> Annotated[CallToolResult, AnswerView]:
        """Answer a question from a data set, with numbered sources down to the triple. Every statement cites its sources as
        [n]; say so when you pass it on. It says honestly what the data does not tell. For whole lists and counts the answer
        comes with an exact set: page through it with answer_set."""  # fmt: skip
        answer = await self.client.ask(question, earlier[-bounds.EARLIER :], dataset or None)
        view = views.answer_view(answer, self.config)
        return result(view, texts.answer_text(view))

    async def answer_set(
        self,
        question: Question = "",
        plan: Plan = None,
        dataset: Dataset = "",
        offset: bounds.Offset = 0,
        limit: bounds.Page = 20,
        sort: Annotated[Sort, Field(description="Order of members; empty for the plan's own.")] = "",
        descending: bool = False,
        narrow: Annotated[list[Narrow], Field(description="Values of facets that members must have.")] = [],  # noqa: B006
        left_out: Annotated[
            str,
            Field(description="A reason of left_out, to list what is left out for it in place of the set."),
        ] = "",
        with_sparql: Annotated[bool, Field(description="With the SPARQL query that gives the same.")] = False,
        language: Language = "",
    ) -> Annotated[CallToolResult, SetView]:
        """List the exact set that a question or plan asks for: all members, counted, page by page, each with the triples that
        put it there. Complete within the data: nothing is estimated. Use it for questions like how many, which, list all,
        compare, rank. The result's plan goes on: to the next page (offset), to facets, or changed."""
        asked, found = await self._plan(question, plan, dataset, language)
        for one in narrow:
            asked = await self._narrowed(asked, one, dataset, language)
        if left_out:
            page = await self.client.excluded(
                asked, left_out, offset, limit, sort, descending, language, dataset or None
            )
        else:
            page = await self.client.set(asked, offset, limit, sort, descending, language, dataset or None)
        view = views.set_view(page, found, with_sparql)
        return result(view, texts.set_text(view))

    async def facets(
        self,
        question: Question = "",
        plan: Plan = None,
        dataset: Dataset = "",
        keys: Annotated[
            list[str], Field(description="Facets to count, by key; none for those that say most.")
        ] = [],  # noqa: B006
        language: Language = "",
    ) -> Annotated[CallToolResult, FacetsView]:
        """Count the members of a set by type, class, place, maker, century and relationship: what is in it, and what to
        narrow it by (answer_set with narrow)."""
        asked, _ = await self._plan(question, plan, dataset, language)
        found = await self.client.facets(asked, keys, language, dataset or None)
        view = views.facets_view(found, bool(keys))
        return result(view, texts.facets_text(view))

    async def search_entities(
        self,
        text: Annotated[str, Field(description="A name, or the beginning of one.")],
        dataset: Dataset = "",
        limit: bounds.Few = 10,
    ) -> Annotated[CallToolResult, SearchView]:
        """Find entities (things, people, places, events, concepts) by name, also misspelt or in another language. Gives their
        IRIs, which get_entity, neighbours and sparql need."""
        view = views.search_view(await self.client.search(text, limit, dataset or None))
        return result(view, texts.search_text(view))

    async def get_entity(
        self, iri: Iri, dataset: Dataset = "", language: Language = ""
    ) -> Annotated[CallToolResult, EntityView]:
        """Tell what is known of an entity: names, classes, dates, where its relationships lead with true counts, images,
        links to the same thing elsewhere, and the document that holds its facts."""
        found = await self.client.entity(iri, language, dataset or None)
        view = views.entity_view(found, self.config)
        return result(view, texts.entity_text(view))

    async def neighbours(
        self,
        iri: Iri,
        dataset: Dataset = "",
        offset: bounds.Offset = 0,
        limit: bounds.Page = 25,
        language: Language = "",
    ) -> Annotated[CallToolResult, NeighboursView]:
        """List the triples that join an entity with others, both ways, page by page: the data itself."""
        view = views.neighbours_view(
            await self.client.neighbours(iri, limit, offset, language, dataset or None)
        )
        return result(view, texts.neighbours_text(view))

    async def sparql(
        self,
        query: Annotated[
            str, Field(description="SPARQL 1.1: SELECT, ASK, CONSTRUCT or DESCRIBE, prefixes declared.")
        ],
        dataset: Dataset = "",
        limit: bounds.Rows = 50,
    ) -> Annotated[CallToolResult, SparqlView]:
        """Run a read-only SPARQL query on a data set, for what no other tool tells. The data is CIDOC-CRM: take classes,
        properties and IRIs from neighbours or from answer_set with_sparql, do not guess them. All named graphs are asked
        together. Numbers and dates come in canonical form."""
        view = views.sparql_view(await self.client.sparql(query, limit, dataset or None), self.config)
        return result(view, texts.sparql_text(view))

    async def _plan(
        self, question: str, plan: Mapping[str, Any] | None, dataset: str, language: str
    ) -> tuple[dict[str, Any], views.Understood]:
        """The plan given, or that of the question, and how much of the question it says."""
        if plan:
            return dict(plan), views.Understood()
        if not question.strip():
            raise QuestionError("There is neither a question nor a plan.", "Give one of them.")
        found = await self.client.plan(question, (), dataset or None)
        if found.plan is None:
            raise QuestionError(
                "The question asks for no set that could be told exactly.",
                "Put it as a list or a count of one kind of thing, or use ask.",
            )
        return found.plan, views.Understood(found.exhaustive, found.unknown)

    async def _narrowed(
        self, plan: dict[str, Any], by: Narrow, dataset: str, language: str
    ) -> dict[str, Any]:
        """The plan whose members also have a value of a facet."""
        found = await self.client.facets(plan, [by.facet], language, dataset or None)
        values = [value for facet in found.facets if facet.key == by.facet for value in facet.values]
        for value in values:
            if by.value in (value.iri, value.label):
                return value.plan
        first = ", ".join(views.line(value.label) for value in values[: bounds.VALUES])
        raise QuestionError(
            f"The facet {by.facet!r} has no value {by.value!r} here.",
            f"There are: {first}." if first else "Ask facets which there are.",
        )
