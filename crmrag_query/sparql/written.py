"""SPARQL that a language model writes for a question: one structured call, one repair, run within bounds, read-only.

The model is told which properties, classes and entities the data has (``catalogue``). What it writes is parsed, may only read
(``check``), may name only what the data states and must hang together (``vocabulary``). What is wrong goes back once with
what is near; so does a query that gives nothing.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from crmrag_query.artifacts.release import Release
from crmrag_query.config.service import SparqlConfig
from crmrag_query.errors import CrmRagError, ModelError, QuestionError, ReleaseError
from crmrag_query.graph.graph import Graph
from crmrag_query.llm.model import Message, Model, Talk, repair
from crmrag_query.notes import Note
from crmrag_query.ontology.load import Ontology, normalise_class, normalise_property
from crmrag_query.plans.profile import Profile
from crmrag_query.reading.catalogue import Earlier, catalogue, written
from crmrag_query.reading.plan_json import read_json
from crmrag_query.sparql.check import check_query, nodes, tokenise
from crmrag_query.sparql.evaluate import SparqlResult
from crmrag_query.syntax import RDF_TYPE
from crmrag_query.text import plain, shorten

NEAR = 3  # names that are told of one that is not known
READING_FORMS = ("SelectQuery", "AskQuery")


@dataclass(frozen=True)
class Vocabulary:
    """The properties, classes and nodes that a data set states, and their names."""

    graph: Graph
    ontology: Ontology

    @classmethod
    def from_release(cls, release: Release) -> Vocabulary:
        return cls(release[Graph], release.ontology)

    @cached_property
    def properties(self) -> dict[str, str]:
        """Code by IRI, "" where it has none."""
        graph = self.graph
        return {graph.property_iri(n): graph.property_code(n) for n in range(len(graph.property_codes))}

    @cached_property
    def classes(self) -> dict[str, str]:
        """Code by IRI, "" where it has none."""
        graph = self.graph
        return {graph.class_iri(n): graph.class_code(n) for n in range(len(graph.class_codes))}

    def faults(self, query: str, config: SparqlConfig) -> list[str]:
        """What of a query is not of this data or joined by nothing; empty for none.

        Raises QuestionError for what ``check_query`` does not let pass, and for a form that gives no rows.
        """
        checked = check_query(query, config, self.graph.named_graphs)
        from rdflib.plugins.sparql.algebra import translateQuery
        from rdflib.plugins.sparql.parser import parseQuery

        try:
            algebra = translateQuery(parseQuery(checked.text)).algebra
        except (
            Exception
        ) as error:  # rdflib raises nothing more special, for a prefix that is not declared as well
            raise QuestionError(f"The query cannot be read ({error}).", "Declare its prefixes.") from error
        if algebra.name not in READING_FORMS:
            raise QuestionError("The query gives no rows.", "Write SELECT or ASK.")
        return [*dict.fromkeys((*self._unknown(algebra), *_apart(algebra)))]

    def _unknown(self, algebra: Any) -> Iterator[str]:
        for node in nodes(algebra):
            if node.name in ("BGP", "TriplesBlock"):
                for s, p, o in _triples(node):
                    yield from self._unknown_triple(s, p, o)
            elif (
                node.name == "Graph" and _is_iri(node.term) and str(node.term) not in self.graph.named_graphs
            ):
                yield _not_known("graph", str(node.term), sorted(self.graph.named_graphs))
            elif node.name == "values":
                named = (term for row in node.res for term in row.values())
                yield from filter(None, map(self._unknown_iri, named))
            elif node.name.endswith("Expression") or node.name.startswith("Builtin_"):
                named = (
                    one for key in ("expr", "other", "arg", "arg1", "arg2") for one in _flat(node.get(key))
                )
                yield from filter(None, map(self._unknown_iri, named))

    def _unknown_triple(self, s: Any, p: Any, o: Any) -> Iterator[str]:
        steps = list(_steps(p))
        for step in steps:
            if str(step) != RDF_TYPE and str(step) not in self.properties:
                yield self._no_property(str(step))
        if steps and str(steps[0]) == RDF_TYPE and _is_iri(o) and str(o) not in self.classes:
            yield self._no_class(str(o))
        elif unknown := self._unknown_iri(o):
            yield unknown
        if unknown := self._unknown_iri(s):
            yield unknown

    def _unknown_iri(self, term: Any) -> str | None:
        if not _is_iri(term):
            return None
        iri = str(term)
        known: Sequence[Collection[str]] = (
            self.properties,
            self.classes,
            self.graph.named_graphs,
            {RDF_TYPE},
        )
        if self.graph.node(iri) is not None or any(iri in one for one in known):
            return None
        return f"nothing in the data has the IRI <{iri}>"

    def _no_property(self, iri: str) -> str:
        """With those of the same code or read from the other end, else those that are spelt like it."""
        found = normalise_property(iri)
        found_code = found.code if found is not None else ""
        code = found_code.removesuffix("i")
        same = [own for own, other in self.properties.items() if code and other.removesuffix("i") == code]
        inverse = code and any(self.properties[own].endswith("i") != found_code.endswith("i") for own in same)
        turned = " (it leads the other way)" if inverse else ""
        return _not_known("property", iri, self.properties, same) + turned

    def _no_class(self, iri: str) -> str:
        """With the classes below it that the data states, else those that are spelt like it."""
        found = normalise_class(iri)
        code = found.code if found is not None else ""
        below = [own for own, other in self.classes.items() if code and other and self._is_below(other, code)]
        said = _not_known("class", iri, self.classes, below)
        return f"{said} (classes that are below it are stated by their own names)" if below else said

    def _is_below(self, code: str, ancestor: str) -> bool:
        known = self.ontology.classes
        return code in known and ancestor in known and self.ontology.is_a(code, ancestor)


def _not_known(what: str, iri: str, among: Iterable[str], same: Sequence[str] = ()) -> str:
    local = {_local(one): one for one in among}
    near = [*same] or [
        local[one] for one in difflib.get_close_matches(_local(iri), local, n=NEAR, cutoff=0.5)
    ]
    hint = f"; near it: {', '.join(f'<{one}>' for one in near[:NEAR])}" if near else ""
    return f"the data does not state the {what} <{iri}>{hint}"


def _local(iri: str) -> str:
    return iri.rstrip("/#").replace("#", "/").rpartition("/")[2]


# The algebra of rdflib


def _triples(node: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Triples of a basic pattern; within EXISTS they stand in one flat list."""
    for one in node.triples:
        flat = list(one)
        yield from zip(flat[::3], flat[1::3], flat[2::3], strict=True)


