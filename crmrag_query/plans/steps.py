"""The steps of a way's paths, taken apart."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Taken:
    """A step: the code or IRI of its property, and whether it is followed from subject to object.

    ``alone``: that property and its inverse in any namespace, without those below it; an IRI always is. ``repeated``: it is
    followed zero or more times.
    """

    name: str
    ahead: bool
    alone: bool
    repeated: bool


def taken(step: str) -> Taken:
    """``^`` before a step turns it round, ``!`` after a code takes it alone, ``*`` at the end repeats it."""
    repeated = step.endswith("*")
    name = step.removesuffix("*")
    ahead = not name.startswith("^")
    name = name.removeprefix("^")
    if is_iri(name):
        return Taken(name, ahead, True, repeated)
    return Taken(name.removesuffix("!"), ahead, name.endswith("!"), repeated)


def is_iri(name: str) -> bool:
    return "://" in name or name.startswith("urn:")
