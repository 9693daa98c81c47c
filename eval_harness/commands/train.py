"""`icr2 train`: sft, head, show and configs."""

from pathlib import Path
from typing import Annotated

import typer

from eval_harness.commands import train_options as options
from eval_harness.commands.train_head import head

CONFIGS = Path(__file__).parents[1] / "train" / "configs"


def register(app: typer.Typer) -> None:
    """Mounts the commands on `app`, as `train NAME`."""
    train = typer.Typer(help="Fine-tune models on the train split of a dataset.", no_args_is_help=True)
    train.command("sft")(sft)
    train.command("head")(head)
    train.command("show")(show)
    train.command("configs")(configs)
    app.add_typer(train, name="train")


def sft(
    folder: options.Folder,
    variant: options.VariantName,
    model: options.Model,
    config: options.Configs,
    out: options.Out,
    marks: options.Marks = True,
    samples: options.Samples = None,
    max_length: options.MaxLength = 32_768,
    split: options.Split = "train",
    validation_split: options.ValidationSplit = "validation",
    seed: options.Seed = "0",
    steps: options.Steps = None,
    lr: options.LearningRate = None,
    warmup: options.Warmup = 0.03,
    batch_size: options.BatchSize = 1,
    accumulate: options.Accumulate = 4,
    eval_every: options.EvalEvery = None,
    eval_n: options.EvalN = 50,
    metric_every: options.MetricEvery = None,
    metric_n: options.MetricN = 10,
    patience: options.Patience = 5,
    lora: options.Lora = False,
    lora_rank: options.LoraRank = 16,
    rope_base: options.RopeBase = None,
    dtype: options.NumberType = "auto",
    activation_checkpointing: options.ActivationCheckpointing = False,
) -> None:
    """Fine-tunes a model; started again, it goes on where it stopped.

    On many GPUs: accelerate launch --config_file "$(icr2 train configs)/fsdp_8.yaml" -m icr2_cli train sft ...
    """
    from eval_harness.train.job import train
    from eval_harness.train.settings import Settings
    from eval_harness.train.sft import SFT

    settings = Settings(
        variant=variant,
        configs=tuple(dict.fromkeys(config)),
        samples=samples,
        marks=marks,
        split=split,
        validation_split=validation_split,
        lora=lora,
        lora_rank=lora_rank,
        steps=steps,
        lr=lr,
        batch_size=batch_size,
        accumulate=accumulate,
        max_length=max_length,
        rope_base=rope_base,
        warmup=warmup,
        eval_every=eval_every,
        eval_n=eval_n,
        metric_every=metric_every,
        metric_n=metric_n,
        patience=patience,
        dtype=dtype,
        activation_checkpointing=activation_checkpointing,
        seed=seed,
    )
    record = train(folder, model, settings, out, SFT)
    if record:
        typer.echo(f"the checkpoint is in {out}: {record.chosen}")


def show(
    folder: options.Folder,
    variant: options.VariantName,
    model: options.Model,
    config: Annotated[str, typer.Option(help="A config such as 32k_p100.")],
    task: Annotated[list[str] | None, typer.Option(help="A task; may be given again. Default: all.")] = None,
    marks: options.Marks = True,
    max_length: options.MaxLength = 32_768,
    split: options.Split = "train",
    whole: Annotated[bool, typer.Option("--whole", help="Print all that is read, not its ends alone.")] = False,
) -> None:
    """Prints one example of each task, what is learned apart from what is read."""
    from rich.console import Console

    from eval_harness.data.dataset import open_dataset
    from eval_harness.models.local import find_checkpoint
    from eval_harness.train.settings import Settings
    from eval_harness.train.show import examples, page

    settings = Settings(variant, (config,), marks=marks, max_length=max_length, split=split)
    console = Console(highlight=False, soft_wrap=True)
    for example in examples(open_dataset(folder), find_checkpoint(model, weights=False), settings, task or []):
        console.print(page(example, whole))


def configs() -> None:
    """Prints the folder of the settings for `accelerate launch --config_file`."""
    typer.echo(CONFIGS)
