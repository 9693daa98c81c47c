"""Retrieval attention probing compared with answering from the whole context: time per instance, and memory."""

import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.memory import peak_megabytes
from benchmarks.report import Result
from benchmarks.timing import timed
from eval_harness.conditions.ranking import Retrieval
from eval_harness.data.dataset import Instance, load_instances, open_dataset
from eval_harness.methods.base import Method, Question
from eval_harness.methods.limits import LIMITS
from eval_harness.methods.probed import Probed
from eval_harness.methods.registry import setting, settings
from eval_harness.models import load_model
from eval_harness.models.base import GenerationError, Model
from eval_harness.models.session import Session
from eval_harness.probing.heads_file import read_heads

CONFIG, LONG = "4k_p75", "8k_p75"
MODEL = "smollm2"
RAP = "rap@4x2"
INSTANCES = 12
PROBED = 2  # of each task
TOKENS = LIMITS.answers["qa"]


class Pair(NamedTuple):
    """Seconds of both methods on one instance, and of the probing pass."""

    rap: float
    vanilla: float
    probe: float


def bench(folder: Path, work: Path) -> list[Result]:
    """Median of paired ratios of wall time at 4k; peak memory of both methods at 4k, and of a probing pass at 8k."""
    dataset, heads = _built(work), work / "heads.json"
    one = ("--task", "fever", "--limit", 1)
    _icr2("probe", dataset, "--config", CONFIG, "--model", MODEL, "--limit", PROBED, "--m", "1,2", "--out", heads)
    probed = Probed(read_heads(heads))
    (setting,) = settings([RAP], Retrieval(""), probed)
    instances = load_instances(open_dataset(dataset), CONFIG, "test", limit=INSTANCES // 4)
    return [
        compared(instances, setting.method, load_model(MODEL)),
        _memory(
            "rap memory",
            _eval(dataset, CONFIG, work / "rap", RAP, "--heads", str(heads)),
            _eval(dataset, CONFIG, work / "vanilla", "vanilla_rag"),
            "",
            "vanilla_rag",
        ),
        _memory(
            "probing pass memory",
            _command("probe", dataset, "--config", LONG, "--model", MODEL, *one, "--out", work / "long.json"),
            _eval(dataset, LONG, work / "prefill", "vanilla_rag", "--task", "fever", "--max-new-tokens", "1"),
            "at most 1.1",
            "vanilla_rag, one token of output",
        ),
    ]


def compared(instances: list[Instance], rap: Method, model: Model) -> Result:
    """The result for some instances, each answered by both methods in alternating order."""
    vanilla = setting("vanilla_rag").method
    _seconds(vanilla, instances[0], model)  # warms up
    pairs = []
    for at, instance in enumerate(instances):
        sides = [rap, vanilla] if at % 2 else [vanilla, rap]
        found = {side.name: _seconds(side, instance, model) for side in sides}
        seconds, steps = found[rap.name]
        pairs.append(Pair(seconds, found[vanilla.name][0], steps.get("probe", 0.0)))
    ratios = sorted(pair.rap / pair.vanilla for pair in pairs)
    share = sum(pair.probe for pair in pairs) / sum(pair.rap for pair in pairs)
    notes = (
        f"median of {len(ratios)} pairs; the ratios range from {ratios[0]:.2f} to {ratios[-1]:.2f}",
        f"{share:.0%} of its time reads the context, the rest answers",
    )
    ours, peer = (sum(values) for values in list(zip(*pairs, strict=True))[:2])
    return Result("rap", "s", ours, peer, median(ratios), "at most 1.0", None, "vanilla_rag, up to 64 tokens", notes)


def _seconds(method: Method, instance: Instance, model: Model) -> tuple[float, dict[str, float]]:
    question = Question(instance, instance.passages, TOKENS)
    run = timed(lambda: method.answer(Session(model), [question]))
    (answer,) = run.result
    if isinstance(answer, GenerationError):
        raise RuntimeError(f"{method.name} failed on {instance.id}: {answer}")
    return run.seconds, answer.steps_s or {}


def _memory(name: str, ours: list[str], peer: list[str], wanted: str, peer_is: str) -> Result:
    mine, theirs = peak_megabytes(ours), peak_megabytes(peer)
    return Result(name, "MB", mine, theirs, mine / theirs, wanted, None, peer_is)


def _built(work: Path) -> Path:
    """The demo's contexts of 4k and 8k tokens, with BM25 only."""
    choices = ("lengths=[4k, 8k]", "ratios=[75]", "loft=[]", "retrievers={bm25: {kind: bm25, k: 300}}")
    _icr2("build", "demo", "--limit", 5, "--out", work / "icr2", *(part for one in choices for part in ("--set", one)))
    return work / "icr2"


def _eval(dataset: Path, config: str, out: Path, method: str, *more: str) -> list[str]:
    what = ("--config", config, "--model", MODEL, "--method", method, "--limit", 1, "--out", out)
    return _command("eval", dataset, *what, *more)


def _command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "icr2_cli", *map(str, arguments)]


def _icr2(*arguments: object) -> None:
    subprocess.run(_command(*arguments), check=True, capture_output=True)
