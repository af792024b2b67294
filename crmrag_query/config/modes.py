"""`modes.yaml`: named compositions by which questions are answered, chosen for each question and pinned by no release."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, StringConstraints, ValidationError, model_validator

from crmrag_query.config.reading import (
    Count,
    Positive,
    Record,
    Share,
    config_folder,
    default_folder,
    read_part,
)
from crmrag_query.errors import ConfigError

Expansion = Literal["reached", "themes", "informative", "subgraph", "adjacency", "diversity", "modifiers"]
EXPANSIONS: tuple[Expansion, ...] = get_args(Expansion)
FILE = "modes.yaml"
ModeName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]


class Bounds(Record):
    """What a model that calls tools may take for one question: `steps` (replies with calls), `tokens` of all that it is
    sent and says, `seconds`."""

    steps: Annotated[int, Field(ge=1, le=50)] = 8
    tokens: Annotated[int, Field(ge=1000)] = 60_000
    seconds: Annotated[float, Field(gt=0, le=3600)] = 120.0


class Limits(Record):
    """How much modes that have them find; similarities are on the scale (1 + cosine) / 2, calibrated for each release.

    `found`: documents that channels find; `similarity`: of the nearest documents, those below do not count; `documents`: of a
    question in all, with those that expansion adds; `pool`: how many times as many are candidates; `community_levels`: levels
    of themes that are searched, the finest first; `passages`: cosine, from 0 (unrelated) to 1 (the document itself), from
    which a passage that has no word of the question is told.
    """

    found: Count = 5
    similarity: Share = 0.5
    documents: Count = 20
    pool: Positive = 1.0
    community_levels: Count = 3
    passages: Share = 0.1


VARIABLES: Mapping[str, str] = {
    "VECTOR_SEARCH_TOP_K": "found",
    "CHAT_SEARCH_KWARG_SCORE_THRESHOLD": "similarity",
    "MAX_SEARCH_DOCUMENTS": "documents",
    "EFFECTIVE_SEARCH_RATIO": "pool",
    "COMMUNITY_SEARCH_LEVELS": "community_levels",
    "CHAT_EMBEDDING_FILTER_SCORE_THRESHOLD": "passages",
}
"""Environment variables that take the place of limits, by the names that they were published under."""


Measure = Literal["cosine", "pagerank", "interaction"]


class Walk(Record):
    """How the channel `walker` goes through the entity graph.

    `by`: `steps` (from the landings to the neighbours that late interaction finds nearest: the published walk) or `fusion`
    (all that is stitched, by several `rankings`, fused); `parts`: graph partitions that are stitched together; `landings`:
    documents of them that it begins at; `documents`: most that are stitched where there are no partitions. Of `steps` alone:
    `beam`: documents that it goes on from, `steps` at most, until one is as near as `stop`. Of `fusion` alone: `rankings`, by
    the `cosine` of windows, by personalised `pagerank` from the landings, by late `interaction`.
    """

    by: Literal["steps", "fusion"] = "steps"
    rankings: tuple[Measure, ...] = get_args(Measure)
    parts: Annotated[int, Field(ge=1, le=50)] = 3
    landings: Annotated[int, Field(ge=1, le=100)] = 3
    documents: Annotated[int, Field(ge=10, le=20_000)] = 600
    beam: Annotated[int, Field(ge=1, le=100)] = 3
    steps: Annotated[int, Field(ge=1, le=20)] = 3
    stop: Share = 0.9


class Mode(Record):
    """How a question is answered: by which `channels` documents are found, in the order in which their rankings are fused;
    what is done with the candidates (`expansion`); whether the question is read as a plan `first`, `only`, or `never`.

    `title`: what it is, for people, by language; `thresholds`: raw similarity that a document must have to count, by channel;
    `needs`: artifacts of a release beyond those that its channels and expansion need; `limited`: whether the `limits` say how
    much is found, else the form of the question does; `model`: what a language model does in it besides writing: `queries`
    (SPARQL, where a question becomes no plan), `tools` (it calls tools, within `bounds`), `themes` (a partial answer from
    each theme that was found, then the whole), `steps` (it chooses which neighbours a walk by steps goes on from); `walk`:
    how its channel `walker` goes.
    """

    # Set by `load_modes`: in the file the name is the key, and the limits are those of all modes.
    name: str = Field(default="", exclude=True)
    limits: Limits = Field(default=Limits(), exclude=True)
    title: dict[str, str]
    channels: tuple[str, ...]
    expansion: tuple[Expansion, ...] = ()
    plans: Literal["first", "only", "never"]
    thresholds: dict[str, float] = Field(default_factory=dict)
    needs: tuple[str, ...] = ()
    model: Literal["", "queries", "tools", "themes", "steps"] = ""
    bounds: Bounds = Bounds()
    limited: bool = False
    walk: Walk = Walk()

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if "en" not in self.title:
            raise ValueError("its title has no English (en)")
        if self.plans == "only" and self.channels:
            raise ValueError("answers by plans only, so it searches by no channels: channels: []")
        return self

    @property
    def expands(self) -> bool:
        """Whether documents are added to those that its channels find."""
        return self.has("reached") or self.has("themes")

    def has(self, stage: str) -> bool:
        """Whether a channel, or a stage after the channels, is part of it."""
        return stage in self.channels or stage in self.expansion

    def only(self, *stages: str) -> Mode:
        """With these channels and stages alone."""
        kept = tuple(one for one in EXPANSIONS if one in stages)
        channels = tuple(one for one in stages if one not in EXPANSIONS)
        thresholds = {name: least for name, least in self.thresholds.items() if name in channels}
        return self.model_copy(update={"channels": channels, "expansion": kept, "thresholds": thresholds})

    def switched(self, stage: str) -> Mode:
        """With a channel or stage that it lacks, or without one that it has."""
        stages = (*self.channels, *self.expansion)
        if self.has(stage):
            return self.only(*(one for one in stages if one != stage))
        return self.only(*stages, stage)


class ModesPart(Record):
    """`modes.yaml`."""

    modes: dict[ModeName, Mode] = Field(default_factory=dict)
    limits: Limits | None = None


def mode_files(folder: Path | str | None = None) -> tuple[Path, ...]:
    """The files that modes come from: the one that ships, then a project's own."""
    return tuple(dict.fromkeys((default_folder() / FILE, config_folder(folder) / FILE)))


def load_modes(folder: Path | str | None = None) -> dict[str, Mode]:
    """The modes by name, the default first: those that ship, then a project's own, which may take the place of ours.

    Raises ConfigError with every mistake of the first file that has any, or of the environment (``VARIABLES``).
    """
    parts = [read_part(ModesPart, place) for place in mode_files(folder) if place.is_file()]
    limits = overridden(next((part.limits for part in reversed(parts) if part.limits), Limits()))
    return {
        name: mode.model_copy(update={"name": name, "limits": limits})
        for part in parts
        for name, mode in part.modes.items()
    }


def overridden(limits: Limits) -> Limits:
    """The limits with what the environment says in their place. Raises ConfigError, which names the variable."""
    values = limits.model_dump()
    for variable, name in VARIABLES.items():
        if said := os.environ.get(variable, "").strip():
            try:
                values[name] = getattr(Limits.model_validate(values | {name: said}), name)
            except ValidationError as error:
                reason = error.errors(include_url=False)[0]["msg"]
                raise ConfigError.single(
                    variable, "", reason[:1].lower() + reason[1:], value=repr(said)[:80],
                    remedy=f"Correct or unset this variable; it stands for limits.{name} of {FILE}.",
                ) from None  # fmt: skip
    return Limits.model_validate(values)
