"""Hit rates of heads as figures: a map of layers and heads, and heads in order of their hit rate (paper, figure 6)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from eval_harness.probing.heads import Heads


def draw(found: Mapping[str, Heads], ms: Sequence[int], out: Path) -> None:
    """Writes a PNG or SVG: the map of the first model at the smallest M, and the heads of all, best first."""
    import numpy as np
    from matplotlib.figure import Figure

    m = ms[0]
    name, first = next(iter(found.items()))
    rates = np.array(first.hit_rates[m])
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.6])
    image = left.imshow(rates, aspect="auto", cmap="viridis", vmin=0, origin="lower")
    left.set_yticks(range(0, len(first.layers), max(1, len(first.layers) // 10)))
    left.set_yticklabels([first.layers[at] for at in left.get_yticks()])
    left.set_xlabel("query head")
    left.set_ylabel("layer")
    left.set_title(f"hit rate, {name}, M={m}", fontsize=10)
    figure.colorbar(image, ax=left)
    for model, heads in found.items():
        ordered = np.sort(np.array(heads.hit_rates[m]).ravel())[::-1]
        above = ordered[ordered > 0]
        right.plot(range(1, len(above) + 1), above, label=f"{model} ({len(above)} heads above 0)")
    right.set_xscale("log")
    right.set_xlabel("heads, best first")
    right.set_ylabel(f"hit rate, M={m}")
    right.spines[["top", "right"]].set_visible(False)
    right.legend(frameon=False, fontsize=8)
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=150, metadata={"Software": None} if out.suffix == ".png" else None)
