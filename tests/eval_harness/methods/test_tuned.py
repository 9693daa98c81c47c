"""Methods of tuned models in a run: for the right checkpoint alone, with room for what is retrieved, with evidence."""

from collections.abc import Callable
from pathlib import Path

import pytest

from builders.errors import SetupError
from eval_harness.conditions.ranking import Retrieval
from eval_harness.methods.registry import setting_of, settings
from eval_harness.models.base import MARKS
from eval_harness.models.fake import FakeModel
from eval_harness.models.training import FILE
from eval_harness.run.plan import Plan
from eval_harness.run.record import record
from eval_harness.run.requests import requests
from tests.eval_harness.conftest import NQ, NQ_2
from tests.eval_harness.methods.checkpoints import Checkpoint, training
from tests.eval_harness.running import plan_of, reader, results_of

OPENS, CLOSES = MARKS
EMMA = "ID: 2\nTitle: Title 1\nContext: Emma is by Jane Austen.\n"
SNOW = "ID: 2\nTitle: Title 1\nContext: Snow melts.\n"


def scripted(prompt: str) -> str:
    """Retrieves right for the first question, wrong and without an end for the second."""
    return f"{OPENS}{EMMA}{CLOSES}\nJane Austen" if "Emma" in prompt else f"{OPENS}ID: 1\nTitle: T\nContext: x\n{SNOW}"


def citing(prompt: str) -> str:
    return f"{OPENS}[2]{CLOSES}\nJane Austen" if "Emma" in prompt else f"{OPENS}[2][9]{CLOSES}\nLima"


def test_names() -> None:
    names = ["sft_da", "sft_rta", "sft_cci", "sft_rta+block_context", "sft_cci+block_context"]
    names += ["rethead@4", "rethead@2+reprompt"]
    found = settings(names, Retrieval())
    assert [(one.name, one.method.name, one.condition.name) for one in found] == [(n, n, "vanilla") for n in names]
    assert [one.names_evidence for one in found] == [False] + 6 * [True]


@pytest.mark.parametrize(
    "name",
    [
        "sft_da+block_context",
        "sft_rta+cite",
        "sft_rta@4",
        "sft",
        "sft_rta+rap@2",
        "rethead",
        "sft_rta+block_context+rap",
    ],
)
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(
        SetupError, match=rf"no method {name.replace('+', '.')}; (available: .*sft_rta|(sft_\w+|rethead) is written)"
    ):
        settings([name], Retrieval())


@pytest.mark.parametrize("name", ["sft_rta+rap", "sft_da+rap@2x1"])
def test_probing_needs_heads(name: str) -> None:
    with pytest.raises(SetupError, match="give --heads FILE"):
        settings([name], Retrieval())


@pytest.mark.parametrize(
    ("variant", "method", "words"),
    [
        ("rta", "sft_cci", "was tuned as rta, not for sft_cci; use sft_rta"),
        ("da", "sft_rta+block_context", r"was tuned as da, not for sft_rta\+block_context; use sft_da"),
        ("head", "sft_da", "was tuned as head, not for sft_da; use rethead@K"),
        (None, "sft_da", "has no training.json, .*icr2 train sft --variant da, or use vanilla_rag"),
        ("rta", "vanilla_rag", "does not begin with the answer; use sft_rta"),
        ("cci", "retrieved_bm25+cite", "does not begin with the answer; use sft_cci"),
        ("rta", "sft_rta+block_context", "gives no access to what it read"),
    ],
)
def test_a_checkpoint_of_another_method_is_refused(
    variant: str | None, method: str, words: str, dataset_folder: Path, tmp_path: Path
) -> None:
    model = Checkpoint(tmp_path / "model", variant, reader)
    with pytest.raises(SetupError, match=words):
        record(plan_of(dataset_folder, methods=(method,)), model)


def test_a_model_without_a_folder_or_with_a_broken_record_is_refused(dataset_folder: Path, tmp_path: Path) -> None:
    plan = plan_of(dataset_folder, methods=("sft_rta",))
    with pytest.raises(SetupError, match=r"fake has no training.json"):
        record(plan, FakeModel(reader))
    model = Checkpoint(tmp_path / "model", "rta", reader)
    (model.folder / FILE).write_text("{}")
    with pytest.raises(SetupError, match="is no record of a training"):
        record(plan, model)


def test_a_checkpoint_is_asked_as_it_was_tuned(tmp_path: Path) -> None:
    assert setting_of(FakeModel(reader)).name == "vanilla_rag"
    for variant, name in [("da", "sft_da"), ("rta", "sft_rta"), ("cci", "sft_cci"), ("head", "vanilla_rag")]:
        assert setting_of(Checkpoint(tmp_path / variant, variant, reader)).name == name


def test_a_direct_answer_tuned_may_be_asked_at_once_too(dataset_folder: Path, tmp_path: Path) -> None:
    model = Checkpoint(tmp_path / "model", "da", reader)
    found = results_of(plan_of(dataset_folder, methods=("sft_da", "vanilla_rag")), model, tmp_path / "run")
    for row in found.values():
        assert row.evidence is None
        assert row.scores == found[row.id, row.config, "vanilla_rag"].scores
        assert "evidence_recall" not in row.scores


