"""Releases before their vectors, and vectors as they come: each better release whole, reproducible and switched to."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from click.testing import CliRunner

from crmrag_assets import launch
from crmrag_assets.build.context import choose_share
from crmrag_assets.build.step import embedding_lock
from crmrag_assets.build.store import Published
from crmrag_assets.cli.build import embed as embed_command
from crmrag_assets.definitions import vectors_wanted
from crmrag_assets.indexes.encoder import SHARES, HashEncoder
from crmrag_assets.instance import open_instance
from crmrag_assets.launch import EmbedRequest, EmbedResult, run_embed
from crmrag_assets.opened import cache_of
from crmrag_assets.release.publish import roll_back
from crmrag_assets.runs import EMBEDS_TAG
from crmrag_assets.steps.indexes import caches_of
from crmrag_query import Client
from crmrag_query.artifacts.manifest import PREVIOUS, pointer
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.errors import BuildError, QuestionError
from crmrag_query.retrieval.dense import DenseIndex
from crmrag_query.verify.run import verify_folder
from tests.support.builds import Project, build_all, make_project, turtle
from tests.support.runs import build, folders, run_job

CHURCHES = 30


@pytest.fixture
def unwaited(monkeypatch: pytest.MonkeyPatch) -> None:
    """No build waits for vectors."""
    monkeypatch.setattr(launch, "PATIENCE_SECONDS", -1)


@pytest.fixture
def hurried(unwaited: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does `embed`, before it publishes at a share."""
    monkeypatch.setattr(launch, "BETWEEN_SECONDS", -1)


@pytest.fixture(scope="module")
def before_vectors(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make_project(tmp_path_factory.mktemp("embed") / "project", turtle(CHURCHES))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch, "PATIENCE_SECONDS", -1)
        build(project)
    return project


