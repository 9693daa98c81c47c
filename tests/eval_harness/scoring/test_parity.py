"""The official columns on the example files of LOFT and KILT: every example gives the value of their own code."""

import json
from pathlib import Path
from typing import Any

import pytest

from eval_harness.scoring.dialogue import DIALOGUE
from eval_harness.scoring.evidence import mrecall_at, page_scores, recall_at
from eval_harness.scoring.measures.execution import execution_accuracy
from eval_harness.scoring.measures.multi_answer import score_list
from eval_harness.scoring.qa import QA


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class Loft:
    """LOFT's examples: (query id, answers, outputs of each turn) of a task."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "loft" / "example_predictions"

    def __call__(self, task: str) -> list[tuple[str, list[Any], list[Any]]]:
        outputs = {row["qid"]: row["model_outputs"] for row in read(self.folder / task / "preds.jsonl")}
        return [(row["qid"], row["answers"], outputs[row["qid"]]) for row in read(self.folder / task / "queries.jsonl")]


@pytest.fixture(scope="module")
def loft(shared_data: Path) -> Loft:
    return Loft(shared_data)


def test_loft_nq(loft: Loft) -> None:
    """Nine of ten are the first answer letter for letter, the tenth shares no word."""
    examples = loft("rag_nq")
    assert len(examples) == 10
    for qid, answers, [[prediction]] in examples:
        found = QA.score(prediction, answers)
        right = float(qid != "test1062")
        assert [found[name] for name in ("em", "subspan_em", "token_f1")] == [right] * 3, qid


def test_loft_date(loft: Loft) -> None:
    right = {qid: QA.score(prediction, golds)["em"] for qid, [golds], [[prediction]] in loft("icl_date")}
    assert right == {str(number): float(number not in (1, 3, 4)) for number in range(10)}


def test_loft_quest(loft: Loft) -> None:
    """One of ten names its only answer; the others share no title, nor a part of one."""
    examples = loft("rag_quest")
    assert len(examples) == 10
    for qid, answers, [predictions] in examples:
        found = score_list(predictions, answers)
        right = float(qid == "15624559")
        assert [found[name] for name in ("em", "subspan_em", "coverage")] == [right] * 3, qid


def test_loft_retrieval_nq(loft: Loft) -> None:
    examples = loft("retrieval_nq")
    assert len(examples) == 10
    for _, answers, [ranked] in examples:
        gold = [answer[0] for answer in answers]
        assert {recall_at(k, ranked, gold) for k in (1, 2, 3, 5)} == {1.0}
        assert {mrecall_at(k, ranked, gold) for k in (1, 2, 3, 5)} == {1.0}
        assert recall_at(1, ranked, gold, capped=True) == 1


def test_loft_retrieval_quest(loft: Loft) -> None:
    """Two of ten find one of three documents, one in first place, one in second."""
    third = pytest.approx(1 / 3)
    want = {
        "11879839": ([third] * 4, [1, 0, 0, 0], 1),
        "15886701": ([0, third, third, third], [0, 0, 0, 0], 0),
    }
    examples = loft("retrieval_quest")
    assert len(examples) == 10
    for qid, answers, [ranked] in examples:
        gold = [answer[0] for answer in answers]
        recall = [recall_at(k, ranked, gold) for k in (1, 2, 3, 5)]
        mrecall = [mrecall_at(k, ranked, gold) for k in (1, 2, 3, 5)]
        assert (recall, mrecall, recall_at(1, ranked, gold, capped=True)) == want.get(qid, ([0] * 4, [0] * 4, 0)), qid


def test_loft_sql(loft: Loft) -> None:
    spider = [execution_accuracy(predicted, gold) for _, gold, [predicted] in loft("sql_spider")]
    assert spider == [0, 0, 0, 1, 1, 1, 0, 0, 0, 0]
    sparc = [list(map(execution_accuracy, outputs, gold)) for _, gold, outputs in loft("sql_sparc")]
    assert sparc == [[0, 0], [0, 0], [0, 0, 0], [1, 1, 0]]


def test_tables_agree_whatever_their_order() -> None:
    assert execution_accuracy([[2, "B "], ["1.004", "a"]], [["A", 1.0], ["b", "2"]]) == 1
    assert execution_accuracy([["a"], ["a"]], [["a"], ["b"]]) == 1  # as published: not the other way round
    assert execution_accuracy([["a"]], [["a"], ["b"]]) == 0
    assert execution_accuracy([[None]], [["x"]]) == 0


class Kilt:
    """KILT's fixtures: scores of each record of a guess file against a gold file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "kilt_eval_fixtures"

    def records(self, gold: str, guess: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        return list(zip(read(self.folder / gold), read(self.folder / guess), strict=True))

    def pages(self, gold: str, guess: str, k: int = 5) -> list[dict[str, float]]:
        return [
            page_scores(ids(one["output"][0]), [ids(output) for output in wanted["output"]], k)
            for wanted, one in self.records(gold, guess)
        ]

    def answers(self, gold: str, guess: str) -> list[dict[str, float]]:
        return [
            QA.score(said, golds) | DIALOGUE.score(said, golds)
            for wanted, one in self.records(gold, guess)
            for said, golds in [(one["output"][0]["answer"], [output["answer"] for output in wanted["output"]])]
        ]


def ids(output: dict[str, Any]) -> list[str]:
    return [str(provenance["wikipedia_id"]) for provenance in output["provenance"]]


@pytest.fixture(scope="module")
def kilt(shared_data: Path) -> Kilt:
    return Kilt(shared_data)


# The means that KILT's own tests assert: EM, F1, ROUGE-L; the same where R-precision is 1; R-precision, recall@5.
KILT_MEANS = [
    ("gold1", "guess1_1", (2 / 3, 5 / 6, 0.7222222178240741), (1 / 3, 1 / 3, 0.3333333316666667), (1 / 3, 1 / 3)),
    ("gold1", "gold1", (1, 1, 0.999999995), (1, 1, 0.999999995), (1, 1)),
    (
        "gold3",
        "guess3_1",
        (0, 0.5102040816326531, 0.44705881864636676),
        (0, 0.25510204081632654, 0.22352940932318338),
        (1 / 2, 1 / 2),
    ),
]


@pytest.mark.parametrize(("gold", "guess", "downstream", "gated", "retrieval"), KILT_MEANS)
def test_kilt(kilt: Kilt, gold: str, guess: str, downstream: Any, gated: Any, retrieval: Any) -> None:
    answers, found = kilt.answers(f"{gold}.jsonl", f"{guess}.jsonl"), kilt.pages(f"{gold}.jsonl", f"{guess}.jsonl")
    n = len(answers)
    names = ("em", "token_f1", "rouge_l_kilt")
    exact = {"rel": 1e-15, "abs": 0}
    assert [sum(row[name] for row in answers) / n for name in names] == pytest.approx(list(downstream), **exact)
    counted = [row for row, pages in zip(answers, found, strict=True) if pages["r_precision"] == 1]
    assert [sum(row[name] for row in counted) / n for name in names] == pytest.approx(list(gated), **exact)
    means = [sum(row[name] for row in found) / n for name in ("r_precision", "recall@5")]
    assert means == pytest.approx(list(retrieval), **exact)


@pytest.mark.parametrize(("guess", "r_precision", "recall"), [("guess2_1", 1 / 2, 2 / 3), ("guess2_2", 1, 1 / 3)])
def test_kilt_retrieval(kilt: Kilt, guess: str, r_precision: float, recall: float) -> None:
    [found] = kilt.pages("gold2.jsonl", f"{guess}.jsonl")
    assert found == {"r_precision": r_precision, "recall@5": recall, "recall@5_strict": recall}
