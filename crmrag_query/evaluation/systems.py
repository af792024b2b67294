"""What is compared: the pipeline, the pipeline without (or with) each stage, and plain baselines with the same encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crmrag_query.config.query import Stages
from crmrag_query.errors import QuestionError

PIPELINE = "pipeline"
BASELINES = {"plain BM25": ("sparse",), "plain dense": ("dense",), "plain RRF": ("dense", "sparse")}
NAMES = tuple(Stages.model_fields)


@dataclass(frozen=True, slots=True)
class System:
    """A way to retrieve: its name in reports, and the stages that run."""

    name: str
    stages: Stages


def tag(system: str) -> str:
    """A system's name as it stands in files."""
    return system.replace(" ", "-")


def systems(stages: Stages, ablated: Sequence[str] = NAMES) -> tuple[System, ...]:
    """The pipeline, the baselines, and for each of ``ablated`` the pipeline with that stage the other way round."""
    plain = Stages(**dict.fromkeys(NAMES, False))
    found = [System(PIPELINE, stages)]
    found += [
        System(name, plain.model_copy(update=dict.fromkeys(on, True))) for name, on in BASELINES.items()
    ]
    for name in ablated:
        on = bool(getattr(stages, name))
        found.append(
            System(f"{'without' if on else 'with'} {name}", stages.model_copy(update={name: not on}))
        )
    return tuple(found)


def parse_stages(text: str) -> tuple[str, ...]:
    """Names of stages: ``all``, ``none``, or a list with commas. Raises QuestionError for an unknown one."""
    if text in ("all", "none"):
        return NAMES if text == "all" else ()
    chosen = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    for name in chosen:
        if name not in NAMES:
            raise QuestionError(
                f"There is no stage '{name}'.", f"Stages are: {', '.join(NAMES)}; or all, none."
            )
    return chosen
