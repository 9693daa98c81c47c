"""`icr2 show-prompt`: one prompt with its chat template."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated

import typer

from builders.display import say, write
from builders.errors import SetupError
from builders.options import MEANS, DatasetFolder, grouped, option
from eval_harness.commands import options
from eval_harness.data.dataset import check_parts, find_instance, open_dataset
from eval_harness.models import is_remote
from eval_harness.models.limits import chosen, limit_of
from eval_harness.models.local import find_checkpoint
from eval_harness.models.template import Template, load_config, load_tokenizer
from eval_harness.models.thoughts import marks_of
from eval_harness.run.plan import Plan


@dataclass(frozen=True)
class Local(options.Answering):
    """The local model and how it is prompted."""

    model: options.LocalModel


@grouped
def show_prompt(
    *,
    folder: DatasetFolder,
    config: Annotated[str, typer.Argument(help=MEANS["config"])],
    id: Annotated[str, typer.Argument(metavar="ID", help="Id of an instance.")],
    asked: Local,
    method: Annotated[str, option("method")] = "vanilla_rag",
    split: options.Split = "test",
) -> None:
    """Print a prompt with the model's chat template to stdout, and whether it fits to stderr."""
    if is_remote(asked.model):
        raise SetupError("a server applies its own chat template; give a local model or a Hub id")
    dataset = open_dataset(folder)
    check_parts(dataset, [config], split)
    before, rap, _ = method.partition("rap")
    if rap:
        first = before.rstrip("+") or "vanilla_rag"
        raise SetupError(f"{method} starts with the prompt of {first}; run: icr2 show-prompt ... --method {first}")
    plan = Plan(dataset, (config,), (method,), split)
    (setting,) = plan.settings
    instance = find_instance(dataset, config, split, id)
    prompt = setting.prompt(instance)
    if prompt is None:
        raise SetupError(f"{id} has no {method} prompt: it has no passages to show under this condition")
    checkpoint = find_checkpoint(asked.model, weights=False)
    tokenizer = load_tokenizer(checkpoint.folder, checkpoint.name)
    marks = marks_of(asked.thinking_marks)
    template = Template(tokenizer, checkpoint.name, asked.system, asked.fields(), marks)
    text, n_tokens = template.render(prompt), len(template.encode(prompt))
    config = load_config(checkpoint.folder, checkpoint.name)
    limit, source = chosen(limit_of(config, tokenizer), asked.max_positions, config)
    room = asked.limits().of(setting, instance.spec, limit - n_tokens)
    verdict = "fits" if n_tokens + room <= limit else "overlength"
    write(text)
    say("", stderr=True)
    say(f"tokens: {n_tokens} + {room} for the output, of {limit}: {verdict} ({source})", stderr=True)
    say(f"sha256 of the prompt, as in results.jsonl: {_digest(prompt)}", stderr=True)
    say(f"sha256 of this text: {_digest(text)}", stderr=True)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
