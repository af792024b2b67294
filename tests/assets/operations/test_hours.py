"""Hours of the day in which vectors are made."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_assets.operations.freshness import is_open, opening
from crmrag_query.config.loading import Rebuild

MINUTES = st.integers(0, 24 * 60 - 1)


def clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


@settings(max_examples=100)
@given(MINUTES, MINUTES, st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31)))
def test_an_instant_is_within_where_the_minutes_of_its_place_are(
    first: int, last: int, when: datetime
) -> None:
    if first == last:
        return
    rebuild = Rebuild(embed_hours=f"{clock(first)}-{clock(last)}", timezone="Europe/Athens")
    now = when.replace(tzinfo=UTC)
    here = now.astimezone(ZoneInfo("Europe/Athens"))
    passed = here.hour * 60 + here.minute
    within = first <= passed < last if first < last else passed >= first or passed < last
    assert is_open(rebuild, now) == within
    begins = opening(rebuild, now)
    assert clock(begins.hour * 60 + begins.minute) == clock(first)
    assert (begins <= now) == within and abs(begins - now) <= timedelta(hours=25)


def test_without_hours_it_is_always_open_and_a_day_is_one_opening() -> None:
    morning, evening = (datetime(2026, 5, 4, hour, tzinfo=UTC) for hour in (1, 22))
    assert is_open(Rebuild(), morning) and opening(Rebuild(), morning) == opening(Rebuild(), evening)
    assert opening(Rebuild(), evening) != opening(Rebuild(), evening + timedelta(hours=3))


@pytest.mark.parametrize("text", ["at night", "20-06", "24:00-06:00", "06:00-06:00"])
def test_what_are_no_hours_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="hours"):
        Rebuild(embed_hours=text)
