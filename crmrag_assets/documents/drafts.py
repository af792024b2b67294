"""Lines before they have a place in a text: a table with a row for each, filled section by section; and untrusted text made
fit for one line of a document."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from crmrag_query.documents.documents import HEADER, NOTE
from crmrag_query.graph.arrays import Ints, Longs

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


def capital(text: str) -> str:
    """The text with its first letter as a line begins with it."""
    return text[:1].upper() + text[1:]


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
    encoded = "-".join(plain.split()).lower().encode()[: SLUG_CHARACTERS * 2]
    slug = encoded.decode(errors="ignore")[:SLUG_CHARACTERS].strip("-_")
    digest = hashlib.sha256(iri.encode()).hexdigest()[:12]
    return f"{slug}-{digest}.md" if slug else f"{digest}.md"


DRAFTS: Final[dict[str, pl.DataType]] = {
    "doc": pl.Int32(),  # place of the document among those written together
    "kind": pl.UInt8(),
    "key": pl.String(),
    "label": pl.String(),
    "body": pl.String(),
    "total": pl.Int32(),  # number of targets, or of values
    "targets": pl.List(pl.Int32),  # all that the line states, ascending
}
"""A line reads ``label: body``; a header and a note are their body."""
NONE = pl.lit([], dtype=pl.List(pl.Int32))


def drafts(
    doc: Ints,
    kind: int | npt.NDArray[np.uint8],
    key: str | pl.Series,
    label: str | pl.Series,
    body: pl.Series,
    total: npt.NDArray[np.integer],
    targets: pl.Series | None = None,
) -> pl.DataFrame:
    """Lines of schema DRAFTS from columns; a single value stands for all of them, no ``targets`` for none."""
    columns = {"kind": kind, "key": key, "label": label}
    frame = pl.DataFrame({"doc": doc, "body": body, "total": total})
    whole = frame.with_columns(
        pl.lit(value).alias(name) if isinstance(value, (str, int)) else pl.Series(name, value)
        for name, value in columns.items()
    )
    whole = whole.with_columns(NONE.alias("targets") if targets is None else targets.alias("targets"))
    return whole.select(pl.col(name).cast(kind) for name, kind in DRAFTS.items())


def no_drafts() -> pl.DataFrame:
    return pl.DataFrame(schema=DRAFTS)


def lists(ptr: Longs, values: Ints) -> pl.Series:
    """A series of lists: row i holds ``values[ptr[i]:ptr[i+1]]``."""
    array = pa.LargeListArray.from_arrays(pa.array(ptr, pa.int64()), pa.array(values, pa.int32()))
    return pl.Series(pl.from_arrow(array), dtype=DRAFTS["targets"])


def coded(texts: pl.Series) -> tuple[Ints, pl.Series]:
    """Numbers of texts, equal for equal ones, and the distinct texts that they number."""
    encoded = texts.to_arrow().dictionary_encode()
    return encoded.indices.to_numpy().astype(np.int32), pl.Series(
        pl.from_arrow(encoded.dictionary), dtype=pl.String
    )


def enumerate_all(
    line: Ints,
    name: Ints,
    pool: pl.Series,
    total: npt.NDArray[np.integer],
    limit: npt.NDArray[np.integer] | int,
) -> pl.Series:
    """``a; b ×3; c and 7 more`` for each line 0 … l-1: equal names once with their number, at most ``limit`` names, and how
    many of ``total`` [l] are left.

    The names are ``pool[name[i]]`` of ``line[i]`` (ascending) in order; equal names have equal numbers. They may stop short
    of the total; what was not looked at counts as more.
    """
    if not len(total):
        return pl.Series([], dtype=pl.String)
    lines = pl.DataFrame({"line": np.arange(len(total), dtype=np.int32), "total": total, "limit": limit})
    rows = pl.DataFrame({"line": line, "name": name}, schema={"line": pl.Int32, "name": pl.Int32})
    counted = rows.group_by("line", "name", maintain_order=True).agg(count=pl.len())
    limits = lines["limit"].gather(counted["line"])
    first = counted.filter(pl.int_range(pl.len()).over("line") < limits)
    text = pool.gather(first["name"])
    times = pl.when(pl.col("count") > 1).then(pl.format("{} ×{}", text, "count")).otherwise(text)
    named = first.select("line", "count", text=times).group_by("line", maintain_order=True)
    bodies = named.agg(pl.col("text").str.join("; "), pl.col("count").sum())
    whole = lines.join(bodies, on="line", how="left", maintain_order="left")
    rest = pl.col("total").cast(pl.Int64) - pl.col("count").fill_null(0).cast(pl.Int64)
    body = pl.col("text").fill_null("")
    return whole.select(
        pl.when(rest > 0).then(pl.format("{} and {} more", body, rest)).otherwise(body)
    ).to_series()


def texts_of(lines: pl.DataFrame) -> pl.Series:
    """The text of each line."""
    bare = pl.col("kind").is_in([HEADER, NOTE])
    return lines.select(
        pl.when(bare).then("body").otherwise(pl.concat_str("label", pl.lit(": "), "body"))
    ).to_series()
