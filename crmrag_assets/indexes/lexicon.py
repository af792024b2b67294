"""Building the lexicon's table of what occurs: kinds of nodes, the steps between them, and the ends of each relation."""

from __future__ import annotations

from pathlib import Path

from crmrag_query.plans.kinds import made
from crmrag_query.plans.world import World


def write_lexicon(world: World, out: Path) -> dict[str, int]:
    """Write the artifact into ``out``; gives counts for people."""
    found = made(world)
    found.save(out)
    occurring = sum(low < high for low, high in zip(found.start_ptr, found.start_ptr[1:], strict=False))
    return {
        "kinds": len(found),
        "steps": len(found.step_property),
        "relations": int(occurring),
        "triples": int(found.step_triples.sum()),
    }
