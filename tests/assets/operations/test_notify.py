"""Messages reach real servers: a webhook, Slack's, and mail; a hook that fails hinders no other and betrays no secret."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from crmrag_assets.cli.ui import notify
from crmrag_assets.operations.notify import LONGEST, Message, Sent, name_of, tell
from crmrag_query.config.operations import Operations
from tests.support.api_server import answering, send
from tests.support.smtp_server import Manner, mailing
from tests.support.tls import self_signed

MESSAGE = Message(
    kind="failure",
    what="The build of 'churches' failed",
    why="'graph' failed. <http://e/x> & more.\nSecond line.",
    dataset="churches",
    run="abc",
    link="http://ui.example/runs/abc",
)
SECRET = "T0P-s3cret"


@dataclass
class Received:
    """What a server of HTTP was posted; ``statuses``: what it answers, in turn, then 200."""

    url: str = ""
    statuses: list[int] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


@contextmanager
def receiving(*statuses: int) -> Iterator[Received]:
    received = Received(statuses=list(statuses))

    def answer(handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        received.bodies.append(json.loads(body))
        received.headers.append(dict(handler.headers.items()))
        received.paths.append(handler.path)
        send(handler, received.statuses.pop(0) if received.statuses else 200, "text/plain", b"ok")

    with answering(answer) as url:
        received.url = url
        yield received


def operations(*hooks: dict[str, Any], **sending: Any) -> Operations:
    return Operations.model_validate({"notify": hooks, "sending": {"timeout_seconds": 5, **sending}})


def told(*hooks: dict[str, Any], message: Message = MESSAGE, **sending: Any) -> list[Sent]:
    return tell(operations(*hooks, **sending), message, wait=lambda seconds: None)


def mail(port: int, **keys: Any) -> dict[str, Any]:
    own = {"host": "127.0.0.1", "port": port, "sender": "a@example.org", "recipients": ["b@example.org"]}
    return {"kind": "email", **own, **keys}


def test_a_webhook_is_posted_the_message_as_json_with_headers_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ALERTS_TOKEN", SECRET)
    with receiving() as server:
        hook = {
            "kind": "webhook",
            "url": f"{server.url}/alerts",
            "headers": {"Authorization": "ALERTS_TOKEN"},
        }
        assert told(hook) == [Sent(f"webhook ({server.url}/alerts)")]
    assert server.bodies == [MESSAGE.as_dict()] and server.paths == ["/alerts"]
    assert server.headers[0]["Authorization"] == SECRET


def test_slack_gets_text_in_which_data_is_no_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving() as server:
        monkeypatch.setenv("SLACK_WEBHOOK", f"{server.url}/services/{SECRET}")
        assert told({"kind": "slack", "url_variable": "SLACK_WEBHOOK"}) == [Sent("slack (SLACK_WEBHOOK)")]
    (body,) = server.bodies
    assert body["text"].startswith(
        "*The build of 'churches' failed*\n'graph' failed. &lt;http://e/x&gt; &amp; more."
    )
    assert body["text"].endswith("\n<http://ui.example/runs/abc|Open the run>")


def test_a_hook_that_fails_hinders_no_other_and_its_address_is_not_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with receiving(*[404] * 3) as lost, receiving() as good:
        monkeypatch.setenv("SLACK_WEBHOOK", f"{lost.url}/services/{SECRET}")
        found = told(
            {"kind": "slack", "url_variable": "SLACK_WEBHOOK"},
            {"kind": "webhook", "url_variable": "NOT_SET"},
            {"kind": "other", "hook": "tests.nowhere:Pager"},
            {"kind": "webhook", "url": "http://127.0.0.1:9"},
            {"kind": "webhook", "url": good.url},
        )
    assert [bool(one.fault) for one in found] == [True, True, True, True, False] and len(good.bodies) == 1
    assert "127.0.0.1 answered with status 404" in found[0].fault
    assert "the environment variable NOT_SET is not set" in found[1].fault
    assert "No module named 'tests.nowhere'" in found[2].fault
    assert "is not reached (ConnectError)" in found[3].fault
    assert not any(SECRET in str(one) for one in found)


def test_a_hook_that_fails_for_a_moment_is_tried_again() -> None:
    waits: list[float] = []
    with receiving(503, 500) as server:
        hook = {"kind": "webhook", "url": server.url}
        assert tell(operations(hook, wait_seconds=3), MESSAGE, wait=waits.append) == [
            Sent(name_of(operations(hook).notify[0]))
        ]
    assert waits == [3, 6] and len(server.bodies) == 3


@pytest.mark.parametrize("tls", ["offered", "required", "implicit"])
def test_a_mail_is_encrypted_where_the_server_can(
    tls: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, certificate = self_signed(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setenv("MAIL_USER", "me")
    monkeypatch.setenv("MAIL_PASSWORD", SECRET)
    with mailing(Manner(context, tls == "implicit", ("me", SECRET))) as box:
        hook = mail(box.port, tls=tls, user="MAIL_USER", password="MAIL_PASSWORD")
        assert told(hook) == [Sent("email (b@example.org by 127.0.0.1)")]
    (letter,), (encrypted,) = box.mails, box.encrypted
    assert encrypted and letter["Subject"] == "CRM-RAG: The build of 'churches' failed"
    assert (letter["From"], letter["To"]) == ("a@example.org", "b@example.org")
    assert MESSAGE.why in letter.get_content().replace("\r\n", "\n") and MESSAGE.link in letter.get_content()


def test_without_starttls_a_mail_goes_out_plain_unless_that_is_forbidden() -> None:
    with mailing() as box:
        assert told(mail(box.port))[0].fault == "" and box.encrypted == [False]
        assert (
            "does not offer STARTTLS, and nothing was sent" in told(mail(box.port, tls="required"))[0].fault
        )
    assert len(box.mails) == 1


def test_a_mail_server_that_is_not_trusted_not_signed_in_to_or_gone_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAIL_USER", "me")
    monkeypatch.setenv("MAIL_PASSWORD", SECRET)
    context, _ = self_signed(tmp_path)
    with mailing(Manner(context)) as box:
        assert "SSL_CERT_FILE" in told(mail(box.port), retries=0)[0].fault
    with mailing(Manner(secret=("me", "another"))) as box:
        found = told(mail(box.port, user="MAIL_USER", password="MAIL_PASSWORD"), retries=0)
        assert "does not accept MAIL_USER and MAIL_PASSWORD (status 535)" in found[0].fault
        assert SECRET not in found[0].fault
        box.refusal = b"452 full"
    assert box.mails == []
    assert "is not reached" in told(mail(box.port), retries=0)[0].fault


def test_a_title_of_several_lines_cannot_add_headers_to_a_mail() -> None:
    sly = Message(kind="failure", what="failed\nBcc: all@example.org", why="z" * (LONGEST + 9))
    with mailing() as box:
        assert told(mail(box.port), message=sly)[0].fault == ""
    assert box.mails[0]["Bcc"] is None and box.mails[0]["Subject"] == "CRM-RAG: failed Bcc: all@example.org"
    assert box.mails[0].get_content().count("z") == LONGEST


@dataclass(frozen=True)
class Pager:
    """A hook of somebody's own."""

    file: str
    name: str = "pager"

    def send(self, message: Message) -> None:
        Path(self.file).write_text(message.title)
        if message.kind == "test":
            raise RuntimeError("no pager")


