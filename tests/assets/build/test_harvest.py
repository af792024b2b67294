"""A harvest is accounted for, and a release is the same wherever its data was read from."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from crmrag_assets.build.context import choose_sample
from crmrag_assets.build.step import LAYERS, BuildContext, Progress, chunks_of, run_step
from crmrag_assets.harvest.report import Gathered, Missing, Traffic
from crmrag_assets.harvest.source import Counted, Discovery, Fetched
from crmrag_assets.opened import harvest_of
from crmrag_assets.quality.graph import harvest_is_whole
from crmrag_assets.sources.rdf.kind import RdfFiles
from crmrag_assets.steps import source as build_source
from crmrag_assets.steps.registry import STEPS
from crmrag_assets.steps.source import HARVEST_MARKDOWN, HARVEST_REPORT, described
from crmrag_query.artifacts.manifest import COMPANIONS, PROVENANCE
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.config.datasets import DatasetConfig
from crmrag_query.config.sources import EndpointConfig
from crmrag_query.errors import SourceError
from tests.support.builds import Project, build_all, contents, made, make_project

CHUNK = 32  # entities a chunk: the test data then has two of them
ADDRESS = "https://museum.example/sparql"
ASKED = Traffic(requests=3, retries=1, rows=100, bytes=5000, seconds=0.5, waited=0.25)
LOST = Missing("the endpoint answered with status 500", "http://example.org/bell", "http://p", 4)


@dataclass
class Service:
    """What an endpoint does, set by each test: its counts, its notes, what it will not give, whether it lives."""

    changed: int = 0
    counts: bool = True
    missing: tuple[Missing, ...] = ()
    notes: Counter[str] = field(default_factory=Counter)
    alive: bool = True
    traffic: Traffic = ASKED
    counted: Counted = field(default_factory=Counted)


@dataclass(frozen=True)
class Served(RdfFiles):
    """The triples of files, told as an endpoint tells them: no files, but requests and counts."""

    service: Service = field(default_factory=Service)

    def fingerprint(self) -> str:
        return f"{ADDRESS} {super().fingerprint()}"

    def discover(self, folder: Path, progress: Progress) -> Discovery:
        found = super().discover(folder, progress)
        if self.service.counts:
            lost = sum(one.triples or 0 for one in self.service.missing)
            self.service.counted = Counted(found.triples + lost, found.entities)
        report = replace(found.report, files=(), triples_read=0)
        gathered = Gathered(self.service.traffic)
        return replace(found, report=report, gathered=gathered, counted=self.service.counted)

    def fetch(self, folder: Path, buckets: range) -> Fetched:
        missing = self.service.missing if 0 in buckets else ()
        gathered = Gathered(self.service.traffic, missing, notes=self.service.notes)
        return Fetched(super().fetch(folder, buckets).frame, gathered)

    def recount(self, folder: Path) -> Counted | None:
        if not self.service.alive:
            raise SourceError("The endpoint does not answer.", "Try later.")
        counted = self.service.counted
        triples = counted.triples
        return counted if triples is None else replace(counted, triples=triples + self.service.changed)


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")


@pytest.fixture
def endpoint(project: Project, service: Service, monkeypatch: pytest.MonkeyPatch) -> BuildContext:
    """The project's data set as if it were declared by an endpoint that serves its file."""
    context = project.context(CHUNK)

    def source_for(config: DatasetConfig, **_: Any) -> RdfFiles:
        files = context.config.files()
        if config.endpoint is None:
            return RdfFiles(files, context.method, root=config.root)
        return Served(files, context.method, service=service)

    monkeypatch.setattr(build_source, "source_for", source_for)
    config = context.config.model_copy(update={"rdf": None, "endpoint": EndpointConfig(url=ADDRESS)})
    return replace(context, config=config)


def released(context: BuildContext) -> Release:
    release = open_release(context.name, context.data)
    release.verify()
    return release


