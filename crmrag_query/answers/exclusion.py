"""What must not come back in an answer: taken out of the lines and the context that it is made from.

A relationship's line that names an excluded entity among others is kept without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from crmrag_query.answers.naming import type_nodes
from crmrag_query.answers.typed import AskedTypes
from crmrag_query.artifacts.release import Release
from crmrag_query.context.evidence import ANCHORED, Evidence
from crmrag_query.context.records import Context, ContextLine, Kind
from crmrag_query.context.stated import RELATIONAL
from crmrag_query.context.text import as_data, plain, tokens
from crmrag_query.documents.documents import Line
from crmrag_query.questions.form import Reading

SHOWN = 10  # names on a line that is written anew, as on a line of a document


@dataclass(frozen=True)
class Exclusion:
    """The excluded ``nodes``, and whatever has one of the ``types``; ``node in exclusion`` asks for one."""

    release: Release
    nodes: frozenset[int] = frozenset()
    types: frozenset[int] = frozenset()
    _known: dict[int, bool] = field(default_factory=dict, compare=False, repr=False)

    def __bool__(self) -> bool:
        return bool(self.nodes or self.types)

    def __contains__(self, node: object) -> bool:
        if not isinstance(node, int):
            return False
        if node in self.nodes or not self.types:
            return node in self.nodes
        if node not in self._known:
            self._known[node] = not self.types.isdisjoint(type_nodes(self.release.graph, node))
        return self._known[node]

    def of_lines(self, found: Sequence[Evidence], reading: Reading) -> tuple[list[Evidence], bool]:
        """The lines without what is excluded, and whether nothing is left of a set that was asked for.

        Such a set is stated by a line about something that the question names: when all its members of the type that is
        asked for are excluded, its other targets are no answer either, and the line is left out.
        """
        if not self:
            return list(found), False
        types = AskedTypes(self.release.graph, reading)
        kept: list[Evidence] = []
        told = exhausted = False
        for one in found:
            left = self._of_line(one, reading)
            anchored = bool(reading.heads) and one.mention >= ANCHORED and one.line.kind in RELATIONAL
            typed = types.of(list(one.line.targets)) if anchored else None
            if left is not one and typed and all(node in self for node in typed):
                exhausted = True
                continue
            told = told or bool(typed)
            if left is not None:
                kept.append(left)
        return kept, exhausted and not told

    def _of_line(self, one: Evidence, reading: Reading) -> Evidence | None:
        line = one.line
        if line.entity in self:
            return None
        targets = tuple(node for node in line.targets if node not in self)
        gone = len(line.targets) - len(targets)
        if not gone:
            return one
        if not targets or line.kind not in RELATIONAL:
            return None
        names = tuple(
            self.release.graph.label(node, (reading.language,)) for node in targets[: len(one.names)]
        )
        total = line.total - gone
        return replace(
            one,
            line=replace(line, targets=targets, total=total),
            names=names,
            text=_written(line, names, total),
        )

    def of_context(self, context: Context) -> Context:
        """The context without what is excluded; its counts are over the whole data set and stay."""
        if not self:
            return context
        left = Context(
            tuple(
                replace(
                    source,
                    lines=tuple(self._of_context_lines(source.lines)),
                    entities=tuple(node for node in source.entities if node not in self),
                )
                for source in context.sources
                if source.entity not in self
            ),
            tuple(line for line in context.wikidata if line.entities[0] not in self),
            context.counts,
        )
        text = left.render()
        return replace(left, characters=len(text), tokens=sum(tokens(row) + 1 for row in text.split("\n")))

    def _of_context_lines(self, lines: Sequence[ContextLine]) -> Iterator[ContextLine]:
        for line in lines:
            if line.entities and line.entities[0] in self:
                continue
            shown = tuple(node for node in line.shown if node not in self)
            if line.kind is Kind.HEADER or len(shown) == len(line.shown):
                yield line
            elif shown and line.line is not None and line.line.kind in RELATIONAL:
                total = line.line.total - (len(line.shown) - len(shown))
                names = [plain(self.release.graph.label(node)) for node in shown]
                text = _written(line.line, names, total)
                if len(as_data(text)) <= len(
                    as_data(line.text)
                ):  # the budget was paid for the line as it was
                    yield replace(line, text=text, entities=(line.entities[0], *shown))


def _written(line: Line, names: Sequence[str], total: int) -> str:
    shown = names[:SHOWN]
    rest = total - len(shown)
    return f"{line.label}: {'; '.join(shown)}" + (f" and {rest} more" if rest > 0 else "")
