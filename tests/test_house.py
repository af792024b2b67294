"""The ruler of the code's structure measures what stands in the files: `tools.house`."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tools.house import (
    ROOT,
    circles,
    imports,
    lines,
    longest_chain,
    modules,
    passed,
    settings,
    units,
)

FILES = {
    "crmrag_query/__init__.py": "",
    "crmrag_query/errors.py": "",
    "crmrag_query/graph/__init__.py": "from crmrag_query import errors\n",
    "crmrag_query/graph/walk.py": "from crmrag_query.graph import names\nfrom ..errors import Missing\n",
    "crmrag_query/graph/names.py": "def name():\n    from crmrag_query.plans.world import World\n",
    "crmrag_query/plans/__init__.py": "",
    "crmrag_query/plans/world.py": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import crmrag_query.graph.walk\n"
    ),
    "crmrag_assets/__init__.py": "",
    "crmrag_assets/build.py": "from crmrag_query.graph.walk import walk\n",
}
CIRCLE = ["crmrag_query.graph.names", "crmrag_query.graph.walk", "crmrag_query.plans.world"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


def test_a_circle_is_found_though_one_import_is_in_a_function_and_one_for_types(root: Path) -> None:
    graph = imports(root)
    assert circles(graph) == [CIRCLE]
    assert circles(units(graph)) == [["crmrag_query.graph", "crmrag_query.plans"]]


def test_relative_imports_and_modules_imported_as_names_count(root: Path) -> None:
    graph = imports(root)
    assert set(graph.successors("crmrag_query.graph.walk")) == {
        "crmrag_query.graph.names",
        "crmrag_query.errors",
    }
    assert set(graph.successors("crmrag_query.graph")) == {"crmrag_query.errors"}


def test_the_longest_chain_counts_every_module_of_a_circle(root: Path) -> None:
    assert longest_chain(imports(root)) == len(["crmrag_assets.build", *CIRCLE, "crmrag_query.errors"])


def test_lines_files_and_settings(root: Path) -> None:
    assert len(modules(root)) == len(FILES)
    assert lines(modules(root).values()) == sum(text.count("\n") for text in FILES.values())
    assert settings({"a": 1, "b": {"c": [1, 2], "d": {"e": None}}}) == 3


def test_what_a_user_tunes_is_at_most_150_settings() -> None:
    assert settings(yaml.safe_load((ROOT / "config" / "method.yaml").read_bytes())) <= 150


def test_modules_that_a_call_passes_are_those_of_which_a_function_runs() -> None:
    from crmrag_query.dates import day_number

    assert passed(lambda: day_number(1105, 3, 25)) == {"crmrag_query.dates"}
