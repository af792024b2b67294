"""Names for what was typed so far, and search of entities by name."""

from __future__ import annotations

import numpy as np

from crmrag_query.config.query import LinkingConfig
from crmrag_query.linking.index import NameIndex
from crmrag_query.linking.link import link
from crmrag_query.linking.match import Doubles
from crmrag_query.linking.near import Numbers
from crmrag_query.linking.records import LinkedEntity
from crmrag_query.linking.spelling import words_of


def suggest(index: NameIndex, prefix: str, limit: int, config: LinkingConfig) -> tuple[LinkedEntity, ...]:
    """Entities with a name that holds the words of ``prefix``, the last one begun or whole; best first, ties by node.

    Stop words before the last need not be in the name.

    Score: the weight of the words given, as a share of the name's, at most 1, that of a word only begun times ``begun``
    ("Moran" is rather Thomas Moran than Moranzoni); times 1 - prior + prior * connectedness. Of very many names those of
    the first words in alphabetical order are looked at.
    """
    words = words_of(prefix[: config.characters])[: config.tokens]
    if not words or limit < 1:
        return ()
    begun = words[-1].encode("utf-8", "replace")
    low, high = index.position(begun), index.position(begun + b"\xff")
    bags = index.bags_of(low, high)[: config.suggested_postings] if high > low else np.empty(0, np.int32)
    whole = index.word_length(np.arange(low, high)) == len(begun)
    counted = np.where(whole, 1.0, config.begun) * index.weight[low:high].astype(np.float64)
    weight: Doubles = np.repeat(counted, np.diff(index.posting_ptr[low : high + 1]))[: len(bags)]
    bags, mass = _each_once(bags, weight)
    for word in (one for one in words[:-1] if one not in index.stop):
        number = index.number(word)
        if number is None:
            return ()
        kept = np.isin(bags, index.bags_of(number))
        bags, mass = bags[kept], mass[kept] + index.weight[number]
    share = np.minimum(mass / index.bag_weight[bags], 1.0)
    degree = index.best_degree(bags)
    score = share * (1 - config.prior + config.prior * index.priors(degree))
    best: dict[int, LinkedEntity] = {}
    for row in np.lexsort((bags, -score))[: 2 * limit].tolist():
        all_given = bool(share[row] >= 1)
        for entity, text, kind, own in index.entries(int(bags[row]), limit):
            known = float(share[row]) * (1 - config.prior + config.prior * index.prior(own))
            if entity not in best or best[entity].score < known:
                best[entity] = LinkedEntity(entity, known, index.text(text), kind if all_given else "partial")
    return tuple(sorted(best.values(), key=lambda one: (-one.score, one.entity))[:limit])


def _each_once(bags: Numbers, weight: Doubles) -> tuple[Numbers, Doubles]:
    """Bags ascending, each with the highest of its weights."""
    order = np.lexsort((-weight, bags))
    bags, weight = bags[order], weight[order]
    first = np.ones(len(bags), bool)
    first[1:] = bags[1:] != bags[:-1]
    return bags[first], weight[first]


def search(index: NameIndex, text: str, limit: int, config: LinkingConfig) -> tuple[LinkedEntity, ...]:
    """Entities by name: completions of the text, then what it names as a question would; each once, best first."""
    found = {one.entity: one for one in suggest(index, text, limit, config)}
    if len(found) < limit:
        for mention in link(index, text, frozenset(), config):
            for one in mention.entities:
                found.setdefault(one.entity, one)
    return tuple(sorted(found.values(), key=lambda one: (-one.score, one.entity))[: max(limit, 0)])
