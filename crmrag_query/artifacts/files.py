"""The files of a release, and the parts that are opened of them by their type.

Is it still what its manifest pins, whose is it? Signatures are minisign's, over the manifest, which pins every file. Sizes
are looked at on opening, checksums on demand, and, once on a machine, those of all files that answers are read from
(``Intact``). Libraries in native code trust what they read: one changed bit of a table or an index may end the process. So
whatever they open is compared with its checksum before. Large tables and arrays, which would keep everybody waiting, are
checked for what a library may not survive, and compared by a thread meanwhile.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import struct
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, Protocol, Self, TypeVar, cast

from crmrag_query.artifacts.manifest import (
    COMPANIONS,
    MANIFEST,
    PROVENANCE,
    SIGNATURE,
    FileEntry,
    Manifest,
    canonical_json,
    is_release_id,
    mapped,
    read_manifest,
    rebuild,
    release_id,
    sha256_file,
    sha256_files,
    user_cache,
    write_text,
)
from crmrag_query.errors import ConfigError, CrmRagError, MissingExtraError, ReleaseError, in_a_line

_UNSIGNED = f"Fetch it again, with its {SIGNATURE}, or sign it if it is yours: crmrag releases sign RELEASE --key FILE."


def make_key(path: Path) -> Path:
    """Write a new secret key without a password, for its owner alone, and beside it the public key, whose path is returned.

    ConfigError where a file is there already.
    """
    pair = _library().KeyPair.generate()
    public = path.with_name(path.name + ".pub")
    for file, key, mode in ((path, pair.secret_key, 0o600), (public, pair.public_key, 0o644)):
        try:
            with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as sink:
                sink.write(bytes(key) + b"\n")
        except OSError as error:
            raise ConfigError.single(
                file, "", f"no key can be written there ({error.strerror})", remedy="Name another file."
            ) from error
    return public


def sign_release(folder: Path, key: Path) -> Path:
    """Sign the manifest of a release with the secret key in a file; returns the signature's path.

    Raises ConfigError for what is no key, or one with a password; ReleaseError.
    """
    minisign = _library()
    manifest = read_manifest(folder)
    try:
        secret = minisign.SecretKey.from_file(key)
        signature = secret.sign(
            (folder / MANIFEST).read_bytes(),
            trusted_comment=f"release {manifest.id} of {manifest.dataset.encode('ascii', 'replace').decode()[:200]}",
        )
    except (OSError, minisign.Error) as error:
        raise ConfigError.single(
            key, "", f"no secret key that can sign ({error})",
            remedy="Make one without a password: crmrag releases key FILE, or minisign -G -W -s FILE.",
        ) from error  # fmt: skip
    write_text(folder / SIGNATURE, bytes(signature).decode() + "\n")
    return folder / SIGNATURE


def check_signature(folder: Path, signers: Iterable[str]) -> str:
    """Raise ReleaseError unless one of ``signers`` signed the manifest; returns who, as they were given.

    A signer is a public key, or the path of a file with one; ConfigError for what is neither.
    """
    minisign = _library()
    keys = {signer: _public_key(signer) for signer in signers}
    try:
        signature = minisign.Signature.from_file(folder / SIGNATURE)
    except FileNotFoundError:
        raise ReleaseError(f"Release {folder.name} is not signed.", _UNSIGNED) from None
    except (OSError, minisign.Error) as error:
        raise ReleaseError(f"{folder / SIGNATURE} is no signature ({error}).", _UNSIGNED) from error
    signed = (folder / MANIFEST).read_bytes()
    for signer, key in keys.items():
        try:
            key.verify(signed, signature)
            return signer
        except minisign.Error:
            continue
    raise ReleaseError(
        f"Release {folder.name} was not signed by {' or '.join(keys)}, or was altered afterwards.", _UNSIGNED
    )


def _public_key(signer: str) -> Any:
    minisign = _library()
    try:
        file = Path(signer)
        return (
            minisign.PublicKey.from_file(file) if file.is_file() else minisign.PublicKey.from_base64(signer)
        )
    except (OSError, minisign.Error) as error:
        raise ConfigError.single(
            "signers", "", f"neither a public key of minisign's nor a file with one ({error})", value=repr(signer)[:80]
        ) from error  # fmt: skip


def _library() -> Any:
    try:
        import minisign
    except ImportError as error:
        raise MissingExtraError("Signing releases and checking signatures", "sign", "py-minisign") from error
    return minisign


SHOWN = 5
ALTERED = "its content was altered (checksum differs)"
STRAY = "not pinned by the manifest: it does not belong there, remove it"
_REMEDY = "Copy the release again, or build it: crmrag build DATASET."


@dataclass(frozen=True, slots=True)
class FileFault:
    """What is wrong with the file or folder at ``path``; ``stray``: it should not be there, and harms no other."""

    path: str
    what: str
    stray: bool = False

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"


Advance = Callable[[int, int], None]


def check_sizes(folder: Path, entries: Iterable[FileEntry]) -> None:
    """Raise ReleaseError unless every file is there, is a plain file below ``folder`` and has its size."""
    found = list(entries)
    _report(
        folder,
        [*_outside(folder, found), *(fault for entry in found if (fault := _size_fault(folder, entry)))],
    )


def check_strays(folder: Path, manifest: Manifest, left_out: tuple[str, ...] = ()) -> None:
    """Raise ReleaseError for a file that the manifest does not pin, but for those below the folders ``left_out``."""
    _report(folder, (FileFault(path, STRAY, True) for path in _strangers(folder, manifest, left_out)))


def faults_of_files(
    folder: Path, manifest: Manifest, advance: Advance = lambda done, total: None
) -> list[FileFault]:
    """Whatever is not byte for byte what was built, or is there besides; none for a whole release.

    ``advance`` is told (bytes done, bytes in all). The manifest's own id is checked where it names the folder.
    """
    total, done = sum(entry.bytes for entry in manifest.files), 0
    faults = [*_outside(folder, manifest.files)]
    if is_release_id(folder.name) and (found := release_id((folder / MANIFEST).read_bytes())) != folder.name:
        faults.insert(0, FileFault(MANIFEST, f"it was altered (its id is {found})"))
    wrong = {entry: _size_fault(folder, entry) for entry in manifest.files}
    checksums = sha256_files([folder / entry.path for entry, fault in wrong.items() if not fault])
    for entry, fault in wrong.items():
        if not fault and next(checksums) != entry.sha256:
            fault = FileFault(entry.path, ALTERED)
        if fault:
            faults.append(fault)
        done += entry.bytes
        advance(done, total)
    faults.extend(FileFault(path, STRAY, True) for path in _strangers(folder, manifest))
    return faults


def check_files(folder: Path, manifest: Manifest, advance: Advance = lambda done, total: None) -> None:
    """Raise ReleaseError unless every file is byte for byte what was built, and nothing is there besides."""
    _report(folder, faults_of_files(folder, manifest, advance))
    check_companions(folder, read_provenance(folder) or {})


def check_companions(folder: Path, provenance: Mapping[str, Any]) -> None:
    """Raise ReleaseError for a file beside the pinned ones that is not what the provenance says of it.

    A copy may leave out companions, or the provenance; a companion that nothing tells of is not checked.
    """
    found = _companions(folder, provenance)
    _report(folder, (_companion_fault(folder, entry) for entry in found))


def provenance_faults(folder: Path) -> tuple[list[FileFault], tuple[str, ...]]:
    """What is wrong with the provenance and its companions, and which of them were left out.

    A copy may have another name than its id: then the provenance alone tells what the manifest's was. Raises ReleaseError
    for a provenance that cannot be read, or was altered.
    """
    provenance = read_provenance(folder)
    if provenance is None:
        return [], (PROVENANCE,)
    told = _companions(folder, provenance)
    faults = [fault for entry in told if (fault := _companion_fault(folder, entry))]
    raw = (folder / PROVENANCE).read_bytes()
    # its checksum is of what it says, not of how it is spaced
    if raw != canonical_json(json.loads(raw)).encode():
        faults.append(FileFault(PROVENANCE, "it was altered (it is not spaced as it was written)"))
    found = release_id((folder / MANIFEST).read_bytes())
    if provenance.get("release", found) != found:
        faults.append(FileFault(MANIFEST, f"it was altered (its id is {found}, not {provenance['release']})"))
    absent = (entry.path for entry in told if not os.path.lexists(folder / entry.path))
    return faults, tuple(absent)


def _companions(folder: Path, provenance: Mapping[str, Any]) -> list[FileEntry]:
    try:
        found = [FileEntry(**entry) for entry in provenance.get("companions", ())]
    except TypeError as error:
        raise ReleaseError(
            f"The provenance of {folder} names companions that are no files.", _REMEDY
        ) from error
    return [entry for entry in found if entry.path in COMPANIONS]


def check_id(folder: Path, expected: str) -> None:
    """Raise ReleaseError when the manifest's bytes do not give the id by which the release is named."""
    found = release_id((folder / MANIFEST).read_bytes())
    if found != expected:
        raise ReleaseError(f"The manifest of release {expected} was altered: its id is {found}.", _REMEDY)


