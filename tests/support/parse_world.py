"""A small museum to ask about: works of three kinds with makers, dates, places, materials, owners, donors and exhibitions.

What a question should give is told by SPARQL over the same triples, which shares no code with plans: see `Museum.gold`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pyoxigraph as ox

from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.dates import civil
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.load import Category
from crmrag_query.plans.execute import Outcome, cell, execute
from crmrag_query.plans.records import Plan
from crmrag_query.plans.world import World
from crmrag_query.questions.followup import ConversationState, Focus, Kind, Turn
from crmrag_query.questions.form import Form
from crmrag_query.reading.earlier import antecedent_of
from crmrag_query.reading.items import analysed
from crmrag_query.reading.read import Parsed, parse
from crmrag_query.reading.records import Antecedent
from crmrag_query.sets.describe import plan_json
from tests.support.builds import build_all, make_project

BASE = "http://example.org/"
PREFIXES = f"""@prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> . @prefix : <{BASE}> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
TYPES = {
    "painting": ("painting", "peinture", "Gemälde", "πίνακας"),
    "print": ("print", "estampe", "Druckgrafik", "χαρακτικό"),
    "sculpture": ("sculpture", "sculpture", "Skulptur", "γλυπτό"),
    "lion": ("lion", "lion", "Löwe", "λιοντάρι"),
    "horse": ("horse", "cheval", "Pferd", "άλογο"),
    "bridge": ("bridge", "pont", "Brücke", "γέφυρα"),
}
MATERIALS = {
    "oil": ("oil", "huile", "Öl", "λάδι"),
    "canvas": ("canvas", "toile", "Leinwand", "καμβάς"),
    "bronze": ("bronze", "bronze", "Bronze", "μπρούντζος"),
    "marble": ("marble", "marbre", "Marmor", "μάρμαρο"),
    "paper": ("paper", "papier", "Papier", "χαρτί"),
}
# Labels in English, French, German and Greek; what it falls within.
PLACES: dict[str, tuple[tuple[str, str, str, str], str]] = {
    "italy": (("Italy", "Italie", "Italien", "Ιταλία"), ""),
    "tuscany": (("Tuscany", "Toscane", "Toskana", "Τοσκάνη"), "italy"),
    "florence": (("Florence", "Florence", "Florenz", "Φλωρεντία"), "tuscany"),
    "siena": (("Siena", "Sienne", "Siena", "Σιένα"), "tuscany"),
    "netherlands": (("Netherlands", "Pays-Bas", "Niederlande", "Ολλανδία"), ""),
    "delft": (("Delft", "Delft", "Delft", "Ντελφτ"), "netherlands"),
    "leiden": (("Leiden", "Leyde", "Leiden", "Λάιντεν"), "netherlands"),
    "france": (("France", "France", "Frankreich", "Γαλλία"), ""),
    "lyon": (("Lyon", "Lyon", "Lyon", "Λυών"), "france"),
    "paris": (("Paris", "Paris", "Paris", "Παρίσι"), "france"),
    "ostia": (("Ostia", "Ostie", "Ostia", "Όστια"), "italy"),
}
# Name, birth place and year, death place and year; "" where nothing is known.
MAKERS: dict[str, tuple[str, str, str, str, str]] = {
    "salvemini": ("Pietro Salvemini", "florence", "1650", "siena", "1710"),
    "ferrante": ("Aldo Ferrante", "siena", "1655", "florence", "1720"),
    "verhoeck": ("Jan Verhoeck", "delft", "1700", "delft", "1760"),
    "verhoeck2": ("Jan Verhoeck", "leiden", "1790", "leiden", "1850"),
    "maubert": ("Henri Maubert", "paris", "1780", "", ""),
    "lindqvist": ("Marta Lindqvist", "leiden", "1812", "paris", "1880"),
    "duvernay": ("Claire Duvernay", "lyon", "1840", "paris", "1901"),
    "castelli": ("Rosa Castelli", "florence", "1845", "", ""),
    "vafeas": ("Nikos Vafeas", "", "", "", ""),
}
PEOPLE = {
    "holm": "Ida Holm", "brandt": "Karl Brandt", "george": "Saint George", "trust": "Harbour Trust",
    "guild": "Weavers Guild",
}  # fmt: skip
GROUPS = {"trust", "guild"}
# Name, place, year.
SHOWS = {"salon": ("Winter Salon", "paris", "1905"), "light": ("Masters of Light", "lyon", "1936")}


