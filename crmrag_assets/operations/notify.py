"""Telling people: a message goes to every hook, and one that fails hinders no other."""

from __future__ import annotations

import importlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from crmrag_assets.operations.hooks import EmailHook, SlackHook, WebhookHook
from crmrag_assets.operations.message import Message
from crmrag_query.config.operations import (
    EmailConfig,
    HookConfig,
    Operations,
    OtherConfig,
    Sending,
    SlackConfig,
    WebhookConfig,
)
from crmrag_query.errors import ConfigError, CrmRagError, ServiceError


class Hook(Protocol):
    """Somewhere to send messages to; ``name`` is shown to people and holds no secret."""

    @property
    def name(self) -> str: ...

    def send(self, message: Message) -> None:
        """Send it; raises ServiceError, or any other exception, where that does not succeed."""


class Overdue(ServiceError):
    """An attempt that was not done in time; it is not repeated, as the message may have come."""


@dataclass(frozen=True)
class Sent:
    """What became of a message at one hook: ``fault`` is "" where it was taken."""

    hook: str
    fault: str = ""

    def __str__(self) -> str:
        return f"{self.hook}: {self.fault or 'sent'}"


def tell(
    operations: Operations, message: Message, wait: Callable[[float], object] = time.sleep
) -> list[Sent]:
    """Send a message to every hook, and say what became of it at each."""
    return [_told(config, operations.sending, message, wait) for config in operations.notify]


def trial(ui: str | None = None) -> Message:
    """What `crmrag notify --test` sends."""
    return Message(
        kind="test",
        what="This is a test of CRM-RAG's notifications",
        why="Nothing failed: somebody ran `crmrag notify --test`.",
        link=ui or "",
        at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )


def hook_of(config: HookConfig, sending: Sending) -> Hook:
    """The hook that is declared; CrmRagError where its environment or its code is not at hand."""
    match config:
        case WebhookConfig():
            return WebhookHook.declared(config, sending.timeout_seconds)
        case SlackConfig():
            return SlackHook.declared(config, sending.timeout_seconds)
        case EmailConfig():
            return EmailHook(config, sending.timeout_seconds)
        case OtherConfig():
            return _other(config)


def name_of(config: HookConfig) -> str:
    """What a hook is called before it is made: its kind, and where it sends, without a secret."""
    match config:
        case WebhookConfig(url=None):
            return f"webhook ({config.url_variable})"
        case WebhookConfig():
            return f"webhook ({config.url})"
        case SlackConfig():
            return f"slack ({config.url_variable})"
        case EmailConfig():
            return f"email ({', '.join(config.recipients)} by {config.host})"
        case OtherConfig():
            return config.hook


def _told(config: HookConfig, sending: Sending, message: Message, wait: Callable[[float], object]) -> Sent:
    error: BaseException | None = None
    for pause in _pauses(sending):
        error = _attempt(lambda: hook_of(config, sending).send(message), sending.timeout_seconds)
        if pause is None or not isinstance(error, ServiceError) or isinstance(error, Overdue):
            break
        wait(pause)
    if error is None:
        return Sent(name_of(config))
    failed = isinstance(error, CrmRagError)
    return Sent(name_of(config), str(error) if failed else f"it failed: {type(error).__name__}: {error}")


def _attempt(send: Callable[[], object], seconds: float) -> BaseException | None:
    """What the attempt raises, of a hook of somebody's own anything; None of one that succeeds.

    One that is not done in time is left to itself: a server that drips, or a hook that hangs, holds nobody up.
    """
    raised: list[BaseException | None] = []

    def attempt() -> None:
        try:
            send()
        except BaseException as error:
            raised.append(error)
        else:
            raised.append(None)

    thread = threading.Thread(target=attempt, name="hook", daemon=True)
    thread.start()
    thread.join(seconds)
    if not raised:
        return Overdue(
            f"It was not done within {seconds:g} seconds.", "Look at it, or raise `sending: timeout_seconds`."
        )
    return raised[0]


def _pauses(sending: Sending) -> Iterator[float | None]:
    """What to wait after each attempt that fails; None after the last."""
    yield from (sending.wait_seconds * 2.0**n for n in range(sending.retries))
    yield None


def _other(config: OtherConfig) -> Hook:
    module, _, name = config.hook.partition(":")
    try:
        make: Any = getattr(importlib.import_module(module), name)
        made: Hook = make(**config.settings)
    except (ImportError, AttributeError, TypeError) as error:
        raise ConfigError.single(
            "operations.yaml", "notify.hook", f"it cannot be made: {error}", value=config.hook,
            remedy="Install its package where Dagster runs, and give the `settings` that it takes.",
        ) from error  # fmt: skip
    if not callable(getattr(made, "send", None)):
        raise ConfigError.single(
            "operations.yaml", "notify.hook", "what it gives has no method `send`", value=config.hook
        )
    return made


def faults(sent: Iterable[Sent]) -> list[str]:
    """What to log of hooks that did not take a message."""
    return [f"A message was not sent by {one.hook}: {one.fault}" for one in sent if one.fault]
