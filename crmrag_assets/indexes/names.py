"""Building the name index: every name of the entities that are worth linking, as bags of words with postings."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc as ipc

from crmrag_assets.documents.satellites import satellite_kinds
from crmrag_query.artifacts.manifest import canonical_json
from crmrag_query.config.loading import Method
from crmrag_query.graph.arrays import FLAG_ENTITY, Ints, Longs, open_table, places_in, ranges, run_starts
from crmrag_query.graph.graph import Graph
from crmrag_query.linking import (
    KINDS,
    META,
    NAME_WORDS,
    SCHEMA_VERSION,
    SPELLING,
    STOP_WEIGHT,
    TEXTS,
    UNIT,
    latin_stop,
    mixed,
    near_array,
    sound,
    words_at,
)
from crmrag_query.ontology.load import Ontology
from crmrag_query.text import tokens_of, words

Hashes = npt.NDArray[np.uint64]
Arrays = dict[str, npt.NDArray[np.generic]]

# How a label names its entity, words of its IRI among them; what is made of its role or class is no name.
HOW = {"label": 0, "preferred": 0, "appellation": 1, "title": 1, "alternative": 1, "identifier": 2, "iri": 1}
TOLD_ELSEWHERE = ("appellation", "dimension", "time", "reified")
"""Kinds of satellites whose text is a name of the entity that they belong to."""
_SEPARATORS = re.compile(r"\s+[/|=;]\s+")  # between names of one thing (ISBD's parallel titles are " = ")
_QUALIFIER = re.compile(r"(?<=\S)\s*\([^()]*\)\s*$")  # of a term: "drawings (visual works)"


@dataclass(frozen=True)
class Names:
    """Names of entities: ``texts`` distinct; ``entity``, ``text``, ``kind`` int32 [n], a name a row.

    ``kind``: position in ``KINDS``; ``degree`` int32 [nodes]: triples that lead to each node, as many speak of a person, few
    of a picture named after her.
    """

    texts: pa.LargeStringArray
    entity: Ints
    text: Ints
    kind: Ints
    degree: Ints


@dataclass(frozen=True)
class Bags:
    """Bags in order of first appearance, as sorted rows of word numbers; bags of each text, as rows of bag numbers."""

    words: list[str]  # sorted by their UTF-8 bytes
    ptr: Longs
    word: Ints
    text_ptr: Longs
    text_bag: Ints


def names_of(graph: Graph, ontology: Ontology, method: Method) -> Names:
    """The names of the entities to link: all but the satellites of ``TOLD_ELSEWHERE``."""
    kinds = list(method.satellites.kinds)
    left_out = [kinds.index(kind) + 1 for kind in TOLD_ELSEWHERE if kind in kinds]
    linked = (graph.flags & FLAG_ENTITY) != 0
    linked &= ~np.isin(satellite_kinds(graph, ontology, method), left_out)
    table = open_table(graph.folder, "labels")
    node, label_kind = table.column("node").to_numpy(), table.column("kind")
    how = np.array([HOW.get(kind, -1) for kind in label_kind.dictionary.to_pylist()] + [-1], np.int32)
    kind = how[label_kind.indices.to_numpy()]
    rows = np.flatnonzero(linked[node] & (kind >= 0))
    texts = pc.dictionary_encode(table.column("text").take(pa.array(rows)))
    degree = np.bincount(graph.adjacency.forward.val, minlength=graph.nodes).astype(np.int32)
    return Names(texts.dictionary, node[rows], texts.indices.to_numpy(), kind[rows], degree)


def variants(text: str) -> list[str]:
    """A name as it stands, the names that it joins, and each without a qualifier in brackets at its end."""
    parts = [text, *(_SEPARATORS.split(text) if _SEPARATORS.search(text) else ())]
    return list(dict.fromkeys([*parts, *(_QUALIFIER.sub("", part) for part in parts if part.endswith(")"))]))


class _Spelt(dict[str, tuple[str, ...]]):
    """Folded word -> its words as they are compared: in the few words of many names each is looked at once."""

    def __missing__(self, word: str) -> tuple[str, ...]:
        found = self[word] = tuple(compared for _, _, compared in words_at(tokens_of(word)))
        return found


def gather_bags(texts: Iterable[str]) -> Bags:
    """The bags of all texts; one without a word has none."""
    numbers: dict[str, int] = {}
    known: dict[bytes, int] = {}
    spelt = _Spelt()
    text_ptr, text_bag = array("q", [0]), array("i")
    for text in texts:
        found: dict[int, None] = {}
        for variant in variants(text):
            words_of = list(chain.from_iterable(map(spelt.__getitem__, words(variant))))[:NAME_WORDS]
            if bag := sorted({numbers.setdefault(word, len(numbers)) for word in words_of}):
                found[known.setdefault(array("i", bag).tobytes(), len(known))] = None
        text_bag.extend(found)
        text_ptr.append(len(text_bag))
    ptr = np.cumsum([0, *(len(bag) // 4 for bag in known)], dtype=np.int64)
    word = np.frombuffer(b"".join(known), np.int32)
    order = sorted(numbers, key=lambda one: one.encode("utf-8", "replace"))
    rank = places_in([numbers[one] for one in order])
    return Bags(order, ptr, rank[word], np.array(text_ptr, np.int64), np.array(text_bag, np.int32))


def write_names(names: Names, stop: frozenset[str], out: Path) -> dict[str, int]:
    """Write the files that ``crmrag_query.linking`` opens into ``out``; gives counts for people."""
    stop = latin_stop(stop)
    bags = gather_bags(names.texts.to_pylist())
    spoken = (sound(word, SPELLING.shortest) for word in bags.words)
    sounds = np.fromiter(spoken, np.uint64, len(bags.words))
    by_sound = np.argsort(sounds, kind="stable").astype(np.int32)
    encoded = [word.encode("utf-8", "replace") for word in bags.words]
    arrays: Arrays = {
        "word_text": np.frombuffer(b"".join(encoded), np.uint8),
        "word_ptr": np.cumsum([0, *map(len, encoded)], dtype=np.int64),
        "sounds": sounds[by_sound],
        "sound_word": by_sound,
        "near": near_array(bags.words, SPELLING),
        **_bag_arrays(bags, sounds, stop),
        **_entry_arrays(names, bags),
    }
    for name, values in arrays.items():
        np.save(out / f"{name}.npy", values)
    batch = pa.RecordBatch.from_arrays([names.texts.cast(pa.large_utf8())], schema=TEXTS)
    with pa.OSFile(str(out / "texts.arrow"), "wb") as sink, ipc.new_file(sink, TEXTS) as writer:
        writer.write_batch(batch)
    entities = np.unique(arrays["entry_entity"])
    counts = {
        "entities": len(entities),
        "names": len(names.entity),
        "texts": len(names.texts),
        "bags": len(bags.ptr) - 1,
        "words": len(bags.words),
    }
    most = int(names.degree[entities].max()) if len(entities) else 0
    meta = {"schema": SCHEMA_VERSION, "stop": sorted(stop), "spelling": SPELLING.model_dump()}
    (out / META).write_text(canonical_json(meta | counts | {"most_connected": most}), encoding="utf-8")
    return counts


def _bag_arrays(bags: Bags, sounds: Hashes, stop: frozenset[str]) -> Arrays:
    count = len(bags.ptr) - 1
    bag = np.repeat(np.arange(count, dtype=np.int32), np.diff(bags.ptr))
    order = np.argsort(bags.word, kind="stable")
    posting_ptr = np.searchsorted(bags.word[order], np.arange(len(bags.words) + 1)).astype(np.int64)
    is_stop = np.fromiter((word in stop for word in bags.words), bool, len(bags.words))
    idf = np.log1p(count / np.maximum(np.diff(posting_ptr), 1))
    weight = np.rint(UNIT * idf * np.where(is_stop, STOP_WEIGHT, 1)).astype(np.int32)
    content = ~is_stop[bags.word]
    size = np.bincount(bag[content], minlength=count)
    content |= (size == 0)[bag]
    # `bag_hash` of the words of each bag: each sound of a bag counts once.
    of, sound_of = bag[content], sounds[bags.word[content]]
    by_bag = np.lexsort((sound_of, of))
    of, sound_of = of[by_bag], sound_of[by_bag]
    once = run_starts(of, sound_of)
    hashes = np.zeros(count, np.uint64)
    np.add.at(hashes, of[once], mixed(sound_of[once]))
    by_hash = np.argsort(hashes, kind="stable").astype(np.int32)
    return {
        "word_weight": np.maximum(weight, 1),
        "posting_ptr": posting_ptr,
        "posting": bag[order],
        "bag_weight": np.bincount(bag, np.maximum(weight, 1)[bags.word], count).astype(np.int32),
        "bag_size": np.bincount(bag[content], minlength=count).astype(np.int32),
        "bag_hashes": hashes[by_hash],
        "bag_of_hash": by_hash,
    }


def _entry_arrays(names: Names, bags: Bags) -> Arrays:
    """A row for each name of each bag; of several equal names of an entity the one of the first kind."""
    low = bags.text_ptr[names.text]
    count = bags.text_ptr[names.text + 1] - low
    row = np.repeat(np.arange(len(names.text)), count)
    bag, entity, kind = bags.text_bag[ranges(low, count)], names.entity[row], names.kind[row]
    order = np.lexsort((names.text[row], kind, entity, -names.degree[entity], bag))
    bag, entity, row = bag[order], entity[order], row[order]
    first = run_starts(bag, entity)
    bag, entity, row = bag[first], entity[first], row[first]
    return {
        "entry_ptr": np.searchsorted(bag, np.arange(len(bags.ptr))).astype(np.int64),
        "entry_entity": entity.astype(np.int32),
        "entry_text": names.text[row].astype(np.int32),
        "entry_kind": np.minimum(names.kind[row], len(KINDS) - 1).astype(np.uint8),
        "entry_degree": names.degree[entity].astype(np.int32),
    }
