"""What went before in a conversation, as a plan: the set that "them" stands for, and how a further question changes it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError
from crmrag_query.graph.graph import Graph
from crmrag_query.language import Language, language
from crmrag_query.linking import LinkedEntity, Mention
from crmrag_query.ontology.load import Category, mostly
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.records import (
    Among,
    Either,
    Member,
    Plan,
    Related,
    read_plan,
)
from crmrag_query.plans.world import World
from crmrag_query.questions.followup import ConversationState, Focus, Turn
from crmrag_query.reading.records import RANKING, Antecedent
from crmrag_query.text import fold, tokenize


def plan_of(turn: Turn) -> Plan | None:
    """The plan of a turn's set; of what it showed where it had none."""
    if turn.plan:
        with suppress(QuestionError):
            return read_plan(turn.plan)
    shown = tuple(iri for iri in turn.shown if iri)
    return Plan(where=(Among(iris=shown),)) if shown else None


def antecedent_of(
    release: Release, state: ConversationState, focus: Sequence[Focus] = ()
) -> Antecedent | None:
    """What a question after ``state`` may refer to; None at the beginning of a conversation."""
    turns = state.topic
    if not turns:
        return None
    plans = [plan for turn in turns if (plan := plan_of(turn)) is not None]
    last, sure = plans[-1] if plans else None, bool(turns[-1].plan) and turns[-1].sure
    linked = tuple(
        LinkedEntity(node, 1.0, one.label, "label")
        for one in focus
        if (node := release[Graph].node(one.iri)) is not None
    )
    before = plans[-2] if len(plans) > 1 else None
    return Antecedent(last, before, linked, _categories(release, last), sure, _place(release, last))


def _place(release: Release, plan: Plan | None) -> Mention | None:
    """The place that the last set was tied to: what "there" stands for."""
    categories = release[Graph].adjacency.categories
    for one in reversed(plan.where if plan else ()):
        ties = one.of if isinstance(one, Either) else (one,)
        for tie in ties:
            iris = tie.to.iris if isinstance(tie, Related) else ()
            nodes = [n for iri in iris if (n := release[Graph].node(iri)) is not None]
            if nodes and all(int(categories[n]) & int(Category.Place) for n in nodes):
                return Mention(0, 0, "", tuple(LinkedEntity(n, 1.0, "", "label") for n in nodes))
        if isinstance(one, Member):
            return _place(release, one.plan)
    return None


def _categories(release: Release, plan: Plan | None) -> int:
    """What most members are: categories that at least half of them have."""
    if plan is None:
        return 0
    try:
        members = members_of(release[World], plan)
    except QuestionError:
        return 0
    return mostly(release[Graph].adjacency.categories[members])


def goes_on(question: str, code: str) -> bool:
    """Whether a question begins as one that goes on from what went before: "and …", "what about …", "only the prints"; counts
    what it points to, "how many artists is *that*"; or asks which or how many without saying of what, "which are prints"."""
    own, words = language(code), tokenize(question)
    if points_back(words, own) and "questions.how_many" in own.roles_within(words):
        return True
    return bool(_spans_at_start(question, code, {"dialogue.opening", "dialogue.only"})) or lacks_noun(
        words, own
    )


def lacks_noun(words: Sequence[str], own: Language) -> bool:
    """Whether a question that counts, or asks which, has a verb or a preposition where its noun would stand, and does not
    name it behind an article or "there": "how many *are* of marble", but "which are *the* oldest works"."""
    asking = own.raw.get("asking", {})
    selecting = [length for length, roles in own.phrases.at(words, 0) if roles & SELECTING] if words else []
    at = max(selecting, default=0)
    if not at or len(words) < at + 2 or words[0] in map(fold, asking.get("what", ())):
        return False
    opens = own.roles["verbs.be"] | own.roles["prepositions.from"] | own.roles["prepositions.of"]
    if words[at] not in opens:
        return False
    articles = own.roles["questions.there"].union(own.articles)
    there = max((n for n, roles in own.phrases.at(words, at) if "questions.there" in roles), default=0)
    if there or words[at + 1] in articles:  # "how many are there?", "which are the oldest?"
        behind = own.phrases.at(words, at + 2) if len(words) > at + 2 else ()
        superlatives = (at + 2 + n for n, roles in behind if roles & RANKING)
        return len(words) in (at + there if there else 0, *superlatives)
    return True


SELECTING = frozenset({"questions.what", "questions.how_many"})
"""Roles of the words that choose some of several, or count them."""


def points_back(words: Sequence[str], own: Language) -> bool:
    """Whether the last of some words points to what went before: "how many poets is *that*"."""
    ends = own.roles["pronouns.this"].union(own.raw.get("asking", {}).get("shown", ()))
    return bool(words) and words[-1] in ends


def says_otherwise(question: str, code: str) -> bool:
    """Whether a question asks for others than those it names: "by someone other than X"."""
    return "operators.anyone_else" in language(code).roles_within(tokenize(question))


def _spans_at_start(question: str, code: str, wanted: set[str]) -> int:
    """The length of the longest phrase of some roles that a question begins with."""
    words = tokenize(question)
    found = language(code).phrases.at(words, 0) if words else ()
    return max((length for length, roles in found if roles & wanted), default=0)
