"""What is tried again by itself: a build whose endpoint does not answer for a while; and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import dagster as dg
import pyoxigraph as ox
import pytest

from crmrag_assets.instance import open_instance
from crmrag_assets.runs import WAITS_TAG
from crmrag_query.artifacts.release import open_release
from crmrag_query.errors import BuildError, BuildHeldUp
from tests.support.builds import Project, make_project, turtle
from tests.support.faults import Fault, refusal
from tests.support.runs import build, run_job
from tests.support.sparql_exchange import Endpoint
from tests.support.sparql_server import serving

DOWN = refusal(503, "The server is down for maintenance.")


@dataclass
class Outage:
    """The server fails every request from the ``begin``-th on, until it was asked ``length`` more times."""

    begin: int
    length: int
    asked: list[str] = field(default_factory=list)

    def choose(self, query: str) -> Fault | None:
        self.asked.append(query)
        return DOWN if self.begin < len(self.asked) <= self.begin + self.length else None


@pytest.fixture
def outage() -> Outage:
    return Outage(6, 3)


@pytest.fixture
def endpoint(outage: Outage) -> Iterator[Endpoint]:
    with serving(ox.parse(turtle(), format=ox.RdfFormat.TURTLE), [outage]) as opened:
        yield opened


@pytest.fixture
def project(tmp_path: Path, endpoint: Endpoint) -> Project:
    requests = {"pause_seconds": 0, "retries": 0, "parallel": 1}
    project = make_project(
        tmp_path / "project",
        rdf=None,
        endpoint={"url": endpoint.url, "requests": requests},
        write_markdown=False,
    )
    (project.config / "operations.yaml").write_text("retrying: {times: 4, minutes: 0}\n", encoding="utf-8")
    return project


@pytest.mark.slow
def test_the_job_goes_on_when_the_endpoint_answers_again(project: Project, outage: Outage) -> None:
    done = run_job(project)
    assert done.success and len(outage.asked) > outage.begin + outage.length
    again = [event for event in done.all_events if event.event_type == dg.DagsterEventType.STEP_UP_FOR_RETRY]
    assert 1 <= len(again) <= outage.length
    with open_instance(project.data) as own:
        run = own.get_run_by_id(done.run_id)
        assert run is not None and WAITS_TAG in run.tags
    assert open_release("churches", project.data).manifest.counts["entities"]


@pytest.mark.slow
def test_a_person_at_the_command_line_is_told_at_once(
    project: Project, outage: Outage, instance: dg.DagsterInstance
) -> None:
    with pytest.raises(BuildHeldUp, match=r"does not answer|stopped answering"):
        build(project, instance)
    assert build(project, instance).outcomes
    assert outage.asked


@pytest.mark.parametrize("outage", [Outage(0, 0)])
def test_a_mistake_is_not_tried_again(
    project: Project, endpoint: Endpoint, instance: dg.DagsterInstance
) -> None:
    (project.config / "datasets.yaml").write_text(
        f"datasets:\n  churches: {{endpoint: '{endpoint.url}/nowhere', embedding: {{model: hash}}}}\n"
    )
    done = run_job(project)
    assert not done.success
    assert not [e for e in done.all_events if e.event_type == dg.DagsterEventType.STEP_UP_FOR_RETRY]
    with pytest.raises(BuildError) as told:
        build(project, instance)
    assert not isinstance(told.value, BuildHeldUp)
