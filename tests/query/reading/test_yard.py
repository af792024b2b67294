"""A shipyard's museum: words of the data's own properties beside those above them, periods within periods, examples in
passing, kinds in a row, and roles of people that nothing tells."""

from __future__ import annotations

import pytest

from crmrag_query.answers.ask import Conversation, ask
from crmrag_query.graph.graph import Graph
from crmrag_query.sets.describe import plan_json
from tests.support.parse_world import PREFIXES, Museum, build_museum

LAUNCHED = {"albatros": 1871, "bertha": 1873, "celia": 1890}
DELIVERED = {"celia": 1872}
"""When a ship was handed over, which it was present at as well."""
RIGS = {"albatros": "barque", "bertha": "tug", "celia": "barque"}
PRINTS = {"etching": 3, "woodcut": 2, "lithograph": 1}
AFLOAT = {"albatros": "false", "bertha": "true", "celia": "false"}
AGES = {"axe": "early", "bowl": "late", "coin": "iron", "pin": "bronze"}


def _graph() -> str:
    rows = [
        PREFIXES,
        "@prefix own: <http://example.org/own/> .",
        'own:Vessel rdfs:label "Vessel"@en, "Schiff"@de ; rdfs:subClassOf crm:E22_Human-Made_Object . '
        'own:Fossil rdfs:label "Fossil specimen"@en ; rdfs:subClassOf crm:E20_Biological_Object . '
        'own:Launch rdfs:label "Launch"@en ; rdfs:subClassOf crm:E7_Activity . '
        'own:Inventory rdfs:label "Inventory"@en ; rdfs:subClassOf crm:E31_Document . '
        'own:launched rdfs:label "launched"@en ; rdfs:subPropertyOf crm:P12_occurred_in_the_presence_of . '
        'own:christener rdfs:label "was christened by"@en, "wurde getauft von"@de ; '
        "rdfs:subPropertyOf crm:P11_had_participant . "
        'own:pupil_of rdfs:label "pupil of"@en .',
        ':lister a crm:E21_Person ; rdfs:label "Ida Lister" . :weir a crm:E21_Person ; rdfs:label "Otto Weir" ; '
        "own:pupil_of :lister . "
        ':guild a crm:E74_Group ; rdfs:label "Guild of Engravers" ; crm:P107_has_current_or_former_member :weir, :lister .',
        ':old-list a own:Inventory ; rdfs:label "General inventory, 1652" ; crm:P106_is_composed_of :axe, :bowl . '
        ":listing a crm:E65_Creation ; crm:P94_has_created :old-list ; crm:P4_has_time-span :in-1652 . "
        ':in-1652 a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "1652-01-01"^^xsd:date ; '
        'crm:P82b_end_of_the_end "1652-12-31"^^xsd:date .',
        ':find a crm:E55_Type ; rdfs:label "find"@en . :print a crm:E55_Type ; rdfs:label "print"@en .',
        ':town a crm:E53_Place ; rdfs:label "Rolling" . :yard a crm:E53_Place ; rdfs:label "Upper Yard" ; '
        "crm:P89_falls_within :town .",
        ':show a crm:E7_Activity ; rdfs:label "Ships of the Coast" ; crm:P7_took_place_at :town ; '
        "crm:P12_occurred_in_the_presence_of :bertha .",
    ]
    rows += [
        f':{key} a crm:E55_Type ; rdfs:label "{label}"@en .'
        for key, label in (("barque", "barque"), ("tug", "steam tug"))
    ]
    for name, year in LAUNCHED.items():
        rows.append(
            f':{name} a own:Vessel ; rdfs:label "{name.title()}" ; crm:P2_has_type :{RIGS[name]} . '
            f":launch-{name} a own:Launch ; own:launched :{name} ; own:christener :lister ; crm:P4_has_time-span :l-{name} . "
            f':l-{name} a crm:E52_Time-Span ; rdfs:label "Summer {year}" .'
        )
    rows.append(
        'own:Sheet rdfs:label "Sheet"@en ; rdfs:subClassOf crm:E22_Human-Made_Object . '
        'own:printed_from rdfs:label "printed from"@en . :sheets a crm:E57_Material ; rdfs:label "thin sheet"@en . '
        ':sheet a own:Sheet ; rdfs:label "First state" ; own:printed_from :block . '
        ':block a crm:E22_Human-Made_Object ; rdfs:label "Block" ; crm:P62_depicts :lister ; crm:P45_consists_of :sheets .'
    )
    rows.append('own:afloat rdfs:label "afloat"@en .')
    rows += [f':{name} own:afloat "{said}"^^xsd:boolean .' for name, said in AFLOAT.items()]
    for name, year in DELIVERED.items():
        rows.append(
            f":delivery-{name} a crm:E7_Activity ; crm:P12_occurred_in_the_presence_of :{name} ; crm:P4_has_time-span :ds . "
            f':ds a crm:E52_Time-Span ; rdfs:label "{year}" .'
        )
    for kind, count in PRINTS.items():
        rows.append(f':{kind} a crm:E55_Type ; rdfs:label "{kind}"@en ; crm:P127_has_broader_term :print .')
        rows += [
            f':{kind}{at} a crm:E22_Human-Made_Object ; rdfs:label "Sheet {kind[0]}{at}" ; crm:P2_has_type :{kind} .'
            for at in range(count)
        ]
    rows.append(
        ':bronze a crm:E4_Period ; rdfs:label "Bronze Age" . :iron a crm:E4_Period ; rdfs:label "Iron Age" . '
        ':early a crm:E4_Period ; rdfs:label "Early Bronze Age" ; crm:P10_falls_within :bronze . '
        ':late a crm:E4_Period ; rdfs:label "Late Bronze Age" ; crm:P10_falls_within :bronze .'
    )
    for name, age in AGES.items():
        rows.append(
            f':{name} a crm:E22_Human-Made_Object ; rdfs:label "{name.title()}" ; crm:P2_has_type :find . '
            f":making-{name} a crm:E12_Production ; crm:P108_has_produced :{name} ; crm:P10_falls_within :{age} ."
        )
    rows.append(
        ':hall a crm:E53_Place ; rdfs:label "Great Hall" . :chest a crm:E22_Human-Made_Object ; rdfs:label "Chest" ; '
        "crm:P55_has_current_location :hall ; crm:P46_is_composed_of :lock . "
        ':lock a crm:E22_Human-Made_Object ; rdfs:label "Lock" .'
    )
    for name, who, how in (
        ("etching0", "lister", "P14"),
        ("woodcut0", "weir", "P02"),
        ("mason1", "lister", "P14"),
    ):
        by = f"crm:P14_carried_out_by :{who}" if how == "P14" else f"crm:P01i_is_domain_of :part-{name}"
        rows.append(f":work-{name} a crm:E12_Production ; crm:P108_has_produced :{name} ; {by} .")
    rows.append(
        ":part-woodcut0 a crm:PC14_carried_out_by ; crm:P02_has_range :weir ; crm:P14.1_in_the_role_of :printer . "
        ':printer a crm:E55_Type ; rdfs:label "printer"@en . '
        ":work-mason2 a crm:E12_Production ; crm:P108_has_produced :mason2 ; crm:P14_carried_out_by :weir ."
    )
    rows += [
        f':mason{at} a crm:E22_Human-Made_Object ; rdfs:label "The Mason" ; crm:P45_consists_of :{of} . '
        f':{of} a crm:E57_Material ; rdfs:label "{of}"@en .'
        for at, of in ((1, "paper"), (2, "canvas"))
    ]
    rows.append(
        ':rower a crm:E22_Human-Made_Object ; rdfs:label "Rower" ; crm:P45_consists_of :metal . '
        ':metal a crm:E57_Material ; rdfs:label "bronze"@en . '
        ":work-rower a crm:E12_Production ; crm:P108_has_produced :rower ; crm:P14_carried_out_by :lister . "
        ':cut a crm:E55_Type ; rdfs:label "wood engraving"@en . :work-woodcut0 crm:P32_used_general_technique :cut . '
        ':gazette a crm:E33_Linguistic_Object ; rdfs:label "Der Kahn"@de ; crm:P3_has_note "Appeared until 1893."@en .'
    )
    rows.append(
        'own:Restoration rdfs:label "Restoration"@en ; rdfs:subClassOf crm:E11_Modification . '
        'own:Rebuilding rdfs:label "Rebuilding"@en ; rdfs:subClassOf crm:E11_Modification . '
        ":rebuilt a own:Rebuilding ; crm:P31_has_modified :albatros . "
        ":mended a own:Restoration ; crm:P31_has_modified :bertha . "
        ":end-weir a crm:E69_Death ; crm:P100_was_death_of :weir ; crm:P4_has_time-span :in-1890 . "
        ':in-1890 a crm:E52_Time-Span ; rdfs:label "1890" .'
    )
    rows.append(
        'own:attributed_to rdfs:label "attributed to"@en ; rdfs:subPropertyOf crm:P14_carried_out_by . '
        ":guess a crm:E12_Production ; crm:P108_has_produced :second ; own:attributed_to :lister . "
        ':second a crm:E22_Human-Made_Object ; rdfs:label "Second state" . '
        ":going a crm:E9_Move ; crm:P25_moved :bertha ; crm:P27_moved_from :hall ."
    )
    rows.append(
        ":founding a crm:E66_Formation ; crm:P95_has_formed :guild ; crm:P4_has_time-span :in-1840 . "
        ':in-1840 a crm:E52_Time-Span ; rdfs:label "1840" . '
        ":dissolving a crm:E68_Dissolution ; crm:P99_dissolved :guild ; crm:P4_has_time-span :in-1890 ."
    )
    for at, year in (("first", 1880), ("last", 1950)):
        rows.append(
            f":bought-{at} a crm:E8_Acquisition ; crm:P24_transferred_title_of :albatros ; crm:P4_has_time-span :b-{at} . "
            f':b-{at} a crm:E52_Time-Span ; rdfs:label "{year}" .'
        )
    rows += [f':fossil{at} a own:Fossil ; rdfs:label "Ammonite {at}" .' for at in range(2)]
    return "\n".join(rows)


