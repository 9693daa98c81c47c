"""The report over runs of one dataset."""

from eval_harness.report.figures import length_figure, ratio_figure
from eval_harness.report.lines import csv_tables
from eval_harness.report.parts import Document, Drawn
from eval_harness.report.sections import compute, sections
from eval_harness.report.study import Study


def study_document(study: Study, baseline: str) -> Document:
    """Every table and figure of a study; methods are compared with `baseline`, or with the first if it was not run."""
    found = compute(study, baseline)
    figures = [
        ("figure1", ratio_figure(found), "Figure 1: score against confounding ratio, with 95 % bands"),
        ("figure_length", length_figure(found), "Score against length, with 95 % bands"),
    ]
    return Document(
        f"{study.title}: results",
        _described(study),
        sections(found),
        [Drawn(name, figure, caption, "table3") for name, figure, caption in figures if figure],
        csv_tables(found),
    )


def _described(study: Study) -> str:
    runs = sum(map(len, study.runs.values()))
    models = ", ".join(study.rows)
    return f"{runs} {'run' if runs == 1 else 'runs'} of {models}; dataset manifest sha256 {study.manifest_sha256}"
