from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from rich.progress import Progress

from builders.errors import SetupError
from builders.prompts import render
from eval_harness.load import open_dataset
from eval_harness.models.base import Generation, GenerationError
from eval_harness.models.fake import FakeModel, replaying
from eval_harness.results import Results, Row
from eval_harness.run import Plan, default_folder, record, requests, run
from tests.eval_harness.conftest import FEVER, NQ, NQ_2, instance

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


def results_of(plan: Plan, model: FakeModel, folder: Path) -> dict[tuple[str, str, str], Row]:
    results = Results(folder, record(plan, model))
    run(plan, model, results, Progress(disable=True))
    assert len(results.done) == len(results.rows)
    return {row.key: row for row in results.rows}


def plan_of(folder: Path, **fields: object) -> Plan:
    return Plan(open_dataset(folder), **{"configs": ("1k_p0",), "methods": EVERY} | fields)  # type: ignore[arg-type]


def test_a_row_for_each_instance_config_and_method(dataset_folder: Path, tmp_path: Path) -> None:
    rows = results_of(plan_of(dataset_folder, configs=("1k_p0", "1k_p75")), FakeModel(reader), tmp_path / "run")
    assert len(rows) == 4 * 2 * 3
    assert rows["nq-1", "1k_p0", "closed_book"].scores == {"subspan_em": 0, "subspan_em_strict": 0}
    row = rows["nq-1", "1k_p75", "oracle_rag"]
    assert row.scores == {"subspan_em": 1, "subspan_em_strict": 1}
    assert (row.status, row.answer, row.condition, row.model) == ("ok", "Jane Austen", "oracle", "fake")
    prompt = render("nq", "who wrote Emma", [("Title 1", "Emma is by Jane Austen.")]).text
    assert row.n_prompt_tokens == len(prompt.split())
    fever = rows["fever-1", "1k_p0", "vanilla_rag"]
    assert (fever.answer, fever.output, fever.scores) == ("SUPPORTS", "TRUE", {"label_accuracy": 1})


def test_closed_book_and_oracle_prompts(dataset_folder: Path) -> None:
    """case 150"""
    groups = list(requests(plan_of(dataset_folder, tasks=("nq",)), len))
    closed, full, gold = (group[1].prompt or "" for group in groups)
    assert "Context:" not in closed
    assert full.count("Context:") == 3
    assert gold.count("Context:") == 1
    assert "Lima is the capital." in gold


def test_statuses(make_dataset: Callable[..., Path], tmp_path: Path) -> None:
    """cases 26 and 150: no answers leaves n, no gold is n/a; both are rows"""
    rows = [
        instance("nq-1", "nq", "q one", [], [0], ["text"]),
        instance("nq-2", "nq", "q two", ["x"], [], ["text"]),
        instance("nq-3", "nq", "q three", ["x"], [0], ["text"]),
    ]
    plan = plan_of(make_dataset(c1k_p0=rows), methods=("oracle_rag",))
    found = results_of(plan, FakeModel(lambda prompt: ""), tmp_path / "run")
    statuses = {key[0]: (row.status, row.scores) for key, row in found.items()}
    wrong = {"subspan_em": 0.0, "subspan_em_strict": 0.0}
    assert statuses == {"nq-1": ("unscorable", {}), "nq-2": ("n/a", {}), "nq-3": ("unparsed", wrong)}


def test_an_item_that_does_not_fit_is_overlength_and_never_asked(dataset_folder: Path, tmp_path: Path) -> None:
    """cases 124, 126, 130: never cut"""
    plan = plan_of(dataset_folder, tasks=("nq",), methods=("vanilla_rag",), max_new_tokens={"qa": 8})
    lengths = {
        request.instance.id: request.n_prompt_tokens for request in next(requests(plan, FakeModel(reader).count))
    }
    assert lengths["nq-1"] < lengths["nq-2"]
    model = Recorder(reader, max_positions=lengths["nq-2"] + 7)
    found = results_of(plan, model, tmp_path / "run")
    assert found["nq-2", "1k_p0", "vanilla_rag"].status == "overlength"
    assert found["nq-2", "1k_p0", "vanilla_rag"].scores == {}
    assert found["nq-1", "1k_p0", "vanilla_rag"].status == "ok"
    assert [len(batch) for batch in model.batches] == [1]
    one_more = Recorder(reader, max_positions=lengths["nq-2"] + 8)
    assert results_of(plan, one_more, tmp_path / "other")["nq-2", "1k_p0", "vanilla_rag"].status == "ok"


def test_an_output_that_fills_the_model_is_refused_before_the_run(dataset_folder: Path, tmp_path: Path) -> None:
    """case 125"""
    plan = plan_of(dataset_folder, max_new_tokens={"qa": 64, "fact": 32, "dialogue": 128})
    with pytest.raises(SetupError, match="128 new tokens leave no room"):
        results_of(plan, FakeModel(reader, max_positions=128), tmp_path / "run")


