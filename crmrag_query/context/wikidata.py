"""Texts from Wikidata for the first entities that have a link to it; whatever goes wrong there costs two seconds at most."""

from __future__ import annotations

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from crmrag_query.artifacts.release import Release
from crmrag_query.config.query import Wikidata
from crmrag_query.context.budget import Budget, pay
from crmrag_query.context.lines import Read
from crmrag_query.context.records import ContextLine, Kind, frame
from crmrag_query.context.wikidata_api import Api, Entity, WikidataError, text_of
from crmrag_query.questions.analysis import Analysis

MARGIN = 0.05  # of the time, so that what came in time is used
_ID = re.compile(r"Q[1-9]\d{0,11}")
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

    def texts(self, ids: Sequence[str], language: str = "en") -> dict[str, Entity]:
        """What Wikidata says of these ids (``Q`` and digits; others are left out), within ``timeout_seconds`` in all.

        Never raises: what could not be had is missing. After a failure of the network or the server nothing is asked for
        ``failure_seconds``; an id that Wikidata does not have is not asked for again while it is remembered.
        """
        wanted = [id for id in dict.fromkeys(ids) if _ID.fullmatch(id)][: self.config.entities]
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
                result.append(Api(self.config, deadline - MARGIN * seconds).entities(ids, language))

        thread = threading.Thread(target=ask, name="wikidata", daemon=True)
        thread.start()
        thread.join(max(0.0, deadline - time.monotonic()))
        with self._lock:
            later = self.clock() + self.config.failure_seconds
            if not result:
                self._down_until = later
                return
            for id in ids:
                if id in result[0]:
                    self._known[id, language] = result[0][id]
                else:
                    self._absent[id] = later
            for kept in (self._known, self._absent):
                while len(kept) > self.config.cached:
                    kept.popitem(last=False)


def wikidata_id(iri: str) -> str | None:
    """The id in a link to Wikidata, None for any other IRI."""
    match = _LINK.fullmatch(iri)
    return match[1] if match else None


def links_of(release: Release, reads: Sequence[Read], limit: int) -> dict[str, tuple[int, int]]:
    """The first ``limit`` ids that retrieved entities link to: id -> (number of the source, entity)."""
    found: dict[str, tuple[int, int]] = {}
    for read in reads:
        for entity in read.headers:
            ids = (wikidata_id(link.iri) for link in release.graph.links(entity) if link.kind == "wikidata")
            for id in ids:
                if len(found) < limit and id is not None:
                    found.setdefault(id, (read.n, entity))
    return found


def images_of(
    release: Release, entities: Sequence[int], texts: WikidataTexts, language: str
) -> dict[int, tuple[str, ...]]:
    """Addresses of pictures (P18) of those entities that link to items which ``texts`` keeps; nothing is asked."""
    found: dict[int, tuple[str, ...]] = {}
    for entity in entities:
        links = [wikidata_id(link.iri) for link in release.graph.links(entity) if link.kind == "wikidata"]
        kept = texts.known([id for id in links if id is not None], language).values()
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
    links = links_of(release, reads, texts.config.entities)
    lines: list[ContextLine] = []
    seen: set[int] = set()
    for id, entity in texts.texts(list(links), analysis.reading.language).items():
        n, node = links[id]
        text = text_of(entity, texts.config)
        if text and pay([text], budgets, frame=() if n in seen else frame("wikidata", n)):
            seen.add(n)
            lines.append(ContextLine(text, Kind.WIKIDATA, n, (node,)))
    return tuple(lines)
