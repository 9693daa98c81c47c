"""`icr2 probe` and `icr2 eval` of a tuned model."""

import json
import shutil
from pathlib import Path

import pytest

from builders.errors import SetupError
from eval_harness.models.training import write_training
from tests.eval_harness.methods.checkpoints import training
from tests.eval_harness.probing.test_probe import run


def test_commands_from_probe_to_answers(retriever: Path, dataset: Path, tmp_path: Path) -> None:
    """What is swept on validation is enough for `sft_da+rap` on the test split; other methods are refused."""
    model = tmp_path / "tuned"
    shutil.copytree(retriever, model)
    write_training(model, training("da"))
    common = ("--config", "1k_p0", "--model", model, "--dtype", "float32")
    heads, out = tmp_path / "heads.json", tmp_path / "run"
    run("probe", dataset, *common, "--position", "question", "--m", "1", "--sweep", "1", "--limit", 4, "--out", heads)
    how = ("--method", "sft_da+rap", "--method", "sft_da", "--heads", heads, "--max-new-tokens", 2, "--limit", 2)
    run("eval", dataset, *common, *how, "--out", out)
    rows = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    assert {row["method"]: row["scores"].get("evidence_recall") for row in rows} == {"sft_da": None, "sft_da+rap": 1.0}
    written = json.loads((out / "run.json").read_text())
    assert written["training"]["variant"] == "da"
    assert written["probed"]["sft_da+rap"]["made_from"]["position"] == "question"
    with pytest.raises(SetupError, match="was tuned as da, not for sft_rta"):
        run("eval", dataset, *common, "--method", "sft_rta", "--out", tmp_path / "other")
    assert not (tmp_path / "other").exists()
    with pytest.raises(SetupError, match="starts with the prompt of sft_da"):
        run("show-prompt", dataset, "1k_p0", "nq-test0", "--model", model, "--method", "sft_da+rap")
