"""What a language model looks for on pages, and what that becomes in CIDOC-CRM: `extraction.yaml`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from crmrag_query.config.reading import Record

_NAME = r"^[A-Z][A-Z0-9_]{0,39}$"
_TERM = r"^[A-Z]+\d+i?_[A-Za-z0-9_-]+$"
TypeName = Annotated[str, StringConstraints(pattern=_NAME)]
Term = Annotated[str, StringConstraints(pattern=_TERM)]
"""A class or property of CIDOC-CRM by its name, as `P67_refers_to`."""


class EntityType(Record):
    """`class`: of CIDOC-CRM; `label`: what the type is called, by language; `hint`: what a model is told of it."""

    model_config = ConfigDict(serialize_by_alias=True)

    crm_class: Term = Field(alias="class")
    label: dict[str, str] = Field(min_length=1)
    hint: str = ""


class RelationshipType(Record):
    """`path`: a property of CIDOC-CRM; or a property, the class of what lies between, and a second property. `property` with
    a `label` by language: a property of its own is stated, and the broader one of CIDOC-CRM beside it.
    """

    path: tuple[Term, ...] = ()
    property: Term | None = None
    label: dict[str, str] = Field(default_factory=dict)
    hint: str = ""

    @model_validator(mode="after")
    def _either(self) -> RelationshipType:
        if self.property is not None:
            if self.path or not self.label:
                raise ValueError("`property` stands with a `label`, and without `path`")
        elif len(self.path) not in (1, 3) or self.label:
            raise ValueError(
                "`path` has a property, or a property, a class and a property; or give `property` and `label`"
            )
        return self


class Profile(Record):
    """Types of entities and of relationships, by the names that a model is told."""

    entities: dict[TypeName, EntityType] = Field(min_length=1)
    relationships: dict[TypeName, RelationshipType] = Field(default_factory=dict)

    def schema_of_replies(self) -> dict[str, Any]:
        """The JSON schema of a reply."""

        def listed(**properties: Any) -> dict[str, Any]:
            item = {
                "type": "object", "properties": properties, "required": [*properties], "additionalProperties": False,
            }  # fmt: skip
            return {"type": "array", "items": item}

        text: dict[str, Any] = {"type": "string"}
        entities = listed(name=text, type=text | {"enum": [*self.entities]}, description=text)
        relationships = listed(
            source=text, target=text, type=text | {"enum": [*self.relationships]}, description=text
        )
        return {
            "type": "object",
            "properties": {"entities": entities, "relationships": relationships},
            "required": ["entities", "relationships"],
            "additionalProperties": False,
        }


class ExtractionPart(Record):
    """`extraction.yaml`. `version`: of what a model is told; `prompt`: with {entities} and {relationships}, which a profile
    fills."""

    version: Annotated[int, Field(ge=1)]
    prompt: str
    profiles: dict[str, Profile]

    def instructions(self, profile: str) -> str:
        """The prompt of a profile, one of ``profiles``."""
        chosen = self.profiles[profile]
        kinds: list[dict[str, Any]] = [dict(chosen.entities), dict(chosen.relationships)]
        entities, relationships = (
            "\n".join(f"- {name}{f': {one.hint}' if one.hint else ''}" for name, one in listed.items())
            for listed in kinds
        )
        return self.prompt.replace("{entities}", entities).replace("{relationships}", relationships)
