"""`icr2 probe` and `icr2 heads`."""

from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builders.device import DType
from builders.errors import SetupError
from eval_harness.commands.options import numbers
from eval_harness.data.dataset import Instance, load_instances, open_dataset, prompt_over
from eval_harness.probing.reading import Pooling, Position

if TYPE_CHECKING:
    from eval_harness.methods.sweep import Probed
    from eval_harness.probing.heads import Heads
    from eval_harness.probing.probe import Variant

_SWEEP = "How many heads and passages"


def register(app: typer.Typer) -> None:
    """Adds the commands to an app."""
    app.command()(probe)
    app.command()(heads)


def probe(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A built dataset.")],
    config: Annotated[str, typer.Option(help="A config such as 1k_p75.")],
    model: Annotated[str, typer.Option(help="A bundled name, a folder, a GGUF file, or a Hub id (id@revision).")],
    m: Annotated[str, typer.Option("--m", metavar="M,M", help="Passages that each head may choose.")] = "1,2,4,8",
    position: Annotated[
        Position,
        typer.Option(help="Look from the question's tokens, the last, or those of a retrieval that the model writes."),
    ] = "question",
    pooling: Annotated[Pooling, typer.Option(help="A passage's score: sum, max or mean over its tokens.")] = "sum",
    calibrate: Annotated[bool, typer.Option(help="Take off what passages get under an empty question.")] = False,
    compare: Annotated[bool, typer.Option(help="Also print every other position, pooling and calibration.")] = False,
    task: Annotated[list[str] | None, typer.Option(help="A task; may be given again. Default: all.")] = None,
    split: Annotated[str, typer.Option(help="The split to probe; never the one that is tested.")] = "validation",
    limit: Annotated[int, typer.Option(min=1, help="At most this many instances, taken from the tasks in turn.")] = 100,
    dtype: Annotated[DType, typer.Option(help="auto: bfloat16 where it is fast, else float32.")] = "auto",
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the heads are written.")] = Path("heads.json"),
    figure: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the hit rates (.png or .svg).")] = None,
    sweep: Annotated[
        str | None,
        typer.Option(metavar="Q,Q", help="Also answer with the best Q heads, at each M.", rich_help_panel=_SWEEP),
    ] = None,
    sweep_figure: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the answers over Q and M.", rich_help_panel=_SWEEP)
    ] = None,
) -> None:
    """Find the heads of a model that look at gold passages, on instances whose gold is known."""
    from rich.console import Console

    from eval_harness.models import load_model
    from eval_harness.models.base import Attends
    from eval_harness.probing.heads import write_heads
    from eval_harness.probing.probe import Variant
    from eval_harness.probing.tables import best_heads, comparison, swept

    if split == "test":
        raise SetupError("--split test would choose heads by what is tested; use validation or train")
    if calibrate and position == "retrieval":
        raise SetupError("--calibrate asks an empty question, to which nothing is retrieved; leave it out")
    if sweep_figure and not sweep:
        raise SetupError("--sweep-figure draws a sweep; give --sweep 1,2,4,8 too")
    ms, qs = numbers("--m", m), numbers("--sweep", sweep) if sweep else []
    dataset = open_dataset(folder)
    instances = in_turn(load_instances(dataset, config, split, tuple(task or ())), limit)
    loaded = load_model(model, dtype)
    if not isinstance(loaded, Attends):
        raise SetupError(f"{model} shows no attention; probe a local model")
    chosen = Variant(position, pooling, calibrate)
    made_from = {
        "model": loaded.describe(),
        "dataset": {key: value for key, value in dataset._asdict().items() if key != "folder"},
        "config": config,
        "split": split,
        "tasks": sorted({instance.task for instance in instances}),
    }
    found, probed = _probed(loaded, instances, ms, _variants(loaded, chosen, compare), chosen, made_from)
    if qs:
        found[chosen] = _swept(loaded, probed, found[chosen], qs, ms)
    write_heads(found[chosen], out)
    console = Console(width=110)
    if compare:
        console.print(comparison(found, ms))
    console.print(best_heads(found[chosen], ms))
    if qs:
        console.print(swept(found[chosen]))
    _draw(found[chosen], loaded.name, ms, figure, sweep_figure)
    console.print(f"the heads are in {out}", highlight=False, soft_wrap=True)


