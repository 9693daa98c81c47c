"""Progress of a training: a log with a line per step, a progress bar, and a figure of the losses."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from builders.files import replacing, save_figure
from builders.typed import Open, typed_lines

LOG = "train_log.jsonl"
FIGURE = "loss.png"

Line = dict[str, Any]


class _Line(Open):
    step: int


class Log:
    """The log of a training: `step` with `loss`, `learning_rate` and `grad_norm`, or `validation_loss`, or `metrics`.

    Lines contain no time, so the log of a resumed training equals that of an uninterrupted one.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOG

    def lines(self) -> list[Line]:
        """All complete lines; SetupError if there is one that no training wrote."""
        if not self._path.exists():
            return []
        again = f"remove {self._path.parent} and rerun"
        return [line.model_dump() for line in typed_lines(self._path, _Line, again, ended=True)]

    def begin(self, step: int) -> None:
        """Resumes after a step; removes later lines."""
        kept = [line for line in self.lines() if line["step"] <= step]
        with replacing(self._path) as partial:
            partial.write_text("".join(map(_text, kept)), encoding="utf-8")

    def add(self, **line: Any) -> None:
        """Adds a line."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(_text(line))


def training_bar(steps: int, shown: bool) -> Any:
    """A progress bar over training steps, on stderr."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    bar = _bar(*columns, TimeElapsedColumn(), TimeRemainingColumn(), disable=not shown)
    bar.add_task("training", total=steps)
    return bar


@contextmanager
def encoding_bar(part: str, total: int) -> Iterator[Callable[[], None]]:
    """A progress bar over the instances of a split, on stderr; yields the function that advances it by one."""
    with _bar() as bar:
        task = bar.add_task(f"encoding {part}", total=total)
        yield lambda: bar.advance(task)


def say(text: str) -> None:
    """Prints a line to stderr."""
    from builders.display import Terminal

    Terminal(stderr=True).print(text)


def draw(lines: Iterable[Line], out: Path) -> None:
    """Draws training loss by step, its mean over a twentieth of the steps, and validation loss, as a PNG."""
    from matplotlib.figure import Figure

    lines = list(lines)
    losses = [(line["step"], line["loss"]) for line in lines if "loss" in line]
    found = [(line["step"], line["validation_loss"]) for line in lines if "validation_loss" in line]
    figure = Figure(figsize=(7, 3.5), layout="constrained")
    axis = figure.subplots()
    axis.plot(*_columns(losses), color="#b8bcc2", linewidth=0.8, label="training")
    axis.plot(*_columns(_smoothed(losses)), color="#3b6ea5", label="training, moving average")
    axis.plot(*_columns(found), color="#c8443c", marker="o", markersize=3, label="validation")
    axis.set_xlabel("step")
    axis.set_ylabel("loss per token (nats)")
    axis.set_ylim(bottom=0)
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, fontsize=8)
    save_figure(figure, out)


def _bar(*columns: Any, **options: Any) -> Any:
    from rich.progress import Progress

    from builders.display import Terminal

    return Progress(*columns, console=Terminal(stderr=True), **options)


def _smoothed(points: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """The moving average over a twentieth of the points."""
    width = max(1, len(points) // 20)
    means = []
    for at in range(width, len(points) + 1):
        recent = [value for _, value in points[at - width : at]]
        means.append((points[at - 1][0], sum(recent) / width))
    return means


def _columns(points: list[tuple[int, float]]) -> tuple[list[int], list[float]]:
    return [step for step, _ in points], [value for _, value in points]


def _text(line: Line) -> str:
    return json.dumps(line) + "\n"
