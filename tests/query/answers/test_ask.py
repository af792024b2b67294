"""Answers without a model: what is said follows from the graph, and each source shows the triples it rests on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import NamedNode, Store

from crmrag_query.answers.ask import ask
from crmrag_query.answers.conversation import Conversation
from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError

BASE = "https://example.org/troodos/"
CRM = "http://www.cidoc-crm.org/cidoc-crm/"


def stated(store: Store, s: str, p: str, o: str) -> bool:
    """True when the data states the triple; a blank node in the data answers for any skolem name."""
    subject = None if s.startswith("urn:skolem:") else NamedNode(s)
    if o.startswith("urn:skolem:"):
        return any(True for _ in store.quads_for_pattern(subject, NamedNode(p), None))
    quads = store.quads_for_pattern(subject, NamedNode(p), None)
    return any(quad.object.value == o for quad in quads)  # type: ignore[union-attr]


def test_a_list_is_the_set_that_the_graph_gives(sample: Release, store: Store) -> None:
    answer = ask(sample, "Which saints are depicted in the church of Panagia Phorbiotissa?")
    listed = {source.iri for source in answer.sources if source.cited and source.n > 1}
    found = store.query(
        f"""PREFIX crm: <{CRM}> PREFIX t: <{BASE}>
        SELECT DISTINCT ?figure {{
          ?mural crm:P56i_is_found_on t:church\\/asinou ; crm:P62_depicts ?figure .
          ?figure crm:P2_has_type/rdfs:label ?type . FILTER(CONTAINS(LCASE(?type), "saint")) }}""",
        prefixes={"rdfs": "http://www.w3.org/2000/01/rdf-schema#"},
    )
    expected = {row["figure"].value for row in found}  # type: ignore[union-attr]
    assert listed == expected and len(expected) > 5
    assert not answer.exhaustive


def test_every_triple_of_every_source_is_in_the_data(sample: Release, store: Store) -> None:
    questions = (
        "When was Asinou painted?",
        "Who was Nikephoros Magistros?",
        "Which murals show the Crucifixion?",
    )
    for question in questions:
        for source in ask(sample, question).sources:
            for triple in source.triples:
                assert stated(store, triple.s, triple.p, triple.o), triple


def test_a_count_gives_a_number_and_what_it_counts(sample: Release) -> None:
    answer = ask(sample, "How many murals are on the walls of Panagia Phorbiotissa?")
    number = answer.text.split(":")[0]
    assert number.isdigit()
    assert len(answer.sources) > 1


def test_every_citation_in_the_text_is_a_source_and_sources_tell_whether_they_are_cited(
    sample: Release,
) -> None:
    answer = ask(sample, "Where is the church of Panagia Phorbiotissa?")
    assert [source.n for source in answer.sources] == list(range(1, len(answer.sources) + 1))
    in_text = {n for citation in answer.citations for n in citation.numbers}
    assert in_text and {source.n for source in answer.sources if source.cited} == in_text
    assert all((f"[{source.n}]" in answer.text) == source.cited for source in answer.sources)


def test_a_greek_question_is_answered_with_greek_names(sample: Release) -> None:
    answer = ask(sample, "Πού βρίσκεται η Παναγία Φορβιώτισσα;")
    assert "Νικητάρι" in answer.text
    assert any("Παναγία" in source.label for source in answer.sources)


def test_the_answer_is_short_and_no_dump_of_documents(sample: Release) -> None:
    answer = ask(sample, "Who was Nikephoros Magistros?")
    assert len(answer.text.splitlines()) <= sample.method.questions.extractive.specific_lines


def test_the_same_question_gives_the_same_answer(sample: Release) -> None:
    question = "Which churches have a Last Judgment?"
    assert ask(sample, question) == ask(sample, question)


def test_an_answer_is_json_with_the_agreed_fields(sample: Release) -> None:
    told = json.loads(json.dumps(ask(sample, "Who was Nikephoros Magistros?").as_dict()))
    assert {"text", "sources", "mode", "release", "exhaustive"} <= told.keys()
    assert {"n", "iri", "label", "category", "triples"} <= told["sources"][0].keys()
    assert told["release"] == sample.id


@pytest.mark.parametrize("question", ["", "   ", "\n\t"])
def test_an_empty_question_is_refused_with_an_example(sample: Release, question: str) -> None:
    with pytest.raises(QuestionError, match="empty"):
        ask(sample, question)


def test_a_huge_question_is_refused_with_the_limit(sample: Release) -> None:
    limit = sample.method.retrieval.question_characters
    with pytest.raises(QuestionError, match=str(limit)):
        ask(sample, "why " * limit)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(min_size=1, max_size=80).filter(str.strip))
def test_no_text_makes_asking_fail(sample: Release, question: str) -> None:
    try:
        assert ask(sample, question).release == sample.id
    except QuestionError as error:
        assert error.remedy and not any(map(str.isalnum, question))


def test_conversations_do_not_touch(sample: Release) -> None:
    first = Conversation()
    _, second = first.ask(sample, "Who was Nikephoros Magistros?")
    assert first.state.turns == ()
    assert [turn.question for turn in second.state.turns] == ["Who was Nikephoros Magistros?"]


def test_named_graphs_are_told_with_the_triple(tmp_path: Path) -> None:
    from tests.query.answers.conftest import built

    trig = f"""@prefix crm: <{CRM}> . @prefix e: <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    e:curator {{ e:bell a crm:E22_Human-Made_Object ; rdfs:label "Bell" ; crm:P55_has_current_location e:tower .
    e:tower a crm:E53_Place ; rdfs:label "Tower" . }}"""
    (tmp_path / "said.trig").write_text(trig, encoding="utf-8")
    release = built(tmp_path / "project", f"@prefix crm: <{CRM}> . <http://e.org/x> a crm:E53_Place .")
    project = tmp_path / "project"
    (project / "config" / "datasets.yaml").write_text(
        "datasets: {churches: {rdf: ['../said.trig'], embedding: {model: hash}}}\n", encoding="utf-8"
    )
    from crmrag_query.artifacts.release import open_release
    from tests.support.builds import Project, build_all

    build_all(Project(project).context())
    release = open_release("churches", project / "data")
    triples = [t for source in ask(release, "Where is the bell?").sources for t in source.triples]
    assert any(triple.graphs == ("http://e.org/curator",) for triple in triples)
