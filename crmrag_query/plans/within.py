"""Asking within a part of the data: the members of a plan, or of a short form of one, and the documents that they have.

A question of a release with pages may say itself where its answer is to be from: "according to the catalogue", "leaving out
what a machine read". The words for that are those of the section `sources` of a language's file; documents are known by their
titles and formats.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, ValidationError, model_validator

from crmrag_query.artifacts.release import Release
from crmrag_query.config.sources import file_of_graph, graph_of_file
from crmrag_query.documents.documents import Documents
from crmrag_query.documents.pages import PAGE_CLASS, Pages, read_graph
from crmrag_query.errors import QuestionError
from crmrag_query.graph.graph import Graph
from crmrag_query.language import Language, Phrases, language
from crmrag_query.plans.execute import SECONDS, members_of
from crmrag_query.plans.records import (
    MOST_VALUES,
    Among,
    Anchor,
    CategoryName,
    Constraint,
    Either,
    Iri,
    Member,
    Part,
    Plan,
    ReadFromPage,
    Related,
    StatedIn,
    Target,
    Way,
    check_size,
)
from crmrag_query.plans.world import World
from crmrag_query.questions.form import read_question
from crmrag_query.questions.lexicon import Chunk, chunks_of
from crmrag_query.text import tokenize
from crmrag_query.timing import working

FileName = Annotated[str, Field(min_length=1, max_length=1000)]
Iris = Annotated[tuple[Iri, ...], Field(max_length=MOST_VALUES)]
FILES = 20  # known ones that an error names
BY_FILE = "List the source with `by_file: true` in datasets.yaml and build again: docs/data.md."
Mask = npt.NDArray[np.bool_]


class Within(Part):
    """What a question is asked of: entities of any of ``categories``, of any of ``classes``, of any of ``types``, that any of
    the named ``graphs`` or source ``files`` states something of, that are any of ``iris``, that are members of ``plan``, that
    a machine did (True) or did not (False) ``read`` from pages: all that is given holds.
    """

    categories: tuple[CategoryName, ...] = ()
    classes: tuple[str, ...] = ()
    types: Iris = ()
    graphs: Iris = ()
    files: Annotated[tuple[FileName, ...], Field(max_length=MOST_VALUES)] = ()
    iris: Iris = ()
    plan: Plan | None = None
    read: bool | None = None

    @model_validator(mode="after")
    def _some(self) -> Self:
        if self == Within.model_construct():
            raise ValueError(
                "it says nothing: give categories, classes, types, graphs, files, iris, a plan or read"
            )
        return self

    def as_plan(self) -> Plan:
        """The plan whose members these are."""
        where: list[Constraint] = []
        for graphs in (self.graphs, tuple(map(graph_of_file, self.files))):
            if graphs:
                where.append(StatedIn(graphs=graphs))
        if self.iris:
            where.append(Among(iris=self.iris))
        if self.read is not None:
            where.append(ReadFromPage(negated=not self.read))
        target = Target(categories=self.categories, classes=self.classes, types=self.types)
        if self.plan is not None:
            if target == Target() and not where:
                return self.plan
            where.append(Member(plan=self.plan))
        return Plan(target=target, where=tuple(where))


def read_within(given: Mapping[str, Any]) -> Plan | None:
    """The plan of what a request says; None where it says nothing. Raises QuestionError for a mistake in it."""
    if not given:
        return None
    try:
        plan = Within.model_validate(dict(given)).as_plan()
        check_size(plan)
    except RecursionError:
        raise QuestionError(
            "What the question is asked within holds too many plans.", "Give one plan."
        ) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise QuestionError(
            f"The question's within{f'.{where}' if where else ''}: {first['msg'].removeprefix('Value error, ')}.",
            "Give any of categories, classes, types, graphs, files, iris, plan and read: docs/modes.md.",
        ) from None
    return plan


@dataclass(frozen=True, eq=False)
class Scope:
    """The part of a release that a question is asked of: how many ``members`` its ``plan`` has, and their own ``documents``,
    bool [documents].

    Not those that tell of a member among others: what they tell of the others is of another part, perhaps another graph.
    """

    plan: Plan
    members: int
    documents: Mask

    @classmethod
    def of(cls, release: Release, plan: Plan) -> Scope:
        """Raises QuestionError for a plan that cannot be executed, and for a file that no triple is known to stand in."""
        world = release[World]
        stated = (one for one in plan.where if isinstance(one, StatedIn))
        known = {file for names in release[Graph].graph_sets for one in names if (file := file_of_graph(one))}
        for file in (file_of_graph(graph) for one in stated for graph in one.graphs):
            if file and file not in known:
                told = f"It has: {', '.join(sorted(known)[:FILES])}." if known else BY_FILE
                raise QuestionError(
                    f"No triple of the release is known to stand in a file {file!r:.80}.", told
                )
        with working(SECONDS, "The plan that is asked within", "Give one with fewer or shorter conditions."):
            nodes = members_of(world, plan)
        return cls(plan, len(nodes), world.mask(nodes)[release[Documents].entities])

    def restrict(self, plan: Plan) -> Plan:
        """A plan whose members, and those of what it is compared with, are of this part besides."""
        compute = plan.compute.model_copy(update={"others": tuple(map(self.restrict, plan.compute.others))})
        return plan.model_copy(update={"where": (*plan.where, Member(plan=self.plan)), "compute": compute})


ROLES: Final = ("only", "without", "documents", "curated")
COMMA: Final = ",;:–—"


@dataclass(frozen=True, slots=True)
class According:
    """``question``: the rest of it; ``plan``: of what it is asked within; ``titles``: of the documents that are meant, none
    for all that has pages; ``left_out``: these are not asked."""

    question: str
    plan: Plan
    titles: tuple[str, ...] = ()
    left_out: bool = False


class _Said(NamedTuple):
    """Tokens of a question that say it, and the documents that are meant by IRI, none for all."""

    first: int
    last: int
    documents: tuple[str, ...] = ()
    left_out: bool = False


def according(release: Release, question: str) -> According | None:
    """What a question says of where its answer is to be from; None where it says nothing of it, or nothing else."""
    pages = release[Pages]
    if not pages.by_iri:
        return None
    spoken = language(read_question(question, release.method.questions, release.manifest.languages).language)
    chunks = chunks_of(question)
    whole = {chunk.first for chunk in chunks} | {chunk.last for chunk in chunks}
    found = (one for one in _said(tokenize(question), spoken, pages) if {one.first, one.last} <= whole)
    said = next(found, None)
    rest = _without(chunks, said) if said is not None else ""
    if said is None or not tokenize(rest):
        return None
    titles = {row["iri"]: row["title"] for row in pages.documents.values()}
    meant = tuple(titles[one] for one in said.documents)
    return According(rest, _plan(said.documents, said.left_out), meant, said.left_out)


def _said(words: list[str], spoken: Language, pages: Pages) -> Iterator[_Said]:
    """Where tokens say it, the first and longest first."""
    phrases = _phrases(spoken.code)
    rows = [row for row in pages.documents.values() if not row["refused"]]
    named = {row["iri"]: {*tokenize(row["title"]), row["format"].lower()} for row in rows}
    stems = {iri: set(map(spoken.stem, title)) for iri, title in named.items()}
    for first in range(len(words)):
        for length, roles in sorted(phrases.at(words, first), key=lambda one: -one[0]):
            if "curated" in roles:
                yield _Said(first, first + length, left_out=True)
            if not roles & {"only", "without"}:
                continue
            at = begin = first + length
            while at < len(words) and words[at] in spoken.stop:
                at += 1
            # "by document" counts, "by the document" names one
            definite = at > begin or tuple(words[first:begin]) not in _counting(spoken.code)
            left_out = "only" not in roles
            for last in range(len(words), at, -1):  # the longest
                general = definite and any(
                    "documents" in roles and start + length == last
                    for start in range(begin, at + 1)
                    for length, roles in phrases.at(words, start)
                )
                # "The scans" are all, whatever one is called; "the scan" is what is called so, where there is one.
                own = {word for word in words[at:last] if word not in spoken.stop}
                said, titles = (own, named) if general else (set(map(spoken.stem, own)), stems)
                documents = tuple(iri for iri, title in titles.items() if said and said <= title)
                if words[last - 1] in spoken.stop or not (definite or len(said) > 1):
                    documents = ()
                if documents or general:
                    yield _Said(first, last, documents, left_out)
                    break


def _plan(documents: tuple[str, ...], left_out: bool) -> Plan:
    """Documents, their pages and what was read from them; for none all pages and all that was read. What is left out of all
    is what was read alone: nobody read the text layers."""
    if not documents and left_out:
        return Plan(where=(ReadFromPage(negated=True),))
    if not documents:
        any_page = Member(plan=Plan(target=Target(classes=(PAGE_CLASS,))))
        return Plan(where=(Either(of=(ReadFromPage(), any_page)),))
    pages = Related(way=Way(paths=(("P106i*",),)), to=Anchor(iris=documents))  # and the documents themselves
    stated = StatedIn(graphs=tuple(map(read_graph, documents)))
    return Plan(where=(Either(of=(stated, pages), negated=left_out),))


def _without(chunks: tuple[Chunk, ...], said: _Said) -> str:
    """The question without these tokens, and without the commas that set them apart."""
    before = [one.text for one in chunks if one.last <= said.first]
    after = [one.text for one in chunks if one.first >= said.last]
    end = next((one.text[-1] for one in reversed(chunks) if one.last == said.last), "")
    before = [one for one in before if one.strip(COMMA)]
    if before:
        before[-1] = before[-1].rstrip(COMMA)
    text = " ".join((*before, *after))
    return text + end if before and not after and end in "?;.!" else text


@cache
def _phrases(code: str) -> Phrases:
    found = Phrases()
    for role in ROLES:
        for phrase in language(code).raw.get("sources", {}).get(role, ()):
            found.add(phrase, role)
    return found


@cache
def _counting(code: str) -> frozenset[tuple[str, ...]]:
    """What stands before what is counted by as well."""
    return frozenset(tuple(tokenize(phrase)) for phrase in language(code).roles["operators.per"])
