"""SPARQL that a language model writes for a question: one structured call, one repair, run within bounds, read-only.

The model is told which properties, classes and entities the data has (``catalogue``). What it writes is parsed, may only read
(``check``), may name only what the data states and must hang together (``vocabulary``). What is wrong goes back once with
what is near; so does a query that gives nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from crmrag_query.artifacts.release import Release
from crmrag_query.config.service import SparqlConfig
from crmrag_query.errors import CrmRagError, ModelError, QuestionError, ReleaseError
from crmrag_query.llm.model import Message, Model
from crmrag_query.llm.talk import Talk, repair
from crmrag_query.plans.profile import Profile
from crmrag_query.reading.catalogue import Earlier, catalogue, written
from crmrag_query.reading.plan_json import read_json
from crmrag_query.sparql.check import tokenise
from crmrag_query.sparql.evaluate import SparqlResult
from crmrag_query.sparql.vocabulary import Vocabulary
from crmrag_query.text import plain, shorten

SHARES = {"classes": 0.15, "types": 0.25, "properties": 0.5, "graphs": 0.1}
"""Most of the tokens of what the model is told that each section takes while others have rows left."""
ROWS = 50  # of a result that are read: more than an answer tells
REPLY_TOKENS = 1000
REASON = 200  # characters of a model's own words that are passed on
FAULTS = 5  # told at once
UNWRITTEN = "It wrote no"  # … query: in the note of a model that failed at it
KNOWN_PREFIXES: Final = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "crm": "http://www.cidoc-crm.org/cidoc-crm/",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "owl": "http://www.w3.org/2002/07/owl#",
}
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "query": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "cannot": {"type": "string"},
    },
    "required": ["query", "cannot"],
    "additionalProperties": False,
}
AGAIN = "Reply with the corrected JSON object alone."
_LOCAL = re.compile(r"[A-Za-z_][\w-]*")
_GROUP = re.compile(r"@\d+\b")

Run = Callable[[str, int], SparqlResult]
"""Runs a read-only query for at most so many rows. Raises CrmRagError."""


@dataclass(frozen=True, slots=True)
class WrittenQuery:
    """What a model wrote: the ``query`` that was run and its ``result``, None where none could be. ``notes``: for the reader;
    ``rounds``: replies of the model; ``by``: its name."""

    query: str = ""
    result: SparqlResult | None = None
    notes: tuple[str, ...] = ()
    rounds: int = 0
    by: str = ""


@dataclass(frozen=True)
class Names:
    """Prefixes of a data set's names, and IRIs as they are written with them."""

    prefixes: Mapping[str, str]

    @classmethod
    def of(cls, iris: Sequence[str]) -> Names:
        """The usual prefixes, and one for each further namespace of these IRIs."""
        known = set(KNOWN_PREFIXES.values())
        others = dict.fromkeys(space for iri in iris if (space := _split(iri)[0]) and space not in known)
        return cls(KNOWN_PREFIXES | {f"n{number}": space for number, space in enumerate(others, 1)})

    def name(self, iri: str) -> str:
        space, local = _split(iri)
        prefix = next((prefix for prefix, known in self.prefixes.items() if known == space), None)
        return f"{prefix}:{local}" if prefix is not None and _LOCAL.fullmatch(local) else f"<{iri}>"

    def declared(self, query: str) -> str:
        """The query with declarations of those of the prefixes that it uses and does not declare."""
        named = {token.text.partition(":")[0] for token in tokenise(query).tokens if token.kind == "prefixed"}
        own = set(re.findall(r"(?i)\bPREFIX\s+([\w-]*)\s*:", query))
        missing = [prefix for prefix in self.prefixes if prefix in named - own]
        return "".join(f"PREFIX {prefix}: <{self.prefixes[prefix]}>\n" for prefix in missing) + query


def _split(iri: str) -> tuple[str, str]:
    at = max(iri.rfind("#"), iri.rfind("/")) + 1
    return iri[:at], iri[at:]


