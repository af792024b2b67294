"""Phrases of relations among the words of a question: all of them, wherever they stand, in whatever spelling."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.config import load_method
from crmrag_query.config.relations import ROLES, Relation
from crmrag_query.parsing.lexicon import PhraseSpan, RelationPhrases, compiled_relations, patterns
from crmrag_query.questions.words import asked
from crmrag_query.text import tokenize

RELATIONS = load_method().relations
Found = set[tuple[int, int, str, str]]


def relation(**phrases: list[str]) -> Relation:
    return Relation.model_validate(
        {"domain": ["Thing"], "labels": {"en": "x"}, "inverse": {"en": "x"}, "phrases": {"en": phrases}}
    )


def told(spans: Sequence[PhraseSpan]) -> Found:
    return {(span.first, span.last, span.role, id) for span in spans for id in span.relations}


def by_force(relations: dict[str, Relation], words: Sequence[str]) -> Found:
    """Every phrase held against every place."""
    found: Found = set()
    for id, one in relations.items():
        for role in ROLES:
            for phrase in one.phrases["en"].of(role):
                for pattern in patterns(phrase):
                    for first in range(len(words) - len(pattern) + 1):
                        there = words[first : first + len(pattern)]
                        if all(map(fits, pattern, there)):
                            found.add((first, first + len(pattern), role, id))
    return found


def fits(part: str, word: str) -> bool:
    return bool(word) and (word.startswith(part[:-1]) if part.endswith("*") else word == part)


def test_alternatives_and_words_that_may_be_left_out() -> None:
    assert patterns("made/built by/in") == (
        ("made", "by"),
        ("made", "in"),
        ("built", "by"),
        ("built", "in"),
    )
    assert patterns("from the? hand of") == (("from", "the", "hand", "of"), ("from", "hand", "of"))
    assert patterns("de l'atelier") == (("de", "l", "atelier"),)
    assert patterns("φτιαγμέν*/χτισμέν* από") == (("φτιαγμεν*", "απο"), ("χτισμεν*", "απο"))
    assert patterns("the?") == (("the",),)
    assert patterns("…") == ()


words = st.lists(st.sampled_from(["made", "make", "maker", "by", "in", "of", "the", "work", ""]), max_size=9)
phrases = st.lists(
    st.sampled_from(
        ["made by", "ma*", "make* of", "made/make the? work", "by", "work of/by", "in the work", "the*"]
    ),
    unique=True,
    max_size=5,
)


@given(st.lists(st.tuples(phrases, phrases), max_size=4), words)
def test_spans_are_all_places_where_a_phrase_stands(
    lists: list[tuple[list[str], list[str]]], words: list[str]
) -> None:
    relations = {f"r{n}": relation(forward=forward, ends=ends) for n, (forward, ends) in enumerate(lists)}
    spans = RelationPhrases(relations, "en").spans(words)
    assert told(spans) == by_force(relations, words)
    places = [(span.first, -span.last, ROLES.index(span.role)) for span in spans]
    assert places == sorted(set(places))
    assert all(list(span.relations) == sorted(span.relations) for span in spans)


def test_the_longest_comes_first_and_shorter_ones_stay() -> None:
    lexicon = RelationPhrases({"by": relation(forward=["made by"], backward=["made"], loose=["by"])}, "en")
    assert lexicon.spans(("made", "by")) == (
        PhraseSpan(0, 2, "forward", ("by",)),
        PhraseSpan(0, 1, "backward", ("by",)),
        PhraseSpan(1, 2, "loose", ("by",)),
    )


def test_relations_of_a_span_stand_in_their_order() -> None:
    relations = {id: relation(ends=["date"]) for id in ("created_on", "born_on", "acquired_on")}
    (span,) = RelationPhrases(relations, "en").spans(("date",))
    assert span.relations == ("created_on", "born_on", "acquired_on")


def test_nothing_is_read_from_names() -> None:
    question = "Which works were painted by Jan Made?"
    words = asked(question, capitals_name=True).visible
    spans = RelationPhrases({"r": relation(backward=["made"], forward=["painted by"])}, "en").spans(words)
    assert [(span.first, span.last) for span in spans] == [(3, 5)]


def test_a_language_without_phrases_has_none() -> None:
    assert compiled_relations(RELATIONS, "nl").spans(tuple(tokenize("gemaakt door Rembrandt"))) == ()


def test_a_lexicon_is_made_once() -> None:
    assert compiled_relations(RELATIONS, "en") is compiled_relations(RELATIONS, "en")
    assert compiled_relations(RELATIONS, "en") is not compiled_relations(RELATIONS, "el")


@pytest.mark.parametrize(
    ("language", "question", "role", "id"),
    [
        ("en", "The prints were engraved by whom?", "forward", "created_by"),
        ("en", "Who sculpted the lion?", "backward", "created_by"),
        ("en", "Name the goldsmith of the chalice", "ends", "created_by"),
        ("en", "Where are the bowls originating from?", "forward", "created_in"),
        ("en", "people who hail from Lesbos", "forward", "born_in"),
        ("en", "What are the birthplaces of the sculptors?", "ends", "born_in"),
        ("en", "artists deceased before 1700", "forward", "died_on"),
        ("en", "Whose likeness is it? Portraits of a duchess", "forward", "depicts"),
        ("en", "canvases showing a harbour", "forward", "depicts"),
        ("en", "chalices consisting of silver", "forward", "made_of"),
        ("en", "Which accession number has the vase?", "ends", "accession_number"),
        ("en", "coins unearthed at Salamis", "forward", "found_at"),
        ("en", "the sum paid for the tapestry", "ends", "price"),
        ("en", "What is the diameter of the shield?", "ends", "diameter"),
        ("en", "pieces bequeathed by a countess", "forward", "credit_line"),
        ("en", "the sitters in the miniatures", "backward", "depicts"),
        ("fr", "les gravures réalisées par Callot", "forward", "created_by"),
        ("fr", "Qui a peint la voûte ?", "backward", "created_by"),
        ("fr", "Quel est le lieu de naissance du graveur ?", "ends", "born_in"),
        ("fr", "les artistes nées à Lyon", "forward", "born_in"),
        ("fr", "De quels matériaux le coffret est-il fait ?", "ends", "made_of"),
        ("fr", "Où le vase a-t-il été trouvé ? trouvée à Chypre", "forward", "found_at"),
        ("fr", "les tableaux représentant un port", "forward", "depicts"),
        ("de", "Wer hat die Truhe bemalt und wer hat sie geschnitzt?", "backward", "created_by"),
        ("de", "Stiche, die von Merian gestochen wurden: gestochen von Merian", "forward", "created_by"),
        ("de", "Nenne den Geburtsort der Malerin", "ends", "born_in"),
        ("de", "Schalen, die aus Silber bestehen: bestehen aus Silber", "forward", "made_of"),
        ("de", "Welche Inventarnummer hat die Münze?", "ends", "accession_number"),
        ("de", "Künstler, die in Wien gestorben sind", "forward", "died_in"),
        ("el", "Ποιος σμίλεψε το ανάγλυφο;", "backward", "created_by"),
        ("el", "εικόνες ζωγραφισμένες από τον Θεοφάνη", "forward", "created_by"),
        ("el", "Ποια είναι η γενέτειρα του γλύπτη;", "ends", "born_in"),
        ("el", "η ημερομηνία θανάτου του συγγραφέα", "ends", "died_on"),
        ("el", "τα σκεύη αποτελούνται από ασήμι", "forward", "made_of"),
        ("el", "νομίσματα που βρέθηκαν στην Πάφο", "forward", "found_at"),
        ("el", "Πού φυλάσσεται το χειρόγραφο; φυλάσσεται στη μονή", "forward", "kept_by"),
        ("el", "Ποιους αγίους απεικονίζουν οι τοιχογραφίες;", "forward", "depicts"),
        ("el", "οι διαστάσεις του κιβωτίου", "ends", "dimension"),
    ],
)
def test_people_are_understood_in_their_own_words(language: str, question: str, role: str, id: str) -> None:
    found = told(compiled_relations(RELATIONS, language).spans(tuple(tokenize(question))))
    assert (role, id) in {(said, one) for _, _, said, one in found}
