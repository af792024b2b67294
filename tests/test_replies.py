"""Recordings of models' replies are whole, and are replayed as they were meant."""

from __future__ import annotations

import importlib.util
import json
import random
import sys
from pathlib import Path
from types import ModuleType

import pytest

from crmrag_query.config.loading import load_method
from tests.conftest import ROOT

FILES = sorted((ROOT / "benchmarks" / "replies").glob("*.jsonl"))
FREE = {"excavation", "letters", "coins", "theatre", "ethno", "instruments", "sample"}
"""Data sets whose licence allows their texts here."""


@pytest.fixture(scope="module")
def replies() -> ModuleType:
    spec = importlib.util.spec_from_file_location("replies", ROOT / "benchmarks" / "replies.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.name))
def test_every_recording_is_whole(path: Path) -> None:
    version = load_method().prompts.version
    for line in path.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        assert one["dataset"] in FREE and 1 <= one["version"] <= version and len(one["replies"]) >= 2
        assert one["requests"][-1]["stage"] == "answer" and one["question"] in one["requests"][-1]["user"]
        for style, parts in one.get("false", {}).items():
            assert all(part in one["replies"][style] for part in parts)


def test_a_citation_follows_its_source_to_its_number_of_today(replies: ModuleType) -> None:
    before = '<set>\n[1] Bell — 1520\n[2] Bell — 1740\n</set>\n<source n="3">\n[Place] Arvona — Place\nhas: Bell\n</source>'
    now = '<set>\n[1] Bell — 1740; made of: bronze\n[2] Bell — 1520\n</set>\n<source n="7">[Place] Arvona — Place</source>'
    moved = replies.moved("The first [1]. The second [2, set]. Arvona [3]. Else [4].", before, now)
    assert moved == f"The first [2]. The second [set, 1]. Arvona [7]. Else [{replies.UNKNOWN}]."


@pytest.mark.parametrize(
    ("old", "kind"), [("Jan Moer", "name"), ("WK 0130", "number"), ("12.5", "number"), ("1520–1530", "year")]
)
def test_what_is_planted_is_another(replies: ModuleType, old: str, kind: str) -> None:
    chance = random.Random(1)
    for _ in range(50):
        new = replies.replaced(old, kind, chance)
        assert new != old and len(new.split()) == len(old.split())
    assert replies.replaced(old, kind, random.Random(7)) == replies.replaced(old, kind, random.Random(7))
