"""Lines of documents: a header holds its types, a long line is cut and says so, a short one can be given at length."""

from __future__ import annotations

import pytest

from crmrag_query.artifacts.release import Release
from crmrag_query.context.assemble import NAME_CHARACTERS, Entry, Names, Writer, read_document
from crmrag_query.documents.documents import Documents, Line
from crmrag_query.graph.graph import Graph
from tests.query.context.conftest import BASE, built, fixed, node_of

NOTE = "The narthex was added by a later donor. " * 12
NOTES = ", ".join(f'"Note {n} {"word " * 60}"' for n in range(5))
SOURCE = (
    f"""
:noted a crm:E22_Human-Made_Object ; rdfs:label "Noted" ; crm:P3_has_note {NOTES} .
:whole a crm:E22_Human-Made_Object ; rdfs:label "Whole" .
:unseen a crm:E22_Human-Made_Object ; rdfs:label "\\u200b\\u202e" .
:asinou a crm:E22_Human-Made_Object ; rdfs:label "Asinou" ; crm:P2_has_type :church ; crm:P3_has_note "{NOTE}" .
:asinou crm:P168_place_is_defined_by "POLYGON (({"32.97345 35.04630, " * 60}))" .
:church a crm:E55_Type ; rdfs:label "church" .
"""
    + "\n".join(
        f':mural{n:02d} a crm:E22_Human-Made_Object ; rdfs:label "Mural {chr(65 + n)}" ; crm:P46i_forms_part_of :asinou .'
        for n in range(16)
    )
    + "\n"
    + "\n".join(
        f':m{n:02d} a crm:E22_Human-Made_Object ; rdfs:label "M{n % 12}" ; crm:P46i_forms_part_of :whole .'
        for n in range(24)
    )
)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return built(tmp_path_factory.mktemp("lines"), SOURCE)


def entries(release: Release) -> dict[str, Entry]:
    document = release[Documents].document_of(node_of(release, "asinou"))
    assert document is not None
    read = read_document(release, 1, document)
    own = read.headers[read.entity]
    return {"header": own} | {
        entry.line.label: entry for entry in read.entries if entry.line.entity == read.entity
    }


def writer(release: Release, *first: str) -> Writer:
    nodes = frozenset(node_of(release, name) for name in first)
    return Writer(release, Names(release), nodes, frozenset(), "en")


def parts(release: Release) -> Entry:
    return next(entry for entry in entries(release).values() if len(entry.line.targets) == 16)


def test_a_header_holds_classes_and_types(release: Release) -> None:
    header = entries(release)["header"]
    assert header.text == "[Thing] Asinou — church"
    assert header.shown == (node_of(release, "church"),)
    assert "Class" not in entries(release) and "Type" not in entries(release)


def test_a_short_line_is_as_its_document_has_it_and_tells_which_targets_it_names(release: Release) -> None:
    short = writer(release).short(parts(release))
    assert short.text == parts(release).text and short.text.endswith("Mural J and 6 more")
    assert {release[Graph].label(node) for node in short.shown} == {f"Mural {sign}" for sign in "ABCDEFGHIJ"}


def test_a_target_that_the_question_names_joins_a_short_line_and_the_rest_is_counted(
    release: Release,
) -> None:
    short = writer(release, "mural13").short(parts(release))
    assert short.text.endswith("Mural J; Mural N and 5 more")
    assert node_of(release, "mural13") in short.shown and len(short.shown) == 11


def test_a_line_at_length_names_all(release: Release) -> None:
    long = writer(release).long(parts(release))
    assert long.text.endswith("Mural O; Mural P") and len(long.shown) == 16


@pytest.mark.parametrize("characters", range(40, 220, 7))
def test_a_cut_line_names_what_matters_first_and_counts_what_it_leaves_out(
    release: Release, characters: int
) -> None:
    with fixed(LINE_CHARACTERS=characters):
        cut = writer(release, "mural13").short(parts(release))
    assert len(cut.text) <= characters
    left = 16 - len(cut.shown)
    assert cut.text.endswith(f" and {left} more" if cut.shown and left else "Mural P" if cut.shown else "16")
    if cut.shown and characters < 100:
        assert cut.shown[0] == node_of(release, "mural13")


def test_a_note_is_given_whole_at_length(release: Release) -> None:
    note = entries(release)["Note"]
    assert note.text.endswith("…") and len(note.text) < 220
    assert writer(release).long(note).text == f"Note: {NOTE.strip()}"
    with fixed(LONG_LINE_CHARACTERS=100):
        cut = writer(release).long(note).text
    assert len(cut) <= 100 and cut.endswith("…")


def test_coordinates_are_no_prose_and_stay_short(release: Release) -> None:
    place = next(entry for entry in entries(release).values() if "POLYGON" in entry.text)
    assert place.line.kind == Line.LITERAL
    for text in (writer(release).long(place).text, writer(release).short(place).text):
        assert len(text) <= NAME_CHARACTERS and text.endswith("…")


def test_several_values_are_cut_with_their_true_number(release: Release) -> None:
    document = release[Documents].document_of(node_of(release, "noted"))
    assert document is not None
    note = next(e for e in read_document(release, 1, document).entries if e.line.kind == Line.LITERAL)
    with fixed(LONG_LINE_CHARACTERS=700):
        text = writer(release).long(note).text
    assert len(text) <= 700
    assert text.count("Note ") + int(text.rsplit(" and ", 1)[1].split()[0]) == 5


def test_equal_names_are_counted(release: Release) -> None:
    document = release[Documents].document_of(node_of(release, "whole"))
    assert document is not None
    line = next(e for e in read_document(release, 1, document).entries if len(e.line.targets) == 24)
    long = writer(release).long(line)
    assert long.text.count("×2") == 12 and " more" not in long.text and len(long.shown) == 24


def test_a_name_that_cannot_be_seen_is_its_iri(release: Release) -> None:
    assert Names(release).of(node_of(release, "unseen")) == f"{BASE}unseen"
