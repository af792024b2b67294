"""Modes made for tests."""

from __future__ import annotations

from crmrag_query.config.modes import EXPANSIONS, Mode, load_modes

CRM = load_modes()["crm"]
STAGES = ("dense", "sparse", "named", "tied", "dated", "walked", "typed", "communities", *EXPANSIONS)
"""The channels that ship, and what is done with their candidates."""


def mode(*stages: str) -> Mode:
    """A mode of these channels and stages alone, in the order of STAGES; it never reads a question as a plan."""
    ordered = [one for one in STAGES if one in stages]
    return CRM.only(*ordered, *(one for one in stages if one not in STAGES)).model_copy(
        update={"plans": "never"}
    )
