"""What terms and nodes are called: classes and properties by the ontology, nodes by the names that the data states."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from crmrag_assets.graph.core import Core, among
from crmrag_query.config.loading import Names
from crmrag_query.graph.arrays import Bytes, Ints
from crmrag_query.ontology.load import (
    Kind,
    Normalised,
    Ontology,
    as_words,
    local_name,
    normalise_class,
    normalise_property,
)

ENGLISH = "en"
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True)
class Words:
    """What one class or property is called: ``code`` "" outside the CRM family, ``labels`` by language."""

    iri: str
    code: str
    label: str
    inverse_label: str
    labels: Mapping[str, str]
    inverse_labels: Mapping[str, str]
    normalised: Normalised | None


@dataclass(frozen=True)
class Vocabulary:
    """Classes and properties by number, and whether each class is one of events, uint8 [classes]."""

    ontology: Ontology
    classes: tuple[Words, ...]
    properties: tuple[Words, ...]
    event: Bytes

    @property
    def class_codes(self) -> tuple[str, ...]:
        return tuple(words.code for words in self.classes)

    def class_numbers(self, *codes: str) -> Ints:
        """Numbers of the classes that are one of these or below one, ascending."""
        is_a = self.ontology.is_a
        found = [n for n, c in enumerate(self.class_codes) if c and any(is_a(c, code) for code in codes)]
        return np.array(found, np.int32)

    def properties_with(self, names: Iterable[str]) -> list[int]:
        """Numbers of the properties with one of these codes or IRIs, ascending."""
        wanted = set(names)
        return [n for n, words in enumerate(self.properties) if words.code in wanted or words.iri in wanted]

    def inverses_of(self, names: Iterable[str]) -> list[int]:
        """Numbers of the inverse properties of these, ascending."""
        return self.properties_with(inverse for name in names if (inverse := self.ontology.inverse(name)))


@dataclass(frozen=True)
class Declared:
    """What a data set says of its own classes and properties, by IRI: what they are below or the same as, and their labels by
    language tag ("" for none); ``nodes``: those that stand for them, ascending."""

    parents: Mapping[str, tuple[str, ...]]
    labels: Mapping[str, Mapping[str, str]]
    nodes: Ints


RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
OWL: Final = "http://www.w3.org/2002/07/owl#"
ABOVE: Final = tuple(
    RDFS + name for name in ("subClassOf", "subPropertyOf")
) + tuple(OWL + name for name in ("equivalentClass", "equivalentProperty"))  # fmt: skip
VOCABULARY: Final = frozenset(
    {RDFS + "Class", "http://www.w3.org/1999/02/22-rdf-syntax-ns#Property"}
    | {OWL + name for name in ("Class", "ObjectProperty", "DatatypeProperty", "FunctionalProperty")}
    | {OWL + name for name in ("InverseFunctionalProperty", "TransitiveProperty", "SymmetricProperty")}
)
SKOS: Final = "http://www.w3.org/2004/02/skos/core#"
PREFERRED: Final = SKOS + "prefLabel"
CALLED: Final = (RDFS + "label", PREFERRED)


def declared(core: Core) -> Declared:
    """The classes and properties that the data itself declares beside those of the CRM family."""
    own = [
        iri
        for terms, normalise in (
            (core.terms.classes, normalise_class),
            (core.terms.properties, normalise_property),
        )
        for iri in terms
        if normalise(iri) is None
    ]
    numbers = {iri: n for n, iri in enumerate(core.terms.properties)}
    wanted = pl.Series(own, dtype=pl.String)
    places = (
        core.terms.nodes.search_sorted(wanted) if len(core.terms.nodes) else wanted.clear().cast(pl.UInt32)
    )
    iris = {
        node: iri
        for node, iri in zip(places.to_list(), own, strict=True)
        if node < core.nodes and core.terms.nodes[node] == iri
    }
    parents: dict[str, list[str]] = {}
    for name in ABOVE:
        if name in numbers:
            low, high = core.forward.pairs(numbers[name])
            for node, above in zip(low.tolist(), high.tolist(), strict=True):
                parents.setdefault(core.terms.nodes[node], []).append(core.terms.nodes[above])
    labels: dict[str, dict[str, str]] = {}
    stated = core.literals.filter(
        among("subject", list(iris))
        & among("property", [numbers[name] for name in CALLED if name in numbers])
    )
    for node, text, lang in stated.select("subject", "value", "lang").iter_rows():
        if text.strip():
            labels.setdefault(iris[node], {}).setdefault(
                (lang or "").lower().split("-")[0], " ".join(text.split())
            )
    kinds = [n for n, iri in enumerate(core.terms.classes) if iri in VOCABULARY]
    return Declared(
        {iri: tuple(sorted(above)) for iri, above in parents.items()},
        labels,
        core.nodes_of(np.array(kinds, np.int32)),
    )


def build_vocabulary(
    classes: Sequence[str],
    properties: Sequence[str],
    ontology: Ontology,
    event_codes: Collection[str],
    languages: Sequence[str],
    said: Declared | None = None,
) -> Vocabulary:
    """Normalise every distinct class and property; labels in the first of ``languages`` that has one.

    One that the data declares to be below a term of the CRM family is taken for such a one, under its own name.
    """
    said = said or Declared({}, {}, np.empty(0, np.int32))
    class_words = tuple(_words("class", iri, ontology, languages, said) for iri in classes)
    property_words = tuple(_words("property", iri, ontology, languages, said) for iri in properties)
    events = frozenset(event_codes)
    event = [
        words.code and not events.isdisjoint({words.code, *ontology.superclasses(words.code)})
        for words in class_words
    ]
    return Vocabulary(ontology, class_words, property_words, np.array(event, bool).astype(np.uint8))


KNOWN: Final = {SKOS + "broader": "P127", SKOS + "narrower": "P127i"}
"""Properties of other vocabularies that say what one of the CRM does."""


def _above(kind: Kind, iri: str, ontology: Ontology, said: Declared) -> str:
    """The code of the nearest term of the CRM family that the data declares to be above one of its own; "" for none."""
    if iri in KNOWN:
        return KNOWN[iri]
    normalise, terms = (
        (normalise_class, ontology.classes) if kind == "class" else (normalise_property, ontology.properties)
    )
    seen, level = {iri}, said.parents.get(iri, ())
    while level:
        found = [known.code for one in level if (known := normalise(one)) is not None and known.code in terms]
        if found:
            return max(found, key=lambda code: (len(ontology.superclasses(code)), code))
        seen.update(level)
        level = tuple(one for above in level for one in said.parents.get(above, ()) if one not in seen)
    return ""


def _words(kind: Kind, iri: str, ontology: Ontology, languages: Sequence[str], said: Declared) -> Words:
    normalised = normalise_class(iri) if kind == "class" else normalise_property(iri)
    if normalised is None:
        labels = said.labels.get(iri, {})
        label = next((labels[lang] for lang in (*languages, "", ENGLISH) if lang in labels), plain_words(iri))
        named = {lang: text for lang, text in labels.items() if lang}
        return Words(iri, _above(kind, iri, ontology, said), label, _inverse_words(label), named, {}, None)
    code = normalised.code
    inverse = ontology.inverse(code) if kind == "property" else None
    label = ontology.label(code, languages, kind)
    terms = ontology.classes if kind == "class" else ontology.properties
    inverse_term = ontology.properties.get(inverse) if inverse else None
    return Words(
        iri,
        code,
        label,
        ontology.label(inverse, languages, kind) if inverse else _inverse_words(label),
        terms[code].labels,
        inverse_term.labels if inverse_term else {},
        normalised,
    )


SMALL: Final = (" of", " to", " by", " in", " for", " at", " on", " with", " from", " into")
"""Endings of labels behind which what a property leads to would stand."""


def _inverse_words(label: str) -> str:
    """How a property without a named inverse reads from its object: "has note" gives "is note of", "is an adaptation of"
    gives "an adaptation of it"."""
    if label.endswith((" as", " match", "related")):
        return label
    if label.endswith(SMALL):
        return f"{label.removeprefix('is ')} it"
    return f"is {label.removeprefix('has ')} of"


def plain_words(iri: str) -> str:
    """A readable name for a term that no ontology table knows: ``…/prefLabel`` gives "pref label"."""
    name = local_name(iri.rstrip("/#")) or iri
    return CAMEL.sub(" ", as_words(name)).lower() if name.isidentifier() else as_words(name) or name


APPELLATIONS: Final = ("E41",)
SYMBOLIC: Final = ("E90",)
TITLES: Final = ("E35",)
MEASURES: Final = ("E54",)  # named by value and unit, see roles
NAME_LENGTH: Final = 120  # characters of a name that is really a text, then "…"
IRI_LIKE: Final = r"^(?:[A-Za-z][A-Za-z0-9+.-]*:/+\S*|urn:\S+)$"
PRIMARY: Final = (
    "http://vocab.getty.edu/aat/300404670"  # AAT "preferred terms", the primary name in Linked Art
)
ORDER: Final = ("label", "preferred", "title", "appellation", "content", "alternative", "identifier")


def stated_names(
    core: Core, vocabulary: Vocabulary, constants: Names, languages: Sequence[str], suspects: Ints
) -> pl.DataFrame:
    """Every stated name once: columns node, text, lang, kind, rank, sorted by node and rank, the best name first.

    Rank: what the node is called comes before alternatives, its own content and identifiers; then languages in the
    given order (untagged after the first); then kinds in ``ORDER``. Suspects keep only labels. A text such as a note names
    what has no other name; of what has one it is another name where that is a text itself, such as an inscription.
    """
    texts = _texts(core, vocabulary, constants, suspects)
    linked = _linked(core, vocabulary, constants, texts, suspects)
    names = pl.concat([_own(core, vocabulary, constants, texts), linked]).with_columns(
        pl.col("text").str.replace_all(r"\s+", " ").str.strip_chars()
    )
    names = names.filter((pl.col("text") != "") & ~pl.col("text").str.contains(IRI_LIKE))
    named = names.filter(pl.col("kind").is_in(ORDER[: ORDER.index("content")]))["node"].unique()
    symbolic = core.nodes_of(vocabulary.class_numbers(*SYMBOLIC))
    content, called = pl.col("kind") == "content", among("node", named)
    names = names.filter(~(content & called & ~among("node", symbolic))).with_columns(
        kind=pl.when(content & called).then(pl.lit("alternative")).otherwise("kind")
    )
    ranked = names.with_columns(rank=_rank(languages)).sort("node", "rank", "text", "lang", "kind")
    ranked = ranked.unique(["node", "text", "lang"], keep="first", maintain_order=True)
    return ranked.with_columns(pl.col("kind").replace("content", "label"))


def _rank(languages: Sequence[str]) -> pl.Expr:
    """Smaller is better; see ``stated_names``."""
    kind = pl.col("kind").replace_strict({kind: n for n, kind in enumerate(ORDER)}, return_dtype=pl.Int32)
    group = pl.when(kind <= ORDER.index("appellation")).then(0).otherwise(kind)
    primary = pl.col("lang").str.to_lowercase().str.split("-").list.first()
    place = {lang.lower(): 2 * n for n, lang in enumerate(languages)} | {"": 1}
    language = primary.replace_strict(place, default=2 * len(languages) + 2, return_dtype=pl.Int32)
    return (group * 1000 + language) * 10 + kind


def _texts(core: Core, vocabulary: Vocabulary, constants: Names, suspects: Ints) -> pl.DataFrame:
    """The literals that say what an appellation is: columns node, text, lang, rank (place in value_properties)."""
    rank = {
        n: place
        for place, name in enumerate(constants.value_properties)
        for n in vocabulary.properties_with([name])
    }
    return (
        core.literals.lazy()
        .filter(among("property", list(rank)) & ~among("subject", suspects))
        .select(
            "property",
            node="subject",
            text="value",
            lang="lang",
            rank=pl.col("property").replace_strict(rank, return_dtype=pl.Int32),
        )
        .filter((pl.col("text") != "") & ~pl.col("text").str.contains(IRI_LIKE))
        .filter(pl.col("rank") == pl.col("rank").min().over("node"))
        .collect()
    )


def _own(core: Core, vocabulary: Vocabulary, constants: Names, texts: pl.DataFrame) -> pl.DataFrame:
    """Names that literals of the node itself state.

    What an appellation says is its name, and its label ("Primary Name") only describes it.
    """
    kinds: dict[int, str] = {}
    for properties, name in (
        (constants.alternative_properties, "alternative"),
        (constants.title_properties, "title"),
        (constants.name_properties, "appellation"),
        (constants.label_properties, "label"),
        ([PREFERRED], "preferred"),
    ):
        kinds |= dict.fromkeys(vocabulary.properties_with(properties), name)
    kind = pl.col("property").replace_strict(kinds, default="", return_dtype=pl.String)
    stated = core.literals.filter(among("property", list(kinds)))
    content = texts.filter(~among("property", list(kinds)))
    appellation = among("node", core.nodes_of(vocabulary.class_numbers(*APPELLATIONS)))
    has_content = among("node", content.filter(appellation)["node"])
    measure = among("node", core.nodes_of(vocabulary.class_numbers(*MEASURES)))
    alternative = has_content & (pl.col("kind") != "title")
    return pl.concat(
        [
            stated.select(node="subject", text="value", lang="lang", kind=kind).with_columns(
                kind=pl.when(alternative).then(pl.lit("alternative")).otherwise("kind")
            ),
            content.filter(~measure).select(
                "node",
                pl.when(appellation).then("text").otherwise(shortened(pl.col("text"))).alias("text"),
                "lang",
                kind=pl.when(appellation).then(pl.lit("label")).otherwise(pl.lit("content")),
            ),
        ]
    )


def last_segment(iri: pl.Expr) -> pl.Expr:
    """What follows the last separator that something follows; the whole IRI when there is nothing else."""
    return pl.coalesce(iri.str.extract(r"^urn:.*?([^:/]+)$"), iri.str.extract(r"([^/#]+)[/#]*$"), iri)


def shortened(text: pl.Expr, length: int = NAME_LENGTH) -> pl.Expr:
    """The beginning of a text at a word's end, with "…" when something is left out."""
    plain = text.str.replace_all(r"\s+", " ").str.strip_chars()
    cut = plain.str.slice(0, length).str.replace(r"\s\S*$", "") + "…"
    return pl.when(plain.str.len_chars() > length).then(cut).otherwise(plain)