def _steps(path: Any) -> Iterator[Any]:
    """The IRIs of a property or a property path, that at its end first."""
    if _is_iri(path):
        yield path
        return
    inner = [*(getattr(path, "args", None) or ()), getattr(path, "path", None), getattr(path, "arg", None)]
    for one in reversed([part for part in inner if part is not None]):
        yield from _steps(one)


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for one in value:
            yield from _flat(one)
    elif value is not None:
        yield value


def _is_iri(term: Any) -> bool:
    from rdflib import URIRef

    return isinstance(term, URIRef)


# What is joined by nothing

Part = frozenset[str]
"""Variables that hang together."""


def _apart(algebra: Any) -> Iterator[str]:
    """Of each group of patterns whose parts share no variable, what it combines with everything."""
    found: list[list[Part]] = []
    whole = _parts(algebra.p, found.append)
    for parts in (*found, whole):
        if len(parts) > 1:
            names = " and ".join(f"?{min(part)}" for part in sorted(parts, key=min)[:NEAR])
            yield f"{names} are joined by nothing, so that each is combined with every other"


def _parts(node: Any, inner: Callable[[list[Part]], None]) -> list[Part]:
    """The variables of a pattern, those together that it joins; ``inner`` is told those of each sub-query."""
    match node.name:
        case "BGP":
            return _joined([frozenset(map(str, filter(_is_open, triple))) for triple in _triples(node)])
        case "Join":
            return _joined([*_parts(node.p1, inner), *_parts(node.p2, inner)])
        case "LeftJoin":
            both = [*_parts(node.p1, inner), *_parts(node.p2, inner)]
            return _joined([*both, _variables(node.expr)])
        case "Union":
            sides = [_parts(node.p1, inner), _parts(node.p2, inner)]
            if all(len(side) < 2 for side in sides):  # each holds by itself, and one row is of one of them
                return _joined([frozenset().union(*(part for side in sides for part in side))])
            return max(sides, key=len)
        case "Minus":
            return _parts(node.p1, inner)
        case "Filter" | "Extend":
            own = {str(node.var)} if node.name == "Extend" else set()
            of = _parts(node.p, inner)
            # what has one row joins with nothing
            return _joined([*of, _variables(node.expr) | own]) if of else []
        case "AggregateJoin":
            inner(_parts(node.p, inner))
            return []
        case "Graph":
            named = {str(node.term)} if _is_open(node.term) else set()
            return _joined([part | named for part in _parts(node.p, inner)])
        case "values":
            return _joined([frozenset(str(name) for row in node.res for name in row)])
        case "ToMultiSet" if node.p.name != "values":
            inner(_parts(node.p, inner))
            if any(one.name == "Group" and one.expr is None for one in nodes(node.p)):
                return []  # one row
            return _joined([frozenset(map(str, getattr(node.p, "PV", None) or node.p.p.get("PV") or ()))])
        case _:
            return _parts(node.p, inner) if "p" in node else []


