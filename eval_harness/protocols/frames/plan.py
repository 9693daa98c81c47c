"""What a run of the FRAMES protocol asks: its conditions over whole articles, and the record of what they depend on."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from builders.errors import SetupError
from eval_harness.conditions.base import Condition, Show, closed_book, oracle
from eval_harness.data.dataset import Instance, Passage
from eval_harness.methods.base import Setting
from eval_harness.methods.multistep.queries import DIGEST, Style
from eval_harness.methods.multistep.reading import OneStep, Room
from eval_harness.methods.multistep.steps import MultiStep, Steps
from eval_harness.protocols.frames.articles import Articles, article_of, articles_of, page_of
from eval_harness.run.plan import Plan
from eval_harness.scoring.qa import QA
from eval_harness.scoring.registry import scorer_of

NAIVE, ORACLE = "naive", "oracle"
DEFAULT = (NAIVE, "bm25@2", "bm25@4", ORACLE, "multistep@5x5x2", "multistep@5x5x2+plan")
QUERY_TOKENS: dict[Style, int] = {"vanilla": 96, "plan": 256}
IndexKind = Literal["bm25", "bm25s"]
INDEX: IndexKind = "bm25"
PROTOCOL = "frames"

_N = "[1-9][0-9]*"
_BM25 = re.compile(rf"bm25@(?P<k>{_N})")
_STEPS = "multistep"


@dataclass(frozen=True)
class FramesPlan(Plan):
    """A plan over one config whose contexts are taken for whole articles.

    `source` names the articles that are searched (`READER=PATH`; without one, those of the config), `index` the kind
    of BM25. Outputs that are queries have at most `query_tokens`, by style where it is None.
    """

    source: str | None = None
    index: IndexKind = INDEX
    query_tokens: int | None = None
    each_round: bool = True

    def fitting(self, count: Callable[[str], int], positions: int) -> "FramesPlan":
        """The plan with prompts that fit a model of so many positions, which counts tokens so."""
        found = replace(self)
        vars(found)["room"] = Room(count, positions, self.limits)
        return found

    @cached_property
    def room(self) -> Room:
        """What prompts must fit into; before a model is known, all of them do."""
        return Room(lambda text: 0, 1 << 62, self.limits)

    @cached_property
    def articles(self) -> Articles:
        """The articles that are searched."""
        return articles_of(self.dataset, self.configs[0], self.split, self.source, self.index)

    @cached_property
    def settings(self) -> list[Setting]:
        """What the names of conditions stand for; SetupError where one is unknown."""
        return [self._setting(name) for name in dict.fromkeys(self.methods)]

    def facts(self) -> dict[str, Any]:
        """What the results depend on besides what every plan records."""
        return {
            "protocol": PROTOCOL,
            "source": self.source and f"{self.source.partition('=')[0]}={Path(self.source).name}",
            "articles": self.articles.describe(),
            "index": self.index,
            "each_round": self.each_round,
            "query_prompts_sha256": DIGEST,
            "query_tokens": {style: self.query_tokens or limit for style, limit in QUERY_TOKENS.items()},
        }

    def instances(self, config: str) -> list[Instance]:
        """The instances of the config with their contexts as articles; SetupError for tasks that are no questions."""
        found = super().instances(config)
        others = {one.task for one in found if one.spec.kind != "qa" or scorer_of(one.spec) is not QA}
        if others:
            raise SetupError(f"{', '.join(sorted(others))} asks no questions with one answer; name others with --task")
        if self.source and not any(self.articles.get(id) for one in found for id in _gold_pages(one)):
            raise SetupError(f"{self.source} has no gold article of {config}; name the source that it was built from")
        return [self._over_articles(instance) for instance in found]

    def _over_articles(self, instance: Instance) -> Instance:
        """The instance with a passage for each article of its context: gold ones as the searched source has them."""
        pages: dict[str, list[Passage]] = {}
        for passage in instance.passages:
            pages.setdefault(page_of(passage.pid), []).append(passage)
        gold = _gold_pages(instance)
        passages = []
        for id, mine in pages.items():
            found = (self.articles.get(id) if id in gold else None) or Passage(*article_of(id, mine), "random")
            passages.append(found._replace(role="gold" if id in gold else "random"))
        return instance._replace(passages=passages, gold=[at for at, id in enumerate(pages) if id in gold])

    def _best(self, k: int) -> Show:
        def show(instance: Instance) -> list[Passage]:
            return self.articles.search([instance.query], k)[0]

        return show

    def _setting(self, name: str) -> Setting:
        room = self.room
        if name == NAIVE:
            return Setting(name, Condition(name, closed_book), OneStep(room))
        if name == ORACLE:
            return Setting(name, Condition(name, oracle), OneStep(room))
        if written := _BM25.fullmatch(name):
            return Setting(name, Condition(name, self._best(int(written["k"])), selects=True), OneStep(room))
        if name.startswith(_STEPS) and (steps_of := MultiStep.parameters(name.removeprefix(_STEPS))):
            style: Style = "plan" if steps_of["plan"] else "vanilla"
            rounds, queries, articles = (int(steps_of[part] or 0) for part in ("rounds", "queries", "articles"))
            tokens = self.query_tokens or QUERY_TOKENS[style]
            if tokens >= room.positions:
                raise SetupError(
                    f"{room.positions} positions leave no room for a prompt beside {tokens} query tokens; lower "
                    "--query-tokens"
                )
            steps = Steps(rounds, queries, articles, style, tokens, self.each_round)
            return Setting(name, Condition("multistep", closed_book), MultiStep(steps, self.articles, room))
        raise SetupError(
            f"no condition {name}; there are {NAIVE}, bm25@K, {ORACLE} and {_STEPS}{MultiStep.form}, such as "
            "multistep@5x5x2"
        )


def _gold_pages(instance: Instance) -> set[str]:
    return {page_of(pid) for pid in instance.gold_pids}
