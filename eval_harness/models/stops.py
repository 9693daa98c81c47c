"""What ends an output: the token that ends a turn, those of both configuration files, and the end of text."""

from pathlib import Path
from typing import Any

from builders.errors import SetupError
from eval_harness.models.rendering import render

# A chat model may stop at one of these without saying so in its files.
_TURN_ENDS = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>")
_TURN = "\x02answer\x03"


def stop_ids(tokenizer: Any, name: str, config: Any, generation_config: Any) -> list[int]:
    """The ids that end an output, sorted: the union of what says so."""
    own = [generation_config.eos_token_id, config.eos_token_id, config.get_text_config().eos_token_id]
    ids = {tokenizer.eos_token_id, *(id for one in own for id in (one if isinstance(one, list) else [one]))}
    if tokenizer.chat_template:
        ids.update(tokenizer.get_vocab().get(token) for token in _TURN_ENDS)
        ids.add(turn_end(tokenizer, name))
    return sorted(id for id in ids if id is not None)


def end_of_output(tokenizer: Any, name: str) -> int:
    """The one of `stop_ids` that training teaches: the end of a turn, else the end of text.

    SetupError if there is neither.
    """
    end = turn_end(tokenizer, name) if tokenizer.chat_template else None
    end = tokenizer.eos_token_id if end is None else end
    if end is None:
        raise SetupError(f"the tokenizer of {name} has no end-of-text token; use a model that has one")
    return int(end)


def load_generation_config(folder: Path, config: Any) -> Any:
    """The settings of generation in a model folder, made from its configuration where it has none."""
    from transformers import GenerationConfig

    if (folder / "generation_config.json").is_file():
        return GenerationConfig.from_pretrained(str(folder))
    return GenerationConfig.from_model_config(config)


def turn_end(tokenizer: Any, name: str) -> int | None:
    """The token that a chat template writes right after a model's turn; None if it writes none or refuses the turn."""
    turns = [{"role": "user", "content": "question"}, {"role": "assistant", "content": _TURN}]
    try:
        after = render(tokenizer, name, turns, {}, answering=False).rpartition(_TURN)[2]
    except SetupError:
        return None
    added = {token.content: id for id, token in tokenizer.added_tokens_decoder.items()}
    first = max((content for content in added if after.lstrip().startswith(content)), key=len, default=None)
    return None if first is None else added[first]
