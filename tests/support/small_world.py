"""A small data set to talk about: churches in villages, painters with where they were born, texts in two languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from crmrag_query.answers.ask import Ask, state_after, stream
from crmrag_query.answers.records import Answer, Done
from crmrag_query.artifacts.release import Release
from crmrag_query.questions.followup import ConversationState
from tests.support.builds import build_all, make_project
from tests.support.shared import shared_release

BASE = "http://example.org/"
PREFIXES = f"""@prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> . @prefix : <{BASE}> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
"""
CHURCHES = {
    "anna": ("Saint Anna", "Αγία Άννα", "kolva", "leon"),
    "bruno": ("Saint Bruno", "Άγιος Μπρούνο", "kolva", "leon"),
    "clara": ("Saint Clara", "Αγία Κλάρα", "kolva", "mira"),
    "dunstan": ("Saint Dunstan", "Άγιος Ντάνσταν", "orest", "mira"),
    "egidio": ("Saint Egidio", "Άγιος Ετζίντιο", "orest", "leon"),
}
PLACES = {"kolva": "Kolva", "orest": "Orest", "varna": "Varna", "tesk": "Tesk"}
PAINTERS = {"leon": ("Leon Karas", "varna"), "mira": ("Mira Dolan", "tesk")}


def small_world() -> str:
    """Turtle: five churches in two villages, each with a mural by one of two painters, whose births are stated."""
    rows = [
        PREFIXES,
        ':church a crm:E55_Type ; rdfs:label "church"@en, "église"@fr, "Kirche"@de, "εκκλησία"@el .',
        ':mural a crm:E55_Type ; rdfs:label "mural"@en .',
    ]
    rows += [f':{key} a crm:E53_Place ; rdfs:label "{label}" .' for key, label in PLACES.items()]
    for key, (name, birthplace) in PAINTERS.items():
        rows += [
            f':{key} a crm:E21_Person ; rdfs:label "{name}" .',
            f':birth-{key} a crm:E67_Birth ; rdfs:label "Birth of {name}" ; crm:P98_brought_into_life :{key} ;',
            f"  crm:P7_took_place_at :{birthplace} .",
        ]
    for key, (name, greek, village, painter) in CHURCHES.items():
        rows += [
            f':{key} a crm:E22_Human-Made_Object ; rdfs:label "{name}"@en, "{greek}"@el ;',
            f"  crm:P2_has_type :church ; crm:P55_has_current_location :{village} .",
            f':mural-{key} a crm:E22_Human-Made_Object ; rdfs:label "Mural of {name}" ;',
            f"  crm:P2_has_type :mural ; crm:P46i_forms_part_of :{key} .",
            f':painting-{key} a crm:E12_Production ; rdfs:label "Painting of {name}" ;',
            f"  crm:P108_has_produced :mural-{key} ; crm:P14_carried_out_by :{painter} .",
        ]
    return "\n".join(rows)


def small_release(factory: pytest.TempPathFactory) -> Release:
    """It as a release, encoded by the stand-in; shared by all tests."""
    return shared_release(factory, "small_world", _build)


def _build(root: Path) -> None:
    build_all(make_project(root, small_world(), write_markdown=False).context())


def iri(name: str) -> str:
    return BASE + name


PLAIN, FIRST = Ask(), ConversationState()


class Talk:
    """A conversation with a release: each question's answer, and the state after it."""

    def __init__(self, release: Release, how: Ask = PLAIN, state: ConversationState = FIRST) -> None:
        self.release, self.how = release, how
        self.state = state

    def ask(self, question: str) -> Answer:
        *_, done = stream(self.release, question, self.how, self.state)
        assert isinstance(done, Done)
        self.state = state_after(done.answer)
        return done.answer


def cited(answer: Answer) -> list[str]:
    """IRIs of the cited sources in their order."""
    return [source.iri for source in answer.sources if source.cited]


def sources(answer: Answer) -> set[str]:
    return {source.iri for source in answer.sources}
