"""Mosaics: nouns of compound class names, who keeps or owns things now and who did, those at one end of an event with two."""

from __future__ import annotations

import pytest

from crmrag_query.answers.ask import ask
from tests.support.parse_world import PREFIXES, Museum, build_museum

KEPT = {
    "a": ("east", ()),
    "b": ("east", ("west",)),
    "c": ("west", ()),
    "d": ("east", ("west",)),
    "e": ("west", ()),
}
"""By panel the museum that keeps it, and those that kept it."""
FOUND = {"a": "north", "b": "north", "c": "south"}
DUG = {"north": 1902, "south": 1931}
TAUGHT = {"ilse": "kurt", "jost": "kurt", "kurt": "lene"}
CARVED = {
    "a": ("sawn", "ilse"),
    "b": ("sawn", "ilse"),
    "c": ("laid", "ilse"),
    "d": ("laid", "jost"),
    "e": ("laid", "jost"),
}
"""The technique of a panel, and who made it."""

REPAIRED = {"a": 1, "b": 3}
SCHOOLS = ("North", "South", "Old", "New")


def _graph() -> str:
    rows = [
        PREFIXES,
        "@prefix own: <http://example.org/own/> .",
        'own:Pavement rdfs:label "Mosaic pavement"@en ; rdfs:subClassOf crm:E22_Human-Made_Object . '
        'own:MosaicText rdfs:label "Mosaic inscription"@en ; rdfs:subClassOf crm:E34_Inscription . '
        'own:Dig rdfs:label "Excavation campaign"@en ; rdfs:subClassOf crm:E7_Activity . '
        'own:apprentice rdfs:label "apprentice"@en ; rdfs:subPropertyOf crm:P11_had_participant . '
        'own:master rdfs:label "master"@en ; rdfs:subPropertyOf crm:P11_had_participant .',
        ':museum a crm:E55_Type ; rdfs:label "museum"@en . :pavement a crm:E55_Type ; rdfs:label "pavement"@en .',
        ':sawn a crm:E55_Type ; rdfs:label "opus sectile"@en . :laid a crm:E55_Type ; rdfs:label "opus tessellatum"@en .',
        ':union a crm:E74_Group ; rdfs:label "Union of Museums" . :east crm:P107i_is_current_or_former_member_of :union . '
        ":ilse crm:P107i_is_current_or_former_member_of :east . :a crm:P52_has_current_owner :east ; "
        "crm:P51_has_former_or_current_owner :east, :kurt . :b crm:P51_has_former_or_current_owner :kurt .",
        'own:LiftedPanel rdfs:label "Lifted panel"@en ; rdfs:subClassOf crm:E22_Human-Made_Object . '
        ':nine a own:LiftedPanel ; rdfs:label "Panel Nine" . :lifting a crm:E80_Part_Removal ; '
        "crm:P14_carried_out_by :lene ; crm:P113_removed :nine .",
        ':repair a crm:E55_Type ; rdfs:label "repair"@en . :survey a crm:E55_Type ; rdfs:label "survey"@en .',
        ':text a own:MosaicText ; rdfs:label "Enter well" . :a crm:P128_carries :text .',
    ]
    rows += [
        f':{key} a crm:E74_Group ; rdfs:label "{key.title()} Museum" ; crm:P2_has_type :museum .'
        for key in ("east", "west")
    ]
    for name, (now, before) in KEPT.items():
        rows.append(
            f':{name} a own:Pavement ; rdfs:label "Floor {name.upper()}" ; crm:P50_has_current_keeper :{now} .'
        )
        rows += [f":{name} crm:P49_has_former_or_current_keeper :{one} ." for one in (now, *before)]
    for key, year in DUG.items():
        rows.append(
            f':dig-{key} a own:Dig ; rdfs:label "Works at {key.title()} Field" ; crm:P4_has_time-span :span-{key} . '
            f':span-{key} a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "{year}-01-01"^^xsd:date ; '
            f'crm:P82b_end_of_the_end "{year}-12-31"^^xsd:date .'
        )
    rows += [f":dig-{key} crm:P12_occurred_in_the_presence_of :{name} ." for name, key in FOUND.items()]
    for name, (how, who) in CARVED.items():
        rows.append(
            f":making-{name} a crm:E12_Production ; crm:P108_has_produced :{name} ; crm:P32_used_general_technique :{how} ; "
            f"crm:P14_carried_out_by :{who} ."
        )
    rows.append(
        ":making-a crm:P4_has_time-span :span-a . :span-a a crm:E52_Time-Span ; "
        'crm:P82a_begin_of_the_begin "1890-01-01"^^xsd:date ; crm:P82b_end_of_the_end "1890-12-31"^^xsd:date .'
    )
    for name, times in REPAIRED.items():
        rows += [
            f":repair-{name}-{at} a crm:E11_Modification ; crm:P2_has_type :repair ; crm:P31_has_modified :{name} ."
            for at in range(times)
        ]
    rows.append(  # what was added to it is no repair
        ":growth-c a crm:E79_Part_Addition ; crm:P2_has_type :survey ; crm:P110_augmented :c ; crm:P4_has_time-span :span-a ."
    )
    rows += [f':school-{at} a crm:E74_Group ; rdfs:label "{at} School of Basalt" .' for at in SCHOOLS]
    for whole, part, kind, high in (
        ("a", "tile", "E22_Human-Made_Object", 10),
        ("b", "all", "E18_Physical_Thing", 240),
    ):
        rows.append(
            f':{whole} crm:P46_is_composed_of :{part} . :{part} a crm:{kind} ; rdfs:label "{part}" ; '
            f"crm:P43_has_dimension :{part}-h . :{part}-h a crm:E54_Dimension ; crm:P2_has_type :height ; "
            f"crm:P90_has_value {high} ; crm:P91_has_unit :cm ."
        )
    rows.append(
        ':height a crm:E55_Type ; rdfs:label "height"@en . :cm a crm:E58_Measurement_Unit ; rdfs:label "cm" .'
    )
    rows += [f":{name} crm:P52_has_current_owner :school-{SCHOOLS[0]} ." for name in ("d", "e")]
    people = sorted({*TAUGHT, *TAUGHT.values()})
    rows += [f':{key} a crm:E21_Person ; rdfs:label "{key.title()} Brandt" .' for key in people]
    rows += [
        f":years-{pupil} a crm:E7_Activity ; own:apprentice :{pupil} ; own:master :{master} ."
        for pupil, master in TAUGHT.items()
    ]
    return "\n".join(rows)


