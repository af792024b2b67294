"""Everyday questions about single things and persons, checked against SPARQL over the source by an independent engine.

    python benchmarks/everyday.py RELEASE=SOURCE.nt … [--data data] [--sample 30] [--seed 1] --out NAME.md

RELEASE is a data set's name or a release's folder, SOURCE its RDF (Turtle or N-Triples). Of the entities for which the source
states what a question asks, ``--sample`` are drawn and asked in each language, without a model. An answer is right where it
tells the whole recorded value: both years of a span, every maker (at most five), each number with its unit. Names that
several entities share are left out, since the answer then tells of all of them. Writes NAME.md.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyoxigraph as ox

from crmrag_query.answers.ask import ask
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.evaluation.report import table
from crmrag_query.graph.graph import Graph
from crmrag_query.text import fold

FORMS = {
    "when": {
        "en": "When was {} made?", "fr": "Quand {} a-t-il été créé ?", "de": "Wann entstand {}?",
        "el": "Πότε δημιουργήθηκε το {};", "it": "Quando è stato realizzato {}?", "es": "¿Cuándo se hizo {}?",
    },
    "who made": {
        "en": "Who made {}?", "fr": "Qui a créé {} ?", "de": "Wer hat {} geschaffen?", "el": "Ποιος δημιούργησε το {};",
        "it": "Chi ha realizzato {}?", "es": "¿Quién hizo {}?",
    },
    "how big": {
        "en": "How big is {}?", "fr": "Quelles sont les dimensions de {} ?", "de": "Wie groß ist {}?",
        "el": "Ποιες είναι οι διαστάσεις του {};", "it": "Quanto è grande {}?", "es": "¿Qué dimensiones tiene {}?",
    },
    "tell me": {
        "en": "Tell me about {}", "fr": "Parlez-moi de {}", "de": "Erzähl mir von {}", "el": "Πες μου για το {}",
        "it": "Parlami di {}", "es": "Háblame de {}",
    },
    "who was": {
        "en": "Who was {}?", "fr": "Qui était {} ?", "de": "Wer war {}?", "el": "Ποιος ήταν ο {};",
        "it": "Chi era {}?", "es": "¿Quién era {}?",
    },
    "when born": {
        "en": "When was {} born?", "fr": "Quand est né {} ?", "de": "Wann wurde {} geboren?", "el": "Πότε γεννήθηκε ο {};",
        "it": "Quando è nato {}?", "es": "¿Cuándo nació {}?",
    },
}  # fmt: skip
"""The questions, by language."""
MAKING = ("P108", "P94", "P92", "R17", "R24", "R27", "R28", "R16", "R18", "R22")
NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
YEAR = re.compile(r"-?\d{3,4}(?!\d)")
APPELLATIONS = {"E35", "E41", "E42", "E33"}
"""Classes of names and texts, which share the name of what they are of."""
NAMES_LEFT_OUT = 3  # characters: shorter names are letters and numbers


@dataclass(frozen=True)
class Asked:
    """A question, what the source says, and whether the answer tells all of it."""

    dataset: str
    kind: str
    language: str
    question: str
    gold: tuple[str, ...]
    answer: str
    right: bool


class Source:
    """The RDF of a data set, asked with SPARQL; properties by their codes, whatever the namespace."""

    def __init__(self, path: Path) -> None:
        self.store = ox.Store()
        form = ox.RdfFormat.TURTLE if path.suffix == ".ttl" else ox.RdfFormat.N_TRIPLES
        self.store.bulk_load(path=str(path), format=form)
        self._by_code: dict[str, list[str]] = defaultdict(list)
        for row in self.store.query("SELECT DISTINCT ?p { ?s ?p ?o }"):
            code = re.match(r"[A-Z]+\d+[aib]?(?=_|$)", row["p"].value.rpartition("/")[2].rpartition("#")[2])
            if code:
                self._by_code[code[0]].append(row["p"].value)

    def path(self, *codes: str) -> str:
        """Any of the properties forwards, or of their inverses backwards: P108i and ^P108."""
        found = []
        for code in codes:
            inverse = code[:-1] if code.endswith("i") else f"{code}i"
            found += [f"<{one}>" for one in self._by_code.get(code, ())]
            found += [f"^<{one}>" for one in self._by_code.get(inverse, ())]
        return f"({'|'.join(found)})" if found else "<urn:nothing>"

    def rows(self, query: str) -> list[tuple[str, ...]]:
        found = self.store.query(query)
        names = [one.value for one in found.variables]
        return [tuple(row[name].value if row[name] is not None else "" for name in names) for row in found]

    def grouped(self, where: str) -> dict[str, set[tuple[str, ...]]]:
        """By ``?x`` the rows of ``?a`` and ``?b``."""
        found: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for x, *rest in self.rows(f"SELECT DISTINCT ?x ?a ?b {{ {where} }}"):
            found[x].add(tuple(rest))
        return found

    @property
    def making(self) -> str:
        return self.path(*(f"{code}i" for code in MAKING))

    def made_when(self) -> dict[str, set[tuple[str, ...]]]:
        span = f"{self.making}/{self.path('P4')}"
        begin, end = self.path("P82a", "P81a", "P82"), self.path("P82b", "P81b", "P82")
        return self.grouped(
            f"?x {span} ?t . OPTIONAL {{ ?t {begin} ?a }} OPTIONAL {{ ?t {end} ?b }} FILTER(BOUND(?a) || BOUND(?b))"
        )

    def persons(self) -> set[str]:
        """Persons and groups, whose beginning is no making."""
        classes = "|".join(("E21", "E39", "E74", "E40"))
        found = self.rows(f'SELECT DISTINCT ?x {{ ?x a ?c FILTER(REGEX(STR(?c), "[/#]({classes})_")) }}')
        return {row[0] for row in found}

    def made_by(self) -> dict[str, set[tuple[str, ...]]]:
        return self.grouped(f"?x {self.making}/{self.path('P9')}*/{self.path('P14')} ?a")

    def measures(self) -> dict[str, set[tuple[str, ...]]]:
        value = f"({self.path('P90')}|<http://www.w3.org/1999/02/22-rdf-syntax-ns#value>)"
        return self.grouped(
            f"?x {self.path('P46')}?/{self.path('P43')} ?d . ?d {value} ?a OPTIONAL {{ ?d {self.path('P91')} ?b }}"
        )

    def born(self) -> dict[str, set[tuple[str, ...]]]:
        begin, end = self.path("P82a", "P81a", "P82"), self.path("P82b", "P81b", "P82")
        return self.grouped(
            f"?x {self.path('P98i')}/{self.path('P4')} ?t . ?t {begin} ?a OPTIONAL {{ ?t {end} ?b }}"
        )


Check = Callable[[str, set[tuple[str, ...]], Callable[[str], str]], tuple[tuple[str, ...], bool]]
"""The answer's text, the rows of the source, and the name of an IRI -> what it must tell, and whether it does."""


