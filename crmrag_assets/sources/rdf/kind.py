"""The kind `rdf`: the files that patterns name, and their triples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import polars as pl
import pyoxigraph as ox

from crmrag_assets.build.step import Progress
from crmrag_assets.harvest.report import Tally
from crmrag_assets.harvest.spool import SpoolWriter
from crmrag_assets.harvest.triples import NO_COLUMNS
from crmrag_assets.sources.kinds import Kind, Opening
from crmrag_assets.sources.rdf.lines import read_lines, read_statements
from crmrag_assets.sources.spooled import (
    N_QUADS,
    N_TRIPLES,
    PORTION,
    ByteStream,
    FileSource,
    Survey,
    format_of,
    head_of,
    sniff,
)
from crmrag_query.artifacts.manifest import sha256_file
from crmrag_query.config.sources import RdfConfig
from crmrag_query.errors import CrmRagError, SourceError
from crmrag_query.ontology.load import normalise_class, normalise_property
from crmrag_query.syntax import LONGEST, SHORTEN, TOO_LONG, OutOfBounds

STATEMENTS = 1000  # of each file that a first look reads


@dataclass(frozen=True)
class RdfFiles(FileSource):
    """Files in any RDF format we know, plain or compressed, with CIDOC-CRM in them.

    ``contexts``: files that stand in for JSON-LD contexts at addresses.
    """

    base_iri: str = ""
    contexts: Mapping[str, Path] = field(default_factory=dict)

    def format_of(self, path: Path) -> str:
        return format_of(path).name

    def settings(self) -> str:
        return self.base_iri

    def contents(self, checksums: Mapping[Path, str]) -> list[str]:
        """With the JSON-LD contexts, too."""
        contexts = sorted(f"{address} {sha256_file(path)}" for address, path in self.contexts.items())
        return [*super().contents(checksums), *contexts]

    def beginning(self, path: Path) -> tuple[int, Tally]:
        """How many of the first STATEMENTS of a file were read, and its faults; SourceError where no build could read it."""
        tally, count = Tally(file=self.shown(path)), 0
        for _, columns, quads in self._portions(path, tally, STATEMENTS):
            count += len(columns) + len(quads)
            if count >= STATEMENTS:
                break
        return min(count, STATEMENTS), tally

    def write(self, path: Path, writer: SpoolWriter, tally: Tally, progress: Progress) -> int:
        """Lines are taken apart as tables, which is faster than a triple at a time."""
        triples, blank = 0, list[ox.Quad]()
        for position, columns, quads in self._portions(path, tally):
            triples += len(columns) + len(quads)
            blank += writer.add(quads, columns)
            progress.advance(position, None, f"reading {tally.file}")
        writer.add_blank(blank)
        if writer.longest >= LONGEST:  # not every parser refuses it
            raise SourceError(f"{path} is not read: {TOO_LONG}.", SHORTEN)
        return triples

    def _portions(
        self, path: Path, tally: Tally, portion: int = PORTION
    ) -> Iterator[tuple[int, pl.DataFrame, list[ox.Quad]]]:
        """A file's triples, some at a time: bytes read so far, those of plain lines with columns of schema COLUMNS, and the
        others. SourceError where nothing can be read."""
        kind, faults, found = format_of(path), tally.broken_count, 0
        with ByteStream(path) as stream, _within_bounds(path):
            if kind in (N_TRIPLES, N_QUADS):
                parts = read_lines(stream, kind, tally)
            else:
                statements = read_statements(stream, kind, self.base_iri, tally, self.contexts)
                parts = ((NO_COLUMNS, part) for part in iter(lambda: list(islice(statements, portion)), []))
            for columns, quads in parts:
                found += len(columns) + len(quads)
                yield stream.position, columns, quads
        if not found and tally.broken_count > faults:
            raise _unreadable(path, kind, tally)

    def accept(self, survey: Survey) -> None:
        super().accept(survey)
        if any(map(normalise_class, survey.classes)) or any(map(normalise_property, survey.properties)):
            return
        shown = ", ".join(map(self.shown, self._existing()[:3]))
        seen = ", ".join(sorted(survey.properties)[:3]) or "none"
        raise SourceError(
            f"There is no class or property of CIDOC-CRM in {shown} ({survey.triples:,} triples; properties: {seen}).",
            "Name files with CIDOC-CRM data, or add your ontology with `crmrag ontology extract`.",
        )


@contextmanager
def _within_bounds(path: Path) -> Iterator[None]:
    """What a parser would not survive, or does not take, as SourceError."""
    try:
        yield
    except OutOfBounds as error:
        raise SourceError(f"{path} is not read: {error.what}.", error.remedy) from error
    except MemoryError as error:
        if "buffer maximal size" not in str(error):  # else no memory is lacking
            raise
        raise SourceError(f"{path} is not read: {TOO_LONG}.", SHORTEN) from error


def _unreadable(path: Path, kind: ox.RdfFormat, tally: Tally) -> SourceError:
    head = head_of(path)
    if head.lstrip()[:14].lower().startswith(("<!doctype html", "<html")):
        return SourceError(
            f"{path} is a web page, not RDF.", "Fetch the data itself: perhaps it needs a login."
        )
    if "h\0t\0t\0p" in head:
        return SourceError(f"{path} is written in UTF-16.", "Save it in UTF-8, as RDF asks for.")
    looks = sniff(head)
    hint = f"It looks like {looks.name}: give it that extension." if looks and looks != kind else ""
    what = f"Nothing in {path} can be read as {kind.name}. First fault: {tally.broken[-1]}."
    return SourceError(what, hint or "Check the file.")


def open_files(config: RdfConfig, opening: Opening) -> RdfFiles:
    contexts = config.context_files(opening.root)
    return RdfFiles(opening.paths, opening.method, opening.root, config.base_iri, contexts)


def look(config: RdfConfig, opening: Opening) -> Iterator[str]:
    """What is wrong with the first statements of each file."""
    source = open_files(config, opening)
    for path in source.files:
        try:
            count, tally = source.beginning(path)
        except CrmRagError as error:
            yield str(error)
            continue
        if tally.broken_count:
            faults = (
                f"{tally.broken_count} of the first {count:,} statements cannot be read ({tally.broken[0]})"
            )
            yield f"{path}: {faults}. Correct them."
        elif not count:
            yield f"{path}: there is no statement in it. Did the export fail? Write it again."


KIND = Kind(RdfConfig, open_files, look)
