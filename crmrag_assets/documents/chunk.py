"""Documents of one chunk's entities, before any is chained to another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from crmrag_assets.documents.drafts import Draft, write
from crmrag_assets.documents.facts import Facts, gather_facts
from crmrag_assets.documents.identity import class_line, name_lines, satellite_lines, type_line
from crmrag_assets.documents.literals import literal_lines
from crmrag_assets.documents.names import Names
from crmrag_assets.documents.relations import (
    Reached,
    cut_lines,
    direct_lines,
    left_over,
    reified_lines,
    relationship_lines,
)
from crmrag_assets.documents.setting import Setting
from crmrag_query.documents.schema import SCHEMAS, write_whole
from crmrag_query.graph.arrays import FLAG_ENTITY, Ints
from crmrag_query.relationships.engine import Matches, walk


@dataclass(frozen=True, slots=True)
class ChunkDocuments:
    """Tables of schemas fr_documents, fr_lines and matches, sorted by entity (lines: by entity and start)."""

    documents: pa.Table
    lines: pa.Table
    matches: pa.Table

    def save(self, folder: Path) -> None:
        for name, table in (
            ("fr_documents", self.documents),
            ("fr_lines", self.lines),
            ("matches", self.matches),
        ):
            write_whole(folder, name, table)


def build_chunk(setting: Setting, entities: Ints) -> ChunkDocuments:
    """Documents of those of ``entities`` that have one: every entity but absorbed satellites."""
    chosen = np.unique(np.asarray(entities, np.int32))
    chosen = chosen[((setting.graph.flags[chosen] & FLAG_ENTITY) != 0) & ~setting.satellites.absorbed[chosen]]
    adjacency = setting.graph.adjacency
    matches = walk(adjacency, setting.ontology, setting.ways.walked, chosen, plan=setting.plan)
    facts = gather_facts(adjacency, chosen)
    names = Names(setting)
    drafts = [
        entity_drafts(names, int(entity), facts.of(index), reached(matches, int(entity)))
        for index, entity in enumerate(chosen)
    ]
    return ChunkDocuments(*_tables(chosen, drafts), _matches_table(setting, matches))


def reached(matches: Matches, entity: int) -> list[Reached]:
    """The matches of one entity by relationship."""
    own = matches.of(entity)
    numbers, first = np.unique(own.relationship, return_index=True)
    places = pairwise([*first.tolist(), len(own)])
    return [
        Reached(number, own.target[begin:end], own.path[begin:end], own.depth[begin:end])
        for number, (begin, end) in zip(numbers.tolist(), places, strict=True)
    ]


def entity_drafts(names: Names, entity: int, facts: Facts, found: Sequence[Reached]) -> list[Draft]:
    """All lines of an entity's document in order."""
    method = names.setting.method
    naming, named = name_lines(names, entity, facts)
    typing, typed = type_line(names, facts)
    telling, told = satellite_lines(names, entity, facts)
    linking, linked = reified_lines(names, facts)
    dated = any(line.key == "dates" for line in telling)
    lines = [naming[0], *class_line(names, entity), *typing, *naming[1:], *(telling[:1] if dated else ())]
    lines += [*literal_lines(names, entity, dated), *(telling[1:] if dated else telling)]
    own = named | typed | told | linked
    related = relationship_lines(names, facts, found, own)[: method.documents.relationship_lines]
    rest = left_over(names.setting, facts, ~own, related)
    return lines + cut_lines([*linking, *related, *direct_lines(names, facts, rest)], method.documents.lines)


def _tables(entities: Ints, drafts: Sequence[Sequence[Draft]]) -> tuple[pa.Table, pa.Table]:
    written = [write(lines) for lines in drafts]
    documents = pa.table(
        [pa.array(entities, pa.int32()), pa.array([text for text, _ in written], pa.large_utf8())],
        schema=SCHEMAS["fr_documents"],
    )
    rows = list(
        chain.from_iterable(_rows(*row) for row in zip(entities.tolist(), drafts, written, strict=True))
    )
    columns = zip(*rows, strict=True) if rows else ((),) * len(SCHEMAS["fr_lines"])
    kinds = SCHEMAS["fr_lines"].types
    return documents, pa.table(
        [pa.array(list(column), kind) for column, kind in zip(columns, kinds, strict=True)],
        schema=SCHEMAS["fr_lines"],
    )


Row = tuple[int, int, str, str, int, int, int, tuple[int, ...]]


def _rows(entity: int, drafts: Sequence[Draft], written: tuple[str, list[tuple[int, int]]]) -> Iterator[Row]:
    for draft, (start, end) in zip(drafts, written[1], strict=True):
        yield entity, draft.kind, draft.key, draft.label, start, end, draft.total, draft.targets


def _matches_table(setting: Setting, matches: Matches) -> pa.Table:
    """Matches with the paths' numbers in the method's catalogue: the most specific path that gets there."""
    path = matches.path.copy()
    for number in np.unique(matches.relationship).tolist():
        at = matches.relationship == number
        path[at] = setting.ways.order[number][path[at]]
    columns = (matches.source, matches.relationship, matches.target, path)
    kinds = SCHEMAS["matches"].types
    return pa.table([pa.array(c, k) for c, k in zip(columns, kinds, strict=True)], schema=SCHEMAS["matches"])
