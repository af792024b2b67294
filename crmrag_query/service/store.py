"""What the service keeps: answers, conversations and feedback, in SQLite; several processes may share it."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from crmrag_query.config.service import Kept
from crmrag_query.errors import ConfigError

FILE = "service.sqlite"
SCHEMA = 1
DAY = 86_400.0
SWEEP = 3_600.0  # seconds between two looks for what is too old
WAIT = 10.0  # seconds that a writer waits for another one
TABLES = """
CREATE TABLE IF NOT EXISTS answers (
  id TEXT PRIMARY KEY, asked REAL NOT NULL, dataset TEXT NOT NULL, release TEXT NOT NULL, thread TEXT NOT NULL,
  request TEXT NOT NULL, answer TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS answers_asked ON answers (asked);
CREATE INDEX IF NOT EXISTS answers_thread ON answers (thread) WHERE thread <> '';
CREATE TABLE IF NOT EXISTS conversations (
  id TEXT PRIMARY KEY, key TEXT NOT NULL, dataset TEXT NOT NULL, created REAL NOT NULL);
CREATE TABLE IF NOT EXISTS feedback (answer TEXT NOT NULL, verdict TEXT NOT NULL, comment TEXT NOT NULL, made REAL NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class KeptText:
    """An answer as it was kept: the request that it answers and itself, as JSON; seconds since 1970."""

    id: str
    asked: float
    dataset: str
    release: str
    thread: str
    request: str
    answer: str


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation; ``key`` is a hash of what lets one go on in it."""

    id: str
    key: str
    dataset: str
    created: float

    def opens(self, key: str) -> bool:
        """Whether this is its key."""
        return hmac.compare_digest(self.key, hashed(key))


def new_id() -> str:
    """An id that nobody guesses: 128 random bits."""
    return secrets.token_urlsafe(16)


def hashed(key: str) -> str:
    """SHA-256, as a key of 128 random bits needs no slower one."""
    return hashlib.sha256(key.encode()).hexdigest()


def iso(seconds: float) -> str:
    """Seconds since 1970 in ISO 8601."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Store:
    """Safe for threads: each has a connection of its own."""

    def __init__(self, folder: Path, kept: Kept) -> None:
        self._path, self._kept = folder / FILE, kept
        self._local = threading.local()
        self._swept = 0.0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with self._writing() as db:
                db.executescript(TABLES)
                (found,) = db.execute("PRAGMA user_version").fetchone()
                if found not in (0, SCHEMA):
                    raise sqlite3.DatabaseError(f"its schema is {found}, not {SCHEMA}")
                db.execute(f"PRAGMA user_version = {SCHEMA}")
        except (OSError, sqlite3.Error) as error:
            raise ConfigError.single(
                self._path, "", f"answers cannot be kept here: {error}",
                remedy="Name another folder (--state), or keep nothing (--no-history).",
            ) from error  # fmt: skip

    def keep(self, one: KeptText) -> None:
        """Keep an answer; now and then what is too old goes."""
        with self._writing() as db:
            values = (one.id, one.asked, one.dataset, one.release, one.thread, one.request, one.answer)
            db.execute("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", values)
            if time.time() - self._swept > SWEEP:
                self._swept = time.time()
                self._sweep(db)

    def answer(self, id: str) -> KeptText | None:
        row = self._db.execute("SELECT * FROM answers WHERE id = ?", (id,)).fetchone()
        return None if row is None else self._text(row)

    def begin(self, dataset: str) -> tuple[str, str]:
        """The id and the key of a new conversation."""
        id, key = new_id(), new_id()
        with self._writing() as db:
            db.execute(
                "INSERT INTO conversations VALUES (?, ?, ?, ?)", (id, hashed(key), dataset, time.time())
            )
        return id, key

    def conversation(self, id: str) -> Thread | None:
        row = self._db.execute("SELECT * FROM conversations WHERE id = ?", (id,)).fetchone()
        return None if row is None else Thread(*row)

    def turns(self, thread: str) -> list[KeptText]:
        """The answers of a conversation, oldest first."""
        asked = "SELECT * FROM answers WHERE thread = ? ORDER BY asked, rowid"
        return [self._text(row) for row in self._db.execute(asked, (thread,))] if thread else []

    def remove(self, thread: str) -> None:
        """Forget a conversation and its answers."""
        with self._writing() as db:
            db.execute("DELETE FROM answers WHERE thread = ?", (thread,))
            db.execute("DELETE FROM conversations WHERE id = ?", (thread,))

    def comment(self, answer: str, verdict: str, comment: str) -> None:
        """Keep what somebody thinks of an answer."""
        with self._writing() as db:
            db.execute("INSERT INTO feedback VALUES (?, ?, ?, ?)", (answer, verdict, comment, time.time()))

    def close(self) -> None:
        """Close this thread's connection; the others' close with their threads."""
        db = getattr(self._local, "db", None)
        if db is not None:
            db.close()
            del self._local.db

    @property
    def _db(self) -> sqlite3.Connection:
        db: sqlite3.Connection | None = getattr(self._local, "db", None)
        if db is None:
            db = self._local.db = sqlite3.connect(self._path, timeout=WAIT)
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
        return db

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._db as db:
            yield db

    def _text(self, row: tuple[str, float, str, str, str, str, str]) -> KeptText:
        return KeptText(*row)

    def _sweep(self, db: sqlite3.Connection) -> None:
        if self._kept.days:
            before = time.time() - self._kept.days * DAY
            db.execute("DELETE FROM answers WHERE asked < ?", (before,))
            db.execute(
                "DELETE FROM conversations WHERE created < ? AND id NOT IN (SELECT thread FROM answers)",
                (before,),
            )
        last = db.execute(
            "SELECT asked FROM answers ORDER BY asked DESC LIMIT 1 OFFSET ?", (self._kept.answers,)
        )
        if (row := last.fetchone()) is not None:
            db.execute("DELETE FROM answers WHERE asked <= ?", row)
