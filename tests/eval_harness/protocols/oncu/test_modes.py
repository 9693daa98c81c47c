from pathlib import Path

import pytest

from builders.errors import SetupError
from eval_harness.protocols.oncu.matched import FULL, NONE, ORACLE
from eval_harness.protocols.oncu.modes import MODES, counts, mode_of, modes_of, spoilt
from eval_harness.run.results import Status
from tests.eval_harness.protocols.oncu.twelve import BM25, matched_of, row_of, rows_of


def test_twelve_instances_by_hand(tmp_path: Path) -> None:
    modes = modes_of(matched_of(tmp_path / "run", rows_of()))
    assert modes[FULL] == {
        "nq-1": "recovered",
        "nq-2": "conversion",  # all gold is cited, and the answer is wrong
        "nq-3": "localisation",
        "nq-4": "answerable",
        "nq-5": "reader",
        "nq-6": "recovered",
        "nq-7": "reader",
        "nq-8": "format",
        "fever-1": "answerable",
        "fever-2": "answerable",
        "fever-3": "localisation",
        "fever-4": "misled",
    }
    assert modes[BM25] == {
        "nq-1": "recovered",
        "nq-2": "recovered",
        "nq-3": "coverage",  # one of two gold passages was shown
        "nq-4": "answerable",
        "nq-5": "reader",
        "nq-6": "localisation",
        "nq-7": "reader",
        "nq-8": "reader",
        "fever-1": "answerable",
        "fever-2": "answerable",
        "fever-3": "recovered",
        "fever-4": "answerable",
    }
    found = counts(modes[FULL])
    assert list(found) == list(MODES)
    assert sum(found.values()) == 12
    assert (found["answerable"], found["misled"], found["coverage"]) == (3, 1, 0)
    assert (spoilt(modes[FULL]), spoilt(modes[BM25])) == (4, 2)  # and those that gold alone answers


@pytest.mark.parametrize(
    ("none", "shown", "oracle", "mode"),
    [
        (("ok", 1), ("ok", 1), ("ok", 0), "answerable"),
        (("ok", 1), ("ok", 0), ("ok", 0), "misled"),
        (("ok", 1), ("ok", 0), ("ok", 1), "misled"),
        (("ok", 1), ("unparsed", 0), ("ok", 1), "format"),
        (("ok", 0), ("ok", 1), ("ok", 0), "recovered"),  # the context itself led to the answer
        (("unparsed", 0), ("ok", 0), ("ok", 0), "reader"),
        (("ok", 0), ("ok", 0), ("unparsed", 0), "format"),  # whether gold alone is enough cannot be said
        (("ok", 1), ("ok", 1), ("error", 0), "failed"),
        (("error", 0), ("ok", 1), ("ok", 1), "failed"),
    ],
)
def test_what_decides_first(
    none: tuple[Status, float], shown: tuple[Status, float], oracle: tuple[Status, float], mode: str
) -> None:
    given = dict(zip((NONE, FULL, ORACLE), (none, shown, oracle), strict=True))
    rows = {method: row_of("nq-1", method, right, status=status) for method, (status, right) in given.items()}
    assert mode_of(rows, FULL) == mode


def test_right_is_containment_on_word_borders() -> None:
    """An answer in a sentence is right, however low its F1; inside another word it is not."""
    rows = {method: row_of("nq-1", method, 0) for method in (NONE, FULL, ORACLE)}
    rows[FULL].scores.update(subspan_em=1, subspan_em_strict=1, token_f1=0.1)
    assert mode_of(rows, FULL) == "recovered"
    rows[FULL].scores.update(subspan_em_strict=0)
    assert mode_of(rows, FULL) == "reader"


def test_dialogue_is_better_or_worse_and_never_right() -> None:
    rows = {method: row_of("wow-1", method, 1, task="wow") for method in (NONE, FULL, ORACLE)}
    assert mode_of(rows, FULL) == "ungraded"


def test_rows_of_an_older_scorer_are_refused() -> None:
    rows = {method: row_of("nq-1", method, float(method == ORACLE)) for method in (NONE, BM25, ORACLE)}
    del rows[BM25].scores["retrieval_recall"]
    with pytest.raises(SetupError, match=r"nq-1 \(1k_p0, retrieved_bm25@2\+cite\) has no retrieval_recall"):
        mode_of(rows, BM25)
