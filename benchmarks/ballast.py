"""How much of the documents' texts is ballast, by kind; and lines of them for reading, one by one.

    python benchmarks/ballast.py RELEASE … [--data data] --out benchmarks/results/ballast.md
    python benchmarks/ballast.py RELEASE … [--data data] --sample 200 --seed 1 --read FOLDER

The first writes a table: of each release's lines but headers, and of their characters, the share that is ballast of each
kind. A line is of the first kind that fits. The measure knows nothing of how texts are written: it reads the lines of a
release and what they lead to, so releases of any age are measured alike.

The second writes FOLDER/SET.jsonl: lines drawn by the seed, each with its entity, the hash of its text, and for a line of a
relationship a way to each target shown. What a reader decides of them stands in results/read_lines.json.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.documents.documents import Documents, Line
from crmrag_query.evaluation.report import table
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.load import Category
from crmrag_query.plans.world import World
from crmrag_query.relationships.engine import explain
from crmrag_query.text import fold

KINDS = {
    "class": "names a class beside a type, or one that the header says",
    "type again": "types or broader terms as a relationship, below the line of types",
    "mirror": "leads only to what is named after its entity, is what its entity is named after, or holds its block",
    "back reference": "that others mention, depict, type or locate the entity, or happened there",
    "vague": "by sharing an event, an owner or a part, or what the entity's makers and works are about",
    "performed": "performed action at",
    "recording": "leads only to images, names, identifiers, digital files, documents or acts of numbering and typing",
    "IRI": "names only IRIs",
    "empty": "names nothing",
    "hub": "of a place, concept or time, more than ten that point at it",
    "cut": "counts lines that were left out",
}
RECORDING = ("E15", "E17", "E31", "E41", "D1")
IMAGE = "E36"  # itself: what is shown, as attributes and characters, is no record of it
SEEN = "K"  # with which the properties of VIR begin: they tell what is seen on an image, however it is typed
BACK = ("is referred to by", "is referred to at", "is type of")
IRI = re.compile(r"^\S*(?:://|\.\w+/)\S*$")
HUB = 10
WAYS = 3  # targets of a drawn line whose ways are shown


@dataclass(frozen=True)
class Texts:
    """The lines of a release."""

    release: Release

    @cached_property
    def documents(self) -> Documents:
        return self.release[Documents]

    @cached_property
    def graph(self) -> Graph:
        return self.release[Graph]

    def lines(self) -> Iterator[tuple[Line, str, tuple[Line, ...]]]:
        """Each line but headers, its text, and all lines of its document."""
        for number in range(self.documents.count):
            text, lines = self.documents.text(number), tuple(self.documents.lines(number))
            for line in lines:
                if line.kind != Line.HEADER:
                    yield line, text[line.start : line.end], lines

    def kind(self, line: Line, text: str, lines: Sequence[Line]) -> str:
        """The kind of ballast that a line is, "" for none."""
        graph, own = self.graph, fold(self.graph.label(line.entity))
        body = text.removeprefix(line.label).lstrip(":").strip()
        if line.kind == Line.NOTE:
            return "cut"
        if line.key == "rdf:type":
            typed = any(one.key == "P2" and one.entity == line.entity for one in lines)
            category = Category(graph.category(line.entity)).name or ""
            said = fold(body) in own or fold(body) == category.lower()
            return "class" if typed or said else ""
        if line.kind not in (Line.FR, Line.OUTGOING, Line.INCOMING):
            return "IRI" if body and all(map(IRI.match, body.split("; "))) else "" if body else "empty"
        if not body or re.fullmatch(r"and \d+ more", body):
            return "empty"
        names = [fold(graph.label(target)) for target in line.targets]
        if all(IRI.match(name.split(" (")[0]) for name in body.split(" and ")[0].split("; ")):
            return "IRI"
        if line.kind == Line.FR and (kind := self._relationship(line)):
            return kind
        host = self.documents.entity(line.document)
        if all(own and (own in name or name in own) for name in names if name) or set(line.targets) == {host}:
            return "mirror"
        told = line.kind != Line.FR and not line.key.startswith(SEEN)
        if told and all(self._is_recording(target) for target in line.targets):
            return "recording"
        at = graph.category(line.entity) in (Category.Place, Category.Concept, Category.Time)
        if line.kind == Line.INCOMING and at:
            return "hub" if line.total > HUB else "back reference"
        return "hub" if at and line.total > HUB else ""

    def _relationship(self, line: Line) -> str:
        catalogue = self.release[World].catalogue
        one = catalogue[catalogue.number(line.key)]
        label = one.label.partition(" (")[0]
        if label == "performed action at":
            return "performed"
        if label in BACK and one.range != Category.Concept:
            return "back reference"
        if one.range == Category.Concept and label == "has type" and line.label.startswith("has type"):
            return "type again" if one.domain != Category.Concept else ""
        about_others = label.startswith("refers to") and one.domain != Category.Thing
        of_place = one.domain == Category.Place and one.range != Category.Place
        told = not line.label.startswith(label)  # by words of its own, for a way that bears them out
        if (label in ("has met", "created by person from") and not told) or about_others:
            return "vague"
        return "back reference" if of_place else ""

    def _is_recording(self, node: int) -> bool:
        ontology, codes = self.release.ontology, map(self.graph.class_code, self.graph.types(node).tolist())
        return any(
            code == IMAGE or any(code and ontology.is_a(code, one) for one in RECORDING) for code in codes
        )

    def ways(self, line: Line) -> list[str]:
        """Ways to the first targets of a relationship's line."""
        if line.kind != Line.FR:
            return []
        catalogue, graph = self.release[World].catalogue, self.graph
        one = catalogue[catalogue.number(line.key)].as_told(line.label)
        found = []
        for target in line.targets[:WAYS]:
            hops = explain(graph.adjacency, self.release.ontology, one, line.entity, target)
            steps = (
                f"{graph.label(hop.subject)} —{graph.property_code(hop.property)}→ {graph.label(hop.object)}"
                for hop in hops
            )
            found.append("; ".join(steps))
        return found


