"""PostgreSQL as a search store: the same as the release, in a session that can only read, whatever is asked."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmrag_query.artifacts.release import Release
from crmrag_query.errors import ConfigError, ReleaseError, StoreUnreachable, UnknownEntity
from crmrag_query.graph.graph import Graph
from crmrag_query.retrieval import database as searching
from crmrag_query.retrieval.channels import channel_of
from crmrag_query.retrieval.database import ENTITIES, Among, Database, pool_of
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.release_channels import Query, ReleaseChannels
from crmrag_query.stores import opened, records
from crmrag_query.stores.opened import open_store
from crmrag_query.stores.postgres import PostgresStore
from crmrag_query.stores.release import ReleaseStore
from tests.support.postgres import SERVER, connect, own_database

ASINOU = "https://example.org/troodos/church/asinou"
QUESTIONS = (
    "painters of Asinou",
    "the Virgin between archangels",
    "saints on horseback",
    "αρχάγγελος",
    "1105/06",
)


@pytest.fixture(scope="module")
def store(published: Release) -> PostgresStore:
    return PostgresStore(published)


@pytest.mark.parametrize("language", ["", "el", "en"])
def test_entities_and_what_is_around_them_are_those_of_the_release(published: Release, language: str) -> None:
    here, there = PostgresStore(published, language), ReleaseStore(published, language)
    for node in [published[Graph].node(ASINOU), *random.Random(3).sample(range(published[Graph].nodes), 25)]:
        iri = published[Graph].iri(node or 0)
        assert here.entity(iri) == there.entity(iri)
        for hops, limit in ((1, 10), (2, 40), (3, 100)):
            assert here.neighbourhood(iri, hops, limit) == there.neighbourhood(iri, hops, limit)


def test_communities_are_those_of_the_release(store: PostgresStore, published: Release) -> None:
    assert store.levels() == ReleaseStore(published).levels()
    for level in range(len(store.levels())):
        assert store.communities("", level, 50) == ReleaseStore(published).communities("", level, 50)


@pytest.mark.parametrize(("channel", "same"), [("dense", 0.95), ("sparse", 0.9)])
def test_channels_find_what_those_of_the_release_find(published: Release, channel: str, same: float) -> None:
    """By meaning but for what has several windows, of which the database has the mean; by words with the same measure."""
    own = {"dense": "postgres_dense", "sparse": "postgres_words"}[channel]
    channels, shares = published[ReleaseChannels], list[float]()
    categories = channels.of_categories(1)
    for question in QUESTIONS:
        for within in (None, categories):
            query = Query(question, published[QueryEncoder].of_question(question), within=within)
            here, there = (channel_of(name).find(channels, query, 10).ranking for name in (own, channel))  # type: ignore[union-attr]
            assert within is None or all(within[here])
            shares.append(len({*here} & {*there}) / max(1, len(there)))
    assert np.mean(shares) >= same


HOSTILE = (
    "'; DROP TABLE graph.entities; --", "%(release)s %s %%", "\\", '"', "a & b | !c <-> d:*", "\0", "a\0b", "{}", "$1", "''",
    "\ud800", "\u202e" * 50, "x" * 1000, "'); DELETE FROM graph.releases; SELECT ('",
)  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_what_is_asked_is_data_and_nothing_of_it_is_executed(store: PostgresStore, text: str) -> None:
    for language in ("", text):
        PostgresStore(store.opened, language).entity(ASINOU)
    store.entities(text, 5)
    store.communities(text, 0, 5)
    with pytest.raises(UnknownEntity):
        store.entity(text)
    store.named(text, 5)
    store.passages(text, 5)
    assert store.entity(ASINOU).iri == ASINOU and store.levels()


@given(text=st.text(max_size=60))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_may_be_searched_for(store: PostgresStore, text: str) -> None:
    assert len(store.entities(text, 3).found) <= 3
    assert len(store.named(text, 3)) <= 3


def test_a_session_can_write_nothing_and_is_ended_when_it_takes_too_long(store: PostgresStore) -> None:
    import psycopg

    database = store.opened[Database]
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        database.rows("DELETE FROM graph.entities RETURNING 1")
    assert database.rows("SHOW statement_timeout") == [("30s",)]


def test_a_connection_that_the_server_closed_is_replaced(store: PostgresStore, published: Release) -> None:
    database = store.opened[Database]
    before = database.rows("SELECT pg_backend_pid()")
    with connect(database.address) as administrator:
        administrator.execute(
            """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()"""
        )
    assert store.entity(ASINOU).iri == ASINOU
    assert database.rows("SELECT pg_backend_pid()") != before


def test_a_query_that_takes_too_long_is_not_tried_again(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    asked, execute = [], psycopg.Connection.execute
    monkeypatch.setattr(psycopg.Connection, "execute", lambda *a, **k: asked.append(a[1]) or execute(*a, **k))
    cancelled = "SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(20)"
    with pytest.raises(StoreUnreachable, match="QueryCanceled"):
        store.opened[Database].rows(cancelled)
    assert asked.count(cancelled) == 1


def test_a_database_that_does_not_answer_is_told_without_its_password(
    published: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(searching.VARIABLE, "postgresql://reader:very-secret@localhost:1/museum")
    monkeypatch.setattr(searching, "WAIT", 0.5)
    fresh = replace(published)
    fresh._parts.clear()  # type: ignore[attr-defined]
    with pytest.raises(StoreUnreachable, match="does not answer") as told:
        PostgresStore(fresh).entity(ASINOU)
    assert "secret" not in str(told.value)
    pool_of("postgresql://reader:very-secret@localhost:1/museum").close()


def test_what_is_not_published_yet_is_searched_in_the_release(
    release: Release, postgres_server: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(opened.VARIABLE, "postgres")
    with own_database(postgres_server):
        fresh = replace(release)
        with pytest.raises(ReleaseError, match="crmrag postgres publish sample"):
            fresh[Database]
        for _ in range(3):
            assert isinstance(open_store(fresh, "el"), ReleaseStore)
        assert caplog.text.count("is searched") == 1


def test_a_store_that_there_is_not_is_told_with_those_that_there_are(
    release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(opened.VARIABLE, "mongo")
    with pytest.raises(ConfigError, match="release, postgres"):
        open_store(release)


DIMENSION, ROWS = 24, 4000


@dataclass(frozen=True)
class Named:
    """What a database asks of a release: its id."""

    id: str = "00000000"


@pytest.fixture(scope="module")
def many(postgres_server: str) -> Iterator[tuple[Database, np.ndarray]]:
    """A database with so many vectors that an index is worth while, a hundredth of them of one category."""
    from crmrag_assets.release.postgres import SEARCHED, built, prepare

    vectors = np.random.default_rng(1).normal(size=(ROWS, DIMENSION)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    with own_database(postgres_server) as address, connect(address) as connection:
        prepare(connection, DIMENSION)
        rows = [
            (str(n), "Actor" if n % 100 == 0 else "Thing", str(vector.tolist()))
            for n, vector in enumerate(vectors)
        ]
        connection.cursor().executemany(
            """INSERT INTO graph.entities (name, entity_type, category, document_id, iri, release, search_embedding)
            VALUES (%s, '', %s, '', gen_random_uuid()::text, '00000000', %s::vector)""",
            rows,
        )
        connection.execute(
            f"CREATE INDEX ON graph.{built(SEARCHED['entities_embedding'], ROWS)} WHERE release = '00000000'"
        )
        connection.execute("ANALYZE graph.entities")
        told = {
            "first": 1,
            "rows": {"entities": ROWS, "passages": 0},
            "vectors": {"Actor": ROWS // 100, "Thing": ROWS - ROWS // 100},
        }
        yield Database(Named(), address, told, True, False), vectors  # type: ignore[arg-type]


@pytest.mark.parametrize("category", ["", "Actor"])
@pytest.mark.parametrize("iterative", [True, False])
def test_the_index_finds_what_comparing_all_finds_also_under_a_filter_that_leaves_a_hundredth(
    many: tuple[Database, np.ndarray], monkeypatch: pytest.MonkeyPatch, category: str, iterative: bool
) -> None:
    """The published code got too few rows from an index and a filter behind it."""
    monkeypatch.setattr(searching, "EXACT", 0)
    database, vectors = replace(many[0], iterative=iterative), many[1]
    chosen = np.array([not category or n % 100 == 0 for n in range(ROWS)])
    shares = []
    for vector in vectors[np.random.default_rng(2).choice(ROWS, 20)] + np.float32(0.05):
        exact = np.argsort(-np.where(chosen, vectors @ vector, -9))[:10] + 1
        found = [row.number for row in database.dense(ENTITIES, vector, 10, Among(category))]
        assert len(found) == 10
        shares.append(len({*found} & {*exact.tolist()}) / 10)
    assert np.mean(shares) >= 0.95


def test_the_index_is_used(many: tuple[Database, np.ndarray], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(searching, "EXACT", 0)
    monkeypatch.setattr(Database, "rows", lambda self, query, /, **given: asked.append((query, given)) or [])
    many[0]._nearest(ENTITIES, many[1][0], 10, searching.EVERYWHERE, None, False)
    monkeypatch.undo()
    ((query, given),) = asked
    assert "+ 0" not in query
    plan = "\n".join(row[0] for row in many[0].rows(f"EXPLAIN {query}", **given))
    assert "search_embedding_idx" in plan


def test_a_hub_of_ten_thousand_triples_is_told_in_few_rows(
    postgres_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The published code walked by a recursive query over all of it, again and again."""
    from crmrag_assets.release.postgres import prepare

    with own_database(postgres_server) as address, connect(address) as connection:
        prepare(connection, 3)
        connection.execute(
            """INSERT INTO graph.entities
              (name, entity_type, category, document_id, iri, release, degree, description, metadata)
            SELECT 'n' || n, 'Thing', 'Thing', '', 'urn:' || n, '00000000', CASE n WHEN 0 THEN 10000 ELSE 2 END, '',
              '{"types": []}'
            FROM generate_series(0, 10000) n ORDER BY n"""
        )
        connection.execute(
            """INSERT INTO graph.relationships
              (source_entity_id, target_entity_id, relationship_type, iri, release, source_place)
            SELECT 1, 1 + n, 'has', 'urn:has', '00000000', n - 1 FROM generate_series(1, 10000) n
            UNION ALL SELECT 1 + n, 2 + n, 'next', 'urn:next', '00000000', 0 FROM generate_series(1, 9999) n"""
        )
        release = Named()
        database = Database(release, address, {"first": 1, "properties": {}}, True, False)  # type: ignore[arg-type]
        fetched = []
        rows = Database.rows
        monkeypatch.setattr(Database, "rows", lambda *a, **k: fetched.append(rows(*a, **k)) or fetched[-1])
        store = PostgresStore(_With(release.id, database))  # type: ignore[arg-type]
        found = store.neighbourhood("urn:0", 3, 40)
        assert len(found.neighbours) == 40 and not found.whole
        assert sum(map(len, fetched)) < 2 * (records.OWN + 3 * 40 * records.FURTHER)
        hub = store.neighbourhood("urn:5000", 2, 100)
        assert next(one for one in hub.neighbours if one.iri == "urn:0").total == 10_000
        assert {one.iri for one in hub.neighbours} == {
            "urn:0",
            "urn:4999",
            "urn:5001",
            "urn:4998",
            "urn:5002",
        }


