"""Fundamental Relationships: their paths, and walking them."""
