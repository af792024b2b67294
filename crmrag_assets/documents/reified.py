"""Lines of relationships that have properties of their own (PC classes): who did something, and in which role."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from crmrag_assets.documents.drafts import drafts, enumerate_names, no_drafts
from crmrag_assets.documents.identity import Described
from crmrag_assets.documents.relations import LOOKED_AT
from crmrag_assets.documents.setting import Setting
from crmrag_assets.documents.words import clean
from crmrag_query.documents.schema import OUTGOING

Bools = npt.NDArray[np.bool_]
ENDS = ("P01", "P02")


def reified_drafts(about: Described) -> tuple[pl.DataFrame, Bools]:
    """``carried out by: Theodore (in the role of painter)``, and which facts these lines state."""
    setting, facts = about.setting, about.facts
    mask = ~facts.outward & about.kinds("reified")
    groups: dict[tuple[int, str, str], set[tuple[int, int]]] = {}
    for index in np.flatnonzero(mask).tolist():
        node, end = int(facts.target[index]), setting.graph.property_code(int(facts.key[index]) // 2)
        other = _other_end(setting, node, end) if end in ENDS else None
        if other is None:
            mask[index] = False
            continue
        key = (int(facts.doc[index]), *_label(setting, node, end == "P02"))
        groups.setdefault(key, set()).add((other, node))
    if not groups:
        return no_drafts(), mask
    lines = sorted(groups)
    pairs = [sorted(groups[line]) for line in lines]
    doc, key, label = zip(*lines, strict=True)
    limit = setting.method.documents.targets
    body = [
        enumerate_names((_with_role(setting, *pair) for pair in own[:LOOKED_AT]), len(own), limit)
        for own in pairs
    ]
    targets = [sorted({node for pair in own for node in pair}) for own in pairs]
    return drafts(
        np.array(doc, np.int32), OUTGOING, pl.Series(key), pl.Series(label), pl.Series(body),
        np.array([len(own) for own in pairs]), pl.Series(targets, dtype=pl.List(pl.Int32)),
    ), mask  # fmt: skip


def _other_end(setting: Setting, node: int, end: str) -> int | None:
    rows, by_code = setting.graph.adjacency.forward, setting.graph.adjacency.by_code
    wanted = by_code.get("P02" if end == "P01" else "P01", ())
    found = {int(other) for prop in wanted for other in rows.neighbours(prop, node)} - {node}
    return min(found) if found else None


def _label(setting: Setting, node: int, inverse: bool) -> tuple[str, str]:
    """Key and label of the property that a node reifies: PC14 is P14, read from its range as P14i."""
    for number in setting.graph.types(node).tolist():
        code = setting.graph.class_code(number)
        if code.startswith("PC"):
            stated = "P" + code[2:]
            key = (setting.ontology.inverse(stated) or stated) if inverse else stated
            return key, clean(setting.ontology.label(key, setting.languages, "property"))
    return "reified", "is related to"


def _with_role(setting: Setting, other: int, node: int) -> str:
    graph, names = setting.graph, setting.names
    roles = {
        int(target)
        for prop, code in enumerate(graph.property_codes)
        if code not in ENDS
        for target in graph.adjacency.forward.neighbours(prop, node)
    }
    told = ", ".join(names.shown[role] for role in sorted(roles))
    return f"{names.annotated[other]} (in the role of {told})" if told else names.annotated[other]
