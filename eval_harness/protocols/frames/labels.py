"""Writes a sheet of answers to label by hand, and reads the labels."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from builders.errors import SetupError
from builders.files import replacing
from eval_harness.protocols.frames.questions import Questions
from eval_harness.run.results import Row

COLUMNS = ("id", "method", "question", "reference", "answer", "label")
CORRECT, INCORRECT = "correct", "incorrect"

_LABELS = dict.fromkeys(("correct", "yes", "true", "1"), CORRECT) | dict.fromkeys(
    ("incorrect", "no", "false", "0"), INCORRECT
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # prefixes that spreadsheets interpret as a formula

Key = tuple[str, str]  # an instance's id and a method


def read_labels(path: Path, methods: Sequence[str]) -> dict[Key, str]:
    """The labels of a sheet by id and method, `correct` or `incorrect`; lines without a label are skipped.

    Without a column `method`, the labels are for the run's only method. SetupError names an invalid line.
    """
    labels: dict[Key, str] = {}
    for number, line in _lines(path):
        written = (line["label"] or "").strip().lower()
        if not written:
            continue
        if written not in _LABELS:
            raise SetupError(f"{path}, line {number}: invalid label {written!r}; use {CORRECT} or {INCORRECT}")
        method = line.get("method") or (methods[0] if len(methods) == 1 else "")
        if method not in methods:
            raise SetupError(
                f"{path}, line {number}: the run has no method {method!r}; available: {', '.join(methods)}"
            )
        if labels.setdefault((line["id"], method), _LABELS[written]) != _LABELS[written]:
            raise SetupError(f"{path}, line {number}: {line['id']} ({method}) has two different labels")
    if not labels:
        raise SetupError(f"{path} has no labels; write {CORRECT} or {INCORRECT} in its column label")
    return labels


def _lines(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            if missing := [name for name in ("id", "label") if name not in (reader.fieldnames or ())]:
                raise SetupError(f"{path} lacks the columns {', '.join(missing)}; it needs id, method and label")
            for line in reader:
                yield reader.line_num, line
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SetupError(
            f"{path} cannot be read as a sheet ({error}); create one with: icr2 frames sheet RUN"
        ) from None


def write_sheet(rows: Sequence[Row], questions: Questions, path: Path) -> None:
    """Writes a sheet to label: questions, reference answers and answers, without verdicts."""
    with replacing(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for row in rows:
            asked = questions.asked[row.id]
            texts = [asked.query, " / ".join(asked.answers), row.answer or ""]
            writer.writerow([row.id, row.method, *map(_plain, texts), ""])


def _plain(text: str) -> str:
    """Text escaped so that spreadsheets do not interpret it as a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text
