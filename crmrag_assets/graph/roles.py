"""Dates of nodes, and names for the nameless.

A measure or a date, the role played for a named node, else the IRI's own words, else the class and an identifier.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

import numpy as np
import polars as pl

from crmrag_assets.graph.core import Core, Mask, among
from crmrag_assets.graph.names import CAMEL, ENGLISH, MEASURES, Vocabulary, last_segment, pairs_of, shortened
from crmrag_query.config.loading import Dates, Images, Links
from crmrag_query.dates import describe, parse_date
from crmrag_query.errors import BuildError
from crmrag_query.graph.arrays import Ints
from crmrag_query.graph.graph import Timespan
from crmrag_query.ontology.load import as_words

IDENTIFIED: Final = "P1"  # leads to appellations too, so only authorities count
# What an IRI of an authority begins with; any other address is "other". The kinds are those of the links' schema.
LINK_PATTERNS: Final = {
    "wikidata": r"https?://(www\.)?wikidata\.org/(entity|wiki)/Q\d+",
    "getty": r"https?://vocab\.getty\.edu/(page/)?(aat|tgn|ulan|cona)/\d+",
    "viaf": r"https?://(www\.)?viaf\.org/viaf/\d+",
    "geonames": r"https?://(www\.|sws\.)?geonames\.org/\d+",
}
DIRECT: Final = (  # whatever address these lead to is an image
    "http://schema.org/image",
    "https://schema.org/image",
    "http://xmlns.com/foaf/0.1/depiction",
    "http://xmlns.com/foaf/0.1/img",
    "linked_art:access_point",
)
HTTP: Final = r"^https?://\S+$"
# Addresses of images: by the endings of their formats, and by IIIF's Image API.
IMAGE: Final = r"(?i)^https?://\S+\.(jpe?g|png|gif|webp|tiff?|jp2)([?#]\S*)?$"
IIIF: Final = r"(?i)^https?://\S+/(info\.json|full/[^/]+/[^/]+/(default|native|color|gray)\.\w+)$"
HOPS: Final = 3  # thing, visual item, digital object, address (Linked Art)


def build_links(core: Core, vocabulary: Vocabulary, constants: Links) -> pl.DataFrame:
    """Columns of schema "links", sorted by node and IRI; a node that is an authority's own counts too."""
    plain = [name for name in constants.properties if name != IDENTIFIED]
    authority = pl.lit("other")
    for name, pattern in reversed(list(LINK_PATTERNS.items())):
        authority = (
            pl.when(pl.col("value").str.contains(f"^(?:{pattern})")).then(pl.lit(name)).otherwise(authority)
        )
    identified = [name for name in constants.properties if name == IDENTIFIED]
    of_authorities = [
        pl.DataFrame({"node": np.arange(core.nodes, dtype=np.int32), "value": core.terms.nodes}),
        values_of(core, vocabulary, identified).select("node", "value"),
        *(
            pl.DataFrame({"node": other, "value": core.terms.nodes[node]})
            for other, node in map(core.backward.pairs, vocabulary.properties_with(plain))
        ),
    ]
    known = [frame.filter(authority != "other") for frame in of_authorities]
    links = pl.concat([values_of(core, vocabulary, plain).select("node", "value"), *known])
    links = links.filter(pl.col("value").str.contains(HTTP)).with_columns(kind=authority)
    return links.select("node", iri="value", kind="kind").unique().sort("node", "iri")


