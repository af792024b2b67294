"""Load the method from a configuration folder, and hash its parts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from crmrag_query.config.exonyms import ExonymsPart
from crmrag_query.config.folders import config_folder, default_folder, part_file
from crmrag_query.config.kinds import KindsPart
from crmrag_query.config.models import (
    CategoriesPart,
    Constants,
    Method,
    PromptsPart,
    QuestionLexicon,
    RelationshipSet,
    SatellitesPart,
    TranslationsPart,
    WeightsPart,
)
from crmrag_query.config.parsing import ParsingPart
from crmrag_query.config.parts import EventsPart
from crmrag_query.config.reading import read_over, read_part
from crmrag_query.config.relations import RelationsPart
from crmrag_query.config.sets import SetsPart
from crmrag_query.errors import ConfigError


def load_method(folder: Path | str | None = None) -> Method:
    """The whole method; a file that the folder lacks comes from the configuration that ships, as does what its method.yaml
    leaves out.

    Raises ConfigError with every mistake of the first file that has any.
    """
    constants = read_over(Constants, part_file("method.yaml", folder), default_folder() / "method.yaml")
    sets = load_relationships(folder)
    if constants.relationships not in sets:
        raise ConfigError.single(
            part_file("method.yaml", folder), "relationships", "no such set of relationships",
            value=repr(constants.relationships), remedy=f"There are: {', '.join(sets)}.",
        )  # fmt: skip
    return Method(
        **{name: getattr(constants, name) for name in Constants.model_fields},
        categories=read_part(CategoriesPart, part_file("categories.yaml", folder)),
        events=read_part(EventsPart, part_file("event_classes.yaml", folder)),
        weights=read_part(WeightsPart, part_file("weights.yaml", folder)),
        satellites=read_part(SatellitesPart, part_file("satellites.yaml", folder)),
        prompts=read_part(PromptsPart, part_file("prompts.yaml", folder)),
        questions=read_part(QuestionLexicon, part_file("questions.yaml", folder)),
        translations=read_part(TranslationsPart, part_file("translations.yaml", folder)),
        relations=read_part(RelationsPart, part_file("relations.yaml", folder)).relations,
        parsing=read_part(ParsingPart, part_file("parsing.yaml", folder)),
        kinds=read_part(KindsPart, part_file("kinds.yaml", folder)),
        exonyms=read_part(ExonymsPart, part_file("exonyms.yaml", folder)),
        sets=read_part(SetsPart, part_file("sets.yaml", folder)),
        relationship_sets=sets,
    )


def load_relationships(folder: Path | str | None = None) -> dict[str, RelationshipSet]:
    """Sets of Fundamental Relationships by the name of their file; a project's own join those that ship."""
    places = (default_folder(), config_folder(folder))
    files = {path.stem: path for place in places for path in sorted((place / "relationships").glob("*.yaml"))}
    return {name: read_part(RelationshipSet, files[name]) for name in sorted(files)}


def config_hash(part: BaseModel | Mapping[str, Any]) -> str:
    """SHA-256 of the values, independent of comments and of the order of keys in the file, as hex digits.

    The order inside lists counts, and so does that of relationships and their paths (a match names its path).
    """
    values = part.model_dump(mode="json") if isinstance(part, BaseModel) else dict(part)
    text = json.dumps(_ordered(values), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _ordered(value: Any) -> Any:
    """Relationships and paths as lists of pairs, so that sorting keys keeps their order."""
    if isinstance(value, dict):
        return {
            key: [[name, _ordered(inner)] for name, inner in item.items()]
            if key in ("relationships", "paths") and isinstance(item, dict)
            else _ordered(item)
            for key, item in value.items()
        }
    return [_ordered(item) for item in value] if isinstance(value, list | tuple) else value


# Releases mostly hold the same method, and a megabyte of it takes a while to check.
@lru_cache(maxsize=8)
def read_stored_method(stored: bytes) -> Method:
    """The method as a release holds it; a constant that is younger than the release is the one that ships.

    Raises ValueError for anything else that is no method.
    """
    values = json.loads(stored)
    try:
        return Method.model_validate(values)
    except ValidationError as error:
        mistakes = error.errors()
        if any(one["type"] != "missing" for one in mistakes):
            raise
    shipped = load_method(default_folder()).model_dump(mode="json")
    for one in mistakes:
        *records, key = one["loc"]
        within: Any = values
        whole: Any = shipped
        for record in records:
            within, whole = within[record], whole[record]
        within[key] = whole[key]
    return Method.model_validate(values)
