"""Options of the commands: groups of them as dataclasses, and one help text per name."""

from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

MEANS = {  # by option; the help of every command begins with it, and a command may add to it
    "accumulate": "Batches per step, in each process.",
    "activation_checkpointing": "Recompute activations: less memory, more time.",
    "attention": "Attention kernel; flash (FlashAttention) needs a CUDA GPU.",
    "base_url": "Address of the server; default: OPENAI_BASE_URL.",
    "batch_size": "Sequences per batch.",
    "concurrency": "Requests in flight at a time.",
    "config": "Config, such as 1k_p75.",
    "dataset": "Dataset of the runs.",
    "dry_run": "Show what would be done and stop.",
    "dtype": "Compute dtype; auto: bfloat16 where it is fast, else float32.",
    "encoder": "Sentence-transformers model: bundled:minilm, a folder, or a Hub id (id@revision).",
    "eval_every": "Steps between evaluations; default: a twentieth of all steps.",
    "eval_n": "Validation instances of each task for the loss.",
    "figure": "Draw the hit rates (.png or .svg).",
    "k": "Number of passages to retrieve.",
    "limit": "Only the first N instances of each task.",
    "limit_field": "Request field for the output limit.",
    "lora": "Train LoRA adapters, merged into the saved checkpoint.",
    "lora_rank": "Rank of the LoRA adapters.",
    "lr": "Peak learning rate; default: 1e-5, with --lora 2e-4.",
    "marks": "Enclose the retrieval in <RETRIEVAL> and </RETRIEVAL>; otherwise `Answer:` follows it.",
    "max_batch_tokens": "Limit on padded tokens per batch, instead of a number of sequences.",
    "max_length": "Tokens per sample; passages that are not gold are dropped to fit.",
    "max_new_tokens": "Limit on output tokens.",
    "max_positions": "Limit on prompt and output together, in tokens; default: the model's.",
    "method": "Method, such as vanilla_rag.",
    "model": "Bundled name, folder, GGUF file, or Hub id (id@revision).",
    "out": "Where the result is written.",
    "patience": "Evaluations without a lower loss before training stops; 0: never.",
    "prefix_reuse": "Read the shared beginning of prompts over the same passages once.",
    "price_in": "With --dry-run: price of a million input tokens.",
    "price_out": "With --dry-run: price of a million output tokens.",
    "request_field": "KEY=VALUE to send with each request; repeat for several.",
    "rope_base": "Base of the rotary position embedding, such as 1e6 for longer contexts.",
    "samples": "Training instances: TASK=N,... or one number for every task; default: all.",
    "seed": "Seed for choosing and ordering samples.",
    "set": "Change a setting of the recipe, such as data=FOLDER; repeat for several.",
    "shard": "Only part I of N.",
    "split": "Split to read.",
    "steps": "Most training steps. Default: 10000.",
    "epochs": "Most rounds over all samples; training ends with the first of both limits.",
    "system": "System turn before the prompt.",
    "task": "Task; repeat for several; default: all.",
    "template_field": "Field for the chat template, such as enable_thinking=false; repeat for several.",
    "paper": "At most 1,024 tokens for every output, as in the ICR² paper, or what the prompt leaves.",
    "thinking_marks": "What opens and closes the model's thoughts, if it is not one of the usual pairs.",
    "timeout": "Seconds per attempt.",
    "warm_up": "Answer one prompt of each method before seconds are taken.",
    "tokenizer": "Tokenizer for counting prompt tokens.",
    "validation_split": "Split for choosing the best checkpoint.",
    "variant": "Target; da: the answer; rta: gold passages, then the answer; cci: their numbers, then the answer.",
    "warmup": "Warmup steps, or below 1 a share of all steps.",
}
SEVERAL = "Repeat for several."

DatasetFolder = Annotated[Path, typer.Argument(metavar="DIR", help="Dataset folder.")]


def option(name: str, more: str = "", *names: str, panel: str | None = None, **settings: Any) -> Any:
    """The option of this name, which means the same in every command; `more` is appended to its help."""
    help = f"{MEANS[name]} {more}".strip()
    return typer.Option(*names, help=help, rich_help_panel=panel, **settings)


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for each field of the dataclasses among its parameters.

    It is called with those options, and calls `command` with instances of the dataclasses.
    """
    own = signature(command, eval_str=True).parameters.values()
    groups: dict[str, Any] = {one.name: one.annotation for one in own if is_dataclass(one.annotation)}
    shown = [
        part
        for one in own
        for part in (_options(groups[one.name]) if one.name in groups else [one.replace(kind=Parameter.KEYWORD_ONLY)])
    ]

    @wraps(command)
    def call(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    vars(call)["__signature__"] = Signature(shown)  # ValueError if two groups share a name
    call.__annotations__ = {one.name: one.annotation for one in shown}
    return call


def _options(group: Any) -> Iterator[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=_default(field), annotation=hints[field.name])


def _default(field: Field[Any]) -> Any:
    return Parameter.empty if field.default is MISSING else field.default
