"""What a release has in PostgreSQL (`crmrag postgres publish`), searched there: by meaning, by words, by name.

Only what is found is read, by parameterised SQL, in sessions that can write nothing. Where the database is, the environment
says (``CRMRAG_POSTGRES``, else libpq's own variables), never a release. Entities have the numbers of their nodes: what is
found there can be read on in the release.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from crmrag_query.artifacts.release import Release
from crmrag_query.documents.documents import Documents
from crmrag_query.errors import MissingExtraError, ReleaseError, StoreUnreachable
from crmrag_query.graph.arrays import Ints
from crmrag_query.linking import SPELLING, rough, words_of
from crmrag_query.retrieval.scores import Hits
from crmrag_query.text import tokenize

if TYPE_CHECKING:
    import psycopg
    from psycopg_pool import ConnectionPool

VARIABLE: Final = "CRMRAG_POSTGRES"
# Connections of a process; seconds that a query may take, and that a free connection is waited for.
CONNECTIONS, SECONDS, WAIT = 10, 30, 5.0
SESSION: Final = f"-c default_transaction_read_only=on -c statement_timeout={SECONDS}s -c enable_sort=off"
"""The last, as the planner overrates the costs of an index of vectors: where one can order, nothing else does."""
# Vectors up to which all are compared, which finds all: 0.5 to 0.65 µs of the processor for each, so that a search stays
# below a tenth of a second. By the index it would be sooner from 25,000 on.
EXACT = 100_000
EF = 1000  # vectors that the index looks at (hnsw.ef_search): the most that pgvector allows, for its recall
# Rows that are looked at for a query's words, the rarest words and the most important rows first.
POSTINGS = 2000
RANKED = 300  # of these, the rows that are ranked
NAMES = 300  # names that are compared, the most important first
ALIKE = 0.4  # likeness from which a name counts; ours
LONGEST = 100_000  # characters of folded words that are searched of a text: PostgreSQL refuses more than 1 MB
Floats = npt.NDArray[np.float32]


def comparable(name: str) -> str:
    """A name as names are compared: folded, in Latin letters."""
    return " ".join(words_of(name))[:300]


def sounds(name: str) -> list[str]:
    """What spellings of each of its words share, each once."""
    return list(dict.fromkeys(rough(word, SPELLING.shortest) for word in words_of(name)))


def searchable(text: str) -> str:
    """The words of a text as they are searched, in its order."""
    return " ".join(tokenize(text))[:LONGEST]


@dataclass(frozen=True, eq=False)
class Among:
    """Which entities are searched: all, those of a Fundamental Category, those of ``nodes``."""

    category: str = ""
    nodes: Ints | None = None

    @property
    def narrow(self) -> bool:
        return bool(self.category) or self.nodes is not None


EVERYWHERE: Final = Among()


@dataclass(frozen=True, slots=True)
class Row:
    """A row that a search found: its number, that of the entity to which it leads, and what was measured."""

    number: int
    home: int
    score: float


_AMONG: Final = """(%(category)s = '' OR {home}.category = %(category)s)
  AND (%(ids)s::bigint[] IS NULL OR {home}.entity_id = ANY(%(ids)s))"""


@dataclass(frozen=True)
class Table:
    """How a table is searched: its key, to which entity a row leads, which of equal rows comes first, what a search of some
    entities alone adds."""

    name: str
    key: str
    home: str
    importance: str
    joined: str = ""
    narrowed: str = ""


ENTITIES: Final = Table("entities", "entity_id", "t.entity_id", "t.importance", "", _AMONG.format(home="t"))
PASSAGES: Final = Table(
    "passages", "passage_id", "t.home_id", "0", "JOIN graph.entities e ON e.entity_id = t.home_id", _AMONG.format(home="e")
)  # fmt: skip
COMMUNITIES: Final = Table(
    "communities", "community_id", "t.community_id", "cardinality(t.entity_ids)", "", "t.level = %(level)s"
)
Word = tuple[str, int, float]
"""A word that the data has, the number of rows that do, and its weight."""
# The second adds nothing, and hides the distance from the index.
_DENSE: Final = """
SELECT t.{key}, {home}, 1 - (t.search_embedding <=> %(vector)s::vector) FROM {source}
AND t.search_embedding IS NOT NULL ORDER BY (t.search_embedding <=> %(vector)s::vector){exact} LIMIT %(limit)s"""
_MATCHED: Final = """(SELECT t.{key} AS number, {home} AS home, {importance} AS importance, %(weight{at})s::real AS weight
  FROM {source} AND t.search_tsv @@ plainto_tsquery('simple', %(word{at})s) LIMIT %(postings)s)"""
_RANKED: Final = """
WITH matched AS (
  SELECT number, home, importance FROM ({matched}) AS hits
  GROUP BY number, home, importance ORDER BY sum(weight) DESC, importance DESC, number LIMIT %(ranked)s)
