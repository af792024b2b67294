"""Group ``evaluation``: how well questions with known answers are answered from a release."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg

from crmrag_assets.assets.common import dataset_asset
from crmrag_assets.evaluated import data_version_of, evaluation_metadata
from crmrag_assets.lost import attend
from crmrag_assets.resources import BuildResource
from crmrag_assets.told import explained
from crmrag_query.artifacts.release import open_release
from crmrag_query.evaluation.report import evaluations_folder, write_report
from crmrag_query.evaluation.systems import parse_stages

NO_QUESTIONS = (
    "Nothing was evaluated: datasets.yaml declares no questions for '{}'. Add `questions: FILE` to its entry; "
    "docs/evaluation.md has the format."
)


class EvaluationRun(dg.Config):
    """What is measured; ``stages``: names with commas, all or none.

    ``answers``: answer each question too, by the litellm model ``model``, extractively without one.
    """

    stages: str = "all"
    answers: bool = True
    model: str = ""


@dataset_asset(group_name="evaluation", kinds={"markdown"}, deps=["release"], output_required=False)
def evaluation(
    context: dg.AssetExecutionContext, config: EvaluationRun, build: BuildResource
) -> Iterator[dg.MaterializeResult[Any]]:
    """What each stage of retrieval is worth and how questions are answered, by the data set's questions with known answers.

    Not part of a build or a release: run the job `evaluate` for it. Without `questions` in datasets.yaml nothing is made.
    """
    attend(Path(build.data), context.run)
    with explained("evaluation"):
        yield from _evaluated(context, config, build)


def _evaluated(
    context: dg.AssetExecutionContext, config: EvaluationRun, build: BuildResource
) -> Iterator[dg.MaterializeResult[Any]]:
    from crmrag_query.evaluation.evaluate import Plan, evaluate_file  # all of answering, which no build needs
    from crmrag_query.llm.model import LiteLLM

    opened = build.opened(context.partition_key)
    file = opened.config.questions_file()
    if file is None:
        context.log.warning(NO_QUESTIONS.format(opened.name))
        return
    plan = Plan(parse_stages(config.stages), config.answers, LiteLLM(config.model) if config.model else None)
    outcome = evaluate_file(open_release(opened.name, opened.data), file, plan)
    folder = evaluations_folder(opened.data, opened.name)
    command = f"crmrag evaluate {opened.name} --stages {config.stages}" + " --answers" * config.answers
    write_report(outcome, opened.method.evaluation, command, folder)
    yield dg.MaterializeResult(
        metadata=evaluation_metadata(outcome.evaluation, opened.method.evaluation, folder),
        data_version=dg.DataVersion(data_version_of(outcome.evaluation)),
    )
