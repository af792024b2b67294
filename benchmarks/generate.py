"""A museum of any size as N-Triples, shaped as large city museums are.

    python benchmarks/generate.py OUT.nt.zst [--entities 866000] [--seed 1]

Objects, their productions, makers, time-spans, places in hierarchies, exhibitions, dimensions, appellations and concepts;
labels in several languages; both directions of many statements. Targets are skewed: a few types, keepers and places take
most of the links (one owner takes an object each: over 100,000 from 400,000 entities on). Equal arguments give equal
bytes. 866,000 entities make about 14.5 million triples.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

BASE = "http://example.org/museum/"
CRM = "http://www.cidoc-crm.org/cidoc-crm/"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
SAME = "http://www.w3.org/2002/07/owl#sameAs"
XSD = "http://www.w3.org/2001/XMLSchema#"
ROWS = 1_000_000  # lines written at once
WORDS = 30_000  # distinct words of each language
SYLLABLES = {
    "en": "ba be bi bo ca ce da de do el fa fe ga go ha hi in ka ke la le li lo ma me mi mo na ne ni no or pa ra re ri "
    "ro sa se si so ta te ti to un va ve wi",
    "de": "ab an bau ber burg dorf ein ent er feld gen ger heim her hof ing kel ken land lich ling mann mer mund nau "
    "ner reich rich schen sel stein ter tal tung ung ver wald weg",
    "el": "α αν γα γι δε δι ε ει θε ι κα κο λα λι λο μα με μο να νι νο ο ος πα πε πο ρα ρι ρο σα σι σο τα τε το φα χρι",
}

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Kind:
    """Entities of one class: ``share`` of all, ``words`` of a label."""

    name: str
    code: str
    share: float
    words: int = 0


KINDS = (
    Kind("object", "E22_Human-Made_Object", 0.26, 4),
    Kind("production", "E12_Production", 0.26, 0),
    Kind("span", "E52_Time-Span", 0.12, 0),
    Kind("dimension", "E54_Dimension", 0.12, 0),
    Kind("identifier", "E42_Identifier", 0.12, 1),
    Kind("actor", "E21_Person", 0.06, 2),
    Kind("birth", "E67_Birth", 0.025, 0),
    Kind("place", "E53_Place", 0.012, 1),
    Kind("exhibition", "E7_Activity", 0.008, 4),
    Kind("concept", "E55_Type", 0.015, 2),
)


@dataclass(frozen=True)
class Link:
    """A property between two kinds: ``rate`` statements for each of ``source``, ``skew`` of the targets (0 even, 1 each
    target about as often as its rank says); ``inverse``: the property of the other direction, stated too."""

    source: str
    code: str
    target: str
    rate: float
    skew: float = 0.0
    inverse: str = ""
    among: int = 0  # only the first so many targets
    own: bool = False  # the target with the same number
    near: int = 0  # a target of the same group of so many: copies of a design, parts of a set


LINKS = (
    Link("object", "P108i_was_produced_by", "production", 1, inverse="P108_has_produced", own=True),
    Link("object", "P43_has_dimension", "dimension", 1, inverse="P43i_is_dimension_of", own=True),
    Link("object", "P1_is_identified_by", "identifier", 1, inverse="P1i_identifies", own=True),
    Link("object", "P2_has_type", "concept", 1.8, skew=1.0, among=600, inverse="P2i_is_type_of"),
    Link("object", "P45_consists_of", "concept", 1.4, skew=1.0, among=300, inverse="P45i_is_incorporated_in"),
    Link("object", "P62_depicts", "concept", 5.3, skew=0.7, inverse="P62i_is_depicted_by"),
    Link("object", "P62_depicts", "place", 0.4, skew=0.8, inverse="P62i_is_depicted_by"),
    Link("object", "P129_is_about", "concept", 4.0, skew=0.7, inverse="P129i_is_subject_of"),
    Link("object", "P52_has_current_owner", "actor", 1, among=1, inverse="P52i_is_current_owner_of"),
    Link("object", "P50_has_current_keeper", "actor", 1, skew=0.8, among=12, inverse="P50i_is_current_keeper_of"),
    Link("object", "P55_has_current_location", "place", 1, skew=0.6, among=200, inverse="P55i_currently_holds"),
    Link("object", "P12i_was_present_at", "exhibition", 0.7, skew=0.5, inverse="P12_occurred_in_the_presence_of"),
    Link("object", "P46_is_composed_of", "object", 0.1, near=8, inverse="P46i_forms_part_of"),
    Link("object", "P130_shows_features_of", "object", 1.5, near=8, inverse="P130i_features_are_also_found_on"),
    Link("object", "P105_right_held_by", "actor", 0.8, skew=0.9, inverse="P105i_has_right_on"),
    Link("production", "P14_carried_out_by", "actor", 1.2, skew=0.9, inverse="P14i_performed"),
    Link("production", "P4_has_time-span", "span", 1, inverse="P4i_is_time-span_of", own=True),
    Link("production", "P7_took_place_at", "place", 0.9, skew=0.9, inverse="P7i_witnessed"),
    Link("production", "P32_used_general_technique", "concept", 1.3, skew=1.0, among=250, inverse="P32i_was_technique_of"),
    Link("production", "P2_has_type", "concept", 1, skew=1.0, among=40, inverse="P2i_is_type_of"),
    Link("production", "P10_falls_within", "exhibition", 0.05, skew=0.5),
    Link("actor", "P98i_was_born", "birth", 0.5, inverse="P98_brought_into_life", own=True),
    Link("actor", "P74_has_current_or_former_residence", "place", 0.8, skew=0.8),
    Link("actor", "P2_has_type", "concept", 1.5, skew=1.0, among=80),
    Link("birth", "P7_took_place_at", "place", 0.9, skew=0.8),
    Link("birth", "P4_has_time-span", "span", 0.8),
    Link("exhibition", "P7_took_place_at", "place", 1, skew=0.9, among=100),
    Link("exhibition", "P14_carried_out_by", "actor", 1, skew=0.8, among=400),
    Link("exhibition", "P4_has_time-span", "span", 1),
    Link("dimension", "P91_has_unit", "concept", 1, skew=1.2, among=8),
    Link("dimension", "P2_has_type", "concept", 1, skew=1.0, among=12),
    Link("identifier", "P2_has_type", "concept", 1, skew=1.2, among=5),
)  # fmt: skip
TREES = (("place", "P89_falls_within", 12), ("concept", "P127_has_broader_term", 15))
LANGUAGES = {"object": ("en", "de"), "actor": ("en", "el"), "place": ("en", "de", "el"),
             "concept": ("en", "de", "el"), "exhibition": ("en", "de"), "identifier": ("",)}  # fmt: skip


@dataclass
class Museum:
    """Its numbers of entities by kind, and the lines of its triples part by part."""

    entities: int
    seed: int = 1
    random: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        self.counts = {kind.name: max(2, round(kind.share * self.entities)) for kind in KINDS}
        self.words = {language: _words(language) for language in SYLLABLES}

    def frames(self) -> Iterator[pl.Series]:
        """All lines, without their ends."""
        for kind in KINDS:
            yield from self._described(kind)
        for link in LINKS:
            yield from self._linked(link)
        for kind_name, code, width in TREES:
            last = self.counts[kind_name] - 1
            below = np.arange(
                last
            )  # the last one is the root: what is linked most is a leaf, as towns and portraits are
            yield self._triples(
                kind_name, below, code, self._iris(kind_name, last - (last - below - 1) // width)
            )

    def _described(self, kind: Kind) -> Iterator[pl.Series]:
        for some in _portions(self.counts[kind.name]):
            yield self._triples(kind.name, some, RDF_TYPE, _iri(CRM + kind.code, len(some)))
            for language in LANGUAGES.get(kind.name, ()):
                texts = self._texts(language or "en", len(some), kind.words)
                if kind.name == "identifier":
                    texts = pl.Series(some.astype(str)).cast(pl.String).str.pad_start(7, "0")
                yield self._triples(kind.name, some, LABEL, _literal(texts, language))
            yield from self._literals(kind.name, some)

    def _literals(self, kind: str, some: Ints) -> Iterator[pl.Series]:
        """What is stated of these entities besides labels and links."""
        if kind == "object":
            noted = some[self.random.random(len(some)) < 0.6]
            yield self._triples(
                kind, noted, CRM + "P3_has_note", _literal(self._texts("en", len(noted), 35), "en")
            )
            yield self._triples(
                kind, some, CRM + "P102_has_title", _literal(self._texts("en", len(some), 5), "en")
            )
            shown = some[self.random.random(len(some)) < 0.4]
            image = pl.Series(shown).cast(pl.String)
            yield self._triples(
                kind, shown, CRM + "P138i_has_representation", f"<{BASE}image/" + image + ".jpg>"
            )
        elif kind == "span":
            year = np.clip(self.random.normal(1820, 130, len(some)), -800, 2024).astype(np.int64)
            width = self.random.integers(0, 30, len(some))
            for code, years in (("P82a_begin_of_the_begin", year), ("P82b_end_of_the_end", year + width)):
                signs = pl.Series(np.where(years < 0, "-", ""))
                digits = pl.Series(np.abs(years)).cast(pl.String).str.pad_start(4, "0")
                yield self._triples(kind, some, CRM + code, _literal(signs + digits + "-01-01", "", "date"))
        elif kind == "dimension":
            value = pl.Series(np.round(self.random.lognormal(3, 1, len(some)), 1)).cast(pl.String)
            yield self._triples(kind, some, CRM + "P90_has_value", _literal(value, "", "decimal"))
        elif kind in ("actor", "place", "concept"):
            known = some[self.random.random(len(some)) < 0.5]
            outside = f"<http://vocab.example.net/{kind}/" + pl.Series(known * 7).cast(pl.String) + ">"
            yield self._triples(kind, known, SAME, outside)

    def _linked(self, link: Link) -> Iterator[pl.Series]:
        size = self.counts[link.target]
        for some in _portions(self.counts[link.source]):
            times = (
                self.random.poisson(link.rate, len(some))
                if link.rate % 1
                else np.full(len(some), int(link.rate))
            )
            if link.own:
                some = some[some < size]
                source, target = some, some
            elif link.near:
                source = np.repeat(some, times)
                target = source - source % link.near + self.random.integers(0, link.near, len(source))
                other = (target != source) & (target < size)
                source, target = source[other], target[other]
            else:
                source = np.repeat(some, times)
                target = self._ranked(len(source), min(size, link.among or size), link.skew)
            yield self._triples(link.source, source, CRM + link.code, self._iris(link.target, target))
            if link.inverse:
                yield self._triples(link.target, target, CRM + link.inverse, self._iris(link.source, source))

    def _ranked(self, count: int, size: int, skew: float) -> Ints:
        """Targets 0 … size-1, number k as often as (k+1) ** -skew says."""
        if not skew:
            return self.random.integers(0, size, count)
        weight = np.cumsum(np.arange(1, size + 1) ** -skew)
        return np.searchsorted(weight, self.random.random(count) * weight[-1]).clip(0, size - 1)

    def _texts(self, language: str, count: int, words: int) -> pl.Series:
        """Texts of so many words, the frequent ones first in the language's list."""
        known = self.words[language]
        numbers = self._ranked(count * words, len(known), 1.0)
        parts = known.gather(numbers).to_numpy().reshape(count, words)
        return pl.DataFrame(parts).select(pl.concat_str(pl.all(), separator=" ")).to_series()

    def _iris(self, kind: str, numbers: Ints) -> pl.Series:
        return f"<{BASE}{kind}/" + pl.Series(numbers).cast(pl.String) + ">"

    def _triples(self, kind: str, subjects: Ints, code: str, objects: pl.Series) -> pl.Series:
        property_iri = code if code.startswith("http") else CRM + code
        return self._iris(kind, subjects) + f" <{property_iri}> " + objects + " ."


