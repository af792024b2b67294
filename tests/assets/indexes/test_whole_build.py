"""Indexes of a whole data set, built in few chunks and in many."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from crmrag_assets.build.step import BuildContext
from crmrag_assets.steps import documents as documents_step
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.documents.documents import Documents
from crmrag_query.graph.graph import Graph
from crmrag_query.linking import NameIndex, link
from tests.support.builds import build_all, make_project, written
from tests.support.names import PLAIN, STOP

ARTIFACTS = (
    "graph", "edges", "triples_index", "documents", "entity_documents", "faiss_index", "bm25_index", "aggregation_index",
    "date_index", "name_index", "lexicon", "profile", "entity_graph",
    "communities",
)  # fmt: skip
Built = tuple[Release, dict[str, dict[str, str]]]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> list[Built]:
    """The release, and the checksums of its artifacts, of the same data in chunks of two sizes."""
    found = []
    for size in (1000, 9):
        project = make_project(tmp_path_factory.mktemp("built") / "project")
        context = project.context(size)
        build_all(context)
        made = {artifact: written(context, artifact) for artifact in ARTIFACTS}
        found.append((open_release(project.dataset, project.data), made))
    return found


@pytest.mark.parametrize("artifact", ARTIFACTS)
def test_the_same_data_give_the_same_bytes_whatever_the_chunks(built: list[Built], artifact: str) -> None:
    (_, few), (_, many) = built
    assert few[artifact] == many[artifact] != {}


def test_a_release_has_the_names_of_its_entities(built: list[Built]) -> None:
    release = built[0][0]
    (mention,) = link(release[NameIndex], "What stands in Marathasa?", STOP, PLAIN)
    assert release[Graph].iri(mention.entities[0].entity) == "http://example.org/district"


@pytest.mark.parametrize(("wanted", "few", "is_written"), [
    (None, 1000, True), (None, 1, False), (True, 1, True), (False, 1000, False),
])  # fmt: skip
def test_many_documents_become_files_only_where_that_is_asked_for(
    built: list[Built], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    wanted: bool | None, few: int, is_written: bool,
) -> None:  # fmt: skip
    documents = built[0][0][Documents]
    monkeypatch.setattr(documents_step, "FEW", few)
    monkeypatch.setattr(documents_step, "documents_of", lambda context: documents)
    context = cast(
        BuildContext, SimpleNamespace(config=SimpleNamespace(write_markdown=wanted), progress=None)
    )
    documents_step.write_files(context, tmp_path, None)
    assert len(list(tmp_path.glob("**/*.md"))) == (documents.count if is_written else 0)
