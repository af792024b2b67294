"""An answer written by a language model from numbered sources; data and instructions are kept apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from crmrag_query.answers.evidence import Evidence
from crmrag_query.answers.model import Message, Model
from crmrag_query.answers.sources import SourceList
from crmrag_query.artifacts.release import Release
from crmrag_query.errors import ModelError
from crmrag_query.questions.form import Reading
from crmrag_query.retrieval.pipeline import Candidate

CITATION = re.compile(r"\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")


def source_blocks(release: Release, candidates: Sequence[Candidate]) -> list[str]:
    """The best documents as numbered blocks of escaped data, between tags that data cannot close.

    A document takes at most ``context.document_characters``, all blocks together ``context.characters``.
    """
    limits = release.method.context
    blocks: list[str] = []
    left = limits.characters
    for n, candidate in enumerate(candidates, 1):
        text = escape(release.documents.text(candidate.document)[: limits.document_characters], quote=False)
        block = f'<source n="{n}">\n{text}\n</source>'
        if len(block) > left:
            break
        blocks.append(block)
        left -= len(block)
    return blocks


def messages_for(
    release: Release, reading: Reading, blocks: Sequence[str], history: Sequence[str]
) -> list[Message]:
    """The prompt: instructions apart from the data, then the data, then the question after the earlier ones."""
    turns, prompts = release.method.context.history_turns, release.method.prompts
    earlier = [f"Earlier question: {turn}" for turn in (history[-turns:] if turns else ())]
    asked = "\n".join([*earlier, f"Question: {reading.question}"])
    return [
        {"role": "system", "content": f"{prompts.answer}{getattr(prompts, reading.form.value)}"},
        {"role": "user", "content": "\n".join([*blocks, "", asked])},
    ]


def write_answer(
    model: Model,
    release: Release,
    reading: Reading,
    candidates: Sequence[Candidate],
    ranked: Sequence[Evidence],
    history: Sequence[str],
    cited: SourceList,
) -> str:
    """The model's text with its citations renumbered in order of appearance; citations of no source are dropped.

    Raises ModelError when the model fails or says nothing.
    """
    blocks = source_blocks(release, candidates)
    text = "".join(model.complete(messages_for(release, reading, blocks, history))).strip()
    if not text:
        raise ModelError(
            f"The model {model.name} gave an empty answer.", "Ask again, or choose another model."
        )

    def renumber(match: re.Match[str]) -> str:
        numbers = [int(number) for number in match.group(1).split(",")]
        known = [candidates[number - 1] for number in numbers if 1 <= number <= len(blocks)]
        return "".join(f"[{_cite(release, candidate, ranked, cited)}]" for candidate in known)

    return CITATION.sub(renumber, text)


def _cite(release: Release, candidate: Candidate, ranked: Sequence[Evidence], cited: SourceList) -> int:
    """Cite a document with the triples of those of its lines that bear most on the question."""
    limit = release.method.questions.extractive.specific_lines
    best = [one.line for one in ranked if one.line.document == candidate.document][:limit]
    triples = [triple for line in best for triple in cited.line_triples(line, line.targets[:limit])]
    return cited.cite(release.documents.entity(candidate.document), triples)
