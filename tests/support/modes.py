"""Modes made for tests."""

from __future__ import annotations

from crmrag_query.config.loading import EXPANSIONS, Mode, load_modes

CRM = load_modes()["crm"]
SHIPPED = (
    "crm", "vector", "fulltext", "entity_vector", "graph_vector", "graph_vector_fulltext", "global_vector",
    "graph", "walker", "agent",
)  # fmt: skip
"""The names of the modes that ship, the default first."""
SEARCHING = tuple(name for name, mode in load_modes().items() if mode.channels)
"""Those that find documents."""
WITHOUT_MODEL = tuple(name for name in SHIPPED if name != "agent")
"""Those that answer without a language model."""
THERE_ARE = f"There are: {', '.join(SHIPPED)}"
"""What a mode that there is not is refused with."""
STAGES = (
    "dense",
    "sparse",
    "named",
    "tied",
    "dated",
    "walked",
    "typed",
    "communities",
    "entities",
    "walker",
    *EXPANSIONS,
)
"""The channels that ship, and what is done with their candidates."""
FUSED = tuple(name for name in STAGES if name != "walker")
"""Those that one mode may have all together: the walker is one of its own, and needs more of a release."""


def mode(*stages: str) -> Mode:
    """A mode of these channels and stages alone, in the order of STAGES; it never reads a question as a plan."""
    ordered = [one for one in STAGES if one in stages]
    return CRM.only(*ordered, *(one for one in stages if one not in STAGES)).model_copy(
        update={"plans": "never"}
    )