@pytest.fixture
def project(before_vectors: Project, tmp_path: Path) -> Project:
    """A project whose release was published before its vectors."""
    shutil.copytree(before_vectors.root, tmp_path / "project")
    return Project(tmp_path / "project")


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that is encoded from now on, to measure the pace aside."""
    found: list[str] = []
    real = HashEncoder.encode

    def encode(self: HashEncoder, texts: Sequence[str]) -> Any:
        found.extend(texts)
        return real(self, texts)

    monkeypatch.setattr(HashEncoder, "encode", encode)
    monkeypatch.setattr(launch, "pace_of", lambda context: 1.0)
    return found


def embed(project: Project, **options: Any) -> EmbedResult:
    clock = options.pop("clock", None)
    with open_instance(project.data) as instance:
        request = EmbedRequest(project.dataset, folders(project), **options)
        return run_embed(request, instance, **({"clock": clock} if clock else {}))


def current(project: Project) -> Release:
    return open_release(project.dataset, project.data)


def declare(project: Project, line: str) -> None:
    file = project.config / "datasets.yaml"
    file.write_text(file.read_text().replace("  churches:\n", f"  churches:\n    {line}\n"))


def test_a_release_without_vectors_is_whole_answers_and_says_how_they_follow(project: Project) -> None:
    release = current(project)
    assert (release.manifest.encoded, release.manifest.share) == (0, 0.0)
    report = verify_folder(release.folder)
    assert report.holds, report.faults
    client = Client(project.data, dataset="churches")
    assert client.ask("Who painted Mural 1?").sources
    assert len(client.retrieve("mural"))
    with pytest.raises(QuestionError, match=r"faiss_index.*crmrag embed churches"):
        client.ask("Who painted Mural 1?", mode="vector")
    assert client.dataset().dataset.counts["encoded"] == 0
    told = "documents have no vector yet"
    assert any(told in concern for concern in client.dataset().concerns)


def test_embed_publishes_whole_releases_at_each_share_and_ends_with_that_of_a_build_that_waited(
    project: Project, hurried: None, tmp_path: Path
) -> None:
    first, shares = current(project).id, []
    real = launch._publish

    def publishing(goal: Any, *rest: Any) -> bool:
        more = real(goal, *rest)
        release = current(project)
        shares.append((goal.share, release.manifest.encoded))
        assert verify_folder(release.folder).holds
        assert len(release[DenseIndex].window_document)
        # is not refused any more
        Client(project.data, dataset="churches").ask("Who painted Mural 1?", mode="vector")
        return more

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch, "_publish", publishing)
        result = embed(project)
    count = current(project).manifest.counts["documents"]
    assert shares == [(share, -(-count * share // 100)) for share in SHARES]
    assert len({first, *result.published}) == len(SHARES) + 1
    waited = make_project(tmp_path / "waited", turtle(CHURCHES))
    build(waited, wait=True)
    assert result.published[-1] == current(waited).id == current(project).id
    assert (result.share, embed(project).encoded) == (100, 0)


@pytest.mark.slow
def test_a_release_of_a_share_is_the_same_however_it_was_come_to(
    project: Project, hurried: None, tmp_path: Path
) -> None:
    embed(project)
    other = make_project(tmp_path / "other", turtle(CHURCHES))
    context = other.context()
    build_all(choose_share(context, 20))
    chosen = current(other)[DenseIndex].encoded
    assert 0 < chosen.sum() < len(chosen)
    by_steps = {open_release(path).manifest.encoded: path.name for path in kept(project)}
    assert current(other).manifest.encoded not in by_steps, "only the last two are kept"
    build_all(choose_share(context, 50))
    assert by_steps[current(other).manifest.encoded] == current(other).id
    assert (current(other)[DenseIndex].encoded | ~chosen).all(), "all documents of a smaller share"


def kept(project: Project) -> list[Path]:
    folder = project.data / "releases" / project.dataset
    return [path for path in folder.iterdir() if (path / "manifest.json").exists()]


def test_a_cache_of_another_chunk_counts_once_vectors_are_in_it(project: Project) -> None:
    """Every text is cut into windows to be looked up in one, which takes minutes where there are many."""
    own, other = (cache_of(project.context(), chunk) for chunk in ("00", "01"))
    other.unlink(missing_ok=True)
    other.touch()
    assert caches_of(project.context(), "00") == [own]
    other.write_bytes(b"a vector")
    assert caches_of(project.context(), "00") == [own, other]


@pytest.mark.slow
def test_a_killed_embed_goes_on_where_it_was_and_a_change_of_the_source_does_not_start_it_over(
    project: Project, unwaited: None, encoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(launch, "_count_cost", killed)
        with pytest.raises(KeyboardInterrupt):
            embed(project)
    before = len(encoded)
    assert before > 0
    embed(project)
    assert len(encoded) == len(set(encoded)), "nothing is encoded twice"
    assert current(project).manifest.share == 1
    known = set(encoded)
    encoded.clear()
    source = (project.root / "churches.ttl").read_text().replace('"Painter 3"', '"Theophanes"')
    (project.root / "churches.ttl").write_text(source)
    build(project)
    embed(project)
    assert encoded and known.isdisjoint(encoded)
    assert len(encoded) < len(known) / 2
    assert current(project).manifest.share == 1


@pytest.mark.slow
def test_a_build_while_vectors_are_made_is_gone_on_from(
    project: Project, unwaited: None, encoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[str] = []

    def meanwhile(*_: Any) -> None:
        if not built:
            built.append("once")
            source = (project.root / "churches.ttl").read_text().replace('"Church 5"', '"Saint Sophia"')
            (project.root / "churches.ttl").write_text(source)
            build(project)

    monkeypatch.setattr(launch, "_count_cost", meanwhile)
    embed(project)
    assert Client(project.data, dataset="churches").search("Saint Sophia")[0].label == "Saint Sophia"
    assert current(project).manifest.share == 1
    assert len(encoded) == len(set(encoded))


@pytest.mark.slow
def test_a_ceiling_keeps_the_vectors_back_and_not_the_release(
    tmp_path: Path, encoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(tmp_path / "project", ceiling={"documents": 5})
    result = build(project)
    assert not encoded and current(project).manifest.encoded == 0
    assert any("more than its `ceiling` allows" in warning for warning in result.warnings)
    with pytest.raises(BuildError, match="Nothing was encoded"):
        embed(project)
    with pytest.raises(BuildError, match="Nothing was encoded"):
        build(project, wait=True)
    assert not encoded


NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def test_hours_of_the_day_hold(project: Project, unwaited: None) -> None:
    declare(project, "rebuild: {embed_hours: '20:00-06:00'}")
    told = embed(project, clock=lambda: NOON)
    assert told.share == 0 and "goes on at 20:00" in told.remarks[0]
    times = iter([NOON + timedelta(hours=9)] * 2 + [NOON + timedelta(hours=18)] * 9)
    ended = embed(project, clock=lambda: next(times))
    assert ended.encoded > 0 and ended.share == 0, "the hours ended while it encoded"
    assert embed(project, now=True, clock=lambda: NOON).share == 100


@pytest.mark.slow
def test_the_release_before_stays_to_go_back_to_and_is_not_bettered_then(
    project: Project, unwaited: None
) -> None:
    embed(project)
    whole = current(project).id
    (project.root / "churches.ttl").write_text(turtle(CHURCHES + 1))
    build(project)
    folder = project.data / "releases" / project.dataset
    assert pointer(folder, PREVIOUS) == whole
    embed(project)
    assert pointer(folder, PREVIOUS) == whole and current(project).manifest.share == 1
    roll_back(project.data, project.dataset)
    assert current(project).id == whole
    with pytest.raises(BuildError, match="not the one that was built last"):
        embed(project)


def test_another_configuration_is_built_first(project: Project) -> None:
    declare(project, "communities: false")
    with pytest.raises(BuildError, match=r"configuration is another one by now.*crmrag build churches"):
        embed(project)


def test_two_embeds_of_one_data_set_do_not_meet(project: Project) -> None:
    root = project.context().store.root
    with embedding_lock(root, "churches"), pytest.raises(BuildError, match="being made by another process"):
        embed(project)


@pytest.mark.slow
def test_the_job_of_the_ui_does_the_same_and_tells_what_it_did_and_no_fresher_data(
    project: Project, unwaited: None
) -> None:
    root = project.context().store.root
    known = Published.read(root)
    assert known is not None and known.share == 0
    replace(known, at="2026-01-01T00:00:00Z").write(root)
    with open_instance(project.data) as instance:
        ops = {"embed_vectors": {"config": {"dataset": "churches", "now": False}}}
        run = run_job(project, instance, job="embed", ops=ops)
        assert run.success
        (made,) = (one for one in run.all_events if one.is_successful_output)
        told = {name: one.value for name, one in made.step_output_data.metadata.items()}
        assert (told["release"], told["vectors"]) == (current(project).id, "100 %")
        assert told["encoded"] > 0 and told["better_releases"] == 1
        record = instance.get_run_by_id(run.run_id)
        assert record is not None and record.tags[EMBEDS_TAG] == "churches"
    after = Published.read(root)
    assert after is not None and (after.at, after.share) == ("2026-01-01T00:00:00Z", 100)
    assert current(project).manifest.share == 1


def test_the_sensor_starts_it_where_vectors_lack_once_for_a_release_and_its_hours(
    project: Project, unwaited: None
) -> None:
    def tick(now: datetime) -> Any:
        with open_instance(project.data) as instance:
            return vectors_wanted(["churches"], folders(project), instance, now)

    (request,) = tick(NOON)
    assert request.run_config["ops"]["embed_vectors"]["config"]["dataset"] == "churches"
    assert tick(NOON + timedelta(hours=1))[0].run_key == request.run_key
    assert tick(NOON + timedelta(days=1))[0].run_key != request.run_key
    root = project.context().store.root
    with embedding_lock(root, "churches"):
        assert isinstance(tick(NOON), dg.SkipReason)
    declare(project, "rebuild: {embed_hours: '20:00-06:00'}")
    assert isinstance(tick(NOON), dg.SkipReason)
    evening, night = (tick(NOON + timedelta(hours=hours))[0] for hours in (9, 17))
    assert evening.run_key == night.run_key, "one night"
    embed(project, now=True)
    assert "vectors of all its documents" in str(tick(NOON + timedelta(hours=9)))


def test_the_command_says_what_it_came_to_and_outside_the_hours_when_it_goes_on(project: Project) -> None:
    places = ["churches", "--data", str(project.data), "--config", str(project.config)]
    hour = datetime.now(UTC).hour
    declare(project, f"rebuild: {{embed_hours: '{(hour + 3) % 24:02}:00-{(hour + 4) % 24:02}:00'}}")
    waits = CliRunner().invoke(embed_command, places, catch_exceptions=False)
    assert waits.exit_code == 0 and "vectors of 0 % of its documents" in waits.output
    assert f"goes on at {(hour + 3) % 24:02}:00" in waits.output
    done = CliRunner().invoke(embed_command, [*places, "--now", "--quiet"], catch_exceptions=False)
    assert (
        done.output == f"Release {current(project).id} of churches has vectors of 100 % of its documents.\n"
    )
