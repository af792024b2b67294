"""operations.yaml: hooks of each kind; no secret stands in it, and none is shown by a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from crmrag_query.config.operations import Operations, load_operations, variables
from crmrag_query.config.reading import default_folder
from crmrag_query.errors import ConfigError

ALL = """
ui: https://dagster.example.org/
notify:
  - {kind: slack, url_variable: SLACK_WEBHOOK}
  - {kind: webhook, url: https://example.org/alerts, headers: {Authorization: ALERTS_TOKEN}}
  - {kind: webhook, url_variable: ALERTS_URL}
  - {kind: email, host: mail.example.org, sender: a@example.org, recipients: [b@example.org], user: U, password: P}
  - {kind: other, hook: "my_museum.hooks:Pager", settings: {team: collections}}
"""


def read(folder: Path, text: str) -> Operations:
    (folder / "operations.yaml").write_text(text, encoding="utf-8")
    return load_operations(folder)


def test_what_ships_tells_nobody_and_says_the_defaults(tmp_path: Path) -> None:
    assert load_operations(default_folder()) == load_operations(tmp_path) == Operations()


def test_hooks_of_every_kind_are_read_with_the_variables_that_they_need(tmp_path: Path) -> None:
    found = read(tmp_path, ALL)
    assert [hook.kind for hook in found.notify] == ["slack", "webhook", "webhook", "email", "other"]
    assert found.ui == "https://dagster.example.org"
    assert [variables(hook) for hook in found.notify] == [
        ("SLACK_WEBHOOK",), ("ALERTS_TOKEN",), ("ALERTS_URL",), ("U", "P"), (),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("hook", "message"),
    [
        ("{kind: slak}", "notify[0]: input tag 'slak' found using 'kind' does not match"),
        ("{kind: slack}", "notify[0].url_variable: required, but missing"),
        (
            "{kind: slack, url_variable: https://hooks.slack.com/services/s3cret}",
            "notify[0].url_variable: not the name of an environment variable in capitals",
        ),
        ("{kind: webhook}", "notify[0]: it has either `url`, or `url_variable`"),
        (
            "{kind: webhook, url: 'https://e.org/?token=s3cret'}",
            "notify[0].url: an address without credentials",
        ),
        ("{kind: webhook, url: 'https://me:s3cret@e.org'}", "notify[0].url: an address without credentials"),
        ("{kind: webhook, url: ftp://e.org}", "notify[0].url: not an address"),
        (
            "{kind: webhook, url: https://e.org, headers: {Authorization: Bearer s3cret}}",
            "not the name of an environment",
        ),
        (
            "{kind: email, host: h, sender: a@e.org, recipients: []}",
            "notify[0].recipients: tuple should have at least 1",
        ),
        (
            "{kind: email, host: h, sender: me, recipients: [a@e.org]}",
            "notify[0].sender: no address of e-mail",
        ),
        (
            "{kind: email, host: h, sender: a@e.org, recipients: [a@e.org], user: U}",
            "name two environment variables",
        ),
        (
            "{kind: other, hook: import os}",
            "notify[0].hook: it names a class or function as package.module:Name",
        ),
    ],
)
def test_a_mistake_is_told_by_its_key_and_shows_no_secret(tmp_path: Path, hook: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, f"notify: [{hook}]")
    assert message in str(caught.value) and "s3cret" not in str(caught.value)
    assert caught.value.__context__ is None
