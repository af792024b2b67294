"""Lines of relationships: Fundamental Relationships, and the direct triples that none of their lines states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crmrag_assets.documents.drafts import Draft, as_tuple, enumerate_names
from crmrag_assets.documents.facts import Facts, within
from crmrag_assets.documents.names import Names
from crmrag_assets.documents.setting import Setting
from crmrag_assets.documents.words import clean
from crmrag_query.documents.schema import FR, INCOMING, NOTE, OUTGOING
from crmrag_query.graph.arrays import Bytes, Ints

Bools = npt.NDArray[np.bool_]
LOOKED_AT = 200  # targets of a line whose names are compared; a hub has more than a line can show
CUT_LABELS = 5  # labels of lines that were cut, in the note about them


@dataclass(frozen=True, slots=True)
class Reached:
    """What one relationship reaches from one entity: targets ascending, the narrowest way to each, and how many hops."""

    relationship: int
    target: Ints
    path: npt.NDArray[np.int16]
    depth: Bytes


def relationship_lines(names: Names, facts: Facts, reached: Sequence[Reached], told: Bools) -> list[Draft]:
    """A line for each relationship that no other line states already, the most informative first.

    ``told``: mask of the facts that the lines above state: types, names, dates and the like.
    """
    setting = names.setting
    kept = list(reached)
    for one in sorted(reached, key=lambda one: _generality(setting, one)):
        if _stated(setting, one, kept, facts, told):
            kept.remove(one)
    general = {upper for one in kept for upper in setting.above[one.relationship]}
    limit = setting.method.documents.targets

    def rank(one: Reached) -> tuple[bool, bool, int]:
        return one.relationship in general, len(one.target) > limit, one.relationship

    return [_relationship_line(names, facts, one) for one in sorted(kept, key=rank)]


def _generality(setting: Setting, one: Reached) -> tuple[int, int, int, int]:
    """The most general first: what reaches many, specialises nothing, has many ways, stands late."""
    number = one.relationship
    return -len(one.target), len(setting.above[number]), -len(setting.catalogue[number].paths), -number


def _stated(setting: Setting, one: Reached, reached: Sequence[Reached], facts: Facts, told: Bools) -> bool:
    """Whether other lines state every target: a line above, that of a relationship that specialises this one or reads the
    same, or that of one whose way there implies this one: produced by someone is modified by them and has met them. What
    reads as generally as "has met" is stated by whatever else is said of the target.
    """
    number = one.relationship
    vague = setting.catalogue[number].label in setting.vague
    covered = within(one.target, facts.target[told & facts.where(setting.single[number])])
    for other in reached:
        if other is one or covered.all():
            continue
        common = within(one.target, other.target)
        alike = setting.catalogue[other.relationship].label == setting.catalogue[number].label
        weaker = vague and setting.catalogue[other.relationship].label not in setting.vague
        if alike or weaker or number in setting.above[other.relationship]:
            covered |= common
        elif other.relationship not in setting.above[number] and (common & ~covered).any():
            places = np.flatnonzero(common)
            implied = _implied(setting, other, np.searchsorted(other.target, one.target[places]), number)
            if number < other.relationship and len(one.target) <= len(other.target):
                implied &= ~_implied(
                    setting, one, places, other.relationship
                )  # else they would imply each other
            covered[places] |= implied
    return bool(covered.all())


def _implied(setting: Setting, one: Reached, at: npt.NDArray[np.intp], number: int) -> Bools:
    """For targets of ``one`` at these places: whether its way there implies relationship ``number``."""
    ways = setting.ways
    pairs = zip(one.path[at].tolist(), one.depth[at].tolist(), strict=True)
    found = [
        ways.implies(one.relationship, path, depth == ways.required(one.relationship, path), number)
        for path, depth in pairs
    ]
    return np.array(found, bool)


def _relationship_line(names: Names, facts: Facts, one: Reached) -> Draft:
    """``refers to or is about (portrays): …``: with the property's own name where one states the whole line."""
    setting = names.setting
    relationship = setting.catalogue[one.relationship]
    label = relationship.label
    direct = facts.where(setting.single[one.relationship]) & within(facts.target, one.target)
    if len(np.unique(facts.target[direct])) == len(one.target):
        words = {_property_label(setting, key) for key in np.unique(facts.key[direct]).tolist()}
        plainer = words.pop() if len(words) == 1 else ""
        label += f" ({plainer})" if plainer and plainer not in label else ""
    targets = as_tuple(one.target)
    if relationship.label not in setting.vague:
        return _line(names, FR, relationship.id, label, targets, setting.method.documents.targets)
    shown = (names.shown(node) for node in names.sorted(targets[:LOOKED_AT]))
    body = enumerate_names(shown, len(targets), setting.method.documents.vague_targets)
    return Draft(FR, relationship.id, label, body, targets, len(targets))


def _property_label(setting: Setting, key: int) -> str:
    """How the property of a fact reads from the entity."""
    prop, inverse = divmod(key, 2)
    return clean(setting.graph.property_label(prop, bool(inverse))) or clean(setting.graph.property_iri(prop))


