"""Dumps of a MediaWiki as a source."""
