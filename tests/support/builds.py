"""A small data set in a project of its own, and ways to build it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from crmrag_assets.build.context import open_context
from crmrag_assets.build.step import LAYERS, BuildContext, Outcome, chunks_of, run_step
from crmrag_assets.steps.registry import STEPS
from crmrag_query.artifacts.manifest import entries
from tests.support.forked import start
from tests.support.pdf import pdf

CRM = "http://www.cidoc-crm.org/cidoc-crm/"
BASE = "http://example.org/"


def turtle(churches: int = 12) -> str:
    """Churches with a mural and its painting each, one painter for every three, in one district."""
    lines = [
        f"@prefix crm: <{CRM}> . @prefix ex: <{BASE}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        'ex:district a crm:E53_Place ; rdfs:label "Marathasa"@en .',
    ]
    for n in range(churches):
        lines += [
            f'ex:church{n} a crm:E22_Human-Made_Object ; rdfs:label "Church {n}"@en, "Εκκλησία {n}"@el ;',
            f"  crm:P55_has_current_location ex:district ; crm:P46_is_composed_of ex:mural{n} .",
            f'ex:mural{n} a crm:E22_Human-Made_Object ; rdfs:label "Mural {n}" .',
            f'ex:painting{n} a crm:E12_Production ; rdfs:label "Painting of mural {n}" ;',
            f"  crm:P108_has_produced ex:mural{n} ; crm:P14_carried_out_by ex:painter{n // 3} ;",
            f'  crm:P4_has_time-span [ a crm:E52_Time-Span ; rdfs:label "{1100 + n}" ] .',
            f'ex:painter{n // 3} a crm:E21_Person ; rdfs:label "Painter {n // 3}" .',
        ]
    return "\n".join(lines)


@dataclass(frozen=True)
class Project:
    """A folder with config/ and data/; one data set, ``churches``, encoded by the stand-in."""

    root: Path
    dataset: str = "churches"

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def config(self) -> Path:
        return self.root / "config"

    def context(self, chunk_size: int | None = None) -> BuildContext:
        """The build context; ``chunk_size`` entities a chunk instead of the method's."""
        context = open_context(self.dataset, self.data, self.config)
        if chunk_size is None:
            return context
        chunks = context.method.chunks.model_copy(update={"entities": chunk_size})
        return replace(context, method=context.method.model_copy(update={"chunks": chunks}))


def make_project(root: Path, source: str | None = None, **dataset: object) -> Project:
    """Write a project; ``dataset`` adds keys to its entry, where `endpoint` or `sources` take the place of `rdf`."""
    (root / "config").mkdir(parents=True)
    (root / "churches.ttl").write_text(source or turtle(), encoding="utf-8")
    origin = {} if {"endpoint", "sources"} & set(dataset) else {"rdf": ["churches.ttl"]}
    entry = origin | {"languages": ["en", "el"], "embedding": {"model": "hash"}} | dataset
    text = yaml.safe_dump({"datasets": {"churches": entry}}, allow_unicode=True)
    (root / "config" / "datasets.yaml").write_text(text, encoding="utf-8")
    return Project(root)


def with_small_parts(context: BuildContext, size: int = 6, questions: int = 200) -> BuildContext:
    """The context with graph partitions and an aligner, parts of at most ``size`` documents, and little training."""
    method = context.method
    cut = {"limit": size, "target_size": size - 1}
    trained = {"questions": questions, "steps": 20}
    changed = {
        "graph_partitions": method.graph_partitions.model_copy(update=cut),
        "alignment": method.alignment.model_copy(update=trained),
    }
    config = context.config.model_copy(update={"graph_partitions": True, "aligner": True})
    return replace(context, method=method.model_copy(update=changed), config=config)


def build_all(context: BuildContext) -> list[Outcome]:
    """Every step of every layer in order, without Dagster."""
    outcomes = []
    for layer in LAYERS:
        for artifact in layer.assets:
            step = STEPS[artifact]
            chunks: list[str | None] = [None]
            if step.chunked:
                chunks = [*chunks_of(context, artifact)]
                context.store.keep_only(artifact, filter(None, chunks))
            turn = replace(context)
            turn.__dict__["configs"] = context.configs  # worked out once for all steps
            for chunk in chunks:
                outcomes.append(run_step(step, turn, chunk))
    return outcomes


def parallel(context: BuildContext, threads: int = 2) -> BuildContext:
    """The context with so many threads, and processes where there are chunks enough: see `workers.CHUNKS`."""
    return replace(context, threads=threads)


def made(outcomes: list[Outcome]) -> list[str]:
    """Names of what was not reused, `artifact` or `artifact/chunk`."""
    return [
        f"{o.record.artifact}/{o.chunk}" if o.chunk else o.record.artifact for o in outcomes if not o.reused
    ]


def encoded(outcomes: list[Outcome]) -> int:
    """How many windows were encoded anew."""
    fresh = (o for o in outcomes if o.record.artifact == "embeddings" and not o.reused)
    return sum(o.record.stats["encoded"] for o in fresh)


def contents(folder: Path) -> dict[str, str]:
    """Checksum of every file below a folder by its path."""
    return {entry.path: entry.sha256 for entry in entries(folder)}


def written(context: BuildContext, artifact: str) -> dict[str, str]:
    """Checksums of an artifact's files, but for the records, which hold times."""
    found = contents(context.folder(artifact))
    return {path: sha for path, sha in found.items() if not path.endswith("record.json")}


@contextmanager
def failing_at(point: str) -> Iterator[None]:
    """Within the block, reaching the fail-point stops the build."""
    os.environ["CRMRAG_FAILPOINT"] = point
    try:
        yield
    finally:
        del os.environ["CRMRAG_FAILPOINT"]


def start_build(
    forked: Path, project: Project, *options: str, dataset: str = "", **environment: str
) -> subprocess.Popen[str]:
    """`crmrag build` as a process of its own, forked off the one that listens at ``forked``."""
    folders = ("--data", str(project.data), "--config", str(project.config))
    words = ("crmrag", "build", dataset or project.dataset, *folders, *options)
    return start(forked, *words, **environment)


def two_releases(root: Path, before: int, after: int) -> None:
    """A project with two releases, of so many churches."""
    project = make_project(root / "project", turtle(before), write_markdown=False)
    for churches in (before, after):
        (project.root / "churches.ttl").write_text(turtle(churches), encoding="utf-8")
        build_all(project.context())


def with_inbox(root: Path) -> Project:
    """A museum that is built, and pages that may come by the service."""
    sources = [{"rdf": "churches.ttl"}, {"pages": ["data/inbox/churches/*.*", "kept.pdf"]}]
    found = make_project(root, sources=sources, write_markdown=False)
    (found.root / "kept.pdf").write_bytes(pdf("A document that was there before any was sent."))
    build_all(found.context())
    return found
