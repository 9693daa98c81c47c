"""What a model's heads look at while it reads a prompt: scores of its passages."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, get_args, runtime_checkable

from builders.prompts import Prompt
from eval_harness.models.prefix import shared_length, spread
from eval_harness.probing.attention import Scores, Watch, probed_layers, watching
from eval_harness.probing.spans import Span, token_spans

if TYPE_CHECKING:
    from eval_harness.models.hf import Prefilled
    from eval_harness.models.template import Template

Position = Literal["last", "question"]
Pooling = Literal["sum", "max", "mean"]
POSITIONS: tuple[Position, ...] = get_args(Position)
POOLINGS: tuple[Pooling, ...] = get_args(Pooling)

NO_QUESTION = "N/A"  # asks nothing, so that what heads look at then is no answer to anything (calibration)


@runtime_checkable
class Attends(Protocol):
    """A model whose heads can be watched: its network, its template, and a guard against want of memory."""

    name: str
    network: Any
    template: "Template"

    def guarded(self, compute: Any, size: str) -> Any:
        """What `compute` returns; GenerationError where the memory does not suffice."""
        ...

    def describe(self) -> dict[str, Any]:
        """What the model is."""
        ...


class Look(NamedTuple):
    """A prompt as tokens: where its passages stand, and the query tokens to look from."""

    ids: list[int]
    spans: list[Span]
    rows: list[int]


def look_at(template: "Template", prompt: Prompt, query: str, position: Position) -> Look:
    """How to look at a prompt: from its `last` token, which predicts the first of the output, or from the `question`'s.

    A question without a token of its own is looked at from the last token.
    """
    ids, places = template.encode(prompt.text), template.places(prompt.text)
    spans = token_spans(places, prompt.spans)
    rows = [len(ids) - 1]
    if position == "question":
        start = prompt.text.find(query, prompt.context_end)
        ((first, last),) = token_spans(places, [(start, start + len(query))])
        rows = list(range(first, last)) or rows
    return Look(ids, spans, rows)


def attend(model: Attends, look: Look, layers: Sequence[int], stop: bool, prefix: "Prefilled | None" = None) -> Scores:
    """What each head of `layers` gives each passage of one prompt, [1, layers, heads, passages].

    With `stop` the model reads no further than the highest of the layers. What the prompt and a `prefix` begin with
    alike is not read again.
    """
    import torch

    read = min(shared_length([prefix.ids, look.ids]), look.rows[0]) if prefix else 0
    watch = Watch(layers, [look.spans], [look.rows], [0], len(look.ids), stop)

    def compute() -> None:
        known = {}
        if read and prefix:
            cache = spread(model.network, prefix.cache, 1)
            if read < prefix.n_tokens:
                cache.crop(read - prefix.n_tokens)
            known = {"cache": cache}
        with watching(model.network, watch):
            model.network.base_model(
                input_ids=torch.tensor([look.ids[read:]], device=model.network.device), use_cache=bool(known), **known
            )

    model.guarded(compute, f"{len(look.ids)} tokens")
    return watch.scores()


def pooled(scores: Scores, pooling: Pooling) -> Any:
    """The scores of one prompt under a pooling, [layers, heads, passages]."""
    return getattr(scores, pooling)[0]


def layers_of(model: Attends) -> list[int]:
    """The layers of a model that can be probed."""
    return probed_layers(model.network.config)
