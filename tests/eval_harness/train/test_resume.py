"""A training that was killed goes on with the losses of one that was not."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.eval_harness.train.conftest import losses
from tests.eval_harness.train.stopping import CHOSEN, stopped
from tests.processes import ended


@pytest.mark.slow
def test_killed_and_resumed_it_gives_the_losses_of_one_undisturbed(
    trained: Callable[..., tuple[Path, Any]], dataset: Path, base: Path, tmp_path: Path
) -> None:
    """Killed after step 6, two steps beyond its last point, and again while the point of step 8 is written."""
    undisturbed, record = trained("undisturbed", **CHOSEN)
    out = tmp_path / "killed"
    for step, moment, left in ((6, "step", [4]), (8, "save", [4, 8])):
        assert ended(stopped, [(dataset, base, out, step, moment)]) == [-signal.SIGKILL]
        assert not out.exists()
        work = out.with_name("killed.work")
        assert sorted(int(path.name.split("-")[1]) for path in work.glob("checkpoint-*")) == left
    resumed, again = trained("killed", **CHOSEN)
    assert again == record
    found, wanted = losses(resumed), losses(undisturbed)
    assert [line[0] for line in found] == [line[0] for line in wanted]
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-5)
    assert len({round(loss, 3) for _, loss, _ in wanted}) > 8  # steps that differ, so that a shifted one shows
