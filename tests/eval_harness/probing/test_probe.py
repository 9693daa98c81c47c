"""A head that is known to retrieve is found, and answers come from what it chooses."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from builders.errors import SetupError
from builders.tasks import TaskSpec
from eval_harness.commands.probe import in_turn
from eval_harness.data.dataset import load_instances, open_dataset
from eval_harness.models import load_model
from eval_harness.probing.heads import Head, union
from eval_harness.probing.heads_file import read_heads
from eval_harness.probing.probe import VARIANTS, Variant, scores_of
from eval_harness.probing.reading import attend, layers_of, look_at
from icr2_cli import app
from tests.eval_harness.probing.retriever import HEAD, LAYER, rows


def run(*arguments: Any) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="session")
def probed(retriever: Path, dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("probe") / "heads.json"
    how = ("--position", "question", "--dtype", "float32", "--m", "1,2", "--compare")
    shown = run(
        "probe",
        dataset,
        "--config",
        "1k_p0",
        "--model",
        retriever,
        *how,
        "--out",
        out,
        "--figure",
        out.with_suffix(".png"),
    )
    assert "12 instances" in shown
    return out


def test_the_head_that_retrieves_is_found_first(probed: Path) -> None:
    heads = read_heads(probed)
    assert heads.best(1, 1) == [Head(LAYER, HEAD)]
    assert heads.rate(Head(LAYER, HEAD), 1) == 1.0
    others = [
        rate
        for layer in (0, 1)
        for head, rate in enumerate(heads.hit_rates[1][layer])
        if (layer, head) != (LAYER, HEAD)
    ]
    assert max(others) < 0.7
    assert probed.with_suffix(".png").stat().st_size > 10_000


def test_rap_selects_the_gold_passage_in_every_instance(
    probed: Path, retriever: Path, dataset: Path, tmp_path: Path
) -> None:
    common = ("--config", "1k_p0", "--model", retriever, "--dtype", "float32", "--max-new-tokens", 3)
    run("eval", dataset, *common, "--method", "rap@1x1", "--heads", probed, "--out", tmp_path / "run")
    found = [json.loads(line) for line in (tmp_path / "run" / "results.jsonl").read_text().splitlines()]
    assert len(found) == 10
    gold = {row["id"]: [row["passages"][at]["pid"] for at in row["gold"]] for row in rows(10, "test")}
    assert {row["id"]: row["evidence"] for row in found} == gold
    assert all(row["scores"]["evidence_recall"] == 1.0 for row in found)
    assert all(set(row["steps_s"]) == {"probe", "filter", "answer"} for row in found)
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert {tuple(*of["heads"]) for of in record["probed"]["rap@1x1"]["tasks"].values()} == {(LAYER, HEAD)}


def test_rap_beside_vanilla_chooses_the_same_passages(
    probed: Path, retriever: Path, dataset: Path, tmp_path: Path
) -> None:
    """Vanilla's prompt is the same one, so both share a prefill; the last token alone is read for the probe."""
    common = ("--config", "1k_p0", "--model", retriever, "--dtype", "float32", "--max-new-tokens", 3, "--heads", probed)
    run("eval", dataset, *common, "--method", "vanilla_rag", "--method", "rap@2x2", "--out", tmp_path / "both")
    run("eval", dataset, *common, "--method", "rap@2x2", "--no-prefix-reuse", "--out", tmp_path / "alone")

    def outputs(folder: Path) -> dict[str, tuple]:
        lines = (folder / "results.jsonl").read_text().splitlines()
        found = [json.loads(line) for line in lines]
        return {row["id"]: (row["evidence"], row["output"]) for row in found if row["method"] == "rap@2x2"}

    assert outputs(tmp_path / "both") == outputs(tmp_path / "alone")


def test_answers_that_are_written_together_are_those_written_alone(
    retriever: Path, dataset: Path, probed: Path, tmp_path: Path
) -> None:
    """Contexts of three and of four passages: what is padded changes nothing."""
    common = ("--config", "1k_p0", "--model", retriever, "--dtype", "float32", "--heads", probed, "--method", "rap@2x2")
    found = []
    for size in (1, 3):
        run("eval", dataset, *common, "--batch-size", size, "--no-prefix-reuse", "--out", tmp_path / str(size))
        lines = (tmp_path / str(size) / "results.jsonl").read_text().splitlines()
        rows = [json.loads(line) for line in lines]
        assert all({"probe", "filter", "answer"} == row["steps_s"].keys() for row in rows)
        found.append({row["id"]: (row["evidence"], row["output"]) for row in rows})
    assert found[0] == found[1]
    assert len(found[0]) > 3