def test_a_hook_of_ones_own_is_made_by_its_dotted_name(tmp_path: Path) -> None:
    hook = {"kind": "other", "hook": f"{__name__}:Pager", "settings": {"file": str(tmp_path / "paged")}}
    assert told(hook) == [Sent(f"{__name__}:Pager")]
    assert (tmp_path / "paged").read_text() == MESSAGE.title
    failing = told(hook, message=Message(kind="test", what="x", why="y"))
    assert failing[0].fault == "it failed: RuntimeError: no pager"


class Stuck:
    """A hook that hangs, or ends what calls it."""

    def __init__(self, ended: bool = False) -> None:
        self.ended = ended

    def send(self, message: Message) -> None:
        if self.ended:
            raise SystemExit("bye")
        threading.Event().wait(60)


def test_a_hook_that_hangs_drips_or_ends_the_program_holds_nobody_up() -> None:
    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.rfile.read(int(handler.headers["Content-Length"]))
        with suppress(OSError):
            for _ in range(100):
                handler.wfile.write(b"x")
                handler.wfile.flush()
                time.sleep(0.1)

    stuck = f"{__name__}:Stuck"
    with answering(drip) as url, receiving() as good:
        hooks: list[dict[str, Any]] = [
            {"kind": "other", "hook": stuck},
            {"kind": "other", "hook": stuck, "settings": {"ended": True}},
            {"kind": "webhook", "url": url},
            {"kind": "webhook", "url": good.url},
        ]
        found = tell(operations(*hooks, timeout_seconds=0.5), MESSAGE)
    assert "not done within 0.5 seconds" in found[0].fault and "not done within" in found[2].fault
    assert found[1].fault == "it failed: SystemExit: bye"
    assert not found[3].fault and len(good.bodies) == 1


def test_the_command_lists_hooks_and_tries_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*words: str) -> tuple[int, str]:
        done = CliRunner().invoke(notify, ["--config", str(tmp_path), *words], catch_exceptions=False)
        return done.exit_code, done.output

    assert "nobody is told when a build fails" in run()[1]
    monkeypatch.delenv("SLACK_WEBHOOK", raising=False)
    with receiving() as server:
        hooks = [{"kind": "webhook", "url": server.url}, {"kind": "slack", "url_variable": "SLACK_WEBHOOK"}]
        text = json.dumps({"notify": hooks, "sending": {"wait_seconds": 0}})
        (tmp_path / "operations.yaml").write_text(text)
        assert "slack (SLACK_WEBHOOK): not set in this shell: SLACK_WEBHOOK" in run()[1]
        status, output = run("--test")
        assert (
            status == 1 and f"webhook ({server.url}): sent" in output and "SLACK_WEBHOOK is not set" in output
        )
        monkeypatch.setenv("SLACK_WEBHOOK", server.url)
        assert run("--test")[0] == 0
    assert [body.get("kind", "slack") for body in server.bodies] == ["test", "test", "slack"]
