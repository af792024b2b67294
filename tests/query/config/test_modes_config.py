"""`modes.yaml`: what ships, what a project adds, and how mistakes in it are told."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.config.loading import load_modes
from crmrag_query.config.reading import default_folder
from crmrag_query.errors import ConfigError
from crmrag_query.retrieval.channels import known_modes
from tests.support.modes import CRM, SHIPPED, STAGES


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


def test_modes_that_ship_have_a_title_in_every_language_of_the_page() -> None:
    for mode in load_modes(default_folder()).values():
        assert {*mode.title} == {"en", "de", "el", "fr", "it", "es"}, mode.name


def test_a_projects_modes_follow_ours_and_may_take_their_place(tmp_path: Path) -> None:
    words = "{title: {en: Words}, channels: [sparse], plans: never}"
    found = load_modes(own(tmp_path, f"modes:\n  words: {words}\n  vector: {words}\n"))
    assert [*found] == [*SHIPPED, "words"]
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


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (
            "{title: {en: X}, channels: [dense, dated], plans: never, thresholds: {dated: 0.5}}",
            r"modes\.mine\.thresholds\.dated: the ties of all channels make one ranking.*0\.5.*thresholds: {tied: 0\.5}",
        ),
        (
            "{title: {en: X}, channels: [dense, tied], plans: never, thresholds: {sparse: 1}}",
            r"modes\.mine\.thresholds\.sparse: a threshold of a channel that the mode does not.*It can have.* dense, tied\.",
        ),
        (
            "{title: {en: X}, channels: [dense], plans: never, thresholds: {tied: 1}}",
            r"modes\.mine\.thresholds\.tied: a threshold of a channel that the mode does not.*of: dense\.",
        ),
        (
            "{title: {en: X}, channels: [], plans: only, thresholds: {dense: 1}}",
            r"thresholds\.dense.*Remove it",
        ),
    ],
)
def test_a_threshold_that_nothing_is_measured_by_is_refused(tmp_path: Path, entry: str, said: str) -> None:
    with pytest.raises(ConfigError, match=rf"modes\.yaml(.|\n)*{said}"):
        known_modes(own(tmp_path, f"modes:\n  mine: {entry}\n"))


@pytest.mark.parametrize("channels", ["[dated]", "[dense, tied, dated]"])
def test_ties_have_the_threshold_of_their_one_ranking(tmp_path: Path, channels: str) -> None:
    text = f"modes:\n  mine: {{title: {{en: X}}, channels: {channels}, plans: never, thresholds: {{tied: 0.5}}}}\n"
    assert known_modes(own(tmp_path, text))["mine"].thresholds == {"tied": 0.5}


PUBLISHED = {
    "VECTOR_SEARCH_TOP_K": ("found", 5, "7", 7),
    "CHAT_SEARCH_KWARG_SCORE_THRESHOLD": ("similarity", 0.5, "0.65", 0.65),
    "MAX_SEARCH_DOCUMENTS": ("documents", 20, "12", 12),
    "EFFECTIVE_SEARCH_RATIO": ("pool", 1, "2.5", 2.5),
    "COMMUNITY_SEARCH_LEVELS": ("community_levels", 3, "1", 1),
    "CHAT_EMBEDDING_FILTER_SCORE_THRESHOLD": ("passages", 0.1, "0", 0),
}
"""Environment variables as they were published: the limit, its default, and another value as text and number."""


@pytest.mark.parametrize("variable", PUBLISHED)
def test_limits_have_the_published_defaults_and_variables_take_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    name, default, text, value = PUBLISHED[variable]
    for other in PUBLISHED:
        monkeypatch.delenv(other, raising=False)
    folder = own(tmp_path, "modes: {}\n")
    assert {getattr(mode.limits, name) for mode in load_modes(folder).values()} == {default}
    shipped = yaml.safe_load((default_folder() / "modes.yaml").read_text(encoding="utf-8"))
    assert shipped["limits"][name] == default
    own(tmp_path, f"limits: {{{name}: {value}}}\n")
    assert {getattr(mode.limits, name) for mode in load_modes(folder).values()} == {value}
    own(tmp_path, "modes: {}\n")
    monkeypatch.setenv(variable, text)
    assert {getattr(mode.limits, name) for mode in load_modes(folder).values()} == {value}
    monkeypatch.setenv(variable, "many")
    with pytest.raises(ConfigError, match=rf"{variable}(.|\n)*many.*limits\.{name}"):
        load_modes(folder)


FLAGS = {  # of document 004: by vectors, by words, along the graph, by themes
    "vector": (True, False, False, False),
    "fulltext": (
        False,
        True,
        False,
        False,
    ),  # there beside vectors; here alone, so that a release without any has it
    "entity_vector": (True, False, True, True),
    "graph_vector": (True, False, True, False),
    "graph_vector_fulltext": (True, True, True, False),
    "global_vector": (False, False, False, True),
}


@pytest.mark.parametrize("name", FLAGS)
def test_the_published_modes_find_documents_in_the_published_ways(name: str) -> None:
    mode = load_modes(default_folder())[name]
    found = (
        mode.has("dense") or mode.has("entities"),
        mode.has("sparse"),
        mode.has("reached"),
        mode.has("communities") or mode.has("themes"),
    )
    assert (found, mode.plans) == (FLAGS[name], "never")
