"""Constants of the build: what is harvested, named, written and chained (facts: method, Build)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from crmrag_query.config.reading import Record
from crmrag_query.config.types import (
    CategoryName,
    Codes,
    Count,
    NotNegative,
    Pattern,
    Positive,
    Properties,
    Share,
)


class Discovery(Record):
    """What is not an entity: ontology terms by type, and IRIs in an ontology's namespace."""

    excluded_types: tuple[str, ...]
    excluded_namespaces: tuple[str, ...]


class Chunks(Record):
    """Entities per chunk until there are 2**max_bits chunks."""

    entities: Count
    max_bits: int


class Workers(Record):
    """Chunks to make for which another process is started."""

    chunks: Count


class Harvest(Record):
    """Sizes of files; how many broken lines are shown."""

    edge_rows: Count
    broken_lines_shown: Count


class Requests(Record):
    """How a SPARQL endpoint is asked: sizes, patience and politeness; a data set may set its own.

    `batch_entities` IRIs in one VALUES request; up to `subject_rows` subjects are discovered in one response, more of them
    in pages of `page_rows`. `pause_seconds` between the starts of two requests, at most `parallel` at once. A request that
    fails is tried `retries` times more, after `first_wait_seconds`, doubled each time up to `longest_wait_seconds`. Up to
    `blank_rows` triples with blank nodes are fetched in one response; more of them tree by tree, to `blank_depth` blank
    nodes below an entity.
    """

    batch_entities: Count
    page_rows: Count
    subject_rows: int = Field(ge=0)
    timeout_seconds: Positive
    pause_seconds: NotNegative
    parallel: Count
    retries: int = Field(ge=0)
    first_wait_seconds: NotNegative
    longest_wait_seconds: NotNegative
    response_bytes: Count
    blank_rows: int = Field(ge=0)
    blank_depth: Count


class Names(Record):
    """Where names stand, in order of preference."""

    label_properties: Properties
    alternative_properties: Properties
    name_properties: Properties
    title_properties: Properties
    value_properties: Properties
    identifier_classes: Codes
    role_properties: Properties


class Dates(Record):
    """Properties that state dates: the outer and inner bounds of a time-span, and the whole of it."""

    time_span_properties: Properties
    outer_begin: Properties
    outer_end: Properties
    inner_begin: Properties
    inner_end: Properties
    outer_whole: Properties
    inner_whole: Properties
    qualifiers: Properties


class Links(Record):
    """Properties that lead to the same or a like thing elsewhere; authorities told by their IRIs."""

    properties: Properties
    authorities: dict[str, Pattern]


class Images(Record):
    """Properties that lead to images, and what an image's address looks like."""

    properties: Properties
    address_properties: Properties
    pattern: Pattern
    iiif_pattern: Pattern


class DateIndex(Record):
    """The set of Fundamental Relationships whose ways to Time date an entity."""

    relationships: str


class Suspects(Record):
    """When an IRI is suspected to stand for many things merged by mistake.

    An IRI of `empty_id` form with at least `empty_id_triples` outgoing triples, or any IRI with more than
    `single_values` distinct values of a property that takes one.
    """

    empty_id: Pattern
    empty_id_triples: Count
    single_valued: Properties
    single_values: Count


class DocumentText(Record):
    """How much of an entity its document's text shows; the document's data holds everything."""

    literal_values: Count
    literal_characters: Count
    relationship_lines: Count
    lines: Count
    targets: Count
    vague_targets: Count
    noted_targets: Count
    noted_types: Count
    attributes: Count
    attribute_properties: Properties
    type_properties: Properties


class Chaining(Record):
    """Thin documents join a neighbour's: its richest, or all whose text stays under the limit."""

    thin_characters: Count
    limit_characters: Count
    strategy: Literal["richest", "all"]
    exempt_categories: tuple[CategoryName, ...]


class PageRank(Record):
    """PageRank on the graph of Fundamental Relationships (Page et al. 1999)."""

    damping: Share
    tolerance: Positive
    iterations: Count
    top: Count


class Aggregation(Record):
    """How works lead to their makers: property paths from a work's event or the work itself."""

    work_properties: Properties
    actor_properties: Properties


class Windows(Record):
    """Long documents are embedded as windows with the header repeated; sizes in the model's tokens."""

    tokens: Count
    batch: Count


class Dense(Record):
    """From how many windows on the dense index is scanned in 8-bit codes; how it is searched.

    `scanned`: nearest windows that are kept of a question's scan; `compared`: as many windows of a restricted search are
    compared one by one where those do not settle it.
    """

    codes_from: Count
    scanned: Count
    compared: Count


class Sparse(Record):
    """Okapi BM25 with a floor of `epsilon` times the mean idf (Robertson & Zaragoza 2009; rank-bm25)."""

    k1: Positive
    b: Share
    epsilon: float


class Shapes(Record):
    """How many entities are held against SHACL shapes, evenly of all classes, and what is shown to the shapes of each.

    `statements`: at most so many of one property of an entity, either way.
    """

    entities: Count
    statements: Count


class Checks(Record):
    """From where on a check of a finished artifact warns, or refuses it; shares are of 1.

    `own_share`: share of the entities whose IRIs begin with a host, from which that host counts as the data set's own.
    """

    shown: Count
    broken_share: Share
    unmapped_share: Share
    own_share: Share
    dangling_share: Share
    thin_share: Share
    oversized_share: Share
    entities_fall: Share
    coverage_fall: Share
    coverage_entities: Count
    norm_error: Positive
    duplicate_share: Share
    drift_vectors: Count
    drift_cosine: Share
    recall_questions: Count
    recall_documents: Count
    recall_least: Share
    violating_share: Share
    shapes: Shapes
