"""The tutorial and the page on the client run as they stand, against the sample data set."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest

from crmrag_query import Answer, Entity
from tests.conftest import ROOT
from tests.query.client.test_shown import checked

NOTEBOOK = ROOT / "docs" / "tutorial.ipynb"
PAGE = ROOT / "docs" / "client.md"


def run(source: str, names: dict[str, Any], loop: asyncio.AbstractEventLoop) -> Any:
    """Run a cell as Jupyter does, await at the top level included; the value of its last expression, else None."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    for part in (tree, ast.Expression(last.value) if isinstance(last, ast.Expr) else None):
        if part is None:
            return None
        mode = "eval" if isinstance(part, ast.Expression) else "exec"
        code = compile(part, "cell", mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        value = eval(code, names)  # noqa: S307 - our own notebook
        if inspect.iscoroutine(value):
            value = loop.run_until_complete(value)
    return value


@pytest.fixture
def cells() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return found


def test_the_tutorial_runs_on_the_sample(
    cells: list[dict[str, Any]],
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CRMRAG_DATA", str(data))
    names: dict[str, Any] = {"__name__": "__main__"}
    loop = asyncio.new_event_loop()
    shown = []
    try:
        for cell in cells:
            if cell["cell_type"] == "code":
                value = run("".join(cell["source"]), names, loop)
                if value is not None:
                    shown.append(value)
                    assert value._repr_html_()
    finally:
        loop.close()
    printed = capsys.readouterr().out
    assert isinstance(names["answer"], Answer) and isinstance(names["entity"], Entity)
    assert names["whole"].text in printed and names["ranking"].context[:600] in printed
    assert names["entity"].label in printed
    assert printed.count("UnknownEntity: ") == 2
    assert len(names["found"]) > 0 and len(shown) >= 7
    assert len(checked(shown[1]._repr_html_())) > 50


def test_the_tutorial_is_stored_without_outputs_and_whole(cells: list[dict[str, Any]]) -> None:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4 and notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert len({cell["id"] for cell in cells}) == len(cells)
    for cell in cells:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None


def test_every_example_of_the_page_runs(data: Path, service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = PAGE.read_text(encoding="utf-8").replace("http://localhost:8000", service)
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 7
    monkeypatch.chdir(data.parent)
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102 - our own page
    assert isinstance(names["answer"], Answer)
    names["client"].close()


def test_the_page_names_every_method_and_error_that_the_client_has() -> None:
    from crmrag_query import Client, errors
    from crmrag_query.client.problems import KINDS

    text = PAGE.read_text(encoding="utf-8")
    for name, _ in inspect.getmembers(Client, inspect.isfunction):
        assert name.startswith("_") or name in ("close",) or f"{name}" in text, name
    for kind in KINDS:
        assert kind is errors.CrmRagError or kind.__name__ in text
