"""A throw-away project: the bundled sample, and made museums, encoded by the stand-in that needs no model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
SAMPLE = REPOSITORY / "data" / "sample" / "troodos.ttl"
PREFIXES = """\
@prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix ex: <http://example.org/> .
"""


@dataclass(frozen=True)
class Project:
    """A folder with config/ and data/, and the files that its data sets are made from."""

    root: Path

    @property
    def config(self) -> Path:
        return self.root / "config"

    @property
    def data(self) -> Path:
        return self.root / "data"

    def source(self, dataset: str) -> Path:
        """The file of a data set."""
        return self.root / f"{dataset}.ttl"


def museum(objects: int, name: str = "Museum") -> str:
    """Objects that are in one place, each made by a potter of three, in Turtle."""
    lines = [PREFIXES, f'ex:place a crm:E53_Place ; rdfs:label "{name}" .']
    for n in range(objects):
        lines += [
            f'ex:vase{n} a crm:E22_Human-Made_Object ; rdfs:label "Vase {n} of {name}" ;',
            "  crm:P55_has_current_location ex:place .",
            f'ex:making{n} a crm:E12_Production ; rdfs:label "Making of vase {n}" ;',
            f"  crm:P108_has_produced ex:vase{n} ; crm:P14_carried_out_by ex:potter{n % 3} ;",
            f'  crm:P4_has_time-span [ a crm:E52_Time-Span ; rdfs:label "{1500 + n}" ] .',
        ]
    lines += [f'ex:potter{n} a crm:E21_Person ; rdfs:label "Potter {n}" .' for n in range(min(3, objects))]
    return "\n".join(lines)


def records() -> str:
    """An export that went wrong: its classes are those of the museum's own system, which no ontology table has."""
    lines = [
        f'ex:record{n} a ex:Record ; rdfs:label "Record {n}" ; crm:P3_has_note "Vase {n}" .'
        for n in range(12)
    ]
    return PREFIXES + "\n".join(lines)


def make_project(
    root: Path, sources: Mapping[str, str], chunk_size: int = 1000, **watched: object
) -> Project:
    """Write a project; ``sources``: data set -> Turtle; ``watched``: of data sets, what stands under `rebuild`."""
    project = Project(root)
    project.config.mkdir(parents=True)
    entries = {}
    for name, text in sources.items():
        project.source(name).write_text(text, encoding="utf-8")
        entry = {"rdf": [str(project.source(name))], "embedding": {"model": "hash"}, "write_markdown": False}
        entries[name] = entry | ({"rebuild": watched[name]} if name in watched else {})
    _write(project.config / "datasets.yaml", {"datasets": entries})
    owners = ["collections@example.org", "team:collections"]
    _write(project.config / "operations.yaml", {"service": "http://127.0.0.1:8000", "owners": owners})
    method = (REPOSITORY / "config" / "method.yaml").read_text(encoding="utf-8")
    chunks = f"  entities: {chunk_size}\n"
    (project.config / "method.yaml").write_text(
        method.replace("  entities: 1000\n", chunks, 1), encoding="utf-8"
    )
    return project


def sample() -> str:
    """The bundled sample."""
    return SAMPLE.read_text(encoding="utf-8")


def build_all(project: Project) -> None:
    """Build every data set, in this process."""
    from crmrag_assets.instance import open_instance
    from crmrag_assets.launch import BuildRequest, run_build
    from crmrag_assets.partitions import BuildResource

    build = BuildResource(data=str(project.data), config=str(project.config))
    with open_instance(project.data) as instance:
        for source in sorted(project.root.glob("*.ttl")):
            run_build(BuildRequest(source.stem, build), instance)


def _write(path: Path, content: object) -> None:
    path.write_text(yaml.safe_dump(content, allow_unicode=True, sort_keys=False), encoding="utf-8")
