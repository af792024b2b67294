"""A first look at an endpoint, for people: what it is and whether it will do."""

from __future__ import annotations

from crmrag_assets.sources.endpoint.client import Client, Unanswered
from crmrag_assets.sources.endpoint.look import require_crm, settle_format
from crmrag_assets.sources.endpoint.queries import count_subjects, count_triples
from crmrag_query.config.endpoint import EndpointConfig
from crmrag_query.config.models import Method


def first_look(config: EndpointConfig, method: Method) -> list[str]:
    """Lines on an endpoint, after about five requests; raises SourceError where it cannot be a source."""
    client = Client(config, config.resolved(method.requests))
    settle_format(client)
    require_crm(client)
    scope = client.scope
    told = [
        f"{config.url} answers and holds CIDOC-CRM.",
        f"  triples   {_counted(client, count_triples(scope))}",
        f"  subjects  {_counted(client, count_subjects(scope))} (blank nodes aside)",
        f"  format    {'JSON (it garbles TSV)' if client.learned.json else 'TSV'}",
    ]
    traffic = client.gathered().traffic
    return [*told, f"  time      {traffic.seconds / max(1, traffic.requests):.2f} s a request"]


def _counted(client: Client, query: str) -> str:
    try:
        return f"{client.count(query):,}"
    except Unanswered as error:
        return f"not counted: {error.reason}"
