"""What Dagster loads: assets, groups, partitions, jobs; and nothing noisy."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path

import dagster as dg
import pytest
import yaml

from crmrag_assets.build.layers import ARTIFACTS, LAYERS
from crmrag_assets.build.steps import STEPS
from crmrag_assets.definitions import defs
from crmrag_assets.jobs import layer_job_name
from crmrag_assets.partitions import chunk_order, datasets_of, range_tags
from crmrag_assets.quiet import known_betas
from crmrag_assets.release.contents import PLACES
from tests.conftest import ROOT

BESIDE = {"evaluation"}  # assets that no build makes
SNAPSHOT = Path(__file__).with_name("asset_specs.json")


def specs() -> dict[str, dict[str, object]]:
    """What a person sees of each asset in the catalogue, by key."""
    found: dict[str, dict[str, object]] = {}
    for spec in defs.resolve_all_asset_specs():
        found[spec.key.to_user_string()] = {
            "group": spec.group_name,
            "kinds": sorted(spec.kinds),
            "deps": sorted(dep.asset_key.to_user_string() for dep in spec.deps),
            "partitions": type(spec.partitions_def).__name__,
            "description": (spec.description or "").splitlines()[0],
        }
    return dict(sorted(found.items()))


def test_asset_specs_are_as_recorded() -> None:
    """A change of the catalogue is a decision: delete the file and run the test twice to record a new one."""
    if not SNAPSHOT.exists():
        SNAPSHOT.write_text(json.dumps(specs(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        pytest.fail(f"{SNAPSHOT.name} was missing and is recorded now: read it, then run again")
    assert specs() == json.loads(SNAPSHOT.read_text(encoding="utf-8"))


def test_every_artifact_has_an_asset_a_layer_a_step_and_a_description() -> None:
    found = specs()
    assert set(found) - BESIDE == set(ARTIFACTS) == set(STEPS)
    assert all(spec["description"] for spec in found.values())
    assert {spec["group"] for spec in found.values()} == {
        "source",
        "graph",
        "documents",
        "indexes",
        "release",
        "evaluation",
    }


def test_an_evaluation_is_of_a_release_and_part_of_no_build() -> None:
    spec = specs()["evaluation"]
    assert (spec["deps"], spec["partitions"]) == (["release"], "DynamicPartitionsDefinition")
    assert all("evaluation" not in layer.assets for layer in LAYERS)


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


def test_jobs_are_build_evaluate_and_one_for_each_layer() -> None:
    names = {job.name for job in defs.resolve_all_job_defs() if not job.name.startswith("__")}
    assert names == {"build", "evaluate"} | {layer_job_name(layer) for layer in LAYERS}


def test_every_check_guards_an_asset() -> None:
    checks = {key.to_user_string() for key in defs.resolve_asset_graph().asset_check_keys}
    assert checks == {
        "harvest_report:harvest_is_whole", "graph:no_triple_lost", "faiss_index:dense_covers_documents",
        "bm25_index:sparse_covers_documents", "release:manifest_verifies",
    }  # fmt: skip


def test_workspace_names_the_definitions() -> None:
    workspace = yaml.safe_load((ROOT / "workspace.yaml").read_text())
    assert workspace["load_from"][0]["python_module"]["module_name"] == "crmrag_assets.definitions"


def test_loading_the_definitions_warns_of_nothing() -> None:
    """Known beta warnings are silenced by name; a new one fails here."""
    code = "import crmrag_assets.definitions"
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", code], capture_output=True, text=True, cwd=ROOT
    )
    ours = [
        line for line in done.stderr.splitlines() if "crmrag" in line or "Beta" in line or "Preview" in line
    ]
    assert done.returncode == 0 and ours == []


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
    from crmrag_assets.harvest.chunks import chunk_keys

    assert sorted(chunk_order()[: 1 << bits]) == chunk_keys(bits)


def test_a_range_of_one_data_set_is_its_chunks() -> None:
    from crmrag_assets.partitions import dataset_chunk_partitions

    chunks = ["00", "40", "80", "c0"]
    tags = list(range_tags("b", chunks).values())
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("dataset", ["a", "b", "c"])
        found = dataset_chunk_partitions.get_partition_keys_in_range(
            dg.PartitionKeyRange(*tags), dynamic_partitions_store=instance
        )
    assert datasets_of([str(key) for key in found]) == {"b": set(chunks)}
