"""The kind `rdf`: the files that patterns name, and their triples."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
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


@dataclass(frozen=True)
class RdfFiles(FileSource):
    """Files in any RDF format we know, plain or compressed, with CIDOC-CRM in them.

    ``contexts``: files that stand in for JSON-LD contexts at addresses.
    """

    base_iri: str = ""
    contexts: Mapping[str, Path] = field(default_factory=dict)

    def format_of(self, path: Path) -> str:
        return format_of(path).name

    def fingerprint_of(self, checksums: Mapping[Path, str]) -> str:
        """SHA-256 of formats, contents, base IRI and JSON-LD contexts, given the SHA-256 of each file."""
        contents = self.contents(checksums)
        contents += sorted(f"{address} {sha256_file(path)}" for address, path in self.contexts.items())
        return hashlib.sha256("\n".join([self.base_iri, *contents]).encode()).hexdigest()

    def look(self, statements: int) -> Iterator[tuple[Path, int, Tally]]:
        """Each file with how many of its first statements were read, at most so many, and its faults; SourceError for one
        that no build could read."""
        for path in self._existing():
            tally, count = Tally(file=self.shown(path)), 0
            kind = format_of(path)
            with ByteStream(path) as stream, _within_bounds(path):
                for columns, quads in _portions(
                    stream, kind, self.base_iri, tally, self.contexts, statements
                ):
                    count += len(columns) + len(quads)
                    if count >= statements:
                        break
            if not count and tally.broken_count:
                raise _unreadable(path, kind, tally)
            yield path, min(count, statements), tally

    def write(self, path: Path, writer: SpoolWriter, tally: Tally, progress: Progress) -> int:
        """Lines are taken apart as tables, which is faster than a triple at a time."""
        kind, faults, triples = format_of(path), tally.broken_count, 0
        blank: list[ox.Quad] = []
        with ByteStream(path) as stream, _within_bounds(path):
            for columns, quads in _portions(stream, kind, self.base_iri, tally, self.contexts):
                triples += len(columns) + len(quads)
                blank += writer.add(quads, columns)
                progress.advance(stream.position, None, f"reading {tally.file}")
            writer.add_blank(blank)
            if writer.longest >= LONGEST:  # not every parser refuses it
                raise OutOfBounds(TOO_LONG, SHORTEN)
        if not triples and tally.broken_count > faults:
            raise _unreadable(path, kind, tally)
        return triples

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


def _portions(
    stream: ByteStream,
    kind: ox.RdfFormat,
    base: str,
    tally: Tally,
    contexts: Mapping[str, Path],
    portion: int = PORTION,
) -> Iterator[tuple[pl.DataFrame, list[ox.Quad]]]:
    if kind in (N_TRIPLES, N_QUADS):
        yield from read_lines(stream, kind, tally)
        return
    quads = read_statements(stream, kind, base, tally, contexts)
    while part := list(islice(quads, portion)):
        yield NO_COLUMNS, part


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
    first = f" First fault: {tally.broken[-1]}." if tally.broken else ""
    return SourceError(f"Nothing in {path} can be read as {kind.name}.{first}", hint or "Check the file.")


STATEMENTS = 1000
"""Statements of each file that are read."""


def open_files(config: RdfConfig, opening: Opening) -> RdfFiles:
    contexts = config.context_files(opening.root)
    return RdfFiles(opening.paths, opening.method, opening.root, config.base_iri, contexts)


def look(config: RdfConfig, opening: Opening) -> Iterator[str]:
    """What is wrong with the first statements of each file."""
    whole = open_files(config, opening)
    for path in whole.files:
        yield from _of_file(replace(whole, files=(path,)), path)


def _of_file(file: RdfFiles, path: Path) -> Iterator[str]:
    try:
        for _, count, tally in file.look(STATEMENTS):
            if tally.broken_count:
                first = f" ({tally.broken[0]})" if tally.broken else ""
                yield f"{path}: {tally.broken_count} of the first {count:,} statements cannot be read{first}. Correct them."
            elif not count:
                yield f"{path}: there is no statement in it. Did the export fail? Write it again."
    except CrmRagError as error:
        yield str(error)


KIND = Kind(RdfConfig, open_files, look)
