"""`icr2 show-prompt`: one prompt as a model reads it."""

from hashlib import sha256
from pathlib import Path
from typing import Annotated

import typer

from builders.errors import SetupError
from eval_harness.data.dataset import check_parts, find_instance, open_dataset
from eval_harness.models import is_remote
from eval_harness.models.local import find_checkpoint
from eval_harness.models.template import Template, load_config, load_tokenizer, position_limit
from eval_harness.run.plan import Plan


def show_prompt(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A built dataset.")],
    config: Annotated[str, typer.Argument(help="A config such as 1k_p75.")],
    id: Annotated[str, typer.Argument(metavar="ID", help="An instance.")],
    model: Annotated[str, typer.Option(help="A bundled name, a folder, a GGUF file, or a Hub id (id@revision).")],
    method: Annotated[str, typer.Option(help="A method of icr2 eval.")] = "vanilla_rag",
    split: Annotated[str, typer.Option(help="The split of the instance.")] = "test",
    system: Annotated[str | None, typer.Option(help="A system turn before the prompt.")] = None,
    max_new_tokens: Annotated[int | None, typer.Option(min=1, help="For the output; default: by task.")] = None,
) -> None:
    """Prints a prompt as the model reads it, chat template included, and how it fits; facts go to the error output."""
    if is_remote(model):
        raise SetupError("a server puts its own template around a prompt; name a local model or a Hub id")
    dataset = open_dataset(folder)
    check_parts(dataset, [config], split)
    asked, rap, _ = method.partition("rap")
    if rap:
        first = asked.rstrip("+") or "vanilla_rag"
        raise SetupError(f"{method} first asks what {first} asks; run: icr2 show-prompt ... --method {first}")
    plan = Plan(dataset, (config,), (method,), split)
    (setting,) = plan.settings
    instance = find_instance(dataset, config, split, id)
    prompt = setting.prompt(instance)
    if prompt is None:
        raise SetupError(f"{id} has no {method} prompt: it lacks what the condition shows")
    checkpoint = find_checkpoint(model, weights=False)
    tokenizer = load_tokenizer(checkpoint.folder, checkpoint.name)
    template = Template(tokenizer, checkpoint.name, system)
    text, n_tokens = template.render(prompt), len(template.encode(prompt))
    limit = position_limit(load_config(checkpoint.folder, checkpoint.name), tokenizer)
    room = max_new_tokens or plan.output_limit(setting, instance.task, limit - n_tokens)
    verdict = "fits" if n_tokens + room <= limit else "overlength"
    typer.echo(text, nl=False)
    typer.echo("", err=True)
    typer.echo(f"tokens: {n_tokens} + {room} for the output, of {limit}: {verdict}", err=True)
    typer.echo(f"sha256 of the prompt, as in results.jsonl: {_digest(prompt)}", err=True)
    typer.echo(f"sha256 of this text: {_digest(text)}", err=True)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
