"""Embeddings through litellm, over real HTTP to a scripted server that speaks OpenAI's protocol."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crmrag_assets.indexes.encoder import LiteLLMEncoder, embed_chunk, export_encoder
from crmrag_query.artifacts.release import Opener
from crmrag_query.config.datasets import EmbeddingConfig
from crmrag_query.errors import ModelError, ModelUnreachable
from crmrag_query.llm.loading import load_litellm
from crmrag_query.retrieval.encoder import EmbeddingApi, QueryEncoder, hash_vectors
from tests.support.api_server import answering, send

pytestmark = pytest.mark.filterwarnings("ignore")  # litellm's and its dependencies' own

DIMENSION = 16


@dataclass
class EmbeddingServer:
    """Answers with three times the stand-in's vectors, last text first; first with the statuses in ``failures``."""

    address: str = ""
    failures: list[int] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    drop: int = 0
    dimension: int = 0  # of its vectors, whatever is asked for; 0: as asked for

    def answer(self, request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.requests.append(request)
        if self.failures:
            return self.failures.pop(0), {
                "error": {"message": "scripted failure for not-a-key", "code": "scripted"}
            }
        vectors = 3 * hash_vectors(request["input"], self.dimension or request.get("dimensions", DIMENSION))
        rows = [{"object": "embedding", "index": n, "embedding": v.tolist()} for n, v in enumerate(vectors)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return 200, {"object": "list", "data": rows[::-1][self.drop :], "model": "scripted", "usage": usage}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    script = EmbeddingServer()

    def answer(handler: BaseHTTPRequestHandler) -> None:
        request = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        status, told = script.answer(request)
        send(handler, status, "application/json", json.dumps(told).encode())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        load_litellm("A test")
    with answering(answer, "HTTP/1.0") as address:
        script.address = f"{address}/v1"
        yield script


def api(server: EmbeddingServer) -> EmbeddingApi:
    return EmbeddingApi("openai/scripted", server.address, batch=4, wait=0.01, timeout=20)


def test_texts_go_in_batches_and_come_back_in_order_as_unit_vectors(server: EmbeddingServer) -> None:
    texts = [f"icon {n}" for n in range(10)]
    np.testing.assert_allclose(api(server).encode(texts), hash_vectors(texts, DIMENSION), atol=1e-6)
    assert [len(request["input"]) for request in server.requests] == [4, 4, 2]


@pytest.mark.parametrize("status", [429, 503])
def test_a_passing_failure_is_tried_again(server: EmbeddingServer, status: int) -> None:
    server.failures = [status] * 4
    assert api(server).encode(["icon"]).shape == (1, DIMENSION)
    assert len(server.requests) == 5


def test_a_lasting_failure_names_model_and_remedy(server: EmbeddingServer) -> None:
    server.failures = [503] * 50
    with pytest.raises(ModelError, match=r"openai/scripted.*2 times.*resumes"):
        replace(api(server), attempts=2).encode(["icon"])
    assert 2 <= len(server.requests) <= 6  # the provider's client repeats too


def test_a_refusal_is_not_tried_again(server: EmbeddingServer) -> None:
    server.failures = [401] * 50
    with pytest.raises(ModelError, match=r"refused: Error code: 401 .*Its API key is not accepted") as caught:
        api(server).encode(["icon"])
    assert "scripted failure for …" in str(caught.value), "a server that repeats the key betrays it to nobody"
    assert len(server.requests) == 1


def test_a_key_that_is_not_there_is_named_at_once(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ModelError, match=r"needs an API key\. Set OPENAI_API_KEY in the env") as caught:
        api(server).encode(["icon"])
    assert not isinstance(caught.value, ModelUnreachable) and not server.requests


def test_vectors_of_another_length_than_before_are_an_error(server: EmbeddingServer) -> None:
    model = replace(api(server), model="openai/text-embedding-3-small", dimensions=8)
    encoder = LiteLLMEncoder(model, EmbeddingConfig())
    server.dimension = 12
    with pytest.raises(ModelError, match="gave vectors of 12 dimensions in place of 8"):
        encoder.encode(["icon"])


def test_an_answer_with_too_few_vectors_is_an_error(server: EmbeddingServer) -> None:
    server.drop = 1
    with pytest.raises(ModelError, match="1 vectors for 2 texts"):
        api(server).encode(["icon", "mural"])


def test_documents_are_embedded_and_questions_asked_of_the_same_api(
    server: EmbeddingServer, tmp_path: Path
) -> None:
    config = EmbeddingConfig(query_prefix="query: ", document_prefix="passage: ", window_tokens=50)
    encoder = LiteLLMEncoder(api(server), config)
    found = embed_chunk([(1, "icon"), (2, "mural\n" + "of the church " * 30)], encoder, tmp_path / "00.bin")
    assert found.windows.num_rows > 2
    assert all(text.startswith("passage: ") for request in server.requests[1:] for text in request["input"])
    exported = export_encoder(encoder, tmp_path / "encoders")
    assert [path.name for path in exported.folder.iterdir()] == ["encoder.json"]
    assert "not-a-key" not in (exported.folder / "encoder.json").read_text()
    opener = Opener.here([server.address.split("/")[2]])
    vector = QueryEncoder.open(exported.folder, opener).encode(["icon"])
    np.testing.assert_allclose(vector, hash_vectors(["query: icon"], DIMENSION), atol=1e-6)


def test_shorter_vectors_are_asked_for(server: EmbeddingServer) -> None:
    encoder = LiteLLMEncoder(
        replace(api(server), model="openai/text-embedding-3-small", dimensions=8), EmbeddingConfig()
    )
    assert encoder.encode(["icon"]).shape == (1, encoder.dimension) == (1, 8)
    assert server.requests[0]["dimensions"] == 8
