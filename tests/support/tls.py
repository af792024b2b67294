"""A certificate for a server of the tests."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest


def self_signed(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """What a server on localhost speaks TLS with, and the certificate, which a client may trust."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed, which makes the server's certificate")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    names = "subjectAltName=IP:127.0.0.1,DNS:localhost"
    command = [
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
    ]  # fmt: skip
    command += ["-subj", "/CN=localhost", "-addext", names, "-days", "2"]
    command += ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context, certificate
