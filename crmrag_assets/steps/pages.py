"""Steps of data sets that have pages: their images and text layers, and what a language model reads from them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crmrag_assets.build.step import (
    BuildContext,
    Inputs,
    Stats,
    Step,
    always,
    chunks_of,
    contents,
    document_buckets,
    run_step,
)
from crmrag_assets.indexes.encoder import VectorCache, encode_whole
from crmrag_assets.opened import cache_of, encoder_of, graph_of, page_rows
from crmrag_assets.release.publish import link_file
from crmrag_assets.sources.pages.candidates import Pair, candidates, decided
from crmrag_assets.sources.pages.extract import TOKENS
from crmrag_assets.sources.pages.mapping import Readings, title_of
from crmrag_query.artifacts.manifest import bucket_of, sha256_file
from crmrag_query.config.loading import ExtractionPart, config_hash
from crmrag_query.config.sources import PagesConfig, SourceEntry
from crmrag_query.documents.pages import (
    CANDIDATES,
    IMAGES,
    READ_THING,
    READINGS,
    document_iri,
    load,
    page_iri,
    save,
)
from crmrag_query.errors import ConfigError
from crmrag_query.graph.graph import Graph
from crmrag_query.llm.model import IMAGE_TOKENS, LiteLLM
from crmrag_query.llm.pool import ModelPool
from crmrag_query.text import tokens

SECONDS = 120.0  # that a page may take at least: a reply of 8,000 tokens is long
NAMED = 10  # documents and pages that the catalogue names


def page_sources(context: BuildContext) -> list[tuple[SourceEntry, PagesConfig]]:
    """The sources of the data set that are pages."""
    return [(one, one.config) for one in context.config.sources if isinstance(one.config, PagesConfig)]


def reads_pages(context: BuildContext) -> bool:
    """Whether a language model reads any of them."""
    return any(config.model for _, config in page_sources(context))


def _listed(context: BuildContext) -> list[tuple[SourceEntry, PagesConfig, dict[str, Path]]]:
    """The sources of pages with the paths of their files by name, which is the path below the data set's folder."""
    root, found = context.config.root, list[tuple[SourceEntry, PagesConfig, dict[str, Path]]]()
    for entry, config in page_sources(context):
        paths = context.config.paths_of(entry)
        names = [
            path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name for path in paths
        ]
        found.append((entry, config, dict(zip(names, paths, strict=True))))
    return found


def _documents(
    context: BuildContext, chunk: str | None
) -> Iterator[tuple[SourceEntry, PagesConfig, dict[str, Path]]]:
    """What of `_listed` is in a chunk. A document's is that of the hash of its name: its content may change."""
    listed = _listed(context)
    buckets = document_buckets(chunk or "", sum(len(files) for _, _, files in listed))
    for entry, config, files in listed:
        yield entry, config, {name: path for name, path in files.items() if bucket_of(name) in buckets}


def _title(path: Path) -> str:
    """What a document is called: by the name that it was sent under, where it came by the service, else by its file's."""
    name = path.name
    with suppress(OSError, ValueError, KeyError, TypeError):
        name = str(
            json.loads((path.parent / "names" / f"{path.stem}.json").read_text(encoding="utf-8"))["name"]
        )
    return title_of(name)


def images_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    from crmrag_assets.sources.pages.render import WRITER

    found = {"render": str(WRITER)}
    for entry, config, files in _documents(context, chunk):
        limits = config.model_dump(exclude={"files", "model", "profile", "decided", "language"})
        for name, path in files.items():
            found[f"{entry.identity}/{name}"] = f"{sha256_file(path)} {_title(path)} {config_hash(limits)}"
    return found


