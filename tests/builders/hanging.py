"""A build that does not end: two workers wait for a minute, and each writes its process id into the folder."""

import os
import time
from pathlib import Path
from typing import Any

from rich.progress import Progress

from builders import ending
from builders.engine import Pool, Stage, Tick, run_stage
from builders.work import Build, Counts, Shard


def plan(build: Build[Any]) -> list[Shard]:
    return [Shard("a"), Shard("b")]


def make(build: Build[Any], shard: Shard, out: Path, tick: Tick) -> Counts:
    (build.work / f"{os.getpid()}.worker").touch()
    time.sleep(60)
    return {}


def hang(folder: Path) -> None:
    """Runs the build, and ends as the command does."""
    with ending.stoppable():
        _run(folder)


def _run(folder: Path) -> None:
    build: Build[Any] = Build(None, folder, folder, {"hang": "d" * 64})  # type: ignore[arg-type]
    pool = Pool(2)
    try:
        run_stage(Stage("hang", "hang", 1, (), (), plan, make), build, pool, Progress(disable=True))
    except BaseException:
        pool.stop()
        raise
    finally:
        pool.close()
