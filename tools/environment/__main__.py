"""Installs this working copy into the Python that runs it: `python -m tools.environment`. Used by the Makefile."""

from __future__ import annotations

import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tools.environment import CPU_LOCK, CUDA_LOCK, EXTRAS, LOCK, ROOT

# Where every locked package has a wheel: elsewhere one would have to be built, with tools that nothing has checked.
WHEELS = {
    ("Linux", "x86_64"): ((3, 11), (3, 12), (3, 13), (3, 14)),
    ("Darwin", "arm64"): ((3, 11), (3, 12), (3, 13)),
}
# Python compiles a module when it is first used; compiling all of them here takes longer than fetching them.
PIP = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile")
CHECKED = ("--require-hashes", "--no-deps", "--only-binary=:all:")


def locked(system: str, machine: str, implementation: str, python: tuple[int, int]) -> bool:
    """Whether the lock's packages can be installed there."""
    return implementation == "CPython" and python in WHEELS.get((system, machine), ())


def install() -> None:
    here = platform.system(), platform.machine(), platform.python_implementation()
    if not locked(*here, sys.version_info[:2]):
        print(
            f"{LOCK.name} has no packages for {here[2]} {platform.python_version()} on {here[0]} {here[1]}: "
            "installing the newest that pyproject.toml allows, without checking their hashes."
        )
        pip("--editable", f".[{','.join(EXTRAS)}]")
        return
    if torch() is None:  # one that somebody chose stays
        tried = run(*CHECKED, *of(CPU_LOCK), capture_output=True)
        if tried.returncode and b"No matching distribution" not in tried.stderr:
            sys.exit(tried.stderr.decode())
    pip(*CHECKED, *of(LOCK))
    if "+" not in str(torch()):  # PyPI's; a build from elsewhere says what it is: +cpu, +cu130
        pip(*CHECKED, *of(CUDA_LOCK))
    pip("--no-deps", "--no-build-isolation", "--editable", ".")


def torch() -> str | None:
    """The version of PyTorch that is installed."""
    try:
        return version("torch")
    except PackageNotFoundError:
        return None


def of(lock: Path) -> tuple[str, str]:
    return "--requirement", lock.name


def pip(*arguments: str) -> None:
    """Install, or end with pip's own words and status."""
    if failed := run(*arguments).returncode:
        sys.exit(failed)


def run(*arguments: str, capture_output: bool = False) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*PIP, *arguments], cwd=ROOT, check=False, capture_output=capture_output)


if __name__ == "__main__":
    install()
