"""Wikidata's API (action wbgetentities): one request for entities, one for the names of what they lead to."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from http.client import HTTPException
from importlib.metadata import PackageNotFoundError, version
from typing import Any
from urllib.parse import quote, urlencode
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from crmrag_query.config.query import Wikidata
from crmrag_query.context.text import plain, shorten

ITEM = re.compile(r"Q[1-9]\d{0,11}")
IMAGE = "P18"
COMMONS = "https://commons.wikimedia.org/wiki/Special:FilePath/"
MOST_IDS = 50  # in one request; the API's limit
PIECE = 65536  # bytes read at once, so that the time is looked at between
DAY, MONTH, YEAR = 11, 10, 9  # precisions of a date in Wikidata's data model


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


@dataclass(frozen=True)
class Api:
    """Requests to one address until ``deadline`` (of time.monotonic)."""

    config: Wikidata
    deadline: float

    def entities(self, ids: Sequence[str], language: str) -> dict[str, Entity]:
        """The items among ``ids`` that exist, in a language, else in English. Raises WikidataError."""
        raw = self._ask(ids, "labels|descriptions|claims", language)
        claims = {id: dict(_claims(item, self.config)) for id, item in raw.items()}
        held = [
            property for property in self.config.properties if any(property in own for own in claims.values())
        ]
        values = (value for own in claims.values() for values in own.values() for value in values)
        wanted = list(dict.fromkeys([*held, *filter(ITEM.fullmatch, values)]))[:MOST_IDS]
        try:
            names = self._ask(wanted, "labels", language) if wanted else {}
        except WikidataError:
            names = {}  # label and description are worth having without claims
        labels = {id: _label(item, "labels", language) for id, item in names.items()}
        return {id: _entity(id, item, claims[id], labels, language) for id, item in raw.items()}

    def _ask(self, ids: Sequence[str], what: str, language: str) -> dict[str, dict[str, Any]]:
        """Items by id, those that do not exist left out."""
        languages = "|".join(dict.fromkeys([language, "en"]))
        query = {"action": "wbgetentities", "ids": "|".join(ids), "props": what, "languages": languages}
        body = self._get(f"{self.config.address}?{urlencode({**query, 'format': 'json'})}")
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise WikidataError("no JSON") from error
        items = _dict(answer).get("entities")
        if not isinstance(items, dict):
            raise WikidataError("no entities")
        merged = {_dict(_dict(item).get("redirects")).get("from"): item for item in items.values()}
        found = {id: _dict(items.get(id) or merged.get(id)) for id in ids}
        return {id: item for id, item in found.items() if item and "missing" not in item}

    def _get(self, address: str) -> bytes:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise WikidataError("out of time")
        request = Request(address, headers={"User-Agent": user_agent(), "Accept": "application/json"})
        try:
            with _opener().open(request, timeout=left) as response:
                return b"".join(self._pieces(response))
        except (OSError, HTTPException, ValueError) as error:  # a status other than 2xx is an OSError too
            raise WikidataError(str(error)) from error

    def _pieces(self, response: Any) -> Iterator[bytes]:
        size = 0
        while piece := response.read1(PIECE):
            size += len(piece)
            if size > self.config.response_bytes or time.monotonic() > self.deadline:
                raise WikidataError("too long")
            yield piece


@lru_cache(1)
def _opener() -> OpenerDirector:
    return build_opener(_NoRedirects)


@lru_cache(1)
def user_agent() -> str:
    """Who asks, as Wikimedia's policy wants it."""
    try:
        return f"crmrag/{version('crmrag')} (CRM-RAG; question answering over CIDOC-CRM) python-urllib"
    except PackageNotFoundError:
        return "crmrag (CRM-RAG; question answering over CIDOC-CRM) python-urllib"


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return plain(value) if isinstance(value, str) else ""


def _label(item: Mapping[str, Any], part: str, language: str) -> str:
    """The text of ``labels`` or ``descriptions`` in the language, else in English."""
    held = _dict(item.get(part))
    found = (_text(_dict(held.get(code)).get("value")) for code in (language, "en"))
    return next(filter(None, found), "")


def _claims(item: Mapping[str, Any], config: Wikidata) -> Iterator[tuple[str, list[str]]]:
    """The first values of each wanted property, items as their ids; of the preferred rank where there are such."""
    held = _dict(item.get("claims"))
    for property in (*config.properties, IMAGE):
        claims = [
            claim for claim in map(_dict, _list(held.get(property))) if claim.get("rank") != "deprecated"
        ]
        claims.sort(key=lambda claim: claim.get("rank") != "preferred")
        values = list(filter(None, map(_value, claims)))[: config.values]
        if values:
            yield property, values


def _value(claim: Mapping[str, Any]) -> str:
    value = _dict(_dict(claim.get("mainsnak")).get("datavalue")).get("value")
    if isinstance(value, dict):
        if "time" in value:
            return _date(_text(value.get("time")), value.get("precision"))
        return _text(value.get("id")) or _text(value.get("text"))
    return _text(value)


def _date(stamp: str, precision: object) -> str:
    """``1105`` or ``1105-09-22`` from ``+1105-09-22T00:00:00Z``; "" below the precision of a year."""
    match = re.fullmatch(r"([+-])0*(\d{1,6})-(\d\d)-(\d\d)T.*", stamp)
    if not match or not isinstance(precision, int) or precision < YEAR:
        return ""
    sign, year, month, day = match.groups()
    date = {YEAR: year, MONTH: f"{year}-{month}"}.get(precision, f"{year}-{month}-{day}")
    return f"{date} BC" if sign == "-" else date


def _entity(
    id: str,
    item: Mapping[str, Any],
    claims: Mapping[str, list[str]],
    labels: Mapping[str, str],
    language: str,
) -> Entity:
    named = (
        (
            labels.get(property, ""),
            tuple(filter(None, (labels.get(v, "") if ITEM.fullmatch(v) else v for v in values))),
        )
        for property, values in claims.items()
        if property != IMAGE
    )
    told = tuple((name, values) for name, values in named if name and values)
    file = (claims.get(IMAGE) or [""])[0]
    image = COMMONS + quote(file.replace(" ", "_"), safe="") if file else ""
    return Entity(id, _label(item, "labels", language), _label(item, "descriptions", language), told, image)


def text_of(entity: Entity, config: Wikidata) -> str:
    """``Asinou: church in Cyprus. inception: 1105; …`` on one line; "" for an item without a label."""
    if not entity.label:
        return ""
    head = f"{entity.label}: {entity.description}" if entity.description else entity.label
    claims = "; ".join(f"{name}: {', '.join(values)}" for name, values in entity.claims)
    return shorten(f"Wikidata {entity.id} — {head}" + (f". {claims}" if claims else ""), config.characters)
