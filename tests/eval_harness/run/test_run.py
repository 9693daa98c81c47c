from collections.abc import Callable
from pathlib import Path

import pytest

from builders.errors import SetupError
from builders.format1 import spec_of
from builders.prompts import render
from eval_harness.methods.limits import Limits
from eval_harness.models.fake import FakeModel, replaying
from eval_harness.run.plan import default_folder
from eval_harness.run.record import record
from eval_harness.run.requests import requests
from eval_harness.run.results import read_rows
from eval_harness.scoring.registry import SCORERS
from tests.eval_harness.conftest import NQ, NQ_2, ROWS, instance
from tests.eval_harness.running import EVERY, Recorder, plan_of, reader, results_of


def test_a_row_for_each_instance_config_and_method(dataset_folder: Path, tmp_path: Path) -> None:
    rows = results_of(plan_of(dataset_folder, configs=("1k_p0", "1k_p75")), FakeModel(reader), tmp_path / "run")
    assert len(rows) == 4 * 2 * 3
    assert rows["nq-1", "1k_p0", "closed_book"].scores["subspan_em"] == 0
    row = rows["nq-1", "1k_p75", "oracle_rag"]
    assert (row.scores["subspan_em"], row.scores["subspan_em_strict"]) == (1, 1)
    assert (row.status, row.answer, row.condition, row.model) == ("ok", "Jane Austen", "oracle", "fake")
    prompt = render(spec_of("nq"), "who wrote Emma", [("Title 1", "Emma is by Jane Austen.")]).text
    assert row.n_prompt_tokens == len(prompt.split())
    fever = rows["fever-1", "1k_p0", "vanilla_rag"]
    assert (fever.answer, fever.output, fever.scores["label_accuracy"]) == ("SUPPORTS", "TRUE", 1)


def test_closed_book_and_oracle_prompts(dataset_folder: Path) -> None:
    """The conditions use the same instances."""
    groups = list(requests(plan_of(dataset_folder, tasks=("nq",)), len))
    closed, full, gold = (group[1].prompt or "" for group in groups)
    assert "Context:" not in closed
    assert full.count("Context:") == 3
    assert gold.count("Context:") == 1
    assert "Lima is the capital." in gold


def test_statuses(make_dataset: Callable[..., Path], tmp_path: Path) -> None:
    """No answers leaves n, no gold is n/a; both are rows."""
    rows = [
        instance("nq-1", "nq", "q one", [], [0], ["text"]),
        instance("nq-2", "nq", "q two", ["x"], [], ["text"]),
        instance("nq-3", "nq", "q three", ["x"], [0], ["text"]),
    ]
    plan = plan_of(make_dataset(c1k_p0=rows), methods=("oracle_rag",))
    found = results_of(plan, FakeModel(lambda prompt: ""), tmp_path / "run")
    statuses = {key[0]: (row.status, row.scores) for key, row in found.items()}
    wrong = dict.fromkeys(SCORERS["qa"].metrics, 0.0)
    assert statuses == {"nq-1": ("unscorable", {}), "nq-2": ("n/a", {}), "nq-3": ("unparsed", wrong)}


def test_an_item_that_does_not_fit_is_overlength_and_never_asked(dataset_folder: Path, tmp_path: Path) -> None:
    """Never cut."""
    plan = plan_of(dataset_folder, tasks=("nq",), methods=("vanilla_rag",), limits=Limits({"qa": 8}))
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
    """No room for a prompt."""
    plan = plan_of(dataset_folder, limits=Limits({"qa": 64, "fact": 32, "dialogue": 128}))
    with pytest.raises(SetupError, match="128 new tokens leave none for a prompt"):
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


def test_batch_size_changes_no_answer(dataset_folder: Path, tmp_path: Path) -> None:
    """A batch gives what single runs give."""
    found = [
        results_of(plan_of(dataset_folder, batch_size=size), FakeModel(reader), tmp_path / str(size)) for size in (1, 8)
    ]
    assert {key: row.output for key, row in found[0].items()} == {key: row.output for key, row in found[1].items()}


def test_the_record_names_what_results_depend_on_and_no_path(dataset_folder: Path) -> None:
    found = record(plan_of(dataset_folder, limit=3), FakeModel(reader))
    assert found["dataset"].keys() == {"name", "version", "manifest_sha256"}
    assert ([*found["configs"]], found["limit"], found["model"], found["decoding"]) == (
        ["1k_p0"],
        3,
        {"name": "fake"},
        "greedy",
    )
    assert found["max_new_tokens"] == {"qa": 64, "fact": 32, "dialogue": 128, "set": 64, "needle": 64}
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


def test_finished_rows_stand_in_the_order_of_the_plan(dataset_folder: Path, tmp_path: Path) -> None:
    """And not in that of the batches, so that the file is the same whatever their size."""
    configs = ("1k_p75", "1k_p0")
    plan = plan_of(dataset_folder, configs=configs)
    results_of(plan, FakeModel(reader), tmp_path / "run")
    want = [(row["id"], config, method) for config in configs for method in EVERY for row in ROWS]
    assert [row.key for row in read_rows(tmp_path / "run")] == want


