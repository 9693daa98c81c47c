"""The training loop with a retrieval head: joint loss, two learning rates, and checkpoints."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval_harness.methods.head.files import read_head, write_head
from eval_harness.methods.head.scorer import Scorer
from eval_harness.train.fit import Fit
from eval_harness.train.network import load_network
from eval_harness.train.progress import Log

if TYPE_CHECKING:
    from eval_harness.train.head.settings import HeadSettings

_NETWORK, _HEAD = "network.", "head."  # prefixes of the joint module's weights


@dataclass(frozen=True)
class HeadFit(Fit):
    """Fits a model and its head; the randomly initialised head has its own learning rate."""

    settings: "HeadSettings"

    @property
    def weights_dtype(self) -> str:
        """The usual dtype, or a 16-bit dtype if the model is not trained."""
        return super().weights_dtype if self.settings.objective().generates else self.dtype

    def arguments(self) -> Any:
        """The trainer's arguments."""
        found = super().arguments()
        found.prediction_loss_only = False  # for the recall on validation
        return found

    def trainer(
        self, network: Any, arguments: Any, collator: Any, order: Any, validation: Any, callbacks: Sequence[Any]
    ) -> Any:
        """A trainer of the joint module `network`."""
        from transformers import PrinterCallback

        found = _trainer_class(self)(
            model=network,
            args=arguments,
            data_collator=collator,
            train_dataset=order,
            eval_dataset=validation,
            compute_metrics=lambda found: {"recall": float(found.predictions.mean())},
            callbacks=[*callbacks, _recalling(self.work)],
        )
        found.remove_callback(PrinterCallback)
        return found


def _trainer_class(fit: HeadFit) -> Any:
    from transformers import Trainer

    objective = fit.settings.objective()

    class Fitting(Trainer):
        optimizer: Any

        def compute_loss(
            self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
        ) -> Any:
            temperature = objective.temperature(self.state.global_step, fit.steps)
            found = model(**inputs, temperature=temperature)
            return (found["loss"], found) if return_outputs else found["loss"]

        def create_optimizer(self, model: Any = None) -> Any:
            if self.optimizer is None:
                of, options = self.get_optimizer_cls_and_kwargs(self.args, model)
                parts = _parts(self.model if model is None else model)
                groups: list[dict[str, Any]] = [{"params": parts[0]}, {"params": parts[1], "lr": fit.settings.head_lr}]
                self.optimizer = of([group for group in groups if group["params"]], **options)
            return self.optimizer

        def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
            if self.args.should_save:
                joint = self.accelerator.unwrap_model(self.model)
                folder = Path(output_dir or self.args.output_dir or "")
                _write(folder, joint, state_dict or joint.state_dict(), fit.settings.scorer)

        def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
            if self.is_fsdp_enabled:
                super()._load_from_checkpoint(resume_from_checkpoint, model)
            else:
                _read(Path(resume_from_checkpoint), self.accelerator.unwrap_model(self.model), fit.settings.lora)

    return Fitting


def _write(folder: Path, joint: Any, weights: dict[str, Any], scorer: Scorer) -> None:
    """Writes the model, or its adapters, and the head."""
    folder.mkdir(parents=True, exist_ok=True)
    joint.network.save_pretrained(folder, state_dict=_under(weights, _NETWORK))
    write_head(folder, _under(weights, _HEAD), scorer)


def _read(folder: Path, joint: Any, lora: bool) -> None:
    """Reads the files of `_write`."""
    if lora:
        import peft

        peft.set_peft_model_state_dict(joint.network, peft.load_peft_weights(str(folder)))
    else:
        dtype = str(joint.network.dtype).removeprefix("torch.")
        joint.network.load_state_dict(load_network(folder, folder.name, dtype).state_dict())
    joint.head.load_state_dict(read_head(folder).state_dict())


def _parts(joint: Any) -> tuple[list[Any], list[Any]]:
    """The trained weights of the model and of the head, independent of wrappers."""
    learned = [(name, one) for name, one in joint.named_parameters() if one.requires_grad]
    return [one for name, one in learned if _NETWORK in name], [one for name, one in learned if _NETWORK not in name]


def _under(weights: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): one for name, one in weights.items() if name.startswith(prefix)}


def _recalling(work: Path) -> Any:
    """Adds the validation recall to the log."""
    from transformers import TrainerCallback

    log = Log(work)

    class Recalling(TrainerCallback):
        def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any = None, **_: Any) -> None:
            if state.is_world_process_zero:
                log.add(step=state.global_step, metrics={"evidence_recall": metrics["eval_recall"]})

    return Recalling()