def build_images(core: Core, vocabulary: Vocabulary, constants: Images, pattern: str = "") -> pl.DataFrame:
    """Columns of schema "images", sorted by node and address.

    An address is an image by its form (IMAGE, IIIF, or the data set's ``pattern``) or by the property that leads to it; where
    a representation has none itself, its address properties are followed. BuildError for a pattern that cannot be used.
    """
    is_image = pl.any_horizontal(
        pl.col("value").str.contains(text) for text in (IMAGE, IIIF, pattern) if text
    )
    frontier = _images_from(core, vocabulary, constants.properties)
    addresses = _images_from(core, vocabulary, constants.address_properties).rename({"node": "at"})
    found: list[pl.DataFrame] = []
    for _ in range(HOPS):
        try:
            accepted = frontier.filter(pl.col("value").str.contains(HTTP) & (pl.col("sure") | is_image))
        except pl.exceptions.ComputeError as error:
            raise BuildError(
                f"A pattern for images cannot be used: {error}.",
                "Patterns must not look ahead or behind, nor refer back to a group.",
            ) from error
        found.append(accepted.select("node", url="value"))
        rest = frontier.join(accepted.select("node", "value"), on=["node", "value"], how="anti")
        rest = rest.filter(pl.col("other") >= 0).select("node", at="other")
        frontier = rest.join(addresses, on="at", how="inner").drop("at").unique()
    return pl.concat(found).unique().sort("node", "url")


def _images_from(core: Core, vocabulary: Vocabulary, properties: Iterable[str]) -> pl.DataFrame:
    """Columns node, other (-1 for a literal), value, sure: what these properties lead to, read from either end."""
    names = list(properties)
    backward = map(core.backward.pairs, vocabulary.inverses_of(name for name in names if name != IDENTIFIED))
    return pl.concat(
        [
            *(
                values_of(core, vocabulary, [name]).with_columns(sure=pl.lit(name in DIRECT))
                for name in names
            ),
            *(_nodes(core, pair).with_columns(sure=pl.lit(False)) for pair in backward),
            values_of(core, vocabulary, []).with_columns(sure=pl.lit(False)),
        ]
    )


def values_of(core: Core, vocabulary: Vocabulary, properties: Iterable[str]) -> pl.DataFrame:
    """What properties (codes or IRIs) lead to: columns node, other (-1 for a literal), value (IRI or literal)."""
    numbers = vocabulary.properties_with(properties)
    literals = core.literals.filter(among("property", numbers)).select(
        pl.col("subject").alias("node"),
        pl.lit(-1, pl.Int32).alias("other"),
        pl.col("value").str.strip_chars(),
    )
    return pl.concat([literals, *(_nodes(core, core.forward.pairs(prop)) for prop in numbers)])


def _nodes(core: Core, pairs: tuple[Ints, Ints]) -> pl.DataFrame:
    node, other = pairs
    return pl.DataFrame({"node": node, "other": other, "value": core.terms.nodes[other]})


TIME_SPAN: Final = "E52"
DATE_TYPES: Final = tuple(
    f"http://www.w3.org/2001/XMLSchema#{name}"
    for name in ("date", "dateTime", "dateTimeStamp", "gYear", "gYearMonth")
)
ROLES: Final = (
    "outer_begin",
    "outer_end",
    "inner_begin",
    "inner_end",
    "outer_whole",
    "inner_whole",
    "qualifiers",
)
DAYS: Final = ("outer_begin", "inner_begin", "inner_end", "outer_end")


def build_timespans(
    core: Core, vocabulary: Vocabulary, constants: Dates, names: pl.DataFrame, suspects: Ints
) -> pl.DataFrame:
    """Dates of every node that states any, columns of schema "timespans", sorted by node.

    ``names``: stated names (node, text), read as dates for a time-span that has no other; suspects have no dates.
    """
    stated = _read(_stated(core, vocabulary, constants))
    spans = core.nodes_of(vocabulary.class_numbers(TIME_SPAN))
    understood = pl.col("begin").is_not_null() | pl.col("end").is_not_null()
    undated = np.setdiff1d(spans, stated.filter(understood)["node"])
    named = _read(names.filter(among("node", undated)).select("node", value="text", datatype=pl.lit("")))
    named = named.filter(understood).with_columns(role=pl.lit("outer_whole"))
    found = _combine(pl.concat([stated, named.select(stated.columns)]).filter(~among("node", suspects)))
    says_nothing = pl.all_horizontal(pl.col(DAYS).is_null()) & (pl.col("text") == "")
    return found.filter(~says_nothing).sort("node")


