"""Thematic questions, whose themes are known from the data: whether they are answered by themes, and by the right ones.

    python benchmarks/themes.py SET=RELEASE … [--data data] [--modes crm global_vector] --out benchmarks/results/themes.md
    python benchmarks/themes.py --gold SET=FILE …

The second form writes the `gold_iris` of benchmarks/questions/themes.json anew, from the RDF that a data set is built of, and
by nothing of ours. Of a question for the themes of something its `gold_sparql` gives the members: the thing, and what is
made by it, of its kind or stated of it. Of one for the themes of a whole collection they are the best connected members of
each of the largest communities that igraph's multilevel method (Blondel et al. 2008) finds in the statements between things.

By question and mode: how many themes are told (sources of the kind `community`); the share of them that are right, that is of
whose central members, told beside it, at least one is a gold member; whether the first one is; and the share of the gold
members that are documents and stand in a theme that is told.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import igraph
import numpy as np
import pyarrow as pa
import pyoxigraph as ox

from crmrag_query.answers.ask import Ask, stream
from crmrag_query.answers.records import answer_of
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.documents.documents import Documents
from crmrag_query.evaluation.report import number, table
from crmrag_query.graph.graph import Graph
from crmrag_query.retrieval.channels import find_mode
from crmrag_query.retrieval.communities import Communities

FILE = Path(__file__).parent / "questions" / "themes.json"
LARGEST, HUBS = 5, 40  # communities of a whole collection, and members of each
PREFIXES = """PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX crm: <http://www.cidoc-crm.org/cidoc-crm/>
PREFIX ecrm: <http://erlangen-crm.org/current/> PREFIX lrmoo: <http://iflastandards.info/ns/lrm/lrmoo/>
PREFIX aat: <http://vocab.getty.edu/aat/> PREFIX t: <https://example.org/troodos/> """
KINDS = ("#type", "P2_has_type", "P2i_is_type_of", "P91_has_unit")  # what joins things by their kind alone


def loaded(path: Path) -> ox.Store:
    store = ox.Store()
    kind = ox.RdfFormat.from_extension(path.name.removesuffix(".zst").rpartition(".")[2])
    data = pa.input_stream(str(path), compression="detect").read()
    store.bulk_load(data, kind, base_iri="https://example.org/troodos/")
    return store


def gold_of(store: ox.Store, question: dict[str, Any]) -> list[str]:
    if query := question.get("gold_sparql"):
        return sorted({row[0].value for row in store.query(PREFIXES + query) if row[0] is not None})
    links = {
        (quad.subject.value, quad.object.value)
        for quad in store
        if isinstance(quad.object, ox.NamedNode)
        and isinstance(quad.subject, ox.NamedNode)
        and not quad.predicate.value.endswith(KINDS)
    }
    names = sorted({end for link in links for end in link})
    at = {name: number for number, name in enumerate(names)}
    graph = igraph.Graph(len(names), sorted((at[s], at[o]) for s, o in links)).simplify()
    groups = sorted(graph.community_multilevel(), key=len, reverse=True)[:LARGEST]
    degree = graph.degree()
    return sorted(
        names[member] for group in groups for member in sorted(group, key=lambda one: -degree[one])[:HUBS]
    )


def write_gold(sets: Sequence[str]) -> None:
    questions = json.loads(FILE.read_text(encoding="utf-8"))
    for name, store in ((one.partition("=")[0], loaded(Path(one.partition("=")[2]))) for one in sets):
        for question in questions:
            if question["dataset"] == name:
                question["gold_iris"] = gold_of(store, question)
    FILE.write_text(json.dumps(questions, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Line:
    """An answer: themes ``told``; the share of them that are ``right``; whether the ``first`` is; the share of gold members
    in them (``covered``)."""

    set: str
    question: str
    mode: str
    told: int
    right: float
    first: float
    covered: float


def lines(name: str, release: Release, questions: Sequence[dict[str, Any]], mode: str) -> Iterator[Line]:
    communities, documents = release[Communities], release[Documents]
    how = Ask(mode=find_mode(release, mode))
    for one in questions:
        gold = set(one["gold_iris"])
        answer = answer_of(stream(release, one["question"], how))
        cited = [source for source in answer.sources if source.cited]
        at = [number for number, source in enumerate(cited) if source.kind == "community"]
        right = [
            any(source.iri in gold for source in cited[first + 1 : end])
            for first, end in zip(at, [*at[1:], len(cited)], strict=True)
        ]
        ids = [communities.number(cited[number].iri.rpartition("/")[2].rpartition(":")[2]) for number in at]
        inside = {
            int(member) for one_id in ids if one_id is not None for member in communities.members(one_id)
        }
        nodes = (release[Graph].node(iri) for iri in gold)
        own = {int(documents.entity_document[node]) for node in nodes if node is not None} - {-1}
        covered = len(own & inside) / len(own) if own else 0.0
        shares = (float(np.mean(right)), float(right[0])) if right else (0.0, 0.0)
        yield Line(name, one["question"], mode, len(right), *shares, covered)


HEAD = ("mode", "questions", "answered by themes", "first right", "themes right", "gold members covered")


def row(mode: str, found: Sequence[Line]) -> tuple[object, ...]:
    means = (np.mean([getattr(one, key) for one in found]) for key in ("first", "right", "covered"))
    return (mode, len(found), sum(one.told > 0 for one in found), *(number(float(one)) for one in means))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", metavar="SET=RELEASE")
    parser.add_argument("--gold", nargs="+", metavar="SET=FILE")
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--modes", nargs="*", default=["crm", "global_vector"])
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.gold:
        write_gold(given.gold)
        return
    questions, found, about = json.loads(FILE.read_text(encoding="utf-8")), list[Line](), []
    for name, _, place in (one.partition("=") for one in given.sets):
        release = open_release(place, given.data)
        about.append((name, release.id, str(release.manifest.embedding.get("model", ""))))
        own = [one for one in questions if one["dataset"] == name]
        for mode in given.modes:
            found += lines(name, release, own, mode)
    each = [
        (one.set, one.question, one.mode, one.told, number(one.first), number(one.right), number(one.covered))
        for one in found
    ]
    parts = [
        "# Thematic questions",
        "Made by `python benchmarks/themes.py`, without a language model. What the columns are: the head of that file.",
        table(("data set", "release", "encoder"), about),
        table(HEAD, [row(mode, [one for one in found if one.mode == mode]) for mode in given.modes]),
        table(("data set", "question", "mode", "themes", "first right", "themes right", "covered"), each),
    ]
    text = "\n\n".join(parts) + "\n"
    if given.out:
        given.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
