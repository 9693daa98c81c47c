"""A run stopped anywhere and started again leaves the bytes of one that was not, latency aside."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.progress import Progress

from eval_harness.run.record import record
from eval_harness.run.results import Results, Row
from eval_harness.run.run import run
from tests.eval_harness.conftest import NQ, ROWS, instance, write_config
from tests.eval_harness.stopping import Sensitive, plan_of, run_in
from tests.manifests import write_manifest_2

ROOT = Path(__file__).parents[3]
SHARED = [instance(f"nq-same-{n}", "nq", f"question {n}", ["x"], [0], ["text é", "more"]) for n in range(4)]


def without_latency(run: Path) -> str:
    lines = (run / "results.jsonl").read_text(encoding="utf-8").splitlines()
    return "\n".join(json.dumps(json.loads(line) | {"latency_s": None}, ensure_ascii=False) for line in lines)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset, and a run on it that nothing disturbed."""
    folder = tmp_path_factory.mktemp("stopping")
    for config in ("1k_p0", "1k_p75"):
        write_config(folder / "data", config, [*ROWS, *SHARED])
    write_manifest_2(folder / "data", "tiny")
    run_in(folder / "whole", folder / "data")
    return folder


def test_the_undisturbed_run_is_worth_comparing_with(data: Path) -> None:
    rows = [json.loads(line) for line in (data / "whole" / "results.jsonl").read_text().splitlines()]
    assert len(rows) == 2 * 5 * 8
    assert any(row["n_cached_tokens"] for row in rows)
    assert len({row["output"] for row in rows}) > 20


@pytest.mark.parametrize("last", [1, 4, 11])
def test_killed_at_a_batch(last: int, data: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.eval_harness.stopping", str(data / "data"), str(tmp_path), str(last)]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == -signal.SIGKILL
    unfinished = (tmp_path / "results.jsonl").read_bytes().count(b"\n")
    assert unfinished < 2 * 5 * 8
    run_in(tmp_path, data / "data")
    assert without_latency(tmp_path) == without_latency(data / "whole")
    assert (tmp_path / "run.json").read_bytes() == (data / "whole" / "run.json").read_bytes()


def as_appended(data: Path) -> bytes:
    """The rows in an order in which a run may have written them: the batches', which is not the plan's."""
    lines = (data / "whole" / "results.jsonl").read_bytes().splitlines(keepends=True)
    return b"".join(sorted(lines, key=lambda line: (json.loads(line)["config"], -json.loads(line)["n_prompt_tokens"])))


@settings(max_examples=25, deadline=None)
@given(cut=st.floats(0, 1), lost=st.sets(st.integers(0, 79), max_size=3))
def test_cut_at_any_byte_and_with_rows_that_failed(data: Path, cut: float, lost: set[int]) -> None:
    """A failed row is tried again, wherever it stands."""
    lines = as_appended(data).splitlines(keepends=True)
    for number in lost:
        row = json.loads(lines[number]) | {"status": "error", "output": None, "answer": None, "error": "lost"}
        lines[number] = json.dumps(row, ensure_ascii=False).encode() + b"\n"
    content = b"".join(lines)
    with TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        run.mkdir()
        (run / "run.json").write_bytes((data / "whole" / "run.json").read_bytes())
        (run / "results.jsonl").write_bytes(content[: round(cut * len(content))])
        run_in(run, data / "data")
        assert without_latency(run) == without_latency(data / "whole")


def test_what_is_done_is_not_asked_again(data: Path) -> None:
    plan, model = plan_of(data / "data"), Sensitive()
    before = (data / "whole" / "results.jsonl").read_bytes()
    run(plan, model, Results(data / "whole", record(plan, model)), Progress(disable=True))
    assert model.n_batches == 0
    assert (data / "whole" / "results.jsonl").read_bytes() == before


def test_a_warm_up_answers_one_prompt_of_each_method_and_leaves_nothing(data: Path, tmp_path: Path) -> None:
    """Five methods and two configs; a finished run is not warmed up again."""
    plan, cold, warm = replace(plan_of(data / "data"), batch_size=1), Sensitive(), Sensitive()
    run(plan, cold, Results(tmp_path / "cold", record(plan, cold)), Progress(disable=True))
    warmed = replace(plan, warm_up=True)
    kept = Results(tmp_path / "warm", record(warmed, warm))
    run(warmed, warm, kept, Progress(disable=True))
    assert without_latency(tmp_path / "warm") == without_latency(tmp_path / "cold")
    assert cold.n_batches < warm.n_batches <= cold.n_batches + 5 * 2
    again = Sensitive()
    run(warmed, again, Results(tmp_path / "warm", record(warmed, again)), Progress(disable=True))
    assert again.n_batches == 0


def test_shards_together_are_the_whole_run(make_dataset: Callable[..., Path], tmp_path: Path) -> None:
    """With one prompt at a time, since a shard's batches are its own."""
    folder = make_dataset(c1k_p0=[*ROWS, *SHARED], c1k_p75=[NQ, *SHARED])
    whole = replace(plan_of(folder), batch_size=1, shares_prefixes=False)
    rows: list[list[Row]] = []
    for number, plan in enumerate([whole, *(replace(whole, shard=(part, 3)) for part in (1, 2, 3))]):
        model = Sensitive()
        results = Results(tmp_path / str(number), record(plan, model))
        run(plan, model, results, Progress(disable=True))
        rows.append([replace(row, latency_s=None) for row in results.rows])
    together = {row.key: row for part in rows[1:] for row in part}
    assert together == {row.key: row for row in rows[0]}
    assert sum(map(len, rows[1:])) == len(rows[0])
