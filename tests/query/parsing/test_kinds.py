"""From words of a question to the types, classes and categories by which a data set knows what they name."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmrag_query.artifacts.release import open_release
from crmrag_query.config import load_method
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.kinds import RANK, KindMatch, Kinds
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import Compute, Plan, Target
from crmrag_query.questions.lexicon import Number
from crmrag_query.text import tokenize
from tests.support.builds import build_all, make_project
from tests.support.planworlds import sample_of
from tests.support.small_world import small_world

METHOD = load_method()
BROADER = METHOD.profile.broader_properties
THING, ACTOR, EVENT = int(Category.Thing), int(Category.Actor), int(Category.Event)

MUSEUM = """
:painting a crm:E55_Type ; rdfs:label "paintings (visual works)"@en .
:oil a crm:E55_Type ; rdfs:label "oil painting"@en ; crm:P127_has_broader_term :painting .
:fresco a crm:E55_Type ; rdfs:label "fresco"@en .
aat:300046300 a crm:E55_Type ; rdfs:label "Lichtbilder und anderes" .
:coin a crm:E55_Type ; rdfs:label "coin"@en .
:basket a crm:E55_Type ; rdfs:label "lidded basket with handle"@en .
:cup a crm:E55_Type ; rdfs:label "standing cup"@en ; skos:broader :metalwork .
:metalwork a crm:E55_Type ; rdfs:label "metalwork"@en .
:object a crm:E55_Type ; rdfs:label "object"@en .
:unused a crm:E55_Type ; rdfs:label "tapestry"@en .
:female a crm:E55_Type ; rdfs:label "female"@en .
:a a crm:E22_Man-Made_Object ; rdfs:label "A" ; crm:P2_has_type :painting .
:b a crm:E22_Man-Made_Object ; rdfs:label "B" ; crm:P2_has_type :oil .
:c a crm:E22_Man-Made_Object ; rdfs:label "C" ; crm:P2_has_type :oil, :painting .
:d a crm:E22_Man-Made_Object ; rdfs:label "D" ; crm:P2_has_type :fresco .
:e a crm:E22_Man-Made_Object ; rdfs:label "E" ; crm:P2_has_type aat:300046300 .
:f a crm:E22_Man-Made_Object ; rdfs:label "F" ; crm:P2_has_type :coin, :object .
:g a crm:E22_Man-Made_Object ; rdfs:label "G" ; crm:P2_has_type :basket .
:h a crm:E22_Man-Made_Object ; rdfs:label "H" ; crm:P2_has_type :cup .
:i a crm:E39_Actor ; rdfs:label "I" ; crm:P2_has_type :female .
:j a crm:E39_Actor ; rdfs:label "J" .
:t a crm:E35_Title ; rdfs:label "T" .
:making a crm:E12_Production ; rdfs:label "making of F" ; crm:P108_has_produced :f ; crm:P2_has_type :coin .
"""


class Asked:
    """The kinds of a data set, asked in words; types by the last part of their IRIs."""

    def __init__(self, turtle: str, folder: Path) -> None:
        self.world = sample_of(turtle, folder).world
        self.kinds = Kinds(self.world, METHOD.kinds, BROADER)

    def all(self, question: str, language: str = "en") -> tuple[KindMatch, ...]:
        return self.kinds.at(tokenize(question), language)

    def first(self, question: str, language: str = "en") -> KindMatch:
        return self.all(question, language)[0]

    def types(self, match: KindMatch) -> set[str]:
        return {self.world.graph.iri(node).rsplit("/", 1)[1] for node in match.types}


@pytest.fixture(scope="module")
def museum(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return Asked(MUSEUM, tmp_path_factory.mktemp("museum"))


# by a type's own name


def test_a_plural_finds_a_type_whose_label_has_a_qualifier(museum: Asked) -> None:
    found = museum.first("Which paintings are here?")
    assert (found.first, found.last, found.how, found.number) == (1, 2, "type", Number.MANY)
    assert museum.types(found) == {"painting"}


def test_a_type_counts_those_of_narrower_types_once(museum: Asked) -> None:
    assert museum.first("painting").count == 3  # a, b by the narrower type, c by both
    assert museum.first("oil paintings").count == 2


def test_longest_name_comes_first_and_the_shorter_one_inside_follows(museum: Asked) -> None:
    spans = [(one.first, one.last, museum.types(one)) for one in museum.all("oil paintings")]
    assert spans == [(0, 2, {"oil"}), (1, 2, {"painting"})]


def test_a_type_that_nothing_has_is_left_out(museum: Asked) -> None:
    (found,) = museum.all("tapestries")
    assert (found.how, found.count, found.types, found.kind) == ("lexicon", 0, (), "tapestry")


def test_count_is_what_a_plan_for_the_type_counts(museum: Asked) -> None:
    for word in ("painting", "oil painting", "basket", "fresco", "metalwork", "women"):
        found = museum.first(word)
        iris = tuple(museum.world.graph.iri(node) for node in found.types)
        plan = Plan(target=Target(types=iris), compute=Compute(kind="count"))
        assert execute(plan, museum.world).value == found.count > 0, word


def test_narrower_types_that_only_skos_tells_are_named_one_by_one(museum: Asked) -> None:
    assert museum.types(museum.first("metalwork")) == {"metalwork", "cup"}


def test_a_type_stated_from_both_ends_counts_once(tmp_path: Path) -> None:
    asked = Asked(
        """:bowl a crm:E55_Type ; rdfs:label "bowl" ; crm:P2i_is_type_of :x, :y .
        :x a crm:E22_Human-Made_Object ; crm:P2_has_type :bowl . :y a crm:E22_Human-Made_Object .""",
        tmp_path,
    )
    assert asked.first("bowls").count == 2


def test_spread_tells_of_which_categories_the_entities_are(museum: Asked) -> None:
    found = museum.first("coins")
    assert found.spread == ((THING, 1), (EVENT, 1))
    assert (found.categories, found.count) == (THING, 1)  # coins are things: the production is left out


# by a name's head


def test_a_head_finds_longer_names_only_where_none_is_just_that(museum: Asked) -> None:
    found = museum.first("baskets")
    assert (found.how, museum.types(found), found.kind) == ("head", {"basket"}, "basket")
    assert museum.first("paintings").how == "type"


def test_a_word_within_a_name_is_no_head(museum: Asked) -> None:
    assert all(not one.types for one in museum.all("handles"))


def test_the_head_of_a_compound_is_its_end(tmp_path: Path) -> None:
    asked = Asked(
        ':oel a crm:E55_Type ; rdfs:label "Ölgemälde"@de . :x a crm:E22_Human-Made_Object ; crm:P2_has_type :oel .',
        tmp_path,
    )
    found = asked.first("Welche Gemälde", "de")
    assert (found.how, asked.types(found)) == ("head", {"oel"})
    assert not any(one.types for one in asked.all("und aus", "de"))


@pytest.mark.parametrize(("label", "language", "word"), [
    ("peinture à l'huile", "fr", "peintures"),
    ("Handschriften mit Miniaturen", "de", "Handschrift"),
    ("κτητορική επιγραφή", "el", "επιγραφές"), ("προσωπογραφία δωρητών", "el", "προσωπογραφίες"),
    ("Manuscripts & Rare Books", "en", "book"),
])  # fmt: skip
def test_heads_stand_where_the_language_puts_them(
    label: str, language: str, word: str, tmp_path: Path
) -> None:
    turtle = f':k a crm:E55_Type ; rdfs:label "{label}"@{language} . :x a crm:E22_Human-Made_Object ; crm:P2_has_type :k .'
    asked = Asked(turtle, tmp_path)
    found = asked.first(word, language)
    assert (found.how, asked.types(found)) == ("head", {"k"})


# by the lexicon


@pytest.mark.parametrize(("question", "language", "types"), [
    ("Welche Gemälde gibt es?", "de", {"painting"}),
    ("quels tableaux", "fr", {"painting"}),
    ("ποια νομίσματα", "el", {"coin"}),
    ("wie viele Münzen", "de", {"coin"}),
    ("des monnaies", "fr", {"coin"}),
    ("γυναίκες ζωγράφοι", "el", {"female"}),
    ("women artists", "en", {"female"}),
])  # fmt: skip
def test_another_word_or_language_leads_to_the_type(
    museum: Asked, question: str, language: str, types: set[str]
) -> None:
    found = next(one for one in museum.all(question, language) if one.types)
    assert (found.how, museum.types(found)) == ("lexicon", types)


def test_an_identifier_of_the_thesaurus_tells_what_a_label_does_not(museum: Asked) -> None:
    found = museum.first("photographs")
    assert (found.how, museum.types(found)) == ("lexicon", {"300046300"})


@pytest.mark.parametrize("iri", [
    "http://vocab.getty.edu/aat/300033618", "https://vocab.getty.edu/aat/300033618", "aat:300033618",
])  # fmt: skip
def test_identifiers_in_any_of_their_forms(iri: str, tmp_path: Path) -> None:
    asked = Asked(
        f":x a crm:E22_Human-Made_Object ; crm:P2_has_type <{iri}> . <{iri}> a crm:E55_Type .", tmp_path
    )
    assert asked.first("Gemälde", "de").count == 1


def test_types_of_several_vocabularies_are_one_kind(tmp_path: Path) -> None:
    asked = Asked(
        """:one a crm:E55_Type ; rdfs:label "watercolour"@en . :two a crm:E55_Type ; rdfs:label "Aquarell"@de .
        :x a crm:E22_Human-Made_Object ; crm:P2_has_type :one . :y a crm:E22_Human-Made_Object ; crm:P2_has_type :two .""",
        tmp_path,
    )
    found = asked.first("watercolors")
    assert (asked.types(found), found.count) == ({"one", "two"}, 2)
    assert asked.types(asked.first("Aquarelle", "de")) == {"one", "two"}


def test_a_name_that_means_something_else_in_another_language_is_no_kind(tmp_path: Path) -> None:
    asked = Asked(
        """:church a crm:E55_Type ; rdfs:label "church"@en, "εκκλησία"@el .
        :nave a crm:E55_Type ; rdfs:label "nave"@en, "ναός"@el .
        :male a crm:E55_Type ; rdfs:label "male" .
        :x a crm:E22_Human-Made_Object ; crm:P2_has_type :church . :y a crm:E22_Human-Made_Object ; crm:P2_has_type :nave .
        :z a crm:E21_Person ; crm:P2_has_type :male .""",
        tmp_path,
    )
    assert asked.types(asked.first("churches")) == {"church"}
    assert not any(one.types for one in asked.all("Maler", "de"))


def test_a_kind_near_the_one_that_is_lacking_says_so(museum: Asked) -> None:
    found = museum.first("Wandmalereien", "de")
    assert (found.how, museum.types(found), found.kind) == ("like", {"fresco"}, "mural")


def test_kinds_that_are_near_are_not_one(tmp_path: Path) -> None:
    asked = Asked(
        """:boot a crm:E55_Type ; rdfs:label "boots"@en . :shoe a crm:E55_Type ; rdfs:label "shoes"@en .
        :x a crm:E22_Human-Made_Object ; crm:P2_has_type :boot . :y a crm:E22_Human-Made_Object ; crm:P2_has_type :shoe .""",
        tmp_path,
    )
    assert asked.types(asked.first("Stiefel", "de")) == {"boot"}
    assert asked.types(asked.first("chaussures", "fr")) == {"shoe"}


def test_who_makes_a_kind_of_work_leads_to_those_works(museum: Asked) -> None:
    found = museum.first("painters")
    assert (found.role, found.categories, found.count) == ("maker", ACTOR, 0)
    assert {museum.world.graph.iri(node)[-8:] for node in found.makes} == {"painting"}


# generic kinds, classes, categories


def test_works_are_objects_and_not_their_titles(museum: Asked) -> None:
    found = museum.first("which works")
    assert (found.how, found.generic, found.classes, found.count) == ("class", True, ("E22",), 8)


def test_a_word_may_be_a_type_and_a_generic_kind(museum: Asked) -> None:
    both = museum.all("objects")
    assert [(one.how, one.generic, one.first, one.last) for one in both] == [
        ("type", False, 0, 1),
        ("class", True, 0, 1),
    ]


def test_artists_are_actors_who_made_something(museum: Asked) -> None:
    found = museum.first("Künstlerinnen", "de")
    assert (found.classes, found.role, found.categories, found.count) == (("E39",), "maker", ACTOR, 2)


def test_persons_are_all_actors_where_no_class_says_person(museum: Asked) -> None:
    found = museum.first("persons")
    assert (found.how, found.classes, found.categories, found.count) == ("category", (), ACTOR, 2)


def test_a_class_that_the_data_lacks_has_no_entities(museum: Asked) -> None:
    found = museum.first("births")
    assert (found.how, found.classes, found.count) == ("class", (), 0)


@pytest.mark.parametrize("words", ["human-made objects", "man-made object"])
def test_classes_are_found_by_their_names_of_any_version(museum: Asked, words: str) -> None:
    found = museum.first(words)
    assert (found.how, found.classes, found.count) == ("class", ("E22",), 8)


def test_a_class_of_linked_art_is_found_by_its_words(tmp_path: Path) -> None:
    asked = Asked(':x a <https://linked.art/ns/terms/DigitalService> ; rdfs:label "X" .', tmp_path)
    assert asked.first("digital services").classes == ("linked_art:DigitalService",)


def test_a_class_of_another_vocabulary_is_found_by_its_iri(tmp_path: Path) -> None:
    asked = Asked(':x a <http://example.org/terms#LooseSheet> ; rdfs:label "X" .', tmp_path)
    assert asked.first("loose sheets").classes == ("http://example.org/terms#LooseSheet",)


def test_a_target_of_the_classes_counts_the_same(museum: Asked) -> None:
    for word in ("works", "artists", "titles", "man-made objects", "productions"):
        found = museum.first(word)
        plan = Plan(target=Target(classes=found.classes), compute=Compute(kind="count"))
        assert execute(plan, museum.world).value == found.count > 0, word


# all of it


def test_a_language_without_a_lexicon_is_read_as_any(museum: Asked) -> None:
    assert museum.types(museum.first("Gemälde", "xx")) == {"painting"}


def test_nothing_in_nothing(museum: Asked, tmp_path: Path) -> None:
    assert museum.all("") == ()
    assert museum.kinds.at(("", ""), "en") == ()
    assert Asked(':x a crm:E21_Person ; rdfs:label "X" .', tmp_path).first("paintings").count == 0


def test_a_release_has_its_kinds_made_once(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project", small_world())
    build_all(project.context())
    release = open_release(project.dataset, project.data)
    kinds = release[Kinds]
    assert release[Kinds] is kinds
    for question, language in (("churches", "en"), ("Kirchen", "de"), ("églises", "fr"), ("εκκλησίες", "el")):
        found = kinds.at(tokenize(question), language)[0]
        assert ([release[Graph].iri(node) for node in found.types], found.count) == (
            ["http://example.org/church"],
            5,
        )


@cache
def _words() -> list[str]:
    lists = (words for kind in METHOD.kinds.kinds.values() for words in kind.words.values())
    return sorted({token for words in lists for word in words for token in tokenize(word)})


SPOKEN = st.lists(st.one_of(st.sampled_from(_words()), st.text(max_size=12)), max_size=12)


@given(words=SPOKEN, language=st.sampled_from(["en", "fr", "de", "el", "nl", "xx", ""]))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_words_give_matches_that_lie_within_them(museum: Asked, words: list[str], language: str) -> None:
    found = museum.kinds.at(words, language)
    assert found == museum.kinds.at(words, language)
    assert all(0 <= one.first < one.last <= len(words) for one in found)
    assert [(one.first, -one.last, RANK[one.how]) for one in found] == sorted(
        (one.first, -one.last, RANK[one.how]) for one in found
    )
    assert all(one.count > 0 for one in found if one.types)
    assert all(one.types or one.classes or one.categories for one in found)
