"""PageRank by power iteration over a sparse matrix, as networkx defines it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from crmrag_query.config.build import PageRank
from crmrag_query.errors import BuildError

Doubles = npt.NDArray[np.float64]


def pagerank(edges: sparse.csr_array, settings: PageRank) -> Doubles:
    """PageRank float64 [n] of a weighted graph's nodes, sum 1; a node without edges out gives to all alike.

    ``edges`` [n, n]: weight from row to column. Brin & Page 1998. Raises BuildError when it does not
    converge.
    """
    count = edges.shape[0]
    if count == 0:
        return np.zeros(0)
    out = np.asarray(edges.sum(axis=1), np.float64).ravel()
    dangling = out == 0
    share = np.divide(1.0, out, where=~dangling, out=np.zeros(count))
    transition = edges.T.tocsr().astype(np.float64)
    rank: Doubles = np.full(count, 1 / count)
    for _ in range(settings.iterations):
        received = transition @ (rank * share) + rank[dangling].sum() / count
        new: Doubles = settings.damping * received + (1 - settings.damping) / count
        if np.abs(new - rank).sum() < settings.tolerance:
            return new
        rank = new
    raise BuildError(
        f"PageRank did not converge in {settings.iterations} iterations.",
        "Raise its tolerance in config/method.yaml.",
    )
