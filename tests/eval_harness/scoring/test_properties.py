"""What holds for any prediction and any answers."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.errors import SetupError
from builders.tasks import TaskSpec
from eval_harness.scoring.answer_set import ANSWER_SET
from eval_harness.scoring.base import COUNTS
from eval_harness.scoring.dialogue import DIALOGUE
from eval_harness.scoring.label import LABEL_ACCURACY
from eval_harness.scoring.measures import coverage, exact_match, kilt_rouge_l, recall_em, rouge_l, subspan_em, token_f1
from eval_harness.scoring.measures.multi_answer import score_list
from eval_harness.scoring.needle import NEEDLE
from eval_harness.scoring.qa import QA
from eval_harness.scoring.registry import SCORERS, scorer_of
from tests.eval_harness.specs import FEVER, NEEDLES, NQ, QUEST, WOW
from tests.eval_harness.specs import NEEDLE as NEEDLE_TASK

PARTS = ["a", "The", "thé", "Á", "no", "yes", "12", "312", "Ann", "O’Neil", "東京", "１２", "-", ".", "<unk>", "\n"]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=5).map(" ".join) | st.text(max_size=12)
ANSWERS = st.lists(TEXTS, min_size=1, max_size=4)
TASKS = {
    "qa": NQ,
    "label": FEVER,
    "dialogue": WOW,
    "set": QUEST,
    "needle": NEEDLE_TASK,
    "all_needles": NEEDLES,
}
for_every_scorer = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)


def test_every_scorer_is_here() -> None:
    assert {task.scored_by for task in TASKS.values()} == set(TASKS) == set(SCORERS)


@for_every_scorer
@given(TEXTS, ANSWERS)
def test_scores_lie_between_0_and_1_under_their_names(task: TaskSpec, prediction: str, answers: list[str]) -> None:
    scorer = scorer_of(task)
    if golds := task.usable([*answers, "SUPPORTS"]):
        found = scorer.score(prediction, golds)
        assert tuple(found) == scorer.metrics
        assert all(0 <= value <= 1 for name, value in found.items() if name not in COUNTS)
        assert all(isinstance(value, float) for value in found.values())


@for_every_scorer
@given(TEXTS, ANSWERS)
def test_neither_the_order_of_answers_nor_an_earlier_score_matters(
    task: TaskSpec, prediction: str, answers: list[str]
) -> None:
    """No metric changes what the next one sees."""
    scorer = scorer_of(task)
    if golds := task.usable(answers):
        before, kept = scorer.score(prediction, golds), list(golds)
        assert scorer.score(prediction, golds[::-1]) == pytest.approx(before)
        assert scorer.score(prediction, golds) == before
        assert golds == kept


@given(TEXTS, ANSWERS)
def test_metrics_together_are_as_each_alone(prediction: str, answers: list[str]) -> None:
    """No metric changes what the next one sees."""
    if golds := NQ.usable(answers):
        alone: dict[str, float] = {}
        for score in (coverage.score, recall_em.score, token_f1.score, exact_match.score, subspan_em.score):
            alone |= score(prediction, golds)
        assert alone == QA.score(prediction, golds)


def test_many_are_scored_as_one_by_one() -> None:
    """One right of two is a half."""
    pairs = [("alpha", ["alpha"]), ("wrong", ["beta"])]
    assert sum(QA.score(*pair)["em"] for pair in pairs) / len(pairs) == 0.5


@for_every_scorer
@given(ANSWERS)
def test_an_answer_is_right(task: TaskSpec, answers: list[str]) -> None:
    for gold in task.usable(answers):
        found = scorer_of(task).score(gold, [gold])
        if task is not QUEST:  # which reads lines and lists
            strict = [value for name, value in found.items() if name.endswith("_strict")]
            assert strict == pytest.approx([1] * len(strict))


@pytest.mark.parametrize(
    "score",
    [
        subspan_em.score,
        exact_match.score,
        token_f1.score,
        recall_em.score,
        rouge_l.score,
        kilt_rouge_l.score,
        NEEDLE.score,
        LABEL_ACCURACY.score,
    ],
)
@given(prediction=TEXTS, answers=ANSWERS, alias=TEXTS)
def test_an_alias_never_lowers_a_score(
    score: Callable[..., dict[str, float]], prediction: str, answers: list[str], alias: str
) -> None:
    before, after = score(prediction, answers), score(prediction, [*answers, alias])
    assert all(after[name] >= before[name] for name in before)


@given(TEXTS, ANSWERS)
def test_exact_is_full_f1_and_contained(prediction: str, answers: list[str]) -> None:
    """An answer of articles alone; full F1 is contained too where the answer is one word, since F1 knows no order."""
    if golds := NQ.usable(answers):
        found = QA.score(prediction, golds)
        if found["em_strict"]:
            assert found["token_f1_strict"] == found["token_precision_strict"] == found["subspan_em_strict"] == 1
        if found["em"]:
            assert found["subspan_em"] == 1
        if found["token_f1_strict"] == 1 and found["n_pred_tokens"] == 1:
            assert found["em_strict"] == found["subspan_em_strict"] == 1
        assert bool(found["subspan_em_strict"]) == (found["coverage_strict"] > 0)
        assert found["token_f1_strict"] <= 1
        assert found["token_f1"] == 0 or found["token_precision"] > 0


@given(TEXTS, TEXTS, TEXTS)
def test_an_answer_among_words_is_contained(answer: str, before: str, after: str) -> None:
    for gold in NQ.usable([answer]):
        assert QA.score(f"{before} {gold} {after}", [gold])["subspan_em_strict"] == 1


@given(TEXTS, TEXTS)
def test_what_is_symmetric(one: str, other: str) -> None:
    there, back = QA.score(one, [other]), QA.score(other, [one])
    for name in ("em", "em_strict", "token_f1", "token_f1_strict"):
        assert there[name] == back[name]
    assert rouge_l.score(one, [other]) == pytest.approx(rouge_l.score(other, [one]))


@given(st.lists(TEXTS, max_size=4), ANSWERS)
def test_sets(predictions: list[str], answers: list[str]) -> None:
    if golds := QUEST.usable(answers):
        found = score_list(predictions, golds)
        assert (found["em_strict"] == 1) == (found["answer_f1"] == 1)
        assert found["em_strict"] <= found["subspan_em_strict"] <= found["coverage_strict"]


def test_each_kind_has_its_scorer_unless_the_task_names_another() -> None:
    assert scorer_of(FEVER) is LABEL_ACCURACY
    assert scorer_of(WOW) is DIALOGUE
    assert scorer_of(TaskSpec("climate_fever", "fact", {"SUPPORTS": "TRUE", "REFUTES": "FALSE"})) is LABEL_ACCURACY
    assert scorer_of(QUEST) is ANSWER_SET
    assert scorer_of(TaskSpec("fever", "qa", scorer="needle")) is NEEDLE
    with pytest.raises(SetupError, match="no scorer 'nope'; available: qa, label"):
        scorer_of(TaskSpec("nq", "qa", scorer="nope"))


def test_the_headline_stands_before_its_twin() -> None:
    heads = {name: (scorer.headline, scorer.strict) for name, scorer in SCORERS.items()}
    assert heads["qa"] == heads["set"] == ("subspan_em", "subspan_em_strict")
    assert heads["dialogue"] == ("rouge_l", "rouge_l_strict")
    assert heads["label"] == ("label_accuracy", "label_accuracy_kilt")


def test_the_fields_of_a_scorer_are_metrics_of_it() -> None:
    assert all(set(scorer.fields) <= set(scorer.metrics) for scorer in SCORERS.values())
