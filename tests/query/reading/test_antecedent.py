"""What went before as a plan, and how a further question changes it."""

from __future__ import annotations

import pytest

from crmrag_query.ontology.load import Category
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import (
    Among,
    Anchor,
    Compute,
    Constraint,
    Dated,
    Measure,
    Plan,
    Related,
    Target,
    Texted,
    Way,
)
from crmrag_query.plans.world import World
from crmrag_query.questions.followup import ConversationState, Focus
from crmrag_query.reading.earlier import antecedent_of
from crmrag_query.reading.records import Antecedent, as_list, changed, rest_of
from tests.support.parse_world import BASE, Museum

Where = tuple[Constraint, ...]
MADE, DATE = Way(relations=("created_by",)), Way(relations=("created_on",))
PRINTS = Target(types=(f"{BASE}print",))


def by(key: str, negated: bool = False) -> Related:
    return Related(way=MADE, to=Anchor(iris=(BASE + key,)), negated=negated)


BY_MAUBERT, BY_CASTELLI, BRONZE = (
    by("maubert"),
    by("castelli"),
    Related(way=Way(relations=("made_of",)), to=Anchor(iris=(f"{BASE}bronze",))),
)
OLD, NEW = Dated(way=DATE, end=600_000), Dated(way=DATE, begin=600_001)
LIONS, HORSES, NOTED = (
    Texted(texts=("lion",)),
    Texted(texts=("horse",)),
    Texted(texts=("lion",), way=Way(paths=(("P1",),))),
)
ONE = Among(iris=(f"{BASE}e1",))


@pytest.mark.parametrize(("before", "new", "after"), [
    # what is of the same kind takes its place
    ((BY_MAUBERT,), (BY_CASTELLI,), (BY_CASTELLI,)),
    ((OLD,), (NEW,), (NEW,)),
    ((LIONS,), (HORSES,), (HORSES,)),
    ((BY_MAUBERT, OLD), (NEW,), (BY_MAUBERT, NEW)),
    ((BY_MAUBERT, OLD), (BY_CASTELLI, NEW), (BY_CASTELLI, NEW)),
    # all else is added
    ((BY_MAUBERT,), (OLD,), (BY_MAUBERT, OLD)),
    ((BY_MAUBERT,), (BRONZE,), (BY_MAUBERT, BRONZE)),
    ((LIONS,), (NOTED,), (LIONS, NOTED)),
    ((), (OLD,), (OLD,)),
    ((OLD,), (), (OLD,)),
    # what is denied takes no place, and its place is not taken
    ((BY_MAUBERT,), (by("castelli", negated=True),), (BY_MAUBERT, by("castelli", negated=True))),
    ((by("maubert", negated=True),), (BY_CASTELLI,), (by("maubert", negated=True), BY_CASTELLI)),
    ((ONE,), (BY_CASTELLI,), (ONE, BY_CASTELLI)),
])  # fmt: skip
def test_constraints_of_the_same_kind_are_said_anew(before: Where, new: Where, after: Where) -> None:
    plan = Plan(target=PRINTS, where=before)
    assert changed(plan, new) == Plan(target=PRINTS, where=after)
    assert plan.where == before


def test_a_changed_plan_is_a_list() -> None:
    assert changed(Plan(target=PRINTS, compute=Compute(kind="count")), (OLD,)).compute == Compute()


@pytest.mark.parametrize("kind", ["count", "ask"])
def test_the_set_behind_a_number_is_its_members(kind: str) -> None:
    plan = Plan(target=PRINTS, where=(OLD,), compute=Compute(kind=kind))  # type: ignore[arg-type]
    assert as_list(plan) == Plan(target=PRINTS, where=(OLD,))


def test_a_ranking_stays_one() -> None:
    """Its members are those that come first, which a list of them all would not tell."""
    plan = Plan(
        target=PRINTS, compute=Compute(kind="rank", measure=Measure(kind="earliest", way=DATE), first=2)
    )
    assert as_list(plan) == plan


# the rest


def test_the_rest_is_the_set_before_without_the_last_one(gallery: Museum) -> None:
    last, before = Plan(target=PRINTS, where=(BY_MAUBERT,)), Plan(target=PRINTS)
    plan = rest_of(Antecedent(last, before))
    assert plan is not None
    world = gallery.release[World]
    rest, all_, own = ({*map(int, execute(one, world).members)} for one in (plan, before, last))
    assert rest == all_ - own and rest and own


def test_of_a_count_the_rest_is_that_of_its_members(gallery: Museum) -> None:
    counted = Plan(target=PRINTS, where=(BY_MAUBERT,), compute=Compute(kind="count"))
    plain = counted.model_copy(update={"compute": Compute()})
    assert rest_of(Antecedent(counted, Plan(target=PRINTS))) == rest_of(
        Antecedent(plain, Plan(target=PRINTS))
    )


@pytest.mark.parametrize(
    "earlier", [Antecedent(None), Antecedent(Plan(target=PRINTS)), Antecedent(None, Plan(target=PRINTS))]
)
def test_without_two_sets_there_is_no_rest(earlier: Antecedent) -> None:
    assert rest_of(earlier) is None


# from a conversation


def test_at_the_beginning_nothing_went_before(gallery: Museum) -> None:
    assert antecedent_of(gallery.release, ConversationState()) is None


def test_the_last_two_sets_of_a_conversation_are_kept(gallery: Museum) -> None:
    turns = (
        "Which paintings depict Florence?",
        "Which prints did Henri Maubert make?",
        "Who painted Nocturne?",
    )
    plans = [gallery.parse(turn).plan for turn in turns]
    earlier = gallery.after(*turns)
    assert earlier is not None
    assert (earlier.plan, earlier.before) == (plans[2], plans[1])
    assert earlier.sure


@pytest.mark.parametrize(("question", "category"), [
    ("Which paintings depict Florence?",
     Category.Thing), ("Who painted Nocturne?", Category.Actor), ("Where was Rosa Castelli born?", Category.Place),
])  # fmt: skip
def test_the_kind_of_the_last_set_is_known(gallery: Museum, question: str, category: Category) -> None:
    earlier = gallery.after(question)
    assert earlier is not None and earlier.categories & int(category)


def test_there_is_the_place_that_the_last_set_was_tied_to(gallery: Museum) -> None:
    earlier = gallery.after("Which works were made in Florence?")
    assert earlier is not None and earlier.place is not None
    assert [gallery.key(one.entity) for one in earlier.place.entities] == ["florence"]
    without = gallery.after("Which paintings are there?")
    assert without is not None and without.place is None


def test_who_is_in_focus_is_linked_and_what_the_data_lacks_is_not(gallery: Museum) -> None:
    state = ConversationState()
    earlier = gallery.after("Who painted Nocturne?", focus="castelli")
    assert earlier is not None and earlier.mention is not None
    assert gallery.key(earlier.mention.entities[0].entity) == "castelli"
    assert antecedent_of(gallery.release, state, [Focus(f"{BASE}nobody")]) is None


def test_a_set_within_a_set_keeps_its_place(gallery: Museum) -> None:
    """ "Which works were made in Florence? – Which of them are of bronze? – What else is there?": there is Florence."""
    earlier = gallery.after("Which works were made in Florence?", "Which of them are made of bronze?")
    assert earlier is not None and isinstance(earlier.plan, Plan)
    assert len([one for one in earlier.plan.where if isinstance(one, Related)]) == 2
    assert earlier.place is not None and gallery.key(earlier.place.entities[0].entity) == "florence"
