"""Scores of a model during training, on validation instances, prompted and scored as in `icr2 eval`."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from eval_harness.data.dataset import Instance
from eval_harness.methods.base import Answer, Question
from eval_harness.methods.limits import LIMITS
from eval_harness.methods.tuned import Tuned
from eval_harness.methods.variants import Variant
from eval_harness.models.base import Model
from eval_harness.models.hf import HfModel
from eval_harness.models.session import Session
from eval_harness.scoring.evidence import evidence_scores
from eval_harness.scoring.registry import headline_of
from eval_harness.scoring.score import score_output
from eval_harness.train.progress import Log

Scores = dict[str, dict[str, float]]  # by task: `n`, the headline metric and, if passages are cited, their recall


def measured(model: Model, variant: Variant, instances: Iterable[Instance], language: str) -> Scores:
    """Means over the instances of each task of a dataset in `language`; those that do not fit are excluded from n."""
    method = Tuned(variant)
    found: dict[str, list[dict[str, float]]] = {}
    for instance in instances:
        prompt = method.prompt(instance, instance.passages)
        limit = LIMITS.of(method, instance.spec, model.max_positions - model.count(prompt.text))
        (answer,) = method.answer(Session(model), [Question(instance, instance.passages, limit, prompt)])
        if isinstance(answer, Answer):
            found.setdefault(instance.task, []).append(_scores(method, instance, answer, language))
    return {task: _means(rows) for task, rows in sorted(found.items())}


def measuring(
    folder: Path, work: Path, variant: Variant, every: int, instances: Sequence[Instance], language: str
) -> Any:
    """A callback that scores the model every so many steps, in all processes, and adds a line to the log."""
    from transformers import TrainerCallback

    log = Log(work)

    class Measuring(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
            if state.global_step % every:
                return
            model.eval()
            found = measured(HfModel.trained(model, folder), variant, instances, language)
            model.train()
            if state.is_world_process_zero:
                log.add(step=state.global_step, metrics=found)

    return Measuring()


def _scores(method: Tuned, instance: Instance, answer: Answer, language: str) -> dict[str, float]:
    scored, headline = score_output(instance, method, answer.generation.text), headline_of(instance.spec, language)
    scores = {headline: scored.scores.get(headline, 0.0)}
    if answer.kept is None:
        return scores
    return scores | {"evidence_recall": evidence_scores(answer.kept, instance.gold_pids)["evidence_recall"]}


def _means(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    return {"n": len(rows)} | {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}
