"""Steps of the group ``documents``: one document an entity by chunk, then chained, then as Markdown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from crmrag_assets.build.layers import chunks_of
from crmrag_assets.build.opened import catalogue_of, documents_of, graph_of, in_chunk, numbering_of
from crmrag_assets.build.step import BuildContext, Inputs, Stats, Step, always
from crmrag_assets.documents.build import write_documents
from crmrag_assets.documents.chunk import build_chunk
from crmrag_assets.documents.markdown import write_markdown
from crmrag_assets.documents.setting import Setting, make_setting
from crmrag_query.config import config_hash
from crmrag_query.graph.arrays import FLAG_ENTITY

_SETTINGS: dict[str, Setting] = {}
SHOWN = 5
SHOWN_CHARACTERS = 300


def setting_of(context: BuildContext) -> Setting:
    """What writing documents needs to know, worked out once for a graph and configuration."""
    chaining, languages = config_hash(context.method.chaining), ",".join(context.config.languages)
    key = f"{context.finished('graph').content} {_config(context)} {chaining} {languages}"
    if key not in _SETTINGS:
        _SETTINGS.clear()
        _SETTINGS[key] = make_setting(
            graph_of(context),
            catalogue_of(context),
            context.vocabulary.ontology,
            context.method,
            context.config.languages,
            numbering=numbering_of(context),
        )
    return _SETTINGS[key]


def _config(context: BuildContext) -> str:
    """Everything in the configuration that a document's text depends on."""
    method = context.method
    parts = ("documents", "satellites", "names", "dates", "categories", "events")
    hashes = {part: config_hash(getattr(method, part)) for part in parts}
    chosen = {"relationships": config_hash(method.relationship_sets[method.relationships])}
    return config_hash(hashes | chosen | {"ontology": context.ontology_hash})


def chunk_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    return {
        "graph": context.finished("graph").content,
        "config": _config(context),
        "languages": ",".join(context.config.languages),
        "chunks": str(len(chunks_of(context))),
        "chunk": chunk or "",
    }


def write_chunk(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    setting = setting_of(context)
    entities = np.flatnonzero(setting.graph.flags & FLAG_ENTITY).astype(np.int32)
    built = build_chunk(setting, in_chunk(context, entities, chunk or ""))
    built.save(folder, setting.numbering)
    lengths = pc.utf8_length(built.documents.column("text"))
    return {
        "documents": built.documents.num_rows,
        "matches": built.matches.num_rows,
        "lines": built.lines.num_rows,
        "characters": int(pc.sum(lengths).as_py() or 0),
    }


def documents_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    chunks = {
        f"fr_documents/{key}": context.finished("fr_documents", key).content for key in chunks_of(context)
    }
    own = {"graph": context.finished("graph").content, "config": _config(context)}
    return own | chunks | {"chaining": config_hash(context.method.chaining)}


def write_all(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    parts = [context.folder("fr_documents", key) for key in chunks_of(context)]
    counts = write_documents(setting_of(context), parts, folder, context.progress).as_dict()
    plain = {name: count for name, count in counts.items() if isinstance(count, int)}
    absorbed = [[kind, count] for kind, count in counts["absorbed"].items()]
    first = ("documents", "lines", "before_chaining")
    return {name: plain[name] for name in first} | plain | {"histograms": {"absorbed_satellites": absorbed}}


def markdown_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    return {"documents": context.finished("documents").content, "wanted": str(context.config.write_markdown)}


def write_files(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    if not context.config.write_markdown:
        return {"documents": 0}
    documents = documents_of(context)
    samples = [
        {"document": documents.label(number), "text": documents.text(number)[:SHOWN_CHARACTERS]}
        for number in range(min(SHOWN, documents.count))
    ]
    return {"documents": write_markdown(documents, folder, context.progress), "samples": {"first": samples}}


FR_DOCUMENTS = Step(
    "fr_documents", 2, chunk_inputs, write_chunk, needs=("graph",), chunked=True, apart=always
)
DOCUMENTS = Step("documents", 1, documents_inputs, write_all, needs=("graph", "fr_documents"), apart=always)
ENTITY_DOCUMENTS = Step("entity_documents", 1, markdown_inputs, write_files, needs=("documents",))
