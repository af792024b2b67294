"""A garrison and its theatre: wounds of several types under one class of the data's own, deaths in battles, roles that nouns
name and verbs ask for, costs by a property of the data's own, works whose makers are not recorded, interviews about trades.
"""

from __future__ import annotations

import pytest

from crmrag_query.answers.ask import Conversation, ask
from crmrag_query.graph.graph import Graph
from tests.support.parse_world import PREFIXES, Museum, build_museum

WOUNDED = {"adler": ("ford", "shot"), "brandt": ("ford", "splinter"), "cramer": ("mill", "shot")}
"""Soldiers, with the battle and the type of the wound."""
FALLEN = {"doll": "ford", "ernst": "mill"}
STAGED = {"storm": ("gerda", "hanno"), "flood": ("hanno", "gerda"), "dawn": ("gerda", "gerda")}
"""Stagings, with who directed each and who paid for it."""
PERFORMED = {"storm": 3, "flood": 1, "dawn": 2}
COSTS = {"storm": 900, "flood": 1500}
MAKERS = {"flag": "gerda", "drum": None, "sabre": None}
PRINTED = {"morning": 2, "evening": 1}
"""Reviews that each newspaper printed; those of one have no author."""
TALKS = {"talk0": ":smith", "talk1": ":smith", "talk2": ":cooper", "talk3": ":adler"}


def _graph() -> str:
    rows = [
        PREFIXES,
        "@prefix own: <http://example.org/own/> .",
        'own:Wounding rdfs:subClassOf crm:E5_Event ; rdfs:label "wounding"@en .',
        'own:Battle rdfs:subClassOf crm:E7_Activity ; rdfs:label "battle"@en .',
        'own:Staging rdfs:subClassOf crm:E7_Activity ; rdfs:label "staging"@en .',
        'own:Performance rdfs:subClassOf crm:E7_Activity ; rdfs:label "performance"@en .',
        'own:Newspaper rdfs:subClassOf crm:E74_Group ; rdfs:label "newspaper"@en .',
        'own:Review rdfs:subClassOf crm:E33_Linguistic_Object ; rdfs:label "review"@en .',
        'own:wounded rdfs:subPropertyOf crm:P11_had_participant ; rdfs:label "person wounded"@en .',
        'own:cost rdfs:subPropertyOf crm:P43_has_dimension ; rdfs:label "cost"@en .',
        'own:publishedIn rdfs:label "published in"@en . own:played rdfs:label "performance of"@en .',
        'own:stand crm:P14_carried_out_by :gerda . :euro a crm:E98_Currency ; rdfs:label "euro"@en .',
    ]
    types = ("shot", "splinter", "director", "patron", "interview", "smith", "cooper", "relic")
    rows += [f':{name} a crm:E55_Type ; rdfs:label "{name}"@en .' for name in types]
    people = (*WOUNDED, *FALLEN, "gerda", "hanno")
    rows += [f':{name} a crm:E21_Person ; rdfs:label "{name.title()} Vogt" .' for name in people]
    rows += [
        f':{name} a own:Battle ; rdfs:label "Battle of the {name.title()}"@en .' for name in ("ford", "mill")
    ]
    for name, (battle, kind) in WOUNDED.items():
        rows.append(
            f":wound-{name} a own:Wounding ; own:wounded :{name} ; crm:P2_has_type :{kind} ; crm:P10_falls_within :{battle} ."
        )
    for name, battle in FALLEN.items():
        rows.append(
            f":death-{name} a crm:E69_Death ; crm:P100_was_death_of :{name} ; crm:P10_falls_within :{battle} ."
        )
    for name, (director, patron) in STAGED.items():
        rows.append(f':{name} a own:Staging ; rdfs:label "The {name.title()}"@en .')
        for at, (who, role) in enumerate(((director, "director"), (patron, "patron"))):
            rows.append(
                f":part-{name}-{at} a crm:PC14_carried_out_by ; crm:P01_has_domain :{name} ; crm:P02_has_range :{who} ; "
                f"<http://www.cidoc-crm.org/cidoc-crm/P14.1_in_the_role_of> :{role} ."
            )
        for at in range(PERFORMED[name]):
            rows.append(
                f':show-{name}-{at} a own:Performance ; rdfs:label "Evening {at} of {name}" ; own:played :{name} .'
            )
        if name in COSTS:
            rows.append(
                f":{name} own:cost :sum-{name} . :sum-{name} a crm:E97_Monetary_Amount ; crm:P90_has_value {COSTS[name]} ; "
                "crm:P91_has_unit :euro ."
            )
    for name, maker in MAKERS.items():
        rows.append(
            f':{name} a crm:E22_Human-Made_Object ; rdfs:label "Relic {name}" ; crm:P2_has_type :relic .'
        )
        by = f" ; crm:P14_carried_out_by :{maker}" if maker else ""
        rows.append(f":making-{name} a crm:E12_Production ; crm:P108_has_produced :{name}{by} .")
    for name, count in PRINTED.items():
        rows.append(f':{name} a own:Newspaper ; rdfs:label "{name.title()} Herald"@en .')
        for at in range(count):
            rows.append(
                f':review-{name}-{at} a own:Review ; rdfs:label "Review {at} of {name}" ; own:publishedIn :{name} .'
            )
    rows.append(
        ":writing a crm:E65_Creation ; crm:P94_has_created :review-morning-0 ; crm:P14_carried_out_by :gerda ."
    )
    for name, about in TALKS.items():
        rows.append(
            f':{name} a crm:E33_Linguistic_Object ; rdfs:label "Tape {name}" ; crm:P2_has_type :interview ; '
            f"crm:P129_is_about {about} ."
        )
    rows.append(":adler crm:P2_has_type :smith .")
    return "\n".join(rows)


