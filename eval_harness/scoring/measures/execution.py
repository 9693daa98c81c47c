"""LOFT's execution accuracy: two tables of a query's result agree."""

from collections.abc import Sequence
from typing import Any

Table = Sequence[Sequence[Any]]


def execution_accuracy(predicted: Table, gold: Table) -> float:
    """1 where both have as many rows and every predicted row, as a set of cells, is one of the gold rows (LOFT).

    Numbers are compared to two decimals, texts by their lower case; the order of rows and cells is free.
    """
    rows, wanted = map(_row, predicted), list(map(_row, gold))
    return float(len(predicted) == len(gold) and all(row in wanted for row in rows))


def _row(cells: Sequence[Any]) -> set[str]:
    return {text for cell in cells if (text := _cell(cell))}


def _cell(value: Any) -> str:
    try:
        return f"{float(value):.2f}"
    except (ValueError, TypeError):
        return str(value).strip().lower()
