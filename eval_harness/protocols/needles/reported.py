"""A finished run on needles as a report."""

import json
from pathlib import Path
from typing import Any

from builders.errors import SetupError
from eval_harness.load import open_dataset
from eval_harness.protocols.needles.analysis import Analysis, analysed
from eval_harness.protocols.needles.figures import drawn
from eval_harness.protocols.needles.sections import lines, reach_lines, sections
from eval_harness.protocols.needles.similarities import read_lines
from eval_harness.report.instances import Instances
from eval_harness.report.parts import Document
from eval_harness.report.study import Study


def document(run: Path, dataset: Path | None = None) -> tuple[Document, Study | None, Instances]:
    """The report of a run; it has no rows of a study, since nothing was answered.

    SetupError where the run is not finished, or `dataset` is another one than it was made on.
    """
    record = read_record(run)
    if dataset is not None and open_dataset(dataset).manifest_sha256 != record["dataset"]["manifest_sha256"]:
        raise SetupError(f"{dataset} is not the dataset of {run}; give the folder that the run used, or none")
    return document_of(analysed(read_lines(run)), record), None, {}


def document_of(found: Analysis, record: dict[str, Any]) -> Document:
    """The report of an analysis."""
    dataset, encoder = record["dataset"], record["encoder"]
    limit = "no limit" if encoder["limit"] is None else f"limit {encoder['limit']:,} tokens"
    return Document(
        f"{dataset['name']} {dataset['version']}: needles, {encoder['name']}",
        f"{encoder['name']}, {limit}; dataset manifest sha256 {dataset['manifest_sha256']}",
        sections(found, record),
        drawn(found, encoder["limit"]),
        {"needles.csv": lines(found), "reach.csv": reach_lines(found)},
    )


def read_record(run: Path) -> dict[str, Any]:
    """What a run's results depend on; SetupError where the folder holds no run on needles."""
    path = run / "run.json"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SetupError(f"{path} cannot be read ({error}); give a folder that icr2 needles left") from None
    if not isinstance(record, dict) or record.get("protocol") != "needles":
        raise SetupError(f"{run} is no run on needles; give a folder that icr2 needles left")
    return record
