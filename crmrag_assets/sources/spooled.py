"""Sources that read files: each file once, as a stream of plain bytes, whatever it is compressed with, into a spool on disk,
from which chunks are slices.
"""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from types import TracebackType

import pyarrow as pa
import pyoxigraph as ox

from crmrag_assets.build.step import Progress, all_buckets, chunk_bits
from crmrag_assets.harvest.report import FileRead, Tally
from crmrag_assets.harvest.source import Counted, Discovery, Fetched, without_schema
from crmrag_assets.harvest.spool import ROWS, SpoolWriter, read_buckets, read_coded
from crmrag_assets.harvest.triples import distinct_sorted
from crmrag_query.artifacts.manifest import BUCKETS, sha256_file
from crmrag_query.config.loading import Method
from crmrag_query.config.sources import graph_of_file
from crmrag_query.errors import SourceError
from crmrag_query.syntax import RDF_TYPE

MAGIC = {"gzip": b"\x1f\x8b", "bz2": b"BZh", "zstd": b"\x28\xb5\x2f\xfd"}
EXTENSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".zstd": "zstd"}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
RATIO = 200  # bytes that one may expand to: RDF compresses to a hundredth at most, a bomb to a ten-thousandth
UNJUDGED = 1 << 24  # bytes up to which any ratio goes
MOST = 1 << 38  # bytes that a compressed file may hold: over a billion triples
PORTION = 1 << 20  # bytes unpacked at once
LITTLE = (
    4096  # bytes read at once where all that comes before a fault is wanted: what is read with it is lost
)
HEAD = 1 << 16  # bytes looked at for a format
N_TRIPLES, N_QUADS = ox.RdfFormat.N_TRIPLES, ox.RdfFormat.N_QUADS
TURTLE, TRIG = ox.RdfFormat.TURTLE, ox.RdfFormat.TRIG
RDF_XML, JSON_LD = ox.RdfFormat.RDF_XML, ox.RdfFormat.JSON_LD
# .rdf, .owl, .rdfs and .xml are used for several formats: there, content decides
BY_EXTENSION = {
    ".nt": N_TRIPLES,
    ".ntriples": N_TRIPLES,
    ".nq": N_QUADS,
    ".nquads": N_QUADS,
    ".ttl": TURTLE,
    ".turtle": TURTLE,
    ".trig": TRIG,
    ".jsonld": JSON_LD,
    ".json": JSON_LD,
}
_XML = re.compile(r"<(\?xml|!DOCTYPE|!--|(\w+:)?RDF\b)")
_JSON = re.compile(r'(\[\s*)?\{\s*("|\})')
_DIRECTIVE = re.compile(r"^\s*@?(prefix|base)\b", re.IGNORECASE | re.MULTILINE)
_LINE = re.compile(
    r'(<[^>\s]*>|_:\S+)\s+<[^>\s]*>\s+(<[^>\s]*>|_:\S+|".*"\S*)(\s+(<[^>\s]*>|_:\S+))?\s*\.\s*(#.*)?'
)
_STATEMENT = re.compile(r"\s*(<[^>\s]*>|[\w.-]*:\S+|\[)\s+\S+")
_GRAPH = re.compile(r"(^|[>\w:])\s*\{", re.MULTILINE)
_STRING = re.compile(r'"[^"\n]*"')


def compression_of(path: Path) -> str | None:
    """Compression of a file by its first bytes; raises SourceError where its extension says otherwise."""
    stated = EXTENSIONS.get(path.suffix.lower())
    with _opened(path) as raw:
        head = raw.read(4)
    found = next((name for name, magic in MAGIC.items() if head.startswith(magic)), None)
    if stated and found != stated:
        raise SourceError(
            f"{path} is named {path.suffix} but does not hold {stated} data.",
            "Fetch it again, or give it the extension of what it holds.",
        )
    return found


