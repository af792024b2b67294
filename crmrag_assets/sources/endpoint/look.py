"""First looks at an endpoint: which format it can be trusted with, and whether it holds CIDOC-CRM."""

from __future__ import annotations

import pyoxigraph as ox

from crmrag_assets.harvest.report import ROUNDED
from crmrag_assets.sources.endpoint.client import Client, Unanswered
from crmrag_assets.sources.endpoint.queries import PRECISE, PROBE, PROBED, class_list, property_list
from crmrag_assets.sources.endpoint.results import TSV, Row, Table
from crmrag_query.errors import SourceError
from crmrag_query.ontology.codes import normalise_class, normalise_property

EXPECTED: Row = (
    ox.Literal(PROBED[0]),
    ox.Literal(PROBED[1], language="el"),
    ox.Literal("x", datatype=ox.NamedNode("urn:x:crmrag#type")),
    ox.NamedNode(PROBED[2]),
)
VARIABLES = ("a", "b", "c", "d", "e")
SHOWN = 3


def settle_format(client: Client) -> None:
    """Ask for constants that formats get wrong; where TSV garbles them, JSON is asked for from then on."""
    if client.learned.json:
        return
    try:
        table = _probed(client)
        if table.format is not TSV or not _as_asked(table):
            client.learn_json()
            client.note("garbled TSV made JSON the format of all requests")
            table = client.table(PROBE, VARIABLES)
            if not _as_asked(table):
                client.note("constants that JSON brought back altered")
        if not all(_is_precise(row[-1]) for row in table.rows):
            client.note(ROUNDED)
    except Unanswered:
        client.note("probes of the format that were not answered")


def _probed(client: Client) -> Table[Row]:
    """The response to the probe, the second one where the first may have been damaged by chance."""
    table = client.table(PROBE, VARIABLES)
    return table if table.format is TSV and table.rows else client.table(PROBE, VARIABLES)


def _as_asked(table: Table[Row]) -> bool:
    return [row[:-1] for row in table.rows] == [EXPECTED]


def _is_precise(term: object) -> bool:
    try:
        return isinstance(term, ox.Literal) and float(term.value) == float(PRECISE)
    except ValueError:
        return False


def require_crm(client: Client) -> None:
    """Raise SourceError where no class and no property of the endpoint is CIDOC-CRM's.

    An endpoint that lists neither is taken on trust.
    """
    try:
        classes = client.strings(class_list(client.scope), "class")
        if any(normalise_class(iri) for iri in classes):
            return
        properties = client.strings(property_list(client.scope), "property")
    except Unanswered:
        client.note("lists of classes and properties that were not answered")
        return
    if any(normalise_property(iri) for iri in properties):
        return
    seen = ", ".join(sorted(properties)[:SHOWN])
    raise SourceError(
        f"There is no class or property of CIDOC-CRM at {client.url} "
        + (f"(properties: {seen})." if seen else "(it holds no triple in the graphs that are read)."),
        "Check the address and `graphs`, or add your ontology with `crmrag ontology extract`.",
    )