def _stated(core: Core, vocabulary: Vocabulary, constants: Dates) -> pl.DataFrame:
    """Literals that state dates: columns node, value, datatype, role."""
    role: dict[int, str] = {}
    for name in ROLES:
        role |= dict.fromkeys(vocabulary.properties_with(getattr(constants, name)), name)
    typed = core.nodes_of(np.union1d(vocabulary.class_numbers(TIME_SPAN), np.flatnonzero(vocabulary.event)))
    other = pl.col("datatype").is_in(DATE_TYPES) & among("subject", typed)
    return (
        core.literals.lazy()
        .filter(among("property", list(role)) | other)
        .with_columns(role=pl.col("property").replace_strict(role, default="other", return_dtype=pl.String))
        .select("value", "datatype", "role", node="subject")
        .collect()
    )


def _read(literals: pl.DataFrame) -> pl.DataFrame:
    """Add columns begin and end, int32 day numbers, null where open or not understood."""
    distinct = literals.select("value", "datatype").unique(maintain_order=True)
    read = [parse_date(value, datatype) for value, datatype in distinct.iter_rows()]
    return literals.join(
        distinct.with_columns(
            begin=pl.Series([interval.begin if interval else None for interval in read], dtype=pl.Int32),
            end=pl.Series([interval.end if interval else None for interval in read], dtype=pl.Int32),
        ),
        on=["value", "datatype"],
        how="left",
        maintain_order="left",
    )


def _combine(facts: pl.DataFrame) -> pl.DataFrame:
    """One row a node; precise bounds go before whole intervals, these before other dates; bounds in reverse are none."""

    def of(column: str, role: str) -> pl.Expr:
        return pl.col(column).filter(pl.col("role") == role)

    words = pl.col("value").filter(pl.col("role").is_in(["outer_whole", "inner_whole", "qualifiers"]))
    found = facts.group_by("node").agg(
        outer_begin=pl.coalesce(
            of("begin", "outer_begin").min(), of("begin", "outer_whole").min(), of("begin", "other").min()
        ),
        outer_end=pl.coalesce(
            of("end", "outer_end").max(), of("end", "outer_whole").max(), of("end", "other").max()
        ),
        inner_begin=pl.coalesce(of("end", "inner_begin").max(), of("begin", "inner_whole").min()),
        inner_end=pl.coalesce(of("begin", "inner_end").min(), of("end", "inner_whole").max()),
        text=words.unique().sort().str.strip_chars().str.join("; "),
    )
    for begin, end in (("outer_begin", "outer_end"), ("inner_begin", "inner_end")):
        forward = (pl.col(begin) <= pl.col(end)) | pl.col(begin).is_null() | pl.col(end).is_null()
        found = found.with_columns(pl.when(forward).then(pl.col(name)).alias(name) for name in (begin, end))
    return found.with_columns(pl.col("text").fill_null("")).select("node", *DAYS, "text")


VALUES: Final = ("P90", "http://www.w3.org/1999/02/22-rdf-syntax-ns#value")
UNITS: Final = ("P91", "P180")
DECIMALS: Final = 4
WORD: Final = r"^\p{L}+\.?$"


