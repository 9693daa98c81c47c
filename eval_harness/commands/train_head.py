"""`icr2 train head`."""

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from builders.display import say
from builders.options import DatasetFolder, grouped, option
from eval_harness.commands import train_options as options
from eval_harness.commands.options import LocalModel
from eval_harness.methods.head.scorer import Scorer
from eval_harness.train.head.joint import Loss

_HEAD = "Retrieval head"


def _of(help: str, **more: Any) -> Any:
    return typer.Option(help=help, rich_help_panel=_HEAD, **more)


@dataclass(frozen=True)
class Head:
    """The retrieval head and its training."""

    loss: Annotated[
        Loss, _of("gen: the answer, from K passages selected by the head; ret: which passages are gold.")
    ] = "gen+ret"
    k: Annotated[int, option("k", "", "--k", panel=_HEAD, min=1)] = 4
    head_lr: Annotated[float, _of("Peak learning rate of the head; --lr applies to the model.", min=0)] = 3e-4
    width: Annotated[int, _of("Dimensions of the head's encoding of a question or passage.", min=1)] = 256
    scorer: Annotated[
        Scorer, _of("mlp: one hidden layer over question and passage; linear: none, another reading of the paper.")
    ] = "mlp"
    temperature: Annotated[float, _of("Temperature of the passage selection at the first step.")] = 1.0
    last_temperature: Annotated[float, _of("Temperature of the passage selection at the last step.")] = 0.1


@grouped
def head(
    *,
    folder: DatasetFolder,
    model: LocalModel,
    data: options.Data,
    out: options.Out,
    chosen: Head,
    steps: options.Steps,
    memory: options.Memory,
) -> None:
    """Train a model together with a retrieval head. Resumable: rerun to resume."""
    from eval_harness.train.head.settings import HeadSettings
    from eval_harness.train.head.training import HEAD
    from eval_harness.train.job import train

    settings = HeadSettings(variant="da", marks=False, **options.settings_of(data, steps, memory, chosen))
    record = train(folder, model, settings, out, HEAD)
    if record:
        say(f"wrote the checkpoint {out}: {record.chosen}")
        where = f"{folder} --config {data.config[0]}"
        say(f"evaluate it with: icr2 eval {where} --model {out} --method rethead@{chosen.k}")