def read_provenance(folder: Path) -> dict[str, Any] | None:
    """How the release came to be, None when the file was left out; ReleaseError when its own checksum fails."""
    path = folder / PROVENANCE
    if not path.exists():
        return None
    try:
        raw = json.loads(path.read_bytes())
        content: dict[str, Any] = raw["content"]
        checksum = hashlib.sha256(canonical_json(content).encode()).hexdigest()
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ReleaseError(f"{path} cannot be read as provenance ({error!r}).", _REMEDY) from error
    if checksum != raw.get("sha256"):
        raise ReleaseError(f"{path} was altered (its checksum differs).", _REMEDY)
    return content


def _companion_fault(folder: Path, entry: FileEntry) -> FileFault | None:
    if not os.path.lexists(folder / entry.path):
        return None
    fault = _size_fault(folder, entry)
    if fault or sha256_file(folder / entry.path) == entry.sha256:
        return fault
    return FileFault(entry.path, f"its content was altered (it is not what {PROVENANCE} says)")


def _size_fault(folder: Path, entry: FileEntry) -> FileFault | None:
    try:
        found = (folder / entry.path).lstat()
    except OSError:
        return FileFault(entry.path, "missing")
    if not stat.S_ISREG(found.st_mode):
        return FileFault(entry.path, "no plain file")
    size = found.st_size
    if size == entry.bytes:
        return None
    return FileFault(entry.path, f"{size:,} bytes where {entry.bytes:,} were written")


