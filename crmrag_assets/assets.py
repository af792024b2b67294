"""Dagster assets in the order of a build, group by group; each is a thin wrapper over a step of `crmrag_assets.steps`."""

import inspect
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import cleandoc
from pathlib import Path
from typing import Any

import dagster as dg

from crmrag_assets.build.locks import dataset_lock
from crmrag_assets.build.step import LAYERS, PLACES, Step, chunks_of
from crmrag_assets.event_log import together
from crmrag_assets.instance import explained, known_betas
from crmrag_assets.metadata import (
    chunk_materialized,
    columns_of,
    evaluation_metadata,
    glance,
    materialized,
    operations,
    plotted,
)
from crmrag_assets.metadata import evaluation_version as data_version_of
from crmrag_assets.partitions import (
    BuildResource,
    by_dataset,
    chunk_key,
    dataset_chunk_partitions,
    dataset_partitions,
    datasets_of,
    offer_chunks,
)
from crmrag_assets.runs import BUILD_TAG, hold_run_lock
from crmrag_assets.steps.registry import STEPS, run_chunks, run_or_await
from crmrag_query.artifacts.manifest import evaluations_folder
from crmrag_query.artifacts.release import Opener, open_release
from crmrag_query.evaluation.report import write_report

_BEYOND = "There is no chunk {} of '{}', and nothing is made of it. Its chunks are {}."


def build_artifact(
    context: dg.AssetExecutionContext, build: BuildResource, step: Step
) -> dg.MaterializeResult[Any]:
    """Make one artifact of the run's data set."""
    dataset, reporter = context.partition_key, build.reporter(context)
    with explained(step.artifact, Path(build.data), dataset):
        hold_run_lock(Path(build.data), context.run)
        opened = build.context(dataset, step.artifact, reporter)
        with dataset_lock(opened.store.root, opened.name):
            reporter.started(step.artifact, 1)
            outcome = run_or_await(step, opened)
            reporter.finished(outcome)
        if step is STEPS["entities"]:
            offer_chunks(context.instance, chunks_of(opened))
        return materialized(outcome, glance(step.artifact, opened), opened.name)


def build_chunks(
    context: dg.AssetExecutionContext, build: BuildResource, step: Step
) -> Iterator[dg.MaterializeResult[Any]]:
    """Make the chunks in the run's range that the data set has; each is recorded within about a second of its end.

    Yields nothing: by yielding a result Dagster would record every key of the range, also chunks that do not exist.
    """
    yield from ()
    key = context.asset_key
    with explained(step.artifact):
        hold_run_lock(Path(build.data), context.run)
        # What need not be recorded again where it is unchanged; of a run that a person asked for, a backfill say, nothing.
        within = BUILD_TAG in context.run.tags
        known = context.instance.get_materialized_partitions(key) if within else set()
    for dataset, asked in sorted(datasets_of(context.partition_keys).items()):
        with explained(step.artifact, Path(build.data), dataset):
            reporter = build.reporter(context)
            opened = build.context(dataset, step.artifact, reporter)
            with dataset_lock(opened.store.root, dataset):
                existing = chunks_of(opened, step.artifact)
                opened.store.keep_only(step.artifact, existing)
                chosen = [chunk for chunk in existing if chunk in asked]
                if beyond := sorted(asked - {*existing}):
                    context.log.warning(_BEYOND.format(", ".join(beyond), dataset, ", ".join(existing)))
                reporter.started(step.artifact, len(chosen))
                with _recorded_soon(context) as record:
                    for outcome in run_chunks(step, opened, chosen):
                        partition = chunk_key(dataset, outcome.chunk or "")
                        if not outcome.reused or str(partition) not in known:
                            seen = glance(step.artifact, opened, outcome.chunk)
                            record(chunk_materialized(key, partition, outcome, seen))
                        reporter.finished(outcome)


SOON = 1.0  # seconds after which what has ended is recorded


