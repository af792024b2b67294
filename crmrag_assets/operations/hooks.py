"""The hooks that are there: a webhook, Slack, e-mail. Addresses that may be secret are in no message of theirs."""

from __future__ import annotations

import os
import smtplib
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import Any
from urllib.parse import urlsplit

from crmrag_assets.operations.message import Message
from crmrag_query.config.operations import EmailConfig, SlackConfig, WebhookConfig
from crmrag_query.errors import ConfigError, ServiceError

LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class WebhookHook:
    """POSTs a message as JSON."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    seconds: float

    @classmethod
    def declared(cls, config: WebhookConfig, seconds: float) -> WebhookHook:
        """The hook with its secrets from the environment; ConfigError names a variable that is not set."""
        url = config.url or _variable(config.url_variable or "")
        return cls(url, {name: _variable(value) for name, value in config.headers.items()}, seconds)

    @property
    def name(self) -> str:
        return f"webhook at {_host(self.url)}"

    def send(self, message: Message) -> None:
        _post(self.url, dict(message.as_dict()), self.headers, self.seconds)


@dataclass(frozen=True)
class SlackHook:
    """Posts to an incoming webhook of Slack."""

    url: str = field(repr=False)
    seconds: float

    @classmethod
    def declared(cls, config: SlackConfig, seconds: float) -> SlackHook:
        """The hook with its address from the environment; ConfigError where the variable is not set."""
        return cls(_variable(config.url_variable), seconds)

    @property
    def name(self) -> str:
        return "Slack"

    def send(self, message: Message) -> None:
        link = f"\n<{_escaped(message.link)}|Open the run>" if message.link else ""
        text = f"*{_escaped(message.title)}*\n{_escaped(message.reason)}{link}"
        _post(self.url, {"text": text}, {}, self.seconds)


@dataclass(frozen=True)
class EmailHook:
    """Sends a mail by SMTP, encrypted where the server can; a password never goes out in the clear."""

    config: EmailConfig
    seconds: float

    @property
    def name(self) -> str:
        return f"e-mail by {self.config.host}"

    def send(self, message: Message) -> None:
        config = self.config
        user = _variable(config.user) if config.user else ""
        password = _variable(config.password) if config.password else ""
        where = f"The mail server {config.host}:{config.port}"
        try:
            with self._connection() as server:
                self._encrypt(server, where)
                if user:
                    server.login(user, password)
                server.send_message(self._mail(message))
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

    def _connection(self) -> smtplib.SMTP:
        host, port = self.config.host, self.config.port
        if self.config.tls == "implicit":
            return smtplib.SMTP_SSL(host, port, timeout=self.seconds, context=ssl.create_default_context())
        return smtplib.SMTP(host, port, timeout=self.seconds)

    def _encrypt(self, server: smtplib.SMTP, where: str) -> None:
        """STARTTLS where it is offered; ServiceError where it is not and a secret needs it."""
        if self.config.tls == "implicit":
            return
        server.ehlo()
        if server.has_extn("starttls"):
            server.starttls(context=ssl.create_default_context())
            server.ehlo()
        elif self.config.tls == "required" or (self.config.user and self.config.host not in LOOPBACK):
            raise ServiceError(
                f"{where} does not offer STARTTLS, and nothing was sent.", "Try `tls: implicit` on port 465."
            )

    def _mail(self, message: Message) -> EmailMessage:
        mail = EmailMessage()
        mail["Subject"] = f"CRM-RAG: {message.title}"
        mail["From"], mail["To"] = self.config.sender, ", ".join(self.config.recipients)
        mail["Date"], mail["Message-ID"] = formatdate(), make_msgid(domain="crmrag")
        mail.set_content(message.text)
        return mail


def _post(url: str, values: dict[str, Any], headers: Mapping[str, str], seconds: float) -> None:
    """POST JSON; ServiceError for whatever is no success. Its message holds the host alone: the rest may be a secret."""
    import httpx  # Dagster's processes load this module, and few of them send anything

    host = _host(url)
    try:
        answer = httpx.post(url, json=values, headers=dict(headers), timeout=seconds)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise ServiceError(
            f"{host} is not reached ({type(error).__name__}).", "Check the address and the network."
        ) from None
    if not answer.is_success:
        raise ServiceError(f"{host} answered with status {answer.status_code}.", "Check address and secret.")


def _host(url: str) -> str:
    return urlsplit(url).hostname or "the address"


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
