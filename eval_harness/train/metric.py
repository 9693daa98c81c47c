"""The scores of a model while it is trained: validation instances, asked and scored as a run of the harness does."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from eval_harness.data.dataset import Instance
from eval_harness.methods.base import Answer, Question
from eval_harness.methods.limits import LIMITS
from eval_harness.methods.tuned import Tuned
from eval_harness.methods.variants import Variant
from eval_harness.models.base import Generation, GenerationError
from eval_harness.models.session import Session
from eval_harness.models.template import Template, load_config, load_tokenizer, position_limit
from eval_harness.scoring.evidence import evidence_scores
from eval_harness.scoring.registry import scorer_of
from eval_harness.scoring.score import score_output
from eval_harness.train.progress import Log

Scores = dict[str, dict[str, float]]  # by task: `n`, the headline measure and, where passages are named, their recall


class Live:
    """A network that is being trained, as a model that answers prompts one by one."""

    def __init__(self, network: Any, folder: Path) -> None:
        self.name = folder.name
        self._network = network
        self._tokenizer = load_tokenizer(folder, folder.name)
        self._template = Template(self._tokenizer, folder.name)
        self.max_positions = position_limit(load_config(folder, folder.name), self._tokenizer)

    def count(self, prompt: str) -> int:
        """Tokens of the prompt as it is sent."""
        return len(self._template.encode(prompt))

    def describe(self) -> dict[str, Any]:
        """Its name, since its weights change."""
        return {"name": self.name}

    def generate(self, prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
        """Greedy outputs, with all control tokens but the one at their end."""
        return [self._generated(self._template.encode(prompt), max_new_tokens) for prompt in prompts]

    def _generated(self, ids: list[int], limit: int) -> Generation:
        import torch

        if len(ids) + limit > self.max_positions:
            raise GenerationError(f"{len(ids)} + {limit} tokens do not fit into {self.max_positions}")
        fed = torch.tensor([ids], device=self._network.device)
        with torch.no_grad():
            output = self._network.generate(
                input_ids=fed, attention_mask=torch.ones_like(fed), max_new_tokens=limit, do_sample=False
            )
        new, stops = output[0, len(ids) :].tolist(), self._network.generation_config.eos_token_id
        end = next((at for at, token in enumerate(new) if token in stops), len(new))
        text = self._tokenizer.decode(new[:end], clean_up_tokenization_spaces=False)
        return Generation(text, len(ids), end, end == len(new))


def measured(model: Live, variant: Variant, instances: Iterable[Instance]) -> Scores:
    """Means over the instances of each task; those that do not fit the model are left out of n."""
    method = Tuned(variant)
    found: dict[str, list[dict[str, float]]] = {}
    for instance in instances:
        room = model.max_positions - model.count(method.prompt(instance, instance.passages).text)
        limit = LIMITS.of(method, instance.spec, room)
        (answer,) = method.answer(Session(model), [Question(instance, instance.passages, limit)])
        if isinstance(answer, Answer):
            found.setdefault(instance.task, []).append(_scores(method, instance, answer))
    return {task: _means(rows) for task, rows in sorted(found.items())}


def measuring(folder: Path, work: Path, variant: Variant, every: int, instances: Sequence[Instance]) -> Any:
    """A callback that measures the model each so many steps, in all processes alike, and adds a line to the log."""
    from transformers import TrainerCallback

    log = Log(work)

    class Measuring(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
            if state.global_step % every:
                return
            model.eval()
            found = measured(Live(model, folder), variant, instances)
            model.train()
            if state.is_world_process_zero:
                log.add(step=state.global_step, metrics=found)

    return Measuring()


def _scores(method: Tuned, instance: Instance, answer: Answer) -> dict[str, float]:
    scored = score_output(instance, method, answer.generation.text)
    scores = {scorer_of(instance.spec).headline: scored.headline}
    if answer.kept is None:
        return scores
    return scores | {"evidence_recall": evidence_scores(answer.kept, instance.gold_pids)["evidence_recall"]}


def _means(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    return {"n": len(rows)} | {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}
