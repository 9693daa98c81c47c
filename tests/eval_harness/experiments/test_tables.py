"""Tables worked out by hand from two runs of two instances."""

from pathlib import Path

import pytest

from eval_harness.experiments import table4, table9
from eval_harness.experiments.base import Found
from eval_harness.experiments.commands import Place
from eval_harness.experiments.models import DA, UNTUNED
from eval_harness.experiments.rows import Asked, recall, scored
from eval_harness.experiments.scale import scale_of
from eval_harness.experiments.tables import differences, lines_of, table
from eval_harness.report.study import Study, one_study, read_studies
from tests.eval_harness.report.conftest import make_row, write_run

VANILLA, TUNED = Asked("Vanilla RAG", UNTUNED, "vanilla_rag"), Asked("SFT-DA", DA, "sft_da")


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Vanilla RAG has one of two right, the tuned model both; one more was too long for it."""
    untuned = [make_row(f"nq-{n}", float(n == 1)) for n in (1, 2, 3)]
    tuned = [make_row(f"nq-{n}", 1.0, method="sft_da") for n in (1, 2)]
    tuned.append(make_row("nq-3", None, method="sft_da", status="overlength"))
    runs = [write_run(tmp_path / "untuned", untuned), write_run(tmp_path / "da", tuned, model={"name": "da"})]
    return one_study(read_studies(runs))


def test_means_and_what_was_left_out(study: Study) -> None:
    found = scored(study, "1k_p0", [VANILLA, TUNED, Asked("never run", DA, "sft_cci")])
    section = table("table4", "Table 4: all", "1k_p0", found, "Scores")
    assert section.header == ["", "nq", "macro average"]
    (vanilla, score, _), (tuned, other, _) = section.rows
    assert (vanilla, score.split("\n")[0], score.split("\n")[2]) == ("Vanilla RAG", "33.3", "n=3")
    assert (tuned, other) == ("SFT-DA", "100.0\n[100.0, 100.0]\nn=2\n1 overlength")


def test_differences_are_over_the_instances_that_both_counted(study: Study) -> None:
    pair = tuple(scored(study, "1k_p0", [VANILLA, TUNED]))
    (row,) = differences("table4", "Table 4", study, "1k_p0", [pair]).rows  # type: ignore[list-item]
    assert row[0] == "SFT-DA \N{MINUS SIGN} Vanilla RAG"
    assert row[3].startswith("+50.0\n") and row[3].endswith("n=2")  # on nq-1 and nq-2: 0 and 1


def test_lines_of_a_csv_file(study: Study) -> None:
    (line, macro) = list(lines_of("1k_p0", scored(study, "1k_p0", [TUNED])))
    assert line["task"] == "nq" and (line["n"], line["mean"], line["n_overlength"]) == (2, 1.0, 1)
    assert macro["task"] == "macro average"


def test_recall_is_of_rows_that_name_passages(tmp_path: Path) -> None:
    rows = [make_row("nq-1", method="sft_da"), make_row("nq-2", method="sft_da")]
    rows[0].scores["evidence_recall"] = 0.5
    found = scored(one_study(read_studies([write_run(tmp_path / "da", rows)])), "1k_p0", [TUNED], recall)
    assert [(one.n, one.mean) for one in [found[0].intervals["nq"]] if one] == [(1, 0.5)]


def test_what_table4_reports(study: Study) -> None:
    place = Place(scale_of("tiny", {}), Path("data"), "train", Path("out"))
    parts = table4.report(Found(place, [study], {}))
    assert [section.title for section in parts.sections] == [
        "Table 4: main results, 1k_p0",
        "Table 4: main results: paired differences, 1k_p0",
        "Table 4: main results: the paper's, 1k_p0",
        "Table 4: main results: the paper's, 1k_p0, orders",
    ]
    assert [row[0] for row in parts.sections[0].rows] == ["Vanilla RAG", "SFT-DA"]


def test_table9_compares_each_variant_with_itself(tmp_path: Path) -> None:
    runs = [
        write_run(tmp_path / name, [make_row("nq-1", score, method=f"sft_{name[:3]}")], model={"name": name})
        for name, score in (("rta", 1.0), ("rta-no-marks", 0.0), ("cci", 0.0), ("cci-no-marks", 0.0))
    ]
    place = Place(scale_of("tiny", {}), Path("data"), "train", Path("out"))
    parts = table9.report(Found(place, read_studies(runs), {}))
    minus = "\N{MINUS SIGN}"
    assert [(row[0], row[3].split("\n")[0]) for row in parts.sections[1].rows] == [
        (f"SFT-RTA without special tokens {minus} SFT-RTA", f"{minus}100.0"),
        (f"SFT-CCI without special tokens {minus} SFT-CCI", "0.0"),
    ]
