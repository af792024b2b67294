"""Citations renumbered in order of appearance, in a text that comes in pieces."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from crmrag_query.answers.sentences import CITATION, numbers_of

# What may yet become a citation when more comes, the blanks before it included (they go with one that leads nowhere).
_OPEN = re.compile(r"\s*(?:\[[\s\w,;–-]{0,60})?$")


@dataclass
class Renumberer:
    """Takes a text piece by piece and gives it back with each citation as ``number`` has it, never half of one.

    ``number``: the number in the answer of a number that the model gave, None for no source; ``dropped`` counts these.
    Blanks before the text and after it are left out.
    """

    number: Callable[[int], int | None]
    dropped: int = 0
    _held: str = ""
    _begun: bool = False

    def feed(self, piece: str) -> Iterator[str]:
        """What can be given by now."""
        self._held += piece
        open_at = _OPEN.search(self._held)
        assert open_at is not None  # the expression matches an empty end
        ready, self._held = self._held[: open_at.start()], self._held[open_at.start() :]
        yield from self._give(ready)

    def end(self) -> Iterator[str]:
        """The rest."""
        ready, self._held = self._held.rstrip(), ""
        yield from self._give(ready)

    def _give(self, ready: str) -> Iterator[str]:
        if not self._begun:
            ready = ready.lstrip()
        if ready:
            self._begun = True
            if text := re.sub(rf"(\s*){CITATION.pattern}", self._renumbered, ready, flags=re.IGNORECASE):
                yield text

    def _renumbered(self, found: re.Match[str]) -> str:
        given = [self.number(n) for n in numbers_of(found[2])]
        kept = list(dict.fromkeys(n for n in given if n is not None))
        self.dropped += len(given) - sum(n is not None for n in given)
        return found[1] + "".join(f"[{n}]" for n in kept) if kept else ""