def test_equal_prompts_are_answered_once(dataset_folder: Path, tmp_path: Path) -> None:
    model = Recorder(reader)
    plan = plan_of(dataset_folder, configs=("1k_p0", "1k_p75"), methods=("closed_book",))
    found = results_of(plan, model, tmp_path / "run")
    assert len(model.batches) == 4
    assert found["nq-1", "1k_p0", "closed_book"].output == found["nq-1", "1k_p75", "closed_book"].output


def test_a_killed_run_goes_on_where_it_stopped(dataset_folder: Path, tmp_path: Path) -> None:
    plan = plan_of(dataset_folder, tasks=("nq",), methods=("vanilla_rag",))

    def killed(prompt: str) -> str:
        if "Emma" in prompt:
            raise KeyboardInterrupt
        return reader(prompt)

    with pytest.raises(KeyboardInterrupt):
        results_of(plan, FakeModel(killed), tmp_path / "run")
    model = Recorder(reader)
    found = results_of(plan, model, tmp_path / "run")
    assert [("Emma" in prompt) for batch in model.batches for prompt in batch] == [True]
    assert {row.answer for row in found.values()} == {"Jane Austen", "Lima"}
    finished = Recorder(reader)
    assert results_of(plan, finished, tmp_path / "run") == found
    assert finished.batches == []


def test_a_batch_that_fails_is_tried_one_by_one_and_the_failure_stays_in_n(
    dataset_folder: Path, tmp_path: Path
) -> None:
    plan = plan_of(dataset_folder, tasks=("nq",), methods=("vanilla_rag",), batch_size=2)
    found = results_of(plan, Recorder(reader, poison="Emma"), tmp_path / "run")
    failed = found["nq-1", "1k_p0", "vanilla_rag"]
    assert (failed.status, failed.error, failed.scores["subspan_em"]) == ("error", "out of memory", 0)
    assert found["nq-2", "1k_p0", "vanilla_rag"].answer == "Lima"


def test_batches_are_alike_and_longest_first(make_dataset: Callable[..., Path], tmp_path: Path) -> None:
    rows = [instance(f"nq-{n}", "nq", "q " * n, ["x"], [0], ["t"]) for n in (1, 4, 2, 3)]
    model = Recorder(reader)
    plan = plan_of(make_dataset(c1k_p0=[*rows, FEVER]), methods=("closed_book",), batch_size=2)
    results_of(plan, model, tmp_path / "run")
    assert [[prompt.count("q ") for prompt in batch] for batch in model.batches] == [[4, 3], [2, 1], [0]]


def test_batch_size_changes_no_answer(dataset_folder: Path, tmp_path: Path) -> None:
    """case 142"""
    found = [
        results_of(plan_of(dataset_folder, batch_size=size), FakeModel(reader), tmp_path / str(size)) for size in (1, 8)
    ]
    assert {key: row.output for key, row in found[0].items()} == {key: row.output for key, row in found[1].items()}


def test_the_record_names_what_results_depend_on_and_no_path(dataset_folder: Path) -> None:
    found = record(plan_of(dataset_folder, limit=3), FakeModel(reader))
    assert found["dataset"].keys() == {"name", "version", "manifest_sha256"}
    assert (found["configs"], found["limit"], found["model"], found["decoding"]) == (
        ["1k_p0"],
        3,
        {"name": "fake"},
        "greedy",
    )
    assert found["max_new_tokens"] == {"qa": 64, "fact": 32, "dialogue": 128}
    assert {"torch", "transformers", "tokenizers"} <= found["versions"].keys()
    assert str(dataset_folder) not in str(found)


def test_the_default_folder_is_made_of_names_and_never_too_long(dataset_folder: Path) -> None:
    plan = plan_of(dataset_folder, configs=("1k_p0", "1k_p75"), methods=("closed_book",))
    assert default_folder(plan, "org/model").as_posix() == "runs/tiny-1.0.0_1k_p0+1k_p75_org-model_closed_book"
    many = [plan_of(dataset_folder, configs=tuple(f"{n}k_p{last}" for n in range(99))) for last in (0, 1)]
    names = {default_folder(one, "m").name for one in many}
    assert len(names) == 2
    assert max(map(len, names)) <= 120


def test_a_replaying_model_knows_only_what_it_saw(make_dataset: Callable[..., Path], tmp_path: Path) -> None:
    plan = plan_of(make_dataset(c1k_p0=[NQ, NQ_2]), methods=("closed_book",))
    emma, peru = next(requests(plan, len))
    found = results_of(plan, replaying({emma.prompt_sha256: "Jane Austen"}), tmp_path / "run")
    assert found[emma.key].answer == "Jane Austen"
    assert found[peru.key].status == "error"
