"""The models that experiments compare, and the methods of each."""

import re
from typing import NamedTuple

from eval_harness.experiments.scale import Scale
from eval_harness.methods.variants import Variant
from eval_harness.probing.heads import PRESETS
from eval_harness.probing.reading import Position
from eval_harness.train.head.joint import Loss

_PRESETS = {f"{tuned}-{benchmark}" for tuned, benchmark, _ in PRESETS}


class Tuned(NamedTuple):
    """A model by its training: untuned without a variant; trained on `share` of the samples; with a head by `loss`.

    `base` is another model than the scale's, untuned.
    """

    variant: Variant | None = None
    marks: bool = True
    share: float = 1
    loss: Loss | None = None
    base: str = ""

    @property
    def name(self) -> str:
        """The name of its checkpoint, heads file and run."""
        if self.base:
            return re.sub("[^A-Za-z0-9.]+", "-", self.base).strip("-.").lower()
        if self.loss:
            return f"rethead-{self.loss.replace('+', '-')}"
        share = "" if self.share == 1 else f"-{100 * self.share:g}"
        return (self.variant or "untuned") + ("" if self.marks else "-no-marks") + share

    @property
    def is_trained(self) -> bool:
        """Whether it is made by training."""
        return self.variant is not None

    def methods(self, scale: Scale) -> list[str]:
        """All its methods, the same in every experiment, so that they share its run."""
        if self.loss:
            return [f"rethead@{scale.k}+reprompt", f"rethead@{scale.k}"]
        if self.variant is None:
            return ["closed_book", "vanilla_rag", "oracle_rag", *self._rap(scale)]
        blocked = ["sft_rta+block_context"] if self == RTA else []
        return [f"sft_{self.variant}", *blocked, *self._rap(scale)]

    def rap(self, scale: Scale) -> str | None:
        """Its RAP method, if the scale sets one."""
        return next(iter(self._rap(scale)), None)

    def preset(self, scale: Scale) -> str | None:
        """The preset of `rap` without parameters."""
        chosen = scale.rap.get(self.name)
        return chosen if chosen in _PRESETS else None

    def position(self, scale: Scale) -> Position:
        """The query positions of its probe."""
        return scale.positions.get(self.variant or "untuned", "question")

    def _rap(self, scale: Scale) -> list[str]:
        chosen = scale.rap.get(self.name)
        if chosen is None or self.loss:
            return []
        method = f"sft_{self.variant}+rap" if self.variant else "rap"
        return [method if self.preset(scale) else f"{method}@{chosen}"]


UNTUNED = Tuned()
DA, RTA, CCI = Tuned("da"), Tuned("rta"), Tuned("cci")


def untuned(scale: Scale) -> list[Tuned]:
    """The scale's models without training."""
    return [UNTUNED, *(Tuned(base=name) for name in scale.models)]


def with_heads(scale: Scale) -> list[Tuned]:
    """The models trained with a retrieval head, one for each loss of the scale."""
    return [Tuned("da", loss=loss) for loss in scale.losses]
