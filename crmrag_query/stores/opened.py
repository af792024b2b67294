"""Which store the graph tools search: our own two by name, those of other packages by the entry point ``crmrag.stores``. The
environment chooses (``CRMRAG_STORE``), never a release."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Final, cast

from crmrag_query.artifacts.release import Release
from crmrag_query.errors import ConfigError
from crmrag_query.stores.postgres import open_postgres
from crmrag_query.stores.records import SearchStore
from crmrag_query.stores.release import ReleaseStore

VARIABLE: Final = "CRMRAG_STORE"
GROUP: Final = "crmrag.stores"
Opens = Callable[[Release, str], SearchStore]
"""Opens a store for what an open release holds, told in a language, "" for the data set's first."""
OWN: Final[Mapping[str, Opens]] = {"release": ReleaseStore, "postgres": open_postgres}


@cache
def opener_of(name: str) -> Opens:
    """What opens the store of that name; ConfigError where there is none."""
    other = next(iter(entry_points(group=GROUP, name=name)), None)
    if other is None and name not in OWN:
        known = dict.fromkeys((*OWN, *sorted(entry_points(group=GROUP).names)))
        raise ConfigError.single(
            VARIABLE, "", "no such store", value=repr(name)[:80], remedy=f"There are: {', '.join(known)}."
        )
    return OWN[name] if other is None else cast(Opens, other.load())


def open_store(release: Release, language: str = "") -> SearchStore:
    """The store that the environment names, by default the release itself. ConfigError where there is none of that name."""
    return opener_of(os.environ.get(VARIABLE) or next(iter(OWN)))(release, language)
