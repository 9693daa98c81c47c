"""Attention to selected passages only, with a gradient for every passage, selected or not.

A prompt is processed in two passes. The first runs sdpa as usual and keeps the context's keys and values; passages
are scored from its final hidden states. The second processes the tokens after the context, with the kept keys and
values before its own. Each weight is multiplied by the mask of the key's passage, so a passage that is left
out has a weight of exactly 0, as under a mask of -inf, but still a derivative: the effect of including it.
"""

from typing import TYPE_CHECKING, Any

from builders.errors import SetupError
from eval_harness.models.prefix import can_share

if TYPE_CHECKING:
    import torch

NAME = "icr2_choice"
_MOST = 3.0  # cap on a masked key's logit above those of visible keys, so that its derivative stays bounded


class Kept:
    """The first pass: `layers` collects each layer's keys and values of the first `n` tokens.

    Neither tuple nor dataclass: FSDP would copy those on the way to each layer.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.layers: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}


class Chosen:
    """The second pass: the kept keys and values, and the mask of each of their tokens, [n] in float32."""

    def __init__(self, kept: Kept, mask: "torch.Tensor") -> None:
        self.kept = kept
        self.mask = mask


def use(network: Any, name: str) -> None:
    """Makes a transformers model use this attention; SetupError if some layers do not keep all keys and values."""
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
    """[1, tokens, heads, size], as in transformers; query head h uses key head h // group."""
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
    """The causal softmax of [..., tokens, keys], each weight times its key's mask.

    The first keys are the masked ones, the others those of the tokens themselves.
    """
    import torch

    tokens, keys = logits.shape[-2:]
    later = torch.ones(tokens, keys, dtype=torch.bool, device=logits.device).triu(1 + keys - tokens)
    mask = torch.cat([mask, mask.new_ones(tokens)])
    logits = logits.masked_fill(later, float("-inf"))
    highest = logits.detach().masked_fill(mask.detach() == 0, float("-inf")).amax(dim=-1, keepdim=True)
    weights = (logits - highest).clamp(max=_MOST).exp() * mask
    return weights / weights.sum(dim=-1, keepdim=True)
