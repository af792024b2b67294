"""Signatures of releases: minisign's, over the manifest, which pins every file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from crmrag_query.artifacts.manifest import MANIFEST, SIGNATURE, read_manifest, write_text
from crmrag_query.errors import ConfigError, MissingExtraError, ReleaseError

_REMEDY = f"Fetch it again, with its {SIGNATURE}, or sign it if it is yours: crmrag releases sign RELEASE --key FILE."


def make_key(path: Path) -> Path:
    """Write a new secret key without a password, for its owner alone, and beside it the public key, whose path is returned.

    ConfigError where a file is there already.
    """
    pair = _library().KeyPair.generate()
    public = path.with_name(path.name + ".pub")
    for file, key, mode in ((path, pair.secret_key, 0o600), (public, pair.public_key, 0o644)):
        try:
            with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as sink:
                sink.write(bytes(key) + b"\n")
        except OSError as error:
            raise ConfigError.single(
                file, "", f"no key can be written there ({error.strerror})", remedy="Name another file."
            ) from error
    return public


def sign_release(folder: Path, key: Path) -> Path:
    """Sign the manifest of a release with the secret key in a file; returns the signature's path.

    Raises ConfigError for what is no key, or one with a password; ReleaseError.
    """
    minisign = _library()
    manifest = read_manifest(folder)
    try:
        secret = minisign.SecretKey.from_file(key)
        signature = secret.sign(
            (folder / MANIFEST).read_bytes(),
            trusted_comment=f"release {manifest.id} of {manifest.dataset.encode('ascii', 'replace').decode()[:200]}",
        )
    except (OSError, minisign.Error) as error:
        raise ConfigError.single(
            key, "", f"no secret key that can sign ({error})",
            remedy="Make one without a password: crmrag releases key FILE, or minisign -G -W -s FILE.",
        ) from error  # fmt: skip
    write_text(folder / SIGNATURE, bytes(signature).decode() + "\n")
    return folder / SIGNATURE


def check_signature(folder: Path, signers: Iterable[str]) -> str:
    """Raise ReleaseError unless one of ``signers`` signed the manifest; returns who, as they were given.

    A signer is a public key, or the path of a file with one; ConfigError for what is neither.
    """
    minisign = _library()
    keys = {signer: _public_key(signer) for signer in signers}
    try:
        signature = minisign.Signature.from_file(folder / SIGNATURE)
    except FileNotFoundError:
        raise ReleaseError(f"Release {folder.name} is not signed.", _REMEDY) from None
    except (OSError, minisign.Error) as error:
        raise ReleaseError(f"{folder / SIGNATURE} is no signature ({error}).", _REMEDY) from error
    signed = (folder / MANIFEST).read_bytes()
    for signer, key in keys.items():
        try:
            key.verify(signed, signature)
            return signer
        except minisign.Error:
            continue
    raise ReleaseError(
        f"Release {folder.name} was not signed by {' or '.join(keys)}, or was altered afterwards.", _REMEDY
    )


def _public_key(signer: str) -> Any:
    minisign = _library()
    try:
        file = Path(signer)
        return (
            minisign.PublicKey.from_file(file) if file.is_file() else minisign.PublicKey.from_base64(signer)
        )
    except (OSError, minisign.Error) as error:
        raise ConfigError.single(
            "signers", "", f"neither a public key of minisign's nor a file with one ({error})", value=repr(signer)[:80]
        ) from error  # fmt: skip


def _library() -> Any:
    try:
        import minisign
    except ImportError as error:
        raise MissingExtraError("Signing releases and checking signatures", "sign", "py-minisign") from error
    return minisign
