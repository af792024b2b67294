"""Keys of method.yaml that were settings once, so that who still sets one is told what became of it.

The table holds every key of version 0.1.0, below its section; those that are settings still are among them.
"""

from __future__ import annotations

_KEYS = """
relationships:
discovery: excluded_types excluded_namespaces
chunks: entities max_bits
harvest: edge_rows broken_lines_shown
requests: batch_entities page_rows subject_rows timeout_seconds pause_seconds parallel retries first_wait_seconds
  longest_wait_seconds response_bytes blank_rows blank_depth request_budget
workers: chunks
names: label_properties alternative_properties name_properties title_properties value_properties identifier_classes
  role_properties
dates: time_span_properties outer_begin outer_end inner_begin inner_end outer_whole inner_whole qualifiers
links: properties authorities
images: properties address_properties pattern iiif_pattern
suspects: empty_id empty_id_triples single_valued single_values
documents: literal_values literal_characters relationship_lines lines targets vague_targets noted_targets noted_types
  attributes attribute_properties type_properties
chaining: thin_characters limit_characters strategy exempt_categories
windows: tokens batch
dense: codes_from scanned compared
sparse: k1 b epsilon
checks: shown broken_share unmapped_share own_share dangling_share thin_share oversized_share entities_fall coverage_fall
  coverage_entities norm_error duplicate_share drift_vectors drift_cosine recall_questions recall_documents recall_least
  violating_share shapes shapes.entities shapes.statements
pagerank: damping tolerance iterations top
aggregation: work_properties actor_properties
date_index: relationships
profile: classes types properties examples top type_top type_languages characters broader_properties type_classes makers
  places depiction_properties containing_properties coordinate_properties identifier_properties
retrieval: k k.specific k.enumeration k.aggregation pool_factor rrf_k weights similarity question_characters stages
  stages.dense stages.sparse stages.named stages.tied stages.dated stages.walked stages.typed stages.informative
  stages.subgraph stages.adjacency stages.diversity stages.modifiers anchors mentions mentions.least mentions.least_of_cue
  reach reach.cued reach.other reach.vague reach.aside reach.own reach.own.specific reach.own.enumeration
  reach.own.aggregation reach.keep reach.full dated dated.relationships dated.possible walked walked.hops walked.nodes
  reserved reserved.specific reserved.enumeration reserved.aggregation non_informative non_informative.types
  non_informative.share adjacency adjacency.max_hops adjacency.two_hop_divisor subgraph subgraph.relevance
  subgraph.connectivity subgraph.redundancy subgraph.category_bonus subgraph.tied_bonus subgraph.oversized_triples
  subgraph.oversized_penalty subgraph.type_modifiers
linking: names names.left_out names.words names.stop_weight names.spelling names.spelling.shortest names.spelling.two_slips
  names.spelling.prefix characters tokens longest_name gap reach variant similar_words word_postings question_postings
  candidates suggested_postings begun common_share common_names common_least plain short_number prior least keep entities
context: characters tokens document_characters line_characters long_line_characters long_lines name_characters decay beside
  history_turns triples triples.characters triples.per_entity triples.entity_characters triples.looked_at triples.high_value
  triples.excluded aggregation aggregation.characters aggregation.types aggregation.central aggregation.makers
  aggregation.relationships
conversation: pivots more vague_words questions turns focus shown excluded excluded_ratio rewrite_length seconds references
planner: tokens shares label_characters mentioned types_of earlier seconds reply_tokens repair_characters told_constraints
wikidata: entities timeout_seconds failure_seconds address response_bytes cached characters values properties
answers: quality quality.grounded quality.coverage quality.citations quality.form warn_below specific_sentences
  first_seconds whole_seconds whole_characters snippet_characters evidence_lines lineage_ways neighbours noun_capitals
  abbreviations numbers common joints titles refusals planted licence attribution coordinates coordinates.point
  coordinates.latitude coordinates.longitude coordinates.shape coordinates.place dates dates.time_span dates.events
plans: deepest largest most_rows block_rows kept_ways same_properties same_iris
evaluation: headline overall resamples confidence seed
"""


def _whole(table: str) -> frozenset[str]:
    sections = [line.partition(":") for line in table.replace("\n  ", " ").split("\n") if line]
    keys = {f"{section}.{key}" for section, _, within in sections for key in within.split()}
    return frozenset(keys | {section for section, _, _ in sections})


FORMER = _whole(_KEYS)
"""Whole keys, with points: `retrieval.reach.own`."""
FORMER_QUESTIONS = frozenset(
    {"grammar", "nouns", "conversation"}
    | {
        f"languages.{code}.{words}"
        for code in ("en", "fr", "de", "el", "nl")
        for words in ("aggregation", "enumeration", "count", "stop", "expects")
    }
)
"""Keys of questions.yaml that were settings once."""
MOVED = {
    **dict.fromkeys(("conversation.pivots", "conversation.more", "conversation.references"), "languages/"),
    **dict.fromkeys(FORMER_QUESTIONS, "languages/"),
    "linking.plain": "questions.yaml",
    **dict.fromkeys((key for key in FORMER if key.startswith("retrieval.stages")), "modes.yaml"),
}
"""What stood in other files, and the file or folder that holds it now."""
FORMER_FILES = {
    "kinds.yaml": "Labels of types in the data are read by themselves, words for a relation stand in relations.yaml.",
    "parsing.yaml": "Words of languages stand in the product's config/languages.",
    "exonyms.yaml": "What places and peoples are called in other languages stands in the product's config/words/names.yaml.",
}
"""Files of a project's own that were read once, and where their words come from now."""
