"""What writing documents needs to know about the method and the graph, worked out once for a data set: what its properties
say, and how documents call every node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from crmrag_assets.documents.drafts import capital, clean, clean_all, coded, same_all, shorten_all
from crmrag_assets.documents.portable import Numbering
from crmrag_assets.documents.satellites import Satellites, distinct_pairs, find_satellites
from crmrag_assets.documents.ways import Keys, Rules, Ways, gather_facts, make_ways_plan, split_ways
from crmrag_query.config.loading import Method
from crmrag_query.dates import Interval, describe, parse_date
from crmrag_query.graph.arrays import FLAG_ENTITY, FLAG_EVENT, FLAG_LABELLED, Ints
from crmrag_query.graph.graph import Graph, Timespan
from crmrag_query.ontology.load import Category, Ontology
from crmrag_query.relationships.engine import (
    Catalogue,
    Matches,
    Path,
    Plan,
    Relationship,
    Way,
    implies,
    is_iri,
    resolve,
    way_of,
)

Bools = npt.NDArray[np.bool_]
# VIR's attributes of what is shown. Its documents say K14, which is "symbolize" in its ontology and in the data.
ATTRIBUTE_PROPERTIES = ("K17",)
NOTED_TYPES = 2  # types shown with a target: all on every line would fill the windows and cost the encoder
ATTRIBUTES = 5  # attributes shown with a target (published)
NAME_CHARACTERS = 120  # of a target's name; the data has it whole
TEXT_CLASS = "E33"  # a text is called by what it says: its label is often "Credit line for the object"
IMAGE_CLASS = "E36"
PRESENCE = ("P12", "P12i")  # that a thing was present at an event, with no word of what it was there for
TOLD_OF_EVENTS = int(Category.Actor | Category.Place | Category.Time)
REFERRING = "P67"  # from a text to what it is about
RDF_VALUE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#value"
PLAIN_KINDS = ("type", "appellation", "dimension", "time")  # of which no types are noted
SPAN = ["outer_begin", "inner_begin", "inner_end", "outer_end", "text"]


@dataclass(frozen=True, slots=True)
class Pool:
    """Distinct texts, and for each node the numbers of its name, bare and with notes, and of its types, int32 [n] each."""

    texts: pl.Series
    shown: Ints
    annotated: Ints
    kinds: Ints


def numbers_of(graph: Graph, properties: Iterable[str]) -> list[int]:
    """Numbers of the properties with these codes or IRIs, ascending."""
    wanted = set(properties)
    codes = graph.property_codes
    return [n for n, code in enumerate(codes) if (code and code in wanted) or graph.property_iri(n) in wanted]


@dataclass(frozen=True)
class Setting:
    """The graph with everything about its properties that lines are sorted out by, worked out when first asked for."""

    graph: Graph
    catalogue: Catalogue
    ontology: Ontology
    method: Method
    languages: tuple[str, ...]
    numbering: Numbering  # of the graph's nodes

    @cached_property
    def satellites(self) -> Satellites:
        return find_satellites(self.graph, self.ontology, self.method)

    @cached_property
    def ways(self) -> Ways:
        return split_ways(self.catalogue, self.ontology, self.graph.property_codes)

    @cached_property
    def types(self) -> Keys:
        return self.keys_of(self.method.documents.type_properties)

    @cached_property
    def attributes(self) -> Keys:
        return self.keys_of(ATTRIBUTE_PROPERTIES)

    @cached_property
    def name_keys(self) -> Keys:
        return self.keys_of((*self.method.names.name_properties, *self.method.names.title_properties))

    @cached_property
    def spans(self) -> Keys:
        return self.keys_of(self.method.dates.time_span_properties)

    @cached_property
    def values(self) -> tuple[int, ...]:
        """Numbers of the properties that give a name's text, the best first."""
        return tuple(n for word in self.method.names.value_properties for n in numbers_of(self.graph, [word]))

    @cached_property
    def single(self) -> tuple[Keys, ...]:
        """The facts that each relationship states by themselves: its one step, the other steps being taken no time."""
        by_code, found = self.graph.adjacency.by_code, []
        for relationship in self.catalogue:
            keys: set[int] = set()
            for path in relationship.paths:
                needed = [step for step in path.steps if not step.recursive]
                steps = (needed or path.steps) if len(needed) < 2 else ()
                for code, forward in (way for step in steps for way in resolve(step, self.ontology)):
                    keys.update(2 * number + (not forward) for number in by_code.get(code, ()))
            found.append(tuple(sorted(keys)))
        return tuple(found)

    @cached_property
    def above(self) -> tuple[tuple[int, ...], ...]:
        """The relationships that each one specialises, nearest first."""
        found: list[tuple[int, ...]] = []
        for relationship in self.catalogue:
            uppers: list[int] = []
            at = relationship.specialises
            while at and (upper := self.catalogue.number(at)) not in uppers:
                uppers.append(upper)
                at = self.catalogue[upper].specialises
            found.append(tuple(uppers))
        return tuple(found)

    def keys_of(self, properties: Iterable[str]) -> Keys:
        """Keys of the facts that state these properties, from whichever end."""
        own = list(properties)
        inverses = [inverse for word in own if (inverse := self.ontology.inverse(word))]
        outward = (2 * n for n in numbers_of(self.graph, own))
        return tuple(sorted([*outward, *(2 * n + 1 for n in numbers_of(self.graph, inverses))]))

    @cached_property
    def telling(self) -> Telling:
        """What texts say of the relationships, and where not all that they hold."""
        return Telling.of_setting(self)

    @cached_property
    def plan(self) -> Plan:
        """How the ways are walked on this graph."""
        return make_ways_plan(self.graph.adjacency, self.ways)

    @cached_property
    def rules(self) -> Rules:
        """What relationship lines say of one another."""
        return Rules.of(self.ways, self.above, self.single)

    @cached_property
    def names(self) -> NodeNames:
        """How documents call every node of the graph."""
        return NodeNames(self)

    @cached_property
    def pool(self) -> Pool:
        """The names of all nodes by number."""
        names, nodes = self.names, self.graph.nodes
        codes, texts = coded(pl.concat([names.shown, names.annotated, names.kinds]))
        return Pool(texts, codes[:nodes], codes[nodes : 2 * nodes], codes[2 * nodes :])

    @cached_property
    def identifying(self) -> npt.NDArray[np.bool_]:
        """bool [n]: nodes of a class of identifiers."""
        wanted = self.method.names.identifier_classes
        classes = [n for n, code in enumerate(self.graph.class_codes) if code in wanted]
        return self.graph.of_classes(classes)

    @cached_property
    def properties(self) -> tuple[str, ...]:
        """Code of each property, its IRI outside the CRM family."""
        graph = self.graph
        return tuple(code or graph.property_iri(n) for n, code in enumerate(graph.property_codes))

    @cached_property
    def _readings(self) -> list[str]:
        """How the property of a fact reads from the entity, by key."""
        graph, words = self.graph, self.method.documents.words
        sides = ((n, inverse) for n in range(len(self.properties)) for inverse in (False, True))
        return [
            words.get(self.ontology.inverse(self.properties[n]) or "" if inverse else self.properties[n])
            or capital(clean(graph.property_label(n, inverse)) or clean(graph.property_iri(n)))
            for n, inverse in sides
        ]

    @cached_property
    def property_texts(self) -> tuple[str, ...]:
        """How properties read from either end, distinct and sorted."""
        return tuple(sorted(set(self._readings)))

    @cached_property
    def property_words(self) -> Ints:
        """int32 [2 * properties]: for each key of a fact the number of its text."""
        place = {text: number for number, text in enumerate(self.property_texts)}
        return np.array([place[text] for text in self._readings], np.int32)

    @cached_property
    def lone(self) -> Bools:
        """bool [n]: events of just one thing, whatever ties them, of which an actor, place or time is known, which the thing
        tells."""
        events, things, _ = self._events_of_things
        distinct, _ = distinct_pairs(events, things)
        lone: Bools = (np.bincount(distinct, minlength=self.graph.nodes) == 1) & self._known & ~self.attended
        return lone

    @cached_property
    def attended(self) -> Bools:
        """bool [n]: events of which an actor, place or time is known, and at which things were present, no more: no
        relationship tells of these things what is known of the event."""
        presence = np.array([code in PRESENCE for code in self.graph.property_codes], bool)
        events, _, ties = self._events_of_things
        only = np.bincount(events, ~presence[ties], minlength=self.graph.nodes) == 0
        attended: Bools = only & (np.bincount(events, minlength=self.graph.nodes) > 0) & self._known
        return attended

    @cached_property
    def _events_of_things(self) -> tuple[Ints, Ints, Ints]:
        """int32 [m]: events, the things that they are tied to, and by which property."""
        adjacency = self.graph.adjacency
        events = np.flatnonzero((self.graph.flags & FLAG_EVENT) != 0).astype(np.int32)
        facts = gather_facts(adjacency, events)
        at = np.flatnonzero((adjacency.categories[facts.target] & int(Category.Thing)) != 0)
        return events[facts.doc[at]], facts.target[at], facts.key[at] >> 1

    @cached_property
    def _known(self) -> Bools:
        """bool [n]: nodes of which a date, or what `TOLD_OF_EVENTS` holds, is known."""
        graph, rows = self.graph, self.graph.adjacency.forward
        known: Bools = (self.names.dates != "").to_numpy().copy()
        known[rows.sources[(graph.adjacency.categories[rows.val] & TOLD_OF_EVENTS) != 0]] = True
        return known

    @cached_property
    def dating(self) -> Bools:
        """bool [n]: events that alone tell a thing's dates: those with a time-span, where no relationship leads to one."""
        dating = np.zeros(self.graph.nodes, bool)
        if not any(one.range == Category.Time for one in self.catalogue):
            events = np.flatnonzero((self.graph.flags & FLAG_EVENT) != 0).astype(np.int32)
            dating[self.names.neighbours(events, self.spans)["node"].to_numpy()] = True
        return dating

    @cached_property
    def described(self) -> Ints:
        """int32 [n]: of a text that refers to one node alone this node; -1 for all else."""
        adjacency, ways = self.graph.adjacency, self.ontology.directed(REFERRING)
        keys = {2 * n + (not forward) for code, forward in ways for n in adjacency.by_code.get(code, ())}
        facts = gather_facts(adjacency, np.arange(self.graph.nodes, dtype=np.int32), sorted(keys))
        text, about = distinct_pairs(facts.doc, facts.target)
        alone = (np.bincount(text, minlength=self.graph.nodes) == 1) & self.of_classes(TEXT_CLASS)
        described = np.full(self.graph.nodes, -1, np.int32)
        described[text[alone[text]]] = about[alone[text]]
        return described

    @cached_property
    def noted(self) -> Ints:
        """int32 [n]: of a text that refers to one node alone, and whose name is what it says, this node; -1 for all else."""
        return np.where(self.names.texts, self.described, -1).astype(np.int32)

    @cached_property
    def pointed_at(self) -> npt.NDArray[np.float64]:
        """How many triples of each property lead to one of the nodes that it leads to, on average; 0 for an unused one."""
        rows = self.graph.adjacency.backward
        used = np.diff(rows.prop)
        ends = rows.ptr[rows.prop]
        triples = np.diff(ends)
        return np.divide(triples, used, out=np.zeros(len(used)), where=used > 0)

    @cached_property
    def apart(self) -> Bools:
        """bool [n]: nodes that texts do not point at."""
        return self.of_classes(*self.method.documents.apart)

    @cached_property
    def images(self) -> Bools:
        """bool [n]: what is seen on something."""
        return self.of_classes(IMAGE_CLASS)

    def of_classes(self, *wanted: str) -> Bools:
        """Mask of the nodes of these classes or of some below them."""
        is_a, codes = self.ontology.is_a, self.graph.class_codes
        return self.graph.of_classes(
            [n for n, code in enumerate(codes) if code and any(is_a(code, one) for one in wanted)]
        )

    def of_kind(self, *names: str, nodes: Ints | None = None) -> Bools:
        """Mask of the ``nodes``, of all by default, that are satellites of one of these kinds."""
        kinds = self.satellites.kind if nodes is None else self.satellites.kind[nodes]
        known = list(self.method.satellites.kinds)
        return np.isin(kinds, [known.index(name) + 1 for name in names if name in known])


