"""Every example of the README, the documentation and the tutorial runs, and gives what the text says it gives.

A block is run by its language: `sh` by bash in a workplace like a reader's, `python` as it stands, all of a page in one
namespace; `json` and `yaml` are read as what they are (a plan, questions, an entry of a configuration, a host's servers).
What is not run is marked `text`.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
import yaml
from mcp.client.stdio import StdioServerParameters, stdio_client

from crmrag_query.artifacts.release import open_release
from crmrag_query.client.local import open_engine
from crmrag_query.config.datasets import load_datasets
from crmrag_query.config.loading import load_method, load_modes
from crmrag_query.config.operations import Operations, load_operations
from crmrag_query.evaluation.questions import read_questions
from crmrag_query.ontology.load import load_ontology
from crmrag_query.plans.records import read_plan
from crmrag_query.sets.build import answer_set
from crmrag_query.validation import check_method
from tests.conftest import ROOT
from tests.query.client.conftest import build, sample_data
from tests.query.client.test_shown import checked
from tests.query.mcp.conftest import hosted
from tests.support.documentation import MUSEUM, PAGES, Block, Workplace, blocks, furnish
from tests.support.service import application, served
from tests.support.sparql_server import serving

SLOW = ("data.md", "endpoints.md", "evaluation.md", "mcp.md", "modes.md", "operate.md", "themes.md")
"""Pages that build, start or ask what other tests of `make test` do, too."""
QUOTED = re.compile(r"“([^”]*)”")
MINUTES = 5 * 60
QUESTIONS = "questions.json"
"""The file that a page on questions shows, under the name by which its commands read it."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the sample, and a museum of somebody's own."""
    project = tmp_path_factory.mktemp("docs") / "project"
    (project / "museum.ttl").parent.mkdir(parents=True)
    (project / "museum.ttl").write_text(MUSEUM, encoding="utf-8")
    shutil.copytree(sample_data(tmp_path_factory) / "releases", project / "data" / "releases")
    return build(project, project / "museum.ttl", "my_museum")


