"""Pages of a release: the images and text layers of its scanned documents, and what a language model read from them.

What a machine read has IRIs of its own, and stands in a named graph for each document, so that it is always told apart from
what a curator wrote.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pyarrow as pa
import pyarrow.ipc as ipc

from crmrag_query.artifacts.files import ReleaseFiles
from crmrag_query.artifacts.manifest import open_ipc

IMAGES: Final = "page_images"
READINGS: Final = "page_extractions"
CANDIDATES: Final = "page_candidates"
FOLDER: Final = "pages"
"""Of the images, in a release: one folder for each chunk of documents, as of the readings."""
READ: Final = "urn:crmrag:read:"
"""Begins the IRI of everything that a machine read from a page: things, and the named graphs of documents."""
READ_GRAPH: Final = f"{READ}graph:"
READ_THING: Final = f"{READ}thing:"
PAGE_CLASS: Final = "urn:crmrag:pages:Page"
"""Of pages; they are parts (P106) of their documents."""
FORMATS: Final = {
    b"%PDF-": "PDF", b"\x89PNG\r\n\x1a\n": "PNG", b"\xff\xd8\xff": "JPEG", b"II*\0": "TIFF", b"MM\0*": "TIFF",
    b"II+\0": "TIFF", b"MM\0+": "TIFF",
}  # fmt: skip
"""What documents of pages begin with."""
ENDINGS: Final = {"PDF": ".pdf", "PNG": ".png", "JPEG": ".jpg", "TIFF": ".tif"}
HEAD: Final = 1024  # bytes in which a PDF may begin, as readers allow
SCHEMAS: Final = {
    "documents": pa.schema(
        [
            ("iri", pa.utf8()),
            ("name", pa.utf8()),
            ("title", pa.utf8()),
            ("sha256", pa.utf8()),
            ("format", pa.utf8()),
            ("pages", pa.int32()),
            ("refused", pa.utf8()),  # why it was left out, "" for a document that was read
        ]
    ),
    "pages": pa.schema(
        [
            ("iri", pa.utf8()),
            ("document", pa.utf8()),  # its IRI
            ("number", pa.int32()),  # from 1
            ("image", pa.utf8()),  # path in the artifact, "" for none
            ("width", pa.int32()),  # pixels
            ("height", pa.int32()),
            ("text", pa.utf8()),  # text layer
            ("needs", pa.utf8()),  # "ocr" where that is none, else ""; "error": why the page cannot be read
            ("error", pa.utf8()),
        ]
    ),
    "readings": pa.schema(
        [
            ("page", pa.utf8()),  # its IRI
            ("status", pa.utf8()),  # read, failed, stopped (after failures in a row), left (a ceiling)
            ("error", pa.utf8()),
            ("model", pa.utf8()),
            ("profile", pa.utf8()),
            ("prompt", pa.utf8()),  # version of the prompt
            ("entities", pa.list_(pa.struct([("name", pa.utf8()), ("type", pa.utf8()), ("description", pa.utf8())]))),
            (
                "relationships",
                pa.list_(
                    pa.struct(
                        [("source", pa.int32()), ("target", pa.int32()), ("type", pa.utf8()), ("description", pa.utf8())]
                    )
                ),
            ),  # between entities of the page by their place
            ("dropped", pa.int32()),  # entities and relationships of unknown types, without names or ends
        ]
    ),
    "candidates": pa.schema([("a", pa.utf8()), ("b", pa.utf8()), ("score", pa.float32())]),
    "statements": pa.schema([("s", pa.utf8()), ("p", pa.utf8()), ("o", pa.utf8()), ("page", pa.utf8())]),
}  # fmt: skip
"""Tables. Candidates: pairs of things that may be the same, the first read from a page. Statements: which page of a document
each of its triples was read from."""


def format_of(head: bytes) -> str:
    """What a file is by its first ``HEAD`` bytes, "" for anything else than a document of pages."""
    found = next((name for magic, name in FORMATS.items() if head.startswith(magic)), "")
    return found or ("PDF" if b"%PDF-" in head else "")


def save(folder: Path, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a table of ``SCHEMAS`` as ``<name>.arrow``."""
    schema = SCHEMAS[name]
    table = pa.Table.from_pylist(list(rows), schema)
    with pa.OSFile(str(folder / f"{name}.arrow"), "wb") as sink, ipc.new_file(sink, schema) as writer:
        writer.write_table(table)


