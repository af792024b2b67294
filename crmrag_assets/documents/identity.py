"""The first lines of a document: what it is about, its classes, types, names, dates and other satellites."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crmrag_assets.documents.drafts import Draft, enumerate_names
from crmrag_assets.documents.facts import Facts
from crmrag_assets.documents.names import Names
from crmrag_assets.documents.words import clean, distinct, same, shorten
from crmrag_query.documents.schema import HEADER, SATELLITE, TYPE
from crmrag_query.graph.records import Label
from crmrag_query.ontology.categories import Category

Bools = npt.NDArray[np.bool_]
UNNAMING = ("identifier", "role", "iri")  # kinds of labels that are no names
NO_CATEGORY = "Entity"


def header(names: Names, entity: int, targets: tuple[int, ...] = ()) -> Draft:
    """``[Thing] Panagia Phorbiottisa``; ``targets``: the appellations that say just this name."""
    graph = names.setting.graph
    bit = graph.category(entity)
    category = (Category(bit).name if bit else None) or NO_CATEGORY
    label = shorten(clean(graph.label(entity)), names.setting.method.documents.literal_characters)
    return Draft(HEADER, "header", category, f"[{category}] {label or clean(graph.iri(entity))}", targets, 1)


def class_line(names: Names, entity: int) -> list[Draft]:
    """Classes in plain words; a class that another one implies is not repeated."""
    setting = names.setting
    graph, ontology = setting.graph, setting.ontology
    classes = [int(number) for number in graph.types(entity)]
    implied = {
        upper for n in classes for upper in ontology.superclasses(graph.class_code(n)) if graph.class_code(n)
    }
    told = [
        number
        for number in classes
        if graph.class_code(number) not in implied or not graph.class_code(number)
    ]
    words = distinct(clean(graph.class_label(number)) for number in told)
    return [Draft(TYPE, "rdf:type", "Class", ", ".join(words), (), len(classes))] if words else []


def type_line(names: Names, facts: Facts) -> tuple[list[Draft], Bools]:
    """What P2 has type states, and which facts that are."""
    mask = facts.where(names.setting.types)
    types = _nodes(facts, mask)
    if not types:
        return [], mask
    named = [node for node in types if names.named(node)]
    shown = [_in_languages(names, node) for node in named] or [names.shown(node) for node in types]
    limit = names.setting.method.satellites.limits.types
    return [
        Draft(TYPE, "P2", "Type", enumerate_names(shown, len(types), limit), tuple(types), len(types))
    ], mask


def _in_languages(names: Names, node: int) -> str:
    """``church (εκκλησία)``: a type's name, with its names in other languages."""
    own = names.shown(node)
    lang = names.setting.graph.label_lang(node)
    best: dict[str, str] = {}
    for label in names.setting.graph.labels(node):
        if label.lang and label.lang != lang and label.kind not in UNNAMING:
            best.setdefault(
                label.lang, shorten(clean(label.text), names.setting.method.documents.literal_characters)
            )
    others = [text for text in distinct(best.values()) if same(text) != same(own)]
    return f"{own} ({', '.join(others)})" if others else own


def name_lines(names: Names, entity: int, facts: Facts) -> tuple[list[Draft], Bools]:
    """The header, other names, names in other languages and identifiers, and which facts these state."""
    setting = names.setting
    graph = setting.graph
    mask = facts.where(setting.names) & (setting.satellites.kind[facts.target] == setting.kind("appellation"))
    nodes = _nodes(facts, mask)
    identifiers = [node for node in nodes if _is_identifier(names, node)]
    label, lang = same(graph.label(entity)), graph.label_lang(entity)
    repeating = [node for node in nodes if node not in identifiers and same(names.shown(node)) == label]
    others = [node for node in nodes if node not in identifiers and node not in repeating]
    own = [name for name in own_names(names, entity) if same(name.text) != label]
    foreign = [name for name in own if name.lang and name.lang != lang]
    told = {same(name.text) for name in foreign}
    plain = [clean(name.text) for name in own] + [names.shown(node) for node in others]
    plain = [text for text in distinct(plain) if same(text) not in told]
    lines = [
        header(names, entity, tuple(repeating)),
        *_name_line("names", "Also known as", plain, names, others),
    ]
    lines += _foreign(foreign, names, [] if plain else others)
    return lines + _identifiers(identifiers, names), mask


