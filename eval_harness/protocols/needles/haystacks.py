"""The haystacks of a dataset, as `icr2 build needles` makes them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from builders.config import tokens_of
from builders.errors import SetupError
from builders.manifest import raw_manifest
from builders.prompts import BLANK_LINE, haystack
from builders.views import connect, readable

Needle = Literal["one_hop", "literal"]
Order = Literal["default", "inverted"]

NEEDLES: tuple[Needle, ...] = ("one_hop", "literal")
ORDERS: tuple[Order, ...] = ("default", "inverted")
PREFIX = "needles_"
_DEPTH = re.compile(r"depth_([0-9]+)")


class Planted(NamedTuple):
    """A needle in a haystack: how it is worded, the depth asked for in percent, and its half-open character range."""

    needle: Needle
    order: Order
    depth: int
    start: int
    end: int


class Haystack(NamedTuple):
    """A row: a question, a text, and the needle in it; a control has none."""

    id: str
    config: str
    category: str
    question: str
    text: str
    planted: Planted | None

    @property
    def needle_text(self) -> str | None:
        """The needle's words."""
        return self.text[self.planted.start : self.planted.end] if self.planted else None

    @property
    def place(self) -> float | None:
        """The share of the other characters that stand before the needle."""
        if self.planted is None:
            return None
        others = len(self.text) - (self.planted.end - self.planted.start)
        return min(1.0, self.planted.start / max(1, others))


def length_of(config: str) -> int:
    """Tokens of a config's haystacks, of the dataset's tokenizer."""
    return tokens_of(config.removeprefix(PREFIX))


def needle_configs(folder: Path, asked: Sequence[str]) -> list[str]:
    """The configs of needles that were asked for, or all, from the shortest; SetupError where there is none."""
    there = [config for config in raw_manifest(folder)["configs"] if config.startswith(PREFIX)]
    if not there:
        raise SetupError(f"{folder} has no config of needles; build one with: icr2 build needles --out needles")
    if unknown := sorted(set(asked) - set(there)):
        raise SetupError(f"no config {', '.join(unknown)} of needles in {folder}; there are {', '.join(there)}")
    return sorted(asked or there, key=length_of)


def read_haystacks(folder: Path, configs: Sequence[str], split: str, limit: int | None = None) -> list[Haystack]:
    """The haystacks of configs in file order: those of the first `limit` questions of each category.

    SetupError names a config without rows in the split, a row that is no haystack, or a question without all that its
    measures need: both orders of each needle, and a control.
    """
    found: list[Haystack] = []
    with readable(folder):
        connection = connect(folder)
        for config in configs:
            result = connection.execute(
                "SELECT id, task, query, list_transform(passages, lambda p: p.text), gold, flags "
                f'FROM "{config}" WHERE split = ?',
                [split],
            )
            rows = [_haystack(config, *row) for row in iter(result.fetchone, None)]
            if not rows:
                raise SetupError(f"{config} has no row in the split {split!r}; its rows are in test")
            found += _limited(rows, limit)
    for config in configs:
        _check([haystack for haystack in found if haystack.config == config], config)
    return found


def _haystack(
    config: str, id: str, category: str, question: str, texts: list[str], gold: list[int], flags: list[str]
) -> Haystack:
    text = haystack(texts)
    if "control" in flags:
        return Haystack(id, config, category, question, text, None)
    needle = next((needle for needle in NEEDLES if needle in flags), None)
    order = next((order for order in ORDERS if order in flags), None)
    depths = [int(match[1]) for flag in flags if (match := _DEPTH.fullmatch(flag))]
    if needle is None or order is None or len(depths) != 1 or len(gold) != 1:
        raise SetupError(f"{config} holds {id}, which is no haystack (flags: {', '.join(flags)}); build it again")
    start = sum(len(one) + len(BLANK_LINE) for one in texts[: gold[0]])
    return Haystack(
        id, config, category, question, text, Planted(needle, order, depths[0], start, start + len(texts[gold[0]]))
    )


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
                raise SetupError(f"{config} has no {what} for {question!r}; build it again")
