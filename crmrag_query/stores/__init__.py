"""Searching a data set by one protocol, wherever it is held; and the tools that language models get over it."""