def _outside(folder: Path, entries: Iterable[FileEntry]) -> Iterator[FileFault]:
    """Sub-folders that are links to elsewhere; each folder is looked at once."""
    root = folder.resolve()
    for parent in sorted({str(PurePosixPath(entry.path).parent) for entry in entries}):
        if not (folder / parent).resolve().is_relative_to(root):
            yield FileFault(parent, "leads outside the release")


def _strangers(folder: Path, manifest: Manifest, left_out: tuple[str, ...] = ()) -> Iterator[str]:
    known = {entry.path for entry in manifest.files} | {MANIFEST, PROVENANCE, SIGNATURE, *COMPANIONS}
    # A folder that was removed meanwhile holds nothing: `glob` does not mind, `iterdir` does.
    tops = [top for top in folder.glob("*") if f"{top.name}/" not in left_out]
    below = (path for top in tops for path in (top, *top.rglob("*")))
    found = (path.relative_to(folder).as_posix() for path in below if not path.is_dir())
    yield from sorted(path for path in found if path not in known)


def _report(folder: Path, faults: Iterable[FileFault | None], of: str = "", remedy: str = _REMEDY) -> None:
    """Raise ReleaseError where there are faults; ``of``: a word about whose release it is."""
    found = [fault for fault in faults if fault is not None]
    if not found:
        return
    shown = "\n".join(f"  {fault}" for fault in found[:SHOWN])
    more = f"\n  and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    raise ReleaseError(f"Release {folder.name}{of} is not what was built:\n{shown}{more}\n", remedy)


