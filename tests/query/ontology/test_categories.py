"""Fundamental Categories: the listed classes, inheritance, priority, and characters who are Actors too."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.ontology.load import Category, load_categories, load_ontology, take_apart

ONTOLOGY, CATEGORIES = load_ontology(), load_categories()
PRIORITY = [Category.Actor, Category.Event, Category.Place, Category.Concept, Category.Time, Category.Thing]
CLASSES = st.sampled_from(sorted(ONTOLOGY.classes))


def test_every_listed_class_has_its_category(shared_data: Path) -> None:
    rows = list(
        csv.DictReader((shared_data.parent / "facts" / "fc_classes.csv").read_text("utf-8").splitlines())
    )
    assert len(rows) == 168
    for row in rows:
        spelling = take_apart(row["class"])
        assert spelling is not None
        assert CATEGORIES.of([spelling.code]) == Category[row["fc"]]


@pytest.mark.parametrize(
    ("codes", "category"),
    [
        (["E22"], Category.Thing),
        (["E22", "E21"], Category.Actor),
        (["E53", "E5"], Category.Event),
        (["E55", "E22"], Category.Concept),
        (["E52", "E22"], Category.Time),
        (["IC16", "F38"], Category.Thing),
        (["AP5"], None),
        (["A1"], Category.Event),
        (["linked_art:Set"], Category.Thing),
        (["E1"], None),
        (["PC14"], None),
        ([], None),
    ],
)
def test_category(codes: list[str], category: Category | None) -> None:
    assert CATEGORIES.of(codes) == category


def test_characters_may_be_asked_for_as_actors() -> None:
    assert CATEGORIES.all_of(["IC16"]) == Category.Thing | Category.Actor
    assert CATEGORIES.all_of(["IC11"]) == Category.Thing | Category.Actor  # personifications are characters
    assert CATEGORIES.all_of(["E22"]) == Category.Thing
    assert CATEGORIES.all_of(["E1"]) == 0


@given(st.lists(CLASSES, max_size=5))
def test_priority_decides_and_order_does_not(codes: list[str]) -> None:
    single = {CATEGORIES.of([code]) for code in codes} - {None}
    assert CATEGORIES.of(codes) == next((category for category in PRIORITY if category in single), None)
    assert CATEGORIES.of(codes) == CATEGORIES.of(reversed(codes))


@given(st.lists(CLASSES, min_size=1, max_size=5))
def test_the_mask_holds_the_category(codes: list[str]) -> None:
    category = CATEGORIES.of(codes)
    assert category is None or category in CATEGORIES.all_of(codes)


def test_the_bits_are_those_of_the_stored_arrays() -> None:
    assert [int(category) for category in Category] == [1, 2, 4, 8, 16, 32]
