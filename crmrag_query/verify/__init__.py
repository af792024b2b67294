"""Can a release be trusted? Every file against the manifest, and every artifact against those that it refers to."""
