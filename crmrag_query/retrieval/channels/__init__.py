"""Channels: the ways to find documents for a question. Each stands by its name in the ``CHANNELS`` of a module of this
package, or is an entry point ``crmrag.channels`` of another package; either is a ``Channel`` or ``Ties``.

Which of them a question is searched by is said by its mode (``config/modes.yaml``).
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from crmrag_query.errors import CrmRagError
from crmrag_query.retrieval.query import Query
from crmrag_query.retrieval.release_channels import ReleaseChannels, Shares
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
