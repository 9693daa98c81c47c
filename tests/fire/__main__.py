"""`make fire`: many kills and many mutated files; prints a table, and exits with 1 where anything went wrong.

`python -m tests.fire [SEED] [KILLS] [RECORDS] [NAME ...]`: a name chooses one kind of kill (`build`) or of mutation
(`sources and recipes`). A loop of mutations joins by one entry in MUTATIONS: its name, and a function of a seed and a
number that counts `tracebacks`, `errors` (one line) and `accepted`.
"""

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

from huggingface_hub.utils import disable_progress_bars

from tests.fire.jobs import JOBS
from tests.fire.kills import fire
from tests.fire.mutations import MUTATIONS

KILLS_A_ROUND = 5  # between them and the comparison the command runs to its end


def main() -> int:
    """Prints one line for each kind of kill and of mutation."""
    disable_progress_bars()
    numbers = [int(given) for given in sys.argv[1:] if given.isdigit()]
    names = {given for given in sys.argv[1:] if not given.isdigit()} or {*JOBS, *MUTATIONS}
    seed, kills, records = (numbers + [1, 50, 10_000][len(numbers) :])[:3]
    bad = 0
    for name in filter(names.__contains__, JOBS):
        bad += _said(f"kill {name}", lambda name=name: _killed(name, seed, kills))
    for name, (loop, share) in MUTATIONS.items():
        if name in names:
            bad += _said(f"mutate {name}", lambda loop=loop, share=share: loop(seed, round(records * share)))
    return int(bad > 0)


def _killed(name: str, seed: int, kills: int) -> Counter[str]:
    with tempfile.TemporaryDirectory() as folder:
        rounds = -(-kills // KILLS_A_ROUND)
        return fire(JOBS[name], Path(folder), Random(f"{seed} {name}"), rounds, KILLS_A_ROUND)


def _said(name: str, fired: Callable[[], Counter[str]]) -> int:
    """Prints what came of it; returns how many times it was wrong."""
    began = time.monotonic()
    counts = fired()
    found = ", ".join(f"{what} {n:,}" for what, n in counts.items() if n)
    sys.stdout.write(f"{name:32} {found} ({time.monotonic() - began:,.0f} s)\n")
    sys.stdout.flush()
    return sum(n for what, n in counts.items() if what not in ("kills", "finished", "rounds", "errors", "accepted"))


if __name__ == "__main__":
    sys.exit(main())
