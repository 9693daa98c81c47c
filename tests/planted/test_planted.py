"""Every check finds its plant, with the right ids, and nothing else; a good dataset trips none."""

import shutil
from pathlib import Path

import pytest

from tests.planted.folder import Folder, Found
from tests.planted.good import build_good
from tests.planted.plants import ANY, PLANTS
from validation.checks import CHECKS
from validation.dataset import read_dataset
from validation.suite import SHOWN, Outcome, run_suite

PLANTED: dict[str, set[str]] = {}  # what each plant that was run is to trip


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset without a fault."""
    return build_good(tmp_path_factory.mktemp("planted"))


def outcomes_of(folder: Path, without: tuple[str, ...] = ()) -> dict[str, Outcome]:
    """The report of the suite on a folder."""
    names = [name for name in CHECKS if name not in without]
    return {outcome.check.name: outcome for outcome in run_suite(read_dataset(folder), names, lambda step: None)}


def places(outcome: Outcome) -> set[Found]:
    """Where a check found something."""
    return {(found["config"], found["split"], found["id"], found["pid"]) for found in outcome.ids}


def test_a_good_dataset_trips_no_check(good: Path) -> None:
    outcomes = outcomes_of(good)
    assert {name: outcome.ids[:3] for name, outcome in outcomes.items() if outcome.status != "passed"} == {}
    assert all(outcome.examined > 0 for outcome in outcomes.values())
    assert outcomes["gold_position"].figures["splits tested"] >= 6
    assert outcomes["artefact"].figures["greatest AUC of position"] < 0.65


def test_there_are_plants_enough() -> None:
    assert len(PLANTS) >= 25


@pytest.mark.parametrize("name", PLANTS)
def test_plant_is_found(name: str, good: Path, tmp_path: Path) -> None:
    shutil.copytree(good, tmp_path / "planted")
    expected = PLANTS[name](Folder(tmp_path / "planted"))
    # fitting its models takes longer than all other checks; a good dataset does not trip it either
    outcomes = outcomes_of(tmp_path / "planted", without=() if "artefact" in expected else ("artefact",))
    failed = {check: places(outcome) for check, outcome in outcomes.items() if outcome.status == "failed"}
    PLANTED[name] = set(expected)
    more = "..." in expected  # the defect is so large that it breaks other rules, too
    expected = {check: found for check, found in expected.items() if check != "..."}
    assert set(failed) >= set(expected) if more else set(failed) == set(expected), failed
    for check, wanted in expected.items():
        if wanted is None:
            continue
        some = {place[:3] for place in wanted if place[3] == ANY}
        exact = {place for place in wanted if place[3] != ANY}
        found = {place for place in failed[check] if place[:3] not in some}
        assert found == exact if len(wanted) <= SHOWN else found <= exact, check  # a report names the first of them
        assert {place[:3] for place in failed[check]} >= some, check
        unit = {"instance": slice(0, 3), "split": slice(0, 2), "file": slice(0, 3)}[CHECKS[check].unit]
        twice = (name, check) == ("id_twice", "ids")  # two rows of one id are one place
        assert outcomes[check].failing == len({place[unit] for place in wanted}) + twice, check


def test_every_check_has_a_plant(good: Path, tmp_path: Path) -> None:
    for name in PLANTS.keys() - PLANTED.keys():  # none, where all plants were run before
        shutil.copytree(good, tmp_path / name)
        PLANTED[name] = set(PLANTS[name](Folder(tmp_path / name)))
    assert set(CHECKS) <= set().union(*PLANTED.values())
