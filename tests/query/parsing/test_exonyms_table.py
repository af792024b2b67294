"""Which names the words of a question are, in four languages and in all their forms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.config import load_method
from crmrag_query.parsing.exonym_table import ExonymTable
from crmrag_query.text import tokenize

TABLE = ExonymTable.of(load_method().exonyms)


def read(text: str, language: str) -> list[tuple[str, set[str]]]:
    """The longest names in a text, none over another, and what they are; a capital counts for the word it begins."""
    words = [(word, part[:1].isupper()) for part in text.split() for word in tokenize(part)]
    folded = [word for word, _ in words]
    taken: set[int] = set()
    found = []
    for hit in TABLE.hits(folded, language, [capital for _, capital in words]):
        inside = set(range(hit.first, hit.last))
        if not taken & inside:
            taken |= inside
            found.append((hit.first, " ".join(folded[hit.first : hit.last]), {one.id for one in hit.entries}))
    return [(name, ids) for _, name, ids in sorted(found, key=lambda one: one[0])]


def ids(text: str, language: str) -> set[str]:
    return {id for _, found in read(text, language) for id in found}


@pytest.mark.parametrize(("language", "text", "expected"), [
    ("fr", "des artistes nés à Londres", "london"),
    ("fr", "une peinture d'Édimbourg", "edinburgh"),
    ("fr", "des collections des États-Unis", "united_states"),
    ("de", "Künstler aus Rom", "rome"),
    ("de", "die Kirchen Roms", "rome"),
    ("de", "Wiener Porzellan", "vienna"),
    ("el", "η Αθήνα", "athens"),
    ("el", "έργα της Αθήνας", "athens"),
    ("el", "τοιχογραφίες της Κύπρου", "cyprus"),
    ("el", "συλλογές των Ηνωμένων Πολιτειών", "united_states"),
    ("el", "μουσεία της Νέας Υόρκης", "new_york"),
    ("en", "artists born in Holland", "netherlands"),
])  # fmt: skip
def test_a_place_is_read_in_its_cases(language: str, text: str, expected: str) -> None:
    assert expected in ids(text, language)


@pytest.mark.parametrize("form", ["français", "française", "françaises", "Français", "Françaises"])
def test_french_adjectives_agree(form: str) -> None:
    assert ids(form, "fr") == {"french"}


@pytest.mark.parametrize(
    ("form", "expected"),
    [("italiennes", "italian"), ("grecques", "greek"), ("turque", "turkish"), ("juives", "jewish"), ("belges", "belgian"),
     ("européennes", "european"), ("bretonnes", "breton"), ("allemandes", "german"), ("mexicains", "mexican")],
)  # fmt: skip
def test_french_adjectives_whose_feminine_is_irregular(form: str, expected: str) -> None:
    assert expected in ids(form, "fr")


@pytest.mark.parametrize(
    "form", ["mexikanisch", "mexikanische", "mexikanischen", "mexikanischem", "mexikanischer", "mexikanisches", "Mexikaner",
             "Mexikanern", "Mexikanerin", "Mexikanerinnen"],
)  # fmt: skip
def test_german_adjectives_and_nouns_are_inflected(form: str) -> None:
    assert ids(form, "de") == {"mexican"}


@pytest.mark.parametrize(
    ("form", "expected"),
    [("Schotten", "scottish"), ("Schottinnen", "scottish"), ("Französin", "french"), ("Deutsche", "german"),
     ("silbernen", "silver")],
)  # fmt: skip
def test_german_nouns_of_other_paradigms(form: str, expected: str) -> None:
    assert expected in ids(form, "de")


@pytest.mark.parametrize(
    "form", ["γαλλικός", "γαλλική", "γαλλικό", "γαλλικά", "γαλλικών", "γαλλικές", "Γάλλος", "Γάλλοι", "Γάλλων", "Γάλλους",
             "Γαλλίδα",
             "Γαλλίδες"],
)  # fmt: skip
def test_greek_adjectives_and_nouns_are_inflected(form: str) -> None:
    assert ids(form, "el") == {"french"}


@pytest.mark.parametrize(("language", "text", "expected"), [
    ("fr", "coupes en argent", "silver"), ("fr", "en marbre", "marble"), ("fr", "sur ivoire", "ivory"),
    ("fr", "vases d'or", "gold"),
    ("de", "Schalen aus Silber", "silver"), ("de", "hölzerne Figuren", "wood"), ("de", "aus Elfenbein", "ivory"),
    ("el", "από ελεφαντόδοντο", "ivory"), ("el", "ασημένια κύπελλα", "silver"), ("el", "μαρμάρινες κεφαλές", "marble"),
    ("el", "του χαλκού", "copper"), ("en", "wooden figures", "wood"), ("en", "woollen cloth", "wool"),
])  # fmt: skip
def test_a_material_is_read_as_noun_and_adjective(language: str, text: str, expected: str) -> None:
    assert expected in ids(text, language)


def test_the_longest_name_comes_first() -> None:
    assert read("paintings from New Mexico", "en") == [("new mexico", {"new_mexico"})]


def test_some_words_are_names_only_with_a_capital() -> None:
    assert ids("Polish silver", "en") == {"polish", "silver"}
    assert ids("polish silver", "en") == {"silver"}
    assert ids("does it show us china", "en") == set()
    assert ids("made in the US or China", "en") == {"united_states", "china"}


def test_a_word_of_another_language_is_none_of_this() -> None:
    assert ids("argent", "de") == set()


def test_a_language_that_the_table_lacks_is_read_as_all() -> None:
    assert ids("argent und Silber", "xx") >= {"silver"}


def test_a_people_knows_its_place_and_both_have_names_of_english_first() -> None:
    hits = TABLE.hits(["schotten"], "de", [True])
    (entry,) = hits[0].entries
    assert (entry.sort, entry.place, entry.names[0]) == ("culture", "scotland", ("scottish",))
    assert ("scot",) in entry.names
    assert TABLE.places["scotland"].names[0] == ("scotland",)


def test_the_data_is_not_searched_for_words_that_mostly_are_something_else() -> None:
    (entry,) = TABLE.hits(["or"], "fr", [False])[0].entries
    assert entry.id == "gold"
    assert ("or",) not in entry.names
    assert ("gold",) in entry.names


@given(
    st.lists(
        st.sampled_from(["new", "york", "or", "rom", "γαλλικα", "neue", "", "x", "etats", "unis", "1900"]),
        max_size=12,
    ),
    st.data(),
)
def test_any_words_are_read_and_hits_lie_within_them(words: list[str], data: st.DataObject) -> None:
    language = data.draw(st.sampled_from(["en", "fr", "de", "el", "nl", ""]))
    capitals = data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    hits = TABLE.hits(words, language, capitals)
    assert all(0 <= hit.first < hit.last <= len(words) and hit.entries for hit in hits)
    assert [hit.last - hit.first for hit in hits] == sorted(
        (hit.last - hit.first for hit in hits), reverse=True
    )
