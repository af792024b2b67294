"""Which queries may run: those that only read, and only this data set.

Parsers differ in what they take for a comment, an escape or the end of a line, and what one overlooks another executes. So a
query is cut into the terminals of the SPARQL 1.1 grammar, and both the parser that checks and the engine that executes see it
in one plain form: no comments, no space but single ones, strings in double quotes on one line, escapes only within strings.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

from crmrag_query.config.service import SparqlConfig
from crmrag_query.errors import MissingExtraError, QuestionError

_CODE = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
_ESCAPED = rf"\\[tbnrf\\\"']|{_CODE}"
_SIGN = r"%[0-9A-Fa-f]{2}|\\[-_~.!$&'()*+,;=/?#@%]"  # PLX: what a local name may hold besides letters
_NAME = r"[\w\-·]"  # PN_CHARS, with a few letters more than the grammar has
# Bounded, for where there is none, words are looked at again and again for one.
_PREFIX = rf"[^\W\d_](?:(?:{_NAME}|\.){{0,250}}{_NAME})?"
_LOCAL = rf"(?:\w|:|{_SIGN})(?:(?:{_NAME}|[.:]|{_SIGN})*(?:{_NAME}|:|{_SIGN}))?"
TERMINALS = {
    "space": r"[ \t\r\n]+",
    "comment": r"#[^\r\n]*",
    "iri": rf"<(?:[^<>\"{{}}|^`\\\x00-\x20]|{_CODE})*>",
    "string": rf'"""(?:"{{0,2}}(?:[^"\\]|{_ESCAPED}))*"""'
    rf"|'''(?:'{{0,2}}(?:[^'\\]|{_ESCAPED}))*'''"
    rf'|(?!""")"(?:[^"\\\r\n]|{_ESCAPED})*"'
    rf"|(?!''')'(?:[^'\\\r\n]|{_ESCAPED})*'",
    "language": r"@[a-zA-Z]+(?:-[a-zA-Z0-9]+)*",
    "variable": r"[?$]\w+",
    "blank": rf"_:\w(?:(?:{_NAME}|\.)*{_NAME})?",
    "prefixed": rf"(?:{_PREFIX})?:(?:{_LOCAL})?",
    "number": r"[+-]?(?:[0-9]+\.[0-9]*[eE][+-]?[0-9]+|\.?[0-9]+[eE][+-]?[0-9]+|[0-9]*\.[0-9]+|[0-9]+)",
    "word": r"[A-Za-z][A-Za-z0-9_]*",
    "sign": r"\^\^|&&|\|\||!=|<=|>=|[{}()\[\].;,*/|^!+\-=<>?]",
}
_TERMINAL = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in TERMINALS.items()))
_ESCAPE = re.compile(_ESCAPED)
_SIGN_ESCAPED = re.compile(r"\\(.)")
_FORBIDDEN = re.compile(r"[\x00-\x20<>\"{}|^`\\]")
_PLAIN = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_WRITTEN = {"\\": "\\\\", '"': '\\"'} | {sign: "\\" + letter for letter, sign in _PLAIN.items()}
OPENING, CLOSING = "{([", "})]"


@dataclass(frozen=True, slots=True)
class Token:
    """A terminal: its ``kind`` (a key of TERMINALS), its text in plain form, where it began in the query, and whether a space
    parts it from the one before."""

    kind: str
    text: str
    start: int
    spaced: bool = False