def by_measure(core: Core, vocabulary: Vocabulary, nameless: Mask, names: pl.DataFrame) -> pl.DataFrame:
    """``24.1 cm`` for nameless dimensions: columns node, text, kind; ``names``: columns other, name, of the units.

    A unit without a name is called by its IRI's last segment when that is a word. With several values or units it is
    not known which goes with which: ``10 / 25.4 (cm, in)``.
    """
    measures = core.nodes_of(vocabulary.class_numbers(*MEASURES))
    wanted = among("node", measures[nameless[measures]])
    values = values_of(core, vocabulary, VALUES).filter(
        wanted & (pl.col("other") < 0) & (pl.col("value") != "")
    )
    units = values_of(core, vocabulary, UNITS).filter(wanted).join(names, on="other", how="left")
    segment = last_segment(pl.col("value"))
    unit = pl.coalesce("name", pl.when(segment.str.contains(WORD)).then(segment))
    joined = _joined(values, _number(pl.col("value")), "value", " / ").join(
        _joined(units.filter(unit.is_not_null()), unit, "unit", ", "), on="node", how="left"
    )
    one = (pl.col("values") == 1) & (pl.col("units") == 1)
    text = (
        pl.when(pl.col("unit").is_null()).then(pl.col("value"))
        .when(one).then(pl.format("{} {}", "value", "unit"))
        .otherwise(pl.format("{} ({})", "value", "unit"))
    )  # fmt: skip
    return joined.select("node", text=text, kind=pl.lit("role")).sort("node")


def _joined(frame: pl.DataFrame, text: pl.Expr, name: str, between: str) -> pl.DataFrame:
    """Columns node, ``name`` (distinct texts, sorted and joined) and ``name``s (how many)."""
    distinct = frame.select("node", text=text).unique().sort("node", "text")
    grouped = distinct.group_by("node", maintain_order=True)
    return grouped.agg(pl.col("text").str.join(between).alias(name), pl.len().alias(name + "s"))


def _number(value: pl.Expr) -> pl.Expr:
    """A number without needless digits (``9.9000000000``, ``8.61E0``); other words as they are."""
    number = value.cast(pl.Float64, strict=False).round(DECIMALS)
    plain = number.cast(pl.String).str.replace(r"\.0$", "")
    return pl.when(number.is_finite() & (number.abs() < 1e9)).then(plain).otherwise(value)


# A nameless node is named by its role for the entity at the other end, "Production of …", by the first of these that it
# has: what tells most of it comes first.
ROLE_PROPERTIES: Final = (
    "P108", "P94", "P95", "P98", "P100", "P99", "P13", "P92", "P93", "P31", "P24", "P30", "P25", "P110", "P112", "P41",
    "P34", "P39", "P140", "P37", "P147", "P143", "P145", "P16", "P62", "P65i", "P138", "P128i", "P67", "P43i", "P4i", "P1i",
    "P102i", "P44i", "P56i", "P46i", "P148i", "P106i", "P9i", "P10", "P11", "P14", "P12", "P7", "P129", "P55i", "P53i",
)  # fmt: skip
ROUNDS: Final = 4  # how often a role's name may name a further role: the time-span of a production of …
PATTERNS: Final = {"en": "{} of {}", "fr": "{} : {}", "de": "{}: {}", "el": "{}: {}"}
BY: Final = {"en": "{} by {}"}  # where the named node is not the event's object but an actor …
IN: Final = {"en": "{} in {}"}  # … or a place
ACTORS: Final = ("P14", "P11", "P22", "P23", "P28", "P29")
PLACES: Final = ("P7",)
UNNAMED: Final = {"en": "unnamed", "fr": "sans nom", "de": "ohne Namen", "el": "χωρίς όνομα"}
MADE_KINDS: Final = ("role", "iri")
MADE: Final = pl.Schema({"node": pl.Int32, "text": pl.String, "kind": pl.String})


