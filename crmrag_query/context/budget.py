"""One budget in characters and tokens, of which parts may have budgets of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from crmrag_query.context.text import as_data, tokens


@dataclass(slots=True)
class Budget:
    """Characters and tokens that are left; neither is ever below 0. What is paid for is counted as written, that is
    escaped, with the line end after each line."""

    characters: int
    tokens: int

    def part(self, characters: float, share: float = 1.0) -> Budget:
        """A budget of so many characters and this share of the tokens, neither more than what is left here."""
        return Budget(
            max(0, min(self.characters, int(characters))), max(0, min(self.tokens, int(self.tokens * share)))
        )


def pay(
    texts: Iterable[str], budgets: Sequence[Budget], *, frame: Sequence[str] = (), instead: str | None = None
) -> bool:
    """Take what these lines of data cost from every budget, or nothing where one is too small; tells which.

    ``frame``: lines that are written as they are; ``instead``: a line of data that was paid for and is given back.
    """
    written = [*map(as_data, texts), *frame]
    before = [] if instead is None else [as_data(instead)]
    characters = _characters(written) - _characters(before)
    if any(characters > budget.characters for budget in budgets):
        return False
    counted = _tokens(written) - _tokens(before)
    if any(counted > budget.tokens for budget in budgets):
        return False
    for budget in budgets:
        budget.characters -= characters
        budget.tokens -= counted
    return True


def _characters(written: Sequence[str]) -> int:
    return sum(map(len, written)) + len(written)


def _tokens(written: Sequence[str]) -> int:
    return sum(map(tokens, written)) + len(written)