def query_with_model(
    release: Release,
    question: str,
    model: Model,
    run: Run,
    config: SparqlConfig,
    earlier: Sequence[Earlier] = (),
) -> WrittenQuery:
    """The query of ``question`` as the model writes it, and its rows; whatever goes wrong is told in ``notes``.

    Raises ReleaseError for a release without a profile.
    """
    profile = release[Profile]
    told = catalogue(release, question, earlier, SHARES)
    iris = [*(one.iri for one in profile.properties.values()), *(one.iri for one in profile.classes.values())]
    names = Names.of(iris)
    message = told.message | {"prefixes": dict(names.prefixes)}
    for key, entries in (("properties", profile.properties), ("classes", profile.classes)):
        message[key] = [_named(row, entries, names) for row in message.get(key, ())]
    messages: list[Message] = [
        {"role": "system", "content": release.method.prompts.sparql},
        {"role": "user", "content": written(message)},
    ]
    talk = Talk(model, release.method.planner.seconds, SCHEMA, REPLY_TOKENS)
    attempt = _Attempt(release, run, config, names, told.groups)
    found = _rounds(talk, messages, attempt)
    return replace(found, rounds=talk.rounds, by=model.name)


def _named(row: str, entries: Mapping[str, Any], names: Names) -> str:
    """A row of the catalogue, which begins with a code or an IRI, with the name that a query has for it."""
    key, separator, rest = row.partition(": ")
    return f"{names.name(entries[key].iri)} | {rest}" if separator and key in entries else row


def _rounds(talk: Talk, messages: Sequence[Message], attempt: _Attempt) -> WrittenQuery:
    """Two replies at most: the second answers what is wrong with the first."""
    empty = WrittenQuery()
    wrong = ""
    for _ in range(2):
        try:
            reply = talk.ask(messages)
        except ModelError as error:
            return replace(empty, notes=(f"{error} {UNWRITTEN} {'better ' if wrong else ''}query.",))
        found, wrong = attempt.read(reply)
        if not wrong:
            return found
        empty = found if found.result is not None else empty
        messages = [*messages, *repair(reply, f"{wrong} {AGAIN}")]
    if empty.result is not None:
        return empty
    note = f"The model {talk.model.name} wrote no query that can be run, twice: {shorten(wrong, REASON)}"
    return WrittenQuery(notes=(note,))


@dataclass(frozen=True)
class _Attempt:
    """What a query may name, and how it is run."""

    release: Release
    run: Run
    config: SparqlConfig
    names: Names
    groups: Mapping[str, Sequence[str]]

    def read(self, reply: str) -> tuple[WrittenQuery, str]:
        """What a reply gives, and what to tell the model of one that is wrong or gives nothing, "" for any other."""
        try:
            told = read_json(reply)
            query, cannot = told.get("query"), told.get("cannot") or ""
            if not isinstance(query, str | None) or not isinstance(cannot, str):
                raise ValueError('"query" must be a text or null, and "cannot" a text')
            if not query:
                if not cannot:
                    raise ValueError('there is neither a "query" nor a reason why there "cannot" be one')
                said = shorten(plain(cannot), REASON)
                return WrittenQuery(notes=(f"The model wrote no query of the question: “{said}”",)), ""
            query = self._whole(query)
            faults = self.release[Vocabulary].faults(query, self.config)
        except (ValueError, QuestionError) as error:
            return WrittenQuery(), f"That is not valid: {_ended(str(error))}"
        if faults:
            return WrittenQuery(), f"That is not valid: {'; '.join(faults[:FAULTS])}."
        try:
            result = self.run(query, ROWS)
        except ReleaseError:
            raise
        except CrmRagError as error:
            return WrittenQuery(), f"That cannot be run: {_ended(str(error))}"
        found = WrittenQuery(query, result)
        if result.form == "select" and not result.rows:
            return found, (
                "It gives no rows. See which way each property leads, which classes are stated, and whether texts are "
                "spelt so; a query that is right as it is may be given again."
            )
        return found, ""

    def _whole(self, query: str) -> str:
        """The query with its prefixes, and IRIs in place of the names of long lists."""

        def listed(match: re.Match[str]) -> str:
            return " ".join(f"<{iri}>" for iri in self.groups.get(match.group(), ())) or match.group()

        return self.names.declared(_GROUP.sub(listed, query))


def _ended(said: str) -> str:
    text = plain(said)
    return text if text.endswith(".") else f"{text}."
