"""What attempts need, loaded and made ready once, before their processes are forked from this one."""

import importlib
import os
from pathlib import Path

from attacks.releases import ask
from crmrag_query.config import load_method
from crmrag_query.ontology.load import normalise_class

for name in (
    "bm25s",
    "faiss",
    "crmrag_assets.sources.rdf.kind",
    "crmrag_query.client.local",
    "crmrag_query.verify.run",
):
    importlib.import_module(name)
load_method()
normalise_class("http://www.cidoc-crm.org/cidoc-crm/E1_CRM_Entity")
if release := os.environ.get("ATTACKED"):
    ask(Path(release))  # no threads are left by it