def measured(texts: Texts) -> tuple[int, int, Counter[str], Counter[str]]:
    """Lines and characters of the documents, and those of each kind of ballast."""
    lines, characters = 0, 0
    of_lines, of_characters = Counter[str](), Counter[str]()
    for line, text, around in texts.lines():
        lines, characters = lines + 1, characters + len(text)
        if kind := texts.kind(line, text, around):
            of_lines[kind] += 1
            of_characters[kind] += len(text)
    return lines, characters, of_lines, of_characters


def drawn(texts: Texts, size: int, seed: int) -> Iterator[dict[str, object]]:
    every = list(texts.lines())
    chosen = random.Random(seed).sample(range(len(every)), min(size, len(every)))
    for number in sorted(chosen):
        line, text, _ = every[number]
        yield {
            "entity": texts.graph.iri(line.entity),
            "label": texts.graph.label(line.entity),
            "key": line.key,
            "hash": hashlib.sha256(text.encode()).hexdigest()[:16],
            "text": text,
            "ways": texts.ways(line),
        }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("releases", nargs="+")
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--read", type=Path)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows, shares = [], []
    for name in given.releases:
        texts = Texts(open_release(name, given.data))
        if given.read:
            given.read.mkdir(parents=True, exist_ok=True)
            lines = (
                json.dumps(one, ensure_ascii=False) for one in drawn(texts, given.sample or 200, given.seed)
            )
            (given.read / f"{Path(name).name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
            continue
        count, characters, of_lines, of_characters = measured(texts)
        total, share = sum(of_lines.values()) / count, sum(of_characters.values()) / characters
        rows.append((Path(name).name, texts.documents.count, count, f"{total:.1%}", f"{share:.1%}"))
        shares.append((Path(name).name, *(f"{of_characters[kind] / characters:.1%}" for kind in KINDS)))
        print(*rows[-1], dict(of_characters.most_common()))
    if given.out:
        parts = [
            "# Ballast in documents\n",
            "`python benchmarks/ballast.py` says how it is measured. Headers do not count.\n",
            table(("data set", "documents", "lines", "ballast, of lines", "of characters"), rows),
            "\nOf the characters, by kind:\n",
            table(("data set", *KINDS), shares),
            "\n" + "\n".join(f"- *{kind}*: {what}" for kind, what in KINDS.items()),
        ]
        given.out.write_text("\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
