"""Why a language model did not answer, as an error that a person can act on."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Iterator
from typing import Any

from crmrag_query.errors import ModelError

LONGEST = 200  # characters of a provider's own message
WAITING = 1000  # pieces of a reply that are held before they are read
SECRETS = ("_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD")


def fault_of(name: str, error: Exception) -> ModelError:
    """What litellm raised as a ModelError that names the model, the reason and the remedy; keys are left out."""
    import litellm.exceptions as known

    error = getattr(error, "original_exception", None) or error
    said = short(error)
    if isinstance(error, known.Timeout):
        return too_slow(name, "in time")
    if isinstance(error, known.RateLimitError):
        wait = _retry_after(error)
        when = f"Wait {wait} seconds and ask again" if wait else "Wait a little and ask again"
        return ModelError(
            f"The model {name} takes no more requests for now (429): {said}",
            f"{when}, or choose another model.",
        )
    if isinstance(error, known.AuthenticationError | known.PermissionDeniedError):
        return ModelError(
            f"The model {name} does not accept the key: {said}",
            "Set the provider's key in the environment, such as OPENAI_API_KEY.",
        )
    if isinstance(error, known.ContextWindowExceededError):
        return ModelError(
            f"The sources are longer than the model {name} reads: {said}",
            "Lower context.tokens in config/method.yaml, or choose another model.",
        )
    if isinstance(error, known.ContentPolicyViolationError):
        return declined(name, said)
    if isinstance(error, known.NotFoundError):
        return ModelError(
            f"There is no model {name} at its provider: {said}",
            "Check the model's name and CRMRAG_API_BASE.",
        )
    status = getattr(error, "status_code", None)
    if isinstance(error, known.InternalServerError | known.ServiceUnavailableError) and not _unreached(error):
        return ModelError(
            f"The server of the model {name} failed ({status}): {said}",
            "Ask again in a moment, or choose another model.",
        )
    return ModelError(
        f"The model {name} did not answer: {type(error).__name__}: {said}",
        "Check the model's name, its key in the environment and CRMRAG_API_BASE.",
    )


def _unreached(error: BaseException | None) -> bool:
    """Whether no server answered at all, which litellm tells as a server's error."""
    while error is not None:
        if type(error).__name__ in ("ConnectError", "ConnectTimeout", "UnsupportedProtocol"):
            return True
        error = error.__cause__ or error.__context__
    return False


def broken_off(name: str, said: str = "") -> ModelError:
    """The reply ended before its end was told, or cannot be read."""
    more = f" ({said})" if said else ""
    return ModelError(
        f"The reply of the model {name} broke off or cannot be read{more}.",
        "Ask again; if it happens again, check CRMRAG_API_BASE: it must be an OpenAI-compatible address.",
    )


def declined(name: str, said: str) -> ModelError:
    """The model, or a filter before it, refuses to answer."""
    return ModelError(
        f"The model {name} declined to answer: {said or 'no reason given'}", "Put the question otherwise."
    )


def too_slow(name: str, what: str) -> ModelError:
    return ModelError(
        f"The model {name} did not answer {what}.",
        "Ask again, raise CRMRAG_MODEL_TIMEOUT or answers.whole_seconds, or choose a faster model.",
    )


def short(error: Exception) -> str:
    """The first line of an error's message without keys of the environment."""
    lines = str(error).splitlines()
    return without_keys(lines[0] if lines else "no message")[:LONGEST]


def without_keys(text: str) -> str:
    """The text without the keys of the environment."""
    for name, value in os.environ.items():
        if name.endswith(SECRETS) and len(value) > 3:
            text = text.replace(value, "…")
    return text


def _retry_after(error: Exception) -> str:
    """Seconds that the server asks to wait, "" when it does not say; as a date it is left out."""
    response = getattr(error, "response", None)
    for headers in (getattr(error, "litellm_response_headers", None), getattr(response, "headers", None)):
        told = str((headers or {}).get("retry-after", ""))
        if told.isdigit():
            return told
    return ""


def within(pieces: Iterator[str], name: str, first: float, whole: float) -> Iterator[str]:
    """The pieces as they come, pulled by a thread of their own; ModelError when the first or the last comes too late.

    ``first``, ``whole``: seconds. What the pieces raise is raised here. A server that sends nothing, little for ever, or
    faster than it is read so cannot hold an answer nor fill the memory; the thread ends with its next piece.
    """
    given: queue.Queue[Any] = queue.Queue(WAITING)
    left = threading.Event()
    end = object()
    begun, limit, what = time.monotonic(), min(first, whole), f"within {min(first, whole):g} seconds"

    def give(item: object) -> bool:
        while not left.is_set():
            try:
                given.put(item, timeout=1)
            except queue.Full:
                continue
            return True
        return False

    def pull() -> None:
        try:
            for piece in pieces:
                if not give(piece):
                    return
                if time.monotonic() > begun + whole:
                    give(too_slow(name, f"to the end within {whole:g} seconds"))
                    return
            give(end)
        except BaseException as error:
            give(error)

    threading.Thread(target=pull, name="model", daemon=True).start()
    try:
        while True:
            try:
                piece = given.get(timeout=max(0.0, begun + limit - time.monotonic()))
            except queue.Empty:
                raise too_slow(name, what) from None
            if piece is end:
                return
            if isinstance(piece, BaseException):
                raise piece
            limit, what = whole, f"to the end within {whole:g} seconds"
            yield piece
    finally:
        left.set()
