"""Mutated files of a dataset: every command refuses them in one line or accepts them, and none ends in a traceback."""

from tests.fire_files import NAMES, fire


def test_no_file_of_a_dataset_causes_a_traceback() -> None:
    found = fire(7, 2 * len(NAMES), commands={"sql", "show", "diff", "publish", "read"}.__contains__)
    assert sum(found.values()) == 10 * len(NAMES)
    assert {what for _, _, what in found} <= {"accepted", "refused"}
    assert any(what == "refused" for _, _, what in found)
