"""The result of a request from its answer."""

from dataclasses import replace
from typing import NamedTuple

from eval_harness.methods.base import Answer, Method
from eval_harness.models.base import Generation, GenerationError, Model
from eval_harness.parsing.answers import Parsed
from eval_harness.parsing.retrievals import cited
from eval_harness.run.plan import Plan
from eval_harness.run.requests import Request
from eval_harness.run.results import Row, Status
from eval_harness.scoring.evidence import RETRIEVAL_RECALL, evidence_scores
from eval_harness.scoring.registry import headline_of
from eval_harness.scoring.score import Scored, score_output


class Timed(NamedTuple):
    """An answer with its latency in seconds: the batch's time divided by its size."""

    answer: Answer
    latency_s: float


def row_of(plan: Plan, model: Model, request: Request, timed: Timed | GenerationError | None) -> Row:
    """The result of a request; without an answer, the request had no prompt or did not fit."""
    row = _unasked(plan, model, request)
    if timed is None:
        return row
    if isinstance(timed, GenerationError):
        failed = score_output(request.instance, request.setting.method, None)
        return replace(row, status="error", scores=_scores(request, failed, None), error=str(timed))
    generation, kept, steps_s, steps_log = timed.answer
    found = score_output(request.instance, request.setting.method, generation.text)
    parsed = found.parsed
    evidence = _evidence(request, parsed, kept)
    status: Status = "unscorable" if not found.is_scorable else "unparsed" if parsed.answer is None else "ok"
    return replace(
        row,
        status=status,
        scores=_scores(request, found, evidence),
        n_prompt_tokens=generation.n_prompt_tokens,
        n_cached_tokens=generation.n_cached_tokens,
        n_new_tokens=generation.n_new_tokens,
        output=generation.text,
        answer=parsed.answer,
        n_answers=parsed.n_answers,
        truncated=generation.truncated or parsed.truncated,
        evidence=evidence,
        latency_s=timed.latency_s,
        steps_s=steps_s,
        steps_log=steps_log,
    )


def answer_in(row: Row, method: Method) -> Timed | None:
    """The answer in a finished result of a method; None if no model was asked."""
    if row.output is None or row.n_prompt_tokens is None or row.n_new_tokens is None or row.latency_s is None:
        return None
    counts = (row.n_prompt_tokens, row.n_new_tokens, bool(row.truncated), row.n_cached_tokens or 0)
    kept = row.evidence if method.keeps else None
    return Timed(Answer(Generation(row.output, *counts), kept, row.steps_s, row.steps_log), row.latency_s)


def _evidence(request: Request, parsed: Parsed, kept: list[str] | None) -> list[str] | None:
    """The pids that the output cites, else those the method or the condition chose; None if nothing was chosen."""
    passages = request.passages or []
    if request.setting.cites:
        return cited(passages, parsed.evidence or ())
    if request.setting.condition.selects and kept is None:
        return [passage.pid for passage in passages]
    return kept


def _scores(request: Request, found: Scored, evidence: list[str] | None) -> dict[str, float]:
    """All scores of a result, 0 without an answer; empty without a reference answer."""
    if not found.is_scorable or (evidence is None and not request.setting.names_evidence):
        return found.scores
    gold = request.instance.gold_pids
    scores = found.scores | evidence_scores(evidence or [], gold)
    if request.setting.condition.selects and gold:
        shown = [passage.pid for passage in request.passages or []]
        scores |= {RETRIEVAL_RECALL: evidence_scores(shown, gold)["evidence_recall"]}
    return scores


def _unasked(plan: Plan, model: Model, request: Request) -> Row:
    """The result of a request that was not sent to a model."""
    row = Row(
        id=request.instance.id,
        task=request.instance.task,
        kind=request.instance.spec.kind,
        scorer=request.instance.spec.scored_by,
        config=request.config,
        split=plan.split,
        condition=request.setting.condition.name,
        method=request.method,
        model=model.name,
        status="n/a",
        scores={},
        question_id=request.instance.question_id,
        depth=request.instance.depth,
        headline=headline_of(request.instance.spec, plan.dataset.manifest.language),
    )
    if request.passages is None:
        return row
    return replace(
        row,
        status="overlength",
        prompt_sha256=request.prompt_sha256,
        n_prompt_tokens=request.n_prompt_tokens,
    )
