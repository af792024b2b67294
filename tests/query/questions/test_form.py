"""What a question asks for is read from its words, in several languages: yes/no before all, number by its noun."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.config import load_method
from crmrag_query.config.reading import default_folder
from crmrag_query.language import READ
from crmrag_query.questions.form import Form, read_question
from crmrag_query.questions.lexicon import compiled

LEXICON = load_method().questions
SPECIFIC, ENUMERATION, AGGREGATION = Form.SPECIFIC, Form.ENUMERATION, Form.AGGREGATION

ENGLISH = {
    SPECIFIC: """
        Who painted the apse of Asinou?
        Who gave the Greek vase to the museum?
        Which artist created Untitled No. 5?
        Which sculptor made the bust, when and in what stone?
        When was it built and which village is it in?
        In what year did Homer die?
        On which wall is the Last Judgment painted?
        What is the accession number of the gold coin?
        What's the title of the work with number 1944.100.51606?
        What materials is the chair made of?
        What is it made of?
        What are the dimensions of the vase?
        What does the inscription say?
        What happened to the church in 1735?
        How tall is the statue?
        Where are the drawings by Ruskin kept?
        Tell me about the Virgin of Mercy.
        Can you tell me more about Winslow Homer?
        Describe the bronze statue of the boxer
        Give me the birth date of Mary Cassatt
        Could you tell me where Sargent was born?
        Who are the two people in Kindred Spirits, and who painted it?
        Mona Lisa
        Rattlesnake by Remington - date and material?
        Who is the creator of "All the Most Beautiful Things"?
        What is known about the provenance of this?
    """,
    ENUMERATION: """
        Which churches are in Cyprus?
        Which works date from 2000 or later?
        Which artists have at least two works here?
        Which people are depicted on the north wall?
        Which furniture is by Stickley?
        Which of those are in Cyprus?
        Which ones are made of bronze?
        In which churches can I see Saint Anastasia?
        What churches in Cyprus have Last Judgment iconography?
        What paintings did Homer make in Cuba?
        What kind of characters are depicted in the narthex?
        What was found at Salamis?
        What did Tiffany design?
        What do you have from before 1500?
        What else did he make?
        Who are the donors of the museum?
        Who painted landscapes of Maine?
        And who painted the rest?
        Name all saints shown in the apse.
        Could you please list the coins from Athens?
        Show me pictures with lions
        I am looking for drawings of horses
        I'd like to see the etchings by Whistler.
        Everything by Hokusai
        paintings by Monet
        And any with lions?
        Do you have any other works by him?
        Is he painted anywhere else?
        Which is the birth place of an artist?
        I am researching miniatures. Which miniatures are painted on ivory?
        Tell me more about the donors depicted in the church
    """,
    AGGREGATION: """
        How many murals show Saint George?
        Can you tell me how many coins there are?
        What's the number of etchings from before 1850?
        Who is the youngest artist?
        Which artist has the most works?
        What are the five most common materials?
        Who is portrayed most often? Give the top three sitters.
        In which church have the most images been recorded?
        List the first five campaigns in chronological order.
        Count the paintings by decade
        Rank the makers by number of works.
        Break down the works by city.
        Split the works by Homer by kind of object.
        For every village, how many churches are recorded?
        Per church, how many images have been recorded?
        Which kinds of object are there, and how many of each?
        Who has more works, Homer or Sargent?
        What percentage of objects are dated?
    """,
}
YES_NO = """
    Is there a list of all paintings by Homer?
    Are there any works by women?
    Did Whistler ever paint in Venice?
    Does the collection include paintings, prints or drawings by Cassatt?
    Do you have any paintings of ships?
    Was this church ever restored?
    Have any of these works been exhibited abroad?
    Is the oldest coin from Athens?
    Y a-t-il des tableaux de Monet ?
    Le musée possède-t-il des aquarelles de Homer ?
    Est-ce que vous avez toutes les gravures de Goya ?
    Avez-vous des photographies de Venise ?
    Gibt es Bilder von Monet?
    Besitzt das Museum alle Gemälde von Vermeer?
    Haben Sie Fotografien von Ansel Adams?
    Υπάρχουν πίνακες του Μονέ;
    Έχει το μουσείο όλα τα έργα του Βερμέερ;
    Είναι η Ασίνου στην Κύπρο;
    Ci sono quadri di Monet?
    C'è una lista di tutti i dipinti di Tiziano?
    Il museo possiede tutti i quadri di Vermeer?
    È il più antico?
    È stata restaurata la chiesa?
    Avete fotografie di Venezia?
    Esistono opere di donne?
    Tiziano ha dipinto a Venezia?
    ¿Hay cuadros de Monet?
    ¿Existe una lista de todos los cuadros de Goya?
    ¿El museo posee todos los cuadros de Vermeer?
    ¿Es el más antiguo?
    ¿Ha sido restaurada la iglesia?
    ¿Tienen fotografías de Venecia?
    ¿Existen obras de mujeres?
    ¿Está Asinou en Chipre?
    Heeft het museum schilderijen van Vermeer?
