"""Watching a source between builds: one look, compared with what is known, and whether it is time to build."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from crmrag_assets.build.context import base_of
from crmrag_assets.build.marks import Published
from crmrag_assets.build.source import source_of
from crmrag_assets.build.step import BuildContext
from crmrag_assets.operations.endpointlooks import TRIPLES, look
from crmrag_assets.operations.filelooks import FILES, Listing
from crmrag_assets.operations.settling import HEADERS, Comparison, compare
from crmrag_assets.operations.state import Signals, Watched
from crmrag_assets.sources.base import Discovery
from crmrag_assets.sources.endpoint.source import SparqlEndpoint
from crmrag_query.artifacts.files import canonical_json
from crmrag_query.config.operations import Watching
from crmrag_query.errors import BuildError, ConfigError, SourceError

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
        state = replace(
            state, known={FILES: ""}
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
            return Verdict(replace(found.state, checksums=made), f"{found.says} {progress}")
        if Listing.of(context.config.files()) != listing:
            return Verdict(replace(found.state, pending={}), "Changed while it was read. Looked at again.")
    except (OSError, ConfigError) as error:
        return _fault(state, f"The files cannot be read: {error}", now, 0.0, 0.0)
    content = listing.fingerprint(made, context.config.base_iri)
    settled = replace(found.state.settled(listing.signals, listing.bytes), content=content)
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
    settled = replace(found.state.settled({**state.known, **seen}, amount), asked=True)
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
        return replace(state, harvest=harvest, asked=False)
    counted = _counted_at_harvest(context)
    known = {TRIPLES: str(counted)} if counted is not None else {}
    return replace(Watched(), known=known, amount=counted or 0, harvest=harvest, volatile=state.volatile)


def _counted_at_harvest(context: BuildContext) -> int | None:
    try:
        counted = Discovery.load(base_of(context).folder("entities")).counted
    except BuildError:
        return None
    return counted.triples if counted is not None else None


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
    digest = hashlib.sha256(content.encode()).hexdigest()[:KEY_DIGITS]
    return f"{datetime.fromtimestamp(since, UTC):%Y%m%dT%H%M%S}-{digest}"
