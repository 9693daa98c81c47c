"""Datasets of format 1, as an earlier version built them, are validated and get a card."""

import shutil
from pathlib import Path

import pytest

from dataset_cards.card import write_card
from validation.checks import CHECKS
from validation.dataset import read_dataset
from validation.suite import run_suite

FIXTURES = Path(__file__).parents[1] / "fixtures" / "format1"


@pytest.mark.parametrize("name", ["icr2", "controlled", "needles"])
def test_nothing_is_found_in_a_sound_one(name: str) -> None:
    names = [name for name in CHECKS if name != "artefact"]
    outcomes = run_suite(read_dataset(FIXTURES / name), names, lambda step: None)
    assert {o.check.name: o.ids for o in outcomes if o.status == "failed"} == {}
    assert {o.check.name: o.examined for o in outcomes}["facts"] == {"icr2": 36, "controlled": 8, "needles": 90}[name]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("icr2", ["| `1k_p50` | 768 | 12 |", "| `answer_filter_not_applicable` | 12 | 33.33% |", "`fever`"]),
        ("controlled", ["4 queries of controlled_1hop and controlled_2hop over contexts of 1k tokens", "No row has a"]),
        ("needles", ["| `needles_128` | 128 | 90 |", "No row has a flag."]),
    ],
)
def test_a_card_is_written(name: str, says: list[str], tmp_path: Path) -> None:
    folder = shutil.copytree(FIXTURES / name, tmp_path / name)
    write_card(folder)
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert [words for words in says if words not in card] == []