@contextmanager
def _recorded_soon(context: dg.AssetExecutionContext) -> Iterator[Callable[[dg.AssetMaterialization], None]]:
    """Within the block, what is called with a materialisation has it recorded, those of about a second together: one by one
    each takes as long as making a small chunk. The rest is recorded at the end of the block, however it ends."""
    waiting: list[dg.AssetMaterialization] = []
    last = time.monotonic()

    def write() -> None:
        nonlocal last
        with together(context.instance):
            while waiting:
                context.log_event(waiting.pop(0))
        last = time.monotonic()

    def record(made: dg.AssetMaterialization) -> None:
        waiting.append(made)
        if time.monotonic() - last > SOON:
            write()

    try:
        yield record
    finally:
        write()


LAYER, RELEASED = "crmrag/layer", "crmrag/released"  # keys of tags
HARVEST, ENCODING = "harvest", "encoding"  # pools: unlimited unless an operator limits them in the UI
CODE = "dagster/code_references"  # by this the UI finds the code of an asset
CHUNKS_NOTE = (
    "Partitions: a data set has the first 1, 2, 4 … 256 of the chunks, as its size asks for (see the asset `entities`). "
    "As many are listed as the largest data set has; those that a smaller one does not use count as missing, and are not."
)


def _asset(artifact: str, group: str, kinds: set[str], pool: str | None = None) -> dg.AssetsDefinition:
    """The asset of an artifact, which runs its step: for a whole data set, or for a range of its chunks.

    Its description is what the step's ``write`` says. Chunks are recorded as they end (see ``build_chunks``), so
    their asset itself has no output.
    """
    step = STEPS[artifact]

    def whole(context: dg.AssetExecutionContext, build: BuildResource) -> dg.MaterializeResult[Any]:
        return build_artifact(context, build, step)

    def in_chunks(
        context: dg.AssetExecutionContext, build: BuildResource
    ) -> Iterator[dg.MaterializeResult[Any]]:
        yield from build_chunks(context, build, step)

    about = cleandoc(step.write.__doc__ or "")
    own: dict[str, Any] = {"partitions_def": dataset_partitions, "description": about}
    if step.chunked:
        own = {
            "partitions_def": dataset_chunk_partitions,
            "description": f"{about}\n\n{CHUNKS_NOTE}",
            "backfill_policy": dg.BackfillPolicy.single_run(),
            "output_required": False,
        }
    # Between chunks and data set an asset depends on all chunks of the data set, or on the data set of the chunk.
    deps = [
        dg.AssetDep(need, partition_mapping=by_dataset if STEPS[need].chunked != step.chunked else None)
        for need in step.needs
    ]
    body: Callable[..., Any] = in_chunks if step.chunked else whole
    with known_betas():
        made: dg.AssetsDefinition = dg.asset(
            name=artifact,
            group_name=group,
            kinds=kinds,
            deps=deps,
            pool=pool,
            **_catalogued(artifact, body),
            **own,
        )(body)
    return made


def _catalogued(artifact: str, body: Callable[..., Any]) -> dict[str, Any]:
    """What the catalogue tells of every asset: whose it is, which run makes it, whether a release holds it, its columns, and
    where to read how it is made: the function that fills its folder, and the asset itself."""
    layer = next((layer.name for layer in LAYERS if artifact in layer.assets), "")
    places = {"how it is made": STEPS[artifact].write} if artifact in STEPS else {}
    with known_betas():
        code = dg.CodeReferencesMetadataValue(
            code_references=[
                dg.LocalFileCodeReference(
                    file_path=str(inspect.getsourcefile(function)),
                    line_number=inspect.getsourcelines(function)[1],
                    label=label,
                )
                for label, function in (places | {"the asset": body}).items()
            ]
        )
    return {
        "owners": list(operations().owners),
        "tags": ({LAYER: layer} if layer else {}) | {RELEASED: "yes" if artifact in PLACES else "no"},
        "metadata": columns_of(artifact) | {CODE: code},
    }


