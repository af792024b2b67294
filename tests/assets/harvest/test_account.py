"""The account of a harvest: parts add up, and it is whole exactly when nothing says otherwise."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_assets.harvest.prefetch import Account, ChunkReport, as_dict, verdict
from crmrag_assets.harvest.report import LEFT_OUT, MERGED, Gathered, HarvestReport, Missing, Traffic
from crmrag_assets.harvest.source import Counted, Discovery


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


BROKEN = replace(
    account(None, None, countable=False).discovery, report=HarvestReport(broken_count=2, repaired=3)
)
SOME, LACKING = (
    Missing("status 500", "http://x/1", "http://p", 9),
    Missing("lacks rows", "http://x/1", triples=9),
)
GIVEN = "triples are missing, which the source would not give"
WHOLE, NOT_WHOLE, UNPROVEN = (
    "The harvest is whole: the source's own counts agree with it.",
    "The harvest is not whole.",
    "Nothing is known to be missing.",
)
CASES: dict[str, tuple[Account, str, list[str]]] = {
    "agrees": (account(COUNTED, COUNTED), WHOLE, []),
    "files": (account(None, None, countable=False), "The harvest is whole.", []),
    "broken lines": (Account(BROKEN, []), "All that could be read was harvested.", ["2 broken lines were skipped."]),
    "changed triples": (account(COUNTED, Counted(2350, 101)), NOT_WHOLE, [
        "The source changed while it was read: 2,339 triples before, 2,350 after."]),
    "changed subjects": (account(COUNTED, Counted(2339, 102)), NOT_WHOLE, [
        "The source changed while it was read: 101 subjects before, 102 after."]),
    "missing": (account(COUNTED, COUNTED, 2330, missing=(SOME,)), NOT_WHOLE, [f"9 {GIVEN} (1 place)."]),
    "missing and unknown": (account(COUNTED, COUNTED, 2300, missing=(SOME, Missing("time-out", "http://x/2"))),
        NOT_WHOLE, [f"At least 9 {GIVEN} (2 places)."]),
    "unknown": (account(COUNTED, COUNTED, 2300, missing=(Missing("time-out"),)), NOT_WHOLE, [
        f"An unknown number of {GIVEN} (1 place)."]),
    "vanished": (account(COUNTED, COUNTED, 2330), NOT_WHOLE, [
        "The source counted 2,339 triples and 2,330 were harvested: what became of 9 is not known."]),
    "held once or left out": (account(COUNTED, COUNTED, 2330, notes={MERGED: 5, LEFT_OUT: 4, "batches halved": 7}),
        WHOLE, ["4 triples were left out."]),
    "more": (account(COUNTED, COUNTED, 2345), UNPROVEN, [
        "The source counted 2,339 triples and 2,345 were harvested: more than it counted."]),
    "contradiction": (account(COUNTED, COUNTED, 2339, missing=(LACKING,)), NOT_WHOLE, [
        f"9 {GIVEN} (1 place).",
        "The source counted 2,339 triples and 2,339 were harvested; with 9 more that are missing, repeated or left out, "
        "these are more than it counted: its counts contradict one another."]),
    "never counted": (account(Counted(), Counted()), UNPROVEN, [
        "The source would not count its triples: nothing proves that it gave all of them."]),
    **{f"not counted again, {after}": (account(COUNTED, after), UNPROVEN, [
        "The source would not count its triples again: nothing proves that it gave all of them."])
        for after in (None, Counted())},
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_harvest_is_whole_where_nothing_says_otherwise(name: str) -> None:
    """It is verified where the source's own counts prove it; files count nothing."""
    found_of, said, concerns = CASES[name]
    found = as_dict(found_of)
    assert (verdict(found), found["concerns"]) == (said, concerns)
    assert found["whole"] == (said != NOT_WHOLE)
    if said == WHOLE:
        assert found["verified"]
    elif not found_of.countable:
        assert found["verified"] is None
    elif not name.startswith(("changed", "missing")):
        assert not found["verified"]


def test_what_is_missing_and_repaired_is_counted() -> None:
    found = as_dict(CASES["missing and unknown"][0])
    assert found["missing_triples"] == {"known": 9, "unknown": 1}
    assert found["missing"][0] == {
        "reason": "status 500", "subject": "http://x/1", "property": "http://p", "triples": 9,
    }  # fmt: skip
    assert as_dict(CASES["missing"][0])["counted"]["unexplained_triples"] == 0
    assert as_dict(CASES["agrees"][0])["counted"]["harvested"] == {"triples": 2339, "subjects": 101}
    assert as_dict(CASES["broken lines"][0])["repaired"] == 3


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
