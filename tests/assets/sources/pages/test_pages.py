"""Pages become documents with text layers; what does harm is left out by name; what a model reads is told apart."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import random
import struct
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pypdfium2
import pytest
import yaml
from dagster import AssetKey, DagsterInstance
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from crmrag_assets.build import step
from crmrag_assets.build.step import BuildContext, Outcome, SilentProgress, chunk_keys, chunks_of
from crmrag_assets.build.store import FailPoint
from crmrag_assets.opened import harvest_of, page_rows
from crmrag_assets.quality.checks import pages_are_read
from crmrag_assets.sources.look import first_statements
from crmrag_assets.sources.pages.extract import Extractor, read_reply
from crmrag_assets.sources.pages.kind import ranges
from crmrag_assets.sources.pages.mapping import Readings
from crmrag_assets.sources.pages.render import Rendered, lacks_text, render, running
from crmrag_assets.steps.pages import PAGE_EXTRACTIONS, PAGE_IMAGES, make_all, readings_foreseen
from crmrag_assets.steps.registry import run_chunks
from crmrag_query import Client
from crmrag_query.config.loading import Profile, load_method
from crmrag_query.config.sources import PagesConfig
from crmrag_query.documents.pages import READ_GRAPH, READINGS, load
from crmrag_query.errors import ConfigError
from crmrag_query.llm.model import LiteLLM
from crmrag_query.llm.pool import ModelPool
from tests.support.builds import Project, build_all, failing_at, made, make_project
from tests.support.pdf import flate, pdf, stream, written
from tests.support.regulation import PAGES, REPLIES, make_regulation, reply, scripted
from tests.support.runs import build

METHOD = load_method()
REGULATORY = METHOD.extraction.profiles["regulatory"]
TEXT = "A page with a text that is long enough."


def rendered(folder: Path, name: str, content: bytes, **limits: object) -> Rendered:
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(content)
    config = PagesConfig.model_validate({"files": "*", **limits})
    return render(name, folder / name, config, folder / "cache")


def image(form: str, size: tuple[int, int] = (200, 100), frames: int = 1, **options: object) -> bytes:
    """An image file, each frame of another grey."""
    out, first, *more = io.BytesIO(), *(Image.new("L", size, 40 * number) for number in range(frames))
    more = {"save_all": True, "append_images": more} if frames > 1 else {}
    first.save(out, form, **options, **more)
    return out.getvalue()


# Reading documents


def test_a_page_is_an_image_of_150_dpi_with_its_text_layer(tmp_path: Path) -> None:
    found = rendered(tmp_path, "regulation.pdf", pdf(*PAGES))
    assert (found.format, found.refused, len(found.pages)) == ("PDF", "", 3)
    for page, text in zip(found.pages, PAGES, strict=True):
        assert page.image is not None
        with Image.open(page.image) as shown:
            assert (shown.format, shown.size) == ("PNG", (page.width, page.height))
        assert abs(page.width - 595 / 72 * 150) <= 1 and abs(page.height - 842 / 72 * 150) <= 1
        assert page.text.split() == text.split(), "every letter, diacritics too"


def test_images_are_documents_of_a_page_and_a_tiff_of_several(tmp_path: Path) -> None:
    assert len(rendered(tmp_path, "a.jpg", image("JPEG")).pages) == 1
    assert len(rendered(tmp_path, "three.tif", image("TIFF", frames=3)).pages) == 3
    (page,) = rendered(tmp_path, "fine.png", image("PNG", (2000, 1000), dpi=(300, 300))).pages
    assert (page.width, page.height) == (1000, 500), "as at 150 dpi"
    assert all(lacks_text(page.text) for page in rendered(tmp_path, "a.png", image("PNG")).pages)


def test_what_was_read_before_is_taken_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = rendered(tmp_path, "a.pdf", pdf(TEXT))
    monkeypatch.setattr("subprocess.run", lambda *_, **__: pytest.fail("it was read again"))
    again = rendered(tmp_path, "another name.pdf", pdf(TEXT))
    assert again.pages == first.pages


def patched(content: bytes, **numbers: int) -> bytes:
    """A PNG that says that it is larger than it is."""
    found = bytearray(content)
    found[16:24] = struct.pack(">II", numbers["width"], numbers["height"])
    found[29:33] = struct.pack(">I", zlib.crc32(bytes(found[12:29])))
    return bytes(found)


def wide(content: bytes) -> bytes:
    """A TIFF that says that it is of 60,000 x 60,000 pixels."""
    found, (at,) = bytearray(content), struct.unpack("<I", content[4:8])
    for entry in range(at + 2, at + 2 + 12 * struct.unpack("<H", content[at : at + 2])[0], 12):
        if struct.unpack("<H", content[entry : entry + 2])[0] in (256, 257):  # ImageWidth, ImageLength
            found[entry + 2 : entry + 12] = struct.pack("<HII", 4, 1, 60_000)
    return bytes(found)


def drawing(content: bytes, filters: bytes) -> bytes:
    """A PDF whose one page is drawn by a stream."""
    return written([
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << >> >>",
        stream(content, filters),
    ])  # fmt: skip


def form_within_itself() -> bytes:
    """A PDF whose page draws a form that draws itself, thrice each time."""
    form = b"<< /XObject << /I 5 0 R >> >>"
    draws = b"/I Do /I Do /I Do"
    return written([
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources " + form + b" >>",
        stream(draws),
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 500 500] /Resources %s /Length %d >>\nstream\n%s\nendstream"
        % (form, len(draws), draws),
    ])  # fmt: skip


def zipped() -> PngImagePlugin.PngInfo:
    """A comment that unpacks to 80 MB."""
    info = PngImagePlugin.PngInfo()
    info.add_text("a", "\0" * (80 << 20), zip=True)
    return info


WHOLE = pdf(TEXT, TEXT)
LOCKED = (
    b"/Root 1 0 R /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <" + b"AB" * 32 + b"> /U <" + b"CD" * 32
)
MANY = b"<< /Type /Pages /Kids [" + b"6 0 R " * 10_000 + b"] /Count 10000 >>"
HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "cut.pdf": (lambda: WHOLE[: len(WHOLE) // 2], "cut off"),
    "cut.png": (lambda: image("PNG", (900, 900))[:200], "cut off"),
    "locked.pdf": (lambda: WHOLE.replace(b"/Root 1 0 R", LOCKED + b"> >> /ID [<00> <00>]"), "password"),
    "program.pdf": (lambda: b"MZ\x90\0" + bytes(300), "whatever it is called"),
    "many.pdf": (
        lambda: WHOLE.replace(b"<< /Type /Pages /Kids [6 0 R 8 0 R] /Count 2 >>", MANY),
        "10,000 pages",
    ),
    "many.tif": (lambda: image("TIFF", (8, 8), frames=30), "more than 20 pages"),
    "huge.pdf": (lambda: pdf(TEXT, size=(14_400, 14_400)), "30,000 x 30,000 pixels"),
    "huge.png": (lambda: patched(image("PNG"), width=100_000, height=100_000), "10000000000 pixels"),
    "huge.tif": (lambda: wide(image("TIFF")), "3600000000 pixels"),
    "bomb.pdf": (
        lambda: drawing(
            zlib.compress(flate(b"0 0 m 1 1 l \n" * 100_000, 500)), b"[/FlateDecode /FlateDecode]"
        ),
        "1,024 MB",
    ),
    "flood.pdf": (
        lambda: pdf(*["\n".join(["word " * 170] * 50)] * 4, size=(5000, 842)),
        "longer than 100,000 characters",
    ),
    "wide.tif": (
        lambda: image("TIFF", (1, 39_000_000), compression="tiff_deflate"),
        "more memory than is allowed",
    ),
    "text.png": (lambda: image("PNG", pnginfo=zipped()), "MAX_TEXT_CHUNK"),
    "animated.png": (lambda: image("PNG", frames=30), "more than 20 pages"),
    "within.pdf": (lambda: form_within_itself(), "longer than 1 seconds"),
    "deep.pdf": (lambda: b"%PDF-1.7\n1 0 obj\n" + b"[" * 500_000 + b"\ntrailer << /Root 1 0 R >>", "cut off"),
    "slow.pdf": (
        lambda: drawing(flate(b"0 0 m 500 800 l 20 700 l 300 2 l f\n" * 100_000, 10), b"/FlateDecode"),
        "longer than 1 seconds",
    ),
    "empty.pdf": (lambda: b"", "whatever it is called"),
}


ALIKE = ("wide.tif", "within.pdf")
"""What goes beyond the same limits as others do."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in ALIKE)) for name in HOSTILE]
)
def test_what_does_harm_is_refused_and_the_reason_is_told(tmp_path: Path, name: str) -> None:
    make, why = HOSTILE[name]
    seconds = 1 if name in ("slow.pdf", "within.pdf") else 20
    found = rendered(tmp_path, name, make(), page_seconds=seconds, memory_megabytes=1024, most_pages=20)
    assert why in found.refused and not found.pages
    assert not [path for path in (tmp_path / "cache").glob("*") if path.name.endswith(".part")]


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(["PDF", "PNG", "JPEG", "TIFF"]), st.randoms(use_true_random=False))
def test_damaged_documents_are_read_or_refused(form: str, chance: random.Random) -> None:
    content = bytearray(WHOLE if form == "PDF" else image(form, frames=2 if form == "TIFF" else 1))
    for _ in range(chance.choice((1, 3, 20))):
        content[chance.randrange(len(content))] = chance.randrange(256)
    with tempfile.TemporaryDirectory() as folder:
        found = rendered(Path(folder), "damaged", bytes(content[: chance.choice((None, len(content) // 2))]))
    assert bool(found.pages) != bool(found.refused)


def test_a_script_in_a_document_is_not_run(tmp_path: Path) -> None:
    scripted = WHOLE.replace(
        b"/Type /Catalog", b"/Type /Catalog /OpenAction << /S /JavaScript /JS (while(true){}) >>"
    )
    assert len(rendered(tmp_path, "script.pdf", scripted).pages) == 2


def test_a_font_that_is_none_leaves_its_page_readable(tmp_path: Path) -> None:
    """Fonts are programs: what is broken in one must break no more than letters."""
    broken = written([
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        stream(b"BT /F1 12 Tf 72 700 Td (A page with a text) Tj ET"),
        b"<< /Type /Font /Subtype /TrueType /BaseFont /Broken /FirstChar 32 /LastChar 126 /FontDescriptor 6 0 R >>",
        b"<< /Type /FontDescriptor /FontName /Broken /Flags 4 /FontFile2 7 0 R >>",
        stream(b"\x00\x01\x00\x00\xff\xff" + random.Random(1).randbytes(200_000)),
    ])  # fmt: skip
    (page,) = rendered(tmp_path, "font.pdf", broken).pages
    assert page.image is not None and page.width == 1240


def test_documents_beside_a_hostile_one_are_built_and_it_is_named(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p", sources=[{"pages": ["*.pdf", "*.png"]}], write_markdown=False)
    (project.root / "good.pdf").write_bytes(pdf(TEXT))
    (project.root / "cut.pdf").write_bytes(WHOLE[: len(WHOLE) // 2])
    (project.root / "scan.png").write_bytes(image("PNG"))
    context = project.context()
    build_all(context)
    told = harvest_of(context)["reading"]
    assert any(one["file"] == "cut.pdf" and "left out" in one["reason"] for one in told["broken"])
    assert any(why.startswith("scan.png, p. 1: ") and "OCR" in why for why in told["skipped"])
    with Client(project.data) as client:
        assert client.ask("Which pages are there?", dataset="churches").set.size == 2


@given(st.text(max_size=300))
def test_any_text_layer_becomes_running_text(text: str) -> None:
    found = running(text)
    assert found == running(found)
    assert not any(char in found for char in "\r\ufffe\u00ad\0")


def test_words_divided_at_the_end_of_a_line_are_whole() -> None:
    assert running("manu-\r\nscripts of the\r\nNord-\r\nSud line") == "manuscripts of the\nNord-\nSud line"


@given(st.sets(st.integers(1, 40), min_size=1))
def test_ranges_name_just_these_pages(numbers: set[int]) -> None:
    parts = (part.split("-") for part in ranges(sorted(numbers)).removeprefix("p. ").split(", "))
    assert {n for part in parts for n in range(int(part[0]), int(part[-1]) + 1)} == numbers


def test_what_is_no_page_and_a_profile_that_is_not_there_are_told_before_a_build(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p", sources=[{"pages": {"files": "*.pdf", "profile": "poems"}}])
    (project.root / "a.pdf").write_bytes(b"MZ")
    told = list(first_statements(project.context().config, METHOD))
    assert any("poems" in one for one in told) and any("a.pdf" in one for one in told)
    with pytest.raises(ConfigError, match="poems"):
        build_all(project.context())


def test_without_a_model_the_text_layer_answers(tmp_path: Path) -> None:
    project = make_regulation(tmp_path / "p")
    build_all(project.context())
    with Client(project.data) as client:
        for mode in ("crm", "fulltext"):
            told = client.ask(
                "What is the temperature (teplota) in the depozitáři?", dataset="churches", mode=mode
            )
            assert "čtrnáct stupňů" in told.text
            assert told.sources[0].label == "regulation, p. 2"
        assert client.ask("Which pages are there?", dataset="churches").set.size == 3


# Replies of a model


def test_what_a_reply_has_too_much_is_dropped_and_counted() -> None:
    found = read_reply(REPLIES[1], REGULATORY)
    assert [one["type"] for one in found.entities] == [
        "PERSON",
        "ORGANIZATION",
        "ROLE",
        "STANDARD",
        "REGULATION",
    ]
    assert [one["type"] for one in found.relationships] == ["SUPERVISES", "REFERENCES"]
    assert found.dropped == 3, "an unknown type of each kind, and an end that is not there"


def test_an_end_that_is_called_as_two_things_is_dropped() -> None:
    entities = [("Harbour", "FACILITY", ""), ("harbour", "CONCEPT", ""), ("Act 1", "REGULATION", "")]
    found = read_reply(reply(entities, [("Act 1", "DEFINES", "Harbour")]), REGULATORY)
    assert (len(found.entities), found.relationships, found.dropped) == (3, (), 1)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=20)
    | st.sampled_from([*REGULATORY.entities]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["name", "type", "description", "source", "target", "x"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@settings(max_examples=200)
@given(
    st.dictionaries(st.sampled_from(["entities", "relationships"]), st.lists(JSON, max_size=8)), st.booleans()
)
def test_every_part_of_a_reply_is_kept_or_counted(said: dict[str, list[object]], fenced: bool) -> None:
    text = json.dumps(said)
    found = read_reply(f"```json\n{text}\n```" if fenced else text, REGULATORY)
    names = Counter((one["name"].casefold(), one["type"]) for one in found.entities)
    assert all(count == 1 for count in names.values())
    whole = sum(len(said.get(key, ())) for key in ("entities", "relationships"))
    assert len(found.entities) + len(found.relationships) + found.dropped <= whole
    assert all(
        0 <= one[end] < len(found.entities) for one in found.relationships for end in ("source", "target")
    )


@given(st.text(max_size=200))
def test_no_reply_is_read_as_something_else_than_lists_or_refused(text: str) -> None:
    try:
        found = read_reply(text, REGULATORY)
    except ValueError as error:
        assert str(error)
    else:
        assert isinstance(json.loads(text), dict) and not found.entities


def test_the_same_name_and_type_are_one_thing_of_a_document_and_two_of_two() -> None:
    row = {"page": "urn:p1", "status": "read", "model": "m", "prompt": "1", "relationships": []}
    pages = [
        row | {"entities": [{"name": "Řád", "type": "REGULATION", "description": "One."}]},
        row | {"page": "urn:p2", "entities": [{"name": "ŘÁD", "type": "REGULATION", "description": "Two."}]},
        row | {"page": "urn:p3", "entities": [{"name": "Řád", "type": "CONCEPT", "description": ""}]},
    ]
    one, other = (Readings(iri, {"title": iri, "name": iri}, pages, REGULATORY) for iri in ("urn:a", "urn:b"))
    things = {s.value for s, p, _ in one.statements if p.value.endswith("has_type")}
    assert len(things) == 2
    assert not things & {s.value for s, p, _ in other.statements if p.value.endswith("has_type")}


# Asking a model


class Pages:
    """Images that a scripted model is asked about, and what came of them."""

    def __init__(self, folder: Path, **limits: object) -> None:
        self.folder, self.limits = folder, limits

    def read(self, *documents: int) -> tuple[list[list[str]], ModelPool]:
        """The status of each page of documents of so many pages."""
        number, paths = 0, list[list[Path | None]]()
        for count in documents:
            paths.append([])
            for _ in range(count):
                number += 1
                path = self.folder / f"{number}.png"
                path.write_bytes(image("PNG", (10 + number, 10)))
                paths[-1].append(path)
        model = LiteLLM("openai/scripted", self.address)
        pool = ModelPool(model, self.folder / "cache", workers=1, seconds=120, **{"tries": 1, **self.limits})
        found = Extractor(pool, METHOD.extraction, "regulatory").read(paths, SilentProgress())
        return [[one.status for one in pages] for pages in found], pool

    address = ""


EMPTY = reply([], [])
BAD = ("nonsense", "nonsense again")  # a reply, and the repaired one


@pytest.mark.parametrize(
    ("replies", "expected"),
    [
        ((*BAD, *BAD, *BAD, EMPTY), "failed failed failed stopped stopped"),
        ((*BAD, *BAD, EMPTY, *BAD, *BAD), "failed failed read failed failed"),
        (("nonsense", EMPTY, EMPTY, EMPTY, EMPTY, EMPTY), "read read read read read"),
    ],
)
def test_three_failures_in_a_row_end_a_document_and_nothing_else(
    tmp_path: Path, replies: tuple[str, ...], expected: str
) -> None:
    with scripted(*replies, EMPTY) as script:
        pages = Pages(tmp_path)
        pages.address = script.address
        (first, second), _ = pages.read(5, 1)
    assert first == expected.split()
    assert second == ["read"]


def test_a_rerun_asks_only_for_what_is_missing(tmp_path: Path) -> None:
    with scripted(EMPTY, *BAD, EMPTY) as script:
        pages = Pages(tmp_path)
        pages.address = script.address
        assert pages.read(3)[0] == [["read", "failed", "read"]]
        asked = len(script.requests)
        assert pages.read(3)[0] == [["read", "read", "read"]]
        assert len(script.requests) == asked + 1


def test_no_page_is_asked_for_beyond_the_ceiling(tmp_path: Path) -> None:
    with scripted(EMPTY) as script:
        pages = Pages(
            tmp_path, tokens=7000
        )  # a reply may take 8,000, and no request is sent that may go beyond
        pages.address = script.address
        (statuses,), pool = pages.read(4)
    assert (statuses, script.requests) == (["left"] * 4, [])
    assert "ceiling" in pool.why


def read(context: BuildContext) -> list[Outcome]:
    """Make images and readings, as the layer of a build does."""
    return [
        outcome
        for made_by in (PAGE_IMAGES, PAGE_EXTRACTIONS)
        for outcome in run_chunks(made_by, context, chunks_of(context, made_by.artifact))
    ]


def lacking(outcomes: list[Outcome]) -> int:
    """Pages that a model was asked for in vain."""
    return sum(int(one.record.stats.get("lacking", 0)) for one in outcomes)


def test_a_model_is_told_the_image_and_all_types_in_one_message(tmp_path: Path) -> None:
    project = make_regulation(tmp_path / "p", model="openai/scripted")
    with scripted() as script:
        read(project.context())
    assert len(script.requests) == len(PAGES)
    for request in script.requests:
        assert request["temperature"] == 0 and request["max_tokens"] == 8000 and "tools" not in request
        (message,) = request["messages"]
        shown, told = message["content"]
        assert (message["role"], shown["type"], told["type"]) == ("user", "image_url", "text")
        head, _, data = shown["image_url"]["url"].partition(",")
        assert head == "data:image/png;base64"
        with Image.open(io.BytesIO(base64.b64decode(data))) as sent:
            assert abs(sent.width - 595 / 72 * 150) <= 1 and abs(sent.height - 842 / 72 * 150) <= 1
        assert all(f"- {name}" in told["text"] for name in (*REGULATORY.entities, *REGULATORY.relationships))
        assert not any(
            line in json.dumps(request, ensure_ascii=False) for line in PAGES[1].split("\n") if line
        )


def test_what_failed_is_asked_for_when_the_data_set_is_built_next_and_nothing_twice(tmp_path: Path) -> None:
    project = make_regulation(tmp_path / "p", model="openai/scripted")
    context = project.context()
    with scripted(REPLIES[0], *BAD, REPLIES[2]):
        assert lacking(read(context)) == 1
    with scripted(REPLIES[1]) as script:
        assert lacking(read(context)) == 0
        assert len(script.requests) == 1
        assert made(read(context)) == []
    rows = page_rows(context, READINGS, "readings")
    assert [row["status"] for row in rows] == ["read"] * 3


def test_what_was_not_read_is_found_by_a_check(tmp_path: Path) -> None:
    project = make_regulation(tmp_path / "p", model="openai/scripted")
    (project.root / "another.pdf").write_bytes(pdf(PAGES[0])[:900])
    with scripted(REPLIES[0], *BAD, REPLIES[2]):
        read(project.context())
    found = pages_are_read(project.context())
    assert not found.holds and (found.counts["refused"], found.counts["unread"]) == (1, 1)
    assert (
        "another.pdf: " in found.remedy and "regulation.pdf, p. 2: the model did not read it" in found.remedy
    )
    with scripted(REPLIES[1]):
        read(project.context())
    assert pages_are_read(project.context()).counts["unread"] == 0


def test_a_new_document_alone_is_rendered_and_asked_for(tmp_path: Path) -> None:
    project = make_regulation(tmp_path / "p", model="openai/scripted")
    context = project.context()
    with scripted():
        read(context)
    (project.root / "another.pdf").write_bytes(pdf("A page that was not there before."))
    with scripted(reply([("JN 4410", "STANDARD", "")], [])) as script:
        images, readings = (one.record.stats for one in read(context))
    assert (images["documents"], images["kept"], len(script.requests)) == (2, 1, 1)
    assert (readings["read"], readings["kept"], readings["asked"]) == (4, 3, 1)


@pytest.fixture
def instance() -> Iterator[DagsterInstance]:
    with DagsterInstance.ephemeral() as found:
        yield found


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Twelve documents of a page, in eight chunks."""
    monkeypatch.setattr(step, "DOCUMENTS", 2)
    project = make_regulation(tmp_path / "p", model="openai/scripted")
    for number in range(11):
        (project.root / f"{number}.pdf").write_bytes(pdf(f"The shelf numbered {number} holds letters."))
    (project.root / "regulation.pdf").write_bytes(pdf("The rules of the shelves."))
    return project


def test_documents_are_made_in_chunks_by_the_hash_of_their_names(shelf: Project) -> None:
    context = shelf.context()
    keys = chunks_of(context, "page_images")
    assert keys == chunk_keys(3)
    with scripted(EMPTY):
        read(context)
    where = {
        one["name"]: chunk
        for chunk in keys
        for one in load(context.folder("page_images", chunk), "documents")
    }
    assert set(where) == {path.name for path in shelf.root.glob("*.pdf")}
    assert all(
        int(hashlib.sha256(name.encode()).hexdigest()[:2], 16) // 32 == int(chunk, 16) // 32
        for name, chunk in where.items()
    )
    one = "7.pdf"
    (shelf.root / one).write_bytes(pdf("The shelf numbered 7 was sold."))
    with scripted(EMPTY) as script:
        assert made(read(context)) == [f"page_images/{where[one]}", f"page_extractions/{where[one]}"]
    assert len(script.requests) == 1, "of its chunk, only what has changed"


def test_the_ceiling_is_of_all_chunks_together(shelf: Project) -> None:
    file = shelf.config / "datasets.yaml"
    declared = yaml.safe_load(file.read_text(encoding="utf-8"))
    make_all(PAGE_IMAGES, shelf.context())
    first, *_ = sorted(shelf.context().store.folder("page_images").rglob("*.png"))
    pool = ModelPool(LiteLLM("openai/scripted"))
    most = Extractor(pool, METHOD.extraction, "regulatory").request(first).estimate().tokens + 45
    declared["datasets"]["churches"]["model_calls"] = {"workers": 1, "tokens": most}
    file.write_text(yaml.safe_dump(declared), encoding="utf-8")
    with scripted(EMPTY) as script:
        outcomes = read(shelf.context())
    stats = [one.record.stats for one in outcomes if one.record.artifact == READINGS]
    assert len(script.requests) == 5, "each takes 10 tokens, and no further one might take its most"
    assert lacking(outcomes) == 7 and sum(one["asked"] for one in stats) == 5
    assert sum(one["model_tokens"] for one in stats) == 50 and "ceiling" in stats[-1]["why"]


@pytest.mark.parametrize("stage", ["during", pytest.param("after", marks=pytest.mark.slow)])
def test_a_build_that_is_stopped_asks_no_page_twice(shelf: Project, stage: str) -> None:
    context = shelf.context()
    with scripted(EMPTY) as script:
        with failing_at(f"page_extractions:40:{stage}"), pytest.raises(FailPoint):
            read(context)
        first = len(script.requests)
        again = made(read(context))
    assert 0 < first < 12 == len(script.requests)
    assert "page_extractions/00" not in again and not any(one.startswith("page_images") for one in again)
    assert made(read(context)) == []


@pytest.mark.slow
def test_chunks_that_are_not_needed_any_more_go(shelf: Project, instance: DagsterInstance) -> None:
    with scripted(EMPTY):
        build(shelf, instance)
    assert instance.get_materialized_partitions(AssetKey("page_extractions")) == {
        f"{chunk}|churches" for chunk in chunk_keys(3)
    }
    for number in range(4):
        (shelf.root / f"{number}.pdf").unlink()
    with scripted(EMPTY) as script:
        build(shelf, instance)
    assert not script.requests
    assert shelf.context().store.chunks("page_images") == chunk_keys(2)
    with Client(shelf.data) as client:
        assert client.ask("Which pages are there?", dataset="churches").set.size == 8


@pytest.mark.slow
def test_pages_that_are_lacking_are_told_by_every_build(tmp_path: Path, instance: DagsterInstance) -> None:
    project = make_regulation(tmp_path / "p", model="openai/scripted")
    with scripted(REPLIES[0], *BAD, REPLIES[2], *BAD):
        told = [build(project, instance).warnings for _ in range(2)]
    assert all("regulation.pdf, p. 2: the model did not read it" in "".join(one) for one in told)
    with scripted(REPLIES[1]):
        assert not any("did not read" in one for one in build(project, instance).warnings)


def test_what_reading_takes_is_told_before_it_is_asked(tmp_path: Path) -> None:
    project = make_regulation(tmp_path / "p", model="openai/gpt-4o")
    make_all(PAGE_IMAGES, project.context())
    (told,) = readings_foreseen(project.context())
    assert told.startswith("3 for openai/gpt-4o, at most ") and "at most $0." in told
    (tmp_path / "q").mkdir()
    assert list(readings_foreseen(make_regulation(tmp_path / "q" / "p").context())) == []


def test_the_published_types_are_those_of_the_profile() -> None:
    assert " ".join(REGULATORY.entities) == (
        "REGULATION STANDARD SECTION ORGANIZATION PERSON CONCEPT REQUIREMENT FACILITY ROLE DOCUMENT"
    )
    assert " ".join(REGULATORY.relationships) == (
        "DEFINES REFERENCES AMENDS REQUIRES REGULATES PART_OF APPLIES_TO SUPERVISES AUTHORED_BY"
    )


@pytest.mark.parametrize("name", METHOD.extraction.profiles)
def test_profiles_map_to_classes_and_properties_that_there_are(name: str) -> None:
    profile: Profile = METHOD.extraction.profiles[name]
    table = (Path("config") / "ontology" / "cidoc_crm_7.1.3.csv").read_text(encoding="utf-8")
    terms = [one.crm_class for one in profile.entities.values()]
    for one in profile.relationships.values():
        terms += [*one.path, *([one.property] if one.property else [])]
    assert all(f"/{term}," in table for term in terms)


# What was read, in a release


def test_what_was_read_stands_in_a_graph_of_its_document_with_page_model_and_prompt(
    regulation: Project,
) -> None:
    context = regulation.context()
    rows = page_rows(context, READINGS, "statements")
    supervises = [one for one in rows if one["p"].endswith("SUPERVISES")]
    assert [one["page"] for one in supervises] == ["urn:pages:regulation.pdf_p002"]
    (one,) = supervises
    with Client(regulation.data) as client:
        told = client.lineage(one["s"], one["p"], one["o"])
        (graph,) = told.graphs
        about = client.entity(graph)
    assert graph.startswith(READ_GRAPH) and [page.label for page in told.pages] == ["regulation, p. 2"]
    assert about.label == "regulation as read by openai/scripted"
    said = {fact.value for fact in about.literals}
    assert "regulation.pdf" in said and any(text.startswith("openai/scripted, prompt 1-") for text in said)


def test_a_second_build_makes_nothing_again_and_asks_nothing(regulation_copy: Project) -> None:
    with scripted() as script:
        assert made(build_all(regulation_copy.context())) == []
    assert not script.requests


def test_a_pdf_that_another_program_wrote_is_read_alike(tmp_path: Path) -> None:
    """The file that these tests write, saved by PDFium itself."""
    document = pypdfium2.PdfDocument(pdf(*PAGES))
    out = io.BytesIO()
    document.save(out)
    found = rendered(tmp_path, "saved.pdf", out.getvalue())
    assert [page.text.split() for page in found.pages] == [text.split() for text in PAGES]
