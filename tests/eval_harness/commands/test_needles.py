"""The command: its run, its report, and what it refuses."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from builders.errors import SetupError
from builders.pipeline import run_build
from builders.synthetic.needles import NeedlesRecipe
from eval_harness.commands import needles as cli
from eval_harness.models.fake import FakeModel
from eval_harness.protocols.needles import document
from eval_harness.protocols.needles.similarities import read_lines
from tests.builders.synthetic.haystack_texts import GROUPS, recipe_of, write_groups, write_texts
from tests.eval_harness.protocols.needles.known import write_config
from tests.manifests import write_manifest

pytestmark = pytest.mark.slow  # an encoder and its report, once for all


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two questions at 128 and 640 tokens, which for MiniLM is past its limit."""
    here = tmp_path_factory.mktemp("hay")
    write_texts(here / "texts", paragraphs=400)
    write_groups(here / "groups.yaml")
    recipe = NeedlesRecipe.model_validate(recipe_of(lengths=[128, 640], depths=[0, 50, 75, 100]))
    run_build(recipe, here, here / "icr2", here / "work", 1, Console(quiet=True))
    return here / "icr2"


@pytest.fixture(scope="module")
def run(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with expanded questions by the bundled encoder."""
    here = tmp_path_factory.mktemp("run")
    terms = [{"question": g["question"], "terms": ["tower", "yoghurt"]} for c in GROUPS.values() for g in c.values()]
    (here / "terms.jsonl").write_text("".join(json.dumps(line) + "\n" for line in terms))
    ask(dataset, "--expand", str(here / "terms.jsonl"), "--terms", "1,5", "--out", str(here / "out"))
    return here / "out"


def ask(*arguments: Any) -> str:
    """What the command prints; its errors are raised."""
    app = typer.Typer()
    cli.register(app)
    found = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    return found.output


def numbers(run: Path) -> dict[tuple[str, ...], dict[str, str]]:
    """The lines of needles.csv by terms, config, needle, order, category, depth and measure."""
    keys = ("terms", "config", "needle", "order", "category", "depth", "measure")
    with (run / "report" / "needles.csv").open() as file:
        return {tuple(line[key] for key in keys): line for line in csv.DictReader(file)}


def test_the_run_says_what_it_depends_on(run: Path) -> None:
    record = json.loads((run / "run.json").read_text())
    assert record["protocol"] == "needles"
    assert {name: facts["tokens"] for name, facts in record["configs"].items()} == {
        "needles_128": 128,
        "needles_640": 640,
    }
    assert record["encoder"]["limit"] == 256
    assert record["expand"]["terms"] == [1, 5]
    assert len(record["expand"]["sha256"]) == 64


def test_every_haystack_has_a_line_for_each_expansion(run: Path) -> None:
    lines = read_lines(run)
    assert len(lines) == 3 * 2 * 2 * (4 * 4 + 2)
    assert {(one.terms, one.added) for one in lines} == {(0, 0), (1, 1), (5, 2)}
    assert len({(one.id, one.config, one.terms) for one in lines}) == len(lines)


def test_minilm_shows_its_limit_and_the_report_says_why(run: Path) -> None:
    """Past 256 tokens the needle is not read: its similarity is the same at every depth and for every needle."""
    past = [one for one in read_lines(run) if one.part == "needle_past" and one.terms == 0]
    assert {one.config for one in past} == {"needles_640"}
    assert {one.depth for one in past} >= {75, 100}
    for question in {one.question for one in past}:
        assert len({one.similarity for one in past if one.question == question}) == 1
    read = [one for one in read_lines(run) if one.depth == 0 and one.config == "needles_640"]
    assert len({one.similarity for one in read}) > 4
    text = (run / "report" / "report.md").read_text()
    assert "bundled:minilm reads the first 256 tokens of a text. From 640 on, haystacks are longer" in text
    assert "it differs by at most 0.000000 between all such needles" in text


def test_the_report_has_its_files(run: Path) -> None:
    written = {path.name for path in (run / "report").iterdir()}
    assert written == {
        "report.md",
        "report.html",
        "needles.csv",
        "reach.csv",
        "figure_length.png",
        "figure_depth.png",
        "figure_expansion.png",
    }
    text = (run / "report" / "report.md").read_text()
    for title in ("Needles by length", "How much of a haystack is read", "Categories, one-hop", "Depth, literal"):
        assert f"## {title}" in text
    assert "Terms from terms.jsonl; added per question, on average: 1 of 1, 2 of 5." in text


def test_the_numbers_are_those_of_the_lines(run: Path) -> None:
    lines = [one for one in read_lines(run) if (one.terms, one.config) == (0, "needles_128")]
    planted = [one for one in lines if one.needle == "literal"]
    mean = sum(one.similarity / one.to_literal for one in planted) / len(planted)
    found = numbers(run)
    assert float(found["0", "needles_128", "literal", "", "", "", "normalised"]["value"]) == pytest.approx(
        mean, rel=1e-5
    )
    inverted = [one.similarity / one.to_literal for one in planted if one.order == "inverted"]
    value = found["0", "needles_128", "literal", "inverted", "", "", "normalised"]["value"]
    assert float(value) == pytest.approx(sum(inverted) / len(inverted), rel=1e-5)
    assert ("1", "needles_128", "literal", "", "", "", "auc") in found
    assert ("0", "needles_640", "one_hop", "", "diet", "", "ratio") in found
    assert ("0", "needles_640", "one_hop", "", "", "75", "normalised") in found


def test_the_report_can_be_written_again(run: Path, dataset: Path) -> None:
    found, study, instances = document(run, dataset)
    assert study is None and instances == {}
    assert found.tables["needles.csv"]
    assert [drawn.below in {section.name for section in found.sections} for drawn in found.figures] == [True] * 3


def test_a_run_is_gone_on_with_and_another_is_refused(run: Path, dataset: Path) -> None:
    before = (run / "similarities.parquet").read_bytes()
    expand = ("--expand", run.parent / "terms.jsonl")
    ask(dataset, *expand, "--terms", "1,5", "--out", run)
    assert (run / "similarities.parquet").read_bytes() == before
    with pytest.raises(SetupError, match=r"another run, which differs in encoder\.passage_prompt"):
        ask(dataset, *expand, "--terms", "1,5", "--passage-prompt", "text: ", "--out", run)
    with pytest.raises(SetupError, match="differs in expand"):
        ask(dataset, "--out", run)


def test_another_dataset_and_another_folder_are_refused(run: Path, dataset: Path, tmp_path: Path) -> None:
    write_config(tmp_path, "needles_1k", [])
    write_manifest(tmp_path, "other")
    with pytest.raises(SetupError, match="is not the dataset of"):
        document(run, tmp_path)
    with pytest.raises(SetupError, match=r"run\.json is not there"):
        document(tmp_path)
    (tmp_path / "run.json").write_text('{"protocol": "oncu"}')
    with pytest.raises(SetupError, match="is not a run of the protocol needles"):
        document(tmp_path)


def test_a_dry_run_loads_no_model(dataset: Path, tmp_path: Path) -> None:
    output = ask(dataset, "--dry-run", "--encoder", "no/such-model", "--out", tmp_path / "out")
    assert "needles_640" in output and "32" in output
    assert not (tmp_path / "out").exists()


def test_a_model_writes_the_terms(dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "_writer", lambda name: FakeModel(lambda prompt: "tower, milk, tram", name=name))
    out = tmp_path / "out"
    ask(dataset, "--config", "needles_128", "--limit", 1, "--expand", "writer", "--terms", "2", "--out", out)
    assert {one.added for one in read_lines(out)} == {0, 2}
    assert json.loads((out / "run.json").read_text())["expand"] == {"from": "writer", "sha256": None, "terms": [2]}
    assert len((out / "terms.jsonl").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--expand", "x", "--terms", "0,5"), "--terms 0,5"),
        (("--expand", "x", "--terms", "many"), "--terms many"),
        (("--config", "needles_4k"), "no needle config needles_4k"),
        (("--split", "train"), "no rows in split"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: tuple[str, ...], says: str, dataset: Path) -> None:
    with pytest.raises(SetupError, match=says):
        ask(dataset, *options, "--dry-run")


def test_results_are_in_a_folder_of_the_names(monkeypatch: pytest.MonkeyPatch) -> None:
    find: Callable[..., Path] = cli._default_folder
    dataset: Any = SimpleNamespace(name="hay", version="1.0.0")
    assert find(dataset, "org/model@abc") == Path("runs/needles_hay-1.0.0_org-model@abc")
