"""`make fire`: many kills and many mutated files; prints a table, and exits with 1 where anything went wrong.

`python -m tests.fire [SEED] [KILLS] [RECORDS]`. A loop of mutations joins by one entry in MUTATIONS: its name, and a
function of a seed and a number that counts `tracebacks`, `errors` (one line) and `accepted`.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests import fire_files, fire_sources
from tests.fire.kills import JOBS, fire

Loop = Callable[[int, int], Counter[str]]
NAMES = {"traceback": "tracebacks", "bad line": "tracebacks", "refused": "errors", "one line": "errors"}


def _sources(seed: int, records: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for what, n in fire_sources.fire(str(seed), records).items():
        outcome = what.partition(": ")[2]
        counts[NAMES.get(outcome, outcome)] += n
    return counts


def _files(seed: int, files: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for (_, _, outcome), n in fire_files.fire(seed, files).items():
        counts[NAMES.get(outcome, outcome)] += n
    return counts


MUTATIONS: dict[str, Loop] = {"sources and recipes": _sources, "files of a dataset": _files}


def main() -> int:
    """Prints one line for each kind of kill and of mutation."""
    given = [int(argument) for argument in sys.argv[1:]]
    seed, kills, records = (given + [1, 50, 10_000][len(given) :])[:3]
    bad = 0
    for name, job in JOBS.items():
        with tempfile.TemporaryDirectory() as folder:
            counts = fire(job, Path(folder), Random(f"{seed} {name}"), rounds=-(-kills // 5), kills=5)
        bad += sum(n for what, n in counts.items() if what not in ("kills", "finished", "rounds"))
        _print(f"kill {name}", counts)
    for name, loop in MUTATIONS.items():
        counts = loop(seed, records)
        bad += counts["tracebacks"]
        _print(f"mutate {name}", counts)
    return int(bad > 0)


def _print(name: str, counts: Counter[str]) -> None:
    sys.stdout.write(f"{name:28} " + ", ".join(f"{what} {n:,}" for what, n in counts.items() if n) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
