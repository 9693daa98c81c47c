"""`icr2 eval` compared with lm-eval: one model, the same items, each side in its own process."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.memory import RETRIEVERS
from benchmarks.report import Result
from benchmarks.timing import Timed, alternately
from builders.manifest import read_manifest
from eval_harness.lm_eval.hooks import UNPARSED
from eval_harness.lm_eval.write import group_name, source_of, write_tasks
from eval_harness.models.local import find_checkpoint
from eval_harness.run.results import read_rows

CONFIG = "1k_p75"
ITEMS = 5  # of each task
MODEL = "smollm2"


class Run(NamedTuple):
    """The scores of each instance, and the seconds in the model, where known."""

    scores: dict[str, dict[str, float]]
    asking: float | None


def bench(folder: Path, work: Path) -> list[Result]:
    """Wall time for the same items: with equal settings (float32, prompts one by one), and with our defaults."""
    dataset = build(folder, work)
    return compared(dataset, str(find_checkpoint(MODEL).folder), ITEMS, work)


def compared(dataset: Path, model: str, items: int, work: Path) -> list[Result]:
    """The results for a dataset and a model's folder."""
    source = source_of(read_manifest(dataset), str(dataset))
    write_tasks(source, work / "tasks")
    group = group_name(source, CONFIG)
    equal = ("--dtype", "float32", "--batch-size", "1", "--no-prefix-reuse")
    ours, defaults, peer = alternately(
        lambda: _ours(dataset, model, items, work / "ours", equal),
        lambda: _ours(dataset, model, items, work / "defaults", ()),
        lambda: _peer(model, group, items, work),
    )
    return [
        _result("lm_eval, equal settings", ours, peer, "at most 1.05", equal=True),
        _result("lm_eval, our defaults", defaults, peer, "at most 0.8", equal=False),
    ]


def build(folder: Path, work: Path) -> Path:
    """A small dataset from the real inputs."""
    settings = {"data": folder, "retrievers": RETRIEVERS, "lengths": "[1k]", "ratios": "[75]"}
    command = ["build", "kilt_mini", "--limit", str(ITEMS), "--out", str(work / "icr2")]
    _icr2(*command, *(part for name, value in settings.items() for part in ("--set", f"{name}={value}")))
    return work / "icr2"


def _result(name: str, ours: Timed, peer: Timed, wanted: str, *, equal: bool) -> Result:
    """The ratio of wall times; another dtype may change outputs, so only equal settings must agree."""
    (mine, asking), (theirs, _) = ours.result, peer.result
    same = sum(mine.get(id) == scores for id, scores in theirs.items())
    notes = (
        f"{same} of {len(theirs)} items have the same scores",
        f"ours: {asking:.1f} s in the model, {ours.seconds - asking:.1f} s to start, load, read and write",
    )
    agrees = mine == theirs if equal else None
    return Result(
        name, "s", ours.seconds, peer.seconds, ours.seconds / peer.seconds, wanted, agrees, "lm-eval, float32", notes
    )


def _ours(dataset: Path, model: str, items: int, work: Path, options: Sequence[str]) -> Run:
    out = _fresh(work)
    what = ("--config", CONFIG, "--model", model, "--method", "vanilla_rag", "--limit", str(items))
    _icr2("eval", str(dataset), *what, *options, "--out", str(out))
    rows = read_rows(out)
    return Run({row.id: row.scores for row in rows if row.scores}, sum(row.latency_s or 0 for row in rows))


def _peer(model: str, group: str, items: int, work: Path) -> Run:
    out = _fresh(work / "peer")
    what = ("--tasks", group, "--include_path", str(work / "tasks"), "--limit", str(items))
    how = ("--model", "hf", "--model_args", f"pretrained={model},dtype=float32", "--apply_chat_template")
    _run("-m", "lm_eval", "run", *how, *what, "--batch_size", "1", "--log_samples", "--output_path", str(out))
    samples = [json.loads(line) for path in out.rglob("samples_*.jsonl") for line in path.open(encoding="utf-8")]
    return Run({sample["doc"]["id"]: _scores(sample) for sample in samples}, None)


def _scores(sample: dict[str, Any]) -> dict[str, float]:
    return {metric: sample[metric] for metric in sample["metrics"] if metric != UNPARSED}


def _fresh(folder: Path) -> Path:
    """A new, empty run folder."""
    return folder / str(len(list(folder.glob("*"))))


def _icr2(*arguments: str) -> None:
    _run("-m", "icr2_cli", *arguments)


def _run(*arguments: str) -> None:
    """Runs Python; RuntimeError if it fails."""
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr[-2000:]}")
