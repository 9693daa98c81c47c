"""Fine-tuning on a GPU: about a minute per variant, by default on a small model.

`python benchmarks/gpu.py train OUT --dataset icr2 --config 8k_p100` trains smollm2, or --model, for
some steps as each variant, answers a few test questions with each checkpoint, and reports. It needs a dataset with a
train split. OUT gets the checkpoints, the runs and the report; train.json has the seconds of each command. Rerun to
resume.
"""

import argparse
import json

from gpu_commands import parser, run  # in this folder

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
    """Runs the commands and writes their seconds; exits like `run` if one fails."""
    options = parser("gpu.py train", __doc__, config="8k_p100", model=MODEL)
    options.add_argument("--lora", action="store_true", help="train adapters, for a large model on one GPU")
    options.add_argument("--steps", type=int, default=10)
    options.add_argument("--samples", type=int, default=20, help="train instances per task")
    options.add_argument("--limit", type=int, default=2, help="validation and test instances per task")
    given = options.parse_args(arguments)
    seconds = run(given, commands(given))
    (given.out / "train.json").write_text(json.dumps(seconds, indent=2) + "\n", encoding="utf-8")
