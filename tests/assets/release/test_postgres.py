"""Publishing in PostgreSQL, on a real server: what is there afterwards, also after it was killed or done again."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from crmrag_assets.build import store as failpoints
from crmrag_assets.build.step import run_step
from crmrag_assets.cli.postgres import postgres as commands
from crmrag_assets.release import postgres
from crmrag_assets.steps.registry import STEPS
from crmrag_query.artifacts.manifest import release_ids
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.errors import BuildError, BuildHeldUp
from crmrag_query.retrieval.database import VARIABLE
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.stores.postgres import PostgresStore
from crmrag_query.stores.release import ReleaseStore
from tests.support.builds import BASE, Project, build_all, make_project, turtle
from tests.support.postgres import connect, own_database
from tests.support.regulation import build_regulation
from tests.support.shared import made_once

PUBLISHED = {
    "entities": {
        "entity_id": "bigint", "name": "text", "entity_type": "text", "description": "text", "source_page_id": "text",
        "document_id": "text", "search_tsv": "tsvector", "search_embedding": "vector(256)", "metadata": "jsonb",
        "created_at": "timestamp with time zone",
    },
    "relationships": {
        "relationship_id": "bigint", "source_entity_id": "bigint", "target_entity_id": "bigint", "relationship_type": "text",
        "description": "text", "weight": "real", "source_page_id": "text", "search_embedding": "vector(256)",
        "metadata": "jsonb", "created_at": "timestamp with time zone",
    },
    "communities": {
        "community_id": "bigint", "level": "integer", "title": "text", "summary": "text", "summary_model": "text",
        "entity_ids": "bigint[]", "search_tsv": "tsvector", "search_embedding": "vector(256)", "metadata": "jsonb",
        "created_at": "timestamp with time zone",
    },
}  # fmt: skip
"""Columns of design document 002; its numbers are of 32 bits."""
INDEXED = (
    "entities USING gin (search_tsv)", "entities USING hnsw (search_embedding vector_cosine_ops)",
    "relationships USING btree (source_entity_id", "relationships USING btree (target_entity_id",
    "relationships USING hnsw (search_embedding vector_cosine_ops)", "communities USING btree (level",
    "communities USING gin (search_tsv)", "communities USING hnsw (search_embedding vector_cosine_ops)",
)  # fmt: skip


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Release, Release]:
    """Two releases of one data set: of 6 churches, then of 7 with a long text and a hostile name."""
    folder = made_once(tmp_path_factory, "postgres-releases", _build_two)
    return tuple(open_release(folder / name, folder) for name in ("first", "second"))  # type: ignore[return-value]


HOSTILE = "Robert'); DROP TABLE graph.entities; -- %s \\\\ {0}"


def _build_two(root: Path) -> None:
    more = f"""
    ex:long a crm:E22_Human-Made_Object ; rdfs:label "{HOSTILE}" ; crm:P3_has_note "{"jaderná elektrárna Παναγία. " * 900}" ;
      crm:P45_consists_of <{BASE}{"long" * 800}> .
    <{BASE}{"long" * 800}> a crm:E57_Material ; rdfs:label "a material with a very long address" ."""
    for name, source in (("first", turtle(6)), ("second", turtle(7) + more)):
        project = make_project(root / "projects" / name, source, write_markdown=False)
        build_all(project.context())
        (current,) = release_ids(project.data, "churches")
        (root / name).symlink_to(project.data / "releases" / "churches" / current)


@pytest.fixture
def connection(postgres_server: str) -> Iterator[Any]:
    """To an empty database, which the environment names."""
    with own_database(postgres_server) as address, connect(address) as opened:
        yield opened


def rows(connection: Any, query: str, *given: object) -> list[tuple[Any, ...]]:
    return connection.execute(query, given or None).fetchall()  # type: ignore[no-any-return]


def state(connection: Any) -> list[tuple[Any, ...]]:
    """Every row of every table with the transaction that wrote it."""
    return [
        row
        for table in (*postgres.TABLES, "community_members")
        for row in rows(
            connection, f"SELECT '{table}', xmin::text, ctid::text, t::text FROM graph.{table} t ORDER BY 4"
        )
    ]


def current(connection: Any) -> str:
    ((release,),) = rows(connection, "SELECT release FROM graph.releases WHERE current")
    return str(release)


def test_tables_columns_indexes_and_triggers_are_those_of_the_published_schema(
    connection: Any, releases: tuple[Release, Release]
) -> None:
    postgres.publish(connection, releases[0])
    for table, columns in PUBLISHED.items():
        found = rows(
            connection,
            """SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
            WHERE attrelid = %s::regclass AND attnum > 0 ORDER BY attnum""",
            f"graph.{table}",
        )
        assert dict(found[: len(columns)]) == columns
    indexes = "\n".join(
        one for (one,) in rows(connection, "SELECT indexdef FROM pg_indexes WHERE schemaname = 'graph'")
    )
    assert all(f" ON graph.{one}" in indexes for one in INDEXED)
    triggers = {
        one
        for (one,) in rows(
            connection, "SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = 'fill_search'"
        )
    }
    assert {"graph.entities", "graph.communities"} <= triggers


def test_a_second_publication_changes_nothing(connection: Any, releases: tuple[Release, Release]) -> None:
    first = postgres.publish(connection, releases[0])
    before = state(connection)
    again = postgres.publish(connection, releases[0])
    assert not first.there and again.there and state(connection) == before
    edges = (
        "SELECT count(*), count(DISTINCT (source_entity_id, target_entity_id, iri)) FROM graph.relationships"
    )
    ((count, distinct),) = rows(connection, edges)
    assert count == distinct > 0


def test_an_index_is_given_the_memory_that_it_needs_and_no_more_than_a_gibibyte(
    connection: Any, releases: tuple[Release, Release]
) -> None:
    def given() -> int:
        asked = "SELECT setting::int FROM pg_settings WHERE name = 'maintenance_work_mem'"
        return int(rows(connection, asked)[0][0])

    writing, before = postgres.Rows(releases[0], connection, postgres.SILENT), given()
    with connection.transaction():
        writing._give_memory(10)
        assert given() == before, "never less than the server has"
        writing._give_memory(90_000)
        assert before < 90_000 * 4 * 256 >> 10 < given() < 1 << 20
        writing._give_memory(10_000_000)
        assert given() == 1 << 20
    assert given() == before, "for the transaction alone"


def test_an_edge_that_is_there_cannot_be_doubled(connection: Any, releases: tuple[Release, Release]) -> None:
    import psycopg

    postgres.publish(connection, releases[0])
    again = """INSERT INTO graph.relationships (source_entity_id, target_entity_id, relationship_type, iri, release)
      SELECT source_entity_id, target_entity_id, relationship_type, iri, release FROM graph.relationships LIMIT 1"""
    with pytest.raises(psycopg.errors.UniqueViolation):
        connection.execute(again)


def test_a_new_release_stands_beside_the_old_one_and_old_ones_go(
    connection: Any, releases: tuple[Release, Release]
) -> None:
    old, new = releases
    postgres.publish(connection, old)
    of_old = [row for row in state(connection) if old.id in row[3] and row[0] != "releases"]
    done = postgres.publish(connection, new, keep=[old.id])
    assert done.removed == () and current(connection) == new.id
    assert [row for row in state(connection) if old.id in row[3] and row[0] != "releases"] == of_old
    for release in releases:  # both can be searched
        assert "Church 3" in {
            one.label for one in PostgresStore(replace(release)).entities("Church 3", 3).found
        }
    assert (
        postgres.publish(connection, old, keep=[new.id]).there and current(connection) == old.id
    )  # a rollback
    assert postgres.publish(connection, new).removed == (old.id,)
    assert {row[1] for row in rows(connection, "SELECT 1, release FROM graph.entities")} == {new.id}
    assert not [one for (one,) in rows(connection, "SELECT indexname FROM pg_indexes") if old.id in one]


def _publish_and_be_killed(folder: Path, release: str, address: str) -> None:
    os.environ |= {VARIABLE: address, failpoints.VARIABLE: f"{postgres.NAME}=kill"}
    with postgres.connected() as connection:
        postgres.publish(connection, open_release(folder, folder))


def test_a_killed_publication_leaves_the_old_release(
    connection: Any, releases: tuple[Release, Release]
) -> None:
    old, new = releases
    postgres.publish(connection, old)
    before = state(connection)
    process = multiprocessing.get_context("spawn").Process(
        target=_publish_and_be_killed, args=(new.folder, new.id, os.environ[VARIABLE])
    )
    process.start()
    process.join(120)
    assert process.exitcode == -signal.SIGKILL
    assert state(connection) == before and current(connection) == old.id
    assert not postgres.publish(connection, new, keep=[old.id]).there and current(connection) == new.id


def test_what_names_and_texts_say_is_data(connection: Any, releases: tuple[Release, Release]) -> None:
    """Names that would end a statement, a text longer than a tsvector of PostgreSQL, an address that no index takes."""
    done = postgres.publish(connection, releases[1])
    assert done.left_out == 1
    store = PostgresStore(replace(releases[1]))
    hostile = store.entity(f"{BASE}long")
    assert "DROP TABLE graph.entities" in hostile.label
    for query in ("jaderna", "παναγια", "JADERNÁ elektrárna"):
        assert hostile.iri in {one.iri for one in store.entities(query, 10).found}
    assert store.passages("jaderna", 3)


def test_relations_lead_to_the_entity_that_is_meant_and_not_to_another_of_its_name(
    connection: Any, releases: tuple[Release, Release]
) -> None:
    """The published code looked ends up by name, of whatever type."""
    postgres.publish(connection, releases[0])
    connection.execute("UPDATE graph.entities SET name = 'Untitled'")
    store = PostgresStore(replace(releases[0]))
    found = store.neighbourhood(f"{BASE}mural1", 1, 20)
    assert {one.iri for one in found.neighbours} == {f"{BASE}church1", f"{BASE}painting1"}


def test_an_entity_that_is_removed_leaves_its_communities_and_relations(
    connection: Any, releases: tuple[Release, Release]
) -> None:
    postgres.publish(connection, releases[0])
    ((entity, before),) = rows(
        connection,
        "SELECT entity_id, count(*) FROM graph.community_members GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1",
    )
    assert before
    connection.execute("DELETE FROM graph.entities WHERE entity_id = %s", [entity])
    assert rows(connection, "SELECT FROM graph.communities WHERE %s = ANY(entity_ids)", entity) == []
    assert rows(connection, "SELECT FROM graph.community_members WHERE entity_id = %s", entity) == []
    assert (
        rows(
            connection,
            "SELECT FROM graph.relationships WHERE %s IN (source_entity_id, target_entity_id)",
            entity,
        )
        == []
    )


def test_vectors_of_another_length_are_refused_with_both_lengths(
    connection: Any, releases: tuple[Release, Release]
) -> None:
    postgres.prepare(connection, 7)
    with pytest.raises(BuildError, match="vectors of 7 numbers, the release has some of 256"):
        postgres.publish(connection, releases[0])


def test_a_schema_of_another_program_is_left_as_it_is(
    connection: Any, releases: tuple[Release, Release]
) -> None:
    connection.execute("CREATE SCHEMA graph")
    connection.execute("CREATE TABLE graph.entities (entity_id SERIAL PRIMARY KEY, name TEXT)")
    with pytest.raises(BuildError, match="not of this program"):
        postgres.publish(connection, releases[0])
    assert rows(connection, "SELECT * FROM graph.entities") == []


def test_a_reader_may_read_and_nothing_more(
    connection: Any, postgres_server: str, releases: tuple[Release, Release]
) -> None:
    import psycopg

    with pytest.raises(BuildError, match="no role 'nobody'"):
        postgres.publish(connection, releases[0], reader="nobody")
    connection.execute("DROP ROLE IF EXISTS visitor")
    connection.execute("CREATE ROLE visitor")
    postgres.publish(connection, releases[0], reader="visitor")
    connection.execute("SET ROLE visitor")
    assert rows(connection, "SELECT count(*) FROM graph.entities") != [(0,)]
    for forbidden in (
        "DELETE FROM graph.entities",
        "CREATE TABLE graph.own (a INT)",
        "UPDATE graph.releases SET current = false",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(forbidden)
    connection.execute("RESET ROLE")
    connection.execute("DROP OWNED BY visitor")
    connection.execute("DROP ROLE visitor")


def test_missing_vectors_are_made_of_one_text_and_only_once(
    connection: Any, releases: tuple[Release, Release]
) -> None:
    """The published code had two formats of what is encoded."""
    postgres.publish(connection, releases[0])
    assert set(postgres.embed(connection, releases[0]).values()) == {0}
    lost = connection.execute(
        "UPDATE graph.entities SET search_embedding = NULL WHERE search_embedding IS NOT NULL"
    ).rowcount
    made = postgres.embed(connection, releases[0], relationships=True)
    ((edges,),) = rows(connection, "SELECT count(*) FROM graph.relationships")
    assert lost > 0 and made == {"entities": lost, "communities": 0, "passages": 0, "relationships": edges}
    assert set(postgres.embed(connection, releases[0], relationships=True).values()) == {0}
    ((name, description, vector),) = rows(
        connection,
        """SELECT name, description, search_embedding::text FROM graph.entities
        WHERE search_embedding IS NOT NULL AND description <> '' LIMIT 1""",
    )
    expected = releases[0][QueryEncoder].encoder.encode([f"{name} {description}"])[0]
    assert np.allclose(np.array(vector.strip("[]").split(","), np.float32), expected, atol=1e-5)
    assert (
        postgres.text_of("Act 18", "REFERENCES", "Act 263", "in part") == "Act 18 REFERENCES Act 263 in part"
    )
    assert postgres.text_of("Act 18", None) == "Act 18"


OTHERS = """
CREATE SCHEMA graph;
CREATE TABLE graph.entities (entity_id SERIAL PRIMARY KEY, name TEXT NOT NULL, entity_type TEXT NOT NULL, description TEXT,
  document_id TEXT NOT NULL, UNIQUE (name, entity_type, document_id));
