"""PostgreSQL with pgvector as a search store: what `crmrag postgres publish` wrote of the release that is open.

Of that the encoder of queries is read, and no more. Neighbourhoods are those of `ReleaseStore`; searches rank by PostgreSQL's
own measure of words, and know less of misspelt names.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from crmrag_query.artifacts.release import Release
from crmrag_query.errors import ReleaseError
from crmrag_query.retrieval.database import COMMUNITIES, PASSAGES, Among, Database
from crmrag_query.retrieval.scores import LITTLE_SHARE, cap, fuse
from crmrag_query.shown import Named, SourceTriple
from crmrag_query.stores.records import (
    Beside,
    Entities,
    GraphCommunity,
    GraphEntity,
    GraphNeighbour,
    GraphPassage,
    Neighbourhood,
    explore,
)
from crmrag_query.stores.release import (
    LOOKED_AT,
    MEMBERS,
    NAMED,
    ReleaseStore,
    category_bit,
    query_vector,
    unknown_entity,
)
from crmrag_query.timing import warn_seldom

_ENTITY = "SELECT entity_id, iri, name, category, description, document_id, degree, minor, metadata FROM graph.entities"
_BESIDE = """
SELECT f.at, e.degree, t.other, t.relationship_id,
  t.source_entity_id, t.target_entity_id, t.iri, t.relationship_type, t.metadata
