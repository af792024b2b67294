"""Chunks that several builds offer to Dagster at the same moment."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from crmrag_assets.home import open_instance
from crmrag_assets.partitions import CHUNK, chunk_order, offer_chunks


def test_builds_that_offer_the_same_chunks_at_once_do_not_fail(tmp_path: Path) -> None:
    with open_instance(tmp_path) as one, open_instance(tmp_path) as other, ThreadPoolExecutor(2) as pool:
        one.get_dynamic_partitions(CHUNK), other.get_dynamic_partitions(CHUNK)
        for count in (1, 2, 4, 8, 16, 32):
            offers = [pool.submit(offer_chunks, instance, chunk_order()[:count]) for instance in (one, other)]
            assert [offer.result() for offer in offers] == [None, None]
        assert sorted(one.get_dynamic_partitions(CHUNK)) == sorted(chunk_order()[:32])
