"""Harvesting a local endpoint against one SELECT of everything it holds.

    python benchmarks/endpoint.py FILE [--rounds 9] [--parallel 2]

Serves FILE (any RDF format, plain or compressed) from Oxigraph over plain HTTP in a process of its own. Then, round by round:
reads `SELECT ?s ?p ?o WHERE { ?s ?p ?o }` (TSV, to its last byte, and to rows of terms), and harvests the endpoint as a
build does, from discovery to the last chunk on disk, without pauses between requests. Prints one JSON line: triples,
the median seconds of each, their ratio, requests, and whether the chunks are those of the file, byte for byte.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlencode
from urllib.request import Request, urlopen

import pyoxigraph as ox

from crmrag_assets.build.step import SilentProgress, chunk_keys
from crmrag_assets.harvest.prefetch import TRIPLES_FILE, prefetch_chunk, write_prefetch
from crmrag_assets.harvest.source import Source
from crmrag_assets.sources.endpoint.client import Client
from crmrag_assets.sources.endpoint.kind import SparqlEndpoint
from crmrag_assets.sources.rdf.kind import RdfFiles
from crmrag_assets.sources.spooled import ByteStream, format_of
from crmrag_query.config import load_method
from crmrag_query.config.sources import EndpointConfig

EVERYTHING = "SELECT ?s ?p ?o WHERE { ?s ?p ?o }"
METHOD = load_method()


def read_all(url: str) -> float:
    """Seconds to transfer everything."""
    form = urlencode({"query": EVERYTHING}).encode()
    start = time.perf_counter()
    with urlopen(Request(url, form, {"Accept": "text/tab-separated-values"})) as response:
        response.read()
    return time.perf_counter() - start


def select_all(config: EndpointConfig) -> tuple[float, int]:
    """Seconds to have everything as rows of terms, and their number."""
    client = Client(config, config.resolved(METHOD.requests))
    start = time.perf_counter()
    rows = client.rows(EVERYTHING)
    return time.perf_counter() - start, len(rows)


def harvest(source: Source, folder: Path) -> tuple[float, dict[str, bytes], int]:
    """Seconds, every chunk's triples as on disk, and requests."""
    start = time.perf_counter()
    found = source.discover(folder, SilentProgress())
    requests, written = found.gathered.traffic.requests, {}
    for chunk in chunk_keys(found.bits):
        table, report = prefetch_chunk(source, folder, chunk, found.bits, METHOD)
        (folder / chunk).mkdir()
        write_prefetch(table, report, folder / chunk)
        requests += report.gathered.traffic.requests
        written[chunk] = folder / chunk / TRIPLES_FILE
    seconds = time.perf_counter() - start
    return seconds, {chunk: path.read_bytes() for chunk, path in written.items()}, requests


class Handler(BaseHTTPRequestHandler):
    """As little between a client and the store as SPARQL's protocol allows."""

    store: ox.Store

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        body = self.store.query(form["query"][0]).serialize(format=ox.QueryResultsFormat.TSV) or b""
        self.send_response(200)
        self.send_header("Content-Type", "text/tab-separated-values")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def serve(file: Path) -> None:
    """Serve the file and print the address, until the process is ended."""
    Handler.store = ox.Store()
    with ByteStream(file) as stream:
        Handler.store.bulk_load(stream.read(), format_of(file))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}/sparql", flush=True)
    server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--parallel", type=int, default=METHOD.requests.parallel)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.file)
        return
    command = [sys.executable, __file__, str(options.file), "--serve"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        config = EndpointConfig.model_validate(
            {"url": url, "requests": {"pause_seconds": 0, "parallel": options.parallel}}
        )
        print(json.dumps(measured(options.file, config, options.rounds)))
    finally:
        server.terminate()
        server.wait()


def measured(file: Path, config: EndpointConfig, rounds: int) -> dict[str, object]:
    transfers, selects, harvests = [], [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            (work / "discovery").mkdir()
            transfers.append(read_all(config.url))
            seconds, rows = select_all(config)
            selects.append(seconds)
            source = SparqlEndpoint(config, METHOD, work)
            seconds, over_http, requests = harvest(source, work / "discovery")
            harvests.append(seconds)
    with tempfile.TemporaryDirectory() as folder:
        _, from_file, _ = harvest(RdfFiles((file,), METHOD), Path(folder))
    return {
        "triples": rows,
        "select_transfer_s": round(statistics.median(transfers), 2),
        "select_rows_s": round(statistics.median(selects), 2),
        "harvest_s": round(statistics.median(harvests), 2),
        "ratio": round(statistics.median(harvests) / statistics.median(selects), 2),
        "requests": requests,
        "chunks": len(from_file),
        "same_bytes": over_http == from_file,
    }


if __name__ == "__main__":
    main()
