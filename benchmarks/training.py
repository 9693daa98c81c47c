"""What training does to a small model: three variants on kilt_mini's train split, beside the model as it came.

`python -m benchmarks.training OUT [--data DIR]` takes one to two hours on two quiet cores; started again, it goes on
where it was. OUT gets the dataset, the checkpoints, the heads of all models with figure 6, the runs and their report.
"""

import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

from benchmarks.inputs import kilt_folder
from benchmarks.timing import timed
from builders.errors import SetupError
from eval_harness.train.variants import VARIANTS

MODEL = "smollm2"
CONFIG = "1k_p100"
METHODS = {
    "untuned": ["vanilla_rag", "oracle_rag"],
    "da": ["sft_da"],
    "rta": ["sft_rta", "sft_rta+rap@4x2"],
    "cci": ["sft_cci"],
}
POSITIONS = {"da": "last", "rta": "retrieval", "cci": "retrieval"}  # where heads are looked at from, by variant


def commands(given: Namespace) -> Iterator[list[str]]:
    """The commands to run, in order; what is there already is not made again."""
    out = given.out
    dataset = given.dataset or out / "icr2"
    if not dataset.exists():
        yield _build(kilt_folder(given.data), dataset)
    common = [str(dataset), "--config", given.config]
    for variant in VARIANTS:
        yield ["train", "sft", *common, "--model", given.model, *_training(given, variant), "--out", str(out / variant)]
    models = {"untuned": given.model} | {variant: str(out / variant) for variant in VARIANTS}
    heads = {name: out / f"heads-{name}.json" for name in models}
    for name, model in models.items():
        if not heads[name].exists():
            look = ["--position", POSITIONS.get(name, "last"), "--limit", str(given.probe), "--m", "1,2,4"]
            yield ["probe", *common, "--model", model, *look, "--out", str(heads[name])]
    yield ["heads", *map(str, heads.values()), "--figure", str(out / "figure6.png")]
    for name, model in models.items():
        methods = [part for method in METHODS[name] for part in ("--method", method)]
        limit = ["--limit", str(given.limit), "--heads", str(heads[name]), "--batch-size", "8"]
        yield ["eval", *common, "--model", model, *methods, *limit, "--out", str(out / f"run-{name}")]
    runs = [str(out / f"run-{name}") for name in models]
    yield ["report", *runs, "--dataset", str(dataset), "--out", str(out / "report")]


def main(arguments: list[str] | None = None) -> None:
    """Runs the commands and prints the time of each; SystemExit with the exit code of one that fails."""
    parser = ArgumentParser(prog="python -m benchmarks.training", description=__doc__)
    parser.add_argument("out", type=Path, help="the folder for everything")
    parser.add_argument("--data", type=Path, help="the folder above kilt_mini")
    parser.add_argument("--dataset", type=Path, help="a built dataset instead")
    parser.add_argument("--config", default=CONFIG)
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--accumulate", type=int, default=1, help="samples of a step")
    parser.add_argument("--lr", type=float, default=5e-5)
    parser.add_argument("--eval-n", type=int, default=5, help="validation instances of each task")
    parser.add_argument("--probe", type=int, default=40, help="validation instances for the heads")
    parser.add_argument("--limit", type=int, default=40, help="test instances of each task")
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    try:
        for command in commands(given):
            _run(command)
    except SetupError as error:
        raise SystemExit(f"error: {error}") from None


def _run(command: list[str]) -> None:
    whole = [sys.executable, "-m", "icr2_cli", *command]
    done = timed(lambda: subprocess.run(whole, check=False).returncode)
    if done.result:
        raise SystemExit(done.result)
    print(f"{done.seconds:6.0f} s: icr2 {' '.join(command)}", flush=True)


def _build(data: Path, out: Path) -> list[str]:
    """One length and one ratio are enough, and BM25 alone finds confounders within a minute."""
    chosen = (f"data={data}", "lengths=[1k]", "ratios=[100]", "retrievers={bm25: {kind: bm25, k: 300}}")
    return ["build", "kilt_mini", *(part for one in chosen for part in ("--set", one)), "--out", str(out)]


def _training(given: Namespace, variant: str) -> list[str]:
    """All weights are learned: on a CPU that is faster than adapters."""
    steps = ["--steps", str(given.steps), "--accumulate", str(given.accumulate), "--lr", str(given.lr)]
    chosen = ["--eval-every", str(max(1, given.steps // 4)), "--eval-n", str(given.eval_n)]
    return ["--variant", variant, *steps, *chosen]


if __name__ == "__main__":
    main()
