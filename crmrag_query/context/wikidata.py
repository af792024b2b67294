"""Texts from Wikidata (action wbgetentities) for the first entities that link to it; whatever goes wrong there costs two
seconds at most."""

from __future__ import annotations

import json
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from http.client import HTTPException
from importlib.metadata import PackageNotFoundError, version
from typing import Any
from urllib.parse import quote, urlencode
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import Wikidata
from crmrag_query.context.context import Budget, ContextLine, Kind, frame, pay
from crmrag_query.context.lines import Read
from crmrag_query.graph.graph import Graph
from crmrag_query.questions.form import Analysis
from crmrag_query.text import plain, shorten

ITEM = re.compile(r"Q[1-9]\d{0,11}")
IMAGE = "P18"
COMMONS = "https://commons.wikimedia.org/wiki/Special:FilePath/"
MOST_IDS = 50  # in one request; the API's limit
PIECE = 65536  # bytes read at once, so that the time is looked at between
FAILURE_SECONDS = 600.0  # how long a failure is remembered, so that not every question waits for it
RESPONSE_BYTES = 4_000_000  # a longer response is a failure
CACHED = 1000  # entities whose texts are kept in memory
TEXT_CHARACTERS = 700  # of one entity's text
VALUES = 3  # told of one property
MONTH, YEAR = 10, 9  # precisions of a date in Wikidata's data model


class WikidataError(Exception):
    """No usable answer; why does not matter to anyone but the caller."""


@dataclass(frozen=True, slots=True)
class Entity:
    """What Wikidata says of an item, all of it untrusted: ``claims`` as (name of the property, values); ``image``: the
    address of its picture (P18) at Wikimedia Commons, "" for none."""

    id: str
    label: str
    description: str
    claims: tuple[tuple[str, tuple[str, ...]], ...] = ()
    image: str = ""


class _NoRedirects(HTTPRedirectHandler):
    """A redirect is an error: it could lead anywhere."""

    def redirect_request(self, *_: object) -> None:
        return None


@lru_cache(1)
def _opener() -> OpenerDirector:
    return build_opener(_NoRedirects)


@lru_cache(1)
def _user_agent() -> str:
    """Who asks, as Wikimedia's policy wants it."""
    try:
        name = f"crmrag/{version('crmrag')}"
    except PackageNotFoundError:
        name = "crmrag"
    return f"{name} (CRM-RAG; question answering over CIDOC-CRM) python-urllib"


def ask_wikidata(config: Wikidata, deadline: float, ids: Sequence[str], language: str) -> dict[str, Entity]:
    """The items among ``ids`` that exist, in a language, else in English, by ``deadline`` (of time.monotonic): one request
    for the items, one for the names of what they lead to. Raises WikidataError."""
    raw = _ask(config, deadline, ids, "labels|descriptions|claims", language)
    claims = {id: _claims(item, config) for id, item in raw.items()}
    held = [one for one in config.properties if any(one in own for own in claims.values())]
    values = (value for own in claims.values() for values in own.values() for value in values)
    wanted = list(dict.fromkeys([*held, *filter(ITEM.fullmatch, values)]))[:MOST_IDS]
    try:
        named = _ask(config, deadline, wanted, "labels", language) if wanted else {}
    except WikidataError:
        named = {}  # label and description are worth having without claims
    labels = {id: _label(item, "labels", language) for id, item in named.items()}
    found = {}
    for id, item in raw.items():
        (file,) = claims[id].pop(IMAGE, [""])[:1]
        shown = [
            (labels.get(one, ""), [labels.get(v, "") if ITEM.fullmatch(v) else v for v in values])
            for one, values in claims[id].items()
        ]
        told = [(name, tuple(filter(None, values))) for name, values in shown if name]
        found[id] = Entity(
            id,
            _label(item, "labels", language),
            _label(item, "descriptions", language),
            tuple((name, values) for name, values in told if values),
            COMMONS + quote(file.replace(" ", "_"), safe="") if file else "",
        )
    return found


