"""The training loop: batches, steps, evaluations and checkpoints to resume from, in one or several processes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from os import environ
from pathlib import Path
from typing import Any

from builders.device import device_name
from builders.errors import SetupError
from builders.seeds import rng_for
from eval_harness.train.points import Point, last_point, mark_whole, point_at
from eval_harness.train.progress import FIGURE, Log, draw, training_bar
from eval_harness.train.settings import Settings

_WAIT = timedelta(hours=12)  # while the first process encodes the samples


def processes() -> Any:
    """This process's state, alone or under `accelerate launch`."""
    from accelerate import PartialState

    return PartialState(cpu=_on_cpu(), **({"timeout": _WAIT} if "RANK" in environ else {}))


def check_launch(settings: Settings) -> None:
    """Raises SetupError if the launch configuration and the settings conflict."""
    if settings.lora and _is_left_to_fsdp():
        raise SetupError(
            "--lora does not work with fsdp_activation_checkpointing: true, because FSDP then saves no adapters; "
            "set it to false and use --activation-checkpointing"
        )


@dataclass(frozen=True)
class Fit:
    """Fits a model in `steps` steps, with checkpoints in a work folder; `dtype` is the compute dtype."""

    settings: Settings
    work: Path
    steps: int
    dtype: str

    @property
    def weights_dtype(self) -> str:
        """The dtype of the weights: small updates of trained weights would be lost in a 16-bit dtype."""
        return self.dtype if self.settings.lora else "float32"

    def is_over(self, point: Point) -> bool:
        """Whether training ends after a checkpoint: it is the last, or patience has run out."""
        waited = self.settings.patience * self.settings.interval(self.steps)
        return point.step >= self.steps or bool(waited and point.step - point.best_step >= waited)

    def carry_on(
        self,
        make: Callable[[], tuple[Any, Any]],
        order: Any,
        validation: Any,
        point: Point | None,
        callbacks: Sequence[Any] = (),
    ) -> Point:
        """The last checkpoint after fitting a network to `order`, one sample after another, resuming from a checkpoint.

        `make` returns the network and its collator; `order` and `validation` are sequences of samples.
        """
        from transformers import set_seed
        from transformers.integrations.deepspeed import unset_hf_deepspeed_config

        if point and self.is_over(point):
            return point

        arguments = self.arguments()  # before loading the network, which they may shard
        set_seed(arguments.seed)
        with training_bar(self.steps, shown=arguments.process_index == 0) as bar:
            network, collator = make()
            every = [*callbacks, _keeping(self), _showing(self, bar)]
            trainer = self.trainer(network, arguments, collator, order, validation, every)
            trainer.train(resume_from_checkpoint=str(point.folder) if point else None)
        unset_hf_deepspeed_config()  # otherwise a model loaded by one process would be sharded
        found = last_point(self.work)
        if found is None:
            raise RuntimeError(f"no checkpoint was left in {self.work}")
        return found

    def arguments(self) -> Any:
        """The trainer's arguments."""
        from transformers import TrainingArguments

        settings, interval = self.settings, self.settings.interval(self.steps)
        found = TrainingArguments(
            output_dir=str(self.work),
            max_steps=self.steps,
            per_device_train_batch_size=settings.batch_size,
            per_device_eval_batch_size=1,  # so that the validation loss is a mean over instances
            gradient_accumulation_steps=settings.accumulate,
            learning_rate=settings.learning_rate(),
            lr_scheduler_type="cosine",
            warmup_steps=settings.warmup,
            bf16=self.dtype == "bfloat16",
            fp16=self.dtype == "float16",
            activation_checkpointing=settings.activation_checkpointing and not _is_left_to_fsdp(),  # only once
            train_sampling_strategy="sequential",
            eval_strategy="steps",
            eval_steps=interval,
            save_strategy="steps",
            save_steps=interval,
            metric_for_best_model="loss",
            logging_steps=1,
            logging_nan_inf_filter=False,
            prediction_loss_only=True,
            remove_unused_columns=False,
            ddp_find_unused_parameters=False,
            ddp_timeout=int(_WAIT.total_seconds()),
            use_cpu=_on_cpu(),
            dataloader_pin_memory=not _on_cpu(),
            disable_tqdm=True,
            report_to=[],
            seed=number_of(settings.seed),
        )
        found._n_gpu = min(found.n_gpu, 1)  # otherwise one process would split batches over all GPUs
        return found

    def trainer(
        self, network: Any, arguments: Any, collator: Any, order: Any, validation: Any, callbacks: Sequence[Any]
    ) -> Any:
        """The trainer of a network."""
        from transformers import PrinterCallback, Trainer

        class Fitting(Trainer):
            def compute_loss(
                self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
            ) -> Any:
                # In validation, average over the instance, not over the tokens of all processes.
                counted = num_items_in_batch if model.training else None
                return super().compute_loss(model, inputs, return_outputs, counted)

        found = Fitting(
            model=network,
            args=arguments,
            data_collator=collator,
            train_dataset=order,
            eval_dataset=validation,
            callbacks=list(callbacks),
        )
        found.remove_callback(PrinterCallback)
        return found


def number_of(seed: str) -> int:
    """The seed of random weights and dropout."""
    return rng_for(seed, "training").getrandbits(31)


def _keeping(fit: Fit) -> Any:
    """Marks a checkpoint as complete once all processes have written their part; stops after the last."""
    from transformers import TrainerCallback

    class Keeping(TrainerCallback):
        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            point = point_at(fit.work, state.global_step, state.best_global_step)
            args.distributed_state.wait_for_everyone()
            if state.is_world_process_zero:
                mark_whole(point)
            args.distributed_state.wait_for_everyone()
            if fit.is_over(point):
                control.should_training_stop = True

    return Keeping()


def _showing(fit: Fit, bar: Any) -> Any:
    """Updates the log, the figure and the progress bar."""
    from transformers import TrainerCallback

    log = Log(fit.work)

    class Showing(TrainerCallback):
        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if state.is_world_process_zero:
                log.begin(state.global_step)

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            if not state.is_world_process_zero:
                return
            if "eval_loss" in logs:
                log.add(step=state.global_step, validation_loss=logs["eval_loss"])
                draw(log.lines(), fit.work / FIGURE)
            elif "loss" in logs:
                log.add(step=state.global_step, **{name: logs[name] for name in ("loss", "learning_rate", "grad_norm")})
                bar.update(bar.task_ids[0], completed=state.global_step, description=f"loss {logs['loss']:.3f}")

    return Showing()


def _on_cpu() -> bool:
    """Whether to train on the CPU."""
    return device_name() == "cpu" or environ.get("ACCELERATE_USE_CPU", "").lower() == "true"


def _is_left_to_fsdp() -> bool:
    """Whether FSDP is configured to recompute activations."""
    return environ.get("FSDP_ACTIVATION_CHECKPOINTING", "").lower() == "true"
