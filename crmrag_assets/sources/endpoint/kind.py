"""A SPARQL endpoint as a source: discovered by pages, fetched in batches, blank nodes named as files' are.

And what is looked at before: can its format be trusted, does it hold CIDOC-CRM, what will a harvest cost, what are its
entities linked with?
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from functools import cached_property, partial
from math import ceil, erfc, inf, sqrt
from pathlib import Path

import polars as pl
import pyoxigraph as ox

from crmrag_assets.build.step import Progress, Turns, chunk_bits
from crmrag_assets.harvest.report import MERGED, REPEATED, ROUNDED, Gathered, Missing, Tally, Traffic
from crmrag_assets.harvest.source import (
    ETAG,
    FAN_IN,
    MODIFIED,
    TRIPLES,
    Counted,
    Discovery,
    Fetched,
    in_namespace,
    without_schema,
)
from crmrag_assets.harvest.spool import SpoolWriter, read_buckets
from crmrag_assets.harvest.triples import COLUMNS, IRI
from crmrag_assets.sources.endpoint.batches import Harvested, harvest, harvest_odd
from crmrag_assets.sources.endpoint.blanks import harvest_blanks
from crmrag_assets.sources.endpoint.client import Client, Learned, Unanswered
from crmrag_assets.sources.endpoint.queries import (
    PRECISE,
    PROBE,
    PROBED,
    Part,
    all_subjects,
    class_list,
    count_subjects,
    count_triples,
    counted_page,
    counted_subjects,
    digest_filter,
    is_iri,
    listed_as,
    pointing_at,
    property_list,
    rows_of,
    stated_dates,
    subject_page,
    typed,
    untyped,
)
from crmrag_assets.sources.endpoint.results import TSV, Row, Table
from crmrag_assets.sources.kinds import Kind, Opening
from crmrag_assets.sources.rdf.lines import valid_iri
from crmrag_query.artifacts.manifest import BUCKETS, bucket_of, canonical_json, write_text
from crmrag_query.config.loading import Method
from crmrag_query.config.operations import Watching
from crmrag_query.config.reading import Requests
from crmrag_query.config.sources import EndpointConfig
from crmrag_query.errors import SourceError
from crmrag_query.ontology.load import normalise_class, normalise_property
from crmrag_query.syntax import RDF_TYPE

KEPT = 86_400.0  # seconds: an interruption may last a night, but old lists belong to another state of the endpoint


@dataclass(frozen=True)
class Journal:
    """Answers by the text of their query, in ``folder``; ``state`` is what else they depend on, such as the address."""

    folder: Path
    state: str

    def strings(self, query: str, ask: Callable[[str], list[str]]) -> list[str]:
        """The list that answers the query: from disk, else asked for and kept."""
        path = self.folder / f"{hashlib.sha256(f'{self.state} {query}'.encode()).hexdigest()[:32]}.json"
        try:
            # of a time to come where the clock was set back since
            is_fresh = abs(time.time() - path.stat().st_mtime) <= KEPT
            kept = json.loads(path.read_bytes()) if is_fresh else None
        except (OSError, ValueError):
            kept = None
        if not isinstance(kept, list) or not all(isinstance(text, str) for text in kept):
            kept = ask(query)
            self.folder.mkdir(parents=True, exist_ok=True)
            write_text(path, canonical_json(kept))
        return kept

    def forget(self) -> None:
        """Remove all that is kept."""
        shutil.rmtree(self.folder, ignore_errors=True)


LEAST = 100  # subjects in a page below which sorting is given up
DIGITS = "0123456789abcdef"
DEEPEST = 5  # digits of the MD5: about a million parts
BY_CLASS = "classes whose subjects were read one class after another"
BY_DIGEST = "reads of subjects by the MD5 of their IRIs, as the endpoint would not sort"
AGAIN = "subjects that only a second reading found"
UNCOUNTED = "subjects that no count verified"


@dataclass(frozen=True)
class Subjects:
    """IRIs of subjects as the endpoint spells them, sorted; those of an excluded type; how many it counts.

    ``triples``: the number of a subject's triples, of those that it was given with.
    """

    iris: tuple[str, ...]
    excluded: frozenset[str]
    counted: int | None
    missing: tuple[Missing, ...] = ()
    triples: Mapping[str, int] = field(default_factory=dict)


class _Unsorted(Exception):
    """The endpoint will not give these subjects in order."""


def discover_subjects(
    client: Client, journal: Journal, excluded_types: Sequence[str], progress: Progress
) -> Subjects:
    """Every subject that is an IRI; raises SourceError when the endpoint stops answering."""
    reading = _Reading(client, journal, progress)
    found, counted = reading.all()
    if counted is None:
        client.note(UNCOUNTED, len(found))
    missing: tuple[Missing, ...] = ()
    if counted is not None and len(found) < counted:
        lost = counted - len(found)
        missing = (Missing(f"{lost:,} of {counted:,} subjects are counted and were never given"),)
    excluded = reading.instances(excluded_types)
    return Subjects(tuple(sorted(found)), frozenset(excluded & found), counted, missing, reading.triples)


class _Reading:
    """Reads subjects, and tells how far it is."""

    def __init__(self, client: Client, journal: Journal, progress: Progress) -> None:
        self._client, self._journal, self._progress = client, journal, progress
        self._total: int | None = None
        self.triples: dict[str, int] = {}
        self._counts_each = True  # whether the endpoint gives subjects with the numbers of their triples
        self._limit = client.settings.page_rows  # what the endpoint sorted at most, once it refused more

    def counted(self, only: str = "") -> int | None:
        found = self._client.counted(count_subjects(self._client.scope, only))
        if not only and found is not None:
            self._total = found
        return found

    def all(self) -> tuple[set[str], int | None]:
        """All subjects, and their number: read in order, again where some are lacking, then class by class."""
        found, counted = set[str](), self.counted()
        if counted is not None and counted <= self._client.settings.subject_rows:
            # where as many come in one response as are counted, nothing need be sorted
            with suppress(Unanswered):
                found |= set(self._counted(counted_subjects(self._client.scope)))
            if len(found) >= counted:
                return found, counted
        try:
            found |= set(self._pages("", self._client.settings.page_rows))
            if counted is not None and len(found) < counted:
                counted, before = self.counted(), len(found)
                self._journal.forget()
                found |= set(self._pages("", self._client.settings.page_rows // 2 or 1))
                self._client.note(AGAIN, len(found) - before)
            if counted is None or len(found) >= counted:
                return found, counted
        except _Unsorted:
            pass
        return found | self._by_class(), counted

    def instances(self, classes: Sequence[str]) -> set[str]:
        """Subjects of these classes; none where the endpoint does not answer."""
        return self._some(typed(self._client.scope, classes)) if classes else set()

    def _by_class(self) -> set[str]:
        scope = self._client.scope
        try:
            classes = sorted(filter(is_iri, self._client.strings(class_list(scope), "class")))
        except Unanswered:
            return self._by_digest("")
        found = set[str]()
        for one in classes:
            self._client.note(BY_CLASS)
            found |= self._some(typed(scope, [one]))
        return found | self._some(untyped(scope))

    def _some(self, only: str) -> set[str]:
        try:
            found = set(self._pages(only, self._client.settings.page_rows))
        except _Unsorted:
            return self._by_digest(only)
        counted = self.counted(only)
        return found if counted is None or len(found) >= counted else found | self._by_digest(only)

    def _pages(self, only: str, limit: int) -> Iterator[str]:
        """Subjects page by page, until twice none is new: a short page may be a silent cap, an empty one a fault."""
        after, seen, ended = "", set[str](), False
        sorted_rows = limit = min(limit, self._limit)
        while True:
            try:
                page = self._page(only, after, limit)
            except Unanswered as error:
                if limit <= LEAST:
                    raise _Unsorted from error
                sorted_rows = limit = max(LEAST, limit // 10)
                continue
            self._limit = sorted_rows
            fresh = [iri for iri in page if iri not in seen]
            if not fresh and ended:
                return
            ended = not fresh
            limit -= ended and limit > 1  # another text, so that neither the journal nor a cache answers
            seen.update(fresh)
            self._client.brought(len(fresh))
            yield from fresh
            after = page[-1] if fresh else after
            self._progress.advance(len(seen), self._total, "subjects found")
            if self._total is not None and len(seen) >= self._total:
                return

    def _page(self, only: str, after: str, limit: int) -> list[str]:
        if not only and self._counts_each:
            try:
                return self._counted(counted_page(self._client.scope, after, limit))
            except Unanswered:
                self._counts_each = False
        query = subject_page(self._client.scope, after, limit, only)
        return self._journal.strings(query, partial(self._client.strings, variable=listed_as(only)))

    def _counted(self, query: str) -> list[str]:
        """Subjects that a query gives with the numbers of their triples; these are kept."""

        def asked(query: str) -> list[str]:
            return [f"{n} {iri}" for iri, n in self._client.counted_strings(query)]

        lines = self._journal.strings(query, asked)
        page = [(iri, n) for n, _, iri in (line.partition(" ") for line in lines)]
        self.triples.update((iri, int(n)) for iri, n in page if n.isdecimal())
        return [iri for iri, _ in page]

    def _by_digest(self, only: str, digest: str = "", found: set[str] | None = None) -> set[str]:
        """Subjects in any order, in as many parts as bring more than was ``found``, which one response gave."""
        self._client.note(BY_DIGEST)
        found = self._listed(only, digest) if found is None else found
        counted = self.counted(self._part(only, digest))
        if (counted is not None and len(found) >= counted) or len(digest) == DEEPEST:
            return found
        parts = {digest + digit: self._listed(only, digest + digit) for digit in DIGITS}
        if found >= set[str]().union(*parts.values()):  # no row is lacking, or none can be had
            return found
        return found.union(*(self._by_digest(only, digit, part) for digit, part in parts.items()))

    def _listed(self, only: str, digest: str) -> set[str]:
        part = self._part(only, digest)
        try:
            return set(self._client.strings(all_subjects(self._client.scope, part), listed_as(part)))
        except Unanswered:
            return set()

    def _part(self, only: str, digest: str) -> str:
        """The pattern of subjects whose MD5 begins so."""
        if not digest:
            return only
        return f"{only or self._client.scope.triples('?e', '?p', '?o')} {digest_filter('?e', digest)}"


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


SUBJECTS = "subjects.parquet"  # in the folder of discovery: the subjects that are asked for
STATED = "stated"
SAMPLE = "sample of {} entities ({})"


def signals(client: Client, entities: Path, limits: Watching) -> dict[str, str]:
    """What the endpoint tells of itself now, by signal; one that it does not answer for is left out.

    ``entities``: the folder that discovery filled. Raises SourceError where the endpoint does not answer at all.
    """

    def counted() -> dict[str, str]:
        """The number of triples; and what the response says of its age, where that is not simply now."""
        found = {TRIPLES: str(client.count(count_triples(client.scope), patient=False))}
        if etag := client.headers.get("etag"):
            found[ETAG] = etag
        modified, sent = client.headers.get("last-modified", ""), client.headers.get("date", "")
        if modified and _seconds(modified) < _seconds(sent):
            found[MODIFIED] = modified
        return found

    def stated() -> dict[str, str]:
        """Dates and sizes that the endpoint states of its data sets, where it describes any."""
        values = sorted(client.strings(stated_dates(client.scope), "stated"))
        return {STATED: ", ".join(values)} if values else {}

    def sampled() -> dict[str, str]:
        """A hash over the triples of some entities, blank nodes aside; none where no entity has any."""
        iris = sample_of(entities, min(limits.sampled, client.settings.batch_entities))
        if not iris:
            return {}
        query = rows_of(Part(tuple(iris), unnamed=True), client.scope)
        rows = {"\t".join(map(str, row)) for row in client.rows(query, patient=False)}
        name = SAMPLE.format(len(iris), _hash("\n".join(iris))[:8])
        return {name: _hash("\n".join(sorted(rows)))} if rows else {}

    # A request that begins until then may take as long again.
    end = time.monotonic() + 2 * limits.request_seconds
    found: dict[str, str] = {}
    for ask in (counted, stated, sampled):
        if time.monotonic() + client.settings.pause_seconds > end:
            break
        with suppress(Unanswered):
            found |= ask()
    return found


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


def _seconds(date: str) -> float:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, OverflowError):
        return 0.0


def sample_of(entities: Path, size: int) -> list[str]:
    """Entities that discovery listed, the same each time, from everywhere in the list; none before a discovery."""
    try:
        listed = pl.read_parquet(entities / SUBJECTS, columns=["raw", "iri", "excluded"])
    except (OSError, pl.exceptions.PolarsError):
        return []
    named = listed.filter(~pl.col("excluded") & (pl.col("raw") == pl.col("iri"))).get_column("iri")
    return named.gather_every(max(1, len(named) // size)).head(size).to_list()


SETTLED, JOURNAL = "blank_nodes.json", "journal"


@dataclass
class SparqlEndpoint:
    """An endpoint; ``work`` keeps what helps later requests, ``refreshed`` tells one harvest of it from the next.

    ``turns``: at which its requests and those of other builds are sent.
    """

    config: EndpointConfig
    method: Method
    work: Path
    refreshed: str = ""
    turns: Turns | None = None
    _lists: dict[Path, pl.DataFrame] = field(default_factory=dict, init=False, repr=False)
    _held: dict[str, pl.DataFrame] = field(default_factory=dict, init=False, repr=False)
    _lost: list[Missing] = field(default_factory=list, init=False, repr=False)

    def fingerprint(self) -> str:
        """SHA-256 of address, graphs and the time of the last refresh: an endpoint has no checksum of its content."""
        identity = self.config.model_dump(mode="json", include={"url", "graphs", "default_graphs"})
        identity["refreshed"] = self.refreshed
        return hashlib.sha256(canonical_json(identity).encode()).hexdigest()

    def discover(self, folder: Path, progress: Progress) -> Discovery:
        """Count, list the subjects, and fetch what has blank nodes. Raises SourceError."""
        client, journal = self._client, Journal(self.work / JOURNAL, self.fingerprint())
        excluded = self.method.discovery
        settle_format(client)
        with client.workers() as pool:
            counting = pool.submit(client.counted, count_triples(client.scope))
            require_crm(client)
            fetching = pool.submit(harvest_blanks, client)
            subjects = discover_subjects(client, journal, excluded.excluded_types, progress)
            triples, blanks = counting.result(), fetching.result()
        tally, distinct = Tally(), list(dict.fromkeys(blanks.quads))
        writer = SpoolWriter(folder, tally)
        writer.add_blank(writer.add(distinct))
        writer.close()
        client.note(REPEATED, len(blanks.quads) - len(distinct))
        client.note(MERGED, writer.skolemiser.merged_triples)
        listed, nameless = _listed(subjects, excluded.excluded_namespaces)
        own = ~pl.col("s").is_in(listed.get_column("iri").implode())
        unnamed = without_schema(read_buckets(folder, range(BUCKETS)).unique().filter(own), excluded)
        listed.write_parquet(folder / SUBJECTS)
        apart = blanks.counted != 0
        write_text(folder / SETTLED, canonical_json({"apart": apart}))
        self._remember()
        schema = int(listed.get_column("excluded").sum())
        report = writer.report(
            triples_read=triples or 0,
            triples=max(0, (triples or 0) - unnamed.excluded_triples),
            entities=len(listed) - schema + unnamed.entities,
            excluded_subjects=schema + unnamed.excluded_subjects,
        )
        return Discovery(
            report.entities,
            report.triples,
            chunk_bits(report.entities, self.method.chunks.entities),
            report,
            self._gathered((*subjects.missing, *nameless, *blanks.missing)),
            Counted(
                triples,
                subjects.counted,
                each=not apart and not listed.get_column("triples").null_count(),
            ),
        )

    def fetch(self, folder: Path, buckets: range) -> Fetched:
        """The triples of the named subjects of these buckets from the endpoint, of the others from discovery."""
        listed = self._subjects(folder).filter(pl.col("bucket").is_in(list(buckets)))
        Journal(self.work / JOURNAL, "").forget()  # discovery is over
        self._client.go_on()
        found = self._harvested(folder, listed)
        parts = [self._frame(found)]
        if _apart(folder):
            parts.append(read_buckets(folder, buckets).select(*COLUMNS))
        self._remember()
        return Fetched(pl.concat(parts), self._gathered(found.missing))

    def recount(self, folder: Path) -> Counted:
        client, scope = self._client, self._client.scope
        return Counted(client.counted(count_triples(scope)), client.counted(count_subjects(scope)))

    def entity_iris(self, folder: Path) -> list[str]:
        listed = self._subjects(folder)
        named = listed.filter(~pl.col("excluded")).get_column("iri").to_list()
        others = self._from_blanks(folder).get_column("s").unique().sort()
        return [*named, *others.filter(~others.is_in(listed.get_column("iri").implode())).to_list()]

    def neighbours(self, folder: Path, iris: Sequence[str]) -> Mapping[str, Sequence[str]]:
        links = self._held_of(folder, iris)
        into = pointing(self._client, self._from_blanks(folder), iris)
        return joined(iris, links, into, frozenset(self.entity_iris(folder)))

    def triples_of(self, folder: Path, iris: Sequence[str]) -> Fetched:
        frame = self._held_of(folder, iris)
        lost, self._lost[:] = tuple(self._lost), []
        return Fetched(frame, self._gathered(lost))

    def _held_of(self, folder: Path, iris: Sequence[str]) -> pl.DataFrame:
        """All triples of these subjects, asked for once each: later they come from memory."""
        new = [iri for iri in iris if iri not in self._held]
        found = self._harvested(folder, self._subjects(folder).filter(pl.col("iri").is_in(new)))
        self._lost.extend(found.missing)
        for (iri,), frame in self._frame(found).partition_by("s", as_dict=True).items():
            self._held[str(iri)] = frame
        own = [self._held[iri] for iri in iris if iri in self._held]
        blanks = self._from_blanks(folder).filter(pl.col("s").is_in(list(iris)))
        return pl.concat([blanks.select(*COLUMNS), *own])

    def forecast(self, found: Discovery, folder: Path, sample: Traffic) -> tuple[int, float]:
        asked = self.config.resolved(self.method.requests)
        return forecast(found, asked, seconds_of_batch(sample, found, asked))

    def signals(self, folder: Path, limits: Watching) -> dict[str, str]:
        return signals(self._brief_client(limits.request_seconds), folder, limits)

    def _brief_client(self, seconds: float) -> Client:
        """A client for a look at the endpoint between builds: it asks once, and waits no longer for a response."""
        requests = self.config.resolved(self.method.requests)
        patience = {"retries": 0, "timeout_seconds": min(seconds, requests.timeout_seconds)}
        return self._client_of(requests.model_copy(update=patience), seconds)

    @cached_property
    def _client(self) -> Client:
        return self._client_of(self.config.resolved(self.method.requests), inf)

    def _client_of(self, requests: Requests, patience: float) -> Client:
        """It takes as many turns at once as the data set asks for, unless there are fewer, and waits so long for one."""
        turns = self.turns and replace(self.turns.at_most(requests.parallel), patience=patience)
        return Client(self.config, requests, Learned.load(self._learned), turns)

    @property
    def _learned(self) -> Path:
        return self.work / f"endpoint-{self.fingerprint()[:16]}.json"

    def _remember(self) -> None:
        """Keep what was learned of the endpoint for the next process that asks it."""
        if self._client.learned != Learned.load(self._learned):
            self.work.mkdir(parents=True, exist_ok=True)
            self._client.learned.save(self._learned)

    def _gathered(self, missing: Sequence[Missing]) -> Gathered:
        return replace(self._client.gathered(), missing=tuple(missing))

    def _subjects(self, folder: Path) -> pl.DataFrame:
        if folder not in self._lists:
            self._lists[folder] = pl.read_parquet(folder / SUBJECTS)
        return self._lists[folder]

    def _from_blanks(self, folder: Path) -> pl.DataFrame:
        """The triples that discovery fetched with their blank nodes, those of schema terms left out."""
        return without_schema(read_buckets(folder, range(BUCKETS)), self.method.discovery).frame

    def _harvested(self, folder: Path, listed: pl.DataFrame) -> Harvested:
        """All triples of the listed subjects but those that discovery fetched with their blank nodes."""
        apart = _apart(folder)
        odd = {raw: iri for raw, iri in listed.select("raw", "iri").iter_rows() if raw != iri}
        plain = listed.filter(pl.col("raw") == pl.col("iri")).get_column("iri").to_list()
        counted = dict(listed.drop_nulls("triples").select("raw", "triples").iter_rows())
        found = harvest(self._client, plain, apart, counted)
        if odd:
            self._client.note("subjects whose IRIs were repaired", len(odd))
            found = Harvested.joined([found, harvest_odd(self._client, odd, apart)])
        return found

    def _frame(self, found: Harvested) -> pl.DataFrame:
        """Distinct triples; the others are counted."""
        frame = found.frame
        distinct = frame.unique()
        self._client.note(REPEATED, len(frame) - len(distinct))
        return distinct


def _apart(folder: Path) -> bool:
    """Whether discovery fetched triples with blank nodes, which chunks then leave out."""
    return bool(json.loads((folder / SETTLED).read_bytes())["apart"])


def _listed(subjects: Subjects, namespaces: Sequence[str]) -> tuple[pl.DataFrame, list[Missing]]:
    """Subjects by bucket: as the endpoint spells them, repaired, and whether they are terms of a schema; and the others."""
    rows, missing = [], list[Missing]()
    for raw in subjects.iris:
        try:
            iri = raw if is_iri(raw) else valid_iri(raw).value
        except ValueError:
            missing.append(Missing("its IRI is relative or invalid beyond repair", raw))
            continue
        rows.append((raw, iri, bucket_of(iri), raw in subjects.excluded, subjects.triples.get(raw)))
    schema = {
        "raw": pl.String,
        "iri": pl.String,
        "bucket": pl.UInt8,
        "excluded": pl.Boolean,
        "triples": pl.Int64,
    }
    frame = pl.DataFrame(rows, schema=schema, orient="row").sort("bucket", "iri", "raw")
    return frame.with_columns(pl.col("excluded") | in_namespace(namespaces, "iri")), missing


def open_endpoint(config: EndpointConfig, opening: Opening) -> SparqlEndpoint:
    return SparqlEndpoint(config, opening.method, opening.work, opening.refreshed, opening.turns)


KIND = Kind(EndpointConfig, open_endpoint, ask=first_look)
