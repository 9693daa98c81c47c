"""Why a context did not lead to the answer: one failure mode for each instance and context.

What is looked at first decides. The modes are the four-condition protocol's (Xia 2026, arXiv 2606.06758), told apart by
what the conditions show: they say where in the chain from evidence to answer it broke, not why a model broke it.
"""

from collections import Counter
from typing import Literal, get_args

from eval_harness.protocols.oncu.fields import gold_shown, metric_of, right
from eval_harness.protocols.oncu.matched import NONE, ORACLE, Matched
from eval_harness.run.results import Row

Mode = Literal[
    "failed", "ungraded", "answerable", "recovered", "format", "reader", "coverage", "conversion", "localisation"
]
MODES: tuple[Mode, ...] = get_args(Mode)
Modes = dict[str, dict[str, Mode]]
"""Modes by context and id."""

MEANINGS: dict[Mode, str] = {
    "failed": "the model gave no output in one of the conditions",
    "ungraded": "the task has no right answers, only better ones",
    "answerable": "right without evidence, so that nothing is told about its use",
    "recovered": "right with the context and wrong without evidence: no failure",
    "format": "no answer can be read from the output, of the context or of the oracle",
    "reader": "wrong even with gold alone",
    "coverage": "right with gold alone, and the retriever did not show all of it",
    "conversion": "right with gold alone; all gold was shown and cited, and the answer is wrong",
    "localisation": "right with gold alone; all gold was shown, not all of it was cited, and the answer is wrong",
}


def mode_of(rows: dict[str, Row], context: str) -> Mode:
    """The mode of an instance under a context, from its rows by condition."""
    none, shown, oracle = rows[NONE], rows[context], rows[ORACLE]
    if "error" in (none.status, shown.status, oracle.status):
        return "failed"
    if right(shown) is None:
        return "ungraded"
    if right(none):
        return "answerable"
    if right(shown):
        return "recovered"
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


def counts(modes: dict[str, Mode]) -> dict[Mode, int]:
    """How many instances have each mode, those that none has included."""
    found = Counter(modes.values())
    return {mode: found[mode] for mode in MODES}