"""
OTHERS = {
    "fr": {
        SPECIFIC: """
            Qui a sculpté le buste de Lincoln ?
            Où est née Mary Cassatt ?
            Quel artiste a peint ce tableau ?
            Dans quel village se trouve l'église ?
            De quand date l'église et où se trouve-t-elle ?
            Que représente la fresque de l'abside ?
            Parlez-moi du peintre Homer.
        """,
        ENUMERATION: """
            Quelles œuvres datent d'avant 1500 ?
            Quels artistes sont nés à Paris ?
            Montrez-moi les dessins de Ruskin.
            Citez toutes les églises de Chypre.
            Qui sont les donateurs ?
            Qu'avez-vous de Georgia O'Keeffe ?
            Lesquels sont en bronze ?
            Y en a-t-il d'autres ?
        """,
        AGGREGATION: """
            Combien de dessins y a-t-il ?
            Quel est le plus ancien objet ?
            Quel artiste a le plus d'œuvres ?
            Quels sont les cinq matériaux les plus fréquents ?
            Pour chaque siècle, combien de pièces ?
        """,
    },
    "de": {
        SPECIFIC: """
            Wer hat die Kirche gestiftet?
            Wo wurde Bierstadt geboren?
            Welche Kirche hat einen Narthex?
            Welche Kirche zeigt das Jüngste Gericht?
            Welcher Maler schuf das Porträt?
            In welcher Stadt starb sie?
            Aus welchen Materialien besteht die Büchse?
            Was stellt das Bild dar?
        """,
        ENUMERATION: """
            Welche Kirchen liegen auf Zypern?
            In welchen Kirchen ist Anastasia dargestellt?
            Welche davon sind aus Bronze?
            Was wurde in Baltimore hergestellt?
            Was haben Sie von Tiffany?
            Zeigen Sie mir die Zeichnungen von Ruskin.
            Nenne alle Heiligen in der Apsis.
            Wer waren die Stifter?
        """,
        AGGREGATION: """
            Wie viele Münzen gibt es?
            Was ist das älteste Objekt?
            Welcher Künstler hat die meisten Werke?
            Welche drei Künstler sind am häufigsten vertreten?
            Gruppiere die Werke nach Jahrhundert.
        """,
    },
    "el": {
        SPECIFIC: """
            Ποιος ζωγράφισε την αψίδα;
            Πού βρίσκεται η εκκλησία;
            Πότε χτίστηκε ο ναός;
            Ποια εκκλησία έχει τη Δευτέρα Παρουσία;
            Σε ποιο χωριό βρίσκεται;
            Τι συμβολίζει ο σταυρός;
            Πες μου για τη Φορβιώτισσα.
        """,
        ENUMERATION: """
            Ποιες εκκλησίες βρίσκονται στην Κύπρο;
            Ποια έργα είναι από μπρούντζο;
            Ποιοι άγιοι εικονίζονται στον νάρθηκα;
            Δείξε μου τα έργα του Θεοφάνη.
            Απαρίθμησε όλες τις εκκλησίες.
            Τι έχετε από τον 18ο αιώνα;
            Τι ζωγραφίστηκε μετά το 1350;
            Υπάρχουν άλλες;
        """,
        AGGREGATION: """
            Πόσες εικόνες υπάρχουν στον νάρθηκα;
            Ποιο είναι το παλαιότερο έργο;
            Ποιος καλλιτέχνης έχει τα περισσότερα έργα;
            Πόσα έργα υπάρχουν ανά αιώνα;
        """,
    },
    "it": {
        SPECIFIC: """
            Chi ha dipinto l'abside di Asinou?
            Quale artista ha creato questo quadro?
            Dove si trova la chiesa?
            Quando è stata costruita la chiesa?
            Quando nacque Tiziano?
            Quanto è alta la statua?
            In quale villaggio si trova la chiesa?
            Cosa rappresenta l'affresco dell'abside?
            Che cosa significa il simbolo?
            Qual è il numero di inventario della moneta?
            Di che materiale è fatta la sedia?
            Parlami di Tiziano.
            Descrivi la statua di bronzo
            Dimmi dove è nato Tiziano
            Quali sono le dimensioni del vaso?
            Chi era Mary Cassatt?
            Perché fu costruita?
        """,
        ENUMERATION: """
            Quali chiese si trovano a Cipro?
            Quali dipinti sono di Tiziano?
            Quali artisti sono nati a Roma?
            Quali opere risalgono al XVIII secolo?
            In quali chiese è raffigurata sant'Anna?
            Mostrami i disegni di Ruskin.
            Elenca tutte le chiese di Cipro.
            Che opere avete di Tiziano?
            Che cosa è stato prodotto a Baltimora?
            Chi sono i donatori?
            Quali di queste sono di bronzo?
            Cos'altro ha fatto?
            Ce ne sono altre?
            Dammi un elenco di monete
        """,
        AGGREGATION: """
            Quanti disegni ci sono?
            Quante opere di Tiziano possiede il museo?
            Qual è l'oggetto più antico?
            Quale artista ha più opere?
            Quali sono i cinque materiali più frequenti?
            Qual è il numero di opere del museo?
            Quante monete ci sono per secolo?
            Raggruppa le opere per secolo.
            Quali artisti hanno il maggior numero di opere?
            Per ogni secolo, quante monete?
        """,
    },
    "es": {
        SPECIFIC: """
            ¿Quién pintó el ábside de Asinou?
            ¿Qué artista creó este cuadro?
            ¿Dónde está la iglesia?
            ¿Cuándo se construyó la iglesia?
            ¿Cuándo nació Velázquez?
            ¿Cuánto mide la estatua?
            ¿En qué pueblo se encuentra la iglesia?
            ¿Qué representa el fresco del ábside?
            ¿Qué significa el símbolo?
            ¿Cuál es el número de inventario de la moneda?
            ¿De qué material está hecha la silla?
            Háblame de Velázquez.
            Describe la estatua de bronce
            Dime dónde nació Velázquez
            ¿Cuáles son las dimensiones del jarrón?
            ¿Quién era Mary Cassatt?
            ¿Por qué fue construida?
        """,
        ENUMERATION: """
            ¿Qué iglesias hay en Chipre?
            ¿Cuáles son las obras de Velázquez?
            ¿Qué artistas nacieron en Roma?
            ¿Qué obras datan del siglo XVIII?
            ¿En qué iglesias aparece santa Ana?
            Muéstrame los dibujos de Ruskin.
            Enumera todas las iglesias de Chipre.
            ¿Qué obras tienen de Velázquez?
            ¿Qué se ha producido en Baltimore?
            ¿Quiénes son los donantes?
            ¿Cuáles de estas son de bronce?
            ¿Qué más hizo?
            ¿Hay otras?
            Dame una lista de monedas
        """,
        AGGREGATION: """
            ¿Cuántos dibujos hay?
            ¿Cuántas obras de Velázquez tiene el museo?
            ¿Cuál es el objeto más antiguo?
            ¿Qué artista tiene más obras?
            ¿Cuáles son los cinco materiales más frecuentes?
            ¿Cuál es el número de obras del museo?
            ¿Cuántas monedas hay por siglo?
            Agrupa las obras por siglo.
            ¿Qué artistas tienen el mayor número de obras?
        """,
    },
    "nl": {
        SPECIFIC: "Wie schilderde dit portret?\nWelk museum bezit Irissen?",
        ENUMERATION: "Welke schilderijen zijn van voor 1900?\nToon me alle werken van Homer.",
        AGGREGATION: "Hoeveel tekeningen zijn er?",
    },
}
CASES = [
    (question.strip(), form, language)
    for language, by_form in {"en": ENGLISH, **OTHERS}.items()
    for form, lines in by_form.items()
    for question in lines.strip().splitlines()
]


@pytest.mark.parametrize(("question", "form", "language"), CASES, ids=[case[0] for case in CASES])
def test_form_and_language(question: str, form: Form, language: str) -> None:
    reading = read_question(question, LEXICON)
    assert (reading.form, reading.language) == (form, language), reading.rule


@pytest.mark.parametrize("question", [line.strip() for line in YES_NO.strip().splitlines()])
def test_a_yes_no_question_asks_for_one_fact_whatever_it_lists(question: str) -> None:
    assert read_question(question, LEXICON).form is SPECIFIC


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("Which painting shows a lion?", SPECIFIC),
        ("Which paintings show a lion?", ENUMERATION),
        ("Welche Skulptur ist aus Marmor?", SPECIFIC),
        ("Welche Skulpturen sind aus Marmor?", ENUMERATION),
        ("Quelle sculpture est en marbre ?", SPECIFIC),
        ("Quelles sculptures sont en marbre ?", ENUMERATION),
        ("Ποιο άγαλμα είναι από μάρμαρο;", SPECIFIC),
        ("Ποια αγάλματα είναι από μάρμαρο;", ENUMERATION),
        ("Welches Gemälde ist aus Rom?", SPECIFIC),
        ("Welche Gemälde sind aus Rom?", ENUMERATION),
        ("Mostrami la pieve", SPECIFIC),
        ("Mostrami le pievi", ENUMERATION),
        ("Muéstrame la ermita", SPECIFIC),
        ("Muéstrame las ermitas", ENUMERATION),
        ("Which bulto is by him?", SPECIFIC),
        ("Which bultos are by him?", ENUMERATION),
        ("Show me the church of Asinou", SPECIFIC),
        ("Show me the churches of Cyprus", ENUMERATION),
    ],
)
def test_one_or_many_goes_by_the_noun(question: str, form: Form) -> None:
    assert read_question(question, LEXICON).form is form


@pytest.mark.parametrize(
    "question",
    [
        "Who painted “The Most Beautiful Ship”?",
        'When was "How Many Miles to Babylon" made?',
        "Where is „Die meisten Menschen“?",
        "Who made The Oldest House?",
    ],
)
def test_words_of_a_title_are_no_words_of_the_question(question: str) -> None:
    assert read_question(question, LEXICON).form is SPECIFIC


def test_a_count_asks_for_a_number_and_a_ranking_does_not() -> None:
    assert read_question("How many works are there?", LEXICON).counts
    assert not read_question("Which artist has the most works?", LEXICON).counts
    for question in ("Quante chiese ci sono?", "¿Cuántas iglesias hay?", "Qual è il numero di chiese?"):
        assert read_question(question, LEXICON).counts
    for question in ("Qual è il numero di inventario?", "¿Cuál es el número de inventario?"):
        assert not read_question(question, LEXICON).counts


def test_in_italian_a_verb_with_its_accent_asks_and_the_conjunction_does_not() -> None:
    assert read_question("È di Roma?", LEXICON).rule == "yes/no"
    assert read_question("E quali chiese?", LEXICON).form is ENUMERATION


@pytest.mark.parametrize("code", READ)
def test_a_language_file_is_small_and_says_what_forms_need(code: str) -> None:
    file = default_folder() / "languages" / f"{code}.yaml"
    assert file.stat().st_size < 40_000
    language = compiled(LEXICON).languages[code]
    assert (
        language.asking.single and language.opening.single and language.forms.polite.single and language.nouns
    )


def test_stop_words_are_no_content() -> None:
    assert read_question("Where is the church of Asinou?", LEXICON).content == ("church", "asinou")


def test_a_word_inside_another_is_no_phrase() -> None:
    assert read_question("Tell me about the percussion", LEXICON).form is SPECIFIC  # "per" is within


def test_letters_of_one_language_tell_what_words_leave_open_but_those_of_names_do_not() -> None:
    assert read_question("Was ändert 12/1987?", LEXICON, ["en"]).language == "de"
    assert read_question("Was Böhm a printer?", LEXICON, ["de"]).language == "en"


def test_a_foreign_title_does_not_change_the_language() -> None:
    assert read_question("Who painted La Fête du Village de la Vallée?", LEXICON).language == "en"


def test_a_lexicon_is_made_ready_once() -> None:
    assert compiled(LEXICON) is compiled(LEXICON)
    assert compiled(LEXICON) is not compiled(LEXICON.model_copy())


@given(st.text(max_size=200))
def test_any_text_can_be_read(question: str) -> None:
    reading = read_question(question, LEXICON)
    assert reading.language in READ
    assert set(reading.content) <= set(reading.words)
    assert all(0 <= head < len(reading.words) for head in reading.heads)


WORDS = sorted({word for case in CASES for word in case[0].split()})


@given(st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join))
def test_any_order_of_asking_words_can_be_read(question: str) -> None:
    assert read_question(question, LEXICON) == read_question(question, LEXICON)
