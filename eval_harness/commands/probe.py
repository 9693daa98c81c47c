"""`icr2 probe` and `icr2 heads`."""

from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builders.errors import SetupError
from builders.options import DatasetFolder, grouped, option
from eval_harness.commands import options
from eval_harness.commands.options import numbers
from eval_harness.data.dataset import Instance, load_instances, open_dataset, prompt_over
from eval_harness.probing.reading import Pooling, Position, Tokens

if TYPE_CHECKING:
    from eval_harness.methods.sweep import Probed
    from eval_harness.probing.heads import Heads
    from eval_harness.probing.probe import Variant

_SWEEP = "How many heads and passages"


def _sweep(help: str, **more: Any) -> Any:
    return typer.Option(help=help, rich_help_panel=_SWEEP, **more)


def register(app: typer.Typer) -> None:
    """Adds the commands to an app."""
    app.command()(probe)
    app.command()(heads)


@dataclass(frozen=True)
class Probing:
    """How attention heads are scored."""

    m: Annotated[str, typer.Option("--m", metavar="M,M", help="Number of top passages per head.")] = "1,2,4,8"
    position: Annotated[
        Position,
        typer.Option(
            help="Query positions: the question's tokens, the last token, or a retrieval written by the model."
        ),
    ] = "question"
    pooling: Annotated[Pooling, typer.Option(help="Score of a passage: sum, max or mean over its tokens.")] = "sum"
    tokens: Annotated[
        Tokens | None,
        typer.Option(
            help="How several query positions choose: each its own M passages (union), or by their mean score. "
            "Default: union for a retrieval, mean for a question."
        ),
    ] = None
    calibrate: Annotated[bool, typer.Option(help="Subtract the scores under an empty question.")] = False

    def check(self) -> None:
        """Raises SetupError for options that exclude each other."""
        if self.calibrate and self.position == "retrieval":
            raise SetupError("--calibrate uses an empty question, for which a model retrieves nothing; leave it out")
        if self.calibrate and self.tokens == "union":
            raise SetupError("--calibrate subtracts scores, and --tokens union compares ranks; leave one out")

    @property
    def variant(self) -> "Variant":
        """The way to score that is asked for."""
        from eval_harness.probing.probe import Variant

        tokens = self.tokens or ("union" if self.position == "retrieval" else "mean")
        return Variant(self.position, self.pooling, self.calibrate, tokens)


@dataclass(frozen=True)
class ProbedRows(options.Rows):
    """The rows of a config to probe, never from the test split."""

    split: options.Split = "validation"
    limit: Annotated[int, option("limit", min=1)] = 100


@dataclass(frozen=True)
class Sweep:
    """Options of a sweep, which scores answers over numbers of heads and passages."""

    sweep: Annotated[str | None, _sweep("Also answer with the best Q heads at each M.", metavar="Q,Q")] = None
    sweep_figure: Annotated[Path | None, _sweep("Draw the scores over Q and M.", metavar="FILE")] = None

    def check(self) -> None:
        """Raises SetupError for a figure without a sweep."""
        if self.sweep_figure and not self.sweep:
            raise SetupError("--sweep-figure needs a sweep; add --sweep 1,2,4,8")


@grouped
def probe(
    *,
    folder: DatasetFolder,
    config: options.Config,
    model: options.LocalModel,
    how: Probing,
    compare: Annotated[bool, typer.Option(help="Also print every other position, pooling and calibration.")] = False,
    rows: ProbedRows,
    dtype: options.NumberType = "auto",
    out: Annotated[Path, option("out", metavar="FILE")] = Path("heads.json"),
    figure: Annotated[Path | None, option("figure", metavar="FILE")] = None,
    sweep: Sweep,
) -> None:
    """Find the attention heads of a model that attend to gold passages."""
    from builders.display import Terminal
    from eval_harness.models import load_model
    from eval_harness.models.base import Attends
    from eval_harness.probing.heads_file import write_heads
    from eval_harness.probing.tables import best_heads, comparison, swept

    if rows.split == "test":
        raise SetupError("--split test would choose heads on test data; use validation or train")
    how.check()
    sweep.check()
    ms, qs = numbers("--m", how.m), numbers("--sweep", sweep.sweep) if sweep.sweep else []
    dataset = open_dataset(folder)
    instances = in_turn(load_instances(dataset, config, rows.split, rows.tasks, rows.limit))
    loaded = load_model(model, dtype)
    if not isinstance(loaded, Attends):
        raise SetupError(f"{model} does not expose attention; probe a local model")
    chosen = how.variant
    made_from = {
        "model": loaded.describe(),
        "dataset": dataset.describe(),
        "config": config,
        "split": rows.split,
        "tasks": sorted({instance.task for instance in instances}),
    }
    found, probed = _probed(loaded, instances, ms, _variants(loaded, chosen, compare), chosen, made_from)
    if qs:
        found[chosen] = _swept(loaded, probed, found[chosen], qs, ms, dataset.manifest.language)
    write_heads(found[chosen], out)
    console = Terminal(width=110)
    if compare:
        console.print(comparison(found, ms))
    console.print(best_heads(found[chosen], ms))
    if qs:
        console.print(swept(found[chosen]))
    _draw(found[chosen], loaded.name, ms, figure, sweep.sweep_figure)
    console.print(f"wrote {out}")