def own_names(names: Names, entity: int) -> list[Label]:
    """The entity's names without those that are but its notes or content, which a line of literals gives."""
    graph, known = names.setting.graph, names.setting.method.names
    naming = {*known.label_properties, *known.alternative_properties}
    noted: set[str] = set()
    named: set[str] = set()
    for literal in graph.literals(entity):
        prop = graph.property_code(literal.property) or graph.property_iri(literal.property)
        (named if prop in naming else noted).add(same(literal.value))
    labels = [label for label in graph.labels(entity) if label.kind not in UNNAMING]
    return [label for label in labels if not _is_note(same(label.text), noted - named)]


def _is_note(text: str, noted: set[str]) -> bool:
    """Whether a name is a note or the beginning of one: names made from notes are cut, with an ellipsis."""
    return text in noted or (text.endswith("…") and any(note.startswith(text[:-1]) for note in noted))


def _name_line(key: str, label: str, texts: list[str], names: Names, nodes: list[int]) -> list[Draft]:
    cut = [shorten(text, names.setting.method.documents.literal_characters) for text in texts]
    body = enumerate_names(cut, len(cut), names.setting.method.satellites.limits.names)
    return [Draft(SATELLITE, key, label, body, tuple(nodes), len(cut))] if texts else []


def _foreign(labels: list[Label], names: Names, nodes: list[int]) -> list[Draft]:
    """``Name (el): Παναγία της Ασίνου``, a line for each language; the first one is said to state ``nodes``."""
    lines: list[Draft] = []
    for lang in sorted({label.lang for label in labels}):
        texts = distinct(clean(label.text) for label in labels if label.lang == lang)
        lines += _name_line(f"names@{lang}", f"Name ({clean(lang)})", texts, names, [] if lines else nodes)
    return lines


def _identifiers(nodes: list[int], names: Names) -> list[Draft]:
    if not nodes:
        return []
    limit = names.setting.method.satellites.limits.names
    shown = []
    for node in nodes:
        types = [
            names.shown(t) for t in names.neighbours(node, names.setting.types.members) if names.named(t)
        ]
        shown.append(names.shown(node) + (f" ({types[0]})" if types else ""))
    body = enumerate_names(distinct(shown), len(distinct(shown)), limit)
    return [Draft(SATELLITE, "identifiers", "Identifiers", body, tuple(nodes), len(nodes))]


def _is_identifier(names: Names, node: int) -> bool:
    graph = names.setting.graph
    wanted = names.setting.method.names.identifier_classes
    return any(graph.class_code(int(number)) in wanted for number in graph.types(node))


def satellite_lines(names: Names, entity: int, facts: Facts) -> tuple[list[Draft], Bools]:
    """Dates, dimensions and rights, and which facts these are."""
    setting = names.setting
    kind = setting.satellites.kind[facts.target]
    limits = setting.method.satellites.limits
    mask = np.zeros(len(kind), bool)
    lines: list[Draft] = []
    own = names.dates(entity)
    for key, label, chosen, limit in (
        ("dates", "Date", facts.where(setting.spans), limits.times),
        ("dimensions", "Dimensions", ~facts.inverse & (kind == setting.kind("dimension")), limits.dimensions),
        ("rights", "Rights", ~facts.inverse & (kind == setting.kind("right")), limits.names),
    ):
        nodes = _nodes(facts, chosen)
        mask |= chosen
        if key == "dates" and own:
            lines.append(Draft(SATELLITE, key, label, own, tuple(nodes), 1 + len(nodes)))
        elif nodes:
            lines.append(_satellites(key, label, nodes, names, limit))
    return lines, mask


def _satellites(key: str, label: str, nodes: list[int], names: Names, limit: int | None = None) -> Draft:
    order = names.sorted(nodes)
    limit = limit or names.setting.method.satellites.limits.names
    body = enumerate_names(map(names.shown, order), len(order), limit)
    return Draft(SATELLITE, key, label, body, tuple(nodes), len(nodes))


def _nodes(facts: Facts, mask: Bools) -> list[int]:
    return sorted(set(facts.target[mask].tolist()))