def _portions(count: int) -> Iterator[Ints]:
    for first in range(0, count, ROWS):
        yield np.arange(first, min(first + ROWS, count))


def _iri(iri: str, count: int) -> pl.Series:
    return pl.Series([f"<{iri}>"]).new_from_index(0, count)


def _literal(texts: pl.Series, language: str = "", datatype: str = "") -> pl.Series:
    tail = f"@{language}" if language else f"^^<{XSD}{datatype}>" if datatype else ""
    return '"' + texts + f'"{tail}'


def _words(language: str) -> pl.Series:
    """The words of a language, each once, in a fixed order."""
    random = np.random.default_rng(list(language.encode()))
    syllables = np.array(SYLLABLES[language].split())
    found: dict[str, None] = {}
    while len(found) < WORDS:
        found[str("".join(random.choice(syllables, random.integers(2, 5))))] = None
    return pl.Series(list(found))


def write(museum: Museum, out: Path) -> int:
    """Write the museum, compressed where the name ends with .zst; the number of its triples."""
    written = 0
    with pa.OSFile(str(out), "wb") as raw:
        stream = pa.CompressedOutputStream(raw, "zstd") if out.suffix == ".zst" else raw
        for lines in museum.frames():
            for first in range(0, len(lines), ROWS):
                some = lines[first : first + ROWS]
                stream.write(("\n".join(some.to_list()) + "\n").encode())
                written += len(some)
        if stream is not raw:
            stream.close()
    return written


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--entities", type=int, default=866_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    museum = Museum(arguments.entities, arguments.seed)
    print(f"{sum(museum.counts.values()):,} entities, {write(museum, arguments.out):,} triples")


if __name__ == "__main__":
    main()
