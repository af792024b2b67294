"""The event log that a build writes holds what Dagster's own would hold, and is read by Dagster as its own."""

import sqlite3
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from crmrag_assets.event_log import EventLog, quicken, together
from crmrag_assets.instance import known_betas, open_instance

PARTITIONS = [f"{number:02x}" for number in range(20)]
ASSET = dg.AssetKey("thing")


def make(context: dg.AssetExecutionContext) -> Any:
    with together(context.instance):
        for partition in context.partition_keys:
            context.log_event(
                dg.AssetMaterialization(
                    ASSET, partition=partition, tags={"dagster/data_version": partition, "own": "x"}
                )
            )
    yield dg.AssetCheckResult(check_name="holds", passed=True)


with known_betas():
    thing = dg.asset(
        name="thing",
        partitions_def=dg.StaticPartitionsDefinition(PARTITIONS),
        backfill_policy=dg.BackfillPolicy.single_run(),
        output_required=False,
        check_specs=[dg.AssetCheckSpec("holds", asset="thing")],
    )(make)


def run(instance: dg.DagsterInstance) -> dg.DagsterRun:
    ends = {"dagster/asset_partition_range_start": "00", "dagster/asset_partition_range_end": PARTITIONS[-1]}
    done = dg.materialize([thing], instance=instance, tags=ends)
    assert done.success
    return done.dagster_run


def rows(data: Path, run_id: str) -> dict[str, list[tuple[Any, ...]]]:
    """What the files of the log hold but times, run ids and the events as such, in the order of writing."""
    found = {}
    folder = data / "dagster" / "history" / "runs"
    told = "select dagster_event_type, step_key, asset_key, partition from event_logs order by id"
    tags = "select event_id, asset_key, key, value from asset_event_tags order by id"
    checks = (
        "select asset_key, check_name, partition, execution_status from asset_check_executions order by id"
    )
    keys = "select asset_key, last_materialization like '%\"13\"%', last_run_id is not null, tags from asset_keys"
    for name, file, query in (
        ("run", run_id, told),
        ("index", "index", told),
        ("tags", "index", tags),
        ("checks", "index", checks),
        ("keys", "index", keys),
    ):
        with sqlite3.connect(folder / f"{file}.db") as connection:
            found[name] = connection.execute(query).fetchall()
    return found


def tables(log: EventLog, run_id: str) -> list[tuple[Any, ...]]:
    """Tables and indexes of a run's file, the state of Dagster's migrations, and how it is written."""
    with sqlite3.connect(log.path_for_shard(run_id)) as connection:
        found = connection.execute("select type, name, sql from sqlite_master order by name").fetchall()
        found += connection.execute("select version_num from alembic_version").fetchall()
        return found + connection.execute("pragma journal_mode").fetchall()


def test_a_log_written_together_holds_what_dagsters_own_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_instance(tmp_path / "own") as instance:
        own = rows(tmp_path / "own", run(instance).run_id)
    monkeypatch.setenv("DAGSTER_EVENT_BATCH_SIZE", "7")  # several batches and a rest
    with open_instance(tmp_path / "quick") as instance:
        quicken(instance)
        assert isinstance(instance.event_log_storage, EventLog)
        quick_id = run(instance).run_id
        quick = rows(tmp_path / "quick", quick_id)
    assert quick == own
    assert len([row for row in own["index"] if row[0] == "ASSET_MATERIALIZATION"]) == len(PARTITIONS)
    with open_instance(tmp_path / "quick") as instance:
        quicken(instance)
        log = instance.event_log_storage
        assert isinstance(log, EventLog)
        for _ in range(2):  # the file of the second run is a copy
            run_id = run(instance).run_id
            assert rows(tmp_path / "quick", run_id)["run"] == own["run"]
        assert tables(log, run_id) == tables(log, quick_id)
    with open_instance(tmp_path / "quick") as instance:  # as the UI reads it
        assert instance.get_materialized_partitions(ASSET) == set(PARTITIONS)


def test_what_fails_on_the_way_is_not_stored_and_a_reader_sees_nothing_before_the_end(tmp_path: Path) -> None:
    with open_instance(tmp_path) as instance, open_instance(tmp_path) as reader:
        quicken(instance)
        with pytest.raises(RuntimeError), together(instance):
            instance.report_runless_asset_event(dg.AssetMaterialization(ASSET, partition="00"))
            raise RuntimeError
        assert instance.get_materialized_partitions(ASSET) == set()
        with together(instance):
            for partition in PARTITIONS:
                instance.report_runless_asset_event(dg.AssetMaterialization(ASSET, partition=partition))
            assert reader.get_materialized_partitions(ASSET) == set()
        for log in (instance, reader):
            assert log.get_materialized_partitions(ASSET) == set(PARTITIONS)
