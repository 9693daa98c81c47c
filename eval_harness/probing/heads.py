"""Which heads retrieve: hit rates (paper, formula 3), the best of them (formula 4) and what they choose (formula 5)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from builders.errors import SetupError

if TYPE_CHECKING:
    import torch


class Head(NamedTuple):
    """A query head: its layer in the model and its number in the layer, both from 0."""

    layer: int
    head: int


class Setting(NamedTuple):
    """How many heads choose, and how many passages each of them."""

    q: int
    m: int


class Cell(NamedTuple):
    """What Q heads and M passages give on a task's validation instances: means of the headline score and of evidence.

    `n_passages` is how many were kept, `all_gold` the share of instances whose gold was kept whole, `retrieval_exact`
    that of a tuned model's own retrievals from these which name gold and nothing else.
    """

    task: str
    q: int
    m: int
    n: int
    metric: str
    score: float
    evidence_recall: float
    evidence_precision: float
    n_passages: float
    all_gold: float
    retrieval_exact: float | None = None


_FAMILIES = {"icr2": ("icr2",), "loft": ("loft", "given")}  # of contexts, by the benchmark of a preset
# C.2.1 of the paper, by the way a model was tuned, the benchmark and the task.
PRESETS: dict[tuple[str, str, str], Setting] = {
    ("da", "icr2", "nq"): Setting(4, 1),
    ("da", "icr2", "hotpotqa"): Setting(8, 1),
    ("da", "icr2", "fever"): Setting(4, 4),
    ("da", "icr2", "wow"): Setting(4, 4),
    ("da", "loft", "nq"): Setting(4, 4),
    ("da", "loft", "hotpotqa"): Setting(4, 4),
    ("da", "loft", "musique"): Setting(8, 2),  # the paper writes WoW, which LOFT does not have
    ("rta", "icr2", "nq"): Setting(2, 1),
    ("rta", "icr2", "hotpotqa"): Setting(2, 1),
    ("rta", "icr2", "fever"): Setting(2, 8),
    ("rta", "icr2", "wow"): Setting(4, 8),
    ("rta", "loft", "nq"): Setting(8, 4),
    ("rta", "loft", "hotpotqa"): Setting(4, 2),
    ("rta", "loft", "musique"): Setting(8, 2),
}


def preset(name: str | None) -> dict[str, Setting]:
    """The paper's settings by task, for a name such as `da-icr2`; SetupError for another."""
    names = sorted({f"{tuned}-{benchmark}" for tuned, benchmark, _ in PRESETS})
    if name not in names:
        found = f"no preset {name}" if name else "rap alone has no Q and M, and these heads were not swept"
        raise SetupError(
            f"{found}; write rap@QxM (rap@4x1), give --preset {' or '.join(names)}, or run icr2 probe --sweep"
        )
    return {task: setting for (tuned, benchmark, task), setting in PRESETS.items() if f"{tuned}-{benchmark}" == name}


def check_preset(name: str, families: Mapping[str, str]) -> None:
    """SetupError if a config, given with its family, has contexts of another benchmark than the preset."""
    preset(name)
    tuned, _, benchmark = name.partition("-")
    for config, family in families.items():
        if family not in _FAMILIES[benchmark]:
            others = (f"{tuned}-{other}" for other, of in _FAMILIES.items() if family in of)
            give = " or ".join(["rap@QxM (rap@4x1)", *(f"--preset {other}" for other in others)])
            raise SetupError(
                f"the preset {name} is not for {config}, whose contexts are of the family {family}; give {give}"
            )


class Rates(NamedTuple):
    """The hit rates of one task: `hit_rates[M]` is [layer][head], over `n` instances."""

    n: int
    hit_rates: dict[int, list[list[float]]]


