"""Loading the method's configuration, which every command and every service does first.

    python benchmarks/loading.py [--rounds 9]

Prints one JSON line: processor seconds of the fastest and of the median round. It should stay below 0.25 s.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

from crmrag_query.config import load_method


def seconds() -> float:
    start = time.process_time()
    load_method()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    found = [seconds() for _ in range(parser.parse_args().rounds)]
    print(json.dumps({"fastest_s": round(min(found), 3), "median_s": round(statistics.median(found), 3)}))


if __name__ == "__main__":
    main()
