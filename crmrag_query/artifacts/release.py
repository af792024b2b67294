"""An open release: everything that answering needs, each part opened when first asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crmrag_query.artifacts.manifest import Manifest, is_release_id, read_manifest
from crmrag_query.artifacts.places import find_release
from crmrag_query.artifacts.verify import check_files, check_id, check_sizes, read_provenance
from crmrag_query.artifacts.versions import rebuild
from crmrag_query.errors import ReleaseError

if TYPE_CHECKING:  # the parts are imported when opened, so that opening a release stays cheap
    from crmrag_query.answers.whereabouts import Whereabouts
    from crmrag_query.config import Method
    from crmrag_query.context.wikidata import WikidataTexts
    from crmrag_query.documents.documents import Documents
    from crmrag_query.graph.graph import Graph
    from crmrag_query.graph.triples import TriplesIndex
    from crmrag_query.linking.index import NameIndex
    from crmrag_query.ontology.tables import Ontology
    from crmrag_query.parsing.exonyms import Exonyms
    from crmrag_query.parsing.kinds import Kinds
    from crmrag_query.plans.profile import Profile
    from crmrag_query.plans.world import World
    from crmrag_query.relationships.catalogue import Catalogue
    from crmrag_query.retrieval.aggregation import Aggregation
    from crmrag_query.retrieval.channels import ReleaseChannels
    from crmrag_query.retrieval.date_index import DateIndex
    from crmrag_query.retrieval.dense import DenseIndex
    from crmrag_query.retrieval.encoder import QueryEncoder
    from crmrag_query.retrieval.sparse import SparseIndex

CONFIG = "config.json"
UNREAD = (
    "entity_documents/",
    "embeddings/",
    "edges/",
)  # not read when answering: their sizes wait for `verify`


def open_release(path_or_dataset: Path | str, data: Path = Path("data")) -> Release:
    """Open the current release of a data set, or the release in a folder.

    Sizes of the files that answering reads are checked; checksums are by ``Release.verify``.
    Raises ReleaseNotFound, ReleaseError.
    """
    folder = find_release(path_or_dataset, data)
    manifest = read_manifest(folder)
    if is_release_id(folder.name):
        check_id(folder, folder.name)
    check_sizes(folder, (entry for entry in manifest.files if not entry.path.startswith(UNREAD)))
    return Release(folder, manifest)


@dataclass(frozen=True)
class Release:
    """A release folder whose manifest was read and whose files have their sizes."""

    folder: Path
    manifest: Manifest

    @cached_property
    def id(self) -> str:
        return self.manifest.id

    def verify(self, advance: Callable[[int, int], None] = lambda done, total: None) -> None:
        """Raise ReleaseError unless every byte is what was built; ``advance`` is told (bytes done, bytes in all)."""
        check_files(self.folder, self.manifest, advance)

    @cached_property
    def provenance(self) -> dict[str, Any] | None:
        return read_provenance(self.folder)

    @cached_property
    def method(self) -> Method:
        """The configuration that the release was built with."""
        from crmrag_query.config.loading import read_stored_method

        path = self.folder / CONFIG
        try:
            return read_stored_method(path.read_bytes())
        except (OSError, ValueError) as error:
            what = str(error).splitlines()[0]
            raise ReleaseError(
                f"{path} is damaged or from another version of crmrag ({what}).", rebuild(self.folder)
            ) from error

    @cached_property
    def ontology(self) -> Ontology:
        """The ontology tables that the release was built with."""
        from crmrag_query.ontology.load import load_ontology

        return load_ontology(self.folder)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The Fundamental Relationships that the documents state."""
        from crmrag_query.relationships.catalogue import Catalogue

        return Catalogue.load(self.method)

    @cached_property
    def graph(self) -> Graph:
        from crmrag_query.graph.graph import Graph

        return Graph.open(self.folder / "graph")

    @cached_property
    def triples(self) -> TriplesIndex:
        from crmrag_query.graph.triples import TriplesIndex

        return TriplesIndex.open(self.folder / "triples_index", self.graph)

    @cached_property
    def documents(self) -> Documents:
        from crmrag_query.documents.documents import Documents

        return Documents.open(self.folder / "documents", self.graph)

    @cached_property
    def dense(self) -> DenseIndex:
        from crmrag_query.retrieval.dense import DenseIndex

        return DenseIndex.open(self.folder / "dense", self.method.dense)

    @cached_property
    def sparse(self) -> SparseIndex:
        from crmrag_query.retrieval.sparse import SparseIndex

        return SparseIndex.open(self.folder / "sparse")

    @cached_property
    def encoder(self) -> QueryEncoder:
        from crmrag_query.retrieval.encoder import QueryEncoder

        return QueryEncoder.open(self.folder / "encoder")

    @cached_property
    def aggregation(self) -> Aggregation:
        from crmrag_query.retrieval.aggregation import Aggregation

        return Aggregation.open(self.folder / "aggregation")

    @cached_property
    def channels(self) -> ReleaseChannels:
        """What retrieval asks of the release."""
        from crmrag_query.retrieval.channels import ReleaseChannels

        return ReleaseChannels(self, self.method.retrieval)

    @cached_property
    def dates(self) -> DateIndex:
        from crmrag_query.retrieval.date_index import DateIndex

        return DateIndex.open(self.folder / "dates")

    @cached_property
    def names(self) -> NameIndex:
        """The names of entities; ReleaseError for a release that was built before there were any."""
        from crmrag_query.linking.index import NameIndex

        return NameIndex.open(self.folder / "names")

    @cached_property
    def profile(self) -> Profile:
        """What occurs in the data, how often; ReleaseError for a release that was built before there was one."""
        from crmrag_query.plans.profile import Profile

        return Profile.open(self.folder / "profile")

    @cached_property
    def world(self) -> World:
        """What plans are executed on; it keeps what all plans share."""
        from crmrag_query.plans.world import World

        return World.of(self)

    @cached_property
    def whereabouts(self) -> Whereabouts:
        """Where and when its entities were, for whole sets; it keeps the points that it has read."""
        from crmrag_query.answers.whereabouts import Whereabouts

        return Whereabouts(self)

    @cached_property
    def kinds(self) -> Kinds:
        """What nouns of questions stand for in this data."""
        from crmrag_query.parsing.kinds import Kinds

        return Kinds.of(self)

    @cached_property
    def house(self) -> tuple[tuple[str, ...], ...]:
        """Names of the institution whose collection this is."""
        from crmrag_query.parsing.house import house_of

        return house_of(self)

    @cached_property
    def exonyms(self) -> Exonyms:
        """What the data calls things that questions name in other languages."""
        from crmrag_query.parsing.exonyms import Exonyms

        return Exonyms(self)

    @cached_property
    def wikidata(self) -> WikidataTexts:
        """What Wikidata said of the release's entities, kept for every question; nothing is asked by opening it."""
        from crmrag_query.context.wikidata import WikidataTexts

        return WikidataTexts(self.method.wikidata)
