"""Runs methods on configs, batch by batch, and records each answer as it is finished."""

import platform
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from rich.progress import Progress

from builders import prompts
from builders.errors import SetupError
from eval_harness.load import Dataset, Instance, load_instances
from eval_harness.methods import METHODS
from eval_harness.models.base import Generation, GenerationError, Model
from eval_harness.results import Results, Row, Status
from eval_harness.scorers import scorer_for

MAX_NEW_TOKENS = {"qa": 64, "fact": 32, "dialogue": 128}  # by the kind of prompt
_LIBRARIES = ("icr2", "torch", "transformers", "tokenizers", "rouge-score")


@dataclass(frozen=True)
class Plan:
    """What is to be run: configs and methods of one split, on the first `limit` instances of each task."""

    dataset: Dataset
    configs: tuple[str, ...]
    methods: tuple[str, ...]
    split: str = "test"
    tasks: tuple[str, ...] = ()  # all, when empty
    limit: int | None = None
    max_new_tokens: Mapping[str, int] = field(default_factory=lambda: dict(MAX_NEW_TOKENS))
    batch_size: int = 1


class Request(NamedTuple):
    """An instance under a config and a method; the prompt is None where its condition cannot be met."""

    instance: Instance
    config: str
    method: str
    prompt: str | None
    n_prompt_tokens: int
    max_new_tokens: int

    @property
    def key(self) -> tuple[str, str, str]:
        """The key of the row that answers it."""
        return (self.instance.id, self.config, self.method)

    @property
    def prompt_sha256(self) -> str:
        """The digest of the prompt before any chat template."""
        return sha256((self.prompt or "").encode()).hexdigest()


class _Answer(NamedTuple):
    generation: Generation
    latency_s: float