@dataclass(frozen=True)
class Tokens:
    """A query as terminals; ``text`` is the query in plain form."""

    source: str
    tokens: tuple[Token, ...]

    @cached_property
    def text(self) -> str:
        return "".join(self._pieces)

    @cached_property
    def _pieces(self) -> list[str]:
        """The tokens' texts, each with the space before it. Parsers care where there is one, so there is where there was."""
        return [(" " if token.spaced else "") + token.text for token in self.tokens]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its keywords and names of functions, in capitals."""
        return tuple(token.text.upper() for token in self.tokens if token.kind == "word")

    @cached_property
    def depth(self) -> int:
        """How many brackets stand within one another."""
        deepest = now = 0
        for token in self.tokens:
            if token.kind == "sign":
                now += (token.text in OPENING) - (token.text in CLOSING)
                deepest = max(deepest, now)
        return deepest

    @cached_property
    def _places(self) -> list[int]:
        """Where each token ends in the plain form."""
        return list(accumulate(map(len, self._pieces)))

    def near(self, place: int) -> str:
        """Where in the query a place of the plain form is, in words."""
        if not self.tokens:
            return "at its beginning"
        if place >= len(self.text):
            return "at its end"
        token = self.tokens[bisect_right(self._places, place)]
        return f"at {_short(token.text)} ({position(self.source, token.start)})"


def tokenise(query: str) -> Tokens:
    """The query's terminals; QuestionError where something is none."""
    found: list[Token] = []
    at, spaced = 0, False
    while at < len(query):
        match = _TERMINAL.match(query, at)
        if match is None or not match.lastgroup:
            sign = _short(query[at])
            raise QuestionError(
                f"The query cannot be read at {sign} ({position(query, at)}).", "Write SPARQL 1.1."
            )
        kind = match.lastgroup
        if kind in ("space", "comment"):
            spaced = bool(found)
        else:
            # Two strings side by side would make other quotation marks.
            spaced = spaced or (kind == "string" and bool(found) and found[-1].kind == "string")
            found.append(Token(kind, _plain(kind, match.group(), query, at), at, spaced))
            spaced = False
        at = match.end()
    return Tokens(query, tuple(_written_out(found)))


