import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_harness.parsing.answers import parse
from eval_harness.scoring.evidence import (
    evidence_scores,
    mrecall_at,
    page_scores,
    pages,
    ranking,
    recall_at,
)
from tests.eval_harness.specs import NQ

IDS = st.lists(st.sampled_from("pqrst"), max_size=6)


@pytest.mark.parametrize(
    ("evidence", "gold", "recall", "precision", "f1"),
    [
        (["p", "q"], ["p"], 1, 1 / 2, 2 / 3),
        (["p"], ["p", "q", "r"], 1 / 3, 1, 1 / 2),
        (["p", "p"], ["p"], 1, 1, 1),  # a repeat is the same passage
        (["x"], ["p"], 0, 0, 0),
        ([], ["p"], 0, 0, 0),
    ],
)
def test_by_hand(evidence: list[str], gold: list[str], recall: float, precision: float, f1: float) -> None:
    want = {"evidence_recall": recall, "evidence_precision": precision, "evidence_f1": f1}
    assert evidence_scores(evidence, gold) == pytest.approx(want)


def test_without_gold_there_is_nothing_to_recall() -> None:
    assert evidence_scores(["p"], []) == {}


@pytest.mark.parametrize(("output", "recall"), [("[3, 7]", 1), ("[3][7]", 1), ("IDs: 3; 7", 1), ("[37]", 0)])
def test_cited_ids(output: str, recall: float) -> None:
    """No citation is lost to a space, none is made of two."""
    cited = parse(NQ, output, cites=True).evidence
    assert cited is not None
    assert evidence_scores(cited, ["3", "7"])["evidence_recall"] == recall


@given(IDS, IDS.filter(bool))
def test_facts(evidence: list[str], gold: list[str]) -> None:
    recall, precision, f1 = evidence_scores(evidence, gold).values()
    assert 0 <= min(recall, precision) <= f1 + 1e-12
    assert f1 <= max(recall, precision) + 1e-12 <= 1 + 1e-12
    assert (f1 == 1) == (set(evidence) == set(gold))
    if evidence:  # what is recall for one is precision for the other
        other = evidence_scores(gold, evidence)
        assert (other["evidence_precision"], other["evidence_f1"]) == (recall, f1)


def test_an_output_without_provenance_is_no_evidence_set() -> None:
    """An empty set of evidence counts for nothing."""
    found = page_scores(["p1"], [{"p1"}, set()], 5)
    assert found == {"r_precision": 1, "recall@5": 0.5, "recall@5_strict": 1}
    assert page_scores(["p1"], [set()], 5) == {}


def test_hits_are_ranked_by_their_scores() -> None:
    """Written worst first, they are read best first."""
    hits = [("p9", 0.1), ("p1", 0.9)]
    assert page_scores(ranking(hits), [{"p1"}], 1)["r_precision"] == 1
    assert page_scores([id for id, _ in hits], [{"p1"}], 1)["r_precision"] == 0
    assert ranking([("a", 1.0), ("b", 2.0), ("c", 1.0), ("a", 3.0)]) == ["a", "b", "c"]


def test_pages_of_passages() -> None:
    assert pages(["12:3", "7:0", "12:1"]) == ["12", "7"]


@pytest.mark.parametrize(
    ("ranked", "k", "recall"),
    [
        ("ab", 1, 1 / 2),  # both pages of {a, b} take one rank
        ("axb", 1, 0),  # x stands before b, the last page of the set
        ("axb", 2, 1 / 2),
        ("acb", 1, 1 / 2),  # {c} comes first, since {a, b} moves on to the rank of b
        ("acb", 2, 1),
        ("a", 5, 0),  # incomplete
        ("cc", 5, 1 / 2),
        ("ccab", 2, 1 / 2),  # a page again is one page more, with a rank of its own
        ("", 5, 0),
    ],
)
def test_an_evidence_set_takes_one_rank(ranked: str, k: int, recall: float) -> None:
    assert page_scores(list(ranked), [{"a", "b"}, {"c"}], k)[f"recall@{k}"] == recall


def test_equal_evidence_sets_are_one() -> None:
    assert page_scores(["a"], [{"a"}, {"a"}, {"b"}], 1)["recall@1"] == 0.5


def test_r_precision_counts_distinct_pages_and_takes_the_best_set() -> None:
    assert page_scores(["a", "a", "b"], [{"a", "b"}], 1)["r_precision"] == 1
    assert page_scores(["b", "c"], [{"a", "b"}, {"c"}], 1)["r_precision"] == 0.5


def test_recall_of_a_ranking() -> None:
    assert recall_at(2, ["p", "x", "q"], ["p", "q", "r"]) == pytest.approx(1 / 3)
    assert recall_at(2, ["p", "x", "q"], ["p", "q", "r"], capped=True) == 1 / 2
    assert mrecall_at(2, ["p", "x", "q"], ["p", "q", "r"]) == 0
    assert mrecall_at(2, ["p", "q"], ["p", "q", "r"]) == mrecall_at(3, ["x", "p"], ["p"]) == 1
