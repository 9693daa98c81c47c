"""The figures of a dataset's card, drawn from its statistics."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builders.figure import COLOURS, ROLES
from builders.manifest import Config, Manifest
from dataset_cards.order import in_order

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 8.0  # inches at 150 dpi: the Hub shows it at two thirds, with letters of 12 to 15 pixels
INK, PALE, LINE = "#33475b", "#a9bccd", "#c8443c"

Record = dict[str, Any]
Configs = Mapping[str, Config]


def write_figures(statistics: Mapping[str, Any], manifest: Manifest, folder: Path) -> None:
    """Writes composition.png, tokens.png, gold_position.png and, with retrieved passages, retrievers.png."""
    shown = shown_splits(statistics, manifest)
    configs = manifest.configs
    figures = {
        "composition": composition(shown, configs),
        "tokens": tokens(shown, configs),
        "gold_position": gold_position(shown, configs),
    }
    if config := richest(shown):
        figures["retrievers"] = retrievers(shown[config], config)
    folder.mkdir(parents=True)
    for name, figure in figures.items():
        # the library's version in the file would change the bytes of an identical picture
        figure.savefig(folder / f"{name}.png", dpi=150, metadata={"Software": None})


def shown_splits(statistics: Mapping[str, Any], manifest: Manifest) -> dict[str, Record]:
    """Each config's test split, or its first split without one; short configs first."""
    configs = statistics["configs"]
    return {
        name: configs[name].get("test") or next(iter(configs[name].values())) for name in in_order(manifest.configs)
    }


def richest(shown: Mapping[str, Record]) -> str | None:
    """The config with the most retrieved passages, the first of several; None without any."""
    found = {name: group["confounders"] for name, group in shown.items() if group["retrievers"]}
    return max(found, key=lambda name: found[name]) if found else None


def composition(shown: Mapping[str, Record], configs: Configs) -> "Figure":
    """Mean passages by role at every confounding ratio, a panel for each length and one for configs without ratios."""
    figure = _figure(2.3 * _rows(shown, configs) + 0.5)
    for axis, bars in _panels(figure, shown, configs, "passages per context"):
        bottom = [0.0] * len(bars)
        for role in ROLES:
            heights = [group["roles"][role] * group["passages"]["mean"] for group in bars.values()]
            axis.bar(list(bars), heights, bottom=bottom, color=COLOURS[role], label=role)
            bottom = [low + height for low, height in zip(bottom, heights, strict=True)]
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(ROLES), frameon=False, fontsize=9)
    return figure


def tokens(shown: Mapping[str, Record], configs: Configs) -> "Figure":
    """Prompt tokens of each config, in percent of its budget: from the 5th to the 95th percentile, and the median."""
    shown = {config: group for config, group in shown.items() if configs[config].budget}
    figure = _figure(0.24 * len(shown) + 1.0)
    axis = figure.subplots()
    lowest = 100.0
    for row, (config, group) in enumerate(shown.items()):
        budget = configs[config].budget or 1
        percent = {name: 100 * group["tokens"][name] / budget for name in ("p5", "median", "p95")}
        lowest = min(lowest, percent["p5"])
        axis.barh(row, percent["p95"] - percent["p5"], left=percent["p5"], height=0.6, color=PALE)
        axis.plot([percent["median"]] * 2, [row - 0.3, row + 0.3], color=INK, linewidth=2)
    axis.axvline(100, color=LINE, linewidth=1.2)
    axis.text(99.9, -0.75, "budget", color=LINE, fontsize=8, ha="right", va="bottom")
    axis.set_yticks(range(len(shown)), list(shown))
    axis.set_ylim(len(shown) - 0.4, -1.2)
    axis.set_xlim(max(0.0, lowest - 3), 101)
    axis.set_xlabel("tokens of the prompt, % of the budget (bar: 5th to 95th percentile; tick: median)", fontsize=9)
    _plain(axis)
    return figure


