"""Publishing what a release searches by into PostgreSQL: beside what is there of others, switched to at the end, in one
transaction. Who reads sees all of it or nothing; what is killed leaves what was there.

The schema is `postgres.sql`. Rows say what `ReleaseStore` says: the same names, types, descriptions, summaries.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import log1p
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
import pyarrow.compute as pc

from crmrag_assets.build import store as failpoints
from crmrag_assets.build.step import Progress, SilentProgress
from crmrag_assets.indexes.names import variants
from crmrag_query.artifacts.release import Release
from crmrag_query.documents.documents import Documents
from crmrag_query.documents.pages import Pages
from crmrag_query.entities.details import type_nodes
from crmrag_query.errors import BuildError, BuildHeldUp, MissingExtraError, ModelError, in_a_line
from crmrag_query.graph.arrays import Ints
from crmrag_query.graph.graph import Graph, TriplesIndex
from crmrag_query.linking import STOP_WEIGHT, NameIndex
from crmrag_query.retrieval.aggregation import Aggregation
from crmrag_query.retrieval.communities import NONE, Communities, CommunityIndex, Summaries
from crmrag_query.retrieval.database import EXACT, LONGEST, VARIABLE, comparable, searchable, sounds
from crmrag_query.retrieval.dense import DenseIndex
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.release_channels import ReleaseChannels
from crmrag_query.stores.records import GraphEntity
from crmrag_query.stores.release import ReleaseStore, places
from crmrag_query.text import plain

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

SCHEMA: Final = "crmrag 1"  # the comment of the schema, by which ours is known
SILENT: Final = SilentProgress()
NAME: Final = "postgres_graph"  # of the asset, and of the fail-point within the transaction
BATCH: Final = 1000
LONGEST_IRI: Final = 2000  # bytes; what has a longer one stays out, as no index of PostgreSQL takes it
# Of the indexes of vectors. Source of the first: the published schema; the second where the index is searched (more than
# EXACT vectors), as the first finds too few of those that are nearest to a name: docs/postgres.md.
PUBLISHED, CLOSER = {"m": 16, "construction": 200}, {"m": 32, "construction": 400}
# KiB that making an index of vectors may take of the server's memory, if that many are needed; bytes of a row besides its
# vector and its links, generously.
MEMORY, ROW = 1 << 20, 1024
PATIENCE: Final = 10  # seconds that a connection may take
LOCK: Final = 0x63726D726167  # "crmrag": one publication at a time

_HNSW = "USING hnsw (search_embedding vector_cosine_ops) WITH (m = {m}, ef_construction = {construction})"
SEARCHED: Final[Mapping[str, str]] = {
    "entities_tsv": "entities USING gin (search_tsv)",
    "entities_embedding": f"entities {_HNSW}",
    "relationships_embedding": f"relationships {_HNSW}",
    "communities_tsv": "communities USING gin (search_tsv)",
    "communities_embedding": f"communities {_HNSW}",
    "passages_tsv": "passages USING gin (search_tsv)",
    "passages_embedding": f"passages {_HNSW}",
    "names_words": "names USING gin (words)",
}
"""Indexes of each release (``built``). Where the server has pg_trgm, those of `SIMILAR` too."""
SIMILAR: Final[Mapping[str, str]] = {
    "entities_name": "entities USING gin (name gin_trgm_ops)",
    "names_name": "names USING gin (name gin_trgm_ops)",
}
TABLES = ("relationships", "communities", "passages", "names", "words", "entities", "releases")
"""In the order in which a release's rows are removed: nothing is left to cascade."""
TRIGGER = """
CREATE OR REPLACE FUNCTION graph.fill_{table}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN NEW.search_tsv := {tsv}; RETURN NEW; END $$;
CREATE OR REPLACE TRIGGER fill_search BEFORE INSERT OR UPDATE OF search_text, {columns} ON graph.{table}
FOR EACH ROW EXECUTE FUNCTION graph.fill_{table}()"""
TEXTS: Final = {
    "entities": ("entity_id", "name", "description"),
    "communities": ("community_id", "title", "summary"),
    "passages": ("passage_id", "label", "text"),
}
"""Tables that are searched by words: their keys, and the columns whose words are taken where `search_text` is missing."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a publication did: which other releases were removed; rows written by table, none where the release was there
    already; how many nodes stayed out, as their IRIs are too long."""

    release: str
    removed: tuple[str, ...]
    rows: Mapping[str, int] = field(default_factory=dict)
    left_out: int = 0

    @property
    def there(self) -> bool:
        return not self.rows


