"""Dagster's database in the way of a build: told in words, and waited for where it may come back.

It holds the history of runs alone. Artifacts and releases do not depend on it, so that a build goes on once it answers.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy.exc import DBAPIError

from crmrag_assets.build.disks import BROKEN, FULL
from crmrag_assets.build.reporting import current_reporter
from crmrag_query.config.operations import Database
from crmrag_query.errors import BuildError, CrmRagError, DatabaseUnreachable

Result = TypeVar("Result")
DAMAGED = re.compile(r"malformed|not a database|no such table|no such column|does not exist", re.IGNORECASE)
CLOSED = re.compile(r"unable to open database|readonly database", re.IGNORECASE)
NO_CONNECTION = (
    "DagsterPostgresException"  # what dagster-postgres makes of a server that refuses several times
)
# What may pass: the third where two builds write the same at once.
PASSING = ("OperationalError", "InterfaceError", "IntegrityError", NO_CONNECTION)
# How Dagster tells an error of a database in words: its class, that of the driver, and what the database said.
_IN_WORDS = re.compile(
    r"(?:sqlalchemy\.exc\.(?P<kind>\w+): \((?:sqlite3|psycopg|pymysql|MySQLdb)[\w.]*\)|dagster_postgres\.\w+\.\w+:)"
    r" *(?P<said>.*)"
)
_LOST = "only the history of runs is lost, artifacts and releases are not in it."


@contextmanager
def database_explained() -> Iterator[None]:
    """Within the block, an error of Dagster's database says what to do. Raises DatabaseUnreachable, BuildError."""
    try:
        yield
    except CrmRagError:
        raise
    except Exception as error:
        if (told := database_trouble(error)) is None:
            raise
        raise told from error


def database_trouble(error: BaseException) -> BuildError | None:
    """What the error, or what caused it, says of Dagster's database; None of any other, and of a full or failing disk."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, DBAPIError):
            return _told(str(seen.orig), type(seen).__name__)
        if type(seen).__name__ == NO_CONNECTION:
            return _told(str(seen), NO_CONNECTION)
        seen = seen.__cause__ or seen.__context__
    return None


def trouble_in_words(message: str) -> BuildError | None:
    """The same of an error that is known by its message alone, as in Dagster's events."""
    found = _IN_WORDS.match(message.strip())
    return _told(found["said"], found["kind"] or NO_CONNECTION) if found else None


def _told(said: str, kind: str) -> BuildError | None:
    line = (said.strip().splitlines() or ["it does not say why"])[0].rstrip(".")
    if FULL.search(said) or BROKEN.search(said):
        return None
    if DAMAGED.search(said):
        return BuildError(
            f"Dagster's database is damaged ({line}).",
            "Move the folder `dagster/history` of the data folder away (restore one elsewhere), then run the build again: "
            + _LOST,
        )
    if CLOSED.search(said):
        return BuildError(
            f"Dagster's database, in the folder `dagster` of the data folder, may not be read or written ({line}).",
            f"Was it removed? Run the build again: {_LOST} Else give the user who builds the right to, then run it again.",
        )
    if kind not in PASSING:
        return BuildError(
            f"Dagster's database refuses what is asked of it ({line}).",
            "Look at `storage` in `dagster/dagster.yaml`: without it a build uses a database of its own in that folder.",
        )
    return DatabaseUnreachable(
        f"Dagster's database does not answer ({line}).",
        "What is finished is kept: run the build again when it does. `dagster/dagster.yaml` says where it is.",
    )


def persistently(work: Callable[[], Result], again: Callable[[], object], patience: Database) -> Result:
    """Do ``work``, and once more where the database did not answer, after ``again``, which may meet it as well.

    Raises DatabaseUnreachable when patience is at its end.
    """
    for attempt in range(patience.retries + 1):
        try:
            with database_explained():
                if attempt:
                    again()
                return work()
        except DatabaseUnreachable as error:
            if attempt == patience.retries:
                raise
            wait = patience.wait_seconds * 2.0**attempt
            current_reporter().told(f"{error.what} Tried again in {wait:g} s; what is finished is kept.")
            time.sleep(wait)
    raise AssertionError("the last attempt returns or raises")
