"""Map the tables of painted churches (tables/*.csv) to CIDOC-CRM 7.1.3 and VIR: troodos.ttl.

python build.py          writes troodos.ttl
python build.py --check  compares it with the tables and writes nothing (exit status 1 when they differ)

Only the standard library is needed. A cell with several values separates them by ";". A reference is the id
of a row ("asinou") or, where a column may point at several tables, a path ("church/asinou").
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from triples import HERE, Graph, Row, TableError, date, iri, many, rows, text

DETAILED = (
    "asinou"  # the church whose images are described one by one, with attributes and the texts behind them
)

# Tables with one entity a row, whose columns tables/mapping.csv maps: kind in the IRI, class ("" where the
# table has a column "class").
SIMPLE: dict[str, tuple[str, str]] = {
    "places": ("place", "crm:E53_Place"),
    "churches": ("church", "crm:E22_Human-Made_Object"),
    "characters": ("character", ""),
    "attributes": ("attribute", "vir:IC10_Attribute"),
    "concepts": ("concept", "crm:E90_Symbolic_Object"),
    "texts": ("text", "crm:E73_Information_Object"),
    "types": ("type", ""),
    "subjects": ("subject", "crm:E55_Type"),
    "objects": ("object", ""),
    "actors": ("person", ""),
    "inscriptions": ("inscription", "crm:E34_Inscription"),
}
# What a "class" column may say: kind in the IRI and class; other values are CIDOC-CRM classes.
CLASSES: dict[str, tuple[str, str]] = {
    "type": ("type", "crm:E55_Type"),
    "material": ("material", "crm:E57_Material"),
    "language": ("language", "crm:E56_Language"),
    "unit": ("unit", "crm:E58_Measurement_Unit"),
    "person": ("person", "crm:E21_Person"),
    "group": ("group", "crm:E74_Group"),
    "figure": ("character", "vir:IC16_Character"),
    "personification": ("character", "vir:IC11_Personification"),
}


def subject_of(table: str, row: Row) -> tuple[str, str]:
    """IRI and class of a row of a simple table."""
    kind, classes = SIMPLE[table]
    stated = row.get("class", "")
    if stated in CLASSES:
        kind, classes = CLASSES[stated]
    elif stated:
        classes = f"crm:{stated}"
    return iri(kind, row["id"]), classes


def map_simple(graph: Graph) -> None:
    """Labels, notes, links and sameAs of all tables whose columns map one to one."""
    links = list(rows("mapping"))
    for table in SIMPLE:
        for row in rows(table):
            subject, classes = subject_of(table, row)
            if subject in graph.statements:
                raise TableError(f"{table}.csv: {subject} occurs twice")
            graph.entity(subject, classes, row)
            for link in links:
                if link["table"] == table:
                    graph.add(subject, link["property"], *many(link["refers_to"], row[link["column"]]))
            for language in ("en", "el"):
                graph.add(subject, "crm:P3_has_note", text(row.get(f"note_{language}", ""), language))
            graph.add(subject, "owl:sameAs", f"<{row['same_as']}>" if row.get("same_as") else "")
            graph.add(subject, "crm:P190_has_symbolic_content", text(row.get("content", ""), "el"))


def add_time(graph: Graph, event: str, name: str, begin: str, end: str, stated: str = "") -> None:
    """The time-span of an event; a date that is known only in words becomes P82 text."""
    if not (begin or end or stated):
        return
    span = graph.entity(iri("timespan", name), "crm:E52_Time-Span")
    graph.add(event, "crm:P4_has_time-span", span)
    graph.add(span, "rdfs:label", text(stated or years(begin, end)))
    graph.add(span, "crm:P82a_begin_of_the_begin", date(begin))
    graph.add(span, "crm:P82b_end_of_the_end", date(end))
    if not (begin or end):
        graph.add(span, "crm:P82_at_some_time_within", text(stated, "en"))


def years(begin: str, end: str) -> str:
    """As in "965–1191", "1935" or "1960–"."""
    first, last = begin.lstrip("0"), end.lstrip("0")
    return first if first == last else f"{first}–{last}"


def map_churches(graph: Graph) -> None:
    """World Heritage membership, parts, and images of the churches."""
    for row in rows("churches"):
        if row["world_heritage"]:
            church = iri("church", row["id"])
            graph.add(church, "crm:P46i_forms_part_of", "<object/world-heritage-property>")
            graph.add(church, "crm:P2_has_type", "<type/world-heritage-component>")
    short = {row["id"]: row for row in rows("churches")}
    for row in rows("parts"):
        church = row["church"]
        part = graph.entity(iri("part", f"{church}-{row['part']}"), "crm:E22_Human-Made_Object")
        whole = iri("part", f"{church}-{row['within']}") if row["within"] else iri("church", church)
        graph.add(part, "rdfs:label", *labels_in(short[church], row["label_en"], row["label_el"]))
        graph.add(part, "crm:P46i_forms_part_of", whole)
        graph.add(part, "crm:P2_has_type", iri("type", row["type"]))
        graph.add(part, "crm:P45_consists_of", *many("material", row["materials"]))
    for row in rows("images"):
        graph.add(f"<{row['entity']}>", "schema:image", f"<{row['url']}>")


def labels_in(church: Row, english: str, greek: str) -> list[str]:
    """Labels with the church: "Narthex (Asinou)"; left out in a language where either name is missing."""
    pairs = ((english, church["short_en"], "en"), (greek, church["short_el"], "el"))
    return [text(f"{name} ({place})", language) for name, place, language in pairs if name and place]


def map_periods(graph: Graph) -> None:
    for row in rows("periods"):
        period = graph.entity(iri("period", row["id"]), "crm:E4_Period", row)
        graph.add(period, "crm:P7_took_place_at", "<place/cyprus>")
        add_time(graph, period, f"period-{row['id']}", row["begin"], row["end"], "")
        graph.add(
            iri("timespan", f"period-{row['id']}"), "crm:P81_ongoing_throughout", text(row["throughout"])
        )


def map_lives(graph: Graph) -> None:
    """Births, deaths and foundations of the persons and groups that have a year in actors.csv."""
    events = {
        "born": ("birth", "crm:E67_Birth", "crm:P98_brought_into_life", "Birth of ", "Γέννηση: "),
        "died": ("death", "crm:E69_Death", "crm:P100_was_death_of", "Death of ", "Θάνατος: "),
        "founded": ("formation", "crm:E66_Formation", "crm:P95_has_formed", "Foundation: ", "Ίδρυση: "),
    }
    for row in rows("actors"):
        for column, (kind, classes, prop, english, greek) in events.items():
            if row[column]:
                event = graph.entity(iri(kind, row["id"]), classes)
                graph.add(event, "rdfs:label", text(english + row["label_en"], "en"))
                graph.add(event, "rdfs:label", text(greek + row["label_el"], "el"))
                graph.add(event, prop, iri(row["class"], row["id"]))
                add_time(graph, event, f"{kind}-{row['id']}", row[column], row[column])


# Kind of event -> class, property to its objects, type.
EVENTS: dict[str, tuple[str, str, str]] = {
    "building": ("crm:E12_Production", "crm:P108_has_produced", "building-activity"),
    "production": ("crm:E12_Production", "crm:P108_has_produced", ""),
    "icon": ("crm:E12_Production", "crm:P108_has_produced", "painting-activity"),
    "painting": ("crm:E12_Production", "crm:P108_has_produced", "painting-activity"),
    "addition": ("crm:E79_Part_Addition", "crm:P111_added", "building-activity"),
    "conservation": ("crm:E11_Modification", "crm:P31_has_modified", "restoration"),
}


def map_events(graph: Graph) -> None:
    """Building, painting, additions and conservation, each at the place of its church."""
    village = {row["id"]: row["village"] for row in rows("churches")}
    known = {row["id"]: iri(row["class"], row["id"]) for row in rows("actors")}
    for row in rows("events"):
        classes, prop, kind = EVENTS[row["kind"]]
        event = graph.entity(iri("event", row["id"]), classes, row)
        graph.add(event, prop, *many("church", row["objects"]))
        graph.add(event, "crm:P2_has_type", iri("type", kind), iri("type", row["style"]))
        graph.add(event, "crm:P7_took_place_at", iri("place", village[row["church"]]))
        graph.add(event, "crm:P10_falls_within", iri("period", row["period"]))
        graph.add(
            event, "crm:P14_carried_out_by", *(known[name] for name in row["actors"].split(";") if name)
        )
        graph.add(event, "crm:P11_had_participant", *many("person", row["participants"]))
        add_time(graph, event, row["id"], row["begin"], row["end"], row["date"])
        if row["kind"] == "addition":
            graph.add(event, "crm:P110_augmented", iri("church", row["church"]))
        if row["kind"] == "painting":
            graph.add(event, "crm:P31_has_modified", iri("church", row["church"]))
            graph.add(event, "crm:P32_used_general_technique", "<type/wall-painting-technique>")
            graph.add(event, "crm:P126_employed", "<material/plaster>")


def map_patronage(graph: Graph) -> None:
    """Who paid: an activity of the patrons that motivated campaigns. A stated role is reified (PC14)."""
    known = {row["id"]: iri(row["class"], row["id"]) for row in rows("actors")}
    for row in rows("patronage"):
        gift = graph.entity(iri("patronage", row["id"]), "crm:E7_Activity", row)
        patrons = [known[name] for name in row["patrons"].split(";")]
        graph.add(gift, "crm:P2_has_type", "<type/patronage>")
        graph.add(gift, "crm:P14_carried_out_by", *patrons)
        for campaign in many("event", row["campaigns"]):
            graph.add(campaign, "crm:P17_was_motivated_by", gift)
            graph.add(campaign, "crm:P11_had_participant", *patrons)
        if row["role"]:
            role = graph.entity(iri("role", row["id"]), "crm:PC14_carried_out_by")
            graph.add(role, "crm:P01_has_domain", gift)
            graph.add(role, "crm:P02_has_range", *patrons)
            graph.add(role, "crm:P14.1_in_the_role_of", iri("type", row["role"]))


def map_heritage(graph: Graph) -> None:
    """Decisions of the World Heritage Committee, as type assignments to the churches of that year."""
    churches = list(rows("churches"))
    for row in rows("heritage"):
        listing = graph.entity(iri("event", row["id"]), "crm:E17_Type_Assignment", row)
        chosen = [
            iri("church", church["id"]) for church in churches if church["world_heritage"] == row["year"]
        ]
        graph.add(listing, "crm:P2_has_type", "<type/heritage-listing>")
        graph.add(listing, "crm:P41_classified", *chosen)
        graph.add(listing, "crm:P42_assigned", "<type/world-heritage-component>")
        graph.add(listing, "crm:P7_took_place_at", iri("place", row["place"]))
        graph.add(listing, "crm:P14_carried_out_by", iri("group", row["actor"]))
        add_time(graph, listing, row["id"], row["begin"], row["end"], row["date"])


def map_murals(graph: Graph) -> None:
    """Each mural is a painted surface (IC1) in its church; in the church studied in detail also the image it shows (IC9)."""
    churches = {row["id"]: row for row in rows("churches")}
    subjects = {row["id"]: row for row in rows("subjects")}
    personified = {row["id"] for row in rows("characters") if row["class"] == "personification"}
    for row in rows("murals"):
        church, subject = churches[row["church"]], subjects[row["subject"]]
        figures = many("character", f"{subject['figures']};{row['figures']}")
        persons = many("person", row["persons"])
        mural, image = (iri(kind, f"{church['id']}-{row['mural']}") for kind in ("mural", "image"))
        english, greek = mural_names(row, church, subject)
        add_surface(graph, mural, row, [text(english, "en"), text(greek, "el")])
        graph.add(mural, "crm:P62_depicts", *persons, *figures)
        if row["church"] != DETAILED:
            continue
        graph.add(mural, "vir:K1_denotes", image)
        labels = [text(english and f"Image: {english}", "en"), text(f"Παράσταση: {greek}", "el")]
        add_image(graph, image, row, subject, labels)
        graph.add(image, "crm:P138_represents", *persons)
        personifications = {iri("character", name) for name in personified}.intersection(figures)
        graph.add(image, "vir:K22_has_personification", *personifications)
        graph.add(image, "vir:K24_portray", *(figure for figure in figures if figure not in personifications))


def mural_names(row: Row, church: Row, subject: Row) -> tuple[str, str]:
    """English and Greek name: the row's own, else subject and church; "" where the church has none."""
    if row["label_en"]:
        return row["label_en"], row["label_el"]
    english, greek = (f"{subject[f'label_{tag}']} ({church[f'short_{tag}']})" for tag in ("en", "el"))
    return english if church["short_en"] else "", greek


