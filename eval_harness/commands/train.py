"""`icr2 train`: sft, head, show and configs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from builders.display import say
from builders.options import DatasetFolder, grouped, option
from eval_harness.commands import train_options as options
from eval_harness.commands.options import Config, LocalModel, Tasks
from eval_harness.commands.train_head import head

CONFIGS = Path(__file__).parents[1] / "train" / "configs"


def _steps(help: str) -> Any:
    return typer.Option(help=help, rich_help_panel=options.STEPS, min=1)


def register(app: typer.Typer) -> None:
    """Mounts the commands on `app` as `train NAME`."""
    train = typer.Typer(help="Fine-tune models on the train split of a dataset.", no_args_is_help=True)
    train.command("sft")(sft)
    train.command("head")(head)
    train.command("show")(show)
    train.command("configs")(configs)
    app.add_typer(train, name="train")


@dataclass(frozen=True)
class SftSteps(options.Steps):
    """Length and evaluation of a training without a retrieval head."""

    batch_size: Annotated[int, option("batch_size", "Counted per process.", panel=options.STEPS, min=1)] = 1
    metric_every: Annotated[int | None, _steps("Steps between scoring answers. Default: never.")] = None
    metric_n: Annotated[int, _steps("Validation instances of each task to score.")] = 10


@grouped
def sft(
    *,
    folder: DatasetFolder,
    variant: options.VariantName,
    model: LocalModel,
    data: options.Data,
    out: options.Out,
    marks: options.Marks = True,
    steps: SftSteps,
    memory: options.Memory,
) -> None:
    """Fine-tune a model. Resumable: rerun to resume.

    On several GPUs: accelerate launch --config_file "$(icr2 train configs)/fsdp_8.yaml" -m icr2_cli train sft ...
    """
    from eval_harness.train.job import train
    from eval_harness.train.settings import Settings
    from eval_harness.train.sft import SFT

    settings = Settings(variant=variant, marks=marks, **options.settings_of(data, steps, memory))
    record = train(folder, model, settings, out, SFT)
    if record:
        say(f"wrote the checkpoint {out}: {record.chosen}")


def show(
    folder: DatasetFolder,
    variant: options.VariantName,
    model: LocalModel,
    config: Config,
    task: Tasks = None,
    marks: options.Marks = True,
    max_length: options.MaxLength = 32_768,
    split: options.Split = "train",
    whole: Annotated[bool, typer.Option("--whole", help="Print whole prompts, without cutting their middle.")] = False,
) -> None:
    """Print one training example of each task, with prompt and target set apart."""
    from builders.display import Terminal
    from eval_harness.data.dataset import open_dataset
    from eval_harness.models.local import find_checkpoint
    from eval_harness.train.settings import Settings
    from eval_harness.train.show import examples, page

    settings = Settings(variant, (config,), marks=marks, max_length=max_length, split=split)
    console = Terminal()
    for example in examples(open_dataset(folder), find_checkpoint(model, weights=False), settings, task or []):
        console.print(page(example, whole))


def configs() -> None:
    """Print the folder with the files for `accelerate launch --config_file`."""
    say(CONFIGS)
