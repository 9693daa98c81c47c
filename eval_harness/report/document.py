"""A report as files: Markdown, CSV, pictures and a page."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path

from builders.files import write_text
from eval_harness.report.instances import Instances
from eval_harness.report.page import write_page
from eval_harness.report.parts import Document, Drawn, Line, Section
from eval_harness.report.study import Study

__all__ = ["FORMATS", "Document", "Drawn", "Section", "write_document"]

FORMATS = ("md", "csv", "html", "png")


def write_document(
    document: Document, study: Study | None, instances: Instances, out: Path, formats: Sequence[str] = FORMATS
) -> list[Path]:
    """Writes a report into a folder and returns its files; the page lists the results of `study` with instances."""
    from eval_harness.report.figures import write_png

    out.mkdir(parents=True, exist_ok=True)
    written = []
    if "png" in formats:
        for drawn in document.figures:
            write_png(drawn.figure, out / f"{drawn.name}.png")
            written.append(out / f"{drawn.name}.png")
    if "md" in formats:
        write_text(out / "report.md", markdown(document, with_figures="png" in formats))
        written.append(out / "report.md")
    if "csv" in formats:
        for name, lines in document.tables.items():
            if lines:
                write_text(out / name, _csv(lines))
                written.append(out / name)
    if "html" in formats:
        write_page(document, study, instances, out / "report.html")
        written.append(out / "report.html")
    return written


def markdown(document: Document, *, with_figures: bool) -> str:
    """The report as Markdown, which links to the figure files."""
    parts = [f"# {_escaped(document.title)}"]
    for section in document.sections:
        parts.append(_table(section))
        for drawn in document.figures if with_figures else ():
            if drawn.below == section.name:
                parts.append(f"![{drawn.caption}]({drawn.name}.png)\n\n*{drawn.caption}*")
    return "\n\n".join(parts) + "\n"


def _table(section: Section) -> str:
    """A section with its table; cells are escaped and keep their line breaks."""
    lines = [[_cell(text) for text in row] for row in (section.header, *section.rows)]
    marks = [":---"] * section.left + ["---:"] * (len(section.header) - section.left)
    table = [f"| {' | '.join(row)} |" for row in (lines[0], marks, *lines[1:])]
    return "\n\n".join([f"## {_escaped(section.title)}", *section.notes, "\n".join(table)])


def _cell(text: str) -> str:
    return "<br>".join(_escaped(line) for line in text.split("\n"))


def _escaped(text: str) -> str:
    """Text escaped for Markdown."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for mark in "\\`*[]|":
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())


def _csv(lines: Iterable[Line]) -> str:
    """Lines with the union of their columns; a missing number is empty, never 0."""
    kept = list(lines)
    output = StringIO()
    columns = list(dict.fromkeys(name for line in kept for name in line))
    writer = csv.DictWriter(output, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {key: f"{value:.6g}" if isinstance(value, float) else value for key, value in line.items()} for line in kept
    )
    return output.getvalue()
