"""Steps of data sets that have pages: their images and text layers, and what a language model reads from them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crmrag_assets.build.step import BuildContext, Inputs, Stats, Step, contents
from crmrag_assets.indexes.embed import VectorCache, encode_new, key_of
from crmrag_assets.opened import encoder_of, graph_of
from crmrag_assets.release.publish import link_file
from crmrag_assets.sources.pages.candidates import Pair, candidates, decided
from crmrag_assets.sources.pages.extract import TOKENS
from crmrag_assets.sources.pages.mapping import Readings, title_of
from crmrag_assets.steps.indexes import cache_of
from crmrag_query.artifacts.files import sha256_file
from crmrag_query.config.loading import config_hash
from crmrag_query.config.parts import ExtractionPart
from crmrag_query.config.sources import SourceEntry
from crmrag_query.config.sources.pages import PagesConfig
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


def has_pages(context: BuildContext) -> bool:
    return bool(page_sources(context))


def reads_pages(context: BuildContext) -> bool:
    """Whether a language model reads any of them."""
    return any(config.model for _, config in page_sources(context))


def _documents(context: BuildContext, entry: SourceEntry) -> Iterator[tuple[str, Path]]:
    """Names and paths of a source's files; a name is the path below the data set's folder."""
    root = context.config.root
    for path in context.config.paths_of(entry):
        yield path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name, path


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
    for entry, config in page_sources(context):
        limits = config.model_dump(exclude={"files", "model", "profile", "decided", "language"})
        for name, path in _documents(context, entry):
            found[f"{entry.identity}/{name}"] = f"{sha256_file(path)} {_title(path)} {config_hash(limits)}"
    return found


def write_images(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """Pages of documents as images of 150 dpi, with their text layers.

    Each document is read by a process of its own with limits of memory, time, pages and pixels: one that is damaged, locked
    or made to do harm is left out and named. What was read before is taken from a cache, by content.
    """
    from crmrag_assets.sources.pages.render import lacks_text, render_all

    documents, pages, refused, kept = list[dict[str, Any]](), list[dict[str, Any]](), list[str](), 0
    for entry, config in page_sources(context):
        cache = context.data / "cache" / "pages"
        files = list(_documents(context, entry))
        for one in render_all(files, config, cache, min(context.threads, 8), context.progress):
            iri, kept = document_iri(config.base, one.name), kept + one.kept
            documents.append({
                "iri": iri, "name": one.name, "title": _title(dict(files)[one.name]), "sha256": one.sha256,
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
    return {"images": context.finished(IMAGES).content, **told, "again": _again(context)}


def _again(context: BuildContext) -> str:
    """What tells a reading from the one before, where that lacked something; else what told that one from others."""
    before = context.store.record(READINGS)
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


def write_readings(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """What a language model read from each page: entities and relationships of the types of a profile, one call a page.

    Replies are kept by what was asked, so that no page is paid for twice. A page that fails is told and passed over; three in
    a row end their document. What failed, or was left by the ceiling of `model_calls`, is asked for by the next build.
    Without a `model` nothing is asked.
    """
    part, images = context.method.extraction, context.folder(IMAGES)
    every, rows, counts = load(images, "pages"), list[dict[str, Any]](), dict[str, Any]()
    statements = list[dict[str, str]]()
    documents = {one["iri"]: one for one in load(images, "documents")}
    for entry, config in page_sources(context):
        own = [document_iri(config.base, name) for name, _ in _documents(context, entry)]
        by_document = {iri: [page for page in every if page["document"] == iri] for iri in own}
        prompt = _prompt(part, config)
        if not config.model:
            continue
        from crmrag_assets.sources.pages.extract import Extractor

        limits = context.config.model_calls.model_dump()
        limits["seconds"] = max(limits["seconds"], SECONDS)
        model = LiteLLM(config.model, os.environ.get("CRMRAG_API_BASE"), timeout=limits["seconds"])
        pool = ModelPool(model, context.data / "cache" / "readings", **limits)
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
            counts[name] = value if isinstance(value, str) else counts.get(name, 0) + value
    save(folder, "readings", rows)
    save(folder, "statements", statements)
    lacking = [row for row in rows if row["status"] != "read"]
    return {
        "read": len(rows) - len(lacking),
        "lacking": len(lacking),
        "entities": sum(len(row["entities"]) for row in rows),
        "relationships": sum(len(row["relationships"]) for row in rows),
        "dropped": sum(row["dropped"] for row in rows),
        "samples": {"lacking": [{"page": one["page"], "why": one["error"]} for one in lacking[:NAMED]]},
        "again": _again(context),
        **counts,
    }


def readings_foreseen(context: BuildContext) -> Iterator[str]:
    """For each model that reads pages, how many it is asked for and what that takes at most, in words; replies that are kept
    are not asked for again."""
    if not reads_pages(context):
        return
    pages = load(context.folder(IMAGES), "pages")
    for entry, config in page_sources(context):
        if not config.model:
            continue
        own = {document_iri(config.base, name) for name, _ in _documents(context, entry)}
        count = sum(page["document"] in own and bool(page["image"]) for page in pages)
        model = LiteLLM(config.model)
        sent = IMAGE_TOKENS + tokens(context.method.extraction.instructions(config.profile))
        price = model.cost(count * sent, count * TOKENS)
        most = f"at most ${price:,.2f}" if price is not None else "the price of which is not known"
        yield f"{count:,} for {config.model}, at most {count * (sent + TOKENS):,} tokens, {most}"


def page_counts(context: BuildContext, graph: Graph) -> dict[str, int]:
    """Pages, and things that a machine read from them, for the manifest; nothing where there are none."""
    if not has_pages(context):
        return {}
    first, end = graph.beginning(READ_THING)
    return {"pages": int(context.finished(IMAGES).stats["pages"])} | (
        {"read": end - first} if end > first else {}
    )


def candidates_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    said = {
        entry.identity: str(sorted(_decided(context, config).items()))
        for entry, config in page_sources(context)
    }
    encoder = encoder_of(context).key if _encodes(context) else ""
    return contents(context, "graph", READINGS) | said | {"encoder": encoder}


def _encodes(context: BuildContext) -> bool:
    """Whether names are encoded: not by an API, which takes money for what may be many, nor by the stand-in, which has no
    sense."""
    return encoder_of(context).settings.provider not in ("litellm", "hash")


def _encoded(context: BuildContext, names: Sequence[str]) -> npt.NDArray[np.float32]:
    """Vectors of names, kept by their text."""
    encoder, keys = encoder_of(context), [key_of(name) for name in names]
    known = VectorCache.open(cache_of(context, "names"), encoder.dimension)
    new = {key: name for key, name in zip(keys, names, strict=True) if key not in known.vectors}
    for done in encode_new(new, encoder, known):
        context.progress.advance(done, len(new), "encoding names")
    return known.rows(keys)


def _decided(context: BuildContext, config: PagesConfig) -> Mapping[Pair, str]:
    return decided(context.config.root / config.decided)


def write_candidates(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """Pairs that may be one thing: of one category, read from two documents, or read and written by a curator, whose names
    are the same or nearly so, or nearest to each other by the data set's encoder. They are never merged: a person accepts or
    refuses them (`crmrag pages`), for the next build.
    """
    documents = {page["iri"]: page["document"] for page in load(context.folder(IMAGES), "pages")}
    read = {
        thing: documents[one["page"]]
        for one in load(context.folder(READINGS), "statements")
        for thing in (one["s"], one["o"])
        if thing.startswith(READ_THING)
    }
    settled = [pair for _, config in page_sources(context) for pair in _decided(context, config)]
    encode = partial(_encoded, context) if _encodes(context) else None
    found = list(candidates(graph_of(context), read, settled, encode))
    save(folder, "candidates", [{"a": pair.a, "b": pair.b, "score": score} for pair, score in found])
    return {"candidates": len(found), "settled": len(settled)}


PAGE_IMAGES = Step(IMAGES, 1, write_images, inputs=images_inputs, wanted=has_pages)
PAGE_EXTRACTIONS = Step(
    READINGS, 1, write_readings, needs=(IMAGES,), inputs=readings_inputs, wanted=has_pages
)
PAGE_CANDIDATES = Step(
    CANDIDATES, 2, write_candidates, needs=("graph", READINGS), inputs=candidates_inputs, wanted=reads_pages
)
STEPS = (PAGE_IMAGES, PAGE_EXTRACTIONS)
"""Made before the source is read; the candidates are made of the graph."""
