"""PageRank by power iteration, as networkx defines it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from crmrag_query.config.build import PageRank
from crmrag_query.errors import BuildError

Doubles = npt.NDArray[np.float64]


def pagerank(
    receive: Callable[[Doubles], Doubles],
    out: npt.NDArray[np.integer | np.floating],
    member: npt.NDArray[np.bool_],
    settings: PageRank,
) -> Doubles:
    """PageRank float64 [n] of the members of a weighted graph's nodes, sum 1, 0 for others; one without edges out gives to
    all members alike.

    ``out`` [n]: weight of the edges out of each node. ``receive`` gives what every node receives when each node sends what it
    is given, times the edge's weight, along its edges; these are between members. Brin & Page 1998. Raises BuildError when it
    does not converge.
    """
    count = int(np.count_nonzero(member))
    if count == 0:
        return np.zeros(len(out))
    share = np.divide(1.0, out, where=out != 0, out=np.zeros(len(out)))
    dangling = np.flatnonzero(member & (out == 0))
    base = member / count
    rank: Doubles = base
    for _ in range(settings.iterations):
        new = receive(rank * share)
        new *= settings.damping
        new += (settings.damping * rank[dangling].sum() + 1 - settings.damping) * base
        if np.abs(new - rank).sum() < settings.tolerance:
            return new
        rank = new
    raise BuildError(
        f"PageRank did not converge in {settings.iterations} iterations.",
        "Raise its tolerance in config/method.yaml.",
    )
