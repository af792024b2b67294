"""Names in other languages than the data's, linked to what a data set has."""

from __future__ import annotations

import pytest

from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.graph.graph import Graph
from crmrag_query.linking import Mention
from crmrag_query.parsing.exonyms import Exonyms, added, with_exonyms
from crmrag_query.parsing.heard import analysed
from crmrag_query.parsing.parse import parse
from crmrag_query.plans.world import World
from crmrag_query.questions.analysis import Analysis
from crmrag_query.questions.lexicon import Language, compiled
from crmrag_query.questions.words import Asked, asked
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


def heard_in(release: Release, question: str) -> tuple[Analysis, Asked, Language]:
    analysis = analysed(release, question)
    language = compiled(release.method.questions).languages[analysis.reading.language]
    return analysis, asked(question, language.capitals_name, ()), language


def found(release: Release, question: str) -> list[tuple[str, list[str]]]:
    """Names that are added, as they were asked, and the last parts of the IRIs of what they mean."""
    analysis, heard, language = heard_in(release, question)
    return [
        (
            " ".join(heard.words[one.first : one.last]),
            [release[Graph].iri(entity.entity).rsplit("/", 1)[1] for entity in one.entities],
        )
        for one in added(release[Exonyms], analysis.mentions, heard, language)
    ]


def answer(release: Release, question: str) -> set[str]:
    from crmrag_query.plans.execute import execute

    plan = parse(release, analysed(release, question)).plan
    assert plan is not None
    members = execute(plan, release[World]).members
    return {release[Graph].iri(int(node)).rsplit("/", 1)[1] for node in members}


@pytest.mark.parametrize(("question", "expected"), [
    ("Quels artistes sont nés à Londres ?", ("londres", ["london"])),
    ("Ποιοι καλλιτέχνες γεννήθηκαν στο Λονδίνο;", ("λονδινο", ["london"])),
    ("Welche Objekte sind aus Silber?", ("silber", ["silver"])),
    ("Quels objets sont en ivoire ?", ("ivoire", ["ivory"])),
    ("Ποια έργα είναι από ελεφαντόδοντο;", ("ελεφαντοδοντο", ["ivory"])),
    ("Welche Künstler sind Franzosen?", ("franzosen", ["french"])),
    ("Quelles œuvres sont néerlandaises ?", ("neerlandaises", ["dutch"])),
])  # fmt: skip
def test_a_name_of_another_language_means_what_the_data_calls_by_its_own(
    museum: Release, question: str, expected: tuple[str, list[str]]
) -> None:
    assert found(museum, question) == [expected]


def test_a_people_is_meant_before_its_place(museum: Release) -> None:
    assert found(museum, "Welche schottischen Künstler gibt es?") == [("schottischen", ["scot", "scotland"])]
    assert found(museum, "Which Scottish artists are there?") == [("scottish", ["scot", "scotland"])]


def test_the_place_of_a_people_is_the_less_sure_meaning(museum: Release) -> None:
    analysis, heard, language = heard_in(museum, "Welche schottischen Künstler gibt es?")
    (mention,) = added(museum[Exonyms], analysis.mentions, heard, language)
    assert [one.how for one in mention.entities] == ["alternative", "similar"]
    assert mention.text == "scot"  # as the data says


def test_a_people_that_the_data_lacks_is_told_by_its_place(museum: Release) -> None:
    assert found(museum, "Welche mexikanischen Künstler gibt es?") == [("mexikanischen", ["mexico"])]


def test_a_person_or_a_work_of_that_name_is_not_meant(museum: Release) -> None:
    assert found(museum, "Welche italienischen Künstler gibt es?") == []
    assert found(museum, "Welche Künstler kommen aus Rom?") == [
        ("rom", ["rom", "rome"])
    ]  # the linker's own stays first


def test_nothing_is_added_for_what_the_data_lacks(museum: Release) -> None:
    assert found(museum, "Welche Künstler sind aus Peking?") == []
    assert found(museum, "Welche polnischen Künstler gibt es?") == []  # a pole is no people


def test_a_place_that_is_named_with_a_wider_one_is_found_in_part(museum: Release) -> None:
    analysis, heard, language = heard_in(museum, "Quels artistes sont nés à Athènes ?")
    (mention,) = added(museum[Exonyms], analysis.mentions, heard, language)
    assert (mention.text, [one.how for one in mention.entities]) == ("athens", ["partial"])


def test_a_longer_name_that_the_data_lacks_is_not_the_shorter_one(museum: Release) -> None:
    assert found(museum, "Quels artistes viennent du Nouveau-Mexique ?") == []


def test_what_the_linker_found_whole_stays(museum: Release) -> None:
    assert found(museum, "Which objects are made of silver?") == []
    assert found(museum, "Which artists were born in London?") == []


def test_words_of_a_longer_name_stay_in_it(museum: Release) -> None:
    assert found(museum, "What is oil on silver?") == []


def test_a_word_of_a_name_and_a_quoted_word_are_left_alone(museum: Release) -> None:
    assert found(museum, "Quelles œuvres sont de Marie Londres ?") == []
    assert found(museum, "Quelles œuvres s'appellent « Londres » ?") == []


def test_a_question_without_a_word_that_tells_its_language_is_read_in_all(museum: Release) -> None:
    assert ("silberne", ["silver"]) in found(museum, "silberne Becher")


def test_a_hit_takes_the_place_of_a_partial_mention(museum: Release) -> None:
    _, heard, language = heard_in(museum, "Welche Objekte sind aus Silber?")
    place = heard.words.index("silber")
    partial = Mention(place, place + 1, "silber", ())
    other = Mention(0, 1, "welche", ())
    found = with_exonyms(museum[Exonyms], [other, partial], heard, language)
    assert [one.text for one in found] == ["welche", "silver"]
    plain = with_exonyms(museum[Exonyms], [other], heard, language)
    assert [one.text for one in plain] == ["welche", "silver"]


@pytest.mark.parametrize(("question", "expected"), [
    ("Which objects are made of silver?", {"cup", "jar"}),
    ("Welche Objekte sind aus Silber?", {"cup", "jar"}),
    ("Quels objets sont en ivoire ?", {"box"}),
    ("Wer wurde in Rom geboren?", {"carl"}),
    ("Qui est né à Londres ?", {"anna"}),
    ("Ποιος γεννήθηκε στην Αθήνα;", {"ewan"}),
])  # fmt: skip
def test_questions_are_answered_in_other_languages_than_the_data(
    museum: Release, question: str, expected: set[str]
) -> None:
    assert answer(museum, question) == expected


def test_all_names_of_a_word_are_told(museum: Release) -> None:
    assert {"silver", "silber", "argent"} <= set(museum[Exonyms].names(["argent"], "fr"))
    assert museum[Exonyms].names(["tasse"], "fr") == ()


@pytest.mark.parametrize(
    "question", ["", "?", "Londres Londres Londres", "« Rom", "or or or", "…", "Silber " * 200]
)
def test_any_text_is_read(museum: Release, question: str) -> None:
    analysis, heard, language = heard_in(museum, question)
    found = with_exonyms(museum[Exonyms], analysis.mentions, heard, language)
    assert found == with_exonyms(museum[Exonyms], analysis.mentions, heard, language)
    assert all(
        0 <= one.first < one.last <= len(heard.words) for one in added(museum[Exonyms], (), heard, language)
    )
