"""`icr2 probe`."""

from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builders.device import DType
from builders.errors import SetupError
from eval_harness.load import Instance, load_instances, open_dataset, prompt_over
from eval_harness.probing.reading import Pooling, Position

if TYPE_CHECKING:
    from eval_harness.probing.heads import Heads
    from eval_harness.probing.probe import Variant


def register(app: typer.Typer) -> None:
    """Adds the command to an app."""
    app.command()(probe)


def probe(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A built dataset.")],
    config: Annotated[str, typer.Option(help="A config such as 1k_p75.")],
    model: Annotated[str, typer.Option(help="A bundled name, a folder, a GGUF file, or a Hub id (id@revision).")],
    m: Annotated[str, typer.Option("--m", metavar="M,M", help="Passages that each head may choose.")] = "1,2,4,8",
    position: Annotated[
        Position, typer.Option(help="Look from the last token, or from those of the question.")
    ] = "last",
    pooling: Annotated[Pooling, typer.Option(help="A passage's score: sum, max or mean over its tokens.")] = "sum",
    calibrate: Annotated[bool, typer.Option(help="Take off what passages get under an empty question.")] = False,
    compare: Annotated[bool, typer.Option(help="Also print every other position, pooling and calibration.")] = False,
    task: Annotated[list[str] | None, typer.Option(help="A task; may be given again. Default: all.")] = None,
    split: Annotated[str, typer.Option(help="The split to probe; never the one that is tested.")] = "validation",
    limit: Annotated[int, typer.Option(min=1, help="At most this many instances, taken from the tasks in turn.")] = 100,
    dtype: Annotated[DType, typer.Option(help="auto: bfloat16 where it is fast, else float32.")] = "auto",
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the heads are written.")] = Path("heads.json"),
    figure: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the hit rates (.png or .svg).")] = None,
) -> None:
    """Find the heads of a model that look at gold passages, on instances whose gold is known."""
    from rich.console import Console

    from eval_harness.models import load_model
    from eval_harness.probing.heads import write_heads
    from eval_harness.probing.probe import VARIANTS, Variant
    from eval_harness.probing.reading import Attends

    if split == "test":
        raise SetupError("--split test would choose heads by what is tested; use validation or train")
    ms = _numbers(m)
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
    found = _probed(loaded, instances, ms, VARIANTS if compare else [chosen], made_from)
    write_heads(found[chosen], out)
    console = Console(width=110)
    if compare:
        console.print(_comparison(found, ms))
    console.print(_best(found[chosen], ms))
    if figure:
        from eval_harness.probing.figure import draw

        draw({f"{loaded.name}": found[chosen]}, ms, figure)
    console.print(f"the heads are in {out}", highlight=False, soft_wrap=True)


def in_turn(instances: list[Instance], limit: int) -> list[Instance]:
    """The first instances, as many of each task as can be, in the order of the file within each."""
    by_task: dict[str, list[Instance]] = {}
    for instance in instances:
        by_task.setdefault(instance.task, []).append(instance)
    dealt = chain.from_iterable(zip_longest(*by_task.values()))
    return list(islice((instance for instance in dealt if instance is not None), limit))


def _numbers(written: str) -> list[int]:
    try:
        numbers = sorted({int(part) for part in written.split(",")})
    except ValueError:
        numbers = []
    if not numbers or numbers[0] < 1:
        raise SetupError(f"--m {written}: write numbers such as 1,2,4,8")
    return numbers


def _probed(
    model: Any, instances: list[Instance], ms: list[int], variants: "list[Variant]", made_from: dict[str, Any]
) -> "dict[Variant, Heads]":
    from rich.console import Console
    from rich.progress import Progress

    from eval_harness.probing.probe import probe

    def fits(instance: Instance) -> bool:
        return bool(model.count(prompt_over(instance, instance.passages).text) < model.max_positions)

    console = Console(stderr=True)
    with Progress(console=console) as progress:
        bar = progress.add_task("probing", total=len(instances))
        found, counted = probe(model, instances, ms, variants, made_from, fits, lambda: progress.advance(bar))
    left_out = ", ".join(f"{n} {reason}" for reason, n in counted.left_out.items() if n)
    console.print(f"{counted.n} instances probed" + (f"; left out: {left_out}" if left_out else ""), highlight=False)
    return found


def _best(heads: "Heads", ms: list[int]) -> Any:
    from rich.table import Table

    shown = Table("M", "best heads (layer.head: hit rate)", title=f"hit rates over {heads.n} instances")
    for m in ms:
        best = heads.best(min(8, len(heads.layers) * len(heads.hit_rates[m][0])), m)
        shown.add_row(str(m), "  ".join(f"{layer}.{head}: {heads.rate((layer, head), m):.2f}" for layer, head in best))
    return shown


def _comparison(found: "dict[Variant, Heads]", ms: list[int]) -> Any:
    from rich.table import Table

    shown = Table("position", "pooling", "calibrated", *(f"best, M={m}" for m in ms), *(f"best 4, M={m}" for m in ms))
    for variant, heads in found.items():
        first = [f"{heads.rate(heads.best(1, m)[0], m):.3f}" for m in ms]
        four = [f"{sum(heads.rate(head, m) for head in heads.best(4, m)) / 4:.3f}" for m in ms]
        shown.add_row(variant.position, variant.pooling, "yes" if variant.calibrated else "no", *first, *four)
    return shown
