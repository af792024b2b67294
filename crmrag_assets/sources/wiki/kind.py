"""The kind `wiki`: each page is an information object that refers to those it links to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree.ElementTree import ParseError

import pyoxigraph as ox

from crmrag_assets.build.step import Progress
from crmrag_assets.harvest.report import Tally
from crmrag_assets.harvest.source import Discovery
from crmrag_assets.sources.kinds import Kind, Opening
from crmrag_assets.sources.spooled import (
    CONCEPT,
    CRM,
    HAS_TYPE,
    HEAD,
    LABEL,
    LITTLE,
    TYPE,
    ByteStream,
    SpooledFiles,
    class_of_pages,
    literal,
)
from crmrag_query.config.sources import WIKI_PAGE, WikiConfig
from crmrag_query.errors import MissingExtraError, SourceError
from crmrag_query.syntax import LONGEST

try:
    import mwparserfromhell
    from mwparserfromhell.nodes import ExternalLink, Heading, HTMLEntity, Tag, Text, Wikilink
    from mwparserfromhell.wikicode import Wikicode
    from mwxml import Page as DumpPage
    from mwxml.element_iterator import ElementIterator
    from mwxml.errors import MalformedXML
except ImportError as error:
    raise MissingExtraError("Reading a wiki", "wiki") from error

OTHER_LABEL = ox.NamedNode("http://www.w3.org/2004/02/skos/core#altLabel")
PAGE = ox.NamedNode(WIKI_PAGE)
REFERS_TO, TEXT = ox.NamedNode(f"{CRM}P67_refers_to"), ox.NamedNode(f"{CRM}P190_has_symbolic_content")
UNNAMED = "urn:wiki:"  # begins the IRIs of a dump that does not say where its wiki is
SAFE = "/:,()'!*@;~"  # kept in an IRI as Wikipedia's addresses have them
WRITER = 1  # raised when the same dump would become other triples
HOPS = 5  # redirects that lead to redirects are followed so far, as MediaWiki mends them itself
NO_PAGE = "link to a page that is not in the dump"
NO_TARGET = "redirect to a page that is not in the dump"


@dataclass
class _Index:
    """Titles of the pages that are read, and the redirects among all of the files."""

    titles: set[str] = field(default_factory=set)
    redirects: dict[str, str] = field(default_factory=dict)

    def page(self, title: str) -> str | None:
        """The title of the page that a title leads to; None where there is none."""
        for _ in range(HOPS):
            if title in self.titles:
                return title
            if title not in self.redirects:
                return None
            title = self.redirects[title]
        return None


@dataclass(frozen=True, kw_only=True)
class WikiDumps(SpooledFiles):
    """Dumps of one wiki, which may be parts of the same. Each is read twice: titles and redirects first."""

    config: WikiConfig
    _index: _Index = field(default_factory=_Index, compare=False, repr=False)

    def format_of(self, path: Path) -> str:
        return "MediaWiki XML"

    def settings(self) -> str:
        return f"{WRITER} {self.config.model_dump_json(exclude={'files'})}"

    def discover(self, folder: Path, progress: Progress) -> Discovery:
        index = self._index
        index.titles.clear()
        index.redirects.clear()
        for path in self._existing():
            dump = Dump(path, Tally())  # its faults are told when it is read again
            for page in dump.pages():
                title = dump.site.title(page.title)
                if page.redirect:
                    index.redirects[title] = dump.site.title(page.redirect.partition("#")[0])
                elif page.namespace in self.config.namespaces:
                    index.titles.add(title)
                if len(index.titles) % 1000 == 0:
                    progress.advance(len(index.titles), None, f"reading titles of {self.shown(path)}")
        return super().discover(folder, progress)

    def statements(self, path: Path, tally: Tally) -> Iterator[tuple[int, Iterator[ox.Quad]]]:
        dump = Dump(path, tally)
        for number, page in enumerate(dump.pages()):
            if not number:
                yield dump.position, iter(class_of_pages(PAGE))
            yield dump.position, self._page(page, dump.site, tally)

    def _page(self, page: WikiPage, site: Site, tally: Tally) -> Iterator[ox.Quad]:
        title = site.title(page.title)
        if page.redirect:
            target = self._index.page(title)
            if target is not None:
                yield ox.Quad(self._node(target, site), OTHER_LABEL, self._literal(title, site))
            elif page.namespace in self.config.namespaces:
                tally.skipped[NO_TARGET] += 1
            return
        if page.namespace not in self.config.namespaces:
            return
        node = self._node(title, site)
        yield ox.Quad(node, TYPE, PAGE)
        yield ox.Quad(node, LABEL, self._literal(title, site))
        if page.text is None:
            tally.skipped["text that the dump does not hold"] += 1
            return
        if len(page.text.encode()) > min(self.config.text_megabytes * (1 << 20), LONGEST):
            tally.skipped["text longer than text_megabytes"] += 1
            return
        said = read(page.text, site)
        if said.text:
            yield ox.Quad(node, TEXT, self._literal(said.text, site))
        for link in said.links:
            found = self._index.page(link)
            if found is None:
                tally.skipped[NO_PAGE] += 1
            elif found != title:
                yield ox.Quad(node, REFERS_TO, self._node(found, site))
        for category in said.categories:
            subject = self._node(f"Category:{category}", site)
            yield ox.Quad(node, HAS_TYPE, subject)
            yield ox.Quad(subject, TYPE, CONCEPT)
            yield ox.Quad(subject, LABEL, self._literal(category, site))

    def _node(self, title: str, site: Site) -> ox.NamedNode:
        base = self.config.base or (site.base.rpartition("/")[0] + "/" if "/" in site.base else UNNAMED)
        return ox.NamedNode(base + quote(title.replace(" ", "_"), safe=SAFE))

    def _literal(self, text: str, site: Site) -> ox.Literal:
        return literal(text, self.config.language or site.language)


def open_dumps(config: WikiConfig, opening: Opening) -> WikiDumps:
    return WikiDumps(opening.paths, opening.method, opening.root, config=config)


EXPORT_AGAIN = "Export its pages again (Special:Export, or dumpBackup.php), or name another file."


def look(config: WikiConfig, opening: Opening) -> Iterator[str]:
    """What is wrong with the first page of each dump."""
    for path in opening.paths:
        tally = Tally()
        try:
            if next(Dump(path, tally).pages(), None) is None:
                broken = " ".join(map(str, tally.broken))
                yield f"{path}: there is no page in it. {broken} {EXPORT_AGAIN}".replace("  ", " ")
        except SourceError as error:
            yield str(error)


KIND = Kind(WikiConfig, open_dumps, look)


_ROOT = re.compile(r"<(?:\w+:)?mediawiki\b[^>]*>")
_LANGUAGE = re.compile(r"\bxml:lang\s*=\s*[\"']([A-Za-z-]+)[\"']")
_DECLARED = re.compile(r"<!(DOCTYPE|ENTITY)", re.IGNORECASE)
BYTE_ORDER = {b"<\0": b"\xff\xfe", b"\0<": b"\xfe\xff"}  # of UTF-16 that lacks its mark, and the mark
MARKED = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
CATEGORY, FILE = 14, 6  # numbers of namespaces, the same in every MediaWiki
NAMES = {CATEGORY: {"category"}, FILE: {"file", "image"}}  # by which any MediaWiki knows them


@dataclass(frozen=True)
class Site:
    """What a dump says of its wiki: ``base``, the address of its main page, "" for none; ``names``: the names of namespaces,
    in small letters, by number; ``cased``: whether the first letter of a title tells titles apart."""

    base: str = ""
    language: str = ""
    names: dict[int, frozenset[str]] = field(default_factory=dict)
    cased: bool = False

    def namespace(self, title: str) -> int | None:
        """The number of the namespace that a title begins with; None for a plain title."""
        name = title.partition(":")[0].strip().lower() if ":" in title else ""
        for number, names in NAMES.items():
            if name in names:
                return number
        return next((number for number, names in self.names.items() if name and name in names), None)

    def title(self, text: str) -> str:
        """A title as the wiki writes it: spaces for underscores, single, and the first letter large."""
        plain = " ".join(text.replace("_", " ").split())
        return plain if self.cased else plain[:1].upper() + plain[1:]


@dataclass(frozen=True)
class WikiPage:
    """``title`` with its namespace's name; ``redirect``: the page that it stands for, "" for none; ``text``: its wikitext,
    None where it was left out of the dump."""

    title: str
    namespace: int
    redirect: str = ""
    text: str | None = None


class Dump:
    """One dump; ``site`` is known once pages are read, and ``position`` is how many bytes of the file were."""

    def __init__(self, path: Path, tally: Tally) -> None:
        self.path, self.site, self.position = path, Site(), 0
        self._tally = tally

    def pages(self) -> Iterator[WikiPage]:
        """The pages in their order. What the file breaks off in, or does not hold as it should, is told to the tally.

        Raises SourceError for what is no dump at all, and for one that declares entities: those can stand for anything.
        """
        with ByteStream(self.path) as stream:
            marked = _Marked(stream)
            language = self._accepted(marked)
            self.site = Site(language=language)
            read = 0
            try:
                root = ElementIterator.from_file(marked)
                for element in root:
                    tag = element.tag
                    if tag == "siteinfo":
                        self.site = _site(element, language)
                    elif tag == "page" and (page := self._page(element)) is not None:
                        read += 1
                        self.position = stream.position
                        yield page
                    root.element.clear()  # what was read is let go
            except (ParseError, MalformedXML, SourceError, AssertionError) as error:
                self._tally.fault(None, f"after {read:,} pages", f"the rest cannot be read: {_plain(error)}")

    def _accepted(self, stream: _Marked) -> str:
        """The language that the root states; SourceError for what is no dump, or declares anything."""
        head = stream.head()
        root = _ROOT.search(head)
        before = head[: root.start()] if root else head
        if _DECLARED.search(before):
            raise SourceError(
                f"{self.path} declares entities (<!DOCTYPE …>), which no dump of a MediaWiki does: it is not read.",
                "They can be made to fill all memory. Fetch the dump from where it is published.",
            )
        if root is None:
            raise SourceError(
                f"{self.path} is no dump of a MediaWiki: it does not begin with <mediawiki>.",
                "Name a file such as enwiki-latest-pages-articles.xml.bz2.",
            )
        found = _LANGUAGE.search(root[0])
        with suppress(ValueError):  # of what is no language
            return ox.Literal("", language=found[1]).language or "" if found else ""
        return ""

    def _page(self, element: Any) -> WikiPage | None:
        """The page with its last revision; None, and told, for one that cannot be understood."""
        title = ""
        try:
            page = DumpPage.from_element(element, None)
            title = str(page.title)
            last: Any = None
            for revision in page:
                if last is None or (revision.timestamp, revision.id) >= (last.timestamp, last.id):
                    last = revision
            text = last.text if last is not None and not last.deleted.text else None
            return WikiPage(title, int(page.namespace), str(page.redirect or ""), text)
        except (MalformedXML, ValueError, TypeError, AttributeError, KeyError) as error:
            self._tally.fault(None, title, f"a page that cannot be understood: {_plain(error)}")
            return None


class _Marked:
    """The bytes of a file for an XML parser: UTF-16 always with its mark, by which parsers know it, and all that comes before
    a fault in the file."""

    def __init__(self, stream: ByteStream) -> None:
        first = stream.read(2)
        self._stream, self._held = stream, BYTE_ORDER.get(first, b"") + first
        self._fault: SourceError | None = None

    def read(self, size: int = -1) -> bytes:
        size = HEAD if size < 0 else size
        self._fill(min(size, HEAD))
        part, self._held = self._held[:size], self._held[size:]
        if not part and self._fault is not None:
            raise self._fault
        return part

    def head(self) -> str:
        """The beginning as text; it is read again."""
        self._fill(HEAD)
        return self._held.decode(MARKED.get(self._held[:2], "utf-8"), "replace")

    def _fill(self, size: int) -> None:
        """Read little by little, as what is read together with a fault is lost."""
        parts, held = [self._held], len(self._held)
        try:
            while self._fault is None and held < size and (part := self._stream.read(LITTLE)):
                parts.append(part)
                held += len(part)
        except SourceError as error:
            self._fault = error
        self._held = b"".join(parts)


def _site(element: Any, language: str) -> Site:
    base, cased, names = "", False, dict[int, frozenset[str]]()
    for part in element:
        if part.tag == "base":
            with suppress(ValueError):  # of what is no address
                base = ox.NamedNode(part.text or "").value
        elif part.tag == "case":
            cased = part.text == "case-sensitive"
        elif part.tag == "namespaces":
            for one in part:
                with suppress(TypeError, ValueError):
                    number, name = int(one.attr("key")), (one.text or "").strip().lower()
                    if name:
                        names[number] = frozenset({name})
    return Site(base, language, names, cased)


def _plain(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


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
    return Said(_without_markup(_running(code, site)), (*links,), (*categories,))


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


def _without_markup(text: str) -> str:
    text = _QUOTES.sub("", text)
    lines = (_BLANK.sub(" ", line).strip(" *#:;") for line in text.replace("\xa0", " ").split("\n"))
    whole = _EMPTY.sub("", _LEFT.sub("(", "\n".join(lines)))
    return _LINES.sub("\n\n", whole).replace(" ,", ",").strip()
