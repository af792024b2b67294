"""Watching a source between builds: one look, compared with what is known, and whether it is time to build.

A look at an endpoint costs at most three requests, each allowed to fail; one at files their names, sizes and times, and
checksums where these have changed. A change is told from a flicker by two looks, some time apart, that say the same. What a
watch remembers from look to look is JSON with a version; anything else is a watch that begins anew.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Annotated

import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from crmrag_assets.build.context import base_of
from crmrag_assets.build.step import BuildContext
from crmrag_assets.build.store import Published
from crmrag_assets.harvest.source import Discovery
from crmrag_assets.sources.endpoint.client import Unanswered
from crmrag_assets.sources.endpoint.queries import Part, count_triples, rows_of, stated_dates
from crmrag_assets.sources.endpoint.source import SUBJECTS, SparqlEndpoint
from crmrag_assets.sources.files import content_fingerprint
from crmrag_assets.steps.source import source_of
from crmrag_query.artifacts.files import canonical_json, sha256_file
from crmrag_query.config.datasets import DatasetConfig
from crmrag_query.config.operations import Watching
from crmrag_query.errors import BuildError, ConfigError, SourceError

TRIPLES, STATED, ETAG, MODIFIED = "triples", "stated", "ETag", "Last-Modified"
SAMPLE = "sample of {} entities ({})"


def look(source: SparqlEndpoint, entities: Path, limits: Watching) -> dict[str, str]:
    """What the endpoint tells of itself now, by signal; one that it does not answer for is left out.

    ``entities``: the folder that discovery filled. Raises SourceError where the endpoint does not answer at all.
    """
    client = source.brief_client(limits.request_seconds)

    def counted() -> dict[str, str]:
        """The number of triples; and what the response says of its age, where that is not simply now."""
        found = {TRIPLES: str(client.count(count_triples(client.scope), patient=False))}
        if etag := client.headers.get("etag"):
            found[ETAG] = etag
        modified, sent = client.headers.get("last-modified", ""), client.headers.get("date", "")
        if modified and _seconds(modified) < _seconds(sent):
            found[MODIFIED] = modified
        return found

    def stated() -> dict[str, str]:
        """Dates and sizes that the endpoint states of its data sets, where it describes any."""
        values = sorted(client.strings(stated_dates(client.scope), "stated"))
        return {STATED: ", ".join(values)} if values else {}

    def sampled() -> dict[str, str]:
        """A hash over the triples of some entities, blank nodes aside; none where no entity has any."""
        iris = sample_of(entities, min(limits.sampled, client.settings.batch_entities))
        if not iris:
            return {}
        query = rows_of(Part(tuple(iris), unnamed=True), client.scope)
        rows = {"\t".join(map(str, row)) for row in client.rows(query, client.scope.width, patient=False)}
        name = SAMPLE.format(len(iris), _hash("\n".join(iris))[:8])
        return {name: _hash("\n".join(sorted(rows)))} if rows else {}

    # A request that begins until then may take as long again.
    end = time.monotonic() + 2 * limits.request_seconds
    found: dict[str, str] = {}
    for ask in (counted, stated, sampled):
        if time.monotonic() + client.settings.pause_seconds > end:
            break
        with suppress(Unanswered):
            found |= ask()
    return found


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


def _seconds(date: str) -> float:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, OverflowError):
        return 0.0


def sample_of(entities: Path, size: int) -> list[str]:
    """Entities that discovery listed, the same each time, from everywhere in the list; none before a discovery."""
    try:
        listed = pl.read_parquet(entities / SUBJECTS, columns=["raw", "iri", "excluded"])
    except (OSError, pl.exceptions.PolarsError):
        return []
    named = listed.filter(~pl.col("excluded") & (pl.col("raw") == pl.col("iri"))).get_column("iri")
    return named.gather_every(max(1, len(named) // size)).head(size).to_list()


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

    def fingerprint(self, checksums: Sequence[str], config: DatasetConfig) -> str:
        """What `RdfFiles.fingerprint` gives for these files, where none was told by its size and time."""
        found = dict(zip(self.files, checksums, strict=True))
        return content_fingerprint(found, config.base_iri, config.context_files())


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
    the next is not ``before`` a time.
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


HEADERS = frozenset({"ETag", "Last-Modified"})
"""Signals that some servers make up for every response: they count where they stay, and delay nothing where they do not."""
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
    after a restart. ``confirmed``: the source is what was built last.
    """

    state: Watched
    says: str
    change: str = ""
    confirmed: bool = False


def watch(context: BuildContext, memory: str | None, limits: Watching, now: float) -> Verdict:
    """Look at a data set's source once; ``memory`` is what the last look left, ``now`` the time in seconds since 1970."""
    state, built = Watched.loaded(memory), Published.read(context.store.root)
    if built is None and context.store.record("release") is None:
        start = f"Start the first build yourself: crmrag build {context.name}"
        return Verdict(state, f"'{context.name}' has not been built yet. {start}")
    if (
        now < state.before <= now + limits.longest_wait_seconds
    ):  # a later one was set by a clock that was wrong
        again = datetime.fromtimestamp(state.before, UTC)
        return Verdict(state, f"{state.fault} It is looked at again from {again:%H:%M:%S} UTC on.")
    return (_files if context.config.endpoint is None else _endpoint)(context, state, built, limits, now)


