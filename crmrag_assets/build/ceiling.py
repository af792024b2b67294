"""What encoding a data set's documents takes beyond what is cached, and whether the configuration allows so much."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from crmrag_assets.build.layers import bits_of, chunks_of
from crmrag_assets.build.opened import documents_in_chunk, documents_of, encoder_of
from crmrag_assets.build.prices import litellm_price
from crmrag_assets.build.step import BuildContext
from crmrag_assets.harvest.chunks import buckets_of
from crmrag_assets.indexes.embed import pending
from crmrag_query.config.datasets import Ceiling
from crmrag_query.errors import BuildError

MILLION = 1_000_000
_ALLOWED: set[tuple[str, ...]] = set()  # data set, documents and ceiling that were found to fit


@dataclass(frozen=True)
class Workload:
    """What has no vector yet: windows, their tokens, and how many documents they are of."""

    documents: int = 0
    windows: int = 0
    tokens: int = 0

    def __add__(self, other: Workload) -> Workload:
        return Workload(
            self.documents + other.documents, self.windows + other.windows, self.tokens + other.tokens
        )


def workload(context: BuildContext) -> Workload:
    """Exact, over all chunks; nothing is encoded. BuildError before the documents are built."""
    return sum((_of_chunk(context, chunk) for chunk in chunks_of(context)), Workload())


def _of_chunk(context: BuildContext, chunk: str) -> Workload:
    documents, encoder = documents_of(context), encoder_of(context)
    texts = (documents.text(number) for number in documents_in_chunk(context, chunk).tolist())
    own, *others = caches_of(context, chunk)
    count, windows = pending(texts, encoder, own, others)
    return Workload(count, len(windows), sum(encoder.count(windows)) if windows else 0)


def caches_of(context: BuildContext, chunk: str) -> list[Path]:
    """The chunk's cache of vectors, and those of the chunks that held its documents when there were more of them, or fewer.

    Chunks that lie within it have a cache only where there were more. Those that it lies within may also be of other
    documents now; they count while it has nothing in a cache of its own.
    """
    own = context.data / "cache" / "embeddings" / encoder_of(context).key / f"{chunk}.bin"
    first = int(chunk, 16)
    within = [number for number in buckets_of(chunk, bits_of(context)) if number != first]
    begun = own.exists() and own.stat().st_size > 0
    around = [] if begun else sorted({first & (0xFF << bits) for bits in range(9)} - {first})
    paths = (own.with_stem(f"{number:02x}") for number in (*within, *reversed(around)))
    return [own, *(path for path in paths if path.exists())]


def require_within_ceiling(
    context: BuildContext, prices: Callable[[str], float | None] = litellm_price
) -> None:
    """Raise BuildError when encoding needs more than the data set's ceiling; looked at once for the same documents.

    ``prices``: US dollars a token by model.
    """
    ceiling = context.config.ceiling
    asked = (
        str(context.data),
        context.name,
        context.finished("documents").content,
        ceiling.model_dump_json(),
    )
    if asked in _ALLOWED or (ceiling.documents, ceiling.tokens, ceiling.usd) == (None, None, None):
        return
    _require(context, ceiling, workload(context), prices)
    _ALLOWED.add(asked)


def _require(
    context: BuildContext, ceiling: Ceiling, found: Workload, prices: Callable[[str], float | None]
) -> None:
    told = [
        f"{needed:,} {what} (at most {most:,})"
        for what, needed, most in (
            ("documents", found.documents, ceiling.documents),
            ("tokens", found.tokens, ceiling.tokens),
        )
        if most is not None and needed > most
    ]
    if ceiling.usd is not None and found.tokens:
        price = _price(context, ceiling, prices)
        if (cost := price * found.tokens) > ceiling.usd:
            told.append(f"${cost:,.2f} (at most ${ceiling.usd:,g})")
    if told:
        raise BuildError(
            f"Encoding '{context.name}' anew would take {' and '.join(told)}, more than its `ceiling` allows. "
            "Nothing was encoded.",
            f"Raise `ceiling` of '{context.name}' in datasets.yaml, or take it out.",
        )


def price_of(context: BuildContext, prices: Callable[[str], float | None] = litellm_price) -> float | None:
    """US dollars a token: as configured, else as known of the model; None of a model of one's own, or where nobody knows."""
    configured = context.config.ceiling.usd_per_million_tokens
    if configured is not None:
        return configured / MILLION
    embedding = context.config.embedding
    return prices(embedding.model) if embedding.provider == "litellm" else None


def _price(context: BuildContext, ceiling: Ceiling, prices: Callable[[str], float | None]) -> float:
    """US dollars a token: as configured, nothing for a model of one's own, else as known of the model."""
    embedding = context.config.embedding
    if (known := price_of(context, prices)) is not None:
        return known
    if embedding.provider != "litellm":
        return 0.0
    raise BuildError(
        f"The price of '{embedding.model}' is not known, so '{context.name}' cannot be kept below ${ceiling.usd:,g}.",
        "Say it: `ceiling: {usd_per_million_tokens: …}` in datasets.yaml.",
    )
