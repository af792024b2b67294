"""From a data set's entity graph to an aligner in its release: questions of the data's words, the same each time, split by
entity; commands for each step.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from crmrag_assets.build.step import BuildContext, run_step
from crmrag_assets.cli.partitions import LOSSES, MODELS, partitions
from crmrag_assets.graph_partitions.evaluate import Worded
from crmrag_assets.opened import documents_of
from crmrag_assets.quality.checks import parts_within_limit
from crmrag_assets.steps.registry import STEPS
from crmrag_query.artifacts.release import open_release
from crmrag_query.documents.documents import Documents
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.graph_partitions import Aligner, GraphPartitions, PartitionEdges
from crmrag_query.retrieval.dense import DenseIndex
from crmrag_query.retrieval.encoder import QueryEncoder
from tests.support.builds import Project, build_all, contents, make_project, turtle, with_small_parts

LINKS = 400
HALVES = {"inside": 0.5, "across": 0.5}


def linked(root: Path) -> Project:
    """A graph of pages that link to each other, in rings of ten that hardly touch."""
    root.mkdir()
    lines = ["source,target"]
    for page in range(LINKS):
        ring, place = divmod(page, 10)
        lines += [f"page {page},page {10 * ring + (place + step) % 10}" for step in (1, 2)]
    lines += [f"page {10 * ring},page {10 * ring + 10}" for ring in range(LINKS // 10 - 1)]
    lines += [f"page {10 * ring + 5},page {10 * ring + 25}" for ring in range(LINKS // 10 - 2)]
    (root / "links.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    told = [
        {"id": f"page {page}", "text": f"It tells of subject {page // 10}. " * 25} for page in range(LINKS)
    ]
    (root / "pages.jsonl").write_text("\n".join(map(json.dumps, told)) + "\n", encoding="utf-8")
    source = {"edges": str(root / "links.csv"), "nodes": str(root / "pages.jsonl")}
    return make_project(root / "p", sources=[{"graph": source}], write_markdown=False)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> BuildContext:
    context = with_small_parts(linked(tmp_path_factory.mktemp("pages") / "r").context(), 10, 400)
    build_all(context)
    return context


@pytest.fixture(scope="module")
def museum(tmp_path_factory: pytest.TempPathFactory) -> BuildContext:
    context = with_small_parts(make_project(tmp_path_factory.mktemp("museum") / "p", turtle(40)).context(), 6)
    build_all(context)
    return context


def questions(context: BuildContext) -> list[dict[str, Any]]:
    return pq.read_table(context.folder("training_questions") / "questions.parquet").to_pylist()


def test_questions_are_as_many_as_were_asked_for_half_inside_a_part_half_across(pages: BuildContext) -> None:
    found = Counter((one["split"], one["kind"]) for one in questions(pages))
    assert found == {
        (split, kind): count // 2
        for split, count in (("train", 400), ("validation", 40), ("seen", 40), ("unseen", 40))
        for kind in HALVES
    }


def test_no_entity_that_is_tested_as_unseen_was_trained_with(
    pages: BuildContext, museum: BuildContext
) -> None:
    for context in (pages, museum):
        of = {split: set[int]() for split in ("train", "validation", "seen", "unseen")}
        for one in questions(context):
            of[one["split"]].update(one["entities"])
        assert not of["unseen"] & (of["train"] | of["validation"]) and not of["validation"] & of["train"]
        texts = {
            split: {one["question"] for one in questions(context) if one["split"] == split} for split in of
        }
        assert not texts["seen"] & texts["train"] and texts["seen"]


def test_the_parts_of_a_question_are_those_of_what_it_names_and_of_a_way_between(pages: BuildContext) -> None:
    found = GraphPartitions.open(pages.folder("graph_partitions"))
    edges = PartitionEdges.open(pages.folder("partition_edges"))
    documents = documents_of(pages)
    joined = {frozenset(pair) for pair in zip(edges.low.tolist(), edges.high.tolist(), strict=True)}
    for one in questions(pages):
        parts, own = set(one["parts"]), {int(found.part[entity]) for entity in one["entities"]}
        assert own <= parts
        assert all(documents.label(entity) in one["question"] for entity in one["entities"])
        if one["kind"] == "inside":
            assert parts == own and len(parts) == 1
            continue
        assert 2 <= len(parts) <= 5
        reached, grown = {min(parts)}, True
        while grown:
            more = {part for part in parts for other in reached if frozenset((part, other)) in joined}
            grown, reached = not more <= reached, reached | more
        assert reached == parts, "the walk leads from part to part"


def test_questions_about_a_museum_are_worded_as_its_relations_are(museum: BuildContext) -> None:
    documents = documents_of(museum)
    worded = Worded.of(documents, EntityGraph.open(museum.folder("entity_graph")))
    for document in range(documents.count):
        here = slice(int(worded.ptr[document]), int(worded.ptr[document + 1]))
        told = {
            (line.label, documents.document_of(target))
            for line in documents.lines(document)
            for target in line.targets
        }
        for target, label in zip(worded.target[here].tolist(), worded.label[here].tolist(), strict=True):
            assert (worded.labels[label], target) in told
    related = [one for one in questions(museum) if len(one["entities"]) > 1]
    assert related
    for one in related:
        named, asked = one["entities"]
        assert documents.label(named) in one["question"] and documents.label(asked) not in one["question"]


def test_the_release_has_what_a_question_is_sent_to_parts_by(pages: BuildContext) -> None:
    release = open_release(pages.name, pages.data)
    found, aligner, dense = release[GraphPartitions], release[Aligner], release[DenseIndex]
    documents = np.arange(release[Documents].count, dtype=np.int32)
    assert np.array_equal(np.sort(found.member), documents) and found.sizes.max() <= 10
    for part in range(len(found)):
        mean = dense.vectors(found.members(part)).mean(axis=0)
        assert np.allclose(found.centroid[part], mean / np.linalg.norm(mean), atol=1e-5)
    scores = aligner.scores(release[QueryEncoder].of_question("Tell me about page 17"))
    assert scores.shape == (len(found),) and len(found.best(scores, 3)) == 3
    assert (
        not (release.folder / "training_questions").exists()
        and not (release.folder / "alignment_evaluation").exists()
    )


def test_how_it_was_cut_is_told_beside_controls_and_drawn(pages: BuildContext) -> None:
    stats = pages.finished("graph_partitions").stats
    assert [row["cut_by"] for row in stats["samples"]["cuts"]] == [
        "metis", "Leiden, without a limit", "by chance", "k-means",
    ]  # fmt: skip
    assert {
        "islands",
        "giants",
        "cut",
        "coherence",
        "lift",
        "modularity",
        "in_pieces",
        "hubs",
    } <= stats.keys()
    assert sum(count for _, count in stats["histograms"]["coherence_of_parts"]) == stats["parts"]


def test_a_second_build_has_the_same_bytes(pages: BuildContext, tmp_path: Path) -> None:
    again = replace(pages, data=tmp_path)
    build_all(again)
    for artifact in (
        "graph_partitions",
        "partition_edges",
        "training_questions",
        "alignment_model",
        "alignment_evaluation",
    ):
        first, second = (contents(context.folder(artifact)) for context in (pages, again))
        assert {name: sha for name, sha in first.items() if "record" not in name} == {
            name: sha for name, sha in second.items() if "record" not in name
        }, artifact


def test_what_an_aligner_is_worth_is_told_beside_simpler_ways(pages: BuildContext) -> None:
    stats = pages.finished("alignment_evaluation").stats
    systems = {row["system"] for row in stats["samples"]["systems"]}
    assert {"aligner", "nearest centroid", "votes of 50 nearest", "votes of 50 by words"} <= systems
    assert {"aligner and votes", "aligner and votes by words", "by chance"} <= systems
    whole, *others = stats["samples"]["end_to_end"]
    texts = documents_of(pages).texts
    assert whole["texts scored"] == len(texts) == 2 * LINKS, "with a passage each"
    scored = {(one["system"], one["parts"]): one["texts scored"] for one in others}
    assert scored["aligner", "3"] <= 60
    assert scored["votes of 50 nearest", "3"] > len(texts), "votes are found among all"
    results = json.loads((pages.folder("alignment_evaluation") / "evaluation.json").read_text())
    for one in results["systems"]:
        for mean, low, high in one["measures"].values():
            assert 0 <= low <= mean <= high <= 1
    chance = next(
        one
        for one in results["systems"]
        if (one["system"], one["split"], one["kind"]) == ("by chance", "unseen", "inside")
    )
    assert chance["measures"]["P@1"][0] < 0.2


def test_a_data_set_does_without_unless_it_says_otherwise(tmp_path: Path) -> None:
    context = make_project(tmp_path / "p").context()
    build_all(context)
    release = open_release(context.name, context.data)
    assert not any(
        release.manifest.has(one) for one in ("graph_partitions", "partition_edges", "alignment_model")
    )


def test_parts_above_the_limit_stop_a_build(pages: BuildContext, tmp_path: Path) -> None:
    assert parts_within_limit(pages).holds
    shutil.copytree(pages.data, tmp_path / "data")
    copied = replace(pages, data=tmp_path / "data")
    found = GraphPartitions.open(pages.folder("graph_partitions"))
    (copied.folder("graph_partitions") / "graph_partitions.json").write_text(
        json.dumps(found.meta | {"limit": 5}), encoding="utf-8"
    )
    assert not parts_within_limit(copied).holds


def test_each_step_has_a_command_and_verify_names_what_is_missing_or_stale(tmp_path: Path) -> None:
    project = linked(tmp_path / "r")
    (project.config / "method.yaml").write_text(
        "graph_partitions: {method: metis, target_size: 9, num_parts: 0, limit: 10}\n",
        encoding="utf-8",
    )
    build_all(project.context())
    places = ["churches", "--data", str(project.data), "--config", str(project.config)]

    def run(*words: str) -> tuple[int, str]:
        done = CliRunner().invoke(partitions, [words[0], *places, *words[1:]], catch_exceptions=False)
        return done.exit_code, done.output

    code, text = run("verify")
    assert code == 0 and text.count(": not wanted") == 5, "the data set does without, and nothing was made"
    assert run("build", "--method", "hybrid")[0] == 0 and run("build")[0] == 0
    code, text = run("verify")
    assert code == 0 and "graph_partitions: ok" in text and "partition_edges: not wanted" in text
    assert "| cut_by | parts | smallest | mean | largest |" in run("build")[1], "columns in their order"
    assert "bridges" in run("edges")[1]
    assert "  parts: 80\n" in run("build", "--num_parts", "80")[1], "as the published command has it"
    assert run("build", "--method", "leiden")[0] == 0
    code, text = run("verify")
    assert code == 1 and "graph_partitions: stale" in text and "partition_edges: stale" in text
    assert run("build")[0] == 0
    assert "questions: " in run("questions", "--size", "200")[1]
    few = ("--steps", "2", "--size", "200")
    assert "steps: 2" in run("train", *few)[1]
    assert "A search within its 3 best parts" in run("evaluate", *few)[1]
    assert run("verify")[0] == 1, "made by other options than those of method.yaml"
    for command in (("smoke", "--size", "200"), ("experiments", *few, "--out", str(tmp_path / "rows.json"))):
        shown = run(*command)[1]
        assert all(f"| {model} | {loss} |" in shown for model in MODELS for loss in LOSSES)
    rows = json.loads((tmp_path / "rows.json").read_text(encoding="utf-8"))
    assert [row["steps"] for row in rows] == [2] * 8


def test_the_smoke_run_trains_every_model_by_every_loss(pages: BuildContext) -> None:
    from crmrag_assets.steps.graph_partitions import experiments

    few = pages.method.alignment.model_copy(update={"steps": 2})
    rows = list(experiments(replace(pages, method=pages.method.model_copy(update={"alignment": few}))))
    assert {(row["model"], row["loss"]) for row in rows} == {
        (model, loss) for model in ("mlp", "gcn", "sage", "gin") for loss in ("infonce", "bce")
    }
    assert all(0 <= row["unseen R@10"] <= 1 for row in rows)


def test_nothing_is_made_again_that_has_not_changed(pages: BuildContext) -> None:
    for artifact in ("graph_partitions", "alignment_model"):
        assert run_step(STEPS[artifact], pages).reused
