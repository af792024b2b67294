"""The names of a question: no longer than what is one thing, no statements, and all that bear them."""

from __future__ import annotations

import pytest

from crmrag_query.linking import Mention
from crmrag_query.parsing.heard import analysed
from crmrag_query.parsing.kinds import Kinds
from crmrag_query.parsing.lexicon import compiled_relations
from crmrag_query.parsing.names import Namesakes, refined
from crmrag_query.questions.lexicon import compiled
from crmrag_query.questions.words import asked
from tests.support.parse_world import Museum


def names(gallery: Museum, question: str) -> dict[str, set[str]]:
    """The words of each name -> keys of what it may mean; of what is no whole name, nothing."""
    release = gallery.release
    analysis = analysed(release, question)
    language = compiled(release.method.questions).languages[analysis.reading.language]
    heard = asked(analysis.reading.question, language.capitals_name, ())
    kinds = release[Kinds].at(heard.words, language.code)
    spans = compiled_relations(release.method.relations, language.code).spans(heard.words)
    found: list[Mention] = refined(release, analysis.mentions, heard, kinds, spans, language)
    return {
        " ".join(heard.words[one.first : one.last]): {
            gallery.key(e.entity) for e in one.entities if e.how != "partial"
        }
        for one in found
    }


@pytest.mark.parametrize(("question", "name", "keys"), [
    ("Who painted Nocturne?", "nocturne", {"p15"}),
    ("Which works did Claire Duvernay make?", "claire duvernay", {"duvernay"}),
    ("Which works did Jan Verhoeck make?", "jan verhoeck", {"verhoeck", "verhoeck2"}),
    ("Which works were shown at the Winter Salon?", "winter salon", {"salon"}),
    ("Who made The Girl with a Horse?", "girl with a horse", {"p12"}),
    ("Who made Saint George?", "saint george", {"george", "s3"}),
    ("Welche Werke zeigen Florenz?", "florenz", {"florence"}),
    ("Ποια έργα έγιναν στη Φλωρεντία;", "φλωρεντια", {"florence"}),
])  # fmt: skip
def test_a_name_is_found_with_all_that_bear_it(
    gallery: Museum, question: str, name: str, keys: set[str]
) -> None:
    found = names(gallery, question)
    assert any(set(words.split()) >= set(name.split()) and found[words] == keys for words in found), found


def test_a_statement_is_no_name_of_what_it_tells(gallery: Museum) -> None:
    """A medium says "carved marble"; nothing is called so."""
    for question in ("Which works are of carved marble?", "Which sculptures are cast bronze?"):
        keys = set().union(*names(gallery, question).values())
        assert not [key for key in keys if key.startswith("medium-")], question


def test_a_name_ends_where_the_words_of_the_question_begin(gallery: Museum) -> None:
    """ "painted Nocturne" is no name, whatever of it the linker may take for a part of one."""
    for words in names(gallery, "Which paintings were made by Pietro Salvemini in Siena?"):
        assert len(words.split()) == 1 or not {"made", "by", "in", "paintings"} & set(words.split())


def test_names_are_whatever_is_written_large(gallery: Museum) -> None:
    assert names(gallery, "who painted nocturne?")["nocturne"] == {"p15"}


@pytest.mark.parametrize(("name", "keys"), [
    ("Jan Verhoeck",
     {"verhoeck", "verhoeck2"}), ("verhoeck jan", {"verhoeck", "verhoeck2"}), ("Claire Duvernay", {"duvernay"}),
    ("Verhoeck", set()), ("Nobody", set()), ("", set()), ("Saint George", {"george", "s3"}),
])  # fmt: skip
def test_namesakes_are_all_of_that_whole_name(gallery: Museum, name: str, keys: set[str]) -> None:
    namesakes = Namesakes(gallery.release)
    assert {gallery.key(node) for node in namesakes(name)} == keys
    assert namesakes(name) is namesakes(name)