class Heads(NamedTuple):
    """What a probe found: `hit_rates[M]` is [layer][head], over `n` instances of all tasks; `layers` names the rows.

    `tasks` has the same of each task alone. `made_from` is everything that the numbers depend on: model,
    revision, dataset, config, split, position, pooling. `sweep` says what was answered with how many heads and
    passages, where that was tried.
    """

    layers: list[int]
    hit_rates: dict[int, list[list[float]]]
    n: int
    made_from: dict[str, Any]
    sweep: tuple[Cell, ...] = ()
    tasks: Mapping[str, Rates] = {}

    def of(self, task: str) -> "Heads":
        """The heads of one task; SetupError where it was not probed."""
        if task not in self.tasks:
            raise SetupError(
                f"the heads were probed for {', '.join(self.tasks) or 'all tasks together'}, not for {task}; "
                "run icr2 probe with its instances, or use heads pooled over tasks with --pooled"
            )
        n, hit_rates = self.tasks[task]
        return self._replace(n=n, hit_rates=hit_rates, tasks={})

    def best(self, q: int, m: int, max_layer: int | None = None) -> list[Head]:
        """The `q` heads of the highest hit rates at `m`, up to a layer; the lower layer and head first among equals."""
        if m not in self.hit_rates:
            raise SetupError(
                f"the heads were probed for M = {_listed(self.hit_rates)}, not {m}; run icr2 probe with --m {m}"
            )
        found = [
            (rate, Head(layer, head))
            for layer, rates in zip(self.layers, self.hit_rates[m], strict=True)
            for head, rate in enumerate(rates)
            if max_layer is None or layer <= max_layer
        ]
        if len(found) < q:
            raise SetupError(f"Q = {q} heads are asked for; {len(found)} were probed in the layers allowed")
        return [head for _, head in sorted(found, key=lambda pair: (-pair[0], pair[1]))[:q]]

    def tuned(self) -> dict[str, Setting]:
        """The Q and M of the highest score by task, "" being the mean over tasks; of equal ones the fewest passages."""
        found: dict[str, dict[Setting, tuple[float, float]]] = {}
        for cell in self.sweep:
            found.setdefault(cell.task, {})[Setting(cell.q, cell.m)] = (cell.score, -cell.n_passages)
        best = {task: max(cells, key=lambda one: (cells[one], -one.q)) for task, cells in found.items()}
        if found:
            over = {
                one: tuple(sum(values) for values in zip(*(cells[one] for cells in found.values()), strict=True))
                for one in next(iter(found.values()))
            }
            best[""] = max(over, key=lambda one: (over[one], -one.q))
        return best

    def rate(self, head: tuple[int, int], m: int) -> float:
        """The hit rate of a head."""
        layer, number = head
        return self.hit_rates[m][self.layers.index(layer)][number]


def heads_by_task(
    layers: list[int], tasks: Mapping[str, Rates], made_from: dict[str, Any], sweep: Sequence[Cell] = ()
) -> Heads:
    """The heads of every task, and of all instances together."""
    n = sum(found.n for found in tasks.values())
    ms = sorted(set.intersection(*(set(found.hit_rates) for found in tasks.values())))
    together = {m: _mean([(found.n, found.hit_rates[m]) for found in tasks.values()]) for m in ms}
    return Heads(layers, together, n, made_from, tuple(sweep), dict(tasks))


def _mean(rates: Sequence[tuple[int, list[list[float]]]]) -> list[list[float]]:
    """The mean of each head's rates, weighted by the number of instances."""
    total = sum(n for n, _ in rates)
    shape = rates[0][1]
    return [
        [min(1.0, sum(n * of[layer][head] for n, of in rates) / total) for head in range(len(shape[layer]))]
        for layer in range(len(shape))
    ]


def top(scores: "torch.Tensor", m: int) -> "torch.Tensor":
    """Which passages are among the `m` of the highest scores: true or false, of the shape of `scores` [..., passages].

    The earlier of equal passages comes first. One that is not visible (NaN) is never among them. Scores that are whole
    numbers are ranks, the best over several query positions: then all that are among the top `m` at any of them.
    """
    import torch

    if not scores.is_floating_point():
        return scores < m
    ranked = scores.nan_to_num(float("-inf")).argsort(dim=-1, descending=True, stable=True)[..., :m]
    chosen = torch.zeros_like(scores, dtype=torch.bool).scatter_(-1, ranked, True)
    return chosen & ~scores.isnan()


def hits(scores: "torch.Tensor", gold: Sequence[int], m: int) -> "torch.Tensor":
    """The share of the gold passages that each head has among its top `m`, for scores [layers, heads, passages]."""
    return top(scores, m)[..., list(gold)].float().mean(dim=-1)


def union(scores: "torch.Tensor", rows: Sequence[int], heads: Sequence[Head], m: int) -> list[int]:
    """The passages that any of the heads has among its top `m`, in context order; `rows` are the layers of `scores`."""
    places = {layer: at for at, layer in enumerate(rows)}
    chosen = top(scores, m)
    found = {int(at) for layer, head in heads for at in chosen[places[layer], head].nonzero().flatten()}
    return sorted(found)


def check_model(heads: Heads, model: Mapping[str, Any]) -> None:
    """Raises SetupError unless the heads were probed in this very model, under this template."""
    own = heads.made_from.get("model", {})
    differing = [key for key in ("name", "revision", "chat_template_sha256") if own.get(key) != model.get(key)]
    if differing:
        key = differing[0]
        raise SetupError(
            f"the heads were probed in another model ({key} {own.get(key)!r}, not {model.get(key)!r}); "
            "run icr2 probe with this one"
        )


def _listed(numbers: Mapping[int, Any]) -> str:
    return ", ".join(map(str, sorted(numbers)))
