"""Files of runs and heads with one field changed: they are read, or refused in one line; never a traceback.

`python -m tests.eval_harness.test_mutated_files N SEED` tries N changes of each file.
"""

import json
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from builders.errors import SetupError
from eval_harness.methods.probed import Choice
from eval_harness.probing.heads import Setting, preset
from eval_harness.probing.heads_file import read_heads
from eval_harness.protocols.frames.questions import read_questions
from eval_harness.report.document import markdown
from eval_harness.report.runs import study_document
from eval_harness.report.study import one_study, read_studies
from eval_harness.report.table import cells, summary
from eval_harness.run.results import open_record
from tests.eval_harness.report.conftest import make_row, write_run
from tests.mutations import mutated

MODEL = {"name": "tiny", "revision": "r", "chat_template_sha256": None}
CELL = {"task": "nq", "q": 1, "m": 1, "n": 2, "metric": "subspan_em", "score": 0.5, "evidence_recall": 1.0}
HEADS = {
    "format": "icr2-heads/2",
    "layers": [0, 1],
    "tasks": {"nq": {"hit_rates": {"1": [[0.5, 0.25], [0.0, 1.0]], "2": [[0.5, 0.25], [0.0, 1.0]]}, "n": 2}},
    "made_from": {"model": MODEL, "position": "retrieval", "pooling": "sum", "calibrated": False, "tokens": "union"},
    "sweep": [CELL | {"evidence_precision": 0.5, "n_passages": 1.0, "all_gold": 1.0}],
}
ASKED = {"query": "how many?", "answers": ["six"], "reasoning_types": ["Numerical"], "articles": 2}
QUESTIONS = {"asked": {"q1": ASKED}, "coverage": {"2_of_2": 3}}


def use_heads(folder: Path) -> None:
    found = read_heads(folder / "heads.json")
    Choice(found, {"": Setting(1, 1)}).describe()
    found.tuned()
    preset("rta-icr2")


def use_run(folder: Path) -> None:
    study = one_study(read_studies([folder]))
    markdown(study_document(study, "vanilla_rag"), with_figures=False)
    for rows in study.rows.values():
        json.dumps(summary(cells(rows)))
    open_record(folder, json.loads((folder / "run.json").read_text()))


def write(folder: Path, name: str, value: Any) -> None:
    text = json.dumps(value)
    if name == "results.jsonl":
        text = "".join(json.dumps(line) + "\n" for line in value)
    (folder / name).write_text(text)


def run_files(folder: Path) -> tuple[Any, Any]:
    methods = ("closed_book", "vanilla_rag")
    rows = [make_row(f"nq-{n}", float(n % 2), method=method, output="x") for n in range(3) for method in methods]
    shutil.rmtree(folder / "run", ignore_errors=True)
    run = write_run(folder / "run", [*rows, make_row("fever-1", 1.0, task="fever", evidence=["1:0"], n_new_tokens=3)])
    lines = [json.loads(line) for line in (run / "results.jsonl").read_text().splitlines()]
    return json.loads((run / "run.json").read_text()), lines


def tried(name: str, good: Any, use: Callable[[Path], object], folder: Path, n: int, seed: int) -> Counter[str]:
    """How many of `n` changes of a file were read, refused in one line, or ended in a traceback, which is printed."""
    random = Random(f"{seed} {name}")
    found: Counter[str] = Counter()
    for _ in range(n):
        value = mutated(good, random)
        write(folder, name, value)
        try:
            use(folder)
            found["read"] += 1
        except SetupError as error:
            found["bad line" if "\n" in str(error) else "refused"] += 1
        except Exception:
            sys.stderr.write(f"{name}: {value!r:.3000}\n{traceback.format_exc()[-2500:]}\n")
            found["traceback"] += 1
    write(folder, name, good)
    return found


def every(folder: Path, n: int, seed: int) -> dict[str, Counter[str]]:
    record, lines = run_files(folder)
    run = folder / "run"
    write(folder, "questions.json", QUESTIONS)
    return {
        "heads.json": tried("heads.json", HEADS, use_heads, folder, n, seed),
        "run.json": tried("run.json", record, use_run, run, n, seed),
        "results.jsonl": tried("results.jsonl", lines, use_run, run, n, seed),
        "questions.json": tried("questions.json", QUESTIONS, read_questions, folder, n, seed),
    }


@pytest.mark.parametrize("seed", [1, 2])
def test_a_changed_field_is_read_or_refused_in_one_line(seed: int, tmp_path: Path) -> None:
    found = every(tmp_path, 40, seed)
    assert all(set(counts) == {"read", "refused"} for counts in found.values()), found


@pytest.mark.parametrize("text", ["", "[]", "nul", "{", '"x"', "[" * 100_000, '{"a": ' + "9" * 5000 + "}", "\ud800"])
def test_what_is_no_json_of_ours_is_refused(text: str, tmp_path: Path) -> None:
    run_files(tmp_path)
    run = tmp_path / "run"
    for path, use in [
        (tmp_path / "heads.json", use_heads),
        (tmp_path / "questions.json", read_questions),
        (run / "run.json", use_run),
    ]:
        path.write_bytes(text.encode(errors="surrogatepass"))
        with pytest.raises(SetupError):
            use(path.parent)
    run_files(tmp_path)
    (run / "results.jsonl").write_bytes(text.encode(errors="surrogatepass") + b"\n")
    with pytest.raises(SetupError, match="line 1 is not a result"):
        use_run(run)


def test_a_refusal_says_file_field_found_and_wanted(tmp_path: Path) -> None:
    record, lines = run_files(tmp_path)
    run = tmp_path / "run"
    write(run, "results.jsonl", [*lines[:2], lines[2] | {"n_new_tokens": "three"}])
    with pytest.raises(SetupError, match=r"jsonl, line 3 .*n_new_tokens: found 'three', wanted a valid integer"):
        use_run(run)
    write(run, "results.jsonl", lines)
    write(run, "run.json", record | {"dataset": {"name": "d", "version": None, "manifest_sha256": "x"}})
    with pytest.raises(SetupError, match=r"run\.json: dataset\.version: found None, wanted a valid string"):
        use_run(run)
    write(tmp_path, "heads.json", HEADS | {"tasks": {"nq": HEADS["tasks"]["nq"] | {"n": "2"}}})
    with pytest.raises(SetupError, match=r"heads\.json .*: tasks\.nq\.n: found '2', wanted a valid integer"):
        read_heads(tmp_path / "heads.json")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        sys.stdout.write(f"{every(Path(place), int(sys.argv[1]), int(sys.argv[2]))}\n")
