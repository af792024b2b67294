"""One thing in sentences: its portrait, the facts that a question asks for, and what is said where these are not recorded.

A world of three things and three persons: a picture with all that a museum records, one of which little is known, a poem of a
literature graph; a painter with dates, one without, and the museum.
"""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import RdfFormat, Store

from crmrag_query.answers.ask import Conversation, ask
from crmrag_query.answers.facts import QUOTED, Facts, in_years, portrait, sentence_cut
from crmrag_query.answers.sources import SourceList
from crmrag_query.answers.subject import example_questions, facts_of, greeted
from crmrag_query.answers.understand import understand
from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import sentences
from crmrag_query.dates import Interval, parse_date
from crmrag_query.errors import QuestionError
from crmrag_query.graph.graph import Graph
from crmrag_query.text import tokenize
from tests.support.builds import build_all, make_project
from tests.support.parse_world import PREFIXES
from tests.support.shared import shared_release

TEXT = (
    "The first picture that the painter sold was bought by a captain. It hung in his cabin for ten years. "
    + "Nothing else is known of it. " * 20
)
WORLD = f"""{PREFIXES}
:drawing a crm:E55_Type ; rdfs:label "drawing"@en, "dessin"@fr, "Zeichnung"@de .
:height a crm:E55_Type ; rdfs:label "Height" . :width a crm:E55_Type ; rdfs:label "Width" .
:paper a crm:E57_Material ; rdfs:label "paper" . :ink a crm:E57_Material ; rdfs:label "ink" .
:inventory a crm:E55_Type ; rdfs:label "accession number" .
:about a crm:E55_Type ; rdfs:label "description" .
:turku a crm:E53_Place ; rdfs:label "Turku" . :lund a crm:E53_Place ; rdfs:label "Lund" .
:museum a crm:E74_Group ; rdfs:label "Harbour Museum" .

:ada a crm:E21_Person ; rdfs:label "Ada Berg" .
:birth-ada a crm:E67_Birth ; rdfs:label "Birth of Ada Berg" ; crm:P98_brought_into_life :ada ;
  crm:P7_took_place_at :turku ; crm:P4_has_time-span :born-ada .
:born-ada a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "1801-03-04"^^xsd:date ;
  crm:P82b_end_of_the_end "1801-03-04"^^xsd:date .
:death-ada a crm:E69_Death ; crm:P100_was_death_of :ada ; crm:P7_took_place_at :lund ; crm:P4_has_time-span :died-ada .
:died-ada a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "1870-01-01"^^xsd:date ;
  crm:P82b_end_of_the_end "1870-12-31"^^xsd:date .
:bo a crm:E21_Person ; rdfs:label "Bo Lind" .

:ship a crm:E22_Human-Made_Object ; rdfs:label "The Last Ship" ; crm:P2_has_type :drawing ; crm:P45_consists_of :paper, :ink ;
  crm:P52_has_current_owner :museum ; crm:P1_is_identified_by :number-ship, :name-ship ; crm:P43_has_dimension :high, :wide ;
  crm:P67i_is_referred_to_by :text-ship .
:name-ship a crm:E35_Title ; rdfs:label "The Last Ship" .
:number-ship a crm:E42_Identifier ; rdfs:label "H 17" ; crm:P2_has_type :inventory .
:high a crm:E54_Dimension ; crm:P2_has_type :height ; crm:P90_has_value "31.5" ; crm:P91_has_unit :cm .
:wide a crm:E54_Dimension ; crm:P2_has_type :width ; crm:P90_has_value "22" ; crm:P91_has_unit :cm .
:cm a crm:E58_Measurement_Unit ; rdfs:label "cm" .
:text-ship a crm:E33_Linguistic_Object ; crm:P2_has_type :about ; crm:P190_has_symbolic_content "{TEXT}" .
:making-ship a crm:E12_Production ; rdfs:label "Production of The Last Ship" ; crm:P108_has_produced :ship ;
  crm:P14_carried_out_by :ada ; crm:P7_took_place_at :turku ; crm:P4_has_time-span :span-ship .
:span-ship a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "1825-01-01"^^xsd:date ;
  crm:P82b_end_of_the_end "1829-12-31"^^xsd:date .

:gull a crm:E22_Human-Made_Object ; rdfs:label "Gull" ; crm:P2_has_type :drawing .
:making-gull a crm:E12_Production ; rdfs:label "Production of Gull" ; crm:P108_has_produced :gull ;
  crm:P14_carried_out_by :bo .
:gull2 a crm:E22_Human-Made_Object ; rdfs:label "Gull" ; crm:P2_has_type :drawing .
:making-gull2 a crm:E12_Production ; rdfs:label "Another production" ; crm:P108_has_produced :gull2 ;
  crm:P14_carried_out_by :ada .
:leaf a crm:E22_Human-Made_Object ; rdfs:label "Drawing (Harbour Museum, 7)" ; crm:P2_has_type :drawing .
:making-leaf a crm:E12_Production ; crm:P108_has_produced :leaf ; crm:P4_has_time-span :span-leaf .
:span-leaf a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "1654-01-01"^^xsd:date ;
  crm:P82b_end_of_the_end "1654-12-31"^^xsd:date .
:storm a crm:E22_Human-Made_Object ; rdfs:label "Storm" ; crm:P2_has_type :drawing .
:item a crm:E36_Visual_Item ; rdfs:label "Item of the storm" ; crm:P138_represents :storm .
:album a crm:E22_Human-Made_Object ; rdfs:label "Album of Lund" ; crm:P46_is_composed_of :sheet-1, :sheet-2 .
:sheet-1 a crm:E22_Human-Made_Object ; rdfs:label "First Sheet" ; crm:P43_has_dimension :high-1 .
:sheet-2 a crm:E22_Human-Made_Object ; rdfs:label "Second Sheet" ; crm:P43_has_dimension :high-2 .
:high-1 a crm:E54_Dimension ; crm:P2_has_type :height ; crm:P90_has_value "7" ; crm:P91_has_unit :cm .
:high-2 a crm:E54_Dimension ; crm:P2_has_type :height ; crm:P90_has_value "8" ; crm:P91_has_unit :cm .
:making-storm a crm:E12_Production ; rdfs:label "Production of Storm" ; crm:P108_has_produced :storm ;
  crm:P14_carried_out_by :bo ; crm:P4_has_time-span :span-storm .
:span-storm a crm:E52_Time-Span ; rdfs:label "ca. 1840" ; crm:P82a_begin_of_the_begin "1838-01-01"^^xsd:date ;
  crm:P82b_end_of_the_end "1842-12-31"^^xsd:date .
"""


