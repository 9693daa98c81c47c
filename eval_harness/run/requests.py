"""The requests of a plan: each instance of each config under each setting."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import NamedTuple

from builders.prompts import Prompt
from eval_harness.data.dataset import Instance, Passage
from eval_harness.methods.base import Question, Setting
from eval_harness.run.plan import Plan
from eval_harness.run.prompts import Prompts

_ANY = 1 << 62  # positions of a model without a limit


class Request(NamedTuple):
    """An instance under a config and a setting; `passages` is None if the instance cannot meet the condition.

    Prompts are rendered on demand, since those of long configs together would fill the memory. The digests
    cover the prompt without chat template, and its part up to the last passage (None without passages).
    """

    config: str
    setting: Setting
    instance: Instance
    passages: list[Passage] | None
    prompt_sha256: str | None
    context_sha256: str | None
    n_prompt_tokens: int
    max_new_tokens: int

    @property
    def method(self) -> str:
        """The name of the setting."""
        return self.setting.name

    @property
    def key(self) -> tuple[str, str, str]:
        """The key of its result."""
        return (self.instance.id, self.config, self.method)

    @property
    def prompt(self) -> str | None:
        """The text of the prompt, without chat template."""
        if self.passages is None:
            return None
        return self.setting.method.prompt(self.instance, self.passages).text

    def question(self, prompt: Prompt) -> Question:
        """The method's input, with the prompt."""
        return Question(self.instance, self.passages or [], self.max_new_tokens, prompt)

    @property
    def answer_key(self) -> tuple[str, str | None]:
        """Requests with equal keys have the same answer."""
        return (self.setting.method.name, self.prompt_sha256)

    @property
    def cost(self) -> int:
        """Tokens of prompt and output limit together."""
        return self.n_prompt_tokens + self.max_new_tokens


def requests(
    plan: Plan, count: Callable[[str], int], positions: int = _ANY, store: Prompts | None = None
) -> Iterator[list[Request]]:
    """The plan's requests to a model with so many positions: one list per config and method, in file order.

    A `store` keeps the prompts of the current config and drops them when the next one begins.
    """

    def counted(sha256: str, prompt: Prompt) -> int:
        return count(prompt.text) if store is None else store.add(sha256, prompt)

    for config in plan.configs:
        if store is not None:
            store.clear()
        instances = plan.instances(config)
        for setting in plan.settings:
            yield [_request(instance, config, setting, plan, counted, positions) for instance in instances]


def _request(
    instance: Instance,
    config: str,
    setting: Setting,
    plan: Plan,
    count: Callable[[str, Prompt], int],
    positions: int,
) -> Request:
    passages = setting.shown(instance)
    if passages is None:
        limit = plan.limits.of(setting, instance.spec, positions)
        return Request(config, setting, instance, None, None, None, 0, limit)
    prompt = setting.method.prompt(instance, passages)
    context = _digest(prompt.text[: prompt.context_end]) if prompt.spans else None
    digest = _digest(prompt.text)
    n_tokens = count(digest, prompt)
    limit = plan.limits.of(setting, instance.spec, positions - n_tokens)
    return Request(config, setting, instance, passages, digest, context, n_tokens, limit)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
