"""Indexes of a whole data set, built in few chunks and in many."""

from __future__ import annotations

import pytest

from crmrag_query.artifacts.release import Release, open_release
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