def made_names(
    core: Core,
    vocabulary: Vocabulary,
    names: pl.DataFrame,
    timespans: pl.DataFrame,
    lang: str,
    suspects: Ints,
) -> pl.DataFrame:
    """One made name for each node without a stated one: columns node, text, kind (of MADE_KINDS), sorted by node.

    ``names``: stated names, best first; ``lang`` a key of ``PATTERNS``; suspects lend no name to others.
    """
    best = names.unique("node", keep="first", maintain_order=True).select("node", "text")
    nameless = np.ones(core.nodes, bool)
    nameless[best["node"].to_numpy()] = False
    classes = telling_classes(core, vocabulary)
    steps = _role_steps(core, vocabulary, nameless & (classes >= 0)).filter(~among("other", suspects))
    steps = steps.filter(pl.col("place") == pl.col("place").min().over("node"))  # the first property decides
    lenders = best.rename({"node": "other", "text": "name"})
    dated = _by_date(core, vocabulary, timespans, nameless, lang)
    parts = [pl.concat([dated, by_measure(core, vocabulary, nameless, lenders)])]
    for last in (False, True):
        for _ in range(ROUNDS):
            nameless[parts[-1]["node"].to_numpy()] = False
            lenders = pl.concat([lenders, parts[-1].select(other="node", name="text")])
            steps = steps.filter(pl.Series(nameless[steps["node"].to_numpy()], dtype=pl.Boolean))
            if steps.height == 0:
                break
            parts.append(_by_role(steps, lenders, classes, vocabulary, lang))
        nameless[parts[-1]["node"].to_numpy()] = False
        waiting = np.zeros(core.nodes, bool)
        waiting[steps["node"].to_numpy()] = not last
        parts.append(_by_iri(core, vocabulary, classes, nameless & ~waiting, lang))
    return pl.concat(parts).sort("node")


