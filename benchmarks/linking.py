"""Entity linking: its speed over 866,000 invented entities, and how many of the entities of real questions it finds.

    python benchmarks/linking.py speed [--entities 866000] [--questions 400]
    python benchmarks/linking.py anchors RELEASE QUESTIONS.json [--data data] [--misses]

``speed`` invents museum data (seeded: people, titles of 2 to 10 words, places, types, accession numbers, repeated names),
writes their name index, and links questions of up to 30 words with slips in a process of its own. Prints one JSON line:
milliseconds p50, p95 and highest; seconds of the build; bytes of the artifact; peak memory of build and of linking.

``anchors`` takes the entities that the gold SPARQL of a question names: IRIs that are entities of the graph, and strings
that are names of entities (found when any one so named is linked). Prints how many of them are linked. RELEASE is a data
set's name or a release's folder; where it lacks a name index, one is written from its graph to a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_assets.indexes.names import Names, names_of, write_names
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.config import Method, load_method
from crmrag_query.graph.graph import Graph
from crmrag_query.linking import META, NameIndex, link, plain_words, stop_words

SEED = 866
SYLLABLES = [
    "an", "ber", "chi", "dor", "el", "fen", "gar", "hol", "is", "jan", "kor", "lin", "mar", "nor", "os",
    "pet", "quin", "ros", "sta", "tor", "ul", "ver", "wen", "xan", "yor", "zel",
]  # fmt: skip
SUBJECTS = [
    "portrait", "view", "study", "landscape", "madonna", "saint", "vase", "bowl", "figure", "head", "bust",
    "ship", "harbour", "church", "bridge", "river",
]  # fmt: skip
LINKS = ["of", "with", "and", "in", "at", "for", "by", "the", "on"]
KINDS = [
    "painting",
    "drawing",
    "print",
    "sculpture",
    "coin",
    "bowl",
    "photograph",
    "textile",
    "manuscript",
    "icon",
]


# ---------------------------------------------------------------- speed


def invented_words(chance: random.Random, count: int) -> list[str]:
    """Distinct words of two to four syllables."""
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(chance.choices(SYLLABLES, k=chance.randint(2, 4)))] = None
    return list(found)


def invented_names(entities: int) -> Iterator[tuple[int, str, int]]:
    """(node, name, kind) of so many entities: every seventh a person, objects with an accession number besides."""
    chance = random.Random(SEED)
    surnames, forenames = invented_words(chance, 60_000), invented_words(chance, 2_000)
    rare, usual = invented_words(chance, 150_000), invented_words(chance, 3_000)
    for node in range(entities):
        if node % 7 == 0:
            yield node, f"{chance.choice(surnames).title()}, {chance.choice(forenames).title()}", 0
        elif node % 50 == 1:
            yield node, chance.choice(usual).title(), 0
        elif node % 400 == 2:
            yield node, chance.choice(KINDS), 0
        else:
            words = [chance.choice(SUBJECTS)]
            for _ in range(chance.randint(1, 9)):
                words.append(
                    chance.choice(chance.choices((LINKS, usual, rare, SUBJECTS), (35, 40, 15, 10))[0])
                )
            yield node, " ".join(words).capitalize(), 0
            yield node, f"{chance.randint(1850, 2020)}.{chance.randint(1, 400)}.{chance.randint(1, 99)}", 2


def as_names(rows: list[tuple[int, str, int]], nodes: int) -> Names:
    node, text, kind = zip(*rows, strict=True)
    encoded = pc.dictionary_encode(pa.array(text, pa.large_utf8()))
    degree = np.random.default_rng(SEED).geometric(0.1, nodes).astype(np.int32)
    return Names(
        encoded.dictionary,
        np.array(node, np.int32),
        encoded.indices.to_numpy(),
        np.array(kind, np.int32),
        degree,
    )


def with_slip(word: str, chance: random.Random) -> str:
    """One letter left out, doubled or swapped with the next."""
    if len(word) < 5:
        return word
    at = chance.randrange(1, len(word) - 1)
    return chance.choice([word[:at] + word[at + 1 :], word[:at] + word[at] * 2 + word[at + 1 :],
                          word[:at] + word[at + 1] + word[at] + word[at + 2 :]])  # fmt: skip


def invented_questions(rows: list[tuple[int, str, int]], count: int) -> list[str]:
    """Questions of up to 30 words around one to three names, a fifth of their words with a slip."""
    chance = random.Random(SEED + 1)
    found = []
    for _ in range(count):
        words = ["which", "painting", "by"]
        for _ in range(chance.randint(1, 3)):
            words += [*chance.choice(rows)[1].split(), "and", "what", "is", "known", "about", "the"]
        found.append(" ".join(with_slip(w, chance) if chance.random() < 0.2 else w for w in words[:30]))
    return found


def peak_megabytes() -> int:
    """Highest resident memory of this process, mapped files included (Linux)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


