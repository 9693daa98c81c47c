import csv
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from builders.errors import SetupError
from eval_harness.protocols.oncu import document
from eval_harness.protocols.oncu.analysis import View, read_view, view_of, write_view
from eval_harness.protocols.oncu.matched import FULL, ORACLE
from eval_harness.report.document import write_document
from eval_harness.report.parts import Document, Section
from eval_harness.report.study import one_study, read_studies
from tests.eval_harness.protocols.oncu.twelve import BM25, TWELVE, row_of, rows_of
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
    (row,) = [row for row in found.rows if set(names) <= set(row)]
    return dict(zip(found.header, row, strict=True))


@pytest.fixture
def found(tmp_path: Path) -> Document:
    return made(tmp_path / "run", rows_of())


def test_scores_stand_beside_what_is_recovered(found: Document) -> None:
    row = cells(section(found, "oncu"), "nq", "answer_f1")
    assert (row["n"], row["closed_book"].split("\n")[0], row["oracle_rag"].split("\n")[0]) == ("8", "18.8", "75.0")
    raw, bounds, clipped = row["R vanilla_rag"].split("\n")
    assert (raw, clipped) == ("0.56", "clipped 0.56")
    assert re.fullmatch(r"\[-?[0-9.]+, [0-9.]+\]", bounds)
    assert cells(section(found, "oncu"), "nq", "retrieval_recall")["R retrieved_bm25@2"] == "–"
    assert any("fever: answer_f1 is label_accuracy" in note for note in section(found, "oncu").notes)


def test_an_invalid_group_prints_no_number(found: Document) -> None:
    row = cells(section(found, "oncu"), "fever", "answer_f1")
    assert (row["R vanilla_rag"], row["R retrieved_bm25@2"]) == ("invalid", "invalid")
    lines = [line for line in found.tables["oncu.csv"] if (line["group"], line["field"]) == ("fever", "answer_f1")]
    assert {(line["valid"], line["r"], line["r_low"], line["r_clipped"]) for line in lines} == {
        ("invalid", None, None, None)
    }
    assert cells(section(found, "validity"), "answer_f1")["valid groups"] == "1 of 2\n50.0 %"


def test_where_no_group_is_valid_no_mean_is(tmp_path: Path) -> None:
    rows = [row for row in rows_of() if row.task == "fever"]
    assert cells(section(made(tmp_path / "run", rows), "validity"), "answer_f1")["mean R vanilla_rag"] == "invalid"


def test_too_few_valid_resamples_give_r_without_an_interval(tmp_path: Path) -> None:
    only = [TWELVE[0], TWELVE[4], TWELVE[6]]  # one of the three has an advantage: 1 - (2/3)^3 of the resamples
    row = cells(section(made(tmp_path / "run", rows_of(only)), "oncu"), "nq", "answer_f1")
    assert row["R vanilla_rag"] == "1.00\nno interval\nclipped 1.00"
    assert re.search(r"> 0 in (69|70|71)\.[0-9] %", row["oracle − none"])


def test_modes_examples_and_what_is_left_out(tmp_path: Path) -> None:
    rows = [row for row in rows_of() if (row.id, row.method) != ("nq-5", ORACLE)]
    found = made(tmp_path / "run", [*rows, row_of("nq-5", ORACLE, 0, status="n/a")])
    modes = cells(section(found, "modes"), "vanilla_rag")
    assert (modes["n"], modes["answerable"], modes["coverage"]) == ("11", "4\n36.4 %", "0")
    assert section(found, "left-out").rows == [["1k_p0", "tiny", "oracle_rag", "n/a", "nq-5", "1"]]
    shown = cells(section(found, "examples"), "conversion")
    assert (shown["id"], shown["answer without evidence"], shown["with gold"]) == ("nq-2", "0", "1")
    assert len(found.tables["modes.csv"]) == 22


def test_every_instance_a_group_is_summed_up(tmp_path: Path) -> None:
    found = made(tmp_path / "run", rows_of(), View("instance", {}, {}))
    assert "oncu" not in [one.name for one in found.sections]
    row = cells(section(found, "validity"), "answer_f1")
    assert row["valid groups"] == "6 of 12\n50.0 %"
    assert row["mean R vanilla_rag"].startswith("0.42\nclipped 0.42 [")
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
    assert [(line["context"], line["none"], line["oracle"], line["r"]) for line in lines] == [
        (FULL, "0.1875", "0.75", "0.555556"),
        ("retrieved_bm25@2+cite", "0.1875", "0.75", "0.444444"),
    ]


def test_how_a_run_is_looked_at_is_kept(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", rows_of())
    study = one_study(read_studies([run]))
    kept = View("hops", {"1k_p0": {"nq-1": ["1"]}}, {"1k_p0": {"nq-1": ["depth_0"]}})
    assert read_view(run) == ("task", {}, {})
    write_view(kept, run)
    assert view_of(study, None, None, read_view(run)) == kept
    assert view_of(study, "task", None, kept) == ("task", {}, kept.depths)
    with pytest.raises(SetupError, match="grouping by flags needs the dataset; give it with --dataset DIR"):
        view_of(study, "flags", None, kept)
    (run / "oncu.json").write_text("{")
    with pytest.raises(SetupError, match="cannot be read"):
        read_view(run)
