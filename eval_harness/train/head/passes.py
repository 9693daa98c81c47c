"""The two passes over an example: scoring passages by the head, and generation from the selected ones."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from eval_harness.methods.head.scorer import scores_of
from eval_harness.probing.spans import Span
from eval_harness.train.head.attention import Chosen, Kept

if TYPE_CHECKING:
    import torch


class Example(NamedTuple):
    """Token ids of prompt, answer and end, of which the first `n_prompt` have no loss, with spans.

    `question` and `passages` are token spans, `gold` positions in `passages`.
    """

    ids: list[int]
    n_prompt: int
    question: Span
    passages: list[Span]
    gold: list[int]

    @property
    def context_end(self) -> int:
        """The first token after the last passage; from here on, passages that are not selected are masked."""
        return self.passages[-1][1]


class Read(NamedTuple):
    """The output of the first pass: passage scores, [passages] in float32, and the hidden states behind them."""

    scores: "torch.Tensor"
    states: "torch.Tensor"


def read(network: Any, head: Any, example: Example, kept: Kept | None = None) -> Read:
    """Processes the prompt and scores its passages; fills `kept`, if given, for the second pass."""
    ids = _row(network, example.ids[: example.n_prompt])
    states = network.base_model(input_ids=ids, use_cache=False, reading=kept).last_hidden_state[0]
    if kept and len(kept.layers) < network.config.get_text_config().num_hidden_layers:
        raise RuntimeError(
            f"only the layers {sorted(kept.layers)} keep keys and values; the others would see all passages"
        )
    return Read(scores_of(head, states, example.question, example.passages), states)


def generation_loss(network: Any, kept: Kept, mask: "torch.Tensor", example: Example) -> "torch.Tensor":
    """The mean cross-entropy of answer and end, given the passages that `mask`, [passages], selects."""
    import torch

    logits = answer_logits(network, kept, mask, example)
    learned = torch.tensor(example.ids[example.n_prompt :], device=logits.device)
    return torch.nn.functional.cross_entropy(logits.float(), learned)


def answer_logits(network: Any, kept: Kept, mask: "torch.Tensor", example: Example) -> "torch.Tensor":
    """Logits of each token of answer and end, [tokens, vocabulary]."""
    import torch

    start, end = kept.n, len(example.ids) - 1
    reading = Chosen(kept, over_tokens(mask, example.passages, kept.n))
    logits: torch.Tensor = network(
        input_ids=_row(network, example.ids[start:end]),
        position_ids=torch.arange(start, end, device=network.device)[None],
        use_cache=False,
        logits_to_keep=len(example.ids) - example.n_prompt,
        reading=reading,
    ).logits[0]
    return logits


def over_tokens(mask: "torch.Tensor", passages: Sequence[Span], n: int) -> "torch.Tensor":
    """The mask of each of the first `n` tokens: that of its passage, or 1 outside passages."""
    import torch

    owner = torch.full((n,), len(passages))
    for number, (start, end) in enumerate(passages):
        owner[start:end] = number
    return torch.cat([mask, mask.new_ones(1)])[owner.to(mask.device)]


def _row(network: Any, ids: Sequence[int]) -> "torch.Tensor":
    import torch

    return torch.tensor([ids], device=network.device)
