"""Small name indexes made of plain names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_assets.indexes.names import Names, write_names
from crmrag_query.config import load_method
from crmrag_query.linking import NameIndex, plain_words, stop_words

METHOD = load_method()
STOP, PLAIN = stop_words(METHOD.questions), plain_words(METHOD.questions)


def names_from(rows: Sequence[tuple[int, str, int]], degrees: Sequence[int] = ()) -> Names:
    """(node, name, kind as in KINDS) rows; of each node how many triples lead to it, 1 when not given."""
    encoded = pc.dictionary_encode(pa.array([row[1] for row in rows], pa.large_utf8()))
    nodes = max((row[0] for row in rows), default=-1) + 1
    degree = np.ones(nodes, np.int32)
    degree[: len(degrees)] = degrees
    columns = [np.array([row[i] for row in rows], np.int32) for i in (0, 2)]
    return Names(encoded.dictionary, columns[0], encoded.indices.to_numpy(), columns[1], degree)


def index_of(out: Path, *names: str | tuple[int, str, int], degrees: Sequence[int] = ()) -> NameIndex:
    """An index in ``out`` of labels, whose nodes are their places, or of (node, name, kind) rows."""
    rows = [(i, name, 0) if isinstance(name, str) else name for i, name in enumerate(names)]
    out.mkdir(parents=True, exist_ok=True)
    write_names(names_from(rows, degrees), STOP, out)
    return NameIndex.open(out)
