"""How many heads and how many passages: answers and evidence over Q and M on validation (paper, figure 7)."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product, repeat
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from builders.errors import SetupError
from builders.prompts import Prompt
from builders.tasks import TaskSpec
from eval_harness.data.dataset import Instance
from eval_harness.methods.base import Question
from eval_harness.methods.base import Setting as Asking
from eval_harness.methods.limits import LIMITS
from eval_harness.methods.registry import setting_of
from eval_harness.models.base import GenerationError, Model
from eval_harness.models.session import Session
from eval_harness.probing.heads import Cell, Head, Heads, Setting, hits, union
from eval_harness.scoring.evidence import evidence_scores
from eval_harness.scoring.registry import headline_of
from eval_harness.scoring.score import score_output

if TYPE_CHECKING:
    import torch


class Probed(NamedTuple):
    """An instance and its passages' scores, [layers, heads, passages]."""

    instance: Instance
    scores: "torch.Tensor"


class _Outcome(NamedTuple):
    task: TaskSpec
    score: float
    recall: float
    precision: float
    n_passages: int
    exact: float | None


def sweep(
    model: Model,
    probed: Sequence[Probed],
    layers: list[int],
    qs: Sequence[int],
    ms: Sequence[int],
    language: str,
    advance: Callable[[], object] = lambda: None,
) -> tuple[list[Cell], dict[str, int]]:
    """A cell for each task, Q and M, and how many instances were left out for each reason.

    The heads that choose for one half of a task's instances are those that its other half found, so that no instance
    helps to choose the heads that it is answered with. A model that was tuned is asked as it was tuned. `language`
    is the dataset's, for the headline scores.
    """
    asking = setting_of(model)
    settings = [Setting(q, m) for q, m in product(qs, ms)]
    halves = _halves(probed)
    best = [_best(halves[other], layers, settings) for other in (1, 0)]
    outcomes: dict[Setting, list[_Outcome]] = {setting: [] for setting in settings}
    left_out = {"unscorable": 0, "error": 0}
    for half, heads in zip(halves, best, strict=True):
        for one in half:
            if not one.instance.spec.usable(one.instance.answers):
                left_out["unscorable"] += 1
            elif found := _outcomes(model, asking, one, layers, heads[one.instance.task], language):
                for setting, outcome in found.items():
                    outcomes[setting].append(outcome)
            else:
                left_out["error"] += 1
            advance()
    return [cell for setting, found in outcomes.items() for cell in _cells(setting, found, language)], left_out


def _halves(probed: Sequence[Probed]) -> tuple[list[Probed], list[Probed]]:
    """Every other instance of each task, and the rest; SetupError where a task would have none in one."""
    halves: tuple[list[Probed], list[Probed]] = ([], [])
    dealt: Counter[str] = Counter()
    for one in probed:
        halves[dealt[one.instance.task] % 2].append(one)
        dealt[one.instance.task] += 1
    if single := [task for task, n in dealt.items() if n < 2]:
        raise SetupError(
            f"a sweep needs two instances of each task, one to find heads for the other; {', '.join(single)}: one; "
            "raise --limit, or name others with --task"
        )
    return halves


def _best(
    probed: Sequence[Probed], layers: list[int], settings: Sequence[Setting]
) -> dict[str, dict[Setting, list[Head]]]:
    """The heads of each task and setting by their hit rates over some instances."""
    found = {}
    for task in {one.instance.task for one in probed}:
        mine = [one for one in probed if one.instance.task == task]
        rates: dict[int, Any] = {}
        for m in {setting.m for setting in settings}:
            rates[m] = sum(hits(one.scores, one.instance.gold, m) for one in mine) / len(mine)
        heads = Heads(layers, {m: rate.tolist() for m, rate in rates.items()}, len(mine), {})
        found[task] = {setting: heads.best(*setting) for setting in settings}
    return found


def _outcomes(
    model: Model, asking: Asking, one: Probed, layers: list[int], best: dict[Setting, list[Head]], language: str
) -> dict[Setting, _Outcome] | None:
    """What each setting gives for an instance, None where the model fails; equal choices are answered once."""
    instance = one.instance
    kept = {setting: tuple(union(one.scores, layers, heads, setting.m)) for setting, heads in best.items()}
    choices = list(dict.fromkeys(kept.values()))
    shown = [[instance.passages[at] for at in choice] for choice in choices]
    prompts = [asking.method.prompt(instance, passages) for passages in shown]
    limit = _limit(model, asking, instance, prompts)
    questions = [Question(instance, *pair) for pair in zip(shown, repeat(limit), prompts, strict=False)]
    answers = asking.method.answer(Session(model), questions)
    scores, exact = {}, {}
    for choice, answer in zip(choices, answers, strict=True):
        if isinstance(answer, GenerationError):
            return None
        scored = score_output(instance, asking.method, answer.generation.text)
        scores[choice] = scored.scores[headline_of(instance.spec, language)]
        exact[choice] = float({*answer.kept} == {*instance.gold_pids}) if answer.kept is not None else None
    found = {}
    for setting, choice in kept.items():
        evidence = evidence_scores([instance.passages[at].pid for at in choice], instance.gold_pids)
        recall, precision = evidence["evidence_recall"], evidence["evidence_precision"]
        found[setting] = _Outcome(instance.spec, scores[choice], recall, precision, len(choice), exact[choice])
    return found


def _limit(model: Model, asking: Asking, instance: Instance, prompts: Sequence[Prompt]) -> int:
    """Tokens of each output, whichever passages are shown."""
    if not asking.retrieves:
        return LIMITS.of(asking, instance.spec, model.max_positions)
    longest = max(model.count(prompt.text) for prompt in prompts)
    return LIMITS.of(asking, instance.spec, model.max_positions - longest)


def _cells(setting: Setting, outcomes: Sequence[_Outcome], language: str) -> list[Cell]:
    found = []
    specs = {outcome.task.name: outcome.task for outcome in outcomes}
    for task, spec in sorted(specs.items()):
        mine = [outcome for outcome in outcomes if outcome.task.name == task]
        score, recall, precision, n_passages = (
            sum(values) / len(mine) for values in zip(*(outcome[1:5] for outcome in mine), strict=True)
        )
        wrote = [outcome.exact for outcome in mine if outcome.exact is not None]
        all_gold = sum(outcome.recall == 1 for outcome in mine) / len(mine)
        metric, exact = headline_of(spec, language), fmean(wrote) if wrote else None
        cell = Cell(task, *setting, len(mine), metric, score, recall, precision, n_passages, all_gold, exact)
        found.append(cell)
    return found