def _files(
    context: BuildContext, state: Watched, built: Published | None, limits: Watching, now: float
) -> Verdict:
    settings = context.config.rebuild
    if FILES not in state.known:
        state = state.but(
            known={FILES: ""}
        )  # never seen: their content tells whether they are what was built
    try:
        listing = Listing.of(context.config.files())
        if reason := _shrunk(listing.bytes, state, context, "bytes"):
            return _fault(state, reason, now, 0.0, 0.0)
        found = compare(state, listing.signals, listing.bytes, now, settings.settle_seconds)
        if not found.changed:
            same = built is not None and built.source == found.state.content
            return _unchanged(found, same)
        made = listing.checksums(found.state.checksums, limits.hash_bytes, limits.hash_seconds)
        if len(made) < len(listing.files):
            progress = f"{len(made):,} of {len(listing.files):,} files are compared."
            return Verdict(found.state.but(checksums=made), f"{found.says} {progress}")
        if Listing.of(context.config.files()) != listing:
            return Verdict(found.state.but(pending={}), "Changed while it was read. Looked at again.")
    except (OSError, ConfigError) as error:
        return _fault(state, f"The files cannot be read: {error}", now, 0.0, 0.0)
    content = listing.fingerprint(made, context.config)
    settled = found.state.settled(listing.signals, listing.bytes).but(content=content)
    if built is not None and content == built.source:
        return Verdict(settled, "The content of the files is what was built.", confirmed=True)
    if content == state.content:
        return Verdict(settled, "The content of the files is what a build was launched for before.")
    return Verdict(settled, f"{found.says} A build is launched.", _identity(found.state.since, content))


def _endpoint(
    context: BuildContext, state: Watched, built: Published | None, limits: Watching, now: float
) -> Verdict:
    settings, source = context.config.rebuild, source_of(context)
    assert isinstance(source, SparqlEndpoint)
    state = _after_harvest(context, state, built)
    waits = 2.0 * settings.every_seconds, limits.longest_wait_seconds
    try:
        seen: Signals = look(source, context.folder("entities"), limits)
    except SourceError as error:
        return _fault(state, f"No change is seen in a fault: {error}", now, *waits)
    if not seen:
        return _fault(state, "The endpoint answered none of the questions of a look.", now, *waits)
    amount = int(seen.get(TRIPLES, state.amount))
    if TRIPLES in seen and (reason := _shrunk(amount, state, context, "triples")):
        return _fault(state, reason, now, *waits)
    found = compare(state, seen, amount, now, settings.settle_seconds)
    if not found.changed:
        return _unchanged(found, built is not None and not found.state.asked)
    core = {name: value for name, value in seen.items() if name not in HEADERS}
    settled = found.state.settled({**state.known, **seen}, amount).but(asked=True)
    content = canonical_json(core or dict(seen))
    return Verdict(settled, f"{found.says} A build is launched.", _identity(found.state.since, content))


def _unchanged(found: Comparison, built: bool) -> Verdict:
    """Of a look that found no settled change; ``built``: what is known is what was built last."""
    if found.state.pending:
        return Verdict(found.state, found.says)
    waiting = "" if built else " The build that was launched for it has not published it: see its run."
    return Verdict(found.state, f"{found.says}{waiting}", confirmed=built)


def _after_harvest(context: BuildContext, state: Watched, built: Published | None) -> Watched:
    """The memory after a harvest that it does not know: what was seen before counts, where a look had it launched; else
    what the endpoint counted then is all that is known."""
    harvest = built.harvest if built is not None else ""
    if harvest == state.harvest:
        return state
    if state.asked and state.harvest:
        return state.but(harvest=harvest, asked=False)
    counted = None
    with suppress(BuildError):
        found = Discovery.load(base_of(context).folder("entities")).counted
        counted = found.triples if found is not None else None
    known = {TRIPLES: str(counted)} if counted is not None else {}
    return Watched().but(known=known, amount=counted or 0, harvest=harvest, volatile=state.volatile)


def _shrunk(amount: int, state: Watched, context: BuildContext, unit: str) -> str:
    """Why a source that holds much less than it did is not taken at its word, "" for one that does not."""
    if amount and amount >= context.config.rebuild.least_share * state.amount:
        return ""
    if not state.amount:
        return f"The source is empty (0 {unit}): that is taken for a fault."
    refresh = " --refresh" if context.config.endpoint else ""
    return (
        f"The source has {amount:,} {unit} where it had {state.amount:,}: that is taken for a fault. "
        f"If it is meant: crmrag build {context.name}{refresh}"
    )


def _fault(state: Watched, reason: str, now: float, first: float, longest: float) -> Verdict:
    faulty = state.faulty(reason, now, first, longest)
    often = f" ({faulty.faults} looks in a row)" if faulty.faults > 1 else ""
    return Verdict(faulty, f"{reason}{often}")


def _identity(since: float, content: str) -> str:
    """The same for the same content seen to change at the same time: a change back and forth is three changes."""
    return f"{datetime.fromtimestamp(since, UTC):%Y%m%dT%H%M%S}-{_hash(content)[:KEY_DIGITS]}"