def _build(folder: Path) -> None:
    project = make_project(folder, WORLD, languages=["en", "de", "fr"], write_markdown=False)
    build_all(project.context())


@pytest.fixture(scope="session")
def shore(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return shared_release(tmp_path_factory, "shore", _build)


@pytest.fixture(scope="session")
def source() -> Store:
    found = Store()
    found.load(WORLD.encode(), format=RdfFormat.TURTLE)
    return found


def text(release: Release, question: str) -> str:
    return ask(release, question).text


DATES = ["When was The Last Ship made?", "In what year was The Last Ship drawn?", "Give me the date of The Last Ship.",
         "Quand The Last Ship a-t-il été créé ?", "Wann entstand The Last Ship?",
         "Πότε δημιουργήθηκε το The Last Ship;"]  # fmt: skip


@pytest.mark.parametrize("question", ["Which works are by Ada Berg?", "Which works by Ada Berg are here?"])
def test_a_noun_behind_which_is_no_fact(shore: Release, question: str) -> None:
    """A person works, and so is active; but "which works" asks for what was made."""
    assert facts_of(shore, understand(shore, question)) is None


@pytest.mark.parametrize(("question", "told"), [
    ("Quando è stato realizzato The Last Ship?", "1825"),
    ("¿Cuándo se hizo The Last Ship?", "1825"),
    ("Chi ha realizzato The Last Ship?", "Ada Berg"),
])  # fmt: skip
def test_a_question_word_asks_of_a_verb_that_has_the_stem_of_a_noun(
    shore: Release, question: str, told: str
) -> None:
    asked = facts_of(shore, understand(shore, question))
    assert asked is not None and len(asked.asked) == 1
    assert told in ask(shore, question).text


@pytest.mark.parametrize("question", DATES)
def test_a_date_is_the_whole_recorded_span(shore: Release, source: Store, question: str) -> None:
    [row] = source.query("""PREFIX : <http://example.org/> PREFIX crm: <http://www.cidoc-crm.org/cidoc-crm/>
        SELECT ?a ?b { :making-ship crm:P4_has_time-span ?t .
            ?t crm:P82a_begin_of_the_begin ?a ; crm:P82b_end_of_the_end ?b }""")
    years = f"{row['a'].value[:4]}–{row['b'].value[:4]}"
    answer = ask(shore, question)
    assert years in answer.text and "-01-01" not in answer.text and not answer.refused
    assert any(source.cited for source in answer.sources)


def test_what_the_data_writes_of_a_date_stays(shore: Release) -> None:
    assert "ca. 1840 (1838–1842)" in text(shore, "When was Storm drawn?")


@pytest.mark.parametrize(("question", "told"), [
    ("Who made The Last Ship?", "The Last Ship was made by Ada Berg."),
    ("Where was The Last Ship made?", "The Last Ship was made in Turku."),
    ("How big is The Last Ship?", "Height 31.5 cm; Width 22 cm"),
    ("What are the dimensions of The Last Ship?", "Height 31.5 cm; Width 22 cm"),
    ("What is The Last Ship made of?", "is made of ink; paper"),
    ("Who owns The Last Ship?", "belongs to Harbour Museum"),
    ("What is the accession number of The Last Ship?", "accession number: H 17"),
    ("Who made The Last Ship, and what is its accession number?", "accession number: H 17"),
    ("When was Ada Berg born?", "Ada Berg was born on 4 March 1801."),
    ("Where did Ada Berg die?", "Ada Berg died in Lund."),
    ("Who is The Last Ship by?", "Ada Berg"),
    ("Wer hat The Last Ship geschaffen?", "The Last Ship stammt von Ada Berg."),
    ("Qui a dessiné The Last Ship ?", "The Last Ship est l'œuvre de Ada Berg."),
    ("Wie groß ist The Last Ship?", "31.5 cm"),
])  # fmt: skip
def test_a_fact_is_told_in_a_sentence(shore: Release, question: str, told: str) -> None:
    answer = ask(shore, question)
    assert told in answer.text and not answer.refused and not answer.choices
    assert not any("merged" in note for note in answer.notes)  # its number is no other name of it


@pytest.mark.parametrize(("question", "told"), [
    ("When and where was Ada Berg born?", ("4 March 1801", "Turku")),
    ("Where was Ada Berg born and where did she die?", ("Turku", "Lund")),
    ("What is The Last Ship made of, and who owns it?", ("ink; paper", "Harbour Museum")),
    ("Who drew The Last Ship, when and on what material?", ("Ada Berg", "1825–1829", "paper")),
])  # fmt: skip
def test_several_facts_of_one_thing_are_told_together(
    shore: Release, question: str, told: tuple[str, ...]
) -> None:
    answer = ask(shore, question)
    assert all(one in answer.text for one in told) and not answer.refused


@pytest.mark.parametrize(("question", "label"), [
    ("When was Bo Lind born?", "date of birth"),  # and not when he was active
    ("Where was Bo Lind born?", "place of birth"),
    ("How big is Gull?", "dimension"),
    ("Who owns Storm?", "current owner"),
    ("How tall was Ada Berg?", "height"),  # nobody is measured here
])  # fmt: skip
def test_what_is_not_recorded_is_said_with_what_is(shore: Release, question: str, label: str) -> None:
    answer = ask(shore, question)
    refused, _, instead = answer.text.partition("\n")
    assert answer.refused and label in refused and instead and not answer.exhaustive
    assert answer.quality is not None and answer.quality.score < 1


def test_beside_what_is_told_it_is_said_once_what_is_not_recorded(shore: Release) -> None:
    answer = ask(shore, "When was Ada Berg born, and how tall was she?")
    assert "4 March 1801" in answer.text and answer.text.count("does not tell") == 1 and not answer.refused
    assert "“height”" in answer.text and "\n" not in answer.text  # and nothing is told twice
    lacking = text(shore, "When was Bo Lind born, and how tall was he?")
    assert lacking.count("does not tell") == 1 and "date of birth, height" in lacking


@pytest.mark.parametrize("question", ["Compare Ada Berg and Bo Lind", "Comparez Ada Berg avec Bo Lind",
                                      "Vergleiche Ada Berg mit Bo Lind"])  # fmt: skip
def test_things_that_are_compared_are_told_one_by_one(shore: Release, question: str) -> None:
    ada, bo = text(shore, question).split("\n")
    assert ada.startswith("- Ada Berg") and "1801" in ada and bo.startswith("- Bo Lind") and "Storm" in bo


def test_measures_of_several_parts_are_none_of_the_whole(shore: Release) -> None:
    told = text(shore, "Tell me about Album of Lund")
    assert "First Sheet" in told and "cm" not in told


def test_a_name_that_begins_with_a_kind_is_a_name(shore: Release) -> None:
    answer = ask(shore, "When was Drawing (Harbour Museum, 7) made?")
    assert "1654" in answer.text and answer.set is None
    plan = ask(shore, "How many of Drawing (Harbour Museum, 7) are there?")
    assert not plan.exhaustive or "http://example.org/leaf" in str(plan.set and plan.set.plan)


@pytest.mark.parametrize("question", ["How big is a drawing?", "How heavy are drawings?"])
def test_all_of_a_kind_is_no_answer_to_what_is_asked_of_one(shore: Release, question: str) -> None:
    assert not ask(shore, question).exhaustive


@pytest.mark.parametrize("question", ["Which drawings were never sold?", "which drawings did the bow make?"])
def test_a_small_word_is_no_slip_of_a_name(shore: Release, question: str) -> None:
    asked = facts_of(shore, understand(shore, question))
    assert asked is None or not asked.asked


def test_things_of_one_name_are_told_one_by_one(shore: Release) -> None:
    told = text(shore, "Who made Gull?").split("\n")
    assert told[0] == "2 entities are called Gull."
    assert len(told) == 3 and {"Ada Berg" in told[1], "Ada Berg" in told[2]} == {True, False}


@pytest.mark.parametrize("question", ["Tell me about The Last Ship", "What is The Last Ship?", "Parlez-moi de The Last Ship",
                                      "Erzähl mir von The Last Ship"])  # fmt: skip
def test_a_portrait_tells_maker_date_place_measures_and_text(shore: Release, question: str) -> None:
    told = text(shore, question)
    assert all(
        one in told
        for one in ("Ada Berg", "1825–1829", "Turku", "31.5 cm", "paper", "Harbour Museum", "H 17")
    )
    assert "The first picture that the painter sold was bought by a captain." in told
    assert "Production of" not in told and "Class:" not in told and len(told) < 1200


def test_a_person_is_told_by_life_and_works(shore: Release) -> None:
    told = text(shore, "Who was Ada Berg?")
    assert "was born on 4 March 1801 in Turku and died in 1870 in Lund" in told
    assert "Works recorded here (2)" in told and "The Last Ship" in told and "met" not in told
    assert "Birth of" not in told


def test_a_portrait_is_proved_by_its_triples(shore: Release) -> None:
    answer = ask(shore, "Tell me about The Last Ship")
    [source] = [one for one in answer.sources if one.cited]
    ends = {triple.o_label for triple in source.triples} | {triple.s_label for triple in source.triples}
    assert {"Ada Berg", "Turku", "paper", "Harbour Museum"} <= ends


def test_a_pronoun_asks_for_facts_of_what_was_spoken_of(shore: Release) -> None:
    _, talk = Conversation().ask(shore, "Tell me about The Last Ship")
    answer, _ = talk.ask(shore, "When was it made?")
    assert "1825–1829" in answer.text


NO_FACTS = ["Which drawings did Ada Berg make?", "How many drawings are there?", "Did Ada Berg make Gull?",
            "Who did not make Gull?", "What did Ada Berg draw?", "Which drawings are older than Storm?", ""]  # fmt: skip


@pytest.mark.parametrize("question", NO_FACTS[:-1])
def test_other_questions_ask_for_no_fact_of_one_thing(shore: Release, question: str) -> None:
    asked = facts_of(shore, understand(shore, question))
    assert asked is None or asked.unknown


@pytest.mark.parametrize(
    "question", ["hello", "Hi!", "bonjour", "Guten Tag", "γεια σας", "help", "who are you?", "hola", "ciao"]
)
def test_a_greeting_is_answered_by_what_can_be_asked(shore: Release, question: str) -> None:
    answer = ask(shore, question)
    assert answer.text.count("\n- ") >= 2 and not answer.refused and not answer.notes
    for line in answer.text.split("\n")[1:]:  # the examples are questions that it answers
        assert not ask(shore, line[2:].partition(" [")[0]).refused


def test_words_with_a_greeting_are_a_question() -> None:
    assert (
        greeted(tokenize("hello, who made Gull?")) == ""
        and greeted(()) == ""
        and greeted(tokenize("hello")) == "en"
    )


@pytest.mark.parametrize("question", ["Why did Ada Berg draw The Last Ship?", "Warum entstand The Last Ship?",
                                      "Pourquoi Ada Berg a-t-elle dessiné The Last Ship ?"])  # fmt: skip
def test_a_reason_that_is_not_recorded_is_not_made_up(shore: Release, question: str) -> None:
    answer = ask(shore, question)
    assert answer.refused and "1825–1829" in answer.text.partition("\n")[2]


def test_every_language_has_every_form_and_its_clauses_a_place_for_what_is_told() -> None:
    part = sentences()
    assert {"en", "fr", "de", "el", "it", "es"} <= set(part.languages)
    for forms in part.languages.values():
        assert all("{v}" in clause for clause in (*forms.clauses.values(), *forms.inverse.values()))
        assert "{x}" in forms.not_recorded and "{what}" in forms.not_recorded and "{x}" in forms.no_reason
        assert all("{x}" in example for example in forms.examples)


def test_every_relation_that_is_told_is_known(shore: Release) -> None:
    relations = shore.method.relations
    for order in sentences().portraits.values():
        for id in (*order.head, *order.rest, *order.inverse, *order.last, *order.where):
            assert id in relations
    for forms in sentences().languages.values():
        assert set(forms.clauses) | set(forms.inverse) <= set(relations)


@pytest.mark.parametrize("language", ["en", "fr", "de", "el", "nl", "it", "es", "xx"])
def test_every_node_has_a_portrait_in_every_language(shore: Release, language: str) -> None:
    for node in range(shore[Graph].nodes):
        told = portrait([node], SourceList(shore, language))
        assert told and "{" not in told


def test_what_is_told_of_works_are_works(shore: Release) -> None:
    node = shore[Graph].node("http://example.org/ada")
    assert node is not None
    works = Facts(shore, "en").of(node, "created_by", inverse=True)
    assert works is not None and works.total == 2 and set(works.values) == {"Gull", "The Last Ship"}


@pytest.mark.parametrize(("span", "meant"), [
    ("1840-01-01", "1840"), ("1840-05-02", "1840-05-02"), ("1840", "1840"), ("1840-01", "1840-01"),
])  # fmt: skip
def test_a_lone_first_of_january_is_its_year(span: str, meant: str) -> None:
    known, wanted = parse_date(span), parse_date(meant)
    assert known is not None and in_years(known) == wanted


def test_an_open_end_at_the_first_of_january_is_its_year() -> None:
    year = parse_date("1317")
    day = parse_date("1317-01-01")
    assert year is not None and day is not None
    assert in_years(Interval(None, day.end)) == Interval(None, year.end)


@given(st.text(alphabet=string.ascii_letters + " .!?", max_size=900), st.integers(20, QUOTED))
def test_a_text_is_cut_at_the_end_of_a_sentence_or_word(words: str, longest: int) -> None:
    cut = sentence_cut(words, longest)
    assert len(cut) <= longest + len(" …")
    assert cut == words or words.split() == [] or words.split()[0][: longest // 2] in cut


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.sampled_from(
    ["when", "who", "where", "why", "how", "big", "made", "born", "The Last Ship", "Ada Berg", "Gull", "of", "by", "is",
     "was", "not", "?", ",", "and", "wann", "qui", "πότε", "1830", "it", "hello", "\u202e",
     "[1]", "{x}"]), max_size=9))  # fmt: skip
