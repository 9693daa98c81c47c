"""Multi-step retrieval (Krishna et al., NAACL 2025, section 3.2): rounds of queries by the model, then the answer.

The context begins as the question alone. In each round the model writes queries after what has been found, BM25 finds
the best articles for each, and new ones join the context, none of them twice. A query that was asked before is counted
and not asked again. Decoding is greedy, so a round whose prompt is word for word that of the round before would change
nothing: there the search stops.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple, Protocol

from builders.prompts import Prompt
from builders.text import normalise
from eval_harness.data.dataset import Instance, Passage
from eval_harness.methods.base import Answer, Method, Question
from eval_harness.methods.multistep.queries import Style, queries_in, query_prompt
from eval_harness.methods.multistep.reading import OneStep, Room, Shown, shown
from eval_harness.models.base import Generation, GenerationError
from eval_harness.models.session import Session
from eval_harness.scoring.evidence import evidence_scores

Stop = Literal["rounds", "unchanged"]

_N = "[1-9][0-9]*"


class Searches(Protocol):
    """Articles that can be searched."""

    def search(self, queries: Sequence[str], k: int) -> list[list[Passage]]:
        """The k best articles for each query, best first."""
        ...


class Steps(NamedTuple):
    """How many rounds, queries a round and articles a query, how queries are asked for, and their tokens.

    `each_round`: whether an answer is asked for after every round, not the last alone.
    """

    rounds: int
    queries: int
    articles: int
    style: Style
    query_tokens: int
    each_round: bool = True

    @property
    def name(self) -> str:
        """As a condition is written: `multistep@5x5x2`, with `+plan` for search planning."""
        return f"multistep@{self.rounds}x{self.queries}x{self.articles}{'+plan' * (self.style == 'plan')}"

    @property
    def prompts(self) -> int:
        """The most prompts that one question takes."""
        return 2 * self.rounds if self.each_round else self.rounds + 1


class MultiStep(Method):
    """Asks for queries and retrieves, round by round, and answers from all that was found."""

    says = "asks for queries, round by round, and answers from the articles that they find"
    form = "@ROUNDSxQUERIESxARTICLES[+plan]"
    grammar = rf"@(?P<rounds>{_N})x(?P<queries>{_N})x(?P<articles>{_N})(?P<plan>\+plan)?"
    keeps = True

    def __init__(self, steps: Steps, articles: Searches, room: Room) -> None:
        self.steps, self._articles, self._room, self._one_step = steps, articles, room, OneStep(room)
        # what its answers depend on, and the name of its condition does not say
        self.name = f"{steps.name} {steps.query_tokens}{' each' * steps.each_round}"

    def prompt(self, instance: Instance, passages: Sequence[Passage]) -> Prompt:
        """The prompt of the first round, which has found nothing yet."""
        return self._asking(_Search(instance)).prompt

    def answer(self, session: Session, questions: Sequence[Question]) -> list[Answer | GenerationError]:
        """The answer to each question from what was found for it; all questions of a batch go on round by round."""
        searches = [_Search(question.instance) for question in questions]
        limit = questions[0].max_new_tokens
        seconds = dict.fromkeys(("queries", "search", "answer"), 0.0)
        for number in range(1, self.steps.rounds + 1):
            with _timed(seconds, "queries"):
                asked = self._ask(session, searches)
            with _timed(seconds, "search"):
                for search in asked:
                    self._look(search, number)
            if self.steps.each_round:
                with _timed(seconds, "answer"):
                    self._answer(session, asked, limit)
        with _timed(seconds, "answer"):
            self._answer(session, searches, limit)
        steps_s = {name: round(spent / len(searches), 4) for name, spent in seconds.items()}
        return [search.finished(steps_s) for search in searches]

    def _asking(self, search: "_Search") -> Shown:
        """The prompt of a search's next round."""

        def render(found: Sequence[Passage]) -> Prompt:
            asked = list(search.asked.values())
            return query_prompt(self.steps.style, search.instance.query, found, asked, self.steps.queries)

        return shown(render, search.articles, self._room.count, self._room.positions - self.steps.query_tokens)

    def _ask(self, session: Session, searches: Sequence["_Search"]) -> list["_Search"]:
        """Asks for queries where the prompt is a new one, and returns those searches; the others have stopped."""
        going: list[_Search] = []
        for search in searches:
            if search.error or search.stopped:
                continue
            asking = self._asking(search)
            if asking.prompt.text == search.prompt:
                search.stop("unchanged")
            else:
                search.prompt, search.shown = asking.prompt.text, asking
                going.append(search)
        outputs = _generated(session, [search.prompt for search in going], self.steps.query_tokens)
        for search, output in zip(going, outputs, strict=True):
            search.took(output)
        return [search for search in going if not search.error]

    def _look(self, search: "_Search", number: int) -> None:
        """Reads the queries of a round, adds what they find to the context, and writes the log."""
        written = queries_in(self.steps.style, search.output.text, self.steps.queries)
        queries = search.new(written)
        hits = self._articles.search(queries, self.steps.articles)
        known = len(search.found)
        search.found |= {hit.pid: hit for found in hits for hit in found if hit.pid not in search.found}
        ids = list(search.found)
        search.log.append(
            {
                "round": number,
                "shown": search.shown.describe(),
                "output": search.output.text,
                "truncated": search.output.truncated,
                "queries": queries,
                "n_repeated": len(written) - len(queries),
                "hits": [[hit.pid for hit in found] for found in hits],
                "new": ids[known:],
                "recall": evidence_scores(ids, search.instance.gold_pids).get("evidence_recall"),
                "n_prompt_tokens": search.output.n_prompt_tokens,
                "n_new_tokens": search.output.n_new_tokens,
            }
        )
        if number == self.steps.rounds:
            search.stop("rounds")

    def _answer(self, session: Session, searches: Sequence["_Search"], limit: int) -> None:
        """Asks for an answer where something was found since the last one, and writes it to the log."""
        waiting = [search for search in searches if not search.error and search.answered_from != len(search.found)]
        found = [self._one_step.shown(search.instance, search.articles) for search in waiting]
        outputs = _generated(session, [one.prompt.text for one in found], limit)
        for search, one, output in zip(waiting, found, outputs, strict=True):
            search.answered(output, one)
        for search in searches:
            if not search.error and search.answer:
                search.log[-1] |= {"answer": search.answer.text, "answer_shown": search.answer_shown}


