"""Telling people: a message goes to every hook, a webhook, Slack, e-mail or one of somebody's own, and one that fails hinders
no other. Addresses that may be secret are in no message of theirs."""

from __future__ import annotations

import importlib
import os
import smtplib
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from functools import partial
from typing import Any, Protocol
from urllib.parse import urlsplit

from crmrag_query.config.operations import (
    EmailConfig,
    HookConfig,
    Operations,
    OtherConfig,
    SlackConfig,
    WebhookConfig,
)
from crmrag_query.errors import ConfigError, CrmRagError, ServiceError

LONGEST = 2000  # characters of a reason


@dataclass(frozen=True)
class Message:
    """What happened, why in our own words, and where to look.

    ``kind``: `failure`, `stale` or `test`. ``dataset``, ``run`` (the id of Dagster's run), ``job`` and ``link`` (to the run
    in the UI) are "" where there is none. ``at``: ISO, UTC.
    """

    kind: str
    what: str
    why: str
    dataset: str = ""
    job: str = ""
    run: str = ""
    link: str = ""
    at: str = ""

    @property
    def title(self) -> str:
        """One line, as for a subject."""
        return " ".join(self.what.split())

    @property
    def text(self) -> str:
        """The whole as plain text."""
        return "\n\n".join(part for part in (f"{self.title}.", self.reason, self.link) if part)

    @property
    def reason(self) -> str:
        """Why, not without end."""
        return self.why if len(self.why) <= LONGEST else f"{self.why[:LONGEST]} …"

    def as_dict(self) -> dict[str, str]:
        """For programs."""
        return asdict(self) | {"why": self.reason}


LOOPBACK = ("localhost", "127.0.0.1", "::1")


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
    """Send a message to every hook, and say what became of it at each. What a server refuses is tried again."""
    sent, sending = [], operations.sending
    for config in operations.notify:
        for attempt in range(sending.retries + 1):
            error = _attempt(
                partial(_send, config, message, sending.timeout_seconds), sending.timeout_seconds
            )
            if not isinstance(error, ServiceError) or isinstance(error, Overdue):
                break
            if attempt < sending.retries:
                wait(sending.wait_seconds * 2.0**attempt)
        fault = "" if error is None else str(error)
        if error is not None and not isinstance(error, CrmRagError):
            fault = f"it failed: {type(error).__name__}: {error}"
        sent.append(Sent(name_of(config), fault))
    return sent


def faults(sent: Iterable[Sent]) -> list[str]:
    """What to log of hooks that did not take a message."""
    return [f"A message was not sent by {one.hook}: {one.fault}" for one in sent if one.fault]


def trial(ui: str | None = None) -> Message:
    """What `crmrag notify --test` sends."""
    return Message(
        kind="test",
        what="This is a test of CRM-RAG's notifications",
        why="Nothing failed: somebody ran `crmrag notify --test`.",
        link=ui or "",
        at=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
    )


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


def _send(config: HookConfig, message: Message, seconds: float) -> None:
    """Send a message to a hook. CrmRagError where its environment or its code is not at hand, or that does not succeed; a
    hook of somebody's own raises what it likes."""
    match config:
        case WebhookConfig():
            url = config.url or _variable(config.url_variable or "")
            headers = {name: _variable(value) for name, value in config.headers.items()}
            _post(url, dict(message.as_dict()), headers, seconds)
        case SlackConfig():
            link = f"\n<{_escaped(message.link)}|Open the run>" if message.link else ""
            text = f"*{_escaped(message.title)}*\n{_escaped(message.reason)}{link}"
            _post(_variable(config.url_variable), {"text": text}, {}, seconds)
        case EmailConfig():
            _mail(config, message, seconds)
        case OtherConfig():
            _own_hook(config).send(message)


def _mail(config: EmailConfig, message: Message, seconds: float) -> None:
    """Send a mail by SMTP, encrypted where the server can; a password never goes out in the clear."""
    user = _variable(config.user) if config.user else ""
    password = _variable(config.password) if config.password else ""
    mail = EmailMessage()
    mail["Subject"] = f"CRM-RAG: {message.title}"
    mail["From"], mail["To"] = config.sender, ", ".join(config.recipients)
    mail["Date"], mail["Message-ID"] = formatdate(), make_msgid(domain="crmrag")
    mail.set_content(message.text)
    where = f"The mail server {config.host}:{config.port}"
    address = config.host, config.port
    try:
        secure = ssl.create_default_context()
        with (
            smtplib.SMTP_SSL(*address, timeout=seconds, context=secure)
            if config.tls == "implicit"
            else smtplib.SMTP(*address, timeout=seconds)
        ) as server:
            server.ehlo()
            if config.tls != "implicit" and server.has_extn("starttls"):
                server.starttls(context=secure)
                server.ehlo()
            elif config.tls == "required" or (
                config.tls != "implicit" and user and config.host not in LOOPBACK
            ):
                raise ServiceError(
                    f"{where} does not offer STARTTLS, and nothing was sent.",
                    "Try `tls: implicit` on port 465.",
                )
            if user:
                server.login(user, password)
            server.send_message(mail)
    except smtplib.SMTPAuthenticationError as error:
        raise ServiceError(
            f"{where} does not accept {config.user} and {config.password} (status {error.smtp_code}).",
            "Check these environment variables.",
        ) from None
    except smtplib.SMTPException as error:
        raise ServiceError(f"{where} did not take the mail: {type(error).__name__} {error}.") from error
    except ssl.SSLError as error:
        raise ServiceError(
            f"{where} cannot be spoken to in secret: {error.reason}.",
            "Name your own authority's certificates in the variable SSL_CERT_FILE.",
        ) from error
    except OSError as error:
        raise ServiceError(f"{where} is not reached: {error}.", "Check `host` and `port`.") from error


def _post(url: str, values: dict[str, Any], headers: Mapping[str, str], seconds: float) -> None:
    """POST JSON; ServiceError for whatever is no success. Its message holds the host alone: the rest may be a secret."""
    import httpx  # Dagster's processes load this module, and few of them send anything

    host = urlsplit(url).hostname or "the address"
    try:
        answer = httpx.post(url, json=values, headers=dict(headers), timeout=seconds)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise ServiceError(
            f"{host} is not reached ({type(error).__name__}).", "Check the address and the network."
        ) from None
    if not answer.is_success:
        raise ServiceError(f"{host} answered with status {answer.status_code}.", "Check address and secret.")


def _escaped(text: str) -> str:
    """Text that Slack shows as it is, and takes neither for a link nor for the name of a person."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _variable(name: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        raise ConfigError.single(
            "operations.yaml", "notify", f"the environment variable {name} is not set",
            remedy="Set it where Dagster runs.",
        )  # fmt: skip
    return value


class Hook(Protocol):
    """A hook of somebody's own."""

    def send(self, message: Message) -> None:
        """Send it; raises ServiceError, or any other exception, where that does not succeed."""


def _own_hook(config: OtherConfig) -> Hook:
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
