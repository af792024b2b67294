"""What was harvested from an endpoint stays until a refresh asks for it again; files are noticed by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pyoxigraph as ox
import pytest

from crmrag_assets.build.context import REFRESH_FILE, ask_again, choose_sample, harvested_at, open_context
from crmrag_assets.build.step import current_outcome
from crmrag_assets.instance import open_instance
from crmrag_assets.launch import build_config
from crmrag_assets.steps.source import ENTITIES
from crmrag_query.artifacts.release import open_release
from crmrag_query.errors import BuildError
from crmrag_query.graph.graph import Graph
from tests.conftest import ROOT
from tests.support.builds import CRM, Project, failing_at, made, make_project, turtle
from tests.support.runs import build, locked_elsewhere, run_job
from tests.support.sparql_auth import Auth
from tests.support.sparql_exchange import Endpoint
from tests.support.sparql_server import serving

TOKEN = "s3cret-t0ken"
FOUND = ox.Quad(
    ox.NamedNode("http://example.org/bell"),
    ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"),
    ox.NamedNode(f"{CRM}E22_Human-Made_Object"),
)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """The churches behind HTTP, for those who have the token."""
    monkeypatch.setenv("CHURCHES_TOKEN", TOKEN)
    quads = ox.parse(turtle(), format=ox.RdfFormat.TURTLE)
    with serving(quads, auth=Auth("bearer", token=TOKEN)) as opened:
        yield opened


@pytest.fixture
def project(tmp_path: Path, endpoint: Endpoint) -> Project:
    declared = {
        "url": endpoint.url,
        "auth": {"token": "CHURCHES_TOKEN"},
        "requests": {"pause_seconds": 0, "retries": 0},
    }
    return make_project(tmp_path / "project", rdf=None, endpoint=declared)


def release(project: Project) -> str:
    return open_release("churches", project.data).id


@pytest.mark.slow
def test_an_endpoint_is_asked_once_and_the_next_build_says_how_to_ask_again(
    project: Project, endpoint: Endpoint, instance: dg.DagsterInstance
) -> None:
    assert build(project, instance).remarks == []
    asked, harvested = len(endpoint.log), harvested_at(project.context())
    again = build(project, instance)
    assert made(again.outcomes) == [] and len(endpoint.log) == asked and harvested is not None
    assert again.remarks == [
        f"The endpoint's data is as harvested on {harvested:%Y-%m-%d at %H:%M} UTC. "
        "Ask the endpoint again: crmrag build churches --refresh"
    ]


def test_a_refresh_brings_what_is_new_and_the_same_release_where_nothing_is(
    project: Project, endpoint: Endpoint, instance: dg.DagsterInstance
) -> None:
    build(project, instance)
    first, asked = release(project), len(endpoint.log)
    unchanged = build(project, instance, refresh=True)
    assert release(project) == first and len(endpoint.log) > asked and unchanged.remarks == []
    assert "entities" in made(unchanged.outcomes) and "graph" not in made(unchanged.outcomes)
    endpoint.change(add=[FOUND])
    assert made(build(project, instance).outcomes) == [] and release(project) == first
    build(project, instance, refresh=True)
    assert release(project) != first
    assert open_release("churches", project.data)[Graph].node(FOUND.subject.value) is not None


@pytest.mark.slow
def test_a_refresh_that_was_stopped_goes_on_without_asking_twice(
    project: Project, endpoint: Endpoint, instance: dg.DagsterInstance
) -> None:
    method = (ROOT / "config" / "method.yaml").read_text().replace("  entities: 1000\n", "  entities: 8\n", 1)
    (project.config / "method.yaml").write_text(method)  # so that there are chunks to stop between
    ask_again(project.context())
    stale = project.context().refreshed
    with failing_at("prefetch:60:before"), pytest.raises(BuildError):
        build(project, instance, refresh=True)
    assert project.context().refreshed > stale
    stopped = asked_for(endpoint, 0)
    since = len(endpoint.log)
    went_on = build(project, instance)
    assert made(went_on.outcomes)[0] == "prefetch/60"
    assert stopped and asked_for(endpoint, since) and not stopped & asked_for(endpoint, since)
    open_release("churches", project.data).verify()


def asked_for(endpoint: Endpoint, since: int) -> set[str]:
    """Queries for pages of subjects and for triples of some of them."""
    return {
        record.query for record in endpoint.log[since:] if {"VALUES", "ORDER"} & set(record.query.split())
    }


@pytest.mark.slow
def test_a_sample_is_as_fresh_as_its_base(
    project: Project, endpoint: Endpoint, instance: dg.DagsterInstance
) -> None:
    build(project, instance, sample=15)
    asked = len(endpoint.log)
    assert "crmrag build churches --sample 15 --refresh" in build(project, instance, sample=15).remarks[0]
    assert len(endpoint.log) == asked
    build(project, instance, refresh=True, sample=15)
    assert len(endpoint.log) > asked
    work = project.data / "work"
    assert (work / "churches" / REFRESH_FILE).exists() and not (
        work / "churches-sample" / REFRESH_FILE
    ).exists()
    assert current_outcome(ENTITIES, project.context()) is not None  # the base is discovered by its sample


def test_the_time_of_a_refresh_is_read_back_by_every_later_context(project: Project) -> None:
    assert project.context().refreshed == ""
    refreshed = ask_again(project.context())
    name = choose_sample(project.data, "churches", 10)
    sample = open_context(name, project.data, project.config)
    assert refreshed.refreshed == project.context().refreshed == sample.refreshed != ""
    assert ask_again(sample).refreshed == project.context().refreshed != refreshed.refreshed


def test_a_refresh_while_another_process_builds_changes_nothing(
    project: Project, instance: dg.DagsterInstance
) -> None:
    with locked_elsewhere(project.data / "work" / "churches", "churches"):
        for sample in (None, 10):
            with pytest.raises(BuildError, match="another process"):
                build(project, instance, refresh=True, sample=sample)
    assert project.context().refreshed == ""


@pytest.mark.slow
def test_files_need_no_refresh_and_are_told_so(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    project = make_project(tmp_path / "files")
    assert build(project, instance).remarks == []
    again = build(project, instance, refresh=True)
    assert made(again.outcomes) == []
    assert again.remarks == [
        "'churches' is made from files, whose changes every build notices: --refresh adds nothing."
    ]
    assert not (project.data / "work" / "churches" / REFRESH_FILE).exists()


@pytest.mark.slow
def test_the_job_of_the_ui_can_refresh(project: Project, endpoint: Endpoint) -> None:
    assert build_config()["ops"]["build_layers"]["config"]["refresh"] is False
    ops = {"build_layers": {"config": {"refresh": True}}}
    assert run_job(project, ops=ops).success
    assert (project.data / "work" / "churches" / REFRESH_FILE).exists() and endpoint.log


def written(folder: Path) -> Iterator[Path]:
    """Files below a folder that hold the token, however they are named."""
    yield from (path for path in folder.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes())


def test_no_secret_is_written_anywhere(
    project: Project, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither of a build that ends well nor of one that is refused: artifacts, release, Dagster's events and logs."""
    with open_instance(project.data) as own:
        build(project, own)
        assert all(record.headers["authorization"] == f"Bearer {TOKEN}" for record in endpoint.log)
        monkeypatch.setenv("CHURCHES_TOKEN", f"{TOKEN}-of-yesterday")
        with pytest.raises(BuildError, match="401") as caught:
            build(project, own, refresh=True)
        assert TOKEN not in str(caught.value)
        events = [str(event) for run in own.get_runs() for event in own.all_logs(run.run_id)]
        assert events and not any(TOKEN in event for event in events)
    assert list(written(project.root)) == []


def test_a_variable_that_is_not_set_is_named_before_anything_is_asked(
    project: Project, endpoint: Endpoint, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CHURCHES_TOKEN")
    with pytest.raises(BuildError, match="CHURCHES_TOKEN is not set"):
        build(project, instance)
    assert endpoint.log == []
