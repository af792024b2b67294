"""An open release: everything that answering needs, each part opened when first asked for; and who opens it (``Opener``), who
decides where requests go and what models are told, whatever the release says."""

from __future__ import annotations

import os
import re
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, cast
from urllib.parse import urlsplit

from crmrag_query.artifacts.manifest import Manifest, find_release, is_release_id, read_manifest, rebuild
from crmrag_query.artifacts.mirror import bring
from crmrag_query.artifacts.verify import (
    Intact,
    check_files,
    check_id,
    check_sizes,
    check_strays,
    read_provenance,
)
from crmrag_query.errors import ConfigError, CrmRagError, ReleaseError, in_a_line

if TYPE_CHECKING:
    from crmrag_query.config.loading import Method
    from crmrag_query.ontology.load import Ontology

TRUST = "CRMRAG_TRUST"
SIGNERS = "CRMRAG_SIGNERS"
_HOST = re.compile(r"([a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(:\d{1,5})?")
# Strict, so that every library that may get to see an address reads the same host in it.
_ADDRESS = re.compile(
    r"https?://([a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(:\d{1,5})?(/[a-z0-9_.~-]*)*", re.IGNORECASE
)


@dataclass(frozen=True)
class Opener:
    """Where requests go and what models are told is decided by whoever opens a release, never by the release.

    ``config``: the folder of their configuration, None for the one that is found by itself; ``hosts`` that questions to a
    release may be sent to; ``signers``: public keys, one of which must have signed a release; none: any release is opened.
    """

    config: Path | None = None
    hosts: tuple[str, ...] = ()
    signers: tuple[str, ...] = ()

    @classmethod
    def here(cls, hosts: Iterable[str] = (), config: Path | None = None) -> Opener:
        """The opener that the environment tells of, who trusts ``hosts`` as well. ConfigError for what is no host."""
        named = [*hosts, *listed(TRUST)]
        for host in named:
            if not _HOST.fullmatch(host.lower()):
                raise ConfigError.single(
                    TRUST, "", "no name of a host", value=repr(host)[:80],
                    remedy="Give it without scheme and path, as in --trust api.example.org or localhost:8080.",
                )  # fmt: skip
        return cls(config, tuple(dict.fromkeys(host.lower() for host in named)), listed(SIGNERS))

    def trusts(self, address: str) -> bool:
        """Whether requests may go to an address: by https to a host that is trusted, or to a trusted host and port."""
        host = host_of(address)
        return bool(host) and host in self.hosts


TRUSTING_NOBODY = Opener()


def host_of(address: str) -> str:
    """The host of an address as it is to be trusted: its name for https, else name:port; "" for what is no plain address."""
    if not _ADDRESS.fullmatch(address):
        return ""
    parts = urlsplit(address)
    name = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    try:
        port = parts.port
    except ValueError:
        return ""
    if parts.scheme == "https" and port in (None, 443):
        return name
    return f"{name}:{port or 80}"


def listed(variable: str) -> tuple[str, ...]:
    """The values of an environment variable that holds several, with commas or spaces between them."""
    return tuple(os.environ.get(variable, "").replace(",", " ").split())


CONFIG = "config.json"
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
# not read when answering: their sizes wait for `verify`
UNREAD = ("entity_documents/", "embeddings/", "edges/")


def open_release(
    path_or_dataset: Path | str, data: Path = Path("data"), opener: Opener | None = None
) -> Release:
    """Open the current release of a data set, or the release in a folder, for ``opener``, by default as the environment says.

    Sizes of the files that answering reads are checked; their checksums when a part is first opened, see ``intact``, or at
    once where the opener demands a signature; those of all files by ``Release.verify``. Where the data folder mirrors an
    object store, its current release is fetched before. Raises ReleaseNotFound, ReleaseError, StoreUnreachable.
    """
    opener = opener or Opener.here()
    bring(path_or_dataset, data)
    folder = find_release(path_or_dataset, data)
    manifest = read_manifest(folder)
    if is_release_id(folder.name):
        check_id(folder, folder.name)
    read = [entry for entry in manifest.files if not entry.path.startswith(UNREAD)]
    check_sizes(folder, read)
    intact = Intact(folder, manifest, UNREAD)
    if opener.signers:
        from crmrag_query.artifacts.signature import check_signature

        check_signature(folder, opener.signers)
        check_strays(folder, manifest, UNREAD)
        intact.settle()
    return Release(folder, manifest, opener, intact)


class Part(Protocol):
    """What is opened of a release by its type: `release[Graph]`."""

    @classmethod
    def from_release(cls, release: Release) -> Self: ...


P = TypeVar("P", bound=Part)


@dataclass(frozen=True)
class Release:
    """A release folder whose manifest was read and whose files have their sizes.

    `release[Graph]` is a part of it, opened by its type when first asked for and kept: the release knows none of them.
    """

    folder: Path
    manifest: Manifest
    opener: Opener = TRUSTING_NOBODY
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

    @cached_property
    def method(self) -> Method:
        """The configuration that the release was built with, but for what is the opener's to decide."""
        from crmrag_query.config.loading import released_method

        path = self.folder / CONFIG
        with self.reading(ANY):
            try:
                return released_method(path.read_bytes(), self.opener.config)
            except (OSError, ValueError, RecursionError) as error:
                what = str(error).splitlines()[0]
                raise ReleaseError(
                    f"{path} is damaged or from another version of crmrag ({what}).", rebuild(self.folder)
                ) from error

    @cached_property
    def ontology(self) -> Ontology:
        """The ontology tables that the release was built with."""
        from crmrag_query.ontology.load import load_ontology

        with self.reading(ANY):
            return load_ontology(self.folder)
