"""The plan of a FRAMES run: methods over whole articles, and the record of what their results depend on."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from builders.errors import SetupError
from eval_harness.conditions.base import CONDITIONS, Condition, Show, closed_book
from eval_harness.data.dataset import Instance, Passage
from eval_harness.methods.base import Setting
from eval_harness.methods.multistep.queries import DIGEST, Style
from eval_harness.methods.multistep.reading import OneStep, Room
from eval_harness.methods.multistep.steps import MultiStep, Steps
from eval_harness.protocols.frames.articles import Articles, article_of, articles_of, page_of
from eval_harness.protocols.frames.record import MULTISTEP, PROTOCOL
from eval_harness.run.plan import Plan
from eval_harness.scoring.qa import QA
from eval_harness.scoring.registry import scorer_of

CLOSED_BOOK, ORACLE = "closed_book", "oracle_rag"  # as in `icr2 eval --method`
RETRIEVED = "retrieved_bm25"
DEFAULT = (CLOSED_BOOK, f"{RETRIEVED}@2", f"{RETRIEVED}@4", ORACLE, "multistep@5x5x2", "multistep@5x5x2+plan")
PAPER = (*DEFAULT, "multistep@5x5x10+plan")  # its figures and its best result
QUERY_TOKENS: dict[Style, int] = {"vanilla": 96, "plan": 256}
IndexKind = Literal["bm25", "bm25s"]
INDEX: IndexKind = "bm25"

_N = "[1-9][0-9]*"
_BM25 = re.compile(rf"{RETRIEVED}@(?P<k>{_N})")
_STEPS = "multistep"


@dataclass(frozen=True)
class FramesPlan(Plan):
    """A plan over one config whose contexts are read as whole articles.

    `source` names the articles to search (`READER=PATH`; by default those of the config), `index` the implementation
    of BM25. Outputs that are queries have at most `query_tokens`; None: a limit by prompt style.
    """

    source: str | None = None
    index: IndexKind = INDEX
    query_tokens: int | None = None
    each_round: bool = True

    def fitting(self, count: Callable[[str], int], positions: int) -> "FramesPlan":
        """The plan with prompts cut to fit a model with so many positions; `count` counts the model's tokens."""
        found = replace(self)
        vars(found)["room"] = Room(count, positions, self.limits)
        return found

    @cached_property
    def room(self) -> Room:
        """The context length that prompts must fit; unlimited before the model is known."""
        return Room(lambda text: 0, 1 << 62, self.limits)

    @cached_property
    def articles(self) -> Articles:
        """The articles to search."""
        return articles_of(self.dataset, self.configs[0], self.split, self.source, self.index)

    @cached_property
    def settings(self) -> list[Setting]:
        """The settings of the named methods; SetupError for an unknown name."""
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
            MULTISTEP: {
                one.name: _described(one.method.steps) for one in self.settings if isinstance(one.method, MultiStep)
            },
        }

    def instances(self, config: str) -> list[Instance]:
        """The instances of the config with their contexts as articles; SetupError for tasks other than questions."""
        found = super().instances(config)
        others = {one.task for one in found if one.spec.kind != "qa" or scorer_of(one.spec) is not QA}
        if others:
            raise SetupError(
                f"{', '.join(sorted(others))}: not a task of questions with one answer; choose others with --task"
            )
        if self.source and not any(self.articles.get(id) for one in found for id in _gold_pages(one)):
            raise SetupError(
                f"{self.source} has no gold article of {config}; give the knowledge source that it was built from"
            )
        return [self._over_articles(instance) for instance in found]

    def _over_articles(self, instance: Instance) -> Instance:
        """The instance with one passage per article of its context; gold articles are as in the searched source."""
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
        if name in (CLOSED_BOOK, ORACLE):
            return Setting(name, CONDITIONS[name], OneStep(room))
        if written := _BM25.fullmatch(name):
            return Setting(name, Condition(name, self._best(int(written["k"])), selects=True), OneStep(room))
        if name.startswith(_STEPS) and (steps_of := MultiStep.parameters(name.removeprefix(_STEPS))):
            style: Style = "plan" if steps_of["plan"] else "vanilla"
            rounds, queries, articles = (int(steps_of[part] or 0) for part in ("rounds", "queries", "articles"))
            tokens = self.query_tokens or QUERY_TOKENS[style]
            if tokens >= room.positions:
                raise SetupError(
                    f"{tokens} query tokens leave none for a prompt in {room.positions} positions; lower --query-tokens"
                )
            steps = Steps(rounds, queries, articles, style, tokens, self.each_round)
            return Setting(name, Condition("multistep", closed_book), MultiStep(steps, self.articles, room))
        raise SetupError(
            f"no method {name}; available: {CLOSED_BOOK}, {RETRIEVED}@K, {ORACLE}, {_STEPS}{MultiStep.form}, such as "
            "multistep@5x5x2"
        )


def _gold_pages(instance: Instance) -> set[str]:
    return {page_of(pid) for pid in instance.gold_pids}


def _described(steps: Steps) -> dict[str, Any]:
    return {name: getattr(steps, name) for name in ("rounds", "queries", "articles", "style")}
