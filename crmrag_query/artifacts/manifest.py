"""The manifest of a release: what it holds, checked when read; its hash is the release's id. And how a release's tables and
arrays are opened: whatever cannot be, or is of another version, is a ReleaseError with what to do."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.ipc as ipc

from crmrag_query.artifacts.files import FileEntry, canonical_json
from crmrag_query.errors import ReleaseError, ReleaseNotFound

SCHEMA = 1
OLDEST = 1  # schema that is read
MANIFEST = "manifest.json"
PROVENANCE = "provenance.json"
SIGNATURE = f"{MANIFEST}.minisig"  # beside the release like its provenance: who vouches for it is no part of what it is
# files beside the pinned ones: their checksums stand in the provenance
COMPANIONS = ("validation_report.md",)
ID_LENGTH = 16
_SHA256 = re.compile(r"[0-9a-f]{64}")
_RELEASE_ID = re.compile(rf"[0-9a-f]{{{ID_LENGTH}}}")


@dataclass(frozen=True)
class Manifest:
    """What a release pins: content only, so equal content gives equal bytes and one id.

    ``config`` are hashes of the configuration parts, ``versions`` the writer's version of each artifact,
    ``files`` sorted by path and each relative to the release's folder; ``wikidata``: whether questions are answered with
    texts from Wikidata unless the asker decides. It stands in the text only where it is True, so that manifests from
    before it keep their id.
    """

    dataset: str
    files: tuple[FileEntry, ...]
    title: str = ""
    licence: str = ""
    attribution: str = ""
    languages: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    relationships: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    config: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, int] = field(default_factory=dict)
    embedding: Mapping[str, Any] = field(default_factory=dict)
    schema: int = SCHEMA
    wikidata: bool = False

    @property
    def language(self) -> str:
        """In which it is told where none is asked for: its first, English where it names none."""
        return next(iter(self.languages), "en")

    def text(self) -> str:
        """The bytes that are hashed, as text."""
        lists = {"languages": list(self.languages), "examples": list(self.examples)}
        maps = {name: dict(getattr(self, name)) for name in _MAPS}
        plain = {name: getattr(self, name) for name in ("schema", "dataset", *_TEXTS)}
        switches = {"wikidata": True} if self.wikidata else {}
        files = {"files": [entry.as_dict() for entry in sorted(self.files)]}
        return canonical_json(plain | switches | lists | maps | files)

    @cached_property
    def id(self) -> str:
        return release_id(self.text().encode())

    def has(self, artifact: str) -> bool:
        """Whether the release holds an artifact, such as ``faiss_index``."""
        return artifact in self.versions

    @property
    def encoded(self) -> int:
        """How many of its documents have vectors; of a release from before that was counted, all or none."""
        if not self.has("faiss_index"):
            return 0
        return self.counts.get("encoded", self.counts.get("documents", 0))

    @property
    def share(self) -> float:
        """The share of its documents that have vectors, 0..1."""
        return self.encoded / max(1, self.counts.get("documents", 0))

    def entry(self, path: str) -> FileEntry | None:
        return next((entry for entry in self.files if entry.path == path), None)


_TEXTS = ("title", "licence", "attribution", "relationships")
_MAPS = ("counts", "config", "versions", "embedding")
_LISTS = ("languages", "examples", "files")
_FIELDS: dict[str, type] = {"dataset": str, **dict.fromkeys(_LISTS, list), **dict.fromkeys(_MAPS, dict)}


def release_id(manifest: bytes) -> str:
    """First 16 hexadecimal digits of the SHA-256 of the manifest's bytes."""
    return hashlib.sha256(manifest).hexdigest()[:ID_LENGTH]


def is_release_id(text: str) -> bool:
    return _RELEASE_ID.fullmatch(text) is not None


def safe_path(path: object) -> str:
    """The path when it stays below the release's folder in every file system; else a ReleaseError."""
    if not isinstance(path, str) or not path or any(sign in path for sign in "\\:\0"):
        raise ReleaseError(f"{MANIFEST} names a file {path!r}, which is no plain relative path.", _REBUILD)
    if path.startswith("/") or any(part in ("", ".", "..") for part in path.split("/")):
        raise ReleaseError(f"{MANIFEST} names a file {path!r} outside its own folder.", _REBUILD)
    return PurePosixPath(path).as_posix()


_REBUILD = "Do not use this release; build it again or fetch it again from where it came."


