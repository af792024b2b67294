"""How long a service may take, and how much it may send."""

from __future__ import annotations

from dataclasses import dataclass

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Timeout:
    """Seconds; None waits for ever.

    ``connect``: until there is a connection; ``read``: between two pieces of an answer, so it must outlast the silence of a
    language model that thinks; ``write``: until a piece of the request is sent; ``total``: for a whole answer. All are ours.
    """

    connect: float | None = 5.0
    read: float | None = 120.0
    write: float | None = 30.0
    total: float | None = 300.0


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds against a service that misbehaves, and connections kept; all are ours.

    ``body_bytes``: of an answer, unpacked; of a stream, of each of its events; ``redirects``: followed on the same host.
    """

    body_bytes: int = 64 * MEBIBYTE
    connections: int = 20
    redirects: int = 3
