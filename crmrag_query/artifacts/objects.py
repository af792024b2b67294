"""Object stores that hold releases: `s3://bucket/prefix`, `gs://…`, `az://…`, or a folder that is used like one, `file:///…`.

They are reached through obstore, which repeats what may pass and sends large files in parts. An object is there whole or not
at all, and one that points to others is replaced only while it is what was read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from crmrag_query.errors import (
    MissingExtraError,
    ReleaseError,
    ReleaseNotFound,
    StoreUnreachable,
    in_a_line,
)

if TYPE_CHECKING:
    from obstore.store import ClientConfig, ObjectStore, RetryConfig

_ADDRESS = re.compile(r"(?P<scheme>s3|gs|az|file)://(?P<rest>[^\s?#]+)")
TRIES, TRY_SECONDS, WAIT_SECONDS = 4, 60.0, 4.0
"""How often a request is repeated, for how long, and the longest pause between."""
REQUEST_SECONDS = 120.0  # for one request: a part of a file takes that long over half a megabit a second
PART = 8 << 20  # bytes that are sent or fetched by one request
AT_ONCE = 4  # parts of one file that are under way
ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
ABSENT = re.compile(r"NoSuchBucket|ContainerNotFound|bucket does not exist", re.IGNORECASE)
_RIGHTS = (
    "Give credentials that may, as the store's own programs find them in the environment (AWS_ACCESS_KEY_ID …): "
    "docs/objects.md."
)


def is_address(text: str) -> bool:
    """Whether a text is the address of an object store."""
    return _ADDRESS.fullmatch(text) is not None


@dataclass(frozen=True)
class Found:
    """An object in a listing; ``path`` below the store's address."""

    path: str
    bytes: int
    modified: datetime


@dataclass(frozen=True)
class Content:
    """What an object held when it was read, and by what the store knows it again."""

    data: bytes
    version: dict[str, Any]


class Replaced(ReleaseError):
    """An object was to be replaced and is no more what was read: somebody else was faster."""


@dataclass(frozen=True)
class Objects:
    """The objects below an address. Safe for threads.

    Every method raises StoreUnreachable where the store does not answer, ReleaseNotFound where there is no such bucket, and
    ReleaseError where it refuses.
    """

    address: str
    store: ObjectStore
    folder: Path | None = None  # of a store that is a folder of this machine

    def read(self, path: str) -> Content | None:
        """An object; None where there is none."""
        import obstore

        with suppress(FileNotFoundError), self._told(f"reading {path}"):
            got = obstore.get(self.store, path)
            meta = got.meta
            return Content(bytes(got.bytes()), {"e_tag": meta["e_tag"], "version": meta["version"]})
        return None

    def write(self, path: str, source: Path | bytes) -> None:
        """Make or replace an object."""
        import obstore

        with self._told(f"writing {path}"):
            obstore.put(self.store, path, source, chunk_size=PART, max_concurrency=AT_ONCE)

    def replace(self, path: str, data: bytes, before: Content | None) -> None:
        """Put ``data`` where the object is still what was read, or, of None, where there still is none; else Replaced.

        Of a store that was asked and did not answer nobody knows whether it was replaced: StoreUnreachable.
        """
        import obstore
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        with self._told(f"replacing {path}"), self._alone(path):
            try:
                if before is None:
                    obstore.put(self.store, path, data, mode="create")
                elif self.folder is None:
                    known = {name: value for name, value in before.version.items() if value is not None}
                    obstore.put(self.store, path, data, mode=known)  # type: ignore[arg-type]
                elif self.read(path) == before:  # file systems have no conditional writing, but locks
                    obstore.put(self.store, path, data)
                else:
                    raise Replaced(f"{self.address}/{path} was replaced meanwhile.")
            except (AlreadyExistsError, PreconditionError):
                raise Replaced(f"{self.address}/{path} was replaced meanwhile.") from None

    def fetch(self, path: str, size: int, into: BinaryIO) -> None:
        """Write an object of ``size`` bytes to a file, part by part; ReleaseError where there is none."""
        import obstore

        for start in range(0, size, PART):
            try:
                with self._told(f"reading {path}"):
                    part = obstore.get_range(self.store, path, start=start, end=min(start + PART, size))
            except FileNotFoundError:
                raise ReleaseError(
                    f"{self.address} has no {path}, which a release there names.", "Push it again."
                ) from None
            into.write(part)

    def list(self, prefix: str) -> Iterator[Found]:
        """Every object below a prefix; a store may tell late of what was just written."""
        import obstore

        with self._told(f"listing {prefix}"):
            for some in obstore.list(self.store, f"{prefix}/"):
                for one in some:
                    yield Found(one["path"], one["size"], one["last_modified"])

    def folders(self, prefix: str) -> tuple[str, ...]:
        """Names of what lies right below a prefix and has objects of its own, sorted."""
        import obstore

        with self._told(f"listing {prefix}"):
            found = obstore.list_with_delimiter(self.store, f"{prefix}/")["common_prefixes"]
        return tuple(sorted(str(one).rstrip("/").rpartition("/")[2] for one in found))

    def modified(self, path: str) -> datetime | None:
        """When an object was written last; None where there is none."""
        import obstore

        with suppress(FileNotFoundError), self._told(f"reading {path}"):
            return obstore.head(self.store, path)["last_modified"]
        return None

    def remove(self, path: str) -> None:
        """Remove an object, where it is there."""
        import obstore

        with suppress(FileNotFoundError), self._told(f"removing {path}"):
            obstore.delete(self.store, path)

    @contextmanager
    def _alone(self, path: str) -> Iterator[None]:
        """Of a folder: within the block nobody else replaces this object."""
        if self.folder is None:
            yield
            return
        from filelock import FileLock

        file = self.folder / f"{path}.lock"
        file.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(file):
            yield

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """Within the block errors are told as our own, but for FileNotFoundError, of an object that is not there."""
        from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError

        try:
            yield
        except FileNotFoundError as error:
            _require_bucket(self.address, error)
            raise
        except (PermissionDeniedError, UnauthenticatedError, PermissionError) as error:
            raise ReleaseError(f"{self.address} refuses {what} ({_said(error)}).", _RIGHTS) from error
        except BaseError as error:
            _require_bucket(self.address, error)
            raise StoreUnreachable(
                f"{self.address} does not answer, {what} ({_said(error)}).",
                "Try again later; where it never answers, look at the address, the credentials and the network.",
            ) from error


