"""What a network of the transformers library can do, known without its weights."""

from typing import Any

from builders.errors import SetupError
from eval_harness.models.prefix import can_share
from eval_harness.models.rendering import first_line

_MOVING_ROPE = {"dynamic", "longrope"}  # rotations that depend on the longest text of a batch


def blank(config: Any, name: str) -> Any:
    """The network of a configuration without weights; SetupError if transformers has none for it."""
    import torch
    from transformers import AutoModelForCausalLM

    try:
        with torch.device("meta"):
            return AutoModelForCausalLM.from_config(config)
    except (ImportError, ValueError, KeyError) as error:
        raise SetupError(f"{name} is not a causal language model that can be run here: {first_line(error)}") from None


def attention_of(network: Any) -> str:
    """The attention that the network is run with, unless flash is asked for; eager keeps whole attention matrices."""
    return "sdpa" if network._supports_sdpa else "eager (the library has no sdpa for it; memory grows with the square)"


def shares_prefixes(network: Any) -> bool:
    """Whether the shared beginning of prompts can be read once."""
    return not moving_rope(network.config) and can_share(network)


def moving_rope(config: Any) -> bool:
    """Whether the positions of a text are turned by an angle that depends on how long the batch is."""
    rope = getattr(config.get_text_config(), "rope_parameters", None) or {}
    kinds = [rope, *(part for part in rope.values() if isinstance(part, dict))]
    return any(kind.get("rope_type") in _MOVING_ROPE for kind in kinds)
