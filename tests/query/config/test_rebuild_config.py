"""When a data set is built by itself: schedules are checked as Dagster would, mistakes are told with their key."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.config.datasets import load_datasets
from crmrag_query.config.loading import Rebuild
from crmrag_query.config.reading import parse_part
from crmrag_query.errors import ConfigError


def read(folder: Path, text: str) -> Rebuild:
    file = folder / "datasets.yaml"
    file.write_text(f"datasets:\n  museum:\n    rdf: x.ttl\n    rebuild: {text}\n", encoding="utf-8")
    return load_datasets(file)["museum"].rebuild


def test_by_default_nothing_is_built_by_itself_and_two_releases_stay(tmp_path: Path) -> None:
    (tmp_path / "datasets.yaml").write_text("datasets: {museum: {rdf: x.ttl}}")
    museum = load_datasets(tmp_path / "datasets.yaml")["museum"]
    assert museum.rebuild == Rebuild() and not museum.rebuild.watch and museum.rebuild.schedule == ""
    assert museum.rebuild.fresh_hours is None and museum.keep_releases == 2


def test_all_of_it_is_read(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "{watch: true, settle_seconds: 5, every_seconds: 30, "
        "schedule: '0  3 * * 1-5', timezone: Europe/Athens, fresh_hours: 48}",
    )
    assert (found.watch, found.settle_seconds, found.every_seconds) == (True, 5, 30)
    assert (found.schedule, found.timezone, found.fresh_hours) == ("0 3 * * 1-5", "Europe/Athens", 48)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{schedule: at night}", "rebuild.schedule: a schedule has five fields"),
        ("{schedule: 0 24 * * *}", "'24' is no hour of a schedule (0 to 23, a range, or */step)"),
        ("{schedule: 0 3 * * 5-1}", "'5-1' is no day of the week"),
        ("{schedule: '*/0 * * * *'}", "'*/0' is no minute"),
        ("{schedule: '0-4/9 * * * *'}", "'0-4/9' is no minute"),
        ("{schedule: 0 0 30 2 *}", "February has no such day"),
        ("{timezone: Mars/Olympus}", "rebuild.timezone: no such time zone"),
        ("{timezone: ../../etc/passwd}", "rebuild.timezone: no such time zone"),
        ("{every_seconds: 0}", "rebuild.every_seconds: input should be greater than or equal to 1"),
        ("{wacth: true}", "rebuild.wacth: unknown key (found True). Did you mean watch?"),
        ("{least_share: 2}", "rebuild.least_share: input should be less than or equal to 1"),
        ("{fresh_hours: 0}", "rebuild.fresh_hours: input should be greater than 0"),
    ],
)
def test_a_mistake_is_told(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    assert f"datasets.museum.{message}" in str(caught.value) or message in str(caught.value)


def test_less_than_two_releases_cannot_be_kept(tmp_path: Path) -> None:
    (tmp_path / "datasets.yaml").write_text("datasets: {museum: {rdf: x.ttl, keep_releases: 1}}")
    with pytest.raises(
        ConfigError, match=r"museum\.keep_releases: input should be greater than or equal to 2"
    ):
        load_datasets(tmp_path / "datasets.yaml")


def part(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    simple = st.just("*") | number.map(str)
    ranges = (
        st.tuples(number, number)
        .filter(lambda both: both[0] != both[1])
        .map(lambda both: f"{min(both)}-{max(both)}")
    )
    steps = st.tuples(st.just("*"), st.integers(1, high)).map(lambda both: f"{both[0]}/{both[1]}")
    return st.lists(simple | ranges | steps, min_size=1, max_size=2).map(",".join)


FIELDS = st.tuples(
    part(0, 59),
    part(0, 23),
    part(1, 31),
    part(1, 12) | st.just("jan,Mar-MAY"),
    part(0, 6) | st.just("mon-fri"),
)


@given(
    FIELDS | st.tuples(st.sampled_from(["@daily", "@hourly", "@weekly", "@monthly", "@yearly", "@midnight"]))
)
def test_every_schedule_that_is_accepted_is_one_for_dagster(fields: tuple[str, ...]) -> None:
    from dagster._utils.schedules import has_out_of_range_cron_interval, is_valid_cron_schedule

    try:
        schedule = parse_part(Rebuild, {"schedule": " ".join(fields)}, "datasets.yaml").schedule
    except ConfigError:
        assert fields[3] == "2"
        return
    assert is_valid_cron_schedule(schedule) and not has_out_of_range_cron_interval(schedule)


@given(st.text(max_size=20))
def test_any_other_text_is_a_mistake_or_a_schedule_for_dagster(text: str) -> None:
    from dagster._utils.schedules import is_valid_cron_schedule

    try:
        schedule = parse_part(Rebuild, {"schedule": text}, "datasets.yaml").schedule
    except ConfigError:
        return
    assert schedule == "" or is_valid_cron_schedule(schedule)