def add_surface(graph: Graph, mural: str, row: Row, labels: list[str]) -> None:
    """The painted surface: where it is and which campaign made it."""
    church = row["church"]
    graph.entity(mural, "vir:IC1_Iconographic_Atom crm:E25_Human-Made_Feature")
    graph.add(mural, "rdfs:label", *labels)
    graph.add(mural, "crm:P2_has_type", "<type/mural>", iri("subject", row["subject"]))
    graph.add(mural, "crm:P56i_is_found_on", iri("church", church))
    graph.add(mural, "crm:P46i_forms_part_of", iri("part", f"{church}-{row['on']}"))
    graph.add(mural, "crm:P108i_was_produced_by", iri("event", row["campaign"]))
    if row["within"]:
        graph.add(mural, "crm:P46i_forms_part_of", iri("mural", f"{church}-{row['within']}"))


def add_image(graph: Graph, image: str, row: Row, subject: Row, labels: list[str]) -> None:
    """What the surface shows: subject, attributes and the texts behind it."""
    graph.entity(image, "vir:IC9_Representation")
    graph.add(image, "rdfs:label", *labels)
    graph.add(image, "crm:P2_has_type", iri("subject", row["subject"]))
    graph.add(image, "vir:K17_has_attribute", *many("attribute", subject["attributes"]))
    graph.add(image, "vir:K34_illustrate", *many("text", subject["texts"]))
    if row["within"]:
        graph.add(image, "vir:K20_forms_part_of", iri("image", f"{row['church']}-{row['within']}"))


