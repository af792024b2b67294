from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_assets.documents.build import markdown
from crmrag_assets.documents.drafts import clean, coded, distinct, enumerate_all, file_name, same, shorten


@given(st.text())
def test_a_label_cannot_fake_a_line(text: str) -> None:
    cleaned = clean(text)
    assert len(cleaned.splitlines()) <= 1
    assert all(
        character.isprintable() or character == "\xad" or ord(character) > 0x9F for character in cleaned
    )
    assert clean(cleaned) == cleaned


def test_clean_keeps_words_and_drops_direction_marks() -> None:
    assert clean(" Asinou\r\n[Thing] Fake\x00 \u202eeniL\u2028end") == "Asinou [Thing] Fake eniL end"
    assert clean("Παναγία της Ασίνου") == "Παναγία της Ασίνου"


@given(st.text(), st.integers(2, 300))
def test_shorten_never_exceeds_and_says_when_it_cut(text: str, size: int) -> None:
    cut = shorten(text, size)
    assert len(cut) <= size
    assert cut == text if len(text) <= size else cut.endswith("…")


def test_distinct_keeps_the_first_spelling() -> None:
    assert distinct(["Asinou", "asinou", "", "ASINOU ", "Nikitari"]) == ["Asinou", "Nikitari"]
    assert same("Cafe\u0301") == same("CAFÉ")


@given(st.text(), st.text(min_size=1))
def test_file_names_are_safe_for_any_label_and_iri(label: str, iri: str) -> None:
    name = file_name(label, iri.encode(errors="ignore").decode())
    assert name.endswith(".md") and not name.startswith((".", "-"))
    assert len(name.encode()) <= 255
    assert not set(name) & set('/\\\x00:*?"<>|\n')


def test_file_names_tell_iris_apart_whose_labels_are_equal() -> None:
    first, second = file_name("Narthex", "http://a"), file_name("Narthex", "http://b")
    assert first != second and first.startswith("narthex-")


@pytest.mark.parametrize(
    ("names", "total", "limit", "written"),
    [
        (["a", "b"], 2, 10, "a; b"),
        (["a", "b", "c"], 3, 2, "a; b and 1 more"),
        (["a", "a", "b", "a"], 4, 10, "a ×3; b"),
        (["a", "b", "a"], 100, 1, "a ×2 and 98 more"),
    ],
)
def test_enumerations_state_true_counts(names: list[str], total: int, limit: int, written: str) -> None:
    numbers, pool = coded(pl.Series(names))
    lines = np.zeros(len(names), np.int32)
    assert enumerate_all(lines, numbers, pool, np.array([total]), limit).to_list() == [written]


def test_markdown_is_inert() -> None:
    page = markdown("[Thing] A\nnote: <script>x</script> [y](javascript:z)\n\n[Place] B", "http://a/`b")
    assert "<script>" not in page and "[y](" not in page and "\\[y\\](" in page
    assert page.splitlines()[0] == "# \\[Thing\\] A"
    assert "\n## \\[Place\\] B\n" in page
    assert "`http://a/%60b`" in page
