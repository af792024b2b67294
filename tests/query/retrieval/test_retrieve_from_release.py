"""Retrieval from a small release, from its channels to the ranking."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

from crmrag_query.artifacts.release import Release
from crmrag_query.dates import Interval, year_interval
from crmrag_query.documents.documents import Documents
from crmrag_query.graph.graph import Graph
from crmrag_query.linking import LinkedEntity, Mention
from crmrag_query.ontology.load import Category
from crmrag_query.questions.form import Form
from crmrag_query.retrieval import pipeline
from crmrag_query.retrieval.dense import DenseIndex
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.pipeline import retrieve
from crmrag_query.retrieval.release_channels import Query, ReleaseChannels
from crmrag_query.retrieval.scores import Candidate
from crmrag_query.retrieval.sparse import SparseIndex
from tests.support.builds import BASE
from tests.support.graphs import node_of
from tests.support.modes import FUSED, mode


def asked(
    release: Release,
    text: str,
    *names: str,
    targets: int = 0,
    form: Form = Form.SPECIFIC,
    period: Interval | None = None,
) -> Query:
    """A query whose mentions are the named entities, each sure."""
    mentions = [
        Mention(0, 1, name, (LinkedEntity(node_of(release[Graph], iri), 1.0, name, "label"),))
        for name in names
        for iri in [name if ":" in name else BASE + name]
    ]
    vector = release[QueryEncoder].encode([text])[0]
    return Query(text, vector, form, targets, mentions=mentions, period=period)


def found(release: Release, query: Query, *on: str, k: int | None = None) -> dict[str, Candidate]:
    """Entity's name -> candidate, in order, of all stages unless some are given."""
    with patch.object(pipeline, "KEPT_SHARE", 0.0):
        outcome = retrieve(release[ReleaseChannels], query, release.method.retrieval, mode(*(on or FUSED)), k)
    iris = [release[Graph].iri(release[Documents].entity(one)) for one in outcome.ranking]
    candidates = (*outcome.chosen, *outcome.rest)
    return {iri.removeprefix(BASE): one for iri, one in zip(iris, candidates, strict=True)}


def test_what_a_relationship_leads_to_is_found_though_no_word_tells(museum: Release) -> None:
    query = asked(museum, "by whose hand", "icon", targets=Category.Actor)
    assert "tied" in found(museum, query)["painter"].ranks
    assert "tied" not in found(museum, query, "dense", "sparse", "named")["painter"].ranks


def test_what_is_named_ranks_first_on_the_named_channel(museum: Release) -> None:
    assert found(museum, asked(museum, "?", "bowl"))["bowl"].ranks["named"] == 0


def test_things_of_a_period_are_found_by_their_date_alone(museum: Release) -> None:
    query = asked(
        museum, "?", targets=Category.Thing, form=Form.ENUMERATION, period=year_interval(1500, 1510)
    )
    dated = found(museum, query, "dated")
    assert {"icon", "bowl"} <= set(dated)
    assert dated["icon"].ranks["tied"] < dated["bowl"].ranks["tied"]
    assert "chalice" not in dated
    assert found(museum, query, "tied") == {}


@pytest.mark.parametrize("text", ["silver", "gold ground icon", "the painter of the icon", "ink"])
def test_the_baselines_are_the_indexes_own_rankings(text: str, museum: Release) -> None:
    query = asked(museum, text)
    for channel, ranking in (
        ("dense", museum[DenseIndex].search(query.vector, 60)),
        ("sparse", museum[SparseIndex].search(text, 60)),
    ):
        documents = [candidate.document for candidate in found(museum, query, channel, k=10).values()]
        assert documents == ranking.ranking


def test_an_entity_without_a_document_adds_nothing_by_itself(museum: Release) -> None:
    query = asked(museum, "?", "http://elsewhere.org/catalogue")
    assert found(museum, query, "named") == {}
    assert set(found(museum, query, "tied")) == {"chalice"}
    assert "chalice" in found(museum, query, "walked")
    assert found(museum, query)


def test_the_chosen_are_at_most_k_of_the_pool(museum: Release) -> None:
    query = asked(museum, "icon of the painter", "icon", targets=Category.Thing)
    outcome = retrieve(museum[ReleaseChannels], query, museum.method.retrieval, mode(*FUSED), 3)
    assert len(outcome.chosen) == 3
    assert sorted(outcome.ranking) == list(range(museum[Documents].count))


def test_nothing_asked_in_any_words_gives_nothing_by_words(museum: Release) -> None:
    assert found(museum, asked(museum, ""), "sparse") == {}
    assert found(museum, asked(museum, "zzz"), "sparse", "named", "tied", "dated", "walked") == {}


def test_the_ranking_is_the_same_twice(museum: Release) -> None:
    query = asked(museum, "icon of the painter", "icon", "painter", targets=Category.Thing)
    first, second = found(museum, query), found(Release(museum.folder, museum.manifest), query)
    assert list(first.items()) == list(second.items())
    assert np.isfinite([one.score for one in first.values()]).all()