@contextmanager
def connected() -> Iterator[Connection]:
    """A connection that writes, to the database that the environment names. BuildHeldUp, where it does not answer."""
    try:
        import psycopg
    except ImportError as error:
        raise MissingExtraError("Publishing in PostgreSQL", "postgres", "psycopg") from error
    try:
        with psycopg.connect(
            os.environ.get(VARIABLE, ""), autocommit=True, connect_timeout=PATIENCE
        ) as connection:
            yield connection
    except psycopg.OperationalError as error:
        raise BuildHeldUp(
            f"The PostgreSQL database does not answer: {in_a_line(error)}.",
            f"Look whether it runs, and what {VARIABLE} says.",
        ) from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise BuildError(
            f"The role that {VARIABLE} names may not write: {in_a_line(error)}.",
            "Publish as the owner of the schema `graph`.",
        ) from error


def publish(
    connection: Connection,
    release: Release,
    keep: Collection[str] = (),
    reader: str = "",
    progress: Progress = SILENT,
) -> Done:
    """Make ``release`` the one of its data set that is searched; of others of the data set those in ``keep`` stay.

    ``reader``: a role that may read it all, and nothing more. Writes nothing where it is there already. BuildError for a
    database whose vectors are of another length, or whose schema `graph` is not ours.
    """
    from pgvector.psycopg import register_vector

    dataset, rows = release.manifest.dataset, None
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
        prepare(connection, release[QueryEncoder].settings.dimension)
        register_vector(connection)
        if reader:
            _let_read(connection, reader)
        if not _exists(connection, "SELECT FROM graph.releases WHERE release = %s", release.id):
            rows = Rows(release, connection, progress)
            rows.write()
        for current in (False, True):  # in this order: no data set ever has two
            connection.execute(
                """UPDATE graph.releases SET current = %(to)s
                WHERE dataset = %(dataset)s AND (release = %(release)s) = %(to)s AND current <> %(to)s""",
                {"to": current, "dataset": dataset, "release": release.id},
            )
    removed = _remove(connection, dataset, {*keep, release.id})
    if rows is None:
        return Done(release.id, removed)
    return Done(release.id, removed, rows.written, int(rows.out.sum()))


def built(index: str, vectors: int) -> str:
    """An index of `SEARCHED` as it is made for so many vectors."""
    return index.format(**(CLOSER if vectors > EXACT else PUBLISHED))


def prepare(connection: Connection, dimension: int) -> None:
    """Make the schema for vectors of this length, or see that it is there."""
    import psycopg

    if not _exists(connection, "SELECT FROM pg_namespace WHERE nspname = 'graph'"):
        if not _exists(connection, "SELECT FROM pg_extension WHERE extname = 'vector'"):
            try:
                connection.execute("CREATE EXTENSION vector")
            except psycopg.Error as error:
                raise BuildError(
                    f"The database cannot hold vectors: {in_a_line(error)}.",
                    "Install pgvector on the server, and have its administrator run: CREATE EXTENSION vector",
                ) from error
        text = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
        connection.execute(text.replace("{dimension}", str(int(dimension))))
        connection.execute(f"COMMENT ON SCHEMA graph IS '{SCHEMA}'")
        for table in TEXTS:
            keep_full_text(connection, table)
        return
    ((comment, length),) = connection.execute(
        """SELECT obj_description(to_regnamespace('graph')), (SELECT atttypmod FROM pg_attribute
        WHERE attrelid = to_regclass('graph.entities') AND attname = 'search_embedding')"""
    ).fetchall()
    if comment != SCHEMA:
        raise BuildError(
            f"The database has a schema `graph` already, which is not of this program or of another version of it "
            f"({comment}).",
            "Publish into a database of its own, or remove the schema: DROP SCHEMA graph CASCADE",
        )
    if length != dimension:
        raise BuildError(
            f"The database holds vectors of {length} numbers, the release has some of {dimension}.",
            "Publish data sets of another encoder into a database of their own.",
        )