def telling_classes(core: Core, vocabulary: Vocabulary) -> Ints:
    """The class that says most of each node: the deepest of the CRM family, -1 without any; int32 [n]."""
    above = vocabulary.ontology.superclasses
    depth = np.array(
        [
            len(above(words.code)) + (1 if words.normalised else 2) if words.code else 0
            for words in vocabulary.classes
        ],
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


def _role_steps(core: Core, vocabulary: Vocabulary, nameless: Mask) -> pl.DataFrame:
    """From each nameless node by the telling properties: columns node, other, place (of the property in the list)."""
    wanted = among("node", np.flatnonzero(nameless))
    frames = [
        pairs_of(core, vocabulary, [code]).filter(wanted).with_columns(place=pl.lit(place, pl.Int16))
        for place, code in enumerate(ROLE_PROPERTIES)
    ]
    return pl.concat(frames)


def _by_role(
    steps: pl.DataFrame, lenders: pl.DataFrame, classes: Ints, vocabulary: Vocabulary, lang: str
) -> pl.DataFrame:
    """``Production of …`` for the nodes whose role is for a node that has a name by now."""
    named = steps.join(lenders, on="other", how="inner").sort("node", "other")
    chosen = named.unique("node", keep="first", maintain_order=True)
    by = [place for place, code in enumerate(ROLE_PROPERTIES) if code in ACTORS]
    at = [place for place, code in enumerate(ROLE_PROPERTIES) if code in PLACES]
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
    """Time-spans, and dated nodes without a class, by the words of their date, else by its days."""
    spans = core.nodes_of(vocabulary.class_numbers(TIME_SPAN))
    # Of a node that has dates and no class, the dates are all that is known.
    untyped = np.flatnonzero(np.diff(core.type_ptr) == 0)
    dated = np.union1d(spans, untyped)
    wanted = timespans.filter(among("node", dated[nameless[dated]]))
    distinct = wanted.select(*DAYS, "text").unique(maintain_order=True)
    spans_of = [Timespan(*row) for row in distinct.iter_rows()]
    written = [one.text or (describe(one.interval, lang) if one.interval else "") for one in spans_of]
    named = wanted.join(
        distinct.with_columns(name=pl.Series(written, dtype=pl.String)), on=[*DAYS, "text"], nulls_equal=True
    )
    return named.filter(pl.col("name") != "").select("node", text="name", kind=pl.lit("role")).cast(MADE)


def _by_iri(core: Core, vocabulary: Vocabulary, classes: Ints, nameless: Mask, lang: str) -> pl.DataFrame:
    """The words of the IRI, kind "iri"; where it has none that are this node's own, what it is and its identifier."""
    nodes = np.flatnonzero(nameless).astype(np.int32)
    iris = core.terms.nodes[nodes].to_list()
    told = [words_of_iri(iri) for iri in iris]
    shared = Counter(told)
    persons = [code != "" and vocabulary.ontology.is_a(code, "E39") for code in vocabulary.class_codes]
    called = _class_labels(vocabulary, classes[nodes], lang).to_list()
    texts, kinds = list[str](), list[str]()
    for iri, words, name, number in zip(iris, told, called, classes[nodes].tolist(), strict=True):
        own = words and shared[words] <= MOST_ALIKE
        if own:
            texts.append(words.title() if number >= 0 and persons[number] and words.islower() else words)
        else:
            texts.append(_identified(iri, name if number >= 0 else ""))
        kinds.append("iri" if own or number < 0 else "role")
    return pl.DataFrame({"node": nodes, "text": texts, "kind": kinds}, schema=MADE)


# Nodes whose IRIs have the same words: more are a kind of things ("production"), not names.
MOST_ALIKE: Final = 3
AUTHORITIES: Final = (
    (re.compile(r"(?:vocab\.getty\.edu/(?:page/)?|^)(aat|ulan|tgn)[/:](\d+)$"), "{0} {1}"),
    (re.compile(r"(wikidata)\.org/(?:entity|wiki)/(Q\d+)$"), "Wikidata {1}"),
    (re.compile(r"(viaf)\.org/viaf/(\d+)"), "VIAF {1}"),
    (re.compile(r"d-nb\.info/(gnd)/([\dX-]+)$"), "GND {1}"),
    (re.compile(r"(geonames)\.org/(\d+)"), "GeoNames {1}"),
)
_AUTHORITY: Final = re.compile(
    "aat|ulan|tgn|wikidata|viaf|gnd|geonames"
)  # one of these is in each of the above
_PARTS: Final = re.compile("[/#:]")
_LETTERS, _WORD = re.compile(r"[^\W\d_]"), re.compile(r"[^\W\d_]{3,}")
_OPAQUE: Final = re.compile(r"^(?=.*\d)[0-9a-f]{8,}(?:-[0-9a-f]+)*$", re.IGNORECASE)
SHOWN_OF_OPAQUE: Final = 8  # characters


def words_of_iri(iri: str) -> str:
    """The words that an IRI says of its node, "" for none: `.../The_Last_Supper` gives "The Last Supper".

    They stand in its last part; where this is a number, in the nearest part before it of several words,
    `person/mary_smith/1`.
    """
    if "?" in iri or iri.startswith("urn:skolem:"):
        return ""
    _, _, path = iri.rpartition("://")[2].partition("/") if "://" in iri else ("", "", iri)
    parts = [part for part in _PARTS.split(path) if part]
    for place, part in enumerate(reversed(parts)):
        if words := _words_of_part(part):
            return words if not place or " " in words else ""
    return ""


@lru_cache(maxsize=1 << 14)
def _words_of_part(part: str) -> str:
    """The words that a part of an IRI says, "" for none; the parts before the last one are those of many IRIs."""
    if part.isdecimal():
        return ""
    words = " ".join(as_words(CAMEL.sub(" ", unquote(part).replace("-", " "))).split())
    if part.isidentifier() and "_" not in part and part[0].islower():  # hollowBack
        words = words.lower()
    letters, size = len(_LETTERS.findall(words)), len(words.replace(" ", ""))
    telling = 2 * letters > size if _WORD.search(words) else 1 < letters == size  # "Ur"
    return words if telling and not _OPAQUE.match(part) else ""


def _identified(iri: str, called: str) -> str:
    """What a node without any words is called: "AAT 300028051", "Person 17"; ``called``: its class, "" for none."""
    if by := _by_authority(iri):
        return by
    if iri.startswith("urn:skolem:"):
        return called or iri
    last = " ".join(unquote(re.split("[/#]", iri.rstrip("/#"))[-1]).split()) or iri
    if not called:
        host = re.match(r"\w+://([^/]+)/", iri)
        return f"{last} ({host[1]})" if host and not _LETTERS.search(last) else last
    return f"{called} {last[:SHOWN_OF_OPAQUE] if _OPAQUE.match(last) else last}"


def _by_authority(iri: str) -> str:
    """What a node is called by its number in an authority, "ULAN 500115588"; "" for an IRI of none."""
    for pattern, form in AUTHORITIES if _AUTHORITY.search(iri) else ():
        if found := pattern.search(iri):
            return form.format(found[1].upper(), found[2])
    return ""


def build_labels(
    core: Core,
    vocabulary: Vocabulary,
    stated: pl.DataFrame,
    timespans: pl.DataFrame,
    languages: Sequence[str],
    suspects: Ints,
) -> pl.DataFrame:
    """Columns of schema "labels", sorted by node, best first; a node has one made name when none is stated."""
    lang = next((lang for lang in languages if lang in PATTERNS), ENGLISH)
    made = made_names(core, vocabulary, stated, timespans, lang, suspects)
    numbered = _numbered(core, vocabulary, stated, lang)
    tagged = made.with_columns(
        lang=pl.when(pl.col("kind") == "role").then(pl.lit(lang)).otherwise(pl.lit(""))
    )
    columns = ["node", "text", "lang", "kind"]
    every = [numbered.select(columns), stated.select(columns), tagged.select(columns)]
    return pl.concat(every).sort("node", maintain_order=True)


def _numbered(core: Core, vocabulary: Vocabulary, stated: pl.DataFrame, lang: str) -> pl.DataFrame:
    """What is called by a code alone, with what it is: "photograph P_1894_00001", and persons, places and events by a number:
    "Person 17"; and by a bare number what an authority has it of. What is an identifier, a date, a measure, a type or a text
    itself is called as it is, and so is a title."""
    classes = telling_classes(core, vocabulary)
    best = stated.unique("node", keep="first", maintain_order=True)
    wordless = ~pl.col("text").str.contains(r"\p{L}{3}") & among("node", np.flatnonzero(classes >= 0))
    itself = among("node", core.nodes_of(vocabulary.class_numbers(*ITSELF)))
    number = pl.col("text").str.contains(r"^[\d\W]+$")
    numbered = among("node", core.nodes_of(vocabulary.class_numbers(*NUMBERED)))
    code = pl.col("text").str.contains(r"\d") & ~itself & (~number | numbered) & (pl.col("kind") != "title")
    identified = (pl.col("kind") == "identifier") & ~among(
        "node", core.nodes_of(vocabulary.class_numbers(*NUMBERS))
    )
    found = best.filter(wordless & (code | identified))
    types = best.select(other="node", type="text").join(
        pairs_of(core, vocabulary, ["P2"]).filter(among("node", found["node"])), on="other", how="inner"
    )
    types = types.sort("node", "type").unique("node", keep="first", maintain_order=True)
    bare = best.filter(pl.col("text").str.contains(r"^\d+$"))
    by = pl.Series([_by_authority(iri) for iri in core.terms.nodes[bare["node"]].to_list()], dtype=pl.String)
    bare = bare.select("node", text=by, kind=pl.lit("role"), lang=pl.lit("")).filter(pl.col("text") != "")
    found = found.join(bare, on="node", how="anti")
    called = _class_labels(vocabulary, classes[found["node"].to_numpy()], lang)
    found = found.with_columns(called=called).join(types, on="node", how="left")
    what = pl.coalesce(pl.when(pl.col("type").str.contains(r"\p{L}{3}")).then("type"), "called")
    told = found.select(
        "node", text=pl.format("{} {}", what, pl.col("text")), kind=pl.lit("role"), lang=pl.lit(lang)
    )
    return pl.concat([told, bare])


NUMBERED: Final = ("E39", "E53", "E2")
NUMBERS: Final = ("E41", TIME_SPAN, "E54", "E59")
ITSELF: Final = (*NUMBERS, "E55", "E33", "E34")
"""Classes of what is itself a code, a date, a measure, a type or a text."""
