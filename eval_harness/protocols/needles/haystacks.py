"""The haystacks of a dataset of `icr2 build needles`."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from builders.errors import SetupError
from builders.manifest import read_manifest
from builders.prompts import BLANK_LINE, haystack
from builders.views import connect, readable
from eval_harness.run.facts import ConfigFacts, facts_of, in_order

Needle = Literal["one_hop", "literal"]
Order = Literal["default", "inverted"]

NEEDLES: tuple[Needle, ...] = ("one_hop", "literal")
ORDERS: tuple[Order, ...] = ("default", "inverted")
FAMILY = "needles"


class Planted(NamedTuple):
    """A needle in a haystack: its wording, its requested depth in percent, and its half-open character range."""

    needle: Needle
    order: Order
    depth: int
    start: int
    end: int


class Haystack(NamedTuple):
    """A row: a question, a text and its needle; None in a control."""

    id: str
    config: str
    category: str
    question: str
    text: str
    planted: Planted | None

    @property
    def needle_text(self) -> str | None:
        """The text of the needle."""
        return self.text[self.planted.start : self.planted.end] if self.planted else None

    @property
    def place(self) -> float | None:
        """The share of the other characters before the needle."""
        if self.planted is None:
            return None
        others = len(self.text) - (self.planted.end - self.planted.start)
        return min(1.0, self.planted.start / max(1, others))


def needle_configs(folder: Path, asked: Sequence[str]) -> dict[str, ConfigFacts]:
    """The requested needle configs, by default all, sorted by length; SetupError if there are none."""
    manifest = read_manifest(folder)
    there = {name: facts_of(config) for name, config in manifest.configs.items() if config.family == FAMILY}
    if not there:
        raise SetupError(f"{folder} has no needle config; build one with: icr2 build needles --out needles")
    if unknown := sorted(set(asked) - set(there)):
        raise SetupError(f"no needle config {', '.join(unknown)} in {folder}; available: {', '.join(there)}")
    return {name: there[name] for name in in_order(asked or there, there)}


def read_haystacks(folder: Path, configs: Collection[str], split: str, limit: int | None = None) -> list[Haystack]:
    """The haystacks of configs in file order: those of the first `limit` questions of each category.

    SetupError names a config without rows in the split, a row that is not a haystack, or a question that lacks what
    the measures need: both orders of each needle, and a control.
    """
    found: list[Haystack] = []
    with readable(folder):
        connection = connect(folder)
        for config in configs:
            result = connection.execute(
                "SELECT id, task, query, list_transform(passages, lambda p: p.text), gold, depth, reasoning_types "
                f'FROM "{config}" WHERE split = ?',
                [split],
            )
            rows = [_haystack(config, *row) for row in iter(result.fetchone, None)]
            if not rows:
                raise SetupError(f"{config} has no rows in split {split!r}; use --split test")
            found += _limited(rows, limit)
    for config in configs:
        _check([haystack for haystack in found if haystack.config == config], config)
    return found


def _haystack(
    config: str,
    id: str,
    category: str,
    question: str,
    texts: list[str],
    gold: list[int],
    depth: int | None,
    types: list[str],
) -> Haystack:
    text = haystack(texts)
    if not gold and depth is None:
        return Haystack(id, config, category, question, text, None)
    needle = next((needle for needle in NEEDLES if needle in types), None)
    order = next((order for order in ORDERS if order in types), None)
    if needle is None or order is None or depth is None or len(gold) != 1:
        found = f"depth: {depth}, reasoning types: {', '.join(types) or 'none'}, gold passages: {len(gold)}"
        raise SetupError(f"{config} contains {id}, which is not a haystack ({found}); rebuild it")
    start = sum(len(one) + len(BLANK_LINE) for one in texts[: gold[0]])
    planted = Planted(needle, order, depth, start, start + len(texts[gold[0]]))
    return Haystack(id, config, category, question, text, planted)


def _limited(rows: Sequence[Haystack], limit: int | None) -> Iterator[Haystack]:
    taken: dict[str, dict[str, None]] = {}
    for row in rows:
        questions = taken.setdefault(row.category, {})
        if limit is None or row.question in questions or len(questions) < limit:
            questions[row.question] = None
            yield row


def _check(rows: Sequence[Haystack], config: str) -> None:
    parts: Counter[tuple[str, Any]] = Counter()
    for row in rows:
        parts[row.question, row.planted and row.planted[:2]] += 1
    wanted = [None, *((needle, order) for needle in NEEDLES for order in ORDERS)]
    for question in dict.fromkeys(row.question for row in rows):
        for part in wanted:
            if not parts[question, part]:
                what = "control" if part is None else "{} {} needle".format(*part)
                raise SetupError(f"{config} has no {what} for {question!r}; rebuild it")
