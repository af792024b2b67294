"""`crmrag partitions`: graph partitions and the aligner of a data set, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crmrag_assets.cli.options import config_option, data_option

if TYPE_CHECKING:
    from crmrag_assets.build.step import BuildContext

STALE = 1  # exit status where something is missing or stale
SMOKE = 10  # steps of training
METHODS, MODELS, LOSSES = ("leiden", "metis", "hybrid"), ("mlp", "gcn", "sage", "gin"), ("infonce", "bce")
LEFT_OUT = "The next `crmrag build` leaves them out: set `graph_partitions: true` and `aligner: true` in datasets.yaml."


@click.group()
def partitions() -> None:
    """Graph partitions: the entity graph cut into parts, and the aligner that sends questions to them.

    Each command makes one artifact of DATASET, which is built, or finds that it is there. Options stand for this run in the
    place of what `graph_partitions` and `alignment` in method.yaml say; a build makes again what differs from these.
    """


def _command(name: str, *options: Callable[..., Any]) -> Callable[[Callable[..., None]], click.Command]:
    def made(body: Callable[..., None]) -> click.Command:
        for option in (config_option, data_option, *reversed(options)):
            body = option(body)
        return partitions.command(name)(click.argument("dataset")(body))

    return made


@contextmanager
def _opened(
    dataset: str, data: Path, config: Path | None, section: str = "", makes: bool = True, **settings: Any
) -> Iterator[BuildContext]:
    """The data set, held against others who build it; ``settings`` that are not None in the place of a section's.

    ``makes``: whether something is made, which a build would leave out.
    """
    from crmrag_assets.build.context import open_context
    from crmrag_assets.build.step import dataset_lock
    from crmrag_query.errors import BuildError

    context = open_context(dataset, data, config)
    if context.share < 100:
        raise BuildError(
            f"Not all documents of '{dataset}' have vectors yet.", f"Make them: crmrag embed {dataset}"
        )
    declared = context.config
    if given := {name: value for name, value in settings.items() if value is not None}:
        changed = getattr(context.method, section).model_dump() | given
        kind = type(getattr(context.method, section))
        context = replace(context, method=context.method.model_copy(update={section: kind(**changed)}))
    context = replace(context, config=declared.model_copy(update={"graph_partitions": True, "aligner": True}))
    with dataset_lock(context.store.root, context.name):
        yield context
    if makes and not (declared.graph_partitions and declared.aligner):
        click.echo(LEFT_OUT, err=True)


def _make(context: BuildContext, artifact: str) -> None:
    from crmrag_assets.build.step import run_step
    from crmrag_assets.metadata import SAMPLES, markdown_table
    from crmrag_assets.steps.registry import STEPS

    outcome = run_step(STEPS[artifact], context)
    stats = outcome.record.stats
    done = "there already" if outcome.reused else f"made in {stats['seconds']:.1f} s"
    click.echo(f"{artifact}: {done}")
    for name, value in stats.items():
        if isinstance(value, int | float | str) and name not in ("seconds", "processor_seconds", "bytes"):
            click.echo(f"  {name.replace('_', ' ')}: {f'{value:,}' if isinstance(value, int) else value}")
    for name, rows in stats.get(SAMPLES, {}).items():
        click.echo(f"\n{name.replace('_', ' ')}\n\n{markdown_table(rows)}\n")


@_command(
    "build",
    click.option("--method", type=click.Choice(METHODS), help="How it is cut; default: the method's."),
    click.option(
        "--target-size", "--target_size", type=click.IntRange(min=1), metavar="N", help="Documents of a part."
    ),
    click.option(
        "--num-parts",
        "--num_parts",
        type=click.IntRange(min=0),
        metavar="N",
        help="How many parts, in place of a size.",
    ),
)
def build(dataset: str, data: Path, config: Path | None, **settings: Any) -> None:
    """Cut the entity graph of DATASET into parts."""
    with _opened(dataset, data, config, "graph_partitions", **settings) as context:
        _make(context, "graph_partitions")


@_command("edges")
def edges(dataset: str, data: Path, config: Path | None) -> None:
    """Tell which parts are joined, and by which edges."""
    with _opened(dataset, data, config) as context:
        _make(context, "partition_edges")


@_command(
    "questions",
    click.option("--size", "questions", type=click.IntRange(min=1), metavar="N", help="To train with."),
)
def questions(dataset: str, data: Path, config: Path | None, **settings: Any) -> None:
    """Make questions to train an aligner with."""
    with _opened(dataset, data, config, "alignment", **settings) as context:
        _make(context, "training_questions")


_model = click.option("--model", type=click.Choice(MODELS), help="Default: the method's.")
_loss = click.option("--loss", type=click.Choice(LOSSES), help="Default: the method's.")
_steps = click.option("--steps", type=click.IntRange(min=1), metavar="N", help="At most.")
_size = click.option(
    "--size", "questions", type=click.IntRange(min=1), metavar="N", help="Questions, if others."
)


@_command("train", _model, _loss, _steps, _size)
def train(dataset: str, data: Path, config: Path | None, **settings: Any) -> None:
    """Train the aligner."""
    with _opened(dataset, data, config, "alignment", **settings) as context:
        _make(context, "alignment_model")


@_command("evaluate", _model, _loss, _steps, _size)
def evaluate(dataset: str, data: Path, config: Path | None, **settings: Any) -> None:
    """Measure the aligner that was trained, beside simpler ways to find parts."""
    with _opened(dataset, data, config, "alignment", **settings) as context:
        _make(context, "alignment_evaluation")


def _matrix(
    dataset: str, data: Path, config: Path | None, out: Path | None, settings: Mapping[str, Any]
) -> None:
    import json

    from crmrag_assets.metadata import markdown_table
    from crmrag_assets.steps.graph_partitions import experiments

    with _opened(dataset, data, config, "alignment", **settings) as context:
        rows = []
        for row in experiments(context):
            rows.append(row)
            click.echo(" · ".join(f"{name} {value}" for name, value in row.items()))
    click.echo(f"\n{markdown_table(rows)}")
    if out is not None:
        out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


_out = click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="A file for the rows, as JSON."
)


@_command("experiments", _steps, _size, _out)
def experiments(dataset: str, data: Path, config: Path | None, out: Path | None, **settings: Any) -> None:
    """Train every model by every loss, and measure each; no artifact becomes another."""
    _matrix(dataset, data, config, out, settings)


@_command("smoke", _size)
def smoke(dataset: str, data: Path, config: Path | None, **settings: Any) -> None:
    """The same for 10 steps each: whether everything runs."""
    _matrix(dataset, data, config, None, {"steps": SMOKE, **settings})


@_command("verify")
def verify(dataset: str, data: Path, config: Path | None) -> None:
    """Say what is missing, or stale as something that it was made from has changed; ends with status 1 where anything is.

    What the data set does without, and no command has made, is not wanted.
    """
    from crmrag_assets.build.context import open_context
    from crmrag_assets.build.step import UNWANTED, current_outcome
    from crmrag_assets.quality.checks import contradictions
    from crmrag_assets.steps.graph_partitions import STEPS
    from crmrag_query.errors import BuildError

    wrong, declared = False, open_context(dataset, data, config)
    fine = set[str]()
    with _opened(dataset, data, config, makes=False) as context:
        for step in STEPS:
            record = context.store.record(step.artifact)
            if not step.wanted(declared) and (record is None or UNWANTED in record.stats):
                click.echo(f"{step.artifact}: not wanted")
                continue
            try:
                there = current_outcome(step, context) is not None
                missing = record is None
            except BuildError as error:
                there, missing = False, True
                click.echo(f"{step.artifact}: {error.what}")
            state = "ok" if there else "missing" if missing else "stale"
            click.echo(f"{step.artifact}: {state}")
            wrong |= not there
            fine |= {step.artifact} if there else set()
        for fault in contradictions(context) if {"graph_partitions", "partition_edges"} <= fine else ():
            click.echo(fault)
            wrong = True
    if wrong:
        raise SystemExit(STALE)
