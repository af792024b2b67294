"""A museum of vases with places and dates: around the Mediterranean and far away, before Christ, open at an end, unknown."""

from __future__ import annotations

from tests.support.builds import CRM

BASE = "http://example.org/atlas/"
SITES = {
    "Athens": (37.98, 23.73), "Corinth": (37.91, 22.88), "Rhodes": (36.44, 28.22), "Salamis": (35.18, 33.90),
    "Kition": (34.92, 33.63), "Ephesus": (37.94, 27.34), "Cumae": (40.85, 14.05), "Vulci": (42.42, 11.63),
    "Naukratis": (30.90, 30.59), "Olbia": (46.69, 31.90), "Ai-Khanoum": (37.17, 69.41),
}  # fmt: skip
"""Latitude and longitude, degrees."""
VASES = 44
PLACED, DATED = 40, 41
"""How many have a place with coordinates, and a date."""
NUMBER = "AT.1903-17"
LONG_TEXT = " ".join(f"Sentence {n} tells of the procession of horsemen on the shoulder." for n in range(60))
"""An inventory number and a text of the vase 3."""
SCRIPT = "<img src=x onerror=\"window.harmed='atlas'\"> krater"


def year(n: int) -> tuple[str, str]:
    """First and last year of a vase as XSD writes them, "" for an open end."""
    if n == 0:
        return "", "-0480"
    if n == 1:
        return "0150", ""
    first = -620 + 13 * n
    return f"{first:05d}", f"{first + (40 if n % 4 == 0 else 3):05d}"


def atlas_turtle() -> str:
    """Vases of sites; the last ones have no place, or no date. One has a hostile name, one a text and images."""
    lines = [
        f"@prefix crm: <{CRM}> . @prefix ex: <{BASE}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        "@prefix schema: <http://schema.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .",
        "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .",
        'ex:vase a crm:E55_Type ; rdfs:label "vase" .',
        'ex:nowhere a crm:E53_Place ; rdfs:label "Unknown findspot" .',
    ]
    for name, (lat, lon) in SITES.items():
        lines.append(
            f'ex:{name} a crm:E53_Place ; rdfs:label "{name}" ; crm:P168_place_is_defined_by "POINT({lon} {lat})" .'
        )
    for n in range(VASES):
        lines += _vase(n)
    return "\n".join(lines)


def _vase(n: int) -> list[str]:
    names = list(SITES)
    place = names[min(n % 14, len(names) - 1)] if n < PLACED else "nowhere"
    label = SCRIPT if n == 5 else f"Vase {n}"
    first, last = year(n)
    told = [
        f"crm:P82a_begin_of_the_begin {first!r}^^xsd:gYear" if first else "",
        f"crm:P82b_end_of_the_end {last!r}^^xsd:gYear" if last else "",
    ]
    span = f" ; crm:P4_has_time-span [ a crm:E52_Time-Span ; {' ; '.join(one for one in told if one)} ]"
    lines = [
        f"ex:vase{n} a crm:E22_Human-Made_Object ; rdfs:label {_quoted(label)} ; crm:P2_has_type ex:vase ;",
        f"  crm:P55_has_current_location ex:{place} ; crm:P108i_was_produced_by ex:making{n} .",
        f'ex:making{n} a crm:E12_Production ; rdfs:label "Making of vase {n}"{span if n < DATED else ""} .',
    ]
    if n == 2:
        text = "A wide bowl for mixing wine and water, painted with a procession of horsemen and dancers."
        lines += [
            f"ex:vase2 crm:P3_has_note {_quoted(text)} ; owl:sameAs <http://www.wikidata.org/entity/Q42> ;",
            '  rdfs:label "Krater der Reiter"@de ; schema:image <http://127.0.0.1:9/iiif/a/full/full/0/default.jpg> ;',
            "  schema:license <http://creativecommons.org/publicdomain/zero/1.0/> ;",
            '  schema:image "http://127.0.0.1:9/b.jpg" .',
        ]
    if n == 3:
        lines += [
            f"ex:vase3 crm:P3_has_note {_quoted(LONG_TEXT)} ; crm:P1_is_identified_by ex:number3 .",
            'ex:vase3 rdfs:label "Vase of the horsemen" .',
            f'ex:number3 a crm:E42_Identifier ; rdfs:label "{NUMBER}" .',
        ]
    return lines


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