def gold_position(shown: Mapping[str, Record], configs: Configs) -> "Figure":
    """Share of gold in each tenth of the context: the mean over the configs of a length, and the chance level."""
    figure = _figure(2.0 * _rows(shown, configs) + 0.4)
    for axis, bars in _panels(figure, shown, configs, "% of gold passages"):
        tenths = [sum(group["gold_tenths"][at] for group in bars.values()) / len(bars) for at in range(10)]
        axis.bar(range(1, 11), [100 * share for share in tenths], color=COLOURS["gold"], width=0.8)
        axis.axhline(10, color=INK, linewidth=1, linestyle="--")
        axis.set_xticks(range(1, 11))
        axis.set_xlabel("tenth of the context", fontsize=9)
    return figure


def retrievers(group: Record, config: str) -> "Figure":
    """The share of confounders that each retriever found, alone or with others, and the overlap of any two."""
    names = list(group["retrievers"])
    figure = _figure(0.4 * len(names) + 1.5)
    left, *right = figure.subplots(1, 2 if len(names) > 1 else 1, squeeze=False).flat
    for part, label, colour in (("share", "found", PALE), ("exclusive", "found by no other", INK)):
        shares = [100 * found[part] for found in group["retrievers"].values()]
        left.barh(names, shares, color=colour, height=0.6, label=label)
    left.invert_yaxis()
    left.set_xlim(0, 100)
    left.set_title(f"% of the confounders of {config}", fontsize=10)
    _plain(left)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower left", ncols=2, frameon=False, fontsize=9)
    for axis in right:
        _matrix(axis, names, group["overlap"])
    return figure


def _matrix(axis: "Axes", names: list[str], overlap: list[Record]) -> None:
    shares = {frozenset(pair["between"]): pair["jaccard"] for pair in overlap}
    square = [[shares.get(frozenset((a, b)), float("nan")) for b in names] for a in names]
    axis.imshow(square, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for row, values in enumerate(square):
        for column, value in enumerate(values):
            if row != column:
                colour = "white" if value > 0.6 else "black"
                axis.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=9, color=colour)
    axis.set_xticks(range(len(names)), names, rotation=30 if max(map(len, names)) > 8 else 0)
    axis.set_yticks(range(len(names)), names)
    axis.set_title("found by both, of those found by either", fontsize=10)
    axis.tick_params(labelsize=9, length=0)


def _panels(
    figure: "Figure", shown: Mapping[str, Record], configs: Configs, label: str
) -> Iterator[tuple["Axes", dict[str, Record]]]:
    """An axis for each length with that length's configs by a short name; those without ratios share the last."""
    lengths = _lengths(shown, configs)
    columns = _columns(shown, configs)
    axes = list(figure.subplots(_rows(shown, configs), columns, squeeze=False).flat)
    for number, (title, bars) in enumerate(lengths.items()):
        axes[number].set_title(title, fontsize=10)
        if number % columns == 0:
            axes[number].set_ylabel(label, fontsize=9)
        _plain(axes[number])
        yield axes[number], bars
    for axis in axes[len(lengths) :]:
        axis.remove()


def _columns(shown: Mapping[str, Record], configs: Configs) -> int:
    panels = len(_lengths(shown, configs))
    return 2 if panels == 4 else min(panels, 3)


def _rows(shown: Mapping[str, Record], configs: Configs) -> int:
    return -(-len(_lengths(shown, configs)) // _columns(shown, configs))


def _lengths(shown: Mapping[str, Record], configs: Configs) -> dict[str, dict[str, Record]]:
    found: dict[str, dict[str, Record]] = {}
    for name, group in shown.items():
        config = configs[name]
        bar = (config.length or "full") if config.ratio is None else f"p{config.ratio}"
        found.setdefault(_panel(config), {})[bar] = group
    return found


def _panel(config: Config) -> str:
    if config.ratio is not None:
        return config.length or ""
    return "LOFT-style" if config.family == "loft" else config.family


def _figure(height: float) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=(WIDTH, height), layout="constrained")


def _plain(axis: "Axes") -> None:
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=9)
