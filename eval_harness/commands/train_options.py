"""Options that the commands of `icr2 train` share; a parameter's name is its option's."""

from pathlib import Path
from typing import Annotated, Any

import typer

from builders.device import DType
from eval_harness.methods.variants import Variant

_DATA = "What is learned from"
_STEPS = "How long, and which weights are kept"
_MEMORY = "Which weights, and where they are held"


def _of(panel: str, help: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A built dataset with a train split.")]
VariantName = Annotated[
    Variant, typer.Option(help="da: the answer. rta: gold passages copied, then it. cci: their numbers, then it.")
]
Model = Annotated[str, typer.Option(help="A bundled name, a folder, a GGUF file, or a Hub id (id@revision).")]
Configs = Annotated[list[str], typer.Option(help="A config such as 32k_p100; may be given again.")]
Out = Annotated[Path, typer.Option(metavar="CHECKPOINT", help="The folder of the model that is made.")]
Marks = Annotated[bool, typer.Option(help="<RETRIEVAL> and </RETRIEVAL> around a retrieval, else `Answer:` after it.")]

Samples = Annotated[
    str | None,
    _of(_DATA, "Instances by task, of each config, or one number for every task. Default: all.", metavar="TASK=N,..."),
]
MaxLength = Annotated[int, _of(_DATA, "Tokens of a sample; passages that are not gold give way.", min=1)]
Split = Annotated[str, _of(_DATA, "The split to learn from.")]
ValidationSplit = Annotated[str, _of(_DATA, "The split by which weights are chosen.")]
Seed = Annotated[str, _of(_DATA, "Chooses and orders samples.")]

Steps = Annotated[int | None, _of(_STEPS, "Default: two rounds of the samples, 10000 at most.", min=1)]
LearningRate = Annotated[
    float | None, _of(_STEPS, "The highest learning rate. Default: 1e-5, with --lora 2e-4.", "--lr", min=0)
]
Warmup = Annotated[float, _of(_STEPS, "Steps, or a share of them, until it is reached.", min=0)]
BatchSize = Annotated[int, _of(_STEPS, "Samples at a time, in each process.", min=1)]
Accumulate = Annotated[int, _of(_STEPS, "Batches of a step, in each process.", min=1)]
EvalEvery = Annotated[int | None, _of(_STEPS, "Steps between evaluations. Default: a twentieth.", min=1)]
EvalN = Annotated[int, _of(_STEPS, "Validation instances of each task, for the loss.", min=1)]
MetricEvery = Annotated[int | None, _of(_STEPS, "Steps between measures of answers. Default: never.", min=1)]
MetricN = Annotated[int, _of(_STEPS, "Validation instances of each task, for the measures.", min=1)]
Patience = Annotated[int, _of(_STEPS, "Evaluations without a lower loss before it stops; 0: never.", min=0)]

Lora = Annotated[bool, _of(_MEMORY, "Learn adapters, which are merged into the checkpoint.", "--lora")]
LoraRank = Annotated[int, _of(_MEMORY, "Rank of the adapters.", min=1)]
RopeBase = Annotated[
    float | None, _of(_MEMORY, "Base of the rotation of positions, such as 1e6, for longer contexts.", min=1)
]
NumberType = Annotated[DType, _of(_MEMORY, "auto: bfloat16 where it is fast, else float32.")]
ActivationCheckpointing = Annotated[
    bool, _of(_MEMORY, "Compute activations anew: less memory, more time.", "--activation-checkpointing")
]
