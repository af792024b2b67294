"""Among the documents of the categories that are asked for: those that are nearest, those of the question's words and, for
sets, those of highest PageRank, fused."""

from __future__ import annotations

from crmrag_query.questions.form import Form
from crmrag_query.retrieval.channels import RANKING, Channel
from crmrag_query.retrieval.query import Query
from crmrag_query.retrieval.release_channels import ReleaseChannels
from crmrag_query.retrieval.scores import NOTHING, Hits


def find(channels: ReleaseChannels, query: Query, size: int) -> Hits:
    if not query.targets:
        return NOTHING
    mask = channels.of_categories(query.targets)
    if query.within is not None:
        mask &= query.within
    nearest = channels.dense(query.vector, size, mask).ranking
    rankings = [channels.sparse(query.text, size, mask).ranking]
    if query.form is not Form.SPECIFIC:
        rankings.append(channels.central(query.targets, size))
    return Hits.of(channels.fused(rankings, nearest, size)[:size])


def meets(channels: ReleaseChannels, query: Query) -> bool:
    """Whether categories are asked for that the data has anything of: a question for all churches need name none."""
    return bool(query.targets) and bool(channels.of_categories(query.targets).any())


CHANNEL = Channel(find, needs=(*RANKING, "aggregation_index"), reserved=True, meets=meets)
