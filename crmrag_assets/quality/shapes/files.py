"""Reading SHACL shapes: Turtle of the operator's own, of which nothing is run and for which nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from crmrag_query.config.folders import default_folder
from crmrag_query.errors import ConfigError, MissingExtraError

if TYPE_CHECKING:
    import rdflib

SHIPPED = "shapes/crm.ttl"
SHACL = "http://www.w3.org/ns/shacl#"
RUNS = (
    "sparql", "select", "ask", "construct", "update", "rule", "js", "jsFunctionName", "jsLibrary", "expression",
    "validator", "nodeValidator", "propertyValidator", "SPARQLTarget", "JSConstraint", "SPARQLFunction",
)  # fmt: skip
"""Terms of SHACL by which shapes would have queries, rules or scripts run, or define components of their own."""
CORE = "Say it in SHACL Core (https://www.w3.org/TR/shacl/#core-components); queries and code are not run."


def read_shapes(files: Iterable[Path] = ()) -> rdflib.Graph:
    """The shapes for CIDOC-CRM and those of ``files``, together.

    Raises ConfigError for a file that is missing, no Turtle, holds no shape, or would have something run;
    MissingExtraError without rdflib.
    """
    try:
        import rdflib
    except ImportError as error:
        raise MissingExtraError("SHACL", "build", "rdflib") from error
    found = rdflib.Graph()
    for file in (default_folder() / SHIPPED, *files):
        found += _read(file)
    return found


def _read(file: Path) -> rdflib.Graph:
    import rdflib

    shapes = rdflib.Graph()
    try:
        shapes.parse(data=file.read_text(encoding="utf-8"), format="turtle", publicID=file.resolve().as_uri())
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise ConfigError.single(file, "", f"the shapes cannot be read: {reason}") from error
    except Exception as error:  # rdflib's parser raises what it likes
        where = f"line {error.lines + 1}" if isinstance(getattr(error, "lines", None), int) else ""  # type: ignore[attr-defined]
        reason = str(getattr(error, "message", error)).partition("\n")[0]
        raise ConfigError.single(
            file, where, f"the shapes are no Turtle: {reason}", remedy="Correct that line."
        ) from error
    _require_core(shapes, file)
    return shapes


def _require_core(shapes: rdflib.Graph, file: Path) -> None:
    from rdflib import RDF, URIRef

    for name in RUNS:
        term = URIRef(SHACL + name)
        if (None, term, None) in shapes or (None, RDF.type, term) in shapes:
            raise ConfigError.single(
                file, f"sh:{name}", "shapes may not have anything run", remedy=f"Take it out. {CORE}"
            )
    kinds = (URIRef(SHACL + "NodeShape"), URIRef(SHACL + "PropertyShape"))
    if not any((None, RDF.type, kind) in shapes for kind in kinds):
        raise ConfigError.single(
            file,
            "",
            "it holds no shape",
            remedy="A shape is a sh:NodeShape: config/shapes/crm.ttl has examples.",
        )
