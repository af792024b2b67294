"""A pottery: who learned from whom, told in either direction; what was paid for firings, and by whom; sizes that are put
together; and several things asked of one thing at once.
"""

from __future__ import annotations

import json
from statistics import mean

import pyoxigraph as ox
import pytest

from crmrag_query.answers.ask import ask
from crmrag_query.errors import QuestionError
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import Compute, Measure, Plan, Target, Way
from crmrag_query.plans.sparql import to_sparql
from crmrag_query.plans.world import World
from crmrag_query.sets.exports import export
from tests.support.parse_world import PREFIXES, Museum, build_museum

LEARNED = {"ivo": "tobias", "nell": "tobias", "tobias": "anton"}
"""As the pupils' records say it."""
TAUGHT = {"piers": "tobias"}
"""As the teacher's record says it, and the pupil's does not."""
HEIGHTS = {"vase-1": 120, "vase-2": 250, "vase-3": 300}
"""In mm; of the fourth vase nothing is recorded."""
PAID = {
    "firing-1": (40, "crown", "guild"),
    "firing-2": (70, "crown", "guild"),
    "firing-3": (5, "crown", "bank"),
}
SOLD = {"vase-1": (10, "crown"), "vase-2": (3, "mark")}


def _graph() -> str:
    rows = [
        PREFIXES,
        "@prefix own: <http://example.org/own/> .",
        'own:learnedFrom rdfs:label "learned from"@en . own:taught rdfs:label "taught"@en .',
        'own:fundedBy rdfs:label "funded by"@en . own:cost rdfs:label "cost"@en . own:Firing rdfs:label "firing"@en ; '
        'rdfs:subClassOf crm:E7_Activity . own:openDay rdfs:label "open day"@en . own:price rdfs:label "price"@en .',
        ':vase a crm:E55_Type ; rdfs:label "vase"@en, "vase"@fr, "Vase"@de, "βάζο"@el, "vaso"@it, "jarrón"@es .',
        ':height a crm:E55_Type ; rdfs:label "height"@en . :mm a crm:E58_Measurement_Unit ; rdfs:label "mm" .',
        ':crown a crm:E98_Currency ; rdfs:label "crown" . :mark a crm:E98_Currency ; rdfs:label "mark" .',
        ':guild a crm:E74_Group ; rdfs:label "Guild of Quarne" . :bank a crm:E74_Group ; rdfs:label "Savings Bank" .',
        ':works a crm:E74_Group ; rdfs:label "Brackfen Works" ; own:openDay "first Sunday in May" .',
    ]
    for name in sorted({*LEARNED, *LEARNED.values(), *TAUGHT}):
        rows.append(f':{name} a crm:E21_Person ; rdfs:label "{name.title()} Wrack" .')
    rows += [f":{pupil} own:learnedFrom :{who} ." for pupil, who in LEARNED.items()]
    rows += [f":{who} own:taught :{pupil} ." for pupil, who in TAUGHT.items()]
    for at in range(1, 5):
        name = f"vase-{at}"
        rows.append(
            f':{name} a crm:E22_Human-Made_Object ; rdfs:label "Vase no. {at}" ; crm:P2_has_type :vase .'
        )
        if name in HEIGHTS:
            rows.append(
                f":{name} crm:P43_has_dimension :{name}-h . :{name}-h a crm:E54_Dimension ; crm:P2_has_type :height ; "
                f"crm:P90_has_value {HEIGHTS[name]} ; crm:P91_has_unit :mm ."
            )
        if name in SOLD:
            value, currency = SOLD[name]
            rows.append(
                f":{name} own:price :{name}-p . :{name}-p a crm:E97_Monetary_Amount ; crm:P90_has_value {value} ; "
                f"crm:P180_has_currency :{currency} ."
            )
    for name, (value, currency, payer) in PAID.items():
        rows.append(
            f':{name} a own:Firing ; rdfs:label "Firing {name[-1]}" ; own:fundedBy :{payer} ; own:cost :{name}-c . '
            f":{name}-c a crm:E97_Monetary_Amount ; crm:P90_has_value {value} ; crm:P180_has_currency :{currency} ."
        )
    return "\n".join(rows)


@pytest.fixture(scope="module")
def pottery(tmp_path_factory: pytest.TempPathFactory) -> Museum:
    return build_museum(tmp_path_factory.mktemp("pottery") / "project", _graph())


PUPILS = {pupil for pupil, who in {**LEARNED, **TAUGHT}.items() if who == "tobias"}


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Who were Tobias Wrack's pupils?", PUPILS),
        ("Who were the pupils of Tobias Wrack?", PUPILS),
        ("Who learned from Tobias Wrack?", PUPILS),
        ("Who was Nell Wrack's teacher?", {"tobias"}),
        ("Who taught Piers Wrack?", {"tobias"}),
    ],
)
def test_what_one_record_says_and_another_says_the_other_way_round_is_one(
    pottery: Museum, question: str, wanted: set[str]
) -> None:
    assert pottery.sure(question) == wanted


