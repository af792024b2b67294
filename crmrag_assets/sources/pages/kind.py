"""The kind `pages`: a document is composed of its pages, whose text layers become passages; and what a language model read
from their images, where one is named.

Images and readings are artifacts of their own (`page_images`, `page_extractions`), made before the source is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from crmrag_assets.harvest.report import Tally
from crmrag_assets.sources.kinds import Kind, Opening
from crmrag_assets.sources.pages.candidates import ACCEPTED, decided
from crmrag_assets.sources.pages.mapping import SAME, VOCABULARY, Readings, layer
from crmrag_assets.sources.pages.render import NO_PAGES
from crmrag_assets.sources.spooled import SpooledFiles
from crmrag_query.artifacts.manifest import sha256_file
from crmrag_query.config.sources import PagesConfig
from crmrag_query.documents.pages import HEAD, IMAGES, READINGS, document_iri, format_of, load
from crmrag_query.errors import SourceError

WRITER = 1  # raised when the same pages would become other triples
NAMED = 20  # ranges of pages that are named in a report
UNREADABLE = "a page that cannot be read"
WITHOUT_TEXT = "a page without a text layer: it needs a model that sees images, or OCR"
DROPPED = "entities and relationships that a model gave of an unknown type, without a name or an end"


@dataclass(frozen=True, kw_only=True)
class PageFiles(SpooledFiles):
    """Documents of pages; ``images``, ``readings``: folders of the finished chunks of these artifacts."""

    config: PagesConfig
    images: Sequence[Path] = ()
    readings: Sequence[Path] = ()

    def format_of(self, path: Path) -> str:
        return "pages"

    def settings(self) -> str:
        told = self.config.model_dump_json(exclude={"files"})
        tables = [folder / f"{name}.arrow" for name, folders in self._tables.items() for folder in folders]
        profile = self.method.extraction.profiles.get(self.config.profile)
        mapped = profile.model_dump_json() if profile and self.config.model else ""
        said = sorted(decided(self.root / self.config.decided).items())
        return f"{WRITER} {told} {mapped} {[sha256_file(table) for table in tables]} {said}"

    @property
    def _tables(self) -> dict[str, Sequence[Path]]:
        return {"documents": self.images, "pages": self.images, "readings": self.readings}

    @cached_property
    def _rows(self) -> dict[str, list[dict[str, Any]]]:
        return {
            name: [row for folder in folders for row in load(folder, name)]
            for name, folders in self._tables.items()
        }

    def statements(self, path: Path, tally: Tally) -> Iterator[tuple[int, Iterable[ox.Quad]]]:
        if not self.images:
            raise SourceError(f"The pages of {path} have not been read yet.", "Build the data set.")
        iri = document_iri(self.config.base, self.shown(path))
        document = next((one for one in self._rows["documents"] if one["iri"] == iri), None)
        if document is None:
            raise SourceError(f"{path} was not there when pages were read.", "Build the data set again.")
        if document["refused"]:
            tally.fault(None, "", f"left out: {document['refused']}")
            return
        pages = [one for one in self._rows["pages"] if one["document"] == iri]
        readings = self._readings(document, pages)
        _report(document["name"], pages, readings.rows, tally)
        written = layer(document, pages, self.config.language)
        quads = chain(VOCABULARY, written, readings.quads(), self._accepted(readings))
        yield path.stat().st_size, quads

    def _accepted(self, readings: Readings) -> Iterator[ox.Quad]:
        """What a person said to be the same as something that was read from this document."""
        own = {s.value for s, _, _ in readings.statements}
        for pair, verdict in decided(self.root / self.config.decided).items():
            if verdict == ACCEPTED and pair.a in own:
                yield ox.Quad(ox.NamedNode(pair.a), SAME, ox.NamedNode(pair.b), readings.graph)

    def _readings(self, document: dict[str, Any], pages: Sequence[dict[str, Any]]) -> Readings:
        own = {page["iri"] for page in pages}
        rows = [one for one in self._rows["readings"] if one["page"] in own]
        profile = self.method.extraction.profiles[self.config.profile]
        return Readings(document["iri"], document, rows, profile, self.config.language)


def _report(
    name: str, pages: Sequence[dict[str, Any]], rows: Sequence[Mapping[str, Any]], tally: Tally
) -> None:
    """Tell which pages said nothing, and why."""
    read = {one["page"] for one in rows if one["status"] == "read"}
    told = dict[str, list[int]]()
    for page in pages:
        if page["error"]:
            told.setdefault(UNREADABLE, []).append(page["number"])
        elif page["needs"] and page["iri"] not in read:
            told.setdefault(WITHOUT_TEXT, []).append(page["number"])
    numbers = {page["iri"]: page["number"] for page in pages}
    for one in rows:
        if one["status"] in ("failed", "stopped", "left"):
            told.setdefault(f"a page that the model did not read ({one['status']})", []).append(
                numbers[one["page"]]
            )
        if one["dropped"]:
            tally.skipped[DROPPED] += one["dropped"]
    for why, which in told.items():
        tally.skipped[f"{name}, {ranges(which)}: {why}"] += len(which)


def ranges(numbers: Sequence[int]) -> str:
    """Pages in words, as "p. 2, 5-7"."""
    spans = list[list[int]]()
    for number in sorted(numbers):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    shown = [str(a) if a == b else f"{a}-{b}" for a, b in spans[:NAMED]]
    return f"p. {', '.join(shown)}{' …' if len(spans) > NAMED else ''}"


def open_pages(config: PagesConfig, opening: Opening) -> PageFiles:
    images, readings = (opening.made.get(name, ()) for name in (IMAGES, READINGS))
    return PageFiles(
        opening.paths, opening.method, opening.root, config=config, images=images, readings=readings
    )


def look(config: PagesConfig, opening: Opening) -> Iterator[str]:
    """Files that are no pages, and a profile that there is not."""
    profiles = opening.method.extraction.profiles
    if config.profile not in profiles:
        yield f"there is no profile {config.profile!r} in extraction.yaml: {', '.join(profiles)}"
    for path in opening.paths:
        with path.open("rb") as file:
            if not format_of(file.read(HEAD)):
                yield f"{path}: {NO_PAGES}"


KIND = Kind(PagesConfig, open_pages, look)