def speed(entities: int, count: int) -> dict[str, Any]:
    method = load_method()
    rows = list(invented_names(entities))
    names = as_names(rows, entities)
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        counts = write_names(names, stop_words(method.questions), Path(folder))
        seconds = time.perf_counter() - start
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        questions = json.dumps(invented_questions(rows, count))
        command = [sys.executable, __file__, "ask", folder]
        asked = subprocess.run(command, input=questions, capture_output=True, text=True, check=True)
    return {
        **counts, "build_seconds": round(seconds, 1), "bytes": size, "build_peak_mb": peak_megabytes(),
        **json.loads(asked.stdout),
    }  # fmt: skip


def ask(folder: Path, questions: list[str]) -> dict[str, Any]:
    """Milliseconds of linking each question, the index opened and its pages read once before."""
    method = load_method()
    index, stop = NameIndex.open(folder), stop_words(method.questions)
    plain = plain_words(method.questions)
    taken, mentions = [], 0
    for question in questions[: len(questions) // 10] + questions:
        start = time.perf_counter()
        mentions += len(link(index, question, stop, plain))
        taken.append(1000 * (time.perf_counter() - start))
    ordered = sorted(taken[len(questions) // 10 :])
    at = {"p50": 0.5, "p95": 0.95, "max": 1.0}
    shown = {f"{name}_ms": round(ordered[int(share * (len(ordered) - 1))], 2) for name, share in at.items()}
    return shown | {"mentions": round(mentions / len(taken), 2), "link_peak_mb": peak_megabytes()}


# ---------------------------------------------------------------- anchors


def name_index(release: Release, method: Method) -> NameIndex:
    """The release's name index, or one made of its graph."""
    if (release.folder / "names" / META).exists():
        return NameIndex.open(release.folder / "names")
    with tempfile.TemporaryDirectory() as folder:
        names = names_of(release[Graph], release.ontology, method)
        write_names(names, stop_words(method.questions), Path(folder))
        return NameIndex.open(Path(folder))


def anchors(release: Release, names: Names, sparql: str) -> list[frozenset[int]]:
    """What a query names: for each IRI or string the entities that it stands for, of those with a name."""
    prefixes = dict(re.findall(r"PREFIX\s+([\w-]*:)\s*<([^>]*)>", sparql))
    body = re.sub(r"PREFIX\s+[\w-]*:\s*<[^>]*>", "", sparql)
    strings = re.findall(r'"((?:[^"\\]|\\.)*)"', body)
    body = re.sub(r'"(?:[^"\\]|\\.)*"', "", body)
    iris = set(re.findall(r"<([^>\s]+)>", body))
    iris |= {
        prefixes[p] + local for p, local in re.findall(r"(?<!\w)([\w-]*:)([\w./%-]+)", body) if p in prefixes
    }
    linked = set(names.entity.tolist())
    nodes = {release[Graph].node(iri) for iri in iris}
    found = [frozenset([node]) for node in sorted(n for n in nodes if n is not None) if node in linked]
    for string in sorted(set(strings)):
        at = pc.index(names.texts, string.replace('\\"', '"')).as_py()
        if at >= 0:
            found.append(frozenset(names.entity[names.text == at].tolist()))
    return found


def anchor_recall(release: Release, questions: list[dict[str, Any]], misses: bool) -> dict[str, Any]:
    """Share of the anchors of all questions that are linked, and the mean number of entities that are linked."""
    method = load_method()
    index, stop = name_index(release, method), stop_words(method.questions)
    plain = plain_words(method.questions)
    names = names_of(release[Graph], release.ontology, method)
    hit = total = entities = 0
    for question in questions:
        asked = " ".join([*question.get("history", []), question["question"]])
        found = {one.entity for mention in link(index, asked, stop, plain) for one in mention.entities}
        entities += len(found)
        for anchor in anchors(release, names, question["gold_sparql"] or ""):
            total += 1
            hit += bool(anchor & found)
            if misses and not anchor & found:
                print(question["id"], "|", asked, "|", release[Graph].label(min(anchor)), file=sys.stderr)
    return {"anchors": total, "linked": hit, "recall": round(hit / max(total, 1), 3),
            "entities": round(entities / max(len(questions), 1), 1)}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    fast = commands.add_parser("speed")
    fast.add_argument("--entities", type=int, default=866_000)
    fast.add_argument("--questions", type=int, default=400)
    found = commands.add_parser("anchors")
    found.add_argument("release")
    found.add_argument("questions", type=Path)
    found.add_argument("--data", type=Path, default=Path("data"))
    found.add_argument("--misses", action="store_true")
    commands.add_parser("ask").add_argument("folder", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "speed":
        result = speed(arguments.entities, arguments.questions)
    elif arguments.command == "ask":
        result = ask(arguments.folder, json.load(sys.stdin))
    else:
        questions = json.loads(arguments.questions.read_text(encoding="utf-8"))
        result = anchor_recall(open_release(arguments.release, arguments.data), questions, arguments.misses)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