@pytest.fixture(scope="module")
def museum(tmp_path_factory: pytest.TempPathFactory) -> Museum:
    return build_museum(tmp_path_factory.mktemp("yard") / "project", _graph())


def test_a_word_of_the_datas_own_property_is_not_said_by_the_one_above_it(museum: Museum) -> None:
    """Nor is a date in words lost: each of these launches is told as that of a summer."""
    parsed = museum.parse("Which ships were launched between 1870 and 1880?")
    assert museum.listed(parsed) == {"albatros", "bertha"}
    assert museum.value("How many ships were launched in the 1890s?") == 1


def test_a_general_noun_is_no_type_that_another_language_calls_so(museum: Museum) -> None:
    """French ships are "barques"; an English barque is one of them only."""
    assert museum.read("Which ships are there?") == set(LAUNCHED)


def test_a_property_is_asked_for_from_either_end_in_each_language_of_its_labels(museum: Museum) -> None:
    for question in ("Who christened the tug Bertha?", "Wer hat den Schlepper Bertha getauft?"):
        assert "Ida Lister" in ask(museum.release, question).text


def test_what_is_of_a_period_is_of_those_within_it_too(museum: Museum) -> None:
    assert museum.read("Which finds are from the Bronze Age?") == {"axe", "bowl", "pin"}
    assert museum.read("Which finds are from the Late Bronze Age?") == {"bowl"}


