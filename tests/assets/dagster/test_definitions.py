"""What Dagster loads: assets, groups, partitions, jobs; and nothing noisy."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from crmrag_assets.build.step import ARTIFACTS, LAYERS, PLACES, chunk_keys
from crmrag_assets.definitions import defs
from crmrag_assets.instance import known_betas
from crmrag_assets.launch import CHUNKS_NOTE
from crmrag_assets.partitions import (
    chunk_order,
    dataset_chunk_partitions,
    datasets_of,
    offer_chunks,
    range_tags,
)
from crmrag_assets.quality.checks import CHECKS
from crmrag_assets.steps.registry import STEPS
from crmrag_query.config.operations import load_operations
from crmrag_query.errors import ConfigError
from tests.conftest import ROOT

BESIDE = {"evaluation"}  # assets that no build makes
SNAPSHOT = Path(__file__).with_name("asset_specs.json")
OTHERS = Path(__file__).with_name("definitions.json")


def specs() -> dict[str, dict[str, object]]:
    """What a person sees of each asset in the catalogue, by key."""
    found: dict[str, dict[str, object]] = {}
    for spec in defs.resolve_all_asset_specs():
        found[spec.key.to_user_string()] = {
            "group": spec.group_name,
            "kinds": sorted(spec.kinds),
            "deps": sorted(dep.asset_key.to_user_string() for dep in spec.deps),
            "partitions": type(spec.partitions_def).__name__,
            "description": (spec.description or "").partition(f"\n\n{CHUNKS_NOTE}")[0],
            "owners": list(spec.owners),
            "tags": {key: tag for key, tag in sorted(spec.tags.items()) if not key.startswith("dagster/")},
            "columns": columns(spec.metadata),
            "code": [
                f"{Path(one.source).relative_to(ROOT)}".rpartition(":")[0]
                for one in spec.metadata["dagster/code_references"].code_references
            ],
        }
    return dict(sorted(found.items()))


def columns(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Column -> its type, and the columns that it is made from."""
    if "dagster/column_schema" not in metadata:
        return {}
    lineage = metadata.get("dagster/column_lineage")
    deps = lineage.deps_by_column if lineage else {}
    return {
        column.name: " < ".join(
            [
                column.type,
                *(f"{d.asset_key.to_user_string()}.{d.column_name}" for d in deps.get(column.name, ())),
            ]
        )
        for column in metadata["dagster/column_schema"].columns
    }


def others() -> dict[str, dict[str, object]]:
    """Everything else that Dagster loads, by name: checks, jobs, schedules, sensors."""
    repository, graph = defs.get_repository_def(), defs.resolve_asset_graph()
    checks = {key.to_user_string(): graph.get_check_spec(key) for key in graph.asset_check_keys}
    jobs = {
        job.name: job.description or "" for job in repository.get_all_jobs() if not job.name.startswith("__")
    }
    return {
        "checks": {
            name: f"{'blocks' if spec.blocking else 'does not block'}: {(spec.description or '').splitlines()[0]}"
            for name, spec in sorted(checks.items())
        },
        "jobs": {name: text.splitlines()[0] for name, text in sorted(jobs.items())},
        "schedules": {
            one.name: f"{one.cron_schedule}: {one.description}" for one in repository.schedule_defs
        },
        "sensors": {
            one.name: f"{one.default_status.value}: {one.description}" for one in repository.sensor_defs
        },
    }


@pytest.mark.parametrize(("file", "seen"), [(SNAPSHOT, specs), (OTHERS, others)], ids=["assets", "others"])
def test_the_catalogue_is_as_recorded(file: Path, seen: Callable[[], dict[str, dict[str, object]]]) -> None:
    """A change of the catalogue is a decision: delete the file and run the test twice to record a new one."""
    if not file.exists():
        file.write_text(json.dumps(seen(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        pytest.fail(f"{file.name} was missing and is recorded now: read it, then run again")
    assert seen() == json.loads(file.read_text(encoding="utf-8"))


def test_every_artifact_has_an_asset_a_layer_a_step_and_a_description() -> None:
    found = specs()
    assert set(found) - BESIDE == set(ARTIFACTS) == set(STEPS)
    assert all(spec["description"] for spec in found.values())


def test_layers_respect_dependencies_and_share_partitions() -> None:
    found, layer_of = specs(), {asset: n for n, layer in enumerate(LAYERS) for asset in layer.assets}
    for asset in found.keys() - BESIDE:
        spec = found[asset]
        deps = spec["deps"]
        assert isinstance(deps, list)
        assert all(layer_of[dep] <= layer_of[asset] for dep in deps), asset
    for layer in LAYERS:
        kinds = {found[asset]["partitions"] for asset in layer.assets}
        assert kinds == {"MultiPartitionsDefinition" if layer.chunked else "DynamicPartitionsDefinition"}
        assert {STEPS[asset].chunked for asset in layer.assets} == {layer.chunked}


def test_the_release_depends_on_everything_it_pins() -> None:
    deps = specs()["release"]["deps"]
    assert deps == sorted([*(PLACES.keys() - {"method"}), "harvest_report"]), (
        "and on what its provenance tells"
    )


def test_every_check_guards_an_asset_that_its_layer_makes() -> None:
    chunked = {asset for layer in LAYERS if layer.chunked for asset in layer.assets}
    assert not {check.of for check in CHECKS} & chunked, (
        "an asset of chunks has no output that a check could follow"
    )


def test_an_owner_that_is_nobody_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "operations.yaml").write_text("owners: [ada]\n", encoding="utf-8")
    monkeypatch.setenv("CRMRAG_CONFIG", str(tmp_path))
    with pytest.raises(ConfigError, match=r"owners\[0\]: neither an address of e-mail"):
        load_operations()


def test_workspace_names_the_definitions() -> None:
    workspace = yaml.safe_load((ROOT / "workspace.yaml").read_text())
    assert workspace["load_from"][0]["python_module"]["module_name"] == "crmrag_assets.definitions"


def test_only_known_warnings_are_silenced_and_only_where_they_arise() -> None:
    known = "Class `MultiToSingleDimensionPartitionMapping` is currently in beta"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with known_betas():
            warnings.warn("Class `Other` is currently in beta", dg.BetaWarning, stacklevel=1)
            warnings.warn(known, dg.BetaWarning, stacklevel=1)
        warnings.warn(known, dg.BetaWarning, stacklevel=1)
    assert [str(warning.message) for warning in caught] == ["Class `Other` is currently in beta", known]


@pytest.mark.parametrize("bits", range(9))
def test_the_chunks_of_any_size_are_the_first_keys(bits: int) -> None:
    """So that a range of partitions holds a data set's chunks and no others."""
    assert sorted(chunk_order()[: 1 << bits]) == chunk_keys(bits)


def test_a_range_of_one_data_set_is_its_chunks() -> None:
    chunks = ["00", "40", "80", "c0"]
    tags = list(range_tags("b", chunks).values())
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("dataset", ["a", "b", "c"])
        offer_chunks(instance, ["00", "80"])  # of a smaller data set, before
        offer_chunks(instance, chunks)
        found = dataset_chunk_partitions.get_partition_keys_in_range(
            dg.PartitionKeyRange(*tags), dynamic_partitions_store=instance
        )
    assert datasets_of([str(key) for key in found]) == {"b": set(chunks)}
