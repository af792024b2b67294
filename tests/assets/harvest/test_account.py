"""The account of a harvest: parts add up, and it is whole exactly when nothing says otherwise."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_assets.harvest.account import Account, as_dict, verdict
from crmrag_assets.harvest.prefetch import ChunkReport
from crmrag_assets.harvest.report import LEFT_OUT, MERGED, HarvestReport
from crmrag_assets.harvest.traffic import Gathered, Missing, Traffic
from crmrag_assets.sources.base import Counted, Discovery


def account(
    before: Counted | None,
    after: Counted | None,
    triples: int = 2339,
    *,
    missing: tuple[Missing, ...] = (),
    notes: dict[str, int] | None = None,
    countable: bool = True,
) -> Account:
    """One chunk with these triples, three of them of a schema subject."""
    gathered = Gathered(missing=missing, notes=Counter(notes or {}))
    chunk = ChunkReport("00", 100, triples - 3, 1, 3, gathered)
    return Account(Discovery(100, triples, 0, HarvestReport(), Gathered(), before), [chunk], after, countable)


COUNTED = Counted(2339, 101)


def test_a_harvest_that_agrees_with_the_sources_counts_is_whole_and_verified() -> None:
    found = as_dict(account(COUNTED, COUNTED))
    assert found["whole"] and found["verified"] and not found["concerns"]
    assert found["counted"]["harvested"] == {"triples": 2339, "subjects": 101}
    assert verdict(found) == "The harvest is whole: the source's own counts agree with it."


def test_files_are_whole_without_counts() -> None:
    found = as_dict(account(None, None, countable=False))
    assert found["whole"] and found["verified"] is None and not found["concerns"]
    assert verdict(found) == "The harvest is whole."
    broken = replace(
        account(None, None, countable=False).discovery, report=HarvestReport(broken_count=2, repaired=3)
    )
    found = as_dict(Account(broken, []))
    assert found["whole"] and found["concerns"] == ["2 broken lines were skipped."] and found["repaired"] == 3
    assert verdict(found) == "All that could be read was harvested."


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (Counted(2350, 101), "The source changed while it was read: 2,339 triples before, 2,350 after."),
        (Counted(2339, 102), "The source changed while it was read: 101 subjects before, 102 after."),
    ],
)
def test_a_source_that_changed_is_not_whole(after: Counted, said: str) -> None:
    found = as_dict(account(COUNTED, after))
    assert not found["whole"] and found["concerns"] == [said]


def test_what_is_missing_is_named_and_counted() -> None:
    some = Missing("status 500", "http://x/1", "http://p", 9)
    found = as_dict(account(COUNTED, COUNTED, 2330, missing=(some,)))
    assert not found["whole"] and found["counted"]["unexplained_triples"] == 0
    assert found["concerns"] == ["9 triples are missing, which the source would not give (1 place)."]
    assert found["missing"] == [
        {"reason": "status 500", "subject": "http://x/1", "property": "http://p", "triples": 9}
    ]
    more = as_dict(account(COUNTED, COUNTED, 2300, missing=(some, Missing("time-out", "http://x/2"))))
    assert more["missing_triples"] == {"known": 9, "unknown": 1}
    assert more["concerns"] == ["At least 9 triples are missing, which the source would not give (2 places)."]
    none = as_dict(account(COUNTED, COUNTED, 2300, missing=(Missing("time-out"),)))
    assert none["concerns"] == [
        "An unknown number of triples are missing, which the source would not give (1 place)."
    ]


def test_triples_that_vanished_without_a_word_are_noticed() -> None:
    found = as_dict(account(COUNTED, COUNTED, 2330))
    assert not found["whole"] and not found["verified"]
    assert found["concerns"] == [
        "The source counted 2,339 triples and 2,330 were harvested: what became of 9 is not known."
    ]


def test_triples_that_are_held_once_or_left_out_are_explained_by_their_notes() -> None:
    found = as_dict(account(COUNTED, COUNTED, 2330, notes={MERGED: 5, LEFT_OUT: 4, "batches halved": 7}))
    assert found["whole"] and found["verified"] and found["concerns"] == ["4 triples were left out."]


def test_more_triples_than_were_counted_are_told_and_prove_nothing() -> None:
    found = as_dict(account(COUNTED, COUNTED, 2345))
    assert found["whole"] and not found["verified"]
    assert found["concerns"] == [
        "The source counted 2,339 triples and 2,345 were harvested: more than it counted."
    ]
    assert verdict(found) == "Nothing is known to be missing."


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [(Counted(), Counted(), "triples:"), (COUNTED, None, "again:"), (COUNTED, Counted(), "again:")],
)
def test_a_source_that_would_not_count_leaves_the_harvest_unverified(
    before: Counted, after: Counted | None, word: str
) -> None:
    found = as_dict(account(before, after))
    assert found["whole"] and not found["verified"]
    (said,) = found["concerns"]
    assert said.startswith("The source would not count its triples") and word in said


@given(
    st.lists(st.tuples(*[st.integers(0, 1000)] * 5), min_size=1, max_size=8),
    st.integers(0, 50),
    st.lists(st.integers(0, 30) | st.none(), max_size=4),
)
def test_parts_add_up_and_the_verdict_follows_from_them(
    parts: list[tuple[int, ...]], lacking: int, missing: list[int | None]
) -> None:
    chunks = [
        ChunkReport(f"{n:02x}", *part[:4], Gathered(Traffic(requests=part[4]), notes=Counter(x=part[4])))
        for n, part in enumerate(parts)
    ]
    held = sum(part[1] + part[3] for part in parts)
    gathered = Gathered(Traffic(requests=1), tuple(Missing("?", triples=n) for n in missing))
    counted = Counted(held + sum(n or 0 for n in missing) + lacking)
    discovery = Discovery(0, 0, 3, HarvestReport(), gathered, counted)
    found = as_dict(Account(discovery, chunks, counted, True))
    assert found["traffic"]["requests"] == 1 + sum(part[4] for part in parts)
    assert found["notes"].get("x", 0) == sum(part[4] for part in parts)
    assert (found["entities"], found["triples"]) == (sum(p[0] for p in parts), sum(p[1] for p in parts))
    assert len(found["missing"]) == len(missing)
    assert found["counted"]["unexplained_triples"] == (None if None in missing else lacking)
    assert found["whole"] == (not missing and not lacking)
    assert bool(found["concerns"]) != found["whole"]
