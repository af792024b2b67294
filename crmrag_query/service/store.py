"""What the service keeps: answers, conversations and feedback, in SQLite; several processes may share it."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf
from pathlib import Path

from crmrag_query.config.service import Kept
from crmrag_query.errors import ConfigError, ServiceError

FILE = "service.sqlite"
SCHEMA = 2
DAY = 86_400.0
UNSEEN = DAY  # in which a machine may have been off before a service starts: not for as long as clocks jump
# `kept` is the age of the store when a row was added: what is swept goes by that, and not by the times of day beside it.
TABLES = (
    "CREATE TABLE IF NOT EXISTS clock (age REAL NOT NULL, today REAL NOT NULL, uptime REAL NOT NULL)",
    "CREATE TABLE IF NOT EXISTS answers (id TEXT PRIMARY KEY, asked REAL NOT NULL, dataset TEXT NOT NULL, "
    "release TEXT NOT NULL, thread TEXT NOT NULL, request TEXT NOT NULL, answer TEXT NOT NULL, kept REAL NOT NULL)",
    "CREATE INDEX IF NOT EXISTS answers_kept ON answers (kept)",
    "CREATE INDEX IF NOT EXISTS answers_thread ON answers (thread) WHERE thread <> ''",
    "CREATE TABLE IF NOT EXISTS conversations (id TEXT PRIMARY KEY, key TEXT NOT NULL, dataset TEXT NOT NULL, "
    "created REAL NOT NULL, kept REAL NOT NULL)",
    "CREATE TABLE IF NOT EXISTS feedback (answer TEXT NOT NULL, verdict TEXT NOT NULL, comment TEXT NOT NULL, "
    "made REAL NOT NULL)",
)
TEXT = "SELECT id, asked, dataset, release, thread, request, answer FROM answers"
WITHOUT_ANSWER = "DELETE FROM feedback WHERE answer NOT IN (SELECT id FROM answers)"


class StoreError(ServiceError):
    """What is kept cannot be read or written."""


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


@dataclass(frozen=True, slots=True)
class Clocks:
    """What two clocks show, in seconds: ``today`` since 1970, which people and networks set; ``uptime`` since the machine was
    started, the same in all its processes, which nobody sets."""

    today: float
    uptime: float

    @classmethod
    def now(cls) -> Clocks:
        suspended_too = getattr(time, "CLOCK_BOOTTIME", None)  # of Linux; elsewhere sleep may not count
        uptime = time.monotonic() if suspended_too is None else time.clock_gettime(suspended_too)
        return cls(time.time(), uptime)

    def since(self, before: Clocks, unseen: float) -> float:
        """Seconds that have passed as both clocks show, so that none do where the time of day is set; of ``unseen`` seconds,
        in which the machine may have been off, the time of day is believed."""
        up = max(self.uptime - before.uptime, 0.0)
        return min(max(self.today - before.today, 0.0), up + unseen)


def iso(seconds: float) -> str:
    """Seconds since 1970 in ISO 8601."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Store:
    """Safe for threads; what goes wrong with the file is a StoreError."""

    def __init__(self, folder: Path, kept: Kept, clocks: Callable[[], Clocks] = Clocks.now) -> None:
        self._path, self._kept, self._clocks = folder / FILE, kept, clocks
        self._free: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._swept, self._unseen = -inf, UNSEEN
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with self._reading() as db:
                (found,) = db.execute("PRAGMA user_version").fetchone()
                if found not in (0, SCHEMA):
                    raise StoreError(f"its schema is {found}, not {SCHEMA}")
                db.execute("PRAGMA journal_mode = WAL")  # so that readers never wait; the file remembers it
            with self._writing() as db:
                for statement in TABLES:
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {SCHEMA}")
        except (OSError, StoreError) as error:
            raise ConfigError.single(
                self._path, "", f"answers cannot be kept here: {error}",
                remedy="Name another folder (--state), or keep nothing (--no-history).",
            ) from error  # fmt: skip

    def keep(self, one: KeptText) -> None:
        """Keep an answer."""
        with self._writing() as db:
            age = self._aged(db)
            values = (one.id, one.asked, one.dataset, one.release, one.thread, one.request, one.answer, age)
            db.execute("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
            self._sweep(db, age)

    def answer(self, id: str) -> KeptText | None:
        return self._text("WHERE id = ?", id)

    def begin(self, dataset: str) -> tuple[str, str]:
        """The id and the key of a new conversation."""
        id, key = new_id(), new_id()
        with self._writing() as db:
            age = self._aged(db)
            values = (id, hashed(key), dataset, self._clocks().today, age)
            db.execute("INSERT INTO conversations VALUES (?, ?, ?, ?, ?)", values)
            self._sweep(db, age)
        return id, key

    def conversation(self, id: str) -> Thread | None:
        with self._reading() as db:
            row = db.execute(
                "SELECT id, key, dataset, created FROM conversations WHERE id = ?", (id,)
            ).fetchone()
        return None if row is None else Thread(*row)

    def turns(self, thread: str) -> list[KeptText]:
        """The answers of a conversation, oldest first."""
        with self._reading() as db:
            rows = db.execute(f"{TEXT} WHERE thread = ? ORDER BY rowid", (thread,))
            return [KeptText(*row) for row in rows] if thread else []

    def last_turn(self, thread: str) -> tuple[int, KeptText | None]:
        """How many answers a conversation has, and the last one."""
        with self._reading() as db:
            (count,) = db.execute("SELECT count(*) FROM answers WHERE thread = ?", (thread,)).fetchone()
        return count, self._text("WHERE thread = ? ORDER BY rowid DESC LIMIT 1", thread)

    def remove(self, thread: str) -> None:
        """Forget a conversation, its answers and what was said of them."""
        with self._writing() as db:
            db.execute("DELETE FROM answers WHERE thread = ?", (thread,))
            db.execute("DELETE FROM conversations WHERE id = ?", (thread,))
            db.execute(WITHOUT_ANSWER)

    def comment(self, answer: str, verdict: str, comment: str) -> None:
        """Keep what somebody thinks of an answer; of one answer the latest that so many did."""
        with self._writing() as db:
            db.execute(
                "INSERT INTO feedback VALUES (?, ?, ?, ?)", (answer, verdict, comment, self._clocks().today)
            )
            latest = "SELECT rowid FROM feedback WHERE answer = ? ORDER BY rowid DESC LIMIT ?"
            db.execute(
                f"DELETE FROM feedback WHERE answer = ? AND rowid NOT IN ({latest})",
                (answer, answer, self._kept.comments),
            )

    def close(self) -> None:
        """Close what is not in use; the store can still be used, as by an answer that ends late."""
        with self._lock:
            while self._free:
                self._free.pop().close()

    def _text(self, which: str, value: str) -> KeptText | None:
        with self._reading() as db:
            row = db.execute(f"{TEXT} {which}", (value,)).fetchone()
        return None if row is None else KeptText(*row)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that nobody else uses meanwhile."""
        db: sqlite3.Connection | None = None
        try:
            with self._lock:
                db = self._free.pop() if self._free else None
            if db is None:
                db = sqlite3.connect(self._path, timeout=self._kept.wait_seconds, check_same_thread=False)
                db.execute("PRAGMA synchronous = NORMAL")
            yield db
        except sqlite3.Error as error:
            if db is not None:
                db.close()
                db = None
            raise StoreError(
                f"What is kept cannot be reached: {error}.", "Look at the disk and at --state."
            ) from error
        finally:
            if db is not None:
                with self._lock:
                    self._free.append(db)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """The same in a transaction, in which no other process writes."""
        with self._reading() as db, db:
            db.execute("BEGIN IMMEDIATE")
            yield db

    def _aged(self, db: sqlite3.Connection) -> float:
        """The age of the store, in seconds: what all its processes have seen pass."""
        now = self._clocks()
        row = db.execute("SELECT age, today, uptime FROM clock").fetchone()
        if row is None:
            db.execute("INSERT INTO clock VALUES (0, ?, ?)", (now.today, now.uptime))
            return 0.0
        age: float = row[0] + now.since(Clocks(*row[1:]), self._unseen)
        self._unseen = 0.0
        db.execute("UPDATE clock SET age = ?, today = ?, uptime = ?", (age, now.today, now.uptime))
        return age

    def _sweep(self, db: sqlite3.Connection, age: float) -> None:
        """Now and then: forget what is too old or too much, and conversations that were begun and left."""
        if age - self._swept < self._kept.sweep_seconds:
            return
        self._swept = age
        if self._kept.days:
            db.execute("DELETE FROM answers WHERE kept < ?", (age - self._kept.days * DAY,))
        last = db.execute(
            "SELECT rowid FROM answers ORDER BY rowid DESC LIMIT 1 OFFSET ?", (self._kept.answers,)
        )
        if (row := last.fetchone()) is not None:
            db.execute("DELETE FROM answers WHERE rowid <= ?", row)
        db.execute(
            "DELETE FROM conversations WHERE kept < ? AND id NOT IN (SELECT thread FROM answers)",
            (age - DAY,),
        )
        db.execute(WITHOUT_ANSWER)
