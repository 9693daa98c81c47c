"""Runs of fake models, for tests."""

from collections.abc import Callable, Sequence
from pathlib import Path

from rich.progress import Progress

from eval_harness.data.dataset import open_dataset
from eval_harness.models.base import Generation, GenerationError, Model
from eval_harness.models.fake import FakeModel
from eval_harness.run.plan import Plan
from eval_harness.run.record import record
from eval_harness.run.results import Results, Row
from eval_harness.run.run import run

EVERY = ("closed_book", "vanilla_rag", "oracle_rag")


class Recorder(FakeModel):
    """Keeps the batches it was asked, and fails for a prompt that holds `poison`."""

    def __init__(self, answer: Callable[[str], str], poison: str = "\x00", max_positions: int = 1 << 20) -> None:
        super().__init__(answer, max_positions=max_positions)
        self.batches: list[list[str]] = []
        self._poison = poison

    def generate(self, prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
        self.batches.append(list(prompts))
        if any(self._poison in prompt for prompt in prompts):
            raise GenerationError("out of memory")
        return super().generate(prompts, max_new_tokens)


def reader(prompt: str) -> str:
    """A model that answers from its context alone."""
    if "Claim:" in prompt:
        return "TRUE"
    return next((name for name in ("Jane Austen", "Lima") if name in prompt), "no idea")


def results_of(plan: Plan, model: Model, folder: Path) -> dict[tuple[str, str, str], Row]:
    results = Results(folder, record(plan, model))
    run(plan, model, results, Progress(disable=True))
    assert len(results.done) == len(results.rows)
    return {row.key: row for row in results.rows}


def plan_of(folder: Path, **fields: object) -> Plan:
    return Plan(open_dataset(folder), **{"configs": ("1k_p0",), "methods": EVERY} | fields)  # type: ignore[arg-type]
