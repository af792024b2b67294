"""A plan gives the same rows by the arrays, by its SPARQL on Oxigraph, and by rdflib."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmrag_query.dates import year_interval
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.records import Member, Target, Way, flattened, read_plan
from crmrag_query.plans.sparql import to_sparql
from crmrag_query.plans.world import routes_of
from tests.conftest import THOROUGH
from tests.support.planworlds import BASE, Sample, check, generated

CODES = ("P2", "P127", "P4", "P14", "P108i", "P7", "P89", "P46", "P82a")
KINDS = (f"{BASE}kind0", f"{BASE}kind1", "E39", "E22", f"{BASE}unknown")


Json = dict[str, Any]
Plans = st.SearchStrategy[Json]


def plans(sample: Sample) -> Plans:
    """Plans over what occurs in the sample."""
    way = ways(sample)
    inner = st.just({"kind": "list"}) | _ranked(way, anchors(sample, None)) | _paired(way)
    within = _plan(sample, None, inner)
    anchor = anchors(sample, within)
    return _plan(sample, within, _computed(way, anchor, within))


def ways(sample: Sample) -> Plans:
    """Relations, relationships and paths, together, turned round, one after the other; paths to what is of a type."""
    world = sample.world
    occurring = [one.id for one in world.catalogue if routes_of(world, Way(relationships=(one.id,)))]
    iris = [*world.property_numbers]
    steps = [*CODES, *iris, *("^" + iri for iri in iris), "P46*", "P127*", "P89i*"]
    path = st.lists(st.sampled_from(steps), min_size=1, max_size=3)
    named: dict[str, st.SearchStrategy[object]] = {
        "relations": st.lists(st.sampled_from([*world.relations]), min_size=1, max_size=2),
        "relationships": st.lists(st.sampled_from(occurring), min_size=1, max_size=2),
        "paths": st.lists(path, min_size=1, max_size=2),
    }
    one: Plans = st.one_of(*(st.fixed_dictionaries({key: value}) for key, value in named.items()))
    one |= st.fixed_dictionaries(
        {"paths": named["paths"]}, optional={key: named[key] for key in ("relations", "relationships")}
    )
    turned = st.sampled_from([False, False, True])
    link = st.builds(lambda one, inverse: one | {"inverse": inverse}, one, turned)
    link |= st.fixed_dictionaries(
        {"paths": named["paths"], "types": st.lists(st.sampled_from(KINDS), min_size=1, max_size=2)}
    )
    return st.one_of(link, link, st.builds(lambda one, then: one | {"then": then}, link, link))


def anchors(sample: Sample, inner: Plans | None) -> Plans:
    kinds = st.lists(st.sampled_from(KINDS), max_size=2)
    named = st.fixed_dictionaries({}, optional={"iris": _iris(sample), "types": kinds})
    return named if inner is None else named | inner.map(lambda plan: {"plan": plan})


def _iris(sample: Sample) -> st.SearchStrategy[list[str]]:
    iri = st.sampled_from([sample.world.graph.iri(node) for node in range(sample.world.size)])
    return st.lists(iri, max_size=4)


def constraints(sample: Sample, inner: Plans | None) -> Plans:
    way, negated = ways(sample), st.booleans()
    year = st.integers(1499, 1507)
    dated = st.builds(
        lambda way, first, last, edge, certain, negated: {
            "kind": "dated",
            **way,
            "begin": year_interval(first).begin,
            "end": None if last is None else year_interval(last).end,
            "edge": edge,
            "certain": certain,
            "negated": negated,
        },
        st.none().map(lambda _: {}) | way.map(lambda way: {"way": way}), year, st.none() | year,
        st.sampled_from(["span", "span", "begin", "end"]), st.booleans(), negated,
    )  # fmt: skip
    text = st.sampled_from(["icon", "γεωργιος", "SAINT", "two", "1500", "nowhere", "on of", "7"])
    bound = st.sampled_from([0, 1, 2, 2.5, 7, 12, 1500])
    valued = st.fixed_dictionaries(
        {
            "kind": st.just("valued"),
            "way": numbered(way),
            "least": bound,
            "least_counts": st.booleans(),
            "unit": st.sampled_from(["", "", "cm"]),
            "negated": negated,
        },
        optional={"most": bound.map(lambda one: one + 1500), "most_counts": st.booleans()},
    )
    kinds: dict[str, dict[str, st.SearchStrategy[object]]] = {
        "related": {"way": way, "to": anchors(sample, inner)},
        "texted": {"texts": st.lists(text, min_size=1, max_size=2), "whole": st.booleans()},
        "among": {"iris": _iris(sample)},
        "read": {},
        "stated_in": {
            "graphs": st.lists(st.sampled_from([f"{BASE}g1", f"{BASE}g2", "urn:none"]), min_size=1)
        },
    }
    if inner is not None:
        kinds["member"] = {"plan": inner}
    simple = st.one_of(
        dated,
        valued,
        *(
            st.fixed_dictionaries(
                {"kind": st.just(kind), "negated": negated, **fields},
                optional={"way": way} if kind == "texted" else {},
            )
            for kind, fields in kinds.items()
        ),
    )
    either = st.fixed_dictionaries(
        {"kind": st.just("either"), "of": st.lists(simple, min_size=1, max_size=3), "negated": negated}
    )
    return st.one_of(simple, simple, either)


def _plan(sample: Sample, inner: Plans | None, how: Plans) -> Plans:
    target = st.fixed_dictionaries(
        {},
        optional={
            "categories": st.lists(st.sampled_from(["Thing", "Actor", "Event", "Time"]), max_size=3),
            "classes": st.lists(st.sampled_from(["E22", "E39", "E7", "E77"]), max_size=1),
        },
    ) | st.fixed_dictionaries({"types": st.lists(st.sampled_from(KINDS[:2]), max_size=1)})
    where = st.lists(constraints(sample, inner), max_size=2)
    return st.fixed_dictionaries({"target": target, "where": where, "compute": how})


IDENTITY = st.sampled_from(["iri", "iri", "same_as"])
FEW = st.integers(1, 3)


def _ranked(way: Plans, anchor: Plans) -> Plans:
    counted = st.fixed_dictionaries({"kind": st.just("count"), "way": way}, optional={"to": anchor})
    dated = st.fixed_dictionaries(
        {"kind": st.sampled_from(["earliest", "latest"]), "way": way}, optional={"to": anchor}
    )
    valued = st.fixed_dictionaries({"kind": st.just("value"), "way": numbered(way)})
    return st.fixed_dictionaries(
        {"kind": st.just("rank"), "measure": counted | dated | valued, "ascending": st.booleans()},
        optional={"first": FEW, "at_least": FEW, "identity": IDENTITY},
    )


def numbered(way: Plans) -> Plans:
    """Ways that may end in numbers."""
    return st.just({"paths": [["P90"]]}) | way.map(lambda way: way | {"then": {"paths": [["P90"]]}}) | way


def _paired(way: Plans) -> Plans:
    fields = {
        "kind": st.just("pairs"),
        "ways": st.lists(way, min_size=1, max_size=2),
        "partner": st.booleans(),
        "identity": IDENTITY,
    }
    return st.fixed_dictionaries(fields)


def _tabled(way: Plans, anchor: Plans) -> Plans:
    @st.composite
    def tables(draw: st.DrawFn) -> Json:
        columns: list[Json] = []
        for number in range(draw(st.integers(1, 3))):
            column: Json = {"way": draw(way)}
            if number and draw(st.booleans()):
                column["of"] = draw(st.integers(0, number - 1))
            if draw(st.booleans()):
                column["to"] = draw(anchor)
            columns.append(column)
        return {"kind": "table", "columns": columns, "identity": draw(IDENTITY)}

    return tables()


def _computed(way: Plans, anchor: Plans, inner: Plans) -> Plans:
    grouped = st.fixed_dictionaries(
        {"kind": st.just("group"), "way": way},
        optional={
            "first": FEW,
            "ascending": st.booleans(),
            "at_least": FEW,
            "to": anchor,
            "identity": IDENTITY,
        },
    )
    by_date = st.fixed_dictionaries(
        {"kind": st.just("group"), "way": way, "by": st.sampled_from(["year", "decade", "century"])},
        optional={
            "at_least": FEW,
            "to": anchor,
            "identity": IDENTITY,
            "edge": st.sampled_from(["span", "begin", "end"]),
        },
    )
    rows = st.fixed_dictionaries(
        {"kind": st.sampled_from(["group", "count"]), "way": way, "distinct": st.just(False)},
        optional={"to": anchor},
    )
    compared = st.fixed_dictionaries(
        {"kind": st.just("compare"), "others": st.lists(inner, min_size=1, max_size=2), "identity": IDENTITY}
    )
    plain = st.fixed_dictionaries({"kind": st.sampled_from(["list", "count", "ask"]), "identity": IDENTITY})
    return st.one_of(
        plain,
        plain,
        _ranked(way, anchor),
        grouped,
        by_date,
        rows,
        _tabled(way, anchor),
        _paired(way),
        compared,
    )


SHORT = 2500
"""Characters of a query that rdflib, which joins in the order of the text, answers soon."""


@pytest.fixture(scope="module", params=range(6))
def sample(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return generated(request.param, tmp_path_factory.mktemp("world"), suspects=4 * (request.param % 2))


@pytest.fixture(scope="module")
def planned(sample: Sample) -> Plans:
    return plans(sample)


# The same plans each time, but for `make test-all`: of a rare one Hypothesis says that its strategy draws differently when it
# is drawn again.
SAME_AGAIN = settings.get_current_profile_name() != THOROUGH


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], derandomize=SAME_AGAIN)
@given(data=st.data())
def test_plan_equals_sparql(sample: Sample, planned: Plans, data: st.DataObject) -> None:
    plan = read_plan(data.draw(planned))
    check(sample, plan, by_rdflib=len(to_sparql(plan, sample.world)) < SHORT)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], derandomize=SAME_AGAIN)
@given(data=st.data())
def test_a_flattened_plan_has_the_same_members(sample: Sample, planned: Plans, data: st.DataObject) -> None:
    """A set within a set, as follow-ups of a conversation make them, is the set of all conditions."""
    drawn = [data.draw(planned) for _ in range(2)]
    outer, inner = (read_plan(one | {"compute": {"kind": "list"}}) for one in drawn)
    within = outer.model_copy(update={"where": (Member(plan=inner), *outer.where)})
    flat = flattened(within)
    assert members_of(sample.world, flat).tolist() == members_of(sample.world, within).tolist()
    targets = [one.target for one in (outer, inner)]
    if any(target == Target() for target in targets):
        assert not any(
            isinstance(one, Member) and one.plan == inner and not one.negated for one in flat.where
        )
