"""Measure the structure of the code: `python -m tools.house [DATA]`.

Prints lines, files, import circles, the longest import chain, the settings in method.yaml and, with a data folder that
holds the data set `sample`, the modules that a question passes. docs/architecture.md has the table of the last change.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import networkx as nx
import yaml

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("crmrag_query", "crmrag_assets")
READERS = ("crmrag_query.reading", "crmrag_query.questions", "crmrag_query.language")
"""Where questions are read."""
QUESTION = "Which churches were built before 1200?"


def modules(root: Path = ROOT) -> dict[str, Path]:
    """The modules of both packages by dotted name; a package's `__init__` has the package's name."""
    found: dict[str, Path] = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(root: Path = ROOT) -> nx.DiGraph:
    """Which module imports which; imports inside functions and those for types only count like all others."""
    known = modules(root)
    graph = nx.DiGraph()
    graph.add_nodes_from(known)
    for name, path in known.items():
        for target in _targets(ast.parse(path.read_text(encoding="utf-8")), name, path):
            while target and target not in known:  # a name that is imported from a module, not a module
                target = target.rpartition(".")[0]
            if target and target != name:
                graph.add_edge(name, target)
    return graph


def _targets(tree: ast.AST, name: str, path: Path) -> Iterator[str]:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def unit(module: str) -> str:
    """The package or top module that a module belongs to: `crmrag_query.plans`."""
    return ".".join(module.split(".")[:2])


def units(graph: nx.DiGraph) -> nx.DiGraph:
    """Which package or top module imports from which."""
    pairs = ((unit(a), unit(b)) for a, b in graph.edges)
    return nx.DiGraph((a, b) for a, b in pairs if a != b and b not in PACKAGES and a not in PACKAGES)


def circles(graph: nx.DiGraph) -> list[list[str]]:
    """The sets of nodes that reach each other, largest first."""
    found = [sorted(part) for part in nx.strongly_connected_components(graph) if len(part) > 1]
    return sorted(found, key=lambda part: (-len(part), part))


def longest_chain(graph: nx.DiGraph) -> int:
    """Modules on the longest chain of imports; a circle counts with all of its modules."""
    whole = nx.condensation(graph)
    weight = {node: len(data["members"]) for node, data in whole.nodes(data=True)}
    reach: dict[int, int] = {}
    for node in reversed(list(nx.topological_sort(whole))):
        reach[node] = weight[node] + max((reach[after] for after in whole.successors(node)), default=0)
    return max(reach.values(), default=0)


def lines(paths: Iterable[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def settings(node: Any) -> int:
    """Values that can be set: the leaves of a YAML mapping; a list is one value."""
    if isinstance(node, dict):
        return sum(settings(value) for value in node.values())
    return 1


def passed(ask: Callable[[], object]) -> set[str]:
    """The modules of the query package of which a function runs while `ask` is called."""
    seen: set[str] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith(PACKAGES) and frame.f_code.co_name != "<module>":
            seen.add(name)

    _profiled(ask, note)
    return seen


def _profiled(ask: Callable[[], object], note: Callable[[FrameType, str, object], None]) -> None:
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        ask()
    finally:
        sys.setprofile(before)


READING = {
    ("crmrag_query.linking", "link"): "times that a question is linked",
    ("crmrag_query.questions.form", "analyse"): "times that it is analysed",
    ("crmrag_query.text", "_question_tokens"): "times that it is cut into words",
}


def readings(ask: Callable[[], object], question: str) -> dict[str, int]:
    """How often the functions of READING run for this very question while `ask` is called."""
    counts = dict.fromkeys(READING.values(), 0)

    def note(frame: FrameType, event: str, argument: object) -> None:
        what = READING.get((frame.f_globals.get("__name__", ""), frame.f_code.co_name))
        if event == "call" and what and question in frame.f_locals.values():
            counts[what] += 1

    _profiled(ask, note)
    return counts


def question_modules(data: str) -> set[str]:
    """The modules that QUESTION passes on the data set `sample`, asked a second time."""
    from crmrag_query import Client

    client = Client(data)
    client.ask(QUESTION, dataset="sample")
    return passed(lambda: client.ask(QUESTION, dataset="sample"))


def question_readings(data: str) -> dict[str, int]:
    """How often QUESTION is read on the data set `sample`."""
    from crmrag_query import Client, text

    client = Client(data)
    client.ask(QUESTION, dataset="sample")
    text._question_tokens.cache_clear()
    return readings(lambda: client.ask(QUESTION, dataset="sample"), QUESTION)


def measure(root: Path = ROOT, data: str | None = None) -> dict[str, str]:
    """Each figure of the table by its name, as text."""
    graph = imports(root)
    product = list(modules(root).values())
    reading = [path for name, path in modules(root).items() if unit(name) in READERS]
    tied = circles(units(graph))
    sizes = [str(len(part)) for part in circles(graph)]
    method = yaml.safe_load((root / "config" / "method.yaml").read_text(encoding="utf-8"))
    table = {
        "lines of product Python": f"{lines(product):,}",
        "of these in reading/, questions/ and language.py": f"{lines(reading):,}",
        "files of product Python": f"{len(product):,}",
        "lines of tests": f"{lines((root / 'tests').rglob('*.py')):,}",
        "packages and top modules in import circles": str(sum(map(len, tied))),
        "import circles of modules, by size": ", ".join(sizes) or "none",
        "longest import chain": str(longest_chain(graph)),
        "settings in method.yaml": str(settings(method)),
    }
    if data:
        found = question_modules(data)
        reader = {name for name in found if unit(name) in READERS}
        table["modules that a question passes"] = str(len(found))
        table["without the reader's"] = str(len(found - reader))
        table |= {what: str(count) for what, count in question_readings(data).items()}
    return table


def main() -> None:
    for name, value in measure(data=sys.argv[1] if len(sys.argv) > 1 else None).items():
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()
