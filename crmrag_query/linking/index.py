"""The name index: every name of every entity that a question may name, memory-mapped.

A name is held as its *bag*: the set of its words, whatever their order ("Catlin, George" is "George Catlin"). A bag's
content is its words that are no stop words, or all of them where there are no others.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crmrag_query.artifacts.mapped import check_arrays, open_array, open_ipc
from crmrag_query.artifacts.versions import other_version, rebuild
from crmrag_query.config.query import NameSpelling
from crmrag_query.errors import ReleaseError
from crmrag_query.linking.near import Hashes, NearWords, Numbers, mixed
from crmrag_query.linking.records import How

Longs = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

SCHEMA_VERSION: Final = 1
META: Final = "names.json"
TEXTS: Final = pa.schema([("text", pa.large_utf8())])
KINDS: Final[tuple[How, ...]] = ("label", "alternative", "identifier")  # how a whole name is its entity's
UNIT: Final = 1024  # weights are held as whole multiples of 1/UNIT: the same on every machine

# Every array of the artifact. W words in order of their UTF-8 bytes, B bags, E entries (a bag's names of entities, the
# best connected first), N distinct texts, P postings.
ARRAYS: Final = (
    "word_text",     # uint8: the words
    "word_ptr",      # int64 [W+1]
    "word_weight",   # int32 [W]: ln(1 + B / bags that have it) times UNIT, less for a stop word
    "sounds",        # uint64 [W] ascending: ``spelling.sound`` of the words
    "sound_word",    # int32 [W]: the words in that order
    "near",          # uint64: see ``near.near_array``
    "posting_ptr",   # int64 [W+1]
    "posting",       # int32 [P]: bags of each word, ascending
    "bag_weight",    # int32 [B]: sum of its words' weights
    "bag_size",      # int32 [B]: words of its content
    "bag_hashes",    # uint64 [B] ascending: ``bag_hash`` of the contents
    "bag_of_hash",   # int32 [B]
    "entry_ptr",     # int64 [B+1]
    "entry_entity",  # int32 [E]: node
    "entry_text",    # int32 [E]
    "entry_kind",    # uint8 [E]: position in KINDS
    "entry_degree",  # int32 [E]: triples that lead to the entity
)  # fmt: skip
_KINDS: Final = dict.fromkeys(ARRAYS, "int32") | {
    "word_text": "uint8", "word_ptr": "int64", "sounds": "uint64", "near": "uint64", "posting_ptr": "int64",
    "bag_hashes": "uint64", "entry_ptr": "int64", "entry_kind": "uint8",
}  # fmt: skip
_RANGES: Final = {"word_ptr": "word_text", "posting_ptr": "posting", "entry_ptr": "entry_entity"}
_ALIKE: Final = (
    ("word_weight", "sounds", "sound_word"),
    ("bag_weight", "bag_size", "bag_hashes", "bag_of_hash"),
    ("entry_entity", "entry_text", "entry_kind", "entry_degree"),
)
"""Arrays of one length: one value a word, a bag, an entry."""


def bag_hash(sounds: Sequence[int]) -> int:
    """The number that stands for a set of words' sounds, whatever their order."""
    distinct = np.array(sorted(set(sounds)), np.uint64)
    return int(mixed(distinct).sum(dtype=np.uint64))


