"""The words of four languages: what visitors, curators and researchers say, and what it must be understood as."""

from __future__ import annotations

import pytest

from crmrag_query.config import load_method
from crmrag_query.parsing.lexicon import compiled_relations
from crmrag_query.parsing.words import roles_of
from crmrag_query.questions.lexicon import compiled
from crmrag_query.text import tokenize

METHOD = load_method()
LANGUAGES = ("en", "fr", "de", "el")

RELATIONS = [
    ("en", "artists who passed away in Rome", "died_in"),
    ("en", "sculptors who passed away before 1900", "died_on"),
    ("en", "painters who came into the world in Delft", "born_in"),
    ("en", "painters who came into the world before 1600", "born_on"),
    ("en", "Who is credited with the altarpiece?", "created_by"),
    ("en", "a goldsmith who hails from Augsburg", "born_in"),
    ("en", "the motif turns up in two miniatures", "depicts"),
    ("en", "What did the necklace cost?", "price"),
    ("en", "How tall is the obelisk?", "height"),
    ("en", "How wide is the frieze?", "width"),
    ("en", "How heavy is the bell?", "weight"),
    ("en", "a lion stands in the courtyard", "located_in"),
    ("en", "the tapestry hangs in the hall", "located_in"),
    ("en", "the print features a windmill", "depicts"),
    ("en", "vases on view in Berlin", "exhibited_in"),
    ("en", "the duchess who sat for the bust", "depicts"),
    ("en", "a saint shown wearing a crown", "attribute"),
    ("en", "a likeness of the queen", "depicts"),
    ("en", "the bowl dates back to 1200", "created_on"),
    ("en", "the mosaics go back to Roman times", "created_on"),
    ("en", "reliefs executed in marble", "made_of"),
    ("en", "engravings executed in Nuremberg", "created_in"),
    ("en", "coins bequeathed by a colonel", "given_by"),
    ("en", "statues dug up near Thebes", "found_at"),
    ("en", "the amphora came to light in 1911", "found_on"),
    ("en", "the flag used to belong to a general", "formerly_owned_by"),
    ("en", "the letters are looked after by the archive", "kept_by"),
    ("en", "a chapel built at the expense of a widow", "commissioned_by"),
    ("en", "the harp fetched a fortune", "price"),
    ("en", "a guild that came into being in 1450", "founded_on"),
    ("en", "the hall was pulled down in 1802", "destroyed_on"),
    ("en", "the throne was touched up by a pupil", "modified_by"),
    ("en", "the books deal with falconry", "about"),
    ("en", "What does the emblem stand for?", "symbolizes"),
    ("en", "the fair took place in Leipzig", "took_place_at"),
    ("en", "chairs modelled on Roman ones", "derived_from"),
    ("en", "when was the weaver active", "active_on"),
    ("fr", "les sculpteurs décédés à Nîmes", "died_in"),
    ("fr", "les artistes décédées en 1888", "died_on"),
    ("fr", "les vitraux représentent une chasse", "depicts"),
    ("fr", "les anges qui figurent sur le retable", "depicts"),
    ("fr", "les reliquaires se trouvent dans la crypte", "located_in"),
    ("fr", "Combien mesure la tapisserie ?", "dimension"),
    ("fr", "Combien le coffret a-t-il coûté ?", "price"),
    ("fr", "un calice offert par un chanoine", "given_by"),
    ("fr", "des estampes léguées par un notaire", "given_by"),
    ("fr", "les sceaux datent de 1300", "created_on"),
    ("fr", "les manuscrits remontent à 1200", "created_on"),
    ("fr", "des peignes faits en ivoire", "made_of"),
    ("fr", "des bustes sculptés en marbre", "made_of"),
    ("fr", "le graveur est venu de Liège", "born_in"),
    ("fr", "le peintre a vu le jour à Dole", "born_in"),
    ("fr", "une œuvre attribuée à son élève", "created_by"),
    ("fr", "une armure ayant appartenu à un duc", "formerly_owned_by"),
    ("fr", "des stèles mises au jour à Vix", "found_at"),
    ("fr", "une chapelle repeinte par un moine", "modified_by"),
    ("fr", "un pont démoli en 1790", "destroyed_on"),
    ("fr", "le tableau commandé par une abbesse", "commissioned_by"),
    ("fr", "le livre traite de botanique", "about"),
    ("fr", "la foire a eu lieu à Troyes", "took_place_at"),
    ("fr", "Que symbolisent les grenades ?", "symbolizes"),
    ("fr", "l'orfèvre vivait à Limoges", "lived_in"),
    ("fr", "des carreaux fabriqués à Lisbonne", "created_in"),
    ("fr", "l'épée que tient le roi", "attribute"),
    ("de", "Krüge, die aus Köln stammen: stammen aus Köln", "created_in"),
    ("de", "Truhen stammen aus dem Jahr 1650", "created_on"),
    ("de", "Greifen kommen auf den Siegeln vor", "depicts"),
    ("de", "Siegel, auf denen Greifen vorkommen", "depicts"),
    ("de", "der Teppich stellt eine Jagd dar", "depicts"),
    ("de", "das Tor besteht aus Eisen", "made_of"),
    ("de", "der Flügel gehört zu einem Altar", "part_of"),
    ("de", "die Burg liegt in Tirol", "falls_within"),
    ("de", "das Standbild steht in der Halle", "located_in"),
    ("de", "die Glocke hängt im Turm", "located_in"),
    ("de", "die Kapelle wurde von Mönchen ausgemalt", "created_by"),
    ("de", "Wo wurde die Uhr hergestellt?", "created_in"),
    ("de", "Wann ist der Stich entstanden?", "created_on"),
    ("de", "Wie hoch ist der Pokal?", "height"),
    ("de", "Wie schwer ist die Rüstung?", "weight"),
    ("de", "Wie groß ist der Altar?", "dimension"),
    ("de", "Was hat die Vase gekostet?", "price"),
    ("de", "der Schnitzer kam in Ulm zur Welt", "born_in"),
    ("de", "Zeichner, die in Wien verstorben sind", "died_in"),
    ("de", "die Schale kam als Geschenk von einem Grafen", "given_by"),
    ("de", "die Kette war früher im Besitz einer Fürstin", "formerly_owned_by"),
    ("de", "die Pläne werden im Archiv aufbewahrt", "kept_by"),
    ("de", "das Kloster wurde 1803 abgerissen", "destroyed_on"),
    ("de", "die Messe fand in Leipzig statt", "took_place_at"),
    ("de", "das Buch handelt vom Bergbau", "about"),
    ("de", "Wofür steht der Anker? Er steht für Hoffnung", "symbolizes"),
    ("de", "Fibeln, die in Trier ausgegraben wurden", "found_at"),
    ("de", "der Maler lebte in Prag", "lived_in"),
    ("de", "Wer hat den Saal restauriert?", "modified_by"),
    ("de", "das Tafelbild trägt eine Inschrift", "inscription"),
    ("el", "τα υφαντά απεικονίζουν κυνήγι", "depicts"),
    ("el", "οι αμφορείς βρίσκονται στο υπόγειο", "located_in"),
    ("el", "τα φύλλα ανήκουν στο τρίπτυχο", "part_of"),
    ("el", "τα κεραμικά χρονολογούνται στον 5ο αιώνα", "created_on"),
    ("el", "το στέμμα αποτελείται από χρυσό", "made_of"),
    ("el", "οι πόρπες κατασκευάστηκαν από τεχνίτες", "created_by"),
    ("el", "οι γλύπτες πέθαναν στη Σμύρνη", "died_in"),
    ("el", "τα χειρόγραφα δωρίστηκαν από μοναχούς", "given_by"),
    ("el", "Πόσο ψηλό είναι το άγαλμα;", "height"),
    ("el", "Πόσο κόστισε το κόσμημα;", "price"),
    ("el", "ο χαράκτης γεννήθηκε στη Χίο", "born_in"),
    ("el", "ο ζωγράφος έφυγε από τη ζωή", "died_on"),
    ("el", "οι μορφές εμφανίζονται στις εικόνες", "depicts"),
    ("el", "το φρούριο γκρεμίστηκε από τους κατακτητές", "destroyed_by"),
    ("el", "ο ναός χτίστηκε με έξοδα του εμπόρου", "commissioned_by"),
    ("el", "η συνέλευση έλαβε χώρα στη Ναύπακτο", "took_place_at"),
    ("el", "η σφραγίδα εντοπίστηκε στην Κνωσό", "found_at"),
    ("el", "το χειρόγραφο φυλάσσεται στη μονή", "kept_by"),
    ("el", "το βιβλίο αφορά τη ναυτιλία", "about"),
    ("el", "τι συμβολίζει η άγκυρα;", "symbolizes"),
    ("el", "ο αρχιτέκτονας έζησε στην Τεργέστη", "lived_in"),
    ("el", "το τέμπλο συντηρήθηκε από ειδικούς", "modified_by"),
    ("el", "ο άγιος κρατάει σπαθί", "attribute"),
    ("el", "η σημαία ανήκε παλαιότερα σε ναύαρχο", "formerly_owned_by"),
]

