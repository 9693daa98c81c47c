"""The interface of an experiment: the models it needs, and its part of the report."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from eval_harness.experiments.commands import Command, Place
from eval_harness.experiments.models import Tuned
from eval_harness.experiments.scale import Scale
from eval_harness.probing.heads import Heads
from eval_harness.report.parts import Drawn, Line, Section
from eval_harness.report.study import Study, one_study


class Found(NamedTuple):
    """The input of a report: the runs of all models, and the heads by model."""

    place: Place
    studies: Sequence[Study]
    heads: Mapping[Tuned, Heads]

    @property
    def study(self) -> Study:
        """The runs combined."""
        return one_study(self.studies)


class Parts(NamedTuple):
    """An experiment's part of the report."""

    sections: Sequence[Section] = ()
    figures: Sequence[Drawn] = ()
    tables: Mapping[str, Sequence[Line]] = {}


def none(scale: Scale) -> list[Tuned]:
    """No model."""
    return []


def nothing(place: Place) -> list[Command]:
    """No command."""
    return []


def always(scale: Scale) -> bool:
    """True."""
    return True


class Experiment(NamedTuple):
    """The models to evaluate, the models to probe for figure 6, and the report.

    `more` are commands beside these, on the models that `trained` names. `own_data`: whether it uses the experiments'
    dataset.
    """

    title: str
    answering: Callable[[Scale], Sequence[Tuned]]
    probed: Callable[[Scale], Sequence[Tuned]]
    report: Callable[[Found], Parts]
    trained: Callable[[Scale], Sequence[Tuned]] = none
    more: Callable[[Place], Sequence[Command]] = nothing
    own_data: Callable[[Scale], bool] = always
