"""Options that commands share which ask a model; a parameter's name is its option's."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from builders.device import DType
from builders.errors import SetupError

_SERVER = "Models behind a chat endpoint (openai:MODEL)"
_SPEED = "Speed"


def _server(help: str, **more: Any) -> Any:
    return typer.Option(help=help, rich_help_panel=_SERVER, **more)


def _speed(help: str, **more: Any) -> Any:
    return typer.Option(help=help, rich_help_panel=_SPEED, **more)


ModelName = Annotated[
    str,
    typer.Option(help="A bundled name, a folder, a GGUF file, a Hub id (id@revision), or openai:MODEL."),
]
Tasks = Annotated[list[str] | None, typer.Option(help="A task; may be given again. Default: all.")]
Split = Annotated[str, typer.Option(help="The split to run.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first N instances of each task.")]
System = Annotated[str | None, typer.Option(help="A system turn before each prompt.")]
EncoderName = Annotated[str, typer.Option(help="The encoder of retrieved_dense and retrieved_hybrid.")]
MaxNewTokens = Annotated[int | None, typer.Option(min=1, help="For every task; default: by task.")]
Out = Annotated[Path | None, typer.Option(metavar="RUN", help="The run's folder; default: under runs/.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be asked; load no model.")]

BatchSize = Annotated[int | None, _speed("Prompts at a time; default: 1.", min=1)]
MaxBatchTokens = Annotated[
    int | None, _speed("Padded tokens of prompts and outputs at a time, instead of a number of prompts.", min=1)
]
NumberType = Annotated[DType, _speed("auto: bfloat16 where it is fast, else float32.")]
Attention = Annotated[Literal["sdpa", "flash"], _speed("flash: FlashAttention, on a CUDA GPU.")]
PrefixReuse = Annotated[bool, _speed("Read what prompts over the same passages share once.")]

BaseUrl = Annotated[str | None, _server("Its address; default: OPENAI_BASE_URL.")]
TokenizerName = Annotated[str | None, _server("What counts its prompts; default: the dataset's.")]
MaxPositions = Annotated[int | None, _server("Its limit on prompt and output, in tokens.", min=1)]
Concurrency = Annotated[int, _server("Prompts under way at a time.", min=1)]
Timeout = Annotated[float, _server("Seconds for one try.", min=1)]
LimitField = Annotated[Literal["max_tokens", "max_completion_tokens"], _server("Its name for the output limit.")]
RequestFields = Annotated[list[str] | None, _server("KEY=VALUE for each request; may be given again.")]
PriceIn = Annotated[float | None, _server("With --dry-run: price of a million tokens read.", min=0)]
PriceOut = Annotated[float | None, _server("With --dry-run: price of a million tokens written.", min=0)]


def numbers(option: str, written: str) -> list[int]:
    """The numbers from 1 that an option lists, such as 1,2,4, in rising order."""
    try:
        found = sorted({int(part) for part in written.split(",")})
    except ValueError:
        found = []
    if not found or found[0] < 1:
        raise SetupError(f"{option} {written}: write numbers such as 1,2,4,8")
    return found