LOOSE = {
    "en": {"by": "created_by", "in": "located_in", "of": "made_of", "from": "born_in", "with": "depicts"},
    "fr": {"par": "created_by", "en": "made_of", "à": "born_in", "dans": "located_in", "sur": "part_of", "chez": "owned_by"},
    "de": {"von": "created_by", "aus": "made_of", "in": "located_in", "auf": "part_of",
           "bei": "owned_by", "im": "created_on"},
    "el": {"από": "created_by", "σε": "located_in", "στη": "created_in", "στους": "located_in",
           "του": "created_by", "με": "made_of"},
}  # fmt: skip
SHARED = [
    ("de", "aus", {"created_in", "created_on", "made_of", "born_in"}),
    ("fr", "de", {"created_by", "created_in", "created_on", "made_of", "born_in"}),
    ("el", "από", {"created_by", "created_in", "created_on", "made_of", "born_in"}),
    ("en", "from", {"created_by", "created_in", "created_on", "born_in"}),
]

ROLES = [
    ("en", "weren t", "negation"),
    ("en", "isn t", "negation"),
    ("en", "leaving", "exclusion"),
    ("en", "all but", "exclusion"),
    ("en", "no fewer than", "least"),
    ("en", "in excess of", "over"),
    ("en", "and more", "or_more"),
    ("en", "how many times", "count"),
    ("en", "most often", "most"),
    ("en", "least often", "fewest"),
    ("en", "per", "group"),
    ("en", "in your collection", "filler"),
    ("en", "in this data set", "filler"),
    ("en", "kindly", "filler"),
    ("en", "give me a table with", "filler"),
    ("fr", "sans aucune", "negation"),
    ("fr", "à l'exception des", "exclusion"),
    ("fr", "au minimum", "least"),
    ("fr", "ou plus", "or_more"),
    ("fr", "nombre de", "count"),
    ("fr", "le plus souvent", "most"),
    ("fr", "chaque", "group"),
    ("fr", "à la fois", "filler"),
    ("fr", "dans la collection", "filler"),
    ("fr", "veuillez", "filler"),
    ("de", "keinerlei", "negation"),
    ("de", "ohne", "negation"),
    ("de", "mit Ausnahme der", "exclusion"),
    ("de", "wenigstens", "least"),
    ("de", "oder mehr", "or_more"),
    ("de", "Anzahl der", "count"),
    ("de", "am häufigsten", "most"),
    ("de", "am frühesten", "earliest"),
    ("de", "am seltensten", "fewest"),
    ("de", "je", "group"),
    ("de", "des Museums", "filler"),
    ("de", "verschiedene", "filler"),
    ("el", "χωρίς", "negation"),
    ("el", "με εξαίρεση τις", "exclusion"),
    ("el", "τουλάχιστον", "least"),
    ("el", "περισσότερες από", "over"),
    ("el", "ή περισσότερα", "or_more"),
    ("el", "πόσες", "count"),
    ("el", "πιο συχνά", "most"),
    ("el", "ανά", "group"),
    ("el", "της συλλογής", "filler"),
    ("el", "παρακαλώ", "filler"),
    ("nl", "minstens", "least"),
    ("nl", "met uitzondering van", "exclusion"),
    ("nl", "in de collectie", "filler"),
]

