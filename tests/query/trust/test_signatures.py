"""Releases that are signed, and openers that demand it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import minisign
import pytest
from click.testing import CliRunner

from crmrag_assets.cli.releases import releases
from crmrag_query.artifacts.files import check_signature, make_key, sign_release
from crmrag_query.artifacts.manifest import MANIFEST, SIGNATURE
from crmrag_query.artifacts.release import SIGNERS, Opener, open_release
from crmrag_query.cli.releases import verify
from crmrag_query.client.library import Library
from crmrag_query.errors import ConfigError, MissingExtraError, ReleaseError


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A secret key's file; the public one lies beside it."""
    path = tmp_path_factory.mktemp("keys") / "mine.key"
    make_key(path)
    return path


def public(key: Path) -> str:
    return key.with_name(f"{key.name}.pub").read_text().splitlines()[1]


@pytest.fixture
def signed(built: Path, key: Path, tmp_path: Path) -> Path:
    folder = tmp_path / built.name
    shutil.copytree(built, folder)
    sign_release(folder, key)
    return folder


def altered(path: Path) -> None:
    """The file with one byte changed, as long as before."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.unlink()  # a copy may be a hard link
    path.write_bytes(content)


def test_a_signed_release_keeps_its_id_and_is_opened_by_who_demands_it(
    signed: Path, built: Path, key: Path
) -> None:
    opened = open_release(signed, opener=Opener(signers=(public(key),)))
    assert opened.id == built.name
    opened.verify()
    by_file = Opener(signers=(str(key.with_name(f"{key.name}.pub")),))
    assert open_release(signed, opener=by_file).id == built.name


def unsigned(folder: Path) -> None:
    (folder / SIGNATURE).unlink()


def other_manifest(folder: Path) -> None:
    text = (folder / MANIFEST).read_text()
    (folder / MANIFEST).write_text(text.replace('"churches"', '"cathedral"'))


def other_index(folder: Path) -> None:
    altered(folder / "documents" / "documents.arrow")


def another_table(folder: Path) -> None:
    shutil.copyfile(next((folder / "ontology").iterdir()), folder / "ontology" / "zz-another.csv")


def torn(folder: Path) -> None:
    (folder / SIGNATURE).write_text("untrusted comment: none\n")


@pytest.mark.parametrize(
    ("attack", "told"),
    [
        (unsigned, "is not signed"),
        (other_manifest, "was altered"),
        (other_index, "documents.arrow: its content was altered"),
        (another_table, "zz-another.csv"),
        (torn, "is no signature"),
    ],
)
def test_what_was_not_signed_is_not_opened(
    signed: Path, key: Path, attack: Callable[[Path], None], told: str
) -> None:
    attack(signed)
    folder = signed.rename(signed.with_name("copy"))  # so that its name does not tell its id
    with pytest.raises(ReleaseError, match=told):
        open_release(folder, opener=Opener(signers=(public(key),)))


def test_a_file_that_is_altered_later_is_seen_as_well(signed: Path, key: Path) -> None:
    opener = Opener(signers=(public(key),))
    open_release(signed, opener=opener)
    other_index(signed)
    with pytest.raises(ReleaseError, match="altered"):
        open_release(signed, opener=opener)


def test_another_s_signature_does_not_do(signed: Path, key: Path, tmp_path: Path) -> None:
    make_key(tmp_path / "other.key")
    other = public(tmp_path / "other.key")
    with pytest.raises(ReleaseError, match="was not signed by"):
        open_release(signed, opener=Opener(signers=(other,)))
    assert check_signature(signed, [other, public(key)]) == public(key), "one of several is enough"


def test_a_service_that_demands_signatures_serves_no_other_release(
    signed: Path, key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("signed", "unsigned"):
        place = tmp_path / "data" / "releases" / name
        place.mkdir(parents=True)
        shutil.copytree(signed, place / signed.name)
        (place / "current").write_text(signed.name)
    unsigned(tmp_path / "data" / "releases" / "unsigned" / signed.name)
    monkeypatch.setenv(SIGNERS, public(key))
    library = Library(tmp_path / "data")
    assert library.release("signed")[1].id == signed.name
    with pytest.raises(ReleaseError, match="is not signed"):
        library.release("unsigned")


def test_keys_that_cannot_be_used_are_told(signed: Path, key: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="neither a public key"):
        check_signature(signed, ["nonsense"])
    with pytest.raises(ConfigError, match="no secret key"):
        sign_release(signed, key.with_name(f"{key.name}.pub"))
    secret = minisign.SecretKey.from_file(key)
    secret.encrypt("password", opslimit=32768, memlimit=1 << 20)
    (tmp_path / "locked.key").write_bytes(bytes(secret) + b"\n")
    with pytest.raises(ConfigError, match="without a password"):
        sign_release(signed, tmp_path / "locked.key")
    with pytest.raises(ConfigError, match="Name another file"):
        make_key(key)


def test_without_the_library_a_demanded_signature_is_an_error(
    signed: Path, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "minisign", None)
    with pytest.raises(MissingExtraError, match=r"crmrag\[sign\]"):
        open_release(signed, opener=Opener(signers=(public(key),)))


def test_the_commands_make_a_key_sign_and_verify(built: Path, tmp_path: Path) -> None:
    folder, key = tmp_path / built.name, tmp_path / "house.key"
    shutil.copytree(built, folder)
    run = CliRunner().invoke
    made = run(releases, ["key", str(key)])
    assert made.exit_code == 0 and public(key) in made.output
    assert key.stat().st_mode & 0o077 == 0
    refused = run(verify, [str(folder), "--signed-by", public(key)])
    assert refused.exit_code == 1 and "is not signed" in refused.output
    assert run(releases, ["sign", str(folder), "--key", str(key)]).exit_code == 0
    accepted = run(verify, [str(folder), "--signed-by", f"{key}.pub"])
    assert accepted.exit_code == 0, accepted.output
    altered(folder / "config.json")
    assert isinstance(run(releases, ["sign", str(folder), "--key", str(key)]).exception, ReleaseError)
