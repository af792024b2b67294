"""From a plan's outcome to the answer's set: members, cells, what was left out, in words, facets and exports."""