def map_documents(graph: Graph) -> None:
    for row in rows("documents"):
        classes = "crm:E31_Document crm:E33_Linguistic_Object"
        document = graph.entity(iri("document", row["id"]), classes)
        tag = {"english": "en", "french": "fr", "greek": "el"}[row["language"]]
        graph.add(document, "rdfs:label", text(row["title"], tag))
        graph.add(document, "crm:P2_has_type", iri("type", row["type"]))
        graph.add(document, "crm:P72_has_language", iri("language", row["language"]))
        graph.add(document, "crm:P70_documents", *many("church", row["documents"]))
        creation = graph.entity(iri("creation", row["id"]), "crm:E65_Creation")
        graph.add(document, "crm:P94i_was_created_by", creation)
        graph.add(creation, "crm:P14_carried_out_by", *many("person", row["authors"]))
        graph.add(creation, "crm:P7_took_place_at", iri("place", row["place"]))
        add_time(graph, creation, f"creation-{row['id']}", row["year"], row["year"])


def map_names(graph: Graph) -> None:
    """Alternative names and identifiers, known by their content (P190) and not by a label."""
    for number, row in enumerate(rows("names"), start=1):
        name = graph.entity(iri("appellation", f"{number:03}"), "crm:E41_Appellation")
        graph.add(f"<{row['entity']}>", "crm:P1_is_identified_by", name)
        graph.add(name, "crm:P2_has_type", "<type/alternative-name>")
        graph.add(name, "crm:P190_has_symbolic_content", text(row["name"], row["language"]))
    for row in rows("identifiers"):
        identifier = graph.entity(iri("identifier", row["id"]), "crm:E42_Identifier")
        graph.add(f"<{row['entity']}>", "crm:P1_is_identified_by", identifier)
        graph.add(identifier, "crm:P2_has_type", iri("type", row["type"]))
        graph.add(identifier, "crm:P190_has_symbolic_content", text(row["value"]))


