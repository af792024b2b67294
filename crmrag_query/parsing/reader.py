"""Reading the pieces of a question from left to right into a tree.

A phrase of a relation waits for the thing after it ("painted *by* …"); a thing that comes before its phrase waits for it ("has
*Irises* been shown"). What is found is tied to the nearest thing before it that the relation can be of, so that "works by
artists born in Paris" asks for artists born there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from crmrag_query.linking.records import Mention
from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.pieces import WHOLE, Piece
from crmrag_query.parsing.tree import Anchor, Edge, Group, Link, Node, Rank, RankKind, Text, Tree
from crmrag_query.parsing.vocabulary import Vocabulary
from crmrag_query.questions.lexicon import Number

RANKS: tuple[RankKind, ...] = ("earliest", "latest", "most", "fewest", "highest", "lowest")
MAKING = ("created_by",)
UNITS = {"decade", "century", "year"}


@dataclass(frozen=True)
class Lead:
    """What opens the question, by its place: ``who``, ``what``, ``where``, ``when``, ``which`` …; number words; what went before
    in the conversation: the categories of the last set (0: none) and the thing in focus."""

    at: Mapping[int, tuple[str, int]]
    numbers: Mapping[str, int]
    units: Mapping[str, str]
    ones: frozenset[str] = frozenset()
    earlier: int = 0
    focus: Mention | None = None
    place: Mention | None = None
    being: bool = False
    copulas: frozenset[str] = frozenset()
    small: frozenset[str] = frozenset()


@dataclass
class _Reader:
    pieces: Sequence[Piece]
    know: Vocabulary
    lead: Lead
    polar: bool
    tree: Tree = field(default_factory=Tree)
    open: list[Node] = field(default_factory=list)
    fronted: list[Link] = field(default_factory=list)
    held: list[Link] = field(default_factory=list)
    modifiers: list[Link] = field(default_factory=list)
    rel: tuple[str, ...] = ()
    rel_words: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    loose: tuple[str, ...] = ()
    copula: tuple[str, ...] = ()
    force: Node | None = None
    negated: bool = False
    denied: tuple[str, ...] = ()
    excluding: bool = False
    joined: bool = False
    generic: bool = False
    every: bool = False
    edge: Edge = ""
    grouping: bool = False
    breaking: bool = False
    titled: bool = False
    titling: bool = False
    texted: Node | None = None
    asked: Link | None = None
    narrowing: bool = False
    pending: Node | None = None
    number: int | None = None
    at_least: bool = False
    over: bool = False
    least: int | None = None
    last: Link | None = None

    # reading

    def read(self) -> Tree:
        self.titled = any("titles" in piece.roles for piece in self.pieces)
        at = 0
        while at < len(self.pieces):
            at = self._take(at)
        self._finish()
        return self.tree

    def _take(self, at: int) -> int:
        piece = self.pieces[at]
        if at == 0 and "containing" in piece.roles and piece.mention is None:
            return at + 1  # "Show the artists …"
        if piece.opens and self.grouping and self.tree.group and self.tree.group.node:
            self._end_group()
        if piece.first in self.lead.at and "titles" not in piece.roles and self._take_lead(at):
            return at + 1
        if piece.period is not None:
            self._attach(piece.period, piece)
            return at + 1
        if self._take_grammar(at):
            return at + 1
        return self._take_content(at)

    def _take_lead(self, at: int) -> bool:
        kind, mask = self.lead.at[self.pieces[at].first]
        if self.tree.root is not None or self.open:
            before = self.pieces[at - 1]
            again = "both" in before.roles or self.pieces[at].opens or at == len(self.pieces) - 1
            self.tree.several |= again and kind != "what" and not self.grouping
            return kind != "what" or not self.pieces[at].mention
        self.negated = self.excluding = self.joined = False
        self.rel, self.loose, self.last = (), (), None
        if kind == "when":
            self.tree.when = True
        elif kind in ("who", "where"):
            self._start(Node(categories=mask, text=self.pieces[at].text))
        elif kind == "what" and not self._noun_at(at + 1):
            self._start(Node(text=self.pieces[at].text))
        return True

    def _noun_at(self, at: int) -> bool:
        """Whether a noun phrase begins there: "what *old coins*", not "what *was made*"."""
        if at >= len(self.pieces) or self.pieces[at].opens:
            return False
        piece = self.pieces[at]
        if piece.stop or piece.roles or self._is_verb(at):
            return False
        after = self.pieces[at + 1] if at + 1 < len(self.pieces) else None
        if piece.mention and not piece.kinds:  # "what *Tiffany lamps*", not "what *Tiffany* made"
            return after is not None and bool(after.kinds) and not self._is_verb(at + 1)
        return bool(piece.kinds or piece.relations("ends") or piece.unknown)

    def _next_content(self, at: int) -> int | None:
        for i in range(at + 1, len(self.pieces)):
            one = self.pieces[i]
            if one.kinds or one.mention or one.period or one.relations("forward", "backward", "ends") or one.unknown:
                return i
        return None

    def _take_grammar(self, at: int) -> bool:
        piece = self.pieces[at]
        roles = piece.roles
        if "titles" in roles:
            self._take_titles(at)
            return True
        if "word" in roles and at and "containing" in self.pieces[at - 1].roles and "titles" not in self.pieces[at - 1].roles:
            self.titling, self.texted = True, self._texted()
            self.rel, self.rel_words, self.loose, self.copula = (), (), (), ()
            return True
        if "sorting" in roles and self.lead.earlier:
            self.tree.sort = self.tree.sort or "label"
            return True
        if "pairs" in roles:
            self.tree.pairs = True
            return True
        if "count" in roles and not piece.kinds:
            if self.tree.root is None:
                self.rel, self.loose = (), ()
            return True
        if "exclusion" in roles:
            self.negated = self.excluding = True
            return True
        if "negation" in roles and not piece.kinds:
            self.negated, self.denied = True, piece.words
            return True
        if "breakdown" in roles:
            self.breaking, self.tree.group = True, self.tree.group or Group()
            return True
        if "only" in roles and at == 0:
            self.narrowing = True
            return True
        if "least" in roles or "over" in roles:
            self.at_least, self.over = True, "over" in roles
            return True
        if "or_more" in roles and self.number is not None:
            if self.last is not None:
                self.last.at_least, self.number = self.number, None
            else:
                self.least, self.number = self.number, None
            return True
        if len(piece.words) == 1 and not piece.kinds and (number := self._number(piece.words[0])):
            self._take_number(number)
            return True
        rank = next((kind for kind in RANKS if kind in roles), None)
        if rank is not None and self._is_rank(at, rank):
            self.tree.rank = self.tree.rank or Rank(rank, self.number)
            self.number = None
            return True
        if ("group" in roles and not self._is_each(at)) or ("split" in roles and self._is_group(at)):
            self.grouping, self.tree.group = True, self.tree.group or Group()
            return True
        return False

    def _take_titles(self, at: int) -> None:
        """Words about titles: of what follows at once ("titled X"), else of what was said last ("with X in the title")."""
        after = self._next_content(at)
        follows = after is not None and not any(one.opens or one.stop for one in self.pieces[at + 1 : after + 1])
        if follows and "word" not in self.pieces[at].roles:
            self.titling = True
            return
        last = self.held.pop() if self.held else self.last
        if last is None:
            self.titling = True
            return
        if isinstance(last.anchor, Node | Text):
            last.titled, last.explicit, last.loose = True, (), ()
            last.judged = "judging" in self.pieces[at].roles
            if not any(last in node.links for node in self.open) and self.tree.root is not None:
                self.tree.root.links.append(last)

    def _texted(self) -> Node | None:
        """What "containing the word …" is said of: the nearest thing that is no person."""
        return next((one for one in reversed(self.open) if one.categories != int(Category.Actor)), self.tree.root)

    def _number(self, word: str) -> int | None:
        """A number word; "one" and "a" count after "more than" only."""
        return self.lead.numbers.get(word) or (1 if self.at_least and word in self.lead.ones else None)

    def _take_number(self, number: int) -> None:
        if self.at_least:
            least = number + 1 if self.over else number
            if self.grouping and self.tree.group is not None:
                self.tree.group.at_least = least
            else:
                self.least = least
            self.at_least = False
        elif self.tree.rank is not None and self.tree.rank.first is None:
            self.tree.rank.first = number
        else:
            self.number = number

    def _is_rank(self, at: int, rank: str) -> bool:
        piece = self.pieces[at]
        if rank in ("earliest", "latest") and piece.relations("forward", "backward"):
            return False
        return not (piece.kinds and self.tree.root is None)

    def _is_group(self, at: int) -> bool:
        """A word such as "by" splits only after a splitting word, and not before a name."""
        after = self._next_content(at)
        if after is None or (not self.breaking and at > 0) or (self.breaking and self.tree.root is None):
            return False
        one = self.pieces[after]
        if not self.breaking:  # "by nationality, how many …"
            return after + 1 < len(self.pieces) and self.pieces[after + 1].opens and not one.mention
        return bool(one.kinds or one.relations("ends")) or one.words[0] in self.lead.units

    def _is_each(self, at: int) -> bool:
        """Whether a word such as "each" asks of every such thing and splits nothing: "the birth place *of each* artist",
        "when was *each* artist born"."""
        before, roles = self.pieces[at - 1] if at else None, self.pieces[at].roles
        if self.tree.form != "list" or self.tree.group is not None or "every" not in roles:
            return False
        had = "of" in roles and before is not None and bool(before.relations("ends"))
        return had or ("generic" in roles and self.tree.root is None)

    def _take_reference(self, at: int) -> bool:
        """A word that stands for what went before: the last set, the rest of the one before, one thing, or a place."""
        piece = self.pieces[at]
        roles = piece.roles
        if "there" in roles and self.lead.place is not None and self.pieces[at - 1].text not in self.lead.copulas:
            place = self.lead.place
            self._attach(Node(mentions=[place], categories=self.know.categories(place), text=piece.text), piece)
            return True
        if roles & {"earlier", "theirs", "rest"} and self.lead.earlier:
            node = Node(categories=self.lead.earlier, earlier="rest" if "rest" in roles else "set", text=piece.text)
        elif roles & {"single", "its"} and self.lead.focus is not None:
            node = Node(mentions=[self.lead.focus], categories=self.know.categories(self.lead.focus), text=piece.text)
        elif roles & {"earlier", "theirs", "rest", "single", "its"}:
            self.tree.unknown += piece.words  # what it stands for is not known
            return True
        else:
            return False
        after = self.pieces[at + 1] if at + 1 < len(self.pieces) else None
        noun = after is not None and (after.kinds or after.relations("ends")) and not self._is_verb(at + 1)
        if noun and roles & {"theirs", "its"}:
            self.modifiers.append(Link((), (), node, self.negated, before=True, words=piece.words))
        elif noun and node.earlier and self.tree.root is None:
            self.pending = node  # "those paintings"
        elif self.tree.root is None and not (self.rel or self.loose or self.excluding):
            self._start(node)
        elif self.tree.root is None and not self.excluding:
            self.rel, self.loose = (), ()
            self._start(node)
        else:
            self._attach(node, piece)
        return True

    def _take_content(self, at: int) -> int:
        piece = self.pieces[at]
        if (not piece.mention or not piece.capital) and self._take_reference(at):
            return at + 1
        if self.titled and "containing" in piece.roles:
            return at + 1
        if "filler" in piece.roles and len(piece.words) > 1:
            return at + 1
        if piece.roles & {"begins", "ends"} and self._splits_time(at):
            self.edge = "begin" if "begins" in piece.roles else "end"
            return at + 1
        verb = self._is_verb(at)
        if verb:
            self._take_verb(piece)
            return at + 1
        if piece.words[0] in self.lead.units and self.grouping and self.tree.group:
            self.tree.group.unit = self.lead.units[piece.words[0]]  # type: ignore[assignment]
            self.tree.group.edge = self.edge  # "started in each decade"
            return at + 1
        named = piece.mention is not None and piece.capital and not piece.opens
        if self.tree.sort and (piece.kinds or piece.relations("ends")):
            dated = any(self.know.value(id) == "date" for id in piece.relations("ends"))
            self.tree.sort = "date" if dated or piece.words[0] in self.lead.units else self.tree.sort
            return at + 1
        if piece.relations("ends") and not named and self._is_end(at):
            return self._take_end(at)
        if piece.kinds and not (named and piece.mention and piece.mention.entities[0].how in WHOLE and self.tree.root):
            return self._take_kind(at)
        if piece.mention is not None:
            return self._take_name(at)
        if piece.relations("ends"):
            return self._take_end(at)
        if loose := piece.relations("loose"):
            if "of" in piece.roles and (self.tree.root is None or self._is_untold_root()):
                pass  # "wer ist *der* Schöpfer …"
            elif "filler" in piece.roles or piece.text in self.lead.copulas:
                self.copula = loose
            else:
                self.loose = loose
        self._take_small(piece)
        if piece.phrases and not (loose or piece.roles or piece.stop):
            return self._take_unknown(at)  # "version": a noun for the near end of a relation, and no kind of the data
        if loose and self.held and "filler" in piece.roles:
            self._take_weak(loose, piece)
        if piece.unknown or (not piece.roles and not piece.stop and not piece.phrases):
            return self._take_unknown(at)
        return at + 1

    def _take_small(self, piece: Piece) -> None:
        if "generic" in piece.roles:
            self.generic = True
        if "every" in piece.roles:
            self.every = True
        if ("either" in piece.roles or "both" in piece.roles) and (self.tree.root is not None or self.last is not None):
            self.joined = True  # before anything else it is an article: "η γενέτειρα"
        if "begins" in piece.roles:
            self.edge = "begin"
        if "ends" in piece.roles:
            self.edge = "end"

    def _splits_time(self, at: int) -> bool:
        """Whether the rest splits by a unit of time: "*start* in each decade"."""
        rest = self.pieces[at + 1 :]
        return any("group" in one.roles for one in rest) and any(one.words[0] in self.lead.units for one in rest)

    def _is_verb(self, at: int) -> bool:
        piece = self.pieces[at]
        if not piece.relations("forward", "backward"):
            return False
        if self.titled and "containing" in piece.roles:
            return False
        if piece.relations("ends") and self._is_end(at):
            return False
        if not piece.kinds:
            return True
        waiting = bool(self.rel or self.loose or self.negated or self.generic or self.number)
        return self.tree.root is not None and not waiting

    def _is_end(self, at: int) -> bool:
        """Whether a noun for the far end of a relation is meant as that: "the *maker* of", "its *maker*"."""
        piece, after = self.pieces[at], self.pieces[at + 1] if at + 1 < len(self.pieces) else None
        each = after is not None and ("every" in after.roles or at + 2 < len(self.pieces) and "every" in self.pieces[at + 2].roles)
        told = each and not any(kind.categories & int(Category.Thing) for kind in piece.kinds)  # "the nationality of each artist"
        if any(kind.types and not kind.generic for kind in piece.kinds) and not self.grouping and not told:
            return False  # "photographs of": what the data calls so
        if self.modifiers and any(link.before for link in self.modifiers):
            return True
        if after is not None and ("of" in after.roles or "possessive" in after.roles):
            return self._next_content(at) is not None
        if not self.grouping and not piece.kinds and piece.relations("forward", "backward") and not self.negated:
            return False  # "what did it *cost*"
        if self.grouping:
            return self.tree.group is not None and (self.tree.group.node is None or bool(self.tree.group.node.ends))
        return (self.negated and self.tree.root is not None and not self.rel and not self.loose) or not piece.kinds

    # things

    def _take_verb(self, piece: Piece) -> None:
        ids = piece.relations("forward", "backward")
        if self.grouping and self.tree.group is not None and self.tree.group.node is not None and self.tree.root:
            self.tree.group.node.far = (*ids, *self.know.kin(ids))
            return
        if self.tree.when and self.tree.root is None and not self.asked:
            self.asked = Link(ids, (), None, words=piece.words)  # "πότε πέθανε ο …"
            return
        common = tuple(id for id in ids if id in self.rel)
        self.rel, self.rel_words = common or ids, (*self.rel_words, *piece.words)
        for link in self.held:
            self._by_works(link)
        fitting = [link for link in self.held if self._host(self.rel, link.anchor) is not None]
        if fitting and not self._object_follows(piece):
            link = fitting[-1]
            self.held.remove(link)
            link.explicit, link.before, link.words = self.rel, True, self.rel_words
            link.negated, self.negated = link.negated or self.negated, False
            host = self._host(self.rel, link.anchor)
            if host is not None:
                host.links.append(link)
            self.context, self.rel, self.rel_words = self.rel, (), ()

    def _by_works(self, link: Link) -> None:
        """ "whom did Warhol portray": of what a maker's works are, not the maker, the phrase is said."""
        maker, thing = link.anchor, int(Category.Thing)
        if not isinstance(maker, Node) or maker.categories != Category.Actor or self._host(self.rel, maker) is not None:
            return
        works = Node(categories=thing, links=[Link((), (), maker, words=link.words)], text=maker.text)
        works.far = MAKING
        if self._host(self.rel, works) is not None:
            link.anchor = works

    def _take_weak(self, ids: tuple[str, ...], piece: Piece) -> None:
        """ "does the Getty *own*": a word that may say nothing, after the name that it may be said of."""
        link = self.held[-1]
        host = self._host(ids, link.anchor)
        if host is not None and not link.loose:
            self.held.remove(link)
            link.loose, link.before, link.words = ids, True, (*link.words, *piece.words)
            link.negated, self.negated = link.negated or self.negated, False
            host.links.append(link)
            self.copula = ()

    def _object_follows(self, piece: Piece) -> bool:
        """Whether a thing stands right after a verb, without a small word between."""
        at = next(i for i, one in enumerate(self.pieces) if one.first == piece.first)
        for one in self.pieces[at + 1 :]:
            if one.relations("loose") or one.opens:
                return False
            if one.mention or one.kinds:
                return True
        return False

    def _take_end(self, at: int) -> int:
        """A noun such as "creator": the far end of what follows or was named before, or what a thing has."""
        piece = self.pieces[at]
        ids = piece.relations("ends")
        owners = [link for link in self.modifiers if link.before]
        follows = at + 1 < len(self.pieces) and "of" in self.pieces[at + 1].roles and self._next_content(at) is not None
        if self.grouping and self.tree.group is not None and not owners:
            node = Node(kinds=piece.kinds, ends=ids, text=piece.text, edge=self.edge)
            if self.tree.group.node is None:
                self.tree.group.node = node
            elif piece.kinds and self._of_before(at):
                self.tree.group.node.links.append(Link((), (), self._node(piece), inverse=True, words=piece.words))
            elif self.joined:
                self.tree.group.node.ends += tuple(id for id in ids if id not in self.tree.group.node.ends)
            self.joined = False
            self._clear()
            return at + 2 if follows else at + 1
        if (self.joined or "both" in self._before(at)) and self.force is not None and self.force.ends:
            self.force.also.append((ids, self.edge))
            self.joined, self.edge = False, ""
            return at + 1
        if not owners and not follows and self.tree.root is not None and not self._polar_name():
            self.rel, self.rel_words = ids, piece.words
            self._maybe_absent(at)
            return at + 1
        root = self.tree.root if self._polar_name() and not self.rel and not self.loose else None
        node = root or Node()
        if root is None:
            node = Node(kinds=piece.kinds, ends=ids, text=piece.text, edge=self.edge, generic=self.generic)
            node.categories = self._union(ids)
            node = self._place(node, piece)
        if owners:
            self.modifiers = [link for link in self.modifiers if not link.before]
            for link in owners:
                node.links.append(Link(ids, (), link.anchor, inverse=True, words=piece.words))
        else:
            self.force, self.rel, self.rel_words = node, ids, piece.words
        self.generic, self.edge = False, ""
        return at + 1

    def _of_before(self, at: int) -> bool:
        """Whether "of" stands before the noun, or "of their"."""
        at -= 1
        while at > 0 and "of" not in self.pieces[at].roles and (self.pieces[at].stop or self.pieces[at].roles & {"own", "generic"}):
            at -= 1
        return at > 0 and "of" in self.pieces[at].roles

    def _before(self, at: int) -> frozenset[str]:
        return self.pieces[at - 1].roles if at else frozenset()

    def _polar_name(self) -> bool:
        root = self.tree.root
        return self.polar and self.lead.being and root is not None and root.named and not root.ends

    def _union(self, ids: Sequence[str]) -> int:
        found = 0
        for id in ids:
            found |= self.know.ranges[id]
        return found

    def _maybe_absent(self, at: int) -> None:
        """"no maker recorded": nothing is named after the noun, so none at all is meant."""
        after = self._next_content(at)
        if self.negated and (after is None or self.pieces[after].opens):
            self._attach(None, self.pieces[at])

    def _take_kind(self, at: int) -> int:
        """A noun, the last of a run of nouns; those before say of what kind it is."""
        last = at
        while last + 1 < len(self.pieces) and self._continues(last):
            last += 1
        for i in range(at, last):
            one = self.pieces[i]
            self.modifiers.append(Link((), (), self._node(one), self.negated, words=one.words))
            self.negated = self.negated and self.excluding
        piece = self.pieces[last]
        node = self._node(piece)
        node.generic, node.every = self.generic, self.every
        self.generic = self.every = False
        if self.grouping and self.tree.group is not None and self.tree.group.node is None:
            self.tree.group.node = node
            self._flush(node)
            if "of" not in (self.pieces[last + 1].roles if last + 1 < len(self.pieces) else ()):
                self.grouping = self.tree.root is None
            self._clear()
            return last + 1
        if self.grouping and self.tree.group is not None and self.tree.group.at_least:
            return last + 1
        if self.grouping and self.tree.group is not None and self.tree.group.node is not None and self.tree.root:
            self.tree.group.node.links.append(Link((), (), node, inverse=True, words=piece.words))
            self._clear()
            return last + 1
        rank = self.tree.rank
        if rank is not None and rank.kind in ("most", "fewest") and self.tree.root and rank.of is None and self._counts():
            rank.of = node
            self._flush(node)
            self.open.append(node)
            return last + 1
        self._flush(node)
        self._place(node, piece)
        return last + 1

    def _counts(self) -> bool:
        """Whether the noun after "most" is what is counted: not where it is what is asked for, "who are the most …"."""
        root = self.tree.root
        if root is None or not (root.kinds or root.categories):
            return False
        rank = self.tree.rank
        assert rank is not None
        rank.by, self.rel, self.rel_words = rank.by or self.rel, (), ()
        return True

    def _continues(self, at: int) -> bool:
        """Whether the next piece is a noun of the same run: "church *paintings*"."""
        after = self.pieces[at + 1]
        if not after.kinds or after.opens or after.first in self.lead.at or after.roles & {"of", "possessive", "both", "either"} or self._is_verb(at + 1):
            return False
        here = self.pieces[at]
        persons = all(kind.categories == Category.Actor for kind in (*here.kinds, *after.kinds))  # "women artists"
        many = all(kind.number is Number.MANY for kind in here.kinds)
        if after.relations("forward", "backward") or (many and not persons):
            return False
        return any(kind.types or kind.classes for kind in here.kinds)

    def _node(self, piece: Piece) -> Node:
        mask = 0
        for kind in piece.kinds:
            mask |= kind.categories
        plain = any(kind.generic for kind in piece.kinds) and not (piece.capital or piece.quoted)
        named = [piece.mention] if piece.mention and not plain else []  # "a date" is no thing called so
        return Node(
            kinds=piece.kinds, mentions=named, categories=mask, text=piece.text,
            capital=piece.capital or piece.quoted, far=piece.relations("ends"), raw=piece.raw,
        )  # fmt: skip

    def _flush(self, node: Node) -> None:
        """What stood before a noun is said of it."""
        node.links += self.modifiers
        self.modifiers = []

    def _place(self, node: Node, piece: Piece) -> Node:
        """A noun where it stands: what is asked for, or what the thing before is tied to; the node that it became."""
        if self.tree.root is None and not (self.rel or self.loose or self.negated):
            self._start(node)
        elif self.tree.root is None:
            self._attach(node, piece)
        elif self._is_bare_root() and not self.rel and not self.loose and not self.negated:
            self._merge_root(node)
            assert self.tree.root is not None
            return self.tree.root
        else:
            self._attach(node, piece)
            self.open.append(node)
        return node

    def _is_bare_root(self) -> bool:
        """Whether no noun has said yet what is asked for."""
        root = self.tree.root
        return root is not None and not root.kinds and not root.named and not root.earlier

    def _is_untold_root(self) -> bool:
        """Whether all that was heard is a question word."""
        root = self.tree.root
        return root is not None and self._is_bare_root() and not (root.links or root.ends or self.open[1:])

    def _merge_root(self, node: Node) -> None:
        """"who are the painters": the noun says what is asked for."""
        root = self.tree.root
        assert root is not None
        root.kinds, root.categories, root.ends = node.kinds, node.categories, node.ends
        root.links += node.links
        root.text, root.far = node.text, node.far
        if self.force is node:
            self.force = root

    def _start(self, node: Node) -> None:
        if self.pending is not None:
            node.earlier, self.pending = self.pending.earlier, None
        if self.least is not None:  # "more than two works by …": how many, of what is asked for
            self.tree.unknown.append(str(self.least))
            self.least = None
        if self.narrowing and self.lead.earlier and not node.earlier:
            node.earlier = "set"
        self.tree.root = node
        self.open = [node]
        node.links += self.fronted
        self.fronted = []
        if self.number is not None and self.tree.rank is not None:
            self.tree.rank.first = self.tree.rank.first or self.number
        self._clear()

    def _take_name(self, at: int) -> int:
        piece = self.pieces[at]
        assert piece.mention is not None
        node = self._node(piece)
        node.categories = self.know.categories(piece.mention)
        after = self.pieces[at + 1] if at + 1 < len(self.pieces) else None
        if after is not None and "possessive" in after.roles:
            self.modifiers.append(Link((), (), node, self.negated, before=True, words=piece.words))
            self.negated = self.negated and self.excluding
            return at + 2
        if not self.titling and (noun := self._noun_after_names(at)) is not None:
            for one in self.pieces[at + 1 : noun]:
                if one.mention is not None:
                    node.mentions.append(one.mention)
            said = tuple(word for one in self.pieces[at:noun] for word in one.words)
            self.modifiers.append(Link((), (), node, self.negated, words=said))
            self.negated = self.negated and self.excluding
            return noun
        noun_next = after is not None and after.kinds and not (after.opens or self.titling) and not self._is_verb(at + 1)
        if noun_next and self._is_apposition(node, after):  # type: ignore[arg-type]
            self._attach(node, piece)
            if self.last is not None:
                self.last.words += after.words  # type: ignore[union-attr]
            return at + 2
        if noun_next and not after.roles & {"of"} and not self.joined and not self._name_ends(piece, at):  # type: ignore[union-attr]
            self.modifiers.append(Link((), (), node, self.negated, words=piece.words))
            self.negated = self.negated and self.excluding
            return at + 1
        if self.tree.root is None and self.polar and not (self.rel or self.loose or self.excluding):
            self._start(node)
            return at + 1
        self._attach(node, piece)
        return at + 1

    def _is_apposition(self, node: Node, noun: Piece) -> bool:
        """Whether the noun after a name only says what it is: "the Marathasa *valley*", not "Navajo *artists*"."""
        one = any(kind.number is not Number.MANY for kind in noun.kinds)
        shared = node.categories & self._node(noun).categories & ~int(Category.Actor)
        return one and bool(shared) and (self.tree.root is not None or self.polar)

    def _noun_after_names(self, at: int) -> int | None:
        """Where the noun stands that several names joined by "or" say more of: "*Navajo or Hopi* potters"."""
        joined, last = False, at + 1
        while last < len(self.pieces):
            one = self.pieces[last]
            if one.roles & {"either", "both"}:
                joined = True
            elif one.mention is not None and not one.kinds:
                pass
            else:
                break
            last += 1
        if not joined or last >= len(self.pieces):
            return None
        noun = self.pieces[last]
        return last if noun.kinds and not noun.opens and not self._is_verb(last) else None

    def _name_ends(self, piece: Piece, at: int) -> bool:
        """Whether a clause goes on after a name rather than a noun: "does *Tiffany* own lamps"."""
        return self.polar and self.tree.root is None

    def _take_unknown(self, at: int) -> int:
        piece = self.pieces[at]
        last = at + 1
        words = list(piece.words)
        while last < len(self.pieces) and self.pieces[last].unknown and not self.pieces[last].opens:
            words += self.pieces[last].words
            last += 1
        named = piece.capital or piece.quoted
        text = Text(tuple(words), named, " ".join(one.raw for one in self.pieces[at:last]))
        after = self.pieces[last] if last < len(self.pieces) else None
        if after is not None and "possessive" in after.roles:
            self.modifiers.append(Link((), (), text, self.negated, before=True, words=tuple(words)))
            return last + 1
        before_noun = after is not None and after.kinds and not after.opens and not self._is_verb(last)
        if before_noun and not (self.rel and named):
            self.modifiers.append(Link((), (), text, self.negated, words=tuple(words)))
            self.negated = self.negated and self.excluding
            return last
        phrase = len(piece.words) > 1 and bool(self.copula)  # "are oil on canvas"
        if named or phrase or self.rel or self.loose or self.titled or self.joined or self._titles_follow(last):
            self._attach(text, piece)
        else:
            self.tree.unknown += words
        return last

    def _titles_follow(self, at: int) -> bool:
        return any("titles" in one.roles for one in self.pieces[at:])

    # ties

    def _attach(self, anchor: Anchor, piece: Piece) -> None:
        """Tie a thing to the nearest one before it that the waiting phrase can be of."""
        listed = self.joined or (piece.opens and not self.rel and not self.loose)
        if listed and self.last is not None and self._joins(anchor):
            self.joined = False
            self.negated = self.negated and self.excluding
            return
        explicit, loose = self.rel, self.loose
        if not loose and self.copula and not (explicit or self._verb_follows(piece)):
            loose = self.copula if self._host(self.copula, anchor) is not None and self.open else ()
        if explicit and loose:
            explicit = tuple(id for id in explicit if id in loose and self._may_end(id, anchor)) or explicit
        link = Link(
            explicit or (), loose, anchor, self.negated, edge=self.edge,
            words=(*self.rel_words, *piece.words) if self.rel else piece.words,
        )  # fmt: skip
        if not explicit and self.context:
            shared = tuple(id for id in self.context if id in loose) if loose else ()
            dated = not isinstance(anchor, Node | Text) and anchor is not None
            link.explicit = shared or (self.context if dated or not loose else ())
            link.loose = loose or self.context
        link.at_least, self.least = self.least, None
        if self.titling and isinstance(anchor, Node | Text):
            link.titled, link.explicit, link.loose, self.titling = True, (), (), False
            (self.texted or self.tree.root or Node()).links.append(link)
            self.texted = None
        else:
            self._settle(link, piece)
        self.last, self.joined = link, False
        self._clear(keep_negation=self.excluding)

    def _settle(self, link: Link, piece: Piece) -> None:
        if self.force is not None:
            link.inverse, host = True, self.force
            self.force = None
            host.links.append(link)
            return
        if self.tree.root is None:
            self.fronted.append(link)
            return
        if self.grouping and self.tree.group and self.tree.group.node is not None:
            self.tree.group.node.links.append(link)
            return
        bare = not (link.explicit or link.loose or link.negated)
        named = link.anchor.named if isinstance(link.anchor, Node | Text) else False
        if bare and named and self._verb_follows(piece):
            self.held.append(link)
            return
        owner = self._owner(piece)
        if owner is not None and not link.explicit:
            owner.links.append(link)
            return
        host = self._host(link.explicit or link.loose, link.anchor) or self.open[-1]
        if link.negated and self.excluding:
            host = self.tree.root
        host.links.append(link)

    def _owner(self, piece: Piece) -> Node | None:
        """The named thing right before "of": the narthex *of Asinou*."""
        at = next(i for i, one in enumerate(self.pieces) if one.first == piece.first) - 1
        while at >= 0 and self.pieces[at].roles & {"generic"} and "of" not in self.pieces[at].roles:
            at -= 1
        before = self.last.anchor if self.last is not None else None
        if at < 1 or "of" not in self.pieces[at].roles or not isinstance(before, Node) or not before.named:
            return None
        return before if self.pieces[at - 1].text.endswith(before.text) else None

    def _verb_follows(self, piece: Piece) -> bool:
        after = (i for i, one in enumerate(self.pieces) if one.first > piece.first)
        return any(
            (self.pieces[i].relations("forward", "backward") and self._is_verb(i))
            or ("filler" in self.pieces[i].roles and self.pieces[i].phrases and len(self.pieces[i].words) == 1)
            for i in after
        )

    def _host(self, ids: Sequence[str], anchor: Anchor) -> Node | None:
        """The nearest open thing that one of the relations may tie to the anchor; None when none may."""
        if not ids:
            return self.open[-1] if self.open else None
        for node in reversed(self.open):
            if any(any(self._ties(id, node, anchor)) for id in ids):
                return node
        return None

    def _ties(self, id: str, node: Node, anchor: Anchor) -> tuple[bool, bool]:
        if isinstance(anchor, Node):
            parts = anchor.named and not anchor.kinds and all(m.entities[0].how not in WHOLE for m in anchor.mentions)
            return self.know.fits(id, node.categories, 0 if parts else anchor.categories)  # a part of a name tells little
        if anchor is None or isinstance(anchor, Text):
            domain = self.know.domains[id]
            ahead = not node.categories or bool(node.categories & domain)
            back = bool(node.categories & self.know.ranges[id])
            return ahead, back
        if self.know.value(id) == "date":
            return self.know.fits(id, node.categories, int(Category.Time))
        return False, False

    def _may_end(self, id: str, anchor: Anchor) -> bool:
        """Whether the relation may tie anything to the anchor."""
        if isinstance(anchor, Node):
            return any(self.know.fits(id, 0, anchor.categories))
        return isinstance(anchor, Text) or anchor is None or self.know.value(id) == "date"

    def _joins(self, anchor: Anchor) -> bool:
        """Add a further name to the thing that was named before: "by Andy Warhol *or Alfred Stieglitz*"."""
        before = self.last.anchor if self.last is not None else None
        if not (isinstance(before, Node) and isinstance(anchor, Node)) or self.rel or self.loose:
            return False
        if not (before.named and anchor.named) or (before.kinds and not before.named):
            return False
        before.mentions += anchor.mentions
        before.categories |= anchor.categories
        assert self.last is not None
        self.last.words += tuple(anchor.text.split())
        return True

    def _clear(self, keep_negation: bool = False) -> None:
        if self.rel:
            self.context = self.rel
        self.rel, self.rel_words, self.loose, self.copula = (), (), (), ()
        self.generic, self.every, self.edge = False, False, ""
        self.negated = self.negated and keep_negation
        self.excluding = self.excluding and keep_negation

    def _end_group(self) -> None:
        self.grouping = False
        self.excluding = self.negated = False
        self.rel, self.loose = (), ()

    def _finish(self) -> None:
        """What still waits is tied to the thing asked for."""
        tree = self.tree
        named = self.fronted and isinstance(self.fronted[0].anchor, Node) and not self.lead.earlier
        if tree.root is None and named and isinstance(self.fronted[0].anchor, Node):
            tree.root, self.fronted = self.fronted[0].anchor, self.fronted[1:]
        elif tree.root is None and self.lead.earlier:
            tree.root = Node(categories=self.lead.earlier, earlier="set")
            tree.fragment = True
        elif tree.root is None and (self.fronted or self.rel):
            tree.root = Node(text="")
        if tree.root is None:
            return
        self.open = self.open or [tree.root]
        if self.asked is not None:
            tree.root.links.append(self.asked)
        tree.root.links += self.fronted + self.modifiers
        for link in self.held:
            (self._host(link.explicit or link.loose, link.anchor) or self.open[-1]).links.append(link)
        if tree.rank is not None and tree.rank.first is None:
            tree.rank.first = self.number
        if self.rel:
            self._settle_verb()
        if self.negated and not self.excluding:
            tree.unknown += self.denied

    def _settle_verb(self) -> None:
        """A phrase at the end without anything after it: what is counted by a superlative, else anything at all."""
        tree = self.tree
        assert tree.root is not None
        if tree.rank is not None and not tree.rank.by:
            tree.rank.by = self.rel
            return
        host = self._host(self.rel, None) or self.open[-1]
        if self.force is not None or self.lead.small.issuperset(self.rel_words):
            return
        said = {id for link in host.links for id in link.explicit}
        if not said & set(self.rel):
            host.links.append(Link(self.rel, (), None, self.negated, words=self.rel_words))


def read_tree(
    pieces: Sequence[Piece], know: Vocabulary, lead: Lead, polar: bool = False, tree: Tree | None = None
) -> Tree:
    """The tree of a question; ``polar``: it is answered by yes or no."""
    return _Reader(pieces, know, lead, polar, tree or Tree()).read()


Reader = Callable[[Sequence[Piece]], Tree]
