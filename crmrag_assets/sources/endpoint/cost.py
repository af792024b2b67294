"""What harvesting an endpoint will cost, from what its discovery and a sample cost."""

from __future__ import annotations

from math import ceil, erfc, sqrt

from crmrag_assets.harvest.traffic import Traffic
from crmrag_assets.sources.base import Discovery
from crmrag_query.config.build import Requests

CLOSING = 2  # requests after the last chunk: triples and subjects are counted once more
NEGLIGIBLE = 1e-9


def forecast(
    discovery: Discovery, requests: Requests, seconds_per_batch: float | None = None
) -> tuple[int, float]:
    """Requests and seconds of a whole harvest, its discovery included, where nothing is repeated and nothing split.

    ``seconds_per_batch``: of a full batch's requests one after another, without pauses; None where it was not measured:
    the mean of discovery's requests is taken then. Chunks follow one another, and the batches of a chunk run side by side.
    """
    spent, chunks = discovery.gathered.traffic, 1 << discovery.bits
    subjects, mean = _asked(discovery), spent.seconds / max(spent.requests, 1)
    batches, each = expected_batches(subjects, chunks, requests.batch_entities), requests_of_batch(discovery)
    waves = expected_batches(subjects, chunks, requests.batch_entities * requests.parallel)
    busy = waves * (each * mean if seconds_per_batch is None else seconds_per_batch)
    paced = each * batches * requests.pause_seconds
    closing = CLOSING * max(mean, requests.pause_seconds)
    seconds = spent.seconds + spent.waited + max(busy, paced) + closing
    return spent.requests + each * round(batches) + CLOSING, seconds


def requests_of_batch(discovery: Discovery) -> int:
    """One for its rows, and one for its count unless discovery counted the triples of each subject."""
    return 1 if discovery.counted is not None and discovery.counted.each else 2


def _asked(discovery: Discovery) -> int:
    """Subjects that are asked for by name, as the endpoint counts them: schema terms too, but no blank nodes.

    Where it does not count, about as many as were found: discovery brought the blank nodes, of which some are not subjects.
    """
    if discovery.counted is not None and discovery.counted.subjects is not None:
        return discovery.counted.subjects
    report = discovery.report
    return max(0, discovery.entities + report.excluded_subjects - report.blank_nodes)


def expected_batches(subjects: int, chunks: int, size: int) -> float:
    """How many batches of at most ``size`` subjects all chunks take, each subject being in a chunk at random.

    Sum over k of the probability that a chunk holds more than k batches: binomial, by its normal approximation.
    """
    if chunks == 1:
        return float(ceil(subjects / size))
    share = 1 / chunks
    mean, deviation = subjects * share, sqrt(subjects * share * (1 - share))
    expected = 1 - (1 - share) ** subjects
    filled = size
    while deviation and (beyond := erfc((filled + 0.5 - mean) / deviation / sqrt(2)) / 2) > NEGLIGIBLE:
        expected += beyond
        filled += size
    return chunks * expected


def seconds_of_batch(sample: Traffic, discovery: Discovery, requests: Requests) -> float | None:
    """Seconds of a full batch by what asking for a sample took; None where nothing was asked.

    The larger of two views: a batch takes as long as so many requests, or as so many rows.
    """
    if not sample.requests or not discovery.entities:
        return None
    rows = requests.batch_entities * discovery.triples / discovery.entities
    by_rows = sample.seconds * rows / sample.rows if sample.rows else 0.0
    return max(requests_of_batch(discovery) * sample.seconds / sample.requests, by_rows)
