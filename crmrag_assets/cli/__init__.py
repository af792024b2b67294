"""Commands that the build extra adds to ``crmrag``."""

from __future__ import annotations

import click

from crmrag_assets.cli.build import build, demo, embed, estimate
from crmrag_assets.cli.pages import pages
from crmrag_assets.cli.partitions import partitions
from crmrag_assets.cli.postgres import postgres
from crmrag_assets.cli.releases import releases, rollback, shacl
from crmrag_assets.cli.ui import notify, ui

commands: list[click.Command] = [
    build,
    demo,
    embed,
    estimate,
    notify,
    pages,
    partitions,
    postgres,
    releases,
    rollback,
    shacl,
    ui,
]
