"""What a probe found as tables for the terminal."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from builders.errors import SetupError
from eval_harness.probing.heads import Heads, Setting
from eval_harness.probing.probe import Variant

if TYPE_CHECKING:
    from rich.table import Table


def best_heads(heads: Heads, ms: Sequence[int], name: str = "") -> "Table":
    """The best eight heads of each task at each M, and of all tasks together."""
    from rich.table import Table

    of = f" of {name}" if name else ""
    shown = Table("task", "n", "M", "best heads (layer.head: hit rate)", title=f"hit rates{of}")
    for task, mine in {**{task: heads.of(task) for task in heads.tasks}, "all tasks": heads}.items():
        for m in ms:
            best = mine.best(min(8, len(mine.layers) * len(mine.hit_rates[m][0])), m)
            rates = "  ".join(f"{layer}.{head}: {mine.rate((layer, head), m):.2f}" for layer, head in best)
            shown.add_row(task, str(mine.n), str(m), rates)
        shown.add_section()
    return shown


def transfer(heads: Heads, q: int, m: int, name: str) -> "Table":
    """What the best heads of one task, or of all together, are worth on another: their mean hit rate there."""
    from rich.table import Table

    shown = Table("heads of", *(f"on {task}" for task in heads.tasks), title=f"{name}: mean hit rate, Q={q}, M={m}")
    for source, rates in transferred(heads, q, m).items():
        shown.add_row(source, *(f"{rate:.3f}" for rate in rates.values()))
    return shown


def transferred(heads: Heads, q: int, m: int) -> dict[str, dict[str, float]]:
    """The mean hit rate on each task (inner) of the `q` best heads of each task and of all (outer).

    SetupError for heads that were not probed by task.
    """
    if not heads.tasks:
        raise SetupError("these heads were probed for all tasks together, in format 1; run icr2 probe again")
    tasks = {task: heads.of(task) for task in heads.tasks}
    return {
        source: {task: fmean(on.rate(head, m) for head in of.best(q, m)) for task, on in tasks.items()}
        for source, of in {**tasks, "all tasks": heads}.items()
    }


def comparison(found: Mapping[Variant, Heads], ms: Sequence[int]) -> "Table":
    """The hit rate of the best head, and the mean of the best four, under each way to score passages."""
    from rich.table import Table

    shown = Table(
        "position", "pooling", "tokens", "calibrated", *(f"best, M={m}" for m in ms), *(f"best 4, M={m}" for m in ms)
    )
    for variant, heads in found.items():
        first = [f"{heads.rate(heads.best(1, m)[0], m):.3f}" for m in ms]
        four = [f"{sum(heads.rate(head, m) for head in heads.best(4, m)) / 4:.3f}" for m in ms]
        shown.add_row(
            variant.position, variant.pooling, variant.tokens, "yes" if variant.calibrated else "no", *first, *four
        )
    return shown


def swept(heads: Heads) -> "Table":
    """What was answered with Q heads and M passages, the best of each task marked."""
    from rich.table import Table

    tuned = heads.tuned()
    names = ("task", "n", "Q", "M", "score", "evidence recall", "precision", "all gold", "passages")
    shown = Table(*names, title="validation answers by heads and passages, per cent; * the best of a task")
    for cell in sorted(heads.sweep, key=lambda cell: (cell.task, cell.q, cell.m)):
        shares = (cell.score, cell.evidence_recall, cell.evidence_precision, cell.all_gold)
        mark = " *" if tuned[cell.task] == Setting(cell.q, cell.m) else ""
        percent = [f"{100 * share:.1f}" for share in shares]
        numbers = (str(cell.n), str(cell.q), str(cell.m), percent[0] + mark, *percent[1:], f"{cell.n_passages:.1f}")
        shown.add_row(f"{cell.task} {cell.metric}", *numbers)
    return shown
