"""A ranking by date is settled only where the recorded spans decide it; who may come first besides is told as uncertain."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_query.plans.execute import Outcome, execute
from crmrag_query.plans.records import Plan, read_plan
from crmrag_query.reading.with_model import is_settled
from tests.support.planworlds import BASE, Sample, check, sample_of

WHEN = {"paths": [["P108i", "P4"]]}
FAR = 10_000
Span = tuple[int | None, int | None]
Dates = tuple[Span, ...]


def _worlds() -> dict[str, Dates]:
    """Works with no date, one or two, of a year or of several, an end of some not recorded."""
    random, found = Random(7), dict[str, Dates]()
    for number in range(60):
        dates: list[Span] = []
        for _ in range(random.choice((0, 1, 1, 1, 1, 2))):
            begin = random.randint(1500, 1520)
            end = begin + random.choice((0, 0, 0, 1, 3, 9))
            open_ = random.random()
            dates.append((None, end) if open_ < 0.1 else (begin, None) if open_ < 0.2 else (begin, end))
        found[f"w{number}"] = tuple(dates)
    return found


DATED = _worlds()


def turtle(works: dict[str, Dates]) -> str:
    day, rows = "^^xsd:date", []
    for key, dates in works.items():
        rows.append(f":{key} a crm:E22_Human-Made_Object .")
        for number, (begin, end) in enumerate(dates):
            span = f":{key}span{number} a crm:E52_Time-Span"
            span += f' ; crm:P82a_begin_of_the_begin "{begin}-01-01"{day}' if begin else ""
            span += f' ; crm:P82b_end_of_the_end "{end}-12-31"{day}' if end else ""
            rows.append(f":{key}making{number} a crm:E12_Production ; crm:P108_has_produced :{key} ; "
                        f"crm:P4_has_time-span :{key}span{number} . {span} .")  # fmt: skip
    return "\n".join(rows)


@pytest.fixture(scope="module")
def works(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return sample_of(turtle(DATED), tmp_path_factory.mktemp("works"))


def ranking(keys: list[str], kind: str, ascending: bool, first: int | None = 1) -> Plan:
    compute = {"kind": "rank", "measure": {"kind": kind, "way": WHEN}, "ascending": ascending, "first": first}
    among = {"kind": "among", "iris": [BASE + key for key in keys]}
    return read_plan({"where": [among], "compute": compute})


def possible_values(dates: Dates, kind: str) -> tuple[int, int]:
    """The first and the last year that the earliest (latest) of some dates may be."""
    best = min if kind == "earliest" else max
    return (
        best(-FAR if begin is None else begin for begin, _ in dates),
        best(FAR if end is None else end for _, end in dates),
    )


def possible_firsts(spans: dict[str, tuple[int, int]], first: int, ascending: bool) -> list[set[str]]:
    """Who comes first, ties kept, in every case in which each value is the least or the greatest that it may be."""
    found = []
    for values in product(*spans.values()):
        signed = [value if ascending else -value for value in values]
        cut = sorted(signed)[min(first, len(signed)) - 1]
        found.append({key for key, value in zip(spans, signed, strict=True) if value <= cut})
    return found


@settings(max_examples=150, deadline=None)
@given(
    keys=st.lists(st.sampled_from(sorted(DATED)), min_size=1, max_size=8, unique=True),
    kind=st.sampled_from(["earliest", "latest"]),
    ascending=st.booleans(),
    first=st.integers(1, 4),
)
def test_who_may_come_first_is_who_does_in_some_case(
    works: Sample, keys: list[str], kind: str, ascending: bool, first: int
) -> None:
    plan = ranking(keys, kind, ascending, first)
    outcome = execute(plan, works.world)
    told = keys_of(works, outcome.members)
    spans = {key: possible_values(DATED[key], kind) for key in keys if DATED[key]}
    cases = possible_firsts(spans, first, ascending) if spans else []
    assert others(works, outcome) == set().union(*cases) - told
    assert outcome.values is not None
    at_cut = keys_of(works, outcome.members[outcome.values == outcome.values[-1:]])
    tied = {spans[key] for key in at_cut}
    assert outcome.settled == (not others(works, outcome) and (len(told) <= first or len(tied) == 1))
    check(works, plan, by_rdflib=False)


def others(sample: Sample, outcome: Outcome) -> set[str]:
    return keys_of(sample, outcome.excluded.get("uncertain", ()))


def keys_of(sample: Sample, nodes: Iterable[int]) -> set[str]:
    return {sample.world.graph.iri(int(node)).removeprefix(BASE) for node in nodes}


CASES: list[tuple[str, dict[str, Dates], str, set[str], set[str], bool]] = [
    ("one after all others", {"a": ((1900, 1910),), "b": ((1920, 1930),)}, "latest", {"b"}, set(), True),
    ("a span that holds another", {"a": ((1950, 2010),), "b": ((1995, 1995),)}, "latest", {"a"}, {"b"}, False),
    ("a span that begins after another's begin", {"a": ((1900, 1920),), "b": ((1910, 1930),)}, "earliest", {"a"},
     {"b"}, False),
    ("spans that touch in no day", {"a": ((1900, 1909),), "b": ((1910, 1930),)}, "earliest", {"a"}, set(), True),
    ("equal spans tie", {"a": ((1900, 1900),), "b": ((1900, 1900),)}, "earliest", {"a", "b"}, set(), True),
    ("spans of one begin do not", {"a": ((1900, 1900),), "b": ((1900, 1950),)}, "earliest", {"a", "b"}, set(), False),
    ("an open end may be later", {"a": ((1900, None),), "b": ((1950, 1950),)}, "latest", {"b"}, {"a"}, False),
    ("an open begin may be earlier", {"a": ((None, 1960),), "b": ((1950, 1950),)}, "earliest", {"b"}, {"a"}, False),
    ("an open begin is of no account where it ends before", {"a": ((None, 1940),), "b": ((1950, 1950),)}, "latest",
     {"b"}, set(), True),
    ("what has no date is not asked", {"a": ((1900, 1900),), "b": ()}, "earliest", {"a"}, set(), True),
    ("the earliest of its own dates counts", {"a": ((1900, 1901), (1990, 1990)), "b": ((1950, 1950),)}, "earliest",
     {"a"}, set(), True),
]  # fmt: skip


@pytest.mark.parametrize(("works_", "kind", "first", "may", "settled"), [one[1:] for one in CASES],
                         ids=[one[0] for one in CASES])  # fmt: skip
def test_spans_decide_or_leave_open(
    tmp_path_factory: pytest.TempPathFactory,
    works_: dict[str, Dates], kind: str, first: set[str], may: set[str], settled: bool,
) -> None:  # fmt: skip
    sample = sample_of(turtle(works_), tmp_path_factory.mktemp("spans"))
    plan = ranking([*works_], kind, kind == "earliest")
    outcome = execute(plan, sample.world)
    assert keys_of(sample, outcome.members) == first
    assert (others(sample, outcome), outcome.settled) == (may, settled)
    assert not keys_of(sample, outcome.excluded.get("unmeasured", ())) & {*first, *may}
    check(sample, plan)


def test_a_ranking_within_another_plan_is_looked_at_too(works: Sample) -> None:
    keys = [key for key, dates in DATED.items() if dates]
    inner = ranking(keys, "latest", False)
    assert not execute(inner, works.world).settled
    outer = Plan.model_validate({"where": [{"kind": "member", "plan": inner.model_dump()}]})
    assert not is_settled(outer, works.world)
    assert is_settled(ranking(keys, "latest", False, None), works.world), "all of them, in an order"
