"""`modes.yaml`: named compositions by which questions are answered, chosen for each question and pinned by no release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, StringConstraints, field_validator, model_validator

from crmrag_query.config.reading import Record, config_folder, default_folder, read_part

Expansion = Literal["informative", "subgraph", "adjacency", "diversity", "modifiers"]
EXPANSIONS: tuple[Expansion, ...] = get_args(Expansion)
FILE = "modes.yaml"
ModeName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]


class AgentLimits(Record):
    """What a model that calls tools may take for one question: `steps` (replies with calls), `tokens` of all that it is
    sent and says, `seconds`."""

    steps: Annotated[int, Field(ge=1, le=50)] = 8
    tokens: Annotated[int, Field(ge=1000)] = 60_000
    seconds: Annotated[float, Field(gt=0, le=3600)] = 120.0


class Mode(Record):
    """How a question is answered: by which `channels` documents are found, in the order in which their rankings are fused;
    what is done with the candidates (`expansion`); whether the question is read as a plan `first`, `only`, or `never`.

    `title`: what it is, for people, by language; `thresholds`: raw similarity that a document must have to count, by channel;
    `needs`: artifacts of a release beyond those that its channels need; `model`: what a language model does in it besides
    writing: `queries` (SPARQL, where a question becomes no plan), `tools` (it calls tools, within `limits`), `themes` (a
    partial answer from each theme that was found, then the whole).
    """

    name: str = Field(default="", exclude=True)  # set by `load_modes`: in the file it is the key
    title: dict[str, str]
    channels: tuple[str, ...]
    expansion: tuple[Expansion, ...] = ()
    plans: Literal["first", "only", "never"]
    thresholds: dict[str, float] = Field(default_factory=dict)
    needs: tuple[str, ...] = ()
    model: Literal["", "queries", "tools", "themes"] = ""
    limits: AgentLimits = AgentLimits()

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if "en" not in self.title:
            raise ValueError("its title has no English (en)")
        if self.plans == "only" and self.channels:
            raise ValueError("answers by plans only, so it searches by no channels: channels: []")
        if unknown := self.thresholds.keys() - {*self.channels}:
            raise ValueError(f"has thresholds of channels that it does not search by: {', '.join(unknown)}")
        return self

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


RESERVED = frozenset({"walker"})
"""Names that are kept for modes to come."""


class ModesPart(Record):
    """`modes.yaml`."""

    modes: dict[ModeName, Mode]

    @field_validator("modes")
    @classmethod
    def _free(cls, modes: dict[str, Mode]) -> dict[str, Mode]:
        if taken := RESERVED & modes.keys():
            raise ValueError(f"{', '.join(taken)} is a reserved name: call it otherwise")
        return modes


def load_modes(folder: Path | str | None = None) -> dict[str, Mode]:
    """The modes by name, the default first: those that ship, then a project's own, which may take the place of ours.

    Raises ConfigError with every mistake of the first file that has any.
    """
    places = dict.fromkeys((default_folder() / FILE, config_folder(folder) / FILE))
    parts = [read_part(ModesPart, place) for place in places if place.is_file()]
    return {
        name: mode.model_copy(update={"name": name}) for part in parts for name, mode in part.modes.items()
    }