def years(rows: set[tuple[str, ...]]) -> tuple[str, ...]:
    """First and last year of the dates, as a text writes them; years before Christ by their number."""
    found = [YEAR.search(one) for row in rows for one in row if one]
    numbers = sorted({int(one[0]) for one in found if one})
    shown = [str(one) if one > 0 else str(1 - one) for one in (numbers[0], numbers[-1])] if numbers else []
    return tuple(dict.fromkeys(shown))


def tells_years(
    text: str, rows: set[tuple[str, ...]], name: Callable[[str], str]
) -> tuple[tuple[str, ...], bool]:
    gold = years(rows)
    written = set(re.findall(r"\d+", text))
    by_begin = {span for row in rows for span in [years({row})] if span}
    return gold, any(all(one in written for one in span) for span in (gold, *by_begin)) and bool(gold)


def tells_names(
    text: str, rows: set[tuple[str, ...]], name: Callable[[str], str]
) -> tuple[tuple[str, ...], bool]:
    gold = tuple(sorted({name(row[0]) for row in rows}))
    return gold, all(fold(one) in fold(text) for one in gold[:5]) or sum(
        fold(one) in fold(text) for one in gold
    ) >= 5


def tells_measures(
    text: str, rows: set[tuple[str, ...]], name: Callable[[str], str]
) -> tuple[tuple[str, ...], bool]:
    gold = tuple(sorted({f"{row[0]} {name(row[1]) if '://' in row[1] else row[1]}".strip() for row in rows}))
    found = {float(one.replace(",", ".")) for one in NUMBER.findall(text)}
    units = {one.partition(" ")[2] for one in gold}
    return gold, all(_number(one) in found for one in gold[:5]) and all(unit in text for unit in units)