@dataclass(frozen=True)
class Work:
    """What the data tells of a work; keys of the tables above, several with blanks between them, "" for none."""

    title: str
    type: str
    maker: str = ""
    year: str = ""
    made_in: str = ""
    material: str = ""
    depicts: str = ""
    owner: str = ""
    donor: str = ""
    shows: str = ""
    height: str = ""
    medium: str = ""


# A key, then the fields in order; what is of oil and canvas is oil on canvas where no medium is told.
_ROWS = """
p1 | Morning at the Arno | painting | salvemini | 1680 | florence | oil canvas | florence bridge | trust | holm | salon | 80 |
p2 | The Old Bridge | painting | salvemini | 1684 | florence | oil canvas | bridge | trust | | salon | 95 |
p3 | Saint George and the Beast | painting | salvemini | 1690 | siena | oil canvas | george horse | guild | holm | | 120 |
p4 | Storm over Siena | painting | ferrante | 1695 | siena | oil canvas | siena | guild | | light | 60 |
p5 | Riders at Dawn | painting | ferrante | 1701 | siena | oil canvas | horse | trust | brandt | | 70 |
p6 | A Quiet Canal | painting | verhoeck | 1735 | delft | oil canvas | bridge delft | trust | brandt | salon light | 45 |
p7 | Lion in a Garden | painting | verhoeck | 1740 | delft | oil canvas | lion | guild | | | 50 |
p8 | Frozen River | painting | verhoeck2 | 1820 | leiden | oil canvas | bridge | trust | | light | 55 |
p9 | The Lion Tamer | painting | maubert | 1811 | paris | oil canvas | lion | trust | holm | salon | 150 |
p10 | Harvest | painting | maubert | 1815 | paris | oil canvas | horse | guild | | | |
p11 | Evening on the Seine | painting | lindqvist | 1850 | paris | oil canvas | paris bridge | trust | | light | 65 |
p12 | Girl with a Horse | painting | lindqvist | 1856 | paris | oil canvas | horse | | | | | oil and gold leaf on panel
p13 | Silk Weavers | painting | duvernay | 1870 | lyon | oil canvas | | guild | brandt | light | 90 |
p14 | View of Lyon | painting | duvernay | 1874 | lyon | oil canvas | lyon | trust | | | 88 |
p15 | Nocturne | painting | castelli | 1880 | florence | oil canvas | florence | trust | | salon | 40 |
p16 | Market Day | painting | | 1790 | delft | oil canvas | | guild | | | |
p17 | Unfinished Study | painting | castelli | | | oil | | | | | | oil on cardboard
p18 | Untitled Harbour | painting | | | | oil canvas | | trust | | | |
e1 | The Lion and the Mouse | print | verhoeck | 1738 | delft | paper | lion | trust | | | 20 | etching
e2 | Windmills | print | verhoeck | 1742 | delft | paper | | trust | | | 18 | etching
e3 | Skaters | print | verhoeck2 | 1825 | leiden | paper | | guild | holm | | 22 | etching
e4 | Bridge at Night | print | verhoeck2 | 1831 | leiden | paper | bridge | guild | | light | 24 | lithograph
e5 | Carnival | print | maubert | 1810 | paris | paper | | trust | | | 26 | lithograph
e6 | Barricades | print | maubert | 1830 | paris | paper | paris | trust | | | 28 | lithograph
e7 | The Ferryman | print | lindqvist | 1845 | leiden | paper | | guild | | | 21 | etching
e8 | Two Horses | print | lindqvist | 1860 | paris | paper | horse | trust | brandt | salon | 30 | etching
e9 | Loom | print | duvernay | 1872 | lyon | paper | | guild | | | 16 | woodcut
e10 | Almanac Page | print | | 1799 | lyon | paper | | | | | | woodcut
e11 | Comet | print | | | | paper | | trust | | | | woodcut
s1 | Standing Lion | sculpture | ferrante | 1705 | florence | bronze | lion | trust | | salon | 110 | cast bronze
s2 | Rearing Horse | sculpture | ferrante | 1708 | florence | bronze | horse | trust | | | 130 | cast bronze
s3 | Saint George | sculpture | salvemini | 1700 | siena | marble | george | guild | | | 180 | carved marble
s4 | Bust of a Poet | sculpture | castelli | 1875 | florence | marble | | trust | holm | light | 52 | carved marble
s5 | Weeping Nymph | sculpture | castelli | 1882 | florence | marble bronze | | | | | 75 | marble with bronze base
s6 | Dockworker | sculpture | vafeas | 1890 | lyon | bronze | | guild | | light | 160 | cast bronze
s7 | Wreath | sculpture | vafeas | | lyon | bronze | | trust | | | | cast bronze
s8 | Votive Head | sculpture | | -0450 | ostia | marble | | trust | brandt | | 33 | carved marble
s9 | Boundary Stone | sculpture | | -0120 | ostia | marble | | guild | | | 64 | carved marble
"""
WORKS = {
    key: Work(*fields)
    for key, *fields in (re.split(r" *[|] *", row.strip()) for row in _ROWS.strip().split("\n"))
}


