"""Pages, scanned or printed, as a source."""
