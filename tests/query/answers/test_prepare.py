"""From a question to its context: two searches as one, stages that can be switched, Wikidata when it is wanted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crmrag_query.answers.ask import Ask, ask, prepare, search, stream
from crmrag_query.answers.records import Evidence
from crmrag_query.answers.understand import understand
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.context.assemble import WikidataTexts
from crmrag_query.documents.documents import Documents
from crmrag_query.graph.graph import Graph
from crmrag_query.retrieval.pipeline import k_of, retrieve
from crmrag_query.retrieval.release_channels import ReleaseChannels
from crmrag_query.retrieval.scores import interleave
from tests.support.builds import build_all, make_project
from tests.support.modes import CRM, FUSED
from tests.support.small_world import PREFIXES, Talk, iri
from tests.support.wikidata_server import Wiki, wiki

QUESTION = "Which churches are in Kolva?"
NO_CHANNEL = CRM.only()
"""Questions are read as plans first, and searched for by nothing."""


def test_two_rankings_are_interleaved_and_cut_where_one_would_be(small: Release) -> None:
    talk = Talk(small)
    talk.ask("Who painted the mural of Saint Anna?")
    understood = understand(small, "And where was he born?", talk.state)
    config = small.method.retrieval
    k = k_of(understood.analysis.form, config.k)
    one, other = (retrieve(small[ReleaseChannels], query, config, CRM, k) for query in understood.queries)
    expected = list(dict.fromkeys([
        *interleave([c.document for c in one.chosen], [c.document for c in other.chosen]),
        *interleave(one.ranking, other.ranking),
    ]))  # fmt: skip
    found = search(small, understood)
    assert found.ranking == expected and len(found.chosen) == min(k, len(expected))


def test_excluded_documents_are_neither_chosen_nor_in_the_rest(small: Release) -> None:
    understood = understand(small, "Besides Saint Dunstan, which churches are in Orest?")
    found = search(small, understood)
    entities = {small[Documents].entity(document) for document in found.ranking}
    dunstan = small[Graph].node(iri("dunstan"))
    assert dunstan not in entities
    assert [small[Documents].entity(one.document) for one in found.left_out] == [dunstan]


@pytest.mark.parametrize("stage", FUSED)
def test_each_stage_can_be_switched(small: Release, stage: str) -> None:
    switched = CRM.switched(stage)
    assert switched.has(stage) is not CRM.has(stage)
    assert Talk(small, Ask(mode=switched)).ask(QUESTION).sources


def test_without_any_channel_the_answer_is_that_nothing_was_found(small: Release) -> None:
    prepared = prepare(small, QUESTION, mode=NO_CHANNEL)
    assert not prepared.retrieved.chosen and not prepared.context.sources
    answer = Talk(small, Ask(mode=NO_CHANNEL)).ask("What is melancholic about Saint Anna?")
    # what is recorded of it
    assert answer.refused and {source.label for source in answer.sources} == {"Saint Anna"}
    answer = Talk(small, Ask(mode=NO_CHANNEL)).ask("What is melancholic about the weather?")
    assert answer.refused and answer.sources == ()


def test_an_exact_set_needs_no_channel(small: Release) -> None:
    answer = Talk(small, Ask(mode=NO_CHANNEL)).ask(QUESTION)
    assert answer.exhaustive and answer.set is not None
    assert {member.iri for member in answer.set.members} == {source.iri for source in answer.sources}


def test_a_stage_that_is_off_takes_no_part(small: Release) -> None:
    understood = understand(small, QUESTION)
    found = search(small, understood, CRM.only("dense"))
    nearest = small[ReleaseChannels].dense(understood.queries[0].vector, len(found.ranking))
    assert found.ranking == nearest.ranking


def test_timings_are_of_every_stage_and_their_sums(small: Release) -> None:
    timings = prepare(small, QUESTION).timings
    assert {"linking", "analysis", "encoding", "dense", "evidence", "context"} <= timings.keys()
    assert timings["total"] == pytest.approx(timings["retrieval"] + timings["evidence"] + timings["context"])
    assert all(spent >= 0 for spent in timings.values())


LINKED = f"""{PREFIXES}
:asinou a crm:E22_Human-Made_Object ; rdfs:label "Asinou" ; owl:sameAs <http://www.wikidata.org/entity/Q30773293> ;
  crm:P55_has_current_location :nikitari .
:nikitari a crm:E53_Place ; rdfs:label "Nikitari" .
"""
IMAGE = "https://commons.wikimedia.org/wiki/Special:FilePath/Asinou_church%2C_2010.jpg"


@pytest.fixture(scope="module", params=[False, True], ids=["off", "on"])
def linked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Release:
    """A release whose data set has Wikidata off, as by default, or on."""
    asked: dict[str, object] = {"wikidata": True} if request.param else {}
    project = make_project(
        tmp_path_factory.mktemp("linked") / "project", LINKED, write_markdown=False, **asked
    )
    build_all(project.context())
    return open_release(project.dataset, project.data)


@pytest.fixture
def asked(linked: Release) -> Iterator[tuple[Release, Wiki]]:
    """The release, opened anew, and the server that stands in for Wikidata."""
    with wiki() as server:
        release = open_release(linked.folder)
        settings: dict[str, Any] = {"address": server.address, "timeout_seconds": 30.0}
        wikidata = release.method.wikidata.model_copy(update=settings)
        release.__dict__["method"] = release.method.model_copy(update={"wikidata": wikidata})
        yield release, server


def test_the_data_set_decides_whether_wikidata_is_asked(asked: tuple[Release, Wiki]) -> None:
    release, server = asked
    on = release.manifest.wikidata
    assert on is ("wikidata" in json.loads((release.folder / "manifest.json").read_text(encoding="utf-8")))
    answer = ask(release, "What is Asinou?")
    assert bool(server.asked) is on
    images = {source.label: source.images for source in answer.sources}
    assert images["Asinou"] == ((IMAGE,) if on else ())
    assert ("<wikidata" in prepare(release, "What is Asinou?").context.render()) is on


@pytest.mark.parametrize("wanted", [True, False])
def test_the_asker_may_decide_otherwise(asked: tuple[Release, Wiki], wanted: bool) -> None:
    release, server = asked
    events = list(stream(release, "What is Asinou?", Ask(wikidata=wanted)))
    [first] = [event for event in events if isinstance(event, Evidence)]
    assert len(events) > 2
    assert any(IMAGE in source.images for source in first.sources) is wanted
    assert bool(server.asked) is wanted


def test_what_wikidata_said_is_kept_for_every_question_to_a_release(asked: tuple[Release, Wiki]) -> None:
    release, server = asked
    prepare(release, "What is Asinou?", wikidata=True)
    before = len(server.asked)
    prepare(release, "Where is Asinou?", wikidata=True)
    assert len(server.asked) == before > 0
    prepare(release, "Where is Asinou?", wikidata=WikidataTexts(release.method.wikidata))
    assert len(server.asked) > before


def test_a_release_without_the_key_reads_as_off(small: Release) -> None:
    assert "wikidata" not in json.loads((small.folder / "manifest.json").read_text(encoding="utf-8"))
    assert small.manifest.wikidata is False


def test_opening_a_release_asks_nobody(linked: Release, tmp_path: Path) -> None:
    with wiki() as server:
        assert open_release(linked.folder)[WikidataTexts].config.entities >= 0
    assert server.asked == []