FROM unnest(%(nodes)s::bigint[]) WITH ORDINALITY AS f(entity_id, at) JOIN graph.entities e USING (entity_id)
LEFT JOIN LATERAL (
  (SELECT *, target_entity_id AS other, source_place AS place, 0 AS way FROM graph.relationships
   WHERE source_entity_id = f.entity_id ORDER BY source_place, iri LIMIT %(most)s)
  UNION ALL
  (SELECT *, source_entity_id, target_place, 1 FROM graph.relationships
   WHERE target_entity_id = f.entity_id ORDER BY target_place, iri LIMIT %(most)s)
  ORDER BY place, iri, way LIMIT %(most)s
) AS t ON true
ORDER BY f.at, t.place, t.iri, t.way"""
_PASSAGE = """
SELECT passage_id, entity_id, label, text, first, last FROM graph.passages WHERE passage_id = ANY(%(ids)s)"""
_COMMUNITY = """
SELECT community_id, stable_id, level, title, summary, cardinality(entity_ids), summary_model, parent, metadata
FROM graph.communities"""
_MEMBERS = """
SELECT m.community_id, e.iri, e.name, e.metadata
FROM unnest(%(ids)s::bigint[]) AS c(community_id) CROSS JOIN LATERAL (
  SELECT community_id, entity_id, place FROM graph.community_members WHERE community_id = c.community_id
  ORDER BY place LIMIT %(most)s
) AS m JOIN graph.entities e USING (entity_id) ORDER BY m.community_id, m.place"""


@dataclass(frozen=True, slots=True)
class _Entity:
    """A row of entities; ``metadata``: its types, names and types in other languages, and of what was read from a page the
    entity whose document tells of it."""

    id: int
    iri: str
    name: str
    category: str
    description: str
    document: str
    degree: int
    minor: bool
    metadata: Mapping[str, Any]


@dataclass(frozen=True)
class PostgresStore:
    """The rows of an open release as a store; ``language``: of names, "" for the data set's first."""

    opened: Release
    language: str = ""

    @property
    def release(self) -> str:
        return self.opened.id

    @cached_property
    def _database(self) -> Database:
        return self.opened[Database]

    def entities(self, query: str, limit: int, category: str = "") -> Entities:
        category_bit(category)
        size, among, database = limit * LOOKED_AT, Among(category), self._database
        vector, note = query_vector(self.opened, query)
        near = database.nearest(vector, size, among) if vector is not None else {}
        by_words = database.holding(query, size, among)
        named = database.named(query, size, category)
        found = fuse([*[named] * NAMED, [*by_words]], [*near], self.opened.manifest.share, size)
        rows = self._entities([one for one, _ in found])
        best = cap(
            [one for one in found if one[0] in rows],
            {one: rows[one].minor for one in rows},
            limit,
            LITTLE_SHARE,
        )
        order = sorted((rows[one] for one, _ in best), key=lambda row: row.minor)
        return Entities(tuple(self._entity(row, near.get(row.id)) for row in order), note)

    def passages(self, query: str, limit: int) -> Sequence[GraphPassage]:
        database = self._database
        vector, _ = query_vector(self.opened, query)
        size = limit * LOOKED_AT
        near = database.dense(PASSAGES, vector, size) if vector is not None else []
        words = [row.number for row in database.words(PASSAGES, database.words_of(query), size)]
        cosine = {row.number: row.score for row in near}
        best = [one for one, _ in fuse([words], [*cosine], self.opened.manifest.share, size)[:limit]]
        rows = {row[0]: row[1:] for row in database.rows(_PASSAGE, ids=best)}
        whose = self._entities([rows[one][0] for one in best])
        found = ((one, *rows[one]) for one in best)
        return tuple(
            GraphPassage(self._named(whose[entity]), label, text, first, last, cosine.get(one))
            for one, entity, label, text, first, last in found
        )

    def communities(self, query: str, level: int, limit: int) -> Sequence[GraphCommunity]:
        self.opened.require("communities")
        database, size, cosine = self._database, LOOKED_AT * limit, dict[int, float]()
        if query.strip():
            vector, _ = query_vector(self.opened, query)
            if vector is not None:
                near = database.dense(COMMUNITIES, vector, size, level=level)
                cosine = {row.number: row.score for row in near}
            holding = database.words(COMMUNITIES, database.words_of(query), size, level=level)
            words = [row.number for row in holding]
            best = [one for one, _ in fuse([words], [*cosine], self._encoded_of(level), size)[:limit]]
            found = database.rows(f"{_COMMUNITY} WHERE community_id = ANY(%(ids)s)", ids=best)
        else:
            found = database.rows(
                f"{_COMMUNITY} WHERE release = %(release)s AND level = %(level)s ORDER BY community_id LIMIT %(limit)s",
                level=level, limit=limit,
            )  # fmt: skip
            best = [row[0] for row in found]
        rows = {row[0]: row for row in found}
        members: dict[int, list[Named]] = {}
        for community, iri, name, metadata in database.rows(_MEMBERS, ids=best, most=MEMBERS):
            members.setdefault(community, []).append(Named(iri, self._name(name, metadata)))
        return tuple(self._community(rows[one], members.get(one, []), cosine.get(one)) for one in best)

    def levels(self) -> Sequence[int]:
        self.opened.require("communities")
        return tuple(
            count
            for _, count in self._database.rows(
                "SELECT level, count(*) FROM graph.communities WHERE release = %(release)s GROUP BY level ORDER BY level"
            )
        )

    def named(self, name: str, limit: int) -> Sequence[Named]:
        found = self._database.named(name, limit)
        rows = self._entities(found)
        return tuple(self._named(rows[one]) for one in found)

    def entity(self, iri: str) -> GraphEntity:
        return self._entity(self._row(iri), None)

    def neighbourhood(self, iri: str, hops: int, limit: int) -> Neighbourhood:
        triples: dict[int, list[Any]] = {}  # source, target, property, its label, metadata

        def beside(nodes: Sequence[int], most: int) -> Iterator[Beside[int]]:
            found: list[tuple[int, list[tuple[int, int]]]] = []
            for at, degree, other, number, *triple in self._database.rows(_BESIDE, nodes=nodes, most=most):
                if at > len(found):
                    found.append((degree, []))
                if number is not None:
                    found[-1][1].append((number, other))
                    triples[number] = triple
            yield from found

        far, told, whole = explore(self._row(iri).id, hops, limit, beside)
        chosen = [triples[one] for one in told]
        rows = self._entities([*far, *(end for s, o, *_ in chosen for end in (s, o))])
        shown = Counter(node for s, o, *_ in chosen for node in {s, o})
        neighbours = (
            GraphNeighbour(
                rows[node].iri,
                self._label(rows[node]),
                rows[node].category,
                hop,
                rows[node].degree,
                shown[node],
            )
            for node, hop in far.items()
            if hop
        )
        relations = (self._triple(rows[s], rows[o], p, label, more) for s, o, p, label, more in chosen)
        return Neighbourhood(tuple(neighbours), tuple(relations), whole)

    def _entities(self, ids: Sequence[int]) -> dict[int, _Entity]:
        found = self._database.rows(f"{_ENTITY} WHERE entity_id = ANY(%(ids)s)", ids=list(set(ids)))
        return {row[0]: _Entity(*row) for row in found}

    def _row(self, iri: str) -> _Entity:
        # Surrogates and NUL are in no text of a database.
        asked = iri.encode("utf-8", "replace").replace(b"\0", b"?").decode()
        found = self._database.rows(f"{_ENTITY} WHERE release = %(release)s AND iri = %(iri)s", iri=asked)
        if not found:
            raise unknown_entity(iri)
        return _Entity(*found[0])

    def _encoded_of(self, level: int) -> float:
        """The share of the communities of a level that have a vector."""
        ((share,),) = self._database.rows(
            """SELECT coalesce(avg((search_embedding IS NOT NULL)::int), 0)::float8 FROM graph.communities
            WHERE release = %(release)s AND level = %(level)s""",
            level=level,
        )
        return float(share)

    def _name(self, name: str, metadata: Mapping[str, Any]) -> str:
        return str(metadata.get("languages", {}).get(self.language, {}).get("name", name))

    def _label(self, row: _Entity) -> str:
        return self._name(row.name, row.metadata)

    def _named(self, row: _Entity) -> Named:
        return Named(row.iri, self._label(row))

    def _entity(self, row: _Entity, similarity: float | None) -> GraphEntity:
        own = row.metadata.get("languages", {}).get(self.language, {})
        return GraphEntity(
            row.iri, self._label(row), row.category, tuple(own.get("types", row.metadata["types"])), row.description,
            row.metadata.get("document", row.document), similarity, row.degree,
        )  # fmt: skip

    def _triple(
        self, s: _Entity, o: _Entity, p: str, label: str, more: Mapping[str, Any] | None
    ) -> SourceTriple:
        told = self._database.metadata["properties"].get(p, {}).get(self.language, label)
        return SourceTriple(
            s.iri, p, o.iri, self._label(s), told, self._label(o), tuple((more or {}).get("graphs", ()))
        )

    def _community(
        self, row: tuple[Any, ...], members: list[Named], similarity: float | None
    ) -> GraphCommunity:
        _, stable, level, title, summary, size, model, parent, metadata = row
        title, summary = metadata.get("languages", {}).get(self.language, (title, summary))
        return GraphCommunity(
            stable, level, title, summary, size, tuple(members), similarity, model or "", parent
        )


def open_postgres(release: Release, language: str = "") -> PostgresStore | ReleaseStore:
    """The rows of a release as a store; while it is not published in the database yet, the release itself."""
    try:
        _ = release[Database]
    except ReleaseError as error:
        warn_seldom(logging.getLogger(__name__), f"{error}\nUntil then the release itself is searched.")
        return ReleaseStore(release, language)
    return PostgresStore(release, language)
