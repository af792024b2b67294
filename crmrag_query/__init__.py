"""CRM-RAG's query package: opens a release and answers questions from it. Imports neither Dagster nor PyTorch."""

__version__ = "0.1.0"
