"""Themes: what is told of communities in each language, how they are listed, searched and answered from."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from crmrag_query import Client
from crmrag_query.answers.ask import ask
from crmrag_query.artifacts.release import Release
from crmrag_query.cli.main import group
from crmrag_query.client.local import open_engine
from crmrag_query.client.wire import ListThemes
from crmrag_query.config.loading import sentences
from crmrag_query.documents.documents import Documents
from crmrag_query.errors import QuestionError, ReleaseError, UnknownEntity
from crmrag_query.language import LANGUAGES
from crmrag_query.ontology.load import Category
from crmrag_query.retrieval.channels import find_mode
from crmrag_query.retrieval.communities import LOOKED_AT, WORDS, Communities, Summaries
from tests.conftest import ROOT
from tests.support.shared import sample_release

QUESTION = "What is this collection about?"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return sample_release(tmp_path_factory)


@pytest.fixture(scope="module")
def client(sample: Release) -> Client:
    return Client(sample.folder)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_community_is_told_in_every_language_of_the_interface(sample: Release, language: str) -> None:
    communities, summaries = sample[Communities], sample[Summaries]
    forms = sentences().forms(language)
    assert forms.themes is not None and len(communities)
    for one in range(len(communities)):
        told = summaries.tell(one, language)
        assert told.title and told.text.startswith(told.brief) and told.brief
        assert len(told.text.split()) <= WORDS and "{" not in told.text and told.text.endswith(".")
        assert f"{communities.size(one):,}" in told.text
        centre = sample[Documents].entity(int(summaries.central(one)[0]))
        assert sample[Documents].graph.label(centre, (language,))[:20] in told.title


def test_a_community_is_known_by_what_is_no_event_among_its_most_central_members_alone() -> None:
    members = np.arange(2 * LOOKED_AT)
    communities: Any = SimpleNamespace(members=lambda community, most: members[:most])
    for first_thing, central in ((LOOKED_AT - 1, [LOOKED_AT - 1]), (LOOKED_AT, [0, 1, 2, 3])):
        categories = np.where(members < first_thing, int(Category.Event), int(Category.Thing))
        documents: Any = SimpleNamespace(category_of=categories)
        nothing: Any = None  # is read of the method and of what was gathered
        assert Summaries(communities, documents, nothing, nothing).central(0).tolist() == central


def test_forms_of_themes_are_there_for_every_language_that_has_sentences() -> None:
    for language, forms in sentences().languages.items():
        assert forms.themes is not None, language
        for name, form in forms.themes.model_dump().items():
            assert form.format(n="1", v="x") and ("{v}" in form or name in ("bare", "largest", "nearest"))


def test_the_collection_is_about_its_largest_themes_after_its_counts(sample: Release) -> None:
    told, communities = ask(sample, QUESTION), sample[Communities]
    first, intro, *lines = told.text.split("\n")
    assert sample.manifest.title in first and "largest" in intro
    titles = [sample[Summaries].tell(one).title for one in communities.outermost[:5].tolist()]
    assert [line.removeprefix("- ").startswith(title) for line, title in zip(lines, titles, strict=True)] == [
        True
    ] * len(titles)
    central = {
        sample[Documents].label(int(sample[Summaries].central(one)[0]))
        for one in communities.outermost[:5].tolist()
    }
    assert central <= {source.label for source in told.sources if source.cited}


def test_themes_are_listed_from_the_outermost_inwards(client: Client, sample: Release) -> None:
    found = client.themes()
    assert found.total == len(sample[Communities].outermost) and not any(one.parent for one in found)
    assert [one.size for one in found] == sorted((one.size for one in found), reverse=True)
    finest = client.themes(level=0, limit=200)
    assert sum(one.size for one in finest) + found.gathered == sample[Documents].count
    for one in found:
        within = client.themes(within=one.id)
        assert len(within.themes) == one.parts and all(part.parent == one.id for part in within)
        assert one.members[0].label and len(one.members) == min(10, one.size)
    assert client.themes(limit=1, offset=1).themes[0] == found.themes[1]


def test_a_theme_that_there_is_not_and_pages_out_of_range_are_refused(client: Client) -> None:
    with pytest.raises(QuestionError, match="no theme 'zz'"):
        client.themes(within="zz")
    with pytest.raises(QuestionError, match="limit"):
        client.themes(limit=0)


def test_the_command_lists_themes_with_their_members(sample: Release) -> None:
    shown = CliRunner().invoke(group, ["themes", str(sample.folder), "--limit", "2"])
    assert shown.exit_code == 0, shown.output
    first = Client(sample.folder).themes(limit=2).themes[0]
    assert first.id in shown.output and first.title in shown.output and first.members[0].label in shown.output
    told = json.loads(CliRunner().invoke(group, ["themes", str(sample.folder), "--json"]).output)
    assert told["themes"][0]["id"] == first.id


def test_the_mode_of_themes_finds_central_members_of_the_nearest(client: Client, sample: Release) -> None:
    largest = sample[Summaries].tell(int(sample[Communities].outermost[0]))
    found = client.retrieve(f"themes around {largest.title}", mode="global_vector")
    assert found.mode == "global_vector" and len(found)
    assert all({*one.ranks} == {"communities"} for one in found)
    members = sample[Communities].members(int(sample[Communities].outermost[0]), 20).tolist()
    central = {sample[Documents].graph.iri(sample[Documents].entity(one)) for one in members}
    assert found[0].iri in central


def test_a_release_without_communities_opens_and_says_what_to_build(sample: Release) -> None:
    held = {name: n for name, n in sample.manifest.versions.items() if not name.startswith("communit")}
    old = Release(sample.folder, replace(sample.manifest, versions=held), opener=sample.opener)
    told = ask(old, QUESTION)
    assert "\n" not in told.text and sample.manifest.title in told.text
    with pytest.raises(ReleaseError, match="has no communities"):
        old[Communities]
    with pytest.raises(QuestionError, match="communities, community_summaries, community_index"):
        find_mode(old, "global_vector")


def test_the_engine_and_the_client_tell_the_same(client: Client, sample: Release) -> None:
    assert open_engine(str(sample.folder)).themes(ListThemes(language="el")) == client.themes(language="el")


def test_the_map_of_a_document_leads_to_all_its_themes(sample: Release) -> None:
    communities = sample[Communities]
    for one in communities.outermost[:3].tolist():
        of = communities.of_document(int(communities.members(one)[0]))
        assert one in of and [int(communities.level[each]) for each in of] == sorted(
            {int(communities.level[each]) for each in of}
        )


def test_reading_it_takes_nothing_from_outside(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="table of communities"):
        Communities.open(tmp_path)


def test_a_theme_is_told_alone_and_those_of_an_entity_from_the_finest_on(client: Client) -> None:
    largest = client.themes(limit=1).themes[0]
    assert client.themes(theme=largest.id).themes == (largest,)
    found = client.themes(of=largest.members[0]).themes
    assert found[-1] == largest and [one.level for one in found] == sorted(one.level for one in found)
    assert all(below.parent == above.id for below, above in pairwise(found))
    with pytest.raises(QuestionError, match="no theme"):
        client.themes(theme="0" * 16)
    with pytest.raises(UnknownEntity):
        client.themes(of="https://example.org/none")


THEMATIC = [
    one
    for one in json.loads((ROOT / "benchmarks" / "questions" / "themes.json").read_text(encoding="utf-8"))
    if one["dataset"] == "sample"
]


@pytest.mark.parametrize("mode", ["crm", "global_vector"])
@pytest.mark.parametrize("one", THEMATIC, ids=lambda one: one["question"])
def test_a_thematic_question_is_answered_by_the_right_themes_and_their_centre(
    client: Client, one: dict[str, Any], mode: str
) -> None:
    """The gold members are known from the data alone: a query's, or igraph's own communities."""
    cited = [source for source in client.ask(one["question"], mode=mode).sources if source.cited]
    at = [number for number, source in enumerate(cited) if source.kind == "community"]
    assert at and at[0] == 0, "themes are the sources"
    beside = [source.iri for source in cited[1 : [*at, len(cited)][1]]]
    assert beside and set(beside) & set(one["gold_iris"]), "beside a theme stand members that belong to it"


def test_the_theme_of_what_is_named_comes_first_and_names_it(client: Client, sample: Release) -> None:
    goul = "https://example.org/troodos/person/philippos-goul"
    answer = client.ask("Which themes are there around Philippos Goul?")
    first, named = (source for source in answer.sources[:2])
    assert (first.kind, named.iri) == ("community", goul)
    node = sample[Documents].graph.node(goul)
    document = int(sample[Documents].entity_document[node])
    communities = sample[Communities]
    own = [communities.name(one) for one in communities.of_document(document)]
    assert any(first.iri.endswith(name) for name in own)


def test_the_finest_community_of_a_document_is_the_first_of_its_own(sample: Release) -> None:
    communities, every = sample[Communities], np.arange(sample[Documents].count, dtype=np.int32)
    expected = [next(iter(communities.of_document(int(one))), -1) for one in every]
    assert communities.finest(every).tolist() == expected


def test_the_attribution_tells_every_source_and_the_themes_under_published_names(client: Client) -> None:
    answer = client.ask("What are the main topics?")
    told = answer.attribution()
    assert told["primary_sources"] == [one.iri for one in answer.sources if one.cited]
    assert [one["index"] for one in told["chunk_details"]] == [one.n for one in answer.sources]
    assert all(len(one["content_preview"]) <= 200 for one in told["chunk_details"])
    themes = {one.iri: one.label for one in answer.sources if one.kind == "community"}
    assert {one["id"]: one["title"] for one in told["community_context"]} == themes and themes
    assert told["retrieval_metadata"]["total_chunks"] == len(answer.sources)
    assert told["retrieval_metadata"]["retrieval_mode"] == "crm"
