"""The kind `endpoint`."""

from __future__ import annotations

from crmrag_assets.sources.endpoint.look import first_look
from crmrag_assets.sources.endpoint.source import SparqlEndpoint
from crmrag_assets.sources.kinds import Kind, Opening
from crmrag_query.config.sources.endpoint import EndpointConfig


def open_endpoint(config: EndpointConfig, opening: Opening) -> SparqlEndpoint:
    return SparqlEndpoint(config, opening.method, opening.work, opening.refreshed, opening.turns)


KIND = Kind(EndpointConfig, open_endpoint, ask=first_look)