def map_measurements(graph: Graph) -> None:
    for row in rows("dimensions"):
        dimension = graph.entity(iri("dimension", row["id"]), "crm:E54_Dimension")
        graph.add(f"<{row['entity']}>", "crm:P43_has_dimension", dimension)
        graph.add(dimension, "crm:P2_has_type", iri("type", row["type"]))
        graph.add(dimension, "crm:P90_has_value", f'"{row["value"]}"^^xsd:integer')
        graph.add(dimension, "crm:P91_has_unit", iri("unit", row["unit"]))


def map_moves(graph: Graph) -> None:
    """A thing that stood elsewhere before was moved once, at a time nobody recorded here."""
    for row in rows("objects"):
        if row["location"] and row["former_location"]:
            move = graph.entity(iri("move", row["id"]), "crm:E9_Move")
            graph.add(move, "crm:P25_moved", iri("object", row["id"]))
            graph.add(move, "crm:P27_moved_from", iri("place", row["former_location"]))
            graph.add(move, "crm:P26_moved_to", iri("place", row["location"]))


def map_unnamed(graph: Graph) -> None:
    """Blank nodes, as many exports have them: a production that nothing points to, with its time-span."""
    building = graph.entity("_:building", "crm:E12_Production")
    graph.add(building, "crm:P108_has_produced", "<church/galata-paraskevi>")
    graph.add(building, "crm:P4_has_time-span", "_:time")
    span = graph.entity("_:time", "crm:E52_Time-Span")
    graph.add(span, "crm:P82a_begin_of_the_begin", date("1501"))
    graph.add(span, "crm:P82b_end_of_the_end", date("1550"))


