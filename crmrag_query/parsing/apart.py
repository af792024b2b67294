"""Parts of a question that are understood by themselves before the rest is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from crmrag_query.config.questions import ParsingPart
from crmrag_query.parsing.columns import also_shown, each_row
from crmrag_query.parsing.compare import compared, set_beside
from crmrag_query.parsing.pieces import Piece
from crmrag_query.parsing.reading.state import Lead
from crmrag_query.parsing.shared import paired
from crmrag_query.parsing.tree import Node, Shown, Tree
from crmrag_query.parsing.unsaid import unsaid
from crmrag_query.parsing.vocabulary import Vocabulary


@dataclass
class Apart:
    """The pieces left to be read; things compared; relations by which pairs have the same; further columns of a table."""

    pieces: tuple[Piece, ...]
    compared: list[Node] = field(default_factory=list)
    same: list[tuple[str, ...]] = field(default_factory=list)
    columns: list[Shown] = field(default_factory=list)

    def onto(self, tree: Tree, know: Vocabulary) -> None:
        """Say in the tree of the rest what was understood apart."""
        tree.same, tree.columns = self.same, self.columns
        if self.compared:
            set_beside(tree, self.compared, self.pieces)
        each_row(tree, know)


def apart(pieces: Sequence[Piece], know: Vocabulary, part: ParsingPart, form: str, lead: Lead) -> Apart:
    """What stands apart in a question whose answer is of a form."""
    rest = unsaid(pieces, part.happenings)
    if form != "list":
        return Apart(rest)
    rest, nodes = compared(rest, know)
    if nodes:
        return Apart(rest, compared=nodes)
    rest, same = paired(rest, know, part.happenings)
    if same:
        return Apart(rest, same=same)
    rest, columns = also_shown(rest, know, lead)
    return Apart(rest, columns=columns)
