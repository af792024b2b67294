"""Every entity is told, in documents of a fair length."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crmrag_assets.build.step import BuildContext
from crmrag_assets.opened import documents_of, graph_of
from crmrag_assets.quality.indexes import every_entity_is_told, lengths_are_fair
from tests.support.quality import rewriting, with_checks


def limited(context: BuildContext, thin: int, limit: int) -> BuildContext:
    rules = context.method.chaining.model_copy(update={"thin_characters": thin, "limit_characters": limit})
    return replace(context, method=context.method.model_copy(update={"chaining": rules}))


def test_every_entity_has_a_document_or_stands_in_one(sound: BuildContext) -> None:
    found = every_entity_is_told(sound)
    counts = found.counts
    assert found.holds and counts["untold"] == 0
    assert counts["own_documents"] == documents_of(sound).count
    assert int(counts["own_documents"]) + int(counts["within_others"]) == counts["entities"]


def test_an_entity_that_stands_nowhere_is_named(copied: BuildContext) -> None:
    church = graph_of(copied).node("http://example.org/church3")
    with rewriting(copied, "documents") as folder:
        homes = np.load(folder / "entity_document.npy")
        homes[church] = -1
        np.save(folder / "entity_document.npy", homes)
    found = every_entity_is_told(copied)
    assert not found.holds and "http://example.org/church3" in found.says and found.counts["untold"] == 1


def test_few_thin_and_few_long_documents_are_fair(sound: BuildContext) -> None:
    found = lengths_are_fair(limited(sound, 1, 100_000))
    assert found.holds and (found.counts["thin"], found.counts["oversized"]) == (0, 0)
    assert found.tables["longest"][0]["characters"] >= int(found.counts["median_characters"])


def test_many_thin_or_long_documents_are_worth_a_look(sound: BuildContext) -> None:
    thin = lengths_are_fair(limited(sound, 100_000, 200_000))
    assert not thin.holds and thin.counts["thin_share"] == 1.0 and "100 % of" in thin.says
    long = lengths_are_fair(limited(sound, 1, 10))
    assert not long.holds and long.counts["oversized_share"] == 1.0
    assert lengths_are_fair(with_checks(limited(sound, 1, 10), oversized_share=1.0)).holds
