"""Documents that are taken over from what was written before are those that writing all anew gives, byte for byte."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmrag_assets.documents import chunk
from crmrag_assets.documents.chunk import ChunkDocuments, build_chunk
from crmrag_assets.documents.identity import Described
from crmrag_assets.documents.origins import Known
from crmrag_assets.documents.setting import Setting
from tests.assets.documents.made import BASE, all_nodes, setting_of
from tests.assets.documents.test_document_text import CHURCH, MADE, PAINTED
from tests.support.graphs import read_quads

MORE = """
:icon a vir:IC9_Representation ; rdfs:label "Icon" ; vir:K17_has_attribute :halo ; vir:K24_portray :mary .
:halo a vir:IC10_Attribute ; rdfs:label "halo" . :mary a vir:IC16_Character ; rdfs:label "Mary" .
:wall a crm:E22_Human-Made_Object ; rdfs:label "Wall" ; vir:K1i_is_denoted_by :icon ; crm:P46i_forms_part_of :asinou .
:text a crm:E33_Linguistic_Object ; crm:P190_has_symbolic_content "A church in the Troodos" ; crm:P67_refers_to :asinou .
:nikitari crm:P89_falls_within :cyprus . :cyprus a crm:E53_Place ; rdfs:label "Cyprus"@en , "Κύπρος"@el .
:birth a crm:E67_Birth ; crm:P98_brought_into_life :nikephoros ; crm:P4_has_time-span :born ; crm:P7_took_place_at :cyprus .
:born a crm:E52_Time-Span ; crm:P82_at_some_time_within "1060" .
"""
Lines = frozenset[str]


def world() -> Lines:
    """Two of everything, the one below `copy/`: so no change of the first takes a class or property from the data."""
    quads = [f"{quad.triple} ." for quad in read_quads(CHURCH + PAINTED + MADE + MORE)]
    return frozenset([*quads, *(line.replace(f"<{BASE}", f"<{BASE}copy/") for line in quads)])


def changed(state: Lines, seed: int) -> Lines:
    """The state after some changes, at places drawn by the seed: triples go, come, lead elsewhere or read otherwise."""
    draw = random.Random(seed)
    for _ in range(draw.randint(1, 3)):
        lines = sorted(line for line in state if f"<{BASE}copy/" not in line)
        line, other = draw.choice(lines), draw.choice(lines)
        subject, rest = line.split(" ", 1)
        match draw.randint(0, 4):
            case 0:
                state -= {line}
            case 1:
                state |= {f"{other.split(' ', 1)[0]} {rest}"}
            case 2:
                state = state - {line} | {f"{other.split(' ', 1)[0]} {rest}"}
            case 3 if '"' in line:
                state = state - {line} | {line.replace(' "', ' "Another ', 1)}
            case _:
                state = frozenset(one for one in state if subject not in one.split(" "))
    return state


def made(state: Lines, folder: Path) -> Setting:
    folder.mkdir()
    return setting_of("\n".join(sorted(state)), folder)


def saved(documents: ChunkDocuments, setting: Setting, folder: Path) -> dict[str, bytes]:
    folder.mkdir()
    documents.save(folder, setting.numbering)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The IRIs of what is written from now on, not taken over."""
    found, inner = list[str](), chunk._drafts

    def listen(about: Described) -> object:
        found.extend(about.graph.iri(node) for node in about.entities.tolist())
        return inner(about)

    monkeypatch.setattr(chunk, "_drafts", listen)
    return found


def again(setting: Setting, folders: Sequence[Path]) -> ChunkDocuments:
    return build_chunk(
        setting, all_nodes(setting.graph), [Known.open(one, setting.numbering) for one in folders]
    )


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 1 << 32))
def test_after_any_change_all_bytes_are_those_of_a_fresh_start(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("origins")
    first = made(world(), folder / "first")
    saved(build_chunk(first, all_nodes(first.graph)), first, folder / "before")
    second = made(changed(world(), seed), folder / "second")
    fresh = saved(build_chunk(second, all_nodes(second.graph)), second, folder / "fresh")
    assert saved(again(second, [folder / "before"]), second, folder / "again") == fresh


def test_only_what_a_change_reaches_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = made(world(), tmp_path / "first")
    whole = saved(build_chunk(first, all_nodes(first.graph)), first, tmp_path / "before")
    found = written(monkeypatch)
    assert saved(again(first, [tmp_path / "before"]), first, tmp_path / "same") == whole
    assert found == []
    renamed = {
        line if f"<{BASE}copy/" in line else line.replace('"Theodore"', '"Theophanes"') for line in world()
    }
    second = made(frozenset(renamed), tmp_path / "second")
    again(second, [tmp_path / "before"])
    assert f"{BASE}theodore" in found and f"{BASE}painting" in found  # who it is, and where he is told
    assert f"{BASE}asinou" not in found and f"{BASE}copy/asinou" not in found
