"""A release's files: written whole or not at all and pinned by their checksums; its manifest, which says what it holds, is
checked when read, and whose hash is the release's id; where releases lie below the data folder, and which one is current.

And how a release's tables and arrays are opened: whatever cannot be, or is of another version, is a ReleaseError with what
to do.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.ipc as ipc

from crmrag_query.errors import ReleaseError, ReleaseNotFound


@dataclass(frozen=True, slots=True, order=True)
class FileEntry:
    """One pinned file: ``path`` relative with forward slashes, size in bytes, SHA-256 in hexadecimal."""

    path: str
    bytes: int
    sha256: str

    def as_dict(self) -> dict[str, Any]:
        return {"path": self.path, "bytes": self.bytes, "sha256": self.sha256}


def sha256_file(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sha256_files(paths: Sequence[Path]) -> Iterator[str]:
    """SHA-256 of each file, in order; several at once, as hashing a block leaves the interpreter to other threads."""
    if len(paths) < 2:
        yield from map(sha256_file, paths)
        return
    with ThreadPoolExecutor(min(len(paths), os.cpu_count() or 1)) as threads:
        yield from threads.map(sha256_file, paths)


def entries(folder: Path) -> tuple[FileEntry, ...]:
    """Every file below ``folder`` with its checksum, sorted by path."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return tuple(
        sorted(
            FileEntry(path.relative_to(folder).as_posix(), path.stat().st_size, checksum)
            for path, checksum in zip(found, sha256_files(found), strict=True)
        )
    )


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and one form for each value: equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, indent=1) + "\n"


def fsync(path: Path) -> None:
    """Flush a file or a folder's list of names to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside ``path``; on success it is flushed and renamed to ``path``, else removed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        fsync(temporary)
        temporary.replace(path)
        fsync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


Digests = npt.NDArray[np.uint8]
BUCKETS = 256  # that chunks divide among them: the values of the first byte
TOGETHER = 1 << 16  # texts taken from a column at once, which keeps few of them as objects


def digests_of(texts: pa.Array | pa.ChunkedArray) -> Digests:
    """SHA-256 of each text of a column in UTF-8, uint8 [n, 32]."""
    sha256 = hashlib.sha256
    found = bytearray()
    for start in range(0, len(texts), TOGETHER):
        some = texts.slice(start, TOGETHER).cast(pa.large_binary()).to_pylist()
        found += b"".join([sha256(text).digest() for text in some])
    return np.frombuffer(bytes(found), np.uint8).reshape(-1, 32)


def bucket_of(iri: str) -> int:
    """First byte of SHA-256 of the IRI in UTF-8: 0..255."""
    return hashlib.sha256(iri.encode()).digest()[0]


def chunk_of(iri: str, chunks: int) -> str:
    """Key of the chunk of ``chunks`` (a power of two, at most 256) that an entity belongs to: two hexadecimal digits."""
    width = BUCKETS // max(1, chunks)
    return f"{bucket_of(iri) // width * width:02x}"


SEARCHED = ("dense", "sparse", "names", "graph", "triples_index", "lexicon")
"""Folders of a release whose files are memory-mapped and looked at all over."""
LAST = "vectors.npy"
"""Of which a question looks at a few hundred rows: read when all else is."""
SHARE = 0.5  # of the machine's memory that such files may take
READ_AHEAD = 1 << 22  # bytes at a time


def room() -> int:
    """Bytes of such files that fit well into this machine's memory, of all releases together."""
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * SHARE)


def read_ahead(release: Path, left: int) -> int:
    """Read what questions search in a release, ``left`` bytes of it at most; how many of these are left then: the first
    question of 600,000 documents waited 7 s for them.

    The system keeps it as long as it has no better use for that memory. (To ask it to read by itself, by posix_fadvise, gets
    no more of a file than its usual read-ahead.)
    """
    held = bytearray(READ_AHEAD)
    files = [file for name in SEARCHED for file in sorted((release / name).glob("*")) if file.is_file()]
    for file in sorted(files, key=lambda file: file.name == LAST):
        if file.stat().st_size > left:
            break
        with file.open("rb", buffering=0) as opened:
            while read := opened.readinto(held):
                left -= read
    return left


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
        whole = asdict(replace(self, files=tuple(sorted(self.files))))
        if not self.wikidata:
            del whole["wikidata"]
        return canonical_json(whole)

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


def save_arrays(folder: Path, of: object, kinds: Mapping[str, str], meta: str, **told: Any) -> None:
    """Write each array of ``kinds`` (array -> NumPy type), an attribute of ``of``, as ``<name>.npy``; and what is told of all
    (the schema among it) as the JSON file ``meta``."""
    for name, kind in kinds.items():
        np.save(folder / f"{name}.npy", getattr(of, name).astype(kind, copy=False))
    (folder / meta).write_text(canonical_json(told), encoding="utf-8")


HEADER_TRIES = 5  # of which each is refused once in thousands of times


def mapped(path: Path) -> npt.NDArray[Any]:
    """A memory-mapped array, as a plain one: NumPy's own class for mapped ones makes every slice of it slow.

    NumPy reads the header with ``ast``, which on Python 3.11 now and then refuses with SystemError what several threads read
    at once (python/cpython#106905): it is read again. Raises OSError, ValueError.
    """
    for _ in range(HEADER_TRIES - 1):
        with suppress(SystemError):
            return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def open_array(folder: Path, name: str) -> npt.NDArray[Any]:
    """Memory-map ``<name>.npy``; raises ReleaseError when it is missing or no array."""
    path = folder / f"{name}.npy"
    try:
        return mapped(path)
    except (OSError, ValueError) as error:
        raise ReleaseError(f"{path} cannot be read: {error}.", rebuild(path.parent)) from error


