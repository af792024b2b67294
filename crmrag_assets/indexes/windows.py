"""A document's final text as windows that an encoder reads whole: lines kept, the header repeated."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

Count = Callable[[Sequence[str]], list[int]]

HEADER_SHARE = 4  # a repeated header takes at most a quarter of the window
CUTTING = 1  # raised when texts are cut otherwise
COUNTED = 256  # texts that are counted at once


def cut(texts: Sequence[str], count: Count, room: int) -> list[list[str]]:
    """`windows` of each text, in order; many are counted at once, which tokenizers do faster."""
    parts = [texts[start : start + COUNTED] for start in range(0, len(texts), COUNTED)]
    tokens = (n for part in parts for n in count(part))
    return [
        [text] if n <= room else windows(text, count, room) for text, n in zip(texts, tokens, strict=True)
    ]


def windows(text: str, count: Count, room: int) -> list[str]:
    """Windows of ``text``, each of at most ``room`` tokens by ``count``.

    A text that fits is its own only window. Else lines are packed in order behind the first line, which is
    repeated; a line too long for a window is split between words. Counts are taken to add up over words,
    which holds for tokenizers that split at white space first; where it does not, the encoder cuts the few
    tokens too many.
    """
    if count([text])[0] <= room:
        return [text]
    header, *lines = text.split("\n")
    repeated = split(header, count, max(1, room // HEADER_SHARE))[0]
    left = room - count([repeated])[0]
    rest = header[len(repeated) :].strip()
    pieces = [
        piece for line in ([rest] if rest else []) + lines for piece in split(line, count, max(1, left))
    ]
    return ["\n".join([repeated, *body]) for body in pack(pieces, count(pieces), left)]


def pack(pieces: Sequence[str], counts: Sequence[int], room: int) -> list[list[str]]:
    """Neighbouring pieces in groups of at most ``room`` tokens; a piece larger than that is alone."""
    groups: list[list[str]] = []
    used = room + 1
    for piece, tokens in zip(pieces, counts, strict=True):
        if used + tokens > room:
            groups.append([])
            used = 0
        groups[-1].append(piece)
        used += tokens
    return groups


def split(line: str, count: Count, room: int) -> list[str]:
    """``line`` in pieces of at most ``room`` tokens, cut between words, a too long word between letters."""
    if count([line])[0] <= room:
        return [line]
    words = re.findall(r"\S+\s*|^\s+", line)
    if len(words) < 2:
        return (
            [line]
            if len(line) < 2
            else split(line[: len(line) // 2], count, room) + split(line[len(line) // 2 :], count, room)
        )
    groups = pack(words, count(words), room)
    return [
        part
        for group in groups
        for part in (split(group[0], count, room) if len(group) == 1 else ["".join(group)])
    ]