FUNCTION = {
    "en": "please could you kindly tell me which of these are there both as well each one",
    "fr": "pourriez-vous me dire quels sont ceux qui ont été dans cette collection et lesquels le sont aussi",
    "de": "können Sie mir bitte sagen welche von diesen noch in der Sammlung sind und ob es dort auch weitere gibt",
    "el": "μπορείτε παρακαλώ να μου πείτε ποια από αυτά υπάρχουν στη συλλογή και ποιοι είναι οι υπόλοιποι",
}

NUMBERS = {"thirteen": 13, "twenty": 20, "hundred": 100, "quinze": 15, "vingt": 20, "zwanzig": 20, "hundert": 100,
           "εικοσι": 20, "εκατο": 100, "twintig": 20}  # fmt: skip


def words_of(text: str) -> tuple[str, ...]:
    return tuple(tokenize(text))


def heard(language: str, text: str) -> set[tuple[str, str]]:
    """(role, relation) of all phrases of relations in a text."""
    spans = compiled_relations(METHOD.relations, language).spans(words_of(text))
    return {(span.role, id) for span in spans for id in span.relations}


def roles(language: str, text: str) -> set[str]:
    """Roles of which the whole text is one phrase."""
    words = words_of(text)
    return {role for length, role in roles_of(METHOD.parsing, language).at(words, 0) if length == len(words)}