def _labels(texts: tuple[str, ...]) -> str:
    return ", ".join(f'"{text}"@{code}' for text, code in zip(texts, ("en", "fr", "de", "el"), strict=True))


def _span(year: str) -> str:
    day = "^^xsd:date"
    return (
        f'crm:P4_has_time-span [ a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "{year}-01-01"{day} ; '
        f'crm:P82b_end_of_the_end "{year}-12-31"{day} ]'
    )


def parse_world() -> str:
    """The museum in Turtle."""
    lines = [PREFIXES, ':exhibition a crm:E55_Type ; rdfs:label "exhibition"@en .',
             ':height a crm:E55_Type ; rdfs:label "height"@en .',
             ':statement a crm:E55_Type ; rdfs:label "material statement"@en .']  # fmt: skip
    lines += [f":{key} a crm:E55_Type ; rdfs:label {_labels(texts)} ." for key, texts in TYPES.items()]
    lines += [
        f":{key} a crm:E57_Material ; rdfs:label {_labels(texts)} ." for key, texts in MATERIALS.items()
    ]
    for key, (texts, around) in PLACES.items():
        within = f" ; crm:P89_falls_within :{around}" if around else ""
        lines.append(f":{key} a crm:E53_Place ; rdfs:label {_labels(texts)}{within} .")
    for key, name in PEOPLE.items():
        kind = "E74_Group" if key in GROUPS else "E21_Person"
        lines.append(f':{key} a crm:{kind} ; rdfs:label "{name}" .')
    for key, (name, born_in, born, died_in, died) in MAKERS.items():
        lines.append(f':{key} a crm:E21_Person ; rdfs:label "{name}" .')
        if born:
            lines.append(f":birth-{key} a crm:E67_Birth ; crm:P98_brought_into_life :{key} ; "
                         f"crm:P7_took_place_at :{born_in} ; {_span(born)} .")  # fmt: skip
        if died:
            lines.append(f":death-{key} a crm:E69_Death ; crm:P100_was_death_of :{key} ; "
                         f"crm:P7_took_place_at :{died_in} ; {_span(died)} .")  # fmt: skip
    for key, (name, place, year) in SHOWS.items():
        lines.append(f':{key} a crm:E7_Activity ; rdfs:label "{name}" ; crm:P2_has_type :exhibition ; '
                     f"crm:P7_took_place_at :{place} ; {_span(year)} .")  # fmt: skip
    return "\n".join([*lines, *(line for key, work in WORKS.items() for line in _work(key, work))])