class ByteStream:
    """Uncompressed bytes of one file, without a byte order mark; each failure is a SourceError naming the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        compression = compression_of(path)
        self._raw = _opened(path)
        self._packed, self._unpacked = compression is not None, 0
        self._plain = pa.CompressedInputStream(self._raw, compression) if compression else self._raw
        self._head = self._read(len(BYTE_ORDER_MARK)).removeprefix(BYTE_ORDER_MARK)

    def read(self, size: int = -1) -> bytes:
        """At most ``size`` bytes, all of them when negative; empty at the end."""
        if size < 0:
            head, self._head = self._head, b""
            return head + b"".join(iter(partial(self._read, PORTION), b""))
        head, self._head = self._head[:size], self._head[size:]
        return head or self._read(size)

    def at_line(self, line: int, header: bytes) -> ByteStream:
        """The stream at the start of a line (counted from 1); what it reads next is a ``header``."""
        missing, part = line - 1, b""
        while missing and (part := self.read(PORTION)):
            ends = part.count(b"\n")
            if ends >= missing:
                part = part.split(b"\n", missing)[missing]
                break
            missing -= ends
        self._head = header + part
        return self

    @property
    def position(self) -> int:
        """Bytes of the file consumed so far, as stored (compressed)."""
        return int(self._raw.tell())

    def _read(self, size: int) -> bytes:
        try:
            part = bytes(self._plain.read(min(size, PORTION)))
        except (OSError, pa.ArrowException) as error:
            remedy = "It is incomplete or damaged: fetch it again."
            raise SourceError(f"{self.path} cannot be read to its end ({error}).", remedy) from error
        if self._packed:
            self._unpacked += len(part)
            if self._unpacked > min(MOST, max(UNJUDGED, RATIO * self.position)):
                raise SourceError(
                    f"{self.path} expands to over {self._unpacked >> 20:,} MiB, from {self.position:,} bytes.",
                    "That is how files are made to fill memory and disk. If you know that it is right, unpack it and "
                    "name what was in it.",
                )
        return part

    def __enter__(self) -> ByteStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # it would read on to the end when it is closed, and fail where the file is cut off
        self._plain = None
        self._raw.close()


def _opened(path: Path) -> pa.NativeFile:
    try:
        return pa.OSFile(str(path), "rb")
    except OSError as error:
        raise SourceError(
            f"{path} cannot be opened ({error}).", "Check its name and who may read it."
        ) from error


def extension_of(path: Path) -> str:
    """The ending of a file's name that tells its format, in small letters: that of a compression aside."""
    plain = path.with_suffix("") if path.suffix.lower() in EXTENSIONS else path
    return plain.suffix.lower()


def format_of(path: Path) -> ox.RdfFormat:
    """Format of a file, plain or compressed; raises SourceError when neither name nor content tells."""
    found = BY_EXTENSION.get(extension_of(path)) or sniff(head_of(path))
    if found is None:
        names = ", ".join(sorted(BY_EXTENSION))
        raise SourceError(f"{path} is in no RDF format we know.", f"Name it by its format: {names} or .rdf.")
    return found


def head_of(path: Path) -> str:
    """The first 64 KiB of a file as text, without byte order mark."""
    with ByteStream(path) as stream:
        return (stream.read(HEAD) + stream.read(HEAD))[:HEAD].decode("utf-8", "replace")


def sniff(head: str) -> ox.RdfFormat | None:
    """Format that a file starting with ``head`` is in; None when it looks like no RDF."""
    text = head.lstrip()
    if _XML.match(text):
        return RDF_XML
    if _JSON.match(text):
        return JSON_LD
    lines = [line.strip() for line in text.splitlines()]
    stated = [line for line in lines if line and not line.startswith("#")]
    if stated and _LINE.fullmatch(stated[0]):
        return N_QUADS  # every N-Triples file is an N-Quads file
    plain = _STRING.sub('""', "\n".join(stated))
    if _DIRECTIVE.search(plain) or _STATEMENT.match(plain):
        return TRIG if _GRAPH.search(plain) else TURTLE
    return None


# What sources that are no RDF are stated with.
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
TYPE, LABEL = ox.NamedNode(RDF_TYPE), ox.NamedNode(f"{RDFS}label")
PROPERTY = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#Property")
CRM = "http://www.cidoc-crm.org/cidoc-crm/"
CONCEPT, HAS_TYPE = ox.NamedNode(f"{CRM}E55_Type"), ox.NamedNode(f"{CRM}P2_has_type")
PAGES = {"en": "Page", "de": "Seite", "el": "Σελίδα", "es": "Página", "fr": "Page", "it": "Pagina"}
QUADS = 20_000  # handed over at once


def literal(text: str, language: str) -> ox.Literal:
    return ox.Literal(text, language=language) if language else ox.Literal(text)


def class_of_pages(page: ox.NamedNode, names: Mapping[str, str] = PAGES) -> tuple[ox.Quad, ...]:
    """What a page is, an information object, and its ``names`` by language: by this class it is asked for."""
    return (
        ox.Quad(page, TYPE, ox.NamedNode(f"{RDFS}Class")),
        ox.Quad(page, ox.NamedNode(f"{RDFS}subClassOf"), ox.NamedNode(f"{CRM}E73_Information_Object")),
        *(ox.Quad(page, LABEL, ox.Literal(name, language=language)) for language, name in names.items()),
    )


