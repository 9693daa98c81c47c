"""The position of gold."""

from hypothesis import given
from hypothesis import strategies as st

from builders.synthetic.layout import cells, depths_of, marks_of


def test_two_golds_are_half_a_context_apart() -> None:
    assert [depths_of(depth, 2) for depth in (0, 10, 50, 60, 100)] == [[0, 50], [10, 60], [50, 0], [60, 10], [100, 50]]
    assert depths_of(30, 1) == [30]


def test_marks() -> None:
    assert marks_of([10, 75]) == [0, 10, 25, 60, 75, 100]


def test_cells_by_hand() -> None:
    """Five of ten tokens, or 15 of 30, belong before the middle: the long passage goes to one side only."""
    assert cells([10, 10, 10, 10], [0, 50, 100]) in ([0, 1, 0, 1], [0, 1, 1, 0])
    assert cells([10, 30, 10, 10], [0, 50, 100]) == [0, 1, 0, 0]


tokens = st.lists(st.integers(1, 200), min_size=1, max_size=40)
depths = st.lists(st.integers(0, 100), min_size=1, max_size=11, unique=True)


@given(tokens, depths)
def test_every_depth_is_kept_whatever_the_length(sizes: list[int], wanted: list[int]) -> None:
    marks = marks_of(wanted)
    found = cells(sizes, marks)
    for taken in range(1, len(sizes) + 1):
        total, longest = sum(sizes[:taken]), max(sizes[:taken])
        for at, mark in enumerate(marks):
            before = sum(size for size, cell in zip(sizes[:taken], found, strict=False) if cell < at)
            assert abs(before - mark / 100 * total) <= 1.5 * longest


@given(tokens, depths, st.integers(1, 40))
def test_a_passage_stays_where_it_is_when_more_come(sizes: list[int], wanted: list[int], taken: int) -> None:
    marks = marks_of(wanted)
    assert cells(sizes[:taken], marks) == cells(sizes, marks)[:taken]
