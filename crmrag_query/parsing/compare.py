"""Two or more things of which one is asked for: "who was born first, A or B?"."""

from __future__ import annotations

from collections.abc import Sequence

from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.bind import Binder, Bound
from crmrag_query.parsing.binding.meanings import same_name
from crmrag_query.parsing.formed import plan_of
from crmrag_query.parsing.pieces import WHOLE, Piece
from crmrag_query.parsing.tree import Node, Rank, Tree
from crmrag_query.parsing.vocabulary import Vocabulary
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import Among, Compute, Measure

RANKING = frozenset({"earliest", "latest", "most", "fewest", "highest", "lowest", "before", "after"})


def compared(pieces: Sequence[Piece], know: Vocabulary) -> tuple[tuple[Piece, ...], list[Node]]:
    """The pieces without the names that stand by themselves at the end, joined by "or"; no names where nothing ranks them."""
    last = len(pieces)
    names: list[Piece] = []
    either = opens = False
    while last and not opens:
        piece = pieces[last - 1]
        if _is_name(piece):
            names.insert(0, piece)
            opens = piece.opens and either
        elif "either" in piece.roles:
            either, opens = True, piece.opens and len(names) > 1
        elif not (names and (piece.stop or _is_small(piece))):
            return tuple(pieces), []
        elif piece.opens and either and len(names) > 1:
            opens = True  # "…, ο Α ή ο Β": the article opens the list
        last -= 1
    rest = tuple(pieces[:last])
    if not opens or len(names) < 2 or not any(piece.roles & RANKING for piece in rest):
        return tuple(pieces), []
    return rest, [_node(piece, know) for piece in names]


def _is_name(piece: Piece) -> bool:
    whole = piece.mention is not None and piece.mention.entities[0].how in WHOLE and not piece.kinds
    return piece.mention is not None and (piece.capital or piece.quoted or whole)


def _is_small(piece: Piece) -> bool:
    return (
        not (piece.mention or piece.kinds or piece.phrases or piece.roles or piece.period)
        and len(piece.text) < 4
    )


def _node(piece: Piece, know: Vocabulary) -> Node:
    assert piece.mention is not None
    categories = know.categories(piece.mention)
    return Node(mentions=[piece.mention], categories=categories, text=piece.text, capital=True, raw=piece.raw)


def set_beside(tree: Tree, nodes: list[Node], pieces: Sequence[Piece]) -> None:
    """Say in the tree what is compared, and by what where only a word such as "older" tells."""
    tree.compared = nodes
    roles = frozenset(role for piece in pieces for role in piece.roles)
    if tree.root is None:
        tree.root = Node(text="")
    if tree.rank is None:
        tree.rank = Rank("earliest" if "before" in roles else "latest", 1)
    common = _shared(nodes)
    if not tree.root.categories or tree.root.categories & common != tree.root.categories:
        tree.root.categories = common
    said = {word for piece in pieces for word in piece.words if piece.roles & {"before", "after"}}
    tree.unknown = [word for word in tree.unknown if word not in said]


def _shared(nodes: Sequence[Node]) -> int:
    found = (1 << len(Category)) * 2 - 1
    for node in nodes:
        found &= node.categories
    return found


def among(binder: Binder, tree: Tree, bound: Bound) -> None:
    """Only what is compared counts: all that the names may mean and that is of the kind asked for."""
    found = [n for node in tree.compared for n in same_name(binder, node.mentions)]
    bound.where.append(Among(iris=binder.iris(found)))
    bound.mask = binder.mask_of(bound.plan)


def measured(binder: Binder, tree: Tree, measure: Measure, bound: Bound) -> float:
    """How sure a comparison is: less where nothing that one of the names means has what is compared."""
    if not tree.compared or measure.kind == "count":
        return 1.0
    ranked = plan_of(bound, Compute(kind="rank", measure=measure))
    having = set(execute(ranked, binder.world).members.tolist())
    told = (any(n in having for n in same_name(binder, node.mentions)) for node in tree.compared)
    return 1.0 if all(told) else binder.scores.unsure
