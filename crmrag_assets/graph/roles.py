"""Names for the nameless: a measure or a date, the role played for a named node, else the IRI's last segment."""

from __future__ import annotations

from typing import Final
from urllib.parse import unquote

import numpy as np
import polars as pl

from crmrag_assets.graph.core import Core, among
from crmrag_assets.graph.measures import by_measure
from crmrag_assets.graph.names import last_segment, pairs, shortened
from crmrag_assets.graph.terms import Mask
from crmrag_assets.graph.timespans import TIME_SPAN
from crmrag_assets.graph.vocabulary import Vocabulary
from crmrag_query.config.build import Names
from crmrag_query.dates import describe
from crmrag_query.graph.arrays import Ints
from crmrag_query.graph.records import Timespan

ROUNDS: Final = (
    4  # how often a name made from a role may name a further role: the time-span of a production of …
)
PATTERNS: Final = {"en": "{} of {}", "fr": "{} : {}", "de": "{}: {}", "el": "{}: {}"}
BY: Final = {"en": "{} by {}"}  # where the named node is not the event's object but an actor …
IN: Final = {"en": "{} in {}"}  # … or a place
ACTORS: Final = ("P14", "P11", "P22", "P23", "P28", "P29")
PLACES: Final = ("P7",)
UNNAMED: Final = {"en": "unnamed", "fr": "sans nom", "de": "ohne Namen", "el": "χωρίς όνομα"}
MADE: Final = pl.Schema({"node": pl.Int32, "text": pl.String, "kind": pl.String})


def made_names(
    core: Core,
    vocabulary: Vocabulary,
    constants: Names,
    names: pl.DataFrame,
    timespans: pl.DataFrame,
    lang: str,
    suspects: Ints,
) -> pl.DataFrame:
    """One made name for each node without a stated one: columns node, text, kind ("role" or "iri"), sorted by node.

    ``names``: stated names, best first; ``lang`` a key of ``PATTERNS``; suspects lend no name to others.
    """
    best = names.unique("node", keep="first", maintain_order=True).select("node", "text")
    nameless = np.ones(core.nodes, bool)
    nameless[best["node"].to_numpy()] = False
    classes = telling_classes(core, vocabulary)
    steps = _role_steps(core, vocabulary, constants, nameless & (classes >= 0))
    steps = steps.filter(~among("other", suspects))
    lenders = best.rename({"node": "other", "text": "name"})
    dated = _by_date(core, vocabulary, timespans, nameless, lang)
    parts = [pl.concat([dated, by_measure(core, vocabulary, nameless, lenders)])]
    steps = _first_place(steps)
    for last in (False, True):
        for _ in range(ROUNDS):
            nameless[parts[-1]["node"].to_numpy()] = False
            lenders = pl.concat([lenders, parts[-1].select(other="node", name="text")])
            steps = steps.filter(pl.Series(nameless[steps["node"].to_numpy()], dtype=pl.Boolean))
            if steps.height == 0:
                break
            parts.append(_by_role(steps, lenders, classes, vocabulary, constants, lang))
        nameless[parts[-1]["node"].to_numpy()] = False
        waiting = np.zeros(core.nodes, bool)
        waiting[steps["node"].to_numpy()] = not last
        parts.append(_by_iri(core, vocabulary, classes, nameless & ~waiting, lang))
    return pl.concat(parts).sort("node")


def _first_place(steps: pl.DataFrame) -> pl.DataFrame:
    """The steps by each node's first telling property, which decides its role."""
    return steps.filter(pl.col("place") == pl.col("place").min().over("node"))


def telling_classes(core: Core, vocabulary: Vocabulary) -> Ints:
    """The class that says most of each node: the deepest of the CRM family, -1 without any; int32 [n]."""
    depth = np.array(
        [len(vocabulary.ontology.superclasses(code)) + 1 if code else 0 for code in vocabulary.class_codes],
        np.int32,
    )
    typed = np.repeat(np.arange(core.nodes, dtype=np.int32), np.diff(core.type_ptr))
    deep = depth[core.type_val] if len(depth) else np.empty(0, np.int32)
    order = np.lexsort((core.type_val, -deep, typed))
    order = order[deep[order] > 0]
    nodes, first = np.unique(typed[order], return_index=True)
    telling = np.full(core.nodes, -1, np.int32)
    telling[nodes] = core.type_val[order][first]
    return telling


