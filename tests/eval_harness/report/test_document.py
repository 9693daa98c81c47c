import csv
import re
from collections.abc import Callable
from pathlib import Path

from eval_harness.report.document import markdown, write_document
from eval_harness.report.runs import study_document
from eval_harness.report.sections import compute, p_text, points, sections
from eval_harness.report.study import Study
from tests.eval_harness.report.conftest import HOSTILE, make_row

Make = Callable[..., Study]


def rows_of_three_settings() -> list:
    """Ten questions in two configs, three of them overlength in the second, and a closed book."""
    rows = [make_row(f"nq-{n}", 1.0) for n in range(10)]
    rows += [make_row(f"nq-{n}", 0.0, config="1k_p100") for n in range(7)]
    rows += [make_row(f"nq-{n}", None, config="1k_p100", status="overlength") for n in range(7, 10)]
    for config in ("1k_p0", "1k_p100"):
        names = {"config": config, "method": "closed_book"}
        rows += [make_row(f"nq-{n}", 0.0, **names, prompt=f"closed {n}") for n in range(10)]
    return rows


def test_table_3_names_n_and_what_was_left_out(study_of: Make) -> None:
    """A mean over 7, with the number left out."""
    table, *_ = sections(compute(study_of(rows_of_three_settings()), "vanilla_rag"))
    assert table.notes[-1].startswith("Zero-width intervals")
    assert table.header == ["method", "config", "model", "nq\nsubspan_em", "macro average"]
    assert table.rows == [
        ["vanilla_rag", "1k_p0", "tiny", "100.0\n[100.0, 100.0]\nn=10", "100.0\n[100.0, 100.0]\n1 task"],
        ["vanilla_rag", "1k_p100", "tiny", "0.0\n[0.0, 0.0]\nn=7\n3 overlength", "0.0\n[0.0, 0.0]\n1 task"],
        ["closed_book", "1k_p0, 1k_p100", "tiny", "0.0\n[0.0, 0.0]\nn=10", "0.0\n[0.0, 0.0]\n1 task"],
    ]


def test_a_matched_table_is_there_where_n_differs(study_of: Make) -> None:
    found = {section.name: section for section in sections(compute(study_of(rows_of_three_settings()), "vanilla_rag"))}
    assert [row[3].split("\n")[2] for row in found["matched"].rows] == ["n=10", "n=7", "n=10", "n=7"]
    assert [row[:3] for row in found["configs"].rows] == [["1k_p100 − 1k_p0", "vanilla_rag", "tiny"]]
    assert found["configs"].rows[0][3] == "−100.0\n[−100.0, −100.0]\np 0.016 (0.031)\nn=7"  # 2 / 2^7; two tests
    assert "measures-nq" in found
    assert "evidence" not in found
    assert "lengths" not in found


def test_every_measure_stands_beside_the_headline(study_of: Make) -> None:
    """Substring match, F1 and EM are all printed; with the length and the precision of answers."""
    row = make_row("nq-1", 1.0)
    row.scores.update(em=0.0, token_f1=0.8, n_pred_tokens=12.0)
    found = {section.name: section for section in sections(compute(study_of([row]), "vanilla_rag"))}
    shown = dict(zip(found["measures-nq"].header, found["measures-nq"].rows[0], strict=True))
    assert shown["subspan_em"] == "100.0"
    assert shown["em"] == "0.0"
    assert shown["token_f1"] == "80.0"
    assert shown["n_pred_tokens"] == "12.0"
    assert "token_precision" in shown


def test_evidence_is_a_table_of_its_own(study_of: Make) -> None:
    cited = make_row("nq-1", 1.0, method="vanilla_rag+cite", evidence=["a"])
    cited.scores.update(evidence_recall=1.0, evidence_precision=0.5, evidence_f1=2 / 3)
    silent = make_row("nq-2", 0.0, method="vanilla_rag+cite", status="unparsed", evidence=[])
    silent.scores.update(evidence_recall=0.0, evidence_precision=0.0, evidence_f1=0.0)
    without_gold = make_row("nq-3", 1.0, method="vanilla_rag+cite", evidence=["b"])
    found = {
        section.name: section for section in sections(compute(study_of([cited, silent, without_gold]), "vanilla_rag"))
    }
    assert found["evidence"].rows == [["vanilla_rag+cite", "1k_p0", "tiny", "nq", "2", "50.0", "25.0", "33.3"]]


def test_signs_and_small_p() -> None:
    assert [points(x) for x in (0.1, -0.1, 0.0, -0.0001)] == ["+10.0", "−10.0", "0.0", "0.0"]
    assert [p_text(p) for p in (0.0002, 0.05, 1.0)] == ["<0.001", "0.050", "1.000"]


def test_markdown_tables_are_whole_and_hostile_names_are_plain(study_of: Make, tmp_path: Path) -> None:
    hostile = [f"{method}|{HOSTILE}\nx" for method in ("a", "b")]
    rows = [make_row("nq-1", config=config, method=method) for config in ("1k_p0", "1k_p100") for method in hostile]
    text = markdown(study_document(study_of(rows), "a"), with_figures=True)
    assert "<script" not in text
    assert "<img" not in text
    assert "![Figure 1: score against confounding ratio, with 95 % bands](figure1.png)" in text
    for table in re.findall(r"(?:^\|.*\n)+", text, re.M):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


def test_csv_has_one_line_a_number_and_no_score_is_empty(study_of: Make, tmp_path: Path) -> None:
    """Every task's own score is exported."""
    rows = [*rows_of_three_settings(), make_row("fever-1", None, task="fever", status="overlength")]
    rows += [make_row("nq-1", 0.0, config="2k_p0")]
    document = study_document(study_of(rows), "vanilla_rag")
    assert {path.name for path in write_document(document, None, {}, tmp_path, ["csv"])} == {
        "table3.csv",
        "differences.csv",
        "lengths.csv",
    }
    lines = list(csv.DictReader((tmp_path / "table3.csv").open()))
    mine = [line for line in lines if (line["method"], line["config"]) == ("vanilla_rag", "1k_p100")]
    assert mine[0]["metric"] == "subspan_em"
    assert (mine[0]["n"], mine[0]["score"], mine[0]["n_overlength"]) == ("7", "0", "3")
    (fever,) = [line for line in lines if (line["task"], line["metric"]) == ("fever", "label_accuracy")]
    assert (fever["n"], fever["score"], fever["low"]) == ("0", "", "")
    slopes = list(csv.DictReader((tmp_path / "lengths.csv").open()))
    assert [(line["task"], line["slope_per_doubling"]) for line in slopes if line["task"] == "nq"] == [("nq", "-1")]
