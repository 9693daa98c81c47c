"""The protocol's analysis of runs, and the saved options of their report."""

from pathlib import Path
from typing import NamedTuple

from builders.errors import SetupError
from builders.files import write_json
from builders.typed import Open, read_json, typed
from eval_harness.protocols.oncu.audit import ByHand, read_sheet
from eval_harness.protocols.oncu.groups import FROM_ROWS, TASK, Group, Labels, grouped, labels_of
from eval_harness.protocols.oncu.heatmap import Grid, grids
from eval_harness.protocols.oncu.matched import Matched, matched
from eval_harness.protocols.oncu.modes import Modes, modes_of
from eval_harness.report.study import Study

LABELLED = "labels.csv"
_FILE = "oncu.json"


class View(NamedTuple):
    """The grouping of instances, and the groups from the dataset if it needs them."""

    by: str
    labels: Labels


class _View(Open):
    by: str
    labels: Labels


class Analysis(NamedTuple):
    """Runs of the protocol; `modes` are by matched model and config, `by_hand` are human labels."""

    study: Study
    by: str
    matched: list[Matched]
    groups: list[Group]
    grids: list[Grid]
    modes: list[Modes]
    by_hand: ByHand


def analysed(study: Study, folder: Path) -> Analysis:
    """The analysis of a study with the view saved in `folder`; SetupError if its conditions do not match."""
    found = matched(study)
    view = read_view(folder)
    _check_labels(found, view)
    groups = [group for one in found for group in grouped(one, view.by, view.labels)]
    labelled = folder / LABELLED
    by_hand = read_sheet(labelled, found) if labelled.exists() else {}
    return Analysis(study, view.by, found, groups, grids(found, study.facts), list(map(modes_of, found)), by_hand)


def view_of(study: Study, by: str | None, dataset: Path | None, earlier: View) -> View:
    """The view of a study on `dataset`; what is not given stays as saved.

    SetupError if the grouping needs the dataset and it is not given.
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
    """Saves the view with the runs, so that their report can be rewritten."""
    write_json(folder / _FILE, view._asdict())


def read_view(folder: Path) -> View:
    """The saved view of runs; by default grouped by task."""
    path = folder / _FILE
    if not path.exists():
        return View(TASK, {})
    then = f"delete it and run: icr2 oncu {folder}"
    found = typed(read_json(path, then), _View, path, then)
    return View(found.by, found.labels)


def _check_labels(found: list[Matched], view: View) -> None:
    """Raises SetupError for an instance without a group, whose labels were never read."""
    for one in found if view.by not in FROM_ROWS else ():
        for id in one.rows:
            if id not in view.labels.get(one.config, {}):
                raise SetupError(f"unknown {view.by} group of {id} ({one.config}); give the dataset with --dataset DIR")
