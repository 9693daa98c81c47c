from pathlib import Path

import pytest

from benchmarks import lm_eval, timing
from tests import in_process
from tests.eval_harness.conftest import save_model
from tests.eval_harness.lm_eval.conftest import write_dataset


@pytest.mark.slow
def test_both_commands_score_the_same_items_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Task files in another folder."""
    pytest.importorskip("lm_eval", reason="lm-eval is not installed; pip install 'icr2[lm-eval]'")
    monkeypatch.setattr(timing, "REPEATS", 1)
    monkeypatch.setattr(lm_eval, "subprocess", in_process)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    model = save_model(tmp_path / "model")
    (model / "generation_config.json").unlink()  # it asks for a repetition penalty, which lm-eval obeys
    dataset = write_dataset(tmp_path / "data")
    equal, defaults = lm_eval.compared(dataset, str(model), 1, tmp_path)
    assert equal.agrees is True
    assert equal.notes[0] == "4 of 4 items have the same scores"
    assert defaults.agrees is None
    assert equal.ratio == pytest.approx(equal.ours / equal.peer)
    assert equal.peer == defaults.peer


def test_items_that_differ_are_found() -> None:
    ours = timing.Timed(10.0, lm_eval.Run({"a": {"em": 1.0}, "b": {"em": 0.0}}, 6.0))
    peer = timing.Timed(20.0, lm_eval.Run({"a": {"em": 1.0}, "b": {"em": 1.0}}, None))
    result = lm_eval._result("x", ours, peer, "", equal=True)
    assert (result.agrees, result.ratio) == (False, 0.5)
    assert result.notes[0] == "1 of 2 items have the same scores"
    assert result.notes[1].startswith("ours: 6.0 s in the model, 4.0 s to start")
