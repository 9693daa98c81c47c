"""The finished runs that tests build the demo from, which spares them encoding 12,374 passages.

To write them anew from a full build: `icr2 build demo --out icr2`, then `python -m tests.demo_runs icr2.work`.
"""

import sys
from pathlib import Path

import pyarrow.parquet as pq

FOLDER = Path(__file__).parent / "fixtures" / "demo_runs"
COLUMNS = ["qid", "pid", "score"]


def write_runs(work: Path) -> None:
    """Writes what each retriever of a finished build found."""
    (stage,) = (done.parent for done in work.glob("stages/retrieve-*/done.json"))
    FOLDER.mkdir(exist_ok=True)
    for path in stage.glob("*.parquet"):
        pq.write_table(pq.read_table(path, columns=COLUMNS), FOLDER / path.name, compression="zstd")


if __name__ == "__main__":
    write_runs(Path(sys.argv[1]))