def _joined(parts: Iterable[Part]) -> list[Part]:
    """Those that share a variable as one."""
    found: list[Part] = []
    for part in parts:
        if part:
            touching = [one for one in found if one & part]
            found = [one for one in found if not one & part] + [part.union(*touching)]
    return found


def _is_open(term: Any) -> bool:
    from rdflib import BNode, Variable

    return isinstance(term, Variable | BNode)


def _variables(expression: Any) -> Part:
    """The variables of an expression; those within EXISTS are of a pattern of their own."""
    from rdflib import Variable

    found, waiting = set[str](), [expression]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Variable):
            found.add(str(node))
        elif isinstance(node, list | tuple):
            waiting.extend(node)
        elif hasattr(node, "values") and not str(getattr(node, "name", "")).endswith("EXISTS"):
            waiting.extend(value for key, value in node.items() if key != "_vars")
    return frozenset(found)


SHARES = {"classes": 0.15, "types": 0.25, "properties": 0.5, "graphs": 0.1}
"""Most of the tokens of what the model is told that each section takes while others have rows left."""
ROWS = 50  # of a result that are read: more than an answer tells
REPLY_TOKENS = 1000
REASON = 200  # characters of a model's own words that are passed on
FAULTS = 5  # told at once
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
    """What a model wrote: the ``query`` that was run and its ``result``, None where none could be. ``notes``: for the
    reader."""

    query: str = ""
    result: SparqlResult | None = None
    notes: tuple[str, ...] = ()


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
    return _rounds(talk, messages, attempt)


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
            note = Note(f"{error} It wrote no {'better ' if wrong else ''}query.", "query")
            return replace(empty, notes=(note,))
        found, wrong = attempt.read(reply)
        if not wrong:
            return found
        empty = found if found.result is not None else empty
        messages = [*messages, *repair(reply, f"{wrong} {AGAIN}")]
    if empty.result is not None:
        return empty
    twice = f"The model {talk.model.name} wrote no query that can be run, twice: {shorten(wrong, REASON)}"
    return WrittenQuery(notes=(Note(twice, "query", passing=False),))


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
                note = Note(f"The model wrote no query of the question: “{said}”", "query", passing=False)
                return WrittenQuery(notes=(note,)), ""
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