def tells_some(
    text: str, rows: set[tuple[str, ...]], name: Callable[[str], str]
) -> tuple[tuple[str, ...], bool]:
    gold = tuple(sorted({name(row[0]) for row in rows}))
    return gold[:5], any(fold(one)[:60] in fold(text) for one in gold) and "has met" not in text


def tells_portrait(
    text: str, rows: set[tuple[str, ...]], name: Callable[[str], str]
) -> tuple[tuple[str, ...], bool]:
    """Makers, and the date where one is recorded."""
    made_by = {row for row in rows if "://" in row[0]}
    makers, named = tells_names(text, made_by, name)
    if made_by == rows:
        return makers, named
    span, dated = tells_years(text, rows - made_by, name)
    return (*makers, *span), named and (dated or not span)


def _number(text: str) -> float:
    found = NUMBER.search(text)
    return float(found[0].replace(",", ".")) if found else float("nan")


def gold_of(source: Source) -> Iterator[tuple[str, Mapping[str, set[tuple[str, ...]]], Check]]:
    """The kinds of questions, with what the source states by entity and how an answer is checked."""
    by, works = source.made_by(), defaultdict[str, set[tuple[str, ...]]](set)
    for thing, rows in by.items():
        for row in rows:
            works[row[0]].add((thing,))
    persons = source.persons()
    when = {thing: rows for thing, rows in source.made_when().items() if thing not in persons}
    yield "when", when, tells_years
    yield "who made", by, tells_names
    yield "how big", source.measures(), tells_measures
    yield "tell me", {thing: rows | when.get(thing, set()) for thing, rows in by.items()}, tells_portrait
    yield "who was", works, tells_some
    yield "when born", source.born(), tells_years


def measured(release: Release, source: Source, dataset: str, sample: int, seed: int) -> Iterator[Asked]:
    graph = release[Graph]
    count: dict[str, int] = defaultdict(int)
    for node in range(graph.nodes):
        if not APPELLATIONS & {graph.class_code(int(number)) for number in graph.types(node)}:
            count[fold(graph.label(node))] += 1

    def name(iri: str) -> str:
        node = graph.node(iri)
        return iri if node is None else graph.label(node)

    def is_asked(iri: str) -> bool:
        label = name(iri)
        return (
            label != iri and count[fold(label)] == 1 and len(label) > NAMES_LEFT_OUT and not label.isdecimal()
        )

    for kind, stated, check in gold_of(source):
        known = sorted(filter(is_asked, stated))
        for iri in random.Random(seed).sample(known, min(sample, len(known))):
            for language, form in FORMS[kind].items():
                question = form.format(name(iri))
                text = ask(release, question).text
                gold, right = check(text, stated[iri], name)
                yield Asked(dataset, kind, language, question, gold, text, right)


def markdown(found: Sequence[Asked], command: str) -> str:
    """Right answers of all, by question and data set and by language."""
    rows = []
    for kind in FORMS:
        for dataset in dict.fromkeys(one.dataset for one in found):
            own = [one for one in found if (one.kind, one.dataset) == (kind, dataset)]
            if own:
                by = ([one.right for one in own if one.language == language] for language in FORMS[kind])
                rows.append(
                    (FORMS[kind]["en"].format("X"), dataset, *(f"{sum(one)} of {len(one)}" for one in by))
                )
    head = ("question", "data set", *FORMS["when"])
    return f"# Everyday questions\n\nMade by `{command}`.\n\n{table(head, rows)}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("sets", nargs="+", metavar="RELEASE=SOURCE")
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--sample", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--answers", type=Path, help="a file for every answer, a line of JSON each")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    found: list[Asked] = []
    for one in options.sets:
        dataset, _, path = one.partition("=")
        release = open_release(dataset, options.data)
        found += measured(release, Source(Path(path)), dataset, options.sample, options.seed)
    names = " ".join(f"{one.partition('=')[0]}={Path(one.partition('=')[2]).name}" for one in options.sets)
    command = f"python benchmarks/everyday.py {names} --sample {options.sample} --seed {options.seed} --out {options.out}"
    text = markdown(found, command)
    options.out.write_text(text, encoding="utf-8")
    print(text)
    if options.answers is not None:
        lines = (json.dumps(asdict(one), ensure_ascii=False) for one in found)
        options.answers.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