def _work(key: str, work: Work) -> list[str]:
    lines = [
        f':{key} a crm:E22_Human-Made_Object ; rdfs:label "{work.title}" ; crm:P2_has_type :{work.type} .'
    ]
    made = [f":making-{key} a crm:E12_Production ; crm:P108_has_produced :{key}"]
    made += [f"crm:P14_carried_out_by :{work.maker}"] if work.maker else []
    made += [f"crm:P7_took_place_at :{work.made_in}"] if work.made_in else []
    made += [_span(work.year)] if work.year else []
    lines.append(" ; ".join(made) + " .")
    lines += [f":{key} crm:P45_consists_of :{one} ." for one in work.material.split()]
    lines += [f":{key} crm:P62_depicts :{one} ." for one in work.depicts.split()]
    lines += [f":{one} crm:P16_used_specific_object :{key} ." for one in work.shows.split()]
    if work.owner:
        lines.append(f":{key} crm:P52_has_current_owner :{work.owner} .")
    if work.donor:
        lines.append(f":gift-{key} a crm:E8_Acquisition ; crm:P24_transferred_title_of :{key} ; "
                     f"crm:P23_transferred_title_from :{work.donor} ; "
                     f"crm:P22_transferred_title_to :{work.owner} .")  # fmt: skip
    if work.height:
        lines.append(f":{key} crm:P43_has_dimension [ a crm:E54_Dimension ; crm:P2_has_type :height ; "
                     f'crm:P90_has_value "{work.height}"^^xsd:integer ] .')  # fmt: skip
    if medium := work.medium or ("oil on canvas" if work.material == "oil canvas" else ""):
        lines.append(f":medium-{key} a crm:E33_Linguistic_Object ; crm:P2_has_type :statement ; "
                     f'crm:P67_refers_to :{key} ; crm:P190_has_symbolic_content "{medium}" .')  # fmt: skip
    return lines


# Paths between works, people, places and dates, as patterns write them: `?x @maker ?who`.
SHORT = {
    "maker": "^crm:P108_has_produced/crm:P14_carried_out_by",
    "made_at": "^crm:P108_has_produced/crm:P7_took_place_at",
    "made_on": "^crm:P108_has_produced/crm:P4_has_time-span",
    "born_at": "^crm:P98_brought_into_life/crm:P7_took_place_at",
    "born_on": "^crm:P98_brought_into_life/crm:P4_has_time-span",
    "died_at": "^crm:P100_was_death_of/crm:P7_took_place_at",
    "died_on": "^crm:P100_was_death_of/crm:P4_has_time-span",
    "giver": "^crm:P24_transferred_title_of/crm:P23_transferred_title_from",
    "gift": "^crm:P24_transferred_title_of",
    "show": "^crm:P16_used_specific_object",
    "within": "crm:P89_falls_within*",
    "just_within": "crm:P89_falls_within",
    "type": "crm:P2_has_type",
    "of": "crm:P45_consists_of",
    "depicts": "crm:P62_depicts",
    "owner": "crm:P52_has_current_owner",
    "at": "crm:P7_took_place_at",
    "on": "crm:P4_has_time-span",
    "begins": "crm:P82a_begin_of_the_begin",
    "ends": "crm:P82b_end_of_the_end",
    "by": "crm:P14_carried_out_by",
    "made": "crm:P108_has_produced",
    "from": "crm:P23_transferred_title_from",
    "to": "crm:P22_transferred_title_to",
    "given": "crm:P24_transferred_title_of",
    "showed": "crm:P16_used_specific_object",
    "about": "crm:P67_refers_to",
    "says": "crm:P190_has_symbolic_content",
    "dimension": "crm:P43_has_dimension",
}


