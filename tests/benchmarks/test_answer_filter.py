from pathlib import Path

import pytest

from benchmarks.answer_filter import UNEXPLAINED, Asked, bench, differences, dropped, loop_dropped, squad_normal
from builders.schema import Passage


def kinds(answer: str, text: str) -> dict[tuple[str, str], int]:
    asked = [Asked([answer], [Passage(0, "p", "Title", text)])]
    return dict(differences(asked, dropped(asked), loop_dropped(asked, squad_normal)))


def test_the_loop_normalises_as_squad_does() -> None:
    assert squad_normal("The U.S. Army,  a (large) force!") == "us army large force"


def test_every_difference_has_its_rule() -> None:
    """Short answers: "no" in "northern"."""
    assert kinds("no", "The northern coast.") == {("the loop", "inside a longer word"): 1}
    assert kinds("US", "He left the U.S. early.") == {("the loop", "punctuation as a word boundary"): 1}
    assert kinds("known", "A well-known man.") == {}
    assert kinds("well known", "A well-known man.") == {("ours", "punctuation as a word boundary"): 1}
    assert kinds("well known", "A well–known man.") == {("ours", "punctuation of every script"): 1}
    assert kinds("title he", "He sat.") == {("the loop", "title and text searched separately"): 1}


def test_what_no_rule_explains_is_seen() -> None:
    asked = [Asked(["Oslo"], [Passage(0, "p", "Title", "Oslo has trams.")])]
    assert differences(asked, [[False]], [[True]]) == {("the loop", UNEXPLAINED): 1}


def test_a_run_gives_a_ratio_and_both_sides_agree(small_kilt: Path, tmp_path: Path) -> None:
    results = bench(small_kilt, tmp_path)
    assert len(results) == 2
    for result in results:
        assert result.agrees
        assert result.ratio == pytest.approx(result.ours / result.peer)