@dataclass(frozen=True)
class Telling:
    """What texts say of the relationships of a setting: those of its wordings.

    ``setting``: the same graph with a relationship for each wording, its label. ``of`` int32: the relationship of each in the
    method's catalogue. ``unsaid``: keys of the facts that no text states, with those of the relationships that are not told.
    """

    setting: Setting
    of: Ints
    unsaid: Keys

    @classmethod
    def of_setting(cls, setting: Setting) -> Telling:
        catalogue = setting.catalogue
        wordings: list[Relationship] = []
        of: list[int] = []
        for number, one in enumerate(catalogue):
            if one.told is None:  # by its label, as it is
                upper = one.specialises and catalogue[catalogue.number(one.specialises)]
                own = [one if upper and upper.told is None else replace(one, specialises="")]
            else:
                bare = replace(one, specialises="")
                own = [
                    replace(bare, id=f"{one.id}: {told.words}", label=told.words, paths=told.paths)
                    for told in one.told
                ]
            wordings += own
            of += [number] * len(own)
        told = replace(setting, catalogue=Catalogue(catalogue.name, tuple(wordings)))
        unsaid = set(setting.keys_of(setting.method.documents.unsaid))
        unsaid.update(*(keys for one, keys in zip(catalogue, setting.single, strict=True) if one.told == ()))
        return cls(told, np.array(of, np.int32), tuple(sorted(unsaid)))

    def said_once(self, matches: Matches) -> Bools:
        """Mask of the matches of ``setting`` of which no other says as much: another wording of the same relationship that
        stands before theirs, or one whose ways are narrower ("made" goes before "altered")."""
        frame = pl.DataFrame(
            {"source": matches.source, "target": matches.target, "number": matches.relationship}
        ).with_row_index("row")
        pairs = frame.join(frame, on=["source", "target"], suffix="_other").filter(
            pl.col("row") != pl.col("row_other")
        )
        own, other = pairs["number"].to_numpy(), pairs["number_other"].to_numpy()
        kept = np.ones(len(matches), bool)
        kept[pairs["row"].to_numpy()[self._before[other, own]]] = False
        return kept

    @cached_property
    def _before(self) -> Bools:
        """bool [t, t]: whether the one wording goes before the other, of what both state."""
        ontology, catalogue = self.setting.ontology, self.setting.catalogue
        narrow = [[way_of(path, ontology) for path in one.paths] for one in catalogue]
        wide = [[way_of(_unbound(path), ontology) for path in one.paths] for one in catalogue]
        ends = [(one.domain, one.range) for one in catalogue]
        before: Bools = (self.of[:, None] == self.of[None, :]) & np.triu(np.ones((len(narrow),) * 2, bool), 1)
        for i, ways in enumerate(narrow):
            for j, wider in enumerate(wide):
                if self.of[i] != self.of[j] and ends[i] == ends[j]:
                    before[i, j] = _all_imply(ways, wider) and not _all_imply(narrow[j], wide[i])
        return before


