"""When a data set is built again by itself, as `datasets.yaml` declares it."""

from __future__ import annotations

import re
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pydantic import AfterValidator

from crmrag_query.config.reading import Record
from crmrag_query.config.types import Count, Positive, Share

_FIELDS = (
    ("minute", 0, 59, ""),
    ("hour", 0, 23, ""),
    ("day of the month", 1, 31, ""),
    ("month", 1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"),
    ("day of the week", 0, 7, "sun mon tue wed thu fri sat"),
)
_NICKNAMES = ("@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually")
_PART = re.compile(r"(?:\*|(\w+)(?:-(\w+))?)(?:/(\d+))?")


def _cron(text: str) -> str:
    """The five fields of cron, each checked against its range; "" for no schedule."""
    if not text or text in _NICKNAMES:
        return text
    fields = text.split()
    if len(fields) != len(_FIELDS):
        raise ValueError(
            "a schedule has five fields, as '0 3 * * *' for every night at three: minute, hour, day of the month, month, "
            "day of the week"
        )
    for field, (name, low, high, words) in zip(fields, _FIELDS, strict=True):
        for part in field.lower().split(","):
            if not _fits(part, low, high, words.split()):
                raise ValueError(f"{part!r} is no {name} of a schedule ({low} to {high}, a range, or */step)")
    if fields[3].lower() in ("2", "02", "feb") and fields[2] in ("30", "31"):
        raise ValueError("February has no such day: nothing would ever be built")
    return " ".join(fields)


def _fits(part: str, low: int, high: int, words: list[str]) -> bool:
    found = _PART.fullmatch(part)
    if found is None:
        return False
    first, last, step = (_number(text, words) for text in found.groups())
    bounds = [number for number in (first, last) if number is not None]
    if not all(low <= number <= high for number in bounds) or bounds != sorted(bounds):
        return False
    return step is None or 1 <= step <= (high if last is None else last)


def _number(text: str | None, words: list[str]) -> int | None:
    """The number that a name or digits stand for; one out of every range for other text."""
    if text is None:
        return None
    if text in words:
        return words.index(text) + (len(words) == 12)
    return int(text) if text.isascii() and text.isdigit() else -1


def _timezone(text: str) -> str:
    try:
        ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        if available_timezones():  # where this machine has no list of them, Dagster brings one
            raise ValueError("no such time zone; they are named as Europe/Athens or UTC") from None
    return text


class Rebuild(Record):
    """When a data set is built again without being told to; by default never.

    `watch`: look every `every_seconds` whether the source has changed, and build when a change has stayed as it is for
    `settle_seconds`; a source with less than `least_share` of what it had is taken for a fault. `schedule`: build at these
    times, in cron's five fields and in `timezone`; an endpoint is asked for everything again. `fresh_hours`: how old what
    is published may be before it is told.
    """

    watch: bool = False
    settle_seconds: Count = 120
    every_seconds: Count = 60
    least_share: Share = 0.5
    schedule: Annotated[str, AfterValidator(_cron)] = ""
    timezone: Annotated[str, AfterValidator(_timezone)] = "UTC"
    fresh_hours: Positive | None = None
