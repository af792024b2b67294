"""Documents from a few lines of Turtle: the whole way from triples to an opened artifact."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from crmrag_assets.documents.build import write_documents
from crmrag_assets.documents.chunk import ChunkDocuments, build_chunk
from crmrag_assets.documents.portable import Numbering
from crmrag_assets.documents.setting import Setting
from crmrag_query.config import Method, load_method
from crmrag_query.documents.documents import Documents
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.load import Ontology, load_ontology
from crmrag_query.relationships.engine import Catalogue
from tests.support.graphs import Triples, graph_from_turtle

BASE = "http://example.org/"


@lru_cache(maxsize=1)
def method_and_ontology() -> tuple[Method, Ontology]:
    return load_method(), load_ontology()


def changed(method: Method, part: str, **values: object) -> Method:
    """The method with some values of one of its parts replaced."""
    return method.model_copy(update={part: getattr(method, part).model_copy(update=values)})


def setting_of(
    source: str | Triples | Path,
    tmp_path: Path,
    *,
    method: Method | None = None,
    languages: Sequence[str] = ("en",),
    name: str = "graph",
    catalogue: str = "fr109",
) -> Setting:
    own, ontology = method_and_ontology()
    method = method or own
    graph = graph_from_turtle(
        source, tmp_path, languages=languages, method=method, ontology=ontology, name=name
    )
    relationships, numbering = Catalogue.load(method, catalogue), Numbering.of(graph.iris)
    return Setting(graph, relationships, ontology, method, tuple(languages), numbering)


def all_nodes(graph: Graph) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.arange(graph.nodes, dtype=np.int32)


def chunk_of(setting: Setting) -> ChunkDocuments:
    return build_chunk(setting, all_nodes(setting.graph))


def text_of(setting: Setting, iri: str) -> str:
    """The text of one entity's document before chaining."""
    table = chunk_of(setting).documents
    texts = dict(zip(table.column("entity").to_pylist(), table.column("text").to_pylist(), strict=True))
    node = setting.graph.node(iri if "://" in iri else BASE + iri)
    assert node is not None, f"{iri} is not in the graph"
    return str(texts[node])


def artifact(setting: Setting, folder: Path, chunks: int = 1) -> tuple[Documents, dict[str, Any]]:
    """Build all chunks and the documents artifact in ``folder``/documents."""
    parts = []
    nodes = all_nodes(setting.graph)
    for number in range(chunks):
        part = folder / f"chunk-{number}"
        part.mkdir(parents=True)
        build_chunk(setting, nodes[nodes * 7919 % chunks == number]).save(part, setting.numbering)
        parts.append(part)
    out = folder / "documents"
    out.mkdir()
    stats = write_documents(setting, parts, out)
    return Documents.open(out, setting.graph), stats
