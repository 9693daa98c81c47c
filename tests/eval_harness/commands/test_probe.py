"""`icr2 probe` takes the first instances of each task, as every command does."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from icr2_cli import app
from tests.eval_harness.conftest import write_config
from tests.eval_harness.probing.retriever import rows, save_retriever
from tests.manifests import write_manifest_2


@pytest.mark.parametrize(("limit", "n"), [("1", 2), ("3", 4)])  # three instances of nq, one of hotpotqa
def test_the_limit_is_of_each_task(limit: str, n: int, tmp_path: Path) -> None:
    questions = rows(4, "validation")
    questions[3] |= {"task": "hotpotqa"}
    write_config(tmp_path / "data", "1k_p0", questions, "validation-00000-of-00001.parquet")
    write_manifest_2(tmp_path / "data", "keys")
    arguments = ["probe", str(tmp_path / "data"), "--config", "1k_p0", "--model", str(save_retriever(tmp_path / "m"))]
    done = CliRunner().invoke(app, [*arguments, "--limit", limit, "--m", "1", "--out", str(tmp_path / "heads.json")])
    assert done.exit_code == 0, done.exception
    assert f"{n} instances probed" in done.output