def write_images(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """Pages of documents as images of 150 dpi, with their text layers.

    Each document is read by a process of its own with limits of memory, time, pages and pixels: one that is damaged, locked
    or made to do harm is left out and named. What was read before is taken from a cache, by content.
    """
    from crmrag_assets.sources.pages.render import lacks_text, render_all

    documents, pages, refused, kept = list[dict[str, Any]](), list[dict[str, Any]](), list[str](), 0
    for _, config, files in _documents(context, chunk):
        cache = context.data / "cache" / "pages"
        for one in render_all(files.items(), config, cache, min(context.threads, 8), context.progress):
            iri, kept = document_iri(config.base, one.name), kept + one.kept
            documents.append({
                "iri": iri, "name": one.name, "title": _title(files[one.name]), "sha256": one.sha256,
                "format": one.format, "pages": len(one.pages), "refused": one.refused,
            })  # fmt: skip
            refused += [f"{one.name}: {one.refused}"] if one.refused else []
            for page in one.pages:
                image = f"{one.sha256[:16]}/page_{page.number:03}.png" if page.image else ""
                if page.image and not (folder / image).exists():
                    link_file(page.image, folder / image)
                pages.append({
                    "iri": page_iri(iri, page.number), "document": iri, "number": page.number, "image": image,
                    "width": page.width, "height": page.height, "text": page.text, "error": page.error,
                    "needs": "ocr" if not page.error and lacks_text(page.text) else "",
                })  # fmt: skip
    save(folder, "documents", documents)
    save(folder, "pages", pages)
    return {
        "documents": len(documents),
        "pages": len(pages),
        "kept": kept,
        "refused": len(refused),
        "without_text": sum(page["needs"] != "" for page in pages),
        "samples": {"refused": [{"document": one} for one in refused[:NAMED]]},
    }


def readings_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    """What was failed at is asked for again each time; what was read stays where what it depends on does."""
    part = context.method.extraction
    told = {
        entry.identity: f"{config.model} {config.profile} {_prompt(part, config)}"
        for entry, config in page_sources(context)
    }
    return {"images": context.finished(IMAGES, chunk).content, **told, "again": _again(context, chunk)}


def _again(context: BuildContext, chunk: str | None) -> str:
    """What tells a reading from the one before, where that lacked something; else what told that one from others."""
    before = context.store.record(READINGS, chunk)
    if before is None:
        return ""
    return before.version if before.stats.get("lacking") else str(before.stats.get("again", ""))


def _prompt(part: ExtractionPart, config: PagesConfig) -> str:
    """The version of what a model is told: the number in extraction.yaml, and a hash of the text itself."""
    if config.profile not in part.profiles:
        raise ConfigError.single(
            "extraction.yaml", f"profiles.{config.profile}", "there is no such profile",
            remedy=f"There are: {', '.join(part.profiles)}.",
        )  # fmt: skip
    return f"{part.version}-{config_hash({'prompt': part.instructions(config.profile)})[:8]}"


def _pool(context: BuildContext, entry: SourceEntry, name: str) -> ModelPool:
    """Who asks a model of a source's pages: one for the chunks of a turn, whose limits are of all of them."""
    if entry.identity not in context.shared:
        limits = context.config.model_calls.model_dump()
        limits["seconds"] = max(limits["seconds"], SECONDS)
        model = LiteLLM(name, os.environ.get("CRMRAG_API_BASE"), timeout=limits["seconds"])
        context.shared[entry.identity] = ModelPool(model, context.data / "cache" / "readings", **limits)
    pool: ModelPool = context.shared[entry.identity]
    return pool


def write_readings(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """What a language model read from each page: entities and relationships of the types of a profile, one call a page.

    Replies are kept by what was asked, so that no page is paid for twice. A page that fails is told and passed over; three in
    a row end their document. What failed, or was left by the ceiling of `model_calls`, is asked for by the next build.
    Without a `model` nothing is asked.
    """
    part, images = context.method.extraction, context.folder(IMAGES, chunk)
    every, rows, counts = load(images, "pages"), list[dict[str, Any]](), dict[str, Any]()
    statements = list[dict[str, str]]()
    documents = {one["iri"]: one for one in load(images, "documents")}
    for entry, config, files in _documents(context, chunk):
        own = [document_iri(config.base, name) for name in files]
        by_document = {
            iri: [page for page in every if page["document"] == iri] for iri in own if iri in documents
        }
        prompt = _prompt(part, config)
        if not config.model:
            continue
        from crmrag_assets.sources.pages.extract import Extractor

        pool = _pool(context, entry, config.model)
        before = pool.told()
        paths = [
            [images / page["image"] if page["image"] else None for page in pages]
            for pages in by_document.values()
        ]
        found = Extractor(pool, part, config.profile).read(paths, context.progress)
        for (iri, pages), readings in zip(by_document.items(), found, strict=True):
            told = [
                {
                    "page": page["iri"], "status": one.status, "error": one.error, "model": config.model,
                    "profile": config.profile, "prompt": prompt, "entities": list(one.found.entities),
                    "relationships": list(one.found.relationships), "dropped": one.found.dropped,
                }
                for page, one in zip(pages, readings, strict=True)
            ]  # fmt: skip
            rows += told
            stated = Readings(
                iri, documents[iri], told, part.profiles[config.profile], config.language
            ).statements
            for (s, p, o), where in stated.items():
                statements += [{"s": s.value, "p": p.value, "o": o.value, "page": page} for page in where]
        for name, value in pool.told().items():
            since = before.get(name, 0)
            told_now = isinstance(value, str) or isinstance(since, str)
            counts[name] = value if told_now else counts.get(name, 0) + value - since
    save(folder, "readings", rows)
    save(folder, "statements", statements)
    lacking = [row for row in rows if row["status"] != "read"]
    if not lacking:
        counts.pop("why", None)  # of another chunk
    return {
        "read": len(rows) - len(lacking),
        "lacking": len(lacking),
        "entities": sum(len(row["entities"]) for row in rows),
        "relationships": sum(len(row["relationships"]) for row in rows),
        "dropped": sum(row["dropped"] for row in rows),
        "samples": {"lacking": [{"page": one["page"], "why": one["error"]} for one in lacking[:NAMED]]},
        "again": _again(context, chunk),
        **counts,
    }


def readings_foreseen(context: BuildContext) -> Iterator[str]:
    """For each model that reads pages, how many it is asked for and what that takes at most, in words; replies that are kept
    are not asked for again."""
    if not reads_pages(context):
        return
    pages = page_rows(context, IMAGES, "pages")
    for _, config, files in _listed(context):
        if not config.model:
            continue
        own = {document_iri(config.base, name) for name in files}
        count = sum(page["document"] in own and bool(page["image"]) for page in pages)
        model = LiteLLM(config.model)
        sent = IMAGE_TOKENS + tokens(context.method.extraction.instructions(config.profile))
        price = model.cost(count * sent, count * TOKENS)
        most = f"at most ${price:,.2f}" if price is not None else "the price of which is not known"
        yield f"{count:,} for {config.model}, at most {count * (sent + TOKENS):,} tokens, {most}"


def page_counts(context: BuildContext, graph: Graph) -> dict[str, int]:
    """Pages, and things that a machine read from them, for the manifest; nothing where there are none."""
    chunks = context.store.chunks(IMAGES)
    if not chunks:
        return {}
    first, end = graph.beginning(READ_THING)
    pages = sum(context.finished(IMAGES, chunk).stats["pages"] for chunk in chunks)
    return {"pages": pages} | ({"read": end - first} if end > first else {})


def candidates_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    said = {
        entry.identity: str(sorted(_decided(context, config).items()))
        for entry, config in page_sources(context)
    }
    encoder = encoder_of(context).key if _encodes(context) else ""
    read = {chunk: context.finished(READINGS, chunk).content for chunk in context.store.chunks(READINGS)}
    return contents(context, "graph") | read | said | {"encoder": encoder}


def _encodes(context: BuildContext) -> bool:
    """Whether names are encoded: not by an API, which takes money for what may be many, nor by the stand-in, which has no
    sense."""
    return encoder_of(context).settings.provider not in ("litellm", "hash")


def _encoded(context: BuildContext, names: Sequence[str]) -> npt.NDArray[np.float32]:
    """Vectors of names, kept by their text."""
    encoder = encoder_of(context)
    known = VectorCache.open(cache_of(context, "names"), encoder.dimension)
    return encode_whole(names, encoder, known, context.progress, "encoding names")[0]


def _decided(context: BuildContext, config: PagesConfig) -> Mapping[Pair, str]:
    return decided(context.config.root / config.decided)


def write_candidates(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """Pairs that may be one thing: of one category, read from two documents, or read and written by a curator, whose names
    are the same or nearly so, or nearest to each other by the data set's encoder. They are never merged: a person accepts or
    refuses them (`crmrag pages`), for the next build.
    """
    documents = {page["iri"]: page["document"] for page in page_rows(context, IMAGES, "pages")}
    read = {
        thing: documents[one["page"]]
        for one in page_rows(context, READINGS, "statements")
        for thing in (one["s"], one["o"])
        if thing.startswith(READ_THING)
    }
    settled = [pair for _, config in page_sources(context) for pair in _decided(context, config)]
    encode = partial(_encoded, context) if _encodes(context) else None
    found = list(candidates(graph_of(context), read, settled, encode))
    save(folder, "candidates", [{"a": pair.a, "b": pair.b, "score": score} for pair, score in found])
    return {"candidates": len(found), "settled": len(settled)}


def make_all(step: Step, context: BuildContext) -> None:
    """Make the images, or the readings, of all chunks, one after the other."""
    chunks, turn = chunks_of(context, step.artifact), replace(context)
    context.store.keep_only(step.artifact, chunks)
    for chunk in chunks:
        run_step(step, turn, chunk)


def all_together(context: BuildContext) -> int:
    """Of chunks that are made one after the other in one process, as what a model is asked is bounded for all of them."""
    return len(chunks_of(context, READINGS))


PAGE_IMAGES = Step(IMAGES, 1, write_images, inputs=images_inputs, chunked=True, apart=always)
PAGE_EXTRACTIONS = Step(
    READINGS, 1, write_readings, needs=(IMAGES,), inputs=readings_inputs, chunked=True, together=all_together
)
PAGE_CANDIDATES = Step(
    CANDIDATES, 2, write_candidates, needs=("graph", READINGS), inputs=candidates_inputs, wanted=reads_pages
)
STEPS = (PAGE_IMAGES, PAGE_EXTRACTIONS)
"""Made before the source is read; the candidates are made of the graph."""
