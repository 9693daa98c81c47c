from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_harness.data.dataset import open_dataset
from eval_harness.methods.limits import LIMITS
from eval_harness.run.batches import batches, groups
from eval_harness.run.plan import Plan
from eval_harness.run.requests import Request, requests
from tests.eval_harness.conftest import FEVER, ROWS, instance

LONG = ["a b c d e f g", "h i j"]


def plan_of(folder: Path, *methods: str, **fields: Any) -> Plan:
    return Plan(open_dataset(folder), ("1k_p0",), methods, **fields)


def asked(plan: Plan) -> list[Request]:
    return [request for found in requests(plan, lambda prompt: len(prompt.split())) for request in found]


@pytest.fixture
def by_length(make_dataset: Callable[..., Path]) -> Path:
    """Questions of 7 to 10 words in closed book, and a claim."""
    return make_dataset(c1k_p0=[*(instance(f"nq-{n}", "nq", "q " * n, ["x"], [0], ["t"]) for n in (1, 4, 2, 3)), FEVER])


def test_batches_are_alike_and_longest_first(by_length: Path) -> None:
    plan = plan_of(by_length, "closed_book", batch_size=2)
    found = [[request.instance.query.count("q ") for request in batch] for batch in batches(asked(plan), plan)]
    assert found == [[4, 3], [2, 1], [0]]


def test_batches_by_tokens_hold_what_fits_when_padded(by_length: Path) -> None:
    """Closed-book prompts of 8 to 11 words and 64 for the output: two take 2 x 75, three 3 x 75."""
    lengths = {request.n_prompt_tokens for request in asked(plan_of(by_length, "closed_book", tasks=("nq",)))}
    assert lengths == {8, 9, 10, 11}
    for limit, sizes in ((2 * 75, [2, 2]), (3 * 75, [3, 1]), (3 * 75 - 1, [2, 2]), (4 * 75, [4]), (1, [1, 1, 1, 1])):
        plan = plan_of(by_length, "closed_book", tasks=("nq",), max_batch_tokens=limit)
        assert [len(batch) for batch in batches(asked(plan), plan)] == sizes


def test_two_methods_stand_in_no_batch_together(dataset_folder: Path) -> None:
    plan = plan_of(dataset_folder, "vanilla_rag", "vanilla_rag+cite", batch_size=8, limits=LIMITS._replace(evidence=0))
    for batch in batches(asked(plan), plan):
        assert len({request.setting.method.name for request in batch}) == 1


def test_prompts_over_the_same_passages_are_a_group(make_dataset: Callable[..., Path]) -> None:
    shared = [instance(f"nq-same-{n}", "nq", f"question {n}", ["x"], [0], LONG) for n in range(3)]
    plan = plan_of(make_dataset(c1k_p0=[shared[0], *ROWS, *shared[1:]]), "vanilla_rag", batch_size=2)
    found = groups(asked(plan), plan)
    (group,) = [group for group in found if group.shares]
    assert [request.instance.id for request in group.requests] == ["nq-same-0", "nq-same-1", "nq-same-2"]
    assert [len(batch) for batch in group.batches] == [2, 1]


def test_methods_on_one_instance_are_a_group_but_tasks_with_other_instructions_are_not(
    make_dataset: Callable[..., Path],
) -> None:
    rows = [instance("nq-1", "nq", "q", ["x"], [0], LONG), instance("fever-1", "fever", "q", ["SUPPORTS"], [0], LONG)]
    plan = plan_of(make_dataset(c1k_p0=rows), "closed_book", "vanilla_rag", "vanilla_rag+cite")
    found = groups(asked(plan), plan)
    shared = [sorted((one.instance.id, one.method) for one in group.requests) for group in found if group.shares]
    methods = ("vanilla_rag", "vanilla_rag+cite")
    assert sorted(shared) == [[(id, method) for method in methods] for id in ("fever-1", "nq-1")]
    assert all(request.method == "closed_book" for group in found if not group.shares for request in group.requests)


def test_groups_can_be_left_out(dataset_folder: Path) -> None:
    plan = plan_of(dataset_folder, "vanilla_rag", "vanilla_rag+cite", shares_prefixes=False)
    assert not any(group.shares for group in groups(asked(plan), plan))


def test_groups_hold_every_request_once_and_the_longest_come_first(dataset_folder: Path) -> None:
    plan = plan_of(dataset_folder, "closed_book", "vanilla_rag", "vanilla_rag+cite", "retrieved_bm25@1", batch_size=3)
    every = asked(plan)
    found = groups(every, plan)
    keys = [request.key for group in found for request in group.requests]
    assert sorted(keys) == sorted(request.key for request in every)
    longest = [max(request.cost for request in group.requests) for group in found]
    assert longest == sorted(longest, reverse=True)
