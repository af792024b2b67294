"""The things nearest to the question by their own documents: not by a passage of a long text that leads to them."""

from __future__ import annotations

import numpy as np

from crmrag_query.documents.documents import Documents
from crmrag_query.retrieval.channels import Channel
from crmrag_query.retrieval.dense import DenseIndex
from crmrag_query.retrieval.query import Query
from crmrag_query.retrieval.release_channels import ReleaseChannels
from crmrag_query.retrieval.scores import NOTHING, Hits

MOST = 5
LEAST = 0.3
"""Similarity, calibrated, on the scale (1 + cosine) / 2. Source of both: the published mode ``entity_vector``."""


def find(channels: ReleaseChannels, query: Query, size: int) -> Hits:
    """At most MOST, whatever ``size``."""
    if not query.vector.any():
        return NOTHING
    release = channels.release
    own = np.zeros(len(release[Documents].home), bool)
    own[: channels.documents] = True if query.within is None else query.within
    hits = release[DenseIndex].search(query.vector, min(size, MOST), own)
    return hits.at_least(channels.calibrated(LEAST))


def meets(channels: ReleaseChannels, query: Query) -> bool:
    """Nothing is nearer to a question by itself alone than by all that leads to it, which ``dense`` looks at."""
    return False


CHANNEL = Channel(find, needs=("faiss_index", "encoder", "documents"), meets=meets)
