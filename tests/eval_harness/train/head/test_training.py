"""A training from the dataset to answers: learned by heart, carried on after a stop, refused where it is no use."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import typer
from typer.testing import CliRunner

from builders.errors import SetupError
from eval_harness.commands.train import register
from eval_harness.data.dataset import load_instances, open_dataset
from eval_harness.methods.head.files import FILE, read_head
from eval_harness.methods.variants import answer_of
from eval_harness.models.hf import HfModel
from eval_harness.models.training import read_training
from eval_harness.train.head import training as module
from eval_harness.train.head.examples import Drawn, Examples, batch_of
from eval_harness.train.head.joint import Objective, joint
from eval_harness.train.head.settings import HeadSettings
from eval_harness.train.head.training import HEAD
from eval_harness.train.job import train
from eval_harness.train.network import load_network
from eval_harness.train.points import last_point
from tests.eval_harness.running import plan_of, results_of
from tests.eval_harness.train.head.conftest import BY_HEART, SHORT, log_of


@pytest.fixture(scope="module")
def checkpoint(boxes: Path, learner: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What gen+ret makes of the learner."""
    out = tmp_path_factory.mktemp("trained") / "rethead"
    train(boxes, str(learner), BY_HEART, out, HEAD)
    return out


@pytest.mark.slow
def test_eight_instances_are_learned_by_heart(boxes: Path, checkpoint: Path, tmp_path: Path) -> None:
    log = log_of(checkpoint)
    losses = [line["loss"] for line in log if "loss" in line]
    assert losses[0] > 3
    assert sum(losses[-2:]) / 2 < 0.1  # one round of the samples
    assert log[-1] == {"step": 140, "metrics": {"evidence_recall": 1.0}}

    model: Any = HfModel(checkpoint, "rethead", "r", "float32")
    plan = plan_of(boxes, configs=("1k",), methods=("rethead@2",), split="test")
    rows = results_of(plan, model, tmp_path / "run")
    instances = {one.id: one for one in load_instances(open_dataset(boxes), "1k", "test")}
    assert len(rows) == 8
    for row in rows.values():
        assert row.output == answer_of(instances[row.id])
        assert row.scores["evidence_recall"] == 1.0
        assert row.evidence is not None and len(row.evidence) == 2
        assert row.truncated is False
        assert list(row.steps_s or ()) == ["retrieval", "answer"]


def test_the_command_says_how_to_answer(boxes: Path, learner: Path, tmp_path: Path) -> None:
    app = typer.Typer()
    register(app)
    options = "--config 1k --loss ret --k 3 --width 8 --scorer linear --temperature 2 --last-temperature 1 --steps 1"
    command = ["train", "head", str(boxes), "--model", str(learner), "--out", str(tmp_path / "out"), *options.split()]
    found = CliRunner().invoke(app, command, catch_exceptions=False)
    assert f"icr2 eval {boxes} --config 1k --model {tmp_path / 'out'} --method rethead@3" in found.output
    record = read_training(tmp_path / "out")
    assert record is not None
    wanted = {"loss": "ret", "k": 3, "width": 8, "scorer": "linear", "temperature": 2.0, "last_temperature": 1.0}
    assert {name: record.settings[name] for name in wanted} == wanted
    assert (record.variant, record.settings["steps_taken"]) == ("head", 1)


def test_the_checkpoint_says_what_it_is(checkpoint: Path, learner: Path) -> None:
    record = read_training(checkpoint)
    assert record is not None
    assert (record.variant, record.marks) == ("head", False)
    assert record.samples == {"nq": {"used": 7}, "fever": {"used": 1}}
    assert {name: record.settings[name] for name in ("loss", "k", "width", "scorer", "head_lr")} == {
        "loss": "gen+ret",
        "k": 2,
        "width": 64,
        "scorer": "mlp",
        "head_lr": 1e-2,
    }
    names = {path.name for path in checkpoint.iterdir()}
    assert {"config.json", "model.safetensors", FILE, "training.json", "train_log.jsonl"} <= names
    assert not any(path.suffix in (".bin", ".pt", ".pth", ".pkl") for path in checkpoint.iterdir())
    before, after = (json.loads((folder / "config.json").read_text()) for folder in (learner, checkpoint))
    assert after["architectures"] == before["architectures"]
    assert "icr2" not in json.dumps(after)


