"""Retrieval attention probing on a large model: heads and Q x M on validation, then three methods on the test split.

`python benchmarks/gpu.py rap OUT --dataset icr2 --config 32k_p75` probes mistralai/Mistral-7B-Instruct-v0.3, or any
local checkpoint given with --model. OUT gets heads.json, figures 6 and 7, the runs and their report. Rerun to resume.
"""

import argparse

from gpu_commands import parser, run  # in this folder

MODEL = "mistralai/Mistral-7B-Instruct-v0.3"


def commands(given: argparse.Namespace) -> list[list[str]]:
    """The commands to run, in order; existing heads are reused."""
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
    """Runs the commands; exits like `run` if one fails."""
    options = parser("gpu.py rap", __doc__, config="32k_p75", model=MODEL)
    options.add_argument("--probe", type=int, default=25, help="validation instances per task")
    options.add_argument("--m", default="1,2,4,8")
    options.add_argument("--q", default="2,4,8")
    options.add_argument("--limit", type=int, help="test instances per task; default: all")
    given = options.parse_args(arguments)
    run(given, commands(given))