def _written_out(tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens, names with an escaped sign (``t:a\\/b``), which not every parser undoes, as the IRIs that they stand for.
    Those of a prefix that is declared again, or never, stay as they are."""
    declared = [
        (name.text, iri.text)
        for word, name, iri in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if word.text.upper() == "PREFIX" and iri.kind == "iri"
    ]
    spaces = {name: iri for name, iri in declared if sum(name == other for other, _ in declared) == 1}
    for token in tokens:
        prefix, colon, local = token.text.partition(":")
        space = spaces.get(prefix + colon) if token.kind == "prefixed" and "\\" in local else None
        if space is None:
            yield token
        else:
            plain = _SIGN_ESCAPED.sub(r"\1", local)
            yield replace(token, kind="iri", text=f"<{space[1:-1]}{plain}>")


def position(text: str, at: int) -> str:
    """Line and column of a place."""
    before = text[:at]
    return f"line {before.count(chr(10)) + 1}, column {at - before.rfind(chr(10))}"


def _plain(kind: str, text: str, query: str, at: int) -> str:
    if kind == "iri":
        inner = _unescaped(text[1:-1], query, at)
        if _FORBIDDEN.search(inner):
            raise QuestionError(
                f"{_short(text)} is no IRI ({position(query, at)}).", "Percent-encode what IRIs may not hold."
            )
        return f"<{inner}>"
    if kind == "string":
        marks = 3 if text.startswith(('"""', "'''")) else 1
        return _quoted(_unescaped(text[marks:-marks], query, at))
    return text


def _unescaped(text: str, query: str, at: int) -> str:
    def sign(match: re.Match[str]) -> str:
        letter = match.group()[1]
        if letter not in "uU":
            return _PLAIN.get(letter, letter)
        code = int(match.group()[2:], 16)
        if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
            raise QuestionError(f"{match.group()} is no character ({position(query, at)}).", "Leave it out.")
        return chr(code)

    return _ESCAPE.sub(sign, text)


def _quoted(text: str) -> str:
    written = "".join(_WRITTEN.get(sign, sign) for sign in text)
    # Some parsers undo \u wherever it stands, and take eight digits after it where they find them.
    return '"' + re.sub(r"\\\\([uU])", lambda match: rf"\\\U{ord(match[1]):08X}", written) + '"'


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")


UPDATES = frozenset({"INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH"})
SERVICE = "SERVICE"
FORMS = {"SelectQuery", "AskQuery", "ConstructQuery", "DescribeQuery"}
READ = "Ask with SELECT, ASK, CONSTRUCT or DESCRIBE."


@dataclass(frozen=True, slots=True)
class Checked:
    """A query that may run, in plain form.

    ``graphs``: it names the graphs that it asks (FROM); ``variables``: of ``SELECT *``, in the order in which they occur.
    """

    text: str
    graphs: bool = False
    variables: tuple[str, ...] = ()


def check_query(query: str, config: SparqlConfig, graphs: frozenset[str] = frozenset()) -> Checked:
    """The query, if it may run on a data set with these named graphs; QuestionError, which says what to change, if not."""
    tokens = _tokens(query, config)
    parsed = _parsed(tokens)
    found = list(nodes(parsed))
    names = {node.name for node in found}
    if "ServiceGraphPattern" in names:
        raise _service()
    if not names & FORMS:
        raise QuestionError("This is no query that reads.", READ)
    asked = _datasets(parsed, [node for node in found if node.name == "DatasetClause"])
    if foreign := sorted(asked - graphs):
        first = ", ".join(f"<{name}>" for name in sorted(graphs)[:5])
        has = f"It has {len(graphs)}: {first}{' …' if len(graphs) > 5 else ''}."
        remedy = has if graphs else "Leave out FROM: all its graphs are asked together."
        raise QuestionError(f"The data set has no graph <{foreign[0]}>.", remedy)
    variables: tuple[str, ...] = ()
    if parsed[1].name == "SelectQuery" and not parsed[1].projection:  # it selects all of them
        named = (token.text[1:] for token in tokens.tokens if token.kind == "variable")
        variables = tuple(dict.fromkeys(named))
    return Checked(tokens.text, bool(asked), variables)


def _tokens(query: str, config: SparqlConfig) -> Tokens:
    """The query's words, within bounds, and none of them one that changes data or asks another service."""
    if len(query) > config.characters:
        raise QuestionError(f"The query has {len(query)} characters.", f"Give at most {config.characters}.")
    tokens = tokenise(query)
    if not tokens.tokens:
        raise QuestionError("The query is empty.", READ)
    if tokens.depth > config.depth:
        raise QuestionError(
            f"The query has {tokens.depth} brackets within one another.", f"Use at most {config.depth}."
        )
    # A keyword may touch the name that follows it (SERVICE:x), so such a prefix is refused too.
    prefixes = {token.text.partition(":")[0].upper() for token in tokens.tokens if token.kind == "prefixed"}
    if SERVICE in tokens.words or SERVICE in prefixes:
        raise _service()
    return tokens


def _service() -> QuestionError:
    return QuestionError("SERVICE is not allowed: no other endpoint is asked from here.", "Leave it out.")


def _parsed(tokens: Tokens) -> Any:
    """The parse tree; QuestionError for what is no query."""
    try:
        from pyparsing.exceptions import ParseException
        from rdflib.plugins.sparql.parser import parseQuery
    except ImportError as error:
        raise MissingExtraError("SPARQL", "service", "rdflib") from error
    try:
        return parseQuery(tokens.text)
    except ParseException as error:
        words = [word for word in tokens.words if word not in ("PREFIX", "BASE")]
        if words and words[0] in UPDATES:
            raise QuestionError(f"{words[0]} is not allowed: the data can only be read.", READ) from error
        raise QuestionError(
            f"The query cannot be read {tokens.near(error.loc)}.", "Write SPARQL 1.1."
        ) from error
    except RecursionError as error:
        raise QuestionError("The query is nested too deeply.", "Ask for less at once.") from error
    except Exception as error:  # rdflib makes terms while it reads, and these raise what they like
        raise QuestionError(f"The query cannot be read ({error}).", "Write SPARQL 1.1.") from error


def nodes(tree: Any) -> Iterator[Any]:
    """Every named node of rdflib's parse tree or algebra, in whatever container it stands."""
    from rdflib.plugins.sparql.parserutils import CompValue

    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, CompValue):
            yield node
            waiting.extend(node.values())
        elif isinstance(node, str | bytes):
            continue
        elif hasattr(node, "values") and hasattr(node, "keys"):
            waiting.extend(node.values())
        if hasattr(node, "__iter__") and not isinstance(node, CompValue):
            waiting.extend(node)


def _datasets(parsed: Any, clauses: list[Any]) -> set[str]:
    """The graphs that FROM and FROM NAMED name, as whole IRIs."""
    if not clauses:
        return set()
    from rdflib.plugins.sparql.algebra import translatePrologue

    prologue = translatePrologue(parsed[0], None)
    try:
        return {
            str(prologue.absolutize(iri))
            for clause in clauses
            for iri in (clause.default, clause.named)
            if iri
        }
    except Exception as error:  # rdflib raises nothing more special
        raise QuestionError(f"FROM: {error}.", "Declare the prefix.") from error
