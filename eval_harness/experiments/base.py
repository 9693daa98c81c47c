"""What an experiment is: the models that it needs, and what it reports of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from eval_harness.experiments.commands import Place
from eval_harness.experiments.models import Tuned
from eval_harness.experiments.scale import Scale
from eval_harness.probing.heads import Heads
from eval_harness.report.parts import Drawn, Line, Section
from eval_harness.report.study import Study, one_study


class Found(NamedTuple):
    """What there is to report: the runs of all models, and the heads by model."""

    place: Place
    studies: Sequence[Study]
    heads: Mapping[Tuned, Heads]

    @property
    def study(self) -> Study:
        """The runs put together."""
        return one_study(self.studies)


class Parts(NamedTuple):
    """What an experiment adds to the report."""

    sections: Sequence[Section] = ()
    figures: Sequence[Drawn] = ()
    tables: Mapping[str, Sequence[Line]] = {}


class Experiment(NamedTuple):
    """The models that have to answer, those whose heads are looked at for their own sake, and the report."""

    title: str
    answering: Callable[[Scale], Sequence[Tuned]]
    probed: Callable[[Scale], Sequence[Tuned]]
    report: Callable[[Found], Parts]


def none(scale: Scale) -> list[Tuned]:
    """No model."""
    return []
