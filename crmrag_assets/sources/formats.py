"""Which RDF format a file holds: by its extension, or by its first bytes where that says too little."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pyoxigraph as ox

from crmrag_assets.sources.streams import EXTENSIONS, ByteStream
from crmrag_query.errors import SourceError

HEAD = 1 << 16  # bytes looked at


@dataclass(frozen=True, slots=True)
class Format:
    """A format: what we call it, its parser, and whether each line stands alone."""

    name: str
    parser: ox.RdfFormat
    lines: bool = False


N_TRIPLES = Format("N-Triples", ox.RdfFormat.N_TRIPLES, lines=True)
N_QUADS = Format("N-Quads", ox.RdfFormat.N_QUADS, lines=True)
TURTLE = Format("Turtle", ox.RdfFormat.TURTLE)
TRIG = Format("TriG", ox.RdfFormat.TRIG)
RDF_XML = Format("RDF/XML", ox.RdfFormat.RDF_XML)
JSON_LD = Format("JSON-LD", ox.RdfFormat.JSON_LD)

# .rdf, .owl, .rdfs and .xml are used for several formats: there, content decides
BY_EXTENSION = {
    ".nt": N_TRIPLES,
    ".ntriples": N_TRIPLES,
    ".nq": N_QUADS,
    ".nquads": N_QUADS,
    ".ttl": TURTLE,
    ".turtle": TURTLE,
    ".trig": TRIG,
    ".jsonld": JSON_LD,
    ".json": JSON_LD,
}

_XML = re.compile(r"<(\?xml|!DOCTYPE|!--|(\w+:)?RDF\b)")
_JSON = re.compile(r'(\[\s*)?\{\s*("|\})')
_DIRECTIVE = re.compile(r"^\s*@?(prefix|base)\b", re.IGNORECASE | re.MULTILINE)
_LINE = re.compile(
    r'(<[^>\s]*>|_:\S+)\s+<[^>\s]*>\s+(<[^>\s]*>|_:\S+|".*"\S*)(\s+(<[^>\s]*>|_:\S+))?\s*\.\s*(#.*)?'
)
_STATEMENT = re.compile(r"\s*(<[^>\s]*>|[\w.-]*:\S+|\[)\s+\S+")
_GRAPH = re.compile(r"(^|[>\w:])\s*\{", re.MULTILINE)
_STRING = re.compile(r'"[^"\n]*"')


def format_of(path: Path) -> Format:
    """Format of a file, plain or compressed; raises SourceError when neither name nor content tells."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in EXTENSIONS:
        suffixes.pop()
    known = BY_EXTENSION.get(suffixes[-1]) if suffixes else None
    found = known or sniff(head_of(path))
    if found is None:
        names = ", ".join(sorted(BY_EXTENSION))
        raise SourceError(f"{path} is in no RDF format we know.", f"Name it by its format: {names} or .rdf.")
    return found


def head_of(path: Path) -> str:
    """The first 64 KiB of a file as text, without byte order mark."""
    with ByteStream(path) as stream:
        return (stream.read(HEAD) + stream.read(HEAD))[:HEAD].decode("utf-8", "replace")


def sniff(head: str) -> Format | None:
    """Format that a file starting with ``head`` is in; None when it looks like no RDF."""
    text = head.lstrip()
    if _XML.match(text):
        return RDF_XML
    if _JSON.match(text):
        return JSON_LD
    lines = [line.strip() for line in text.splitlines()]
    stated = [line for line in lines if line and not line.startswith("#")]
    if stated and _LINE.fullmatch(stated[0]):
        return N_QUADS  # every N-Triples file is an N-Quads file
    plain = _STRING.sub('""', "\n".join(stated))
    if _DIRECTIVE.search(plain) or _STATEMENT.match(plain):
        return TRIG if _GRAPH.search(plain) else TURTLE
    return None