def _ask(
    config: Wikidata, deadline: float, ids: Sequence[str], what: str, language: str
) -> dict[str, dict[str, Any]]:
    """Items by id, those that do not exist left out."""
    languages = "|".join(dict.fromkeys([language, "en"]))
    query = {"action": "wbgetentities", "ids": "|".join(ids), "props": what, "languages": languages}
    address = f"{config.address}?{urlencode({**query, 'format': 'json'})}"
    left = deadline - time.monotonic()
    if left <= 0:
        raise WikidataError("out of time")
    request = Request(address, headers={"User-Agent": _user_agent(), "Accept": "application/json"})
    body = b""
    try:
        with _opener().open(request, timeout=left) as response:
            while piece := response.read1(PIECE):
                body += piece
                if len(body) > RESPONSE_BYTES or time.monotonic() > deadline:
                    raise WikidataError("too long")
        answer = json.loads(body)
    except (
        OSError,
        HTTPException,
        ValueError,
        RecursionError,
    ) as error:  # a status other than 2xx is an OSError too
        raise WikidataError(str(error)) from error
    items = _dict(answer).get("entities")
    if not isinstance(items, dict):
        raise WikidataError("no entities")
    merged = {_dict(_dict(item).get("redirects")).get("from"): item for item in items.values()}
    found = {id: _dict(items.get(id) or merged.get(id)) for id in ids}
    return {id: item for id, item in found.items() if item and "missing" not in item}


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return plain(value) if isinstance(value, str) else ""


def _label(item: Mapping[str, Any], part: str, language: str) -> str:
    """The text of ``labels`` or ``descriptions`` in the language, else in English."""
    held = _dict(item.get(part))
    found = (_text(_dict(held.get(code)).get("value")) for code in (language, "en"))
    return next(filter(None, found), "")


def _claims(item: Mapping[str, Any], config: Wikidata) -> dict[str, list[str]]:
    """The first values of each wanted property, items as their ids; of the preferred rank where there are such."""
    held = _dict(item.get("claims"))
    found: dict[str, list[str]] = {}
    for one in (*config.properties, IMAGE):
        stated = held.get(one)
        claims = [_dict(claim) for claim in stated] if isinstance(stated, list) else []
        claims = [claim for claim in claims if claim.get("rank") != "deprecated"]
        claims.sort(key=lambda claim: claim.get("rank") != "preferred")
        if values := list(filter(None, map(_value, claims)))[:VALUES]:
            found[one] = values
    return found


def _value(claim: Mapping[str, Any]) -> str:
    """A text, an item's id, or a date: ``1105`` or ``1105-09-22`` from ``+1105-09-22T00:00:00Z``; "" below the precision of
    a year, and for anything else."""
    value = _dict(_dict(claim.get("mainsnak")).get("datavalue")).get("value")
    if not isinstance(value, dict):
        return _text(value)
    if "time" not in value:
        return _text(value.get("id")) or _text(value.get("text"))
    match = re.fullmatch(r"([+-])0*(\d{1,6})-(\d\d)-(\d\d)T.*", _text(value.get("time")))
    precision = value.get("precision")
    if not match or not isinstance(precision, int) or precision < YEAR:
        return ""
    sign, year, month, day = match.groups()
    date = {YEAR: year, MONTH: f"{year}-{month}"}.get(precision, f"{year}-{month}-{day}")
    return f"{date} BC" if sign == "-" else date


def text_of(entity: Entity) -> str:
    """``Asinou: church in Cyprus. inception: 1105; …`` on one line; "" for an item without a label."""
    if not entity.label:
        return ""
    head = f"{entity.label}: {entity.description}" if entity.description else entity.label
    claims = "; ".join(f"{name}: {', '.join(values)}" for name, values in entity.claims)
    return shorten(f"Wikidata {entity.id} — {head}" + (f". {claims}" if claims else ""), TEXT_CHARACTERS)


MARGIN = 0.05  # of the time, so that what came in time is used
_LINK = re.compile(r"https?://(?:www\.)?wikidata\.org/(?:entity|wiki)/(Q[1-9]\d{0,11})")


