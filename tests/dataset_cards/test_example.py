"""The card's example: one row of the dataset."""

from pathlib import Path

import pytest

from builders.errors import SetupError
from dataset_cards.card import write_card
from tests.dataset_cards.ready import change_rows, only


def test_a_row_without_text_is_named(dataset: Path) -> None:
    def spoil(rows: list[dict]) -> list[dict]:
        for row in rows:
            row["passages"][0].update(text=None)
        return rows

    only(dataset, ["1k_p50"])
    change_rows(dataset, "1k_p50", "test", spoil)
    (dataset / "validation.json").unlink()
    with pytest.raises(SetupError, match=r"1k_p50/test of .*: passages\.0\.text: found None, wanted .*; see what"):
        write_card(dataset)
