"""From a question to the context that its answer is written from: understand, search, gather lines, assemble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from crmrag_query.answers.understand import FIRST, MODEL_STAGES, Understood, individuals, understand
from crmrag_query.artifacts.release import Release
from crmrag_query.config.query import Stages
from crmrag_query.context.assemble import assemble
from crmrag_query.context.evidence import Evidence, gather, rank_evidence
from crmrag_query.context.records import Context
from crmrag_query.context.wikidata import WikidataTexts, images_of
from crmrag_query.llm.model import Model
from crmrag_query.questions.analysis import Analysis
from crmrag_query.questions.followup import ConversationState
from crmrag_query.retrieval.interleave import interleave
from crmrag_query.retrieval.pipeline import Candidate, Retrieved, k_of, retrieve
from crmrag_query.timing import Clock


@dataclass(frozen=True)
class Prepared:
    """All that an answer is written from; ``found``: the lines of the retrieved documents, ``ranked``: these, best first.

    ``images``: addresses of Wikidata's pictures of the context's sources, by node, where Wikidata is asked; ``exhausted``: of
    the set that is asked for, everything was shown before or is excluded.
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
    exhausted: bool = False

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

    ``wikidata``: whether its texts are wanted, None for what the data set says; or texts of one's own.
    """
    clock, method = Clock(), release.method
    understood = understand(release, question, state, model)
    found = search(release, understood, stages)
    extractive, reading = method.questions.extractive, understood.analysis.reading
    with clock("evidence"):
        named = individuals(release, understood.analysis)
        gathered = gather(release, found.chosen, reading, extractive, named)
        gathered += _about(understood, gather(release, found.left_out, reading, extractive, named))
        lines, exhausted = understood.excluded.of_lines(gathered, reading)
        ranked = tuple(rank_evidence(lines, reading, release.encoder.encode, extractive))
    with clock("context"):
        texts = _texts(release, wikidata)
        context = understood.excluded.of_context(
            assemble(release, understood.analysis, found.chosen, ranked, texts)
        )
        entities = [source.entity for source in context.sources]
        images = images_of(release, entities, texts, reading.language) if texts else {}
    own = sum(spent for stage, spent in understood.timings.items() if stage not in MODEL_STAGES)
    retrieval = own + sum(found.timings.values())
    timings = {
        **understood.timings, **found.timings, **clock.spent,
        "retrieval": retrieval, "total": retrieval + sum(clock.spent.values()),
    }  # fmt: skip
    return Prepared(understood, found, tuple(lines), ranked, context, timings, images, exhausted)


def scores_of(release: Release, found: Retrieved) -> dict[int, float]:
    """The scores of the documents that were retrieved, by the node that each tells of."""
    return {release.documents.entity(one.document): one.score for one in (*found.chosen, *found.rest)}


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
    first, second = found[0], found[-1]
    scored = {one.document: one for one in (*first.chosen, *first.rest)}
    for one in (
        *second.chosen,
        *second.rest,
    ):  # tied to less than the whole question names, for all that is known
        scored.setdefault(one.document, replace(one, tied=0.0))
    chosen = interleave([c.document for c in first.chosen], [c.document for c in second.chosen])
    order = list(dict.fromkeys([*chosen, *interleave(first.ranking, second.ranking)]))
    kept: list[Candidate] = []
    left_out: list[Candidate] = []
    for document in order:
        out = release.documents.entity(document) in understood.excluded
        (left_out if out else kept).append(scored[document])
    if (stages or config.stages).tied:
        kept = _with_anchors(release, understood, kept, scored, k)
    timings: dict[str, float] = {}
    for each in found:
        for stage, spent in each.timings.items():
            timings[stage] = timings.get(stage, 0.0) + spent
    return Retrieved(kept[:k], kept[k:], timings, left_out)


def _with_anchors(
    release: Release,
    understood: Understood,
    kept: Sequence[Candidate],
    scored: Mapping[int, Candidate],
    k: int,
) -> list[Candidate]:
    """The candidates with the documents of what the question names among the first ``k``, for the last of these."""
    named = (mention.entities[0].entity for mention in individuals(release, understood.analysis))
    documents = release.channels.holding(node for node in named if node not in understood.excluded)
    there = {candidate.document for candidate in kept[:k]}
    there |= {one for one in documents if release.documents.entity(one) in understood.excluded}
    wanted = [one for one in documents if one not in there][: release.method.retrieval.anchors]
    brought = [scored.get(one, Candidate(one, 0.0)) for one in wanted]
    rest = [candidate for candidate in kept if candidate.document not in wanted]
    return [*rest[: k - len(brought)], *brought, *rest[k - len(brought) :]]


def _about(understood: Understood, lines: Sequence[Evidence]) -> list[Evidence]:
    """Of the documents that are left out, the lines about what the question names: a place stands in those of its things."""
    named = {one.entity for mention in understood.analysis.mentions for one in mention.entities}
    return [line for line in lines if line.line.entity in named]
