"""From a question to a plan without a language model: read into a tree, bound to the data, told how sure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import ValidationError

from crmrag_query.artifacts.release import Release
from crmrag_query.config.questions import KindEntry, Limits, PlanWords, Scores
from crmrag_query.errors import QuestionError
from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.antecedent import Antecedent, as_list, changed
from crmrag_query.parsing.apart import apart
from crmrag_query.parsing.bind import Binder, Bound
from crmrag_query.parsing.breadth import broader, narrower
from crmrag_query.parsing.doubts import Small, doubts
from crmrag_query.parsing.exonyms import Exonyms, with_exonyms
from crmrag_query.parsing.formed import Formed
from crmrag_query.parsing.forms import form
from crmrag_query.parsing.house import Owner, without_house
from crmrag_query.parsing.kinds import KindMatch, Kinds
from crmrag_query.parsing.lead import lead_of
from crmrag_query.parsing.lexicon import PhraseSpan, compiled_relations
from crmrag_query.parsing.names import Namesakes, refined
from crmrag_query.parsing.pieces import Piece, Readings, Stretch, pieces_of
from crmrag_query.parsing.reader import read_tree
from crmrag_query.parsing.reading.state import Lead
from crmrag_query.parsing.settled import is_settled
from crmrag_query.parsing.tree import Node, Text, Tree
from crmrag_query.parsing.vocabulary import Vocabulary
from crmrag_query.parsing.words import Roles, roles_of, with_references
from crmrag_query.plans.records import Among, Compute, Member, Plan, Texted, check_size
from crmrag_query.plans.world import World
from crmrag_query.questions.analysis import Analysis
from crmrag_query.questions.lexicon import Language, compiled
from crmrag_query.questions.words import Asked, asked
from crmrag_query.timing import check


@dataclass(frozen=True)
class Parsed:
    """What a question was understood to ask.

    ``plan`` None: nothing that can be executed; ``runner_up``: the next best understanding; ``score`` 0..1; ``certain``: sure
    enough to be answered as the whole set; ``unknown``: words that nothing is known of; ``missing``: parts of the question
    that nothing in the data meets; ``absent``: relations (ids) asked for of something known that nothing states;
    ``doubts``: words that may have been passed over; ``mentioned``: words that were found in texts or names only, where a
    person, a place or an event is asked for; ``notes``: choices that a reader should know of; ``sort``: the order
    that was asked for.
    """

    plan: Plan | None
    score: float = 0.0
    certain: bool = False
    unknown: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    mentioned: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    runner_up: Plan | None = None
    sort: Literal["", "label", "date"] = ""
    tree: Tree = field(default_factory=Tree)
    pieces: tuple[Piece, ...] = ()


def parse(release: Release, analysis: Analysis, earlier: Antecedent | None = None) -> Parsed:
    """The plan of an analysed question; ``earlier``: what "them" and "it" stand for. Never fails on any text.

    Raises Stopped alone: reading takes time with what the words of a question may mean.
    """
    method, world = release.method, release[World]
    language = compiled(method.questions).languages[analysis.reading.language]
    heard = asked(analysis.reading.question, language.capitals_name, ())
    know = Vocabulary(method.relations, lambda node: int(world.adjacency.categories[node]))
    cut = _cut(release, analysis, heard, language, know, earlier is not None)
    pieces = without_house(cut, release[Owner], method.parsing.having)
    polar = analysis.reading.rule.startswith("yes/no")
    started = _tree(analysis, polar)
    lead = lead_of(release, heard, language, earlier)
    asked_for = apart(pieces, know, method.parsing, started.form, lead)
    pieces = asked_for.pieces
    tree = read_tree(pieces, know, lead, polar, started)
    asked_for.onto(tree, know)
    if tree.root is None or _is_too_much(tree.root, method.parsing.limits):
        return Parsed(None, unknown=tuple(tree.unknown), tree=tree, pieces=pieces)

    def called(words: Sequence[str]) -> tuple[str, ...]:
        return release[Exonyms].names(words, language.code)

    binder = Binder(world, know, method.parsing, Namesakes(release), called, earlier)
    if tree.fragment and earlier is not None and earlier.plan is not None:
        _as_titles(tree.root, earlier.plan)
    try:
        bound = binder.bind(tree.root)
        formed = form(binder, tree, bound)
        if tree.fragment and earlier is not None and earlier.plan is not None:
            formed = _gone_on(earlier.plan, tree, bound, formed)
            bound.missing.clear()  # what it names was bound without what went before
        check_size(formed.plan)
    except QuestionError as error:
        return Parsed(None, unknown=tuple(tree.unknown), notes=(str(error),), tree=tree, pieces=pieces)
    except ValidationError:  # longer than a plan may be, such as a word of a thousand letters
        return Parsed(None, unknown=tuple(tree.unknown), tree=tree, pieces=pieces)
    parsed = _told(tree, pieces, bound, formed, language.stop, method.parsing.scores)
    passed_over = doubts(pieces, tree, _small(release, language, lead))
    vague = _may_mean_otherwise(tree.root, formed.plan, method.kinds.kinds)
    parsed = replace(parsed, certain=parsed.certain and not (passed_over or vague), doubts=passed_over)
    return _unless_ambiguous(parsed, world)


def _may_mean_otherwise(root: Node, plan: Plan, kinds: Mapping[str, KindEntry]) -> bool:
    """Whether words that were read one way may as well mean another thing in this data:

    - a noun for which it has no class of its own, so that all of a category stands for it, under no condition that is met;
    - a noun for persons whose type only things have, such as pictures of saints;
    - "portraits *of* women": who made them, or who is shown;
    - "is there any Goethe?": whatever bears a part of the name.
    """
    met = [one for one in plan.where if not one.negated]
    if root.kinds and not met and not any(kind.types or kind.classes for kind in root.kinds):
        return plan.target.classes == () and plan.target.types == ()
    for kind in root.kinds:
        entry = kinds.get(kind.kind)
        having = sum(bit for bit, _ in kind.spread)
        if (
            entry is not None
            and entry.implies[:1] == ("Actor",)
            and having
            and not having & int(Category.Actor)
        ):
            return True
    for link in root.links:
        persons = link.anchor if isinstance(link.anchor, Node) and link.anchor.kinds else None
        if persons is None or link.explicit or not {"created_by", "depicts"} <= set(link.loose):
            continue
        if persons.may_be & int(Category.Actor) and not any(kind.role for kind in persons.kinds):
            return True
    only_named = plan.compute.kind == "ask" and all(isinstance(one, Among) for one in met)
    return only_named and any(one.entities[0].how == "partial" for one in root.mentions)


def _small(release: Release, language: Language, lead: Lead) -> Small:
    """The small words by which a reading may be doubted."""
    words = release.method.parsing.languages.get(language.code, PlanWords())
    foreign = language.code not in release.manifest.languages
    return Small(
        release.method.sets.answers.numbers, words.either, words.both, lead.beings, language.stop, foreign
    )


def _unless_ambiguous(parsed: Parsed, world: World) -> Parsed:
    """Not sure where dates do not decide a ranking, nor where a noun that may mean more or less gives another answer, which
    is then the next best understanding."""
    if parsed.plan is None or not parsed.certain:
        return parsed
    try:
        if not is_settled(parsed.plan, world):
            return replace(parsed, certain=False)
        other = broader(parsed.tree, parsed.plan, world) or narrower(parsed.tree, parsed.plan, world)
    except QuestionError:
        return parsed
    return parsed if other is None else replace(parsed, certain=False, runner_up=other)


def _is_too_much(root: Node, limits: Limits) -> bool:
    """Whether the question speaks of more things, or ties more to them, than are bound."""
    nodes = [root]
    for node in nodes:  # which grows while it is gone through
        check()
        nodes += [link.anchor for link in node.links if isinstance(link.anchor, Node)]
        if len(nodes) > limits.things:
            return True
    return sum(len(node.links) for node in nodes) > limits.ties


def _as_titles(root: Node, before: Plan) -> None:
    """ "and any with lions?": after a question about titles, further words are of titles too."""
    if any(isinstance(one, Texted) and one.way is None for one in before.where):
        for link in root.links:
            link.titled |= not link.explicit and isinstance(link.anchor, Text | Node) and not link.negated


def _gone_on(before: Plan, tree: Tree, bound: Bound, formed: Formed) -> Formed:
    """A question that names nothing asked for: the one before with what it says anew ("and in 1890?", "how many?")."""
    own = [one for one in bound.where if not isinstance(one, Member)]
    plan = changed(as_list(before), own) if own else as_list(before)
    kind = formed.plan.compute.kind
    if kind == "list" and before.compute.kind in ("count", "ask") and own:
        kind = before.compute.kind  # "how many are by X?" – "and by Y?"
    if kind in ("count", "ask"):
        plan = plan.model_copy(update={"compute": Compute(kind=kind)})
    return Formed(plan, formed.score if own or kind != "list" or tree.sort else 0.0)


def _told(
    tree: Tree, pieces: tuple[Piece, ...], bound: Bound, formed: Formed, stop: Collection[str], scores: Scores
) -> Parsed:
    lost = unused(tree, pieces, stop)
    unknown = tuple(
        dict.fromkeys([*tree.unknown, *bound.unknown, *lost, *([formed.lacking] if formed.lacking else [])])
    )
    score = bound.score * formed.score * scores.lost ** (len(tree.unknown) + len(lost))
    plan = formed.plan
    empty = not _restricts(plan)
    if tree.root is not None and tree.root.named and _only_denies(plan):
        score *= scores.unsure  # a named thing "without" something is a picture of it, and not the thing
    whole = not unknown and not empty and (tree.form == "ask" or not bound.missing)
    return Parsed(
        plan=None if empty else plan,
        score=score,
        certain=score >= scores.sure and whole and not (tree.several or bound.mentioned),
        unknown=unknown,
        missing=tuple(dict.fromkeys(bound.missing)),
        absent=tuple(dict.fromkeys(bound.absent)),
        mentioned=tuple(dict.fromkeys(bound.mentioned)),
        notes=tuple(dict.fromkeys(bound.notes)),
        runner_up=_runner_up(plan, bound),
        sort=tree.sort,
        tree=tree,
        pieces=pieces,
    )


def _only_denies(plan: Plan) -> bool:
    own = [one for one in plan.where if not isinstance(one, Among)]
    return plan.compute.kind in ("list", "count") and bool(own) and all(one.negated for one in own)


def _restricts(plan: Plan) -> bool:
    """Whether it asks for less than everything: a target of a kind, or what something is tied to."""
    target = plan.target
    if target.types or target.classes or any(not one.negated for one in plan.where):
        return True
    return len(target.categories) == 1


def unused(tree: Tree, pieces: tuple[Piece, ...], stop: Collection[str] = ()) -> list[str]:
    """Words that say something and that the tree holds nowhere: what was heard, but not understood."""
    held = set(_words(tree.root)) | set(_words(tree.group.node if tree.group else None))
    held |= set(_words(tree.rank.of if tree.rank else None))
    by = set(tree.rank.by) if tree.rank else set()
    by |= set(tree.group.node.far) if tree.group and tree.group.node else set()
    lost: list[str] = []
    for piece in () if tree.sort else pieces:
        if all(word in stop for word in piece.words):
            continue  # "are in": a phrase of small words says nothing that is not said otherwise
        says = (
            piece.mention
            or piece.kinds
            or piece.period
            or piece.relations("forward", "backward", "ends", "starts")
        )
        if says and not piece.roles and not piece.stop and not held.intersection(piece.words):
            unit = tree.group is not None and bool(tree.group.unit)
            if not unit and not by.intersection(piece.relations("forward", "backward", "ends")):
                lost.append(piece.text)
    return lost


def _words(node: Node | None, seen: frozenset[int] = frozenset()) -> Iterator[str]:
    if node is None or id(node) in seen:
        return
    yield from node.text.split()
    for link in node.links:
        yield from link.words
        if isinstance(link.anchor, Node):
            yield from _words(link.anchor, seen | {id(node)})


def _runner_up(plan: Plan, bound: Bound) -> Plan | None:
    """The plan with the best other choice at the place where the choice was least sure."""
    rivals = sorted(bound.rivals, key=lambda rival: (-(rival[1].kept > 0), -rival[1].score))
    if not rivals or rivals[0][0] >= len(plan.where):
        return None
    place, choice = rivals[0]
    where = (*plan.where[:place], choice.constraint, *plan.where[place + 1 :])
    return plan.model_copy(update={"where": where})


def _tree(analysis: Analysis, polar: bool) -> Tree:
    tree = Tree()
    tree.form = "ask" if polar else "count" if analysis.reading.counts else "list"
    return tree


def _cut(
    release: Release, analysis: Analysis, heard: Asked, language: Language, know: Vocabulary, goes_on: bool
) -> tuple[Piece, ...]:
    method = release.method
    words = heard.words
    capitals = {i for chunk in heard.chunks if chunk.capital for i in range(chunk.first, chunk.last)}
    noun_capitals = language.code in method.sets.answers.noun_capitals and bool(capitals)
    kinds = tuple(
        kind
        for kind in release[Kinds].at(words, language.code)
        if not noun_capitals
        or kind.last - 1 in capitals  # German nouns have capitals, verbs and adjectives none
    )
    spans = _plain(compiled_relations(method.relations, language.code).spans(words), words, language, know)
    quoted = {i for chunk in heard.chunks if chunk.quoted for i in range(chunk.first, chunk.last)}
    said = [i for kind in kinds for i in range(kind.first, kind.last)]
    return pieces_of(
        Readings(
            words=words,
            weights=method.parsing.weights,
            mentions=with_exonyms(
                release[Exonyms],
                refined(release, analysis.mentions, heard, kinds, spans, language),
                heard,
                language,
                said,
            ),
            kinds=kinds,
            phrases=[span for span in spans if not _hides_noun(span, kinds)],
            periods=_periods(analysis, words),
            stop=language.stop,
            capitals=capitals if language.capitals_name else frozenset(),
            quoted=quoted,
            starts=heard.starts,
            roles=_roles(release, language, goes_on),
            numbers=frozenset(method.sets.answers.numbers),
            chunks=heard.chunks,
        )
    )


def _roles(release: Release, language: Language, goes_on: bool) -> Roles:
    """Roles of grammar, and of the words that stand for what went before."""
    roles = roles_of(release.method.parsing, language.code)
    references = release.method.questions.conversation.references.get(language.code)
    if references is None:
        return roles
    return with_references(roles, references, goes_on)


def _plain(
    spans: tuple[PhraseSpan, ...], words: tuple[str, ...], language: Language, know: Vocabulary
) -> list[PhraseSpan]:
    """The phrases; a single small word ("by", "are") is a loose one, whatever else, of all its relations in their order."""
    loose: dict[int, set[str]] = {}
    found: list[PhraseSpan] = []
    for span in spans:
        if len(span) == 1 and words[span.first] in language.stop and span.role != "ends":
            loose.setdefault(span.first, set()).update(span.relations)
        else:
            found.append(span)
    for first, ids in loose.items():
        found.append(PhraseSpan(first, first + 1, "loose", know.ordered(ids)))
    inner = [
        PhraseSpan(a.first, a.last, b.role, b.relations)
        for a in found
        for b in found
        if a.last == b.last
        and a.first < b.first
        and all(word in language.stop for word in words[a.first : b.first])
    ]  # "was painted" says all that "painted" does
    return [*found, *inner]


def _hides_noun(span: PhraseSpan, kinds: Sequence[KindMatch]) -> bool:
    """ "works by": the noun is what is asked for, the phrase is what follows it."""
    return span.role in ("forward", "backward") and any(
        kind.first == span.first and kind.last < span.last for kind in kinds
    )


def _periods(analysis: Analysis, words: tuple[str, ...]) -> list[Stretch]:
    """The longest run of the words that express the period."""
    if analysis.period is None:
        return []
    best, start = (0, 0), None
    for at in range(len(words) + 1):
        inside = at < len(words) and words[at] in analysis.period_words
        if inside and start is None:
            start = at
        if not inside and start is not None:
            best = max(best, (at - start, -start))
            start = None
    length, first = best[0], -best[1]
    return [Stretch(first, first + length, analysis.period)] if length else []
