"""Typed configuration: the method's constants, data sets, relationships, categories, weights and prompts."""

from __future__ import annotations

from crmrag_query.config.datasets import DatasetConfig, EmbeddingConfig, load_datasets
from crmrag_query.config.loading import Method, config_hash, load_method, load_relationships

__all__ = [
    "DatasetConfig",
    "EmbeddingConfig",
    "Method",
    "config_hash",
    "load_datasets",
    "load_method",
    "load_relationships",
]