def test_what_is_loaded_is_what_was_saved(boxes: Path, checkpoint: Path, tmp_path: Path) -> None:
    """The loss on validation of the last step, computed anew from the checkpoint's folder."""
    from eval_harness.models.template import load_tokenizer
    from eval_harness.train.encode import Encoder
    from eval_harness.train.head.examples import write_examples

    encoder = Encoder(load_tokenizer(checkpoint, "x"), "x", "da", 1024, marks=False)
    write_examples(tmp_path / "validation.arrow", encoder, load_instances(open_dataset(boxes), "1k", "validation"))
    examples = Examples(tmp_path / "validation.arrow")
    network = load_network(checkpoint, "x", "float32")
    ours = joint(network, read_head(checkpoint), Objective("gen+ret", 2), "x").eval()
    with torch.no_grad():
        losses = [float(ours(**batch_of([Drawn(at, examples[at])]))["loss"]) for at in range(8)]
    (logged,) = [line["validation_loss"] for line in log_of(checkpoint) if "validation_loss" in line]
    assert sum(losses) / 8 == pytest.approx(logged, abs=1e-6)


@pytest.mark.parametrize(("batches", "point"), [(14, 2), (26, 4)])
def test_a_training_that_was_stopped_has_the_losses_of_one_that_was_not(
    boxes: Path, learner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batches: int, point: int
) -> None:
    """Stopped in the third or the fifth of six steps; each takes two batches, and every second one evaluates on eight.

    The noise of what is drawn depends on no generator's state, and so is the same too.
    """
    train(boxes, str(learner), SHORT, tmp_path / "whole", HEAD)
    made: list[int] = []

    def stopping(drawn: list[Drawn]) -> dict[str, Any]:
        made.append(drawn[0].draw)
        if len(made) > batches:
            raise KeyboardInterrupt
        return batch_of(drawn)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(module, "batch_of", stopping)
        train(boxes, str(learner), SHORT, tmp_path / "stopped", HEAD)
    left = last_point(tmp_path / "stopped.work")
    assert left is not None and left.step == point
    assert not (tmp_path / "stopped").exists()
    train(boxes, str(learner), SHORT, tmp_path / "stopped", HEAD)
    whole, stopped = log_of(tmp_path / "whole"), log_of(tmp_path / "stopped")
    assert [line["step"] for line in stopped] == [line["step"] for line in whole]
    for one, other in zip(whole, stopped, strict=True):
        for name in {*one} - {"step", "metrics"}:
            assert other[name] == pytest.approx(one[name], abs=1e-5)
    for one_weight, other_weight in zip(
        read_head(tmp_path / "whole").parameters(), read_head(tmp_path / "stopped").parameters(), strict=True
    ):
        torch.testing.assert_close(one_weight, other_weight, atol=1e-6, rtol=1e-5)


def test_ret_leaves_the_model_as_it_was(boxes: Path, learner: Path, tmp_path: Path) -> None:
    train(boxes, str(learner), replace(SHORT, loss="ret", steps=3), tmp_path / "out", HEAD)
    before, after = (load_network(folder, "x", "float32") for folder in (learner, tmp_path / "out"))
    for (name, one), other in zip(before.named_parameters(), after.parameters(), strict=True):
        assert torch.equal(one, other), name
    losses = [line["loss"] for line in log_of(tmp_path / "out") if "loss" in line]
    assert losses[-1] != losses[0]


def test_the_head_learns_at_its_own_rate(boxes: Path, learner: Path, tmp_path: Path) -> None:
    """With a rate of zero, the head of `gen` stays as it began; the model does not."""
    settings = replace(SHORT, loss="gen", steps=2, warmup=0.0)
    train(boxes, str(learner), replace(settings, head_lr=0.0), tmp_path / "still", HEAD)
    train(boxes, str(learner), settings, tmp_path / "moving", HEAD)
    train(boxes, str(learner), replace(settings, head_lr=0.0, steps=1), tmp_path / "begun", HEAD)
    heads = [read_head(tmp_path / name)["query"].weight for name in ("begun", "still", "moving")]
    assert torch.equal(heads[0], heads[1])
    assert not torch.equal(heads[0], heads[2])
    networks = [load_network(tmp_path / name, "x", "float32").lm_head.weight for name in ("begun", "still")]
    assert not torch.equal(*networks)


@pytest.mark.parametrize("loss", ["gen", "gen+ret"])
def test_adapters_are_merged_and_the_head_is_kept(boxes: Path, learner: Path, tmp_path: Path, loss: Any) -> None:
    pytest.importorskip("peft")
    train(boxes, str(learner), replace(SHORT, loss=loss, lora=True, steps=3), tmp_path / "out", HEAD)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert FILE in names and not any("adapter" in name for name in names)
    before, after = (load_network(folder, "x", "float32") for folder in (learner, tmp_path / "out"))
    moved = [name for name, one in before.named_parameters() if not torch.equal(one, after.get_parameter(name))]
    assert moved and all("proj" in name for name in moved)


