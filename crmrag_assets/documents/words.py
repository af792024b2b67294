"""Untrusted text made fit for one line of a document."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

import polars as pl

SPACE = r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+"
HIDDEN = r"[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]"
_SPACE, _HIDDEN = re.compile(SPACE), re.compile(HIDDEN[:-1] + r"\ud800-\udfff]")
SLUG_CHARACTERS = 60  # of a file name; with the hash and the suffix below every file system's 255 bytes


def clean(text: str) -> str:
    """Text on one line: control characters, line ends and runs of space become one space, direction marks go.

    A label cannot so begin a line of its own, nor show other text than it holds.
    """
    return _SPACE.sub(" ", _HIDDEN.sub("", text)).strip()


def clean_all(texts: pl.Series) -> pl.Series:
    """`clean` of each text."""
    return texts.str.replace_all(HIDDEN, "").str.replace_all(SPACE, " ").str.strip_chars(" ")


def shorten(text: str, characters: int) -> str:
    """At most so many characters, cut at a word where one ends in the last fifth, with an ellipsis."""
    if len(text) <= characters:
        return text
    cut = text[: characters - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space >= characters * 4 // 5 else cut).rstrip(" ,;:.") + "…"


def shorten_all(texts: pl.Series, characters: int) -> pl.Series:
    """`shorten` of each text; few are longer."""
    long = (texts.str.len_chars() > characters).arg_true()
    cut = [shorten(text, characters) for text in texts.gather(long).to_list()]
    return texts.clone().scatter(long, pl.Series(cut, dtype=pl.String)) if cut else texts


def same(text: str) -> str:
    """What two spellings of a name have in common: case and space do not count."""
    return unicodedata.normalize("NFC", clean(text)).casefold()


def same_all(texts: pl.Series) -> pl.Series:
    """`same` of each text that is clean already."""
    return pl.Series([text.casefold() for text in texts.str.normalize("NFC").to_list()], dtype=pl.String)


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
