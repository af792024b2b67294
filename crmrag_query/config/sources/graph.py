"""The kind `graph`: lists of edges, and what is told of their nodes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, field_validator, model_validator

from crmrag_query.config.reading import Record
from crmrag_query.config.sources import Files, Iri, SourceConfig, matching_files, named_file

NODE = "node/"  # in the IRI of a node, after the base


class Table(Record):
    """Files of one kind, and what their columns are called. `columns`: the names, where a file has no head."""

    files: Files
    columns: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _files_alone(cls, value: Any) -> Any:
        return {"files": value} if isinstance(value, str | list | tuple) else value


class EdgeTable(Table):
    """Edges: CSV, TSV, JSON lines, Parquet, or `.npz` of plain arrays. `source`, `target`, `relation`: the columns of the two
    ends and of what the edge says; without the last all edges say the same."""

    source: str = "source"
    target: str = "target"
    relation: str = "relation"


class NodeTable(Table):
    """Nodes. `id`, `label`, `text`, `type`: the columns of these; what is in others is stated by their names. `separator`: in
    a type, between it and the broader ones before it, as in `Science.Biology.Birds`."""

    id: str = "id"
    label: str = "label"
    text: str = "text"
    type: str = "type"
    separator: str = ""


class GraphConfig(SourceConfig):
    """A graph: its edges, and tables of its nodes.

    `base`: what the IRI of a node begins with. `relation`: what an edge says, an IRI or a few words. `node_class`: the class
    of every node, an IRI. `names`, `attributes`, `classes`: of an `.npz`, files with the names of nodes, of their features
    and of their labels, one a line.
    """

    alone: ClassVar[str] = "edges"
    edges: EdgeTable
    nodes: tuple[NodeTable, ...] = ()
    base: Iri = "urn:graph:"
    relation: str = Field(default="links to", min_length=1)
    node_class: Iri | None = None
    names: str = ""
    attributes: str = ""
    classes: str = ""

    @field_validator("nodes", mode="before")
    @classmethod
    def _one_or_many(cls, value: Any) -> Any:
        return [value] if isinstance(value, str | dict) else value

    def places(self) -> tuple[str, ...]:
        return tuple(name for _, table in self.tables() for name in table.files)

    def whole(self) -> tuple[str, ...]:
        return (self.base + NODE,)

    def tables(self) -> Iterator[tuple[str, Table]]:
        """The tables with the keys under which they stand, those of nodes first."""
        for number, table in enumerate(self.nodes):
            yield f"nodes[{number}]", table
        yield "edges", self.edges

    def paths(self, root: Path, key: str) -> tuple[Path, ...]:
        found = {
            path
            for place, table in self.tables()
            for path in matching_files(root, table.files, f"{key}.{place}.files")
        }
        return tuple(sorted(found))

    def require(self, root: Path, key: str) -> None:
        super().require(root, key)
        self.lists(root, key)

    def lists(self, root: Path, key: str = "") -> dict[str, Path]:
        """The files of names that are given, by their keys; ConfigError, with the ``key``, where there is no such file."""
        given = {name: getattr(self, name) for name in ("names", "attributes", "classes")}
        return {name: named_file(root, file, f"{key}.{name}") for name, file in given.items() if file}


CONFIG = GraphConfig
