"""JSON-LD that names its context by an address: the same triples as with the context in its place, offline."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from crmrag_assets.harvest.report import Tally
from crmrag_assets.sources.look import first_statements
from crmrag_assets.sources.rdf.lines import SHIPPED, WithContexts, read_statements
from crmrag_assets.sources.spooled import JSON_LD, ByteStream
from crmrag_query.cli.datasets import datasets
from crmrag_query.config import load_datasets, load_method
from crmrag_query.config.datasets import parse_dataset
from crmrag_query.errors import SourceError

(LINKED_ART,) = SHIPPED
CONTEXT: dict[str, Any] = json.loads(SHIPPED[LINKED_ART].read_text(encoding="utf-8"))["@context"]
RECORD: dict[str, Any] = {
    "id": "http://e.org/vase", "type": "HumanMadeObject", "_label": 'A \\"@context\\": "x" vase',
    "identified_by": [{"type": "Name", "content": "Vase"}, {"type": "Identifier", "content": "1.2"}],
    "produced_by": {"type": "Production", "carried_out_by": [{"id": "http://e.org/amasis", "type": "Person"}],
        "timespan": {"type": "TimeSpan", "begin_of_the_begin": "-0540-01-01T00:00:00Z"}},
    "made_of": [{"id": "http://e.org/clay", "type": "Material"}], "part": [{"type": "HumanMadeObject", "_label": "Lid"}],
    "conforms_to": [{"id": LINKED_ART, "type": "InformationObject"}],
}  # fmt: skip
OWN = "http://e.org/own.json"


def quads(path: Path, value: object, contexts: dict[str, Path] | None = None) -> list[str]:
    """What is read of a value as JSON-LD; blank nodes by where they first stand."""
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    with ByteStream(path) as stream:
        found = [str(quad) for quad in read_statements(stream, JSON_LD, "", Tally(), contexts or {})]
    names: dict[str, str] = {}
    return [re.sub(r"_:\w+", lambda one: names.setdefault(one[0], f"_:{len(names)}"), text) for text in found]


def with_context(context: object) -> dict[str, Any]:
    return {"@context": context} | RECORD


def test_linked_art_is_read_by_its_address_as_with_its_context_inlined(tmp_path: Path) -> None:
    inlined = quads(tmp_path / "inlined.jsonld", with_context(CONTEXT))
    assert len(inlined) > 15 and any("P108i_was_produced_by" in one for one in inlined)
    for address in (LINKED_ART, LINKED_ART.replace("https", "http")):
        assert quads(tmp_path / "a.jsonld", with_context(address)) == inlined
    assert quads(tmp_path / "b.jsonld", with_context([LINKED_ART])) == inlined
    many = [with_context(LINKED_ART) | {"id": f"http://e.org/{n}"} for n in range(30)]
    assert len(quads(tmp_path / "c.jsonld", many)) == 30 * len(inlined)


def test_a_declared_file_stands_in_for_any_other_address(tmp_path: Path) -> None:
    own = tmp_path / "own.json"
    own.write_text(
        '{"@context": {"madeBy": {"@id": "http://e.org/madeBy", "@type": "@id"}}}', encoding="utf-8"
    )
    value = {
        "@context": [LINKED_ART, OWN],
        "id": "http://e.org/1",
        "type": "Person",
        "madeBy": "http://e.org/2",
    }
    found = quads(tmp_path / "data.jsonld", value, {OWN: own})
    assert "<http://e.org/1> <http://e.org/madeBy> <http://e.org/2>" in found and len(found) == 2


@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
def test_an_address_is_found_however_the_bytes_come(size: int) -> None:
    text = json.dumps([with_context(LINKED_ART)] * 3).encode()
    parts = iter([text[at : at + size] for at in range(0, len(text), size)])
    stream = WithContexts(lambda _: next(parts, b""), {})
    read = b"".join(iter(lambda: stream.read(500), b""))
    assert json.loads(read) == [with_context(CONTEXT)] * 3


def test_a_check_reads_the_first_statements_and_names_the_context_that_is_missing(tmp_path: Path) -> None:
    (tmp_path / "a.jsonld").write_text(json.dumps(with_context(LINKED_ART)), encoding="utf-8")
    (tmp_path / "b.jsonld").write_text(json.dumps(with_context(OWN)), encoding="utf-8")
    (tmp_path / "c.nt").write_text(
        "<http://e.org/1> <http://e.org/2> oops .\n<http://e.org/1> <http://e.org/2> <http://e.org/3> .\n"
    )
    (tmp_path / "d.ttl").write_text("# nothing\n")
    config = parse_dataset(
        "vases", {"rdf": ["*.jsonld", "*.nt", "*.ttl"]}, tmp_path / "config" / "datasets.yaml"
    )
    missing, broken, empty = first_statements(config, load_method())
    assert OWN in missing and f"--context {OWN}=FILE" in missing
    assert "c.nt: 1 of the first" in broken and "d.ttl: there is no statement" in empty


def test_a_context_is_declared_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text('{"@context": {}}', encoding="utf-8")
    (tmp_path / "data.jsonld").write_text("{}", encoding="utf-8")
    file = tmp_path / "config" / "datasets.yaml"
    asked = ["add", "vases", "--rdf", "data.jsonld", "--context", f"{OWN}=own.json", "--file", str(file)]
    told = CliRunner().invoke(datasets, asked)
    assert told.exit_code == 0, told.output
    assert load_datasets(file)["vases"].sources[0].config.context_files(tmp_path) == {
        OWN: tmp_path / "own.json"
    }
    told = CliRunner().invoke(
        datasets, ["add", "cups", "--rdf", "data.jsonld", "--context", OWN, "--file", str(file)]
    )
    assert told.exit_code == 2 and "ADDRESS=FILE" in told.output


@pytest.mark.parametrize(
    "content, told",
    [
        ("{", "is no JSON-LD context"),
        ('{"terms": {}}', "is no JSON-LD context"),
        ('{"@context": ["http://e.org/other.json", {}]}', "http://e.org/other.json"),
        ('{"@context": "http://e.org/other.json"}', "http://e.org/other.json"),
    ],
)
def test_a_file_that_cannot_stand_in_for_a_context_is_named(tmp_path: Path, content: str, told: str) -> None:
    own = tmp_path / "own.json"
    own.write_text(content, encoding="utf-8")
    with pytest.raises(SourceError, match=re.escape(told)) as raised:
        quads(tmp_path / "data.jsonld", with_context(OWN), {OWN: own})
    assert "own.json" in str(raised.value)
