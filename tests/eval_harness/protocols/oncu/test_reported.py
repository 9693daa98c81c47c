import csv
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from builders.errors import SetupError
from eval_harness.protocols.oncu import document
from eval_harness.protocols.oncu.analysis import View, analysed, read_view, view_of, write_view
from eval_harness.protocols.oncu.matched import FULL, ORACLE
from eval_harness.protocols.oncu.reported import document_of
from eval_harness.report.document import write_document
from eval_harness.report.parts import Document, Section
from eval_harness.report.study import one_study, read_studies
from tests.eval_harness.protocols.oncu.twelve import BM25, METHODS, TWELVE, row_of, rows_of
from tests.eval_harness.report.conftest import write_run


def made(folder: Path, rows: list[Any], view: View | None = None) -> Document:
    write_run(folder, rows)
    if view:
        write_view(view, folder)
    return document(folder, None)[0]


def section(found: Document, name: str) -> Section:
    return next(one for one in found.sections if one.name == name)


def cells(found: Section, *names: str) -> dict[str, str]:
    """The only row that begins with names, by its header."""
    (row,) = [row for row in found.rows if set(names) <= {cell.split("\n")[0] for cell in row}]
    return dict(zip(found.header, row, strict=True))


@pytest.fixture
def found(tmp_path: Path) -> Document:
    return made(tmp_path / "run", rows_of())


def test_scores_stand_beside_what_is_recovered(found: Document) -> None:
    row = cells(section(found, "oncu"), "nq", "answer_f1")
    assert row["group"] == "nq\n1k_p0, tiny"
    assert [row[name] for name in ("n", "closed_book", "vanilla", "retrieved_bm25@2", "oracle")] == [
        "8",
        "18.8",
        "50.0",
        "43.8",
        "75.0",
    ]
    raw, bounds = row["R vanilla"].split("\n")
    assert raw == "0.56"
    assert re.fullmatch(r"\[-?[0-9.]+, [0-9.]+\]", bounds)
    scores = section(found, "scores")
    assert re.fullmatch(r"50\.0\n\[[0-9.]+, [0-9.]+\]", cells(scores, "nq", "answer_f1")["vanilla"])
    assert cells(scores, "nq", "retrieval_recall")["retrieved_bm25@2"].startswith("93.8\n[")
    assert any("fever: answer_f1 is label_accuracy" in note for note in scores.notes)


def test_strict_fields_are_shown_where_they_differ(tmp_path: Path) -> None:
    rows = rows_of()
    rows[3].scores["em_strict"] = 0.0  # nq-1 under the oracle
    found = made(tmp_path / "run", rows)
    fields = [row[1] for row in section(found, "oncu").rows if row[0].startswith("nq")]
    assert fields == ["headline", "answer_f1", "answer_em", "answer_em_strict", "evidence_f1", "joint_f1"]
    assert cells(section(found, "oncu"), "nq", "answer_em_strict")["R vanilla"].startswith(
        "0.67\n"
    )  # (3 - 1) / (4 - 1)


def test_what_is_not_within_0_and_1_is_shown_clipped_too(tmp_path: Path) -> None:
    rows = [row for row in rows_of() if row.id == "nq-1"]
    rows += [row_of("nq-9", method, value) for method, value in zip(METHODS, (0.5, 0.0, 1.0, 0.5), strict=True)]
    row = cells(section(made(tmp_path / "run", rows), "oncu"), "nq", "answer_f1")
    # oracle 0.75 over none 0.25: full 0.5, retrieved 1
    assert (row["R vanilla"].split("\n")[0], row["R retrieved_bm25@2"].split("\n")[::2]) == (
        "0.50",
        ["1.50", "clipped 1.00"],
    )


def test_an_invalid_group_prints_no_number(found: Document) -> None:
    row = cells(section(found, "oncu"), "fever", "answer_f1")
    assert (row["R vanilla"], row["R retrieved_bm25@2"]) == ("invalid", "invalid")
    lines = [line for line in found.tables["oncu.csv"] if (line["group"], line["field"]) == ("fever", "answer_f1")]
    assert {(line["valid"], line["r"], line["r_low"], line["r_clipped"]) for line in lines} == {
        ("invalid", None, None, None)
    }
    assert cells(section(found, "validity"), "answer_f1")["valid groups"] == "1 of 2\n50.0 %"


def test_where_no_group_is_valid_no_mean_is(tmp_path: Path) -> None:
    rows = [row for row in rows_of() if row.task == "fever"]
    assert cells(section(made(tmp_path / "run", rows), "validity"), "answer_f1")["mean R vanilla"] == "invalid"


