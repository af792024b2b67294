"""Communities: documents that belong together by what joins them, on several levels, and what is told of each."""
