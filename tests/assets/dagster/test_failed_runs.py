"""A failed build says the same at the command line, in Dagster's log and in messages: what, why, what to do, what is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest

from crmrag_assets.definitions import failure_message
from crmrag_assets.instance import (
    FAULT,
    KIND,
    NO_MEMORY,
    StepFailed,
    explained,
    open_instance,
    reason,
    run_error,
)
from crmrag_assets.operations.notify import Message
from crmrag_assets.runs import PARENT_TAG
from crmrag_query.errors import BuildError, BuildFault, BuildHeldUp, SourceError
from tests.support.builds import CRM, Project, failing_at, make_project, start_build, turtle
from tests.support.runs import build as build_all
from tests.support.runs import run_job

FAILED = dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE])
LEFT = "What is finished is kept, and the next build goes on from there."
CLASSLESS = "\n".join(f"<http://x/{n}> <{CRM}P1_is_identified_by> <http://x/name{n}> ." for n in range(3))


@dataclass(frozen=True)
class Roads:
    """What each road said of one fault: the error of `crmrag build`, the failures in the log of a job's two runs, mails."""

    command: BuildError
    build: dg.DagsterEvent
    layer: dg.DagsterEvent
    messages: list[Message]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = make_project(tmp_path / "project", turtle(2), write_markdown=False)
    (made.config / "operations.yaml").write_text("retrying: {times: 0}\n", encoding="utf-8")
    return made


@pytest.fixture
def instance(project: Project) -> Iterator[dg.DagsterInstance]:
    with open_instance(project.data) as opened:
        yield opened


def failure(instance: dg.DagsterInstance, run: dg.DagsterRun) -> dg.DagsterEvent:
    """The first failed step in the log of a run."""
    records = instance.all_logs(run.run_id, dg.DagsterEventType.STEP_FAILURE)
    return next(record.dagster_event for record in records if record.dagster_event is not None)


def message(instance: dg.DagsterInstance, run: dg.DagsterRun) -> Message | None:
    """What is sent of a run."""
    (ended,) = instance.all_logs(run.run_id, dg.DagsterEventType.RUN_FAILURE)
    assert ended.dagster_event is not None
    context = dg.build_run_status_sensor_context("told", ended.dagster_event, instance, run)
    return failure_message(context.for_run_failure(), "http://ui")


def travel(project: Project, instance: dg.DagsterInstance) -> Roads:
    """Have the build fail by every road."""
    with pytest.raises(BuildError) as caught:
        build_all(project, instance)
    (alone,) = instance.get_runs(FAILED)
    done = run_job(project, instance)
    build = instance.get_run_by_id(done.run_id)
    (layer,) = (run for run in instance.get_runs(FAILED) if run.tags.get(PARENT_TAG) == done.run_id)
    assert build is not None and not done.success
    sent = [found for run in (alone, build, layer) if (found := message(instance, run))]
    return Roads(caught.value, failure(instance, build), failure(instance, layer), sent)


def page(project: Project) -> None:
    (project.root / "churches.ttl").write_text("<!DOCTYPE html><html><title>Sign in</title></html>")


def closed(project: Project) -> None:
    file = project.config / "datasets.yaml"
    requests = "requests: {retries: 0, pause_seconds: 0}"
    file.write_text(f"datasets: {{churches: {{endpoint: {{url: 'http://127.0.0.1:9/sparql', {requests}}}}}}}")


def classless(project: Project) -> None:
    (project.root / "churches.ttl").write_text(CLASSLESS)


@pytest.mark.parametrize(
    ("spoil", "kind", "step", "says", "remedy"),
    [
        (page, BuildError, "'entities' failed. ", "churches.ttl is a web page, not RDF", "Fetch the data itself"),
        (closed, BuildHeldUp, "'entities' failed. ", "127.0.0.1:9/sparql does not answer", "Check the address"),
        (classless, BuildError, "The check 'has_entities' of 'graph' stops", "None of the 3 ent", "is this CIDOC-CRM?"),
    ],
)  # fmt: skip
def test_every_road_tells_what_failed_why_what_to_do_and_what_is_left(
    project: Project,
    instance: dg.DagsterInstance,
    spoil: Callable[[Project], None],
    kind: type[BuildError],
    step: str,
    says: str,
    remedy: str,
) -> None:
    spoil(project)
    roads = travel(project, instance)
    assert type(roads.command) is kind
    told = str(roads.command)
    assert told.startswith(step) and says in told and told.index(remedy) > told.index(says)
    assert f"{LEFT} There is no release of it yet." in told
    assert not any(noise in told for noise in ("Traceback", "dagster.", "crmrag_query", "Error:"))
    for event in (roads.build, roads.layer):
        found, error = run_error(event), event.step_failure_data.error
        assert found is not None and told.startswith(found.text.partition("\nOther checks")[0])
        assert found.text == told or event is roads.layer
        assert error is not None and (
            error.message.startswith(f"crmrag_assets.instance.{StepFailed.__name__}: {step}")
            or error.message.startswith("Exceeded max_retries of 0")
        )
    alone, of_job = (sent.why for sent in roads.messages)
    assert of_job == told and alone == told.partition("\nOther checks")[0]
    assert [sent.what.partition(" in ")[0] for sent in roads.messages] == [
        "The build of 'churches' failed"
    ] * 2


def test_what_nobody_foresaw_is_said_to_be_a_fault_and_has_its_traceback(
    project: Project, instance: dg.DagsterInstance
) -> None:
    with failing_at("entities=fault"):
        roads = travel(project, instance)
    assert isinstance(roads.command, BuildFault)
    said = "'entities' failed. RuntimeError: Fail-point entities was reached. "
    assert str(roads.command).startswith(said + FAULT) and LEFT in str(roads.command)
    found = run_error(roads.layer)
    assert found is not None and found.kind == ""
    for trace in (roads.command.trace, found.trace):
        assert "store.py" in trace and "RuntimeError" in trace and "_core/execution" not in trace
    shown = roads.build.step_failure_data.user_failure_data
    assert shown is not None and "store.py" in str(shown.metadata["traceback"].value)
    assert shown.metadata[KIND].value == "BuildFault"


def test_the_command_ends_with_the_message_after_the_traceback(project: Project, forked: Path) -> None:
    build = start_build(forked, project, "--quiet", CRMRAG_FAILPOINT="entities=fault")
    said, failed = build.communicate(timeout=120)
    assert build.returncode == 1 and said == ""
    trace, _, told = failed.partition("\n\nError: 'entities' failed. RuntimeError: ")
    assert trace.startswith("RuntimeError: Fail-point") and "store.py" in trace
    assert FAULT in told and told.endswith("There is no release of it yet.\n")


def test_errors_that_are_not_ours_are_named_and_memory_is_no_fault() -> None:
    assert reason(SourceError("Gone.", "Look.")) == "Gone. Look."
    assert reason(KeyError("x")) == f"KeyError: 'x'. {FAULT}" and reason(ValueError()).startswith(
        "ValueError:"
    )
    assert reason(MemoryError()) == NO_MEMORY
    assert reason(RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried")) == NO_MEMORY
    with pytest.raises(StepFailed, match="'graph' failed"), explained("graph"), explained("graph"):
        raise OSError("twice is told once")
    assert run_error(dg.DagsterEvent(dg.DagsterEventType.RUN_START.value, "build")) is None