LARGE = 1 << 24  # bytes; smaller files take about a hundredth of a second each
STRUCTURED = (".arrow", ".npy")
"""Endings of files that can be compared later: how they are built can be checked without their checksum."""
DIVIDED = {
    "forward_prop": "forward_row", "forward_ptr": "forward_val", "backward_prop": "backward_row",
    "backward_ptr": "backward_val", "out_ptr": "out_tri", "in_ptr": "in_tri",
}  # fmt: skip
"""Arrays of ends that rows are repeated by, and those that they divide: an end far beyond would take all memory."""
ENDS = re.compile(r"(^|_)(ptr|prop)$|^indptr")  # names of arrays that divide others: they never descend
KEPT_SECONDS = 90 * 86_400  # for which a release's files are remembered; then they are read through again
_faulty: dict[str, FileFault] = {}
"""What this process found wrong, by the file's state: it is not read again before it changes."""
_one_at_a_time = threading.Lock()  # releases are compared in turn: their questions need the processor, too
_remembering = threading.Lock()


@dataclass
class Intact:
    """The check of one release's files; safe for threads. ``unread``: beginnings of paths that no answer is read from."""

    folder: Path
    manifest: Manifest
    unread: tuple[str, ...] = ()
    _begun: bool = False
    _faults: Collection[FileFault] = ()
    _later: threading.Thread | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self) -> None:
        """Check what is not remembered, large tables and arrays in a thread; at once where that was done.

        Raises ReleaseError for files that are not what was built, also for what the thread has found since.
        """
        with self._lock:
            if not self._begun:
                self._check()
                self._begun = True
        self._refuse(self._faults)

    def settle(self) -> None:
        """Wait until every file is compared; raises ReleaseError as ``begin``."""
        self.begin()
        if self._later is not None:
            self._later.join()
        self._refuse(self._faults)

    @cached_property
    def _memory(self) -> Path | None:
        """Where what is known of this copy of the release is remembered; None where the user has no folder for that."""
        copy = hashlib.sha256(str(self.folder.resolve()).encode(errors="surrogateescape")).hexdigest()[:16]
        try:
            return user_cache() / "checked" / f"{self.manifest.id}-{copy}.json"
        except RuntimeError:
            return None

    def _check(self) -> None:
        known = _remembered(self._memory)
        entries = [one for one in self.manifest.files if not one.path.startswith(self.unread)]
        states = {one: _state(self.folder / one.path, one) for one in entries}
        self._refuse([_faulty[state] for state in states.values() if state in _faulty])
        new = [one for one in entries if states[one] not in known]
        later = [one for one in new if one.bytes > LARGE and one.path.endswith(STRUCTURED)]
        now = [one for one in new if one not in later]
        self._refuse(self._altered(now, states))
        structured = [one for one in new if one.path.endswith(STRUCTURED)]
        found = ((one, unsound(self.folder / one.path)) for one in structured)
        self._refuse([_marked(states[one], FileFault(one.path, what)) for one, what in found if what])
        if now:
            self._remember(now, states)
        if later:
            self._later = threading.Thread(
                target=self._compare, args=(later, states), name="comparing", daemon=True
            )
            self._later.start()

    def _compare(self, entries: Sequence[FileEntry], states: dict[FileEntry, str]) -> None:
        with _one_at_a_time, suppress(OSError):  # a release that was removed meanwhile is no damaged one
            for entry in entries:  # each is remembered by itself: a command may end before the last one
                if found := self._altered([entry], states):
                    self._faults = found
                    return
                self._remember([entry], states)

    def _remember(self, right: Sequence[FileEntry], states: dict[FileEntry, str]) -> None:
        """Remember files that were right, but for those that something was done to meanwhile."""
        same = (states[one] for one in right if _state(self.folder / one.path, one) == states[one])
        _remember(self._memory, same, states.values())

    def _altered(self, entries: Sequence[FileEntry], states: dict[FileEntry, str]) -> list[FileFault]:
        found_now = sha256_files([self.folder / one.path for one in entries])
        return [
            _marked(states[entry], FileFault(entry.path, ALTERED))
            for entry, found in zip(entries, found_now, strict=True)
            if found != entry.sha256
        ]

    def _refuse(self, faults: Collection[FileFault]) -> None:
        if not faults:
            return
        dataset = self.manifest.dataset
        remedy = (
            f"{rebuild(self.folder)}, or copy the release again. All that is wrong: crmrag verify {dataset}"
        )
        _report(self.folder, faults, f" of data set {dataset!r}", remedy)


