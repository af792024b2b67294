"""Every check by the artifact that it guards, in the order of a build."""

from __future__ import annotations

from crmrag_assets.build.invariants import manifest_verifies
from crmrag_assets.quality.coverage import as_much_is_known
from crmrag_assets.quality.documents import every_entity_is_told, lengths_are_fair
from crmrag_assets.quality.evaluated import retrieval_is_as_good
from crmrag_assets.quality.finding import Check
from crmrag_assets.quality.graph import (
    has_entities,
    no_triple_lost,
    not_much_is_gone,
    nothing_dangles,
    terms_are_known,
)
from crmrag_assets.quality.indexes import (
    dense_covers_documents,
    dense_finds_the_nearest,
    sparse_covers_documents,
)
from crmrag_assets.quality.shapes.check import shapes_hold
from crmrag_assets.quality.source import chunks_are_readable, few_lines_are_broken, harvest_is_whole
from crmrag_assets.quality.vectors import vectors_are_distinct, vectors_are_sound, vectors_have_not_drifted

CHECKS = (
    Check(
        "harvest_is_whole",
        "harvest_report",
        "warns",
        "Nothing that the source holds is missing, and its counts before and after are equal. If not, see the harvest report "
        "for what is missing and why, then read the source again (`crmrag build NAME --refresh`); where it changes all the "
        "time or will not give some triples, ask its operator for a dump and build from files.",
        harvest_is_whole,
    ),
    Check(
        "few_lines_are_broken",
        "harvest_report",
        "warns",
        "Few lines of the files cannot be read; they are skipped, each a triple less. If there are more, have the files "
        "exported again, or mended where the table of this check says.",
        few_lines_are_broken,
    ),
    Check(
        "chunks_are_readable",
        "harvest_report",
        "blocks",
        "Every chunk's file has the columns of triples and as many rows as were harvested. If not, the disk lost something: "
        "the message names the chunks to remove, so that the next build harvests them anew.",
        chunks_are_readable,
    ),
    Check(
        "no_triple_lost",
        "graph",
        "blocks",
        "Every triple of the harvested chunks is in the graph, once.",
        no_triple_lost,
    ),
    Check(
        "has_entities",
        "graph",
        "blocks",
        "The graph describes entities, and some are of a Fundamental Category: else no document could say anything. If not, "
        "the source is no CIDOC-CRM, or of an ontology whose table is missing in config/ontology.",
        has_entities,
    ),
    Check(
        "not_much_is_gone",
        "graph",
        "blocks",
        "The number of entities is not far below that of the current release. If it did, an export may have broken off, or "
        "a file may be left out. Where it is meant so: `checks: {entities_fall: 1}` in method.yaml for one build.",
        not_much_is_gone,
    ),
    Check(
        "terms_are_known",
        "graph",
        "warns",
        "Few uses of classes and properties that no ontology table has and no key of method.yaml names: no Fundamental "
        "Relationship follows these. If there are more, add the ontology's table, or a row in config/ontology/renames.csv.",
        terms_are_known,
    ),
    Check(
        "nothing_dangles",
        "graph",
        "warns",
        "Few of the data set's own IRIs are pointed at and never described. If there are more, a file may be left out of "
        "`rdf`, or a part of the endpoint was not harvested.",
        nothing_dangles,
    ),
    Check(
        "shapes_hold",
        "graph",
        "warns",
        "A sample of the entities keeps to the SHACL shapes for CIDOC-CRM and to the data set's own (`shapes` in "
        "datasets.yaml). If not, mend the data where it is made; `crmrag shacl NAME` lists every case.",
        shapes_hold,
    ),
    Check(
        "every_entity_is_told",
        "documents",
        "blocks",
        "Every entity has a document, or stands in that of another: what stands in none is never found.",
        every_entity_is_told,
    ),
    Check(
        "lengths_are_fair",
        "documents",
        "warns",
        "Few documents say next to nothing, few are longer than a context takes. If there are more: thin ones come from "
        "entities with few statements, oversized ones from hubs; `satellites.yaml` and `chaining` in method.yaml steer both.",
        lengths_are_fair,
    ),
    Check(
        "as_much_is_known",
        "profile",
        "warns",
        "The shares of entities with a label, a type and a date did not fall since the earlier release, in any category. If "
        "they did, something may be left out of the source: compare by `crmrag diff NAME`.",
        as_much_is_known,
    ),
    Check(
        "sparse_covers_documents",
        "bm25_index",
        "blocks",
        "The sparse index has as many documents as there are.",
        sparse_covers_documents,
    ),
    Check(
        "vectors_are_sound",
        "faiss_index",
        "blocks",
        "Every vector is of finite numbers and of length 1: else rankings are nonsense. If not, the encoder gave them: the "
        "message names the cache to remove.",
        vectors_are_sound,
    ),
    Check(
        "vectors_are_distinct",
        "faiss_index",
        "warns",
        "Few different texts have the very same vector. If there are more, the model does not tell the data's texts apart: "
        "choose one for its languages.",
        vectors_are_distinct,
    ),
    Check(
        "vectors_have_not_drifted",
        "faiss_index",
        "warns",
        "The mean vector points where that of the earlier release with the same encoder does. If not, the texts became "
        "others: see which by `crmrag diff NAME --texts`.",
        vectors_have_not_drifted,
    ),
    Check(
        "dense_covers_documents",
        "faiss_index",
        "blocks",
        "Every document has at least one row in the dense index.",
        dense_covers_documents,
    ),
    Check(
        "dense_finds_the_nearest",
        "faiss_index",
        "blocks",
        "For a sample of vectors the index finds the documents that a plain scan of all does.",
        dense_finds_the_nearest,
    ),
    Check(
        "manifest_verifies",
        "release",
        "fails",
        "Every file of the release is what its manifest pins. If not, go back to the previous release (`crmrag rollback "
        "NAME`), have the disk checked and build again.",
        manifest_verifies,
    ),
    Check(
        "retrieval_is_as_good",
        "evaluation",
        "warns",
        "Questions with known answers are retrieved for no worse than by the release evaluated before, by more than chance. "
        "If they are, the evaluation's report tells which; `crmrag rollback NAME` goes back.",
        retrieval_is_as_good,
    ),
)
