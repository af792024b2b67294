"""What a page's wikitext says: its plain text, the pages that it links to, and its categories."""

from __future__ import annotations

import re
from dataclasses import dataclass

from crmrag_assets.sources.wiki.pages import CATEGORY, Site
from crmrag_query.errors import MissingExtraError

try:
    import mwparserfromhell
    from mwparserfromhell.nodes import ExternalLink, Heading, HTMLEntity, Tag, Text, Wikilink
    from mwparserfromhell.wikicode import Wikicode
except ImportError as error:
    raise MissingExtraError("Reading a wiki", "wiki") from error

UNSEEN = frozenset({"ref", "references", "gallery", "math", "table", "timeline", "score"})
"""Tags whose content is no running text: notes, pictures, formulas, tables."""
BREAKS = frozenset({"br", "hr"})
_QUOTES = re.compile(r"'{2,}")  # italics and bold
_BLANK = re.compile(r"[ \t]+")
_LINES = re.compile(r"\n{3,}")
_LEFT = re.compile(r"\((?:\s*[;,:])+\s*")  # of what templates would have given …
_EMPTY = re.compile(r" ?\(\s*\)")  # … where that was all


@dataclass(frozen=True)
class Said:
    """``text``: paragraphs, without templates, tables, notes and pictures; ``links`` and ``categories``: titles, each once,
    in their order."""

    text: str
    links: tuple[str, ...]
    categories: tuple[str, ...]


def read(wikitext: str, site: Site) -> Said:
    """What the text of a page says. Links of templates count; those to files and other wikis do not."""
    code = mwparserfromhell.parse(wikitext, skip_style_tags=True)
    links, categories = dict[str, None](), dict[str, None]()
    for link in code.ifilter_wikilinks(recursive=True):
        target = str(link.title).split("#")[0].strip()
        shown = target.startswith(":")
        target = target.removeprefix(":").strip()
        number = site.namespace(target)
        if number == CATEGORY and not shown:
            categories[site.title(target.partition(":")[2])] = None
        elif number is None and target:
            links[site.title(target)] = None
    return Said(_plain(_running(code, site)), (*links,), (*categories,))


def _running(code: Wikicode, site: Site) -> str:
    """The running text, each node once: removing what is not read from the tree takes a time that grows with its square."""
    parts = []
    for node in code.nodes:
        if isinstance(node, Text):
            parts.append(str(node.value))
        elif isinstance(node, Wikilink):
            target = str(node.title).strip()
            if target.startswith(":") or site.namespace(target) is None:
                parts.append(_running(node.text, site) if node.text is not None else target.removeprefix(":"))
        elif isinstance(node, ExternalLink):
            parts.append(_running(node.title, site) if node.title is not None else "")
        elif isinstance(node, Heading):
            parts.append(f"\n{_running(node.title, site)}\n")
        elif isinstance(node, HTMLEntity):
            parts.append(node.normalize() or "")
        elif isinstance(node, Tag):
            name = str(node.tag).strip().lower()
            if name not in UNSEEN and node.contents is not None:
                parts.append(_running(node.contents, site))
            elif name in BREAKS:
                parts.append("\n")
    return "".join(parts)


def _plain(text: str) -> str:
    text = _QUOTES.sub("", text)
    lines = (_BLANK.sub(" ", line).strip(" *#:;") for line in text.replace("\xa0", " ").split("\n"))
    whole = _EMPTY.sub("", _LEFT.sub("(", "\n".join(lines)))
    return _LINES.sub("\n\n", whole).replace(" ,", ",").strip()
