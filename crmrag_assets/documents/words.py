"""Untrusted text made fit for one line of a document."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

_SPACE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_HIDDEN = re.compile(r"[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ud800-\udfff]")
SLUG_CHARACTERS = 60  # of a file name; with the hash and the suffix below every file system's 255 bytes


def clean(text: str) -> str:
    """Text on one line: control characters, line ends and runs of space become one space, direction marks go.

    A label cannot so begin a line of its own, nor show other text than it holds.
    """
    return _SPACE.sub(" ", _HIDDEN.sub("", text)).strip()


def shorten(text: str, characters: int) -> str:
    """At most so many characters, cut at a word where one ends in the last fifth, with an ellipsis."""
    if len(text) <= characters:
        return text
    cut = text[: characters - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space >= characters * 4 // 5 else cut).rstrip(" ,;:.") + "…"


def same(text: str) -> str:
    """What two spellings of a name have in common: case and space do not count."""
    return unicodedata.normalize("NFC", clean(text)).casefold()


def distinct(texts: Iterable[str]) -> list[str]:
    """The first of each group of texts that are the same, non-empty."""
    first: dict[str, str] = {}
    for text in texts:
        if text:
            first.setdefault(same(text), text)
    return list(first.values())


def file_name(label: str, iri: str) -> str:
    """A file name for an entity: its label in plain letters and a short hash of its IRI, which keeps names apart."""
    plain = "".join(c for c in unicodedata.normalize("NFKC", label) if c.isalnum() or c in " -_")
    slug = (
        "-".join(plain.split())
        .lower()
        .encode()[: SLUG_CHARACTERS * 2]
        .decode(errors="ignore")[:SLUG_CHARACTERS]
    )
    slug = slug.strip("-_")
    digest = hashlib.sha256(iri.encode()).hexdigest()[:12]
    return f"{slug}-{digest}.md" if slug else f"{digest}.md"