def record(plan: Plan, model: Model) -> dict[str, Any]:
    """Everything that the results of a plan depend on, for run.json."""
    fields = asdict(plan) | {
        "dataset": {key: value for key, value in plan.dataset._asdict().items() if key != "folder"},
        "model": model.describe(),
        "prompt_version": prompts.VERSION,
        "decoding": "greedy",
        "versions": {"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}},
    }
    return {key: list(value) if isinstance(value, tuple) else value for key, value in fields.items()}


def default_folder(plan: Plan, model: str) -> Path:
    """`runs/` and a name made of the dataset, the configs, the model and the methods, shortened by a digest."""
    parts = (f"{plan.dataset.name}-{plan.dataset.version}", "+".join(plan.configs), model, "+".join(plan.methods))
    name = re.sub(r"[^\w.+-]+", "-", "_".join(parts))
    if len(name) > 120:
        name = f"{name[:100]}-{sha256(name.encode()).hexdigest()[:12]}"
    return Path("runs") / name


def requests(plan: Plan, count: Callable[[str], int]) -> Iterator[list[Request]]:
    """The plan's requests, a list for each config and method in turn, in file order."""
    for config in plan.configs:
        instances = load_instances(plan.dataset, config, plan.split, plan.tasks, plan.limit)
        for method in plan.methods:
            yield [_request(instance, config, method, plan, count) for instance in instances]


def run(plan: Plan, model: Model, results: Results, progress: Progress) -> None:
    """Answers and scores what `results` does not hold yet, longest prompts first, so that lack of memory shows early.

    Equal prompts (closed-book in two configs) are answered once. SetupError where an output alone fills the model.
    """
    if (longest := max(plan.max_new_tokens.values())) >= model.max_positions:
        raise SetupError(
            f"{longest} new tokens leave no room for a prompt in the {model.max_positions} positions of {model.name}; "
            "lower --max-new-tokens"
        )
    known = {(row.method, row.prompt_sha256): answer for row in results.rows if (answer := _answer_of(row))}
    for group in requests(plan, model.count):
        bar = progress.add_task(f"{group[0].config} {group[0].method}", total=sum(map(_cost, group)))
        waiting = [request for request in group if request.key not in results.done]
        at_once = [request for request in waiting if _is_settled(request, model, known)]
        results.append([_row(plan, model, request, known.get(_prompt_key(request))) for request in at_once])
        settled = {request.key for request in at_once}
        progress.advance(bar, sum(_cost(request) for request in group if request.key in results.done))
        for batch in _batches([request for request in waiting if request.key not in settled], plan.batch_size):
            answers = _answered(model, batch)
            known.update(
                (_prompt_key(request), answer)
                for request, answer in zip(batch, answers, strict=True)
                if isinstance(answer, _Answer)
            )
            results.append([_row(plan, model, *pair) for pair in zip(batch, answers, strict=True)])
            progress.advance(bar, sum(map(_cost, batch)))


def _request(instance: Instance, config: str, method: str, plan: Plan, count: Callable[[str], int]) -> Request:
    prompt = METHODS[method].prompt(instance)
    max_new_tokens = plan.max_new_tokens[prompts.prompt_kind(instance.task)]
    return Request(instance, config, method, prompt, count(prompt) if prompt else 0, max_new_tokens)


def _prompt_key(request: Request) -> tuple[str, str | None]:
    return (request.method, request.prompt_sha256)


def _cost(request: Request) -> int:
    return request.n_prompt_tokens + request.max_new_tokens


def _fits(request: Request, model: Model) -> bool:
    return _cost(request) <= model.max_positions


def _is_settled(request: Request, model: Model, known: Mapping[tuple[str, str | None], _Answer]) -> bool:
    """Whether a request needs no model."""
    return request.prompt is None or not _fits(request, model) or _prompt_key(request) in known


def _batches(waiting: Sequence[Request], size: int) -> Iterator[list[Request]]:
    """Batches of equal output limits and similar lengths, the longest first."""
    ordered = sorted(waiting, key=lambda request: (-request.max_new_tokens, -request.n_prompt_tokens))
    for _, group in groupby(ordered, key=lambda request: request.max_new_tokens):
        alike = list(group)
        yield from (alike[start : start + size] for start in range(0, len(alike), size))


def _answered(model: Model, batch: Sequence[Request]) -> list[_Answer | GenerationError]:
    """Each request's answer; a batch that fails is tried one by one."""
    answer = METHODS[batch[0].method].method.answer
    began = time.perf_counter()
    try:
        generations = answer(model, [request.prompt or "" for request in batch], batch[0].max_new_tokens)
    except GenerationError as error:
        if len(batch) == 1:
            return [error]
        return [answered for request in batch for answered in _answered(model, [request])]
    seconds = round((time.perf_counter() - began) / len(batch), 4)
    return [_Answer(generation, seconds) for generation in generations]


def _answer_of(row: Row) -> _Answer | None:
    """The answer that a finished row holds, or None where no model was asked."""
    if row.output is None or row.n_prompt_tokens is None or row.n_new_tokens is None or row.latency_s is None:
        return None
    generation = Generation(row.output, row.n_prompt_tokens, row.n_new_tokens, bool(row.truncated))
    return _Answer(generation, row.latency_s)


def _row(plan: Plan, model: Model, request: Request, answer: _Answer | GenerationError | None) -> Row:
    """The row of a request; without an answer, the request had no prompt or did not fit."""
    row = _blank(plan, model, request)
    if answer is None:
        return row
    scorer = scorer_for(row.task)
    golds = scorer.usable(request.instance.answers)
    wrong = dict.fromkeys(scorer.metrics, 0.0) if golds else {}
    if isinstance(answer, GenerationError):
        return replace(row, status="error", scores=wrong, error=str(answer))
    text, _, n_new_tokens, truncated = answer.generation
    parsed = METHODS[request.method].method.read(row.task, text)
    status: Status = "unscorable" if not golds else "unparsed" if parsed.answer is None else "ok"
    return replace(
        row,
        status=status,
        scores=scorer.score(parsed.answer, golds) if golds and parsed.answer is not None else wrong,
        n_new_tokens=n_new_tokens,
        output=text,
        answer=parsed.answer,
        n_answers=parsed.n_answers,
        truncated=truncated or parsed.truncated,
        latency_s=answer.latency_s,
    )


def _blank(plan: Plan, model: Model, request: Request) -> Row:
    """The row of a request that no model was asked for."""
    row = Row(
        id=request.instance.id,
        task=request.instance.task,
        config=request.config,
        split=plan.split,
        condition=METHODS[request.method].condition,
        method=request.method,
        model=model.name,
        status="n/a",
        scores={},
    )
    if request.prompt is None:
        return row
    return replace(
        row,
        status="overlength",
        prompt_sha256=request.prompt_sha256,
        n_prompt_tokens=request.n_prompt_tokens,
    )
