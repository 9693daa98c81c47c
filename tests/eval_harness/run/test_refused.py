"""Runs whose model stops answering: what was answered is kept, and what was never asked is no result."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from builders.errors import SetupError
from eval_harness.commands.asking import answered
from eval_harness.methods.limits import fixed
from eval_harness.models.base import Generation, GenerationError, Unasked
from eval_harness.models.fake import FakeModel
from eval_harness.run.results import read_rows
from tests.eval_harness.running import plan_of, reader


class Metered(FakeModel):
    """Answers so many prompts, each on its own, and refuses all others."""

    def __init__(self, quota: int) -> None:
        super().__init__(reader)
        self.quota = quota

    def generate_each(self, prompts: Sequence[str], max_new_tokens: int) -> list[Generation | GenerationError]:
        found: list[Generation | GenerationError] = []
        for prompt in prompts:
            self.quota -= 1
            fits = self.quota >= 0
            found += self.generate([prompt], max_new_tokens) if fits else [Unasked("429: insufficient_quota")]
        return found


class Failing(FakeModel):
    """Fails for every prompt."""

    def generate(self, prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
        raise GenerationError("out of memory")


def test_a_quota_that_ends_stops_the_run_and_leaves_no_result_for_what_was_not_asked(
    dataset_folder: Path, tmp_path: Path
) -> None:
    plan = plan_of(dataset_folder, methods=("vanilla_rag",), batch_size=4)
    whole = answered(plan, Metered(1000), tmp_path / "whole").rows
    asked = [row for row in whole if row.output is not None]
    assert len(asked) >= 4
    for quota in (1, 2, len(asked) - 1):
        run = tmp_path / f"quota{quota}"
        with pytest.raises(SetupError, match=r"answers no further prompt: 429: insufficient_quota.*rerun"):
            answered(plan, Metered(quota), run)
        rows = read_rows(run)
        assert sum(row.output is not None for row in rows) == quota
        assert "error" not in {row.status for row in rows}
        resumed = answered(plan, Metered(len(asked) - quota), run).rows  # nothing is asked twice
        assert [(row.key, row.output) for row in resumed] == [(row.key, row.output) for row in whole]


def test_a_quota_that_is_spent_leaves_nothing(dataset_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="nothing was answered; rerun"):
        answered(plan_of(dataset_folder, methods=("oracle_rag",), tasks=("nq",)), Metered(0), tmp_path / "run")


def test_a_run_in_which_every_prompt_fails_is_refused_and_can_be_rerun(dataset_folder: Path, tmp_path: Path) -> None:
    plan = plan_of(dataset_folder, methods=("vanilla_rag",))
    with pytest.raises(SetupError, match=r"nothing was answered: all . prompts failed.*out of memory; rerun"):
        answered(plan, Failing(reader), tmp_path / "run")
    assert {row.status for row in read_rows(tmp_path / "run")} >= {"error"}
    assert "error" not in {row.status for row in answered(plan, FakeModel(reader), tmp_path / "run").rows}


def test_a_run_in_which_no_prompt_fits_the_model_is_refused(dataset_folder: Path, tmp_path: Path) -> None:
    plan = plan_of(dataset_folder, methods=("vanilla_rag",), limits=fixed(4))
    with pytest.raises(SetupError, match=r"nothing was answered: all 4 prompts are longer than the 5 tokens of .*--"):
        answered(plan, FakeModel(reader, max_positions=5), tmp_path / "run")
    assert {row.status for row in read_rows(tmp_path / "run")} == {"overlength"}
    assert {row.status for row in answered(plan, FakeModel(reader), tmp_path / "again").rows} == {"ok"}
