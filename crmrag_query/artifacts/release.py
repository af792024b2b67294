"""An open release: its files, its parts and what it was built with; and who opens it (``Opener``), who decides where requests
go and what models are told, whatever the release says."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crmrag_query.artifacts.files import (
    ANY,
    Intact,
    ReleaseFiles,
    check_id,
    check_signature,
    check_sizes,
    check_strays,
)
from crmrag_query.artifacts.manifest import (
    find_release,
    is_release_id,
    read_manifest,
    rebuild,
)
from crmrag_query.artifacts.mirror import bring
from crmrag_query.errors import ConfigError, ReleaseError

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
        check_signature(folder, opener.signers)
        check_strays(folder, manifest, UNREAD)
        intact.settle()
    return Release(folder, manifest, intact, opener)


@dataclass(frozen=True)
class Release(ReleaseFiles):
    """The files of a release, what it was built with, and who opened it."""

    opener: Opener = TRUSTING_NOBODY

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