MAPPINGS: tuple[Callable[[Graph], None], ...] = (
    map_simple,
    map_churches,
    map_periods,
    map_lives,
    map_events,
    map_patronage,
    map_heritage,
    map_murals,
    map_documents,
    map_names,
    map_measurements,
    map_moves,
    map_unnamed,
)


def check_references(graph: Graph) -> None:
    """Raise TableError for a reference to a row that no table has."""
    for subject, pairs in graph.statements.items():
        for prop, value in pairs:
            local = value.startswith("<") and not value.startswith("<http")
            if (local or value.startswith("_:")) and "a" not in dict(graph.statements.get(value, ())):
                raise TableError(f"{subject} {prop} {value}: no table has this row")


def build() -> str:
    """The whole data set as Turtle."""
    graph = Graph()
    for mapping in MAPPINGS:
        mapping(graph)
    check_references(graph)
    return graph.turtle()


def main(arguments: list[str]) -> int:
    target = HERE / "troodos.ttl"
    try:
        turtle = build().encode()
    except TableError as error:
        print(error, file=sys.stderr)
        return 2
    if arguments == ["--check"]:
        same = target.is_file() and target.read_bytes() == turtle
        print("troodos.ttl is up to date" if same else "troodos.ttl differs: run python data/sample/build.py")
        return 0 if same else 1
    target.write_bytes(turtle)
    print(f"{target.name}: {len(turtle):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
