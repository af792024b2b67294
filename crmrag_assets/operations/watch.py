"""Watching a source between builds: one look, compared with what is known, and whether it is time to build.

A look at files costs their names, sizes and times, and checksums where these have changed; one at a server a few requests,
each allowed to fail. Of several sources each is looked at. A change is told from a flicker by two looks, some time apart,
that say the same. What a watch remembers from look to look is JSON with a version; anything else is a watch that begins anew.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from crmrag_assets.build.context import base_of
from crmrag_assets.build.step import BuildContext
from crmrag_assets.build.store import Published
from crmrag_assets.harvest.source import HEADERS, TRIPLES, Discovery, Observed, OfFiles, Source
from crmrag_assets.sources.several import Several
from crmrag_assets.steps.source import source_of
from crmrag_query.artifacts.manifest import canonical_json, sha256_file
from crmrag_query.config.operations import Watching
from crmrag_query.config.sources import SourceEntry
from crmrag_query.errors import BuildError, ConfigError, SourceError

FILES = "files"  # the signal


@dataclass(frozen=True)
class Listing:
    """Files with their sizes and times (ns): what tells cheaply that they are as they were."""

    files: Mapping[Path, tuple[int, int]]

    @classmethod
    def of(cls, paths: Sequence[Path]) -> Listing:
        """The files as they are now; OSError for one that is not there any more."""
        states = {path: path.stat() for path in sorted(paths)}
        return cls({path: (state.st_size, state.st_mtime_ns) for path, state in states.items()})

    @property
    def signals(self) -> dict[str, str]:
        lines = (f"{path}\0{size}\0{changed}\n" for path, (size, changed) in self.files.items())
        return {FILES: _hash("".join(lines))}

    @property
    def bytes(self) -> int:
        return sum(size for size, _ in self.files.values())

    def checksums(
        self, made: Sequence[str], most: int, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> tuple[str, ...]:
        """Checksums of the files in order, those ``made`` before included; no file is begun after so many seconds.

        A file of more than ``most`` bytes is told by its size and time: to read it takes longer than a look may.
        """
        end, found = clock() + seconds, list(made[: len(self.files)])
        for path, (size, changed) in list(self.files.items())[len(found) :]:
            if clock() >= end:
                break
            found.append(f"{size} bytes of {changed}" if size > most else sha256_file(path))
        return tuple(found)


VERSION = 1
Signals = Mapping[str, str]
"""What a look tells of a source, by name: values that differ when the source has changed."""
Seconds = Annotated[float, Field(ge=0, lt=1e11, allow_inf_nan=False)]  # since 1970; no time is as late


class Watched(BaseModel):
    """The memory of a watch.

    ``known``: signals of what was built, or is being built, and ``amount``, its triples or bytes; ``content``: the
    fingerprint of files. ``pending``: signals that differ from it, first seen at ``since``; ``checksums``: of its files, as
    far as they were made. ``volatile``: signals that change for no reason. ``harvest``: version of the latest that was built;
    ``asked``: whether a build was launched since. ``faults``: looks in a row that failed, lastly for the reason in ``fault``;
    the next is not ``before`` a time. ``parts``: of several sources the memory of each, by its identity.
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    known: dict[str, str] = {}
    amount: int = 0
    content: str = ""
    pending: dict[str, str] = {}
    since: Seconds = 0.0
    checksums: tuple[str, ...] = ()
    volatile: tuple[str, ...] = ()
    harvest: str = ""
    asked: bool = False
    faults: int = 0
    fault: str = ""
    before: Seconds = 0.0
    parts: dict[str, Watched] = {}

    def dumped(self) -> str:
        """As JSON, without what is as at the beginning: operators see it in the UI."""
        return json.dumps({"version": VERSION, **self.model_dump(exclude_defaults=True)}, sort_keys=True)

    @classmethod
    def loaded(cls, text: str | None) -> Watched:
        """The memory in a text; an empty one for what is no memory."""
        try:
            kept = json.loads(text or "")
            if kept.pop("version") != VERSION:
                return cls()
            return cls.model_validate_json(json.dumps(kept))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return cls()

    def but(self, **changed: object) -> Watched:
        """The memory with other values."""
        return self.model_copy(update=changed)

    def settled(self, known: Signals, amount: int) -> Watched:
        """With nothing pending, and this known."""
        return self.healthy().but(known=dict(known), amount=amount, pending={}, since=0.0, checksums=())

    def healthy(self) -> Watched:
        """After a look that did not fail."""
        return self.but(faults=0, fault="", before=0.0)

    def faulty(self, reason: str, now: float, first: float, longest: float) -> Watched:
        """After a look that failed: the next is let wait for ``first`` seconds, doubled for each fault in a row."""
        wait = min(first * 2.0 ** min(self.faults, 30), longest)
        return self.but(faults=self.faults + 1, fault=reason, before=now + wait)


