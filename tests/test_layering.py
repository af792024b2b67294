"""The query package stands alone: it imports neither the build package nor what only building needs."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from networkx import DiGraph

from tools.house import circles, imports, longest_chain, modules, unit, units

ROOT = Path(__file__).parent.parent
NEVER = {"dagster", "crmrag_assets"}
NOT_AT_IMPORT = NEVER | {
    "torch", "sentence_transformers", "transformers", "litellm", "polars", "scipy", "pyoxigraph", "rdflib",
    "obstore", "filelock",
}  # fmt: skip
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in (ROOT / "crmrag_query").rglob("*.py")
)


@cache
def graph() -> DiGraph:
    """The imports of both packages, which several tests look at."""
    return imports(ROOT)


def imported(source: str) -> set[str]:
    """Top-level packages that a module imports anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


def test_no_query_module_imports_the_build_package_or_dagster() -> None:
    paths = [ROOT / Path(*module.split(".")).with_suffix(".py") for module in MODULES]
    assert paths and [path for path in paths if imported(path.read_text(encoding="utf-8")) & NEVER] == []


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
    """Everything that builds runs without Dagster; its modules are at the top of the package."""
    pure = [path for path in (ROOT / "crmrag_assets").rglob("*.py") if path.parent.name != "crmrag_assets"]
    found = [
        path.relative_to(ROOT).as_posix()
        for path in pure
        if "dagster" in imported(path.read_text(encoding="utf-8"))
    ]
    assert found == []


FLOORS = {
    "crmrag_query": (
        "errors version syntax text notes dates", "codec bounds timing llm config", "ontology shown language",
        "artifacts",
        "graph linking", "documents relationships questions", "graph_partitions",
        "plans", "retrieval",
        "entities context compare verify", "reading sets stores", "sparql",
        "answers validation", "evaluation", "client", "mcp", "service", "cli",
    ),
    "crmrag_assets": (
        "build", "harvest graph documents instance event_log", "sources profile partitions", "runs indexes communities",
        "opened graph_partitions", "release", "quality metadata", "steps checks", "operations",
        "launch", "cli", "definitions",
    ),
}  # fmt: skip
"""Packages and modules by floor, the lowest first: each imports only from floors below its own."""
HEIGHT = {
    f"{package}.{name}": height
    for height, (package, floor) in enumerate(
        (package, floor) for package, floors in FLOORS.items() for floor in floors
    )
    for name in floor.split()
}


def test_every_package_and_module_has_its_floor() -> None:
    assert {unit(module) for module in graph()} - set(FLOORS) == set(HEIGHT)


def test_imports_lead_down_and_never_to_the_same_floor() -> None:
    wrong = [(a, b) for a, b in units(graph()).edges if HEIGHT[b] >= HEIGHT[a]]
    assert wrong == [], "imports that lead up: lazy ones and those for types count"


def test_what_is_imported_within_functions_is_there_too() -> None:
    known = modules(ROOT)
    wanted = {
        node.module
        for path in known.values()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(tuple(FLOORS))
    }
    assert wanted - set(known) == set()


def test_no_module_imports_itself_through_others() -> None:
    assert circles(graph()) == []


def test_no_chain_of_imports_is_long() -> None:
    assert longest_chain(graph()) <= 15


def test_the_page_on_architecture_names_the_same_floors() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("## Floors")[2].partition("## Measured")[0]
    rows = [
        set(re.findall(r"`(\w+)`", row)) for row in table.splitlines() if row.startswith("|") and "`" in row
    ]
    assert rows == [set(floor.split()) for floors in FLOORS.values() for floor in floors]


def test_every_package_that_was_chosen_has_a_job_and_tests_where_the_page_says() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("## Packages and their jobs")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([\w-]+) \| [^|]+ \| `([^`]+)` \| `([^`]+)` \|$", table, re.MULTILINE)
    assert {package for package, _, _ in rows} == {
        "dagster", "dagster-webserver", "pyarrow", "polars", "SPARQLWrapper", "faiss", "rank_bm25", "sentence_transformers",
        "igraph", "networkx", "litellm", "obstore", "distributed",
    }  # fmt: skip
    for package, module, tests in rows:
        source = (ROOT / module).read_text(encoding="utf-8")
        named = {node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)}
        assert package in imported(source) | named, f"{module} does not use {package}"
        assert "def test_" in (ROOT / tests).read_text(encoding="utf-8"), tests