def told(context: BuildContext) -> dict[str, Any]:
    """Provenance of the current release."""
    found = released(context).provenance
    assert found is not None
    return found


def harvest(context: BuildContext) -> None:
    """A build up to the harvest report."""
    for layer in LAYERS[2:4]:
        for artifact in layer.assets:
            for chunk in chunks_of(context) if layer.chunked else [None]:
                run_step(STEPS[artifact], context, chunk)
    run_step(HARVEST_REPORT, context)


def test_the_same_data_gives_the_same_release_from_files_and_from_an_endpoint(
    project: Project, endpoint: BuildContext
) -> None:
    files = project.context(CHUNK)
    build_all(files)
    read = released(files)
    before, provenance = contents(read.folder), told(files)
    build_all(endpoint)
    served = released(endpoint)
    after = contents(served.folder)
    assert served.id == read.id and set(after) == set(before)
    assert {path for path in after if after[path] != before[path]} == {PROVENANCE, *COMPANIONS}
    assert provenance["source"]["declared"] == ["churches.ttl"] and "endpoint" not in provenance["source"]
    assert told(endpoint)["source"]["endpoint"] == ADDRESS and "declared" not in told(endpoint)["source"]
    assert provenance["harvest"]["reading"]["files"] and not told(endpoint)["harvest"]["reading"]["files"]


def test_going_back_to_files_tells_of_files_again(project: Project, endpoint: BuildContext) -> None:
    build_all(endpoint)
    build_all(project.context(CHUNK))
    assert "endpoint" not in told(endpoint)["source"]
    assert ADDRESS not in (released(endpoint).folder / COMPANIONS[0]).read_text(encoding="utf-8")


def test_the_report_adds_up_discovery_and_every_chunk(endpoint: BuildContext, service: Service) -> None:
    service.notes = Counter({"batches halved": 2})
    build_all(endpoint)
    found = harvest_of(endpoint)
    assert found["chunks"] == 2
    assert found["traffic"] == {n: 3 * value for n, value in ASKED.as_dict().items()}
    assert found["notes"] == {"batches halved": 4}
    assert found["whole"] and found["verified"] and found["concerns"] == []
    assert told(endpoint)["harvest"] == found
    finding = harvest_is_whole(endpoint)
    assert finding.holds and finding.says.startswith("The harvest is whole")
    stats = endpoint.finished("prefetch", "00").stats
    named = ("requests", "retries", "rows_received", "bytes_received", "request_seconds", "seconds_waited")
    assert tuple(stats[name] for name in named) == (3, 1, 100, 5000, 0.5, 0.25)
    assert stats["bytes"] != 5000, "the bytes of the files are others"


def test_everything_that_is_missing_is_in_the_json_and_the_first_of_it_in_the_text(
    endpoint: BuildContext, service: Service
) -> None:
    service.missing = (
        LOST,
        *(replace(LOST, subject=f"http://example.org/{n}", triples=1) for n in range(40)),
    )
    build_all(endpoint)
    found = harvest_of(endpoint)
    assert not found["whole"] and len(found["missing"]) == 41 and found["missing_triples"]["known"] == 44
    assert (
        not harvest_is_whole(endpoint).holds and "44 triples are missing" in harvest_is_whole(endpoint).says
    )
    text = (endpoint.folder("harvest_report") / HARVEST_MARKDOWN).read_text(encoding="utf-8")
    assert "The harvest is not whole." in text and text.count("status 500") == 25 and "16 more" in text
    beside = (released(endpoint).folder / COMPANIONS[0]).read_text(encoding="utf-8")
    assert "44 triples are missing" in beside


