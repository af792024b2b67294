"""How much one call gives at most; pages go on from there."""

from __future__ import annotations

from crmrag_query.errors import QuestionError

NEIGHBOURS = 1000  # triples of one page
SEARCH = 200  # entities found by name
DOCUMENTS = 100  # documents of one retrieval
TARGETS = 20  # targets shown of each relationship of an entity; the true count stands beside them
LITERALS = 200  # literals of an entity
NAMES = 100  # names of an entity
TEXT = 10_000  # characters of an IRI, of a text that is searched, of an earlier question
HISTORY = 100  # earlier questions
MEMBERS = 1000  # members or rows of one page of a set; whole sets are exported
OFFSET = 10**9


def check_range(what: str, value: int, least: int, most: int) -> None:
    """QuestionError unless ``least <= value <= most``."""
    if not least <= value <= most:
        raise QuestionError(f"{what} is {value}.", f"Give a number from {least} to {most}.")


def check_text(what: str, text: str, most: int = TEXT) -> None:
    """QuestionError for a text that is too long."""
    if len(text) > most:
        raise QuestionError(f"{what} has {len(text)} characters.", f"Give at most {most}.")
