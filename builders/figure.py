"""A figure of the composition of a dataset's contexts."""

from pathlib import Path

from builders.errors import SetupError
from builders.files import save_figure
from builders.manifest import Manifest, read_manifest
from builders.prompts import block
from builders.sql import identifier
from builders.tokens import token_counter
from builders.views import connect

ROLES = ("gold", "confounder", "random")
FORMATS = ("png", "svg")
COLOURS = {"gold": "#2a9d4e", "confounder": "#c8443c", "random": "#b8bcc2"}


def write_figure(folder: Path, length: str, out: Path) -> None:
    """Writes a PNG or SVG: mean passages and mean tokens by role at every confounding ratio of one length."""
    form = out.suffix.removeprefix(".").lower()
    if form not in FORMATS:
        raise SetupError(f"cannot draw {out}: found the suffix {out.suffix!r}, wanted .png or .svg")
    configs = _by_ratio(read_manifest(folder), length)
    ratios = sorted(configs)
    means = {ratio: _means(folder, configs[ratio]) for ratio in ratios}
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    for axis, what in zip(figure.subplots(1, 2), ("passages", "tokens"), strict=True):
        bottom = [0.0] * len(ratios)
        for role in ROLES:
            heights = [means[ratio][role][what] for ratio in ratios]
            axis.bar([f"p{ratio}" for ratio in ratios], heights, bottom=bottom, color=COLOURS[role], label=role)
            bottom = [low + height for low, height in zip(bottom, heights, strict=True)]
        axis.set_title(f"{what} per context, {length}", fontsize=10)
        axis.set_xlabel("confounding ratio (% of passages that are not gold)", fontsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(ROLES), frameon=False, fontsize=9)
    save_figure(figure, out)


def _by_ratio(manifest: Manifest, length: str) -> dict[int, str]:
    """The configs of a length by their ratio."""
    configs = {about.ratio: name for name, about in manifest.configs.items() if about.length == length}
    found = {ratio: name for ratio, name in configs.items() if ratio is not None}
    if not found:
        raise SetupError(f"no config of length {length!r}; there are {', '.join(manifest.configs)}")
    return found


def _means(folder: Path, config: str) -> dict[str, dict[str, float]]:
    """Mean passages and tokens per row, by role, over all splits of a config."""
    counter = token_counter(read_manifest(folder).tokenizer_name())
    connection, view = connect(folder), identifier(config)
    rows = connection.execute(f"SELECT count(*) FROM {view}").fetchall()[0][0]
    if not rows:
        raise SetupError(f"{config} of {folder} has no rows; see what is broken with: icr2 validate {folder}")
    means = {}
    for role in ROLES:
        passages = connection.execute(
            "SELECT coalesce(p.title, ''), coalesce(p.text, '') "
            f"FROM (SELECT unnest(passages) AS p FROM {view}) WHERE p.role = ?",
            [role],
        ).fetchall()
        tokens = sum(counter.count_all([block(1, title, text) for title, text in passages]))
        means[role] = {"passages": len(passages) / rows, "tokens": tokens / rows}
    return means