def test_copies_are_scored_as_evidence(make_dataset: Callable[..., Path], tmp_path: Path) -> None:
    plan = plan_of(make_dataset(c1k_p0=[NQ, NQ_2]), methods=("sft_rta",))
    model = Checkpoint(tmp_path / "model", "rta", scripted)
    first = results_of(plan, model, tmp_path / "run")
    emma, peru = (first[id, "1k_p0", "sft_rta"] for id in ("nq-1", "nq-2"))
    assert (emma.status, emma.answer, emma.evidence, emma.truncated) == ("ok", "Jane Austen", ["1:0"], False)
    assert (emma.scores["subspan_em"], emma.scores["evidence_recall"], emma.scores["evidence_f1"]) == (1, 1, 1)
    assert emma.output == f"{OPENS}{EMMA}{CLOSES}\nJane Austen"
    # gold is the first passage; the second was copied, and one that is not there
    assert (peru.status, peru.answer, peru.evidence, peru.truncated) == ("unparsed", None, ["[?]", "1:0"], True)
    assert {peru.scores[name] for name in ("subspan_em", "evidence_recall", "evidence_precision")} == {0}
    again = results_of(plan, Checkpoint(tmp_path / "model", "rta", lambda prompt: "asked again"), tmp_path / "run")
    assert again == first


def test_cited_ids_are_scored_as_evidence(make_dataset: Callable[..., Path], tmp_path: Path) -> None:
    plan = plan_of(make_dataset(c1k_p0=[NQ, NQ_2]), methods=("sft_cci",))
    found = results_of(plan, Checkpoint(tmp_path / "model", "cci", citing), tmp_path / "run")
    emma, peru = (found[id, "1k_p0", "sft_cci"] for id in ("nq-1", "nq-2"))
    assert (emma.answer, emma.evidence, emma.scores["evidence_precision"]) == ("Jane Austen", ["1:0"], 1)
    assert (peru.answer, peru.evidence, peru.scores["subspan_em"]) == ("Lima", ["1:0", "[9]"], 1)
    assert (peru.scores["evidence_recall"], peru.scores["evidence_precision"]) == (0, 0)


def limits(plan: Plan, positions: int, n_tokens: int = 500) -> dict[str, int]:
    """The output limit of the first instance under each method, its prompt being of so many tokens."""
    return {group[0].method: group[0].max_new_tokens for group in requests(plan, lambda text: n_tokens, positions)}


def test_a_retrieval_has_the_room_that_there_is(dataset_folder: Path) -> None:
    """A question's answer has 64 tokens, a retrieval up to 1024, cited ids up to 128, and 32 at the least."""
    methods = ("vanilla_rag", "sft_da", "sft_rta", "sft_cci")
    plan = plan_of(dataset_folder, methods=methods, tasks=("nq",))

    def given(positions: int) -> list[int]:
        found = limits(plan, positions)
        return [found[method] for method in methods]

    assert given(1 << 20) == [64, 64, 64 + 1024, 64 + 128]
    assert given(500 + 64 + 1024) == [64, 64, 64 + 1024, 64 + 128]
    assert given(500 + 64 + 200) == [64, 64, 64 + 200, 64 + 128]
    assert given(500 + 64 + 32) == [64, 64, 64 + 32, 64 + 32]
    assert given(500 + 64 + 31) == [64, 64, 64 + 32, 64 + 32]  # overlength
    assert given(400) == [64, 64, 64 + 32, 64 + 32]


def test_what_leaves_no_room_to_retrieve_is_overlength(make_dataset: Callable[..., Path], tmp_path: Path) -> None:
    folder = make_dataset(c1k_p0=[NQ | {"query": "who wrote Emma " + "or more " * 100}])
    n = next(requests(plan_of(folder, methods=("vanilla_rag",)), lambda text: len(text.split())))[0].n_prompt_tokens
    for room, status in [(31, "overlength"), (32, "ok"), (40, "ok")]:
        model = Checkpoint(tmp_path / "model", "rta", scripted, max_positions=n + 64 + room)
        plan = plan_of(folder, methods=("sft_rta",))
        (row,) = results_of(plan, model, tmp_path / str(room)).values()
        assert row.status == status
        assert model.limits == ([64 + room] if status == "ok" else [])


def test_a_limit_that_is_asked_for_is_that_of_the_whole_output(dataset_folder: Path) -> None:
    from eval_harness.commands.asking import completed
    from eval_harness.commands.options import Answering, Batches

    plan = plan_of(dataset_folder, methods=("sft_rta", "vanilla_rag"), tasks=("nq",))
    given = completed(plan, Answering("m", max_new_tokens=100), Batches())
    assert limits(given, 1 << 20) == limits(given, 602) == {"sft_rta": 100, "vanilla_rag": 100}


def test_a_run_says_what_the_model_was_tuned_for(dataset_folder: Path, tmp_path: Path) -> None:
    model = Checkpoint(tmp_path / "model", "rta", scripted)
    found = record(plan_of(dataset_folder, methods=("sft_rta",)), model)
    assert found["training"] == training("rta").model_dump()
    assert (found["retrieval_tokens"], found["evidence_tokens"]) == (1024, 32)
    plain = record(plan_of(dataset_folder), FakeModel(reader))
    assert (plain["training"], plain["retrieval_tokens"], plain["evidence_tokens"]) == (None, None, None)


def test_batches_are_those_of_single_prompts(dataset_folder: Path, tmp_path: Path) -> None:
    model = Checkpoint(tmp_path / "model", "rta", scripted)
    one, many = (
        results_of(plan_of(dataset_folder, methods=("sft_rta",), batch_size=n), model, tmp_path / str(n))
        for n in (1, 4)
    )
    assert {key: (row.output, row.evidence) for key, row in one.items()} == {
        key: (row.output, row.evidence) for key, row in many.items()
    }
