"""A run that stops: a model whose answers depend on all that is computed with them, and that may kill its process.

`python -m tests.eval_harness.stopping DATASET RUN N` runs it and is killed at the N-th batch.
"""

import os
import signal
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from rich.progress import Progress

from eval_harness.data.dataset import open_dataset
from eval_harness.models.base import Generation
from eval_harness.run.plan import Plan
from eval_harness.run.record import record
from eval_harness.run.results import Results
from eval_harness.run.run import run


class Shared(NamedTuple):
    """What prompts share, as the digest of all of them."""

    digest: str
    n_tokens: int


class Sensitive:
    """Answers with digests of its batch and of the prompts that share a prefix; ends its process at batch `last`."""

    name = "sensitive"
    max_positions = 1 << 20

    def __init__(self, last: int | None = None) -> None:
        self.n_batches = 0
        self._last = last

    def count(self, prompt: str) -> int:
        return len(prompt.split())

    def describe(self) -> dict[str, Any]:
        return {"name": self.name}

    def prefill(self, prompts: Sequence[str]) -> Shared:
        return Shared(digest_of(prompts), min(map(self.count, prompts)) - 1)

    def generate_after(self, prefix: Shared, prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
        found = self.generate(prompts, max_new_tokens)
        return [one._replace(text=one.text + prefix.digest, n_cached_tokens=prefix.n_tokens) for one in found]

    def generate(self, prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
        self.n_batches += 1
        if self.n_batches == self._last:
            os.kill(os.getpid(), signal.SIGKILL)
        batch = digest_of(prompts)
        return [Generation(f"é𝒳 {digest_of([p])} {batch} ", self.count(p), 3, truncated=False) for p in prompts]


def digest_of(prompts: Sequence[str]) -> str:
    return sha256("\x1f".join(prompts).encode()).hexdigest()[:8]


def plan_of(dataset: Path) -> Plan:
    """Two configs and settings that share passages, prompts and batches of three."""
    methods = ("closed_book", "vanilla_rag", "oracle_rag", "vanilla_rag+cite", "retrieved_bm25@2")
    return Plan(open_dataset(dataset), ("1k_p0", "1k_p75"), methods, batch_size=3)


def run_in(folder: Path, dataset: Path, last: int | None = None) -> None:
    """The run in `folder`, from the beginning or from where it stopped."""
    model, plan = Sensitive(last), plan_of(dataset)
    run(plan, model, Results(folder, record(plan, model)), Progress(disable=True))


if __name__ == "__main__":
    run_in(Path(sys.argv[2]), Path(sys.argv[1]), int(sys.argv[3]))
