"""Small releases, and ways to ask for a context with other limits."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.context import assemble
from crmrag_query.context.context import Context
from crmrag_query.documents.documents import Documents, Line
from crmrag_query.graph.graph import Graph
from crmrag_query.linking import LinkedEntity, Mention
from crmrag_query.questions.form import Analysis, Form, read_question
from crmrag_query.retrieval.scores import Candidate
from tests.support.builds import build_all, make_project
from tests.support.shared import sample_release

BASE = "http://example.org/"
PREFIXES = f"""@prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> . @prefix : <{BASE}> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def built(folder: Path, source: str) -> Release:
    """A release of Turtle text; the prefixes above may be used."""
    project = make_project(folder / "project", PREFIXES + source, write_markdown=False)
    build_all(project.context())
    return open_release(project.dataset, project.data)


@contextmanager
def fixed(**constants: Any) -> Iterator[None]:
    """Other constants of contexts than those of the program."""
    with patch.multiple(assemble, **constants):
        yield


def limited(release: Release, **context: Any) -> Release:
    """The release with other limits of its context."""
    method = release.method
    changed = method.context.model_copy(update=context)
    other = Release(release.folder, release.manifest)
    other.__dict__.update(release.__dict__)
    other.__dict__["method"] = method.model_copy(update={"context": changed})
    return other


def node_of(release: Release, name: str) -> int:
    node = release[Graph].node(BASE + name)
    assert node is not None
    return node


def candidates_of(release: Release, *names: str) -> list[Candidate]:
    """The documents of these entities in this order."""
    documents = [release[Documents].document_of(node_of(release, name)) for name in names]
    return [Candidate(document, 1.0) for document in documents if document is not None]


def analysis_of(
    release: Release,
    question: str = "Which churches are there?",
    form: Form = Form.ENUMERATION,
    mentioned: Sequence[int] = (),
    targets: int = 0,
) -> Analysis:
    reading = replace(read_question(question, release.method.questions), form=form)
    mentions = tuple(Mention(0, 1, "x", (LinkedEntity(node, 1.0, "x", "label"),)) for node in mentioned)
    return Analysis(reading, targets=targets, mentions=mentions)


@dataclass(frozen=True)
class Scored:
    """A line as it bears on a question."""

    line: Line
    score: float


def scored(release: Release, candidates: Sequence[Candidate], *keys: str) -> list[Scored]:
    """The candidates' lines with these keys, the first key best; among equals the first candidate."""
    found = [
        Scored(line, 1 / (1 + keys.index(line.key)))
        for candidate in candidates
        for line in release[Documents].lines(candidate.document)
        if line.key in keys
    ]
    return sorted(found, key=lambda one: -one.score)


Block = tuple[str, int, list[str]]
_OPEN = re.compile(r'<(?:(source) n="(\d+)"|(wikidata) source="(\d+)"|(counts))>')
_THIN = re.compile(r"(<[^>]*>)([^<>]*)</(source|wikidata|counts)>")


def parse(text: str) -> list[Block]:
    """Blocks (tag, number, lines) of a rendered context, read as strictly as a reader could."""
    blocks: list[Block] = []
    inside = ""
    for row in text.split("\n") if text else []:
        if inside:
            if row == f"</{inside}>":
                inside = ""
                continue
            assert "<" not in row and ">" not in row
            blocks[-1][2].append(html.unescape(row))
        else:
            thin = _THIN.fullmatch(row)
            match = _OPEN.fullmatch(thin[1] if thin else row)
            assert match, row
            inside = match[1] or match[3] or match[5]
            blocks.append((inside, int(match[2] or match[4] or 0), []))
            if thin:
                assert thin[3] == inside
                blocks[-1][2].append(html.unescape(thin[2]))
                inside = ""
    assert not inside
    return blocks


def blocks_of(context: Context) -> list[Block]:
    """What parsing must give back: of a thin record one line."""
    blocks = [("source", source.n, [line.text for line in source.lines]) for source in context.sources]
    for n in dict.fromkeys(line.n for line in context.wikidata):
        blocks.append(("wikidata", n, [line.text for line in context.wikidata if line.n == n]))
    blocks += [("counts", 0, [line.text for line in context.counts])] if context.counts else []
    return [(tag, n, ["; ".join(texts)] if is_thin(texts) else texts) for tag, n, texts in blocks]


def is_thin(texts: Sequence[str]) -> bool:
    """Whether a record is so short that it is one line: at most three short lines."""
    return len(texts) <= 3 and sum(len(html.escape(text, quote=False)) for text in texts) <= 200


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return sample_release(tmp_path_factory)
