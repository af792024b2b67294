"""The columns that the catalogue tells are those of the files, and their lineage leads to columns that there are."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from crmrag_assets.assets.columns import MADE_FROM, MEANING, TABLES, columns_of
from crmrag_assets.build.steps import STEPS
from crmrag_query.documents.schema import open_table
from crmrag_query.retrieval.embedded import open_chunk
from tests.support.builds import build_all, make_project


def test_told_columns_are_those_of_the_files(tmp_path: Path) -> None:
    context = make_project(tmp_path / "project", write_markdown=False).context()
    build_all(context)
    vectors, windows = open_chunk(context.folder("embeddings", "00"))
    found = {
        "prefetch": pq.read_schema(context.folder("prefetch", "00") / "triples.parquet").names,
        "edges": pq.read_schema(context.folder("edges") / "edges.parquet").names,
        "fr_documents": open_table(context.folder("fr_documents", "00"), "fr_documents").schema.names,
        "documents": open_table(context.folder("documents"), "documents").schema.names,
        "embeddings": [*windows.schema.names, "vector"],
    }
    assert found == {artifact: schema.names for artifact, schema in TABLES.items()}
    assert (
        pa.types.is_float32(TABLES["embeddings"].field("vector").type.value_type)
        and vectors.dtype == "float32"
    )


def test_every_column_has_a_meaning_and_comes_from_columns_of_what_the_artifact_is_made_from() -> None:
    assert {artifact: list(told) for artifact, told in MEANING.items()} == {
        artifact: schema.names for artifact, schema in TABLES.items()
    }
    for artifact, columns in MADE_FROM.items():
        assert list(columns) == TABLES[artifact].names
        for asset, name in (source for sources in columns.values() for source in sources):
            assert name in TABLES[asset].names and asset in upstream(artifact), f"{artifact}: {asset}.{name}"


def upstream(artifact: str) -> set[str]:
    """What an artifact is made from, near and far."""
    found, waiting = set[str](), [*STEPS[artifact].needs]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += STEPS[one].needs
    return found


def test_other_artifacts_have_no_columns() -> None:
    assert columns_of("faiss_index") == {}
