"""Builds releases: sources, pure build functions, and the Dagster layer over them."""
