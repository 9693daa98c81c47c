"""Retrieval attention probing on a large model: heads and Q x M on validation, then the test split beside two others.

`python benchmarks/gpu.py rap OUT --dataset icr2 --config 32k_p75` probes mistralai/Mistral-7B-Instruct-v0.3, or any
local checkpoint given with --model. OUT gets heads.json, figures 6 and 7, the runs and their report. Started again, it
goes on where it was.
"""

import argparse
import subprocess
import sys
from pathlib import Path

MODEL = "mistralai/Mistral-7B-Instruct-v0.3"


def commands(given: argparse.Namespace) -> list[list[str]]:
    """The commands to run, in order; heads that are there are not looked for again."""
    out, run, heads = given.out, given.out / "run", given.out / "heads.json"
    common = [str(given.dataset), "--config", given.config, "--model", given.model, "--dtype", given.dtype]
    probe = [
        *("probe", *common, "--limit", str(given.probe), "--m", given.m, "--sweep", given.q, "--out", str(heads)),
        *("--compare", "--figure", str(out / "figure6.png"), "--sweep-figure", str(out / "figure7.png")),
    ]
    methods = [part for name in ("vanilla_rag", "rap", "oracle_rag") for part in ("--method", name)]
    limit = [] if given.limit is None else ["--limit", str(given.limit)]
    evaluate = ["eval", *common, *methods, "--heads", str(heads), *limit, "--out", str(run)]
    report = ["report", str(run), "--dataset", str(given.dataset), "--out", str(out / "report")]
    return [*([] if heads.exists() else [probe]), evaluate, report]


def main(arguments: list[str]) -> None:
    """Runs the commands; SystemExit in one line without a CUDA device, or with the exit code of one that fails."""
    parser = argparse.ArgumentParser(
        prog="gpu.py rap", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="the folder for everything")
    parser.add_argument("--dataset", type=Path, required=True, help="a built dataset")
    parser.add_argument("--config", default="32k_p75")
    parser.add_argument("--model", default=MODEL, help="a Hub id, or a folder with a checkpoint")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--probe", type=int, default=100, help="validation instances")
    parser.add_argument("--m", default="1,2,4,8")
    parser.add_argument("--q", default="2,4,8")
    parser.add_argument("--limit", type=int, help="test instances of each task; default: all")
    parser.add_argument("--cpu", action="store_true", help="run without a GPU too")
    given = parser.parse_args(arguments)
    if not given.cpu and not _has_cuda():
        raise SystemExit("torch sees no CUDA device; run with --cpu to try a small model without one")
    given.out.mkdir(parents=True, exist_ok=True)
    for command in commands(given):
        if code := subprocess.run([sys.executable, "-m", "icr2_cli", *command], check=False).returncode:
            raise SystemExit(code)


def _has_cuda() -> bool:
    import torch

    return torch.cuda.is_available()
