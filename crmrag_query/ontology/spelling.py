"""How codes stand in names: `P108i_was_produced_by`, `E33_E41_Linguistic_Appellation`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_NAME = re.compile(
    r"""(?P<letters>[A-Z]{1,4})
        (?P<number>\d+(?:\.\d+)?)
        (?P<suffix>[a-z]|[FB](?=_|$))?
        (?P<apart>_i(?=_|$))?
        (?P<second>_[A-Z]{1,4}\d+(?=_|$))?
        (?:_(?P<words>.+))?""",
    re.VERBOSE,
)
_SEPARATORS = re.compile(r"[/#]")
_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")


class Spelling(NamedTuple):
    """A name taken apart: its code as we write codes, and the words after it."""

    code: str
    words: str


def local_name(iri: str) -> str:
    """What follows the last `/` or `#` of an IRI, percent escapes undone, blanks as underscores."""
    last = _SEPARATORS.split(iri)[-1]
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), last).replace(" ", "_")


def namespace_of(iri: str) -> str:
    """The IRI up to and with its last `/` or `#`."""
    return iri[: len(iri) - len(_SEPARATORS.split(iri)[-1])]


@lru_cache(maxsize=65536)
def take_apart(name: str) -> Spelling | None:
    """Code and words of a name, or None where it carries no code.

    Inverses are written `P108i` whether the name says `P108i_…`, `P108_i_…` or, as CRM up to 5.0.0
    did, `P108B_…` (`P108F_…` being the plain property). Two class codes, as in `E33_E41_…`, are one.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    suffix = found["suffix"] or ""
    inverse = "i" if found["apart"] else {"F": "", "B": "i"}.get(suffix, suffix)
    codes = sorted(
        (found["letters"] + found["number"] + inverse, *filter(None, [(found["second"] or "")[1:]]))
    )
    return Spelling("_".join(codes), found["words"] or "")


def as_words(name: str) -> str:
    """The words of a name for a person: `P108i_was_produced_by` gives "was produced by"."""
    spelling = take_apart(name)
    return (spelling.words if spelling else name).replace("_", " ").strip()


def flipped(code: str) -> str:
    """The code of the other direction by CRM's convention: `P108` and `P108i`."""
    return code[:-1] if code.endswith("i") else code + "i"
