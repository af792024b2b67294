"""How well diagrams on pages are read is measured against their exact ground truth."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.extraction import DIAGRAM, Drawing, Score, baseline, by_model, table, truth
from crmrag_assets.sources.pages.extract import Extractor
from crmrag_assets.sources.pages.render import render
from crmrag_query.config.loading import ExtractionPart, Profile, load_method
from crmrag_query.config.sources import PagesConfig
from crmrag_query.llm.model import LiteLLM
from crmrag_query.llm.pool import ModelPool
from tests.support.pdf import pdf
from tests.support.regulation import scripted

DOT = """digraph n0 {
label="shown.csv"
n2[style="filled",label="E22_Man-Made_Object1"];
n3[shape="plaintext",label="Title"];
n4[shape="plaintext",label="Title"];
}
n2 -> n3[color="brown",label="P102_has_title"]
n2 -> n4[color="brown",label="label"]
"""


def test_the_truth_is_what_the_file_draws(tmp_path: Path) -> None:
    (tmp_path / "shown.dot").write_text(DOT, encoding="utf-8")
    drawn = truth(tmp_path / "shown.dot")
    assert drawn.nodes == Counter({"E22_Man-Made_Object1": 1, "Title": 2})
    assert drawn.edges == Counter(
        {("E22_Man-Made_Object1", edge, "Title"): 1 for edge in ("P102_has_title", "label")}
    )


def test_scores_count_each_thing_as_often_as_it_is_drawn() -> None:
    score = Score().add(Counter("aab"), Counter("abbc"))
    assert (score.hits, score.found, score.there) == (2, 3, 4) and score.f1 == pytest.approx(4 / 7)
    assert Score().f1 == 0


def test_a_model_that_reads_all_of_a_drawing_scores_one(tmp_path: Path) -> None:
    (tmp_path / "shown.pdf").write_bytes(pdf("E22_Man-Made_Object1\nP102_has_title\nTitle"))
    reply = {
        "entities": [
            {"name": "E22_Man-Made_Object1", "type": "CLASS", "description": ""},
            {"name": "Title", "type": "COLUMN", "description": ""},
        ],
        "relationships": [
            {
                "source": "E22_Man-Made_Object1",
                "target": "Title",
                "type": "ARROW",
                "description": "P102_has_title",
            }
        ],
    }
    part = ExtractionPart(
        version=1,
        prompt=load_method().extraction.prompt,
        profiles={"diagram": Profile.model_validate(DIAGRAM)},
    )
    with scripted(json.dumps(reply)) as script:
        pool = ModelPool(LiteLLM("openai/scripted", script.address), workers=1, seconds=120)
        read = by_model(tmp_path / "shown.pdf", Extractor(pool, part, "diagram"), tmp_path / "cache")
    there = Drawing(
        Counter(["E22_Man-Made_Object1", "Title"]),
        Counter([("E22_Man-Made_Object1", "P102_has_title", "Title")]),
    )
    rows = table({"shown": read}, {"shown": there})
    assert [(row["node F1"], row["edge F1"]) for row in rows] == [(1.0, 1.0)] * 2


def test_the_text_layer_alone_gives_the_nodes_of_all_diagrams(shared_data: Path) -> None:
    files = sorted((shared_data / "pages" / "saam").glob("*.dot"))
    there = {file.stem: truth(file) for file in files}
    rows = table({file.stem: baseline(file.with_suffix(".pdf")) for file in files}, there)
    assert len(rows) == 13 and rows[-1]["node F1"] >= 0.9
    assert (rows[-1]["nodes"], rows[-1]["edges"]) == (239, 228), "as they were counted otherwise"


def test_a_diagram_is_rendered_at_150_dpi(shared_data: Path, tmp_path: Path) -> None:
    file = shared_data / "pages" / "saam" / "WebConDatesDeath.pdf"
    (page,) = render(file.name, file, PagesConfig(files=(file.name,)), tmp_path).pages
    assert (page.width, page.height) == (1130, 955), "its size in points times 150 / 72"
