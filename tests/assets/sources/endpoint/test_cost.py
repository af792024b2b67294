"""The forecast of a harvest: exact where chance has no part, near elsewhere, and bounded by pauses."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_assets.harvest.report import Gathered, HarvestReport, Traffic
from crmrag_assets.harvest.source import Counted, Discovery
from crmrag_assets.sources.endpoint.kind import CLOSING, expected_batches, forecast, seconds_of_batch
from crmrag_query.artifacts.manifest import chunk_of
from crmrag_query.config import load_method

EACH = 2  # requests of a batch: its count and its rows
REQUESTS = load_method().requests.model_copy(
    update={"batch_entities": 100, "pause_seconds": 0.0, "parallel": 1}
)


def discovered(entities: int, bits: int = 0, **report: int) -> Discovery:
    """A discovery that took 10 requests of half a second each and a second of pauses."""
    traffic = Traffic(requests=10, rows=entities, seconds=5.0, waited=1.0)
    return Discovery(entities, 12 * entities, bits, HarvestReport(**report), Gathered(traffic))


def test_a_data_set_of_one_chunk_is_counted_exactly() -> None:
    requests, seconds = forecast(discovered(250), REQUESTS, seconds_per_batch=2.0)
    assert requests == 10 + 3 * EACH + CLOSING
    assert seconds == pytest.approx(5 + 1 + 3 * 2.0 + CLOSING * 0.5)


def test_subjects_are_as_many_as_the_endpoint_counts() -> None:
    counted = replace(discovered(999, blank_nodes=7), counted=Counted(triples=5000, subjects=100))
    assert forecast(counted, REQUESTS)[0] == forecast(discovered(100), REQUESTS)[0]


def test_without_a_count_blank_nodes_are_not_asked_for_again_and_schema_terms_are() -> None:
    found, plain = discovered(250, blank_nodes=150), discovered(100)
    assert forecast(found, REQUESTS)[0] == forecast(plain, REQUESTS)[0]
    assert forecast(replace(found, counted=Counted()), REQUESTS) == forecast(found, REQUESTS)
    found, plain = discovered(250, excluded_subjects=51), discovered(301)
    assert forecast(found, REQUESTS)[0] == forecast(plain, REQUESTS)[0]


@pytest.mark.parametrize(("entities", "bits", "size"), [(9000, 4, 500), (9000, 4, 1000), (3000, 8, 1000)])
def test_batches_of_hashed_chunks_are_as_many_as_expected(entities: int, bits: int, size: int) -> None:
    """Against real chunks: IRIs hashed as the harvest hashes them, over a few sets of IRIs."""
    made = 0
    for number in range(4):
        chunks = Counter(chunk_of(f"http://example.org/{number}/{n}", 1 << bits) for n in range(entities))
        made += sum(ceil(inside / size) for inside in chunks.values())
    assert expected_batches(entities, 1 << bits, size) == pytest.approx(made / 4, rel=0.1)


@given(st.integers(0, 5000), st.integers(0, 8), st.integers(1, 3000))
def test_batches_hold_all_subjects_and_no_chunk_has_more_than_one_unfilled(
    subjects: int, bits: int, size: int
) -> None:
    chunks = 1 << bits
    batches = expected_batches(subjects, chunks, size)
    assert subjects / size * 0.95 - 1 <= batches <= subjects / size * 1.05 + chunks + 1


def test_parallel_requests_shorten_a_chunk_of_many_batches_but_not_one_of_one() -> None:
    together = REQUESTS.model_copy(update={"parallel": 4})
    base = forecast(discovered(0), REQUESTS, 2.0)[1]
    assert forecast(discovered(800), REQUESTS, 2.0)[1] - base == pytest.approx(16)
    assert forecast(discovered(800), together, 2.0)[1] - base == pytest.approx(4)
    assert forecast(discovered(80), together, 2.0)[1] == forecast(discovered(80), REQUESTS, 2.0)[1]
    assert forecast(discovered(800), together)[0] == forecast(discovered(800), REQUESTS)[0]


def test_a_polite_pause_is_a_bound_that_no_parallel_request_goes_below() -> None:
    polite = REQUESTS.model_copy(update={"parallel": 8, "pause_seconds": 3.0})
    requests, seconds = forecast(discovered(800), polite, 0.1)
    assert seconds == pytest.approx(5 + 1 + (requests - 10) * 3.0)


def test_a_batch_of_subjects_whose_triples_were_counted_takes_one_request() -> None:
    found = replace(discovered(250), counted=Counted(3000, 250, each=True))
    requests, seconds = forecast(found, REQUESTS)
    assert requests == 10 + 3 + CLOSING and seconds == pytest.approx(5 + 1 + (3 + CLOSING) * 0.5)
    sample = Traffic(requests=10, rows=24_000, seconds=20.0)
    assert seconds_of_batch(sample, found, REQUESTS) == pytest.approx(2.0)


def test_without_a_sample_a_request_takes_as_long_as_those_of_discovery() -> None:
    assert forecast(discovered(250), REQUESTS)[1] == forecast(discovered(250), REQUESTS, EACH * 0.5)[1]


def test_a_batch_takes_as_long_as_its_requests_or_its_rows() -> None:
    found = discovered(1000)
    quick = Traffic(requests=10, rows=24_000, seconds=20.0)
    assert seconds_of_batch(quick, found, REQUESTS) == pytest.approx(EACH * 2.0)
    slow = Traffic(requests=10, rows=240, seconds=20.0)
    assert seconds_of_batch(slow, found, REQUESTS) == pytest.approx(20.0 * 1200 / 240)
    assert seconds_of_batch(Traffic(), found, REQUESTS) is None
