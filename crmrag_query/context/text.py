"""Untrusted text made fit for a context: on one line, without hidden characters, escaped; and how many tokens it takes."""

from __future__ import annotations

import re
from html import escape

# Controls, marks that turn the direction of writing, zero-width and invisible characters, tags and variation selectors
# beyond the BMP (both can smuggle text that nobody sees), surrogates. Joiners (U+200C, U+200D) are spelling in some scripts.
_HIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)
_PLAIN = re.compile(r"[!-~]+(?: [!-~]+)*")  # what most lines are: nothing to clean
_CITATION = re.compile(r"\[(?=[\d\s,;–-]*\d[\d\s,;–-]*\])")
_PIECE = re.compile(r"[A-Za-z]{1,4}|[0-9]{1,2}|[^\sA-Za-z0-9]|\n| (?=[^\x00-\x7f])")
_LONG = re.compile("[\u0800-\U0010ffff]")
ELLIPSIS = "…"


def plain(text: str) -> str:
    """``text`` on one line: any run of white space is one space, hidden characters are left out.

    A label or literal cannot so begin a line of its own, nor say what a reader does not see.
    """
    if _PLAIN.fullmatch(text):
        return text
    return " ".join(_HIDDEN.sub("", text).split())


def as_data(text: str) -> str:
    """Plain text escaped: it holds no tag, and no citation such as [1]; ``html.unescape`` gives it back."""
    return _CITATION.sub("&#91;", escape(text, quote=False))


def shorten(text: str, characters: int) -> str:
    """At most so many characters (at least 1), cut at a word where one ends in the last third, with an ellipsis."""
    if len(text) <= characters:
        return text
    space = text.rfind(" ", 0, max(characters, 0))
    at = space if space > 0 and space * 3 >= characters * 2 else max(characters - 1, 0)
    return text[:at].rstrip(" ,;:.") + ELLIPSIS


def tokens(text: str) -> int:
    """Tokens that a language model takes for ``text``, estimated from above.

    Four ASCII letters, two digits, one other character or line end make a token, and so does a space before a character
    beyond ASCII; a character of three or four UTF-8 bytes makes two. Additive over lines. Source: ours; cl100k (GPT-4) took
    25 % less for the 7,233 documents of five museums together, and for 3 of them up to 4 % more.
    """
    count = len(_PIECE.findall(text))
    return count if text.isascii() else count + len(_LONG.findall(text))
