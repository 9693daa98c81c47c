"""The measures of a run: by length and expansion; without expansion also by word order, category and depth."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from eval_harness.protocols.needles.haystacks import NEEDLES, Needle
from eval_harness.protocols.needles.measures import Cell, cell
from eval_harness.protocols.needles.similarities import Line, Part
from eval_harness.run.facts import ConfigFacts, Configs, in_order

PARTS: tuple[Part, ...] = ("whole", "cut", "needle_cut", "needle_past")


class Key(NamedTuple):
    """The haystacks of a cell; None means all values."""

    terms: int
    config: str
    needle: Needle
    order: str | None = None
    category: str | None = None
    depth: int | None = None


class Reach(NamedTuple):
    """How much of a config's texts is read: mean tokens, and counts with and without needle by `Line.part`."""

    tokens: float
    planted: Mapping[str, int]
    controls: Mapping[str, int]

    @property
    def cut(self) -> float:
        """The share of truncated texts."""
        total = sum(self.planted.values()) + sum(self.controls.values())
        return 1 - (self.planted.get("whole", 0) + self.controls.get("whole", 0)) / total

    def share(self, part: Part) -> float:
        """The share among texts with a needle."""
        return self.planted.get(part, 0) / max(1, sum(self.planted.values()))


class Query(NamedTuple):
    """The mean number of added terms, the mean tokens of expanded questions, and the share truncated."""

    added: float
    tokens: float
    cut: float


class Analysis(NamedTuple):
    """All numbers of a report.

    `spread` is the largest difference between similarities of one question and config with needles past the limit;
    None without such needles. `configs` are sorted by length.
    """

    configs: dict[str, ConfigFacts]
    terms: list[int]
    cells: dict[Key, Cell]
    reach: dict[str, Reach]
    queries: dict[int, Query]
    spread: float | None


def analysed(lines: Sequence[Line], facts: Configs) -> Analysis:
    """The analysis of a run's lines; `facts` describe its configs."""
    configs = {name: facts[name] for name in in_order((line.config for line in lines), facts)}
    terms = sorted({line.terms for line in lines})
    cells: dict[Key, Cell] = {}
    for n in terms:
        for config in configs:
            here = [line for line in lines if line.terms == n and line.config == config]
            controls = [line for line in here if line.is_control]
            for needle in NEEDLES:
                planted = [line for line in here if line.needle == needle]
                whole = Key(n, config, needle)
                if planted:
                    cells[whole] = cell(planted, controls, needle)
                if n == 0:
                    cells |= _parts(whole, planted, controls)
    plain = [line for line in lines if line.terms == 0]
    return Analysis(
        configs,
        terms,
        cells,
        {config: _reach([line for line in plain if line.config == config]) for config in configs},
        {n: _query(line for line in lines if line.terms == n) for n in terms},
        _spread(plain),
    )


def _parts(whole: Key, planted: Sequence[Line], controls: Sequence[Line]) -> dict[Key, Cell]:
    fields: dict[str, Callable[[Line], Any]] = {
        "order": lambda line: line.order,
        "category": lambda line: line.category,
        "depth": lambda line: line.depth,
    }
    cells = {}
    for field, of in fields.items():
        for value in sorted({of(line) for line in planted}):
            mine = [line for line in planted if of(line) == value]
            cells[whole._replace(**{field: value})] = cell(mine, controls, whole.needle)
    return cells


def _reach(lines: Sequence[Line]) -> Reach:
    planted, controls = (
        Counter(str(line.part) for line in lines if line.is_control == control) for control in (False, True)
    )
    return Reach(sum(line.tokens for line in lines) / len(lines), planted, controls)


def _query(lines: Iterable[Line]) -> Query:
    queries = {line.question: (line.added, line.query_tokens, line.query_cut) for line in lines}
    return Query(*(sum(values) / len(queries) for values in zip(*queries.values(), strict=True)))


def _spread(lines: Sequence[Line]) -> float | None:
    past: dict[tuple[str, str], list[float]] = {}
    for line in lines:
        if line.part == "needle_past":
            past.setdefault((line.question, line.config), []).append(line.similarity)
    return max((max(found) - min(found) for found in past.values()), default=None)