def keep_full_text(connection: Connection, table: str) -> None:
    """Have a trigger keep the full text of a table: over the words that were folded for it, else over its names and texts,
    folded by `unaccent` where the server has it, else in small letters."""
    _, name, text = TEXTS[table]
    whole, folds = f"concat_ws(' ', NEW.{name}, NEW.{text})", extension(connection, "unaccent")
    fold = f"lower({folds}.unaccent({whole}))" if folds else f"lower({whole})"
    tsv = f"to_tsvector('simple', left(coalesce(NEW.search_text, {fold}), {LONGEST}))"
    connection.execute(TRIGGER.format(table=table, tsv=tsv, columns=f"{name}, {text}"))


def extension(connection: Connection, name: str) -> str:
    """The schema of an extension, quoted, made where the server has it and the role may; "" without."""
    import psycopg

    if _exists(connection, "SELECT FROM pg_available_extensions WHERE name = %s", name):
        try:
            with connection.transaction():
                connection.execute(f"CREATE EXTENSION IF NOT EXISTS {name}")
        except psycopg.Error:
            return ""
    found = connection.execute(
        "SELECT quote_ident(extnamespace::regnamespace::text) FROM pg_extension WHERE extname = %s", [name]
    )
    row = found.fetchone()
    return str(row[0]) if row else ""


def _let_read(connection: Connection, reader: str) -> None:
    from psycopg import sql

    if not _exists(connection, "SELECT FROM pg_roles WHERE rolname = %s", reader):
        raise BuildError(
            f"The database has no role {reader!r} that could read.",
            "Name one that there is, or make it first: CREATE ROLE … LOGIN",
        )
    role = sql.Identifier(reader)
    connection.execute(sql.SQL("GRANT USAGE ON SCHEMA graph TO {}").format(role))
    connection.execute(sql.SQL("GRANT SELECT ON ALL TABLES IN SCHEMA graph TO {}").format(role))


def _exists(connection: Connection, query: str, *given: object) -> bool:
    found = connection.execute(f"SELECT EXISTS ({query})", given).fetchone()
    return bool(found and found[0])


def _remove(connection: Connection, dataset: str, keep: Collection[str]) -> tuple[str, ...]:
    """Remove what is no more kept of a data set, and indexes of releases that are gone; no reader waits for it."""
    gone = tuple(
        one
        for (one,) in connection.execute(
            "SELECT release FROM graph.releases WHERE dataset = %s AND release <> ALL(%s) ORDER BY release",
            [dataset, [*keep]],
        )
    )
    with connection.transaction():
        for table in TABLES if gone else ():
            connection.execute(f"DELETE FROM graph.{table} WHERE release = ANY(%s)", [[*gone]])
    kept = {one for (one,) in connection.execute("SELECT release FROM graph.releases")}
    ours = re.compile(f"(?:{'|'.join((*SEARCHED, *SIMILAR))})_([0-9a-f]+)")
    indexes = connection.execute("SELECT indexname FROM pg_indexes WHERE schemaname = 'graph'").fetchall()
    for (index,) in indexes:
        if (found := ours.fullmatch(index)) and found[1] not in kept:
            connection.execute(f'DROP INDEX CONCURRENTLY IF EXISTS graph."{index}"')
    return gone


