"""A small world for conversations: entities by name, linked as a caller would link them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from crmrag_query.config import load_method
from crmrag_query.linking import LinkedEntity, Mention
from crmrag_query.ontology.load import Category
from crmrag_query.questions.followup import ConversationState, Focus, FollowUp, follow
from crmrag_query.questions.form import Form
from crmrag_query.text import tokenize

METHOD = load_method()
ENTITIES: tuple[tuple[str, str, Category, tuple[str, ...]], ...] = (
    ("asinou", "Asinou", Category.Thing, ("church",)),
    ("arakos", "Panagia tou Arakos", Category.Thing, ("church",)),
    ("nikitari", "Nikitari", Category.Place, ("village",)),
    ("homer", "Winslow Homer", Category.Actor, ()),
    ("remington", "Frederic Remington", Category.Actor, ()),
    ("mamas", "Saint Mamas", Category.Thing, ("saint",)),
    ("irises", "Irises", Category.Thing, ("painting",)),
    ("sculpture", "sculptures", Category.Concept, ()),
)
NODES = {iri: node for node, (iri, *_) in enumerate(ENTITIES)}
NAMES = {
    **{tuple(tokenize(label)): node for node, (_, label, *_) in enumerate(ENTITIES)},
    ("homer",): NODES["homer"], ("remington",): NODES["remington"], ("ασινου",): NODES["asinou"],
}  # fmt: skip


def linked(question: str) -> list[Mention]:
    """The longest names that stand in the question."""
    words, found, i = tokenize(question), [], 0
    while i < len(words):
        name = next((tuple(words[i : i + n]) for n in (3, 2, 1) if tuple(words[i : i + n]) in NAMES), None)
        if name:
            text = " ".join(name)
            found.append(Mention(i, i + len(name), text, (LinkedEntity(NAMES[name], 1.0, text, "label"),)))
        i += len(name) if name else 1
    return found


def focus_of(iri: str) -> Focus:
    _, label, category, words = ENTITIES[NODES[iri]]
    return Focus(iri, str(category.name), label, words)


@dataclass
class Talk:
    """A conversation that is told, after each question, what its answer was about and showed."""

    state: ConversationState = field(default_factory=ConversationState)

    def ask(self, question: str, focus: Sequence[str] = (), shown: Sequence[str] = ()) -> FollowUp:
        told = follow(
            question,
            self.state,
            linked(question),
            METHOD.questions,
            lambda node: ENTITIES[node][0],
            lambda node: int(ENTITIES[node][2]),
        )
        turn = told.turn(question, Form.SPECIFIC, [focus_of(iri) for iri in focus], shown)
        self.state = self.state.after(turn, METHOD.conversation)
        return told
