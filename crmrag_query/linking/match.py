"""Names of the index against the words of a question: which bags may be named, where, and how much of each.

The cost is bounded by the configuration, not by the data: bags come from a look-up of whole names by hash, and from
the postings of words that few enough names share; common words are looked for within these bags only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from crmrag_query.config.query import LinkingConfig
from crmrag_query.linking.index import NameIndex, bag_hash
from crmrag_query.linking.near import Hashes, Numbers
from crmrag_query.linking.question import Question, Term
from crmrag_query.linking.spelling import latin_stop, rough, sound
from crmrag_query.linking.words import Alternative, alternatives

Longs = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Runs:
    """Stretches of the question that share words with a bag, a stretch a row; n of them.

    ``first``, ``last``: terms, both inclusive; ``mass``: weight of the words in common, each times its likeness; ``share``:
    ``mass`` of the bag's weight; ``density``: share of the stretch's words that are the bag's; ``whole``: all words of the
    bag's content and no others; ``exact``: every word is spelt as in the name; ``words``: words of the bag's content that
    are found; ``rarest``: names that have the rarest of them.
    """

    bag: Longs
    first: Longs
    last: Longs
    mass: Doubles
    share: Doubles
    density: Doubles
    whole: Bools
    exact: Bools
    words: Longs
    rarest: Longs

    def __len__(self) -> int:
        return len(self.bag)

    def take(self, rows: Longs | Bools) -> Runs:
        return Runs(**{part.name: getattr(self, part.name)[rows] for part in fields(self)})


@dataclass(frozen=True)
class _Hits:
    """A word of the question that is a word of a bag, a row each: bag, term, word of the index, likeness."""

    bag: Longs
    term: Longs
    word: Longs
    likeness: Doubles

    def take(self, rows: Longs | Bools) -> _Hits:
        return _Hits(self.bag[rows], self.term[rows], self.word[rows], self.likeness[rows])


def find_runs(index: NameIndex, question: Question, config: LinkingConfig) -> Runs | None:
    """Every stretch that names a bag wholly or in part; None when there is none."""
    known = {
        word: alternatives(index, word, config) for word in dict.fromkeys(t.word for t in question.terms)
    }
    whole = index.bags_with(_run_hashes(index, question.terms, known, config))
    rows = [(term, one.word, one.likeness) for term, t in enumerate(question.terms) for one in known[t.word]]
    if not rows:
        return None
    hits, common = _rare(index, question.terms, rows, config)
    chosen = _chosen(index, hits, whole, config.candidates)
    if not len(chosen):
        return None
    parts = [hits.take(np.isin(hits.bag, chosen)), *(_within(index, row, chosen) for row in common)]
    hits = _joined(parts)
    runs = _runs(index, question.terms, hits, _idle(question.terms), config)
    return _with_parts(index, question.terms, hits, runs.take(runs.whole), config)


def _with_parts(
    index: NameIndex, terms: tuple[Term, ...], hits: _Hits, whole: Runs, config: LinkingConfig
) -> Runs:
    """The whole names, and what is a part of one: there a plain word counts as a stop word, and a short word of a name
    must be spelt as it is ("tall" is no part of "North wall").
    """
    long = index.word_length(hits.word) >= index.spelling.two_slips
    hits = hits.take(long | (hits.likeness >= config.variant))
    if not len(hits.bag):
        return whole
    parts = _runs(index, terms, hits, _idle(terms) | _plain(index, terms, config), config)
    parts = parts.take(~np.isin(parts.bag, whole.bag))
    joined = {p.name: np.concatenate([getattr(whole, p.name), getattr(parts, p.name)]) for p in fields(Runs)}
    joined["whole"][len(whole) :] = False
    return Runs(**joined)


def _plain(index: NameIndex, terms: tuple[Term, ...], config: LinkingConfig) -> Bools:
    """Which words of the question are spellings of plain ones, bool [terms]."""
    shortest = index.spelling.shortest
    plain = _roughs(tuple(word for words in config.plain.values() for word in words), shortest)
    return np.array([rough(term.word, shortest) in plain for term in terms])


@lru_cache(maxsize=16)
def _roughs(words: tuple[str, ...], shortest: int) -> frozenset[str]:
    return frozenset(rough(word, shortest) for word in latin_stop(frozenset(words)))


def _run_hashes(
    index: NameIndex, terms: tuple[Term, ...], known: dict[str, list[Alternative]], config: LinkingConfig
) -> Hashes:
    """Hashes of the words of every stretch that may be a whole name; a misspelt word counts as the likest known one."""
    shortest, parts = index.spelling.shortest, {}
    for word, others in known.items():
        near = word if not others or others[0].likeness == 1 else index.word(others[0].word)
        parts[word] = bag_hash([sound(near, shortest)])
    found: set[int] = set()
    content = [term for term in terms if not term.stop]
    for start, term in enumerate(content):
        stretch = [t for t in content[start : start + config.longest_name] if t.quote == term.quote]
        found.update(_sums(parts[other.word] for other in stretch))
    for number in {term.quote for term in terms if term.quote}:  # whole, also one of stop words only
        quoted = [term for term in terms if term.quote == number]
        speaking = [term for term in quoted if not term.stop] or quoted
        found.update(_sums(parts[term.word] for term in speaking)[-1:])
    return np.array(sorted(found), np.uint64)


def _sums(parts: Iterable[int]) -> list[int]:
    """``bag_hash`` of the first word, of the first two, …, from the hash of each."""
    total, seen, found = 0, set(), []
    for part in parts:
        if part not in seen:
            seen.add(part)
            total = (total + part) % 2**64
        found.append(total)
    return found


Row = tuple[int, int, float]  # term, word of the index, likeness


def _rare(
    index: NameIndex, terms: tuple[Term, ...], rows: list[Row], config: LinkingConfig
) -> tuple[_Hits, list[Row]]:
    """Hits of the words that few names share, the rarest first while the budget lasts; and the rows of all others."""
    rows = sorted(rows, key=lambda row: (index.count(row[1]), row))
    left, taken, others = config.question_postings, [], []
    for row in rows:
        count = index.count(row[1])
        if count <= min(left, config.word_postings) and not terms[row[0]].stop:
            left -= count
            taken.append(_hits(index.bags_of(row[1]), row))
        else:
            others.append(row)
    return _joined(taken), others


def _hits(bags: Numbers, row: Row) -> _Hits:
    term, word, likeness = row
    n = len(bags)
    return _Hits(bags.astype(np.int64), np.full(n, term), np.full(n, word), np.full(n, likeness))


def _joined(parts: list[_Hits]) -> _Hits:
    empty = np.empty(0, np.int64)
    parts = [_Hits(empty, empty, empty, np.empty(0)), *parts]
    return _Hits(
        np.concatenate([p.bag for p in parts]),
        np.concatenate([p.term for p in parts]),
        np.concatenate([p.word for p in parts]),
        np.concatenate([p.likeness for p in parts]),
    )


def _chosen(index: NameIndex, hits: _Hits, whole: Numbers, most: int) -> Longs:
    """Bags to look at closely, ascending: those found whole, and the best covered of the others."""
    bags, place = np.unique(hits.bag, return_inverse=True)
    if len(bags) > most:
        mass = np.bincount(place, index.weight[hits.word] * hits.likeness, len(bags))
        share = mass / index.bag_weight[bags]
        bags = bags[np.lexsort((bags, -share))[:most]]
    return np.union1d(bags, whole).astype(np.int64)


def _within(index: NameIndex, row: Row, chosen: Longs) -> _Hits:
    """Hits of one word in the chosen bags."""
    bags = index.bags_of(row[1])
    at = np.searchsorted(bags, chosen.astype(np.int32))
    at[at == len(bags)] = 0
    return _hits(chosen[bags[at] == chosen].astype(np.int32), row)


def _runs(index: NameIndex, terms: tuple[Term, ...], hits: _Hits, idle: Bools, config: LinkingConfig) -> Runs:
    """Hits of each bag as stretches: a new one where too much lies between, or a quotation begins or ends.

    ``idle`` [terms]: words that make no stretch by themselves.
    """
    order = np.lexsort((hits.word, -hits.likeness, hits.term, hits.bag))
    hits = hits.take(order)
    hits = hits.take(_first_of(hits.bag, hits.term))  # one word of a bag for a word of the question
    quote = np.array([t.quote for t in terms])
    before: Longs = np.cumsum(~idle) - ~idle  # content words before each term
    here, last = hits.term[1:], hits.term[:-1]
    between: Longs = before[here] - before[last] - ~idle[last]
    new = np.ones(len(hits.bag), bool)
    new[1:] = (hits.bag[1:] != hits.bag[:-1]) | (quote[here] != quote[last])
    new[1:] |= (quote[here] == 0) & ((between > config.gap) | (here - last > config.reach))
    idle_quote = np.array([t.stop for t in terms]) & ~idle
    return _measured(index, hits, np.cumsum(new) - 1, idle, quote, idle_quote)


def _idle(terms: tuple[Term, ...]) -> Bools:
    """Stop words, but not where a quotation holds nothing else: bool [terms]."""
    speaking = {term.quote for term in terms if not term.stop}
    return np.array([term.stop and not (term.quote and term.quote not in speaking) for term in terms], bool)


def _measured(
    index: NameIndex, hits: _Hits, run: Longs, stop: Bools, quote: Longs, idle_quote: Bools
) -> Runs:
    """The runs that hold a content word; ``run`` [hits] ascending from 0; ``stop``, ``quote``, ``idle_quote`` [terms]."""
    speaking = np.flatnonzero(np.bincount(run, ~stop[hits.term]))  # runs
    kept = np.isin(run, speaking)
    hits, run = hits.take(kept), np.searchsorted(speaking, run[kept])
    count, idle = len(speaking), stop[hits.term]
    first, last = _ends(run[~idle], hits.term[~idle], count, quote)
    content = np.append(0, np.cumsum(~stop))
    density = np.bincount(run, ~idle, count) / np.maximum(content[last + 1] - content[first], 1)
    order = np.lexsort((-hits.likeness, hits.word, run))
    once = np.sort(order[_first_of(run[order], hits.word[order])])  # a word of the bag counts once
    run, hits, idle = run[once], hits.take(once), idle[once]
    bag = hits.bag[np.searchsorted(run, np.arange(count))]
    mass = np.bincount(run, index.weight[hits.word] * hits.likeness, count).astype(np.float64)
    words = np.bincount(run, ~idle, count).astype(np.int64)
    named = index.posting_ptr[hits.word + 1] - index.posting_ptr[hits.word]
    rarest = np.full(count, index.bags)
    np.minimum.at(rarest, run[~idle], named[~idle])
    share = np.minimum(mass / index.bag_weight[bag], 1.0)
    exact = np.bincount(run, hits.likeness < 1, count) == 0
    whole = (words >= index.bag_size[bag]) & (density >= 1)
    whole &= ~idle_quote[first] | (share >= 1)  # of stop words only: all of them
    return Runs(bag, first, last, mass, share, np.minimum(density, 1.0), whole, exact, words, rarest)


def _ends(run: Longs, term: Longs, count: int, quote: Longs) -> tuple[Longs, Longs]:
    """First and last content term of each run; in a quotation, those of all of it."""
    first, last = np.full(count, len(quote)), np.full(count, -1)
    np.minimum.at(first, run, term)
    np.maximum.at(last, run, term)
    return _whole_quotes(first, last, quote)


def _whole_quotes(first: Longs, last: Longs, quote: Longs) -> tuple[Longs, Longs]:
    """The stretches, one in a quotation widened to all of it."""
    begins, ends = np.arange(len(quote)), np.arange(len(quote))
    for number in np.unique(quote[quote > 0]).tolist():
        inside = np.flatnonzero(quote == number)
        begins[inside], ends[inside] = inside[0], inside[-1]
    return begins[first], ends[last]


def _first_of(left: Longs, right: Longs) -> Bools:
    """Rows, sorted by both, that are the first with their values."""
    first = np.ones(len(left), bool)
    first[1:] = (left[1:] != left[:-1]) | (right[1:] != right[:-1])
    return first
