"""Twelve instances under four conditions, with scores set by hand, and runs made of them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from eval_harness.protocols.oncu.matched import FULL, NONE, ORACLE, Matched, matched
from eval_harness.report.study import Study, one_study, read_studies
from eval_harness.run.results import Row, Status
from eval_harness.scoring.evidence import METRICS, RETRIEVAL_RECALL
from eval_harness.scoring.registry import scorer_of
from tests.eval_harness.report.conftest import spec_of, write_run

BM25 = "retrieved_bm25@2+cite"
METHODS = (NONE, FULL, BM25, ORACLE)
CONDITIONS = dict(zip(METHODS, ("closed_book", "vanilla", "retrieved_bm25@2", "oracle"), strict=True))


class Scored(NamedTuple):
    """An answer's F1 and its evidence F1 under each condition, in the order of METHODS."""

    id: str
    task: str
    answers: tuple[float, float, float, float]
    evidence: tuple[float, float, float, float]


TWELVE = [
    Scored("nq-1", "nq", (0, 1, 1, 1), (0, 1, 1, 1)),
    Scored("nq-2", "nq", (0, 0, 1, 1), (0, 1, 1, 1)),
    Scored("nq-3", "nq", (0, 0.5, 0, 1), (0, 0.5, 0, 1)),
    Scored("nq-4", "nq", (1, 1, 1, 1), (0, 1, 1, 1)),
    Scored("nq-5", "nq", (0, 0, 0, 0), (0, 0, 0, 1)),
    Scored("nq-6", "nq", (0, 1, 0, 1), (0, 1, 0.5, 1)),
    Scored("nq-7", "nq", (0.5, 0.5, 0.5, 0.5), (0, 0, 0.5, 1)),
    Scored("nq-8", "nq", (0, 0, 0, 0.5), (0, 0, 0, 1)),
    Scored("fever-1", "fever", (1, 1, 1, 1), (0, 0.5, 1, 1)),
    Scored("fever-2", "fever", (1, 1, 1, 0), (0, 0.5, 1, 1)),
    Scored("fever-3", "fever", (0, 0, 1, 1), (0, 0.5, 1, 1)),
    Scored("fever-4", "fever", (1, 0, 1, 1), (0, 0.5, 1, 1)),
]
UNPARSED = ("nq-8", FULL)
SHOWN_HALF = ("nq-3", BM25)  # one of two gold passages


def row_of(
    id: str,
    method: str,
    answer: float,
    evidence: float = 0.0,
    *,
    task: str = "nq",
    config: str = "1k_p0",
    status: Status = "ok",
    shown: float = 1.0,
    question: str | None = None,
    depth: int | None = None,
    **fields: Any,
) -> Row:
    """A row with an answer F1, exact only where it is 1, and an evidence F1, complete only where it is 1."""
    spec = spec_of(task)
    scores = dict.fromkeys(scorer_of(spec).metrics, answer)
    if task == "nq":
        exact = ("em", "em_strict", "subspan_em", "subspan_em_strict")
        scores |= dict.fromkeys(exact, float(answer == 1))
    scores |= dict(zip(METRICS, (float(evidence == 1), evidence, evidence), strict=True))
    if method.startswith("retrieved"):
        scores[RETRIEVAL_RECALL] = shown
    if status not in ("ok", "unparsed", "error"):
        scores = {}
    names = (id, task, spec.kind, spec.scored_by, config, "test", CONDITIONS.get(method, method), method, "tiny")
    facts = {"question_id": question or id, "depth": depth}
    written = {"prompt_sha256": f"{id}{config}{method}", "answer": f"{answer}", "output": f"{answer}"}
    return Row(*names, status, scores, **facts | written | fields)


def rows_of(scored: Iterable[Scored] = TWELVE, config: str = "1k_p0") -> list[Row]:
    """The rows of every instance under every condition."""
    found = []
    for one in scored:
        for method, answer, evidence in zip(METHODS, one.answers, one.evidence, strict=True):
            status: Status = "unparsed" if (one.id, method) == UNPARSED else "ok"
            shown = 0.5 if (one.id, method) == SHOWN_HALF else 1.0
            found.append(
                row_of(one.id, method, answer, evidence, task=one.task, config=config, status=status, shown=shown)
            )
    return found


def study_of(folder: Path, rows: list[Row], **record: Any) -> Study:
    """The study of one run."""
    return one_study(read_studies([write_run(folder, rows, **record)]))


def matched_of(folder: Path, rows: list[Row]) -> Matched:
    """The only model on the only config of a run."""
    (found,) = matched(study_of(folder, rows))
    return found
