"""What a change of a file does not speak of stays as it is: the same rows, the same bytes of its chunk."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_assets.harvest.prefetch import TRIPLES_FILE
from crmrag_assets.harvest.spool import Skolemiser
from crmrag_assets.sources.rdf.kind import RdfFiles
from crmrag_query.artifacts.manifest import chunk_of
from crmrag_query.config import load_method
from tests.support.harvests import files_of, harvested

BITS = 2
CRM = "http://www.cidoc-crm.org/cidoc-crm/"
P = [ox.NamedNode(f"{CRM}P{code}") for code in ("1_is_identified_by", "2_has_type", "3_has_note")]
NAMED = [ox.NamedNode(f"http://example.org/{number}") for number in range(12)]
WORDS = [ox.Literal(text) for text in ("a", "b", 'two "words"\nand more')]


def stated(label: str, named: list[ox.NamedNode]) -> st.SearchStrategy[list[ox.Quad]]:
    """Triples about some named nodes, and blank nodes of their own."""
    blank = [ox.BlankNode(f"{label}{number}") for number in range(5)]
    return st.lists(
        st.builds(
            ox.Quad,
            st.sampled_from([*named, *blank]),
            st.sampled_from(P),
            st.sampled_from([*NAMED, *blank, *blank, *WORDS]),
        ),
        min_size=1,
        max_size=20,
    )


def read(
    folder: Path, quads: list[ox.Quad], seed: int, extension: str
) -> tuple[dict[str, bytes], pl.DataFrame]:
    """The bytes of each chunk of a file that states the triples in some order, and all rows."""
    folder.mkdir()
    path = folder / f"data.{extension}"
    mixed = random.Random(seed).sample(quads, len(quads))
    ox.serialize(mixed, path, format=ox.RdfFormat.from_extension(extension))
    _, chunks = harvested(RdfFiles((path,), load_method()), folder / "d", BITS)
    rows = pl.concat(pl.DataFrame(table).cast(pl.String) for table, _ in chunks.values())
    written = files_of(chunks, folder / "w")
    return {key: written[f"{key}/{TRIPLES_FILE}"] for key in chunks}, rows


def subjects(quads: list[ox.Quad]) -> set[str]:
    """Named subjects, and the names of blank ones, as these triples alone give them."""
    blank = [quad for quad in quads if ox.BlankNode in (type(quad.subject), type(quad.object))]
    plain = [quad for quad in quads if quad not in blank]
    return {str(quad.subject.value) for quad in [*plain, *Skolemiser().named(blank)]}


@pytest.mark.parametrize("extension", ["nt", "ttl"])
@settings(max_examples=25)
@given(
    kept=stated("k", NAMED[:8]),
    before=stated("b", NAMED[6:]),
    after=stated("a", NAMED[6:]),
    seed=st.integers(0, 1000),
)
def test_only_chunks_that_a_change_speaks_of_change(
    tmp_path_factory: pytest.TempPathFactory, extension: str, kept: list[ox.Quad], before: list[ox.Quad],
    after: list[ox.Quad], seed: int,
) -> None:  # fmt: skip
    folder = tmp_path_factory.mktemp("changed")
    first, old = read(folder / "old", kept + before, 0, extension)
    second, new = read(folder / "new", kept + after, seed, extension)
    spoken_of = subjects(before) | subjects(after)
    for subject in subjects(kept) - spoken_of:
        mine = pl.col("s") == subject
        assert len(old.filter(mine)) and old.filter(mine).equals(new.filter(mine))
    dirty = {chunk_of(subject, 1 << BITS) for subject in spoken_of}
    assert {key for key in first if first[key] != second[key]} <= dirty
