from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.format1 import spec_of
from builders.mix import Mixer, finish, interleave
from builders.prompts import render
from builders.schema import Passage, Role


class Words:
    """A counter of words, with an odd token for every tenth: nearly, but not quite, additive."""

    def count(self, text: str) -> int:
        words = len(text.split())
        return words + words // 10


def item(row: int, role: Role = "random", words: int = 12) -> Passage:
    return Passage(row, f"p{row}:0", f"Title {row}", " ".join(f"w{row}" for _ in range(words)), role)


GOLD = [item(900, "gold"), item(901, "gold")]
RETRIEVED = [item(n, "confounder", 5 + n % 17) for n in range(100)]
RANDOM = [item(200 + n, "random", 5 + n % 13) for n in range(100)]


def mixer() -> Mixer:
    return Mixer(Words(), "v1")  # type: ignore[arg-type]


def rows(items: list[Passage]) -> list[int]:
    return [i.row for i in items]


def test_interleave_by_hand() -> None:
    a, b = RETRIEVED[:9], RANDOM[:9]
    assert [i.role[0] for i in interleave(a, b, 50)][:6] == ["c", "r", "c", "r", "c", "r"]
    assert [i.role[0] for i in interleave(a, b, 25)][:8] == ["r", "c", "r", "r", "r", "c", "r", "r"]
    assert interleave(a, b, 0) == b
    assert interleave(a, b, 100) == a


@given(st.integers(0, 100), st.integers(0, 40), st.integers(0, 40))
def test_the_achieved_ratio_is_nearest_at_every_step(percent: int, n_retrieved: int, n_random: int) -> None:
    taken = interleave(RETRIEVED[:n_retrieved], RANDOM[:n_random], percent)
    confounders = 0
    for n, passage in enumerate(taken, start=1):
        confounders += passage.role == "confounder"
        assert abs(confounders - percent * n / 100) <= 0.5
    assert rows([i for i in taken if i.role == "confounder"]) == list(range(confounders))


@settings(max_examples=60, deadline=None)
@given(st.integers(60, 1500), st.integers(60, 1500), st.sampled_from([0, 25, 50, 75, 100]))
def test_budget_nesting_and_order(small: int, large: int, percent: int) -> None:
    small, large = sorted((small, large))
    stream = interleave(RETRIEVED, RANDOM, percent)
    found = [mixer().context(spec_of("nq"), ["who is it"], "q1", GOLD, stream, budget) for budget in (small, large)]
    for budget, context in zip((small, large), found, strict=True):
        if context is None:
            assert _tokens(GOLD) > budget
            continue
        items, (n_tokens,) = context
        assert n_tokens == _tokens(items) <= budget
        assert len(set(rows(items))) == len(items)
        assert {900, 901} <= set(rows(items))
        n = len(items) - len(GOLD)
        if n < len(stream):  # the next passage would pass the budget
            assert _tokens(mixer().ordered("q1", [*GOLD, *stream[: n + 1]])) > budget
    if found[0] and found[1]:
        shorter, longer = rows(found[0][0]), rows(found[1][0])
        assert shorter == [row for row in longer if row in set(shorter)]


def _tokens(items: list[Passage]) -> int:
    return Words().count(render(spec_of("nq"), "who is it", [(i.title, i.text) for i in items]).text)


def test_same_gold_and_relative_order_in_every_ratio() -> None:
    contexts = []
    for percent in (0, 25, 50, 75, 100):
        found = mixer().context(spec_of("nq"), ["q"], "q1", GOLD, interleave(RETRIEVED, RANDOM, percent), 500)
        assert found is not None
        contexts.append(rows(found[0]))
    for one in contexts:
        for other in contexts:
            shared = set(one) & set(other)
            assert {900, 901} <= shared
            assert [row for row in one if row in shared] == [row for row in other if row in shared]


def test_a_pool_that_is_too_small_ends_and_is_flagged() -> None:
    """The length is that of the tokens; a pool that runs out."""
    found = mixer().context(spec_of("nq"), ["q"], "q1", GOLD, RETRIEVED[:3], 4000)
    assert found is not None
    items, (n_tokens,) = found
    assert len(items) == 5
    context = finish(items, n_tokens, 4000, "4k", ran_out=True)
    assert context.flags == ["short_pool", "underfull"]
    assert context.ratio == 1.0


@pytest.mark.parametrize(
    ("length", "n_tokens", "flags"), [("1k", 750, []), ("1k", 749, ["underfull"]), ("4k", 900, [])]
)
def test_underfull_from_three_quarters_below_2k_and_nine_tenths_above(length: str, n_tokens: int, flags: list) -> None:
    assert finish(GOLD, n_tokens, 1000, length, ran_out=False).flags == flags


def test_gold_that_is_too_long_is_left_out() -> None:
    assert mixer().context(spec_of("nq"), ["q"], "q1", [item(1, "gold", 900)], RANDOM, 500) is None


def test_shared_contexts_fit_the_longest_query() -> None:
    queries = ["short", "a much longer query of many more words than the other one"]
    found = mixer().context(spec_of("nq"), queries, "g", GOLD, RANDOM, 400)
    assert found is not None
    items, counts = found
    assert counts == [Words().count(render(spec_of("nq"), q, [(i.title, i.text) for i in items]).text) for q in queries]
    assert max(counts) <= 400


def test_gold_position_is_uniform() -> None:
    """Over 2,000 questions the gold passage of 20 is at every position about 100 times.

    Chi-square with 19 degrees of freedom passes 43.8 once in a thousand.
    """
    places = Counter(rows(mixer().ordered(f"q{n}", [item(900, "gold"), *RANDOM[:19]])).index(900) for n in range(2000))
    assert sum((places[place] - 100) ** 2 / 100 for place in range(20)) < 43.8
