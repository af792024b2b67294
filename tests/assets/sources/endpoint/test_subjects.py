"""Subjects: all of them, by pages after one another, whatever the endpoint will not do."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_assets.sources.endpoint import kind as module
from crmrag_assets.sources.endpoint.queries import is_iri
from crmrag_query.errors import SourceError
from tests.support.endpoints import EX, Always, First, client_of, node, quad, star, subjects_of
from tests.support.faults import NAMED, FaultPlan, refusal, rows_asked
from tests.support.sparql_answers import groups, sorted_rows
from tests.support.sparql_exchange import Endpoint, Plan
from tests.support.sparql_server import serving

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
PAGED = {"subject_rows": 0}


def iris(quads: list[ox.Quad]) -> tuple[str, ...]:
    return tuple(sorted({one.subject.value for one in quads if isinstance(one.subject, ox.NamedNode)}))


def pages(server: Endpoint) -> list[str]:
    return [one.query for one in server.log if sorted_rows(one.query)]


def mixed(number: int = 40) -> list[ox.Quad]:
    """Subjects of three classes, of two at once, and of none; and blank nodes, which are no subjects here."""
    kinds = [quad(f"s{n:02}", TYPE, f"C{n % 4}") for n in range(number) if n % 4 < 3]
    both = [quad(f"s{n:02}", TYPE, "C1") for n in range(0, number, 8)]
    names = [quad(f"s{n:02}", "name", ox.Literal(str(n))) for n in range(number)]
    blanks = [ox.Quad(ox.BlankNode(), node("name"), ox.Literal(str(n)), ox.DefaultGraph()) for n in range(5)]
    return [*kinds, *both, *names, *blanks]


ODD = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zs"], exclude_characters='<>"{}|\\^`'),
    min_size=1,
    max_size=6,
)
IRIS = st.builds(
    "{}{}".format, st.sampled_from(["http://e/", "http://e/%C3%A9", "urn:x:", "a:", "http://ü/𐍈"]), ODD
).filter(is_iri)


@settings(max_examples=25)
@given(st.sets(IRIS, min_size=1, max_size=12), st.integers(1, 13))
def test_iris_of_all_scripts_come_in_pages(
    tmp_path_factory: pytest.TempPathFactory, names: set[str], size: int
) -> None:
    with serving([quad(name, "p", "o") for name in names]) as server:
        found = subjects_of(client_of(server, **PAGED, page_rows=size), tmp_path_factory.mktemp("s"))
        assert found.iris == tuple(sorted(names)) and found.missing == ()


def test_an_empty_endpoint_has_no_subjects(tmp_path: Path) -> None:
    with serving() as server:
        found = subjects_of(client_of(server), tmp_path, (EX + "C1",))
        assert (found.iris, found.counted, found.missing) == ((), 0, ()) and len(server.log) < 10


# All in one response, each with the number of its triples.


def test_as_many_subjects_as_are_counted_need_no_sorting(tmp_path: Path) -> None:
    with serving(mixed()) as server:
        found = subjects_of(client_of(server, subject_rows=40, page_rows=7), tmp_path / "at once")
        assert (found.iris, found.counted, found.missing) == (iris(mixed()), 40, ())
        assert pages(server) == [] and len(server.log) == 2
        found = subjects_of(client_of(server, subject_rows=39, page_rows=7), tmp_path / "paged")
        assert found.iris == iris(mixed()) and len(pages(server)) == 6


@pytest.mark.parametrize("listing", [PAGED, {}], ids=["paged", "at once"])
def test_every_subject_comes_with_the_number_of_its_triples(listing: dict[str, int], tmp_path: Path) -> None:
    with serving(mixed()) as server:
        found = subjects_of(client_of(server, **listing, page_rows=7), tmp_path)
        assert found.triples == Counter(
            one.subject.value for one in mixed() if isinstance(one.subject, ox.NamedNode)
        )


# Endpoints that cut, lie or refuse.


@dataclass(frozen=True)
class Case:
    """What an endpoint is like, how it is asked, how many requests that may take, and what is noted of it."""

    requests: int
    settings: dict[str, int]
    options: dict[str, Any] = field(default_factory=dict)
    plans: tuple[Plan, ...] = ()
    notes: dict[str, int] = field(default_factory=dict)
    excluded: tuple[str, ...] = (EX + "C1", EX + "none")


def refusing(text: str) -> tuple[Plan, ...]:
    return (Always(refusal(500, "no"), lambda query: text in query),)


UNCOUNTED = {module.UNCOUNTED: 40}
NO_GROUPS = (Always(refusal(500, "no"), groups),)
CASES = {
    **{f"pages of {n}": Case(-(-40 // n) + 4, PAGED | {"page_rows": n}, excluded=()) for n in (1, 2, 7, 39, 40, 41, 10_000)},
    **{f"pages of {n} cut at {cap}": Case(60, PAGED | {"page_rows": n}, {"row_cap": cap})
       for n in (7, 10_000) for cap in (1, 3, 39)},
    **{f"uncounted, cut at {cap}": Case(60, {"page_rows": 10}, {"row_cap": cap, "no_count": True}, notes=UNCOUNTED)
       for cap in (3, 39)},
    "one response that is cut": Case(30, {"page_rows": 7}, {"row_cap": 9}),
    "a count that is too high once": Case(25, {"page_rows": 10}, plans=(First(NAMED["count too high"]),)),
    "no groups, paged": Case(30, PAGED | {"page_rows": 7, "retries": 1}, plans=NO_GROUPS),
    "no groups, at once": Case(30, {"page_rows": 7, "retries": 1}, plans=NO_GROUPS),
    "no counts": Case(120, {"retries": 1}, plans=refusing("COUNT"), notes=UNCOUNTED),
    "no order": Case(120, {"retries": 1}, plans=refusing("ORDER BY")),
    "no classes": Case(120, {"retries": 1}, plans=refusing("?class")),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_every_subject_is_found_once(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    with serving(mixed(), case.plans, **case.options) as server:
        client = client_of(server, **case.settings)
        found = subjects_of(client, tmp_path, case.excluded)
        assert (found.iris, found.missing) == (iris(mixed()), ())
        assert found.counted == (None if case.notes else 40)
        assert found.excluded == {s.value for s, _, o, _ in mixed() if o == node("C1") and case.excluded}
        assert client.gathered().notes == case.notes or not name.startswith(("pages", "uncounted"))
        if case.plans == NO_GROUPS:
            assert found.triples == {} and sum(groups(one.query) for one in server.log) <= 4
        assert len(server.log) <= case.requests
        assert all("OFFSET" not in one.query.upper() for one in server.log) and server.updates == []


@pytest.mark.parametrize(
    "name", ["other rows", "last rows missing", "cut at line end", "empty body", "count too high"]
)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("listing", [PAGED, {}], ids=["paged", "at once"])
def test_answers_that_are_untrue_for_a_while_are_met(
    name: str, seed: int, listing: dict[str, int], tmp_path: Path
) -> None:
    plan = FaultPlan(seed, rate=0.5, kinds=[NAMED[name]], at_most_in_a_row=1)
    with serving(mixed(), [plan]) as server:
        found = subjects_of(client_of(server, **listing, page_rows=6), tmp_path)
        assert set(found.iris) <= set(iris(mixed()))
        assert len(found.iris) == 40 or sum(lost.triples is None for lost in found.missing) == 1
        assert len(server.log) < 500


def test_a_count_that_is_always_too_high_is_reported_and_does_not_run_away(tmp_path: Path) -> None:
    with serving(mixed(), [Always(NAMED["count too high"])]) as server:
        found = subjects_of(client_of(server, page_rows=10), tmp_path, (EX + "C1",))
        assert found.iris == iris(mixed())
        (lost,) = found.missing
        assert f"of {found.counted} subjects are counted and were never given" in lost.reason
        assert len(server.log) < 400


@pytest.mark.parametrize("options", [{"sort_limit": 150}, {"no_sort": True}, {"sort_limit": 5}], ids=str)
@pytest.mark.parametrize("no_count", [False, True])
@pytest.mark.parametrize("cap", [None, 20])
def test_an_endpoint_that_will_not_sort_is_read_otherwise(
    options: dict[str, int], no_count: bool, cap: int | None, tmp_path: Path
) -> None:
    """With smaller pages, class by class, or by the MD5 of the IRIs: in the end nothing is lacking, or it is named."""
    with serving(mixed(), no_count=no_count, row_cap=cap, **options) as server:
        client = client_of(server, retries=0)
        found = subjects_of(client, tmp_path, (EX + "C1", EX + "none"))
        assert set(found.iris) <= set(iris(mixed()))
        if not (no_count and cap and options != {"sort_limit": 150}):
            assert found.iris == iris(mixed()) and found.missing == ()
            assert found.excluded == {one.subject.value for one in mixed() if one.object == node("C1")}  # type: ignore[union-attr]
        assert len(server.log) < 250


def test_a_row_cap_below_what_cannot_be_sorted_or_counted_is_no_end(tmp_path: Path) -> None:
    """Nothing proves that 20 rows are all: parts by the MD5 of the IRIs bring the others."""
    with serving(mixed(), no_count=True, no_sort=True, row_cap=12) as server:
        found = subjects_of(client_of(server, retries=0), tmp_path)
        assert found.iris == iris(mixed()) or found.missing
        assert len(server.log) < 600


def test_an_endpoint_that_cannot_sort_everything_sorts_class_by_class(tmp_path: Path) -> None:
    whole = Always(refusal(500, "too much to sort"), lambda query: "ORDER BY" in query and "?c" not in query)
    with serving(mixed(), [whole]) as server:
        client = client_of(server, **PAGED, retries=0)
        found = subjects_of(client, tmp_path)
        assert found.iris == iris(mixed()) and found.missing == ()
        notes = client.gathered().notes
        assert notes[module.BY_CLASS] == 3 and module.BY_DIGEST not in notes


def test_an_endpoint_that_will_list_nothing_names_what_is_missing(tmp_path: Path) -> None:
    with serving(mixed(), [Always(refusal(400, "too much"), rows_asked)]) as server:
        found = subjects_of(client_of(server), tmp_path)
        assert found.iris == () and found.counted == 40
        assert [lost.reason for lost in found.missing] == [
            "40 of 40 subjects are counted and were never given"
        ]
        assert len(server.log) < 1000


def test_an_endpoint_that_refuses_whatever_it_is_asked_ends(tmp_path: Path) -> None:
    with serving(mixed(), [Always(refusal(400, "give me a format"))]) as server:
        with pytest.raises(SourceError, match="give me a format"):
            subjects_of(client_of(server), tmp_path)
        assert len(server.log) < 5


def test_a_shrunken_page_stays_small(tmp_path: Path) -> None:
    """What an endpoint refused once it is not asked for again with every list."""
    with serving(star(30), sort_limit=150) as server:
        subjects_of(client_of(server, retries=0), tmp_path, (EX + "C1", EX + "C2"))
        refused = [one for one in server.log if one.status == 500]
        assert len(refused) <= 6
