"""From a question to the context that its answer is written from: understand, search, gather lines, assemble."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from crmrag_query.answers.evidence import Evidence, gather, rank_evidence
from crmrag_query.answers.model import Model
from crmrag_query.answers.naming import type_nodes
from crmrag_query.answers.understand import FIRST, MODEL_STAGES, Understood, understand
from crmrag_query.artifacts.release import Release
from crmrag_query.config.query import Stages
from crmrag_query.context.assemble import assemble
from crmrag_query.context.records import Context
from crmrag_query.context.wikidata import WikidataTexts, images_of
from crmrag_query.questions.analysis import Analysis
from crmrag_query.questions.followup import ConversationState
from crmrag_query.retrieval.interleave import interleave
from crmrag_query.retrieval.pipeline import Candidate, Retrieved, k_of, retrieve
from crmrag_query.timing import Clock


@dataclass(frozen=True)
class Prepared:
    """All that an answer is written from; ``found``: the lines of the retrieved documents, ``ranked``: these, best first.

    ``images``: addresses of Wikidata's pictures of the context's sources, by node, where Wikidata is asked.
    ``timings``: milliseconds by stage; ``retrieval`` is all up to the ranked documents, ``total`` all up to the context,
    the language model's part left out.
    """

    understood: Understood
    retrieved: Retrieved
    found: tuple[Evidence, ...]
    ranked: tuple[Evidence, ...]
    context: Context
    timings: Mapping[str, float]
    images: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    @property
    def analysis(self) -> Analysis:
        return self.understood.analysis


def prepare(
    release: Release,
    question: str,
    state: ConversationState = FIRST,
    model: Model | None = None,
    stages: Stages | None = None,
    wikidata: WikidataTexts | bool | None = None,
) -> Prepared:
    """Everything for answering ``question`` after ``state``. Raises QuestionError; see ``understand``.

    ``wikidata``: whether its texts are wanted, None for what the data set says; or those of one's own instead of the release's.
    """
    clock, method = Clock(), release.method
    understood = understand(release, question, state, model)
    found = search(release, understood, stages)
    extractive, reading = method.questions.extractive, understood.analysis.reading
    with clock("evidence"):
        lines = gather(release, found.chosen, reading, extractive)
        lines = [one for one in lines if one.line.entity not in understood.excluded]
        ranked = tuple(rank_evidence(lines, reading, release.encoder.encode, extractive))
    with clock("context"):
        texts = _texts(release, wikidata)
        context = assemble(release, understood.analysis, found.chosen, ranked, texts)
        entities = [source.entity for source in context.sources]
        images = images_of(release, entities, texts, reading.language) if texts else {}
    own = sum(spent for stage, spent in understood.timings.items() if stage not in MODEL_STAGES)
    retrieval = own + sum(found.timings.values())
    timings = {
        **understood.timings, **found.timings, **clock.spent,
        "retrieval": retrieval, "total": retrieval + sum(clock.spent.values()),
    }  # fmt: skip
    return Prepared(understood, found, tuple(lines), ranked, context, timings, images)


def _texts(release: Release, wikidata: WikidataTexts | bool | None) -> WikidataTexts | None:
    if isinstance(wikidata, WikidataTexts):
        return wikidata
    wanted = release.manifest.wikidata if wikidata is None else wikidata
    return release.wikidata if wanted else None


def search(release: Release, understood: Understood, stages: Stages | None = None) -> Retrieved:
    """The documents for a question: the rankings of its queries interleaved, without what it excludes."""
    config = release.method.retrieval
    k = k_of(understood.analysis.form, config.k)
    found = [retrieve(release.channels, query, config, stages, k) for query in understood.queries]
    scored: dict[int, Candidate] = {}
    for one in found:
        for candidate in (*one.chosen, *one.rest):
            scored.setdefault(candidate.document, candidate)
    first, second = found[0], found[-1]
    chosen = interleave([c.document for c in first.chosen], [c.document for c in second.chosen])
    order = list(dict.fromkeys([*chosen, *interleave(first.ranking, second.ranking)]))
    kept = [scored[document] for document in order if not _excluded(release, understood, document)]
    timings: dict[str, float] = {}
    for one in found:
        for stage, spent in one.timings.items():
            timings[stage] = timings.get(stage, 0.0) + spent
    return Retrieved(kept[:k], kept[k:], timings)


def _excluded(release: Release, understood: Understood, document: int) -> bool:
    entity = release.documents.entity(document)
    if entity in understood.excluded:
        return True
    types = understood.excluded_types
    return bool(types) and not types.isdisjoint(type_nodes(release.graph, entity))
