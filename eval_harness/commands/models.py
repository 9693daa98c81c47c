"""`icr2 models`: the bundled models, and what is understood of any model before it is run."""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from builders.display import say, write
from builders.errors import SetupError
from builders.options import option
from eval_harness.commands import options
from eval_harness.models import is_remote
from eval_harness.models.local import BUNDLED_MODELS, Checkpoint, find_checkpoint

_PROMPT = "Who wrote Emma?"


class _Group(TyperGroup):
    """A group whose first argument may also be the name of a bundled model."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command, `folder` where the first argument is none."""
        known = args and args[0] in self.commands
        return super().resolve_command(ctx, args if known else ["folder", *args])


def register(app: typer.Typer) -> None:
    """Mounts the commands on `app`."""
    group = typer.Typer(cls=_Group, help=models.__doc__, invoke_without_command=True)
    group.callback()(models)
    group.command("folder", hidden=True)(folder)
    group.command("check")(check)
    app.add_typer(group, name="models")


def models(context: typer.Context) -> None:
    """List the bundled models and their folders, for use in other tools; with a name, print its folder."""
    if context.invoked_subcommand is not None:
        return
    for known in BUNDLED_MODELS:
        try:
            write(f"{known}\t{find_checkpoint(known).folder}\n")
        except SetupError as error:
            write(f"{known}\t{error}\n")


def folder(name: Annotated[str, typer.Argument(metavar="NAME", help="A bundled model.")]) -> None:
    """Print the folder of a bundled model."""
    if name not in BUNDLED_MODELS:
        raise SetupError(f"no bundled model {name!r}; available: {', '.join(BUNDLED_MODELS)}")
    say(find_checkpoint(name).folder)


def check(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Bundled name, folder, GGUF file, or Hub id.")],
    system: Annotated[str | None, option("system")] = None,
    template_field: Annotated[list[str] | None, option("template_field", metavar="KEY=VALUE")] = None,
    thinking_marks: Annotated[str | None, option("thinking_marks", metavar="'OPEN CLOSE'")] = None,
    max_positions: Annotated[int | None, option("max_positions", min=1)] = None,
) -> None:
    """Print what is understood of a model: its limit, stops, template, layers to probe, and a rendered prompt."""
    if is_remote(name):
        raise SetupError(
            f"{name} is not on this machine: its server applies the template and the limit; name its Hub id"
        )
    asked = options.Prompted(name, system, template_field, thinking_marks, max_positions)
    facts, prompt = understood(find_checkpoint(name, weights=False), asked)
    width = max(map(len, facts))
    for fact, value in facts.items():
        say(f"{fact:{width}}  {value}")
    say(f"\n{prompt}")


def understood(checkpoint: Checkpoint, asked: options.Prompted) -> tuple[dict[str, str], str]:
    """Facts about a model by name, from its files without its weights, and one prompt as it is sent."""
    from eval_harness.models.limits import UNKNOWN, chosen, limit_of
    from eval_harness.models.network import attention_of, blank, moving_rope, shares_prefixes
    from eval_harness.models.rendering import CLOCK, reads_clock, switches
    from eval_harness.models.stops import load_generation_config, stop_ids
    from eval_harness.models.template import Template, load_config, load_tokenizer
    from eval_harness.models.thoughts import marks_of

    folder, name, revision = checkpoint
    config, tokenizer = load_config(folder, name), load_tokenizer(folder, name)
    template = Template(tokenizer, name, asked.system, asked.fields(), marks_of(asked.thinking_marks))
    network = blank(config, name)
    tokens, source = chosen(limit_of(config, tokenizer), asked.max_positions, config)
    stops = stop_ids(tokenizer, name, config, load_generation_config(folder, config))
    chat = template.is_chat
    facts = {
        "model": f"{name} ({revision}), {type(network).__name__}",
        "context length": f"{f'{tokens:,}' if tokens < UNKNOWN else 'unknown'} ({source})",
        "template": "chat template of the tokenizer" if chat else "none: the prompt as it is",
        "system text": _system(tokenizer, name) if chat else "refused",
        "template fields": ", ".join(switches(tokenizer)) or "none" if chat else "none",
        "template's day": str(CLOCK.date()) if chat and reads_clock(tokenizer) else "not used",
        "thoughts": f"begun by the template: {template.opened}" if template.opened else "not begun by the template",
        "stops at": " ".join(tokenizer.convert_ids_to_tokens(stops)) or "nothing: up to the output limit",
        "attention": attention_of(network),
        "sliding window": _window(config.get_text_config()),
        "shared prefixes": "read once" if shares_prefixes(network) else "not shared",
        "batches": "prompts of one length" if moving_rope(config) else "any",
        "layers to probe": _probed(network),
    }
    return facts, template.render(_PROMPT)


def _system(tokenizer: Any, name: str) -> str:
    from eval_harness.models.template import Template

    try:
        before = Template(tokenizer, name, "SYSTEM TEXT").render("").partition("SYSTEM TEXT")[0]
    except SetupError as error:
        return f"refused: {error}"
    alone = Template(tokenizer, name).render("\x00").partition("\x00")[0]
    return "in the user's turn" if alone and before == alone else "a turn of its own"


def _window(text: Any) -> str:
    window, kinds = getattr(text, "sliding_window", None), getattr(text, "layer_types", None)
    sliding = kinds.count("sliding_attention") if kinds else (text.num_hidden_layers if window else 0)
    return f"{window:,} tokens in {sliding} of {text.num_hidden_layers} layers" if window and sliding else "none"


def _probed(network: Any) -> str:
    from eval_harness.probing.attention import check_watched, probed_layers

    try:
        check_watched(network)
        layers = probed_layers(network.config)
    except SetupError as error:
        return f"none: {error}"
    n = network.config.get_text_config().num_hidden_layers
    return f"all {n}" if len(layers) == n else f"{len(layers)} of {n}: {', '.join(map(str, layers))}"
