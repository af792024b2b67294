"""Questions for a property of each thing of a kind: "the birthplace of an artist", "each painting with its maker".

They ask for a table: a row for each thing and each of what is asked of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crmrag_query.graph.arrays import united
from crmrag_query.language import Language
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.records import (
    Among,
    Anchor,
    Column,
    Compute,
    Constraint,
    Measure,
    Plan,
    Target,
    Way,
)
from crmrag_query.plans.world import World
from crmrag_query.reading.items import Item
from crmrag_query.reading.lexicon import PhraseSpan, relation_spans
from crmrag_query.reading.ties import Meaning, Ties

ASKING = {"questions.who": "Actor", "questions.where": "Place", "questions.when": "Time"}
"""What question words ask for, as the range of a relation."""


@dataclass(frozen=True)
class Tables:
    """A question whose words are looked through for columns."""

    world: World
    ties: Ties
    own: Language
    words: Sequence[str]
    items: Sequence[Item]

    def plan(self) -> Plan | None:
        """The table that a question asks for, all of whose words it says; None where it asks for none."""
        names = [item for item in self.items if item.sort == "name" and not item.refers]
        if any(item.sort in ("date", "text") or item.refers or item.roles & OTHERWISE for item in self.items):
            return None
        if len(names) == 2 and (chosen := self._either(names)) is not None:
            return chosen
        if len(names) == 1 and (told := self._of_named(names[0])) is not None:
            return told
        if names:
            return None
        nouns = [item for item in self.items if item.sort == "noun" and item.meanings]
        spans = [span for span in self._spans() if len(span) >= 1]
        for noun in nouns:
            meaning = noun.meanings[0]
            if not (meaning.generic or meaning.target is not None):
                continue
            before = self._before(noun, meaning, spans)
            columns = before or self._behind(noun, meaning, spans)
            if columns:
                return self._table(meaning, columns)
        return None

    def _of_named(self, name: Item) -> Plan | None:
        """A table by "the S of the T of X", X a thing that is named: the birthplace of the creator of a painting."""
        meaning = name.meanings[0]
        columns = self._chain(name, meaning, self._links())
        if len(columns) < 2:
            return None
        return Plan(where=(Among(iris=meaning.iris),), compute=Compute(kind="table", columns=columns))

    def _either(self, names: Sequence[Item]) -> Plan | None:
        """Which of two that are named has more, or comes first or last: "who was born first, X or Y?"."""
        between = self.words[names[0].last : names[1].first]
        if not any(word in self.own.roles["operators.or"] for word in between):
            return None
        both = [one.meanings[0] for one in names]
        iris = (*both[0].iris, *both[1].iris)
        nodes = united(both[0].nodes, both[1].nodes)
        near = Meaning(nodes, iris=iris, category=both[0].category | both[1].category)
        said = {
            role
            for at in range(len(self.words))
            for _, roles in self.own.phrases.at(self.words, at)
            for role in roles
        }
        stems = frozenset(map(self.own.stem, self.words))
        measure, ascending = None, False
        if said & {"operators.earlier", "operators.later", "operators.earliest", "operators.latest"}:
            ascending = bool(said & {"operators.earlier", "operators.earliest"})
            dates = self.ties.dates(near, self.own.code)
            if dates:
                tie = min(dates, key=lambda one: (-len(stems & (one.stems | one.ends)), one.cost, one.key))
                measure = Measure(kind="earliest" if ascending else "latest", way=tie.way)
        elif said & {"operators.more", "operators.most"}:
            noun = next((item for item in self.items if item.sort == "noun" and item.meanings), None)
            if noun is not None:
                ties = self.ties.between(near, noun.meanings[0], self.own.code, frozenset())
                if ties:
                    tie = min(
                        ties,
                        key=lambda one: (
                            -len(stems & (one.stems | one.ends | one.starts)),
                            one.cost,
                            one.key,
                        ),
                    )
                    measure = Measure(
                        kind="count",
                        way=tie.way,
                        to=Anchor(plan=Plan(target=noun.meanings[0].target or Target())),
                    )
        if measure is None:
            return None
        rank = Compute(kind="rank", measure=measure, first=1, ascending=ascending)
        return Plan(where=(Among(iris=iris),), compute=rank)

    def _links(self) -> list[PhraseSpan]:
        """Nouns for far ends, and verbs before the first of them: "which year *died* the *creator* of …"."""
        timed = self.own.roles["time.year"] | self.own.roles["time.date"]
        ends = [span for span in self._spans() if not timed.issuperset(self.words[span.first : span.last])]
        first = ends[0].first if ends else len(self.words)
        verbs = [
            span
            for span in relation_spans(self.own.code, self.words)
            if span.role == "forward" and span.last <= first
        ]
        return [*verbs[:1], *ends]

    def _table(self, kind: Meaning, columns: tuple[Column, ...]) -> Plan:
        where: list[Constraint] = []
        ways = {id for column in columns for id in column.way.relations}
        if kind.only is not None and not ways & {"born_in", "born_on", "died_in", "died_on"}:
            where.append(kind.only)
        return Plan(
            target=kind.target or Target(), where=tuple(where), compute=Compute(kind="table", columns=columns)
        )

    def _spans(self) -> list[PhraseSpan]:
        """Nouns for the far ends of relations, the longest of those that overlap, in their order."""
        found: list[PhraseSpan] = []
        for span in sorted(relation_spans(self.own.code, self.words), key=lambda one: -len(one)):
            if span.role == "ends" and all(span.last <= one.first or one.last <= span.first for one in found):
                found.append(span)
        return sorted(found, key=lambda one: one.first)

    def _before(self, noun: Item, kind: Meaning, spans: Sequence[PhraseSpan]) -> tuple[Column, ...]:
        """Columns by "the S of the T of an X": each of what the one behind it leads to."""
        each = self.own.roles["operators.each"] | self.own.roles["operators.indefinite"]
        if not noun.first or self.words[noun.first - 1] not in each:
            return ()
        if not self._is_small(range(noun.last, len(self.words)), (), set()):
            return ()
        return self._chain(noun, kind, spans)

    def _chain(self, noun: Item, kind: Meaning, spans: Sequence[PhraseSpan]) -> tuple[Column, ...]:
        """Columns by nouns one behind the other, from the last one on; none where other words stand between."""
        links = [span for span in spans if span.last <= noun.first]
        held = {at for span in links for at in range(span.first, span.last)}
        if not links or not self._is_small(range(links[0].first), range(links[0].first, noun.first), held):
            return ()
        columns: list[Column] = []
        timed = self.own.roles["time.year"] | self.own.roles["time.date"] | self.own.roles["questions.when"]
        wanted = "Time" if not timed.isdisjoint(self.words) else ""
        categories = kind.category
        for link in reversed(links):
            chosen = self._relation(link, categories, wanted if link.role == "forward" else "")
            if chosen is None:
                return ()
            columns.append(Column(way=Way(relations=(chosen,)), of=len(columns) - 1 if columns else None))
            categories = sum(int(Category[name]) for name in self.world.relations[chosen].range) or int(
                Category.Thing
            )
        return tuple(columns)

    def _behind(self, noun: Item, kind: Meaning, spans: Sequence[PhraseSpan]) -> tuple[Column, ...]:
        """Columns by "X with their S (and T)" and "X and who made them"."""
        if not self._is_small(range(noun.first), (), set()):
            return ()
        at = noun.last
        own = self.own.roles["pronouns.own"] | self.own.roles["pronouns.many"]
        rest = self.words[at:]
        if not any(word in own for word in rest):
            return ()
        columns = [
            Column(way=Way(relations=(chosen,)))
            for span in spans
            if span.first >= at and (chosen := self._relation(span, kind.category)) is not None
        ]
        held = {i for span in spans if span.first >= at for i in range(span.first, span.last)}
        if any(
            word in self.own.roles["prepositions.of"]
            for i, word in enumerate(self.words)
            if i > at and i not in held
        ):
            return ()  # "with their makers and the birthplaces of these"
        if not columns:
            columns, held = self._asked_again(at, kind)
        return tuple(columns) if columns and self._is_small((), range(at, len(self.words)), held) else ()

    def _asked_again(self, at: int, kind: Meaning) -> tuple[list[Column], set[int]]:
        """Columns by question words behind a noun: "and *who* made them", "and *where* they were made"."""
        columns, held = list[Column](), set[int]()
        for item in (one for one in self.items if one.sort == "op" and one.first >= at):
            wanted = next((ASKING[role] for role in item.roles if role in ASKING), None)
            if wanted is None:
                continue
            for span in relation_spans(self.own.code, self.words):
                if span.role == "forward" and span.first >= item.last:
                    chosen = self._relation(span, kind.category, wanted)
                    if chosen is not None:
                        columns.append(Column(way=Way(relations=(chosen,))))
                        held.update(range(span.first, span.last), range(item.first, item.last))
                        break
        return columns, held

    def _relation(self, span: PhraseSpan, categories: int, wanted: str = "") -> str | None:
        """The first relation of a phrase that leads from things of these categories, and that the data states."""
        for id in span.relations:
            relation = self.world.relations.get(id)
            if relation is None or not categories & sum(int(Category[name]) for name in relation.domain):
                continue
            if wanted and not (wanted in relation.range or (wanted == "Time" and relation.value == "date")):
                continue
            if self.ties.reach(id)[0]:
                return id
        return None

    def _is_small(self, opening: Sequence[int], between: Sequence[int], held: set[int]) -> bool:
        """Whether all words are small ones, or held, and those of the opening no more than a request."""
        asking = {
            at
            for item in self.items
            if item.sort == "op"
            for at in range(item.first, item.last)
            if any(role.startswith("questions.") for role in item.roles) or item.roles & SMALL
        }
        asking |= {
            at
            for at, word in enumerate(self.words)
            if word in self.own.roles["time.year"] | self.own.roles["time.date"]
        }
        places = [*opening, *(at for at in between if at not in held)]
        return all(self.words[at] in self.own.stop or at in asking for at in places)


OTHERWISE = frozenset({
    "operators.pairs", "operators.same", "operators.not", "operators.without", "operators.except", "questions.how_many",
    "operators.per",
})  # fmt: skip
"""Small words by which something else than a table is asked for."""
SMALL = frozenset({"operators.each", "operators.indefinite", "operators.and", "whole"})