@pytest.mark.parametrize(("language", "text", "id"), RELATIONS)
def test_a_relation_is_heard(language: str, text: str, id: str) -> None:
    assert {(role, id) for role in ("forward", "backward", "ends")} & heard(language, text)


@pytest.mark.parametrize(
    ("language", "word", "id"), [(at, *one) for at in LOOSE for one in LOOSE[at].items()]
)
def test_a_small_word_may_say_a_relation(language: str, word: str, id: str) -> None:
    assert ("loose", id) in heard(language, word)


@pytest.mark.parametrize(("language", "word", "ids"), SHARED)
def test_a_small_word_of_several_relations_may_say_all(language: str, word: str, ids: set[str]) -> None:
    assert ids <= {id for role, id in heard(language, word) if role == "loose"}


@pytest.mark.parametrize(("language", "text", "role"), ROLES)
def test_words_of_grammar_have_their_role(language: str, text: str, role: str) -> None:
    assert role in roles(language, text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_that_say_nothing_are_known_as_such(language: str) -> None:
    words = words_of(FUNCTION[language])
    stop, found = compiled(METHOD.questions).languages[language].stop, roles_of(METHOD.parsing, language)
    covered = {
        i for at in range(len(words)) for length, _ in found.at(words, at) for i in range(at, at + length)
    }
    assert [word for i, word in enumerate(words) if i not in covered and word not in stop] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_small_words_alone_are_no_phrase_of_a_relation(language: str) -> None:
    """ "is in" says no more than "in": it must not be taken for a verb."""
    stop = compiled(METHOD.questions).languages[language].stop
    copulas = [word for word in ("is", "are", "est", "sont", "ist", "sind", "ειναι") if word in stop]
    for word in copulas:
        assert not {role for role, _ in heard(language, word)} - {"loose"}


@pytest.mark.parametrize(("language", "text"), [
    ("en", "the cups in the collection"), ("fr", "les coupes dans la collection"),
    ("de", "die Becher in der Sammlung"), ("el", "τα κύπελλα στη συλλογή"),
])  # fmt: skip
def test_the_collection_as_such_is_no_relation(language: str, text: str) -> None:
    assert not {id for role, id in heard(language, text) if role in ("forward", "backward")} & {
        "collection",
        "owned_by",
    }


@pytest.mark.parametrize(("language", "text", "gone"), [
    ("en", "icons painted by monks", "died_in"), ("en", "works made in Ghent", "died_on"),
    ("fr", "une coupe en argent", "died_in"), ("de", "Uhren aus Genf", "died_in"), ("el", "σπαθιά από ατσάλι", "died_in"),
])  # fmt: skip
def test_what_is_not_said_is_not_heard(language: str, text: str, gone: str) -> None:
    assert not {id for role, id in heard(language, text) if role in ("forward", "backward", "ends")} & {gone}


@pytest.mark.parametrize(("word", "value"), NUMBERS.items())
def test_number_words(word: str, value: int) -> None:
    assert METHOD.sets.answers.numbers[word] == value
