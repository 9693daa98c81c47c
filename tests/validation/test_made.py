"""The suite on synthetic datasets: no findings in a sound one, and planted defects are found."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders.synthetic.small import build_controlled, build_given, question
from tests.planted.folder import Folder, Row, non_gold, recount
from validation.checks import CHECKS
from validation.dataset import read_dataset
from validation.suite import Outcome, run_suite

CONFIG = "controlled_1k"


@pytest.fixture(scope="module")
def controlled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Invented facts; not to be changed."""
    return build_controlled(tmp_path_factory.mktemp("controlled"))


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Paragraphs as given, one question with its answer among the distractors; not to be changed."""
    questions = [question(n) for n in range(12)]
    questions[0]["context"][0][1][1] = " It says zq0x too."
    return build_given(tmp_path_factory.mktemp("given"), questions)


def outcomes(folder: Path) -> dict[str, Outcome]:
    names = [name for name in CHECKS if name != "artefact"]
    return {outcome.check.name: outcome for outcome in run_suite(read_dataset(folder), names, lambda step: None)}


def failed(folder: Path) -> dict[str, set[str | None]]:
    """The ids of what each check found."""
    found = {name: outcome.ids for name, outcome in outcomes(folder).items() if outcome.status == "failed"}
    return {name: {place["id"] for place in ids} for name, ids in found.items()}


@pytest.mark.parametrize("name", ["controlled", "given"])
def test_nothing_is_found_in_a_sound_one(name: str, request: pytest.FixtureRequest) -> None:
    assert failed(request.getfixturevalue(name)) == {}


def test_the_probe_finds_no_place_or_mark_of_gold(tmp_path: Path) -> None:
    out = build_controlled(tmp_path, "lengths=[1k]", "take={test: 10}", "depths=[0, 20, 40, 60, 80, 100]", "world=100")
    (outcome,) = (
        o for o in run_suite(read_dataset(out), ["artefact"], lambda step: None) if o.check.name == "artefact"
    )
    assert outcome.status == "passed"
    assert outcome.figures["greatest AUC of position"] > 0.5  # it was measured


@pytest.fixture
def planted(controlled: Path, tmp_path: Path) -> Folder:
    """A copy to plant in."""
    shutil.copytree(controlled, tmp_path / "planted")
    return Folder(tmp_path / "planted")


def first(folder: Folder, change: Callable[[Row], None], task: str = "controlled_1hop") -> str:
    """Changes the first test row of a task at 2k, the longest, and returns its id."""
    return folder.change("controlled_2k", "test", change, task=task)["id"]


def test_gold_at_another_depth(planted: Folder) -> None:
    def move(row: Row) -> None:
        gold = row["passages"].pop(row["gold"][0])
        row["gold"] = [len(row["passages"]) // 2]
        row["passages"].insert(row["gold"][0], gold)
        assert row["depth"] == 0

    id = first(planted, move)
    found = failed(planted.path)
    assert found["flags"] == {id}


def test_a_depth_more_often_than_others(planted: Folder) -> None:
    """Every depth is equally frequent over all rows of a split."""
    for split in ("test", "validation"):
        rows = planted.rows(CONFIG, split)
        kept = [row for row in rows if row["depth"] == 0] * 40
        planted.write(CONFIG, split, [{**row, "id": f"{row['id']}-{n}"} for n, row in enumerate(kept)] + rows)
    assert "gold_position" in failed(planted.path)


def test_a_confounder_with_a_retriever(planted: Folder) -> None:
    def name_one(row: Row) -> None:
        row["passages"][non_gold(row, "confounder")].update(retrievers=["bm25"], rank=1, score=1.0)

    id = first(planted, name_one)
    assert failed(planted.path) == {"roles": {id}}


def test_an_answer_beside_gold(planted: Folder) -> None:
    def leak(row: Row) -> None:
        passage = row["passages"][non_gold(row, "confounder")]
        passage["text"] += f" It is also {row['answers'][0]}."
        recount(row)

    id = first(planted, leak)
    assert failed(planted.path)["answer_in_context"] == {id}


def test_a_passage_that_a_longer_context_lacks(planted: Folder) -> None:
    def drop(row: Row) -> None:
        short = planted.rows(CONFIG, "test")
        own = next(other for other in short if other["id"] == row["id"])
        pid = own["passages"][non_gold(own, "random")]["pid"]
        row["passages"] = [passage for passage in row["passages"] if passage["pid"] != pid]
        row["gold"] = [at for at, passage in enumerate(row["passages"]) if passage["role"] == "gold"]
        confounders = sum(passage["role"] == "confounder" for passage in row["passages"])
        row["confounding_ratio"] = confounders / (len(row["passages"]) - len(row["gold"]))
        recount(row)

    assert first(planted, drop) in failed(planted.path)["nested"]


def test_a_flag_of_another_family(planted: Folder) -> None:
    id = first(planted, lambda row: row["flags"].append("answer_in_given"))
    assert failed(planted.path) == {"flags": {id}}


@pytest.fixture
def given_copy(given: Path, tmp_path: Path) -> Folder:
    """A copy to plant in."""
    shutil.copytree(given, tmp_path / "planted")
    return Folder(tmp_path / "planted")


def plant_in_given(folder: Folder, id: str, change: Callable[[Row], None]) -> None:
    for config in folder.configs:
        rows = folder.rows(config, "test")
        for row in rows:
            if row["id"] == id:
                change(row)
        folder.write(config, "test", rows)


def test_a_given_answer_without_its_flag(given_copy: Folder) -> None:
    id = "hotpotqa-q0"
    plant_in_given(given_copy, id, lambda row: row["flags"].remove("answer_in_given"))
    found = failed(given_copy.path)
    assert found["flags"] == {id} and found["answer_in_context"] == {id}


def test_the_flag_without_an_answer(given_copy: Folder) -> None:
    id = "hotpotqa-q1"
    plant_in_given(given_copy, id, lambda row: row["flags"].append("answer_in_given"))
    assert failed(given_copy.path) == {"flags": {id}}


def test_the_flag_excuses_no_random_passage(given_copy: Folder) -> None:
    def leak(row: Row) -> None:
        passage = row["passages"][non_gold(row, "random")]
        passage["text"] += " It says zq0x as well."
        recount(row)

    id = "hotpotqa-q0"
    rows = given_copy.rows("given_2k", "test")
    leak(next(row for row in rows if row["id"] == id))
    given_copy.write("given_2k", "test", rows)
    assert failed(given_copy.path)["answer_in_context"] == {id}
