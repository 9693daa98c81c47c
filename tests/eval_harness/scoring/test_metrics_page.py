"""docs/metrics.md: every row of its edge table holds, and its lists of metrics are the scorers' own."""

import json
import re
from pathlib import Path

import pytest

from builders.tasks import KINDS
from eval_harness.scoring import evidence
from eval_harness.scoring.base import Scorer
from eval_harness.scoring.measures import multi_answer
from eval_harness.scoring.registry import SCORERS

PAGE = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))
NAMES = {"label": "label", "rouge": "dialogue", "needle_any": "needle", "needle_all": "all_needles"}


def rows(section: str) -> list[list[str]]:
    """The cells of a section's table, without its head."""
    lines = [line for line in SECTIONS[section].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


EDGES = rows("Edges")


def scorer_of(metric: str) -> Scorer:
    return SCORERS[next((name for start, name in NAMES.items() if metric.startswith(start)), "qa")]


def test_there_are_edges() -> None:
    assert len(EDGES) > 40


@pytest.mark.parametrize("row", EDGES, ids=lambda row: " ".join(row[:3]))
def test_edge(row: list[str]) -> None:
    """The values as the page shows them."""
    metric, answers, prediction, official, strict, _ = row
    name = metric.split("`")[1]
    golds, predicted = json.loads(answers.strip("`")), json.loads(prediction.strip("`"))
    if isinstance(predicted, list):
        scores = multi_answer.score_list(predicted, golds)
    else:
        scores = scorer_of(name).score(predicted, golds)
    columns = ("label_accuracy_kilt", "label_accuracy") if name == "label_accuracy" else (name, f"{name}_strict")
    want = (float(official), float(strict))
    assert tuple(round(scores[column], 3) for column in columns) == want


def test_each_scorer_is_listed_with_its_kinds_and_metrics() -> None:
    listed = rows("What a task is scored by")
    assert [scorer for scorer, _, _ in listed] == [f"`{name}`" for name in SCORERS]
    for cell, kinds, metrics in listed:
        name = cell.strip("`")
        assert tuple(re.findall(r"`(\w+)`", metrics)) == SCORERS[name].metrics
        assert set(re.findall(r"`(\w+)`", kinds)) == {kind for kind, one in KINDS.items() if one.scorer == name}


def test_each_metric_has_its_formula() -> None:
    described = {name for cells in rows("Formulas") for name in re.findall(r"`(\w+)`", cells[0])}
    names = {name for scorer in SCORERS.values() for name in scorer.metrics}
    plain = {name for name in names if name.removesuffix("_strict") not in described and name not in described}
    assert not plain
    assert set(evidence.METRICS) <= described
