"""The words of six languages: each speaks of all that the configuration has, and understands people in their own words."""

from __future__ import annotations

from itertools import chain

import pytest

from crmrag_query.config import load_method
from crmrag_query.language import LANGUAGES, language
from crmrag_query.ontology.load import load_ontology
from crmrag_query.reading.lexicon import relation_spans, translated, vocabulary, words_table
from crmrag_query.text import tokenize

RELATIONS = load_method().relations


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_relation_is_spoken_of_and_no_other(code: str) -> None:
    table = words_table(code)["relations"]
    assert set(table) == set(RELATIONS)
    assert [id for id, entry in table.items() if not (entry.get("says") or entry.get("ends"))] == []


@pytest.mark.parametrize("code", LANGUAGES)
def test_classes_and_properties_with_words_are_in_the_ontology(code: str) -> None:
    ontology, table = load_ontology(), words_table(code)
    former = {"E38"}  # images, in data of versions before 7
    assert [name for name in table["classes"] if name not in {*ontology.classes, *former}] == []
    assert [name for name in table["properties"] if name not in ontology.properties] == []


@pytest.mark.parametrize(("code", "one", "many"), [
    ("es", "mujer", "mujeres"), ("es", "imagen", "imagenes"), ("el", "σχεδιο", "σχεδια"), ("it", "moneta", "monete"),
    ("fr", "cheval", "chevaux"), ("de", "bild", "bilder"),
])  # fmt: skip
def test_a_noun_is_known_in_its_other_number_whatever_a_stemmer_makes_of_it(
    code: str, one: str, many: str
) -> None:
    own = language(code)
    assert own.stem(many) in {own.stem(one)} | own.other_stems(one)
    assert own.is_form_of(many, one)


@pytest.mark.parametrize(
    ("form", "verb"), [("broken", "break"), ("sold", "sell"), ("wove", "weave"), ("built", "build")]
)
def test_an_irregular_verb_is_known_in_its_other_forms(form: str, verb: str) -> None:
    same = language("en").stem(form) == language("en").stem(verb)
    assert same is (form != "built")  # "building" is a thing, too


def test_a_participle_of_another_gender_is_no_form_of_a_noun() -> None:
    own = language("it")
    assert own.is_form_of("dipinti", "dipinto") and not own.is_form_of("dipinta", "dipinto")


@pytest.mark.parametrize(("code", "said", "same"), [
    ("it", "raffigurate nei", "raffigurato in"), ("it", "influenzarono", "influenzò"), ("fr", "peintes du", "peint de"),
    ("es", "pintadas del", "pintado de"), ("el", "μαθητές της", "μαθητής του"), ("en", "pupils of", "pupil of"),
])  # fmt: skip
def test_gender_number_and_articles_are_compared_away(code: str, said: str, same: str) -> None:
    own = language(code)
    assert [*map(own.form, tokenize(said))] == [*map(own.form, tokenize(same))]


def test_who_is_shown_is_told_from_what_shows() -> None:
    for code, shows, shown in (("it", "raffigura", "raffigurato"), ("el", "απεικονίζουν", "απεικονίζονται")):
        own = language(code)
        assert own.form(*tokenize(shows)) != own.form(*tokenize(shown))


@pytest.mark.parametrize("code", [code for code in LANGUAGES if code != "en"])
def test_every_further_form_of_a_verb_has_a_stem_of_its_own_and_a_list_that_uses_it(code: str) -> None:
    own, table = language(code), words_table(code)
    every = set(chain.from_iterable(
        words
        for section in ("relations", "classes", "properties")
        for entry in table[section].values()
        for words in entry.values()
    ))  # fmt: skip
    forms = table["forms"]
    assert forms and [verb for verb in forms if verb not in every] == []
    for verb, others in forms.items():
        stems = [own.stem(*tokenize(one)) for one in (verb, *others)]
        assert len(set(stems)) == len(stems), verb


def test_what_has_an_english_label_alone_is_asked_for_in_other_languages() -> None:
    for code, verb in (("fr", "contenir"), ("de", "enthielt"), ("it", "contenere"), ("es", "contener")):
        assert language(code).stem(verb) in translated(["contains"], code)
    assert translated(["contains"], "en") == translated(["zzz"], "fr") == frozenset()
    assert all(vocabulary(code).relations["depicts"].says for code in LANGUAGES)


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_language_has_words_for_every_role(code: str) -> None:
    english, own = language("en").roles, language(code).roles
    assert set(own) == set(english)
    assert [
        role for role in english if role.startswith(("questions.", "time.", "pronouns.")) and not own[role]
    ] == []


