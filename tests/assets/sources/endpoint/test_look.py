"""First looks: the format that an endpoint can be trusted with, and whether it holds CIDOC-CRM."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyoxigraph as ox
import pytest

from crmrag_assets.harvest.report import ROUNDED
from crmrag_assets.sources.endpoint.kind import first_look, require_crm, settle_format
from crmrag_assets.sources.endpoint.queries import PRECISE
from crmrag_query.errors import SourceError
from tests.support.endpoints import CRM, METHOD, Always, client_of, config_of, quad, star
from tests.support.faults import ALL, Fault, InTurn, bent, refusal, replied
from tests.support.sparql_answers import LOGIN_PAGE, TYPES, Answer
from tests.support.sparql_server import serving

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def test_tsv_is_kept_where_it_is_right() -> None:
    with serving(star()) as server:
        client = client_of(server)
        settle_format(client)
        assert not client.learned.json and len(server.log) == 1


@pytest.mark.parametrize(
    "options",
    [{"mangled_tsv": True}, {"like_virtuoso": True}, {"formats": ("json",)}, {"formats": ("json", "xml")}],
    ids=str,
)
def test_tsv_that_garbles_or_is_not_offered_is_given_up_for_all_requests(options: dict[str, Any]) -> None:
    """Virtuoso's is CSV with tabs; where it is not offered, the first request is refused with 406."""
    with serving(star(), **options) as server:
        client = client_of(server)
        settle_format(client)
        assert client.learned.json
        seen = len(server.log)
        require_crm(client)
        settle_format(client)
        assert all(TYPES["json"] in one.accept for one in server.log[seen:]) and len(server.log) == seen + 1
        assert [one.status for one in server.log].count(406) <= 2


def test_numbers_that_come_back_rounded_are_noted() -> None:
    def rounded(answer: Answer) -> Answer:
        return replace(answer, body=answer.body.replace(PRECISE.encode(), b"35.046"))

    with serving(star(), [InTurn(bent("rounded", rounded))]) as server:
        client = client_of(server)
        settle_format(client)
        assert client.gathered().notes == {ROUNDED: 1} and not client.learned.json


def test_an_endpoint_that_offers_neither_is_refused_with_its_words() -> None:
    with serving(star(), formats=("xml",)) as server, pytest.raises(SourceError, match="406"):
        settle_format(client_of(server))


@pytest.mark.parametrize("fault", [one for one in ALL if one.name != "time-out"], ids=lambda one: one.name)
def test_a_fault_that_passes_does_not_cost_the_format(fault: Fault) -> None:
    with serving(star(), [InTurn(fault)]) as server:
        # Long enough for a busy machine: a second time-out in a row would rightly cost the format.
        client = client_of(server, timeout_seconds=3)
        settle_format(client)
        assert not client.learned.json


def test_a_probe_that_is_not_answered_is_noted_and_no_more() -> None:
    with serving(star(), [Always(refusal(500, "no VALUES here"), lambda query: "probe" in query)]) as server:
        client = client_of(server, retries=1)
        settle_format(client)
        assert client.gathered().notes["probes of the format that were not answered"] == 1


# CIDOC-CRM.


@pytest.mark.parametrize(
    "quads",
    [
        [quad("a", TYPE, CRM + "E22_Man-Made_Object")],
        [quad("a", "http://erlangen-crm.org/current/P108_has_produced", "b")],
        [quad("a", TYPE, "Own"), quad("a", CRM + "P1i_identifies", "b")],
    ],
)
def test_one_class_or_property_is_enough(quads: list[ox.Quad]) -> None:
    with serving(quads) as server:
        require_crm(client_of(server))


def test_an_endpoint_of_something_else_is_refused_with_what_it_holds() -> None:
    with serving([quad("a", TYPE, "Bird"), quad("a", "wingspan", "b")]) as server:
        with pytest.raises(SourceError) as refused:
            require_crm(client_of(server))
        assert server.url in str(refused.value)
        assert "http://example.org/wingspan" in refused.value.what and "graphs" in refused.value.remedy


def test_an_empty_endpoint_and_empty_graphs_are_refused() -> None:
    with serving([quad("a", TYPE, CRM + "E5_Event", "g")]) as server:
        with pytest.raises(SourceError, match="no triple in the graphs that are read"):
            require_crm(client_of(server))
        require_crm(client_of(server, {"graphs": "named"}))
        with pytest.raises(SourceError):
            require_crm(client_of(server, {"graphs": ["http://example.org/other"]}))


def test_an_endpoint_that_lists_neither_is_taken_on_trust() -> None:
    with serving(star(), [Always(refusal(500, "too much"), lambda query: "DISTINCT" in query)]) as server:
        client = client_of(server, retries=0)
        require_crm(client)
        assert sum(client.gathered().notes.values()) == 1


# For people.


def test_a_first_look_tells_what_is_there() -> None:
    with serving(star(12, 3)) as server:
        text = "\n".join(first_look(config_of(server), METHOD))
        assert server.url in text and "36" in text and "12 (blank nodes aside)" in text and "TSV" in text
        assert len(server.log) <= 5
    with serving(star(), no_count=True, mangled_tsv=True) as server:
        text = "\n".join(first_look(config_of(server), METHOD))
        assert text.count("not counted: status 400") == 2 and "JSON" in text


def test_a_first_look_at_a_page_says_so() -> None:
    page = Always(replied("page", LOGIN_PAGE))
    with (
        serving(faults=[page]) as server,
        pytest.raises(SourceError, match="no SPARQL endpoint, or wants a login"),
    ):
        first_look(config_of(server), METHOD)
