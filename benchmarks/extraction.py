"""What is read from diagrams on pages, against their exact ground truth: nodes and edges as F1.

    python benchmarks/extraction.py FOLDER [--model NAME] [--out benchmarks/results/extraction]

FOLDER holds pairs of a PDF of one page and the Graphviz file (.dot) that it was drawn from: `NAME.pdf`, `NAME.dot`. A node
counts by its label, an edge by the labels of its source, of itself and of its target; each as often as it is drawn.

The baseline reads the text layer and where it stands on the page, without any model: by how RDF names are written, a label is
a node or an edge, and an edge joins the nodes that are nearest above and below. With ``--model``, which sees images, the
product's own extraction reads the page's image, with types of its own for diagrams; its replies are kept in ``--cache``.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium

from crmrag_assets.build.step import SilentProgress
from crmrag_assets.sources.pages.extract import Extractor
from crmrag_assets.sources.pages.render import render
from crmrag_query.config.loading import ExtractionPart, Profile, load_method
from crmrag_query.config.sources import PagesConfig
from crmrag_query.llm.model import LiteLLM
from crmrag_query.llm.pool import ModelPool

Edge = tuple[str, str, str]
"""Labels of the source, the edge and the target."""
NODE = re.compile(r'^(\w+)\[.*?label="([^"]*)"')
EDGE = re.compile(r'^(\w+) -> (\w+)\[.*?label="([^"]*)"')
PROPERTY = re.compile(r"[A-Z]+\d+[a-z]*_|[a-z]")
"""How names of properties begin: with a letter and a number, or a small letter; other names with a capital."""
ADDRESS = re.compile(r"[a-z]+://")
FILE = re.compile(r"\S+\.(csv|json|tsv|xml|xlsx?)", re.IGNORECASE)
TITLE = "model"  # stands on each of these drawings, and is neither

DIAGRAM = {
    "entities": {
        "CLASS": {"class": "E55_Type", "hint": "grey; name: the whole label with its number", "label": {"en": "class"}},
        "COLUMN": {"class": "E55_Type", "hint": "yellow; name: the whole label", "label": {"en": "column"}},
    },
    "relationships": {
        "ARROW": {
            "path": ["P67_refers_to"],
            "hint": "an arrow, from where it begins to its head; description: the label of the arrow, letter by letter",
        }
    },
}  # fmt: skip
"""What a model is told to look for: the types of a drawing in place of those of a text."""


@dataclass(frozen=True)
class Drawing:
    """Labels of nodes, and edges, each with how often it is drawn."""

    nodes: Counter[str]
    edges: Counter[Edge]


def truth(file: Path) -> Drawing:
    """What a Graphviz file draws, of the form in which the tool that made it writes it: a statement a line."""
    labels, edges = dict[str, str](), Counter[Edge]()
    lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if (found := NODE.match(line)) and "->" not in line:
            labels[found[1]] = found[2]
    for line in lines:
        if found := EDGE.match(line):
            edges[labels[found[1]], found[3], labels[found[2]]] += 1
    return Drawing(Counter(labels.values()), edges)


def baseline(file: Path) -> Drawing:
    """What the text layer of the first page says, and where it says it."""
    layer = pdfium.PdfDocument(file)[0].get_textpage()
    nodes, arrows = list[tuple[str, float, float]](), list[tuple[str, float, float]]()
    for number in range(layer.count_rects()):
        left, bottom, right, top = layer.get_rect(number)
        label = " ".join(layer.get_text_bounded(left, bottom, right, top).split())
        if not label or label == TITLE or FILE.fullmatch(label):
            continue
        is_edge = PROPERTY.match(label) and not ADDRESS.match(label) and not re.search(r"^E\d", label)
        (arrows if is_edge else nodes).append((label, (left + right) / 2, (bottom + top) / 2))
    edges = Counter[Edge]()
    for label, x, y in arrows:
        above, below = (
            min(
                (one for one in nodes if (one[2] > y) == upper),
                key=lambda one: (one[1] - x) ** 2 + (one[2] - y) ** 2,
                default=None,
            )
            for upper in (True, False)
        )
        if above and below:
            edges[above[0], label, below[0]] += 1
    return Drawing(Counter(label for label, _, _ in nodes), edges)


def by_model(file: Path, extractor: Extractor, cache: Path) -> Drawing:
    """What a model reads from the page's image."""
    (page,) = render(file.name, file, PagesConfig(files=(file.name,)), cache).pages
    ((reading,),) = extractor.read([[page.image]], SilentProgress())
    entities = reading.found.entities
    edges = Counter(
        (entities[one["source"]]["name"], one["description"], entities[one["target"]]["name"])
        for one in reading.found.relationships
    )
    return Drawing(Counter(one["name"] for one in entities), edges)


