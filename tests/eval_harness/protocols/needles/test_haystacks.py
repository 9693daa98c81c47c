from pathlib import Path
from typing import Any

import pytest

from builders.errors import SetupError
from eval_harness.protocols.needles.haystacks import needle_configs, read_haystacks
from eval_harness.run.facts import ConfigFacts
from tests.eval_harness.protocols.needles.known import row, write_config
from tests.manifests import write_manifest

Q = "Who is it?"


def rows(question: str = Q, category: str = "diet") -> list[dict[str, Any]]:
    """All needles of a question at one depth, and a control."""
    found = [
        row(
            f"{category}-{question}-{needle}-{order}",
            question,
            ["One.", "Two.", f"{needle} {order}.", "Three."],
            [2],
            [needle, order],
            67,
        )
        for needle in ("one_hop", "literal")
        for order in ("default", "inverted")
    ]
    return [*found, row(f"{category}-{question}-control-1", question, ["Four.", "Five."], [])]


def folder_of(path: Path, **configs: list[dict[str, Any]]) -> Path:
    for config, found in configs.items():
        write_config(path, config, found)
    write_manifest(path, "hay")
    return path


def test_a_haystack_is_its_passages_between_blank_lines(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, needles_128=rows())
    found = read_haystacks(folder, ["needles_128"], "test")
    assert len(found) == 5
    first, control = found[0], found[-1]
    assert first.text == "One.\n\nTwo.\n\none_hop default.\n\nThree."
    assert first.needle_text == "one_hop default."
    assert first.planted is not None and first.planted.depth == 67
    assert first.place == 12 / (4 + 2 + 4 + 2 + 2 + 6)  # characters before the needle, of all others
    assert control.text == "Four.\n\nFive."
    assert control.planted is control.place is control.needle_text is None


def test_the_place_of_a_needle_at_the_end_is_one(tmp_path: Path) -> None:
    found = rows()
    for one in found[:4]:
        one["passages"].append(one["passages"].pop(2))
        one["gold"] = [3]
    haystacks = read_haystacks(folder_of(tmp_path, needles_128=found), ["needles_128"], "test")
    assert haystacks[0].place == 1


def test_limit_counts_questions_of_a_category(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, needles_128=[*rows(), *rows("Who else?"), *rows("Who sings?", "music")])
    found = read_haystacks(folder, ["needles_128"], "test", limit=1)
    assert {haystack.question for haystack in found} == {Q, "Who sings?"}
    assert len(found) == 10


def test_configs_of_needles_come_from_the_shortest(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, **{"needles_1k": rows(), "needles_512": rows(), "1k_p0": rows()})
    assert list(needle_configs(folder, ())) == ["needles_512", "needles_1k"]
    assert needle_configs(folder, ["needles_1k"]) == {"needles_1k": ConfigFacts("needles", "1k", 1024, None, 1024)}
    with pytest.raises(SetupError, match="no needle config 1k_p0 in"):
        needle_configs(folder, ["1k_p0"])


def test_a_dataset_without_needles_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="icr2 build needles"):
        needle_configs(folder_of(tmp_path, **{"1k_p0": rows()}), ())


@pytest.mark.parametrize("left_out", range(5))
def test_a_question_without_all_its_parts_is_named(left_out: int, tmp_path: Path) -> None:
    found = rows()
    del found[left_out]
    part = ["one_hop default", "one_hop inverted", "literal default", "literal inverted", "control"][left_out]
    with pytest.raises(SetupError, match=f"needles_128 has no {part}.* for 'Who is it"):
        read_haystacks(folder_of(tmp_path, needles_128=found), ["needles_128"], "test")


@pytest.mark.parametrize(
    ("types", "depth"), [([], None), (["one_hop", "default"], None), (["one_hop"], 3), (["default"], 3)]
)
def test_a_row_that_is_no_haystack_is_named(types: list[str], depth: int | None, tmp_path: Path) -> None:
    found = rows()
    found[1] = row(found[1]["id"], Q, ["One.", "Two."], [1], types, depth)
    with pytest.raises(SetupError, match="one_hop-inverted, which is not a haystack"):
        read_haystacks(folder_of(tmp_path, needles_128=found), ["needles_128"], "test")


def test_a_split_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="no rows in split 'train'"):
        read_haystacks(folder_of(tmp_path, needles_128=rows()), ["needles_128"], "train")
