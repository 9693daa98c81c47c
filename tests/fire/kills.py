"""Commands that are killed at random moments and run again: what is left has the bytes of a run without a kill."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from builders import ending
from tests.imports import ROOT

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
LONGEST_S = 5.0  # from a signal until no process is left
State = Mapping[str, object]  # what a command leaves, without what differs between any two runs


@dataclass
class Job:
    """A command in a folder of its own: its arguments, its environment, and what it leaves."""

    arguments: list[str]
    left: Callable[[], State]
    environment: Mapping[str, str] = field(default_factory=dict)


Maker = Callable[[Path], AbstractContextManager[Job]]


def run(job: Job) -> float:
    """Runs the command to its end; returns the seconds."""
    began = time.monotonic()
    done = _start(job)
    _, said = done.communicate(timeout=600)
    assert done.returncode == 0, said[-2000:]
    return time.monotonic() - began


def kill(job: Job, moment_s: float, number: int) -> Counter[str]:
    """Starts the command and sends a signal after `moment_s` seconds, Ctrl-C to all its processes; counts faults."""
    process = _start(job)
    try:
        process.wait(moment_s)
    except subprocess.TimeoutExpired:
        (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
    began = time.monotonic()
    _, said = process.communicate(timeout=120)
    counts = Counter(kills=1, finished=int(process.returncode == 0), traceback=int("Traceback" in said))
    if number != signal.SIGKILL and process.returncode != 0:
        early = process.returncode == -number  # before Python had loaded the first of our modules
        counts["wrong end"] += not early and (process.returncode, said.count(ending.LINE)) != (ending.CODE, 1)
    if counts["wrong end"] or counts["traceback"]:
        sys.stderr.write(f"signal {number} after {moment_s:.3f} s, exit code {process.returncode}:\n{said[-3000:]}\n")
    while left := _session(process.pid):
        if time.monotonic() - began > LONGEST_S:
            counts["process left"] += 1
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            break
        time.sleep(0.02)
    return counts


def fire(make: Maker, folder: Path, rng: Random, rounds: int, kills: int) -> Counter[str]:
    """Counts over rounds of some kills and a run to the end, each compared with an undisturbed run."""
    counts: Counter[str] = Counter()
    with make(folder / "whole") as job:
        took = run(job)
        wanted = job.left()
    for number in range(rounds):
        with make(folder / str(number)) as job:
            for _ in range(kills):
                counts += kill(job, rng.uniform(0, took), rng.choice(SIGNALS))
            run(job)
            counts["rounds"] += 1
            counts["other bytes"] += job.left() != wanted
    return counts


def _start(job: Job) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "icr2_cli", *job.arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", **job.environment},
        start_new_session=True,
    )


def _session(number: int) -> list[int]:
    """The processes of a session that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, session = path.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(session) == number and state != "Z":
            found.append(int(path.parent.name))
    return found
