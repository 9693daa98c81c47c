"""The card of a synthetic dataset describes its contexts, and mentions no sources that it does not have."""

import json
from pathlib import Path

import pytest
import yaml
from rich.console import Console

from builders.format1 import config_facts
from builders.load_recipe import load_recipe
from builders.manifest import Config
from builders.pipeline import run_build
from dataset_cards.card import write_card
from dataset_cards.order import in_order
from tests.builders.synthetic.small import build_controlled, build_given, question


@pytest.fixture(scope="module")
def controlled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Invented facts, with their card."""
    folder = build_controlled(tmp_path_factory.mktemp("controlled"))
    write_card(folder)
    return folder


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Paragraphs as given, with their card."""
    questions = [question(n) for n in range(12)]
    questions[0]["context"][0][1][1] = " It says zq0x too."
    folder = build_given(tmp_path_factory.mktemp("given"), questions)
    write_card(folder)
    return folder


def test_made_up_contexts_are_called_so(controlled: Path) -> None:
    card = (controlled / "README.md").read_text()
    head = yaml.safe_load(card.split("---\n")[1])
    assert head["license"] == "apache-2.0" and "synthetic" in head["tags"]
    assert "Synthetic: every person, place, thing and text in these contexts is invented" in card
    assert "8 queries of controlled_1hop and controlled_2hop over contexts of 1k and 2k tokens." in card
    assert "6 test, 2 validation" in card  # each at four depths
    assert "at (`depth` + 50) modulo 100" in card
    for word in ("Wikipedia", "annotated", "**Retrieval.**", "Personal information"):
        assert word not in card
    statistics = json.loads((controlled / "statistics.json").read_text())["configs"]
    depths = [split["depths"] for splits in statistics.values() for split in splits.values()]
    assert sum(sum(found.values()) for found in depths) == 64 and {len(found) for found in depths} == {4}
    assert "`depth` is the percentage of the non-gold" in card and "No row has a flag." in card
    figures = {path.stem for path in (controlled / "figures").iterdir()}
    assert figures == {"composition", "gold_position", "tokens"}
    assert "icr2 build recipe.yaml --out again" in card


def test_what_a_source_gives_is_called_so(given: Path) -> None:
    card = (given / "README.md").read_text()
    assert yaml.safe_load(card.split("---\n")[1])["license"] == "cc-by-sa-4.0"
    assert "| `given_full` | none | 12 |" in card and "| `given_2k` | 1,792 | 12 |" in card
    assert "| `answer_in_given` | 2 | 8.33% |" in card
    assert "hotpot_dev_distractor_v1.json" in card
    assert "The source chose them, and one of them may contain" in card
    assert "synthetic" not in card.lower()


def test_both_load_as_croissant(controlled: Path, given: Path) -> None:
    for folder, config in ((controlled, "controlled_1k"), (given, "given_full")):
        described = json.loads((folder / "croissant.json").read_text())
        assert config in {records["name"] for records in described["recordSet"]}


def test_the_recipe_in_a_manifest_builds_the_same(controlled: Path, tmp_path: Path) -> None:
    manifest = json.loads((controlled / "manifest.json").read_text())
    (tmp_path / "recipe.yaml").write_text(json.dumps(manifest["recipe"]))
    recipe, base = load_recipe(str(tmp_path / "recipe.yaml"), [])
    run_build(recipe, base, tmp_path / "again", tmp_path / "work", 1, Console(quiet=True))
    assert json.loads((tmp_path / "again" / "manifest.json").read_text()) == manifest


def test_the_order_of_configs() -> None:
    names = ["given_8k", "given_2k", "given_full", "1k_p0"]
    configs = {name: Config.model_construct(**config_facts(name, {}), files={}) for name in names}
    assert in_order(configs) == ["1k_p0", "given_full", "given_2k", "given_8k"]
