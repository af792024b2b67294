"""The kind `wiki`: each page is an information object that refers to those it links to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import pyoxigraph as ox

from crmrag_assets.build.step import Progress
from crmrag_assets.harvest.report import Tally
from crmrag_assets.harvest.source import Discovery
from crmrag_assets.sources.kinds import Kind, Opening
from crmrag_assets.sources.spooled import CONCEPT, CRM, HAS_TYPE, LABEL, TYPE, SpooledFiles
from crmrag_assets.sources.wiki.pages import Dump, Site, WikiPage, read
from crmrag_query.config.sources import wiki
from crmrag_query.config.sources.wiki import WikiConfig
from crmrag_query.errors import SourceError
from crmrag_query.syntax import LONGEST

OTHER_LABEL = ox.NamedNode("http://www.w3.org/2004/02/skos/core#altLabel")
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
PAGE = ox.NamedNode(wiki.PAGE)
PAGES = {"en": "Page", "de": "Seite", "el": "Σελίδα", "es": "Página", "fr": "Page", "it": "Pagina"}
VOCABULARY = (
    ox.Quad(PAGE, TYPE, ox.NamedNode(f"{RDFS}Class")),
    ox.Quad(PAGE, ox.NamedNode(f"{RDFS}subClassOf"), ox.NamedNode(f"{CRM}E73_Information_Object")),
    *(ox.Quad(PAGE, LABEL, ox.Literal(name, language=language)) for language, name in PAGES.items()),
)
"""What a page is: by this class it is asked for."""
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
                yield dump.position, iter(VOCABULARY)
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
        language = self.config.language or site.language
        return ox.Literal(text, language=language) if language else ox.Literal(text)


def open_dumps(config: WikiConfig, opening: Opening) -> WikiDumps:
    return WikiDumps(opening.paths, opening.method, opening.root, config=config)


NO_PAGE = "Export its pages again (Special:Export, or dumpBackup.php), or name another file."


def look(config: WikiConfig, opening: Opening) -> Iterator[str]:
    """What is wrong with the first page of each dump."""
    for path in opening.paths:
        tally = Tally()
        try:
            if next(Dump(path, tally).pages(), None) is None:
                broken = " ".join(map(str, tally.broken))
                yield f"{path}: there is no page in it. {broken} {NO_PAGE}".replace("  ", " ")
        except SourceError as error:
            yield str(error)


KIND = Kind(WikiConfig, open_dumps, look)