@dataclass(frozen=True)
class Museum:
    """The museum as a release, to be asked in words, and as a store, to be asked in SPARQL."""

    release: Release
    _read: dict[str, Parsed] = field(default_factory=dict, repr=False, compare=False)

    def parse(self, question: str, earlier: Antecedent | None = None) -> Parsed:
        if earlier is not None:
            return parse(self.release, analysed(self.release, question), earlier)
        if question not in self._read:
            self._read[question] = parse(self.release, analysed(self.release, question))
        return self._read[question]

    def share_sure(self, questions: Sequence[str]) -> float:
        """The share of questions that are understood for certain."""
        return sum(self.parse(one).certain for one in questions) / len(questions)

    def outcome(self, parsed: Parsed) -> Outcome:
        assert parsed.plan is not None, parsed
        return execute(parsed.plan, self.release[World])

    def members(self, parsed: Parsed) -> set[str]:
        """Keys of the members of what was understood."""
        return {self.key(node) for node in self.outcome(parsed).members}

    def read(self, question: str, earlier: Antecedent | None = None) -> set[str] | None:
        """The members that a question lists, however sure it was understood."""
        return self.listed(self.parse(question, earlier))

    def sure(self, question: str, earlier: Antecedent | None = None) -> set[str]:
        """The members of a question that is understood for certain."""
        parsed = self.parse(question, earlier)
        assert parsed.certain, (parsed.score, parsed.unknown, parsed.unnamed, parsed.plan)
        return self.members(parsed)

    def value(self, question: str, earlier: Antecedent | None = None) -> int | bool | None:
        """The number, or yes or no, of a question, however sure it was understood."""
        return self.outcome(self.parse(question, earlier)).value

    def listed(self, parsed: Parsed) -> set[str] | None:
        """The members where they are what is told: of a list or a ranking; None where a number or a yes is."""
        told = parsed.plan is not None and parsed.plan.compute.kind in ("list", "rank")
        return self.members(parsed) if told else None

    def key(self, node: int) -> str:
        return self.release[Graph].iri(int(node)).removeprefix(BASE)

    def cell(self, value: int) -> str:
        """What a table or pair shows: a key, the text of a literal, or the day on which a time-span begins."""
        world = self.release[World]
        if (
            value < world.size
            and int(world.adjacency.categories[value]) & int(Category.Time)
            and world.dated[value]
        ):
            year, month, day = civil(int(world.extents[0][value]))
            written = year - (year < 1)  # the data writes 450 BC as -0450: see `crmrag_query.dates`
            return f"{written:0{4 + (written < 0)}d}-{month:02d}-{day:02d}"
        shown = cell(world, int(value))
        return shown.removeprefix(BASE) if isinstance(shown, str) else shown.text

    def groups(self, parsed: Parsed) -> dict[str, int]:
        """How many members lead to each key; to each year, decade or century, by its number."""
        outcome = self.outcome(parsed)
        name = self.cell if outcome.by == "entity" else str
        return {name(int(one)): int(count) for one, count in outcome.groups}

    def rows(self, parsed: Parsed) -> set[tuple[str, ...]]:
        """Keys of each row of a table or of pairs."""
        outcome = self.outcome(parsed)
        blocks = [outcome.rows] if outcome.pairing is None else list(outcome.blocks(1000))
        return {tuple(self.cell(value) for value in row) for block in blocks for row in block.tolist()}

    # the other way

    @cached_property
    def store(self) -> ox.Store:
        store = ox.Store()
        store.load(parse_world().encode(), ox.RdfFormat.TURTLE)
        return store

    def select(self, pattern: str) -> set[tuple[str, ...]]:
        """Keys or texts of the rows of `SELECT DISTINCT …`, written without its prefixes and with `SHORT` paths."""
        query = re.sub(r"@(\w+)", lambda short: SHORT[short[1]], pattern)
        found = self.store.query(_QUERY + query)
        assert isinstance(found, ox.QuerySolutions)
        return {tuple("" if term is None else term.value.removeprefix(BASE) for term in row) for row in found}

    def gold(self, pattern: str) -> set[str]:
        """Keys of all ?x of a graph pattern."""
        return {row[0] for row in self.select(f"SELECT DISTINCT ?x WHERE {{ {pattern} }}")}

    def counts(self, query: str) -> dict[str, int]:
        """The first column of a query -> its second, a number."""
        return {row[0]: int(row[1]) for row in self.select(query)}

    def after(self, *questions: str, focus: str = "") -> Antecedent | None:
        """What stands behind these questions, asked one after the other, as a conversation keeps it.

        ``focus``: the key of what "it" or "she" is.
        """
        state = ConversationState()
        for number, question in enumerate(questions):
            parsed = self.parse(question, antecedent_of(self.release, state))
            state = ConversationState((*state.turns, _turn(question, parsed, number == 0)))
        return antecedent_of(
            self.release, state, [Focus(BASE + focus, label=MAKERS[focus][0])] if focus else []
        )


_QUERY = f"""PREFIX crm: <http://www.cidoc-crm.org/cidoc-crm/> PREFIX : <{BASE}>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""


def _turn(question: str, parsed: Parsed, opens: bool) -> Turn:
    plan = json.dumps(plan_json(parsed.plan)) if isinstance(parsed.plan, Plan) else ""
    return Turn(
        question, question, Form.ENUMERATION, Kind.STANDALONE, opens=opens, plan=plan, sure=parsed.certain
    )


def build_museum(root: Path, turtle: str = "", **dataset: object) -> Museum:
    """The museum, or one of other triples, built with the stand-in encoder; ``dataset``: further keys of its entry."""
    languages = ["en", "fr", "de", "el"]
    project = make_project(
        root, turtle or parse_world(), languages=languages, write_markdown=False, **dataset
    )
    build_all(project.context())
    return Museum(open_release(project.dataset, project.data))