@pytest.fixture(scope="module")
def service(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    engine = open_engine(str(built), dataset="sample")
    with served(application(engine, state=tmp_path_factory.mktemp("state"))) as address:
        yield address


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    store = ox.Store()
    store.load(MUSEUM, format=ox.RdfFormat.TURTLE)
    with serving(store) as server:
        yield server.url


@pytest.fixture
def place(
    built: Path, service: str, endpoint: str, forked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Workplace:
    found = furnish(tmp_path / "clone", built, service, endpoint, forked)
    monkeypatch.chdir(found.root)
    monkeypatch.setenv("PATH", f"{found.bin}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("CRMRAG_CONFIG", raising=False)
    return found


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow if page.name in SLOW else ()) for page in PAGES],
    ids=lambda page: page.name,
)
def test_every_example_of_a_page_runs(page: Path, place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    if page.suffix == ".ipynb":
        monkeypatch.setenv("CRMRAG_DATA", str(place.root / "data"))
    runner = Runner(place)
    for block in blocks(page):
        if block.language == "json" and block.text.startswith("["):
            (place.root / QUESTIONS).write_text(block.text, encoding="utf-8")
    try:
        for block in blocks(page):
            assert block.language in runner.kinds, (
                f"{block.where}: a block is one of {', '.join(runner.kinds)}"
            )
            try:
                runner.kinds[block.language](block)
            except Exception as error:
                raise AssertionError(f"{block.where}: {error}\n{block.text}") from error
    finally:
        runner.close()


class Runner:
    """Runs the blocks of a page, one after the other."""

    def __init__(self, place: Workplace) -> None:
        self.place = place
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.loop = asyncio.new_event_loop()
        self.kinds: dict[str, Callable[[Block], None]] = {
            "sh": self.shell, "python": self.python, "json": self.json, "yaml": self.yaml, "text": lambda _: None,
        }  # fmt: skip

    def close(self) -> None:
        for value in self.names.values():
            if type(value).__name__ == "Client" and callable(getattr(value, "close", None)):
                value.close()
        self.loop.close()

    def shell(self, block: Block) -> None:
        """Each line succeeds, and prints what its comment quotes."""
        lines = [line for line in block.text.replace("\\\n", " ").splitlines() if line.strip()]
        script = "\n".join(f"printf '\\n@@{number}\\n'\n{line}" for number, line in enumerate(lines))
        done = subprocess.run(
            ["bash", "-euc", self.place.here(script)], capture_output=True, text=True, timeout=MINUTES,
            check=False, cwd=self.place.root, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, f"status {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        printed = re.split(r"^@@\d+\n", done.stdout, flags=re.MULTILINE)[1:]
        for line, output in zip(lines, printed, strict=True):
            for quoted in QUOTED.findall(line.partition(" # ")[2]):
                assert quoted in output, f"{line}\n{output[-2000:]}"
            if line.startswith("curl "):
                assert '"remedy"' not in output and output.strip(), f"{line}\n{output[-2000:]}"

    def python(self, block: Block) -> None:
        """The block as a notebook runs it, with `await` at the top: it prints what its comments quote, and a result at its
        end shows as a table that holds no markup of the data."""
        tree = ast.parse(self.place.here(block.text), block.where)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        printed = StringIO()
        with redirect_stdout(printed):
            self._run(compile(tree, block.where, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT))
            if isinstance(last, ast.Expr):
                whole = ast.Expression(last.value)
                value = self._run(compile(whole, block.where, "eval", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT))
                if hasattr(value, "_repr_html_") and type(value).__module__.startswith("crmrag_query"):
                    assert checked(value._repr_html_())
        for quoted in QUOTED.findall(" ".join(re.findall("#.*", block.text))):
            assert quoted in printed.getvalue(), printed.getvalue()[-2000:]

    def _run(self, code: Any) -> Any:
        value = eval(code, self.names)  # noqa: S307 - our own pages
        return self.loop.run_until_complete(value) if inspect.iscoroutine(value) else value

    def json(self, block: Block) -> None:
        """A plan that gives what is quoted below it, questions with answers, or the servers of a host."""
        value = json.loads(block.text)
        if isinstance(value, list):
            assert read_questions(self.place.root / QUESTIONS)
        elif servers := value.get("mcpServers") or value.get("servers"):
            for server in servers.values():
                if "url" in server:
                    with hosted(self.place.here(server["url"])) as opened:
                        assert "sample" in opened.text("list_datasets")
                    continue
                assert Path(server["command"]).is_absolute()
                name, *words = (self.place.here(word) for word in (server["command"], *server["args"]))
                started = StdioServerParameters(command=name, args=words, cwd=self.place.root)
                with hosted(stdio_client(started)) as opened:
                    assert "sample" in opened.text("list_datasets")
        else:
            assert block.told, "the answer to a plan is quoted below it"
            found = answer_set(open_release("sample", self.place.root / "data"), read_plan(value))
            assert found.text.startswith(block.told), found.text

    def yaml(self, block: Block) -> None:
        """Data sets, a file of operations, modes, or an entry for the relations of a project."""
        value = yaml.safe_load(block.text)
        if "modes" in value:
            (self.place.root / "config" / "modes.yaml").write_text(block.text, encoding="utf-8")
            assert load_modes().keys() > value["modes"].keys()
            return
        if Operations.model_fields.keys() & set(value):
            folder = self.place.root / "operated"
            folder.mkdir(exist_ok=True)
            (folder / "operations.yaml").write_text(block.text, encoding="utf-8")
            assert load_operations(folder) != Operations()
            return
        if "datasets" in value:
            path = self.place.root / "declared.yaml"
            path.write_text(block.text, encoding="utf-8")
            assert load_datasets(path)
            return
        name = next(iter(value))
        folder = self.place.root / "own"
        folder.mkdir(exist_ok=True)
        shipped = (ROOT / "config" / "relations.yaml").read_text(encoding="utf-8")
        (folder / "relations.yaml").write_text(f"{shipped}\n{block.text}", encoding="utf-8")
        method = load_method(folder)
        assert name in method.relations
        assert not [one for one in map(str, check_method(method, load_ontology())) if name in one]


def test_the_tutorial_is_stored_without_outputs_and_whole() -> None:
    notebook = json.loads((ROOT / "docs" / "tutorial.ipynb").read_text(encoding="utf-8"))
    cells = notebook["cells"]
    assert notebook["nbformat"] == 4 and notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert len({cell["id"] for cell in cells}) == len(cells)
    for cell in cells:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None