def test_every_general_noun_is_named_in_every_language() -> None:
    kinds = words_table("kinds")
    entries = chain.from_iterable(part.items() for part in kinds.values() if isinstance(part, dict))
    named = {
        name: {*entry["words"]} for name, entry in entries if isinstance(entry, dict) and "words" in entry
    }
    assert named and [name for name, codes in named.items() if not codes >= {*LANGUAGES}] == []


@pytest.mark.parametrize(("code", "question", "id"), [
    ("en", "artists who passed away in Rome", "died_in"), ("en", "the motif turns up in two miniatures", "depicts"),
    ("en", "What did the necklace cost?", "price"), ("en", "How tall is the obelisk?", "height"),
    ("en", "a lion stands in the courtyard", "located_in"), ("en", "coins bequeathed by a colonel", "given_by"),
    ("en", "statues dug up near Thebes", "found_at"), ("en", "the flag used to belong to a general", "formerly_owned_by"),
    ("en", "the letters are looked after by the archive", "kept_by"), ("en", "the books deal with falconry", "about"),
    ("en", "What are the birthplaces of the sculptors?", "born_in"), ("en", "canvases showing a harbour", "depicts"),
    ("en", "Which accession number has the vase?", "accession_number"), ("en", "the sum paid for the tapestry", "price"),
    ("fr", "les sculpteurs décédés à Nîmes", "died_in"), ("fr", "Combien le coffret a-t-il coûté ?", "price"),
    ("fr", "des estampes léguées par un notaire", "given_by"), ("fr", "des bustes sculptés en marbre", "made_of"),
    ("fr", "le tableau commandé par une abbesse", "commissioned_by"), ("fr", "Qui a peint la voûte ?", "created_by"),
    ("fr", "Quel est le lieu de naissance du graveur ?", "born_in"), ("fr", "les tableaux représentant un port", "depicts"),
    ("de", "Wer hat das Fresko gemalt?", "created_by"), ("de", "Nenne den Geburtsort der Malerin", "born_in"),
    ("de", "Schalen, die aus Silber gemacht sind", "made_of"), ("de", "Künstler, die in Wien gestorben sind", "died_in"),
    ("de", "Welche Inventarnummer hat die Münze?", "accession_number"), ("de", "Wo wurde die Vase gefunden?", "found_at"),
    ("el", "Ποιους αγίους απεικονίζουν οι τοιχογραφίες;", "depicts"), ("el", "η ημερομηνία θανάτου του συγγραφέα", "died_on"),
    ("el", "νομίσματα που βρέθηκαν στην Πάφο", "found_at"), ("el", "οι διαστάσεις του κιβωτίου", "dimension"),
    ("it", "Chi ha dipinto l'affresco?", "created_by"), ("it", "artisti nati a Siena", "born_in"),
    ("es", "¿Quién pintó el retablo?", "created_by"), ("es", "artistas nacidos en Toledo", "born_in"),
])  # fmt: skip
def test_people_are_understood_in_their_own_words(code: str, question: str, id: str) -> None:
    spans = relation_spans(code, tuple(tokenize(question)))
    assert id in {one for span in spans for one in span.relations}


@pytest.mark.parametrize(("code", "forms", "id"), [
    ("fr", "représenter représente", "depicts"), ("fr", "montrer montre", "depicts"),
    ("fr", "peint peinte peintes", "created_by"),
    ("fr", "offrir offert offertes", "given_by"), ("de", "zeigen zeigt gezeigt", "depicts"),
    ("de", "malen malt gemalt", "created_by"),
    ("el", "απεικονίζει απεικονίζουν απεικόνισε", "depicts"),
    ("it", "dipinge dipingono dipinto", "created_by"),
    ("es", "pintar pinta pintan pintaron", "created_by"), ("en", "depicts depict depicted depicting", "depicts"),
])  # fmt: skip
def test_one_thing_and_several_say_the_same(code: str, forms: str, id: str) -> None:
    unheard = [
        form for form in forms.split()
        if id not in {one for span in relation_spans(code, tuple(tokenize(form))) for one in span.relations}
    ]  # fmt: skip
    assert unheard == []


def test_nothing_is_read_where_a_name_stands() -> None:
    assert relation_spans("en", ("", "")) == ()
    words = tokenize("Which works were painted by Jan Made?")
    assert relation_spans("en", (*words[:-1], "")) == tuple(
        one for one in relation_spans("en", words) if one.last < len(words)
    )


def test_a_french_birth_is_no_denial() -> None:
    """ "né" without its accent is "ne": said of a birth behind a form of "être"."""
    spans = relation_spans("fr", ["quand", "est", "ne", ""])
    assert any("born_on" in one.relations and (one.first, one.last) == (1, 3) for one in spans)
    assert not relation_spans("fr", ["il", "ne", "dort", "pas"])