def open_objects(address: str, make: bool = False) -> Objects:
    """The object store at an address, without asking it anything; ``make``: the folder of a ``file://`` that is not there.

    Credentials, endpoint and region come from the environment, as the store's own programs read them. Raises ReleaseError
    for what is no address, MissingExtraError.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise ReleaseError(
            f"{address!r} is no address of an object store.",
            "Give s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX or file:///FOLDER.",
        )
    try:
        import filelock  # noqa: F401
        from obstore.exceptions import BaseError
        from obstore.store import LocalStore, from_url
    except ImportError as error:
        raise MissingExtraError(f"The object store {address}", "cloud", str(error.name)) from error
    address = address.rstrip("/")
    try:
        if found["scheme"] == "file":
            folder = Path(f"/{found['rest'].lstrip('/')}")
            return Objects(address, LocalStore(folder, mkdir=make), folder)
        retries: RetryConfig = {
            "max_retries": TRIES,
            "retry_timeout": timedelta(seconds=TRY_SECONDS),
            "backoff": {
                "init_backoff": timedelta(seconds=0.2), "max_backoff": timedelta(seconds=WAIT_SECONDS), "base": 2,
            },
        }  # fmt: skip
        options: ClientConfig = {"timeout": timedelta(seconds=REQUEST_SECONDS)}
        endpoint = next(filter(None, map(os.environ.get, ENDPOINTS)), "")
        # whoever names one so wants it: requests are signed, not encrypted
        if endpoint.startswith("http://"):
            options["allow_http"] = True
        return Objects(address, from_url(address, client_options=options, retry_config=retries))
    except (BaseError, ValueError, OSError) as error:
        raise ReleaseError(
            f"The object store {address} cannot be used ({_said(error)}).", "Look at the address, and at "
            "what the environment says of the store: docs/objects.md."
        ) from error  # fmt: skip


def _said(error: BaseException) -> str:
    """What obstore says, without the structure that it prints for programmers."""
    text = str(error).partition("Debug source:")[0]
    message = re.search(r"<Message>(.*?)</Message>", text, re.DOTALL)
    return in_a_line(type(error)(message[1] if message else text))


def _require_bucket(address: str, error: BaseException) -> None:
    """ReleaseNotFound where an error says that there is no such bucket."""
    if ABSENT.search(str(error)):
        raise ReleaseNotFound(
            f"There is no bucket or container for {address}.",
            "Make it with the store's own programs, or mend the address.",
        ) from None
