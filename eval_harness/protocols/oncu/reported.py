"""The protocol's report."""

from pathlib import Path

from eval_harness.protocols.oncu.analysis import Analysis, analysed
from eval_harness.protocols.oncu.heatmap import heat_map
from eval_harness.protocols.oncu.lines import csv_tables
from eval_harness.protocols.oncu.sections import sections
from eval_harness.report.instances import Instances, instances_of
from eval_harness.report.parts import Document, Drawn
from eval_harness.report.study import Study, one_study, read_studies

_CAPTION = (
    "Length against position: headline score of the full context, and the share of the oracle's advantage it recovers"
)


def document(run: Path, dataset: Path | None) -> tuple[Document, Study, Instances]:
    """The report of a run with its saved view, its results, and their instances if the dataset is given."""
    study = one_study(read_studies([run]))
    instances = instances_with(study, dataset)
    return document_of(analysed(study, run)), study, instances


def document_of(found: Analysis) -> Document:
    """The report of an analysis."""
    study = found.study
    figures = [Drawn("positions", heat_map(found.grids), _CAPTION, "positions")] if found.grids else []
    subtitle = f"{', '.join(study.rows)}; dataset manifest sha256 {study.manifest_sha256}"
    return Document(f"{study.title}: four conditions", subtitle, sections(found), figures, csv_tables(found))


def instances_with(study: Study, dataset: Path | None) -> Instances:
    """The instances of a study from its dataset folder, empty without one; SetupError if it is another dataset."""
    from builders.views import readable

    if dataset is None:
        return {}
    with readable(dataset):
        return instances_of(study, dataset)
