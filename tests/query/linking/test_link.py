"""What linking promises: the entities that a question names, whatever the spelling, and nothing for hostile input."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmrag_query.linking import (
    ENTITIES,
    SHORT_NUMBER,
    TOKENS,
    VARIANT,
    LinkedEntity,
    Mention,
    NameIndex,
    link,
    words_of,
)
from crmrag_query.text import tokenize
from tests.support.names import PLAIN, STOP, index_of

NAMES: tuple[str | tuple[int, str, int], ...] = (
    "Albert Bierstadt",                                  # 0
    "Woodville, Richard Caton",                          # 1
    "Παναγία Φορβιώτισσα",                               # 2
    "Asinou",                                            # 3
    "Church of the Holy Cross (Pelendri)",               # 4
    "church",                                            # 5
    "Mural Painting",                                    # 6
    "Tower of the Cathedral at Sens",                    # 7
    "Bergkam aan het Meer van Genève",                   # 8
    "diamond",                                           # 9
    "drawings (visual works)",                           # 10
    "Politics in an Oyster House",                       # 11
    "The Trappers",                                      # 12
    "Άγιος Νικόλαος της Στέγης",                         # 13
    "Lake Lucerne",                                      # 14
    "Les Iris / Irises",                                 # 15
    "Илья Репин",                                        # 16
    (17, "Head of a Young Man", 0),
    (17, "1986.12.3", 2),
    (18, "Bust of a Boy", 0),
    (18, "BM-123/4", 2),
    (19, "John Smith", 0),
    (20, "John Smith", 0),
    (21, "John Smith", 0),
    (22, "1850", 2),
    (22, "A Nameless Thing", 0),
    (23, "Saint George", 0),
    (24, "Saint George on Horseback", 0),
    (25, "The Who", 0),
    (26, "Gott mag", 0),
    (27, "An Elegy for Goethe", 0),
    (28, "Klopstocks Werke", 0),
    (29, "Friedrich Gottlieb Klopstock", 0),
)  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> NameIndex:
    return index_of(tmp_path_factory.mktemp("names"), *NAMES)


def found(index: NameIndex, question: str) -> dict[int, LinkedEntity]:
    return {one.entity: one for mention in link(index, question, STOP, PLAIN) for one in mention.entities}


def best(index: NameIndex, question: str) -> list[int]:
    """The first entity of each mention."""
    return [mention.entities[0].entity for mention in link(index, question, STOP, PLAIN)]


def test_a_short_word_of_one_sound_with_other_letters_is_another(index: NameIndex) -> None:
    assert set(found(index, "something by Goethe")) == {27}


def test_a_longer_name_that_a_word_is_as_much_of_is_found_beside_a_shorter(index: NameIndex) -> None:
    assert set(found(index, "poems by Klopstok")) == {28, 29}


@pytest.mark.parametrize(
    ("question", "entity", "how"),
    [
        ("What did Albert Bierstadt paint?", 0, "label"),
        ("Where was Bierstadt born?", 0, "partial"),
        ("Works by Richard Caton Woodville", 1, "label"),
        ("Break down Woodville's works by city", 1, "partial"),
        ("When was PANAGIA FORVIOTISSA built?", 2, "label"),
        ("When was Panagia Phorbiotissa built?", 2, "similar"),
        ("Πότε χτίστηκε η Παναγια Φορβιωτισσα;", 2, "label"),
        ("Who painted Asinu?", 3, "similar"),
        ("Τι δείχνει η Ασίνου;", 3, "label"),
        ("Where is Agios Nikolaos tis Stegis?", 13, "label"),
        ("What is at Pelendri?", 4, "partial"),
        ("Which pieces have diamonds?", 9, "similar"),
        ("List all drawings by women", 10, "label"),
        ("Politcs in an Oyster Hous: who painted it?", 11, "similar"),
        ("Wer malte „The Trappers“?", 12, "label"),
        ("What shows lake lucerne?", 14, "label"),
        ("When did van Gogh paint Irises?", 15, "label"),
        ("paintings of Ilya Repin", 16, "label"),
        ("What is 1986.12.3?", 17, "identifier"),
        ("Where is BM-123/4 kept?", 18, "identifier"),
        ("Who made Bergkam aan het Meer van Geneve", 8, "label"),
    ],
)
def test_a_name_is_found_however_it_is_written(
    index: NameIndex, question: str, entity: int, how: str
) -> None:
    linked = found(index, question)
    assert entity in linked
    assert linked[entity].how == how


def test_a_whole_name_as_it_stands_scores_one_but_for_the_prior(tmp_path: Path) -> None:
    index = index_of(tmp_path, "Albert Bierstadt", "Anna Held", degrees=(20, 20))
    linked = found(index, "about Albert Bierstadt")
    assert linked.keys() == {0} and linked[0].score == pytest.approx(1.0)


def test_scores_are_of_the_documented_formula(tmp_path: Path) -> None:
    """Two names, three words: one stands in both bags."""
    from math import log

    index = index_of(tmp_path, "Anna Bellows", "Clara Bellows", degrees=(1, 1))
    (mention,) = link(index, "about Anna", STOP, PLAIN)
    rare, shared = log(1 + 2 / 1), log(1 + 2 / 2)
    assert mention.entities[0].score == pytest.approx(rare / (rare + shared), abs=1e-3)
    (mention,) = link(index, "about Anna Bellow", STOP, PLAIN)  # a spelling of Bellows
    likely = (rare + VARIANT * shared) / (rare + shared)
    assert mention.entities[0].score == pytest.approx(likely, abs=1e-3)


def test_the_longest_name_wins_over_one_within_it(index: NameIndex) -> None:
    assert best(index, "Is there an image of Saint George on horseback?") == [24]
    assert best(index, "Is there an image of Saint George?") == [23]


def test_equal_names_are_all_candidates_the_best_connected_first(tmp_path: Path) -> None:
    index = index_of(tmp_path, "John Smith", "John Smith", "John Smith", degrees=(1, 30, 1))
    (mention,) = link(index, "works by John Smith", STOP, PLAIN)
    assert [one.entity for one in mention.entities] == [1, 0, 2]
    assert mention.entities[0].score > mention.entities[1].score == mention.entities[2].score


def test_a_part_that_many_names_share_scores_less(tmp_path: Path) -> None:
    one = index_of(tmp_path / "one", "Anna Kuerner", *(f"Emil Thing{n}" for n in range(60)))
    many = index_of(
        tmp_path / "many",
        *(f"{first} Kuerner" for first in ("Anna", "Bela", "Cara")),
        *(f"Emil Thing{n}" for n in range(60)),
    )
    alone, among = (found(index, "works of Kuerner")[0].score for index in (one, many))
    assert among < alone < 1


def test_a_common_word_names_what_it_is_as_good_as_a_name_of(tmp_path: Path) -> None:
    """Of twenty things "(Asinou)" with long names one is the "Church of Asinou": Asinou is that one."""
    parts = (f"Mural of the northern wall number {n} (Asinou)" for n in range(20))
    churches = (f"Church of Saint {n}" for n in range(100))
    index = index_of(tmp_path, "Church of Asinou", *parts, *churches)
    assert list(found(index, "Tell me about Asinou.")) == [0]
    assert not found(index, "Tell me about a mural.")


def test_a_common_or_plain_word_names_nothing_by_itself_but_a_type_of_its_name(tmp_path: Path) -> None:
    churches = [f"Church of {place}" for place in ("Paphos", "Kition", "Dali", "Lefkara", "Akaki", "Nisou")]
    without = index_of(tmp_path / "a", *churches, *(f"House {place}" for place in "ABCDEFG"))
    assert link(without, "Which churches and museums and works are there?", STOP, PLAIN) == ()
    assert best(without, "Which church is in Kition?") == [1]
    with_type = index_of(tmp_path / "b", *churches, "Church")
    assert best(with_type, "Which churches are there?") == [6]


def test_a_plain_word_beside_a_name_does_not_make_it_that_of_a_longer_label(tmp_path: Path) -> None:
    """What is called by a name is meant by it, and not the label of something else that has a plain word as well."""
    index = index_of(
        tmp_path,
        "Holm chapel",
        "Cleaning of the paintings of Holm",
        *(f"Paintings of Place {n}" for n in range(9)),
    )
    assert next(iter(found(index, "Who paid for the paintings of Holm?"))) == 0
    assert best(index, "Who paid for the cleaning of the paintings of Holm?") == [1]


def test_stop_words_name_nothing_unless_they_are_quoted(index: NameIndex) -> None:
    assert 25 not in found(index, "Who was it, and the others?")
    assert 25 in found(index, 'What did "The Who" record?')


def test_a_year_is_hardly_a_number_of_an_object(index: NameIndex) -> None:
    assert found(index, "What was made before 1850?")[22].score <= SHORT_NUMBER


@pytest.mark.parametrize("marks", ['""', "“”", "„“", "«»", "‘’", "''"])
def test_a_quoted_stretch_is_one_name(index: NameIndex, marks: str) -> None:
    question = f"Who drew {marks[0]}Tower of the Cathedral at Sens{marks[1]} in Asinou?"
    assert best(index, question) == [7, 3]
    mention = link(index, question, STOP, PLAIN)[0]
    assert tokenize(question)[mention.first : mention.last] == [
        "tower", "of", "the", "cathedral", "at", "sens",
    ]  # fmt: skip


def test_a_quoted_name_does_not_join_with_what_stands_beside_it(index: NameIndex) -> None:
    assert best(index, "Is 'Saint George' on horseback?")[0] == 23


def test_tokens_do_as_well_as_the_text(index: NameIndex) -> None:
    for question in ("Where is BM-123/4 by Albert Bierstadt?", "Lake Lucerne and Asinou, 1986.12.3"):
        assert link(index, tokenize(question), STOP, PLAIN) == link(index, question, STOP, PLAIN)


def test_mentions_are_in_order_and_apart_with_bounded_sorted_candidates(tmp_path: Path) -> None:
    index = index_of(tmp_path, *(["John Smith"] * 50), "Asinou")
    mentions = link(index, "Asinou by John Smith, John Smith of Asinou", STOP, PLAIN)
    assert mentions[0].text == "asinou"
    for one, other in pairwise(mentions):
        assert one.last <= other.first
    for mention in mentions:
        scores = [(-one.score, one.entity) for one in mention.entities]
        assert scores == sorted(scores) and len(scores) <= ENTITIES
        assert all(0 < one.score <= 1 for one in mention.entities)


HOSTILE = [
    "", " ", "\x00\x01\x02", "😀🎨🖼️", "؟من رسم هذه اللوحة", "מי צייר את זה", "\u202eabc\u202c", "\ud800 lone",
    "'" * 5000, '"' * 5001, "„" * 5000, "((((", "<script>alert(1)</script>", "SELECT * WHERE {?s ?p ?o}",
    "a" * 100_000, "church " * 20_000, "Asinou " * 15_000, "Albrt Bierstdt Wodville " * 4_000, "1.2.3.4." * 12_000,
    "é" * 100_000, "ﷺ" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("question", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_questions_do_no_harm(index: NameIndex, question: str) -> None:
    for mention in link(index, question, STOP, PLAIN):
        assert mention.last <= TOKENS


@given(st.text(max_size=200))
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_taken(index: NameIndex, question: str) -> None:
    link(index, question, STOP, PLAIN)


def test_an_index_without_names_finds_nothing(tmp_path: Path) -> None:
    assert link(index_of(tmp_path), "Where is Asinou?", STOP, PLAIN) == ()


ALPHABETS = ("abcdefgilmnoprstuvz", "αβγδεζηθικλμνοπρστυφχψω", "абвгдежзиклмнопрстуфх")
WORD = st.sampled_from(ALPHABETS).flatmap(lambda letters: st.text(letters, min_size=3, max_size=9))
NAME = st.lists(WORD, min_size=1, max_size=6).map(" ".join)


def linkable(name: str) -> bool:
    return any(word not in STOP for word in words_of(name))


@given(st.lists(NAME, min_size=1, max_size=12), st.data())
@settings(max_examples=100)
def test_any_name_put_into_a_question_as_it_is_is_found(names: list[str], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        index = index_of(Path(folder), *names)
        chosen = data.draw(st.sampled_from(range(len(names))))
        if not linkable(names[chosen]) or any(word in index.stop for word in words_of(names[chosen])):
            return
        same = {i for i, name in enumerate(names) if set(words_of(name)) == set(words_of(names[chosen]))}
        for question in (f"what is {names[chosen]}", f'what is "{names[chosen]}"?', names[chosen].upper()):
            assert same & found(index, question).keys(), (question, link(index, question, STOP, PLAIN))


def plain(mentions: tuple[Mention, ...]) -> list[tuple[int, int, tuple[LinkedEntity, ...]]]:
    return [(mention.first, mention.last, mention.entities) for mention in mentions]


@given(
    st.permutations(
        ["Albert Bierstadt", "Lake Lucerne", "Saint George", "Richard Woodville", "Genève", "diamonds"]
    )
)
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_case_and_accents_change_nothing(index: NameIndex, parts: list[str]) -> None:
    question = "What about " + " or with ".join(parts)
    expected = plain(link(index, question, STOP, PLAIN))
    for same in (question.upper(), question.lower(), question.replace("e", "é"), question.replace("a", "ä")):
        assert plain(link(index, same, STOP, PLAIN)) == expected


@given(st.data())
@settings(max_examples=60)
def test_one_slip_in_a_long_word_that_one_name_has_is_forgiven(data: st.DataObject) -> None:
    word = data.draw(st.text("abdefgiklmnoprtuvz", min_size=8, max_size=12))
    at = data.draw(st.integers(0, len(word) - 1))
    slip = data.draw(
        st.sampled_from(
            [word[:at] + word[at + 1 :], word[:at] + "q" + word[at:], word[:at] + "q" + word[at + 1 :]]
        )
    )
    with tempfile.TemporaryDirectory() as folder:
        index = index_of(Path(folder), f"Anna {word}", "Bela Smith", "Cara Jones", "Dora Brown")
        assert 0 in found(index, f"works by {slip}")
