"""The report of a finished needles run."""

from pathlib import Path
from typing import Any

from builders.errors import SetupError
from builders.typed import Open
from eval_harness.data.dataset import open_dataset
from eval_harness.protocols.needles.analysis import Analysis, analysed
from eval_harness.protocols.needles.figures import drawn
from eval_harness.protocols.needles.sections import lines, reach_lines, sections
from eval_harness.protocols.needles.similarities import read_lines
from eval_harness.protocols.records import record_of
from eval_harness.report.instances import Instances
from eval_harness.report.parts import Document
from eval_harness.report.study import Study
from eval_harness.run.earlier import upgraded_record
from eval_harness.run.facts import configs_of


class _Encoder(Open):
    name: str
    files: Any
    dtype: str
    limit: int | None
    query_prompt: str | None
    passage_prompt: str | None


class _Dataset(Open):
    name: str
    version: str
    manifest_sha256: str


class _Record(Open):
    encoder: _Encoder
    dataset: _Dataset
    limit: int | None
    expand: dict[str, Any] | None
    configs: dict[str, dict[str, Any]] | list[str]


def document(run: Path, dataset: Path | None = None) -> tuple[Document, Study | None, Instances]:
    """The report of a run; without results of a study, since nothing was answered.

    SetupError if the run is not finished, or if `dataset` is not the dataset of the run.
    """
    record = record_of(run, "needles", _Record)
    if dataset is not None and open_dataset(dataset).manifest_sha256 != record["dataset"]["manifest_sha256"]:
        raise SetupError(f"{dataset} is not the dataset of {run}; give the dataset of the run, or leave out --dataset")
    return document_of(analysed(read_lines(run), configs_of(upgraded_record(record))), record), None, {}


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
