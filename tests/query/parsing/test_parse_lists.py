"""Questions for lists: their members are those that SPARQL finds."""

from __future__ import annotations

import pytest

from tests.support.parse_world import Museum

BY = "?x ^crm:P108_has_produced/crm:P14_carried_out_by"
BORN = "?x ^crm:P98_brought_into_life/crm:P7_took_place_at/crm:P89_falls_within*"
DIED = "?x ^crm:P100_was_death_of/crm:P7_took_place_at/crm:P89_falls_within*"
PAINTING, PRINT, SCULPTURE = (f"?x crm:P2_has_type :{name} . " for name in ("painting", "print", "sculpture"))
WORK = "?x a crm:E22_Human-Made_Object . "

SURE = [
    # makers
    ("What paintings did Pietro Salvemini make?", PAINTING + f"{BY} :salvemini"),
    ("List the prints by Henri Maubert.", PRINT + f"{BY} :maubert"),
    ("Which works did Claire Duvernay create?", f"{BY} :duvernay"),
    ("Paintings by Aldo Ferrante made in Siena", PAINTING + f"{BY} :ferrante . ?x ^crm:P108_has_produced/crm:P7_took_place_at :siena"),
    ("Which works were made by Claire Duvernay or Rosa Castelli?", f"{BY} ?who VALUES ?who {{ :duvernay :castelli }}"),
    ("Who painted Frozen River?", "?m crm:P108_has_produced :p8 ; crm:P14_carried_out_by ?x"),
    ("Who made the sculpture Standing Lion?", "?m crm:P108_has_produced :s1 ; crm:P14_carried_out_by ?x"),
    # what is shown
    ("Which paintings depict Florence?", PAINTING + "?x crm:P62_depicts :florence"),
    ("What does Nocturne depict?", ":p15 crm:P62_depicts ?x"),
    ("Which works depict places in Italy?", "?x crm:P62_depicts/crm:P89_falls_within* :italy"),
    # materials
    ("Which sculptures are made of bronze?", SCULPTURE + "?x crm:P45_consists_of :bronze"),
    ("Which sculptures are made of bronze or marble?", SCULPTURE + "?x crm:P45_consists_of ?m VALUES ?m { :bronze :marble }"),
    ("bronze sculptures", SCULPTURE + "?x crm:P45_consists_of :bronze"),
    ("What is Wreath made of?", ":s7 crm:P45_consists_of ?x"),
    ("Which works are made of oil on canvas?", '?t crm:P67_refers_to ?x ; crm:P190_has_symbolic_content ?s FILTER(CONTAINS(?s, "oil on canvas"))'),
    # owners, donors, exhibitions
    ("Which works does the Harbour Trust own?", "?x crm:P52_has_current_owner :trust"),
    ("Who owns Nocturne?", ":p15 crm:P52_has_current_owner ?x"),
    ("Which works were given by Ida Holm?", "?x ^crm:P24_transferred_title_of/crm:P23_transferred_title_from :holm"),
    ("Who gave The Lion Tamer?", "?a crm:P24_transferred_title_of :p9 ; crm:P23_transferred_title_from ?x"),
    ("Which works were shown at the Winter Salon?", ":salon crm:P16_used_specific_object ?x"),
    ("Which exhibitions were held in Lyon?", "?x crm:P2_has_type :exhibition ; crm:P7_took_place_at :lyon"),
    ("What was exhibited in Lyon?", "?x ^crm:P16_used_specific_object/crm:P7_took_place_at :lyon"),
    # titles
    ('Which works have "Lion" in the title?', WORK + 'FILTER EXISTS { ?x rdfs:label ?l FILTER(REGEX(?l, "\\\\bLion\\\\b")) }'),
    ("Which paintings with bridge in the title are there?", PAINTING + '?x rdfs:label ?l FILTER(REGEX(?l, "\\\\bBridge\\\\b"))'),
    # two conditions, one within the other
    ("Which works were painted by artists born in Leiden?", "?x ^crm:P108_has_produced/crm:P14_carried_out_by ?who . ?who ^crm:P98_brought_into_life/crm:P7_took_place_at :leiden"),
    ("Which works were made by artists who died in Paris?", "?x ^crm:P108_has_produced/crm:P14_carried_out_by ?who . ?who ^crm:P100_was_death_of/crm:P7_took_place_at :paris"),
    ("Which prints by artists born in the Netherlands are there?", PRINT + "?x ^crm:P108_has_produced/crm:P14_carried_out_by/^crm:P98_brought_into_life/crm:P7_took_place_at/crm:P89_falls_within :netherlands"),
    ("Which artists born in Florence made sculptures?", f"{BORN} :florence . ?m crm:P14_carried_out_by ?x ; crm:P108_has_produced/crm:P2_has_type :sculpture"),
    ("Which works were owned by the Harbour Trust and given by Karl Brandt?", "?x crm:P52_has_current_owner :trust ; ^crm:P24_transferred_title_of/crm:P23_transferred_title_from :brandt"),
    ("Which bronze sculptures were made in Florence?", SCULPTURE + "?x crm:P45_consists_of :bronze ; ^crm:P108_has_produced/crm:P7_took_place_at :florence"),
    ("Show me marble sculptures from Tuscany", SCULPTURE + "?x crm:P45_consists_of :marble ; ^crm:P108_has_produced/crm:P7_took_place_at/crm:P89_falls_within :tuscany"),
    # people
    ("Which artists were born in Italy?", f"{BORN} :italy"),
    ("Which artists died in Paris?", f"{DIED} :paris"),
    ("Which artists who were born in Italy died in Siena?", f"{BORN} :italy . {DIED} :siena"),
    ("Which artists worked in Siena?", "?m crm:P14_carried_out_by ?x ; crm:P7_took_place_at :siena"),
    ("French artists", f"{BORN} :france"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "pattern"), SURE)