def test_who_taught_somebody_is_not_whom_he_taught(pottery: Museum) -> None:
    """Of Anton it is not told who taught him: those whom he taught may be a guess, and are no answer."""
    assert not pottery.parse("Who trained Anton Wrack?").certain


def test_each_of_an_unknown_noun_counts_by_what_the_verb_leads_to(pottery: Museum) -> None:
    parsed = pottery.parse("How many firings did each sponsor fund?")
    payers = [payer for *_, payer in PAID.values()]
    assert pottery.groups(parsed) == {payer: payers.count(payer) for payer in payers}
    assert not parsed.certain  # nothing says what a sponsor is


HEIGHT = Way(paths=(("P43",),), then=Way(paths=(("P90",),)))


@pytest.mark.parametrize(
    ("summed", "wanted"), [("total", sum(HEIGHTS.values())), ("mean", mean(HEIGHTS.values()))]
)
def test_a_total_or_mean_is_that_of_the_numbers_and_of_sparql(
    pottery: Museum, summed: str, wanted: float
) -> None:
    rank = Compute(kind="rank", measure=Measure(kind="value", way=HEIGHT), summed=summed)
    plan = Plan(target=Target(classes=("E22",)), compute=rank)
    world = pottery.release[World]
    outcome = execute(plan, world)
    assert outcome.summed == pytest.approx(wanted)
    store = ox.Store()
    store.load(_graph().encode(), ox.RdfFormat.TURTLE)
    [[value]] = store.query(to_sparql(plan, world))
    assert float(value.value) == pytest.approx(wanted)
    assert [pottery.key(int(node)) for node in outcome.excluded["unmeasured"]] == ["vase-4"]


def test_a_sum_is_exported_with_the_numbers_that_it_is_of(pottery: Museum) -> None:
    rank = Compute(kind="rank", measure=Measure(kind="value", way=HEIGHT), summed="mean")
    plan = Plan(target=Target(classes=("E22",)), compute=rank)
    whole = json.loads("".join(export(pottery.release, plan, "json")))
    assert whole["summed"]["number"] == pytest.approx(mean(HEIGHTS.values()))
    assert len(whole["rows"]) == len(HEIGHTS)


@pytest.mark.parametrize(
    "changed",
    [{"first": 2}, {"identity": "same_as"}, {"measure": Measure(kind="count", way=HEIGHT)}, {"kind": "list"}],
)
def test_only_the_numbers_of_all_are_summed(changed: dict[str, object]) -> None:
    rank = {"kind": "rank", "measure": Measure(kind="value", way=HEIGHT), "summed": "total"}
    with pytest.raises(ValueError, match="summed"):
        Compute(**{**rank, **changed})


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("What is the average height of the vases?", "223.333 mm"),
        ("How tall are the vases on average?", "223.333 mm"),
        ("What is the total height of the vases?", "670 mm"),
        ("How tall are the vases together?", "670 mm"),
        ("Quelle est la hauteur moyenne des vases ?", "223.333 mm"),
        ("Wie hoch sind die Vasen im Durchschnitt?", "223.333 mm"),
        ("Ποιο είναι το μέσο ύψος των βάζων;", "223.333 mm"),
        ("Qual è l'altezza media dei vasi?", "223.333 mm"),
        ("¿Cuál es la altura media de los jarrones?", "223.333 mm"),
        ("What did the firings funded by the Guild of Quarne cost altogether?", "110"),
    ],
)
def test_a_sum_is_told_with_its_unit(pottery: Museum, question: str, number: str) -> None:
    answer = ask(pottery.release, question)
    assert answer.set is not None
    assert answer.set.summed is not None
    assert number in answer.text.replace("\u00a0", " ")
    assert answer.set.summed.number in answer.set.numbers


def test_a_count_in_total_is_no_sum(pottery: Museum) -> None:
    assert pottery.value("How many vases are there in total?") == 4


def test_money_in_several_currencies_is_told_one_by_one(pottery: Museum) -> None:
    """10 crowns and 3 marks are not 13 of anything."""
    answer = ask(pottery.release, "What is the total price of the vases?")
    assert not answer.exhaustive
    assert "13" not in answer.text
    assert answer.set is None or answer.set.summed is None


def test_a_plan_that_adds_up_several_currencies_is_refused_by_their_names(pottery: Museum) -> None:
    price = Way(paths=(("http://example.org/own/price",),), then=Way(paths=(("P90",),)))
    rank = Compute(kind="rank", measure=Measure(kind="value", way=price), summed="total")
    with pytest.raises(QuestionError, match=r"crown, mark|mark, crown"):
        execute(Plan(target=Target(classes=("E22",)), compute=rank), pottery.release[World])


def test_several_things_asked_of_one_are_all_told(pottery: Museum) -> None:
    text = ask(pottery.release, "Who taught Tobias Wrack, and who were his pupils?").text
    assert all(f"{name.title()} Wrack" in text for name in ("anton", "ivo", "nell", "piers"))


def test_what_is_called_so_is_told_whatever_is_written_there(pottery: Museum) -> None:
    """ "When" asks for a date, and the open day is written in words."""
    assert "first Sunday in May" in ask(pottery.release, "When is the open day of Brackfen Works?").text
