"""The query package stands alone: it imports neither the build package nor what only building needs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NEVER = {"dagster", "crmrag_assets"}
NOT_AT_IMPORT = NEVER | {
    "torch",
    "sentence_transformers",
    "transformers",
    "litellm",
    "polars",
    "scipy",
    "pyoxigraph",
    "rdflib",
}
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in (ROOT / "crmrag_query").rglob("*.py")
)


def imported(source: str) -> set[str]:
    """Top-level packages that a module imports anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("module", MODULES)
def test_no_query_module_imports_the_build_package_or_dagster(module: str) -> None:
    path = ROOT / Path(*module.split(".")).with_suffix(".py")
    assert imported(path.read_text(encoding="utf-8")).isdisjoint(NEVER)


def test_importing_the_whole_query_package_loads_nothing_that_only_building_needs() -> None:
    names = [module.removesuffix(".__init__") for module in MODULES if not module.endswith("__main__")]
    script = (
        "import importlib, sys\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
        f"print(sorted({NOT_AT_IMPORT!r} & {{name.split('.')[0] for name in sys.modules}}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "[]"


def test_only_asset_and_launch_modules_import_dagster() -> None:
    """Everything that builds runs without Dagster; its modules are at the top of the package and in assets/."""
    pure = [
        path
        for path in (ROOT / "crmrag_assets").rglob("*.py")
        if path.parent.name not in ("crmrag_assets", "assets")
    ]
    found = [
        path.relative_to(ROOT).as_posix()
        for path in pure
        if "dagster" in imported(path.read_text(encoding="utf-8"))
    ]
    assert found == []
