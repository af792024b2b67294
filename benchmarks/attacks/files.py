"""RDF files that are broken, or mean harm."""

from __future__ import annotations

import bz2
import gzip
import os
import random
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyoxigraph as ox

from attacks.record import Record, aside
from tests.support.builds import turtle


def read(file: Path, scratch: Path) -> None:
    """Read a file as a build does first of all."""
    from crmrag_assets.build.step import SilentProgress
    from crmrag_assets.sources.rdf.kind import RdfFiles
    from crmrag_query.config import load_method

    scratch.mkdir()
    RdfFiles((file,), load_method(), base_iri="http://example.org/").discover(scratch, SilentProgress())


def bombs() -> Iterator[tuple[str, bytes]]:
    """Small files that become large, deep or long."""
    deep = 200_000
    rdf = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'
    laughs = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10 if n else "ha" * 50}">' for n in range(10))
    for name, entities, said in (
        ("entities", laughs, "&a9;"),
        ("entity of megabytes", f'<!ENTITY a "{"x" * 1_000_000}">', "&a;" * 10_000),
        ("entity of a file", '<!ENTITY a SYSTEM "file:///etc/passwd">', "&a;"),
    ):
        body = f'{rdf}<rdf:Description rdf:about="http://e/a"><e:p>{said}</e:p></rdf:Description></rdf:RDF>'
        yield f"{name}.rdf", f"<?xml version='1.0'?><!DOCTYPE r [{entities}]>{body}".encode()
    yield "deep.rdf", (rdf + "<e:A><e:p>" * deep + "</e:p></e:A>" * deep + "</rdf:RDF>").encode()
    deep = 50_000  # blank nodes are told apart by what they lead to, which takes seconds
    yield (
        "deep blank nodes.ttl",
        b"<http://e/a> <http://e/p> " + b"[<http://e/p> " * deep + b"1" + b"]" * deep + b".",
    )
    yield "deep lists.ttl", b"<http://e/a> <http://e/p> " + b"(" * deep + b")" * deep + b"."
    deep = 200_000
    yield "deep quoted triples.ttl", b"<< " * deep + b"<http://e/a> <http://e/p> 1" + b" >>" * deep + b"."
    yield "deep.jsonld", b'{"http://e/p":' * deep + b"1" + b"}" * deep
    yield "deep arrays.jsonld", b"[" * deep + b"]" * deep
    yield "context elsewhere.jsonld", b'{"@context": "http://127.0.0.1:9/context", "@id": "http://e/a"}'
    for form in ("nt", "ttl"):
        yield f"long literal.{form}", b'<http://e/a> <http://e/p> "' + b"x" * (17 << 20) + b'" .\n'
        yield f"never ends.{form}", b'<http://e/a> <http://e/p> """' + b"x\n" * (1 << 20)
    yield "long.rdf", f"{rdf}<e:A><e:p>{'x' * (17 << 20)}</e:p></e:A></rdf:RDF>".encode()
    line = b"#" * (64 << 20) + b"\n"
    yield "packed.nt.gz", gzip.compress(line, 9) * 128
    yield "packed.nt.bz2", bz2.compress(line) * 128
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as packed:
        for _ in range(128):
            packed.write(line)
    yield "packed.nt.zst", sink.getvalue().to_pybytes()


def broken(chance: random.Random, each: int) -> Iterator[tuple[str, bytes]]:
    """A good file of each format, cut, with bits flipped, bytes put in, or parts of it moved."""
    quads = list(ox.parse(turtle(), format=ox.RdfFormat.TURTLE))
    forms = {
        "ttl": "TURTLE",
        "nt": "N_TRIPLES",
        "nq": "N_QUADS",
        "trig": "TRIG",
        "rdf": "RDF_XML",
        "jsonld": "JSON_LD",
    }
    for extension, form in forms.items():
        triples = [q.triple for q in quads] if form in ("TURTLE", "N_TRIPLES", "RDF_XML") else quads
        good = ox.serialize(triples, format=getattr(ox.RdfFormat, form)) or b""
        for number in range(each):
            yield f"{number}.{extension}", spoilt(good, chance)


def spoilt(good: bytes, chance: random.Random) -> bytes:
    """The bytes with one to four faults."""
    bad = bytearray(good)
    for _ in range(chance.randint(1, 4)):
        at, to = sorted(chance.randrange(len(bad) + 1) for _ in range(2))
        match chance.randrange(4):
            case 0:
                del bad[chance.choice([at, to]) :]
            case 1 if at < len(bad):
                bad[at] ^= 1 << chance.randrange(8)
            case 2:
                bad[at:at] = chance.choice(
                    [b"\x00", b"\xff\xfe", b'"', b"<", b"\\u12", b"{", chance.randbytes(20)]
                )
            case _:
                bad[at:at] = bad[at : min(to, at + 500)]
    return bytes(bad)


def attack_files(record: Record, folder: Path, chance: random.Random, each: int) -> None:
    def tried(made: tuple[str, bytes]) -> tuple[str, str, float, float]:
        name, content = made
        with tempfile.TemporaryDirectory(dir=folder) as own:
            file = Path(own) / name
            file.write_bytes(content)
            return name, *aside(read, file, Path(own) / "scratch")

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for kind, made in (("bombs", bombs()), ("broken files", broken(chance, each))):
            for came in pool.map(tried, made):
                record.add("files", kind, *came)