SHOWN = 80  # characters of values


@dataclass(frozen=True)
class Comparison:
    """The memory after a look; ``says``: what was found; ``changed``: the source differs from what is known, and settled."""

    state: Watched
    says: str
    changed: bool = False


def compare(state: Watched, seen: Signals, amount: int, now: float, settle: float) -> Comparison:
    """Compare a look with what is known. Signals that only one side has are not compared; what is new is learned."""
    seen = {name: value for name, value in seen.items() if name not in state.volatile}
    moved = _differing(state.known, seen)
    state = state.healthy().but(since=min(state.since, now))
    if not moved:
        known = {name: value for name, value in state.known.items() if _is_asked(name, seen)}
        flicker = " A change that was seen before is gone." if state.pending else ""
        return Comparison(state.settled({**known, **seen}, amount), f"Nothing has changed.{flicker}")
    before = _differing(state.known, state.pending)
    same = {name for name in moved if state.pending.get(name) == seen[name]}
    restless = (moved | before) - same - HEADERS
    if not state.pending or restless or not same:
        made_up = tuple(sorted((moved & before & HEADERS) - same)) if not restless else ()
        word = "Changed" if not state.pending else "Still changing"
        fresh = state.but(pending=dict(seen), since=now, checksums=(), volatile=(*state.volatile, *made_up))
        return Comparison(
            fresh, f"{word}: {differences(state.known, seen, moved)}. Looked at again in {settle:g} s."
        )
    if (left := settle - (now - state.since)) > 0:
        return Comparison(
            state, f"Changed: {differences(state.known, seen, same)}. It has to stay so for {left:.0f} s."
        )
    return Comparison(state, f"Changed: {differences(state.known, seen, same)}.", changed=True)


def differences(known: Signals, seen: Signals, names: set[str]) -> str:
    """Which signals differ, with their values where these can be read."""
    parts = []
    for name in sorted(names):
        old, new = known.get(name, ""), seen[name]
        plain = f"{name} {old} → {new}" if len(old) + len(new) < SHOWN else name
        parts.append(plain if old else f"{name} (not seen before)")
    return ", ".join(parts)


def _differing(first: Signals, second: Signals) -> set[str]:
    return {name for name, value in second.items() if name in first and first[name] != value}


def _is_asked(name: str, seen: Signals) -> bool:
    """Whether a signal is still one: a sample of other entities has another name."""
    kind = name.partition(" of ")[0]
    return name in seen or not any(other.startswith(f"{kind} of ") for other in seen)


KEY_DIGITS = 16


@dataclass(frozen=True)
class Verdict:
    """What came of a look: the memory to keep and a sentence for people.

    ``change`` identifies a settled change that is to be built, "" for none: the same change has the same identity, also
    after a restart. ``confirmed``: the source is what was built last. ``refresh``: to build it, what is kept of a source that
    was asked has to be asked for again.
    """

    state: Watched
    says: str
    change: str = ""
    confirmed: bool = False
    refresh: bool = False