@dataclass
class Score:
    """Things found that are there (``hits``), ``found`` and ``there``."""

    hits: int = 0
    found: int = 0
    there: int = 0

    def add(self, found: Counter[Any], there: Counter[Any]) -> Score:
        return Score(
            self.hits + (found & there).total(), self.found + found.total(), self.there + there.total()
        )

    @property
    def f1(self) -> float:
        return 2 * self.hits / max(self.found + self.there, 1)


def table(read: dict[str, Drawing], there: dict[str, Drawing]) -> list[dict[str, Any]]:
    """A row for each drawing, and one for all together."""
    rows, all_nodes, all_edges = list[dict[str, Any]](), Score(), Score()
    for name, drawn in there.items():
        nodes, edges = (
            Score().add(read[name].nodes, drawn.nodes),
            Score().add(read[name].edges, drawn.edges),
        )
        rows.append(_row(name, nodes, edges))
        all_nodes, all_edges = (
            all_nodes.add(read[name].nodes, drawn.nodes),
            all_edges.add(read[name].edges, drawn.edges),
        )
    return [*rows, _row("all", all_nodes, all_edges)]


def _row(name: str, nodes: Score, edges: Score) -> dict[str, Any]:
    return {
        "drawing": name, "nodes": nodes.there, "node F1": round(nodes.f1, 3), "edges": edges.there,
        "edge F1": round(edges.f1, 3),
    }  # fmt: skip


def markdown(tables: dict[str, list[dict[str, Any]]], command: str) -> str:
    lines = ["# Reading diagrams from pages", "", f"`{command}`"]
    for reader, rows in tables.items():
        lines += [
            "",
            f"## {reader}",
            "",
            f"| {' | '.join(rows[0])} |",
            "|---" + "|---:" * (len(rows[0]) - 1) + "|",
        ]
        lines += [f"| {' | '.join(map(str, row.values()))} |" for row in rows]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default="", help="a model that sees images, by its litellm name")
    parser.add_argument("--cache", type=Path, default=Path("data/cache"))
    parser.add_argument("--usd", type=float, help="the most that the model may cost")
    parser.add_argument("--out", type=Path, help="where to write NAME.md and NAME.json")
    given = parser.parse_args()
    files = sorted(given.folder.glob("*.dot"))
    there = {file.stem: truth(file) for file in files}
    tables = {"text layer, no model": table({f.stem: baseline(f.with_suffix(".pdf")) for f in files}, there)}
    if given.model:
        shipped = load_method().extraction
        part = ExtractionPart(
            version=shipped.version,
            prompt=shipped.prompt,
            profiles={"diagram": Profile.model_validate(DIAGRAM)},
        )
        pool = ModelPool(
            LiteLLM(given.model, timeout=300), given.cache / "readings", seconds=300, usd=given.usd
        )
        extractor = Extractor(pool, part, "diagram")
        read = {f.stem: by_model(f.with_suffix(".pdf"), extractor, given.cache / "pages") for f in files}
        tables[given.model] = table(read, there)
        print(pool.told())
    command = f"python benchmarks/extraction.py FOLDER{f' --model {given.model}' if given.model else ''}"
    text = markdown(tables, command)
    print(text)
    if given.out:
        given.out.with_suffix(".md").write_text(text, encoding="utf-8")
        given.out.with_suffix(".json").write_text(json.dumps(tables, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
