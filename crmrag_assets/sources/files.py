"""RDF files as a source: parsed once, spooled to disk, and read back by bucket."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import MappingProxyType

import polars as pl
import pyoxigraph as ox

from crmrag_assets.build.chunks import chunk_bits
from crmrag_assets.build.step import Progress
from crmrag_assets.harvest.entities import without_schema
from crmrag_assets.harvest.report import FileRead, Tally
from crmrag_assets.harvest.source import Counted, Discovery, Fetched
from crmrag_assets.harvest.spool import ROWS, SpoolWriter, read_buckets, read_coded
from crmrag_assets.harvest.triples import NO_COLUMNS, RDF_TYPE, distinct_sorted
from crmrag_assets.sources.lines import read_lines, read_statements
from crmrag_assets.sources.streams import N_QUADS, N_TRIPLES, ByteStream, format_of, head_of, sniff
from crmrag_query.artifacts.files import BUCKETS, sha256_file
from crmrag_query.config.loading import Method
from crmrag_query.errors import SourceError
from crmrag_query.ontology.codes import normalise_class, normalise_property
from crmrag_query.syntax import LONGEST, SHORTEN, TOO_LONG, OutOfBounds

PORTION = 20_000  # quads handed over at once


def content_fingerprint(
    checksums: Mapping[Path, str], base_iri: str, contexts: Mapping[str, Path] = MappingProxyType({})
) -> str:
    """SHA-256 of formats, contents, base IRI and JSON-LD contexts, given the SHA-256 of each file."""
    contents = sorted(f"{format_of(path).name} {checksum}" for path, checksum in checksums.items())
    contents += sorted(f"{address} {sha256_file(path)}" for address, path in contexts.items())
    return hashlib.sha256("\n".join([base_iri, *contents]).encode()).hexdigest()


@dataclass(frozen=True)
class RdfFiles:
    """Files in any RDF format we know, plain or compressed; ``root`` is what their names are shown relative to.
    ``contexts``: files that stand in for JSON-LD contexts at addresses."""

    files: tuple[Path, ...]
    method: Method
    base_iri: str = ""
    root: Path = Path()
    contexts: Mapping[str, Path] = field(default_factory=dict)

    def fingerprint(self) -> str:
        """SHA-256 of formats, contents and base IRI; raises SourceError for a file that cannot be read."""
        checksums = {path: sha256_file(path) for path in self._existing()}
        return content_fingerprint(checksums, self.base_iri, self.contexts)

    def discover(self, folder: Path, progress: Progress) -> Discovery:
        """Parse each file once into a spool below ``folder`` and count what it holds.

        Raises SourceError for a file that is missing, damaged or wholly unreadable, and where nothing is CIDOC-CRM.
        """
        tally = Tally()
        writer = SpoolWriter(folder, tally)
        self._read(writer, tally, progress)
        writer.close()
        survey = self._survey(folder, writer.rows, progress)
        self._require_crm(survey)
        report = writer.report(
            triples_read=sum(file.triples for file in tally.files),
            triples=survey.triples,
            entities=survey.entities,
            excluded_subjects=survey.excluded_subjects,
            excluded_triples=survey.excluded_triples,
            graphs=writer.graphs,
        )
        bits = chunk_bits(survey.entities, self.method.chunks.entities)
        discovery = Discovery(survey.entities, survey.triples, bits, report)
        discovery.save(folder)
        return discovery

    def fetch(self, folder: Path, buckets: range) -> Fetched:
        return Fetched(read_buckets(folder, buckets))

    def look(self, statements: int) -> Iterator[tuple[Path, int, Tally]]:
        """Each file with how many of its first statements were read, at most so many, and its faults; SourceError for one
        that no build could read."""
        for path in self._existing():
            tally, count = Tally(file=self._shown(path)), 0
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

    def recount(self) -> Counted | None:
        """None: files are read whole, and a change of them is seen in the fingerprint."""
        return None

    def _existing(self) -> tuple[Path, ...]:
        for path in self.files:
            if not path.is_file():
                raise SourceError(f"There is no file {path}.", "Check the data set's `rdf` in datasets.yaml.")
        return tuple(sorted(self.files))

    def _read(self, writer: SpoolWriter, tally: Tally, progress: Progress) -> None:
        total = sum(path.stat().st_size for path in self._existing())
        done = 0
        for path in self._existing():
            tally.file = self._shown(path)
            kind, faults, triples = format_of(path), tally.broken_count, 0
            blank: list[ox.Quad] = []
            with ByteStream(path) as stream, _within_bounds(path):
                for columns, quads in _portions(stream, kind, self.base_iri, tally, self.contexts):
                    triples += len(columns) + len(quads)
                    blank += writer.add(quads, columns)
                    progress.advance(done + stream.position, total, f"reading {tally.file}")
                writer.add_blank(blank)
                if writer.longest >= LONGEST:  # not every parser refuses it
                    raise OutOfBounds(TOO_LONG, SHORTEN)
            if not triples and tally.broken_count > faults:
                raise _unreadable(path, kind, tally)
            tally.files.append(FileRead(tally.file, kind.name, triples))
            done += path.stat().st_size
            progress.advance(done, total, f"reading {tally.file}")

    def _shown(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.name

    def _survey(self, folder: Path, rows: int, progress: Progress) -> _Survey:
        """Distinct things of the whole spool, counted some buckets at a time: about as many rows as a batch has."""
        width = BUCKETS
        while width > 1 and rows * width > ROWS * BUCKETS:
            width //= 2
        total = _Survey()
        for first in range(0, BUCKETS, width):
            numbered, words = read_coded(folder, range(first, first + width))
            typing = next(iter((words["p"] == RDF_TYPE).arg_true()), -1)
            found = without_schema(distinct_sorted(numbered), self.method.discovery, typing)
            properties = found.frame.get_column("p")
            total.entities += found.entities
            total.triples += len(found.frame)
            total.excluded_subjects += found.excluded_subjects
            total.excluded_triples += found.excluded_triples
            total.classes.update(found.frame.get_column("o").filter(properties == typing).unique())
            total.properties.update(words["p"].gather(properties.unique()))
            progress.advance(first + width, BUCKETS, "counting entities")
        return total

    def _require_crm(self, survey: _Survey) -> None:
        if any(map(normalise_class, survey.classes)) or any(map(normalise_property, survey.properties)):
            return
        shown = ", ".join(map(self._shown, self._existing()[:3]))
        if not survey.triples:
            raise SourceError(
                f"{shown}: there is no triple of an entity in it.", "Did the export fail? Write it again."
            )
        seen = ", ".join(sorted(survey.properties)[:3]) or "none"
        raise SourceError(
            f"There is no class or property of CIDOC-CRM in {shown} ({survey.triples:,} triples; properties: {seen}).",
            "Name files with CIDOC-CRM data, or add your ontology with `crmrag ontology extract`.",
        )


@dataclass
class _Survey:
    """Counts and distinct IRIs of what was looked at so far."""

    entities: int = 0
    triples: int = 0
    excluded_subjects: int = 0
    excluded_triples: int = 0
    classes: set[str] = field(default_factory=set)
    properties: set[str] = field(default_factory=set)


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
