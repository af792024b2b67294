"""A release that answers worse than the one before is noticed; chance is not."""

from __future__ import annotations

from pathlib import Path

from crmrag_assets.build.step import BuildContext
from crmrag_assets.quality.checks import retrieval_is_as_good
from crmrag_query.artifacts.manifest import PIPELINE, evaluations_folder
from crmrag_query.evaluation.report import write_report
from crmrag_query.evaluation.scores import MEASURES, ContextScore, Evaluation, Outcome


def evaluated(context: BuildContext, release: str, scores: list[float]) -> Path:
    """Write the report of an evaluation with these scores of the measure over all questions."""
    ids = [f"q{n}" for n in range(len(scores))]
    found = Evaluation(
        dataset=context.name,
        release=release,
        relationships="fr109",
        encoder="hash",
        file="questions.yaml",
        sha256="",
        asked={id: f"What of {id}?" for id in ids},
        kinds=dict.fromkeys(ids, "specific"),
        unheld={},
        retrieval={PIPELINE: {name: dict(zip(ids, scores, strict=True)) for name in MEASURES}},
        form_expected={},
        form_found=dict.fromkeys(ids, "SPECIFIC"),
        contexts=dict.fromkeys(ids, ContextScore(None, None, 0, 0, 0)),
    )
    folder = evaluations_folder(context.data, context.name)
    write_report(Outcome(found, {}, {}), context.method.evaluation, "crmrag evaluate churches", folder)
    return folder


def test_without_questions_or_an_earlier_evaluation_it_says_so(copied: BuildContext) -> None:
    assert "declares no questions for 'churches'" in retrieval_is_as_good(copied).says
    evaluated(copied, "r-one", [1.0, 0.5])
    found = retrieval_is_as_good(copied)
    assert found.holds and "no other release was evaluated" in found.says and found.counts["score"] == 0.75


def test_a_fall_beyond_chance_is_noticed_with_the_questions(copied: BuildContext) -> None:
    evaluated(copied, "r-one", [1.0] * 12)
    evaluated(copied, "r-two", [1.0] * 4 + [0.2] * 8)
    found = retrieval_is_as_good(copied)
    assert not found.holds and "since release r-one over 12 questions" in found.says
    assert (
        float(found.counts["change"]) < -0.5 and found.tables["became_worse"][0]["question"] == "What of q4?"
    )


def test_a_fall_of_one_question_may_be_chance(copied: BuildContext) -> None:
    evaluated(copied, "r-one", [0.9, 0.1, 0.8, 0.5, 0.4, 0.6])
    evaluated(copied, "r-two", [0.9, 0.2, 0.7, 0.6, 0.3, 0.6])
    assert retrieval_is_as_good(copied).holds


def test_evaluating_a_release_again_keeps_what_it_is_compared_with(copied: BuildContext) -> None:
    for release, score in (("r-one", 1.0), ("r-two", 0.9), ("r-two", 0.3)):
        evaluated(copied, release, [score] * 12)
    assert "since release r-one" in retrieval_is_as_good(copied).says
