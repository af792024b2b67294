"""A plan gives the same rows by the arrays, by its SPARQL on Oxigraph, and by rdflib."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmrag_query.dates import year_interval
from crmrag_query.plans.records import Way, read_plan
from crmrag_query.plans.routes import routes_of
from crmrag_query.plans.sparql import to_sparql
from tests.support.planworlds import BASE, Sample, check, generated

CODES = ("P2", "P127", "P4", "P14", "P108i", "P7", "P89", "P46", "P82a")
KINDS = (f"{BASE}kind0", f"{BASE}kind1", "E39", "E22", f"{BASE}unknown")


def plans(sample: Sample) -> st.SearchStrategy[dict[str, object]]:
    """Plans over what occurs in the sample."""
    world = sample.world
    occurring = [one.id for one in world.catalogue if routes_of(world, Way(relationships=(one.id,)))]
    steps = [
        *CODES,
        *world.property_numbers,
        *("^" + iri for iri in world.property_numbers),
        "P46*",
        "P127*",
        "P89i*",
    ]
    by_path = st.lists(st.sampled_from(steps), min_size=1, max_size=3).map(lambda path: {"path": path})
    by_relation = st.lists(st.sampled_from(occurring), min_size=1, max_size=2).map(
        lambda ids: {"relationships": ids}
    )
    way = by_relation | by_path
    iri = st.sampled_from([world.graph.iri(node) for node in range(world.size)])
    iris = st.lists(iri, max_size=4)
    year = st.integers(1499, 1507)
    text = st.sampled_from(["icon", "γεωργιος", "SAINT", "two", "1500", "nowhere"])
    target = st.fixed_dictionaries(
        {},
        optional={
            "categories": st.lists(st.sampled_from(["Thing", "Actor", "Event", "Time"]), max_size=3),
            "classes": st.lists(st.sampled_from(["E22", "E39", "E7", "E77"]), max_size=1),
        },
    ) | st.fixed_dictionaries({"types": st.lists(st.sampled_from(KINDS[:2]), max_size=1)})

    def constraint(
        inner: st.SearchStrategy[dict[str, object]] | None,
    ) -> st.SearchStrategy[dict[str, object]]:
        named = st.fixed_dictionaries(
            {}, optional={"iris": iris, "types": st.lists(st.sampled_from(KINDS), max_size=2)}
        )
        anchor = named if inner is None else named | inner.map(lambda plan: {"plan": plan})
        negated = st.booleans()
        dated = st.builds(
            lambda way, first, last, certain, negated: {
                "kind": "dated",
                **way,
                "begin": year_interval(first).begin,
                "end": None if last is None else year_interval(last).end,
                "certain": certain,
                "negated": negated,
            },
            st.none().map(lambda _: {}) | way.map(lambda way: {"way": way}), year, st.none() | year, st.booleans(), negated,
        )  # fmt: skip
        return st.one_of(
            st.fixed_dictionaries({"kind": st.just("related"), "way": way, "to": anchor, "negated": negated}),
            dated,
            st.fixed_dictionaries(
                {"kind": st.just("texted"), "text": text, "negated": negated}, optional={"way": by_path}
            ),
            st.fixed_dictionaries({"kind": st.just("among"), "iris": iris, "negated": negated}),
        )

    ranked = st.fixed_dictionaries(
        {
            "kind": st.just("rank"),
            "measure": st.fixed_dictionaries(
                {"kind": st.sampled_from(["count", "earliest", "latest"]), "way": way}
            ),
            "ascending": st.booleans(),
        },
        optional={"first": st.integers(1, 3)},
    )
    grouped = st.fixed_dictionaries(
        {"kind": st.just("group"), "way": way},
        optional={"first": st.integers(1, 3), "ascending": st.booleans()},
    )
    tabled = st.fixed_dictionaries(
        {"kind": st.just("table"), "columns": st.lists(way, min_size=1, max_size=2)}
    )
    plain = st.sampled_from([{"kind": "list"}, {"kind": "count"}, {"kind": "ask"}])

    def plan(
        inner: st.SearchStrategy[dict[str, object]] | None, how: st.SearchStrategy[object]
    ) -> st.SearchStrategy[dict[str, object]]:
        where = st.lists(constraint(inner), max_size=2)
        return st.fixed_dictionaries({"target": target, "where": where, "compute": how})

    return plan(plan(None, st.just({"kind": "list"}) | ranked), plain | ranked | grouped | tabled)


SHORT = 2500
"""Characters of a query that rdflib, which joins in the order of the text, answers soon."""


@pytest.fixture(scope="module", params=range(6))
def sample(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return generated(request.param, tmp_path_factory.mktemp("world"), suspects=4 * (request.param % 2))


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_plan_equals_sparql(sample: Sample, data: st.DataObject) -> None:
    plan = read_plan(data.draw(plans(sample)))
    check(sample, plan, by_rdflib=len(to_sparql(plan, sample.world)) < SHORT)