@dataclass
class Survey:
    """Counts and distinct IRIs of what was looked at so far."""

    entities: int = 0
    triples: int = 0
    excluded_subjects: int = 0
    excluded_triples: int = 0
    classes: set[str] = field(default_factory=set)
    properties: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class FileSource(ABC):
    """A source of files, of which a subclass knows how each is read.

    ``files``: what is read; ``root``: what their names are shown relative to; ``by_file``: whether triples without a graph
    are in that of their file.
    """

    files: tuple[Path, ...]
    method: Method
    root: Path = Path()
    by_file: bool = field(default=False, kw_only=True)

    @abstractmethod
    def format_of(self, path: Path) -> str:
        """What the file's format is called in reports, as part of the identity of the content."""

    @abstractmethod
    def write(self, path: Path, writer: SpoolWriter, tally: Tally, progress: Progress) -> int:
        """Read a file into the spool; how many triples it has. Progress is told in bytes of the file."""

    def settings(self) -> str:
        """What else decides on the triples that files become, the version of what reads them too; part of the identity of the
        content."""
        return ""

    def accept(self, survey: Survey) -> None:
        """Raise SourceError where what was read is not what a source of this kind holds."""
        if not survey.triples:
            shown = ", ".join(map(self.shown, self._existing()[:3]))
            raise SourceError(
                f"{shown}: there is no triple of an entity in it.", "Did the export fail? Write it again."
            )

    def fingerprint(self) -> str:
        """SHA-256 of formats, contents and settings; raises SourceError for a file that cannot be read."""
        return self.fingerprint_of({path: sha256_file(path) for path in self._existing()})

    def fingerprint_of(self, checksums: Mapping[Path, str]) -> str:
        """The fingerprint, given the SHA-256 of each file."""
        contents = self.contents(checksums)
        return hashlib.sha256("\n".join([self.settings(), *contents]).encode()).hexdigest()

    def contents(self, checksums: Mapping[Path, str]) -> list[str]:
        """Format and checksum of each file; its name, too, where its triples are told by it."""
        names = {path: f"{graph_of_file(self.shown(path))} " if self.by_file else "" for path in checksums}
        return sorted(
            f"{names[path]}{self.format_of(path)} {checksum}" for path, checksum in checksums.items()
        )

    def discover(self, folder: Path, progress: Progress) -> Discovery:
        """Read each file once into a spool below ``folder`` and count what it holds."""
        tally = Tally()
        writer = SpoolWriter(folder, tally)
        self._read(writer, tally, progress)
        writer.close()
        survey = self._survey(folder, writer.rows, progress)
        self.accept(survey)
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

    def recount(self, folder: Path) -> Counted | None:
        """None: files are read whole, and a change of them is seen in the fingerprint."""
        return None

    def shown(self, path: Path) -> str:
        """The name of a file in messages and reports."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.name

    def _existing(self) -> tuple[Path, ...]:
        for path in self.files:
            if not path.is_file():
                raise SourceError(f"There is no file {path}.", "Check the data set's files in datasets.yaml.")
        return tuple(sorted(self.files))

    def _read(self, writer: SpoolWriter, tally: Tally, progress: Progress) -> None:
        total = sum(path.stat().st_size for path in self._existing())
        done = 0
        for path in self._existing():
            tally.file = self.shown(path)
            writer.graph = graph_of_file(tally.file) if self.by_file else ""
            triples = self.write(path, writer, tally, _Shifted(progress, done, total))
            tally.files.append(FileRead(tally.file, self.format_of(path), triples))
            done += path.stat().st_size
            progress.advance(done, total, f"reading {tally.file}")

    def _survey(self, folder: Path, rows: int, progress: Progress) -> Survey:
        """Distinct things of the whole spool, counted some buckets at a time: about as many rows as a batch has."""
        total = Survey()
        for buckets in all_buckets(rows, ROWS):
            numbered, words = read_coded(folder, buckets)
            typing = next(iter((words["p"] == RDF_TYPE).arg_true()), -1)
            found = without_schema(distinct_sorted(numbered), self.method.discovery, typing)
            properties = found.frame.get_column("p")
            total.entities += found.entities
            total.triples += len(found.frame)
            total.excluded_subjects += found.excluded_subjects
            total.excluded_triples += found.excluded_triples
            total.classes.update(found.frame.get_column("o").filter(properties == typing).unique())
            total.properties.update(words["p"].gather(properties.unique()))
            progress.advance(buckets.stop, BUCKETS, "counting entities")
        return total


@dataclass(frozen=True)
class SpooledFiles(FileSource):
    """A source of files that are read statement by statement; its subclasses have `statements` and `format_of`."""

    @abstractmethod
    def statements(self, path: Path, tally: Tally) -> Iterator[tuple[int, Iterable[ox.Quad]]]:
        """The triples of one file, some at a time, each time with the bytes of the file that were read so far.

        Blank nodes are those of the file. What cannot be read is told to the tally, and reading goes on; raises SourceError
        where nothing of the file can be.
        """

    def write(self, path: Path, writer: SpoolWriter, tally: Tally, progress: Progress) -> int:
        triples, blank, held = 0, list[ox.Quad](), list[ox.Quad]()
        for position, quads in self.statements(path, tally):
            rest = iter(quads)
            while part := list(islice(rest, QUADS - len(held))):
                held += part
                if len(held) < QUADS:
                    break
                triples += len(held)
                blank += writer.add(held)
                held = []
                progress.advance(position, None, f"reading {tally.file}")
        triples += len(held)
        blank += writer.add(held)
        writer.add_blank(blank)
        return triples


@dataclass(frozen=True)
class _Shifted:
    """Progress within one file, told of all of them: ``before`` it so many bytes were read, of ``all`` in the end."""

    inner: Progress
    before: int
    all: int

    def advance(self, done: int, total: int | None = None, note: str = "") -> None:
        self.inner.advance(self.before + done, self.all, note)
