"""Write the reference pages: `python -m tools.reference`."""

from __future__ import annotations

from tools.reference.pages import write

for path in write():
    print(f"wrote {path}")
