"""What a machine read from pages is marked wherever it shows, cites its page, and can be left out."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

import polars as pl
import pytest

from crmrag_query import Client
from crmrag_query.documents.pages import READ
from tests.support.builds import Project

ALL = {"target": {"categories": ["Thing", "Actor", "Concept"]}}


@pytest.fixture(scope="module")
def client(regulation: Project) -> Iterator[Client]:
    with Client(regulation.data) as found:
        yield found


def test_what_was_read_answers_is_marked_and_cites_its_page(client: Client) -> None:
    told = client.ask("What does 12/1987 amend?")
    assert "3/1961" in told.text
    cited = [one for one in told.sources if one.cited]
    assert cited and all(one.read for one in cited)
    assert {page.label for one in cited for page in one.pages} >= {"regulation, p. 3"}
    assert any("read from pages by a machine" in note for note in told.notes)
    assert "read by a machine from regulation, p." in str(told)


def test_what_stands_in_a_text_layer_cites_its_page_and_is_not_marked(client: Client) -> None:
    told = client.ask("Co se platí za ztrátu svazku?", within={"read": False})
    assert "dvojnásobku" in told.text
    (first, *_) = told.sources
    assert ([page.label for page in first.pages], first.read) == (["regulation, p. 3"], False)


def test_what_a_curator_wrote_is_not_marked(client: Client) -> None:
    told = client.ask("Where is the Codex of the Granary?")
    assert told.sources and not any(one.read or one.pages for one in told.sources if "example.org" in one.iri)


@pytest.mark.parametrize("mode", ["crm", "vector", "fulltext"])
def test_what_was_read_can_be_left_out_of_every_mode(client: Client, mode: str) -> None:
    for question in ("What does 12/1987 amend?", "Who is Řehoř Žďárský?", "Which standards are there?"):
        told = client.ask(question, mode=mode, within={"read": False})
        assert not any(one.read or one.iri.startswith(READ) for one in told.sources)
        assert not any(
            READ in graph for one in told.sources for triple in one.triples for graph in triple.graphs
        )


def test_a_question_says_itself_where_its_answer_is_to_be_from(client: Client) -> None:
    asked = "Who is Řehoř Žďárský according to the regulation?"
    told = client.ask(asked)
    assert told.question == asked and "Správce sbírek" in told.text and "Curator of books" not in told.text
    assert "Asked of this alone: regulation." in told.notes
    told = client.ask("Wer ist Řehoř Žďárský, abgesehen von den Scans?")
    assert "Curator of books" in told.text and "Správce sbírek" not in told.text
    assert "Weggelassen: von einer Maschine auf Seiten gelesen." in told.notes
    exact = client.ask("According to the catalogue, what does 12/1987 amend?")
    assert exact.set is not None and [one.label for one in exact.set.members] == ["3/1961"]
    assert not client.ask("What does 12/1987 amend, leaving out the scans?").text.count("3/1961")


def test_sets_tell_what_was_read_apart_and_the_two_parts_are_the_whole(client: Client) -> None:
    def members(*where: dict[str, object]) -> dict[str, bool]:
        found = client.set(ALL | {"where": list(where)}, limit=100)
        return {one.iri: one.read for one in found.members}

    whole, read, rest = members(), members({"kind": "read"}), members({"kind": "read", "negated": True})
    assert whole == read | rest and not read.keys() & rest.keys()
    assert all(read.values()) and not any(rest.values())
    assert read.keys() == {iri for iri in whole if iri.startswith(READ)}
    assert len(read) >= 9


def test_exports_say_what_was_read(client: Client) -> None:
    table = list(csv.DictReader(io.StringIO(client.export(ALL, "csv").text)))
    assert {bool(row["read"]) for row in table} == {True, False}
    assert all(bool(row["read"]) == row["iri"].startswith(READ) for row in table)
    plain = json.loads(client.export(ALL, "json").text)
    assert all(one["read"] == one["iri"].startswith(READ) for one in plain["members"])
    linked = json.loads(client.export(ALL, "jsonld").text)["@graph"]
    marked = [one["id"] for one in linked if "read from pages" in json.dumps(one.get("referred_to_by", []))]
    assert sorted(marked) == sorted(row["iri"] for row in table if row["read"])


def test_nothing_that_was_read_is_joined_to_what_a_curator_wrote(regulation: Project) -> None:
    edges = pl.read_parquet(regulation.context().folder("edges") / "edges.parquet").cast(pl.String)
    ends = edges.filter(~pl.col("p").str.ends_with("#type") & pl.col("o").str.contains("^(http|urn:)"))
    read = [pl.col(end).str.starts_with(READ) for end in ("s", "o")]
    crossing = ends.filter(read[0] != read[1]).select("s", "p", "o").rows()
    assert [row for row in crossing if "subPropertyOf" not in row[1]] == []


def test_a_regulation_is_asked_by_its_published_relationships(client: Client) -> None:
    assert "JN 4410" in client.ask("What does 12/1987 reference?").text
    (member,) = client.ask("Which regulations reference JN 4410?").set.members
    assert member.label == "12/1987"
    told = client.ask("Which organizations supervise a role?").set
    assert [one.label for one in told.members] == ["Okresní archiv Hvězdov"]