def _unbound(path: Path) -> Path:
    """The path with the properties below those of its steps."""
    return Path(path.id, tuple(replace(step, alone=step.alone and is_iri(step.code)) for step in path.steps))


def _all_imply(ways: Sequence[Way], wider: Sequence[Way]) -> bool:
    return all(any(implies(way, other) for other in wider) for way in ways)


class NodeNames:
    """Texts of the nodes 0 … n-1 of a graph, series of n strings.

    ``named`` bool [n]: the source gives the node a name, a date or a content. ``shown``: its name on one line, at most
    NAME_CHARACTERS (a text: literal_characters), never empty. ``dates``: the dates stated on the node itself, "" for none.
    ``told`` bool [n]: texts may name it: it has a name, or is an entity that is called by the words of its IRI or, where it
    has a category, by its role. ``made`` bool [n]: its name is made from its role. ``texts`` bool [n]: its name is what it
    says.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting, self.graph = setting, setting.graph
        graph = self.graph
        self.dates = self._dates()
        self.named: Bools = (graph.flags & FLAG_LABELLED) != 0
        self.named[graph.timespan_table.column("node").to_numpy()] = True
        kind = self._first_kinds(np.arange(graph.nodes, dtype=np.int32))
        self.made: Bools = (kind == "role").to_numpy()
        entity = (graph.flags & FLAG_ENTITY) != 0
        worded = entity & (kind == "iri").to_numpy()
        categorised = graph.category_of_node != 0
        self.told: Bools = self.named | worded | (entity & self.made & categorised)
        self.shown = self._plain(worded)
        self.texts: Bools = np.zeros(graph.nodes, bool)
        contents = self._contents()
        labels = numbers_of(graph, setting.method.names.label_properties)
        self.texts[contents.filter(~pl.col("property").is_in(labels))["node"].to_numpy()] = True
        self.texts &= ~setting.of_kind("appellation")
        for own in (contents, self._dimensions()):
            self.shown = self.shown.clone().scatter(own["node"], own["text"])
            self.told[own["node"].to_numpy()] = True

    @cached_property
    def alike(self) -> pl.Series:
        """What all spellings of a node's name have in common."""
        return same_all(self.shown)

    @cached_property
    def annotated(self) -> pl.Series:
        """``Nikephoros (Magistros)``: the name, with those notes that it does not say itself."""
        notes = self._notes.group_by("node").agg(pl.col("text").str.join(", "))
        name = self.shown.gather(notes["node"])
        annotated = pl.select(pl.format("{} ({})", name, notes["text"])).to_series()
        return self.shown.clone().scatter(notes["node"], annotated)

    @cached_property
    def kinds(self) -> pl.Series:
        """What the noted types of a node say, "" of one without."""
        typed = self._notes.filter("typed").group_by("node").agg(pl.col("text").str.join(", "))
        none = pl.repeat("", self.graph.nodes, dtype=pl.String, eager=True)
        return none.scatter(typed["node"], typed["text"])

    @cached_property
    def typed(self) -> Bools:
        """bool [n]: nodes of which types are noted."""
        typed: Bools = (self.kinds != "").to_numpy()
        return typed

    def neighbours(self, nodes: Ints, keys: Keys) -> pl.DataFrame:
        """Distinct pairs ``node`` and ``other`` (int32) of nodes that a fact of these keys joins, sorted."""
        facts = gather_facts(self.graph.adjacency, nodes, keys)
        pairs = pl.DataFrame({"node": np.repeat(nodes, np.diff(facts.ptr)), "other": facts.target})
        return pairs.filter(pl.col("node") != pl.col("other")).unique().sort("node", "other")

    def named_neighbours(self, nodes: Ints, keys: Keys, limit: int) -> pl.DataFrame:
        """As ``neighbours``, the first ``limit`` named ones of each node, with their names ``text``."""
        found = self.neighbours(nodes, keys)
        named = found.filter(pl.Series(self.named[found["other"].to_numpy()], dtype=pl.Boolean))
        first = named.filter(pl.int_range(pl.len()).over("node") < limit)
        return first.with_columns(text=self.shown.gather(first["other"]))

    @cached_property
    def _notes(self) -> pl.DataFrame:
        """What tells a node from others, sorted by ``node``: ``text`` of its types (``typed``), its attributes, the dates of
        an event; each once, and none that its name says."""
        setting = self.setting
        nodes = np.flatnonzero(~setting.of_kind(*PLAIN_KINDS)).astype(np.int32)
        noted = ((setting.types, NOTED_TYPES), (setting.attributes, ATTRIBUTES), (setting.spans, NOTED_TYPES))
        found = pl.concat(
            self.named_neighbours(nodes, keys, limit).with_columns(typed=pl.lit(keys is setting.types))
            for keys, limit in noted
        )
        found = found.with_columns(alike=self.alike.gather(found["other"]))
        found = found.unique(["node", "alike"], keep="first", maintain_order=True)
        found = found.with_columns(name=self.alike.gather(found["node"]))
        kept = found.filter(~pl.col("name").str.contains(pl.col("alike"), literal=True))
        return kept.select("node", "text", "typed").sort("node", maintain_order=True)

    def _plain(self, worded: Bools) -> pl.Series:
        """Names by label, which those ``worded`` have from the words of their IRIs, with the dates stated on one whose label
        tells no date; of what has none by dates, by the role that it plays, or by the end of its IRI."""
        graph = self.graph
        shown = shorten_all(clean_all(_strings(graph.display_labels)), NAME_CHARACTERS)
        named = np.flatnonzero((graph.flags & FLAG_LABELLED) != 0)
        dated = pl.DataFrame({"node": named, "name": shown.gather(named), "dates": self.dates.gather(named)})
        year = pl.col("dates").str.extract(r"(\d{3,})").fill_null(pl.col("dates"))
        dated = dated.filter((pl.col("dates") != "") & ~pl.col("name").str.contains(year, literal=True))
        unread = [name for name in dated["name"].unique().to_list() if parse_date(name) is None]
        dated = dated.filter(pl.col("name").is_in(unread))  # "14th century" says it
        said = dated.select(pl.format("{} ({})", "name", "dates")).to_series()
        shown = shown.scatter(dated["node"], said)
        bare = np.flatnonzero((graph.flags & FLAG_LABELLED) == 0).astype(np.int32)
        iris = clean_all(_strings(graph.iris.take(pa.array(bare))))
        dates = self.dates.gather(bare)
        end = iris.str.split("://").list.last()
        unlabelled = self._first_kinds(bare).is_in(["", "iri"]) & ~pl.Series(worded[bare], dtype=pl.Boolean)
        unstated = end.zip_with(unlabelled, shown.gather(bare))
        shown = shown.scatter(bare, dates.zip_with(dates != "", unstated))
        empty = (shown == "").arg_true()
        return shown.scatter(empty, clean_all(_strings(graph.iris.take(empty.to_arrow()))))

    def _first_kinds(self, nodes: Ints) -> pl.Series:
        """The kind of the best name of each of ``nodes``, "" of one without names."""
        table, ptr = self.graph.label_rows
        kinds = pl.concat([_strings(table.column("kind").cast(pa.large_utf8())), pl.Series([""])])
        return kinds.gather(np.where(ptr[nodes + 1] > ptr[nodes], ptr[nodes], len(kinds) - 1))

    def _dates(self) -> pl.Series:
        lang = self.setting.languages[0]
        table = pl.DataFrame(pl.from_arrow(pa.Table.from_batches([self.graph.timespan_table])))
        table = table.unique("node", keep="first", maintain_order=True)
        distinct = table.select(SPAN).unique()
        words = [clean(describe_span(Timespan(*row), lang)) for row in distinct.iter_rows()]
        described = distinct.with_columns(words=pl.Series(words, dtype=pl.String))
        joined = table.join(described, on=SPAN, how="left", nulls_equal=True)
        none = pl.repeat("", self.graph.nodes, dtype=pl.String, eager=True)
        return none.scatter(joined["node"], joined["words"])

    def _literals(self, nodes: Bools, properties: Sequence[int]) -> pl.DataFrame:
        """Literals of these nodes by these properties, in their order: ``node``, ``property``, ``value``, ``lang``."""
        table = self.graph.literal_table
        chosen = np.flatnonzero(
            nodes[table.column("subject").to_numpy()]
            & np.isin(table.column("property").to_numpy(), properties)
        )
        columns = {name: table.column(name) for name in ("subject", "property", "value", "lang")}
        taken = pa.table(columns).take(pa.array(chosen))
        return pl.DataFrame(pl.from_arrow(taken)).rename({"subject": "node"}).cast({"lang": pl.String})

    def _contents(self) -> pl.DataFrame:
        """What appellations and texts say: the first value property that each has, in the first of the languages."""
        setting = self.setting
        chosen = setting.of_kind("appellation") | setting.of_classes(TEXT_CLASS)
        found = self._literals(chosen, setting.values).with_row_index("row")
        order = {lang: place for place, lang in reversed(list(enumerate((*setting.languages, ""))))}
        place = pl.col("property").replace_strict(
            {prop: n for n, prop in enumerate(setting.values)}, default=0
        )
        spoken = pl.col("lang").str.split("-").list.first().replace_strict(order, default=len(order))
        first = (
            found.sort("node", place, spoken.cast(pl.Int32), "row")
            .unique("node", keep="first", maintain_order=True)
            .filter(pl.col("value") != "")
        )
        text = shorten_all(clean_all(first["value"]), setting.method.documents.literal_characters)
        contents = first.select("node", "property", text=text)
        unread = contents.filter(pl.col("text") == "")
        iris = clean_all(_strings(self.graph.iris.take(unread["node"].to_arrow())))
        return contents.filter(pl.col("text") != "").vstack(unread.with_columns(text=iris))

    def _dimensions(self) -> pl.DataFrame:
        """``height 13.9 cm`` from type, value and unit, of the dimensions that have a value."""
        setting = self.setting
        chosen = setting.of_kind("dimension")
        values = self._cleaned(chosen, "P90", RDF_VALUE)
        if values.is_empty():
            return pl.DataFrame(schema={"node": pl.Int32, "text": pl.String})
        joined = values.group_by("node").agg(pl.col("value").sort().str.join("–"))
        nodes = np.sort(joined["node"].to_numpy())
        units = tuple(2 * n for n in numbers_of(self.graph, ["P91"]))
        stated = self._cleaned(chosen, "P91").rename({"value": "unit"})
        nearby = self.named_neighbours(nodes, units, 1).select("node", unit="text")
        unit = pl.concat([stated, nearby]).unique("node", keep="first", maintain_order=True)
        kind = self.named_neighbours(nodes, setting.types, 1)
        kind = kind.select("node", kind=pl.col("text").str.to_lowercase())
        whole = joined.join(unit, on="node", how="left").join(kind, on="node", how="left")
        text = pl.concat_str("kind", "value", "unit", separator=" ", ignore_nulls=True)
        return whole.select("node", text=text).filter(pl.col("text") != "")

    def _cleaned(self, nodes: Bools, *names: str) -> pl.DataFrame:
        """Values of the first of these properties (codes or IRIs) that a node has, on one line each, in their order."""
        found = pl.DataFrame(schema={"node": pl.Int32, "value": pl.String})
        for name in names:
            values = self._literals(nodes, numbers_of(self.graph, [name])).select("node", "value")
            values = values.with_columns(value=clean_all(values["value"]))
            found = found.vstack(values.join(found, on="node", how="anti", maintain_order="left"))
        return found


def _strings(array: pa.Array) -> pl.Series:
    return pl.Series(pl.from_arrow(array), dtype=pl.String)


def describe_span(span: Timespan, lang: str) -> str:
    """``1099–1104``, with what it certainly covers and the source's own words where these say something else."""
    outer = _extent(span.outer_begin, span.outer_end, lang)
    inner = _extent(span.inner_begin, span.inner_end, lang)
    if not outer and not inner:
        return span.text
    certainly = f"at least {inner}" if inner and inner != outer else ""
    return ", ".join(part for part in (outer, certainly) if part)


def _extent(begin: int | None, end: int | None, lang: str) -> str:
    # as some sources have it: both are told as they stand
    if begin is not None and end is not None and begin > end:
        return f"{describe(Interval(begin, None), lang)}, {describe(Interval(None, end), lang)}"
    return describe(Interval(begin, end), lang)
