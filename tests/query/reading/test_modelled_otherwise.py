"""A graph with a vocabulary of its own: classes and properties below the CRM's, kinds several levels up, things told apart by
numbers, measures, names that only an address says."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crmrag_query.graph.graph import Graph
from tests.support.parse_world import PREFIXES, Museum, build_museum

GRAMS = {"aquila": "3.4", "leo": "17.1", "navis": "8.2", "ursa": "8.0", "corona": "4.4"}
MINTED = {"aquila": "Vetera", "leo": "Vetera", "navis": "Portus", "ursa": "Portus", "corona": "Vetera"}
METAL = {"aquila": "silver", "leo": "bronze", "navis": "bronze", "ursa": "bronze", "corona": "gold"}
KIND = {"aquila": "denarius", "leo": "as", "navis": "as", "ursa": "dupondius", "corona": "aureus"}
HOARD = {"aquila": 3, "leo": 3, "navis": 12, "ursa": 12}
SHOWS = {
    "aquila": ("front", "Eagle"),
    "leo": ("back", "Lion"),
    "navis": ("back", "Eagle"),
    "ursa": ("front", "Bear"),
}


def _world() -> str:
    rows = [
        PREFIXES,
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix own: <http://example.org/own/> .",
        'own:Piece a rdfs:Class ; rdfs:subClassOf crm:E22_Human-Made_Object ; rdfs:label "coin"@en , "Münze"@de .',
        'own:Uncovering a rdfs:Class ; rdfs:subClassOf crm:E7_Activity ; rdfs:label "find"@en .',
        'own:front rdfs:subPropertyOf crm:P56_bears_feature ; rdfs:label "front"@en .',
        'own:back rdfs:subPropertyOf crm:P56_bears_feature ; rdfs:label "back"@en .',
        'own:broughtUp rdfs:subPropertyOf crm:P12_occurred_in_the_presence_of ; rdfs:label "brought up"@en .',
        ':grams a crm:E58_Measurement_Unit ; rdfs:label "g" . :weight a crm:E55_Type ; rdfs:label "weight"@en .',
        ':small a crm:E55_Type ; skos:prefLabel "small change"@en . :as skos:broader :small .',
        ':dupondius crm:P127_has_broader_term :small . :mint a crm:E55_Type ; rdfs:label "mint"@en .',
        "<http://example.org/person/hanna_lindt/1> a crm:E21_Person .",
    ]
    rows += [f':{name} a crm:E55_Type ; rdfs:label "{name}"@en .' for name in set(KIND.values())]
    rows += [f':{name} a crm:E57_Material ; rdfs:label "{name}"@en .' for name in set(METAL.values())]
    rows.append(':gold rdfs:label "Gold"@de .')
    rows += [
        f':{name} a crm:E53_Place ; rdfs:label "{name}"@en ; crm:P2_has_type :mint .'
        for name in set(MINTED.values())
    ]
    for name, (side, motif) in SHOWS.items():
        rows.append(
            f":{name} own:{side} :{name}-{side} . :{name}-{side} a crm:E25_Human-Made_Feature ; crm:P62_depicts :{motif} ."
        )
        rows.append(f':{motif} a crm:E28_Conceptual_Object ; rdfs:label "{motif}"@en .')
    for number in set(HOARD.values()):
        rows.append(
            f':hoard{number} a crm:E78_Curated_Holding ; crm:P2_has_type :hoard ; rdfs:label "Hortfund {number}"@en .'
        )
        rows.append(f":find{number} a own:Uncovering ; own:broughtUp :hoard{number} .")
    rows.append(':hoard a crm:E55_Type ; rdfs:label "hoard"@en .')
    rows.append(":find3 crm:P14_carried_out_by <http://example.org/person/hanna_lindt/1> .")
    for name, grams in GRAMS.items():
        rows.append(
            f':{name} a own:Piece ; rdfs:label "{name.title()}" ; crm:P2_has_type :{KIND[name]} ; '
            f"crm:P45_consists_of :{METAL[name]} ; crm:P43_has_dimension :{name}-w . "
            f":{name}-w a crm:E54_Dimension ; crm:P2_has_type :weight ; crm:P90_has_value {grams} ; "
            f"crm:P91_has_unit :grams . "
            f":made-{name} a crm:E12_Production ; crm:P108_has_produced :{name} ; crm:P7_took_place_at :{MINTED[name]} ."
        )
    rows += [f":{name} crm:P46i_forms_part_of :hoard{number} ." for name, number in HOARD.items()]
    return "\n".join(rows)


@pytest.fixture(scope="module")
def cabinet(tmp_path_factory: pytest.TempPathFactory) -> Museum:
    return build_museum(tmp_path_factory.mktemp("cabinet") / "project", _world())


def of(table: dict[str, str], value: str) -> set[str]:
    return {name for name, one in table.items() if one == value}


LISTS = [
    ("Which coins were struck in Vetera?", of(MINTED, "Vetera")),  # a class of the data's own
    ("Which coins were made in the Portus mint?", of(MINTED, "Portus")),  # a name with what it names
    ("Welche Münzen sind aus Gold?", {"corona"}),
    ("Welche Goldmünzen gibt es?", {"corona"}),  # in one word
    ("Which coins show an eagle?", {"aquila", "navis"}),  # on either side
    ("Which coins belong to hoard 12?", {"navis", "ursa"}),  # called "Hortfund 12"
    ("Which small change do you have?", {"leo", "navis", "ursa"}),  # only broader terms are so called
]  # fmt: skip


@pytest.mark.parametrize(("question", "wanted"), LISTS)
def test_a_set_is_that_of_the_data(cabinet: Museum, question: str, wanted: set[str]) -> None:
    assert cabinet.read(question) == wanted


def test_superlatives_of_size_go_by_the_measure(cabinet: Museum) -> None:
    by_weight = sorted(GRAMS, key=lambda name: -Decimal(GRAMS[name]))
    assert cabinet.read("What are the three heaviest coins?") == set(by_weight[:3])
    assert cabinet.read("Which coin is the lightest?") == {by_weight[-1]}


def test_a_ranking_by_a_number_ranks_what_stands_before_it(cabinet: Museum) -> None:
    assert cabinet.read("top mint by number of coins") == {"Vetera"}


@pytest.mark.parametrize(
    "question",
    [
        "How do the coins break down by metal?",
        "Break the coins down by material.",
        "How many coins per material?",
    ],
)
def test_groups_go_by_what_a_relation_is_called(cabinet: Museum, question: str) -> None:
    parsed = cabinet.parse(question)
    wanted = {metal: len(of(METAL, metal)) for metal in set(METAL.values())}
    assert cabinet.groups(parsed) == wanted


def test_a_number_that_a_plan_does_not_have_leaves_doubt(cabinet: Museum) -> None:
    assert not cabinet.parse("Which coins belong to hoard 77?").certain


def test_who_has_no_name_is_called_by_the_words_of_an_address(cabinet: Museum) -> None:
    assert cabinet.read("Which hoards did Hanna Lindt find?") == {"hoard3"}


def _stage() -> str:
    rows = [
        PREFIXES,
        "@prefix own: <http://example.org/own/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .",
        'own:madeBy a rdf:Property ; rdfs:label "executed by"@en , "ejecutado por"@es .',
        'own:keptAt a rdf:Property ; rdfs:label "shelf"@en .',
        'own:lengthCm a rdf:Property ; rdfs:label "length in cm"@en .',
        'own:audience a rdf:Property ; rdfs:label "attendance"@en .',
        "own:Weaver a rdfs:Class ; rdfs:subClassOf crm:E21_Person .",
        'own:Weaver rdfs:label "craftsperson"@en . :show a crm:E55_Type ; rdfs:label "performance"@en .',
        ':conductor a crm:E55_Type ; rdfs:label "conductor"@en . :singer a crm:E55_Type ; rdfs:label "singer"@en .',
        ':hall a crm:E53_Place ; rdfs:label "Old Hall"@en . :barn a crm:E53_Place ; rdfs:label "Red Barn"@en .',
    ]
    for number, (name, length) in enumerate(LENGTHS.items()):
        rows.append(
            f':{name} a crm:E22_Human-Made_Object ; rdfs:label "{name.title()} rug"@en ; own:lengthCm {length} ; '
            f'own:madeBy :w{number % 2} ; crm:P3_has_note "Woven by two sisters."@en .'
        )
    rows += [
        f':w{number} a own:Weaver ; rdfs:label "{name}" ; crm:P3_has_note "Sold hats."@en .'
        for number, name in enumerate(WEAVERS)
    ]
    for number, (place, conductor, singer, audience) in enumerate(SHOWS_OF):
        show = f":show{number}"
        rows.append(
            f'{show} a crm:E7_Activity ; crm:P2_has_type :show ; rdfs:label "Show {number}"@en ; own:audience {audience} ; '
            f"crm:P7_took_place_at :{place} ."
        )
        for role, name in (("conductor", conductor), ("singer", singer)):
            rows.append(f':{name} a crm:E21_Person ; rdfs:label "{name.title()} Berg" .')
            rows.append(
                f"{show}-{role} a crm:PC14_carried_out_by ; crm:P01_has_domain {show} ; crm:P02_has_range :{name} ; "
                f"crm:P14.1_in_the_role_of :{role} ."
            )
    return "\n".join(rows)


LENGTHS = {"north": "120.5", "south": "310", "east": "80"}
WEAVERS = ("Lena Holt", "Mats Holt")
SHOWS_OF = [("hall", "ada", "bo", 900), ("barn", "bo", "ada", 300), ("hall", "cleo", "bo", 40)]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Museum:
    return build_museum(tmp_path_factory.mktemp("stage") / "project", _stage())


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Who made the South Rug?", {"w1"}),  # its property is only called "executed by"
        ("¿Quién hizo el South Rug?", {"w1"}),
        ("Which craftspeople are there?", {"w0", "w1"}),
        ("Which rug is the longest?", {"south"}),  # by a number of the data's own
        ("Which two performances had the most visitors?", {"show0", "show1"}),
        ("Who was the conductor at the Old Hall?", {"ada", "cleo"}),  # by roles in which people took part
        ("Which singers performed at the Red Barn?", {"ada"}),
    ],
)
def test_properties_of_its_own_and_roles_are_read_as_they_are_called(
    stage: Museum, question: str, wanted: set[str]
) -> None:
    assert stage.read(question) == wanted


def test_a_note_is_no_name(stage: Museum) -> None:
    graph = stage.release[Graph]
    node = graph.node("http://example.org/w0")
    assert node is not None and [label.text for label in graph.labels(node)] == ["Lena Holt"]


def _files() -> str:
    rows = [
        PREFIXES,
        "@prefix own: <http://example.org/own/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .",
        'own:addressedTo rdfs:label "addressed to"@en . own:returnedOn rdfs:label "returned on"@en .',
        'own:minutes rdfs:label "running time (minutes)"@en .',
        'own:Loan rdfs:subClassOf crm:E7_Activity ; rdfs:label "loan"@en .',
        ':ida a crm:E21_Person ; rdfs:label "Ida Marr" . :tom a crm:E21_Person ; rdfs:label "Tom Gaunt" .',
        ':museum a crm:E74_Group ; rdfs:label "Coast Museum" .',
    ]
    kinds = {"letter": "letter", "tape": "tape", "bequest": "bequest", "gift": "gift", "closing": "closure"}
    rows += [f':{name} a crm:E55_Type ; rdfs:label "{label}"@en .' for name, label in kinds.items()]
    for name, (writer, reader) in LETTERS.items():
        rows.append(
            f':{name} a crm:E22_Human-Made_Object ; rdfs:label "Letter {name}" ; crm:P2_has_type :letter ; '
            f"own:addressedTo :{reader} . :made-{name} a crm:E12_Production ; crm:P108_has_produced :{name} ; "
            f"crm:P14_carried_out_by :{writer} ."
        )
    for name, (minutes, how) in TAPES.items():
        rows.append(
            f':{name} a crm:E22_Human-Made_Object ; rdfs:label "Tape {name}" ; crm:P2_has_type :tape . '
            f":{name} own:minutes {minutes} . "
            f":got-{name} a crm:E8_Acquisition ; crm:P24_transferred_title_of :{name} ; crm:P2_has_type :{how} ; "
            f"crm:P23_transferred_title_from :ida ; crm:P22_transferred_title_to :museum ."
        )
    rows += [f':loan{number} a own:Loan ; rdfs:label "Loan {number}" .' for number in range(3)]
    rows.append(':loan0 own:returnedOn "1990-05-01"^^xsd:date .')
    rows.append(
        ":end a crm:E7_Activity ; crm:P2_has_type :closing ; crm:P12_occurred_in_the_presence_of :sea ."
    )
    return "\n".join(rows)


LETTERS = {"one": ("ida", "tom"), "two": ("tom", "ida"), "three": ("ida", "ida")}
TAPES = {"sea": (28, "gift"), "fog": (58, "bequest"), "bay": (45, "bequest")}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Museum:
    return build_museum(tmp_path_factory.mktemp("files") / "project", _files())


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Which letters did Ida Marr write to Tom Gaunt?", {"one"}),  # by "addressed to"
        ("Which loans have not been returned yet?", {"loan1", "loan2"}),  # a date of the data's own
        ("Which tapes are longer than 40 minutes?", {"fog", "bay"}),  # by the unit in a property's name
        ("Which tapes were bequeathed by Ida Marr?", {"fog", "bay"}),  # no gifts
        ("Which tapes did Ida Marr donate?", {"sea"}),
        ("Which tapes were closed?", {"sea"}),  # a closure
    ],
)
def test_small_words_and_verbs_are_those_of_its_own_names(
    files: Museum, question: str, wanted: set[str]
) -> None:
    assert files.read(question) == wanted
