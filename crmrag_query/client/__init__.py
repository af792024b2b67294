"""The query client: one interface over a folder of releases and over a service."""

from crmrag_query.client.asynchronous import AsyncClient
from crmrag_query.client.events import Cited, Done, Event, Evidence, Planned, Restart, SetFound, Token, Used
from crmrag_query.client.overview import DatasetDetail, Evaluations
from crmrag_query.client.records import (
    Answer,
    Dataset,
    Datasets,
    Entity,
    Found,
    Lineage,
    Neighbours,
    Ranking,
    Unavailable,
)
from crmrag_query.client.releases import ReleaseWarning
from crmrag_query.client.sets import AnswerSet, Choices, Export, Facets, Marks, PlanEdited, PlanFound
from crmrag_query.client.sync import Client
from crmrag_query.client.values import Limits, Timeout
from crmrag_query.sets.records import Change, Years

__all__ = [
    "Answer",
    "AnswerSet",
    "AsyncClient",
    "Change",
    "Choices",
    "Cited",
    "Client",
    "Dataset",
    "DatasetDetail",
    "Datasets",
    "Done",
    "Entity",
    "Evaluations",
    "Event",
    "Evidence",
    "Export",
    "Facets",
    "Found",
    "Limits",
    "Lineage",
    "Marks",
    "Neighbours",
    "PlanEdited",
    "PlanFound",
    "Planned",
    "Ranking",
    "ReleaseWarning",
    "Restart",
    "SetFound",
    "Timeout",
    "Token",
    "Unavailable",
    "Used",
    "Years",
]
