"""Trainings of a tiny model, from the command's settings to the checkpoint."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import transformers

from builders.errors import SetupError
from eval_harness.data.dataset import load_instances, open_dataset
from eval_harness.methods.base import Question
from eval_harness.methods.tuned import Tuned
from eval_harness.methods.variants import VARIANTS, Variant, target
from eval_harness.models import load_model
from eval_harness.models.session import Session
from eval_harness.train.collate import Collator
from eval_harness.train.encode import Encoded, Encoder
from eval_harness.train.network import load_network
from tests.eval_harness.train.conftest import CONFIG, learnable, losses, write_dataset

Trained = Callable[..., tuple[Path, Any]]


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_tiny_model_learns_eight_instances_by_heart(
    variant: Variant, trained: Trained, dataset: Path, reader: Path
) -> None:
    """Loss under 0.1, the exact outputs through the harness, and all gold among what is retrieved."""
    steps = {"steps": 80, "eval_every": 80, "warmup": 5}
    out, record = trained(model=reader, variant=variant, **steps, batch_size=8, accumulate=1)
    assert losses(out)[-1][2] < 0.1
    assert record.samples == {"fever": {"used": 3}, "nq": {"used": 3}, "wow": {"used": 2}}
    model, method = load_model(str(out), "float32"), Tuned(variant)
    method.check(model)
    for one in load_instances(open_dataset(dataset), CONFIG, "train"):
        (answer,) = method.answer(Session(model), [Question(one, one.passages, 128)])
        assert answer.generation.text == target(one, one.passages, variant)
        assert not answer.generation.truncated
        assert answer.kept == (None if variant == "da" else one.gold_pids)


@pytest.mark.parametrize("lora", [False, True])
def test_the_checkpoint_has_the_weights_of_the_lowest_loss(
    lora: bool, trained: Trained, dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The losses on validation of all steps but the third are raised, so that its is the lowest on every CPU."""
    measured: dict[int, float] = {}
    evaluate = transformers.Trainer.evaluation_loop

    def raised(self: Any, *given: Any, **named: Any) -> Any:
        found = evaluate(self, *given, **named)
        measured[self.state.global_step] = found.metrics["eval_loss"]
        found.metrics["eval_loss"] += 0 if self.state.global_step == 3 else 100
        return found

    monkeypatch.setattr(transformers.Trainer, "evaluation_loop", raised)
    out, record = trained(variant="da", lora=lora, steps=6, eval_every=1, patience=0)
    assert record.settings["best_step"] == 3
    assert mean_loss(out, dataset) == pytest.approx(measured[3], abs=1e-4)
    assert [step for step, loss in measured.items() if abs(loss - measured[3]) > 1e-3] == [1, 2, 4, 5, 6]
    assert {path.name for path in out.iterdir()} == {
        "chat_template.jinja",
        "config.json",
        "generation_config.json",
        "loss.png",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
        "train_log.jsonl",
        "training.json",
    }
    assert not out.with_name("out.work").exists()
    assert len({path.stat().st_mode for path in out.iterdir()}) == 1
    assert json.loads((out / "config.json").read_text())["use_cache"]


def mean_loss(checkpoint: Path, folder: Path) -> float:
    """The mean over validation instances of the mean loss of what is learned."""
    import torch
    from transformers import AutoTokenizer

    network = load_network(checkpoint, "tiny", "float32").eval()
    encoder = Encoder(AutoTokenizer.from_pretrained(checkpoint), "tiny", "da", 4096)
    found = []
    for one in load_instances(open_dataset(folder), CONFIG, "validation"):
        encoded = encoder.encode(one)
        assert isinstance(encoded, Encoded)
        with torch.no_grad():
            found.append(float(network(**Collator(0, tail=False)([encoded])).loss))
    return sum(found) / len(found)


def test_it_stops_when_nothing_was_better_for_long(trained: Trained) -> None:
    out, record = trained(lr=0.0, steps=50, eval_every=2, patience=2, accumulate=1)
    assert (record.settings["steps_taken"], record.settings["best_step"]) == (6, 2)
    assert losses(out)[-1][0] == 6


def test_the_same_training_again_is_there_already_and_another_is_refused(trained: Trained, tmp_path: Path) -> None:
    (tmp_path / ".out.1.partial").mkdir()
    out, record = trained()
    assert not (tmp_path / ".out.1.partial").exists()
    before = (out / "model.safetensors").stat().st_mtime_ns
    assert trained()[1] == record
    assert (out / "model.safetensors").stat().st_mtime_ns == before
    with pytest.raises(SetupError, match=r"contains another training, which differs in settings\.lr, variant; choose"):
        trained(variant="rta", lr=1e-3)
    (tmp_path / "out.work").mkdir()
    trained()
    assert not (tmp_path / "out.work").exists()  # what a process leaves that is killed before it removes it
    (tmp_path / "mine").mkdir()
    with pytest.raises(SetupError, match="is not a training checkpoint"):
        trained("mine")


def test_a_work_folder_of_another_training_is_refused(trained: Trained, tmp_path: Path) -> None:
    (tmp_path / "out.work").mkdir()
    (tmp_path / "out.work" / "run.json").write_text('{"variant": "rta"}')
    with pytest.raises(SetupError, match=r"out\.work contains another run, which differs in .*variant"):
        trained()


def test_two_trainings_do_not_share_a_work_folder(trained: Trained, tmp_path: Path) -> None:
    from builders.work import only_one

    (tmp_path / "out.work").mkdir()
    with only_one(tmp_path / "out.work"), pytest.raises(SetupError, match="another training is running in"):
        trained()


def test_samples_and_reasons_are_in_the_record(trained: Trained, tmp_path: Path) -> None:
    """What does not fit is counted; here nothing of `long` fits but its gold, and `longer` not even that."""
    rows = learnable()[:1] + [dict(row) for row in learnable()[1:3]]
    rows[1]["passages"] = [dict(one, text="x" * 900) if not at else one for at, one in enumerate(rows[1]["passages"])]
    rows[1] |= {"id": "long", "gold": [1], "task": "nq", "answers": ["Oslo"]}
    rows[2]["passages"] = [dict(one, text="x" * 900) for one in rows[2]["passages"]]
    rows[2]["id"] = "longer"
    _, record = trained(folder=write_dataset(tmp_path / "data", rows, rows[:1]), max_length=600, samples="nq=9,wow=9")
    assert record.samples == {"nq": {"used": 2, "shortened": 1}, "wow": {"over_long": 1}}
    assert record.validation == {"nq": {"used": 1}}


def test_answers_are_measured_as_it_goes(trained: Trained) -> None:
    out, _ = trained(variant="da", steps=4, metric_every=2, metric_n=1)
    lines = [json.loads(line) for line in (out / "train_log.jsonl").read_text().splitlines()]
    found = [(line["step"], line["metrics"]) for line in lines if "metrics" in line]
    assert [step for step, _ in found] == [2, 4]
    assert {task: sorted(scores) for task, scores in found[0][1].items()} == {
        "fever": ["label_accuracy", "n"],
        "nq": ["n", "subspan_em"],
        "wow": ["n", "rouge_l"],
    }
