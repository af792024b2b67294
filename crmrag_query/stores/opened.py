"""Which store the graph tools search: our own two by name, those of other packages by the entry point ``crmrag.stores``. The
environment chooses (``CRMRAG_STORE``), never a release."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Final

from crmrag_query.artifacts.release import Release
from crmrag_query.errors import ConfigError
from crmrag_query.stores.postgres import open_postgres
from crmrag_query.stores.release import ReleaseStore
from crmrag_query.stores.store import SearchStore

VARIABLE: Final = "CRMRAG_STORE"
GROUP: Final = "crmrag.stores"
Opens = Callable[[Release, str], SearchStore]
"""Opens a store for what an open release holds, told in a language, "" for the data set's first."""
OWN: Final[Mapping[str, Opens]] = {"release": ReleaseStore, "postgres": open_postgres}


@cache
def stores() -> Mapping[str, Opens]:
    """All stores by name."""
    return {**OWN, **{one.name: one.load() for one in entry_points(group=GROUP)}}


def open_store(release: Release, language: str = "") -> SearchStore:
    """The store that the environment names, by default the release itself. ConfigError where there is none of that name."""
    name = os.environ.get(VARIABLE) or next(iter(OWN))
    opens = stores().get(name)
    if opens is None:
        raise ConfigError.single(
            VARIABLE, "", "no such store", value=repr(name)[:80], remedy=f"There are: {', '.join(stores())}."
        )
    return opens(release, language)
