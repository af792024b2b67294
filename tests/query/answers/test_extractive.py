"""Answers without a model: lines that bear on the question, sets of what was asked for, and an honest refusal."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from crmrag_query.answers.extractive import Extracted, extract
from crmrag_query.answers.sources import SourceList
from crmrag_query.answers.support import check_support
from crmrag_query.answers.understand import AskedTypes
from crmrag_query.artifacts.release import Release
from crmrag_query.context.evidence import Evidence, gather, holds_all, rank_evidence, unknown_words
from crmrag_query.documents.documents import Documents, Line
from crmrag_query.graph.graph import Graph
from crmrag_query.questions.form import Analysis, Reading, read_question
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.scores import Candidate
from crmrag_query.text import same_stem


def reading_of(release: Release, question: str) -> Reading:
    return read_question(question, release.method.questions, release.manifest.languages)


def everything(release: Release, first: Sequence[str] = ()) -> list[Candidate]:
    """All documents, those that tell of the entities with the labels ``first`` in front: retrieval is not tested here."""
    documents, graph = release[Documents], release[Graph]
    told = [(i, {graph.label(node) for node in documents.told_in(i)}) for i in range(documents.count)]
    order = [next(i for i, labels in told if label in labels) for label in first] + [i for i, _ in told]
    return [Candidate(i, 1 / n) for n, i in enumerate(dict.fromkeys(order), 1)]


def answered(release: Release, question: str, *first: str) -> tuple[Extracted, SourceList]:
    reading, config = reading_of(release, question), release.method.questions.extractive
    candidates = everything(release, first)[:20]
    found = gather(release, candidates, reading, config)
    cited = SourceList(release, reading.language)
    ranked = rank_evidence(found, reading, release[QueryEncoder].encode, config)
    return extract(Analysis(reading), candidates, found, ranked, cited), cited


ASINOU = "Panagia Phorbiotissa (Asinou)"


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("When was the church of Panagia Phorbiotissa built?", "1099–1105"),
        ("Wann wurde Panagia Phorbiotissa gebaut?", "1099–1105"),
        ("Quand Panagia Phorbiotissa a-t-elle été construite ?", "1099–1105"),
        ("Where is Panagia Phorbiotissa?", "Nikitari"),
        ("Πού βρίσκεται η Παναγία Φορβιώτισσα;", "Νικητάρι"),
    ],
)
def test_the_fact_is_in_one_of_a_few_lines(sample: Release, question: str, fact: str) -> None:
    told, _ = answered(sample, question, ASINOU, "Nikephoros Magistros")
    assert fact in told.text and not told.refused
    assert len(told.text.splitlines()) <= sample.method.questions.extractive.specific_lines


def test_every_line_cites_and_is_supported_by_what_it_cites(sample: Release) -> None:
    told, cited = answered(sample, "When was Panagia Phorbiotissa built?", ASINOU)
    lines = {
        source.n: [source.label, source.snippet, *map(str, source.triples)] for source in cited.sources()
    }
    reading = reading_of(sample, "When was Panagia Phorbiotissa built?")
    first = told.text.splitlines()[0]
    assert not check_support(first, lines, reading, sample.method.sets.answers).unsupported


def test_what_was_said_is_not_said_again(sample: Release) -> None:
    rows = answered(sample, "When was Panagia Phorbiotissa built?", ASINOU)[0].text.splitlines()
    assert len(rows) == len({row.partition(": ")[2].partition(": ")[2] for row in rows})


def test_a_yes_no_question_gets_lines_that_hold_all_its_words_and_no_bare_guess(sample: Release) -> None:
    told, _ = answered(sample, "Is Panagia Phorbiotissa in Nikitari?", "Nikitari", ASINOU)
    assert "Nikitari" in told.text and "Phorbiotissa" in told.text
    assert not told.text.lower().startswith(("yes", "no"))


@pytest.mark.parametrize(
    "question",
    ["What is the price of bread in Reykjavik?", "Wie teuer ist Brot in Reykjavik?", "Zxqv?"],
)  # fmt: skip
def test_nothing_that_bears_on_it_is_an_honest_refusal_without_sources(
    sample: Release, question: str
) -> None:
    told, cited = answered(sample, question, ASINOU)
    words = sample.method.questions.languages[reading_of(sample, question).language]
    assert told.refused and told.text == words.none
    assert cited.sources() == () and told.notes


def test_a_fact_that_what_is_named_does_not_have_is_refused_with_what_it_does_have(sample: Release) -> None:
    told, cited = answered(sample, "How heavy and tall is Nikephoros Magistros?", "Nikephoros Magistros")
    assert told.refused and "Nikephoros Magistros: " in told.text
    assert cited.sources()


def test_a_set_holds_what_is_asked_for_and_nothing_else(sample: Release) -> None:
    question = "Which saints are depicted in Panagia Phorbiotissa?"
    told, cited = answered(sample, question, ASINOU)
    head, *members = cited.sources()
    assert head.label == ASINOU and len(members) > 5
    saints = AskedTypes(sample[Graph], reading_of(sample, question))
    nodes = [sample[Graph].node(member.iri) for member in members]
    assert saints.of([node for node in nodes if node is not None]) == nodes
    assert f"({len(members)})" in told.text.splitlines()[0]


def test_things_of_another_type_are_not_counted(sample: Release) -> None:
    told, _ = answered(sample, "How many bells are in Panagia Phorbiotissa?", ASINOU)
    assert not told.text.split(":")[0].isdigit()
    assert any("bells" in note for note in told.notes)


def test_a_name_within_a_longer_name_is_not_what_is_asked_about(sample: Release) -> None:
    """ "Παναγία" is the Virgin; "Παναγία Φορβιώτισσα" is a church."""
    reading = reading_of(sample, "Ποιοι άγιοι απεικονίζονται στην Παναγία Φορβιώτισσα;")
    found = gather(
        sample, everything(sample, [ASINOU, "Virgin Mary"])[:5], reading, sample.method.questions.extractive
    )
    mention = {one.subject: one.mention for one in found}
    assert mention["Παναγία Φορβιώτισσα (Ασίνου)"] > mention["Παναγία"]


def test_a_form_of_a_word_counts_as_the_word(sample: Release) -> None:
    line = Line(0, 0, Line.LITERAL, "P3", "has note", 0, 9, 1, ())
    reading = reading_of(sample, "Which murals show a donation?")
    plain = Evidence(line, 0, "A", "the mural was given", ())
    formed = Evidence(line, 0, "B", "nothing of the kind", ())
    assert (
        rank_evidence(
            [formed, plain], reading, sample[QueryEncoder].encode, sample.method.questions.extractive
        )[0]
        is not formed
    )
    assert holds_all(plain, ["murals"]) and not holds_all(formed, ["murals"])
    assert unknown_words([plain], reading) == ("donation",)


def test_no_line_is_encoded_unless_configured(sample: Release) -> None:
    reading = reading_of(sample, "When was Panagia Phorbiotissa built?")
    config = sample.method.questions.extractive
    found = gather(sample, everything(sample, [ASINOU])[:5], reading, config)
    asked: list[int] = []

    def encode(texts: list[str]) -> object:
        asked.append(len(texts))
        return sample[QueryEncoder].encode(texts)

    rank_evidence(found, reading, encode, config)  # type: ignore[arg-type]
    assert asked == []
    rank_evidence(found, reading, encode, config.model_copy(update={"encoded_lines": 4}))  # type: ignore[arg-type]
    assert asked == [5]


def test_no_lines_no_answer(sample: Release) -> None:
    analysis = Analysis(reading_of(sample, "Who?"))
    told = extract(analysis, [], [], [], SourceList(sample, "en"))
    assert told.refused and told.text


@pytest.mark.parametrize(
    ("word", "asked", "same"),
    [("mural", "murals", True), ("painted", "painter", True), ("church", "chapel", False), ("art", "arts", False),
     ("νικηφοροσ", "νικηφορου", True), ("saint", "saintonge", False)],
)  # fmt: skip
def test_forms_of_a_word_share_all_but_the_ending(word: str, asked: str, same: bool) -> None:
    assert same_stem(word, asked) is same


def test_a_list_says_how_many_it_leaves_out(sample: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sample.method.questions.extractive.__dict__, "listed_items", 2)
    head, *rows = answered(sample, "Which churches are there?")[0].text.split("\n")
    every = int(head.partition("(")[2].partition(")")[0])
    words = sample.method.questions.languages["en"]
    assert len(rows) == 4 and rows[2:] == [words.more.format(count=every - 2), words.partial]
