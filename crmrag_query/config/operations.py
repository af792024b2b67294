"""`operations.yaml`: who is told when a build fails, and how much watching a source may cost."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from crmrag_query.config.reading import (
    Count,
    HeaderName,
    NotNegative,
    Positive,
    Record,
    Variable,
    part_file,
    read_part,
)
from crmrag_query.errors import ConfigError

_KIND = re.compile(r"^(notify\[\d+\])\.(?:webhook|slack|email|other)\b")


def _page(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or " " in text:
        raise ValueError("not an address, as https://example.org")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError("an address without credentials, '?' and '#': a secret is named by its variable")
    return text.rstrip("/")


def _written(pattern: str, otherwise: str) -> AfterValidator:
    """Refuses a text that the pattern is not the whole of, and says so."""

    def checked(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(otherwise)
        return text

    return AfterValidator(checked)


_MAIL = r"[^\s@<>,;]+@[^\s@<>,;]+"
Mail = Annotated[str, _written(_MAIL, "no address of e-mail, as me@example.org")]
_OWNERS = "neither an address of e-mail, as me@example.org, nor a team, as team:collections"
Owner = Annotated[str, _written(rf"team:[A-Za-z0-9_]+|{_MAIL}", _OWNERS)]
Page = Annotated[str, AfterValidator(_page)]
Dotted = Annotated[
    str,
    _written(
        r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", "it names a class or function as package.module:Name"
    ),
]


class WebhookConfig(Record):
    """A message as JSON, by POST. The address stands here (`url`) or, where it is a secret, in the environment variable that
    `url_variable` names; so do the values of `headers`."""

    kind: Literal["webhook"]
    url: Page | None = None
    url_variable: Variable | None = None
    headers: dict[HeaderName, Variable] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_address(self) -> WebhookConfig:
        if (self.url is None) == (self.url_variable is None):
            raise ValueError(
                "it has either `url`, or `url_variable`, the environment variable with the address"
            )
        return self


class SlackConfig(Record):
    """An incoming webhook of Slack. Its address is a secret: `url_variable` names the environment variable that holds it."""

    kind: Literal["slack"]
    url_variable: Variable


class EmailConfig(Record):
    """A mail by SMTP. `tls`: STARTTLS where the server offers it (always with a password), or `required`, or `implicit` from
    the start, as on port 465. `user` and `password` name environment variables."""

    kind: Literal["email"]
    host: str = Field(min_length=1)
    port: int = Field(default=587, ge=1, le=65535)
    tls: Literal["offered", "required", "implicit"] = "offered"
    sender: Mail
    recipients: tuple[Mail, ...] = Field(min_length=1)
    user: Variable | None = None
    password: Variable | None = None

    @model_validator(mode="after")
    def _both(self) -> EmailConfig:
        if (self.user is None) != (self.password is None):
            raise ValueError("`user` and `password` name two environment variables: give both or none")
        return self


class OtherConfig(Record):
    """A hook of your own: `hook` names what is called with `settings` and gives an object with `name` and `send(message)`."""

    kind: Literal["other"]
    hook: Dotted
    settings: dict[str, Any] = Field(default_factory=dict)


HookConfig = Annotated[WebhookConfig | SlackConfig | EmailConfig | OtherConfig, Field(discriminator="kind")]


class Sending(Record):
    """How patiently a message is sent: seconds for a whole attempt, and further ones, each after twice the wait before."""

    timeout_seconds: Positive = 10
    retries: int = Field(default=2, ge=0)
    wait_seconds: NotNegative = 1


class Watching(Record):
    """What one look at a source may cost.

    An endpoint: at most three requests of `request_seconds` each, one of them for the triples of `sampled` entities; after a
    fault it is let alone, twice as long each time, for at most `longest_wait_seconds`. Files: checksums of changed ones for
    about `hash_seconds` a look; of files above `hash_bytes` size and time are compared alone. `freshness_seconds`: how often
    the age of what is published is looked at.
    """

    request_seconds: Positive = 10
    sampled: Count = 100
    longest_wait_seconds: Positive = 3600
    hash_seconds: Positive = 15
    hash_bytes: Count = 4_000_000_000
    freshness_seconds: Count = 600


class Retrying(Record):
    """How often the job `build` begins again after a source or an embedding API did not answer, and minutes before each time;
    what was finished is kept. `lost`: how often it begins again after its process was killed, or the machine restarted.
    Nothing else is tried again: a full disk or a mistake stays what it is."""

    times: int = Field(default=3, ge=0)
    minutes: NotNegative = 10
    lost: int = Field(default=2, ge=0)


class Database(Record):
    """How patiently a build waits for Dagster's database: further attempts, each after twice the wait before."""

    retries: int = Field(default=5, ge=0)
    wait_seconds: NotNegative = 2


class Limits(Record):
    """How much all builds and watches of one data folder ask of the same server at once.

    `endpoint_requests`: of a SPARQL endpoint; by default as many as the `requests: parallel` of the data set that asks.
    `api_requests`: of an embedding API; a build sends one request after another, so that this many builds use it at once.
    """

    endpoint_requests: Count | None = None
    api_requests: Count = 2


class Operations(Record):
    """Who is told of failures. `notify`: every hook is sent each message. `ui`: the address of the Dagster UI, for links.

    For the catalogue of assets: `owners`, addresses of e-mail and `team:NAME`; `service`: the address of `crmrag serve`, for
    links to its page of a data set. `dask`: the address of the scheduler of a Dask cluster, whose workers make the chunks of
    builds, and what is made beside them; "" for this machine.
    """

    notify: tuple[HookConfig, ...] = ()
    ui: Page | None = None
    service: Page | None = None
    owners: tuple[Owner, ...] = ()
    sending: Sending = Sending()
    retrying: Retrying = Retrying()
    watching: Watching = Watching()
    limits: Limits = Limits()
    database: Database = Database()
    dask: Annotated[str, StringConstraints(pattern=r"^((tcp|tls|ws|wss)://\S+)?$")] = ""


def load_operations(folder: Path | str | None = None) -> Operations:
    """The configuration of operations, the defaults where there is no such file; ConfigError names every mistake."""
    file = part_file("operations.yaml", folder)
    if not file.exists():
        return Operations()
    try:
        return read_part(Operations, file)
    except ConfigError as error:
        mistakes = tuple(
            replace(
                one, key=_KIND.sub(r"\1", one.key), value="" if one.key.startswith("notify") else one.value
            )
            for one in error.mistakes
        )
    # out of the handler, so that it carries no error that shows what it hides
    raise ConfigError(file, mistakes)


def variables(hook: HookConfig) -> tuple[str, ...]:
    """Names of the environment variables that a hook needs."""
    named: Mapping[str, Any] = dict(hook)
    found = [named.get(key) for key in ("url_variable", "user", "password")]
    return tuple(name for name in (*found, *named.get("headers", {}).values()) if name)
