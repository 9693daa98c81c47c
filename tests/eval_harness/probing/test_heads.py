"""Hit rates, the best heads and what they choose, against a slow reference and by hand."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.errors import SetupError
from eval_harness.methods.probed import Choice
from eval_harness.probing.heads import (
    Head,
    Heads,
    Rates,
    Setting,
    check_model,
    check_preset,
    heads_by_task,
    hits,
    preset,
    top,
    union,
)
from eval_harness.probing.heads_file import read_heads, write_heads
from eval_harness.probing.tables import transferred

NAN = float("nan")
MODEL = {"name": "tiny", "revision": "sha256:1", "chat_template_sha256": None}
MADE_FROM = {"model": MODEL, "position": "last", "pooling": "sum", "calibrated": False}


def heads(**rates: list[list[float]]) -> Heads:
    return heads_by_task([1, 3], {"nq": Rates(10, {int(m[1:]): found for m, found in rates.items()})}, MADE_FROM)


TWO = heads_by_task(
    [1, 3],
    {"nq": Rates(3, {1: [[0.0, 0.6], [0.2, 0.4]]}), "wow": Rates(1, {1: [[1.0, 0.0], [0.2, 0.4]]})},
    MADE_FROM,
)


def test_each_task_has_heads_of_its_own_and_all_together_weigh_instances() -> None:
    """Three of nq and one of wow: (3 * 0.6 + 0) / 4 = 0.45, and (0 + 1) / 4 = 0.25."""
    assert TWO.of("nq").best(1, 1) == [Head(1, 1)]
    assert TWO.of("wow").best(1, 1) == [Head(1, 0)]
    assert (TWO.n, TWO.of("wow").n) == (4, 1)
    assert TWO.best(2, 1) == [Head(1, 1), Head(3, 1)]
    assert [TWO.rate(head, 1) for head in ((1, 0), (1, 1), (3, 0), (3, 1))] == pytest.approx([0.25, 0.45, 0.2, 0.4])
    with pytest.raises(SetupError, match=r"probed for nq, wow, not for fever; .* --pooled"):
        TWO.of("fever")


def test_the_heads_of_a_task_choose_for_it_and_pooled_ones_only_where_asked() -> None:
    choice = Choice(TWO, {"": Setting(1, 1)})
    assert (choice.chosen("nq"), choice.chosen("wow")) == ([Head(1, 1)], [Head(1, 0)])
    assert {task: made["heads"] for task, made in choice.describe()["tasks"].items()} == {
        "nq": [[1, 1]],
        "wow": [[1, 0]],
    }
    assert replace(choice, pooled=True).chosen("wow") == [Head(1, 1)]


def test_what_the_heads_of_one_task_are_worth_on_another() -> None:
    assert transferred(TWO, 1, 1) == {
        "nq": {"nq": 0.6, "wow": 0.0},
        "wow": {"nq": 0.0, "wow": 1.0},
        "all tasks": {"nq": 0.6, "wow": 0.0},
    }
    assert transferred(TWO, 2, 1)["nq"] == pytest.approx({"nq": 0.5, "wow": 0.2})


def test_heads_of_the_first_format_are_those_of_all_tasks(tmp_path: Path) -> None:
    old = {"format": "icr2-heads/1", "layers": [1, 3], "hit_rates": {"1": [[0.1, 0.9], [0.9, 0.5]]}, "n": 10}
    (tmp_path / "heads.json").write_text(json.dumps(old | {"made_from": MADE_FROM}))
    found = read_heads(tmp_path / "heads.json")
    assert (found.best(1, 1), found.n) == ([Head(1, 1)], 10)
    with pytest.raises(SetupError, match="probed for all tasks together, not for nq"):
        found.of("nq")
    with pytest.raises(SetupError, match="run icr2 probe again"):
        transferred(found, 1, 1)


def slow_hit_rate(scores: list[float], gold: list[int], m: int) -> float:
    """Formula 3 for one head and instance: sort by score, take M, count gold among them."""
    order = sorted(range(len(scores)), key=lambda at: (-scores[at], at))
    return len(set(order[:m]) & set(gold)) / len(gold)


@given(
    st.integers(1, 9).flatmap(
        lambda n: st.tuples(
            st.lists(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3]), min_size=n, max_size=n), min_size=4, max_size=4),
            st.sets(st.integers(0, n - 1), min_size=1),
            st.integers(1, 10),
        )
    )
)
@settings(deadline=None)
def test_hits_are_those_of_the_formula(drawn: tuple[list[list[float]], set[int], int]) -> None:
    scores, gold, m = drawn
    found = hits(torch.tensor(scores).reshape(2, 2, -1), sorted(gold), m)
    wanted = [slow_hit_rate(head, sorted(gold), m) for head in scores]
    torch.testing.assert_close(found.flatten(), torch.tensor(wanted))


def test_what_is_not_visible_is_not_chosen() -> None:
    assert top(torch.tensor([NAN, 0.0, NAN]), 2).tolist() == [False, True, False]
    assert hits(torch.tensor([[[NAN, 0.2]]]), [0], 2).tolist() == [[0.0]]


def test_of_equal_passages_the_earlier_is_chosen() -> None:
    assert top(torch.tensor([0.5, 0.5, 0.5]), 2).tolist() == [True, True, False]


def test_the_best_heads_by_hand() -> None:
    found = heads(m1=[[0.1, 0.9], [0.9, 0.5]])
    assert found.best(3, 1) == [Head(1, 1), Head(3, 0), Head(3, 1)]
    assert found.best(1, 1, max_layer=1) == [Head(1, 1)]
    assert found.rate(Head(3, 1), 1) == 0.5


def test_rates_are_read_by_layer_then_head() -> None:
    """Two layers of three heads: the other way round there is no such entry."""
    found = Heads([0, 5], {1: [[0.0, 0.1, 0.2], [0.3, 0.4, 0.9]]}, 1, {})
    assert found.best(1, 1) == [Head(5, 2)]


def test_a_question_of_heads_that_are_not_there() -> None:
    found = heads(m1=[[0.1, 0.9], [0.9, 0.5]])
    with pytest.raises(SetupError, match="probe with --m 4"):
        found.best(1, 4)
    with pytest.raises(SetupError, match="Q = 5"):
        found.best(5, 1)


def test_the_union_stands_in_context_order() -> None:
    scores = torch.tensor([[[0.1, 0.2, 0.3, 0.0], [0.0, 0.0, 0.0, 1.0]], [[0.9, 0.0, 0.1, 0.0], [0.0, 0.0, 0.5, 0.4]]])
    assert union(scores, [1, 3], [Head(3, 0), Head(1, 0)], 1) == [0, 2]
    assert union(scores, [1, 3], [Head(1, 1), Head(3, 1)], 2) == [0, 2, 3]


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = heads(m1=[[0.1, 0.9], [0.9, 0.5]], m2=[[0.2, 1.0], [1.0, 0.5]])
    write_heads(found, tmp_path / "heads.json")
    assert read_heads(tmp_path / "heads.json") == found
    check_model(found, {**MODEL, "device": "cpu"})


@pytest.mark.parametrize("other", [{"name": "big"}, {"revision": "sha256:2"}, {"chat_template_sha256": "5"}])
def test_heads_of_another_model_are_refused(other: dict) -> None:
    with pytest.raises(SetupError, match="another model"):
        check_model(heads(m1=[[0.1], [0.9]]), {**MODEL, **other})


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"format": "icr2-heads/9"}',
        '{"format": "icr2-heads/1", "layers": [0], "hit_rates": {"1": [[0.5]]}, "n": 1, "made_from": {}}',
        '{"format": "icr2-heads/1", "layers": [0, 1], "hit_rates": {"1": [[0.5]]}, "n": 1, "made_from": '
        '{"model": {}, "position": "last", "pooling": "sum", "calibrated": false}}',
        '{"format": "icr2-heads/2", "layers": [0], "tasks": {}, "made_from": '
        '{"model": {}, "position": "last", "pooling": "sum", "calibrated": false}}',
        '{"format": "icr2-heads/2", "layers": [0], "tasks": {"nq": {"hit_rates": {"1": [[0.5]]}, "n": 1}, '
        '"wow": {"hit_rates": {"2": [[0.5]]}, "n": 1}}, "made_from": '
        '{"model": {}, "position": "last", "pooling": "sum", "calibrated": false}}',
    ],
)
def test_what_is_no_file_of_heads_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "heads.json").write_text(content)
    with pytest.raises(SetupError, match="holds no heads"):
        read_heads(tmp_path / "heads.json")
    with pytest.raises(SetupError, match="is not there"):
        read_heads(tmp_path / "nothing.json")


def test_presets_are_those_of_the_papers_appendix() -> None:
    """Appendix C.2.1; LOFT has MuSiQue and no WoW."""
    assert preset("rta-icr2") == {
        "nq": Setting(2, 1), "hotpotqa": Setting(2, 1), "fever": Setting(2, 8), "wow": Setting(4, 8)
    }  # fmt: skip
    assert preset("da-loft") == {"nq": Setting(4, 4), "hotpotqa": Setting(4, 4), "musique": Setting(8, 2)}


@pytest.mark.parametrize(
    ("name", "families", "says"),
    [
        ("da-loft", {"32k_p100": "icr2"}, r"da-loft is not for 32k_p100, .* family icr2; .* or --preset da-icr2$"),
        (
            "rta-icr2",
            {"32k_p0": "icr2", "loft_32k": "loft"},
            r"not for loft_32k, .* family loft; .* --preset rta-loft$",
        ),
        ("da-icr2", {"frames_32k": "frames"}, r"give rap@QxM \(rap@4x1\)$"),
    ],
)
def test_a_preset_is_not_applied_to_another_benchmark(name: str, families: dict[str, str], says: str) -> None:
    with pytest.raises(SetupError, match=says):
        check_preset(name, families)


def test_a_preset_is_applied_to_its_benchmark() -> None:
    check_preset("da-icr2", {"32k_p100": "icr2"})
    check_preset("da-loft", {"loft_32k": "given", "loft_4k": "loft"})
