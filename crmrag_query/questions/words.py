"""The words of a question with what punctuation and capitals say of them."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from crmrag_query.text import tokenize

QUOTES = frozenset('"“”„«»‟＂')
_ENDS = frozenset(".?!;:,·;؟。？！—–-)")
_PARTS = re.compile("[-–—./:'’]")
_SIGNS = "([«“„\"'‘¿¡"
_SHORT = 3  # letters; longer words all have capitals in a heading, in which capitals name nothing; ours


@dataclass(frozen=True, slots=True)
class Chunk:
    """What stands between blanks: its text and its tokens ``first`` to before ``last``; ``capital``: how it begins."""

    text: str
    first: int
    last: int
    capital: bool
    quoted: bool
    opens: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """A question's folded tokens; ``starts``: positions where a clause begins; ``named``: those inside of quotes, names
    or, where capitals name, of capitalised words."""

    words: tuple[str, ...]
    chunks: tuple[Chunk, ...]
    starts: frozenset[int]
    named: frozenset[int]

    @property
    def capitals(self) -> frozenset[int]:
        """Positions of tokens that begin with a capital: of "Baltimore-born" the first alone."""
        found = set[int]()
        for chunk in self.chunks:
            parts = [part for part in _PARTS.split(chunk.text) if any(map(str.isalnum, part))]
            if len(parts) == chunk.last - chunk.first:
                found.update(
                    chunk.first + at for at, part in enumerate(parts) if part.lstrip(_SIGNS)[:1].isupper()
                )
            elif chunk.capital:
                found.update(range(chunk.first, chunk.last))
        return frozenset(found)

    @property
    def visible(self) -> tuple[str, ...]:
        """The tokens, "" for one that belongs to a name: no phrase is read from these."""
        return tuple("" if i in self.named else word for i, word in enumerate(self.words))


def chunks_of(question: str) -> tuple[Chunk, ...]:
    """The chunks of a question; their tokens together are those of ``tokenize``."""
    balanced = sum(character in QUOTES for character in question) % 2 == 0
    found: list[Chunk] = []
    position, inside, opens = 0, False, True
    for text in question.split():
        marks = sum(character in QUOTES for character in text) if balanced else 0
        quoted = inside or marks > 0
        inside ^= marks % 2 == 1
        tokens = tokenize(text)
        first = next((character for character in text if character.isalpha()), "")
        last = position + len(tokens)
        found.append(Chunk(text, position, last, first.isupper(), quoted, opens and bool(tokens)))
        initial = text[-1] == "." and first.isupper() and len("".join(tokens)) == 1  # "William T. Walters"
        opens = (text[-1] in _ENDS and not initial) or (opens and not tokens)
        position = last
    return tuple(found)


def asked(
    question: str, capitals_name: bool, names: Collection[int] = (), chunks: tuple[Chunk, ...] | None = None
) -> Asked:
    """The question as its form is read; ``names``: positions of tokens known to belong to names."""
    chunks = chunks_of(question) if chunks is None else chunks
    spoken = [chunk for chunk in chunks if chunk.last > chunk.first]
    inner = [chunk for chunk in spoken if not chunk.opens]
    long = [chunk for chunk in inner if len(chunk.text) > _SHORT]
    titled = len(long) > 1 and all(chunk.capital for chunk in long)
    capitals = capitals_name and not titled
    named = set(names)
    for chunk in spoken:
        own = tokenize(chunk.text)
        if chunk.quoted or (capitals and chunk.capital and not chunk.opens and own[0] != "i"):
            named.update(range(chunk.first, chunk.last))
    words = tuple(tokenize(question))
    starts = frozenset(chunk.first for chunk in spoken if chunk.opens)
    return Asked(words, chunks, starts, frozenset(i for i in named if i < len(words)))