def read_manifest(folder: Path) -> Manifest:
    """Read and check ``folder/manifest.json``.

    Raises ReleaseNotFound without one; ReleaseError when it is damaged, unsafe or of a schema that is not read.
    """
    path = folder / MANIFEST
    try:
        raw = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise ReleaseNotFound(
            f"{folder} is no release: it has no {MANIFEST}.", "Give the folder of a release."
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise ReleaseError(f"The manifest {path} cannot be read ({error}).", _REBUILD) from error
    return parse_manifest(raw, str(path))


def parse_manifest(raw: object, where: str) -> Manifest:
    """A typed manifest from parsed JSON; ``where`` is named in errors (ReleaseError)."""
    if not isinstance(raw, dict) or type(raw.get("schema")) is not int:
        raise ReleaseError(f"{where} is no manifest of a release.", _REBUILD)
    if not OLDEST <= raw["schema"] <= SCHEMA:
        raise other_version("The manifest", Path(where).parent, raw["schema"], range(OLDEST, SCHEMA + 1))
    for name, kind in _FIELDS.items():
        if not isinstance(raw.get(name), kind):
            raise ReleaseError(f"{where}: '{name}' is missing or of the wrong kind.", _REBUILD)
    if type(raw.get("wikidata", False)) is not bool:
        raise ReleaseError(f"{where}: 'wikidata' is of the wrong kind.", _REBUILD)
    maps: dict[str, Any] = {name: raw[name] for name in _MAPS}
    texts: dict[str, Any] = {name: str(raw.get(name, "")) for name in _TEXTS}
    return Manifest(
        raw["dataset"],
        tuple(_entry(entry) for entry in raw["files"]),
        languages=tuple(map(str, raw["languages"])),
        examples=tuple(map(str, raw["examples"])),
        schema=raw["schema"],
        wikidata=raw.get("wikidata", False),
        **texts,
        **maps,
    )


def _entry(raw: object) -> FileEntry:
    if not isinstance(raw, dict) or type(raw.get("bytes")) is not int or raw["bytes"] < 0:
        raise ReleaseError(f"{MANIFEST} has a damaged entry {raw!r}.", _REBUILD)
    if not isinstance(raw.get("sha256"), str) or not _SHA256.fullmatch(raw["sha256"]):
        raise ReleaseError(f"{MANIFEST} has no valid checksum for {raw.get('path')!r}.", _REBUILD)
    return FileEntry(safe_path(raw.get("path")), raw["bytes"], raw["sha256"])


UPGRADE = "Upgrade: pip install --upgrade crmrag"
UNNAMED = "DATASET"


def rebuild(path: Path) -> str:
    """The command that makes again what lies at ``path``, within a release or a data set's working folder."""
    name: object = UNNAMED
    for folder in (path, *path.parents[:3]):
        with suppress(OSError, ValueError, KeyError, TypeError):
            name = json.loads((folder / MANIFEST).read_bytes())["dataset"]
            break
    return f"Build it again: crmrag build {name if isinstance(name, str) and name.isprintable() else UNNAMED}"


def other_version(what: str, folder: Path, found: object, known: Collection[int]) -> ReleaseError:
    """The error for a schema that is none of ``known``: what is older is built again, what is newer needs an upgrade."""
    newer = type(found) is int and found > max(known)
    read = " and ".join(map(str, sorted(known)))
    return ReleaseError(
        f"{what} in {folder} has version {found}; this version of crmrag reads {read}.",
        UPGRADE if newer else rebuild(folder),
    )


def open_meta(path: Path, what: str, known: Collection[int] = (1,)) -> dict[str, Any]:
    """What the JSON file of an index says, by ``what`` it is of; ReleaseError where there is none, or one of a schema that is
    none of ``known``."""
    folder = path.parent
    try:
        meta: dict[str, Any] = json.loads(path.read_bytes())
        schema = meta["schema"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
        raise ReleaseError(f"No {what} in {folder}: {error}.", rebuild(folder)) from error
    if type(schema) is not int or schema not in known:
        raise other_version(f"The {what}", folder, schema, known)
    return meta


def open_ipc(path: Path, schema: pa.Schema) -> ipc.RecordBatchFileReader:
    """Memory-map an Arrow IPC file.

    Raises ReleaseError when it is missing, cannot be read or has other columns than ``schema``.
    """
    try:
        reader = ipc.open_file(pa.memory_map(str(path)))
    except (OSError, ValueError, pa.ArrowException) as error:
        raise ReleaseError(f"{path} cannot be read: {error}.", rebuild(path.parent)) from error
    if reader.schema != schema:
        raise ReleaseError(f"{path} has columns of another version.", rebuild(path.parent))
    return reader


def open_arrays(
    folder: Path,
    kinds: Mapping[str, str],
    ends: Mapping[str, str],
    matrices: Mapping[str, str] = MappingProxyType({}),
    alike: Sequence[Sequence[str]] = (),
) -> dict[str, Any]:
    """Memory-map the arrays of ``kinds``, rows of numbers (array -> NumPy type), and those of ``matrices``.

    ``ends``: array of ends -> array whose rows it divides; ``alike``: arrays that are of as many things, an array of ends
    being of those that it divides into. ReleaseError unless all is so. It looks at no values but first and last ends; that
    ends never descend is seen when a release is opened first, see ``intact``; `crmrag verify` looks at all.
    """
    arrays: dict[str, Any] = {name: open_array(folder, name) for name in (*kinds, *matrices)}
    for name, array in arrays.items():
        shape, kind = ("row", kinds[name]) if name in kinds else ("matrix", matrices[name])
        if array.ndim != 1 + (name in matrices) or array.dtype != kind:
            raise ReleaseError(f"{folder / name}.npy is no {shape} of {kind} numbers.", rebuild(folder))
    for name, divided in ends.items():
        row = arrays[name]
        if not len(row) or row[0] != 0 or row[-1] != len(arrays[divided]):
            raise ReleaseError(f"{folder / name}.npy does not fit {divided}.npy.", rebuild(folder))
    for names in alike:
        if len({len(arrays[name]) - (name in ends) for name in names}) > 1:
            files = ", ".join(f"{name}.npy" for name in names)
            raise ReleaseError(f"{files} in {folder} do not fit.", rebuild(folder))
    return arrays


def save_arrays(folder: Path, of: object, kinds: Mapping[str, str]) -> None:
    """Write each array of ``kinds`` (array -> NumPy type), an attribute of ``of``, as ``<name>.npy``."""
    for name, kind in kinds.items():
        np.save(folder / f"{name}.npy", getattr(of, name).astype(kind, copy=False))


def open_array(folder: Path, name: str) -> npt.NDArray[np.generic]:
    """Memory-map ``<name>.npy``; raises ReleaseError when it is missing or no array."""
    path = folder / f"{name}.npy"
    try:
        # Mapped still, as a plain array: NumPy's own class for mapped ones makes every slice of it slow.
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except (OSError, ValueError) as error:
        raise ReleaseError(f"{path} cannot be read: {error}.", rebuild(path.parent)) from error
