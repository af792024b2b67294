"""How old what is published is: of when the data is that a data set's release was made from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from crmrag_assets.build.marks import Published, confirmed_at
from crmrag_assets.build.step import BuildContext

HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Age:
    """A data set, of when its data is (None where it was never published), and how many hours old it may be.

    Files are as of the last finished build, which reads them; an endpoint's data is as of its oldest fetch; either is as of
    the last look that found the source unchanged, where that is later.
    """

    dataset: str
    as_of: datetime | None
    allowed: float
    hours: float

    @property
    def fresh(self) -> bool:
        return self.as_of is not None and self.hours <= self.allowed

    def __str__(self) -> str:
        if self.as_of is None:
            return f"'{self.dataset}' has not been published yet"
        when = f"{self.as_of:%Y-%m-%d at %H:%M} UTC"
        return f"'{self.dataset}' is as of {when}, {self.hours:.1f} hours ago; {self.allowed:g} are allowed"


def age(context: BuildContext, now: datetime) -> Age:
    """The age of a data set's release."""
    root, allowed = context.store.root, context.config.rebuild.fresh_hours or float("inf")
    built = Published.read(root)
    if built is None:
        return Age(context.name, None, allowed, 0.0)
    told = built.fetched if context.config.endpoint is not None else built.at
    times = [time for time in (_time(told), confirmed_at(root)) if time is not None]
    if not times:
        return Age(context.name, None, allowed, 0.0)
    return Age(context.name, max(times), allowed, (now - max(times)) / HOUR)


def _time(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def sentence(ages: Iterable[Age]) -> str:
    """What a person should know of these ages, the stale ones by name and with what to do."""
    listed = list(ages)
    stale = [one for one in listed if not one.fresh]
    if not stale:
        return f"Every data set with `fresh_hours` is fresh: {', '.join(one.dataset for one in listed)}."
    return "; ".join(map(str, stale)) + ". Look at the latest run of each: what keeps it from being built?"


def rows(ages: Iterable[Age]) -> list[dict[str, str]]:
    """A row for each data set."""
    return [
        {
            "data set": one.dataset,
            "as of": f"{one.as_of:%Y-%m-%d %H:%M} UTC" if one.as_of else "never",
            "hours": f"{one.hours:.1f}" if one.as_of else "",
            "allowed": f"{one.allowed:g}",
            "fresh": "yes" if one.fresh else "no",
        }
        for one in listed_by_age(ages)
    ]


def listed_by_age(ages: Iterable[Age]) -> list[Age]:
    """Stale ones first, then the oldest."""
    return sorted(ages, key=lambda one: (one.fresh, -one.hours, one.dataset))
