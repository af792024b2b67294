"""Questions for what is not so, what is lacking, what is left out, and what is stated at all."""

from __future__ import annotations

import pytest

from tests.support.parse_world import Museum

MAKER = "?x @maker"
PAINTING, PRINT, SCULPTURE = (f"?x @type :{name} . " for name in ("painting", "print", "sculpture"))
WORK = "?x a crm:E22_Human-Made_Object . "


def lacks(pattern: str) -> str:
    return f"FILTER NOT EXISTS {{ {pattern} }}"


RIGHT = [
    ("Which works were not made in Italy?", WORK + lacks("?x @made_at/@within :italy")),
    ("Which works by Aldo Ferrante are not sculptures?", f"{MAKER} :ferrante " + lacks("?x @type :sculpture")),
    ("Which works have no known owner?", WORK + lacks("?x @owner ?o")),
    ("Which works have no depiction?", WORK + lacks("?x @depicts ?o")),
    ("Which works have no date?", WORK + lacks("?x @made_on ?o")),
    ("Which works have no place of creation?", WORK + lacks("?x @made_at ?o")),
    ("Which works made in Italy are not paintings?", WORK + "?x @made_at/@within :italy " + lacks("?x @type :painting")),
    ("Which paintings do not depict a horse?", PAINTING + lacks("?x @depicts :horse")),
    ("Which paintings have no maker?", PAINTING + lacks(f"{MAKER} ?o")),
    ("Which prints are not owned by the Harbour Trust?", PRINT + lacks("?x @owner :trust")),
    ("Which paintings were never exhibited?", PAINTING + lacks("?o @showed ?x")),
    ("Which paintings without a date are there?", PAINTING + lacks("?x @made_on ?o")),
    ("Which paintings except those by Pietro Salvemini are there?", PAINTING + lacks(f"{MAKER} :salvemini")),
    ("Which paintings did Pietro Salvemini not make?", PAINTING + lacks(f"{MAKER} :salvemini")),
    ("Welche Gemälde hat Pietro Salvemini nicht gemalt?", PAINTING + lacks(f"{MAKER} :salvemini")),
    ("List all paintings besides those in the Winter Salon.", PAINTING + lacks(":salon @showed ?x")),
    ("Which works are neither paintings nor prints?", WORK + lacks("?x @type :painting") + lacks("?x @type :print")),
    ("Which paintings do not show Florence?", PAINTING + lacks("?x @depicts :florence")),
    ("Which works were not given by anyone?", WORK + lacks("?x @gift ?o")),
    ("Which sculptures do not have a height?", SCULPTURE + lacks("?x @dimension ?o")),
    ("Which paintings were not made in the 18th century?",
     PAINTING + lacks('?x @made_on/@begins ?d FILTER(YEAR(?d) > 1700 && YEAR(?d) < 1801)')),
    # of what is tied to what is asked for
    ("Which works have an artist whose birthplace is not known?", WORK + f"{MAKER} ?who " + lacks("?who @born_at ?o")),
    # two words that deny, and one denial
    ("Quelles peintures ne représentent aucun cheval ?", PAINTING + lacks("?x @depicts :horse")),
    ("Which prints have neither a maker nor an owner?", PRINT + lacks(f"{MAKER} ?o") + lacks("?x @owner ?w")),
]  # fmt: skip


HARD = [
    ("Which sculptures are not made of bronze?", SCULPTURE + lacks("?x @of :bronze")),
    ("Which works were not exhibited and not given?", WORK + lacks("?o @showed ?x") + lacks("?x @gift ?g")),
]  # fmt: skip


# by a noun that is had or lacked

HAD = [
    ("Which paintings have a date?", PAINTING + "?x @made_on ?o"),
    ("Which paintings have a maker?", PAINTING + "?x @maker ?o"),
    ("Which works have no date?", WORK + lacks("?x @made_on ?o")),
    ("Which works without an owner are there?", WORK + lacks("?x @owner ?o")),
    ("Quelles œuvres ont un propriétaire ?", WORK + "?x @owner ?o"),
    ("Quelles œuvres ont une date ?", WORK + "?x @made_on ?o"),
    ("Quelles œuvres n'ont pas de date ?", WORK + lacks("?x @made_on ?o")),
    ("Welche Gemälde haben ein Datum?", PAINTING + "?x @made_on ?o"),
    ("Welche Werke ohne Besitzer gibt es?", WORK + lacks("?x @owner ?o")),
    ("Welche Werke haben keinen Besitzer?", WORK + lacks("?x @owner ?o")),
    ("Ποια έργα έχουν ημερομηνία;", WORK + "?x @made_on ?o"),
    ("Ποια έργα δεν έχουν ημερομηνία;", WORK + lacks("?x @made_on ?o")),
    ("Ποια έργα δεν έχουν ιδιοκτήτη;", WORK + lacks("?x @owner ?o")),
]  # fmt: skip


HAD_HARD = [
    ("Which works with an owner are there?", WORK + "?x @owner ?o"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "pattern"), RIGHT + HAD)
def test_what_is_not_so_or_is_lacking_is_found(gallery: Museum, question: str, pattern: str) -> None:
    gold = gallery.gold(pattern)
    assert gold, "the museum holds none: the question tests nothing"
    assert gallery.read(question) == gold


@pytest.mark.parametrize(("question", "pattern"), HARD + HAD_HARD)
def test_what_is_not_so_is_right_or_not_told_as_exact(gallery: Museum, question: str, pattern: str) -> None:
    parsed = gallery.parse(question)
    assert not parsed.certain or gallery.listed(parsed) == gallery.gold(pattern)


@pytest.mark.parametrize(("is_so", "is_not", "kind"), [
    ("Which works were made in Italy?", "Which works were not made in Italy?", WORK),
    ("Which sculptures are made of bronze?", "Which sculptures are not made of bronze?", SCULPTURE),
    ("Which paintings depict Florence?", "Which paintings do not depict Florence?", PAINTING),
])  # fmt: skip
def test_what_is_so_and_what_is_not_are_the_whole(
    gallery: Museum, is_so: str, is_not: str, kind: str
) -> None:
    """Open world or not: of one kind everything is in one of the two sets, nothing in both."""
    yes, no = gallery.read(is_so), gallery.read(is_not)
    assert yes and no and not yes & no
    assert yes | no == gallery.gold(kind)


@pytest.mark.parametrize("question", [
    "Which paintings are signed?", "Which artists were killed?", "Which works were photographed?",
    "Which prints were published?", "Which works were visited?", "How many paintings are signed?",
    "Is Nocturne signed?", "Which works were not signed?", "Quels tableaux sont signés ?",
    "Quelles estampes ont été publiées ?", "Quelles œuvres ont été vendues ?", "Welche Gemälde sind signiert?",
    "Welche Werke wurden verkauft?", "Welche Drucke wurden veröffentlicht?", "Ποιοι πίνακες είναι υπογεγραμμένοι;",
    "Ποια έργα εκδόθηκαν;", "Ποια έργα πουλήθηκαν;",
])  # fmt: skip
def test_a_verb_alone_is_never_told_as_exact(gallery: Museum, question: str) -> None:
    """It says more than that something is stated: who signed a picture did not only date it."""
    assert not gallery.parse(question).certain