def heads(
    files: Annotated[list[Path], typer.Argument(metavar="HEADS...", help="Files that `icr2 probe` wrote.")],
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the hit rates of all of them (.png or .svg).")
    ] = None,
) -> None:
    """Show what was found by probing one model or several."""
    from rich.console import Console

    from eval_harness.probing.figure import draw
    from eval_harness.probing.heads import read_heads
    from eval_harness.probing.tables import best_heads, swept

    alike = len({file.stem for file in files}) < len(files)
    found = {str(file) if alike else file.stem: read_heads(file) for file in files}
    shared = sorted(set.intersection(*(set(one.hit_rates) for one in found.values())))
    console = Console(width=110)
    for name, one in found.items():
        console.print(best_heads(one, sorted(one.hit_rates), f"{one.made_from['model'].get('name')}, {name},"))
        if one.sweep:
            console.print(swept(one))
    if figure and not shared:
        raise SetupError(
            "the files have no M in common, so they cannot be drawn in one figure; probe with the same --m"
        )
    if figure:
        draw(found, shared, figure)
        console.print(f"wrote {figure}", highlight=False, soft_wrap=True)


def in_turn(instances: list[Instance], limit: int) -> list[Instance]:
    """The first instances, as many of each task as can be, in the order of the file within each."""
    by_task: dict[str, list[Instance]] = {}
    for instance in instances:
        by_task.setdefault(instance.task, []).append(instance)
    dealt = chain.from_iterable(zip_longest(*by_task.values()))
    return list(islice((instance for instance in dealt if instance is not None), limit))


def _variants(model: Any, chosen: "Variant", compare: bool) -> "list[Variant]":
    """The ways to score that are asked for; SetupError where the model cannot be looked at so."""
    from eval_harness.models.steps import marks_of
    from eval_harness.probing.probe import OF_RETRIEVALS, VARIANTS

    if chosen.position == "retrieval":
        marks_of(model)
        return [*VARIANTS, *OF_RETRIEVALS] if compare else [chosen]
    return VARIANTS if compare else [chosen]


def _probed(
    model: Any,
    instances: list[Instance],
    ms: list[int],
    variants: "list[Variant]",
    chosen: "Variant",
    made_from: dict[str, Any],
) -> "tuple[dict[Variant, Heads], list[Probed]]":
    from rich.console import Console
    from rich.progress import Progress

    from eval_harness.methods.sweep import Probed
    from eval_harness.probing.probe import probe

    def fits(instance: Instance) -> bool:
        return bool(model.count(prompt_over(instance, instance.passages).text) < model.max_positions)

    probed: list[Probed] = []

    def seen(instance: Instance, scores: dict[Any, Any]) -> None:
        probed.append(Probed(instance, scores[chosen]))

    console = Console(stderr=True)
    with Progress(console=console) as progress:
        bar = progress.add_task("probing", total=len(instances))
        found, counted = probe(model, instances, ms, variants, made_from, fits, seen, lambda: progress.advance(bar))
    _say(console, f"{counted.n} instances probed", counted.left_out)
    return found, probed


def _swept(model: Any, probed: "list[Probed]", heads: "Heads", qs: list[int], ms: list[int]) -> "Heads":
    from rich.console import Console
    from rich.progress import Progress

    from eval_harness.methods.sweep import sweep

    console = Console(stderr=True)
    with Progress(console=console) as progress:
        bar = progress.add_task("answering", total=len(probed))
        cells, left_out = sweep(model, probed, heads.layers, qs, ms, lambda: progress.advance(bar))
    _say(console, f"{len(probed) - sum(left_out.values())} instances answered", left_out)
    return heads._replace(sweep=tuple(cells))


def _say(console: Any, done: str, left_out: dict[str, int]) -> None:
    reasons = ", ".join(f"{n} {reason}" for reason, n in left_out.items() if n)
    console.print(done + (f"; left out: {reasons}" if reasons else ""), highlight=False)


def _draw(heads: "Heads", name: str, ms: list[int], figure: Path | None, sweep_figure: Path | None) -> None:
    from eval_harness.probing.figure import draw, draw_sweep

    if figure:
        draw({name: heads}, ms, figure)
    if sweep_figure:
        draw_sweep(heads.sweep, name, sweep_figure)
