"""Dagster assets, one module for each group; each is a thin wrapper over a step of ``crmrag_assets.build``."""
