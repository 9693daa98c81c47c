"""Groups of options that the harness's commands share; each field is named after its option."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from builders.device import DType
from builders.errors import SetupError
from builders.options import SEVERAL, option
from eval_harness.methods.limits import LIMITS, Limits, as_in_the_paper, fixed
from eval_harness.models.back_end import Attention, ChatOptions, LimitField

SERVER = "Models behind a chat endpoint (openai:MODEL)"
SPEED = "Speed"

Config = Annotated[str, option("config")]
Configs = Annotated[list[str], option("config", SEVERAL)]
AnyConfigs = Annotated[list[str] | None, option("config", f"{SEVERAL} Default: all.")]
Tasks = Annotated[list[str] | None, option("task")]
Split = Annotated[str, option("split")]
Limit = Annotated[int | None, option("limit", min=1)]
LocalModel = Annotated[str, option("model")]
Encoder = Annotated[str, option("encoder", "Used by retrieved_dense and retrieved_hybrid.")]
NumberType = Annotated[DType, option("dtype", panel=SPEED)]
DryRun = Annotated[bool, option("dry_run", "No model is loaded.", "--dry-run")]


@dataclass(frozen=True)
class Rows:
    """The rows of a config to read."""

    task: Tasks = None
    split: Split = "test"
    limit: Limit = None

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks without repeats; empty for all."""
        return once(self.task or ())


@dataclass(frozen=True)
class Part(Rows):
    """The rows of a config that a run covers."""

    shard: Annotated[str, option("shard", metavar="I/N")] = "1/1"

    @property
    def part(self) -> tuple[int, int]:
        """Part number and number of parts; SetupError unless written as `I/N`."""
        found = re.fullmatch(r"([1-9][0-9]*)/([1-9][0-9]*)", self.shard)
        if found is None or int(found[1]) > int(found[2]):
            raise SetupError(f"invalid --shard {self.shard}; write 1/4 for the first of four parts")
        return int(found[1]), int(found[2])


@dataclass(frozen=True)
class Prompted:
    """The model and how it is prompted."""

    model: Annotated[str, option("model", "Or openai:MODEL behind a chat endpoint.")]
    system: Annotated[str | None, option("system")] = None
    template_field: Annotated[list[str] | None, option("template_field", "Local models only.", metavar="KEY=VALUE")] = (
        None
    )
    thinking_marks: Annotated[str | None, option("thinking_marks", metavar="'OPEN CLOSE'")] = None
    max_positions: Annotated[int | None, option("max_positions", min=1)] = None

    def fields(self) -> dict[str, Any]:
        """The fields for the chat template; SetupError for any that is not KEY=VALUE."""
        from eval_harness.models.chat_api import request_fields

        return request_fields(self.template_field or (), "--template-field")

    max_new_tokens: Annotated[int | None, option("max_new_tokens", "Default: by task.", min=1)] = None


@dataclass(frozen=True)
class Answering(Prompted):
    """The model that answers the instances of a dataset, and how long its outputs may be."""

    paper: Annotated[bool, option("paper", "", "--paper")] = False

    def limits(self) -> Limits:
        """The limits on outputs that the options ask for; SetupError if they ask for two."""
        if self.max_new_tokens is None:
            return as_in_the_paper() if self.paper else LIMITS
        if self.paper:
            raise SetupError("--paper and --max-new-tokens both limit outputs; give one of them")
        return fixed(self.max_new_tokens)  # covers the whole output, citations and retrieved text included


@dataclass(frozen=True)
class Run:
    """The run folder, and whether to only preview the run."""

    out: Annotated[Path | None, option("out", "Default: a folder under runs/.", metavar="RUN")] = None
    dry_run: DryRun = False


@dataclass(frozen=True)
class Speed:
    """How a model is run."""

    batch_size: Annotated[int | None, option("batch_size", "Default: 1, or 32 on a server.", panel=SPEED, min=1)] = None
    dtype: NumberType = "auto"
    attention: Annotated[Attention, option("attention", panel=SPEED)] = "sdpa"


@dataclass(frozen=True)
class Batches(Speed):
    """How a model is run on the prompts of a plan."""

    max_batch_tokens: Annotated[int | None, option("max_batch_tokens", panel=SPEED, min=1)] = None
    prefix_reuse: Annotated[bool, option("prefix_reuse", panel=SPEED)] = True
    warm_up: Annotated[bool, option("warm_up", "", "--warm-up", panel=SPEED)] = False


@dataclass(frozen=True)
class Server:
    """Settings of a chat endpoint; other models ignore them."""

    base_url: Annotated[str | None, option("base_url", panel=SERVER)] = None
    tokenizer: Annotated[str | None, option("tokenizer", "Default: the dataset's.", panel=SERVER)] = None
    concurrency: Annotated[int, option("concurrency", panel=SERVER, min=1)] = 4
    timeout: Annotated[float, option("timeout", panel=SERVER, min=1)] = 600
    limit_field: Annotated[LimitField, option("limit_field", panel=SERVER)] = "max_tokens"
    request_field: Annotated[list[str] | None, option("request_field", panel=SERVER)] = None
    price_in: Annotated[float | None, option("price_in", panel=SERVER, min=0)] = None
    price_out: Annotated[float | None, option("price_out", panel=SERVER, min=0)] = None

    @property
    def prices(self) -> tuple[float | None, float | None]:
        """Prices per million input and output tokens."""
        return self.price_in, self.price_out

    def chat(self) -> ChatOptions:
        """The settings of requests; SetupError for fields that are not KEY=VALUE."""
        from eval_harness.models.chat_api import request_fields

        return ChatOptions(
            base_url=self.base_url,
            concurrency=self.concurrency,
            timeout_s=self.timeout,
            limit_field=self.limit_field,
            fields=request_fields(self.request_field or ()),
        )


def once(names: Iterable[str]) -> tuple[str, ...]:
    """The names without repeats, in the order given."""
    return tuple(dict.fromkeys(names))


def numbers(option: str, written: str) -> list[int]:
    """The positive integers that an option lists, such as 1,2,4, in ascending order."""
    try:
        found = sorted({int(part) for part in written.split(",")})
    except ValueError:
        found = []
    if not found or found[0] < 1:
        raise SetupError(f"invalid {option} {written}; write numbers such as 1,2,4,8")
    return found