SELECT m.number, m.home, (
  SELECT sum(w.weight * n.times * (%(k1)s + 1) / (n.times + %(k1)s * (1 - %(b)s + %(b)s * length(s.text) / %(length)s)))
  FROM unnest(%(words)s::text[], %(weights)s::real[]) AS w(word, weight) CROSS JOIN LATERAL (
    SELECT (length(s.text) - length(replace(s.text, ' ' || w.word || ' ', ' ')))::real / (length(w.word) + 1) AS times
  ) AS n) AS score
FROM matched m JOIN graph.{name} t ON t.{key} = m.number
CROSS JOIN LATERAL (SELECT ' ' || t.search_text || ' ' AS text OFFSET 0) AS s
ORDER BY score DESC, m.importance DESC, m.number LIMIT %(limit)s"""
_WORDS: Final = """
SELECT word, rows, weight FROM graph.words
WHERE release = %(release)s AND of_names = %(of_names)s AND word = ANY(%(words)s) ORDER BY rows, word"""
_NAMED: Final = """
SELECT n.entity_id, n.name, n.words, n.weight, e.importance FROM (
  (SELECT entity_id, name, words, weight FROM graph.names
   WHERE release = %(release)s AND name = %(name)s LIMIT %(names)s)
  UNION ALL
  (SELECT entity_id, name, words, weight FROM graph.names
   WHERE release = %(release)s AND {alike} LIMIT %(names)s)
) AS n JOIN graph.entities e USING (entity_id) WHERE %(category)s = '' OR e.category = %(category)s"""


@cache
def pool_of(address: str) -> ConnectionPool[psycopg.Connection[tuple[Any, ...]]]:
    """The connections of this process to a database: read only, opened when they are first needed."""
    try:
        from psycopg_pool import ConnectionPool
    except ImportError as error:
        raise MissingExtraError("Searching in PostgreSQL", "postgres", str(error.name)) from error

    def configure(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
        connection.execute("SELECT set_config('hnsw.ef_search', %s, false)", [str(EF)])
        found = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
        if found and is_iterative(found[0]):
            connection.execute("SELECT set_config('hnsw.iterative_scan', 'strict_order', false)")

    # Never prepared: only a plan that knows which release is asked uses the indexes of that release.
    options = {
        "options": SESSION,
        "autocommit": True,
        "prepare_threshold": None,
        "connect_timeout": int(WAIT),
    }
    return ConnectionPool(
        address, min_size=0, max_size=CONNECTIONS, timeout=WAIT, kwargs=options, configure=configure, open=True,
        reconnect_timeout=WAIT,
    )  # fmt: skip


def is_iterative(version: str) -> bool:
    """Whether a version of pgvector goes on in its index until a filter leaves enough: from 0.8 on."""
    return tuple(map(int, version.split(".")[:2])) >= (0, 8)


@dataclass(frozen=True)
class Database:
    """The rows of one release. ``metadata``: what was written of it as a whole; ``first``: the number of its first node."""

    release: Release
    address: str
    metadata: Mapping[str, Any]
    iterative: bool
    similar: bool

    @classmethod
    def from_release(cls, release: Release) -> Database:
        """Raises StoreUnreachable; ReleaseError where the database does not hold the release; MissingExtraError."""
        database = cls(release, os.environ.get(VARIABLE, ""), {}, False, False)
        there = database.rows("SELECT to_regclass('graph.releases') IS NOT NULL")[0][0]
        found = there and database.rows(
            """SELECT metadata, (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
              EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm')
            FROM graph.releases WHERE release = %(release)s"""
        )
        if not found:
            raise ReleaseError(
                f"The database that {VARIABLE} names does not hold release {release.id} of {release.manifest.dataset}.",
                f"Publish it there: crmrag postgres publish {release.manifest.dataset}",
            )
        ((metadata, version, similar),) = found
        return cls(release, database.address, metadata, is_iterative(version), similar)

    @property
    def first(self) -> int:
        return int(self.metadata["first"])

    def rows(self, query: str, /, **given: Any) -> list[tuple[Any, ...]]:
        """The rows of a query; ``release`` is among its parameters."""
        import psycopg

        given["release"] = self.release.id
        try:
            with pool_of(self.address).connection() as connection:
                try:
                    return connection.execute(query, given).fetchall()
                except psycopg.OperationalError:
                    if not connection.closed:
                        raise
            # The server had closed that connection: another one may do.
            with pool_of(self.address).connection() as connection:
                return connection.execute(query, given).fetchall()
        except (psycopg.OperationalError, psycopg.errors.InsufficientPrivilege) as error:
            raise StoreUnreachable(
                f"The database of the search store does not answer ({type(error).__name__}).",
                f"Look whether it runs and what {VARIABLE} says; without it, searches read the release: "
                "unset CRMRAG_STORE.",
            ) from error

    def dense(
        self, table: Table, vector: Floats, limit: int, among: Among = EVERYWHERE, level: int | None = None
    ) -> list[Row]:
        """The rows of a table nearest to a vector of length 1, with their cosines."""
        size, narrow = self._size(table, among), among.narrow or level is not None
        exact = size <= EXACT or (narrow and not self.iterative)
        found = self._nearest(table, vector, limit, among, level, exact)
        if not exact and len(found) < min(limit, size):  # the filter left less than the index looked at
            found = self._nearest(table, vector, limit, among, level, True)
        return found

    def _nearest(
        self, table: Table, vector: Floats, limit: int, among: Among, level: int | None, exact: bool
    ) -> list[Row]:
        source = _source(table, among.narrow or level is not None)
        query = _DENSE.format(key=table.key, home=table.home, source=source, exact=" + 0" if exact else "")
        return [
            Row(*row)
            for row in self.rows(query, **self._given(among, level), vector=str(vector.tolist()), limit=limit)
        ]

    def words_of(self, text: str) -> list[Word]:
        """The words of a text that the data has, the rarest first."""
        return self._known(tokenize(text), False)

    def words(
        self,
        table: Table,
        asked: Sequence[Word],
        limit: int,
        among: Among = EVERYWHERE,
        level: int | None = None,
    ) -> list[Row]:
        """The rows of a table that hold words that are asked for, by BM25, as far as they hold the rarest of these."""
        left, rare = POSTINGS, list[int]()
        for at, (_, rows, _) in enumerate(asked):
            left -= rows
            if not rare or left >= 0:
                rare.append(at)
        if not rare:
            return []
        source = _source(table, among.narrow or level is not None)
        parts = {"key": table.key, "home": table.home, "importance": table.importance, "source": source}
        matched = " UNION ALL ".join(_MATCHED.format(at=at, **parts) for at in rare)
        given: dict[str, Any] = {f"word{at}": asked[at][0] for at in rare} | {
            f"weight{at}": asked[at][2] for at in rare
        }
        given |= {"words": [one[0] for one in asked], "weights": [one[2] for one in asked]}
        sparse, length = self.release.method.sparse, self.metadata["length"][table.name]
        given |= {"k1": sparse.k1, "b": sparse.b, "length": length, "postings": POSTINGS}
        query = _RANKED.format(matched=matched, name=table.name, key=table.key)
        return [
            Row(*row)
            for row in self.rows(query, **self._given(among, level), **given, ranked=RANKED, limit=limit)
        ]

    def named(self, text: str, limit: int, category: str = "") -> list[int]:
        """Entities with a name like a text: the share of weight that its words and the name's have in common."""
        name, spoken = comparable(text), sounds(text)
        known = {word: weight for word, _, weight in self._known(spoken, True)}
        given = {"name": name, "category": category, "names": NAMES}
        found = (
            self.rows(_NAMED.format(alike="words && %(words)s"), **given, words=[*known][:8]) if known else []
        )
        if not found and self.similar and name:
            found = self.rows(_NAMED.format(alike="%(name)s <%% name"), **given)
            return list(dict.fromkeys(row[0] for row in sorted(found, key=lambda row: (-row[4], row[0]))))[
                :limit
            ]
        score: dict[int, tuple[float, float]] = {}
        for entity, own, words, weight, importance in found:
            shared = sum(known.get(word, 0.0) for word in words)
            like = 1.0 if own == name else 0.99 * 2 * shared / (weight + sum(known.values()))
            score[entity] = max(score.get(entity, (0.0, 0.0)), (like, importance))
        best = sorted(score.items(), key=lambda one: (-one[1][0], -one[1][1], one[0]))
        return [entity for entity, (like, _) in best[:limit] if like >= ALIKE]

    def _known(self, words: Sequence[str], of_names: bool) -> list[Word]:
        found = self.rows(_WORDS, words=list(dict.fromkeys(words)), of_names=of_names) if words else []
        return [(word, rows, weight) for word, rows, weight in found]

    def _given(self, among: Among, level: int | None) -> dict[str, Any]:
        ids = None if among.nodes is None else (among.nodes.astype(np.int64) + self.first).tolist()
        return {"category": among.category, "ids": ids, "level": level}

    def _size(self, table: Table, among: Among) -> int:
        """How many vectors are compared, at most."""
        if table is ENTITIES and among.nodes is not None:
            return len(among.nodes)
        if table is ENTITIES:
            vectors = self.metadata["vectors"]
            return int(vectors.get(among.category, 0) if among.category else sum(vectors.values()))
        return int(self.metadata["rows"][table.name])

    def nearest(self, vector: Floats, limit: int, among: Among = EVERYWHERE) -> dict[int, float]:
        """The entities whose documents, or passages that lead to these, are nearest to a vector, with their cosines, best
        first."""
        return _best([self.dense(table, vector, limit, among) for table in self._searched], limit)

    def holding(self, text: str, limit: int, among: Among = EVERYWHERE) -> dict[int, float]:
        """The entities whose documents, or passages that lead to these, hold most of the words of a text, best first."""
        asked = self.words_of(text)
        return _best([self.words(table, asked, limit, among) for table in self._searched], limit)

    def among(self, within: npt.NDArray[np.bool_] | None) -> Among:
        """The entities of some documents, bool [documents]; all for None."""
        return EVERYWHERE if within is None else Among(nodes=self.release[Documents].entities[within])

    def documents(self, found: Mapping[int, float]) -> Hits:
        """Entities that were found, best first, as documents of the release: each once, by the best that it tells of."""
        held = self.release[Documents].entity_document
        told = dict[int, float]()
        for entity, score in found.items():
            told.setdefault(int(held[entity - self.first]), score)
        return Hits.of((document, score) for document, score in told.items() if document >= 0)

    @cached_property
    def _searched(self) -> tuple[Table, ...]:
        return (ENTITIES, PASSAGES) if self.metadata["rows"]["passages"] else (ENTITIES,)


def _best(rankings: Sequence[Sequence[Row]], limit: int) -> dict[int, float]:
    """The entities to which rows lead, with the best score of each, best first."""
    score: dict[int, float] = {}
    for row in (row for ranking in rankings for row in ranking):
        score[row.home] = max(score.get(row.home, row.score), row.score)
    return dict(sorted(score.items(), key=lambda one: (-one[1], one[0]))[:limit])


def _source(table: Table, narrow: bool) -> str:
    """What is searched of a table; ``narrow``: of some entities, or of a level, alone."""
    joined, narrowed = (table.joined, f" AND {table.narrowed}") if narrow else ("", "")
    return f"graph.{table.name} t {joined} WHERE t.release = %(release)s{narrowed}"
