"""Attention of tokens that may see some passages alone, with a gradient for every passage, seen or not.

A prompt is read in two passes. The first runs sdpa as always and keeps the keys and values of the context; from its
last states the passages are scored. The second reads what comes after the context, with these keys and values before
its own. Each of its weights is multiplied with the mask of the passage that the key is in, so a passage that is left
out has a weight of exactly 0, as under a mask of -inf, and still a derivative: what letting it in would change.
"""

from typing import TYPE_CHECKING, Any

from builders.errors import SetupError
from eval_harness.models.prefix import can_share

if TYPE_CHECKING:
    import torch

NAME = "icr2_choice"
_MOST = 3.0  # how far above every key that is seen the logit of one that is not may count, lest its derivative explode


class Kept:
    """The first pass: `layers` is filled with each layer's keys and values of the first `n` tokens.

    Neither tuple nor dataclass, which FSDP would take apart on the way to each layer, so that it filled a copy.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.layers: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}


class Chosen:
    """The second pass: what the first one kept, and the mask of each of its tokens, [n] in float32."""

    def __init__(self, kept: Kept, mask: "torch.Tensor") -> None:
        self.kept = kept
        self.mask = mask


def use(network: Any, name: str) -> None:
    """Makes a model of the library attend by this module; SetupError where it keeps not all keys and values alike."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    if not can_share(network):
        raise SetupError(
            f"{name} has windows or states of its own, so passages cannot be hidden from it; use --loss ret"
        )
    AttentionInterface.register(NAME, _attend)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    network.set_attn_implementation(NAME)


def _attend(module: Any, query: Any, key: Any, value: Any, attention_mask: Any, **options: Any) -> Any:
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    reading = options.pop("reading", None)
    if isinstance(reading, Chosen):
        return _attend_chosen(reading, module, query, key, value, options), None
    if isinstance(reading, Kept):
        reading.layers[module.layer_idx] = (key[:, :, : reading.n], value[:, :, : reading.n])
    return sdpa_attention_forward(module, query, key, value, attention_mask, **options)


def _attend_chosen(
    reading: Chosen, module: Any, query: Any, key: Any, value: Any, options: dict[str, Any]
) -> "torch.Tensor":
    """[1, tokens, heads, size], as transformers wants it; query head h reads key head h // group."""
    import torch

    before = reading.kept.layers[module.layer_idx]
    key, value = (torch.cat(pair, dim=2) for pair in zip(before, (key, value), strict=True))
    _, heads, tokens, size = query.shape
    grouped = query.reshape(1, key.shape[1], -1, size)  # [1, key heads, group * tokens, size]
    scaling = options.get("scaling")
    logits = torch.matmul(grouped, key.transpose(2, 3)).float() * (size**-0.5 if scaling is None else scaling)
    weights = _weights(logits.reshape(1, heads, tokens, -1), reading.mask).to(value.dtype)
    weights = torch.nn.functional.dropout(weights, options.get("dropout", 0.0))
    found = torch.matmul(weights.reshape(1, key.shape[1], -1, key.shape[2]), value)
    return found.reshape(1, heads, tokens, -1).transpose(1, 2).contiguous()


def _weights(logits: "torch.Tensor", mask: "torch.Tensor") -> "torch.Tensor":
    """The softmax of [..., tokens, keys], each weight times its key's mask; a token sees itself and those before it.

    The first keys are those with a mask, the others the tokens themselves.
    """
    import torch

    tokens, keys = logits.shape[-2:]
    later = torch.ones(tokens, keys, dtype=torch.bool, device=logits.device).triu(1 + keys - tokens)
    mask = torch.cat([mask, mask.new_ones(tokens)])
    logits = logits.masked_fill(later, float("-inf"))
    highest = logits.detach().masked_fill(mask.detach() == 0, float("-inf")).amax(dim=-1, keepdim=True)
    weights = (logits - highest).clamp(max=_MOST).exp() * mask
    return weights / weights.sum(dim=-1, keepdim=True)