@pytest.mark.parametrize(("loss", "lora"), [("gen+ret", False), ("gen", True), ("ret", False)])
def test_in_a_short_number_type(boxes: Path, learner: Path, tmp_path: Path, loss: Any, lora: bool) -> None:
    """The losses are those of float32 within rounding, and the head, which is learned, is held in float32."""
    settings = replace(SHORT, steps=2, loss=loss, lora=lora)
    train(boxes, str(learner), settings, tmp_path / "long", HEAD)
    train(boxes, str(learner), replace(settings, dtype="bfloat16"), tmp_path / "short", HEAD)
    long, short = ([line["loss"] for line in log_of(tmp_path / name) if "loss" in line] for name in ("long", "short"))
    assert short == pytest.approx(long, abs=0.1)
    assert {weight.dtype for weight in read_head(tmp_path / "short").parameters()} == {torch.float32}


def test_activations_can_be_computed_anew(boxes: Path, learner: Path, tmp_path: Path) -> None:
    train(boxes, str(learner), replace(SHORT, steps=2), tmp_path / "plain", HEAD)
    train(boxes, str(learner), replace(SHORT, steps=2, activation_checkpointing=True), tmp_path / "anew", HEAD)
    plain, anew = log_of(tmp_path / "plain"), log_of(tmp_path / "anew")
    assert [line.get("loss") for line in plain] == pytest.approx([line.get("loss") for line in anew], abs=1e-5)


def test_where_passages_give_way_the_places_are_those_of_what_is_left(
    boxes: Path, learner: Path, tmp_path: Path
) -> None:
    from eval_harness.models.template import load_tokenizer
    from eval_harness.train.encode import Encoder
    from eval_harness.train.head.examples import write_examples

    tokenizer = load_tokenizer(learner, "x")
    (instance, *_) = load_instances(open_dataset(boxes), "1k", "train")
    for limit, left in ((1024, 3), (75, 2), (60, 1)):
        write_examples(tmp_path / "one.arrow", Encoder(tokenizer, "x", "da", limit, marks=False), [instance])
        (one,) = [Examples(tmp_path / "one.arrow")[0]]
        assert len(one.passages) == left
        texts = [tokenizer.decode(one.ids[start:end]) for start, end in one.passages]
        assert [text.split("Context: ")[1] for text in texts][one.gold[0]] == "box 0 is red\n"
        assert tokenizer.decode(one.ids[slice(*one.question)]).strip() == "box 0?"
        assert tokenizer.decode(one.ids[one.n_prompt :]) == "red<|im_end|>"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (replace(SHORT, loss="all"), "invalid --loss all; available: gen, ret, gen\\+ret"),  # type: ignore[arg-type]
        (replace(SHORT, last_temperature=2.0), "cannot decay from 1.0 to 2.0"),
        (replace(SHORT, last_temperature=0.0), "both above 0"),
        (replace(SHORT, loss="ret", lora=True), "--lora has no effect"),
        (replace(SHORT, split="test"), "the test split must not be used"),
    ],
)
def test_choices_that_make_no_sense_are_refused(boxes: Path, learner: Path, settings: HeadSettings, said: str) -> None:
    with pytest.raises(SetupError, match=said):
        train(boxes, str(learner), settings, Path("never"), HEAD)


def test_a_finished_training_is_not_done_again_and_another_is_refused(
    boxes: Path, learner: Path, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.HeadFit, "carry_on", lambda *given: pytest.fail("trained again"))
    train(boxes, str(learner), BY_HEART, checkpoint, HEAD)
    with pytest.raises(SetupError, match=r"settings\.k"):
        train(boxes, str(learner), replace(BY_HEART, k=3), checkpoint, HEAD)


def test_a_checkpoint_of_another_kind_is_refused(checkpoint: Path, tmp_path: Path, boxes: Path) -> None:
    """A head is not used as another method, nor another model as one with a head."""
    model: Any = HfModel(checkpoint, "rethead", "r", "float32")
    for method, said in (("sft_da", "was tuned as head, not for sft_da"), ("sft_rta", "use rethead@K")):
        plan = plan_of(boxes, configs=("1k",), methods=(method,))
        with pytest.raises(SetupError, match=said):
            results_of(plan, model, tmp_path / method)
    bare = shutil.copytree(checkpoint, tmp_path / "bare")
    (bare / FILE).unlink()
    plan = plan_of(boxes, configs=("1k",), methods=("rethead@2",))
    with pytest.raises(SetupError, match=r"holds no head\.safetensors"):
        results_of(plan, HfModel(bare, "bare", "r", "float32"), tmp_path / "no-head")  # type: ignore[arg-type]
    (bare / "training.json").unlink()
    with pytest.raises(SetupError, match="icr2 train head"):
        results_of(plan, HfModel(bare, "bare", "r", "float32"), tmp_path / "no-record")  # type: ignore[arg-type]
