"""The search for near copies misses none: it gives what comparing all texts with all gives."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from validation.measures import Measures
from validation.similar import near_texts

Make = Callable[[Sequence[str]], Measures]


def brute_force(texts: Sequence[str]) -> set[tuple[int, int]]:
    """Pairs of texts that share 0.9 of the smaller one's distinct word pairs."""
    found = set()
    pairs = [{f"{a} {b}" for a, b in pairwise(text.split())} or set(text.split()) for text in texts]
    for a, mine in enumerate(pairs):
        for b, others in enumerate(pairs):
            if a != b and mine and others and len(mine & others) >= 0.9 * min(len(mine), len(others)):
                found.add((a, b))
    return found


def test_by_hand(texts: Make) -> None:
    words = "one two three four five six seven eight nine ten eleven".split()  # ten pairs
    almost = " ".join([*words[:10], "twelve"])  # nine of them
    fewer = " ".join([*words[:9], "twelve", "eleven"])  # eight
    part = " ".join(words[2:7])  # all of its own four
    measures = texts([" ".join(words), almost, fewer, part, "one", "other words here"])
    near = set(measures.sql(f"SELECT a, b FROM {near_texts(measures)}"))
    assert near == {(0, 1), (1, 0), (0, 3), (3, 0), (1, 3), (3, 1), (2, 3), (3, 2)}


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(st.lists(st.sampled_from("bcdefg"), min_size=1, max_size=14).map(" ".join), max_size=12))
def test_misses_no_pair(texts: Make, given_texts: list[str]) -> None:
    measures = texts(given_texts)
    for table in ("word_pairs", "ranked_pairs", "near_one_way", "near_texts"):
        measures.connection.execute(f"DROP TABLE IF EXISTS {table}")
    near = set(measures.sql(f"SELECT a, b FROM {near_texts(measures)}"))
    assert near == brute_force(given_texts)
