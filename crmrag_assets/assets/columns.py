"""The columns of the tabular artifacts, and which columns of others they are made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dagster as dg
import pyarrow as pa

from crmrag_assets.harvest.triples import TRIPLES
from crmrag_query.documents.schema import SCHEMAS
from crmrag_query.graph.schema import EDGE_SCHEMA
from crmrag_query.retrieval.embedded import STORED

SCHEMA, LINEAGE = "dagster/column_schema", "dagster/column_lineage"

VECTORS = pa.field("vector", pa.list_(pa.float32()))  # a row of vectors.npy beside each row of windows.arrow

TABLES: Mapping[str, pa.Schema] = {
    "prefetch": TRIPLES,
    "edges": EDGE_SCHEMA,
    "fr_documents": SCHEMAS["fr_documents"],
    "documents": SCHEMAS["documents"],
    "embeddings": STORED.append(VECTORS),
}
"""Artifact -> the columns of its table; of several tables, those of the first that a person looks for."""

MEANING: Mapping[str, Mapping[str, str]] = {
    "prefetch": {
        "s": "IRI of the subject; urn:skolem: for a blank node",
        "p": "IRI of the property, as the source has it",
        "o": "IRI or text of the object",
        "kind": "0: the object is an IRI; 1: a literal",
        "datatype": "IRI of the literal's datatype, empty for text",
        "lang": "the literal's language tag, empty for none",
        "g": "IRI of the named graph, empty for the default graph",
    },
    "edges": {
        "s": "IRI of the subject",
        "s_label": "its name, in the data set's first language that has one",
        "p": "IRI of the property",
        "p_label": "its label in the ontology",
        "o": "IRI of the object, or the literal's text",
        "o_label": "its name; of a literal its text again",
    },
    "fr_documents": {
        "entity": "number of the entity among those that the chunk lists in nodes.npy",
        "text": "what it states, before satellites and thin documents are joined",
    },
    "documents": {
        "entity": "number of the entity in the graph",
        "category": "bit of its Fundamental Category, 0 for none",
        "categories": "bits of all its categories",
        "label": "its name",
        "text": "the final text: what is embedded, searched and shown",
    },
    "embeddings": {
        "place": "place of the document among those of the chunk, by IRI",
        "window": "number of the window in the document",
        "text_hash": "SHA-256 of the window's text: the key of the cache",
        "vector": "of length 1 (vectors.npy, in the same order)",
    },
}

MADE_FROM: Mapping[str, Mapping[str, tuple[tuple[str, str], ...]]] = {
    "edges": {
        "s": (("prefetch", "s"),),
        "s_label": (("prefetch", "s"), ("prefetch", "o"), ("prefetch", "lang")),
        "p": (("prefetch", "p"),),
        "p_label": (("prefetch", "p"),),
        "o": (("prefetch", "o"),),
        "o_label": (("prefetch", "o"), ("prefetch", "lang")),
    },
    "fr_documents": {
        "entity": (("prefetch", "s"),),
        "text": tuple(("prefetch", name) for name in ("s", "p", "o", "datatype", "lang")),
    },
    "documents": {
        "entity": (("fr_documents", "entity"),),
        "category": (("prefetch", "o"),),
        "categories": (("prefetch", "o"),),
        "label": (("prefetch", "s"), ("prefetch", "o"), ("prefetch", "lang")),
        "text": (("fr_documents", "text"),),
    },
    "embeddings": {
        "place": (("documents", "entity"),),
        "window": (("documents", "text"),),
        "text_hash": (("documents", "text"),),
        "vector": (("documents", "text"),),
    },
}
"""Artifact -> column -> (artifact, column): where its values come from, over the arrays of the graph."""


def columns_of(artifact: str) -> dict[str, Any]:
    """Metadata of an artifact that is a table: its columns and their lineage; empty of any other."""
    if artifact not in TABLES:
        return {}
    columns = [
        dg.TableColumn(field.name, _kind(field.type), MEANING[artifact][field.name])
        for field in TABLES[artifact]
    ]
    found: dict[str, Any] = {SCHEMA: dg.TableSchema(columns)}
    if artifact in MADE_FROM:
        found[LINEAGE] = dg.TableColumnLineage(
            {
                column: [dg.TableColumnDep(dg.AssetKey(asset), name) for asset, name in sources]
                for column, sources in MADE_FROM[artifact].items()
            }
        )
    return found


def _kind(kind: pa.DataType) -> str:
    """The type as a person knows it: of a dictionary, that of its words."""
    return _kind(kind.value_type) if pa.types.is_dictionary(kind) else str(kind).replace("large_", "")
