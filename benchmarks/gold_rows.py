"""Rows of gold queries, made once by pyoxigraph over the data and kept: a whole table takes it seconds each time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from crmrag_query.artifacts.manifest import sha256_file

ROWS = 1 << 16  # at a time


class GoldRows:
    """Tables of SELECT queries over one N-Triples file (plain or .zst), kept in ``cache`` by data and query."""

    def __init__(self, data: Path, cache: Path) -> None:
        self.data, self.cache = data, cache
        self._sha = sha256_file(data)
        self._store: Any = None

    def columns(self, query: str) -> list[list[str]]:
        """The query's table column by column: IRIs, and of literals the text; "" where nothing is bound."""
        key = hashlib.sha256(f"{self._sha}\n{query}".encode()).hexdigest()[:20]
        file = self.cache / f"{key}.parquet"
        if not file.exists():
            self.cache.mkdir(parents=True, exist_ok=True)
            pq.write_table(self._table(query), file)
        table = pq.read_table(file)
        return [column.to_pylist() for column in table.columns]

    def _table(self, query: str) -> pa.Table:
        found = self._opened().query(query)
        names = [variable.value for variable in found.variables]
        batches = [
            pa.record_batch([pa.array(column) for column in zip(*rows, strict=True)], names)
            for rows in _blocks(found, len(names))
        ]
        return pa.Table.from_batches(batches, pa.schema([(name, pa.string()) for name in names]))

    def _opened(self) -> Any:
        if self._store is None:
            from pyoxigraph import RdfFormat, Store

            self._store = Store()
            with pa.input_stream(str(self.data), compression="detect") as stream:
                self._store.bulk_load(input=stream.read(), format=RdfFormat.N_TRIPLES)
        return self._store


def _blocks(found: Any, width: int) -> Iterator[Sequence[tuple[str, ...]]]:
    rows: list[tuple[str, ...]] = []
    for solution in found:
        terms = (solution[place] for place in range(width))
        rows.append(tuple(getattr(term, "value", str(term)) if term is not None else "" for term in terms))
        if len(rows) == ROWS:
            yield rows
            rows = []
    if rows:
        yield rows