artifacts = [
    _asset("page_images", "source", {"image"}),
    _asset("page_extractions", "source", {"arrow"}),
    _asset("entities", "source", {"rdf"}, HARVEST),
    _asset("prefetch", "source", {"parquet"}, HARVEST),
    _asset("harvest_report", "source", {"json", "markdown"}),
    _asset("graph", "graph", {"arrow", "numpy"}),
    _asset("edges", "graph", {"parquet"}),
    _asset("triples_index", "indexes", {"numpy"}),
    _asset("fr_documents", "documents", {"arrow"}),
    _asset("documents", "documents", {"arrow"}),
    _asset("entity_documents", "documents", {"markdown"}),
    _asset("entity_graph", "graph", {"numpy"}),
    _asset("communities", "communities", {"numpy"}),
    _asset("community_summaries", "communities", {"arrow"}),
    _asset("community_index", "communities", {"numpy", "bm25s"}),
    _asset("page_candidates", "documents", {"arrow"}),
    _asset("graph_partitions", "partitions", {"numpy"}),
    _asset("partition_edges", "partitions", {"numpy"}),
    _asset("training_questions", "partitions", {"parquet"}, ENCODING),
    _asset("alignment_model", "partitions", {"numpy", "pytorch"}),
    _asset("alignment_evaluation", "partitions", {"json"}),
    _asset("encoder", "indexes", {"onnx"}),
    _asset("embeddings", "indexes", {"numpy"}, ENCODING),
    _asset("faiss_index", "indexes", {"faiss"}),
    _asset("token_vectors", "indexes", {"numpy"}),
    _asset("bm25_index", "indexes", {"bm25s"}),
    _asset("aggregation_index", "indexes", {"json"}),
    _asset("date_index", "indexes", {"numpy"}),
    _asset("name_index", "indexes", {"numpy", "arrow"}),
    _asset("lexicon", "indexes", {"numpy"}),
    _asset("profile", "indexes", {"json", "markdown"}),
    _asset("validation_report", "release", {"markdown"}),
    _asset("release", "release", {"json"}),
    _asset("postgres_graph", "release", {"postgres"}),
    _asset("pushed_release", "release", {"s3"}),
]

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


def _evaluate(
    context: dg.AssetExecutionContext, config: EvaluationRun, build: BuildResource
) -> Iterator[dg.MaterializeResult[Any]]:
    """What each stage of retrieval is worth and how questions are answered, by the data set's questions with known answers.

    Not part of a build or a release: run the job `evaluate` for it. Without `questions` in datasets.yaml nothing is made.
    """
    hold_run_lock(Path(build.data), context.run)
    with explained("evaluation"):
        # all of answering, which no build needs
        from crmrag_query.evaluation.evaluate import Plan, evaluate_file, parse_stages
        from crmrag_query.llm.model import LiteLLM

        opened = build.opened(context.partition_key)
        file = opened.config.questions_file()
        if file is None:
            context.log.warning(NO_QUESTIONS.format(opened.name))
            return
        model = LiteLLM(config.model) if config.model else None
        release = open_release(opened.name, opened.data, Opener.here(config=build.config_folder))
        outcome = evaluate_file(release, file, Plan(parse_stages(config.stages), config.answers, model))
        folder = evaluations_folder(opened.data, opened.name)
        command = f"crmrag evaluate {opened.name} --stages {config.stages}" + " --answers" * config.answers
        write_report(outcome, opened.method.evaluation, command, folder)
        yield dg.MaterializeResult(
            metadata=plotted(
                evaluation_metadata(outcome.evaluation, opened.method.evaluation, folder), opened.name
            ),
            data_version=dg.DataVersion(data_version_of(outcome.evaluation)),
        )


evaluation: dg.AssetsDefinition = dg.asset(
    name="evaluation",
    group_name="evaluation",
    kinds={"markdown"},
    deps=["release"],
    output_required=False,
    partitions_def=dataset_partitions,
    **_catalogued("evaluation", _evaluate),
)(_evaluate)