def test_any_words_are_answered(shore: Release, words: list[str]) -> None:
    try:
        answer = ask(shore, " ".join(words))
    except QuestionError:
        return
    assert answer.text


def test_example_questions_are_made_of_what_is_best_known(shore: Release) -> None:
    made = list(example_questions(shore, "en"))
    assert made and all(shore[Graph].label(node, ("en",)) in question for node, question in made)
    assert made[0][1].startswith("Tell me about ")


def test_somebody_lived_from_birth_to_death(shore: Release) -> None:
    answer = ask(shore, "When did Ada Berg live?")
    assert "4 March 1801" in answer.text and "1870" in answer.text and not answer.refused


def test_a_part_of_a_question_of_which_nothing_is_made_is_told(shore: Release) -> None:
    """Also where its words stand in what is stated of the thing, as that of a ship does in the title of her picture."""
    told = text(shore, "When was Ada Berg born, and which ship was hers?")
    assert "4 March 1801" in told and "“ship”" in told


@pytest.mark.parametrize(("question", "said"), [
    ("Who drew The Last Ship, and where was she born?", "Ada Berg was born in Turku"),
    ("Who drew The Last Ship and when did she die?", "Ada Berg died in 1870"),
])  # fmt: skip
def test_the_rest_of_a_question_asks_of_whom_its_first_part_finds(
    shore: Release, question: str, said: str
) -> None:
    told = text(shore, question)
    assert told.startswith("The Last Ship") and said in told


