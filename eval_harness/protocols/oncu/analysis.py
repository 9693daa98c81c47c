"""What the protocol finds in runs, and how it was asked to look at them."""

import json
from pathlib import Path
from typing import NamedTuple

from builders.errors import SetupError
from builders.files import write_json
from eval_harness.protocols.oncu.audit import ByHand, read_sheet
from eval_harness.protocols.oncu.groups import FROM_ROWS, TASK, Group, Labels, grouped, labels_of
from eval_harness.protocols.oncu.heatmap import Grid, grids
from eval_harness.protocols.oncu.matched import Matched, matched
from eval_harness.protocols.oncu.modes import Modes, modes_of
from eval_harness.report.study import Study

LABELLED = "labels.csv"
_FILE = "oncu.json"


class View(NamedTuple):
    """By what instances are grouped, and the groups that the dataset gives for it."""

    by: str
    labels: Labels


class Analysis(NamedTuple):
    """Runs by the protocol; `modes` are those of each matched model and config, `by_hand` those that people gave."""

    study: Study
    by: str
    matched: list[Matched]
    groups: list[Group]
    grids: list[Grid]
    modes: list[Modes]
    by_hand: ByHand


def analysed(study: Study, folder: Path) -> Analysis:
    """The analysis of a study as `folder` says to look at it; SetupError where its conditions do not match."""
    found = matched(study)
    view = read_view(folder)
    _check_labels(found, view)
    groups = [group for one in found for group in grouped(one, view.by, view.labels)]
    labelled = folder / LABELLED
    by_hand = read_sheet(labelled, found) if labelled.exists() else {}
    return Analysis(study, view.by, found, groups, grids(found, study.facts), list(map(modes_of, found)), by_hand)


def view_of(study: Study, by: str | None, dataset: Path | None, earlier: View) -> View:
    """How to look at a study on `dataset`, as before in what is not said anew.

    SetupError where a grouping needs the dataset and it is not given.
    """
    by = by or earlier.by
    if dataset is None:
        if by == earlier.by:
            return earlier
        if by not in FROM_ROWS:
            raise SetupError(f"grouping by {by} needs the dataset; give it with --dataset DIR")
        return earlier._replace(by=by, labels={})
    split = next(study.all_rows).split
    labels = {} if by in FROM_ROWS else labels_of(dataset, study.configs, split, by)
    return View(by, labels)


def write_view(view: View, folder: Path) -> None:
    """Keeps how runs are looked at beside them, so that their report can be written again."""
    write_json(folder / _FILE, view._asdict())


def read_view(folder: Path) -> View:
    """How runs were looked at before; by task where that is not said."""
    path = folder / _FILE
    if not path.exists():
        return View(TASK, {})
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return View(found["by"], found["labels"])
    except (ValueError, TypeError, KeyError) as error:
        raise SetupError(f"{path} cannot be read ({error}); remove it, and run again: icr2 oncu {folder}") from None


def _check_labels(found: list[Matched], view: View) -> None:
    """Raises SetupError where an instance would be in no group, since its labels were never read."""
    for one in found if view.by not in FROM_ROWS else ():
        for id in one.rows:
            if id not in view.labels.get(one.config, {}):
                raise SetupError(
                    f"the group by {view.by} of {id} ({one.config}) is not known; give the dataset with --dataset DIR"
                )
