"""Articles that are found by hand, and models that say what a test tells them."""

from collections.abc import Mapping, Sequence
from hashlib import sha256

from eval_harness.data.dataset import Instance, Passage
from eval_harness.methods.base import Answer, Question
from eval_harness.methods.limits import Limits
from eval_harness.methods.multistep.reading import Room
from eval_harness.methods.multistep.steps import MultiStep, Steps
from eval_harness.models.base import GenerationError
from eval_harness.models.fake import FakeModel, replaying
from eval_harness.models.session import Session
from tests.eval_harness.specs import FRAMES

LIMITS = Limits({"qa": 16})


def article(id: str, passages: int = 1, words: int = 3) -> Passage:
    """An article with passages of some words each."""
    return Passage(id, f"Title {id}", "\n".join(f"{id}{n} " * words for n in range(passages)).rstrip(), "random")


class Found:
    """What each query finds, by its text; and what was asked."""

    def __init__(self, hits: Mapping[str, str]) -> None:
        self.asked: list[str] = []
        self._hits = hits

    def search(self, queries: Sequence[str], k: int) -> list[list[Passage]]:
        self.asked += queries
        return [[article(id) for id in self._hits.get(query, "")][:k] for query in queries]


def asked(id: str = "q1", query: str = "Who?", gold: str = "ab") -> Question:
    """A question whose gold articles are named by letters."""
    passages = [article(one)._replace(role="gold") for one in gold]
    return Question(Instance(id, FRAMES, query, ["yes"], passages, [*range(len(gold))]), [], LIMITS.answers["qa"])


def searcher(found: Found, rounds: int, queries: int = 2, style: str = "vanilla", **more: bool) -> MultiStep:
    """The method over hand-made hits, for a model of many positions."""
    steps = Steps(rounds, queries, 2, style, 8, **more)  # type: ignore[arg-type]
    return MultiStep(steps, found, Room(lambda text: len(text.split()), 1 << 20, LIMITS))  # type: ignore[arg-type]


class Scripted(FakeModel):
    """Says the next line of a script whatever it is asked, and keeps the prompts."""

    def __init__(self, *script: str) -> None:
        super().__init__(self._next)
        self.prompts: list[str] = []
        self._script = iter(script)

    def _next(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return next(self._script)


def replayed(outputs: Mapping[str, str]) -> FakeModel:
    """The replaying model of the harness, given prompts instead of their digests."""
    return replaying({sha256(prompt.encode()).hexdigest(): text for prompt, text in outputs.items()})


def answers(method: MultiStep, model: FakeModel, *questions: Question) -> list[Answer]:
    """The method's answers, none of which may have failed."""
    found = method.answer(Session(model), questions)
    failed = [one for one in found if isinstance(one, GenerationError)]
    assert not failed, failed
    return [one for one in found if isinstance(one, Answer)]
