"""The lock files hold what pyproject.toml asks for, each package in one version and by its hashes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tools.environment import CPU_LOCK, CUDA_LOCK, EXTRAS, LOCK, ROOT
from tools.environment.__main__ import WHEELS, locked
from tools.environment.lock import PACKAGE

LOCKS = [LOCK, CPU_LOCK, CUDA_LOCK]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@cache
def pins() -> dict[str, list[tuple[Version, Marker | None]]]:
    """What is locked by name: versions, and where each is for."""
    found: dict[str, list[tuple[Version, Marker | None]]] = {}
    for path in LOCKS:
        for package in PACKAGE.finditer(path.read_text(encoding="utf-8")):
            pin = Requirement(package[0].partition("\\")[0])
            (one,) = pin.specifier
            found.setdefault(canonicalize_name(pin.name), []).append((Version(one.version), pin.marker))
    return found


def asked(*requirements: str) -> Iterator[Requirement]:
    """Requirements of pyproject.toml, those of the package's own extras in place of their names."""
    for requirement in map(Requirement, requirements):
        if requirement.name == PROJECT["name"]:
            for extra in requirement.extras:
                yield from asked(*PROJECT["optional-dependencies"][extra])
        else:
            yield requirement


def test_the_lock_satisfies_every_requirement() -> None:
    project = PROJECT["name"]
    for requirement in asked(*PROJECT["dependencies"], f"{project}[{','.join(EXTRAS)}]"):
        pinned = [version for version, _ in pins().get(canonicalize_name(requirement.name), [])]
        assert pinned and all(version in requirement.specifier for version in pinned), (
            f"{requirement}: run `make lock`"
        )


@pytest.mark.parametrize("python", sorted({python for pythons in WHEELS.values() for python in pythons}))
def test_of_each_package_one_version_is_locked_for_each_python(python: tuple[int, int]) -> None:
    major, minor = python
    where = {"python_version": f"{major}.{minor}", "python_full_version": f"{major}.{minor}.9"}
    for name, versions in pins().items():
        met = [v for v, marker in versions if not v.local and (marker is None or marker.evaluate(where))]
        assert len(met) <= 1, f"{name}: {met}"


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_a_lock_names_packages_and_hashes_and_no_place_to_get_them_from(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    rest = PACKAGE.sub("", text)
    assert [line for line in rest.splitlines() if line and not line.startswith("#")] == []
    for package in PACKAGE.finditer(text):
        assert re.fullmatch(
            r"[a-z0-9.-]+==[\w.+!]+( ; [\w .'<>=!()]+)? \\\n(    --hash=sha256:[0-9a-f]{64}( \\)?\n)+",
            package[0],
        ), package[0]


def test_releases_of_litellm_that_steal_credentials_are_refused_and_not_locked() -> None:
    (litellm,) = [r for r in asked(*PROJECT["optional-dependencies"]["llm"]) if r.name == "litellm"]
    for stolen in ("1.82.7", "1.82.8"):
        assert stolen not in litellm.specifier
        assert Version(stolen) not in {version for version, _ in pins()["litellm"]}


def test_nothing_for_cuda_is_installed_where_a_cpu_build_of_torch_is() -> None:
    names = re.findall(r"^([\w.-]+)==", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name in names if re.match("nvidia|cuda|triton", name)] == []


def test_where_the_lock_holds_is_decided_by_system_machine_and_python() -> None:
    assert locked("Linux", "x86_64", "CPython", (3, 11))
    assert not locked("Linux", "riscv64", "CPython", (3, 11))
    assert not locked("Linux", "x86_64", "PyPy", (3, 11))
    assert not locked("Linux", "x86_64", "CPython", (3, 99))
    oldest = PROJECT["requires-python"].removeprefix(">=")
    assert all(f"{pythons[0][0]}.{pythons[0][1]}" == oldest for pythons in WHEELS.values())
