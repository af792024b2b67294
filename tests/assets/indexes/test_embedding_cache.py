from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_assets.indexes.encoder import (
    BATCH,
    HashEncoder,
    VectorCache,
    embed_chunk,
    encode_batches,
    encoder_for,
    key_of,
    lacking,
    open_embedded,
    pending,
    record_type,
    write_embedded,
)
from crmrag_query.artifacts.manifest import entries
from crmrag_query.config.datasets import EmbeddingConfig

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Counting(HashEncoder):
    """The stand-in encoder that notes what it encodes and stops after some texts."""

    seen: list[str] = field(default_factory=list)
    counted: list[str] = field(default_factory=list)
    last: int = 1_000_000

    def count(self, texts: Sequence[str]) -> list[int]:
        self.counted.extend(texts)
        return super().count(texts)

    def encode(self, texts: Sequence[str]) -> Floats:
        if len(self.seen) >= self.last:
            raise KeyboardInterrupt
        self.seen.extend(texts)
        return super().encode(texts)


LONG = "\n".join(["[Thing] Long", *(f"line {n} of many words" for n in range(30))])


def documents(count: int) -> list[tuple[int, str]]:
    return [(n * 3, f"[Thing] Icon {n}\nmade in {1000 + n}") for n in range(count)]


def test_a_stopped_build_repeats_no_finished_embedding(tmp_path: Path) -> None:
    first, second = Counting(last=2 * BATCH), Counting()
    with pytest.raises(KeyboardInterrupt):
        embed_chunk(documents(5 * BATCH), first, tmp_path / "00.bin")
    resumed = embed_chunk(documents(5 * BATCH), second, tmp_path / "00.bin")
    assert len(first.seen) == 2 * BATCH
    assert not set(first.seen) & set(second.seen)
    assert len(resumed.fresh) == 3 * BATCH
    whole = embed_chunk(documents(5 * BATCH), HashEncoder(), tmp_path / "other.bin")
    np.testing.assert_array_equal(resumed.vectors, whole.vectors)
    assert resumed.windows == whole.windows


def test_changed_text_is_encoded_again_and_the_rest_is_not(tmp_path: Path) -> None:
    embed_chunk(documents(10), HashEncoder(), tmp_path / "00.bin")
    changed = documents(10)
    changed[4] = (changed[4][0], "[Thing] Another")
    again = Counting()
    found = embed_chunk(changed, again, tmp_path / "00.bin")
    assert again.seen == ["[Thing] Another"]
    np.testing.assert_array_equal(found.vectors[4], HashEncoder().encode(["[Thing] Another"])[0])


def test_equal_texts_are_encoded_once(tmp_path: Path) -> None:
    encoder = Counting()
    found = embed_chunk([(1, "same"), (2, "same")], encoder, tmp_path / "00.bin")
    assert encoder.seen == ["same"]
    np.testing.assert_array_equal(found.vectors[0], found.vectors[1])


@given(st.integers(0, 3 * record_type(4).itemsize))
def test_a_torn_end_costs_only_the_torn_record(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    path = tmp_path_factory.mktemp("cache") / "00.bin"
    vectors = {hashlib.sha256(bytes([n])).digest(): np.full(4, n, np.float32) for n in range(4)}
    VectorCache.open(path, 4).append(dict(list(vectors.items())[:3]))
    with path.open("r+b") as stream:
        stream.truncate(cut)
    whole = cut // record_type(4).itemsize
    cache = VectorCache.open(path, 4)
    assert list(cache.vectors) == list(vectors)[:whole]
    cache.append(dict(list(vectors.items())[3:]))
    again = VectorCache.open(path, 4).vectors
    assert list(again) == [*list(vectors)[:whole], list(vectors)[3]]
    np.testing.assert_array_equal(again[list(vectors)[3]], np.full(4, 3, np.float32))


def test_a_record_with_a_flipped_bit_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "00.bin"
    embed_chunk(documents(3), HashEncoder(), path)
    raw = bytearray(path.read_bytes())
    raw[record_type(HashEncoder().dimension).itemsize + 40] ^= 1
    path.write_bytes(raw)
    again = Counting()
    found = embed_chunk(documents(3), again, path)
    assert again.seen == [documents(3)[1][1]]
    np.testing.assert_array_equal(found.vectors, HashEncoder().encode([text for _, text in documents(3)]))


def test_known_texts_are_not_cut_again(tmp_path: Path) -> None:
    texts = [*documents(4), (99, LONG)]
    first = embed_chunk(texts, HashEncoder(window=64), tmp_path / "00.bin")
    again = Counting(window=64)
    found = embed_chunk([*texts[1:], (100, "[Thing] New")], again, tmp_path / "00.bin")
    assert again.counted == again.seen == ["[Thing] New"]
    assert found.windows.slice(0, first.windows.num_rows - 1) == first.windows.slice(1)
    wider = embed_chunk(texts, HashEncoder(window=640), tmp_path / "00.bin")
    assert wider.windows.num_rows == 5


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from([*"abcdef"]), max_size=4, unique=True), min_size=1, max_size=4),
    st.sampled_from(["whole", "torn", "flipped", "gone"]),
    st.integers(0, 10_000),
)
def test_changing_texts_end_as_the_last_ones_from_nothing_whatever_befalls_the_caches(
    tmp_path_factory: pytest.TempPathFactory, states: list[list[str]], harm: str, place: int
) -> None:
    root = tmp_path_factory.mktemp("changing")
    encoder = HashEncoder(dimension=4, window=12)
    for number, letters in enumerate(states):
        texts = [
            (n, "\n".join(f"{c} line {i} of it" for i in range(ord(c) - 95))) for n, c in enumerate(letters)
        ]
        found = embed_chunk(texts, encoder, root / "00.bin")
        fresh = embed_chunk(texts, encoder, root / f"fresh{number}.bin")
        np.testing.assert_array_equal(found.vectors, fresh.vectors)
        assert found.windows == fresh.windows
        (cuts,) = root.glob("00-*.cuts")
        injure(cuts, harm, place)


