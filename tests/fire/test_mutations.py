"""A few mutated inputs of each kind; `make fire` sends thousands."""

import pytest

from tests.fire.mutations import MUTATIONS


@pytest.mark.parametrize("name", ["runs, heads, questions", "replies of a chat server", "replies of the Hub"])
def test_a_mutated_file_or_reply_is_read_or_refused_in_one_line(name: str) -> None:
    """Sources, recipes and files of a dataset have tests of their own."""
    loop, _ = MUTATIONS[name]
    counts = loop(3, 40)
    assert counts.keys() == {"errors", "accepted"} and counts.total() == 40