def test_what_is_one_of_many_of_its_kind_is_called_by_the_kind(museum: Museum) -> None:
    assert museum.read("Which fossils are there?") == {"fossil0", "fossil1"}


@pytest.mark.parametrize(
    "question",
    [
        "How many etchings, woodcuts and lithographs are there?",
        "How many prints of each kind do you have - etchings, woodcuts and so on?",
        "What kinds of prints are there - etchings, woodcuts, lithographs - and how many of each?",
    ],
)
def test_kinds_in_a_row_are_counted_each_and_examples_leave_none_out(museum: Museum, question: str) -> None:
    told = ask(museum.release, question).text
    assert all(f"{count})" in told for count in PRINTS.values()), told


def test_the_inventory_of_a_year_is_that_one(museum: Museum) -> None:
    for question in ("Which objects turn up in the 1652 inventory?", "What is in the inventory of 1652?"):
        assert museum.read(question) == {"axe", "bowl"}


def test_the_town_of_a_name_is_the_one_of_that_name(museum: Museum) -> None:
    assert museum.read("Which activities took place in the town of Rolling?") == {"show"}


def test_a_role_that_is_not_told_of_somebody_is_none_that_is(museum: Museum) -> None:
    assert "Ida Lister" in ask(museum.release, "Who was Otto Weir's teacher?").text
    answer = ask(museum.release, "Who was Ida Lister's teacher?")
    assert answer.refused and not answer.exhaustive and "Guild" not in answer.text.splitlines()[0]


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("How many objects are in the Great Hall?", "the lock is in the chest, and may count or not"),
        ("Which ships were acquired before 1900?", "it was acquired again in 1950, and that may be meant"),
        ("Which weavers are there?", "nothing is woven here: who made something is no weaver"),
        ("How many artists are there?", "printers made something, too"),
        ("Which ships have never been restored?", "one was rebuilt, which is another way of changing it"),
        ("Who joined the Guild of Engravers in 1890?", "who died then did not join it then"),
        ("Which ships were moved to the Great Hall?", "it was moved from there"),
        ("Which objects are attributed to Ida Lister?", "she made some, and another is attributed to her"),
    ],
)
def test_what_may_be_meant_otherwise_is_not_told_as_exact(museum: Museum, question: str, why: str) -> None:
    assert not ask(museum.release, question).exhaustive, why


