"""A few mutated inputs of each kind; `make fire` sends thousands."""

import pytest

from tests.fire.mutations import MUTATIONS


@pytest.mark.parametrize(
    ("name", "number", "total"),
    [("runs, heads, questions", 10, 40), ("replies of a chat server", 40, 40), ("replies of the Hub", 40, 40)],
)
def test_a_mutated_file_or_reply_is_read_or_refused_in_one_line(name: str, number: int, total: int) -> None:
    """Sources, recipes and files of a dataset have tests of their own."""
    loop, _ = MUTATIONS[name]
    counts = loop(3, number)
    assert counts.keys() == {"errors", "accepted"} and counts.total() == total
