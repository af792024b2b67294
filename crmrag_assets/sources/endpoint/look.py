"""Looks at an endpoint before it is harvested: can its format be trusted, does it hold CIDOC-CRM, what will a harvest cost,
and what are its entities linked with?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import ceil, erfc, sqrt

import polars as pl
import pyoxigraph as ox

from crmrag_assets.harvest.report import ROUNDED, Traffic
from crmrag_assets.harvest.source import FAN_IN, Discovery
from crmrag_assets.harvest.triples import IRI
from crmrag_assets.sources.endpoint.client import Client, Unanswered
from crmrag_assets.sources.endpoint.queries import (
    PRECISE,
    PROBE,
    PROBED,
    class_list,
    count_subjects,
    count_triples,
    is_iri,
    pointing_at,
    property_list,
)
from crmrag_assets.sources.endpoint.results import TSV, Row, Table
from crmrag_query.config.loading import Method
from crmrag_query.config.reading import Requests
from crmrag_query.config.sources import EndpointConfig
from crmrag_query.errors import SourceError
from crmrag_query.ontology.load import normalise_class, normalise_property
from crmrag_query.syntax import RDF_TYPE

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
        table = client.table(PROBE, VARIABLES)
        if table.format is not TSV or not table.rows:  # it may have been damaged by chance
            table = client.table(PROBE, VARIABLES)
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


def _as_asked(table: Table) -> bool:
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


def first_look(config: EndpointConfig, method: Method) -> list[str]:
    """Lines on an endpoint, after about five requests; raises SourceError where it cannot be a source."""
    client = Client(config, config.resolved(method.requests))
    settle_format(client)
    require_crm(client)
    scope = client.scope
    lines = [
        f"{config.url} answers and holds CIDOC-CRM.",
        f"  triples   {_counted(client, count_triples(scope))}",
        f"  subjects  {_counted(client, count_subjects(scope))} (blank nodes aside)",
        f"  format    {'JSON (it garbles TSV)' if client.learned.json else 'TSV'}",
    ]
    traffic = client.gathered().traffic
    return [*lines, f"  time      {traffic.seconds / max(1, traffic.requests):.2f} s a request"]


def _counted(client: Client, query: str) -> str:
    try:
        return f"{client.count(query):,}"
    except Unanswered as error:
        return f"not counted: {error.reason}"


CLOSING = 2  # requests after the last chunk: triples and subjects are counted once more
NEGLIGIBLE = 1e-9


def forecast(
    discovery: Discovery, requests: Requests, seconds_per_batch: float | None = None
) -> tuple[int, float]:
    """Requests and seconds of a whole harvest, its discovery included, where nothing is repeated and nothing split.

    ``seconds_per_batch``: of a full batch's requests one after another, without pauses; None where it was not measured:
    the mean of discovery's requests is taken then. Chunks follow one another, and the batches of a chunk run side by side.
    """
    spent, chunks, report = discovery.gathered.traffic, 1 << discovery.bits, discovery.report
    mean = spent.seconds / max(spent.requests, 1)
    # by name subjects are asked for as the endpoint counts them: schema terms too, but no blank nodes
    subjects = discovery.counted.subjects if discovery.counted else None
    # about as many as were found: discovery brought the blank nodes, of which some are not subjects
    if subjects is None:
        subjects = max(0, discovery.entities + report.excluded_subjects - report.blank_nodes)
    batches, each = expected_batches(subjects, chunks, requests.batch_entities), requests_of_batch(discovery)
    waves = expected_batches(subjects, chunks, requests.batch_entities * requests.parallel)
    busy = waves * (each * mean if seconds_per_batch is None else seconds_per_batch)
    paced = each * batches * requests.pause_seconds
    closing = CLOSING * max(mean, requests.pause_seconds)
    seconds = spent.seconds + spent.waited + max(busy, paced) + closing
    return spent.requests + each * round(batches) + CLOSING, seconds


def requests_of_batch(discovery: Discovery) -> int:
    """One for its rows, and one for its count unless discovery counted the triples of each subject."""
    return 1 if discovery.counted is not None and discovery.counted.each else 2


def expected_batches(subjects: int, chunks: int, size: int) -> float:
    """How many batches of at most ``size`` subjects all chunks take, each subject being in a chunk at random.

    Sum over k of the probability that a chunk holds more than k batches: binomial, by its normal approximation.
    """
    if chunks == 1:
        return float(ceil(subjects / size))
    share = 1 / chunks
    mean, deviation = subjects * share, sqrt(subjects * share * (1 - share))
    expected = 1 - (1 - share) ** subjects
    filled = size
    while deviation and (beyond := erfc((filled + 0.5 - mean) / deviation / sqrt(2)) / 2) > NEGLIGIBLE:
        expected += beyond
        filled += size
    return chunks * expected


def seconds_of_batch(sample: Traffic, discovery: Discovery, requests: Requests) -> float | None:
    """Seconds of a full batch by what asking for a sample took; None where nothing was asked.

    The larger of two views: a batch takes as long as so many requests, or as so many rows.
    """
    if not sample.requests or not discovery.entities:
        return None
    rows = requests.batch_entities * discovery.triples / discovery.entities
    by_rows = sample.seconds * rows / sample.rows if sample.rows else 0.0
    return max(requests_of_batch(discovery) * sample.seconds / sample.requests, by_rows)


POINTED = 50  # entities in one request for what points at them
SPARE = 2  # times FAN_IN are asked for, as some are terms of a schema
Links = Mapping[str, set[str]]


def pointing(client: Client, blanks: pl.DataFrame, iris: Sequence[str]) -> Links:
    """Subjects that point at each of ``iris``: the first named ones, asked for, and all that were blank nodes."""
    found = defaultdict[str, set[str]](set)
    asked = list(filter(is_iri, iris))
    for at in range(0, len(asked), POINTED):
        _ask(client, asked[at : at + POINTED], found)
    known = blanks.filter((pl.col("kind") == IRI) & pl.col("o").is_in(list(iris)) & (pl.col("p") != RDF_TYPE))
    for s, o in known.select("s", "o").iter_rows():
        found[o].add(s)
    return found


def _ask(client: Client, targets: Sequence[str], found: dict[str, set[str]]) -> None:
    """Ask for what points at the targets, fewer at once where that is too much; a single one may stay without."""
    try:
        rows = client.table(pointing_at(client.scope, targets, SPARE * FAN_IN), ("iri", "target"), False).rows
    except Unanswered:
        client.note("requests for what points at entities that were not answered")
        half = len(targets) // 2
        for part in (targets[:half], targets[half:]) if half else ():
            _ask(client, part, found)
        return
    for iri, target in rows:
        if isinstance(iri, ox.Literal) and isinstance(target, ox.Literal):
            found[target.value].add(iri.value)


def joined(
    iris: Sequence[str], triples: pl.DataFrame, into: Links, entities: frozenset[str]
) -> dict[str, list[str]]:
    """Neighbours of each of ``iris``: all entities that it points at, then the first FAN_IN that point at it."""
    out = defaultdict[str, set[str]](set)
    links = triples.filter((pl.col("kind") == IRI) & (pl.col("p") != RDF_TYPE) & (pl.col("s") != pl.col("o")))
    for s, o in links.select("s", "o").iter_rows():
        if o in entities:
            out[s].add(o)
    found = {}
    for iri in iris:
        back = sorted(one for one in into.get(iri, ()) if one in entities and one != iri)[:FAN_IN]
        found[iri] = list(dict.fromkeys([*sorted(out[iri]), *back]))
    return found
