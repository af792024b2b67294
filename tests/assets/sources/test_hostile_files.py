"""Files made to exhaust whoever reads them end with an error that names them, in little memory and time."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from crmrag_assets.build.step import SilentProgress
from crmrag_assets.sources import spooled as streams
from crmrag_assets.sources.rdf.kind import RdfFiles
from crmrag_query.config.loading import load_method
from crmrag_query.errors import OntologyError, SourceError
from crmrag_query.ontology.load import extract

CRM = "http://www.cidoc-crm.org/cidoc-crm/"
RDF = f'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:crm="{CRM}"'
DEEP, LONG = 60_000, 17 << 20
ENTITIES = '<!ENTITY a0 "aaaaaaaaaa">' + "".join(
    f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10)
)
CHURCH = f"""<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [ <!ENTITY crm "{CRM}" > <!ENTITY xsd "http://www.w3.org/2001/XMLSchema#" > ]>
<rdf:RDF {RDF}><crm:E22_Human-Made_Object rdf:about="http://x/1"><crm:P2_has_type rdf:resource="&crm;t"/>
<crm:P3_has_note rdf:datatype="&xsd;string">a &#38; b</crm:P3_has_note></crm:E22_Human-Made_Object></rdf:RDF>"""


TERM = f"<<( <http://x/1> <{CRM}P1> "


def note(text: str) -> str:
    return f'<rdf:RDF {RDF}><crm:E1 rdf:about="http://x/1"><crm:P3_has_note>{text}</crm:P3_has_note></crm:E1></rdf:RDF>'


FILES = {
    "entities.rdf": f"<!DOCTYPE rdf:RDF [{ENTITIES}]>{note('&a9;')}",
    "elements.rdf": f"<rdf:RDF {RDF}>{'<crm:E1><crm:P1>' * DEEP}",
    "objects.jsonld": '{"@context":{"p":"http://x/p"},"@id":"http://x/1","p":'
    + '{"p":' * DEEP
    + "1"
    + "}" * (DEEP + 1),
    "terms.ttl": f"<http://x/1> <{CRM}P1> " + TERM * DEEP + "1" + " )>>" * DEEP + " .",
    "terms.nt": f"<http://x/1> <{CRM}P1> " + TERM * DEEP + '"1"' + " )>>" * DEEP + " .\n",
    "long.ttl": f'<http://x/1> <{CRM}P3_has_note> "{"a" * LONG}" .',
    "long.rdf": note("a" * LONG),
    "long.jsonld": f'{{"@id":"http://x/1","{CRM}P3_has_note":"{"a" * LONG}"}}',
    "long.nt": f'<http://x/1> <{CRM}P3_has_note> "\\u0041{"a" * LONG}" .\n',
}
SAID = {
    "entities.rdf": "entities.rdf is not read: its entity 'a1' is made of other entities. Write it without a DTD",
    "elements.rdf": "elements.rdf is not read: it nests more than 1,000 deep. Write it as N-Triples, or flatter",
    "objects.jsonld": "objects.jsonld is not read: it nests more than 100 deep.",
    "terms.ttl": "terms.ttl is not read: it nests more than 100 deep.",
    "terms.nt": "Nothing in {folder}/terms.nt can be read as N-Triples. First fault: terms.nt, line 1: it nests more than",
    "long.ttl": "long.ttl is not read: it has a value of over 16 MiB, more than the parser takes. Leave that value out",
    "long.rdf": "long.rdf is not read: it has a value of over 16 MiB",
    "long.jsonld": "long.jsonld is not read: it has a value of over 16 MiB",
    "long.nt": "First fault: long.nt, line 1: it has a value of over 16 MiB",
}
READER = """
import json, os, resource, sys, tempfile
from pathlib import Path
from crmrag_assets.build.step import SilentProgress
from crmrag_assets.sources.rdf.kind import RdfFiles
from crmrag_query.config.loading import load_method

method = load_method()
for path in sorted(Path(sys.argv[1]).iterdir()):
    if os.fork():
        os.wait()
        continue
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + (1 << 30),) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        with tempfile.TemporaryDirectory() as folder:
            RdfFiles((path,), method, root=path.parent).discover(Path(folder), SilentProgress())
        said = "it was read"
    except BaseException as error:
        said = f"{type(error).__name__} {error}"
    print(json.dumps([path.name, said]), flush=True)
    os._exit(0)
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What reading each file ended with, each in a process that may take a gigabyte and a minute; nothing if that is dead."""
    folder = tmp_path_factory.mktemp("hostile")
    for name, content in FILES.items():
        (folder / name).write_text(content, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", READER, str(folder)], capture_output=True, text=True, check=True
    )
    return {
        name: text.replace(str(folder), "{folder}")
        for name, text in map(json.loads, done.stdout.splitlines())
    }


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_is_refused_by_name(said: dict[str, str], name: str) -> None:
    assert said.get(name, "the process died").startswith("SourceError ")
    assert SAID[name] in said[name]


def discovered(path: Path, folder: Path) -> int:
    folder.mkdir()
    return RdfFiles((path,), load_method(), root=path.parent).discover(folder, SilentProgress()).triples


def test_entities_for_namespaces_are_read(tmp_path: Path) -> None:
    (tmp_path / "church.rdf").write_text(CHURCH, encoding="utf-8")
    assert discovered(tmp_path / "church.rdf", tmp_path / "d") == 3


@pytest.mark.parametrize(("codec", "extension"), [("gzip", "gz"), ("bz2", "bz2"), ("zstd", "zst")])
def test_a_file_that_expands_too_much_is_refused(tmp_path: Path, codec: str, extension: str) -> None:
    path = tmp_path / f"bomb.ttl.{extension}"
    with pa.CompressedOutputStream(str(path), codec) as packed:
        for _ in range(40):
            packed.write(b" " * (1 << 20))
    with pytest.raises(
        SourceError, match=r"bomb\.ttl\..* expands to over 16 MiB, from [\d,]+ bytes.*unpack it"
    ):
        discovered(path, tmp_path / "d")


def test_a_file_that_compresses_well_is_read(tmp_path: Path) -> None:
    lines = "".join(f'<http://x/{n}> <{CRM}P3_has_note> "note {n}" .\n' for n in range(300_000)).encode()
    assert len(lines) > streams.UNJUDGED
    (tmp_path / "a.nt.gz").write_bytes(gzip.compress(lines, 1))
    with streams.ByteStream(tmp_path / "a.nt.gz") as stream:
        assert stream.read() == lines


def test_the_size_of_what_is_unpacked_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MOST", 1 << 21)
    (tmp_path / "a.nt.gz").write_bytes(gzip.compress(bytes(3 << 20)))
    with (
        streams.ByteStream(tmp_path / "a.nt.gz") as stream,
        pytest.raises(SourceError, match="expands to over 2 MiB"),
    ):
        stream.read()


@pytest.mark.parametrize("name", ["entities.rdf", "elements.rdf", "terms.ttl"])
def test_an_ontology_file_keeps_to_the_same_bounds(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    with pytest.raises(OntologyError, match=r"is not read: it(s entity| nests)"):
        extract([tmp_path / name])
