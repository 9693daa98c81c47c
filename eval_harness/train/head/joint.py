"""A language model and its retrieval head as one module, with a generation loss, a retrieval loss, or both."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from eval_harness.methods.head.scorer import retrieval_loss
from eval_harness.methods.head.top_k import gumbel, straight_through, top_k
from eval_harness.train.head.attention import Kept, use
from eval_harness.train.head.passes import Example, generation_loss, read

if TYPE_CHECKING:
    import torch

Loss = Literal["gen", "ret", "gen+ret"]

LOSSES: tuple[Loss, ...] = get_args(Loss)


@dataclass(frozen=True)
class Objective:
    """The objective: a loss over K passages, selected at a temperature that decays geometrically.

    `gen` trains the model, and the head only through the mask; `ret` trains only the head.
    """

    loss: Loss = "gen+ret"
    k: int = 4
    first_temperature: float = 1.0
    last_temperature: float = 0.1
    seed: str = "0"

    @property
    def generates(self) -> bool:
        """Whether the loss includes generation, which trains the model."""
        return "gen" in self.loss

    @property
    def retrieves(self) -> bool:
        """Whether the loss includes retrieval of gold passages."""
        return "ret" in self.loss

    def temperature(self, step: int, steps: int) -> float:
        """The temperature at a step, counted from 0."""
        share = min(step / max(steps - 1, 1), 1.0)
        return float(self.first_temperature * (self.last_temperature / self.first_temperature) ** share)


def joint(network: Any, head: Any, objective: Objective, name: str) -> "torch.nn.Module":
    """The joint module of `network`, which may have adapters, and `head`.

    SetupError if the loss includes generation but passages cannot be masked in the model.
    """
    import torch

    inner = network.get_base_model() if hasattr(network, "get_base_model") else network
    if objective.generates:
        use(inner, name)
    else:
        network.requires_grad_(False)

    class Joint(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network, self.head = network, head
            self._no_split_modules = inner._no_split_modules  # modules that FSDP does not split

        def tie_weights(self) -> None:
            inner.tie_weights()

        def activation_checkpointing_enable(self, **_: Any) -> None:
            inner.activation_checkpointing_enable({"use_reentrant": False})  # because keys and values leave their layer

        def forward(
            self,
            input_ids: Any,
            labels: Any,
            question: Any,
            passages: Any,
            gold: Any,
            draw: Any,
            temperature: float = 1.0,
        ) -> dict[str, Any]:
            """`loss`, and the `recall` of gold in the top K, [1]; `draw` seeds the noise in training."""
            one = _example(input_ids, labels, question, passages, gold)
            kept = Kept(one.context_end) if objective.generates else None
            scores, states = read(inner, self.head, one, kept)
            loss = scores.new_zeros(())
            if kept:
                loss = 0 * states.float().sum()  # FSDP gathers a layer's weights only if its output has a gradient
                noise = gumbel(len(scores), objective.seed, str(int(draw))).to(scores) if self.training else 0
                mask = straight_through(scores + noise, objective.k, temperature)
                loss = loss + generation_loss(inner, kept, mask, one)
            if objective.retrieves:
                loss = loss + retrieval_loss(scores, one.gold)
            return {"loss": loss, "recall": scores.new_tensor([recall(scores, one.gold, objective.k)])}

    return Joint()


def recall(scores: "torch.Tensor", gold: list[int], k: int) -> float:
    """The share of gold passages among the K highest scores."""
    return len({*top_k(scores, k)} & {*gold}) / len(gold)


def _example(input_ids: Any, labels: Any, question: Any, passages: Any, gold: Any) -> Example:
    (ids,) = input_ids.tolist()
    first, end = question.tolist()
    spans = [(start, stop) for start, stop in passages.tolist()]
    return Example(ids, len(ids) - labels.shape[1], (first, end), spans, gold.tolist())
