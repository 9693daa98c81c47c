"""Mutated files of a dataset: every command refuses them in one line or accepts them, and none ends in a traceback."""

from tests.fire_files import NAMES, fire


def test_no_file_of_a_dataset_causes_a_traceback() -> None:
    found = fire(7, 2 * len(NAMES), commands=("sql", "show", "diff", "publish", "read"))
    assert sum(found.values()) == 10 * len(NAMES)
    assert {what for _, _, what in found} <= {"accepted", "refused"}
    assert any(what == "refused" for _, _, what in found)


def test_commands_read_the_files_in_turn() -> None:
    found = fire(7, 3 * len(NAMES), commands=("sql", "show", "read"), each=1)
    per_command = {(name, command): n for (name, command, _), n in found.items()}
    assert per_command == {(name, command): 1 for name in NAMES for command in ("sql", "show", "read")}
