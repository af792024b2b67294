"""Requests for blank nodes, each verified by a count: a response with too few rows has status 200 like any other."""

from __future__ import annotations

from crmrag_assets.sources.endpoint import blank_queries as queries
from crmrag_assets.sources.endpoint.blank_queries import Start, Walk
from crmrag_assets.sources.endpoint.blank_views import Piece, is_shown, pieces_of
from crmrag_assets.sources.endpoint.client import Client, Unanswered
from crmrag_assets.sources.endpoint.results import Row

VIEW = "x", "p", "out", "in", "g"
RESPONSES = "responses with blank nodes"
UNCOUNTED = "responses that no count verified"


class Lacking(Unanswered):
    """A response came with fewer rows than the endpoint counts."""


class Asking:
    """Asks for rows and compares their number with a count; ``unreadable`` rows had an IRI that no repair makes valid."""

    def __init__(self, client: Client) -> None:
        self._client, self._scope = client, client.scope
        self.responses = self.unreadable = 0

    def all(self, counted: int) -> list[Row]:
        """Every triple with a blank node; raises Unanswered."""
        return self._verified(queries.touching(self._scope), ("s", "p", "o", "g"), counted, True)

    def around(self, start: Start, walk: Walk, alone: bool) -> list[Piece]:
        """What a walk shows; raises Unanswered."""
        counted = self._counted(start, walk, alone)
        if not counted:
            return []
        rows = self._verified(queries.surroundings(start, walk, self._scope), VIEW, counted, alone)
        return pieces_of(rows, self.responses)

    def _counted(self, start: Start, walk: Walk, alone: bool) -> int:
        """The rows of a walk; an endpoint that never counts is asked for them in two halves."""
        try:
            return self._client.count(queries.count_surroundings(start, walk, self._scope), alone)
        except Unanswered:
            if self._client.counts:
                raise
        self._client.note(UNCOUNTED)
        parts = queries.halves(start, walk, self._scope)
        tables = [self._client.table(part, self._named("x", "p", "o", "g")) for part in parts]
        return sum(len(table.rows) + table.skipped for table in tables)

    def _verified(self, query: str, variables: tuple[str, ...], counted: int, alone: bool) -> list[Row]:
        """As many rows as are counted; where some are lacking and the query cannot be split it is asked again."""
        cap = self._client.learned.row_cap
        if cap and counted > cap:
            raise Lacking(f"it gives {cap:,} rows at most")
        given = 0
        for attempt in range(2 if alone else 1):
            table = self._client.table(query, self._named(*variables), alone)
            rows = table.rows if variables != VIEW else [row for row in table.rows if is_shown(row)]
            self._client.saw(len(table.rows))
            if len(rows) + table.skipped >= counted:
                self.responses += 1
                self.unreadable += table.skipped
                self._client.note(RESPONSES)
                return rows
            if attempt and len(rows) == given and self._client.is_longest(given):
                self._client.learn_cap(given)
            given = len(rows)
        raise Lacking(f"its response has {given:,} of {counted:,} rows")

    def _named(self, *variables: str) -> tuple[str, ...]:
        return variables if self._scope.graph else variables[:-1]