def _linked(
    core: Core, vocabulary: Vocabulary, constants: Names, texts: pl.DataFrame, suspects: Ints
) -> pl.DataFrame:
    """Names that stand on appellations, titles and identifiers of a node."""
    links = pl.concat(
        [
            pairs_of(core, vocabulary, constants.title_properties).with_columns(kind=pl.lit("title")),
            pairs_of(core, vocabulary, constants.name_properties).with_columns(kind=pl.lit("appellation")),
        ]
    ).filter(~among("node", suspects))
    typed_primary = among("other", (core.terms.nodes == PRIMARY).arg_true())
    primary = pairs_of(core, vocabulary, ["P2"]).filter(typed_primary)["node"]
    titles = core.nodes_of(vocabulary.class_numbers(*TITLES))
    identifiers = core.nodes_of(vocabulary.class_numbers(*constants.identifier_classes))
    kind = (
        pl.when(among("other", identifiers)).then(pl.lit("identifier"))
        .when(among("other", primary)).then(pl.lit("preferred"))
        .when(among("other", titles)).then(pl.lit("title"))
        .otherwise(pl.col("kind"))
    )  # fmt: skip
    joined = links.with_columns(kind=kind).join(texts, left_on="other", right_on="node", how="inner")
    return joined.select("node", shortened(pl.col("text"), 2 * NAME_LENGTH).alias("text"), "lang", "kind")


def pairs_of(core: Core, vocabulary: Vocabulary, names: Sequence[str]) -> pl.DataFrame:
    """Columns node, other (int32): what nodes lead to by these properties, read from either end."""
    sides = [core.forward.pairs(prop) for prop in vocabulary.properties_with(names)]
    sides += [core.backward.pairs(prop) for prop in vocabulary.inverses_of(names)]
    frames = [pl.DataFrame({"node": node, "other": other}) for node, other in sides]
    return pl.concat([pl.DataFrame(schema={"node": pl.Int32, "other": pl.Int32}), *frames])