def test_too_few_valid_resamples_give_r_without_an_interval(tmp_path: Path) -> None:
    only = [TWELVE[0], TWELVE[4], TWELVE[6]]  # one of the three has an advantage: 1 - (2/3)^3 of the resamples
    row = cells(section(made(tmp_path / "run", rows_of(only)), "oncu"), "nq", "answer_f1")
    assert row["R vanilla"] == "1.00\nno interval"
    assert re.search(r"> 0 in (69|70|71)\.[0-9] %", row["oracle − closed_book"])


def test_modes_examples_and_what_is_left_out(tmp_path: Path) -> None:
    rows = [row for row in rows_of() if (row.id, row.method) != ("nq-5", ORACLE)]
    found = made(tmp_path / "run", [*rows, row_of("nq-5", ORACLE, 0, status="n/a")])
    modes = cells(section(found, "modes"), "vanilla")
    assert (modes["n"], modes["answerable"], modes["misled"]) == ("11", "3\n27.3 %", "1\n9.1 %")
    assert section(found, "left-out").rows == [["1k_p0", "tiny", "oracle", "n/a", "nq-5", "1"]]
    shown = cells(section(found, "examples"), "conversion")
    assert (shown["id"], shown["answer in closed_book"], shown["in oracle"]) == ("nq-2", "0", "1")
    assert len(found.tables["modes.csv"]) == 22


def test_every_instance_a_group_is_summed_up(tmp_path: Path) -> None:
    found = made(tmp_path / "run", rows_of(), View("instance", {}))
    assert "oncu" not in [one.name for one in found.sections]
    row = cells(section(found, "validity"), "answer_f1")
    assert row["valid groups"] == "6 of 12\n50.0 %"
    assert row["mean R vanilla"].startswith("0.42\nclipped 0.42 [")
    assert len([line for line in found.tables["oncu.csv"] if line["field"] == "answer_f1"]) == 24


def test_a_retriever_that_left_nothing_out_is_named(tmp_path: Path) -> None:
    rows = rows_of()
    prompts = {row.id: row.prompt_sha256 for row in rows if row.method == FULL}
    shown = ("nq-1", BM25)
    same = [replace(row, prompt_sha256=prompts[row.id]) if (row.id, row.method) == shown else row for row in rows]
    notes = section(made(tmp_path / "run", same), "oncu").notes
    assert any("retrieved_bm25@2 showed the full context in 1 of 12 instances of 1k_p0" in note for note in notes)


def test_files_and_the_same_again(found: Document, tmp_path: Path) -> None:
    again, study, instances = document(tmp_path / "run", None)
    assert (again.sections, again.tables) == (found.sections, found.tables)
    files = write_document(again, study, instances, tmp_path / "report")
    assert {path.name for path in files} == {
        "report.md",
        "report.html",
        "oncu.csv",
        "scores.csv",
        "validity.csv",
        "modes.csv",
    }
    with (tmp_path / "report" / "oncu.csv").open(newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["group"] == "nq" and line["field"] == "answer_f1"]
    assert [(line["context"], line["closed_book"], line["oracle"], line["r"]) for line in lines] == [
        (FULL, "0.1875", "0.75", "0.555556"),
        ("retrieved_bm25@2+cite", "0.1875", "0.75", "0.444444"),
    ]


def test_models_with_other_retrievers_share_a_table(tmp_path: Path) -> None:
    one = write_run(tmp_path / "a", rows_of())
    dense = [replace(row, method="retrieved_dense+cite") if row.method == BM25 else row for row in rows_of()]
    two = write_run(tmp_path / "b", dense, model={"name": "other"})
    found = document_of(analysed(one_study(read_studies([one, two])), tmp_path))
    first, second = [row for row in section(found, "oncu").rows if row[:2] == [row[0], "answer_em"] and "nq" in row[0]]
    assert section(found, "oncu").header[-2:] == ["R retrieved_bm25@2", "R retrieved_dense"]
    assert (first[0], first[-1], second[0], second[-2]) == ("nq\n1k_p0, tiny", "–", "nq\n1k_p0, other", "–")
    assert first[-2] != "–" != second[-1]
    assert {row[1] for row in section(found, "modes").rows} == {"tiny", "other"}


def test_how_a_run_is_looked_at_is_kept(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", rows_of())
    study = one_study(read_studies([run]))
    kept = View("hops", {"1k_p0": {"nq-1": ["1"]}})
    assert read_view(run) == ("task", {})
    write_view(kept, run)
    assert view_of(study, None, None, read_view(run)) == kept
    assert view_of(study, "task", None, kept) == ("task", {})
    with pytest.raises(SetupError, match="grouping by flags needs the dataset; give it with --dataset DIR"):
        view_of(study, "flags", None, kept)
    with pytest.raises(SetupError, match=r"unknown hops group of fever-1 \(1k_p0\); give the dataset"):
        analysed(study, run)
    (run / "oncu.json").write_text("{")
    with pytest.raises(SetupError, match="cannot be read"):
        read_view(run)