@pytest.fixture(scope="module")
def garrison(tmp_path_factory: pytest.TempPathFactory) -> Museum:
    return build_museum(tmp_path_factory.mktemp("garrison") / "project", _graph())


UNMADE = {name for name, maker in MAKERS.items() if maker is None}
LISTS = [
    ("Who was wounded in the Battle of the Ford?", {"adler", "brandt"}),  # whatever the type of the wound
    ("Who was killed in the Battle of the Ford?", {"doll"}),  # and not those who were wounded in it
    ("Which relics are by unknown makers?", UNMADE),
    ("Which relics have no known maker?", UNMADE),
    ("Relics whose maker is unknown", UNMADE),
    ("Relics by an unidentified maker", UNMADE),
    ("Which stagings did Gerda Vogt direct?", {"storm", "dawn"}),
    ("Which stagings were paid for by Gerda Vogt?", {"flood", "dawn"}),
    ("Which staging was the most expensive?", {"flood"}),
    ("Which stagings cost more than 1,000 euros?", {"flood"}),
]


@pytest.mark.parametrize(("question", "wanted"), LISTS)
def test_a_set_is_that_of_the_data(garrison: Museum, question: str, wanted: set[str]) -> None:
    assert garrison.listed(garrison.parse(question)) == wanted


def test_how_often_something_happened_counts_events_of_the_class_that_a_verb_says(garrison: Museum) -> None:
    assert garrison.value("How often was The Storm performed?") == PERFORMED["storm"]


def test_a_verb_with_a_subject_of_its_own_leaves_nothing_out(garrison: Museum) -> None:
    """Those reviews count as well of which no author is recorded."""
    assert garrison.groups(garrison.parse("How many reviews did each newspaper print?")) == PRINTED


def test_interviews_about_a_trade_are_about_it_or_about_one_who_has_it_and_not_told_as_exact(
    garrison: Museum,
) -> None:
    parsed = garrison.parse("Which interviews talk about smiths?")
    assert garrison.listed(parsed) == {"talk0", "talk1", "talk3"} and not parsed.certain


def test_both_means_each_of_two(garrison: Museum) -> None:
    assert garrison.read("Which interviews are about both the smith and the cooper?") in (None, set())


FACTS = [
    ("Who was wounded at the Battle of the Mill?", "Cramer Vogt", "Adler Vogt"),  # no other battle's
    ("Who made the Relic drum?", "no “created by” is recorded", "Vogt"),
    ("Who directed The Storm?", "Gerda Vogt", "Hanno"),  # who paid for it
    ("What did The Dawn cost?", "no “price” is recorded", "Hanno"),
]


@pytest.mark.parametrize(("question", "told", "untold"), FACTS)
def test_a_fact_is_of_the_thing_itself(garrison: Museum, question: str, told: str, untold: str) -> None:
    text = ask(garrison.release, question).text
    assert told in text and untold not in text


FURTHER = [
    ("Which were paid for by Gerda Vogt?", {"dawn"}),
    ("How many are there?", {"storm", "dawn"}),
    ("Which is the most expensive?", {"storm"}),
]


@pytest.mark.parametrize(("further", "wanted"), FURTHER)
def test_a_question_that_lacks_its_noun_goes_on_from_the_set_before(
    garrison: Museum, further: str, wanted: set[str]
) -> None:
    first = Conversation().ask(garrison.release, "Which stagings did Gerda Vogt direct?")
    answer, _ = first[1].ask(garrison.release, further)
    assert answer.set is not None
    assert {member.iri.rpartition("/")[2] for member in answer.set.members} == wanted


def test_a_property_reads_from_its_far_end_without_a_second_small_word(garrison: Museum) -> None:
    graph = garrison.release[Graph]
    labels = {
        graph.property_label(number): graph.property_label(number, True)
        for number in range(len(graph.property_codes))
    }
    assert labels["published in"] == "published in it" and labels["performance of"] == "performance of it"
    assert labels["cost"] == "is cost of"


def test_of_what_a_negation_leaves_open_it_is_told_how_much(garrison: Museum) -> None:
    """Of two relics no maker is recorded: they are not by Hanno Vogt as far as is known."""
    text = ask(garrison.release, "Which relics are not by Hanno Vogt?").text
    assert "Of 2 of these nothing of the kind is recorded." in text
