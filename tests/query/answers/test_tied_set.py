"""Sets that retrieval can tell: members tied to all that is named, of the types asked for, within the period."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from crmrag_query.answers.ask import Conversation, Prepared, ask, prepare
from crmrag_query.answers.extractive import TiedSet, tied_set, tied_set_text
from crmrag_query.answers.sources import SourceList
from crmrag_query.answers.understand import individuals, relied_on
from crmrag_query.artifacts.release import Release
from crmrag_query.documents.documents import Documents
from crmrag_query.entities.details import type_nodes
from crmrag_query.graph.graph import Graph
from crmrag_query.retrieval.aggregation import DateIndex
from crmrag_query.retrieval.pipeline import retrieve
from crmrag_query.retrieval.release_channels import ReleaseChannels
from tests.support.modes import CRM

CHURCH = "Panagia Phorbiotissa (Asinou)"


def asked(release: Release, question: str) -> tuple[Prepared, TiedSet | None]:
    prepared = prepare(release, question)
    return prepared, tied_set(release, prepared.analysis, prepared.retrieved.chosen)


def types_of(release: Release, node: int) -> str:
    return " ".join(
        label.text for kind in type_nodes(release[Graph], node) for label in release[Graph].labels(kind)
    )


def labels(release: Release, nodes: Sequence[int]) -> list[str]:
    return [release[Graph].label(node, ("en",)) for node in nodes]


def test_members_are_of_the_type_asked_for_and_never_what_is_named(sample: Release) -> None:
    _, found = asked(sample, "Which saints are depicted in the church of Panagia Phorbiotissa?")
    assert found is not None and len(found.members) > 3
    assert all("saint" in types_of(sample, node) for node in found.members)
    assert CHURCH not in labels(sample, found.members)


def test_members_are_dated_within_the_period_and_say_so(sample: Release) -> None:
    prepared, found = asked(sample, "Which murals were painted before 1200?")
    assert found is not None and prepared.analysis.period is not None
    end = prepared.analysis.period.end
    assert end is not None
    for node in found.members:
        dates = sample[DateIndex].of(node, "thing_time_a_created")
        assert dates is not None and dates.end is not None and dates.end <= end
    words = sample.method.questions.languages["en"]
    cited = SourceList(sample, "en")
    text = tied_set_text(prepared.analysis, found, cited)
    assert f"({len(found.members)})" in text and "until 1199" in text and text.endswith(words.partial)
    assert len(cited) == len(found.members) and all(source.triples for source in cited.sources())


@pytest.mark.parametrize(
    "question",
    [
        "Which murals were painted in 1250 BC?",
        "Which murals of Asinou were painted before 1500 BC?",
        "Murals of 1999?",
    ],
)
def test_what_is_dated_otherwise_is_no_answer_to_a_period(sample: Release, question: str) -> None:
    prepared, found = asked(sample, question)
    assert prepared.analysis.period is not None and found is None


def test_a_period_in_which_nothing_is_dated_is_refused(sample: Release) -> None:
    answer = ask(sample, "Which murals were painted in 1250 BC?")
    assert answer.refused and "1250 BC – none known to this data set" in answer.text
    assert not answer.citations


@pytest.mark.parametrize("question", ["Which churches are recorded?", "Who?", "List everything."])
def test_a_question_that_names_nothing_but_types_has_no_such_set(sample: Release, question: str) -> None:
    assert asked(sample, question)[1] is None


def test_a_type_that_only_says_what_is_named_is_not_relied_on(sample: Release) -> None:
    analysis = prepare(sample, "Which murals are in the church of Panagia Phorbiotissa?").analysis
    assert "church" in {mention.text for mention in analysis.mentions}
    assert "church" not in {mention.text for mention in relied_on(sample, analysis)}


def test_the_noun_that_is_asked_for_names_no_individual(sample: Release) -> None:
    analysis = prepare(sample, "Which saints are depicted in Panagia Phorbiotissa?").analysis
    assert [mention.text for mention in individuals(sample, analysis)] == ["panagia phorbiotissa"]


def test_the_document_of_what_is_named_is_among_those_retrieved(sample: Release) -> None:
    prepared, _ = asked(sample, "Which saints are depicted in the church of Panagia Phorbiotissa?")
    documents = [candidate.document for candidate in prepared.retrieved.chosen]
    assert CHURCH in [sample[Documents].label(document) for document in documents]
    assert len(documents) == len(set(documents)) == sample.method.retrieval.k.enumeration


def test_no_name_is_claimed_that_the_members_are_not_tied_to(sample: Release) -> None:
    """Philippos Goul painted nothing before 1300: what is listed in his stead does not go by his name."""
    prepared, found = asked(sample, "Which murals did Philippos Goul paint before 1300?")
    assert "philippos goul" in [mention.text for mention in relied_on(sample, prepared.analysis)]
    if found is not None:
        text = tied_set_text(prepared.analysis, found, SourceList(sample, "en"))
        assert "Philippos Goul" not in text
    answer = ask(sample, "Which murals did Philippos Goul paint before 1300?")
    assert answer.set is not None and not answer.set.size and "none known to this data set" in answer.text


def test_what_only_the_question_by_itself_finds_counts_as_tied_to_nothing(sample: Release) -> None:
    """By itself "which of those …" names only a period, to which far more is tied than to what was asked before."""
    _, talk = Conversation().ask(sample, "What did Philippos Goul paint?")
    again = prepare(sample, "What of those was painted before 1300?", talk.state)
    whole, alone = again.understood.queries
    config = sample.method.retrieval
    of_whole, of_alone = (
        {one.document: one.tied for one in (*found.chosen, *found.rest)}
        for found in (retrieve(sample[ReleaseChannels], query, config, CRM) for query in (whole, alone))
    )
    assert any(tied > 0 for document, tied in of_alone.items() if document not in of_whole)
    for one in (*again.retrieved.chosen, *again.retrieved.rest):
        assert one.tied == of_whole.get(one.document, 0.0)
