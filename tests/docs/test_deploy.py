"""What deploy/ holds can be applied: the published schemas, names that refer to one another, settings that load."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from crmrag_query.cli.serve import serve
from crmrag_query.config.datasets import load_datasets
from crmrag_query.config.operations import load_operations
from tests.conftest import ROOT

KUBERNETES = ROOT / "deploy" / "kubernetes"
KUSTOMIZATION = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text(encoding="utf-8"))
SECRETS = {"store", "keys", "search-database", "dagster-database", "museum-tls"}
"""That an operator makes, as the comments of the files that use them say."""
VERSIONS = ("1.29.0", "1.37.0")  # the oldest and the newest schemas that we look at


def resources() -> list[dict[str, Any]]:
    texts = (KUBERNETES / name for name in KUSTOMIZATION["resources"])
    return [one for file in texts for one in yaml.safe_load_all(file.read_text(encoding="utf-8"))]


def of(kind: str) -> dict[str, dict[str, Any]]:
    return {one["metadata"]["name"]: one for one in resources() if one["kind"] == kind}


def found(key: str, within: Any) -> Iterator[Any]:
    """Every value of a key, however deep."""
    if isinstance(within, dict):
        for name, value in within.items():
            if name == key:
                yield value
            yield from found(key, value)
    elif isinstance(within, list):
        for value in within:
            yield from found(key, value)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("resource", resources(), ids=lambda one: f"{one['kind']}-{one['metadata']['name']}")
def test_every_manifest_is_what_the_published_schema_says(resource: dict[str, Any], version: str) -> None:
    validate = pytest.importorskip("kubernetes_validate", reason="pip install kubernetes-validate")
    validate.validate(resource, version, strict=True)


def test_a_mistake_would_be_found() -> None:
    validate = pytest.importorskip("kubernetes_validate", reason="pip install kubernetes-validate")
    wrong = of("Deployment")["service"]
    wrong["spec"]["template"]["spec"]["containers"][0]["imagePullPolice"] = "Always"
    with pytest.raises(validate.ValidationError):
        validate.validate(wrong, VERSIONS[0], strict=True)


def test_what_is_referred_to_is_there() -> None:
    maps = {one["name"] for one in KUSTOMIZATION["configMapGenerator"]}
    launcher = yaml.safe_load((KUBERNETES / "dagster.yaml").read_text(encoding="utf-8"))["run_launcher"][
        "config"
    ]
    everything = [*resources(), launcher]
    assert {one["name"] for key in ("configMap", "configMapRef") for one in found(key, everything)} <= maps
    assert {launcher["instance_config_map"], *launcher["env_config_maps"]} <= maps
    assert {one["name"] for one in found("secretRef", everything)} | {*launcher["env_secrets"]} <= SECRETS
    assert {one["claimName"] for one in found("persistentVolumeClaim", everything)} <= of(
        "PersistentVolumeClaim"
    ).keys()
    accounts = {*found("serviceAccountName", everything), launcher["service_account_name"]}
    assert accounts <= of("ServiceAccount").keys() and launcher["job_namespace"] == KUSTOMIZATION["namespace"]
    for one in KUSTOMIZATION["configMapGenerator"]:
        assert all((KUBERNETES / file).is_file() for file in one.get("files", ()))


def test_services_reach_ports_of_pods_and_volumes_are_mounted() -> None:
    deployments = of("Deployment")
    for service in of("Service").values():
        chosen = [
            one
            for one in deployments.values()
            if service["spec"]["selector"].items() <= one["spec"]["template"]["metadata"]["labels"].items()
        ]
        assert len(chosen) == 1, service["metadata"]["name"]
        ports = {port["name"] for port in found("ports", chosen[0]) for port in port}
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports
    for one in deployments.values():
        pod = one["spec"]["template"]["spec"]
        mounts = {mount["name"] for mounts in found("volumeMounts", pod) for mount in mounts}
        assert mounts == {volume["name"] for volume in pod.get("volumes", ())}
        assert (
            one["spec"]["selector"]["matchLabels"].items()
            <= one["spec"]["template"]["metadata"]["labels"].items()
        )
    workspace = yaml.safe_load((KUBERNETES / "workspace.yaml").read_text(encoding="utf-8"))
    for server in found("grpc_server", workspace):
        assert server["port"] in [port["port"] for port in of("Service")[server["host"]]["spec"]["ports"]]


def test_the_settings_load_and_the_service_takes_its_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (museum,) = load_datasets(KUBERNETES / "datasets.yaml").values()
    assert museum.publish_to == "s3://museum-releases/crmrag"
    scheduler = load_operations(KUBERNETES).dask
    host, port = scheduler.removeprefix("tcp://").split(":")
    assert int(port) in [one["port"] for one in of("Service")[host]["spec"]["ports"]]
    container = of("Deployment")["service"]["spec"]["template"]["spec"]["containers"][0]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv(
        "CRMRAG_DATA", next(one["value"] for one in container["env"] if one["name"] == "CRMRAG_DATA")
    )
    command, *options = container["args"]
    read = serve.make_context(command, options).params
    assert (read["host"], read["port"], read["workers"]) == ("0.0.0.0", 8000, 2)


def test_dagster_takes_the_launcher_of_runs() -> None:
    dagster_k8s = pytest.importorskip("dagster_k8s", reason="pip install 'crmrag[cluster]'")
    from dagster._config import process_config, resolve_to_config_type

    settings = yaml.safe_load((KUBERNETES / "dagster.yaml").read_text(encoding="utf-8"))
    kind = getattr(dagster_k8s, settings["run_launcher"]["class"])
    done = process_config(resolve_to_config_type(kind.config_type()), settings["run_launcher"]["config"])
    assert done.success, done.errors


def test_the_image_is_made_of_files_that_there_are() -> None:
    lines = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8").splitlines()
    named = [word for line in lines if line.startswith("COPY ") for word in line.split()[1:-1]]
    assert named and all((ROOT / name).exists() for name in named)
