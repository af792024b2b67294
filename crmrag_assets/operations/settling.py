"""Telling a change from a flicker: two looks, some time apart, must say the same."""

from __future__ import annotations

from dataclasses import dataclass, replace

from crmrag_assets.operations.state import Signals, Watched

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
    state = replace(state.healthy(), since=min(state.since, now))
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
        fresh = replace(state, pending=seen, since=now, checksums=(), volatile=(*state.volatile, *made_up))
        return Comparison(
            fresh, f"{word}: {told(state.known, seen, moved)}. Looked at again in {settle:g} s."
        )
    if (left := settle - (now - state.since)) > 0:
        return Comparison(
            state, f"Changed: {told(state.known, seen, same)}. It has to stay so for {left:.0f} s."
        )
    return Comparison(state, f"Changed: {told(state.known, seen, same)}.", changed=True)


def told(known: Signals, seen: Signals, names: set[str]) -> str:
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