def injure(path: Path, harm: str, place: int) -> None:
    raw = bytearray(path.read_bytes())
    if harm == "gone" or not raw:
        path.unlink()
    elif harm == "torn":
        path.write_bytes(raw[: place % len(raw)])
    elif harm == "flipped":
        raw[place % len(raw)] ^= 1
        path.write_bytes(raw)


def test_long_documents_have_several_rows_and_rows_say_whose_they_are(tmp_path: Path) -> None:
    found = embed_chunk([(8, LONG), (9, "[Thing] Short")], HashEncoder(window=64), tmp_path / "00.bin")
    assert found.windows.column("number").to_pylist() == [8] * (found.windows.num_rows - 1) + [9]
    assert found.windows.column("window").to_pylist() == [*range(found.windows.num_rows - 1), 0]
    assert found.windows.num_rows > 2
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-6)


def test_files_do_not_hold_the_numbers_of_entities(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for shift, folder in enumerate(folders):
        folder.mkdir()
        moved = [(entity + 100 * shift, text) for entity, text in [*documents(3), (99, LONG)]]
        write_embedded(folder, embed_chunk(moved, HashEncoder(window=64), tmp_path / f"{folder.name}.bin"))
    assert entries(folders[0]) == entries(folders[1])
    read = open_embedded(folders[0], np.arange(50, 54, dtype=np.int32))
    assert read.windows.column("number").to_pylist()[:4] == [50, 51, 52, 53]
    assert len(read.vectors) == read.windows.num_rows > 4


def test_a_chunk_without_documents_has_no_rows(tmp_path: Path) -> None:
    found = embed_chunk([], HashEncoder(), tmp_path / "00.bin")
    write_embedded(tmp_path, found)
    assert open_embedded(tmp_path, np.empty(0, np.int32)).vectors.shape == (0, HashEncoder().dimension)


def test_keys_tell_models_and_settings_apart(tmp_path: Path) -> None:
    configs = [
        EmbeddingConfig(model="hash"),
        EmbeddingConfig(model="hash", dimension=64),
        EmbeddingConfig(model="openai/x", provider="litellm"),
        EmbeddingConfig(model="openai/x", provider="litellm", dimension=64),
        EmbeddingConfig(model="openai/x", provider="litellm", document_prefix="passage: "),
    ]
    keys = [encoder_for(config, tmp_path).key for config in configs]
    assert len(set(keys)) == len(keys)
    assert all(key.replace("-", "").isalnum() for key in keys)


def test_what_two_processes_append_is_kept_whole_and_a_torn_end_puts_nothing_out_of_step(
    tmp_path: Path,
) -> None:
    """Builds of other data sets, and `embed` beside a build, use the same file."""
    path, encoder = tmp_path / "00.bin", HashEncoder()
    caches = [VectorCache.open(path, encoder.dimension) for _ in range(2)]
    texts = [f"icon {n}" for n in range(6)]
    keyed = {key_of(text): vector for text, vector in zip(texts, encoder.encode(texts), strict=True)}
    for number, (key, vector) in enumerate(keyed.items()):
        caches[number % 2].append({key: vector})
        with path.open("ab") as stream:
            stream.write(b"killed in the midst")
    found = VectorCache.open(path, encoder.dimension).vectors
    assert found.keys() == keyed.keys()
    assert all(np.array_equal(found[key], vector) for key, vector in keyed.items())


def test_what_lacks_a_vector_is_what_is_then_encoded(tmp_path: Path) -> None:
    encoder, path = Counting(window=64), tmp_path / "00.bin"
    known, new = ["[Thing] Short", LONG], ["[Thing] New", LONG + "\nand another line"]
    texts = [*known, *new]
    keys = [hashlib.sha256(text.encode()).digest() for text in texts]
    assert lacking(keys, texts, encoder, path) == [True] * 4 and not encoder.counted
    _, cache, lacks = pending(known, encoder, path)
    list(encode_batches(lacks, encoder, cache))
    assert lacking(keys, texts, encoder, path) == [False, False, True, True]
    before, (_, cache, lacks) = len(encoder.seen), pending(texts, encoder, path)
    batches = list(encode_batches(lacks, encoder, cache))
    assert [text for windows, _ in batches for text in windows] == encoder.seen[before:]
    assert batches[-1][1] == 1.0 and not any(lacking(keys, texts, encoder, path))
    moved = tmp_path / "80.bin"  # as when a data set grows to more chunks
    assert not any(lacking(keys, texts, encoder, moved, [path]))
