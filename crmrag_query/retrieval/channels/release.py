"""The channels that search a release itself, its communities aside, or its copy in PostgreSQL."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from crmrag_query.artifacts.release import Release
from crmrag_query.documents.documents import Documents
from crmrag_query.questions.form import Form
from crmrag_query.retrieval.channels import RANKING, TIED, Channel, Ties
from crmrag_query.retrieval.database import Database
from crmrag_query.retrieval.dense import DenseIndex
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.release_channels import Query, ReleaseChannels, Shares
from crmrag_query.retrieval.scores import NOTHING, Hits
from crmrag_query.retrieval.sparse import SparseIndex
from crmrag_query.retrieval.walker import Walker

NONSENSE: Final = 32
"""Meaningless texts that an encoder is tried with."""


def nonsense() -> list[str]:
    """Texts of one to four words of random letters, the same at every call."""
    made = random.Random(0)

    def word() -> str:
        return "".join(made.choices(string.ascii_lowercase, k=made.randint(4, 9)))

    return [" ".join(word() for _ in range(1 + at % 4)) for at in range(NONSENSE)]


@dataclass(frozen=True)
class Noise:
    """The highest cosine that any document of a release has with a text without meaning.

    What no document is nearer to than to such a text has nothing to do with the data. Encoders differ: of some, cosines of
    anything lie above .7, so that no number holds for all.
    """

    cosine: float

    @classmethod
    def from_release(cls, release: Release) -> Noise:
        vectors = release[QueryEncoder].encode(nonsense())
        found = (release[DenseIndex].search(vector, 1) for vector in vectors if vector.any())
        return cls(max((float(hits.scores[0]) for hits in found if len(hits)), default=0.0))


def dense(channels: ReleaseChannels, query: Query, size: int) -> Hits:
    """The documents whose windows are nearest to the question."""
    return channels.dense(query.vector, size, query.within)


def is_near(channels: ReleaseChannels, query: Query) -> bool:
    """Whether a document that has a vector is nearer to the question than any is to nonsense."""
    found = dense(channels, query, 1)
    return len(found) > 0 and float(found.scores[0]) > channels.release[Noise].cosine


def sparse(channels: ReleaseChannels, query: Query, size: int) -> Hits:
    """The documents with the highest BM25 score for the question's words."""
    return channels.sparse(query.text, size, query.within)


def has_words(channels: ReleaseChannels, query: Query) -> bool:
    """Whether a document has one of the words: looked up, where a search would score all documents that have it."""
    return bool(channels.release[SparseIndex].terms(query.text))


ENTITIES: Final = 5
LEAST: Final = 0.3
"""Similarity, calibrated, on the scale (1 + cosine) / 2. Source of both: the published mode ``entity_vector``."""


def entities(channels: ReleaseChannels, query: Query, size: int) -> Hits:
    """The things nearest to the question by their own documents, not by a passage of a long text that leads to them; at most
    ENTITIES, whatever ``size``."""
    if not query.vector.any():
        return NOTHING
    release = channels.release
    own = np.zeros(len(release[Documents].home), bool)
    own[: channels.documents] = True if query.within is None else query.within
    hits = release[DenseIndex].search(query.vector, min(size, ENTITIES), own)
    return hits.at_least(channels.calibrated(LEAST))


def is_never_met(channels: ReleaseChannels, query: Query) -> bool:
    """Nothing is nearer to a question by itself alone than by all that leads to it, which ``dense`` looks at."""
    return False


def named(channels: ReleaseChannels, query: Query, size: int) -> Hits:
    """The documents of the entities that the question names, the surest first.

    Their scores are those by which the names were linked. Not cut at ``size``: a question names few things.
    """
    linked = [one for mention in query.mentions for one in mention.entities]
    score: dict[int, float] = {}
    for one in sorted(linked, key=lambda one: (-one.score, one.entity)):
        for document in channels.holding([one.entity]):
            score.setdefault(document, one.score)
    return Hits.of(score.items())


def tied(channels: ReleaseChannels, query: Query) -> Iterator[tuple[float, Shares]]:
    """Documents that Fundamental Relationships tie to the entities that the question names."""
    for mention in query.mentions:
        share = channels.tied(mention, query.form, query.targets, query.cues)
        yield mention.entities[0].score, share


def dated(channels: ReleaseChannels, query: Query) -> Iterator[tuple[float, Shares]]:
    """Documents of what is dated within the period that the question names."""
    if query.period is not None:
        yield 1.0, channels.dated(query.period, query.targets, query.cues)


def walked(channels: ReleaseChannels, query: Query, size: int) -> Hits:
    """Personalised PageRank from the entities that the question names."""
    linked = [one.entity for mention in query.mentions for one in mention.entities]
    return channels.walked(linked, size, query.within) if linked else NOTHING


def typed(channels: ReleaseChannels, query: Query, size: int) -> Hits:
    """Among the documents of the categories that are asked for: those that are nearest, those of the question's words and,
    for sets, those of highest PageRank, fused."""
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


def has_type(channels: ReleaseChannels, query: Query) -> bool:
    """Whether categories are asked for that the data has anything of: a question for all churches need name none."""
    return bool(query.targets) and bool(channels.of_categories(query.targets).any())


def walker(channels: ReleaseChannels, query: Query, size: int) -> Hits:
    """What a walk finds through the part of the entity graph that the question is for."""
    found = channels.release[Walker].walk(query).found
    return Hits(found.documents[:size], found.scores[:size])


def has_landing(channels: ReleaseChannels, query: Query) -> bool:
    """Whether there is anywhere for a walk to begin."""
    return has_words(channels, query) or is_near(channels, query)


LINKED = ("graph", "documents", "name_index")
VECTORS = ("faiss_index", "encoder")


def near_in_postgres(channels: ReleaseChannels, query: Query, size: int) -> Hits:
    """The documents nearest to the question, by themselves or by a passage."""
    if not query.vector.any():
        return NOTHING
    database = channels.release[Database]
    return database.documents(database.nearest(query.vector, size, database.among(query.within)))


def words_in_postgres(channels: ReleaseChannels, query: Query, size: int) -> Hits:
    """The documents that hold most of the question's words, themselves or in a passage."""
    database = channels.release[Database]
    return database.documents(database.holding(query.text, size, database.among(query.within)))


CHANNELS: Mapping[str, Channel | Ties] = {
    "dated": Ties(dated, needs=("date_index", "documents", *RANKING)),
    "dense": Channel(dense, needs=VECTORS, awaited=("faiss_index",), meets=is_near),
    "entities": Channel(entities, needs=(*VECTORS, "documents"), meets=is_never_met),
    "postgres_dense": Channel(near_in_postgres, needs=("encoder",), elsewhere=True),
    "postgres_words": Channel(words_in_postgres, elsewhere=True),
    "named": Channel(named, needs=("documents", "name_index")),
    "sparse": Channel(sparse, needs=("bm25_index",), meets=has_words),
    TIED: Ties(tied, needs=(*LINKED, *RANKING)),
    "typed": Channel(typed, needs=(*RANKING, "aggregation_index"), reserved=True, meets=has_type),
    "walked": Channel(walked, needs=LINKED),
    "walker": Channel(
        walker,
        needs=("entity_graph", "token_vectors", "faiss_index", "bm25_index", "encoder", "documents"),
        meets=has_landing,
    ),
}
