"""A sample of a built graph, held against shapes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crmrag_assets.build.opened import graph_of, numbering_of
from crmrag_assets.build.step import BuildContext
from crmrag_assets.quality.shapes.files import read_shapes
from crmrag_assets.quality.shapes.rdf import View
from crmrag_assets.quality.shapes.sample import sampled
from crmrag_assets.quality.shapes.validate import ShapesReport, validate


def held_against(context: BuildContext, files: Sequence[Path] = (), size: int | None = None) -> ShapesReport:
    """The shapes that ship, the data set's own and those of ``files`` against ``size`` entities, else as the method says.

    Raises ConfigError for files that hold no usable shapes, BuildError where no graph is built, MissingExtraError.
    """
    limits = context.method.checks.shapes
    shapes = read_shapes([*context.config.shapes_files(), *files])
    view = View(graph_of(context), context.vocabulary.ontology, context.method.dates, limits.statements)
    chosen = sampled(view.graph, numbering_of(context).ids, size or limits.entities)
    return validate(view, chosen, shapes)
