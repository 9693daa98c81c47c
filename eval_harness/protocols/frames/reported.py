"""The FRAMES report of a run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eval_harness.protocols.frames.analysis import EXACT, MATCH, Analysis, articles_group, mean, read_analysis, rounds
from eval_harness.protocols.frames.figure import rounds_figure
from eval_harness.protocols.frames.sections import sections
from eval_harness.report.instances import Instances, instances_of
from eval_harness.report.parts import Document, Drawn, Line
from eval_harness.report.statistics import Interval
from eval_harness.report.study import Study

_CAPTION = "Accuracy and recall after each round, with 95 % bands; horizontal lines are methods without rounds"


def document(run: Path, dataset: Path | None) -> tuple[Document, Study | None, Instances]:
    """The report of a finished run with its results, and their instances if the dataset is given."""
    found = read_analysis(run)
    instances = _instances(found.study, dataset) if dataset else {}
    return document_of(found), found.study, instances


def document_of(found: Analysis) -> Document:
    """Tables, figure and lines of a run."""
    study = found.study
    (model,) = study.rows
    figure = rounds_figure(found)
    return Document(
        f"{study.title}: FRAMES",
        f"{model} on {', '.join(study.configs)}; dataset manifest sha256 {study.manifest_sha256}",
        sections(found),
        [Drawn("rounds", figure, _CAPTION, "rounds")] if figure else [],
        {"frames.csv": list(_lines(found)), "rounds.csv": list(_round_lines(found))},
    )


def _instances(study: Study, dataset: Path) -> Instances:
    from builders.views import readable

    with readable(dataset):
        return instances_of(study, dataset)


def _lines(found: Analysis) -> Iterator[Line]:
    for method in found.rows:
        exact = mean([row.scores[EXACT] for row in found.counted(method)], *found.names(method), EXACT)
        whole = {MATCH: found.accuracy(method), EXACT: exact}
        whole |= {f"judge {judge.name}": found.judged(method, judge) for judge in found.judges}
        for metric, interval in whole.items():
            yield {"method": method, "group": "all", "metric": metric} | _numbers(interval)
        for group, interval in found.by_group(method, lambda asked: asked.reasoning_types).items():
            yield {"method": method, "group": group, "metric": MATCH} | _numbers(interval)
        for group, interval in found.by_group(method, articles_group).items():
            yield {"method": method, "group": f"{group} gold articles", "metric": MATCH} | _numbers(interval)


def _round_lines(found: Analysis) -> Iterator[Line]:
    for method in found.stepping:
        for one in rounds(found, method):
            values = one._asdict()
            means = {name: values[name] for name in ("number", "going", "articles", "queries", "repeated")}
            for metric in ("accuracy", "recall"):
                yield {"method": method, "metric": metric} | _numbers(values[metric]) | means


def _numbers(found: Interval | None) -> dict[str, Any]:
    return dict(zip(("score", "low", "high", "n"), found or (None,) * 4, strict=True))