RELEASES = "releases"
CURRENT = "current"
PREVIOUS = "previous"
EVALUATION = "evaluation.json"
PIPELINE = "pipeline"  # whose figures an evaluation tells of, beside those of what it is compared with
NAME_BYTES = 255  # of a folder's name, on common file systems


def user_cache() -> Path:
    """The folder of what may be lost, in the user's own cache; RuntimeError for a user without a home."""
    own = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(own).expanduser() / "crmrag"


def dataset_folder(data: Path, dataset: str) -> Path:
    """The folder of a data set's releases; ReleaseNotFound for a name that is no plain folder name."""
    named = dataset and dataset not in (".", "..") and not any(sign in dataset for sign in "/\\:\0")
    if not named or len(dataset.encode(errors="replace")) > NAME_BYTES:
        raise ReleaseNotFound(f"{dataset!r} is no name of a data set.", _known(data))
    return data / RELEASES / dataset


def evaluations_folder(data: Path, dataset: str) -> Path:
    """Where the evaluation of a data set is written unless another folder is named."""
    return data / "evaluations" / dataset


def release_ids(data: Path, dataset: str) -> tuple[str, ...]:
    """Ids of the finished releases of a data set, sorted."""
    found = (path.parent.name for path in dataset_folder(data, dataset).glob(f"*/{MANIFEST}"))
    return tuple(sorted(filter(is_release_id, found)))


def datasets_with_releases(data: Path) -> tuple[str, ...]:
    return tuple(sorted(path.parent.name for path in (data / RELEASES).glob(f"*/{CURRENT}")))


def pointer(folder: Path, name: str = CURRENT) -> str | None:
    """The release id that ``current`` or ``previous`` names; None when there is none, ReleaseError when damaged."""
    try:
        text = (folder / name).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ReleaseError(f"{folder / name} cannot be read ({error}).", _SWITCH[name]) from error
    if not is_release_id(text):
        raise ReleaseError(f"{folder / name} does not name a release (found {text[:40]!r}).", _SWITCH[name])
    return text


_SWITCH = {
    CURRENT: "Build the data set again, or write a release id into it.",
    PREVIOUS: "Write the id of the release before into it, or remove the file: then there is none to go back to.",
}


def switch(folder: Path, release: str, remember: bool = True) -> None:
    """Make ``release`` the current one, atomically; the one before becomes ``previous`` where it is to be remembered."""
    before = None
    with suppress(ReleaseError):  # damaged: what takes its place mends it
        before = pointer(folder)
    if remember and before is not None and before != release:
        write_text(folder / PREVIOUS, before + "\n")
    write_text(folder / CURRENT, release + "\n")


def find_release(path_or_dataset: Path | str, data: Path) -> Path:
    """The folder of a release, given itself, or the folder of a data set's releases, or a data set's name.

    Raises ReleaseNotFound, which names the data sets that have one.
    """
    given = Path(path_or_dataset)
    if (given / MANIFEST).is_file():
        return given
    if (given / CURRENT).is_file():
        folder = given
    elif isinstance(path_or_dataset, Path) or len(given.parts) != 1:
        raise ReleaseNotFound(
            f"{given} is no release (it has no {MANIFEST}).", "Give the folder of a release."
        )
    else:
        folder = dataset_folder(data, str(path_or_dataset))
    current = pointer(folder)
    if current is None:
        raise ReleaseNotFound(
            f"Data set '{folder.name}' has no release in {data}.", _known(data, folder.name)
        )
    if not (folder / current / MANIFEST).is_file():
        remedy = f"Go back: crmrag rollback {folder.name}; or build again: crmrag build {folder.name}"
        raise ReleaseNotFound(
            f"The current release {current} of data set '{folder.name}' is missing.", remedy
        )
    return folder / current


def find_named(reference: str, data: Path) -> Path:
    """The folder of a release, given as that folder, an id, a data set's name, ``NAME@previous`` or ``NAME@ID``.

    Raises ReleaseNotFound, which names what there is.
    """
    if is_release_id(reference) and not dataset_folder(data, reference).is_dir():
        found = sorted((data / RELEASES).glob(f"*/{reference}/{MANIFEST}"))
        if not found:
            raise ReleaseNotFound(f"There is no release {reference} in {data}.", "See: crmrag releases list")
        return found[0].parent
    name, at, which = reference.rpartition("@")
    marked = which in (CURRENT, PREVIOUS) or is_release_id(which)
    if not at or (Path(reference) / MANIFEST).is_file() or not marked:
        return find_release(reference, data)
    folder = dataset_folder(data, name)
    release = which if is_release_id(which) else pointer(folder, which)
    if release is None or not (folder / release / MANIFEST).is_file():
        told = f"no {which} release" if release is None else f"no release {release}"
        raise ReleaseNotFound(f"Data set '{name}' has {told} in {data}.", listed(data, name))
    return folder / release


def listed(data: Path, dataset: str) -> str:
    """A sentence that names the releases of a data set."""
    folder = dataset_folder(data, dataset)
    names = {name: marks for marks in (PREVIOUS, CURRENT) if (name := pointer(folder, marks))}
    found = [f"{one} ({names[one]})" if one in names else one for one in release_ids(data, dataset)]
    return f"There are: {', '.join(found)}." if found else _known(data, dataset)


def _known(data: Path, dataset: str = "DATASET") -> str:
    built = datasets_with_releases(data)
    listed = f" (built so far: {', '.join(built)})" if built else ""
    return f"Build it: crmrag build {dataset}, or give the right --data folder{listed}."
