"""How much a reply of a language model may hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

REPLY = 4 << 20  # bytes of a reply that comes whole: 100 times the longest that is asked for
WHOLE: ContextVar[int] = ContextVar("whole", default=0)
"""Bytes that the reply to what is sent now may have; 0 for a stream, which has bounds of its own."""


@contextmanager
def whole_reply(most: int = REPLY) -> Iterator[None]:
    """Replies to what is sent within the block come whole, in at most so many bytes."""
    token = WHOLE.set(most)
    try:
        yield
    finally:
        WHOLE.reset(token)
