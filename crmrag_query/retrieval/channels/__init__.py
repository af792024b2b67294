"""Channels: the ways to find documents for a question. Each stands by its name in the ``CHANNELS`` of a module of this
package, or is an entry point ``crmrag.channels`` of another package; either is a ``Channel`` or ``Ties``.

Which of them a question is searched by is said by its mode (``config/modes.yaml``): one of those that are configured where a
release is opened, not where it was built.
"""

from __future__ import annotations

import os
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import FILE, VARIABLES, Mode, load_modes, mode_files
from crmrag_query.config.reading import part_file
from crmrag_query.errors import ConfigError, CrmRagError, QuestionError
from crmrag_query.retrieval.release_channels import Query, ReleaseChannels, Shares
from crmrag_query.retrieval.scores import Hits

Find = Callable[[ReleaseChannels, Query, int], Hits]
"""The best documents for a query, each once, best first, at most so many."""


@dataclass(frozen=True)
class Channel:
    """A ranking of documents: ``find`` gives it, ``needs`` are the artifacts that it reads.

    ``awaited``: those of them that a release may get later than all else; until then the other channels of a mode answer
    without this one. ``reserved``: its documents have no part in the fusion, but places in the pool that are kept for them.
    ``meets``: whether the data has anything to do with a query as far as this channel knows; by default, whether it finds
    anything. ``elsewhere``: it searches something beside the release, such as a database, and is measured only by its name.
    """

    find: Find
    needs: tuple[str, ...] = ()
    awaited: tuple[str, ...] = ()
    reserved: bool = False
    meets: Callable[[ReleaseChannels, Query], bool] | None = None
    elsewhere: bool = False

    def is_met(self, channels: ReleaseChannels, query: Query) -> bool:
        return self.meets(channels, query) if self.meets else len(self.find(channels, query, 1)) > 0


Groups = Iterable[tuple[float, Shares]]
"""For each thing that a question names its weight, and how strongly each document is tied to it: float32 [documents], 0..1"""


@dataclass(frozen=True)
class Ties:
    """How strongly documents are tied to what a question names. The ties of all such channels of a mode make one ranking,
    called ``tied``."""

    of: Callable[[ReleaseChannels, Query], Groups]
    needs: tuple[str, ...] = ()

    def is_met(self, channels: ReleaseChannels, query: Query) -> bool:
        return any(bool(shares.any()) for _, shares in self.of(channels, query))


TIED = "tied"
"""The name of the ranking that all ties make."""
RANKING = ("encoder", "bm25_index")
"""What documents that are tied as strongly are ranked by, beside their vectors where they have any."""
GROUP = "crmrag.channels"


@cache
def _own() -> dict[str, Channel | Ties]:
    modules = (import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__))
    return {name: channel for module in modules for name, channel in module.CHANNELS.items()}


@cache
def channel_names() -> tuple[str, ...]:
    """The names of all channels: our own, then those of other packages."""
    return tuple(dict.fromkeys((*sorted(_own()), *sorted(entry_points(group=GROUP).names))))


@cache
def channel_of(name: str) -> Channel | Ties:
    """The channel of that name, one of ``channel_names``. Raises CrmRagError for an entry point that gives none."""
    other = next(iter(entry_points(group=GROUP, name=name)), None)
    found = _own()[name] if other is None else other.load()
    if not isinstance(found, Channel | Ties):
        raise CrmRagError(
            f"The entry point {name!r} of {GROUP} gives a {type(found).__name__}.",
            "It should name a Channel or Ties: docs/extending.md.",
        )
    return found


STAGES: Mapping[str, tuple[str, ...]] = {
    "reached": ("entity_graph", "faiss_index", "encoder"),
    "themes": ("communities",),
}
"""Artifacts that parts of an expansion read, beyond those that all releases have."""


def known_modes(folder: Path | None = None) -> dict[str, Mode]:
    """All modes that are configured, by name, the default first; ConfigError for one with a channel that there is not, or
    with a threshold that nothing is measured by."""
    found = load_modes(folder)
    known = channel_names()
    for name, mode in found.items():
        for channel in mode.channels:
            if channel not in known:
                raise ConfigError.single(
                    part_file(FILE, folder), f"modes.{name}.channels", "no such channel",
                    value=repr(channel), remedy=f"There are: {', '.join(known)}.",
                )  # fmt: skip
        _check_thresholds(mode, part_file(FILE, folder))
    return found


