"""A ceiling stops a build before it encodes more than is allowed, and counts only what has no vector yet."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from crmrag_assets.build.step import chunks_of
from crmrag_assets.steps.indexes import price_of, require_within_ceiling, workload
from crmrag_query.errors import BuildError
from tests.support.builds import Project, build_all, make_project, turtle
from tests.support.builds import encoded as encoded_in
from tests.support.quality import build_up_to
from tests.support.shared import own_churches


def with_ceiling(project: Project, ceiling: str) -> Project:
    """The project with this ceiling in its datasets.yaml."""
    file = project.config / "datasets.yaml"
    kept = [line for line in file.read_text(encoding="utf-8").splitlines() if "ceiling" not in line]
    kept.insert(kept.index("  churches:") + 1, f"    ceiling: {ceiling}")
    file.write_text("\n".join(kept) + "\n", encoding="utf-8")
    return project


def encoded_files(project: Project) -> list[Path]:
    return [path for path in (project.data / "cache").rglob("*.bin") if path.stat().st_size]


def test_a_build_stops_before_it_encodes_too_much_and_goes_on_with_a_higher_ceiling(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    for ceiling, most in (
        ("{documents: 5}", "5"),
        ("{tokens: 50}", "50"),
        ("{usd: 0.001, usd_per_million_tokens: 900}", r"\$0\.001"),
    ):
        told = rf"Encoding 'churches' anew would take .* \(at most {most}\).*Nothing was encoded"
        with pytest.raises(BuildError, match=told):
            build_all(with_ceiling(project, ceiling).context())
        assert not encoded_files(project)
    build_all(with_ceiling(project, "{documents: 1000, tokens: 1000000}").context())
    assert encoded_files(project)


@pytest.mark.slow
def test_what_has_a_vector_does_not_count(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    project = own_churches(tmp_path_factory, tmp_path)
    assert workload(project.context()).documents == 0
    source = turtle().replace('"Painter 3"', '"Theophanes"')
    (project.root / "churches.ttl").write_text(source, encoding="utf-8")
    outcomes = build_all(with_ceiling(project, "{documents: 20}").context())
    encoded = encoded_in(outcomes)
    assert 0 < encoded <= 20


def test_the_workload_is_what_is_then_encoded(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    with pytest.raises(BuildError):
        build_all(with_ceiling(project, "{documents: 1}").context(20))
    context = with_ceiling(project, "{}").context(20)
    expected = workload(context)
    outcomes = build_all(context)
    windows = encoded_in(outcomes)
    assert (expected.windows, expected.documents) == (
        windows,
        context.finished("documents").stats["documents"],
    )


def test_a_paid_model_of_unknown_price_needs_one_to_be_kept_below_a_sum(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = own_churches(tmp_path_factory, tmp_path)
    model = "{model: openai/of-nobody, provider: litellm, dimension: 8}"
    file = project.config / "datasets.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(
        text.replace("    embedding:\n      model: hash", f"    embedding: {model}"), encoding="utf-8"
    )
    context = with_ceiling(project, "{usd: 1}").context()
    with pytest.raises(BuildError, match="price of 'openai/of-nobody' is not known"):
        require_within_ceiling(context, lambda name: None)
    require_within_ceiling(context, lambda name: 1e-9)


@pytest.mark.parametrize("ceiling", ["{tokens: 1}", "{usd: 0.001, usd_per_million_tokens: 900}"])
def test_themes_count_as_well_until_they_have_vectors(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, ceiling: str
) -> None:
    project = own_churches(tmp_path_factory, tmp_path)
    (themes,) = (one for one in encoded_files(project) if one.stem == "themes")
    vectors = themes.read_bytes()
    themes.unlink()
    context = with_ceiling(project, ceiling).context()
    assert workload(context).tokens == 0
    with pytest.raises(BuildError, match="more than its `ceiling` allows"):
        require_within_ceiling(context)
    themes.write_bytes(vectors)
    require_within_ceiling(context)


def test_a_chunk_that_was_begun_and_killed_still_borrows_what_is_known(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Its cache is there, and empty: what was encoded when the data set was one chunk counts."""
    project = own_churches(tmp_path_factory, tmp_path)
    (cache,) = (one for one in encoded_files(project) if one.stem != "themes")
    context = project.context(20)
    for number in range(256):
        cache.with_stem(f"{number:02x}").touch()
    outcomes = build_all(context)
    assert len(chunks_of(context)) > 1
    assert encoded_in(outcomes) == 0


def test_what_encoding_cost_is_counted_where_a_price_is_known(tmp_path: Path) -> None:
    priced = make_project(tmp_path / "priced", ceiling={"usd_per_million_tokens": 1_000_000}).context()
    stats = build_up_to(priced, "embeddings").finished("embeddings", "00").stats
    assert stats["encoded"] == stats["windows"] and stats["usd"] == stats["tokens"] > stats["windows"]
    shutil.rmtree(priced.folder("embeddings"))
    again = build_up_to(priced, "embeddings").finished("embeddings", "00").stats
    assert (again["encoded"], again["tokens"], again["usd"]) == (0, 0, 0.0), "all of it was cached"
    themes = build_up_to(priced, "community_index").finished("community_index").stats
    assert themes["encoded"] == themes["communities"] > 0 and themes["usd"] == themes["tokens"] > 0
    shutil.rmtree(priced.folder("community_index"))
    again = build_up_to(priced, "community_index").finished("community_index").stats
    assert (again["encoded"], again["tokens"], again["usd"]) == (0, 0, 0.0)
    free = make_project(tmp_path / "free").context()
    assert "usd" not in build_up_to(free, "embeddings").finished("embeddings", "00").stats


def test_a_price_is_the_configured_one_else_that_of_a_paid_model(tmp_path: Path) -> None:
    paid = {"model": "text-embedding-3-small", "provider": "litellm"}
    context = make_project(tmp_path / "paid", embedding=paid).context()
    assert price_of(context, lambda model: 2e-8) == 2e-8 and price_of(context, lambda model: None) is None
    own = make_project(tmp_path / "own", embedding=paid, ceiling={"usd_per_million_tokens": 3}).context()
    assert price_of(own, lambda model: 2e-8) == 3e-6
    assert price_of(make_project(tmp_path / "local").context(), lambda model: 2e-8) is None
