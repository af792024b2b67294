"""What a watch remembers from look to look: JSON with a version; anything else is a watch that begins anew."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

VERSION = 1
LATEST = 1e11  # no time in seconds is as late
Signals = Mapping[str, str]
"""What a look tells of a source, by name: values that differ when the source has changed."""


@dataclass(frozen=True)
class Watched:
    """The memory of a watch; times in seconds since 1970.

    ``known``: signals of what was built, or is being built, and ``amount``, its triples or bytes; ``content``: the
    fingerprint of files. ``pending``: signals that differ from it, first seen at ``since``; ``checksums``: of its files, as
    far as they were made. ``volatile``: signals that change for no reason. ``harvest``: version of the latest that was built;
    ``asked``: whether a build was launched since. ``faults``: looks in a row that failed, lastly for the reason in ``fault``;
    the next is not ``before`` a time.
    """

    known: Signals = field(default_factory=dict)
    amount: int = 0
    content: str = ""
    pending: Signals = field(default_factory=dict)
    since: float = 0.0
    checksums: tuple[str, ...] = ()
    volatile: tuple[str, ...] = ()
    harvest: str = ""
    asked: bool = False
    faults: int = 0
    fault: str = ""
    before: float = 0.0

    def dumped(self) -> str:
        """As JSON, without what is as at the beginning: operators see it in the UI."""
        values = {name: value for name, value in asdict(self).items() if value != getattr(Watched(), name)}
        return json.dumps({"version": VERSION, **values}, sort_keys=True)

    @classmethod
    def loaded(cls, text: str | None) -> Watched:
        """The memory in a text; an empty one for what is none of ours."""
        try:
            raw = json.loads(text or "")
            if raw.pop("version") != VERSION:
                return cls()
            return cls(**{name: _as(type(getattr(cls(), name)), value) for name, value in raw.items()})
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return cls()

    def settled(self, known: Signals, amount: int) -> Watched:
        """With nothing pending, and this known."""
        return replace(self.healthy(), known=dict(known), amount=amount, pending={}, since=0.0, checksums=())

    def healthy(self) -> Watched:
        """After a look that did not fail."""
        return replace(self, faults=0, fault="", before=0.0)

    def faulty(self, reason: str, now: float, first: float, longest: float) -> Watched:
        """After a look that failed: the next is let wait for ``first`` seconds, doubled for each fault in a row."""
        wait = min(first * 2.0 ** min(self.faults, 30), longest)
        return replace(self, faults=self.faults + 1, fault=reason, before=now + wait)


def _as(kind: type, value: Any) -> Any:
    """The value as the field's kind; TypeError or ValueError for a value of another."""
    if kind is dict:
        return {str(key): str(one) for key, one in value.items()}
    if kind is tuple:
        if not isinstance(value, list):
            raise TypeError("not a list")
        return tuple(map(str, value))
    if kind is float:
        if isinstance(value, bool) or not 0 <= value < LATEST:
            raise ValueError("not a time")
        return float(value)
    if type(value) is not kind:
        raise TypeError(f"not a {kind.__name__}")
    return value
