"""`modes.yaml`: what ships, what a project adds, and how mistakes in it are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.config.modes import load_modes
from crmrag_query.config.reading import default_folder
from crmrag_query.errors import ConfigError
from tests.support.modes import CRM, STAGES


def own(folder: Path, text: str) -> Path:
    (folder / "modes.yaml").write_text(text, encoding="utf-8")
    return folder


def test_the_first_mode_is_crm_then_vector_and_fulltext() -> None:
    found = load_modes(default_folder())
    assert [*found][:3] == ["crm", "vector", "fulltext"]
    assert all(mode.name == name for name, mode in found.items())
    assert (found["vector"].channels, found["vector"].plans) == (("dense",), "never")
    assert (found["fulltext"].channels, found["fulltext"].plans) == (("sparse",), "never")
    assert found["crm"].plans == "first"


def test_a_projects_modes_follow_ours_and_may_take_their_place(tmp_path: Path) -> None:
    words = "{title: {en: Words}, channels: [sparse], plans: never}"
    found = load_modes(own(tmp_path, f"modes:\n  words: {words}\n  vector: {words}\n"))
    assert [*found] == ["crm", "vector", "fulltext", "global_vector", "graph", "agent", "words"]
    assert found["vector"].channels == found["words"].channels == ("sparse",)
    assert found["crm"] == CRM


def test_without_a_file_of_its_own_a_project_has_ours(tmp_path: Path) -> None:
    assert load_modes(tmp_path) == load_modes(default_folder())


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("{title: {en: X}, channels: [dense], plans: never, chanels: []}", "Did you mean channels"),
        ("{title: {en: X}, channels: [dense], plans: sometimes}", "'first', 'only' or 'never'"),
        ("{title: {en: X}, channels: [dense], plans: never, expansion: [rerank]}", "expansion"),
        ("{title: {de: X}, channels: [dense], plans: never}", "no English"),
        ("{title: {en: X}, channels: [dense], plans: only}", "channels: \\[\\]"),
        ("{title: {en: X}, channels: [dense], plans: never, thresholds: {sparse: 1}}", "sparse"),
        ("{channels: [dense], plans: never}", "title: required"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, entry: str, said: str) -> None:
    with pytest.raises(ConfigError, match=rf"modes\.mine.*{said}"):
        load_modes(own(tmp_path, f"modes:\n  mine: {entry}\n"))


@given(st.sampled_from(STAGES), st.sets(st.sampled_from(STAGES)))
def test_switching_a_stage_changes_that_one_and_twice_nothing(stage: str, others: set[str]) -> None:
    mode = CRM.only(*sorted(others))
    turned = mode.switched(stage)
    assert {one for one in STAGES if turned.has(one) != mode.has(one)} == {stage}
    back = turned.switched(stage)
    assert (set(back.channels), back.expansion) == (set(mode.channels), mode.expansion)
    assert (turned.name, turned.plans) == (mode.name, mode.plans)
