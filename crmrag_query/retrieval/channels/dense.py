"""The documents whose windows are nearest to the question."""

from __future__ import annotations

import random
import string
from dataclasses import dataclass
from typing import Final

from crmrag_query.artifacts.release import Release
from crmrag_query.retrieval.channels import Channel
from crmrag_query.retrieval.dense import DenseIndex
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.query import Query
from crmrag_query.retrieval.release_channels import ReleaseChannels
from crmrag_query.retrieval.scores import Hits

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


def find(channels: ReleaseChannels, query: Query, size: int) -> Hits:
    return channels.dense(query.vector, size, query.within)


def meets(channels: ReleaseChannels, query: Query) -> bool:
    """Whether a document that has a vector is nearer to the question than any is to nonsense."""
    found = find(channels, query, 1)
    return len(found) > 0 and float(found.scores[0]) > channels.release[Noise].cosine


CHANNEL = Channel(find, needs=("faiss_index", "encoder"), awaited=("faiss_index",), meets=meets)