class Rows:
    """The rows of a release, written table by table."""

    def __init__(self, release: Release, connection: Connection, progress: Progress) -> None:
        self.release, self.connection, self.progress = release, connection, progress
        self.graph, self.documents, self.pages = release[Graph], release[Documents], release[Pages]
        self.store = ReleaseStore(release)
        self.told_in = {one: ReleaseStore(release, one) for one in release.manifest.languages}
        self.rank = np.asarray(release[Aggregation].pagerank)
        iris = self.graph.iris
        too_long = pc.greater(pc.binary_length(iris), LONGEST_IRI)
        self.out = np.asarray(pc.or_(too_long, pc.match_substring(iris, "\0")))  # bool [nodes]
        self.written: dict[str, int] = {}
        self.vectors: Counter[str] = Counter()  # of entities, by category
        self.texts: Counter[str] = Counter()  # in how many texts each word stands
        self.read: Counter[tuple[str, str, str]] = Counter()  # document, type, name of what was read
        self.types: dict[tuple[Any, ...], list[str]] = {}

    def write(self) -> None:
        self.first = self._reserved("entities", self.graph.nodes)
        self._copy("entities", self._entities())
        self._copy("relationships", self._relationships())
        self._copy("passages", self._passages())
        if self.release.manifest.has("community_index"):
            self.first_community = self._reserved("communities", len(self.release[Communities]))
            self._copy("communities", self._communities())
            self._copy("community_members", self._members())
        self._copy("names", self._names())
        self._copy("words", self._words())
        failpoints.reach(NAME, None, failpoints.DURING)
        extra = SIMILAR if extension(self.connection, "pg_trgm") else {}
        for index, made in {**SEARCHED, **extra}.items():
            # Neither holds anything that is not ours: the id is of hexadecimal digits.
            id = self.release.id
            table = made.partition(" ")[0]
            count = self.vectors.total() if table == "entities" else self.written.get(table, 0)
            if "hnsw" in made:
                self._give_memory(count)
            self.connection.execute(
                f"""CREATE INDEX "{index}_{id}" ON graph.{built(made, count)} WHERE release = '{id}'"""
            )
        for table in self.written:
            self.connection.execute(f"ANALYZE graph.{table}")
        properties = {
            self.graph.property_iri(number): {
                language: plain(self.graph.property_label(number, lang=language)) for language in self.told_in
            }
            for number in range(len(self.graph.property_codes))
        }
        metadata = {
            "first": self.first,
            "rows": {table: self.written.get(table, 0) for table in TEXTS},
            "vectors": self.vectors,
            "length": {table: self._length(table) for table in TEXTS},
            "properties": properties,
        }
        self._copy("releases", [(self.release.id, self.release.manifest.dataset, metadata)])

    def _give_memory(self, vectors: int) -> None:
        """Let the transaction make an index of so many vectors in memory: on disk it takes 2.5 times as long."""
        links = (CLOSER if vectors > EXACT else PUBLISHED)["m"]
        wanted = vectors * (4 * self.release[QueryEncoder].settings.dimension + 32 * links + ROW) >> 10
        self.connection.execute(
            """SELECT set_config('maintenance_work_mem', greatest(setting::bigint, %s) || 'kB', true)
            FROM pg_settings WHERE name = 'maintenance_work_mem'""",
            [min(wanted, MEMORY)],
        )

    def _length(self, table: str) -> float:
        """Characters of what is searched of a row, on average."""
        mean = f"SELECT avg(length(search_text)) FROM graph.{table} WHERE release = %s AND search_text <> ''"
        found = self.connection.execute(mean, [self.release.id]).fetchone()
        return float(found[0] or 1) if found else 1.0

    def _reserved(self, table: str, count: int) -> int:
        """The first of so many numbers that nothing else gets."""
        sequence = f"graph.{table}_{TEXTS[table][0]}_seq"
        row = self.connection.execute(
            "SELECT setval(%s, nextval(%s) + %s)", [sequence, sequence, count]
        ).fetchone()
        return int(row[0]) - count if row else 0

    def _copy(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        columns = COLUMNS[table]
        with self.connection.cursor() as cursor:
            described = cursor.execute(f"SELECT {columns} FROM graph.{table} LIMIT 0").description or ()
            with cursor.copy(f"COPY graph.{table} ({columns}) FROM STDIN (FORMAT BINARY)") as copy:
                copy.set_types([column.type_code for column in described])
                for count, row in enumerate(rows, start=1):
                    copy.write_row(row)
                    if count % BATCH == 0:
                        self.progress.advance(count, None, table)
            self.written[table] = cursor.rowcount

    def _entities(self) -> Iterator[tuple[Any, ...]]:
        little = self.release[ReleaseChannels].little
        own = dict(zip(self.documents.entities.tolist(), range(self.documents.count), strict=True))
        # The most important ones first: where a search looks at some rows only, it meets these.
        order = np.argsort(-self.rank, kind="stable")
        for node in order[~self.out[order]].tolist():
            told, document = self.store.told(node, None), own.get(node)
            types = list(told.types)
            languages = {
                language: {"name": store.label(node), "types": self._types(node, language)}
                for language, store in self.told_in.items()
            }
            first = {"name": told.label, "types": types}
            others = {language: one for language, one in languages.items() if one != first}
            metadata: dict[str, Any] = {"types": types, "languages": others}
            kind, home, page = self._read(told)
            if home != told.document:
                metadata["document"] = told.document
            words, embedding = "", None
            if document is not None:
                words, embedding = self._searchable(self.documents.text(document)), self._vector(document)
                self.vectors[told.category] += embedding is not None
            elif (
                page is not None
            ):  # what was read is searched by itself also where another's document tells of it
                words = self._searchable(text_of(told.label, told.description))
            yield (
                self.first + node, told.label, kind, told.description, page, home, embedding, metadata, told.iri,
                self.release.id, words, told.category, float(self.rank[node]), told.total,
                document is not None and bool(little[document]),
            )  # fmt: skip

    def _types(self, node: int, language: str) -> list[str]:
        """What a node is in words: few combinations occur."""
        key = (language, tuple(type_nodes(self.graph, node)), tuple(self.graph.types(node).tolist()))
        if key not in self.types:
            self.types[key] = list(self.told_in[language].types_of(node))
        return self.types[key]

    def _read(self, told: GraphEntity) -> tuple[str, str, str | None]:
        """Type, document and page of an entity as published, of what was read from a page; else its category, the entity
        whose document tells of it, and no page."""
        found = self.pages.of_things.get(told.iri)
        if not found:
            return told.category, told.document, None
        kind, document = next(iter(told.types), told.category), self.pages.by_iri[found[0]].document
        # Names that were cut may be alike.
        self.read[document, kind, told.label] += 1
        again = self.read[document, kind, told.label]
        return kind, document if again == 1 else f"{document}#{again}", found[0]

    def _searchable(self, text: str) -> str:
        words = searchable(text)
        self.texts.update(set(words.split()))
        return words

    def _vector(self, text: int) -> Any:
        """The vector of a text, documents first and passages then: the mean of its windows; None without."""
        if not self.release.manifest.has("faiss_index"):
            return None
        (found,) = self.release[DenseIndex].vectors(np.array([text], np.int32))
        return found if found.any() else None

    def _relationships(self) -> Iterator[tuple[Any, ...]]:
        index, graph = self.release[TriplesIndex], self.graph
        s, p, o = np.asarray(index.tri_s), np.asarray(index.tri_p), np.asarray(graph.adjacency.forward.val)
        source, target = self._places(s, p, o), self._places(o, p, s)
        iris = [graph.property_iri(number) for number in range(len(graph.property_codes))]
        labels = [plain(graph.property_label(number)) for number in range(len(iris))]
        fits = np.array([len(iri.encode()) <= LONGEST_IRI for iri in iris], bool)
        chosen = ~self.out[s] & ~self.out[o] & fits[p]
        read = self.pages.statements
        more = [{"graphs": list(one)} if any(one) else None for one in graph.graph_sets]
        for triple in np.flatnonzero(chosen).tolist():
            prop, near, far = int(p[triple]), int(s[triple]), int(o[triple])
            pages = read.get((graph.iri(near), iris[prop], graph.iri(far)), ()) if read else ()
            yield (
                self.first + near, self.first + far, labels[prop], float(max(1, len(pages))), next(iter(pages), None),
                more[int(graph.triple_graph[triple])], iris[prop], self.release.id, int(source[triple]), int(target[triple]),
            )  # fmt: skip

    def _places(self, near: Ints, way: Ints, far: Ints) -> Ints:
        """The place of each triple among those of one end and property, from 0, those to what ranks highest first."""
        order, found = np.lexsort((far, -self.rank[far], way, near)), np.empty(len(near), np.int32)
        found[order] = places((near.astype(np.int64) << 32 | way)[order])
        return found

    def _passages(self) -> Iterator[tuple[Any, ...]]:
        documents, count = self.documents, self.documents.count
        for number in range(documents.passages.num_rows):
            one = documents.passage(number)
            home = documents.entity(one.document)
            if self.out[one.entity] or self.out[home]:
                continue
            told = self.store.told_passage(number, None)
            yield (
                self.first + one.entity, self.first + home, told.label, told.text, one.start, one.end,
                self._searchable(one.text), self._vector(count + number), self.release.id,
            )  # fmt: skip

    def _communities(self) -> Iterator[tuple[Any, ...]]:
        communities, summaries = self.release[Communities], self.release[Summaries]
        vectors, told = self.release[CommunityIndex].vectors, self.release.method.communities.told
        first = self.release.manifest.language
        for number in range(len(communities)):
            themes = {language: summaries.tell(number, language) for language in self.told_in or (first,)}
            theme = themes[first]
            members = communities.members(number)
            names = map(self.documents.label, members[:told].tolist())
            text = " ".join([*(f"{one.title} {one.text}" for one in themes.values()), *names])
            parent = int(communities.parent[number])
            languages = {language: (plain(one.title), plain(one.text)) for language, one in themes.items()}
            vector = np.asarray(vectors[number], np.float32)
            yield (
                self.first_community + number, int(communities.level[number]), plain(theme.title), plain(theme.text),
                theme.model, self._members_of(number), self._searchable(text), vector if vector.any() else None,
                {"languages": languages}, communities.name(number), "" if parent == NONE else communities.name(parent),
                self.release.id,
            )  # fmt: skip

    def _members_of(self, community: int) -> list[int]:
        nodes = self.documents.entities[self.release[Communities].members(community)]
        return cast(list[int], (nodes[~self.out[nodes]].astype(np.int64) + self.first).tolist())

    def _members(self) -> Iterator[tuple[Any, ...]]:
        for number in range(len(self.release[Communities])):
            for place, entity in enumerate(self._members_of(number)):
                yield self.first_community + number, entity, place

    def _names(self) -> list[tuple[Any, ...]]:
        """Names of the most important entities first: where many are alike, the first are looked at."""
        index = self.release[NameIndex]
        entries = (index.arrays[part].tolist() for part in ("entry_entity", "entry_text"))
        pairs = dict.fromkeys(zip(*entries, strict=True))
        known = dict.fromkeys(
            (self.store.told_of(entity), comparable(name))
            for entity, text in pairs
            for name in variants(index.text(text))
            if not self.out[entity]
        )
        spoken = {name: sounds(name) for _, name in known if name}
        counts = Counter(word for words in spoken.values() for word in words)
        self.of_names = {
            word: (count, log1p(len(spoken) / count) * (STOP_WEIGHT if word in index.stop else 1))
            for word, count in counts.items()
        }
        rows = [
            (
                self.first + entity,
                name,
                spoken[name],
                sum(self.of_names[word][1] for word in spoken[name]),
                self.release.id,
            )
            for entity, name in known
            if name
        ]
        return sorted(rows, key=lambda row: -float(self.rank[row[0] - self.first]))

    def _words(self) -> Iterator[tuple[Any, ...]]:
        for word, (count, weight) in self.of_names.items():
            yield self.release.id, True, word, count, weight
        texts = max(1, self.written["entities"])
        for word, count in self.texts.items():
            if len(word) <= 200:
                yield self.release.id, False, word, count, log1p(texts / count)


def text_of(*parts: str | None) -> str:
    """What is encoded of a row: name and description of an entity, title and summary of a community, label and text of a
    passage; source, type, target and description of a relationship. Source: the published schema."""
    return " ".join(part for part in parts if part)


EMBEDDED: Final[Mapping[str, tuple[str, str]]] = {
    "entities": ("entity_id", "name, description FROM graph.entities t WHERE search_text <> '' AND"),
    "communities": ("community_id", "title, summary FROM graph.communities t WHERE"),
    "passages": ("passage_id", "label, text FROM graph.passages t WHERE"),
    "relationships": (
        "relationship_id",
        "s.name, t.relationship_type, o.name, t.description FROM graph.relationships t "
        "JOIN graph.entities s ON s.entity_id = t.source_entity_id "
        "JOIN graph.entities o ON o.entity_id = t.target_entity_id WHERE",
    ),
}
"""Rows that a vector is made of: the key, then the parts of their text."""


def embed(connection: Connection, release: Release, relationships: bool = False) -> dict[str, int]:
    """Make the vectors that rows of a release lack, with its encoder; gives how many of each table were made.

    Those of triples, of which there are many and which nothing searches, only where they are asked for. Raises ModelError;
    BuildError for a release that is not published.
    """
    from pgvector.psycopg import register_vector

    encoder, made = release[QueryEncoder], dict[str, int]()
    if encoder.withheld:
        raise ModelError(encoder.withheld)
    prepare(connection, encoder.settings.dimension)
    if not _exists(connection, "SELECT FROM graph.releases WHERE release = %s", release.id):
        raise BuildError(
            f"Release {release.id} of {release.manifest.dataset} is not published in the database.",
            f"Run first: crmrag postgres publish {release.manifest.dataset}",
        )
    register_vector(connection)
    for table, (key, select) in EMBEDDED.items():
        if table == "relationships" and not relationships:
            continue
        made[table], last = 0, -1
        lacking = (
            f"SELECT t.{key}, {select} t.search_embedding IS NULL AND t.release = %s AND t.{key} > %s "
            f"ORDER BY t.{key} LIMIT %s"
        )
        update = f"UPDATE graph.{table} SET search_embedding = %s WHERE {key} = %s"
        while rows := connection.execute(lacking, [release.id, last, BATCH]).fetchall():
            last = rows[-1][0]
            texts = [encoder.settings.document_prefix + text_of(*parts) for _, *parts in rows]
            vectors = encoder.encoder.encode(texts)
            found = [(vector, row[0]) for vector, row in zip(vectors, rows, strict=True) if vector.any()]
            with connection.transaction(), connection.cursor() as cursor:
                cursor.executemany(update, found)
            made[table] += len(found)
    return made


def fill_full_text(connection: Connection) -> dict[str, int]:
    """Give rows that lack it their full text, and the triggers that keep it: of a database of the published schema, too,
    whose columns may be missing. Gives how many rows of each table were filled."""
    filled: dict[str, int] = {}
    for table, (key, name, text) in TEXTS.items():
        if not _exists(connection, "SELECT WHERE to_regclass(%s) IS NOT NULL", f"graph.{table}"):
            continue
        for column in ("search_text TEXT", "search_tsv TSVECTOR"):
            connection.execute(f"ALTER TABLE graph.{table} ADD COLUMN IF NOT EXISTS {column}")
        keep_full_text(connection, table)
        filled[table] = 0
        lacking = f"SELECT {key}, {name}, {text} FROM graph.{table} WHERE search_text IS NULL OR search_tsv IS NULL LIMIT %s"
        while rows := connection.execute(lacking, [BATCH]).fetchall():
            with connection.transaction(), connection.cursor() as cursor:
                # The trigger makes the rest of it.
                update = f"UPDATE graph.{table} SET search_text = coalesce(search_text, %s) WHERE {key} = %s"
                cursor.executemany(update, [(searchable(text_of(*parts)), one) for one, *parts in rows])
            filled[table] += len(rows)
        if not _exists(
            connection, "SELECT FROM pg_indexes WHERE schemaname = 'graph' AND tablename = %s AND indexdef LIKE %s",
            table, "%gin%search_tsv%",
        ):  # fmt: skip
            connection.execute(f"CREATE INDEX ON graph.{table} USING gin (search_tsv)")
    return filled


COLUMNS: Final = {
    "entities": "entity_id, name, entity_type, description, source_page_id, document_id, search_embedding, metadata, iri, "
    "release, search_text, category, importance, degree, minor",
    "relationships": "source_entity_id, target_entity_id, relationship_type, weight, source_page_id, metadata, iri, release, "
    "source_place, target_place",
    "passages": "entity_id, home_id, label, text, first, last, search_text, search_embedding, release",
    "communities": "community_id, level, title, summary, summary_model, entity_ids, search_text, search_embedding, metadata, "
    "stable_id, parent, release",
    "community_members": "community_id, entity_id, place",
    "names": "entity_id, name, words, weight, release",
    "words": "release, of_names, word, rows, weight",
    "releases": "release, dataset, metadata",
}
"""What is written of each table, in the order of the values that `Rows` gives."""
