"""Runs commands of the package one after another on a machine with a GPU; in the folder of its scripts."""

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path


def parser(prog: str, about: str | None, config: str, model: str) -> argparse.ArgumentParser:
    """A parser with the shared arguments of these scripts."""
    found = argparse.ArgumentParser(prog=prog, description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("out", type=Path, help="folder for all output")
    found.add_argument("--dataset", type=Path, required=True, help="dataset folder")
    found.add_argument("--config", default=config)
    found.add_argument("--model", default=model, help="bundled name, Hub id, or folder of a checkpoint")
    found.add_argument("--dtype", default="bfloat16")
    found.add_argument("--cpu", action="store_true", help="also run without a GPU")
    return found


def run(given: argparse.Namespace, commands: Sequence[Sequence[str]]) -> dict[str, float]:
    """Runs commands of `icr2` and returns the seconds of each.

    SystemExit in one line without a CUDA device, or with the exit code of a failed command.
    """
    if not given.cpu and not _has_cuda():
        raise SystemExit("torch sees no CUDA device; run with --cpu to try a small model without one")
    given.out.mkdir(parents=True, exist_ok=True)
    seconds = {}
    for command in commands:
        start = time.perf_counter()
        if code := subprocess.run([sys.executable, "-m", "icr2_cli", *command], check=False).returncode:
            raise SystemExit(code)
        seconds[" ".join(command)] = round(time.perf_counter() - start, 1)
    return seconds


def _has_cuda() -> bool:
    import torch

    return torch.cuda.is_available()
