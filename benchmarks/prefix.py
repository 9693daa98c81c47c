"""Many questions over one context: the shared prefix read once, compared with every prompt read whole."""

import shutil
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from rich.progress import Progress

from benchmarks.report import Result
from benchmarks.timing import Timed, alternately
from eval_harness.data.dataset import open_dataset
from eval_harness.methods.limits import fixed
from eval_harness.models import load_model
from eval_harness.models.base import Model
from eval_harness.run.plan import Plan
from eval_harness.run.record import record
from eval_harness.run.results import Results, Row
from eval_harness.run.run import run

CONFIG = "loft_4k"
QUESTIONS = 20
NEW_TOKENS = 16


def bench(folder: Path, work: Path) -> list[Result]:
    """Prompt tokens that the model computes, and wall time, for 20 questions over one context of 4k tokens."""
    lengths = ("lengths=[1k]", "ratios=[0]", "loft=[4k]")
    command = [sys.executable, "-m", "icr2_cli", "build", "demo", "--out", str(work / "demo")]
    subprocess.run([*command, *(part for one in lengths for part in ("--set", one))], check=True, capture_output=True)
    return compared(one_context(work / "demo", work / "one", QUESTIONS), load_model("smollm2", "float32"), work)


def one_context(dataset: Path, out: Path, n: int) -> Path:
    """A dataset of the first n questions over the context of CONFIG with the most questions."""
    source = dataset / CONFIG / "test-00000-of-00001.parquet"
    rows = pq.read_table(source)
    ((context, _),) = Counter(rows.column("context_id").to_pylist()).most_common(1)
    target = out / CONFIG / source.name
    target.parent.mkdir(parents=True)
    pq.write_table(rows.filter(pc.equal(rows.column("context_id"), pa.scalar(context))).slice(0, n), target)
    shutil.copy(dataset / "manifest.json", out / "manifest.json")
    return out


def compared(dataset: Path, model: Model, work: Path) -> list[Result]:
    """The results for a dataset and a model, with prompts one by one on both sides."""
    ours, peer = alternately(*(partial(_rows, dataset, model, work, shares) for shares in (True, False)))
    same = sum(row.output == other.output for row, other in zip(ours.result, peer.result, strict=True))
    agrees = same == len(peer.result)
    note = f"{same} of {len(peer.result)} outputs are the same, over a context of {_longest(peer)} tokens"
    tokens, all_tokens = _computed(ours), _computed(peer)
    return [
        Result(
            "prefix tokens", "tokens", tokens, all_tokens, all_tokens / tokens, "5 or more", agrees, "none", (note,)
        ),
        Result("prefix time", "s", ours.seconds, peer.seconds, peer.seconds / ours.seconds, "none", None, "none"),
    ]


def _rows(dataset: Path, model: Model, work: Path, shares: bool) -> list[Row]:
    out = work / f"run-{shares}"
    shutil.rmtree(out, ignore_errors=True)
    plan = Plan(open_dataset(dataset), (CONFIG,), ("vanilla_rag",), limits=fixed(NEW_TOKENS), shares_prefixes=shares)
    results = Results(out, record(plan, model))
    run(plan, model, results, Progress(disable=True))
    return results.rows


def _computed(side: Timed) -> int:
    return sum((row.n_prompt_tokens or 0) - (row.n_cached_tokens or 0) for row in side.result)


def _longest(side: Timed) -> int:
    return max(row.n_prompt_tokens or 0 for row in side.result)