def watch(context: BuildContext, memory: str | None, limits: Watching, now: float) -> Verdict:
    """Look at a data set's source once; ``memory`` is what the last look left, ``now`` the time in seconds since 1970."""
    state, built = Watched.loaded(memory), Published.read(context.store.root)
    if built is None and context.store.record("release") is None:
        start = f"Start the first build yourself: crmrag build {context.name}"
        return Verdict(state, f"'{context.name}' has not been built yet. {start}")
    try:
        source = source_of(base_of(context))
    except ConfigError as error:  # of a file that is not there
        return _fault(state, f"The files cannot be read: {error}", now, 0.0, 0.0)
    entries, folder = context.config.sources, base_of(context).folder("entities")
    if not isinstance(source, Several):
        return _Look(context, entries[0], source, folder, built, limits, now).verdict(state)
    found = []
    for part in source.parts:
        known = built.sources.get(part.entry.identity, "") if built else ""
        own = built and replace(built, source=known, harvest=known)
        look = _Look(context, part.entry, part.source, part.home(folder), own, limits, now)
        found.append((part.entry, look.verdict(state.parts.get(part.entry.identity, Watched()))))
    return _together(found)


def _together(found: Sequence[tuple[SourceEntry, Verdict]]) -> Verdict:
    """Of several sources: a change of any is to be built, and all are confirmed where each is."""
    changed = [verdict for _, verdict in found if verdict.change]
    return Verdict(
        Watched(parts={entry.identity: verdict.state for entry, verdict in found}),
        " ".join(f"{entry.config.described()}: {verdict.says}" for entry, verdict in found),
        "+".join(verdict.change for verdict in changed),
        all(verdict.confirmed for _, verdict in found),
        any(verdict.refresh for verdict in changed),
    )


