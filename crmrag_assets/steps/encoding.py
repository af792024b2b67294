"""How much of a data set has vectors, how long the rest takes, and encoding it ahead of the artifacts that are made of it.

Vectors are kept by the text that they are of. So what is encoded ahead is there for whichever release wants it: also after
`embed` was killed, and after the source has changed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from crmrag_assets.build.step import BuildContext, asking_api, chunks_of
from crmrag_assets.indexes.encoder import (
    SHARES,
    Encoder,
    cut,
    encode_batches,
    key_of,
    lacking,
    pending,
)
from crmrag_assets.opened import documents_of, encoder_of, shares_with, text_digests, texts_in_chunk
from crmrag_assets.steps.indexes import caches_of, new_themes, themes_of, themes_with_vectors

TIMED = 24  # texts or windows encoded to measure how long that takes
REQUEST_SECONDS = 1.0
"""Taken to be what an embedding API needs for a batch of texts: measuring it would cost money."""


@dataclass(frozen=True)
class Left:
    """Texts without a vector, by share in per cent: those of the documents of ``SHARES``, of their passages and of themes."""

    texts: dict[int, int]

    @property
    def there(self) -> int:
        """The highest share of which nothing is left, 0 for none."""
        return self.within(0.0, 1.0)

    def within(self, seconds: float, pace: float) -> int:
        """The highest share that is reached in so many seconds, at a pace of so many for a text; 0 for none."""
        return max((share for share, count in self.texts.items() if count * pace <= seconds), default=0)


def left_of(context: BuildContext) -> Left:
    """What has no vector yet; nothing is encoded. BuildError before the documents are built."""
    documents, encoder = documents_of(context), encoder_of(context)
    whole, share_of_text = replace(context, share=100), shares_with(context)[documents.home]
    found = dict.fromkeys(SHARES, 0)
    for chunk in chunks_of(context):
        own, *others = caches_of(context, chunk)
        numbers = texts_in_chunk(whole, chunk)
        texts = map(documents.searched, numbers.tolist())
        keys = [key.tobytes() for key in text_digests(context)[numbers]]  # as `key_of` tells of each
        lacks = lacking(keys, texts, encoder, own, others)
        shares = share_of_text[numbers[np.array(lacks, bool)]]
        for share in SHARES:
            found[share] += int((shares <= share).sum())
    if context.config.communities:
        themes = themes_of(context)  # telling tens of thousands takes as long as all else here
        _, new = new_themes(context, themes)
        without = np.array([key_of(theme) in new for theme in themes], bool)
        for share in SHARES:
            found[share] += int(without[themes_with_vectors(replace(context, share=share))].sum())
    return Left(found)


def pace_of(context: BuildContext) -> float:
    """Seconds that the data set's encoder takes for a text, by some of them; of an embedding API, about."""
    documents, encoder = documents_of(context), encoder_of(context)
    count = len(documents.texts)
    numbers = np.linspace(0, count - 1, min(TIMED, count)).astype(np.int64).tolist()
    parts = cut([documents.searched(number) for number in numbers], encoder.count, encoder.window)
    windows = [window for part in parts for window in part]
    if context.config.embedding.provider == "litellm":
        return REQUEST_SECONDS * len(windows) / max(len(parts), 1) / context.config.embedding.batch
    return seconds_to_encode(windows, encoder) / max(len(parts), 1)


def seconds_to_encode(windows: Sequence[str], encoder: Encoder) -> float:
    """What encoding these takes now, after one that loads the model."""
    if not windows:
        return 0.0
    encoder.encode(windows[:1])
    start = time.monotonic()
    encoder.encode(windows)
    return time.monotonic() - start


@dataclass(frozen=True)
class Batch:
    """Windows that were encoded together and are kept; of how many texts of the share all are, from the first batch on."""

    windows: list[str]
    texts: int


def encode_ahead(context: BuildContext) -> Iterator[Batch]:
    """Encode what lacks a vector of the context's share, batch by batch. Who stops after any of them loses nothing.

    It writes to the cache alone, so the data set may be built meanwhile. Raises ModelError from the encoder.
    """
    documents, encoder, before = documents_of(context), encoder_of(context), 0
    with asking_api(context):
        for chunk in chunks_of(context):
            texts = map(documents.searched, texts_in_chunk(context, chunk).tolist())
            own, *others = caches_of(context, chunk)
            lacks, known, new = pending(texts, encoder, own, others)
            for windows, done in encode_batches(new, encoder, known):
                yield Batch(windows, before + round(done * lacks))
            before += lacks
        if context.config.communities:
            chosen = compress(themes_of(context), themes_with_vectors(context))
            known, new = new_themes(context, [*chosen])
            for windows, done in encode_batches(new, encoder, known):
                yield Batch(windows, before + round(done * len(new)))