def _role_steps(core: Core, vocabulary: Vocabulary, constants: Names, nameless: Mask) -> pl.DataFrame:
    """From each nameless node by the telling properties: columns node, place (of the property in the list), other."""
    parts: list[tuple[Ints, int, Ints]] = []
    for place, code in enumerate(constants.role_properties):
        inverse = vocabulary.ontology.inverse(code)
        sides = [pairs(core.forward, prop) for prop in vocabulary.properties_with([code])]
        sides += [
            pairs(core.backward, prop) for prop in vocabulary.properties_with([inverse] if inverse else [])
        ]
        parts += [(node[keep], place, other[keep]) for node, other in sides for keep in [nameless[node]]]
    frames = [
        pl.DataFrame({"node": node, "place": np.full(len(node), place, np.int16), "other": other})
        for node, place, other in parts
    ]
    schema = {"node": pl.Int32, "place": pl.Int16, "other": pl.Int32}
    return pl.concat(frames) if frames else pl.DataFrame(schema=schema)


def _by_role(
    steps: pl.DataFrame,
    lenders: pl.DataFrame,
    classes: Ints,
    vocabulary: Vocabulary,
    constants: Names,
    lang: str,
) -> pl.DataFrame:
    """``Production of …`` for the nodes whose role is for a node that has a name by now."""
    named = steps.join(lenders, on="other", how="inner").sort("node", "other")
    chosen = named.unique("node", keep="first", maintain_order=True)
    codes = constants.role_properties
    by = [place for place, code in enumerate(codes) if code in ACTORS]
    at = [place for place, code in enumerate(codes) if code in PLACES]
    label, name = pl.col("class_label"), shortened(pl.col("name"))
    text = (
        pl.when(pl.col("place").is_in(by)).then(pl.format(BY.get(lang, PATTERNS[lang]), label, name))
        .when(pl.col("place").is_in(at)).then(pl.format(IN.get(lang, PATTERNS[lang]), label, name))
        .otherwise(pl.format(PATTERNS[lang], label, name))
    )  # fmt: skip
    labelled = chosen.with_columns(
        class_label=_class_labels(vocabulary, classes[chosen["node"].to_numpy()], lang)
    )
    return labelled.select("node", text=text, kind=pl.lit("role")).cast(MADE)


def _class_labels(vocabulary: Vocabulary, classes: Ints, lang: str) -> pl.Series:
    """Names of classes in ``lang`` where it has one; -1 is "unnamed"."""
    labels = [*(words.labels.get(lang) or words.label for words in vocabulary.classes), UNNAMED[lang]]
    return pl.Series(np.array(labels, object)[classes], dtype=pl.String)


def _by_date(
    core: Core, vocabulary: Vocabulary, timespans: pl.DataFrame, nameless: Mask, lang: str
) -> pl.DataFrame:
    """Time-spans by their words, else by their days."""
    spans = core.nodes_of(vocabulary.class_numbers(TIME_SPAN))
    wanted = timespans.filter(among("node", spans[nameless[spans]]))
    days = ["outer_begin", "inner_begin", "inner_end", "outer_end"]
    distinct = wanted.select(*days, "text").unique(maintain_order=True)
    written = [_written(Timespan(*row), lang) for row in distinct.iter_rows()]
    named = wanted.join(
        distinct.with_columns(name=pl.Series(written, dtype=pl.String)), on=[*days, "text"], nulls_equal=True
    )
    return named.filter(pl.col("name") != "").select("node", text="name", kind=pl.lit("role")).cast(MADE)


def _written(timespan: Timespan, lang: str) -> str:
    interval = timespan.interval
    return timespan.text or (describe(interval, lang) if interval else "")


def _by_iri(core: Core, vocabulary: Vocabulary, classes: Ints, nameless: Mask, lang: str) -> pl.DataFrame:
    """The last segment of the IRI, escapes undone; a blank node is called by its class."""
    nodes = np.flatnonzero(nameless).astype(np.int32)
    labels = _class_labels(vocabulary, classes[nodes], lang)
    frame = pl.DataFrame({"node": nodes, "iri": core.terms.nodes[nodes], "class_label": labels})
    segment = last_segment(pl.col("iri"))
    frame = frame.with_columns(
        text=pl.when(pl.col("iri").str.starts_with("urn:skolem:"))
        .then(pl.col("class_label"))
        .otherwise(segment)
    )
    escaped = frame.filter(pl.col("text").str.contains("%", literal=True))
    undone = escaped.select(
        "node", plain=pl.Series([_unescaped(text) for text in escaped["text"]], dtype=pl.String)
    )
    joined = frame.join(undone, on="node", how="left", maintain_order="left")
    return joined.select("node", text=pl.coalesce("plain", "text"), kind=pl.lit("iri")).cast(MADE)


def _unescaped(text: str) -> str:
    return " ".join(unquote(text).split()) or text