def test_but_what_is_so_at_a_time_is(museum: Museum) -> None:
    assert ask(museum.release, "Which ships were acquired in 1950?").exhaustive


def test_what_is_told_by_true_and_false_is_so_or_not(museum: Museum) -> None:
    for question, wanted in (("Which ships are afloat?", "true"), ("Which ships are not afloat?", "false")):
        answer = ask(museum.release, question)
        assert answer.exhaustive and museum.read(question) == {
            name for name, said in AFLOAT.items() if said == wanted
        }
    assert ask(museum.release, "Is the Bertha afloat?").text.startswith("Yes")
    assert "None is known" in ask(museum.release, "Is the Celia afloat?").text


@pytest.mark.parametrize(
    ("question", "wanted"),
    [("Which bronzes do you have?", {"rower"}), ("Which wood engravings are there?", {"woodcut0"})],
)
def test_things_are_called_by_their_material_and_technique(
    museum: Museum, question: str, wanted: set[str]
) -> None:
    assert museum.read(question) == wanted


def test_a_number_of_a_name_denies_nothing(museum: Museum) -> None:
    parsed = museum.parse("Which ships belong to No. 71 Squadron?")
    assert parsed.plan is not None and "negated" not in str(plan_json(parsed.plan))
    assert not parsed.negations and parsed.unnamed


def test_what_is_asked_for_is_told_though_its_word_is_a_name_too(museum: Museum) -> None:
    """What shows her is the sheet, printed from a block that does; and of prints none are where the chest is."""
    assert museum.read("Which sheets show Ida Lister?") == {"sheet"}
    assert museum.read("Which etchings are in the Great Hall?") == set()


def test_who_died_in_a_year_is_not_likely_who_joined_then(museum: Museum) -> None:
    assert not museum.parse("Who joined the Guild of Engravers in 1890?").likely


def test_whether_there_is_one_of_a_material_is_asked_of_things(museum: Museum) -> None:
    assert ask(museum.release, "Is there a bronze by Ida Lister?").text.startswith("Yes")
    assert ask(museum.release, "Is there a bronze by Otto Weir?").text.startswith("None is known")


def test_a_note_is_no_name_in_another_language(museum: Museum) -> None:
    graph = museum.release[Graph]
    node = graph.node("http://example.org/gazette")
    assert node is not None and graph.label(node, ("en",)) == "Der Kahn"


def test_what_was_founded_and_dissolved_is_told_by_two_verbs(museum: Museum) -> None:
    told = ask(museum.release, "Tell me about the Guild of Engravers.").text
    assert "was founded in 1840 and was dissolved in 1890" in told


def test_it_is_what_went_before_or_nothing_is_sure(museum: Museum) -> None:
    talk = Conversation()
    _, talk = talk.ask(museum.release, "Which ship is a steam tug?")
    for question in ("How many prints does it have?", "Which prints show it?"):
        answer, _ = talk.ask(museum.release, question)
        assert not answer.exhaustive, question


def test_it_is_either_of_two_of_one_name(museum: Museum) -> None:
    talk = Conversation()
    _, talk = talk.ask(museum.release, "What material is The Mason made of?")
    answer, _ = talk.ask(museum.release, "Who made it?")
    assert "Ida Lister" in answer.text and "Otto Weir" in answer.text


def test_yes_is_not_sure_where_the_nearer_reading_says_no(museum: Museum) -> None:
    """The show was in Rolling; whether the ship is there, nothing says."""
    assert ask(museum.release, "Was the Bertha shown at an activity in Rolling?").text.startswith("Yes")
    assert not ask(museum.release, "Was the Bertha shown at an activity in Upper Yard?").exhaustive
