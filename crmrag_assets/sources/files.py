"""RDF files as a source: parsed once, spooled to disk, and read back by bucket."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import polars as pl
import pyoxigraph as ox

from crmrag_assets.build.progress import Progress
from crmrag_assets.harvest.chunks import chunk_bits
from crmrag_assets.harvest.columns import NO_COLUMNS, canonical_lines
from crmrag_assets.harvest.entities import Entities, without_schema
from crmrag_assets.harvest.report import FileRead, HarvestReport, Tally
from crmrag_assets.harvest.skolem import Skolemiser
from crmrag_assets.harvest.spool import ROWS, SpoolWriter, read_buckets, read_coded
from crmrag_assets.harvest.triples import RDF_TYPE, distinct_sorted
from crmrag_assets.sources.base import Counted, Discovery, Fetched
from crmrag_assets.sources.formats import Format, format_of, head_of, sniff
from crmrag_assets.sources.lines import read_lines
from crmrag_assets.sources.statements import read_statements
from crmrag_assets.sources.streams import ByteStream
from crmrag_query.artifacts.chunks import BUCKETS
from crmrag_query.artifacts.files import sha256_file
from crmrag_query.config.models import Method
from crmrag_query.errors import SourceError
from crmrag_query.ontology.codes import normalise_class, normalise_property

PORTION = 20_000  # quads handed over at once


def content_fingerprint(checksums: Mapping[Path, str], base_iri: str) -> str:
    """SHA-256 of formats, contents and base IRI, given the SHA-256 of each file."""
    contents = sorted(f"{format_of(path).name} {checksum}" for path, checksum in checksums.items())
    return hashlib.sha256("\n".join([base_iri, *contents]).encode()).hexdigest()


@dataclass(frozen=True)
class RdfFiles:
    """Files in any RDF format we know, plain or compressed; ``root`` is what their names are shown relative to."""

    files: tuple[Path, ...]
    method: Method
    base_iri: str = ""
    root: Path = Path()

    def fingerprint(self) -> str:
        """SHA-256 of formats, contents and base IRI; raises SourceError for a file that cannot be read."""
        checksums = {path: sha256_file(path) for path in self._existing()}
        return content_fingerprint(checksums, self.base_iri)

    def discover(self, folder: Path, progress: Progress) -> Discovery:
        """Parse each file once into a spool below ``folder`` and count what it holds.

        Raises SourceError for a file that is missing, damaged or wholly unreadable, and where nothing is CIDOC-CRM.
        """
        tally, skolemiser = Tally(self.method.harvest.broken_lines_shown), Skolemiser()
        writer = SpoolWriter(folder, tally)
        self._read(writer, skolemiser, tally, progress)
        writer.close()
        survey = _survey(folder, writer.rows, self.method, progress)
        self._require_crm(survey)
        report = HarvestReport(
            files=tuple(tally.files),
            triples_read=sum(file.triples for file in tally.files),
            triples=survey.triples,
            entities=survey.entities,
            excluded_subjects=survey.excluded_subjects,
            excluded_triples=survey.excluded_triples,
            graphs=writer.graphs,
            broken=tuple(tally.broken),
            broken_count=tally.broken_count,
            skipped=dict(sorted(tally.skipped.items())),
            repaired=tally.repaired,
            anonymous=tally.anonymous,
            blank_nodes=skolemiser.nodes,
            blank_components=skolemiser.components,
            blank_merged=skolemiser.merged,
            blank_unproven=skolemiser.unproven,
        )
        chunks = self.method.chunks
        bits = chunk_bits(survey.entities, chunks.entities, chunks.max_bits)
        discovery = Discovery(survey.entities, survey.triples, bits, report)
        discovery.save(folder)
        return discovery

    def fetch(self, folder: Path, buckets: range) -> Fetched:
        return Fetched(read_buckets(folder, buckets))

    def recount(self) -> Counted | None:
        """None: files are read whole, and a change of them is seen in the fingerprint."""
        return None

    def _existing(self) -> tuple[Path, ...]:
        for path in self.files:
            if not path.is_file():
                raise SourceError(f"There is no file {path}.", "Check the data set's `rdf` in datasets.yaml.")
        return tuple(sorted(self.files))

    def _read(self, writer: SpoolWriter, skolemiser: Skolemiser, tally: Tally, progress: Progress) -> None:
        total = sum(path.stat().st_size for path in self._existing())
        done = 0
        for path in self._existing():
            tally.file = self._shown(path)
            kind, faults, triples = format_of(path), tally.broken_count, 0
            blank: list[ox.Quad] = []
            with ByteStream(path) as stream:
                for columns, lines in _portions(stream, kind, self.base_iri, tally):
                    triples += len(columns) + lines.count(b"\n")
                    blank += writer.add_lines(lines, columns)
                    progress.advance(done + stream.position, total, f"reading {tally.file}")
            if not triples and tally.broken_count > faults:
                raise _unreadable(path, kind, tally)
            writer.add(skolemiser.named(blank))
            tally.files.append(FileRead(tally.file, kind.name, triples))
            done += path.stat().st_size
            progress.advance(done, total, f"reading {tally.file}")

    def _shown(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.name

    def _require_crm(self, survey: _Survey) -> None:
        if any(normalise_class(iri) for iri in survey.classes) or any(
            normalise_property(p) for p in survey.properties
        ):
            return
        if not survey.triples:
            shown = ", ".join(map(self._shown, self._existing()[:3]))
            raise SourceError(
                f"{shown}: there is no triple of an entity in it.", "Did the export fail? Write it again."
            )
        seen = ", ".join(sorted(survey.properties)[:3]) or "none"
        raise SourceError(
            f"There is no class or property of CIDOC-CRM in {', '.join(map(self._shown, self._existing()[:3]))} "
            f"({survey.triples:,} triples; properties: {seen}).",
            "Name files with CIDOC-CRM data, or add your ontology with `crmrag ontology extract`.",
        )


@dataclass(frozen=True)
class _Survey:
    """Counts and distinct IRIs of what was looked at so far."""

    entities: int = 0
    triples: int = 0
    excluded_subjects: int = 0
    excluded_triples: int = 0
    classes: frozenset[str] = frozenset()
    properties: frozenset[str] = frozenset()

    def plus(self, found: Entities, properties: pl.Series, typing: int) -> _Survey:
        """With what was found: ``properties`` are numbered, ``typing`` is that of rdf:type."""
        classes = found.frame.filter(pl.col("p") == typing).get_column("o").unique()
        return _Survey(
            self.entities + found.entities,
            self.triples + len(found.frame),
            self.excluded_subjects + found.excluded_subjects,
            self.excluded_triples + found.excluded_triples,
            self.classes.union(classes),
            self.properties.union(properties.gather(found.frame.get_column("p").unique())),
        )


def _survey(folder: Path, rows: int, method: Method, progress: Progress) -> _Survey:
    """Distinct things of the whole spool, counted some buckets at a time: about as many rows as a batch has."""
    width = BUCKETS
    while width > 1 and rows * width > ROWS * BUCKETS:
        width //= 2
    total = _Survey()
    for first in range(0, BUCKETS, width):
        fetched, words = read_coded(folder, range(first, first + width))
        typing = next(iter((words["p"] == RDF_TYPE).arg_true()), -1)
        total = total.plus(
            without_schema(distinct_sorted(fetched), method.discovery, typing), words["p"], typing
        )
        progress.advance(first + width, BUCKETS, "counting entities")
    return total


def _portions(
    stream: ByteStream, kind: Format, base: str, tally: Tally
) -> Iterator[tuple[pl.DataFrame, bytes]]:
    """The file's quads, portion by portion: as columns of schema COLUMNS, and as canonical N-Quads."""
    if kind.lines:
        yield from read_lines(stream, kind.parser, tally)
        return
    quads = read_statements(stream, kind, base, tally)
    while portion := list(islice(quads, PORTION)):
        yield NO_COLUMNS, canonical_lines(portion)


def _unreadable(path: Path, kind: Format, tally: Tally) -> SourceError:
    head = head_of(path)
    if head.lstrip()[:14].lower().startswith(("<!doctype html", "<html")):
        return SourceError(
            f"{path} is a web page, not RDF.", "Fetch the data itself: perhaps it needs a login."
        )
    if "h\0t\0t\0p" in head:
        return SourceError(
            f"{path} is written in UTF-16.",
            "Save it in UTF-8, as RDF asks for.",
        )
    looks = sniff(head)
    hint = f"It looks like {looks.name}: give it that extension." if looks and looks.name != kind.name else ""
    first = f" First fault: {tally.broken[-1]}." if tally.broken else ""
    return SourceError(f"Nothing in {path} can be read as {kind.name}.{first}", hint or "Check the file.")
