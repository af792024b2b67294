"""Where a question says that its answer is to be from: "according to the catalogue", "leaving out what a machine read".

Only of a release with pages. Words are those of the section `sources` of a language's file; documents are known by their
titles and formats.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from crmrag_query.artifacts.release import Release
from crmrag_query.documents.pages import PAGE_CLASS, Pages, read_graph
from crmrag_query.language import Language, Phrases, language
from crmrag_query.plans.records import (
    Anchor,
    Either,
    Member,
    Plan,
    ReadFromPage,
    Related,
    StatedIn,
    Target,
    Way,
)
from crmrag_query.questions.form import read_question
from crmrag_query.questions.words import Chunk, chunks_of
from crmrag_query.text import tokenize

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
