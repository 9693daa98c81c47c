"""`icr2 train head`."""

from typing import Annotated, Any

import typer

from eval_harness.commands import train_options as options
from eval_harness.methods.head.scorer import Scorer
from eval_harness.train.head.joint import Loss

_HEAD = "The head"


def _of(help: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=_HEAD, **more)


def head(
    folder: options.Folder,
    model: options.Model,
    config: options.Configs,
    out: options.Out,
    loss: Annotated[
        Loss, _of("gen: the answer, from K passages that the head chooses. ret: which passages are gold.")
    ] = "gen+ret",
    k: Annotated[int, _of("Passages that it chooses.", "--k", min=1)] = 4,
    head_lr: Annotated[float, _of("Its highest learning rate; --lr is the model's.", min=0)] = 3e-4,
    width: Annotated[int, _of("Values that it makes of a question, and of a passage.", min=1)] = 256,
    scorer: Annotated[
        Scorer, _of("mlp: a hidden layer, in which question and passage meet. linear: none, as the paper may be read.")
    ] = "mlp",
    temperature: Annotated[float, _of("Of the choice of passages, at the first step.")] = 1.0,
    last_temperature: Annotated[float, _of("And at the last.")] = 0.1,
    samples: options.Samples = None,
    max_length: options.MaxLength = 32_768,
    split: options.Split = "train",
    validation_split: options.ValidationSplit = "validation",
    seed: options.Seed = "0",
    steps: options.Steps = None,
    lr: options.LearningRate = None,
    warmup: options.Warmup = 0.03,
    accumulate: options.Accumulate = 4,
    eval_every: options.EvalEvery = None,
    eval_n: options.EvalN = 50,
    patience: options.Patience = 5,
    lora: options.Lora = False,
    lora_rank: options.LoraRank = 16,
    rope_base: options.RopeBase = None,
    dtype: options.NumberType = "auto",
    activation_checkpointing: options.ActivationCheckpointing = False,
) -> None:
    """Trains a model together with a head that retrieves; started again, it goes on where it stopped."""
    from eval_harness.train.head.settings import HeadSettings
    from eval_harness.train.head.training import HEAD
    from eval_harness.train.job import train

    settings = HeadSettings(
        variant="da",
        configs=tuple(dict.fromkeys(config)),
        samples=samples,
        marks=False,
        split=split,
        validation_split=validation_split,
        lora=lora,
        lora_rank=lora_rank,
        steps=steps,
        lr=lr,
        accumulate=accumulate,
        max_length=max_length,
        rope_base=rope_base,
        warmup=warmup,
        eval_every=eval_every,
        eval_n=eval_n,
        patience=patience,
        dtype=dtype,
        activation_checkpointing=activation_checkpointing,
        seed=seed,
        loss=loss,
        k=k,
        temperature=temperature,
        last_temperature=last_temperature,
        head_lr=head_lr,
        width=width,
        scorer=scorer,
    )
    record = train(folder, model, settings, out, HEAD)
    if record:
        typer.echo(f"the checkpoint is in {out}: {record.chosen}")
        typer.echo(f"answer with it by: icr2 eval {folder} --config {config[0]} --model {out} --method rethead@{k}")
