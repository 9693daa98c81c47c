"""Fine-tuning on a GPU: a minute of it for each variant, by default on a small model.

`python benchmarks/gpu.py train OUT --dataset icr2 --config 8k_p100` trains smollm2, or whatever --model names, for some
steps as each variant, answers a few test questions with each checkpoint, and reports. It needs a dataset with a train
split. OUT gets the checkpoints, the runs and the report; train.json has the seconds of each command. Started again, it
goes on where it was.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

MODEL = "smollm2"
VARIANTS = ("da", "rta", "cci")


def commands(given: argparse.Namespace) -> list[list[str]]:
    """The commands to run, in order."""
    out = given.out
    common = [str(given.dataset), "--config", given.config, "--dtype", given.dtype]
    steps = ["--steps", str(given.steps), "--eval-every", str(given.steps), "--eval-n", str(given.limit)]
    memory = ["--activation-checkpointing", *(["--lora"] if given.lora else [])]
    samples = ["--samples", str(given.samples)]
    found = []
    for variant in VARIANTS:
        checkpoint, run = str(out / variant), str(out / f"run-{variant}")
        what = ["--variant", variant, "--model", given.model, *steps, *memory, *samples, "--out", checkpoint]
        asked = ["--model", checkpoint, "--method", f"sft_{variant}", "--limit", str(given.limit), "--out", run]
        found += [["train", "sft", *common, *what], ["eval", *common, *asked]]
    runs = [str(out / f"run-{variant}") for variant in VARIANTS]
    return [*found, ["report", *runs, "--dataset", str(given.dataset), "--out", str(out / "report")]]


def main(arguments: list[str]) -> None:
    """Runs the commands; SystemExit in one line without a CUDA device, or with the exit code of one that fails."""
    parser = argparse.ArgumentParser(
        prog="gpu.py train", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="the folder for everything")
    parser.add_argument("--dataset", type=Path, required=True, help="a built dataset with a train split")
    parser.add_argument("--config", default="8k_p100")
    parser.add_argument("--model", default=MODEL, help="a bundled name, a Hub id, or a folder with a checkpoint")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--lora", action="store_true", help="learn adapters, as a large model on one GPU must")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--samples", type=int, default=20, help="train instances of each task")
    parser.add_argument("--limit", type=int, default=2, help="validation and test instances of each task")
    parser.add_argument("--cpu", action="store_true", help="run without a GPU too")
    given = parser.parse_args(arguments)
    if not given.cpu and not _has_cuda():
        raise SystemExit("torch sees no CUDA device; run with --cpu to try a small model without one")
    given.out.mkdir(parents=True, exist_ok=True)
    seconds = {}
    for command in commands(given):
        start = time.perf_counter()
        if code := subprocess.run([sys.executable, "-m", "icr2_cli", *command], check=False).returncode:
            raise SystemExit(code)
        seconds[" ".join(command)] = round(time.perf_counter() - start, 1)
    (given.out / "train.json").write_text(json.dumps(seconds, indent=2) + "\n", encoding="utf-8")


def _has_cuda() -> bool:
    import torch

    return torch.cuda.is_available()