def test_a_context_is_read_once_for_vanilla_and_rap(
    probed: Path, retriever: Path, dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each instance the whole prompt once, then a token or what was chosen."""
    from eval_harness.models.hf import HfModel

    read: list[int] = []
    opened = HfModel.__init__

    def watched(self: HfModel, *given: Any, **more: Any) -> None:
        opened(self, *given, **more)
        self.network.model.embed_tokens.register_forward_pre_hook(
            lambda module, inputs: read.append(inputs[0].shape[1])
        )

    monkeypatch.setattr(HfModel, "__init__", watched)
    common = ("--config", "1k_p0", "--model", retriever, "--dtype", "float32", "--max-new-tokens", 2, "--heads", probed)
    methods = ("--method", "vanilla_rag", "--method", "rap@1x1", "--limit", 3)
    run("eval", dataset, *common, *methods, "--out", probed.with_name("once"))
    whole = min(n for n in read if n > 100)
    assert len([n for n in read if n >= whole]) == 3, read


def test_a_prefix_changes_no_score(retriever: Path, dataset: Path) -> None:
    model: Any = load_model(str(retriever), "float32")
    instance = load_instances(open_dataset(dataset), "1k_p0", "test")[0]
    layers = layers_of(model)
    shared = scores_of(model, instance, VARIANTS, layers)
    for variant, scores in shared.items():
        alone = scores_of(model, instance, [variant], layers)[variant]
        torch.testing.assert_close(scores, alone, atol=1e-5, rtol=1e-4)


def test_reading_stops_at_the_highest_head(retriever: Path, dataset: Path) -> None:
    model: Any = load_model(str(retriever), "float32")
    instance = load_instances(open_dataset(dataset), "1k_p0", "test")[0]
    ran: list[int] = []
    hook = model.network.model.layers[1].register_forward_pre_hook(lambda module, inputs: ran.append(1))
    scores = scores_of(model, instance, [Variant("last", "sum", False)], [0], stop=True)
    hook.remove()
    assert ran == []
    (found,) = scores.values()
    assert found.shape == (1, 4, 8)


def test_scores_are_those_of_eager_attention(retriever: Path, dataset: Path) -> None:
    from transformers import AutoModelForCausalLM

    from builders.format1 import spec_of
    from builders.prompts import render

    model: Any = load_model(str(retriever), "float32")
    instance = load_instances(open_dataset(dataset), "1k_p0", "test")[0]
    prompt = render(spec_of("nq"), instance.query, [(p.title, p.text) for p in instance.passages])
    look = look_at(model.template, prompt, instance.query, "question")
    found = attend(model, look, [LAYER], stop=False).sum[0, 0]
    eager = AutoModelForCausalLM.from_pretrained(retriever, attn_implementation="eager").eval()
    with torch.no_grad():
        weights = eager(torch.tensor([look.ids]), output_attentions=True).attentions[LAYER][0]
    wanted = torch.stack([weights[:, look.rows, start:end].sum(-1).mean(-1) for start, end in look.spans], dim=-1)
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-4)
    assert union(attend(model, look, [LAYER], stop=False).sum[0], [LAYER], [Head(LAYER, HEAD)], 1) == instance.gold


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--method", "rap@1x1"), "give --heads FILE"),
        (("--method", "rap", "--heads", "HEADS"), "rap alone has no Q and M"),
        (("--method", "rap", "--heads", "HEADS", "--preset", "da-icr9"), "no preset da-icr9"),
        (("--method", "rap@1x7", "--heads", "HEADS"), "probe with --m 7"),
        (("--method", "rap@99x1", "--heads", "HEADS"), "Q = 99"),
        (("--method", "rap@1", "--heads", "HEADS"), "no method rap@1"),
    ],
)
def test_what_cannot_be_run_is_one_line(
    arguments: Sequence[str], words: str, probed: Path, retriever: Path, dataset: Path
) -> None:
    given = [str(probed) if argument == "HEADS" else argument for argument in arguments]
    with pytest.raises(SetupError, match=words):
        run("eval", dataset, "--config", "1k_p0", "--model", retriever, *given)


def test_heads_of_another_model_are_refused_before_anything_is_written(
    probed: Path, chat_folder: Path, dataset: Path, tmp_path: Path
) -> None:
    with pytest.raises(SetupError, match="another model"):
        run(
            *("eval", dataset, "--config", "1k_p0", "--model", chat_folder, "--method", "rap@1x1"),
            *("--heads", probed, "--out", tmp_path / "run", "--limit", 1),
        )
    assert not (tmp_path / "run").exists()


def test_the_test_split_is_not_probed(retriever: Path, dataset: Path, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="use validation"):
        run("probe", dataset, "--config", "1k_p0", "--model", retriever, "--split", "test", "--out", tmp_path / "h")


def test_tasks_take_turns() -> None:
    from eval_harness.data.dataset import Instance

    def of(task: str, n: int) -> Instance:
        return Instance(
            id=f"{task}-{n}", context_id="", spec=TaskSpec(task, "qa"), query="q", answers=[], passages=[], gold=[]
        )

    given = [of("a", 1), of("a", 2), of("a", 3), of("b", 1)]
    assert [one.id for one in in_turn(given)] == ["a-1", "b-1", "a-2", "a-3"]
