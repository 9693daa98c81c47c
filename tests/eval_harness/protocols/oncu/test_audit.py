import csv
from pathlib import Path
from typing import Any

import pytest

from builders.errors import SetupError
from eval_harness.protocols.agreement import agreement
from eval_harness.protocols.oncu.audit import pairs_of, read_sheet, write_sheet
from eval_harness.protocols.oncu.matched import FULL, NONE, Matched
from eval_harness.protocols.oncu.modes import MODES, modes_of
from tests.eval_harness.protocols.oncu.twelve import BM25, matched_of, row_of, rows_of

PASSAGES = [{"title": f"Title {at}", "text": f"Text {at}."} for at in range(3)]


def instance(id: str) -> dict[str, Any]:
    return {"task": id[:2], "query": f"=what is {id}", "answers": ["x", "y"], "passages": PASSAGES, "gold": [0, 2]}


@pytest.fixture
def found(tmp_path: Path) -> Matched:
    rows = rows_of() + [row_of("wow-1", m, 1, 1, task="wow") for m in dict.fromkeys(row.method for row in rows_of())]
    return matched_of(tmp_path / "run", rows)


def written(found: Matched, path: Path, n: int = 100) -> list[dict[str, str]]:
    instances = {(found.config, id): instance(id) for id in found.rows}
    assert write_sheet([found], instances, n, path) == min(n, 12)
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def fill(lines: list[dict[str, str]], path: Path, *, start: str = "") -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(start)
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


def test_a_sheet_shows_what_is_to_be_judged_and_no_mode(found: Matched, tmp_path: Path) -> None:
    lines = written(found, tmp_path / "audit.csv")
    assert {line["id"] for line in lines} == found.rows.keys() - {"wow-1"}  # dialogue has no right answers
    line = next(line for line in lines if line["id"] == "nq-3")
    assert line["query"] == "'=what is nq-3"  # no formula
    assert (line["answers"], line["gold"]) == ("x | y", "Title 0: Text 0.\nTitle 2: Text 2.")
    assert line[f"output of {NONE}"] == "0"
    assert line[f"gold in {FULL}"] == "2 of 2 shown, 0 cited"
    assert line[f"gold in {BM25}"] == "1 of 2 shown, 0 cited"
    assert (line[f"mode under {FULL}"], line[f"mode under {BM25}"]) == ("", "")
    assert not any(mode in value for line in lines for value in line.values() for mode in MODES)


def test_the_same_are_drawn_each_time_and_more_only_add(found: Matched, tmp_path: Path) -> None:
    five = [line["id"] for line in written(found, tmp_path / "a.csv", 5)]
    seven = [line["id"] for line in written(found, tmp_path / "b.csv", 7)]
    assert seven[:5] == five
    assert sorted(seven) != seven  # not the first of the dataset


def test_labels_that_come_back_give_agreement_and_kappa(found: Matched, tmp_path: Path) -> None:
    lines = written(found, tmp_path / "audit.csv")
    modes = modes_of(found)
    by_id = {line["id"]: line for line in lines}
    for id in ("nq-1", "nq-2", "nq-3", "nq-4"):
        by_id[id][f"mode under {FULL}"] = f" {modes[FULL][id].title()} "
    by_id["nq-2"][f"mode under {FULL}"] = "localisation"
    fill(lines, tmp_path / "labels.csv", start="\ufeff")  # as spreadsheets write it
    by_hand = read_sheet(tmp_path / "labels.csv", [found])
    pairs = pairs_of(by_hand, [found], [modes])
    assert list(pairs) == [("tiny", "1k_p0", FULL)]
    measured = agreement(pairs["tiny", "1k_p0", FULL])
    assert measured
    # ours: recovered, conversion, localisation, answerable; by hand: recovered, 2 localisation, answerable
    assert (measured.n, measured.share, measured.kappa) == (4, 0.75, pytest.approx((12 - 4) / (16 - 4)))


def test_a_sheet_that_cannot_be_used_says_where(found: Matched, tmp_path: Path) -> None:
    lines = written(found, tmp_path / "audit.csv", 2)
    path = tmp_path / "labels.csv"
    fill(lines, path)
    with pytest.raises(SetupError, match="has no modes; fill the columns that begin with 'mode under'"):
        read_sheet(path, [found])
    lines[1][f"mode under {FULL}"] = "lazy"
    fill(lines, path)
    with pytest.raises(
        SetupError, match="no mode 'lazy'; available: failed, answerable, misled, recovered, format, reader"
    ):
        read_sheet(path, [found])
    lines[1] |= {"id": "nq-99", f"mode under {FULL}": "reader"}
    fill(lines, path)
    with pytest.raises(SetupError, match=r"nq-99 \(tiny, 1k_p0\) is not a matched instance of these runs"):
        read_sheet(path, [found])
    path.write_text("id,mode\nnq-1,reader\n")
    with pytest.raises(SetupError, match=r"lacks the columns model, config, mode under vanilla_rag\+cite"):
        read_sheet(path, [found])
    with pytest.raises(SetupError, match="cannot be read"):
        read_sheet(tmp_path / "none.csv", [found])
