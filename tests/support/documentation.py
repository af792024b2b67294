"""The documentation as tests read it: pages, their code blocks, and the folder in which these are run."""

from __future__ import annotations

import json
import re
import shutil
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.conftest import ROOT
from tests.support.forked import script

DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", *sorted(DOCS.glob("*.md")), DOCS / "tutorial.ipynb")
"""What people wrote; the pages in docs/reference are written by a program."""
MUSEUM = """\
@prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @base <https://example.org/> .
<person/17> a crm:E21_Person ; rdfs:label "Jan Moer"@en .
<person/homer> a crm:E21_Person ; rdfs:label "Winslow Homer"@en .
<place/geneva> a crm:E53_Place ; rdfs:label "Geneva"@en .
<type/bell> a crm:E55_Type ; rdfs:label "bell"@en .
<type/painting> a crm:E55_Type ; rdfs:label "painting"@en .
""" + "".join(
    f"""<bell/{number}> a crm:E22_Human-Made_Object ; rdfs:label "{name}"@en ; crm:P2_has_type <type/bell> ;
  crm:P108i_was_produced_by <casting/{number}> .
<casting/{number}> a crm:E12_Production ; crm:P14_carried_out_by <person/17> ; crm:P4_has_time-span <span/{number}> .
<span/{number}> a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "{year}"^^xsd:gYear ;
  crm:P82b_end_of_the_end "{year}"^^xsd:gYear .
<painting/{number}> a crm:E22_Human-Made_Object ; rdfs:label "View of Geneva {number}"@en ; crm:P2_has_type <type/painting> ;
  crm:P62_depicts <place/geneva> ; crm:P108i_was_produced_by <painting/{number}/production> .
<painting/{number}/production> a crm:E12_Production ; crm:P14_carried_out_by <person/homer> .
"""
    for number, name, year in ((3, "Small bell", 1503), (9, "Great bell", 1540), (11, "Cracked bell", 1700))
)
"""The museum of the examples: bells by Jan Moer, paintings of Geneva."""
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$(?:\n> ([^\n]+))?", re.MULTILINE | re.DOTALL)
_RELEASE = re.compile(r"[./\w]*\b4809cd34156da298\b")


@dataclass(frozen=True)
class Block:
    """A code block: its ``language``, the line that it begins in, its ``text``; ``told``: the quotation right below it."""

    page: Path
    line: int
    language: str
    text: str
    told: str = ""

    @property
    def where(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    """The code blocks of a page in their order; of a notebook its cells of code."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        for number, cell in enumerate(json.loads(text)["cells"]):
            if cell["cell_type"] == "code":
                yield Block(page, number, "python", "".join(cell["source"]))
        return
    for match in _BLOCK.finditer(text):
        yield Block(page, text.count("\n", 0, match.start()) + 2, match[1], match[2], match[3] or "")


@dataclass(frozen=True)
class Workplace:
    """A folder like that of a reader who has a clone with the sample built, and what stands for the rest of the world:
    ``service`` at port 8000, ``endpoint`` at data.museum.example, and stand-ins for commands that change the machine."""

    root: Path
    service: str
    endpoint: str

    @property
    def bin(self) -> Path:
        return self.root / ".venv" / "bin"

    def here(self, text: str) -> str:
        """The text of an example with the addresses, folders and ids that hold here."""
        text = re.sub(r"http://(?:localhost|127\.0\.0\.1):8000", self.service, text)
        text = text.replace("localhost:8000", self.service.removeprefix("http://"))
        text = text.replace("https://data.museum.example/sparql", self.endpoint)
        text = text.replace("/home/me/crm/.venv/bin/crmrag", str(self.bin / "crmrag"))
        text = text.replace("/home/me/crm/data", str(self.root / "data"))
        return _RELEASE.sub(lambda match: self._release(match[0]), text)

    def _release(self, path: str) -> str:
        name = "sample" if path.startswith("museum/") else "my_museum"
        releases = self.root / "data" / "releases" / name
        return str(releases / (releases / "current").read_text(encoding="utf-8").strip())


def furnish(root: Path, data: Path, service: str, endpoint: str, forked: Path) -> Workplace:
    """A workplace at ``root``, with a copy of a data folder, and the museum's file in ``exports/``; commands run where
    ``forked`` listens."""
    shutil.copytree(data, root / "data", ignore=shutil.ignore_patterns("work", "dagster"))
    for folder in ("config", "exports", ".venv/bin"):
        (root / folder).mkdir(parents=True)
    for folder in ("benchmarks", "docs", "Makefile", "pyproject.toml"):
        (root / folder).symlink_to(ROOT / folder)
    (root / "data" / "sample").symlink_to(ROOT / "data" / "sample")
    (root / "exports" / "museum.ttl").write_text(MUSEUM, encoding="utf-8")
    declared = yaml.safe_load((ROOT / "config" / "datasets.yaml").read_text(encoding="utf-8"))["datasets"][
        "sample"
    ]
    sample = declared | {"embedding": {"model": "hash"}}
    text = yaml.safe_dump({"datasets": {"sample": sample}}, allow_unicode=True)
    (root / "config" / "datasets.yaml").write_text(text, encoding="utf-8")
    place = Workplace(root, service, endpoint)
    (place.bin / "activate").write_text("", encoding="utf-8")
    for name in ("crmrag", "claude", "pip", "make", "python"):
        path = place.bin / name
        path.write_text(script(forked, name), encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    (place.bin / "ir_measures").symlink_to(Path(sys.executable).with_name("ir_measures"))
    return place
