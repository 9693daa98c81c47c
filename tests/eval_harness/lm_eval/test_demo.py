"""The task files of the demo: a few written out by hand, and when they are written again."""

from pathlib import Path

import pytest

from builders.errors import SetupError
from eval_harness.lm_eval import demo as demo_module
from eval_harness.lm_eval.demo import demo_tasks

BASE = """\
custom_dataset: !function 'eval_harness.lm_eval.hooks.documents'
test_split: test
output_type: generate_until
num_fewshot: 0
doc_to_text: prompt
doc_to_target: answers
process_results: !function 'eval_harness.lm_eval.hooks.scores'
metadata:
  version: '1.2'
  dataset: icr2
"""
FEVER = """\
include: _base.yaml
generation_kwargs:
  until:
  - <|im_end|>
  - <|eot_id|>
  - <end_of_turn>
  max_gen_toks: 32
  do_sample: false
metric_list:
- metric: label_accuracy
  aggregation: mean
  higher_is_better: true
- metric: label_accuracy_kilt
  aggregation: mean
  higher_is_better: true
- metric: unparsed
  aggregation: mean
  higher_is_better: false
"""
TASK = """\
include: _nq.yaml
task: icr2_32k_p75_oracle_nq
dataset_kwargs:
  subset:
    config: 32k_p75
    task: nq
    method: oracle_rag
"""
LENGTH = """\
group: icr2_2k_closed_book
task:
- icr2_2k_p0_closed_book
- icr2_2k_p25_closed_book
- icr2_2k_p50_closed_book
- icr2_2k_p75_closed_book
- icr2_2k_p100_closed_book
metadata:
  version: '1.2'
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ICR2_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize(
    ("name", "text"),
    [("_base", BASE), ("_fever", FEVER), ("icr2_32k_p75_oracle_nq", TASK), ("icr2_2k_closed_book", LENGTH)],
)
def test_files_as_written_by_hand(name: str, text: str) -> None:
    assert (demo_tasks() / f"{name}.yaml").read_text() == text


def test_there_are_files_for_every_config_condition_and_task() -> None:
    """22 configs x 3 conditions x 4 tasks, 22 x 3 groups of a config, 4 lengths x 3, 3 of all, a base, 4 of tasks"""
    files = [path.name for path in demo_tasks().iterdir()]
    assert len(files) == 264 + 66 + 12 + 3 + 1 + 4
    assert {"icr2.yaml", "icr2_1k_p0_fever.yaml", "icr2_loft_32k_closed_book_wow.yaml", "icr2_loft_4k.yaml"} <= {*files}


def test_files_are_left_alone_while_they_are_right_and_written_again_when_they_are_not() -> None:
    folder = demo_tasks()
    written = (folder / "icr2.yaml").stat().st_mtime_ns
    assert demo_tasks() == folder
    assert (folder / "icr2.yaml").stat().st_mtime_ns == written
    (folder / "icr2.yaml").write_text("group: mine")
    (folder / "_nq.yaml").unlink()
    assert demo_tasks() == folder
    assert (folder / "icr2.yaml").read_text().startswith("group: icr2\n")
    assert (folder / "_nq.yaml").is_file()


def test_another_version_or_content_has_another_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    first = demo_tasks()
    monkeypatch.setattr(demo_module, "VERSION", "9.9")
    second = demo_tasks()
    monkeypatch.setattr(demo_module, "DATASET", "elsewhere")
    assert len({first, second, demo_tasks()}) == 3


def test_nothing_is_left_of_writing_that_fails(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, text: str, encoding: str) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(SetupError, match="No space left on device; set ICR2_CACHE"):
        demo_tasks()
    assert list((cache / "lm_eval").iterdir()) == []
