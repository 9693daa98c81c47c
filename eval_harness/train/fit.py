"""The loop of a training: batches, steps, evaluations and points to go on from, in one process or in many."""

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

_WAIT = timedelta(hours=12)  # of all processes for the first, while it encodes the samples


def processes() -> Any:
    """This process among those that `accelerate launch` began, or alone."""
    from accelerate import PartialState

    return PartialState(cpu=_on_cpu(), **({"timeout": _WAIT} if "RANK" in environ else {}))


def check_launch(settings: Settings) -> None:
    """SetupError where what was launched and what is wanted do not go together."""
    if settings.lora and _is_left_to_fsdp():
        raise SetupError(
            "--lora and fsdp_activation_checkpointing: true do not go together, since FSDP then saves no adapters; "
            "set it to false for accelerate and give --activation-checkpointing"
        )


@dataclass(frozen=True)
class Fit:
    """How a model is fitted in `steps` steps, with points in a work folder; `dtype` is what it computes in."""

    settings: Settings
    work: Path
    steps: int
    dtype: str

    @property
    def weights_dtype(self) -> str:
        """What weights are held in: small changes of learned ones would be lost in a short type."""
        return self.dtype if self.settings.lora else "float32"

    def is_over(self, point: Point) -> bool:
        """Whether there is nothing to do after a point: it is the last, or none was better for too long."""
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
        """The last point after fitting a network to `order`, one sample after another, from a point on; leaves a log.

        `make` gives the network and what collates its batches; `order` and `validation` are sequences of samples.
        """
        from transformers import set_seed
        from transformers.integrations.deepspeed import unset_hf_deepspeed_config

        if point and self.is_over(point):
            return point

        arguments = self.arguments()  # before the network, which is loaded in parts where they say so
        set_seed(arguments.seed)
        with training_bar(self.steps, shown=arguments.process_index == 0) as bar:
            network, collator = make()
            every = [*callbacks, _keeping(self), _showing(self, bar)]
            trainer = self.trainer(network, arguments, collator, order, validation, every)
            trainer.train(resume_from_checkpoint=str(point.folder) if point else None)
        unset_hf_deepspeed_config()  # else a model that one process loads would be dealt among all
        found = last_point(self.work)
        if found is None:
            raise RuntimeError(f"no checkpoint was left in {self.work}")
        return found

    def arguments(self) -> Any:
        """The library's settings."""
        from transformers import TrainingArguments

        settings, interval = self.settings, self.settings.interval(self.steps)
        found = TrainingArguments(
            output_dir=str(self.work),
            max_steps=self.steps,
            per_device_train_batch_size=settings.batch_size,
            per_device_eval_batch_size=1,  # so that the loss on validation is a mean over instances
            gradient_accumulation_steps=settings.accumulate,
            learning_rate=settings.learning_rate(),
            lr_scheduler_type="cosine",
            warmup_steps=settings.warmup,
            bf16=self.dtype == "bfloat16",
            fp16=self.dtype == "float16",
            activation_checkpointing=settings.activation_checkpointing and not _is_left_to_fsdp(),  # not twice
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
        found._n_gpu = min(found.n_gpu, 1)  # else one process would share its batches among all GPUs by threads
        return found

    def trainer(
        self, network: Any, arguments: Any, collator: Any, order: Any, validation: Any, callbacks: Sequence[Any]
    ) -> Any:
        """The library's trainer of a network."""
        from transformers import PrinterCallback, Trainer

        class Fitting(Trainer):
            def compute_loss(
                self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
            ) -> Any:
                # On validation the mean over the instance alone, not over the tokens of all processes.
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
    """The seed that random weights and dropout are drawn by."""
    return rng_for(seed, "training").getrandbits(31)


def _keeping(fit: Fit) -> Any:
    """Marks a point once all processes have written their part of it, and stops after the last."""
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
    """Keeps the log, the figure and the bar."""
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
    """Whether there is no GPU, or none is to be used."""
    return device_name() == "cpu" or environ.get("ACCELERATE_USE_CPU", "").lower() == "true"


def _is_left_to_fsdp() -> bool:
    """Whether FSDP itself was launched to compute activations anew."""
    return environ.get("FSDP_ACTIVATION_CHECKPOINTING", "").lower() == "true"
