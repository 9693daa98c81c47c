"""Batches examples with left padding, so that the learned tokens are at the end of every row."""

from collections.abc import Sequence
from inspect import signature
from typing import Any, NamedTuple

from eval_harness.train.encode import Encoded

IGNORED = -100  # the label of tokens without loss


class Collator(NamedTuple):
    """Collates examples into tensors; `pad` is the padding token, which never has a loss.

    With `tail`, labels cover only the last tokens and the model computes only their logits: positions times
    vocabulary is most of the memory at long contexts. `positions`: whether to pass position ids.
    """

    pad: int
    tail: bool = True
    positions: bool = True

    def __call__(self, examples: Sequence[Encoded]) -> dict[str, Any]:
        """`input_ids`, `attention_mask`, `position_ids` (rows, longest) and `labels`, for a causal model's loss.

        Positions count a row's own tokens. ValueError for a row without learned tokens.
        """
        import torch

        if bare := [one.id for one in examples if not one.n_prompt < len(one.ids)]:
            raise ValueError(f"no tokens to learn in {', '.join(bare)}")
        width = max(len(one.ids) for one in examples)
        ids = torch.full((len(examples), width), self.pad)
        labels = torch.full_like(ids, IGNORED)
        mask = torch.zeros_like(ids)
        for row, one in enumerate(examples):
            start = width - len(one.ids)
            ids[row, start:] = torch.tensor(one.ids)
            labels[row, start + one.n_prompt :] = torch.tensor(one.ids[one.n_prompt :])
            mask[row, start:] = 1
        batch = {"input_ids": ids, "attention_mask": mask}
        if self.positions:
            batch["position_ids"] = (mask.cumsum(1) - 1).clamp(min=0)
        if not self.tail:
            return batch | {"labels": labels}
        kept = max(len(one.ids) - one.n_prompt for one in examples) + 1  # each token is predicted from the one before
        return batch | {"labels": labels[:, -kept:], "logits_to_keep": kept}


def collator_for(network: Any, pad: int | None) -> Collator:
    """The collator with the arguments that a causal model accepts."""
    takes = signature(network.forward).parameters
    return Collator(pad or 0, tail="logits_to_keep" in takes, positions="position_ids" in takes)
