"""The hours of the day in which vectors are made."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from crmrag_query.config.build import Rebuild

DAY = timedelta(days=1)


def opening(rebuild: Rebuild, now: datetime) -> datetime:
    """When the hours began that ``now`` lies in, or when they begin next; ``now`` is an instant, of whatever zone.

    Without hours it is the beginning of the day.
    """
    here = now.astimezone(ZoneInfo(rebuild.timezone))
    begin, end = _ends(rebuild)
    today = datetime.combine(here.date(), begin, here.tzinfo)
    if begin > end and here.time() < end:  # they began the evening before
        return today - DAY
    over = begin < end <= here.time()
    return today + DAY if over else today


def is_open(rebuild: Rebuild, now: datetime) -> bool:
    """Whether vectors may be made at this instant."""
    return opening(rebuild, now) <= now


def _ends(rebuild: Rebuild) -> tuple[time, time]:
    if not rebuild.embed_hours:
        return time(0), time(0)
    first, last = (time.fromisoformat(part) for part in rebuild.embed_hours.split("-"))
    return first, last