def unsound(path: Path) -> str:
    """What is wrong with how a table (.arrow) or an array (.npy) is built, "" for nothing; reads all of a table."""
    try:
        if path.suffix == ".arrow":
            import pyarrow as pa
            import pyarrow.ipc as ipc

            with pa.memory_map(str(path)) as file:
                ipc.open_file(file).read_all().validate(full=True)
            return ""
        name, array = path.name.partition(".")[0], mapped(path)
        if not ENDS.search(name):
            return ""
        if array.ndim != 1 or array.dtype.kind != "i" or (len(array) and array[0] < 0):
            return "it holds no ends of ranges"
        if (array[1:] < array[:-1]).any():
            return "a range ends before it begins"
        divided = DIVIDED.get(name)
        if divided and (not len(array) or array[-1] != len(mapped(path.with_name(f"{divided}.npy")))):
            return f"it does not fit {divided}.npy"
        return ""
    except Exception as error:  # values without sense may stop a library in any way
        return f"it cannot be read ({in_a_line(error)})"


def _marked(state: str, fault: FileFault) -> FileFault:
    _faulty[state] = fault
    return fault


def _state(path: Path, entry: FileEntry) -> str:
    """One text for the content that a file is to have and what tells that nobody has written to it since."""
    found = path.stat()
    return f"{entry.sha256} {found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


# What is remembered stands in the user's own cache: a release may be read-only, and must not vouch for itself.
def _remembered(memory: Path | None) -> set[str]:
    """States of files that were found to be what was built."""
    try:
        found = [] if memory is None else json.loads(memory.read_bytes())
    except (OSError, ValueError, RecursionError):
        return set()
    return {one for one in found if isinstance(one, str)} if isinstance(found, list) else set()


def _remember(memory: Path | None, states: Iterable[str], there: Iterable[str]) -> None:
    """Add states to what is remembered, and leave out those of files that are no more ``there``. Where nothing can be written
    the files are compared again the next time."""
    if memory is None:
        return
    with _remembering, suppress(OSError):
        kept = sorted((_remembered(memory) | set(states)).intersection(there))
        memory.parent.mkdir(parents=True, exist_ok=True)
        written = memory.with_name(f".{memory.name}.{os.getpid()}")
        written.write_text(json.dumps(kept, indent=0))
        written.replace(memory)
        for other in memory.parent.iterdir():
            if other.stat().st_mtime < time.time() - KEPT_SECONDS:
                other.unlink(missing_ok=True)


VECTORS = frozenset({"embeddings", "faiss_index"})
"""Artifacts that a release may get later than all else."""
ASKED_FOR = {
    "token_vectors": "token_vectors",
    "graph_partitions": "graph_partitions",
    "partition_edges": "graph_partitions",
    "alignment_model": "aligner",
}
"""Artifacts that are made only where the entry of a data set asks for them: by which key."""
STRANGE = (LookupError, ValueError, OverflowError, struct.error)
"""What values without sense come to while questions are answered; any other error there is a fault of this program."""
ANY = (BaseException,)
"""Of what only reads: also a panic in Rust, which is no Exception, ends no service."""


