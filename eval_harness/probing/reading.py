"""What a model's heads look at while it reads a prompt: scores of its passages."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from builders.prompts import Prompt
from eval_harness.models.base import Attends
from eval_harness.models.prefix import shared_length, spread
from eval_harness.probing.attention import Scores, Watch, check_watched, probed_layers, watching
from eval_harness.probing.spans import Span, token_spans

if TYPE_CHECKING:
    from eval_harness.models.hf import Prefilled
    from eval_harness.models.steps import Written
    from eval_harness.models.template import Template

Position = Literal["last", "question", "retrieval"]
Pooling = Literal["sum", "max", "mean"]
Tokens = Literal["union", "mean"]
POOLINGS: tuple[Pooling, ...] = get_args(Pooling)

NO_QUESTION = "N/A"  # asks nothing, so that what heads look at then is no answer to anything (calibration)


class Look(NamedTuple):
    """A prompt as tokens: where its passages stand, and the query tokens to look from."""

    ids: list[int]
    spans: list[Span]
    rows: list[int]


def look_at(
    template: "Template", prompt: Prompt, query: str, position: Position, written: "Written | None" = None
) -> Look:
    """How to look at a prompt.

    From its `last` token, which predicts the first of the output; from the tokens of the `question`; or from those
    that predict the tokens of a `retrieval`, which a model `written` after the prompt. Where there is no question or
    no retrieval, from the last token.
    """
    ids, places = template.encode(prompt.text), template.places(prompt.text)
    spans = token_spans(places, prompt.spans)
    last = [len(ids) - 1]
    if position == "question":
        start = prompt.text.find(query, prompt.context_end)
        ((first, end),) = token_spans(places, [(start, start + len(query))])
        return Look(ids, spans, list(range(first, end)) or last)
    if written:
        first, end = written.inside
        return Look(written.prompt + written.output, spans, list(range(first - 1, end - 1)) or last)
    return Look(ids, spans, last)


def attend(
    model: Attends, look: Look, layers: Sequence[int], stop: bool, prefix: "Prefilled | None" = None, each: bool = False
) -> Scores:
    """What each head of `layers` gives each passage of one prompt, [1, layers, heads, passages].

    With `each`, every query position ranks the passages for itself. With `stop` the model reads no further than the
    highest of the layers. What the prompt and a `prefix` begin with alike is not read again.
    """
    import torch

    read = min(shared_length([prefix.ids, look.ids]), look.rows[0]) if prefix else 0
    watch = Watch(layers, [look.spans], [look.rows], [0], len(look.ids), stop, each)

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
    check_watched(model.network)
    return probed_layers(model.network.config)