def test_equal_prompts_of_two_methods_are_answered_once(dataset_folder: Path, tmp_path: Path) -> None:
    """Contexts of up to three passages: the 16 best are all of them."""
    model = Recorder(reader)
    plan = plan_of(dataset_folder, methods=("retrieved_bm25", "vanilla_rag"), batch_size=2)
    found = results_of(plan, model, tmp_path / "run")
    assert sum(map(len, model.batches)) == 4
    assert found["nq-1", "1k_p0", "retrieved_bm25"].output == found["nq-1", "1k_p0", "vanilla_rag"].output
    assert found["nq-1", "1k_p0", "retrieved_bm25"].condition == "retrieved_bm25@16"


def test_what_a_retriever_chose_is_evidence(dataset_folder: Path, tmp_path: Path) -> None:
    """One of one gold passage among two kept: recall 1, precision 1/2, F1 2/3. Vanilla and oracle choose nothing."""
    plan = plan_of(dataset_folder, tasks=("nq",), methods=("retrieved_bm25@2", "vanilla_rag", "oracle_rag"))
    found = results_of(plan, FakeModel(reader), tmp_path / "run")
    row = found["nq-2", "1k_p0", "retrieved_bm25@2"]
    assert row.evidence == ["0:0", "1:0"]
    scores = [row.scores[f"evidence_{name}"] for name in ("recall", "precision", "f1")]
    assert scores == pytest.approx([1, 1 / 2, 2 / 3])
    assert found["nq-2", "1k_p0", "vanilla_rag"].evidence is None
    assert not [name for name in found["nq-2", "1k_p0", "oracle_rag"].scores if name.startswith("evidence")]


CITATIONS = {
    "Jane Austen\nEvidence: [2]": (["1:0"], 1, 1),
    "Jane Austen\nEvidence: [2], [1]": (["1:0", "0:0"], 1, 1 / 2),
    "Jane Austen\nEvidence: [37]": (["[37]"], 0, 0),
    "Jane Austen\nEvidence: none": ([], 0, 0),
    "Jane Austen": ([], 0, 0),
    "": ([], 0, 0),
}


@pytest.mark.parametrize(("output", "want"), CITATIONS.items())
def test_cited_numbers_become_passages(
    output: str, want: tuple[list[str], float, float], dataset_folder: Path, tmp_path: Path
) -> None:
    """A number that no passage has is a wrong citation and not another passage's."""
    plan = plan_of(dataset_folder, tasks=("nq",), limit=1, methods=("vanilla_rag+cite",))
    (row,) = results_of(plan, FakeModel(lambda prompt: output), tmp_path / "run").values()
    assert (row.evidence, row.scores["evidence_recall"], row.scores["evidence_precision"]) == want
    assert row.status == ("ok" if output else "unparsed")
    assert row.answer == ("Jane Austen" if output else None)


def test_every_counted_row_has_the_same_scores(make_dataset: Callable[..., Path], tmp_path: Path) -> None:
    """A mean has one denominator for each measure, failures and outputs without an answer included."""
    rows = [instance(f"nq-{n}", "nq", name, ["x"], [0], ["t"]) for n, name in enumerate(("fine", "empty", "poison"))]
    plan = plan_of(make_dataset(c1k_p0=rows), methods=("vanilla_rag+cite",))
    model = Recorder(lambda prompt: "" if "empty" in prompt else "x [1]", poison="poison")
    found = results_of(plan, model, tmp_path / "run").values()
    assert [row.status for row in found] == ["ok", "unparsed", "error"]
    assert len({tuple(row.scores) for row in found}) == 1
    assert [row.scores["evidence_recall"] for row in found] == [1, 0, 0]


def test_citing_prompts_have_room_for_evidence(dataset_folder: Path) -> None:
    plan = plan_of(dataset_folder, methods=("vanilla_rag", "vanilla_rag+cite"), tasks=("nq",))
    assert [group[0].max_new_tokens for group in requests(plan, len)] == [64, 64 + 32]
    assert record(plan, FakeModel(reader))["evidence_tokens"] == 32
    assert record(plan_of(dataset_folder), FakeModel(reader))["evidence_tokens"] is None


def test_shards_are_the_whole_and_keep_contexts_together(make_dataset: Callable[..., Path]) -> None:
    rows = [instance(f"nq-{n}", "nq", f"q {n}", ["x"], [0], ["t"]) | {"context_id": f"c{n // 3}"} for n in range(12)]
    folder = make_dataset(c1k_p0=rows)
    parts = [plan_of(folder, shard=(number, 3)).instances("1k_p0") for number in (1, 2, 3)]
    assert sorted(one.id for part in parts for one in part) == sorted(row["id"] for row in rows)
    contexts = [{one.context_id for one in part} for part in parts]
    assert contexts == [{"c0", "c3"}, {"c1"}, {"c2"}]
    with pytest.raises(SetupError, match="fewer than 5 contexts; use fewer shards"):
        plan_of(folder, shard=(5, 5)).instances("1k_p0")


def test_the_record_of_a_run_that_retrieves(dataset_folder: Path) -> None:
    found = record(plan_of(dataset_folder, methods=("retrieved_bm25@16", "vanilla_rag+cite")), FakeModel(reader))
    assert found["methods"] == ["retrieved_bm25", "vanilla_rag+cite"]
    assert found["retrieval"]["bm25"] == {"k1": 0.9, "b": 0.4}
    assert found["citing_version"] == "1"
    assert found["shard"] == [1, 1]
    assert found["scorer_version"]