@dataclass(frozen=True)
class _With:
    """An open release of which nothing but its rows in a database is there."""

    id: str
    database: Database

    def __getitem__(self, part: object) -> Database:
        assert part is Database
        return self.database


def test_misspelt_names_are_found_where_the_server_compares_letters(postgres_server: str) -> None:
    with own_database(postgres_server) as address, connect(address) as connection:
        if not connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'pg_trgm'").fetchone():
            pytest.skip(f"the server has no pg_trgm: name one that has in {SERVER}")
        connection.execute(
            """CREATE EXTENSION pg_trgm; CREATE SCHEMA graph;
            CREATE TABLE graph.words (release TEXT, of_names BOOLEAN, word TEXT, rows INT, weight REAL);
            CREATE TABLE graph.entities (entity_id INT, importance REAL, category TEXT);
            CREATE TABLE graph.names (entity_id INT, name TEXT, words TEXT[], weight REAL, release TEXT);
            INSERT INTO graph.entities VALUES (1, 1, 'Thing'), (2, 2, 'Thing');
            INSERT INTO graph.names VALUES
              (1, 'panagia phorbiotissa', '{}', 1, '00000000'), (2, 'naos', '{}', 1, '00000000')"""
        )
        database = Database(Named(), address, {}, True, True)  # type: ignore[arg-type]
        assert database.named("phorbiotisa", 5) == [1] and database.named("zzzz", 5) == []