@dataclass(frozen=True)
class NameIndex:
    """An open name index; arrays as ``ARRAYS`` says."""

    meta: dict[str, Any]
    arrays: dict[str, npt.NDArray[np.generic]]
    texts: pa.LargeStringArray

    @classmethod
    def open(cls, folder: Path) -> NameIndex:
        """Memory-map the index in ``folder``; raises ReleaseError when it is missing, damaged or of another version."""
        try:
            meta = json.loads((folder / META).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ReleaseError(f"No name index in {folder}: {error}.", rebuild(folder)) from error
        if not isinstance(meta, dict) or meta.get("schema") != SCHEMA_VERSION:
            found = meta.get("schema") if isinstance(meta, dict) else None
            raise other_version("The name index", folder, found, [SCHEMA_VERSION])
        arrays = {
            name: np.asarray(open_array(folder, name)) for name in ARRAYS
        }  # mapped still, and read faster
        check_arrays(folder, arrays, _KINDS, _RANGES)
        lengths = [{len(arrays[name]) for name in group} for group in _ALIKE]
        words, bags = len(arrays["word_ptr"]) - 1, len(arrays["entry_ptr"]) - 1
        if (
            lengths[:2] != [{words}, {bags}]
            or len(lengths[2]) != 1
            or len(arrays["posting_ptr"]) != words + 1
        ):
            raise ReleaseError(f"The arrays of the name index in {folder} do not fit.", rebuild(folder))
        return cls(meta, arrays, open_ipc(folder / "texts.arrow", TEXTS).get_batch(0).column("text"))

    @property
    def bags(self) -> int:
        return len(self.bag_size)

    @cached_property
    def stop(self) -> frozenset[str]:
        """The stop words that the index was built with, in Latin letters."""
        return frozenset(self.meta["stop"])

    @cached_property
    def spelling(self) -> NameSpelling:
        return NameSpelling.model_validate(self.meta["spelling"])

    # words

    @cached_property
    def _word_bytes(self) -> tuple[memoryview, Longs]:
        return memoryview(cast(Any, self.arrays["word_text"])), cast(Longs, self.arrays["word_ptr"])

    def word_bytes(self, number: int) -> bytes:
        text, ptr = self._word_bytes
        return bytes(text[ptr[number] : ptr[number + 1]])

    def word(self, number: int) -> str:
        return self.word_bytes(number).decode("utf-8", "replace")

    def spelt(self, numbers: Numbers) -> list[str]:
        """These words."""
        text, ptr = self._word_bytes
        low, high = ptr[numbers].tolist(), ptr[numbers + 1].tolist()
        return [str(text[a:b], "utf-8", "replace") for a, b in zip(low, high, strict=True)]

    def word_length(self, numbers: Numbers | Longs) -> Longs:
        """Bytes of each of these words."""
        ptr = self._word_bytes[1]
        return ptr[numbers + 1] - ptr[numbers]

    @property
    def words(self) -> int:
        return len(self._word_bytes[1]) - 1

    def position(self, word: bytes) -> int:
        """How many words come before ``word``; binary search."""
        return bisect_left(range(self.words), word, key=self.word_bytes)

    def number(self, word: str) -> int | None:
        """The number of a word, or None when no name has it."""
        wanted = word.encode("utf-8", "replace")
        found = self.position(wanted)
        return found if found < self.words and self.word_bytes(found) == wanted else None

    def sounding(self, sound: int) -> Numbers:
        """The words that are spellings of one another, ascending."""
        sounds = cast(Hashes, self.arrays["sounds"])
        low, high = (int(np.searchsorted(sounds, np.uint64(sound), side)) for side in ("left", "right"))
        return np.sort(cast(Numbers, self.arrays["sound_word"])[low:high])

    @cached_property
    def near(self) -> NearWords:
        return NearWords(cast(Hashes, self.arrays["near"]), self.spelling)

    @property
    def weight(self) -> Numbers:
        return cast(Numbers, self.arrays["word_weight"])

    @cached_property
    def posting_ptr(self) -> Longs:
        return cast(Longs, self.arrays["posting_ptr"])

    def count(self, word: int) -> int:
        """How many bags have the word."""
        return int(self.posting_ptr[word + 1] - self.posting_ptr[word])

    def bags_of(self, word: int, end: int | None = None) -> Numbers:
        """Bags of a word, ascending; of all words before ``end``, in the order of words."""
        last = word + 1 if end is None else end
        return cast(Numbers, self.arrays["posting"])[self.posting_ptr[word] : self.posting_ptr[last]]

    # bags

    @property
    def bag_weight(self) -> Numbers:
        return cast(Numbers, self.arrays["bag_weight"])

    @property
    def bag_size(self) -> Numbers:
        return cast(Numbers, self.arrays["bag_size"])

    def bags_with(self, hashes: Hashes) -> Numbers:
        """Bags whose content has one of these hashes, ascending."""
        known = cast(Hashes, self.arrays["bag_hashes"])
        wanted = np.unique(hashes)
        low, high = (np.searchsorted(known, wanted, side).tolist() for side in ("left", "right"))
        parts = [np.arange(a, b) for a, b in zip(low, high, strict=True) if b > a]
        if not parts:
            return np.empty(0, np.int32)
        return np.unique(cast(Numbers, self.arrays["bag_of_hash"])[np.concatenate(parts)])

    # entries

    @property
    def entry_ptr(self) -> Longs:
        return cast(Longs, self.arrays["entry_ptr"])

    def entries(self, bag: int, most: int) -> list[tuple[int, int, How, int]]:
        """(node, text, how, degree) of at most so many names of a bag, the best connected entities first."""
        low = int(self.entry_ptr[bag])
        part = slice(low, min(int(self.entry_ptr[bag + 1]), low + most))
        columns = [
            self.arrays[f"entry_{name}"][part].tolist() for name in ("entity", "text", "kind", "degree")
        ]
        return [
            (entity, text, KINDS[kind], degree) for entity, text, kind, degree in zip(*columns, strict=True)
        ]

    def text(self, number: int) -> str:
        return str(self.texts[number].as_py())

    def prior(self, degree: int) -> float:
        """How well connected an entity is, 0 to 1: ln(1 + triples) as a share of the highest."""
        return float(self.priors(np.array([degree]))[0])

    def priors(self, degrees: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
        """``prior`` of each."""
        most = np.log1p(self.meta["most_connected"])
        return np.log1p(degrees) / most if most else np.zeros(len(degrees))

    def best_degree(self, bags: Numbers) -> Numbers:
        """Triples of the best connected entity of each bag."""
        return cast(Numbers, self.arrays["entry_degree"])[self.entry_ptr[bags]]
