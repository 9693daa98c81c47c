"""Failure modes: why a context did not lead to the answer, one mode for each instance and context.

The first mode that fits decides. The modes are the four-condition protocol's (Xia 2026, arXiv 2606.06758). Conditions
show where the chain from evidence to answer broke, not why.
"""

from collections import Counter
from typing import Literal, get_args

from eval_harness.protocols.oncu.fields import gold_shown, metric_of, right
from eval_harness.protocols.oncu.matched import NONE, ORACLE, Matched
from eval_harness.run.results import Row

Mode = Literal[
    "failed",
    "ungraded",
    "answerable",
    "misled",
    "recovered",
    "format",
    "reader",
    "coverage",
    "conversion",
    "localisation",
]
MODES: tuple[Mode, ...] = get_args(Mode)
Modes = dict[str, dict[str, Mode]]
"""Modes by context and id."""

MEANINGS: dict[Mode, str] = {
    "failed": "the model failed in one of the conditions",
    "ungraded": "the task has no correct answers, only better and worse ones",
    "answerable": "correct in closed_book and with the context, so that use of the evidence cannot be measured",
    "misled": "correct in closed_book, and wrong with the context",
    "recovered": "correct with the context and wrong in closed_book: no failure",
    "format": "the output with the context or with oracle cannot be parsed",
    "reader": "wrong even in oracle",
    "coverage": "correct in oracle, but the retriever did not show all gold",
    "conversion": "correct in oracle; all gold was shown and cited, but the answer is wrong",
    "localisation": "correct in oracle; all gold was shown, but not all cited, and the answer is wrong",
}


def mode_of(rows: dict[str, Row], context: str) -> Mode:
    """The mode of an instance under a context, from its results by condition."""
    none, shown, oracle = rows[NONE], rows[context], rows[ORACLE]
    if "error" in (none.status, shown.status, oracle.status):
        return "failed"
    if right(shown) is None:
        return "ungraded"
    if right(shown):
        return "answerable" if right(none) else "recovered"
    if right(none):
        return "format" if shown.status == "unparsed" else "misled"
    if "unparsed" in (shown.status, oracle.status):
        return "format"
    if not right(oracle):
        return "reader"
    if gold_shown(shown) < 1:
        return "coverage"
    return "conversion" if metric_of(shown, "evidence_recall") >= 1 else "localisation"


def modes_of(matched: Matched) -> Modes:
    """The modes of a model on a config."""
    return {context: {id: mode_of(rows, context) for id, rows in matched.rows.items()} for context in matched.contexts}


def spoilt(modes: dict[str, Mode]) -> int:
    """How many are wrong with the context, though right without any or with gold alone."""
    return sum(mode in ("misled", "coverage", "conversion", "localisation") for mode in modes.values())


def counts(modes: dict[str, Mode]) -> dict[Mode, int]:
    """The number of instances with each mode, including modes with none."""
    found = Counter(modes.values())
    return {mode: found[mode] for mode in MODES}
