"""Runs methods on configs, batch by batch, and records each answer as it finishes."""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain, islice

from rich.progress import Progress, TaskID

from builders.errors import SetupError
from builders.prompts import Prompt
from eval_harness.models.base import AnswersEach, GenerationError, Model, Unasked
from eval_harness.models.session import Session
from eval_harness.run.batches import groups
from eval_harness.run.plan import Plan
from eval_harness.run.prompts import Prompts
from eval_harness.run.requests import Request, requests
from eval_harness.run.results import Results
from eval_harness.run.rows import Timed, answer_in, row_of

_Known = dict[tuple[str, str | None], Timed | GenerationError]  # by Request.answer_key


def run(plan: Plan, model: Model, results: Results, progress: Progress) -> None:
    """Answers and scores what `results` lacks, longest prompts first, so that running out of memory shows early.

    Equal prompts (closed_book in two configs) are answered once; prompts with the same passages run consecutively.
    A resumed run uses the same batches, so its answers equal those of an uninterrupted run. At the end the results
    are in the order of the plan. SetupError if an output limit alone fills the model, or if the model refuses every
    further prompt: what was answered until then is recorded, and the rest is not.
    """
    shows_evidence = any(one.cites or one.retrieves for one in plan.settings)
    limits = plan.limits.least or plan.limits
    longest = max(limits.answers.values()) + limits.evidence * shows_evidence
    if longest >= model.max_positions:
        raise SetupError(
            f"{longest} new tokens leave none for a prompt in the {model.max_positions} positions of {model.name}; "
            "lower --max-new-tokens"
        )
    prompts = Prompts(model, results.folder)
    run_of = _Run(plan, model, results, progress, prompts)
    keys = []
    with closing(prompts):
        made = requests(plan, model.count, model.max_positions, prompts)
        while asked := [*chain.from_iterable(islice(made, len(plan.settings)))]:  # those of one config
            keys += [request.key for request in asked]
            run_of.config(asked)
    results.arrange(keys)


class _Run:
    """A run with its answers so far."""

    def __init__(self, plan: Plan, model: Model, results: Results, progress: Progress, prompts: Prompts) -> None:
        self._plan = plan
        self._model = model
        self._results = results
        self._progress = progress
        self._prompts = prompts
        methods = {setting.name: setting.method for setting in plan.settings}
        self._known: _Known = {
            (methods[row.method].name, row.prompt_sha256): timed
            for row in results.rows
            if (timed := answer_in(row, methods[row.method]))
        }
        self._refusal: Unasked | None = None
        self._earlier: set[tuple[str, str | None]] = set()  # keys of earlier configs

    def config(self, asked: Sequence[Request]) -> None:
        """Answers the requests of one config."""
        bars = self._bars(asked)
        fitting = [one for one in asked if one.passages is not None and one.cost <= self._model.max_positions]
        equal: dict[tuple[str, str | None], list[Request]] = {}
        for request in fitting:
            if request.answer_key not in self._earlier:
                equal.setdefault(request.answer_key, []).append(request)
        self._earlier |= equal.keys()
        waiting = {request.key for found in equal.values() for request in found}
        fits = {request.key for request in fitting}
        self._record([one for one in asked if one.key not in waiting], fits, bars)
        for batch in self._answered_batches([found[0] for found in equal.values()]):
            answered = [request for request in batch if request.answer_key in self._known]
            self._record([one for request in answered for one in equal[request.answer_key]], fits, bars)
            if self._refusal:
                n, folder = len(self._results.rows), self._results.folder
                kept = f"{n} results are kept in {folder}" if n else "nothing was answered"
                raise SetupError(
                    f"{self._model.name} answers no further prompt: {self._refusal}; check the key and the account; "
                    f"{kept}; rerun the same command to resume"
                )

    def _answered_batches(self, firsts: Sequence[Request]) -> Iterator[list[Request]]:
        """The batches of the plan, each yielded once all its answers are known."""
        if self._plan.warm_up:
            self._warm_up([one for one in firsts if one.answer_key not in self._known])
        for group in groups(firsts, self._plan):
            session = Session(self._model, [self._prompt(one).text for one in group.requests] if group.shares else ())
            for batch in group.batches:
                missing = [request for request in batch if request.answer_key not in self._known]
                if missing:
                    self._ask(session, batch, missing, pays=group.requests[0] if group.shares else None)
                yield batch

    def _warm_up(self, firsts: Sequence[Request]) -> None:
        """Answers the first prompt of each method, and forgets it."""
        for request in {one.method: one for one in reversed(firsts)}.values():
            request.setting.method.answer(Session(self._model), [request.question(self._prompt(request))])

    def _ask(self, session: Session, batch: list[Request], missing: list[Request], pays: Request | None) -> None:
        """Adds the missing answers; reruns the whole batch if answers may depend on its composition."""
        asked = missing if isinstance(self._model, AnswersEach) else batch
        began = time.perf_counter()
        answers = asked[0].setting.method.answer(
            session, [request.question(self._prompt(request)) for request in asked]
        )
        seconds = round((time.perf_counter() - began) / len(asked), 4)
        for request, answer in zip(asked, answers, strict=True):
            if request.answer_key in self._known:
                continue
            if isinstance(answer, Unasked):
                self._refusal = self._refusal or answer
                continue
            if isinstance(answer, GenerationError):
                self._known[request.answer_key] = answer
                continue
            if request is pays:  # this result counts the shared prefix
                answer = answer._replace(generation=answer.generation._replace(n_cached_tokens=0))
            self._known[request.answer_key] = Timed(answer, seconds)

    def _prompt(self, request: Request) -> Prompt:
        return self._prompts.get(request.prompt_sha256 or "")

    def _record(self, answered: Sequence[Request], fits: set[tuple[str, str, str]], bars: dict[str, TaskID]) -> None:
        """Adds the missing results."""
        new = [request for request in answered if request.key not in self._results.done]
        answers = [self._known[request.answer_key] if request.key in fits else None for request in new]
        if new:
            pairs = zip(new, answers, strict=True)
            self._results.append([row_of(self._plan, self._model, request, answer) for request, answer in pairs])
        for request in answered:
            self._progress.advance(bars[request.method], request.cost)

    def _bars(self, asked: Sequence[Request]) -> dict[str, TaskID]:
        """A progress bar for each method, in tokens."""
        costs: dict[str, int] = {}
        for request in asked:
            costs[request.method] = costs.get(request.method, 0) + request.cost
        name = asked[0].config
        return {method: self._progress.add_task(f"{name} {method}", total=cost) for method, cost in costs.items()}
