"""The scale of experiments: a file in `scales/` with every setting."""

from pathlib import Path
from typing import Any

import yaml
from pydantic import Field

from builders.config import Strict
from builders.errors import SetupError
from eval_harness.probing.reading import Position
from eval_harness.train.head.joint import Loss

SCALES = Path(__file__).parent / "scales"
OF_COMMANDS = ("train", "probe", "answer")  # parts of a scale that are command options
Options = dict[str, bool | int | float | str | list[str]]  # command options by name; a list: the option repeated


class Build(Strict):
    """The recipe and settings to build a missing dataset with."""

    recipe: str
    set: list[str] = Field(default_factory=list)


class Used(Build):
    """A dataset that a protocol runs on, by default the experiments' own, and the options of its command."""

    recipe: str = ""
    configs: list[str] = Field(default_factory=list)
    options: Options = Field(default_factory=dict)


class Scale(Strict):
    """The settings of the experiments.

    `configs` are evaluated, `learned` are trained on: `samples` of each task (by name, or one number for every
    task), of which figure 5 uses `shares`. `positions` and `rap` are by model; the value of `rap` is QxM or a preset.
    `train`, `probe` and `answer` are options of those commands, `losses` and `k` apply to retrieval heads, and
    `launch` names a configuration of accelerate. `models` are compared with `model` untuned, `confounded` are the
    configs of figure 1, `sweep` are options of the probe of figure 7, `timed` is how many instances of each task
    table 7 times, and `protocols` has the datasets of each protocol.
    """

    model: str
    build: Build
    configs: list[str] = Field(min_length=1)
    learned: list[str] = Field(min_length=1)
    samples: dict[str, int] | int
    shares: list[float] = Field(min_length=1)
    train: Options
    losses: list[Loss]
    k: int
    probe: Options
    positions: dict[str, Position]
    rap: dict[str, str]
    answer: Options
    launch: str | None = None
    models: list[str] = Field(default_factory=list)
    confounded: list[str] = Field(min_length=1)
    sweep: Options
    timed: int
    protocols: dict[str, list[Used]]

    def taken(self, share: float) -> str:
        """A share of the samples in the form of `--samples`."""
        if isinstance(self.samples, int):
            return str(_part(self.samples, share))
        return ",".join(f"{task}={_part(n, share)}" for task, n in self.samples.items())


def scale_of(name: str, changes: dict[str, Any]) -> Scale:
    """A scale by name with changes; changed options are merged into its own."""
    names = sorted(path.stem for path in SCALES.glob("*.yaml"))
    if name not in names:
        raise SetupError(f"no scale {name}; available: {', '.join(names)}")
    found = yaml.safe_load((SCALES / f"{name}.yaml").read_text(encoding="utf-8"))
    for key, value in changes.items():
        found[key] = found[key] | value if key in OF_COMMANDS else value
    return Scale.model_validate(found)


def options(of: Options) -> list[str]:
    """Options as command arguments."""
    found = []
    for name, value in of.items():
        if value is True:
            found.append(f"--{name}")
        else:
            found += [
                part for one in (value if isinstance(value, list) else [value]) for part in (f"--{name}", str(one))
            ]
    return found


def _part(n: int, share: float) -> int:
    return max(1, round(n * share))
