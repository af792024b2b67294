"""IRIs that a lenient parser let through: repaired where only characters are wrong, else left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

import pyoxigraph as ox

from crmrag_assets.harvest.report import Tally
from crmrag_query.config.types import FORBIDDEN_IN_IRI

_HOST = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")
_ASTRAY = re.compile(r"[\[\]]|%(?![0-9A-Fa-f]{2})")


def repaired(quads: Iterable[ox.Quad], tally: Tally) -> Iterator[ox.Quad]:
    """The quads with valid IRIs; what was repaired or had to be left out is counted."""
    for quad in quads:
        try:
            yield repair(quad, tally)
        except ValueError:
            tally.skipped["relative or invalid IRI"] += 1


def repair(quad: ox.Quad, tally: Tally) -> ox.Quad:
    """The quad, characters that IRIs may not hold percent-encoded; raises ValueError where that is not enough."""
    s, p, o, g = quad
    valid = ox.Quad(_valid(s), _valid(p), _valid(o), _valid(g))
    tally.repaired += valid != quad
    return valid


def valid_iri(iri: str) -> ox.NamedNode:
    """The IRI, characters that it may not hold percent-encoded; raises ValueError where that is not enough."""
    text = FORBIDDEN_IN_IRI.sub(lambda found: quote(found[0]), iri)
    try:
        return ox.NamedNode(text)
    except ValueError:  # brackets beside those of a host, and percent signs that encode nothing
        start = _HOST.match(text)
        head, rest = (start[0], text[start.end() :]) if start else ("", text)
        return ox.NamedNode(head + _ASTRAY.sub(lambda found: quote(found[0]), rest))


def _valid(term: Any) -> Any:
    if isinstance(term, ox.NamedNode):
        return valid_iri(term.value)
    if isinstance(term, ox.Literal) and term.language is not None:
        return ox.Literal(term.value, language=term.language)
    if isinstance(term, ox.Literal):
        return ox.Literal(term.value, datatype=_valid(term.datatype))
    return term
