"""A set as JSON-LD in the Linked Art profile: a Set, and its members as what they are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from crmrag_query.ontology.codes import normalise_class
from crmrag_query.ontology.spelling import take_apart
from crmrag_query.ontology.tables import Ontology
from crmrag_query.sets.records import Member

CONTEXT = "https://linked.art/ns/v1/linked-art.json"
CRM = "http://www.cidoc-crm.org/cidoc-crm/"
LINKED_ART = "https://linked.art/ns/terms/"
_DIGITAL = "http://www.ics.forth.gr/isl/CRMdig/D1_Digital_Object"
TERMS = {
    "classified_as": f"{CRM}P2_has_type",
    "identified_by": f"{CRM}P1_is_identified_by",
    "referred_to_by": f"{CRM}P67i_is_referred_to_by",
    "representation": f"{CRM}P138i_has_representation",
    "subject_to": f"{CRM}P104_is_subject_to",
    "member_of": f"{LINKED_ART}member_of",
    "digitally_shown_by": f"{LINKED_ART}digitally_shown_by",
    "access_point": f"{LINKED_ART}access_point",
}
TEXTS = {
    "content": f"{CRM}P190_has_symbolic_content",
    "format": "http://purl.org/dc/elements/1.1/format",
    "_label": "http://www.w3.org/2000/01/rdf-schema#label",
}
FORMATS = {"plan": "application/json", "sparql": "application/sparql-query"}


@dataclass(frozen=True)
class Profile:
    """Names of Linked Art for the classes of an ontology, by code."""

    names: Mapping[str, str]
    iris: Mapping[str, str]

    @classmethod
    def of(cls, ontology: Ontology) -> Profile:
        names = {}
        for code, term in ontology.classes.items():
            name = _camel(term.name)
            known = normalise_class(LINKED_ART + name) if name and term.iri.startswith(CRM) else None
            if known is not None and known.code == code:
                names[code] = name
        return cls(names, {code: ontology.classes[code].iri for code in names})

    def context(self) -> dict[str, Any]:
        """The part of Linked Art's context that a set uses, so that it is read without the network."""
        classes = {name: self.iris[code] for code, name in self.names.items()}
        classes |= {
            "Set": f"{LINKED_ART}Set",
            "DigitalObject": _DIGITAL,
            "Name": f"{CRM}E33_E41_Linguistic_Appellation",
        }
        terms = {name: {"@id": iri, "@type": "@id", "@container": "@set"} for name, iri in TERMS.items()}
        return {"@version": 1.1, "id": "@id", "type": "@type"} | classes | terms | TEXTS

    def types(self, classes: Iterable[str]) -> list[str]:
        """What classes, by IRI, are called: by Linked Art's name, else by the IRI."""
        named = []
        for iri in classes:
            known = normalise_class(iri)
            named.append(self.names.get(known.code, iri) if known is not None else iri)
        return list(dict.fromkeys(named))


def _camel(name: str) -> str:
    """``E22_Human-Made_Object`` as ``HumanMadeObject``; "" for a name without a code."""
    spelling = take_apart(name)
    if spelling is None:
        return ""
    return "".join(
        word[:1].upper() + word[1:] for word in name.partition("_")[2].replace("-", "_").split("_")
    )


def set_node(about: Mapping[str, Any]) -> dict[str, Any]:
    """The set itself: its name, what is said of it, the plan and query that give it, and its rights."""
    said = {name: about[name] for name in ("text", "question", "attribution", "sparql") if about[name]}
    said["plan"] = json.dumps(about["plan"], ensure_ascii=False, sort_keys=True)
    digest = hashlib.sha256(f"{about['release']} {said['plan']}".encode()).hexdigest()
    texts = [
        {"type": "LinguisticObject", "_label": name, "content": content}
        | ({"format": FORMATS[name]} if name in FORMATS else {})
        for name, content in said.items()
    ]
    release = {"type": "Identifier", "_label": "release", "content": about["release"]}
    node = {
        "id": f"urn:crmrag:set:{digest[:32]}",
        "type": "Set",
        "_label": about["title"],
        "identified_by": [{"type": "Name", "content": about["title"]}, release],
        "referred_to_by": texts,
    }
    return node | (
        {"subject_to": [{"type": "Right", "_label": about["licence"]}]} if about["licence"] else {}
    )


def nodes(
    profile: Profile, about: Mapping[str, Any], members: Iterable[tuple[Member, tuple[str, ...]]]
) -> Iterator[dict[str, Any]]:
    """The set, then each member, given with the IRIs of its classes."""
    whole = set_node(about)
    yield whole
    ref = {"id": whole["id"], "type": "Set", "_label": whole["_label"]}
    for member, classes in members:
        node: dict[str, Any] = {"id": member.iri, "_label": member.label, "member_of": [ref]}
        types = profile.types(classes)
        if types:
            node["type"] = types[0] if len(types) == 1 else types
        if member.types:
            node["classified_as"] = [{"id": t.iri, "type": "Type", "_label": t.label} for t in member.types]
        if member.date:
            node["referred_to_by"] = [{"type": "LinguisticObject", "_label": "date", "content": member.date}]
        if member.image:
            shown = {"type": "DigitalObject", "access_point": [{"id": member.image, "type": "DigitalObject"}]}
            node["representation"] = [{"type": "VisualItem", "digitally_shown_by": [shown]}]
        yield node
