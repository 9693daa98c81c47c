import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.retrieve.fuse import rrf


def test_rrf_by_hand() -> None:
    # b = 1/62 + 1/61 = 0.0325, a = 1/61 = 0.0164, c = 1/62 = 0.0161
    assert rrf([["a", "b"], ["b", "c"]]) == ["b", "a", "c"]


def test_a_smaller_k_lets_one_first_rank_win() -> None:
    # k = 0: a = 1/1 = 1, b = 1/3 + 1/3 = 0.67; k = 60: a = 1/61 = 0.0164, b = 2/63 = 0.0317
    runs = [["a", "x", "b"], ["y", "z", "b"]]
    assert rrf(runs, k=0)[0] == "a"
    assert rrf(runs, k=60)[0] == "b"


def test_ties_go_to_the_smaller_id() -> None:
    assert rrf([["b"], ["a"]]) == ["a", "b"]


def test_an_id_repeated_in_a_run_counts_once_at_its_best_rank() -> None:
    # c = 1/62 as the second id, so it ties with the second of the other run
    assert rrf([["a", "a", "c"], ["a", "b"]]) == ["a", "b", "c"]


@pytest.mark.parametrize("runs", [[], [[]]])
def test_nothing_in_nothing_out(runs: list[list[str]]) -> None:
    assert rrf(runs) == []


@given(st.lists(st.lists(st.sampled_from("abcdef"), unique=True), max_size=4))
def test_every_id_comes_back_once(runs: list[list[str]]) -> None:
    assert sorted(rrf(runs)) == sorted({pid for run in runs for pid in run})
