"""A tiny museum whose labels are attacks and extremes; nothing of them may run, and all of them must be readable."""

from __future__ import annotations

import json

from tests.support.builds import CRM

BASE = "http://example.org/hostile/"
SCRIPT = '<script>window.harmed = "script"</script>'
IMAGE = "<img src=x onerror=\"window.harmed='image'\"> Vase"
MARKDOWN = "[press here](javascript:window.harmed='link') **Bowl** [1]"
RIGHT_TO_LEFT = "\u202eمزهرية قديمة\u202c تاج"
LONG = "Amphora" * 28  # as long as a label may be
ASTRAL = "𐀀𐀁 Tablet 😀"
# The same as the engine gives it: without the signs that turn the direction of what follows.
TAMED = RIGHT_TO_LEFT.replace("\u202e", "").replace("\u202c", "")
NAMES = (SCRIPT, IMAGE, MARKDOWN, RIGHT_TO_LEFT, LONG, ASTRAL)
MAKER = '"><svg onload=window.harmed=1> Maker'
LINK = "javascript:window.harmed='address'"


def hostile_turtle() -> str:
    """Vases with hostile names, of one type, by one maker, each with an image and a link that must not be followed."""
    lines = [
        f"@prefix crm: <{CRM}> . @prefix ex: <{BASE}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        "@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix schema: <http://schema.org/> .",
        f"ex:maker a crm:E21_Person ; rdfs:label {json.dumps(MAKER, ensure_ascii=False)} .",
        'ex:pottery a crm:E55_Type ; rdfs:label "pottery" .',
    ]
    for n, name in enumerate(NAMES):
        lines += [
            f"ex:vase{n} a crm:E22_Human-Made_Object ; rdfs:label {json.dumps(name, ensure_ascii=False)} ;",
            "  crm:P2_has_type ex:pottery ;",
            f'  owl:sameAs <{LINK}> ; schema:image "http://127.0.0.1:9/{n}.jpg" ; crm:P108i_was_produced_by ex:making{n} .',
            f'ex:making{n} a crm:E12_Production ; rdfs:label "Making of {n}" ; crm:P14_carried_out_by ex:maker .',
        ]
    return "\n".join(lines)
