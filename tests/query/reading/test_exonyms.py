"""Names in other languages than the data's: what a data set calls by its own."""

from __future__ import annotations

import pytest

from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.graph.graph import Graph
from crmrag_query.language import language
from crmrag_query.plans.execute import execute
from crmrag_query.plans.world import World
from crmrag_query.questions.lexicon import asked
from crmrag_query.reading.items import Exonyms, analysed, entries
from crmrag_query.reading.read import parse
from tests.support.builds import build_all, make_project
from tests.support.small_world import PREFIXES

MUSEUM = (
    PREFIXES
    + """
:london a crm:E53_Place ; rdfs:label "London" . :rome a crm:E53_Place ; rdfs:label "Rome" .
:athens a crm:E53_Place ; rdfs:label "Athens, Greece" . :mexico a crm:E53_Place ; rdfs:label "Mexico" .
:scotland a crm:E53_Place ; rdfs:label "Scotland" . :japan a crm:E53_Place ; rdfs:label "Japan" .
:french a crm:E74_Group ; rdfs:label "French" . :scot a crm:E55_Type ; rdfs:label "Scot"@en .
:dutch a crm:E55_Type ; rdfs:label "Dutch (culture or style)"@en .
:silver a crm:E57_Material ; rdfs:label "silver"@en . :ivory a crm:E57_Material ; rdfs:label "ivory (material)"@en .
:rom a crm:E22_Human-Made_Object ; rdfs:label "Rom" . :pole a crm:E55_Type ; rdfs:label "pole" .
:french-person a crm:E21_Person ; rdfs:label "Italian" .
:medium a crm:E33_Linguistic_Object ; rdfs:label "oil on silver" ; crm:P67_refers_to :cup .
:cup a crm:E22_Human-Made_Object ; rdfs:label "Cup" ; crm:P45_consists_of :silver .
:lion a crm:E55_Type ; rdfs:label "lion"@en . :cup crm:P62_depicts :lion .
:box a crm:E22_Human-Made_Object ; rdfs:label "Box" ; crm:P45_consists_of :ivory .
:jar a crm:E22_Human-Made_Object ; rdfs:label "Jar" ; crm:P45_consists_of :silver .
:anna a crm:E21_Person ; rdfs:label "Anna Bell" .
:b1 a crm:E67_Birth ; crm:P98_brought_into_life :anna ; crm:P7_took_place_at :london .
:carl a crm:E21_Person ; rdfs:label "Carl Dorn" .
:b2 a crm:E67_Birth ; crm:P98_brought_into_life :carl ; crm:P7_took_place_at :rome .
:ewan a crm:E21_Person ; rdfs:label "Ewan Frey" .
:b3 a crm:E67_Birth ; crm:P98_brought_into_life :ewan ; crm:P7_took_place_at :athens .
"""
)


@pytest.fixture(scope="module")
def museum(tmp_path_factory: pytest.TempPathFactory) -> Release:
    project = make_project(tmp_path_factory.mktemp("exonyms") / "project", MUSEUM, write_markdown=False)
    build_all(project.context())
    return open_release(project.dataset, project.data)


def found(release: Release, question: str) -> list[tuple[str, list[str]]]:
    """Names that are added, as they were asked, and the last parts of the IRIs of what they mean."""
    analysis = analysed(release, question)
    own = language(analysis.reading.language)
    words = asked(question, own.capitals_name, ()).words
    return [
        (
            " ".join(words[one.first : one.last]),
            [release[Graph].iri(entity.entity).rsplit("/", 1)[1] for entity in one.entities],
        )
        for one in release[Exonyms].mentions(words, own.code, analysis.mentions)
    ]


def answer(release: Release, question: str) -> set[str]:
    plan = parse(release, analysed(release, question)).plan
    assert plan is not None
    return {release[Graph].iri(int(node)).rsplit("/", 1)[1] for node in execute(plan, release[World]).members}


@pytest.mark.parametrize(("question", "expected"), [
    ("Quels artistes sont nés à Londres ?", ("londres", {"london"})),
    ("Ποιοι καλλιτέχνες γεννήθηκαν στο Λονδίνο;", ("λονδινο", {"london"})),
    ("Welche Objekte sind aus Silber?", ("silber", {"silver"})),
    ("Quels objets sont en ivoire ?", ("ivoire", {"ivory"})),
    ("Ποια έργα είναι από ελεφαντόδοντο;", ("ελεφαντοδοντο", {"ivory"})),
    ("Welche Künstler sind Franzosen?", ("franzosen", {"french"})),
    ("Quelles œuvres sont néerlandaises ?", ("neerlandaises", {"dutch"})),
    ("Quels artistes sont nés à Athènes ?", ("athenes", {"athens"})),  # told with a wider one: "Athens, Greece"
    ("Welche mexikanischen Künstler gibt es?", ("mexikanischen", {"mexico"})),  # the data lacks that people
])  # fmt: skip
def test_a_name_of_another_language_means_what_the_data_calls_by_its_own(
    museum: Release, question: str, expected: tuple[str, set[str]]
) -> None:
    name, meant = expected
    assert [(said, set(ids)) for said, ids in found(museum, question)] == [(name, meant)]


@pytest.mark.parametrize("question", [
    "Welche Künstler sind aus Peking?",  # what the data lacks
    "Which objects are made of silver?", "Which artists were born in London?",  # whole names of the data itself
])  # fmt: skip
def test_nothing_is_added(museum: Release, question: str) -> None:
    assert found(museum, question) == []


@pytest.mark.parametrize("question", [
    "Quels artistes viennent du Nouveau-Mexique ?",  # longer than "Mexique", which the data has
    "Welche polnischen Künstler gibt es?",  # a pole is no people
    "Welche italienischen Künstler gibt es?",  # a person is called "Italian"
])  # fmt: skip
def test_what_only_sounds_like_a_name_of_the_data_is_not_told_as_exact(
    museum: Release, question: str
) -> None:
    assert not parse(museum, analysed(museum, question)).certain


@pytest.mark.parametrize(("question", "expected"), [
    ("Which objects are made of silver?", {"cup", "jar"}), ("Welche Objekte sind aus Silber?", {"cup", "jar"}),
    ("Quels objets sont en ivoire ?", {"box"}), ("Ποιος γεννήθηκε στην Αθήνα;", {"ewan"}),
    ("Quali oggetti raffigurano un leone?", {"cup"}), ("Welche Objekte zeigen einen Löwen?", {"cup"}),
])  # fmt: skip
def test_questions_are_answered_in_other_languages_than_the_data(
    museum: Release, question: str, expected: set[str]
) -> None:
    assert answer(museum, question) == expected


@pytest.mark.parametrize(("question", "expected"), [
    ("Wer wurde in Rom geboren?", {"carl"}),  # a thing is called "Rom"
    ("Qui est né à Londres ?", {"anna"}),
])  # fmt: skip
def test_an_answer_in_another_language_is_right_or_not_told_as_exact(
    museum: Release, question: str, expected: set[str]
) -> None:
    assert not parse(museum, analysed(museum, question)).certain or answer(museum, question) == expected


def test_every_people_of_the_table_that_has_a_home_has_one_that_stands_there() -> None:
    table = entries()
    assert table and all(one.home in table for one in table.values() if one.home)
    assert all(any(names) for one in table.values() for names in [tuple(one.names.values())])


@pytest.mark.parametrize(
    "question", ["", "?", "Londres Londres Londres", "« Rom", "or or or", "…", "Silber " * 200]
)
def test_any_text_is_read(museum: Release, question: str) -> None:
    assert found(museum, question) == found(museum, question)
