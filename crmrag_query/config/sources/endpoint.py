"""The kind `endpoint`: a SPARQL 1.1 endpoint, which is asked politely and keeps what it gave until it is asked again."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import parse_qsl, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from crmrag_query.config.reading import (
    FORBIDDEN_IN_IRI,
    FORMER,
    Count,
    HeaderName,
    NotNegative,
    Positive,
    Record,
    Requests,
    Variable,
)
from crmrag_query.config.sources import Iri, SourceConfig, absolute_iri, is_absolute

NO_CONTACT = "  does not say who asks: set `contact` to an address that its operators can write to"
GRAPHS = ("default", "named", "all")
_SECRET = re.compile(r"(?i)key|token|secret|passw|pwd|auth|user|sig")


def _address(text: str) -> str:
    if FORBIDDEN_IN_IRI.search(text) or not text.isascii():
        raise ValueError("an address holds no spaces, quotes or letters beyond ASCII: percent-encode them")
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError("not the address of an endpoint, as https://example.org/sparql")
    if parts.username is not None or parts.password is not None:
        raise ValueError("an address does not hold credentials: name environment variables under `auth`")
    if any(_SECRET.search(name) for name, _ in parse_qsl(parts.query, keep_blank_values=True)):
        raise ValueError(
            "an address does not hold credentials: name an environment variable under `auth` or `headers`"
        )
    if "#" in text:
        raise ValueError("an endpoint's address ends before '#': what follows is for a page in a browser")
    return text


def _graphs(value: Any) -> Any:
    """One of the words, or distinct IRIs in their order."""
    if isinstance(value, str) and value in GRAPHS:
        return value
    listed = [value] if isinstance(value, str) and is_absolute(value) else value
    if not isinstance(listed, list | tuple) or not listed or not all(isinstance(one, str) for one in listed):
        raise ValueError(f"it is {', '.join(GRAPHS)}, or a list of the IRIs of named graphs")
    return tuple(dict.fromkeys(absolute_iri(one) for one in listed))


def _plain(text: str) -> str:
    if not text.isprintable() or not text.isascii():
        raise ValueError("it goes into an HTTP header, which takes plain ASCII characters in one line")
    return text


Graphs = Annotated[Literal["default", "named", "all"] | tuple[str, ...], BeforeValidator(_graphs)]


class Auth(Record):
    """How to sign in; each value is the *name* of an environment variable that holds the secret.

    Without a `kind`, a `token` means bearer, else basic is meant.
    """

    kind: Literal["basic", "digest", "bearer"]
    user: Variable | None = None
    password: Variable | None = None
    token: Variable | None = None

    @model_validator(mode="before")
    @classmethod
    def _kind(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise ValueError("it holds keys: kind (basic, digest or bearer), and user and password, or token")
        return {"kind": "bearer" if value.get("token") else "basic", **value}

    @model_validator(mode="after")
    def _complete(self) -> Auth:
        secret, signed = ("token",), ("user", "password")
        needed, others = (secret, signed) if self.kind == "bearer" else (signed, secret)
        if missing := [name for name in needed if getattr(self, name) is None]:
            raise ValueError(f"{self.kind} needs {' and '.join(missing)}, the names of environment variables")
        if given := [name for name in others if getattr(self, name) is not None]:
            raise ValueError(f"{self.kind} takes no {' and '.join(given)}")
        return self

    def variables(self) -> tuple[str, ...]:
        """Names of the environment variables that hold what signs in."""
        return tuple(name for name in (self.user, self.password, self.token) if name is not None)


class OwnRequests(Record):
    """What a data set sets otherwise than the method's `requests`."""

    batch_entities: Count | None = None
    page_rows: Count | None = None
    subject_rows: int | None = Field(default=None, ge=0)
    timeout_seconds: Positive | None = None
    pause_seconds: NotNegative | None = None
    parallel: Count | None = None
    retries: int | None = Field(default=None, ge=0)
    first_wait_seconds: NotNegative | None = None
    longest_wait_seconds: NotNegative | None = None
    response_bytes: Count | None = None
    blank_rows: int | None = Field(default=None, ge=0)
    blank_depth: Count | None = None
    request_budget: Count | None = None