def load(folder: Path, name: str) -> list[dict[str, Any]]:
    """The rows of a table. Raises ReleaseError where it cannot be read."""
    rows: list[dict[str, Any]] = open_ipc(folder / f"{name}.arrow", SCHEMAS[name]).read_all().to_pylist()
    return rows


def parts(folder: Path, name: str) -> list[Path]:
    """The folders that hold a table of an artifact in a release: its chunks; of a release from before it had any, its own."""
    return sorted(path.parent for form in ("", "*/") for path in folder.glob(f"{form}{name}.arrow"))


def document_iri(base: str, name: str) -> str:
    """The IRI of a document by its name, the path below the data set's folder."""
    return base + quote(name)


def page_iri(document: str, number: int) -> str:
    return f"{document}_p{number:03}"


def read_graph(document: str) -> str:
    """The named graph of what was read from a document, by its IRI."""
    return READ_GRAPH + digest(document)


def digest(*parts: str) -> str:
    """What names what was read from a page: of a document, or of a thing of it."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:20]


def is_read(iri: str) -> bool:
    """Whether a thing is one that a machine read from a page."""
    return iri.startswith(READ)


@dataclass(frozen=True)
class Page:
    """A page of a document; ``image``: a file, None for a page that could not be read."""

    iri: str
    document: str
    number: int
    image: Path | None
    text: str


@dataclass(frozen=True)
class Pages:
    """Pages by their IRIs; none in a release without any."""

    by_iri: Mapping[str, Page] = field(default_factory=dict)
    release: Path | None = None
    """The folder of the release, None where it has none."""
    documents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Rows of the table of documents, by the first 32 digits of their SHA-256."""

    @classmethod
    def from_release(cls, release: ReleaseFiles) -> Pages:
        if not release.manifest.has(IMAGES):
            return cls()
        folders = parts(release.folder / FOLDER, "pages")
        pages = {
            one["iri"]: Page(
                one["iri"],
                one["document"],
                one["number"],
                folder / one["image"] if one["image"] else None,
                one["text"],
            )
            for folder in folders
            for one in load(folder, "pages")
        }
        documents = {one["sha256"][:32]: one for folder in folders for one in load(folder, "documents")}
        return cls(pages, release.folder, documents)

    @cached_property
    def statements(self) -> Mapping[tuple[str, str, str], tuple[str, ...]]:
        """The pages that each triple was read from."""
        found = dict[tuple[str, str, str], tuple[str, ...]]()
        for folder in parts(self.release / READINGS, "statements") if self.release is not None else ():
            for one in load(folder, "statements"):
                key = (one["s"], one["p"], one["o"])
                found[key] = (*found.get(key, ()), one["page"])
        return found

    @cached_property
    def candidates(self) -> Sequence[tuple[str, str, float]]:
        """Pairs of things that may be the same, by IRI, the first read from a page, each with a score 0..1; best first."""
        if self.release is None or not (self.release / CANDIDATES).is_dir():
            return ()
        rows = load(self.release / CANDIDATES, "candidates")
        return [(one["a"], one["b"], round(one["score"], 3)) for one in rows]

    @cached_property
    def of_things(self) -> Mapping[str, tuple[str, ...]]:
        """The pages that each thing was read from, by its IRI."""
        found = dict[str, dict[str, None]]()
        for (s, _, o), pages in self.statements.items():
            for thing in (s, o):
                if is_read(thing):
                    found.setdefault(thing, {}).update(dict.fromkeys(pages))
        return {thing: tuple(sorted(pages)) for thing, pages in found.items()}
