"""Whether what stands far inside long texts is found: by the document that tells of it, and in the context of the answer.

    python benchmarks/passages.py RELEASE … [--data data]

A question asks for the beginning of a sentence, "Which text says that …?": the longest one in the last third of one text of
1,500 characters or more that no other such text says; one for each text by the properties of which passages are made.
Prints for each release how many questions there are, for how many a document is chosen of who has the text or is joined to
it, and in how many contexts these words stand. Releases from before there were passages are measured alike.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from crmrag_query.answers.ask import prepare
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.config import load_method
from crmrag_query.documents.documents import Documents
from crmrag_query.graph.graph import Graph, TriplesIndex
from crmrag_query.text import sentence_starts

LONG = 1500  # characters of a text
LAST = 2 / 3  # of it, from where on a sentence is asked for
LEAST, WORDS = 8, 16  # words of a sentence, and of its beginning that is asked for


def questions(release: Release) -> Iterator[tuple[set[int], str]]:
    """The documents of who has a text or is joined to it, and the words that are asked for."""
    holders = defaultdict[str, set[int]](set)
    for node, text in long_texts(release):
        holders[text].add(node)
    times = Counter(sentence for text in holders for sentence in {*last_sentences(text)})
    for text, nodes in holders.items():
        if own := [sentence for sentence in last_sentences(text) if times[sentence] == 1]:
            triples = (triple for node in nodes for triple in release[TriplesIndex].of(node))
            near = nodes.union(*((triple.s, triple.o) for triple in triples))
            homes = {*release[Documents].entity_document[[*near]].tolist()}  # -1 for what has none
            yield homes, " ".join(max(own, key=len).split()[:WORDS])


def long_texts(release: Release) -> Iterator[tuple[int, str]]:
    graph, properties = release[Graph], load_method().documents.passage_properties
    for row in graph.literal_table.select(["subject", "property", "value"]).to_pylist():
        number, text = row["property"], " ".join(row["value"].split())
        called = {graph.property_code(number), graph.property_iri(number)}
        if len(text) >= LONG and not called.isdisjoint(properties):
            yield row["subject"], text


def last_sentences(text: str) -> list[str]:
    starts = [start for start in sentence_starts(text) if start >= LAST * len(text)]
    found = (text[start:end].strip(" .") for start, end in pairwise([*starts, len(text)]))
    return [sentence for sentence in found if len(sentence.split()) >= LEAST]


def measured(release: Release) -> tuple[int, int, int]:
    """How many questions; for how many a document is chosen; in how many contexts the words stand."""
    count = found = read = 0
    for homes, words in questions(release):
        prepared = prepare(release, f"Which text says that {words}?")
        lines = [line.text for source in prepared.context.sources for line in source.lines]
        count += 1
        found += any(one.document in homes for one in prepared.retrieved.chosen)
        read += any(words in text for text in lines)
    return count, found, read


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("releases", nargs="+")
    parser.add_argument("--data", type=Path, default=Path("data"))
    given = parser.parse_args()
    for name in given.releases:
        release = open_release(name, given.data)
        count, found, read = measured(release)
        print(
            f"{release.manifest.dataset}: {count} questions, {found} found, {read} in the context", flush=True
        )


if __name__ == "__main__":
    main()