def _line(names: Names, kind: int, key: str, label: str, targets: tuple[int, ...], limit: int) -> Draft:
    order = names.sorted(targets[:LOOKED_AT])
    noted = names.setting.method.documents.noted_targets
    shown = (names.annotated(node) if at < noted else names.shown(node) for at, node in enumerate(order))
    body = enumerate_names(shown, len(targets), limit)
    return Draft(kind, key, label, body, targets, len(targets))


def left_over(setting: Setting, facts: Facts, open_: Bools, lines: Sequence[Draft]) -> Bools:
    """Mask of the facts that none of the relationship lines states by itself (facts: method, mistake 5)."""
    rest = open_.copy()
    for line in lines:
        if line.kind == FR and rest.any():
            single = setting.single[setting.catalogue.number(line.key)]
            rest &= ~(facts.where(single) & within(facts.target, line.targets))
    return rest


def direct_lines(names: Names, facts: Facts, open_: Bools) -> list[Draft]:
    """A line for each way of saying it: P46i stated here and P46 stated there both read "forms part of"."""
    setting = names.setting
    graph = setting.graph
    groups: dict[str, tuple[list[int], bool, float, str]] = {}
    for key in np.unique(facts.key[open_]).tolist():
        prop, inverse = divmod(key, 2)
        code = graph.property_code(prop)
        label = _property_label(setting, key)
        stated = facts.target[open_ & (facts.key == key)].tolist()
        before, seen, weight, first = groups.get(label, ([], True, 0.0, code or graph.property_iri(prop)))
        weight = max(weight, setting.method.weights.of(code))
        groups[label] = ([*before, *stated], seen and bool(inverse), weight, first)
    order = sorted(
        groups.items(), key=lambda item: (item[1][1], -item[1][2], len(item[1][0]) > LOOKED_AT, item[0])
    )
    limit = setting.method.documents.targets
    return [
        _line(names, INCOMING if inverse else OUTGOING, key, label, tuple(sorted(set(targets))), limit)
        for label, (targets, inverse, _, key) in order
    ]


def reified_lines(names: Names, facts: Facts) -> tuple[list[Draft], Bools]:
    """``carried out by: Theodore (in the role of painter)``: relationships with properties of their own (PC classes)."""
    setting = names.setting
    mask = facts.inverse & (setting.satellites.kind[facts.target] == setting.kind("reified"))
    ends = {"P01": False, "P02": False}
    groups: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for index in np.flatnonzero(mask).tolist():
        node, end = int(facts.target[index]), setting.graph.property_code(int(facts.key[index]) // 2)
        other = _other_end(names, node, end) if end in ends else None
        if other is None:
            mask[index] = False
            continue
        groups.setdefault(_reified_label(setting, node, end == "P02"), []).append((other, node))
    return [_reified_line(names, key, label, pairs) for (key, label), pairs in sorted(groups.items())], mask


def _other_end(names: Names, node: int, end: str) -> int | None:
    by_code = names.setting.graph.adjacency.by_code
    wanted = [number * 2 for number in by_code.get("P02" if end == "P01" else "P01", ())]
    found = names.neighbours(node, wanted)
    return found[0] if found else None


def _reified_label(setting: Setting, node: int, inverse: bool) -> tuple[str, str]:
    """Key and label of the property that a node reifies: PC14 is P14, read from its range as P14i."""
    for number in setting.graph.types(node).tolist():
        code = setting.graph.class_code(number)
        if code.startswith("PC"):
            stated = "P" + code[2:]
            key = (setting.ontology.inverse(stated) or stated) if inverse else stated
            return key, clean(setting.ontology.label(key, setting.languages, "property"))
    return "reified", "is related to"


def _reified_line(names: Names, key: str, label: str, pairs: list[tuple[int, int]]) -> Draft:
    pairs = sorted(set(pairs))
    targets = tuple(sorted({node for pair in pairs for node in pair}))
    shown = (_with_role(names, other, node) for other, node in pairs[:LOOKED_AT])
    body = enumerate_names(shown, len(pairs), names.setting.method.documents.targets)
    return Draft(OUTGOING, key, label, body, targets, len(pairs))


def _with_role(names: Names, other: int, node: int) -> str:
    graph = names.setting.graph
    role_of = graph.adjacency.forward
    roles = [
        int(target)
        for prop, code in enumerate(graph.property_codes)
        if code not in ("P01", "P02")
        for target in role_of.neighbours(prop, node)
    ]
    told = ", ".join(names.shown(role) for role in sorted(set(roles)))
    return f"{names.annotated(other)} (in the role of {told})" if told else names.annotated(other)


def cut_lines(lines: Sequence[Draft], limit: int) -> list[Draft]:
    """At most ``limit`` lines, and one that says what was cut and stands for it."""
    kept, cut = list(lines[:limit]), lines[limit:]
    if not cut:
        return kept
    total = sum(line.total for line in cut)
    labels = [f"{line.label} ({line.total})" for line in cut[:CUT_LABELS]]
    labels += ["…"] if len(cut) > CUT_LABELS else []
    targets = tuple(sorted({target for line in cut for target in line.targets}))
    body = f"and {total} more relationship{'s' if total != 1 else ''}: {', '.join(labels)}"
    return [*kept, Draft(NOTE, "more", "more", body, targets, total)]
