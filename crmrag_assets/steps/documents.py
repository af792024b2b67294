"""Steps of the group ``documents``: one document an entity by chunk, then chained, then as Markdown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from crmrag_assets.build.step import BuildContext, Inputs, Stats, Step, always, chunks_of, config_of, contents
from crmrag_assets.documents.build import write_documents, write_markdown
from crmrag_assets.documents.chunk import ChunkDocuments, build_chunk
from crmrag_assets.documents.setting import Setting
from crmrag_assets.opened import catalogue_of, documents_of, folders_of, graph_of, in_chunk, numbering_of
from crmrag_query.graph.arrays import FLAG_ENTITY

_SETTINGS: dict[str, Setting] = {}
SHOWN = 5
SHOWN_CHARACTERS = 300


# What a document's text depends on.
PARTS = (
    "documents", "satellites", "names", "dates", "categories", "events", "weights", "relationships", "ontology",
)  # fmt: skip


def _key(context: BuildContext) -> str:
    languages = ",".join(context.config.languages)
    return f"{context.finished('graph').content} {config_of(context, *PARTS, 'chaining')} {languages}"


def setting_of(context: BuildContext) -> Setting:
    """What writing documents needs to know, worked out once for a graph and configuration."""
    key = _key(context)
    if key not in _SETTINGS:
        _SETTINGS.clear()
        _SETTINGS[key] = Setting(
            graph_of(context),
            catalogue_of(context),
            context.vocabulary.ontology,
            context.method,
            context.config.languages,
            numbering_of(context),
        )
    return _SETTINGS[key]


def forget_setting() -> None:
    """Let go of what writing documents needed to know: the names of all nodes, and more of each triple."""
    _SETTINGS.clear()
    _BUILT.clear()


def chunk_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    own = {"languages": ",".join(context.config.languages), "chunks": str(len(chunks_of(context)))}
    return contents(context, "graph") | own


TOGETHER = 1 << 15  # entities that are looked at at once: a few hundred take nearly as long as ten thousand
_BUILT: dict[tuple[str, str], ChunkDocuments] = {}
"""Chunks that were made with another one, by the setting's key and theirs, until they are written."""


def chunks_together(context: BuildContext) -> int:
    """How many chunks have ``TOGETHER`` entities."""
    entities = np.count_nonzero(graph_of(context).flags & FLAG_ENTITY)
    return max(1, TOGETHER * len(chunks_of(context)) // max(1, int(entities)))


def _built(context: BuildContext, chunk: str) -> ChunkDocuments:
    """The documents of a chunk; made with those of all chunks that this process makes after it."""
    own = (_key(context), chunk)
    if own not in _BUILT:
        setting, turn = setting_of(context), context.turn if chunk in context.turn else (chunk,)
        entities = np.flatnonzero(setting.graph.flags & FLAG_ENTITY).astype(np.int32)
        held = {}
        for key in turn[turn.index(chunk) :]:
            held[key] = np.zeros(setting.graph.nodes, bool)
            held[key][in_chunk(context, entities, key)] = True
        built = build_chunk(setting, np.flatnonzero(np.logical_or.reduce([*held.values()])).astype(np.int32))
        _BUILT.clear()
        _BUILT.update({(own[0], key): built.of(mask) for key, mask in held.items()})
    return _BUILT.pop(own)


def write_chunk(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """One document an entity: header, types, literals, satellites, Fundamental Relationships, direct predicates.

    Paths of any length are walked over the whole graph, whatever the chunk. Read by `documents`, and by
    `aggregation_index`, which counts the matches.
    """
    built = _built(context, chunk or "")
    built.save(folder, setting_of(context).numbering)
    lengths = pc.utf8_length(built.documents.column("text"))
    return {
        "documents": built.documents.num_rows,
        "matches": built.matches.num_rows,
        "lines": built.lines.num_rows,
        "characters": int(pc.sum(lengths).as_py() or 0),
    }


def whole_of(context: BuildContext) -> tuple[str, ...]:
    return tuple(text for source in context.config.sources for text in source.config.whole())


def documents_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    whole = whole_of(context)
    return contents(context, "graph", "fr_documents") | ({"whole": " ".join(whole)} if whole else {})


def write_all(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """The documents after satellites are folded in and thin documents are chained: what is embedded and shown.

    Read by `embeddings` and `bm25_index`, and at question time for the context of an answer.
    """
    parts = folders_of(context, "fr_documents")
    counts = write_documents(setting_of(context), parts, folder, context.progress, whole_of(context))
    absorbed = [[kind, count] for kind, count in counts.pop("absorbed").items()]
    return counts | {"histograms": {"absorbed_satellites": absorbed}}


FEW = 50_000  # documents, up to which each becomes a file unless told otherwise: half a million files take minutes


def write_files(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """The documents as Markdown files, one for each.

    For people who want to see what is said of an entity; nothing else reads them. `write_markdown: false` leaves them out;
    more than 50,000 are written with `write_markdown: true` alone.
    """
    documents, wanted = documents_of(context), context.config.write_markdown
    if wanted is False or (wanted is None and documents.count > FEW):
        return {"documents": 0}
    samples = [
        {"document": documents.label(number), "text": documents.text(number)[:SHOWN_CHARACTERS]}
        for number in range(min(SHOWN, documents.count))
    ]
    return {"documents": write_markdown(documents, folder, context.progress), "samples": {"first": samples}}


FR_DOCUMENTS = Step(
    "fr_documents", 4, write_chunk, needs=("graph",), parts=PARTS, inputs=chunk_inputs, chunked=True, apart=always,
    together=chunks_together,
)  # fmt: skip
DOCUMENTS = Step(
    "documents", 2, write_all, needs=("graph", "fr_documents"), parts=(*PARTS, "chaining"), apart=always,
    inputs=documents_inputs,
)  # fmt: skip
ENTITY_DOCUMENTS = Step(
    "entity_documents", 1, write_files, needs=("documents",),
    inputs=lambda one, _: contents(one, "documents") | {"wanted": str(one.config.write_markdown)},
)  # fmt: skip
STEPS = (FR_DOCUMENTS, DOCUMENTS, ENTITY_DOCUMENTS)
