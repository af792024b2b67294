"""The spool gives back what was put in, by bucket."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from crmrag_assets.harvest import spool
from crmrag_assets.harvest.report import Tally
from crmrag_assets.harvest.spool import SpoolWriter, read_buckets
from crmrag_assets.harvest.triples import COLUMNS
from crmrag_query.artifacts.manifest import bucket_of
from crmrag_query.errors import BuildError
from tests.support.harvests import row_of

OBJECTS = "<http://x/{}0>", '"{}"@en-gb', '"{}"^^<http://www.w3.org/2001/XMLSchema#gYear>', '"plain"'
NT = "".join(
    f"<http://x/{n}> <http://p/{n % 3}> {text.format(n)} .\n" for n in range(200) for text in OBJECTS
)
QUADS = list(ox.parse(NT, format=ox.RdfFormat.N_TRIPLES))


def written(folder: Path, portions: list[list[ox.Quad]]) -> tuple[Tally, list[ox.Quad]]:
    tally = Tally()
    writer = SpoolWriter(folder, tally)
    blank = [quad for portion in portions for quad in writer.add(portion)]
    writer.close()
    return tally, blank


def rows(folder: Path, buckets: range) -> list[tuple[Any, ...]]:
    return read_buckets(folder, buckets).select(*COLUMNS).rows()


@pytest.mark.parametrize("portion", [7, 1000])
def test_every_term_comes_back_in_its_bucket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, portion: int
) -> None:
    monkeypatch.setattr(spool, "ROWS", 50)
    written(tmp_path, [QUADS[start : start + portion] for start in range(0, len(QUADS), portion)])
    assert sorted(rows(tmp_path, range(256))) == sorted(map(row_of, QUADS))
    for first in range(0, 256, 64):
        found = rows(tmp_path, range(first, first + 64))
        wanted = [row_of(quad) for quad in QUADS if first <= bucket_of(quad.subject.value) < first + 64]
        assert sorted(found) == sorted(wanted)


def test_an_empty_spool_reads_as_nothing(tmp_path: Path) -> None:
    written(tmp_path, [])
    assert rows(tmp_path, range(256)) == []


def test_what_cannot_be_held_is_handed_back_or_counted(tmp_path: Path) -> None:
    text = (
        "_:a <http://p> <http://x> _:g .\n<http://x> <http://p> <http://y> _:g .\n"
        '<http://x> <http://p> <<( <http://x> <http://p> "1" )>> .\n<http://x> <http://p> <http://y> <http://g> .\n'
    )
    tally, blank = written(tmp_path, [list(ox.parse(text, format=ox.RdfFormat.N_QUADS))])
    assert [str(quad) for quad in blank] == ["_:a <http://p> <http://x>"]
    assert sum(tally.skipped.values()) == 1 and tally.anonymous == 2
    assert sorted(row[-1] for row in rows(tmp_path, range(256))) == ["", "http://g"]


def test_an_unfinished_spool_is_an_error(tmp_path: Path) -> None:
    SpoolWriter(tmp_path, Tally()).add(QUADS)
    with pytest.raises(BuildError, match="no finished discovery"):
        read_buckets(tmp_path, range(256))
