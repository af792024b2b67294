"""Releases of other versions: read, or refused with the command that helps."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import ipc

from crmrag_query.artifacts.files import Part
from crmrag_query.artifacts.manifest import read_manifest
from crmrag_query.artifacts.release import open_release
from crmrag_query.documents.documents import Documents
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.errors import ReleaseError
from crmrag_query.graph.graph import Graph
from crmrag_query.linking import NameIndex
from crmrag_query.plans.kinds import Kinds
from crmrag_query.plans.profile import Profile
from crmrag_query.retrieval.aggregation import Aggregation, DateIndex
from crmrag_query.retrieval.communities import Communities
from crmrag_query.retrieval.dense import DenseIndex
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.sparse import SparseIndex
from crmrag_query.retrieval.token_vectors import TokenVectors
from tests.support.spoiling import Spoil, edit_json

REBUILD, UPGRADE = "crmrag build churches", "pip install --upgrade crmrag"
WITH_SCHEMA: dict[type[Part], str] = {
    Graph: "graph/meta.json",
    DenseIndex: "dense/dense.json",
    SparseIndex: "sparse/sparse.json",
    Aggregation: "aggregation/aggregation_index.json",
    DateIndex: "dates/dates.json",
    NameIndex: "names/names.json",
    Kinds: "lexicon/lexicon.json",
    Profile: "profile/profile.json",
    Communities: "communities/communities.json",
    TokenVectors: "token_vectors/token_vectors.json",
    EntityGraph: "entity_graph/entity_graph.json",
    QueryEncoder: "encoder/encoder.json",
}
"""Parts of a release -> the file that tells their schema."""

Rewritten = Callable[[Path, Spoil], Path]


def versioned(path: str, schema: object) -> Spoil:
    return edit_json(path, lambda value: value.update(schema=schema))


@pytest.mark.parametrize(("schema", "remedy"), [(0, REBUILD), ("x", REBUILD), (999, UPGRADE)])
@pytest.mark.parametrize("part", WITH_SCHEMA, ids=lambda part: part.__name__)
def test_an_artifact_of_another_schema_is_refused_with_what_to_do(
    flat: Path, rewritten: Rewritten, part: type[Part], schema: object, remedy: str
) -> None:
    release = open_release(rewritten(flat, versioned(WITH_SCHEMA[part], schema)))
    with pytest.raises(ReleaseError, match=remedy) as refused:
        release[part]
    assert f"version {schema}" in str(refused.value)


@pytest.mark.parametrize(("schema", "remedy"), [(0, REBUILD), (-1, REBUILD), (999, UPGRADE)])
def test_a_manifest_of_another_schema_is_refused_with_what_to_do(
    flat: Path, tmp_path: Path, schema: int, remedy: str
) -> None:
    (tmp_path / "manifest.json").write_bytes((flat / "manifest.json").read_bytes())
    versioned("manifest.json", schema)(tmp_path)
    with pytest.raises(ReleaseError, match=remedy):
        read_manifest(tmp_path)


def test_columns_of_another_version_are_refused_with_the_command_that_rebuilds(
    flat: Path, rewritten: Rewritten
) -> None:
    def spoil(folder: Path) -> None:
        path = folder / "documents" / "documents.arrow"
        found = ipc.open_file(pa.BufferReader(path.read_bytes())).read_all().drop_columns(["categories"])
        with pa.OSFile(str(path), "wb") as sink, ipc.new_file(sink, found.schema) as writer:
            writer.write_table(found)

    with pytest.raises(ReleaseError, match=REBUILD):
        _ = open_release(rewritten(flat, spoil))[Documents]


def test_a_method_with_settings_that_are_no_more_is_read(flat: Path, rewritten: Rewritten) -> None:
    def older(method: dict[str, Any]) -> None:
        method |= {"linking": {"least": 0.1}, "retrieval": method["retrieval"] | {"rrf_k": 60}}
        method["questions"]["conversation"] = {"turns": 3}
        del method["planner"]["seconds"]

    assert open_release(rewritten(flat, edit_json("config.json", older))).method == open_release(flat).method


def test_a_method_of_other_kinds_of_values_is_refused_with_the_command_that_rebuilds(
    flat: Path, rewritten: Rewritten
) -> None:
    spoil = edit_json("config.json", lambda method: method.update(retrieval=3))
    with pytest.raises(ReleaseError, match=REBUILD):
        _ = open_release(rewritten(flat, spoil)).method


def test_a_lexicon_that_was_pinned_and_is_not_there_is_named(flat: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(flat, copy)
    (copy / "lexicon" / "node.npy").unlink()
    with pytest.raises(ReleaseError, match=r"lexicon/node\.npy"):
        open_release(copy)[Kinds]


def test_a_release_of_older_writers_whose_schemas_are_known_is_read(flat: Path, rewritten: Rewritten) -> None:
    def older(manifest: dict[str, dict[str, int]]) -> None:
        manifest["versions"] = dict.fromkeys(manifest["versions"], 0)

    release = open_release(rewritten(flat, edit_json("manifest.json", older)))
    release.verify()
    assert release[Documents].count == open_release(flat)[Documents].count
    one, other = (found[SparseIndex].search("painter", 3) for found in (release, open_release(flat)))
    assert list(one) == list(other)