class _Search:
    """What one question has asked and found so far."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.found: dict[str, Passage] = {}
        self.asked: dict[str, str] = {}  # queries by their normal form
        self.log: list[dict[str, Any]] = []
        self.prompt = ""
        self.error: GenerationError | None = None
        self.stopped = False
        self.answer: Generation | None = None
        self.answer_shown: dict[str, Any] = {}
        self.answered_from = -1

    shown: Shown
    output: Generation

    @property
    def articles(self) -> list[Passage]:
        """What has been found, in that order."""
        return list(self.found.values())

    def took(self, output: Generation | GenerationError) -> None:
        """Keeps what the model wrote for a round."""
        if isinstance(output, GenerationError):
            self.error = output
        else:
            self.output = output

    def new(self, queries: Sequence[str]) -> list[str]:
        """The queries that were not asked before, each once; from now on they were."""
        fresh = []
        for query in queries:
            if normalise(query) not in self.asked:
                self.asked[normalise(query)] = query
                fresh.append(query)
        return fresh

    def answered(self, output: Generation | GenerationError, shown: Shown) -> None:
        """Keeps an answer from all that has been found."""
        if isinstance(output, GenerationError):
            self.error = output
        else:
            self.answer, self.answer_shown, self.answered_from = output, shown.describe(), len(self.found)

    def stop(self, why: Stop) -> None:
        """Ends the rounds; the last one says why."""
        self.stopped = True
        self.log[-1]["stop"] = why

    def finished(self, steps_s: dict[str, float]) -> Answer | GenerationError:
        """The last answer, what was found, and the log."""
        if self.error or self.answer is None:
            return self.error or GenerationError("nothing was answered")
        return Answer(self.answer, list(self.found), steps_s, self.log)


def _generated(session: Session, prompts: Sequence[str], limit: int) -> list[Generation | GenerationError]:
    return session.generate(prompts, limit) if prompts else []


@contextmanager
def _timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    """Adds the time of a block to a step's."""
    began = time.perf_counter()
    yield
    seconds[step] += time.perf_counter() - began
