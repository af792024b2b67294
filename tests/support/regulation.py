"""A regulation in Czech, three pages, of a town that does not exist; and what a model would read from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.builds import Project, build_all, make_project
from tests.support.model_server import Script, model_server
from tests.support.pdf import pdf

PAGES = (
    """Vyhláška města Jezeřany č. 12/1987
o správě městské knihovny a jejích sbírek

§ 1 Předmět úpravy
Tato vyhláška upravuje správu městské knihovny v Jezeřanech, ochranu jejích
rukopisů a podmínky, za kterých mohou čtenáři starší patnácti let studovat
vzácné tisky. Knihovnou se rozumí budova bývalé sýpky na Rybím náměstí.

§ 2 Vymezení pojmů
Vzácným tiskem se rozumí tisk vydaný před rokem 1801. Rukopisem se rozumí
každý ručně psaný svazek bez ohledu na stáří.""",
    """§ 3 Správce sbírek
Správce sbírek odpovídá za stav rukopisů. Správcem byl ustanoven Řehoř Žďárský.
Dohled nad správcem vykonává Okresní archiv Hvězdov, který jednou ročně
prověří úplnost sbírek a o výsledku sepíše zprávu.

§ 4 Teplota a vlhkost
V depozitáři musí být udržována teplota čtrnáct stupňů a vlhkost padesát
procent podle normy JN 4410. Měření se zapisuje do knihy podnebí.""",
    """§ 5 Výpůjčky
Rukopisy se nepůjčují mimo budovu. Výjimku povoluje Okresní archiv Hvězdov.
Za ztrátu svazku se platí náhrada ve výši dvojnásobku odhadní ceny.

§ 6 Závěrečná ustanovení
Zrušuje se vyhláška č. 3/1961 o čítárnách. Vyhláška nabývá účinnosti dnem
prvního května.""",
)


def reply(entities: list[tuple[str, str, str]], relationships: list[tuple[str, str, str]]) -> str:
    """A reply: entities as name, type, description; relationships as source, type, target."""
    return json.dumps(
        {
            "entities": [{"name": n, "type": t, "description": d} for n, t, d in entities],
            "relationships": [
                {"source": s, "type": t, "target": o, "description": ""} for s, t, o in relationships
            ],
        },
        ensure_ascii=False,
    )


REPLIES = (
    reply(
        [
            ("12/1987", "REGULATION", "Upravuje správu městské knihovny."),
            ("městská knihovna", "FACILITY", "Budova bývalé sýpky na Rybím náměstí."),
            ("vzácný tisk", "CONCEPT", "Tisk vydaný před rokem 1801."),
        ],
        [("12/1987", "REGULATES", "městská knihovna"), ("12/1987", "DEFINES", "vzácný tisk")],
    ),
    "```json\n"
    + reply(
        [
            ("Řehoř Žďárský", "PERSON", "Správce sbírek."),
            ("Okresní archiv Hvězdov", "ORGANIZATION", "Prověří úplnost sbírek."),
            ("správce sbírek", "ROLE", "Odpovídá za stav rukopisů."),
            ("JN 4410", "STANDARD", "Teplota a vlhkost v depozitáři."),
            ("12/1987", "REGULATION", ""),
            ("sklep", "CELLAR", "A type that there is not."),
        ],
        [
            ("Okresní archiv Hvězdov", "SUPERVISES", "správce sbírek"),
            ("12/1987", "REFERENCES", "JN 4410"),
            ("12/1987", "REFERENCES", "nic takového"),
            ("12/1987", "ADMIRES", "JN 4410"),
        ],
    )
    + "\n```",
    reply(
        [
            ("12/1987", "regulation", ""),
            ("3/1961", "REGULATION", "O čítárnách."),
            ("okresní archiv hvězdov", "ORGANIZATION", "Povoluje výjimku z výpůjček."),
        ],
        [("12/1987", "AMENDS", "3/1961")],
    ),
)
"""What a model replies to each page: with fences, an unknown type, ends that are not there."""

MUSEUM = """
@prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> . @prefix ex: <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:keeper a crm:E21_Person ; rdfs:label "Řehoř Žďárský"@cs ; crm:P3_has_note "Curator of books."@en .
ex:archive a crm:E74_Group ; rdfs:label "Okresní archív Hvězdov"@cs .
ex:codex a crm:E22_Human-Made_Object ; rdfs:label "Codex of the Granary"@en ; crm:P50_has_current_keeper ex:archive .
ex:other a crm:E21_Person ; rdfs:label "Brenna Tollan"@en .
"""
"""What a curator wrote of the same town."""


def make_regulation(root: Path, **pages: object) -> Project:
    """A project of the regulation and the museum beside it."""
    source = {"files": "*.pdf", "profile": "regulatory", "language": "cs", **pages}
    project = make_project(
        root,
        MUSEUM,
        sources=[{"rdf": "churches.ttl"}, {"pages": source}],
        languages=["en", "cs"],
        model_calls={"workers": 1},  # replies come in the order in which they are scripted
        write_markdown=False,
    )
    (root / "regulation.pdf").write_bytes(pdf(*PAGES))
    return project


@contextmanager
def scripted(*replies: str, **faults: Any) -> Iterator[Script]:
    """A server of a model that sees images, which the environment names while the block runs."""
    with model_server(*(replies or REPLIES), **faults) as script, pytest.MonkeyPatch.context() as environment:
        environment.setenv("CRMRAG_API_BASE", script.address)
        environment.setenv("OPENAI_API_KEY", "test")
        yield script


def build_regulation(root: Path) -> None:
    """Build the project with what the scripted model reads."""
    with scripted():
        build_all(make_regulation(root, model="openai/scripted").context())
