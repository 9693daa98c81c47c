import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_one_benchmark_is_printed_and_written(small_data: Path, tmp_path: Path) -> None:
    done = run("--only", "answer_filter", "--data", str(small_data), "--json", str(tmp_path / "out.json"))
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "out.json").read_text())
    assert [result["name"] for result in results] == ["answer_filter", "answer_filter, Unicode"]
    for result in results:
        assert result["wanted"] == "40 or more"
        assert f"{result['ratio']:.2f}" in done.stdout


@pytest.mark.parametrize(
    "arguments, said", [(["--data", "nowhere"], "nowhere/kilt_mini"), (["--only", "speed"], "answer_filter")]
)
def test_what_the_user_can_mend_is_one_line(arguments: list[str], said: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert said in done.stderr
