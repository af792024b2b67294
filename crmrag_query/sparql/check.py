"""Which queries may run: those that only read, and only this data set.

Whatever reaches an engine was parsed here first, in the plain form that the engine gets (see ``tokens``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crmrag_query.config.sparql import SparqlConfig
from crmrag_query.errors import MissingExtraError, QuestionError
from crmrag_query.sparql.tokens import Tokens, tokenise

if TYPE_CHECKING:
    from rdflib.plugins.sparql.sparql import Prologue

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
    nodes = list(_named(parsed))
    names = {name for name, _ in nodes}
    if "ServiceGraphPattern" in names:
        raise _service()
    if not names & FORMS:
        raise QuestionError("This is no query that reads.", READ)
    asked = _datasets(parsed, [node for name, node in nodes if name == "DatasetClause"])
    if foreign := sorted(asked - graphs):
        raise QuestionError(
            f"The data set has no graph <{foreign[0]}>.",
            "Leave out FROM: all its graphs are asked together." if not graphs else _known(graphs),
        )
    return Checked(tokens.text, bool(asked), _all_variables(tokens, parsed[1]))


def _all_variables(tokens: Tokens, query: Any) -> tuple[str, ...]:
    """The variables of a query that selects all of them, in order; none of another query."""
    if query.name != "SelectQuery" or query.projection:
        return ()
    named = (token.text[1:] for token in tokens.tokens if token.kind == "variable")
    return tuple(dict.fromkeys(named))


def _known(graphs: frozenset[str]) -> str:
    first = ", ".join(f"<{name}>" for name in sorted(graphs)[:5])
    return f"It has {len(graphs)}: {first}{' …' if len(graphs) > 5 else ''}."


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
        if found := _update(tokens):
            raise QuestionError(f"{found} is not allowed: the data can only be read.", READ) from error
        raise QuestionError(
            f"The query cannot be read {tokens.near(error.loc)}.", "Write SPARQL 1.1."
        ) from error
    except RecursionError as error:
        raise QuestionError("The query is nested too deeply.", "Ask for less at once.") from error
    except Exception as error:  # rdflib makes terms while it reads, and these raise what they like
        raise QuestionError(f"The query cannot be read ({error}).", "Write SPARQL 1.1.") from error


def _update(tokens: Tokens) -> str:
    """The word that makes the text an update, "" for none: where a query has its form."""
    words = [word for word in tokens.words if word not in ("PREFIX", "BASE")]
    return words[0] if words and words[0] in UPDATES else ""


def _named(tree: Any) -> Iterator[tuple[str, Any]]:
    """Every named node of a parse tree with its name, in whatever container it stands."""
    from rdflib.plugins.sparql.parserutils import CompValue

    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, CompValue):
            yield node.name, node
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
    return {_iri(prologue, iri) for clause in clauses for iri in (clause.default, clause.named) if iri}


def _iri(prologue: Prologue, name: Any) -> str:
    try:
        return str(prologue.absolutize(name))
    except Exception as error:  # rdflib raises nothing more special
        raise QuestionError(f"FROM: {error}.", "Declare the prefix.") from error