def _check_thresholds(mode: Mode, file: Path) -> None:
    """Raise ConfigError for a threshold of no ranking that the mode has: ties make one, whichever channels they are of."""
    ties = [name for name in mode.channels if isinstance(channel_of(name), Ties)]
    rankings = [name for name in mode.channels if name not in ties] + [TIED] * bool(ties)
    for name, least in mode.thresholds.items():
        if name in rankings:
            continue
        if name in ties:
            reason = "the ties of all channels make one ranking, which has the only threshold"
            remedy = f"Give the threshold of {TIED}: thresholds: {{{TIED}: {least:g}}}."
        else:
            reason = "a threshold of a channel that the mode does not search by"
            remedy = f"It can have thresholds of: {', '.join(rankings)}." if rankings else "Remove it."
        raise ConfigError.single(
            file, f"modes.{mode.name}.thresholds.{name}", reason, value=f"{least:g}", remedy=remedy
        )


@dataclass
class ConfiguredModes:
    """The modes of a ``folder`` of configuration (None: the one found by itself), as they were last read, and how the files
    and the environment were then. One for each open release."""

    folder: Path | None
    modes: dict[str, Mode] = field(default_factory=dict)
    seen: tuple[object, ...] = ()

    @classmethod
    def from_release(cls, release: Release) -> ConfiguredModes:
        return cls(release.opener.config)

    def all(self) -> dict[str, Mode]:
        """As ``known_modes``; read again only where a file or a variable is another than before."""
        seen = (*map(_stamp, mode_files(self.folder)), *map(os.environ.get, VARIABLES))
        if seen != self.seen:
            self.modes = known_modes(self.folder)
            self.seen = seen
        return self.modes


def _stamp(file: Path) -> tuple[Path, int, int, int] | None:
    """What tells one state of a file from another; None where there is none."""
    try:
        found = file.stat()
    except OSError:
        return None
    return file, found.st_ino, found.st_size, found.st_mtime_ns


def modes_of(release: Release) -> dict[str, Mode]:
    """All modes by name, as whoever opened the release has them; not each has all that it needs there, see ``lacking``.

    A change of the files, or of the environment, counts from the next call on.
    """
    return release[ConfiguredModes].all()


def default_mode(release: Release) -> Mode:
    return next(iter(modes_of(release).values()))


def find_mode(release: Release, name: str = "") -> Mode:
    """The mode of that name, "" for the default. QuestionError where there is none, or the release cannot be asked in it."""
    found = modes_of(release)
    mode = found.get(name or next(iter(found)))
    if mode is None:
        raise QuestionError(f"There is no mode {name[:80]!r}.", f"There are: {', '.join(found)}.")
    if lacks := lacking(release, mode):
        others = ", ".join(one.name for one in found.values() if not lacking(release, one))
        raise QuestionError(
            f"Release {release.id} cannot be asked in the mode {mode.name!r}: it has no {', '.join(lacks)}.",
            f"{release.remedy(lacks)}. {f'It can be asked in: {others}.' if others else ''}".strip(),
        )
    return mode


def has_channel(release: Release, name: str) -> bool:
    """Whether a release has the artifacts that a channel needs."""
    return all(map(release.manifest.has, channel_of(name).needs))


def lacking(release: Release, mode: Mode) -> tuple[str, ...]:
    """The artifacts that a mode needs and a release has not; what a channel waits for is needed where all channels do."""
    channels = [channel_of(name) for name in mode.channels]
    alone = all(isinstance(one, Channel) and one.awaited for one in channels)
    needed = [*mode.needs, *(artifact for stage in mode.expansion for artifact in STAGES.get(stage, ()))]
    for one in channels:
        later = one.awaited if isinstance(one, Channel) and not alone else ()
        needed += [artifact for artifact in one.needs if artifact not in later]
    return tuple(one for one in dict.fromkeys(needed) if not release.manifest.has(one))
