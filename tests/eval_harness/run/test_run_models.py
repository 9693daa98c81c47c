"""Runs with models that keep a prefix, and with those that answer each prompt by itself."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from builders.format1 import spec_of
from builders.prompts import render
from eval_harness.models.base import Generation, GenerationError
from eval_harness.models.fake import FakeModel
from eval_harness.run.results import read_rows
from tests.eval_harness.conftest import FEVER, ROWS, instance
from tests.eval_harness.running import Recorder, plan_of, reader, results_of


class Sharing(Recorder):
    """Reads the words that prompts share once, and says so; each of its prefixes is kept."""

    def __init__(self, answer: Callable[[str], str]) -> None:
        super().__init__(answer)
        self.prefixes: list[int] = []

    def prefill(self, prompts: Sequence[str]) -> "Shared":
        self.prefixes.append(len(prompts))
        return Shared(min(len(prompt.split()) for prompt in prompts) - 1)

    def generate_after(self, prefix: "Shared", prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
        return [one._replace(n_cached_tokens=prefix.n_tokens) for one in self.generate(prompts, max_new_tokens)]


class Shared(NamedTuple):
    n_tokens: int


def test_a_shared_context_is_read_once_and_the_first_row_pays(
    make_dataset: Callable[..., Path], tmp_path: Path
) -> None:
    texts = ["Lima is the capital.", "Snow melts."]
    rows = [instance(f"nq-{n}", "nq", f"what is {n}", ["Lima"], [0], texts) for n in range(3)]
    plan = plan_of(make_dataset(c1k_p0=[*rows, FEVER]), methods=("vanilla_rag",))
    model = Sharing(reader)
    found = results_of(plan, model, tmp_path / "run")
    assert model.prefixes == [3]
    prompt = render(spec_of("nq"), "what is 0", [("Title 0", texts[0]), ("Title 1", texts[1])]).text
    shared = len(prompt.split()) - 1
    assert [found[f"nq-{n}", "1k_p0", "vanilla_rag"].n_cached_tokens for n in range(3)] == [0, shared, shared]
    assert found["fever-1", "1k_p0", "vanilla_rag"].n_cached_tokens == 0


def test_a_prefix_that_cannot_be_held_is_done_without(make_dataset: Callable[..., Path], tmp_path: Path) -> None:
    rows = [instance(f"nq-{n}", "nq", f"what is {n}", ["Lima"], [0], ["Lima is the capital."]) for n in range(3)]

    class Full(Sharing):
        def prefill(self, prompts: Sequence[str]) -> Shared:
            super().prefill(prompts)
            raise GenerationError("out of memory")

    model = Full(reader)
    found = results_of(plan_of(make_dataset(c1k_p0=rows), methods=("vanilla_rag",)), model, tmp_path / "run")
    assert model.prefixes == [3]
    assert {(row.status, row.n_cached_tokens) for row in found.values()} == {("ok", 0)}


class Each(FakeModel):
    """Answers each prompt by itself, fails for one that holds `poison`, and had a token of each prompt already."""

    def __init__(self, poison: str = "\x00") -> None:
        super().__init__(reader)
        self.asked: list[str] = []
        self._poison = poison

    def generate_each(self, prompts: Sequence[str], max_new_tokens: int) -> list[Generation | GenerationError]:
        self.asked += prompts
        found = self.generate(prompts, max_new_tokens)
        return [
            GenerationError("lost") if self._poison in prompt else one._replace(n_prompt_tokens=7, n_cached_tokens=1)
            for prompt, one in zip(prompts, found, strict=True)
        ]


def test_a_model_that_answers_each_by_itself_is_asked_again_for_what_failed_alone(
    dataset_folder: Path, tmp_path: Path
) -> None:
    """And its own counts are recorded."""
    plan = plan_of(dataset_folder, methods=("vanilla_rag",), batch_size=4, shares_prefixes=False)
    found = results_of(plan, Each("Emma"), tmp_path / "run")
    assert sorted(row.status for row in found.values()) == ["error", "ok", "ok", "ok"]
    assert {(row.n_prompt_tokens, row.n_cached_tokens) for row in found.values() if row.status == "ok"} == {(7, 1)}
    again = Each()
    found = results_of(plan, again, tmp_path / "run")
    assert [("Emma" in prompt) for prompt in again.asked] == [True]
    assert {row.status for row in found.values()} == {"ok"}
    assert [row.id for row in read_rows(tmp_path / "run")] == [row["id"] for row in ROWS]
