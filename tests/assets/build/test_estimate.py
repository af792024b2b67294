"""An estimate is exact where the sample is everything, near elsewhere, and never pays."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph as ox
import pytest

from crmrag_assets.cli.build import estimate_text
from crmrag_assets.harvest.source import Discovery
from crmrag_assets.opened import documents_of, encoder_of
from crmrag_assets.steps.estimate import estimate
from crmrag_assets.steps.indexes import litellm_price
from crmrag_query.artifacts.manifest import datasets_with_releases
from tests.support.builds import build_all, made, make_project, turtle
from tests.support.builds import encoded as encoded_in
from tests.support.shared import TROODOS
from tests.support.sparql_server import serving


def no_price(model: str) -> float | None:
    raise AssertionError("a local encoder has no price")


def test_discovery_is_not_repeated_and_nothing_else_is_left_behind(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    found = estimate(project.context(), no_price)
    assert not found.paid and found.price is None and found.seconds > 0
    assert datasets_with_releases(project.data) == ()
    assert "entities" not in made(build_all(project.context()))


@pytest.mark.parametrize("size", [200, None])
def test_documents_tokens_and_bytes_are_estimated_within_a_fifth(tmp_path: Path, size: int | None) -> None:
    """Whole where the sample is the data set; the sample of the bundled one has thin documents that nothing takes in."""
    source = turtle(300) if size else TROODOS.read_text(encoding="utf-8")
    project = make_project(tmp_path / "project", source)
    found = estimate(project.context(), no_price, size=size)
    context = project.context()
    outcomes = build_all(context)
    documents = documents_of(context)
    tokens = sum(encoder_of(context).count([documents.text(number) for number in range(documents.count)]))
    windows = sum(o.record.stats["windows"] for o in outcomes if o.record.artifact == "embeddings")
    assert found.entities == context.finished("entities").stats["entities"]
    near = 1 / 5 if size else 0
    assert found.documents == pytest.approx(documents.count, rel=near)
    assert found.windows == pytest.approx(windows, rel=near)
    assert found.tokens == pytest.approx(tokens, rel=near)
    (release,) = (project.data / "releases" / project.dataset).glob("*/manifest.json")
    stored = sum(
        path.stat().st_size
        for path in release.parent.rglob("*")
        if path.is_file() and "encoder" not in path.parts
    )
    assert found.bytes == pytest.approx(stored, rel=1 / 5)


def test_passages_of_long_texts_are_estimated_with_the_documents(tmp_path: Path) -> None:
    notes = "".join(f'ex:mural{n} crm:P3_has_note "{"Word of mouth. " * 200}{n}"@en .\n' for n in range(40))
    project = make_project(tmp_path / "project", f"{turtle(40)}\n{notes}")
    found = estimate(project.context(), no_price)
    context = project.context()
    outcomes = build_all(context)
    documents = documents_of(context)
    assert documents.passages.num_rows > 40
    assert found.documents == len(documents.texts)
    assert found.windows == sum(
        o.record.stats["windows"] for o in outcomes if o.record.artifact == "embeddings"
    )


def test_the_requests_of_a_harvest_are_foretold_and_only_a_sample_is_fetched(tmp_path: Path) -> None:
    """Against the requests that a build then sends: those of the harvest, and those that discovery had sent."""
    with serving(ox.parse(turtle(100), format=ox.RdfFormat.TURTLE), latency=0.002) as endpoint:
        declared = {
            "url": endpoint.url,
            "requests": {"pause_seconds": 0, "batch_entities": 50, "parallel": 1},
        }
        project = make_project(tmp_path / "project", rdf=None, endpoint=declared)
        found = estimate(project.context(), no_price, size=20)
        discovery = Discovery.load(project.context().folder("entities")).gathered.traffic.requests
        rows = sum(record.rows or 0 for record in endpoint.log)
        asked = len(endpoint.log)
        build_all(project.context())
        assert found.requests == discovery + len(endpoint.log) - asked
        assert found.harvest_seconds is not None and 0 < found.harvest_seconds < found.seconds
        assert rows < found.triples  # of discovery and sample together
    assert f"harvest    about {found.requests:,} requests, " in estimate_text(found)


def test_files_are_harvested_without_a_request(tmp_path: Path) -> None:
    found = estimate(make_project(tmp_path / "project").context(), no_price)
    assert (found.requests, found.harvest_seconds) == (None, None)
    assert "requests" not in estimate_text(found)


def test_a_paid_encoder_is_priced_and_not_called(tmp_path: Path) -> None:
    model = {"model": "openai/text-embedding-3-small", "provider": "litellm"}
    project = make_project(tmp_path / "project", embedding=model)
    found = estimate(project.context(), lambda name: 2e-8)
    assert found.paid and found.price == pytest.approx(found.tokens * 2e-8) and found.tokens > 0
    assert "price      about $0.00" in estimate_text(found)
    assert "--price" in estimate_text(estimate(project.context(), lambda name: None))


@pytest.mark.slow
def test_the_price_of_a_listed_model_is_known_without_a_network() -> None:
    assert litellm_price("openai/text-embedding-3-small") == pytest.approx(2e-8)
    assert litellm_price("nobody/has-this") is None


def test_after_a_build_it_tells_what_changed_and_how_much_that_reaches(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project", turtle(60))
    assert estimate(project.context(), no_price).again is None
    build_all(project.context())
    unchanged = estimate(project.context(), no_price)
    assert unchanged.again is not None and unchanged.again.documents == 0
    assert "Nothing changed in the source" in estimate_text(unchanged)

    source = turtle(61).replace('"Painter 3"', '"Theophanes"').replace("ex:church5 ", "ex:church500 ")
    (project.root / "churches.ttl").write_text(source, encoding="utf-8")
    again = estimate(project.context(), no_price).again
    assert again is not None
    outcomes = build_all(project.context())
    encoded = encoded_in(outcomes)
    assert again.windows == pytest.approx(encoded, rel=1 / 2)
    assert again.added >= 5 and again.removed >= 1  # a church's things; and the church that was renamed


def test_of_an_endpoint_it_does_not_ask_what_changed(tmp_path: Path) -> None:
    with serving(ox.parse(turtle(12), format=ox.RdfFormat.TURTLE)) as endpoint:
        declared = {"url": endpoint.url, "requests": {"pause_seconds": 0}}
        project = make_project(tmp_path / "project", rdf=None, endpoint=declared)
        build_all(project.context())
        assert estimate(project.context(), no_price, size=5).again is None