@dataclass
class WikidataTexts:
    """Asks Wikidata's API, and keeps what it said and what failed; for many threads at once.

    ``clock`` in seconds, for the time that a failure is remembered.
    """

    config: Wikidata
    clock: Callable[[], float] = time.monotonic
    _known: OrderedDict[tuple[str, str], Entity] = field(default_factory=OrderedDict)
    _absent: OrderedDict[str, float] = field(default_factory=OrderedDict)  # until when not to ask again
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _down_until: float = float("-inf")

    @classmethod
    def from_release(cls, release: Release) -> WikidataTexts:
        """What Wikidata said of the entities is kept for every question; nothing is asked by opening it."""
        return cls(release.method.wikidata)

    def texts(self, ids: Sequence[str], language: str = "en") -> dict[str, Entity]:
        """What Wikidata says of these ids (``Q`` and digits; others are left out), within ``timeout_seconds`` in all.

        Never raises: what could not be had is missing. After a failure of the network or the server nothing is asked for
        ``FAILURE_SECONDS``; an id that Wikidata does not have is not asked for again while it is remembered.
        """
        wanted = [id for id in dict.fromkeys(ids) if ITEM.fullmatch(id)][: self.config.entities]
        with self._lock:
            now = self.clock()
            missing = [id for id in wanted if (id, language) not in self._known]
            missing = [id for id in missing if now >= self._absent.get(id, now)]
            asked = bool(missing) and now >= self._down_until
        if asked:
            self._fetch(missing, language)
        return self.known(wanted, language)

    def known(self, ids: Sequence[str], language: str = "en") -> dict[str, Entity]:
        """What is kept of these ids; nothing is asked."""
        with self._lock:
            return {id: self._known[id, language] for id in ids if (id, language) in self._known}

    def _fetch(self, ids: Sequence[str], language: str) -> None:
        """Ask in a thread, which is left alone when the time is over: a name server cannot be told to hurry."""
        result: list[Mapping[str, Entity]] = []
        seconds = self.config.timeout_seconds
        deadline = time.monotonic() + seconds

        def ask() -> None:
            with suppress(WikidataError):
                result.append(ask_wikidata(self.config, deadline - MARGIN * seconds, ids, language))

        thread = threading.Thread(target=ask, name="wikidata", daemon=True)
        thread.start()
        thread.join(max(0.0, deadline - time.monotonic()))
        with self._lock:
            later = self.clock() + FAILURE_SECONDS
            if not result:
                self._down_until = later
                return
            for id in ids:
                if id in result[0]:
                    self._known[id, language] = result[0][id]
                else:
                    self._absent[id] = later
            for kept in (self._known, self._absent):
                while len(kept) > CACHED:
                    kept.popitem(last=False)


def wikidata_id(iri: str) -> str | None:
    """The id in a link to Wikidata, None for any other IRI."""
    match = _LINK.fullmatch(iri)
    return match[1] if match else None


def _ids_of(release: Release, entity: int) -> list[str]:
    links = (link.iri for link in release[Graph].links(entity) if link.kind == "wikidata")
    return [id for id in map(wikidata_id, links) if id is not None]


def images_of(
    release: Release, entities: Sequence[int], texts: WikidataTexts, language: str
) -> dict[int, tuple[str, ...]]:
    """Addresses of pictures (P18) of those entities that link to items which ``texts`` keeps; nothing is asked."""
    found: dict[int, tuple[str, ...]] = {}
    for entity in entities:
        kept = texts.known(_ids_of(release, entity), language).values()
        if images := tuple(one.image for one in kept if one.image):
            found[entity] = images
    return found


def wikidata_lines(
    release: Release,
    analysis: Analysis,
    reads: Sequence[Read],
    texts: WikidataTexts | None,
    budgets: Sequence[Budget],
) -> tuple[ContextLine, ...]:
    """What Wikidata says of the first entities that link to it, as far as ``budgets`` hold it; nothing without ``texts``."""
    if texts is None:
        return ()
    links: dict[str, tuple[int, int]] = {}  # id -> number of the source, entity
    for read in reads:
        for entity in read.headers:
            for id in _ids_of(release, entity):
                if len(links) < texts.config.entities:
                    links.setdefault(id, (read.n, entity))
    lines: list[ContextLine] = []
    seen: set[int] = set()
    for id, item in texts.texts(list(links), analysis.reading.language).items():
        n, node = links[id]
        text = text_of(item)
        if text and pay([text], budgets, frame=() if n in seen else frame("wikidata", n)):
            seen.add(n)
            lines.append(ContextLine(text, Kind.WIKIDATA, n, (node,)))
    return tuple(lines)