@dataclass(frozen=True)
class _Look:
    """A look at one source; ``folder``: of its discovery, ``built``: the last build, with the fingerprint of this source."""

    context: BuildContext
    entry: SourceEntry
    source: Source
    folder: Path
    built: Published | None
    limits: Watching
    now: float

    def verdict(self, state: Watched) -> Verdict:
        """What came of it, by what was known before."""
        if self.now < state.before <= self.now + self.limits.longest_wait_seconds:
            # a later one was set by a clock that was wrong
            again = datetime.fromtimestamp(state.before, UTC)
            return Verdict(state, f"{state.fault} It is looked at again from {again:%H:%M:%S} UTC on.")
        if isinstance(self.source, OfFiles):
            return self._at_files(self.source, state)
        if isinstance(self.source, Observed):
            return self._at_signals(self.source, state)
        return Verdict(
            state,
            f"A source of the kind `{self.entry.kind}` cannot be watched: build it when it has changed.",
        )

    def _at_files(self, source: OfFiles, state: Watched) -> Verdict:
        settings, built = self.context.config.rebuild, self.built
        if FILES not in state.known:
            # never seen: their content tells whether they are what was built
            state = state.but(known={FILES: ""})
        try:
            listing = Listing.of(source.files)
            if reason := self._shrunk(listing.bytes, state, "bytes"):
                return _fault(state, reason, self.now, 0.0, 0.0)
            found = compare(state, listing.signals, listing.bytes, self.now, settings.settle_seconds)
            if not found.changed:
                same = built is not None and built.source == found.state.content
                return _unchanged(found, same)
            made = listing.checksums(found.state.checksums, self.limits.hash_bytes, self.limits.hash_seconds)
            if len(made) < len(listing.files):
                progress = f"{len(made):,} of {len(listing.files):,} files are compared."
                return Verdict(found.state.but(checksums=made), f"{found.says} {progress}")
            if Listing.of(self.context.config.paths_of(self.entry)) != listing:
                return Verdict(found.state.but(pending={}), "Changed while it was read. Looked at again.")
        except (OSError, ConfigError) as error:
            return _fault(state, f"The files cannot be read: {error}", self.now, 0.0, 0.0)
        content = source.fingerprint_of(dict(zip(listing.files, made, strict=True)))
        settled = found.state.settled(listing.signals, listing.bytes).but(content=content)
        if built is not None and content == built.source:
            return Verdict(settled, "The content of the files is what was built.", confirmed=True)
        if content == state.content:
            return Verdict(settled, "The content of the files is what a build was launched for before.")
        return Verdict(settled, f"{found.says} A build is launched.", _identity(found.state.since, content))

    def _at_signals(self, source: Observed, state: Watched) -> Verdict:
        settings = self.context.config.rebuild
        state = self._after_harvest(state)
        waits = 2.0 * settings.every_seconds, self.limits.longest_wait_seconds
        try:
            seen: Signals = source.signals(self.folder, self.limits)
        except SourceError as error:
            return _fault(state, f"No change is seen in a fault: {error}", self.now, *waits)
        if not seen:
            what = f"The {self.entry.kind} answered none of the questions of a look."
            return _fault(state, what, self.now, *waits)
        amount = int(seen.get(TRIPLES, state.amount))
        if TRIPLES in seen and (reason := self._shrunk(amount, state, "triples")):
            return _fault(state, reason, self.now, *waits)
        found = compare(state, seen, amount, self.now, settings.settle_seconds)
        if not found.changed:
            return _unchanged(found, self.built is not None and not found.state.asked)
        core = {name: value for name, value in seen.items() if name not in HEADERS}
        settled = found.state.settled({**state.known, **seen}, amount).but(asked=True)
        content = canonical_json(core or dict(seen))
        change = _identity(found.state.since, content)
        return Verdict(settled, f"{found.says} A build is launched.", change, refresh=True)

    def _after_harvest(self, state: Watched) -> Watched:
        """The memory after a harvest that it does not know: what was seen before counts, where a look had it launched; else
        what the source counted then is all that is known."""
        harvest = self.built.harvest if self.built is not None else ""
        if harvest == state.harvest:
            return state
        if state.asked and state.harvest:
            return state.but(harvest=harvest, asked=False)
        counted = None
        with suppress(BuildError):
            found = Discovery.load(self.folder).counted
            counted = found.triples if found is not None else None
        known = {TRIPLES: str(counted)} if counted is not None else {}
        return Watched().but(known=known, amount=counted or 0, harvest=harvest, volatile=state.volatile)

    def _shrunk(self, amount: int, state: Watched, unit: str) -> str:
        """Why a source that holds much less than it did is not taken at its word, "" for one that does not."""
        if amount and amount >= self.context.config.rebuild.least_share * state.amount:
            return ""
        if not state.amount:
            return f"The source is empty (0 {unit}): that is taken for a fault."
        refresh = " --refresh" if self.entry.config.refreshable else ""
        return (
            f"The source has {amount:,} {unit} where it had {state.amount:,}: that is taken for a fault. "
            f"If it is meant: crmrag build {self.context.name}{refresh}"
        )


def _unchanged(found: Comparison, built: bool) -> Verdict:
    """Of a look that found no settled change; ``built``: what is known is what was built last."""
    if found.state.pending:
        return Verdict(found.state, found.says)
    waiting = "" if built else " The build that was launched for it has not published it: see its run."
    return Verdict(found.state, f"{found.says}{waiting}", confirmed=built)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


def _fault(state: Watched, reason: str, now: float, first: float, longest: float) -> Verdict:
    faulty = state.faulty(reason, now, first, longest)
    often = f" ({faulty.faults} looks in a row)" if faulty.faults > 1 else ""
    return Verdict(faulty, f"{reason}{often}")


def _identity(since: float, content: str) -> str:
    """The same for the same content seen to change at the same time: a change back and forth is three changes."""
    return f"{datetime.fromtimestamp(since, UTC):%Y%m%dT%H%M%S}-{_hash(content)[:KEY_DIGITS]}"