def test_a_list_is_understood_for_certain_and_right(gallery: Museum, question: str, pattern: str) -> None:
    gold = gallery.gold(pattern)
    assert gold
    assert gallery.sure(question) == gold


RIGHT = [
    ("Which paintings show a lion?", PAINTING + "?x crm:P62_depicts :lion"),
    ("Which people gave works to the Harbour Trust?", "?a crm:P23_transferred_title_from ?x ; crm:P22_transferred_title_to :trust"),
    ("Which owners have works by Henri Maubert?", "?w ^crm:P108_has_produced/crm:P14_carried_out_by :maubert ; crm:P52_has_current_owner ?x"),
    ("Which prints made in the Netherlands depict a bridge?", PRINT + "?x crm:P62_depicts :bridge ; ^crm:P108_has_produced/crm:P7_took_place_at/crm:P89_falls_within :netherlands"),
    ("Which paintings are oil on cardboard?", PAINTING + '?t crm:P67_refers_to ?x ; crm:P190_has_symbolic_content ?s FILTER(CONTAINS(?s, "cardboard"))'),
]  # fmt: skip


@pytest.mark.parametrize(("question", "pattern"), RIGHT)
def test_the_best_understanding_is_right(gallery: Museum, question: str, pattern: str) -> None:
    gold = gallery.gold(pattern)
    assert gold
    assert gallery.read(question) == gold


def test_who_made_a_work_is_told_whatever_verb_asks(gallery: Museum) -> None:
    for verb in ("made", "created", "painted", "produced"):
        assert gallery.sure(f"Who {verb} Silk Weavers?") == {"duvernay"}, verb


def test_a_question_in_capitals_or_with_more_blanks_is_the_same(gallery: Museum) -> None:
    plain = gallery.parse("Which paintings depict Florence?").plan
    assert gallery.parse("  Which  paintings depict   Florence ?").plan == plain
    assert gallery.parse("Which paintings depict Florence").plan == plain


def test_what_stands_in_brackets_says_nothing(gallery: Museum) -> None:
    plain = gallery.parse("Which paintings depict Florence?").plan
    assert gallery.parse("Which paintings (of our collection) depict Florence?").plan == plain


def test_a_sentence_that_only_leads_up_to_the_question_says_nothing(gallery: Museum) -> None:
    plain = gallery.parse("Which paintings depict Florence?").plan
    assert gallery.parse("I am writing a book. Which paintings depict Florence?").plan == plain


def test_where_someone_was_born_holds_the_places_around(gallery: Museum) -> None:
    """The place itself is told, and what it lies in belongs to it."""
    found = gallery.sure("Where was Rosa Castelli born?")
    around = gallery.gold(":birth-castelli crm:P7_took_place_at/crm:P89_falls_within* ?x")
    assert "florence" in found <= around