class EndpointConfig(SourceConfig):
    """A SPARQL 1.1 endpoint and what is read of it.

    `graphs`: the endpoint's default graph as it defines it, all its named graphs, both, or the named graphs of a list.
    `default_graphs`: graphs whose union is to be the default graph (the protocol's `default-graph-uri`).
    `headers`: HTTP header -> environment variable that holds its value. `contact` goes into the User-Agent header.
    """

    alone: ClassVar[str] = "url"
    refreshable: ClassVar[bool] = True
    crm: ClassVar[bool] = True
    former = frozenset(key for key in FORMER if key.startswith("requests."))
    url: Annotated[str, AfterValidator(_address)]
    graphs: Graphs = "default"
    default_graphs: tuple[Iri, ...] = ()
    auth: Auth | None = None
    headers: dict[HeaderName, Variable] = Field(default_factory=dict)
    contact: Annotated[str, AfterValidator(_plain)] = ""
    requests: OwnRequests = OwnRequests()

    @model_validator(mode="after")
    def _agreeing(self) -> EndpointConfig:
        if self.default_graphs and self.graphs != "default":
            raise ValueError(
                "`default_graphs` make up the default graph, which `graphs` does not read: keep one"
            )
        if self.auth is not None and any(name.lower() == "authorization" for name in self.headers):
            raise ValueError("`auth` and a header Authorization stand both: keep one")
        return self

    def resolved(self, method: Requests) -> Requests:
        """The method's requests with what the data set sets for itself."""
        return method.model_copy(update=self.requests.model_dump(exclude_none=True))

    def variables(self) -> tuple[str, ...]:
        """Names of the environment variables that a request needs, each once."""
        named = (*(self.auth.variables() if self.auth else ()), *self.headers.values())
        return tuple(dict.fromkeys(named))

    def described(self) -> str:
        """The address, what is read there, and how to sign in, in one line without a secret."""
        if isinstance(self.graphs, str):
            graphs = {"default": "default graph", "named": "named graphs", "all": "all graphs"}[self.graphs]
            graphs += f" of {', '.join(self.default_graphs)}" if self.default_graphs else ""
        else:
            graphs = (
                f"graph {self.graphs[0]}" if len(self.graphs) == 1 else f"{len(self.graphs)} named graphs"
            )
        ways = ([f"{self.auth.kind} authentication"] if self.auth else []) + [
            f"header {name}" for name in self.headers
        ]
        return f"{self.url} ({', '.join([graphs, *ways])})"

    def places(self) -> tuple[str, ...]:
        return (self.url,)

    def stated(self) -> dict[str, Any]:
        """Without a query string, which may hold a secret."""
        return {
            "endpoint": urlsplit(self.url)._replace(query="", fragment="").geturl(),
            "graphs": self.graphs if isinstance(self.graphs, str) else list(self.graphs),
        }

    def server(self) -> str:
        return urlsplit(self.url).netloc.rpartition("@")[2].lower()

    def told(self, method: Requests) -> Iterator[str]:
        """How it is asked, and whether its environment variables are set."""
        requests = self.resolved(method)
        yield (
            f"  asks for {requests.batch_entities:,} entities at a time, {requests.parallel} requests at once, "
            f"{requests.pause_seconds:g} s apart"
        )
        yield f"  says that it asks for {self.contact}" if self.contact else NO_CONTACT
        for variable in self.variables():
            yield f"  {variable}: {'set' if os.environ.get(variable, '').strip() else 'not set'}"
        if self.variables() and self.url.startswith("http:"):
            yield "  what signs in is sent unencrypted: the address begins with http:"


CONFIG = EndpointConfig