@pytest.fixture(scope="module")
def museum(tmp_path_factory: pytest.TempPathFactory) -> Museum:
    return build_museum(tmp_path_factory.mktemp("pavements") / "project", _graph())


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Which mosaic pavements are kept in the East Museum?", {"a", "b", "d"}),
        ("Which mosaic floors were done in opus sectile?", {"a", "b"}),
        ("Which excavations took place before 1910?", {"dig-north"}),
    ],
)
def test_nouns_are_those_of_classes_whose_names_have_more_words(
    museum: Museum, question: str, wanted: set[str]
) -> None:
    assert museum.read(question) == wanted


def test_what_tells_several_classes_apart_means_none_of_them(museum: Museum) -> None:
    assert museum.read("Which mosaics are in the East Museum?") != {"text"}


def test_who_keeps_most_is_told_by_who_keeps_it_now(museum: Museum) -> None:
    assert museum.read("Which museum keeps the most pavements?") == {"east"}
    assert museum.read("Which pavements does the West Museum keep?") == {"c", "e"}


def test_apprentices_are_those_at_that_end_of_an_apprenticeship(museum: Museum) -> None:
    for question in ("Who were the apprentices of Lene Brandt?", "Which apprentices did Lene Brandt have?"):
        assert museum.read(question) == {"kurt"}
    # who was an apprentice himself is none of his own
    assert museum.value("How many apprentices did Kurt Brandt have?") == 2


def test_a_word_that_denies_is_not_left_out(museum: Museum) -> None:
    assert museum.read("For which pavements is no excavation recorded?") == {"d", "e"}


def test_who_belonged_to_a_group_are_its_members_and_not_what_it_belongs_to(museum: Museum) -> None:
    told = ask(museum.release, "Who belonged to the East Museum?").text
    assert "Ilse Brandt" in told and "Union" not in told


def test_who_owned_a_thing_is_who_did_before_as_well(museum: Museum) -> None:
    told = ask(museum.release, "Who owned Floor A?").text
    assert "East Museum" in told and "Kurt Brandt" in told


def test_who_did_something_to_a_panel_is_no_panel(museum: Museum) -> None:
    for question in ("Who lifted the panel?", "Who lifted the panel Panel Nine?"):
        parsed = museum.parse(question)
        assert not parsed.certain or "nine" not in museum.listed(parsed)


def test_how_many_times_something_happened_is_counted_by_its_own_kind(museum: Museum) -> None:
    assert museum.read("Which pavement has been repaired the most times?") == {"b"}


def test_a_word_that_many_names_share_means_none_of_them(museum: Museum) -> None:
    plan = museum.parse("Which pavements of basalt do you have?").plan
    assert plan is None or "school" not in plan.model_dump_json()


def test_most_of_what_a_noun_names_is_counted_of_that_alone(museum: Museum) -> None:
    parsed = museum.parse("Who made the most opus tessellatum pavements?")
    assert not parsed.certain or museum.listed(parsed) == {"jost"}, "who made most of all made one of these"


def test_who_owned_more_than_some_is_not_sure_where_others_owned_them_before(museum: Museum) -> None:
    assert not museum.parse("Which owners possessed more than one pavement?").certain


def test_how_many_each_has_is_no_table_of_where_they_are(museum: Museum) -> None:
    plan = museum.parse("How many pavements does each museum have?").plan
    assert plan is not None and plan.compute.kind != "table"


def test_a_noun_for_people_that_gives_groups_as_well_is_not_sure(museum: Museum) -> None:
    assert not museum.parse("Which members are there?").certain


def test_what_a_part_measures_is_not_what_the_thing_does(museum: Museum) -> None:
    """But a part that is no object, "overall", stands for the whole."""
    answer = ask(museum.release, "How high is Floor A?")
    first, recorded = answer.text.split("\n", 1)
    assert answer.refused and first.endswith("no “height” is recorded.") and "10" not in first
    assert recorded.count("10") == recorded.count("tile: height 10 cm") == 1, "what is recorded is its tile's"
    assert "240" in ask(museum.release, "How high is Floor B?").text


def test_things_that_were_there_are_no_participants(museum: Museum) -> None:
    told = ask(museum.release, "Tell me about Works at North Field.").text
    assert "1902" in told and "articipant" not in told


def test_how_big_a_thing_is_tells_what_its_parts_measure_by_their_names(museum: Museum) -> None:
    told = ask(museum.release, "How big is Floor A?").text
    assert told.startswith("Floor A measures tile: height 10 cm.")
