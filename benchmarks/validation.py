"""The suite over a dataset of twenty configs, compared with a bare scan of the same files by DuckDB."""

import subprocess
from pathlib import Path

from benchmarks.inputs import KNOWLEDGE
from benchmarks.memory import build_command, peak_megabytes
from benchmarks.report import Result
from benchmarks.timing import Timed, timed

LIMIT = 25  # questions of each task and split
WANTED_SECONDS = 120  # for kilt_mini in full, 413 MB
MOST_MEGABYTES = 1000


def bench(folder: Path, work: Path) -> list[Result]:
    """Megabytes of Parquet per second of `icr2 validate`, start-up included, and of a scan that reads every column."""
    dataset = _dataset(folder, work)
    megabytes = sum(path.stat().st_size for path in dataset.rglob("*.parquet")) / 1e6
    scan = timed(lambda: _scan(dataset))
    suite, peak = _suite(dataset)
    speeds = (megabytes / suite.seconds, megabytes / scan.seconds)
    notes = (f"{megabytes:.0f} MB in {suite.seconds:.1f} s, at most {peak:.0f} MB of memory",)
    return [
        Result("validation", "MB/s", *speeds, speeds[0] / speeds[1], "–", None, "DuckDB reading every column", notes),
        Result("validation memory", "MB", peak, MOST_MEGABYTES, peak / MOST_MEGABYTES, "at most 1", None, "the limit"),
    ]


def _dataset(folder: Path, work: Path) -> Path:
    """The twenty configs of kilt_mini on fewer questions, with retrievers without models."""
    command = build_command(folder, folder / KNOWLEDGE, work)
    at = command.index("lengths=[1k, 2k]")
    command[at] = "lengths=[1k, 2k, 8k, 32k]"
    command[command.index("--limit") + 1] = str(LIMIT)
    subprocess.run(command, check=True, capture_output=True)
    return Path(command[command.index("--out") + 1])


def _scan(dataset: Path) -> None:
    import duckdb

    files = f"read_parquet('{dataset}/*/*.parquet')"
    # a hash of every value, since count(*) reads no data
    duckdb.execute(f"SELECT bit_xor(hash(COLUMNS(*))) FROM {files}").fetchall()


def _suite(dataset: Path) -> tuple[Timed, float]:
    from sys import executable

    command = [executable, "-m", "icr2_cli", "validate", str(dataset)]
    run = timed(lambda: peak_megabytes(command))
    return run, run.result