@pytest.mark.parametrize(
    ("change", "concern", "whole"),
    [
        ({"changed": 11}, "The source changed while it was read: {:,} triples before, {:,} after.", False),
        ({"alive": False}, "would not count its triples again", True),
        ({"counts": False}, "nothing proves", True),
    ],
    ids=["changed", "died after the harvest", "counts nothing"],
)
def test_a_source_that_changed_or_does_not_count_is_told_and_costs_no_build(
    endpoint: BuildContext, service: Service, change: dict[str, Any], concern: str, whole: bool
) -> None:
    for name, value in change.items():
        setattr(service, name, value)
    harvest(endpoint)
    found = harvest_of(endpoint)
    (said,) = found["concerns"]
    assert concern.format(found["triples"], found["triples"] + 11) in said
    assert harvest_is_whole(endpoint).holds == whole
    assert whole or found["counted"]["after"] is not None
    assert "counts" not in change or not found["verified"]
    assert "alive" not in change or found["counted"]["after"] is None


def test_an_unchanged_build_asks_for_no_count_and_leaves_the_release_as_it_is(
    endpoint: BuildContext, service: Service
) -> None:
    build_all(endpoint)
    before = contents(released(endpoint).folder)
    service.alive, service.traffic = False, Traffic(requests=99)
    assert made(build_all(endpoint)) == []
    assert contents(released(endpoint).folder) == before


def test_reading_again_the_same_triples_makes_only_the_account_and_the_texts_again(
    endpoint: BuildContext, service: Service
) -> None:
    """As after a refresh: other requests, the same content, so no graph, document or vector is made."""
    build_all(endpoint)
    release, chunks = released(endpoint).id, _chunk_contents(endpoint)
    for artifact in ("entities", "prefetch"):
        _forget(endpoint, artifact)
    service.traffic = replace(ASKED, requests=7)
    assert {name.split("/")[0] for name in made(build_all(endpoint))} == {
        "entities", "prefetch", "harvest_report", "validation_report",
    }  # fmt: skip
    assert _chunk_contents(endpoint) == chunks and released(endpoint).id == release
    assert told(endpoint)["harvest"]["traffic"]["requests"] == 21


def _chunk_contents(context: BuildContext) -> list[str]:
    folders = sorted(context.folder("prefetch").iterdir())
    return [context.finished("prefetch", folder.name).content for folder in folders]


def _forget(context: BuildContext, artifact: str) -> None:
    for record in context.folder(artifact).rglob("record.json"):
        record.unlink()


def test_a_sample_is_not_measured_by_the_counts_of_the_whole(
    endpoint: BuildContext, service: Service
) -> None:
    name = choose_sample(endpoint.data, "churches", 10)
    sample = replace(endpoint, name=name, sample=10)
    harvest(sample)
    found = harvest_of(sample)
    assert found["entities"] == 10 and found["whole"] and found["verified"] is None
    assert found["concerns"] == [] and found["traffic"]["requests"] > 3


def test_files_are_told_as_they_always_were(project: Project) -> None:
    context = project.context()
    harvest(context)
    found = harvest_of(context)
    assert found["whole"] and found["verified"] is None
    (file,) = found["reading"]["files"]
    assert (file["file"], file["format"], file["triples"]) == (
        "churches.ttl", "Turtle", found["reading"]["triples_read"],
    )  # fmt: skip
    text = (context.folder("harvest_report") / HARVEST_MARKDOWN).read_text(encoding="utf-8")
    assert "churches.ttl" in text and "blank nodes | 12 |" in text and "Traffic" not in text
    assert "requests" not in context.finished("prefetch", "00").stats


def test_no_secret_is_told(project: Project) -> None:
    """Names of variables are no secret, but nobody needs them; a query string may hold a key."""
    signed = {"kind": "bearer", "token": "MUSEUM_TOKEN"}
    endpoint = EndpointConfig.model_validate(
        {
            "url": f"{ADDRESS}?visitor=hush",
            "auth": signed,
            "headers": {"X-Key": "OTHER_KEY"},
            "graphs": ["http://g"],
        }
    )
    config = project.context().config.model_copy(update={"rdf": None, "endpoint": endpoint})
    assert described(config) == {"endpoint": ADDRESS, "graphs": ["http://g"]}
    assert not any(word in json.dumps(described(config)) for word in ("hush", "TOKEN", "KEY"))