INSERT INTO graph.entities (name, entity_type, description, document_id) VALUES
  ('Jaderná elektrárna', 'FACILITY', 'Temelín', 'a'), ('Παναγία', 'CONCEPT', NULL, 'b')"""


def test_full_text_is_made_for_a_database_that_another_program_filled(connection: Any) -> None:
    connection.execute(OTHERS)
    assert postgres.fill_full_text(connection) == {"entities": 2}
    assert postgres.fill_full_text(connection) == {"entities": 0}
    found = "SELECT name FROM graph.entities WHERE search_tsv @@ plainto_tsquery('simple', %s)"
    assert rows(connection, found, "jaderna temelin") == [("Jaderná elektrárna",)]
    assert rows(connection, found, "παναγια") == [("Παναγία",)]


def test_rows_that_others_add_are_folded_by_the_server_where_it_can(connection: Any) -> None:
    connection.execute(OTHERS)
    postgres.fill_full_text(connection)
    connection.execute(
        "INSERT INTO graph.entities (name, entity_type, document_id) VALUES ('Řád úřadu', 'REGULATION', 'c')"
    )
    found = "SELECT name FROM graph.entities WHERE search_tsv @@ plainto_tsquery('simple', %s)"
    folds = rows(connection, "SELECT FROM pg_extension WHERE extname = 'unaccent'")
    assert rows(connection, found, "rad uradu" if folds else "řád") == [("Řád úřadu",)]


def test_what_was_read_from_pages_has_its_page_and_document_and_the_published_key(
    connection: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    import psycopg

    release = open_release("churches", made_once(tmp_path_factory, "regulation", build_regulation) / "data")
    postgres.publish(connection, release)
    read = "SELECT name, entity_type, source_page_id, document_id FROM graph.entities WHERE source_page_id IS NOT NULL"
    found = {(name, kind, page[-5:]) for name, kind, page, _ in rows(connection, read)}
    assert {("12/1987", "_p001"), ("Řehoř Žďárský", "_p002"), ("3/1961", "_p003")} <= {
        (name, page) for name, _, page in found
    }
    assert len({kind for _, kind, _ in found}) >= 5
    ((documents, curated),) = rows(
        connection,
        """SELECT count(DISTINCT document_id) FILTER (WHERE source_page_id IS NOT NULL),
          count(*) FILTER (WHERE source_page_id IS NULL AND name LIKE 'Codex%') FROM graph.entities""",
    )
    assert (documents, curated) == (1, 1)
    edges = "SELECT count(*) FROM graph.relationships WHERE source_page_id IS NOT NULL AND weight >= 1"
    assert rows(connection, edges)[0][0] >= 4
    with pytest.raises(psycopg.errors.UniqueViolation):
        connection.execute(
            """INSERT INTO graph.entities (name, entity_type, document_id, source_page_id, iri, release, category)
            SELECT name, entity_type, document_id, source_page_id, 'urn:again', release, category FROM graph.entities
            WHERE source_page_id IS NOT NULL LIMIT 1"""
        )
    # Also what has no document of its own is found by its words, and gets the vector of its name and description.
    ((number, told, vector),) = rows(
        connection,
        """SELECT entity_id, name || ' ' || description, search_embedding FROM graph.entities
        WHERE name = '3/1961' AND search_text <> ''""",
    )
    assert vector is None and postgres.embed(connection, release)["entities"] > 0
    ((vector,),) = rows(
        connection, "SELECT search_embedding::text FROM graph.entities WHERE entity_id = %s", number
    )
    expected = release[QueryEncoder].encoder.encode([told])[0]
    assert np.allclose(np.array(vector.strip("[]").split(","), np.float32), expected, atol=1e-5)
    here, there = PostgresStore(release), ReleaseStore(release)
    for (iri,) in rows(connection, "SELECT iri FROM graph.entities WHERE source_page_id IS NOT NULL"):
        assert here.entity(iri) == there.entity(iri)
        assert here.neighbourhood(iri, 2, 40) == there.neighbourhood(iri, 2, 40)


@pytest.fixture
def project(tmp_path: Path, connection: Any) -> Project:
    return make_project(tmp_path, turtle(4), write_markdown=False, postgres=True)


def test_a_build_publishes_where_the_data_set_asks_for_it_and_again_only_what_is_not_there(
    project: Project, connection: Any
) -> None:
    outcomes = build_all(project.context())
    assert outcomes[-1].record.artifact == "postgres_graph"
    release = open_release("churches", project.data)
    assert current(connection) == release.id and not release.manifest.has("postgres_graph")
    before = state(connection)
    assert run_step(STEPS["postgres_graph"], project.context()).reused and state(connection) == before
    connection.execute("DROP SCHEMA graph CASCADE")  # a database that was lost is filled again
    assert run_step(STEPS["postgres_graph"], project.context()).reused and current(connection) == release.id


def test_a_database_that_does_not_answer_holds_up_the_build_after_the_release_is_there(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "postgresql://writer:very-secret@localhost:1/museum")
    with pytest.raises(BuildHeldUp, match="does not answer") as told:
        build_all(project.context())
    assert "secret" not in str(told.value)
    assert open_release("churches", project.data).manifest.counts["documents"]


def test_a_database_that_takes_the_call_and_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "PATIENCE", 2)
    with socket.create_server(("localhost", 0)) as silent:
        monkeypatch.setenv(VARIABLE, f"postgresql://writer@localhost:{silent.getsockname()[1]}/museum")
        with pytest.raises(BuildHeldUp, match="does not answer"), postgres.connected():
            pass


def test_the_commands_may_be_repeated(connection: Any, releases: tuple[Release, Release]) -> None:
    data = releases[0].folder.resolve().parents[2]

    def run(*words: str) -> str:
        done = CliRunner().invoke(commands, [*words], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    publish, embed = ("publish", "churches", "--data", str(data)), ("embed", "churches", "--data", str(data))
    early = CliRunner().invoke(commands, embed)
    assert "is not published" in str(early.exception) and "crmrag postgres publish churches" in str(
        early.exception
    )
    assert "Published: release" in run(*publish) and "nothing was written" in run(*publish)
    assert "Vectors made: 0 entities" in run(*embed)
    assert "Full text made: 0 entities" in run("fts")
