"""Several data sets built at once by processes of their own: turns at one endpoint, and a failure that stays alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyoxigraph as ox
import pytest
import yaml

from crmrag_assets.build.step import FOLDER, READERS
from crmrag_query.artifacts.release import open_release
from tests.support.builds import Project, start_build, turtle
from tests.support.daemon import until
from tests.support.sparql_exchange import Endpoint
from tests.support.sparql_server import serving

PAUSE = 0.04


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving(ox.parse(turtle(40), format=ox.RdfFormat.TURTLE), latency=0.1) as opened:
        yield opened


@pytest.fixture
def project(tmp_path: Path, endpoint: Endpoint) -> Project:
    """Two data sets of the same endpoint, one of files, and one whose file is a page that asks for a login."""
    project = Project(tmp_path / "project")
    project.config.mkdir(parents=True)
    (project.root / "churches.ttl").write_text(turtle(4), encoding="utf-8")
    (project.root / "login.ttl").write_text("<!DOCTYPE html><html><body>Sign in</body></html>", "utf-8")
    requests = {"pause_seconds": PAUSE, "parallel": 2, "batch_entities": 10}
    shared = {"embedding": {"model": "hash"}, "write_markdown": False}
    remote = shared | {"endpoint": {"url": endpoint.url, "requests": requests}}
    declared = {
        "museum": remote, "other_museum": remote, "churches": shared | {"rdf": ["churches.ttl"]},
        "broken": shared | {"rdf": ["login.ttl"]},
    }  # fmt: skip
    text = yaml.safe_dump({"datasets": declared})
    (project.config / "datasets.yaml").write_text(text, encoding="utf-8")
    return project


@pytest.mark.slow
def test_builds_at_once_take_turns_at_an_endpoint_and_one_that_fails_touches_no_other(
    project: Project, endpoint: Endpoint, forked: Path
) -> None:
    names = ("museum", "other_museum", "churches", "broken")
    readers = project.data / FOLDER
    endpoint.before(1, lambda: until(lambda: len(list(readers.glob(f"*/{READERS}/*"))) == 2))
    started = {name: start_build(forked, project, dataset=name) for name in names}
    told = {name: process.communicate(timeout=120)[1] for name, process in started.items()}
    assert {name: process.returncode for name, process in started.items()} == {
        "museum": 0, "other_museum": 0, "churches": 0, "broken": 1,
    }, "\n".join(told.values())  # fmt: skip
    assert "is a web page, not RDF" in told["broken"]
    for name in ("museum", "other_museum", "churches"):
        open_release(name, project.data).verify()
    assert not (project.data / "releases" / "broken").exists()

    assert endpoint.busiest <= 2
    at = sorted(record.at for record in endpoint.log)
    assert at[-1] - at[0] >= 0.95 * PAUSE * (len(at) - 1)
    sharing = "asked for '{}' too: they take turns, 2 at once at most"
    assert any(sharing.format(name) in text for text in told.values() for name in names[:2]), told