def heads(
    files: Annotated[list[Path], typer.Argument(metavar="HEADS...", help="Heads files of `icr2 probe`.")],
    worth: Annotated[
        str | None,
        typer.Option("--transfer", metavar="QxM", help="What the best heads of one task are worth on another."),
    ] = None,
    figure: Annotated[Path | None, option("figure", metavar="FILE")] = None,
) -> None:
    """Show the retrieval heads of one or several models, by task."""
    from builders.display import Terminal
    from eval_harness.probing.figure import draw
    from eval_harness.probing.heads_file import read_heads
    from eval_harness.probing.tables import best_heads, swept, transfer

    alike = len({file.stem for file in files}) < len(files)
    found = {str(file) if alike else file.stem: read_heads(file) for file in files}
    shared = sorted(set.intersection(*(set(one.hit_rates) for one in found.values())))
    console = Terminal(width=110)
    for name, one in found.items():
        console.print(best_heads(one, sorted(one.hit_rates), f"{one.made_from['model'].get('name')}, {name},"))
        if one.sweep:
            console.print(swept(one))
        if worth:
            console.print(transfer(one, *_setting(worth), name))
    if figure and not shared:
        raise SetupError("the files share no value of M, so one figure cannot show them; probe with the same --m")
    if figure:
        draw(found, shared, figure)
        console.print(f"wrote {figure}")


def _setting(written: str) -> tuple[int, int]:
    """Q and M of QxM."""
    q, x, m = written.partition("x")
    if not (x and q.isdecimal() and m.isdecimal() and int(q) and int(m)):
        raise SetupError(f"--transfer {written!r} is not of the form QxM, such as 4x1")
    return int(q), int(m)


def in_turn(instances: list[Instance]) -> list[Instance]:
    """The instances, alternating between tasks, each task in file order."""
    by_task: dict[str, list[Instance]] = {}
    for instance in instances:
        by_task.setdefault(instance.task, []).append(instance)
    dealt = chain.from_iterable(zip_longest(*by_task.values()))
    return [instance for instance in dealt if instance is not None]


def _variants(model: Any, chosen: "Variant", compare: bool) -> "list[Variant]":
    """The requested ways to score heads; SetupError if the model does not support them."""
    from eval_harness.models.steps import marks_of
    from eval_harness.probing.probe import OF_RETRIEVALS, VARIANTS

    if chosen.position == "retrieval":
        marks_of(model)
        return list(dict.fromkeys([*VARIANTS, *OF_RETRIEVALS, chosen])) if compare else [chosen]
    return list(dict.fromkeys([*VARIANTS, chosen])) if compare else [chosen]


def _probed(
    model: Any,
    instances: list[Instance],
    ms: list[int],
    variants: "list[Variant]",
    chosen: "Variant",
    made_from: dict[str, Any],
) -> "tuple[dict[Variant, Heads], list[Probed]]":
    from rich.progress import Progress

    from builders.display import Terminal
    from eval_harness.methods.sweep import Probed
    from eval_harness.probing.probe import probe

    def fits(instance: Instance) -> bool:
        return bool(model.count(prompt_over(instance, instance.passages).text) < model.max_positions)

    probed: list[Probed] = []

    def seen(instance: Instance, scores: dict[Any, Any]) -> None:
        probed.append(Probed(instance, scores[chosen]))

    console = Terminal(stderr=True)
    with Progress(console=console) as progress:
        bar = progress.add_task("probing", total=len(instances))
        found, counted = probe(model, instances, ms, variants, made_from, fits, seen, lambda: progress.advance(bar))
    _say(console, f"{counted.n} instances probed", counted.left_out)
    return found, probed


def _swept(model: Any, probed: "list[Probed]", heads: "Heads", qs: list[int], ms: list[int], language: str) -> "Heads":
    from rich.progress import Progress

    from builders.display import Terminal
    from eval_harness.methods.sweep import sweep

    console = Terminal(stderr=True)
    with Progress(console=console) as progress:
        bar = progress.add_task("answering", total=len(probed))
        cells, left_out = sweep(model, probed, heads.layers, qs, ms, language, lambda: progress.advance(bar))
    _say(console, f"{len(probed) - sum(left_out.values())} instances answered", left_out)
    return heads._replace(sweep=tuple(cells))


def _say(console: Any, done: str, left_out: dict[str, int]) -> None:
    reasons = ", ".join(f"{n} {reason}" for reason, n in left_out.items() if n)
    console.print(done + (f"; left out: {reasons}" if reasons else ""))


def _draw(heads: "Heads", name: str, ms: list[int], figure: Path | None, sweep_figure: Path | None) -> None:
    from eval_harness.probing.figure import draw, draw_sweep

    if figure:
        draw({name: heads}, ms, figure)
    if sweep_figure:
        draw_sweep(heads.sweep, name, sweep_figure)