class Part(Protocol):
    """What is opened of a release by its type: `release[Graph]`."""

    @classmethod
    def from_release(cls, release: Any) -> Self: ...


P = TypeVar("P", bound=Part)


@dataclass(frozen=True)
class ReleaseFiles:
    """A release folder whose manifest was read and whose files have their sizes.

    `release[Graph]` is a part of it, opened by its type when first asked for and kept: the release knows none of them.
    """

    folder: Path
    manifest: Manifest
    intact: Intact | None = field(default=None, compare=False, repr=False)
    _parts: dict[type[Any], Any] = field(default_factory=dict, init=False, compare=False, repr=False)
    _opening: threading.RLock = field(default_factory=threading.RLock, init=False, compare=False, repr=False)

    def __getitem__(self, kind: type[P]) -> P:
        """The part of this type; what stops it from being opened is a ReleaseError."""
        found = self._parts.get(kind)
        if found is None:
            with self._opening, self.reading(ANY):  # parts open others; each is opened once
                if (found := self._parts.get(kind)) is None:
                    found = self._parts[kind] = kind.from_release(self)
        return cast(P, found)

    def require(self, artifact: str) -> None:
        """ReleaseError with what to build, where the release was built without an artifact: before there was one, or since
        its data set does without."""
        if not self.manifest.has(artifact):
            raise ReleaseError(
                f"Release {self.id} of data set {self.manifest.dataset!r} has no {artifact}: it was built without.",
                self.remedy((artifact,))
                + (
                    "."
                    if artifact in ASKED_FOR
                    else ", which makes it unless the entry in datasets.yaml says that it is not wanted."
                ),
            )

    def remedy(self, artifacts: Iterable[str]) -> str:
        """What makes the artifacts that the release lacks: with its vectors, or with all else, by a new build; and what the
        entry of its data set has to say for that."""
        keys = dict.fromkeys(ASKED_FOR[one] for one in artifacts if one in ASKED_FOR)
        asked = "".join(f"Have `{key}: true` in its entry in datasets.yaml. " for key in keys)
        others = set(artifacts) - set(ASKED_FOR)
        if self.manifest.share < 1 and others <= VECTORS and self.manifest.dataset.isprintable():
            return f"{asked}Its vectors are still to be made: crmrag embed {self.manifest.dataset}"
        return asked + rebuild(self.folder)

    @cached_property
    def id(self) -> str:
        return self.manifest.id

    def verify(self, advance: Callable[[int, int], None] = lambda done, total: None) -> None:
        """Raise ReleaseError unless every byte is what was built; ``advance`` is told (bytes done, bytes in all)."""
        check_files(self.folder, self.manifest, advance)

    @contextmanager
    def reading(self, strange: tuple[type[BaseException], ...] = STRANGE) -> Iterator[None]:
        """A block in which the release is read: its files are checked before, ``strange`` errors of libraries are told as
        ReleaseError, and any error where the files turn out to be damaged."""
        try:
            if self.intact is not None:
                self.intact.begin()
            yield
        except (CrmRagError, ImportError, KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:
            if self.intact is not None:
                with suppress(OSError):
                    self.intact.settle()
            if not isinstance(error, strange):
                raise
            name = self.manifest.dataset
            raise ReleaseError(
                f"Release {self.folder} of data set {name!r} cannot be read ({type(error).__name__}: {in_a_line(error)}).",
                f"Look what is wrong: crmrag verify {name}. {rebuild(self.folder)}. "
                "If nothing is wrong with it, that is a fault of crmrag: please report it.",
            ) from error

    @cached_property
    def provenance(self) -> dict[str, Any] | None:
        return read_provenance(self.folder)
