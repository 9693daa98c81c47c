"""Probes a model on instances whose gold is known: the hit rate of every head (paper, section 4.2)."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from builders.errors import SetupError
from builders.prompts import Prompt
from eval_harness.data.dataset import Instance, prompt_over
from eval_harness.models.base import Attends, SharesPrefix
from eval_harness.probing.heads import Heads, Rates, heads_by_task, hits
from eval_harness.probing.reading import (
    NO_QUESTION,
    POOLINGS,
    Pooling,
    Position,
    Tokens,
    attend,
    layers_of,
    look_at,
    pooled,
)

if TYPE_CHECKING:
    import torch

    from eval_harness.models.steps import Written


class Variant(NamedTuple):
    """A way to score passages: query positions, pooling, and whether the scores of an empty question are subtracted.

    `tokens` is how several query positions choose together: by their mean score, or each for itself, and what any of
    them chooses counts (`union`, the paper's "all tokens" of a retrieval, appendix C.2).
    """

    position: Position
    pooling: Pooling
    calibrated: bool
    tokens: Tokens = "mean"

    def describe(self) -> dict[str, Any]:
        """Its parts by name."""
        return self._asdict()


POSITIONS: tuple[Position, ...] = ("last", "question")
VARIANTS = [Variant(*parts) for parts in product(POSITIONS, POOLINGS, (False, True))]  # of every model
OF_RETRIEVALS = [  # of models tuned to retrieve first
    Variant("retrieval", pooling, False, tokens) for tokens in get_args(Tokens) for pooling in POOLINGS
]


class Counted(NamedTuple):
    """How many instances were probed, and how many were left out for each reason."""

    n: int
    left_out: dict[str, int]


def scores_of(
    model: Attends,
    instance: Instance,
    variants: Sequence[Variant],
    layers: Sequence[int],
    stop: bool = False,
    prefix: Any = None,
    written: "Written | None" = None,
    prompt: Prompt | None = None,
) -> dict[Variant, "torch.Tensor"]:
    """The scores of an instance's passages under each variant, [layers, heads, passages].

    A model that can go on from a shared beginning reads the context once for all of them; `prefix` may hold it already.
    `written` is the retrieval that some variants look from, and `prompt` that over all passages, where it was made.
    """
    found: dict[Variant, Any] = {}
    prompt = prompt or prompt_over(instance, instance.passages)
    plain = [variant for variant in variants if variant.position != "retrieval"]
    if plain:
        found |= _of_prompts(model, instance, prompt, plain, layers, stop, prefix)
    if len(plain) < len(variants):
        from eval_harness.models.hf import Prefilled
        from eval_harness.models.prefix import can_share
        from eval_harness.models.steps import retrieval

        written = written or retrieval(model, prompt.text, prefix)
        look = look_at(model.template, prompt, instance.query, "retrieval", written)
        known = Prefilled((written.prompt + written.output)[:-1], written.cache) if can_share(model.network) else None
        for tokens in dict.fromkeys(one.tokens for one in variants if one.position == "retrieval"):
            scores = attend(model, look, layers, stop, known, tokens == "union")
            alike = [one for one in variants if (one.position, one.tokens) == ("retrieval", tokens)]
            found |= {one: pooled(scores, one.pooling) for one in alike}
    return found


def _of_prompts(
    model: Attends,
    instance: Instance,
    prompt: Prompt,
    variants: Sequence[Variant],
    layers: Sequence[int],
    stop: bool,
    prefix: Any,
) -> dict[Variant, "torch.Tensor"]:
    """As `scores_of`, where nothing has to be written."""
    empty = instance._replace(query=NO_QUESTION)
    prompts = {False: prompt}
    if _needed(variants, True):
        prompts[True] = prompt_over(empty, empty.passages)
    ways = {(variant.position, variant.tokens) for variant in variants}
    looks = [(*way, null) for way in sorted(ways) for null in (False, True) if _needed(variants, null)]
    if prefix is None and len(looks) > 1 and isinstance(model, SharesPrefix):
        prefix = model.prefill([one.text for one in prompts.values()])
    found = {}
    for position, tokens, null in looks:
        query = NO_QUESTION if null else instance.query
        look = look_at(model.template, prompts[null], query, position)
        found[position, tokens, null] = attend(model, look, layers, stop, prefix, tokens == "union")
    return {
        variant: pooled(found[variant.position, variant.tokens, False], variant.pooling)
        - (pooled(found[variant.position, variant.tokens, True], variant.pooling) if variant.calibrated else 0)
        for variant in variants
    }


def _needed(variants: Sequence[Variant], null: bool) -> bool:
    return not null or any(variant.calibrated for variant in variants)


def probe(
    model: Attends,
    instances: Sequence[Instance],
    ms: Sequence[int],
    variants: Sequence[Variant],
    made_from: dict[str, Any],
    fits: Callable[[Instance], bool],
    seen: Callable[[Instance, dict[Variant, Any]], object] = lambda instance, scores: None,
    advance: Callable[[], object] = lambda: None,
) -> tuple[dict[Variant, Heads], Counted]:
    """The hit rates of every head for each task, under each variant and at each M.

    Instances without gold and those that do not fit are left out. `seen` is given each instance's scores by variant.
    """
    layers = layers_of(model)
    totals: dict[tuple[Variant, str, int], Any] = {}
    left_out = {"no_gold": 0, "overlength": 0}
    n: Counter[str] = Counter()
    for instance in _marked(instances, advance):
        if not instance.gold:
            left_out["no_gold"] += 1
        elif not fits(instance):
            left_out["overlength"] += 1
        else:
            n[instance.task] += 1
            found = scores_of(model, instance, variants, layers)
            seen(instance, found)
            for variant, scores in found.items():
                for m in ms:
                    rates = hits(scores, instance.gold, m)
                    totals[variant, instance.task, m] = rates + totals.get((variant, instance.task, m), 0)
    if not n:
        raise SetupError(f"none of {len(instances)} instances can be probed ({left_out}); choose a shorter config")
    heads = {
        variant: heads_by_task(
            layers,
            {
                task: Rates(n[task], {m: (totals[variant, task, m] / n[task]).tolist() for m in ms})
                for task in sorted(n)
            },
            {**made_from, **variant.describe()},
        )
        for variant in variants
    }
    return heads, Counted(n.total(), left_out)


def _marked(instances: Sequence[Instance], advance: Callable[[], object]) -> Iterator[Instance]:
    for instance in instances:
        yield instance
        advance()
