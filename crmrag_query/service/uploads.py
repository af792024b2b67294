"""Documents that are sent to the service: bounded, known by their content, put into an inbox for the next build.

What was sent is never opened here, and its name is never part of a path. What needs the building side, a first look and
starting a build, is behind the entry points `crmrag.documents`.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

from crmrag_query.artifacts.manifest import write_text
from crmrag_query.artifacts.release import Release
from crmrag_query.codec import Problem
from crmrag_query.config.service import UploadsConfig
from crmrag_query.documents.pages import ENDINGS, Pages, format_of
from crmrag_query.text import plain

UPLOADS = ("/api/v1/documents", "/documents/upload")
"""Addresses that documents are sent to."""
INBOX, NAMES = "inbox", "names"
ID = 32  # hexadecimal digits of a document's SHA-256 that name it
NAME_CHARACTERS = 200
LOOK_SECONDS = 1.0  # between looks at the release
LISTED = 100  # documents that are told of at once
LOOKED = 2  # documents that are taken at once: each may be looked at by a process, of some memory
GROUP = "crmrag.documents"
State = Literal["waiting", "there", "refused"]


class Refused(Exception):
    """Why a document is not taken, as a problem document."""

    def __init__(self, status: int, title: str, detail: str, remedy: str) -> None:
        super().__init__(detail)
        self.problem = Problem(status, detail, title, remedy=remedy)


@dataclass(frozen=True, slots=True)
class Sent:
    """A document that was sent: ``state``: it is waiting for the next build, in the current release, or refused by the build,
    and ``why``; ``pages``: how many it has there."""

    id: str
    name: str
    dataset: str
    state: State = "waiting"
    why: str = ""
    pages: int = 0
    release: str = ""


@dataclass(frozen=True, slots=True)
class AllSent:
    """What was sent to a data set and is in its inbox, the latest first, at most so many."""

    documents: tuple[Sent, ...]
    dataset: str
    total: int


@dataclass(frozen=True)
class Uploads:
    """The inboxes below a data folder."""

    data: Path
    config: UploadsConfig = field(default_factory=UploadsConfig)

    def require(self, dataset: str) -> None:
        """Refused where a data set takes no documents."""
        if dataset not in self.config.datasets:
            raise Refused(
                404, "No uploads", f"The data set {dataset[:80]!r} takes no documents.",
                "Whose service it is names it under uploads.datasets in config/service.yaml.",
            )  # fmt: skip

    def take(self, dataset: str, name: str, content: bytes) -> Sent:
        """Put a document into the inbox. Raises Refused for what is too large, of another kind, or too much."""
        self.require(dataset)
        if len(content) > self.config.megabytes * (1 << 20):
            raise Refused(
                413, "Too large", f"A document may have {self.config.megabytes:g} MB.", "Send it in parts."
            )
        kind = format_of(content[:1024])
        if not kind:
            what = "It is no PDF, PNG, JPEG or TIFF, whatever it is called."
            raise Refused(415, "No document", what, "Send one of these.")
        if "/" in name or "\\" in name or not plain(name).strip():
            raise Refused(
                400, "No name", "The name of a file holds no / and is not empty.", "Send its plain name."
            )
        inbox = self.data / INBOX / dataset
        found = hashlib.sha256(content).hexdigest()[:ID]
        file = inbox / f"{found}{ENDINGS[kind]}"
        (inbox / NAMES).mkdir(parents=True, exist_ok=True)
        if not file.exists():
            if sum(1 for one in inbox.iterdir() if one.is_file()) >= self.config.waiting:
                raise Refused(
                    507, "Full", f"The inbox of {dataset} holds {self.config.waiting:,} documents.",
                    "Whose service it is takes some out, or raises uploads.waiting.",
                )  # fmt: skip
            draft = inbox / NAMES / f".{found}.part"
            draft.write_bytes(content)
            if (look := _entry("inspect")) is not None and (why := look(draft, self.config.pages)):
                draft.unlink()
                status = 413 if "pages" in why else 400
                raise Refused(status, "Refused", f"The document is refused: {why}.", "Send another.")
            told = {"name": plain(name)[:NAME_CHARACTERS], "at": time.time()}
            write_text(inbox / NAMES / f"{found}.json", json.dumps(told, ensure_ascii=False))
            draft.replace(file)
        if self.config.build and (start := _entry("build")) is not None:
            start(self.data, dataset)
        return Sent(found, self.name(dataset, found), dataset)

    def name(self, dataset: str, found: str) -> str:
        """The name that a document was sent under."""
        try:
            told = json.loads(
                (self.data / INBOX / dataset / NAMES / f"{found}.json").read_text(encoding="utf-8")
            )
            return str(told["name"])
        except (OSError, ValueError, KeyError, TypeError):
            return found

    def listed(self, dataset: str, release: Release | None) -> AllSent:
        """What is in the inbox, and what became of it in a release."""
        self.require(dataset)
        inbox = self.data / INBOX / dataset
        files = [one for one in inbox.iterdir() if one.is_file()] if inbox.is_dir() else []
        files.sort(key=lambda one: (-one.stat().st_mtime, one.name))
        found = tuple(self.sent(dataset, one.stem, release) for one in files[:LISTED])
        return AllSent(found, dataset, len(files))

    def sent(self, dataset: str, found: str, release: Release | None) -> Sent:
        """What became of one document."""
        name = self.name(dataset, found)
        row = None if release is None else release[Pages].documents.get(found)
        if row is None or release is None:
            return Sent(found, name, dataset)
        state: State = "refused" if row["refused"] else "there"
        return Sent(found, name, dataset, state, row["refused"], row["pages"], release.id)


def _entry(name: str) -> Any:
    """What the building side does; None where it is not installed."""
    found = next(iter(entry_points(group=GROUP, name=name)), None)
    return None if found is None else found.load()


PARTS, HEAD_BYTES = 100, 8192  # of a form that are looked at, and of a part's headers
_BOUNDARY = re.compile(r'boundary="?([^";,\s]{1,70})')
_FILE = re.compile(
    r'^content-disposition:[^\r\n]*?;[ \t]*filename(\*?)[ \t]*=[ \t]*(?:"([^"\r\n]*)"|([^;\r\n]*))',
    re.I | re.M,
)


def part_of(kind: str, body: bytes) -> tuple[str, bytes]:
    """Name and content of the first file of a multipart/form-data body (RFC 7578); Refused where there is none.

    Cut at its boundary and no further: the parser of Python's e-mail follows forms within forms until its stack ends.
    """
    boundary = _BOUNDARY.search(kind)
    delimiter = b"\r\n--" + boundary[1].encode("latin-1") if boundary else b""
    for part in (b"\r\n" + body).split(delimiter, PARTS)[1:-1] if boundary else ():
        head, _, content = part.partition(b"\r\n\r\n")
        found = _FILE.search(head[:HEAD_BYTES].decode("utf-8", "replace"))
        if found and (name := found[2] or found[3]):
            return (unquote(name.rpartition("'")[2]) if found[1] else name.replace("%22", '"')), content
    raise Refused(400, "No file", "The form holds no file.", "Send one, as a field with a filename.")
