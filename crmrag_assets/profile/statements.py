"""Properties of a data set: between which classes, with which literals."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_assets.profile.ground import Ground, distinct, lowest, most, shortened
from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.plans.profile import ExamplePair, Extent, LiteralProfile, PropertyProfile

NUMBER = r"^-?\d{1,300}(\.\d+)?([eE][+-]?\d{1,2})?$"
DATE = r"^(?P<year>-?\d{4,9})(?P<rest>(?:-\d\d.*)?)$"  # xsd:gYear, gYearMonth, date and dateTime
YEAR_ALONE = r"^-?\d{4,9}$"  # a date only where the datatype says so
DATE_TYPES = ("date", "dateTime", "dateTimeStamp", "gYear", "gYearMonth")


def profile_properties(ground: Ground) -> tuple[PropertyProfile, ...]:
    """The properties in use, the most used first, ties by IRI."""
    graph, rows = ground.graph, ground.graph.adjacency.forward
    literals = graph.literal_table.column("property").to_numpy()
    order = np.argsort(literals, kind="stable")
    at = np.searchsorted(literals[order], np.arange(len(graph.property_codes) + 1))
    triples = rows.ptr[rows.prop[1:]] - rows.ptr[rows.prop[:-1]]
    uses = triples + np.diff(at)
    used = [int(number) for number in np.flatnonzero(uses)]
    used.sort(key=lambda number: (-int(uses[number]), graph.property_iri(number)))
    return tuple(
        _property(ground, number, order[at[number] : at[number + 1]])
        for number in used[: ground.limits.properties]
    )


def _property(ground: Ground, number: int, literals: Longs) -> PropertyProfile:
    graph, adjacency = ground.graph, ground.graph.adjacency
    low, high = (int(at) for at in adjacency.forward.prop[number : number + 2])
    subjects = adjacency.forward.row[low:high]
    return PropertyProfile(
        iri=graph.property_iri(number),
        code=graph.property_code(number),
        label=graph.property_label(number),
        triples=int(adjacency.forward.ptr[high] - adjacency.forward.ptr[low]),
        subjects=len(subjects),
        objects=int(np.diff(adjacency.backward.prop[number : number + 2])[0]),
        classes=_class_pairs(ground, number),
        examples=tuple(_pair(ground, number, subject) for subject in ground.first(subjects)),
        literals=_literals(ground, literals) if len(literals) else None,
    )


def _pair(ground: Ground, number: int, subject: int) -> ExamplePair:
    objects = ground.graph.adjacency.forward.neighbours(number, subject)
    best = int(objects[np.argmin(ground.rank[objects])])
    return ExamplePair(ground.example(subject), ground.example(best))


def _class_pairs(ground: Ground, number: int) -> tuple[tuple[str, str, int], ...]:
    """The most frequent (subject class, object class), ties by their names."""
    sets, names = ground.sets, ground.class_names
    subject, obj = ground.triples([number])
    pairs, counts = distinct(sets.of[subject].astype(np.int64) * len(sets) + sets.of[obj])
    left, right = np.divmod(pairs, max(1, len(sets)))
    place, of_subject = sets.spread(left)
    again, of_object = sets.spread(right[place])
    key, row = np.unique(of_subject[again].astype(np.int64) * len(names) + of_object, return_inverse=True)
    total = np.zeros(len(key), np.int64)
    np.add.at(total, row, counts[place][again])
    found = [
        (names[k // len(names)], names[k % len(names)], int(n))
        for k, n in zip(key.tolist(), total.tolist(), strict=True)
    ]
    return tuple(sorted(found, key=lambda pair: (-pair[2], pair[:2]))[: ground.limits.top])


def _literals(ground: Ground, rows: Longs) -> LiteralProfile:
    """The literals at these rows of the table, which are in order of their subjects."""
    top = ground.limits.top
    table = ground.graph.literal_table
    subject = table.column("subject").to_numpy()[rows]
    values = table.column("value").take(pa.array(rows))
    datatypes, languages = (_words(table.column(name), rows) for name in ("datatype", "lang"))
    subjects, first = np.unique(subject, return_index=True)
    shown = [int(first[at]) for at in lowest(ground.rank[subjects], ground.limits.examples)]
    characters = pc.sum(pc.utf8_length(values)).as_py()
    return LiteralProfile(
        count=len(rows),
        subjects=len(subjects),
        datatypes=most(datatypes[1], datatypes[0], top),
        languages=most(languages[1], languages[0], top),
        length=round(characters / len(rows), 1),
        numbers=numbers(ground, values),
        dates=dates(ground, values, _dated(table.column("datatype"), rows)),
        examples=tuple(shortened(values[at].as_py(), ground.limits.characters) for at in shown),
    )


def _words(column: pa.DictionaryArray, rows: Longs) -> tuple[list[str], Longs]:
    words: list[str] = column.dictionary.to_pylist()
    counts = np.bincount(column.indices.to_numpy()[rows], minlength=len(words))
    return words, counts.astype(np.int64)


def _dated(column: pa.DictionaryArray, rows: Longs) -> Ints:
    """1 where the datatype is one of dates, else 0."""
    named = [str(word).rsplit("#", 1)[-1] in DATE_TYPES for word in column.dictionary.to_pylist()]
    found: Ints = np.array(named, np.int32)[column.indices.to_numpy()[rows]]
    return found


def numbers(ground: Ground, values: pa.Array) -> Extent | None:
    """The values that are decimal numbers, whatever their datatype."""
    found = values.filter(pc.match_substring_regex(values, NUMBER))
    if not len(found):
        return None
    as_number = pc.cast(found, pa.float64()).to_numpy()
    ends = (found[int(at)].as_py() for at in (np.argmin(as_number), np.argmax(as_number)))
    low, high = (shortened(end, ground.limits.characters) for end in ends)
    return Extent(len(found), low, high)


def dates(ground: Ground, values: pa.Array, dated: Ints) -> Extent | None:
    """The values that are ISO dates: with a month at least, or of a datatype of dates."""
    is_date = pc.match_substring_regex(values, DATE).to_numpy(zero_copy_only=False)
    alone = pc.match_substring_regex(values, YEAR_ALONE).to_numpy(zero_copy_only=False)
    found = values.filter(pa.array(is_date & (~alone | (dated == 1))))
    if not len(found):
        return None
    parts = pc.extract_regex(found, DATE)
    year = pc.cast(parts.field("year"), pa.int64()).to_numpy()
    rest = parts.field("rest")
    ends = []
    for at, of_rest in ((int(year.min()), pc.min), (int(year.max()), pc.max)):
        within = pa.array(year == at)
        best = of_rest(rest.filter(within)).as_py()
        chosen = found.filter(within).filter(pc.equal(rest.filter(within), best))
        ends.append(shortened(chosen[0].as_py(), ground.limits.characters))
    return Extent(len(found), *ends)