def test_of_things_of_one_name_the_one_that_another_name_belongs_to_is_meant(shore: Release) -> None:
    asked = facts_of(shore, understand(shore, "When did Ada Berg draw Gull?"))
    assert asked is not None
    assert [shore[Graph].iri(node) for node in asked.nodes] == ["http://example.org/gull2"]


HAPPENED = ["What happened to The Last Ship?", "What is the history of The Last Ship?", "Was geschah mit The Last Ship?",
            "Qu'est-il arrivé à The Last Ship ?"]  # fmt: skip


@pytest.mark.parametrize("question", HAPPENED)
def test_what_happened_to_a_thing_is_told_event_by_event(shore: Release, question: str) -> None:
    answer = ask(shore, question)
    rows = answer.text.split("\n")
    assert rows[1].startswith("- 1825") and "[1]" in rows[1] and not answer.exhaustive
    assert len(rows) == 2


def test_things_whose_names_or_descriptions_hold_a_word_are_no_exact_set(shore: Release) -> None:
    answer = ask(shore, "Which drawings show a captain?")
    assert "The Last Ship" in answer.text and "“captain”" in answer.text
    assert not answer.exhaustive and not answer.refused


def test_what_a_thing_shows_is_not_what_shows_it(shore: Release) -> None:
    assert ask(shore, "What depicts Storm?").exhaustive
    assert not ask(shore, "What does Storm depict?").exhaustive
