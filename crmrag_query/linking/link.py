"""The entities that a question names.

Score of an entity, in (0, 1]:

- A whole name (all its words but stop words, side by side in any order): the weight of its words in the question, each
  times its likeness, as a share of the weight of all its words. So 1 for a name as it stands, a little less without its
  article, the likeness of the words (``words.alternatives``) when spelt otherwise. A bare number of up to four digits
  counts ``short_number``.
- A part of a name: that share, times the share of the stretch's words that are the name's, times 1 / (1 + ln n), n being
  how many names the same stretch is as large a part of, or a larger one. A common or plain word names nothing by itself
  as a part, but a common one that is as good as a name of few things (``common_least``).
- All times 1 - prior + prior * connectedness (``NameIndex.prior``), which orders equal names.

The weight of a word is ln(1 + names / names that have it), a stop word's times ``stop_weight``. Stretches are chosen by
score times weight found, the best first, none over another; so a long name wins over a shorter one within it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crmrag_query.config.query import LinkingConfig
from crmrag_query.errors import ReleaseError
from crmrag_query.linking.index import NameIndex
from crmrag_query.linking.match import Doubles, Longs, Runs, find_runs
from crmrag_query.linking.question import Question, Term, read_terms
from crmrag_query.linking.records import How, LinkedEntity, Mention
from crmrag_query.linking.spelling import latin_stop

SHORT_NUMBER = 4  # digits: a year
ROWS = 4  # names looked at for each entity of a mention: several may be one entity's


@dataclass(frozen=True)
class _Scored:
    """Runs with their scores, those of no use left out."""

    runs: Runs
    score: Doubles


def link(
    index: NameIndex, question: str | Sequence[str], stop: frozenset[str], config: LinkingConfig
) -> tuple[Mention, ...]:
    """The mentions of a question in its order, each with at most ``config.entities`` entities, best first, ties by node.

    ``question``: its text, in which a quoted stretch counts as one name, or its tokens by ``tokenize``. ``stop``: words
    that name nothing by themselves, besides those of the index. Takes any text; looks at its beginning only. Raises
    ReleaseError where an index that was damaged after it was built leads nowhere.
    """
    try:
        return _link(index, question, stop, config)
    except IndexError as error:
        raise ReleaseError("The name index is damaged.", "Build the data set again.") from error


def _link(
    index: NameIndex, question: str | Sequence[str], stop: frozenset[str], config: LinkingConfig
) -> tuple[Mention, ...]:
    read = read_terms(question, index.stop | latin_stop(stop), config)
    runs = find_runs(index, read, config) if read.terms else None
    if runs is None or not len(runs):
        return ()
    scored = _scored(index, runs, read.terms, config)
    winners = sorted(_winners(scored), key=lambda row: int(scored.runs.first[row]))
    return tuple(_mention(index, read, scored, row, config) for row in winners)


def _scored(index: NameIndex, runs: Runs, terms: tuple[Term, ...], config: LinkingConfig) -> _Scored:
    score = runs.share * runs.density
    part = ~runs.whole
    score[part] /= 1 + np.log(_rivals(runs, score))[part]
    common = max(config.common_names, config.common_share * index.bags)
    score[part & (runs.words == 1) & (runs.rarest > common) & (score < config.common_least)] = 0
    number = np.array([t.word.isdigit() and len(t.word) <= SHORT_NUMBER for t in terms])
    score[number[runs.first] & (runs.first == runs.last)] *= config.short_number
    kept = score >= config.least
    return _Scored(runs.take(kept), score[kept])


def _rivals(runs: Runs, score: Doubles) -> Longs:
    """For each run, how many names the same stretch names with the same score or a higher one, int64 [n]."""
    order = np.lexsort((-score, runs.last, runs.first))
    first, last, ranked = runs.first[order], runs.last[order], score[order]
    group = np.ones(len(order), bool)
    group[1:] = (first[1:] != first[:-1]) | (last[1:] != last[:-1])
    tie = group.copy()
    tie[1:] |= ranked[1:] != ranked[:-1]
    after = np.append(np.flatnonzero(tie)[1:], len(order))[np.cumsum(tie) - 1]
    found = np.empty(len(order), np.int64)
    found[order] = after - np.flatnonzero(group)[np.cumsum(group) - 1]
    return found


def _winners(scored: _Scored) -> list[int]:
    """The runs that become mentions: the worthiest first, none that shares a word with one before."""
    runs = scored.runs
    order = np.lexsort((runs.bag, runs.first - runs.last, runs.first, -scored.score * runs.mass))
    taken = np.zeros(int(runs.last.max(initial=0)) + 1, bool)
    found = []
    for row, first, last in zip(
        order.tolist(), runs.first[order].tolist(), runs.last[order].tolist(), strict=True
    ):
        if not taken[first : last + 1].any():
            taken[first : last + 1] = True
            found.append(row)
    return found


def _mention(
    index: NameIndex, question: Question, scored: _Scored, winner: int, config: LinkingConfig
) -> Mention:
    """The mention of a run, with the entities of all runs within its stretch that do nearly as well.

    The score of one that names less of the stretch is lessened by as much.
    """
    runs, score = scored.runs, scored.score
    first, last = int(runs.first[winner]), int(runs.last[winner])
    score = score * np.minimum(runs.mass / runs.mass[winner], 1)
    near = (runs.first >= first) & (runs.last <= last) & (score >= config.keep * score[winner])
    if runs.whole[winner] and runs.exact[winner]:
        near &= runs.exact
    rows = np.flatnonzero(near)
    rows = rows[np.lexsort((runs.bag[rows], -score[rows]))]
    terms = question.terms[first : last + 1]
    text = " ".join(question.tokens[term.first] for term in terms)
    return Mention(terms[0].first, terms[-1].last, text, _linked(index, _Scored(runs, score), rows, config))


def _linked(
    index: NameIndex, scored: _Scored, rows: Longs, config: LinkingConfig
) -> tuple[LinkedEntity, ...]:
    best: dict[int, LinkedEntity] = {}
    for row in rows[: ROWS * config.entities].tolist():
        score = float(scored.score[row])
        for entity, text, kind, degree in index.entries(int(scored.runs.bag[row]), config.entities):
            known = score * (1 - config.prior + config.prior * index.prior(degree))
            if entity not in best or best[entity].score < known:
                best[entity] = LinkedEntity(entity, known, index.text(text), _how(scored.runs, row, kind))
    return tuple(sorted(best.values(), key=lambda one: (-one.score, one.entity))[: config.entities])


def _how(runs: Runs, row: int, kind: How) -> How:
    if not runs.whole[row]:
        return "partial"
    return kind if runs.exact[row] else "similar"
