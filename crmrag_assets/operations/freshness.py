"""How old what is published is: of when the data is that a data set's release was made from; and what configuration says of
operations, in which a mistake in one data set takes nothing from the others."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from crmrag_assets.build.step import BuildContext
from crmrag_assets.build.store import Published, confirmed_at
from crmrag_query.config.datasets import DatasetConfig, parse_dataset, read_entries
from crmrag_query.config.loading import Rebuild
from crmrag_query.config.operations import Operations, load_operations
from crmrag_query.config.reading import datasets_file
from crmrag_query.errors import ConfigError


@dataclass(frozen=True)
class Declared:
    """The data sets that can be read, by name; the operations; and, for people, every mistake that was met."""

    datasets: dict[str, DatasetConfig]
    operations: Operations
    mistakes: tuple[ConfigError, ...] = ()

    @property
    def ages(self) -> dict[str, DatasetConfig]:
        """The data sets of which it is said how old they may be."""
        return {name: one for name, one in self.datasets.items() if one.rebuild.fresh_hours}


def read_declared(config: Path | None = None) -> Declared:
    """Read datasets.yaml and operations.yaml of a configuration folder, or of where they are found."""
    mistakes: list[ConfigError] = []
    file = datasets_file(config / "datasets.yaml" if config else None)
    datasets: dict[str, DatasetConfig] = {}
    operations, entries = Operations(), {}
    try:
        entries = read_entries(file)
    except ConfigError as error:
        mistakes.append(error)
    for name, entry in entries.items():
        try:
            datasets[name] = parse_dataset(name, entry, file)
        except ConfigError as error:
            mistakes.append(error)
    try:
        operations = load_operations(config)
    except ConfigError as error:
        mistakes.append(error)
    return Declared(datasets, operations, tuple(mistakes))


HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Age:
    """A data set, of when its data is (None where it was never published), and how many hours old it may be.

    Files are as of the last finished build, which reads them; an endpoint's data is as of its oldest fetch; either is as of
    the last look that found the source unchanged, where that is later. ``share``: per cent of its documents that have
    vectors.
    """

    dataset: str
    as_of: datetime | None
    allowed: float
    hours: float
    share: int = 100

    @property
    def fresh(self) -> bool:
        return self.as_of is not None and self.hours <= self.allowed

    def __str__(self) -> str:
        if self.as_of is None:
            return f"'{self.dataset}' has not been published yet"
        when = f"{self.as_of:%Y-%m-%d at %H:%M} UTC"
        text = f"'{self.dataset}' is as of {when}, {self.hours:.1f} hours ago; {self.allowed:g} are allowed"
        return text if self.share == 100 else f"{text}; {self.share} % of its documents have vectors"


def age(context: BuildContext, now: datetime) -> Age:
    """The age of a data set's release."""
    root, allowed = context.store.root, context.config.rebuild.fresh_hours or float("inf")
    built = Published.read(root)
    if built is None:
        return Age(context.name, None, allowed, 0.0)
    times = [confirmed] if (confirmed := confirmed_at(root)) else []
    with suppress(ValueError):
        made = datetime.fromisoformat(built.fetched if context.config.refreshable else built.at)
        times.append(made if made.tzinfo else made.replace(tzinfo=UTC))
    if not times:
        return Age(context.name, None, allowed, 0.0)
    return Age(context.name, max(times), allowed, (now - max(times)) / HOUR, built.share)


def sentence(ages: Iterable[Age]) -> str:
    """What a person should know of these ages, the stale ones by name and with what to do."""
    listed = list(ages)
    stale = [one for one in listed if not one.fresh]
    if not stale:
        return f"Every data set with `fresh_hours` is fresh: {', '.join(one.dataset for one in listed)}."
    return "; ".join(map(str, stale)) + ". Check the latest run of each to see why it failed."


def rows(ages: Iterable[Age]) -> list[dict[str, str]]:
    """A row for each data set: stale ones first, then the oldest."""
    return [
        {
            "data set": one.dataset,
            "as of": f"{one.as_of:%Y-%m-%d %H:%M} UTC" if one.as_of else "never",
            "hours": f"{one.hours:.1f}" if one.as_of else "",
            "allowed": f"{one.allowed:g}",
            "fresh": "yes" if one.fresh else "no",
            "vectors": f"{one.share} %" if one.as_of else "",
        }
        for one in sorted(ages, key=lambda one: (one.fresh, -one.hours, one.dataset))
    ]


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
